"""How the steps of ``KafkaQuorum`` are taken by Kafka's clients, and what is compared after each.

Compared are each member's epoch, leader, vote, role, log with its epochs, what of it is flushed, its high watermark,
who has voted for it or refused, which offsets a leader knows and who has fetched, and every message that is late: what
it says. A member that throws where the model goes on, or goes on where the model stops, is a difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from bridge import Classes
from raft import Member, Quorum

from floodmark.conformance import Adapter, observable

Shown = tuple[Any, ...]
"""A message: its kind, from whom, to whom, epoch, leader, position, rank, next epoch, and bound."""


def number(replica: Any) -> int:
    """2 for r2."""
    return int(repr(replica)[1:])


def shown(message: Any) -> Shown:
    """A message of the model's."""
    leader = None if message.leader is None else number(message.leader)
    return (message.kind.name, number(message.source), number(message.destination), message.epoch, leader,
            (message.position.epoch, message.position.offset), message.rank, message.next_epoch, message.bound)


def named(replicas: Iterable[Any]) -> set[str]:
    return {f"r{int(replica)}" for replica in replicas}


def ids(voters: Iterable[Any]) -> set[str]:
    """Of voters that a version names by their key, or by their id alone."""
    return named(each.id() if hasattr(each, "id") else each for each in voters)


class QuorumAdapter(Adapter):
    """A quorum with the classes of ``kafka``."""

    kafka: ClassVar[Classes]
    unsupported = ("network_parts", "network_heals", "leader_flushes")

    def __init__(self, start: Any) -> None:
        self.quorum = Quorum(self.kafka, start.voters)
        self.members = self.quorum.members
        self.late: dict[Shown, tuple[Any, Any]] = {}
        """The request, and its answer if that is what is late."""
        self.seen: dict[int, dict[str, Any]] = {}
        if start.led or start.rivals:
            self.elect()
        if start.rivals:
            self.depose()

    def elect(self) -> None:
        """As the model's rule of this name."""
        first, *others = self.members
        leader = self.members[first]
        leader.expire()
        for role in ("Prospective", "Candidate"):
            for voter in others:
                if leader.role == role:
                    self.exchange(first, voter)
        for voter in others:
            self.exchange(first, voter)
            self.exchange(voter, first)
        for voter in others:
            self.exchange(voter, first)

    def depose(self) -> None:
        """As the model's rule of this name."""
        for _ in range(2):
            self.members[1].write()
        for prospective in (3, 2):
            self.members[prospective].expire()
        for _ in range(2):
            self.exchange(2, 3)

    def exchange(self, source: int, destination: int) -> None:
        request = self.members[source].request_to(destination)
        self.members[source].hear(request, self.members[destination].take(request))

    def close(self) -> None:
        self.quorum.close()
        self.late.clear()

    def member(self, replica: Any) -> Member:
        """One that is about to do something."""
        self.seen.pop(number(replica), None)
        return self.members[number(replica)]

    # Messages.

    def send(self, kind: str, source: Any, destination: Any, fate: Any) -> None:
        request = self.member(source).request_to(number(destination))
        told = told_request(request, number(source))
        if told[0] != kind:
            raise AssertionError(f"{source!r} sends {told[0]}, not {kind}")
        if fate.name == "REQUEST_LATE":
            self.late[told] = (request, None)
        else:
            self.deliver(request, number(source), fate)

    def deliver(self, request: Any, source: int, fate: Any) -> None:
        destination = int(request.destination().id())
        self.seen.pop(destination, None)
        answer = self.members[destination].take(request)
        if fate.name == "RESPONSE_LATE":
            self.late[told_answer(request, answer, source)] = (request, answer)
        elif fate.name == "ANSWERED":
            self.seen.pop(source, None)
            self.members[source].hear(request, answer)

    def candidate_requests_vote(self, candidate: Any, voter: Any, fate: Any) -> None:
        self.send("VOTE", candidate, voter, fate)

    def prospective_requests_pre_vote(self, replica: Any, voter: Any, fate: Any) -> None:
        self.send("PRE_VOTE", replica, voter, fate)

    def leader_sends_begin_quorum_epoch(self, leader: Any, voter: Any, fate: Any) -> None:
        self.send("BEGIN_QUORUM_EPOCH", leader, voter, fate)

    def leader_sends_end_quorum_epoch(self, leader: Any, voter: Any, fate: Any) -> None:
        self.send("END_QUORUM_EPOCH", leader, voter, fate)

    def replica_fetches(self, replica: Any, source: Any, fate: Any) -> None:
        self.send("FETCH", replica, source, fate)

    def late_request_arrives(self, message: Any, fate: Any, again: bool) -> None:
        told = shown(message)
        request, _ = self.late[told]
        if not again:
            del self.late[told]
        self.deliver(request, told[1], fate)

    def late_response_arrives(self, message: Any, again: bool) -> None:
        told = shown(message)
        request, answer = self.late[told]
        if not again:
            del self.late[told]
        self.seen.pop(told[2], None)
        self.members[told[2]].hear(request, answer)

    def late_message_is_lost(self, message: Any) -> None:
        del self.late[shown(message)]

    # What a member does by itself.

    def election_timeout(self, replica: Any) -> None:
        self.member(replica).expire()

    def prospective_gives_up(self, replica: Any) -> None:
        self.member(replica).expire()

    def fetch_timer_expires(self, leader: Any) -> None:
        self.member(leader).expire()

    def client_writes(self, leader: Any) -> None:
        self.member(leader).write()

    def replica_restarts(self, replica: Any, kept: int) -> None:
        self.member(replica).restart(kept)
        self.forget_answers_to(number(replica))

    def leader_stops_while_writing(self, leader: Any, kept: int) -> None:
        member = self.member(leader)
        member.log.stops_before_flush = True
        member.write()
        member.restart(kept)
        self.forget_answers_to(number(leader))

    def forget_answers_to(self, member: int) -> None:
        self.late = {told: late for told, late in self.late.items() if late[1] is None or told[2] != member}

    # What is observed.

    def of(self, replica: int) -> dict[str, Any]:
        if replica not in self.seen:
            self.seen[replica] = observed(self.members[replica])
        return self.seen[replica]

    def each(self, name: str) -> dict[str, Any]:
        return {f"r{replica}": self.of(replica)[name] for replica in self.members}

    @observable(of=lambda model: {repr(each): model.quorum_state[each].epoch for each in model.role})
    def epoch(self) -> dict[str, int]:
        return self.each("epoch")

    @observable(of=lambda model: {repr(each): repr(model.quorum_state[each].leader) for each in model.role})
    def leader(self) -> dict[str, str]:
        return self.each("leader")

    @observable(of=lambda model: {repr(each): repr(model.quorum_state[each].voted_key) for each in model.role})
    def voted_key(self) -> dict[str, str]:
        return self.each("voted_key")

    @observable(of=lambda model: {repr(each): roles(model.role[each].name) for each in model.role})
    def roles(self) -> dict[str, str]:
        return self.each("role")

    @observable
    def logs(self) -> dict[str, list[int]]:
        return {f"r{replica}": list(member.log.epochs) for replica, member in self.members.items()}

    @observable
    def flushed(self) -> dict[str, int]:
        return {f"r{replica}": member.log.flushed for replica, member in self.members.items()}

    @observable
    def high_watermark(self) -> dict[str, int]:
        return self.each("high_watermark")

    @observable
    def votes(self) -> dict[str, set[str]]:
        return self.each("votes")

    @observable
    def refusals(self) -> dict[str, set[str]]:
        return self.each("refusals")

    @observable
    def acknowledged(self) -> dict[str, set[str]]:
        return self.each("acknowledged")

    @observable
    def has_fetched(self) -> set[str]:
        return {f"r{replica}" for replica in self.members if self.of(replica)["has_fetched"]}

    @observable(of=lambda model: {repr(each): offsets(model, each) for each in model.role})
    def end_offsets(self) -> dict[str, dict[str, int]]:
        return self.each("end_offsets")

    @observable(of=lambda model: {repr(each): {repr(of) for of in model.leader_state[each].fetched_voters}
                                  for each in model.role})
    def fetched_voters(self) -> dict[str, set[str]]:
        return self.each("fetched_voters")

    @observable(of=lambda model: listed(shown(message) for message in model.late))
    def sent(self) -> str:
        return listed(self.late)

    @observable
    def illegal(self) -> bool:
        """Whether a member has thrown: it would have ended the walk."""
        return False


def listed(messages: Iterable[Shown]) -> str:
    """As text: a set of the modelling language has no such values."""
    return "; ".join(sorted(map(str, messages)))


def roles(name: str) -> str:
    """A vote is no role of Kafka's."""
    return "Unattached" if name == "VOTED" else name.capitalize()


def offsets(model: Any, replica: Any) -> dict[str, int]:
    """What a leader knows of the others. One that has resigned has only their order."""
    if model.role[replica].name != "LEADER":
        return {}
    others = model.known[replica] - {replica}
    return {repr(other): model.leader_state[replica].end_offsets[other] for other in others}


def observed(member: Member) -> dict[str, Any]:
    """What a member is and knows."""
    kafka = member.kinds.kafka
    state = member.state
    role = str(state.name())
    election = state.election()
    leader = int(election.leaderIdOrSentinel())
    voted = election.optionalVotedKey()
    watermark = state.highWatermark()
    found: dict[str, Any] = {
        "role": role, "epoch": int(state.epoch()), "leader": "None" if leader < 0 else f"r{leader}",
        "voted_key": f"r{voted.get().id()}" if voted.isPresent() else "None",
        "high_watermark": int(watermark.get().offset()) if watermark.isPresent() else 0,
        "votes": set(), "refusals": set(), "acknowledged": set(), "has_fetched": False, "end_offsets": {},
        "fetched_voters": set(),
    }
    if role in ("Candidate", "Prospective"):
        votes = state.epochElection()
        found["votes"] = named(votes.grantingVoters())
        found["refusals"] = named(votes.rejectingVoters())
    elif role == "Resigned":
        unheard = ids(state.unackedVoters())
        others = named(voter for voter in member.kinds.addresses.keySet() if int(voter) != member.number)
        found["acknowledged"] = others - unheard
    elif role == "Follower":
        found["has_fetched"] = bool(kafka.field(state, "hasFetchedFromLeader"))
    elif role == "Leader":
        found["fetched_voters"] = ids(kafka.field(state, "fetchedVoters"))
        for each in kafka.field(state, "voterStates").values():
            end = kafka.field(each, "endOffset")
            who = int(kafka.field(each, "replicaKey").id())
            if who != member.number and end.isPresent():
                found["end_offsets"][f"r{who}"] = int(end.get().offset())
    return found


def told_request(request: Any, source: int) -> Shown:
    """A request of Kafka's, as ``shown`` tells it."""
    data = request.data()
    kind = str(data.getClass().getSimpleName()).removesuffix("RequestData")
    partition = data.topics().get(0).partitions().get(0)
    destination = int(request.destination().id())
    if kind == "Vote":
        epoch, position = partition.replicaEpoch(), (int(partition.lastOffsetEpoch()), int(partition.lastOffset()))
        told = "PRE_VOTE" if partition.preVote() else "VOTE"
        return (told, source, destination, int(epoch), None, position, 0, 0, 0)
    if kind == "Fetch":
        position = (int(partition.lastFetchedEpoch()), int(partition.fetchOffset()))
        return ("FETCH", source, destination, int(partition.currentLeaderEpoch()), None, position, 0, 0, 0)
    rank = 0
    if kind == "EndQuorumEpoch":
        preferred = [int(each.candidateId()) for each in partition.preferredCandidates()]
        rank = preferred.index(destination) if preferred else 0
    told = "END_QUORUM_EPOCH" if kind == "EndQuorumEpoch" else "BEGIN_QUORUM_EPOCH"
    return (told, source, destination, int(partition.leaderEpoch()), None, (0, 0), rank, 0, 0)


def told_answer(request: Any, answer: Any, asked_by: int) -> Shown:
    """The answer to a request, as ``shown`` tells it."""
    asked = told_request(request, asked_by)
    ends = (asked[2], asked_by)
    if asked[0] == "FETCH":
        partition = answer.responses().get(0).partitions().get(0)
        epoch, leader = int(partition.currentLeader().leaderEpoch()), int(partition.currentLeader().leaderId())
        known = None if leader < 0 else leader
        if partition.errorCode() != 0:
            return ("CURRENT_LEADER", *ends, epoch, known, (0, 0), 0, 0, 0)
        diverging = partition.divergingEpoch()
        if diverging.epoch() >= 0:
            return ("DIVERGING", *ends, epoch, known, asked[5], 0, int(diverging.epoch()), int(diverging.endOffset()))
        found = [int(batch.partitionLeaderEpoch()) for batch in partition.records().batches()]
        watermark = max(0, int(partition.highWatermark()))
        return ("RECORDS", *ends, epoch, known, asked[5], 0, found[0] if found else 0, watermark)
    partition = answer.topics().get(0).partitions().get(0)
    kind = "CURRENT_LEADER"
    if asked[0] in ("VOTE", "PRE_VOTE") and partition.voteGranted():
        kind = f"{asked[0]}_GRANTED"
    leader = int(partition.leaderId())
    return (kind, *ends, int(partition.leaderEpoch()), None if leader < 0 else leader, (0, 0), 0, 0, 0)
