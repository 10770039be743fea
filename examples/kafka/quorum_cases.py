"""Cases of the quorum that the table of docs/kafka.md settles: each drives real clients, and says how it goes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import jpype
from bridge import Classes
from raft import REQUEST_TIMEOUT, TIMEOUT, Member, Quorum


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

    def begin_changing(self, first: tuple[int, ...], members: int, joins: bool = False) -> Voters:
        """Voters that may change (KIP-853), of which 1 leads, and has committed its first record."""
        self.members = Quorum(self.kafka, members, first, joins).members
        self.elect(1, *first[1:])
        for _ in range(4):
            for other in range(2, members + 1):
                self.exchange(other, 1)
        self.steps = [f"begin(voters={list(first)}, members={members})"]
        self.told("1 is elected, and everybody has fetched all", 1)
        return self

    def remove(self, leader: int, voter: int) -> None:
        """RemoveRaftVoter; the answer comes when the record is committed."""
        self.members[leader].remove_voter(voter)
        self.told(f"{leader} is asked to remove the voter {voter}", leader)

    def add(self, leader: int, voter: int) -> None:
        """AddRaftVoter; the leader asks the new voter which versions it supports."""
        self.members[leader].add_voter(voter)
        self.told(f"{leader} is asked to add the voter {voter}", leader)

    def voters_of(self, member: int) -> set[int]:
        """The voters that a member knows of, by its log."""
        return self.members[member].voters()

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

    def write(self, leader: int) -> None:
        """A record of the controller's."""
        self.members[leader].write()
        self.told(f"{leader} writes a record, high watermark {self.members[leader].log.high_watermark}", leader)

    def resign(self, leader: int) -> None:
        """``KafkaRaftClient.resign``, which the controller calls."""
        self.members[leader].resign()
        self.told(f"{leader} resigns", leader)

    def throws(self, what: str, does: Callable[[], Any]) -> bool:
        """Whether a member throws, which ends its process (``KafkaRaftClientDriver``)."""
        try:
            does()
        except jpype.JException as error:
            message = str(error.getMessage()).partition("(")[0].strip()
            self.steps.append(f"{what}: {type(error).__name__.rpartition('.')[2]}: {message}")
            return True
        self.steps.append(what)
        return False

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


# Voters that change, and observers.


@case("A leader that has removed itself may forget to resign")
def forgets_to_resign(voters: Voters) -> bool:
    """The request times out before its record is committed, and the handler that would resign is gone."""
    leads = []
    for times_out in (False, True):
        leader = voters.begin_changing((1, 2), 2).members[1]
        voters.remove(1, 1)
        if times_out:
            leader.now += 2 * REQUEST_TIMEOUT
            leader.settle()
            voters.told("the request to remove 1 times out", 1)
        for _ in range(3):
            if voters.members[2].role == "Follower":
                voters.exchange(2, 1)
        leads.append(leader.role == "Leader")
    return leads == [False, True]


@case("A leader that has removed itself is needed, and may not stand")
def needed_leader(voters: Voters) -> bool:
    """The other voter has not read of the removal, and needs a vote that a longer log refuses it."""
    led = []
    for removed in (False, True):
        voters.begin_changing((1, 2), 2)
        if removed:
            voters.remove(1, 1)
        voters.restart(1)
        for _ in range(4):
            for member, other in ((2, 1), (1, 2)):
                voters.expire(member)
                for _ in range(2):
                    if voters.members[member].role in ("Prospective", "Candidate"):
                        voters.exchange(member, other)
        led.append(any(member.role == "Leader" for member in voters.members.values()))
    return led == [True, False]


@case("A controller that is removed joins again")
def joins_again(voters: Voters) -> bool:
    """KAFKA-19850, with controller.quorum.auto.join.enable, which 4.2 brought."""
    voters.begin_changing((1, 2), 2, joins=True)
    voters.remove(1, 2)
    for _ in range(2):
        voters.exchange(2, 1)
    removed = voters.members[2]
    timer = voters.kafka.field(removed.state, voters.kafka.first_field(
        removed.state, "updateVoterSetPeriodTimer", "updateVoterPeriodTimer"))
    timer.reset(0)
    removed.now += REQUEST_TIMEOUT
    removed.sent.clear()
    removed.client.poll()
    asks = [str(each.data().getClass().getSimpleName()) for each in removed.sent.values()]
    voters.steps.append(f"2, which knows the voters {sorted(voters.voters_of(2))}, sends {', '.join(asks)}")
    return voters.voters_of(2) == {1} and asks == ["AddRaftVoterRequestData"]


@case("An observer whose leader has resigned")
def observer_stays(voters: Voters) -> bool:
    """It asks another once its fetch timer has run out, whatever the one that has resigned says."""
    voters.begin_changing((1, 2, 3), 4)
    voters.restart(1)
    voters.exchange(4, 1)
    voters.expire(3)
    voters.elect(2, 3)
    voters.expire(4)
    voters.exchange(4, 2)
    return int(voters.members[4].quorum.leaderIdOrSentinel()) != 2


@case("A leader that is no voter any more deposes the next")
def removed_leader_deposes(voters: Voters) -> bool:
    """Whoever hears from a leader refuses its pre-vote, and it learns of the next epoch by the refusal."""
    voters.begin_changing((1, 2, 3), 3)
    voters.expire(3)
    voters.elect(2, 3)
    for _ in range(3):
        voters.exchange(3, 2)
    voters.remove(2, 1)
    for _ in range(3):
        voters.exchange(3, 2)
    for _ in range(3):
        voters.expire(1)
    for voter in (2, 3):
        if voters.members[1].role in ("Prospective", "Candidate"):
            voters.exchange(1, voter)
    return voters.members[2].role != "Leader"


@case("A former voter's late acknowledgement stops the leader")
def former_voter_acknowledges(voters: Voters) -> bool:
    """The answer to BeginQuorumEpoch comes when the leader has removed that voter."""
    leader = voters.begin_changing((1, 2, 3), 3).members[1]
    request = leader.request_to(3)
    answer = voters.members[3].take(request)
    voters.told("1 sends BeginQuorumEpoch to 3, and the answer is late", 1, 3)
    voters.remove(1, 3)
    return voters.throws("1 has the answer of 3", lambda: leader.hear(request, answer))


@case("Whoever knows its leader's id only stops when it fetches from it")
def fetches_from_leader(voters: Voters) -> bool:
    """A leader that is removing itself leads on, and is no voter by the log of an observer that starts again. It is
    unattached then, and asks any controller who leads; the leader answers without an error.
    """
    voters.begin_changing((1, 2), 3).remove(1, 1)
    voters.exchange(3, 1)
    voters.restart(3)
    return voters.throws("3 fetches from 1", lambda: voters.exchange(3, 1))


def lead_once_added(voters: Voters, members: int) -> None:
    """3 becomes a voter, and then the leader, by the vote of 1; 2 has read of neither."""
    voters.begin_changing((1, 2), members).add(1, 3)
    voters.exchange(3, 1)
    voters.expire(1)
    voters.expire(3)
    for _ in range(2):
        voters.exchange(3, 1)


@case("Whoever is told of a leader without its address stops")
def told_without_address(voters: Voters) -> bool:
    """2 restarts when it knows that 3 leads, and has not read of the record that makes 3 a voter. 4, an observer, asks
    it, and is told the id of a leader that it has no address of.
    """
    lead_once_added(voters, 4)
    voters.exchange(3, 2)
    voters.restart(2)
    return voters.throws("4 fetches from 2", lambda: voters.exchange(4, 2))


@case("A leader that resigns stops a voter that does not know it")
def resigns_unknown(voters: Voters) -> bool:
    """Its EndQuorumEpoch has no addresses, unlike BeginQuorumEpoch, and 2 has not read of the record that makes 3 a
    voter.
    """
    lead_once_added(voters, 3)
    voters.resign(3)
    return voters.throws("3 sends EndQuorumEpoch to 2", lambda: voters.exchange(3, 2))


@case("A candidate that is no voter any more does not start again")
def former_candidate(voters: Voters) -> bool:
    """It has voted for itself, and followed the leader of the same epoch, whose log takes the voter set back. Nothing
    but a record of a later epoch would change what it has stored.
    """
    voters.begin_changing((1, 2, 4), 4).add(1, 3)
    voters.exchange(3, 1)
    for member in (2, 4, 3):
        voters.expire(member)
    for member in (2, 4):
        voters.exchange(3, member)
    for _ in range(2):
        voters.exchange(2, 4)
    for _ in range(2):
        voters.exchange(3, 2)
    voters.steps.append(f"3 knows the voters {sorted(voters.voters_of(3))}")
    member = voters.members[3]
    return all(voters.throws("3 starts again", lambda: member.restart(len(member.log))) for _ in range(2))


@case("A replica that has truncated its log does not read who votes")
def reads_once(voters: Voters) -> bool:
    """2 has written two records that nobody else has. When they are gone, and others have come in their place, it does
    not heed the one that says who votes, and is elected by voters of before.
    """
    first, second, _ = voters.begin_changing((1, 2, 3), 3).members.values()
    voters.resign(1)
    for _ in range(3):
        voters.exchange(*((1, 2) if second.role == "Follower" else (2, 1)))
    voters.write(2)
    voters.resign(2)
    voters.exchange(2, 1)
    for voter in (3, 2, 3):
        voters.exchange(1, voter)
    for _ in range(3):
        voters.exchange(2, 1)
    voters.remove(1, 3)
    for _ in range(2):
        voters.exchange(2, 1)
    voters.expire(2)
    voters.exchange(2, 3)
    voters.remove(1, 2)
    voters.write(1)
    voters.exchange(2, 3)
    for member in (1, 2):
        voters.steps.append(f"{member} knows the voters {sorted(voters.voters_of(member))}, and has the records of "
                            f"epochs {voters.members[member].log.epochs}")
    return second.role == "Leader" and first.log.high_watermark > len(second.log)


@case("Half of the voters may be all that hold an acknowledged record")
def half_holds(voters: Voters) -> bool:
    """A leader of four voters removes one, and counts the three for what it wrote before, too; it is deposed before
    anybody has read of the removal.
    """
    leader = voters.begin_changing((1, 2, 3, 4), 4).members[1]
    leader.write()
    offset = len(leader.log) - 1
    voters.remove(1, 4)
    voters.exchange(2, 1)
    leader.take(voters.members[2].request_to(1))
    voters.told("2 sends Fetch to 1, and the answer is lost", 2, 1)
    holders = [number for number, member in voters.members.items() if len(member.log) > offset]
    voters.steps.append(f"the high watermark of 1 is {leader.log.high_watermark}, and {holders} have record {offset}")
    committed = leader.log.high_watermark == offset + 1
    for voter in (3, 4):
        voters.expire(voter)
    voters.elect(2, 3, 4)
    taken_back = voters.members[2].role == "Leader" and voters.voters_of(2) == {1, 2, 3, 4}
    return committed and taken_back and holders == [1, 2]


@case("Votes may be split forever")
def split_votes(voters: Voters) -> bool:
    """Timers run out together, and each voter is pre-elected by the next: three candidates, as often as one likes."""
    members = voters.begin(leader=False).members
    ring = ((1, 2), (2, 3), (3, 1))
    seen = []
    for _ in range(6):
        for voter in members:
            voters.expire(voter)
        asked = [(*pair, members[pair[0]].request_to(pair[1])) for pair in ring
                 if members[pair[0]].role == "Prospective"]
        answers = [members[other].take(request) for _, other, request in asked]
        for (voter, other, request), answer in zip(asked, answers, strict=True):
            members[voter].hear(request, answer)
            voters.told(f"{voter} sends Vote to {other}, and has the answer", voter)
        for pair in ring:
            for voter, other in (pair, pair[::-1]):
                with contextlib.suppress(KeyError):  # in 4.0, whoever was refused waits, and asks nobody
                    if members[voter].role == "Candidate":
                        voters.exchange(voter, other)
        seen.append((int(members[1].quorum.epoch()), {member.role for member in members.values()}))
    return seen[-1][0] >= 2 and all("Leader" not in roles for _, roles in seen)
