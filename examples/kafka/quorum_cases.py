"""Cases of the quorum that the table of docs/kafka.md settles: each drives real clients, and says how it goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jpype
from bridge import Classes
from raft import TIMEOUT, Member, Quorum


class Voters:
    """A quorum, and what was done to it."""

    def __init__(self, kafka: Classes) -> None:
        self.kafka = kafka
        self.steps: list[str] = []
        self.members: dict[int, Member] = {}

    def begin(self, voters: int = 3, leader: bool = True) -> Voters:
        self.members = Quorum(self.kafka, voters).members
        self.steps.append(f"begin(voters={voters})")
        if leader:
            self.elect(1)
            for _ in range(2):
                for other in range(2, voters + 1):
                    self.exchange(other, 1)
        return self

    def elect(self, candidate: int, *voters: int) -> None:
        """A voter stands, and asks the others, or some of them, until it leads; then it tells those."""
        member = self.members[candidate]
        self.expire(candidate)
        asked = voters or tuple(other for other in self.members if other != candidate)
        for role in ("Prospective", "Candidate"):
            for voter in asked:
                if member.role == role:
                    self.exchange(candidate, voter)
        for voter in asked:
            self.exchange(candidate, voter)

    def expire(self, member: int) -> None:
        self.members[member].expire()
        self.told(f"the timer of {member} runs out", member)

    def exchange(self, source: int, destination: int) -> Any:
        """A request of one member to another, and its answer."""
        request = self.members[source].request_to(destination)
        answer = self.members[destination].take(request)
        self.members[source].hear(request, answer)
        kind = str(request.data().getClass().getSimpleName()).removesuffix("RequestData")
        self.told(f"{source} sends {kind} to {destination}, and has the answer", source, destination)
        return answer

    def describe(self, member: int) -> tuple[str, int]:
        """What a member answers to DescribeQuorum: an error, and the leader that it names."""
        kind = self.kafka.type
        base = "common.message.DescribeQuorumRequestData"
        partition = kind(f"{base}$PartitionData")().setPartitionIndex(0)
        topic = kind(f"{base}$TopicData")().setTopicName("__cluster_metadata")
        topic.partitions().add(partition)
        request = kind(base)()
        request.topics().add(topic)
        answer = self.members[member].asked(request)
        found = answer.topics().get(0).partitions().get(0)
        error = str(kind("common.protocol.Errors").forCode(found.errorCode()).name())
        self.steps.append(f"{member} answers DescribeQuorum: {error}, leader {found.leaderId()}")
        return error, int(found.leaderId())

    def restart(self, member: int) -> None:
        self.members[member].restart(len(self.members[member].log))
        self.told(f"{member} restarts", member)

    def told(self, what: str, *members: int) -> None:
        states = ", ".join(
            f"{each} {self.members[each].role} of epoch {self.members[each].quorum.epoch()}" for each in members)
        self.steps.append(f"{what}: {states}")


Case = Callable[[Voters], bool]
QUORUM_CASES: dict[str, Case] = {}


def case(title: str) -> Callable[[Case], Case]:
    def named(function: Case) -> Case:
        QUORUM_CASES[title] = function
        return function

    return named


@case("A majority, with or without the leader")
def leader_does_not_count(voters: Voters) -> bool:
    """One of two followers fetches, and the leader resigns for all that."""
    leader = voters.begin().members[1]
    for _ in range(2):
        leader.now += TIMEOUT
        voters.exchange(2, 1)
    return leader.role != "Leader"


@case("A disruptive voter need not be a former leader")
def disruptive(voters: Voters) -> bool:
    """A voter that was cut off, and whose timer ran out, comes back."""
    leader = voters.begin().members[1]
    voters.expire(3)
    voters.exchange(3, 2)
    voters.exchange(3, 1)
    return leader.role != "Leader"


@case("When the partitioned leader can win")
def longer_log_wins(voters: Voters) -> bool:
    """With a longer log, though the others have committed a record of a later epoch, and look for a leader too."""
    former = voters.begin().members[1]
    for _ in range(2):
        former.write()
    voters.expire(3)
    voters.elect(2, 3)
    for _ in range(2):
        voters.exchange(3, 2)
    for member in (3, 1, 1, 1):
        voters.expire(member)
    return bool(voters.exchange(1, 3).topics().get(0).partitions().get(0).voteGranted())


@case("EndQuorumEpoch from a candidate")
def candidate_sends_end_quorum_epoch(voters: Voters) -> bool:
    """A candidate that is shut down tells the voters."""
    candidate = voters.begin(leader=False).members[1]
    voters.expire(1)
    voters.exchange(1, 2)
    candidate.client.shutdown(1_000)
    candidate.sent.clear()
    candidate.settle()
    return any("EndQuorumEpoch" in str(each.data().getClass().getSimpleName()) for each in candidate.sent.values())


@case("A request without a cluster id")
def no_cluster_id(voters: Voters) -> bool:
    """It is accepted, and one with another id is not."""
    candidate = voters.begin(leader=False).members[1]
    voters.expire(1)
    granted = []
    for cluster in (None, "another"):
        request = candidate.request_to(2)
        answer = voters.members[2].take_with(request, request.data().duplicate().setClusterId(cluster))
        granted.append(answer.errorCode() == 0)
    return granted == [True, False]


def waits(voters: Voters, successors: int) -> list[int]:
    """How long each preferred successor waits before it stands, with the default settings."""
    client = voters.begin(leader=False).members[1].client
    kind = voters.kafka.type("raft.QuorumConfig")
    default = kind(voters.kafka.type("common.config.AbstractConfig")(kind.CONFIG_DEF, jpype.java.util.HashMap()))
    voters.kafka.set_field(client, "quorumConfig", default)
    found = [int(voters.kafka.call(client, "strictExponentialElectionBackoffMs", position, successors))
             for position in range(successors)]
    voters.steps.append(f"of {successors} successors, each waits so many ms: {found}")
    return found


@case("Eleven successors start at the same time")
def all_at_a_time(voters: Voters) -> bool:
    """The wait of the first is one second shifted right by ten, which is 0, and the others' are multiples of it."""
    return set(waits(voters, 11)) == {0} and len(set(waits(voters, 10))) == 10


@case("The preferred successor is refused by those who have fetched")
def successor_refused(voters: Voters) -> bool:
    """KAFKA-20895. All have been told that the leader resigns."""
    voters.begin(5)
    voters.expire(1)
    for voter in (3, 4, 5, 2):
        voters.exchange(1, voter)
    for voter in (1, 3, 4, 5):
        if voters.members[2].role == "Prospective":
            voters.exchange(2, voter)
    return voters.members[2].role != "Candidate"


@case("KAFKA-17641: two voters that know only a leader they cannot reach refuse each other")
def refuse_each_other(voters: Voters) -> bool:
    voters.begin(leader=False).elect(1)
    voters.expire(2)
    voters.exchange(2, 3)
    return voters.members[2].role != "Candidate"


@case("A voter that had stood, and follows, is a candidate once it restarts")
def candidate_again(voters: Voters) -> bool:
    """The stored state names the leader and the vote for itself; the vote is asked first."""
    voters.begin(leader=False)
    for member in (3, 1):
        voters.expire(member)
        voters.exchange(member, 2)
    voters.exchange(1, 2)
    voters.exchange(1, 3)
    followed = voters.members[3].role == "Follower"
    voters.restart(3)
    return followed and voters.members[3].role == "Candidate"


@case("All voters stand at once when the leader has restarted")
def stand_at_once(voters: Voters) -> bool:
    """A resigned leader that has restarted prefers nobody, so everybody is the first of its successors."""
    voters.begin()
    voters.restart(1)
    for voter in (2, 3):
        voters.exchange(1, voter)
    return all(voters.members[each].role == "Prospective" for each in (2, 3))


@case("A zombie answers until its timer expires")
def zombie_answers(voters: Voters) -> bool:
    """The others have elected another, and the leader of before says that it leads, until its timer runs out."""
    voters.begin()
    voters.expire(3)
    voters.elect(2, 3)
    before = voters.describe(1)
    voters.expire(1)
    return before == ("NONE", 1) and voters.describe(1)[0] != "NONE" and voters.describe(2) == ("NONE", 2)


@case("Overlapping majorities need not overlap")
def majorities_apart(voters: Voters) -> bool:
    """Of voters 1, 2, 3 and of 1, 2, 4: the majorities of 1, 3 and of 2, 4 have nobody in common."""
    address, integer = jpype.java.net.InetSocketAddress, jpype.java.lang.Integer
    listener = voters.kafka.type("common.network.ListenerName").normalised("CONTROLLER")
    sets = []
    for members in ((1, 2, 3), (1, 2, 4)):
        addresses = jpype.java.util.HashMap()
        for member in members:
            addresses.put(integer(member), address.createUnresolved(f"r{member}", 9000))
        sets.append(voters.kafka.type("raft.VoterSet").fromInetSocketAddresses(listener, addresses))
    overlap = bool(sets[0].hasOverlappingMajority(sets[1]))
    voters.steps.append(f"of {sets[0].voterIds()} and {sets[1].voterIds()}, hasOverlappingMajority says {overlap}")
    return overlap


QUORUM_UNREACHABLE = {
    "Half of the voters may be all that hold an acknowledged record": "changes of the voter set, taken back",
    "A leader that has removed itself may forget to resign": "changes of the voter set, which are not driven here",
    "A controller that is removed joins again": "changes of the voter set, which are not driven here",
    "Votes may be split forever": "timers of several clients that run out together, again and again",
    "An observer whose leader has resigned": "observers, which are not driven here",
    "A leader that is no voter any more deposes the next": "changes of the voter set, which are not driven here",
}
"""Findings about the quorum that are not settled here, and what it would take."""
