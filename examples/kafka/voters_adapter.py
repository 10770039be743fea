"""How the steps of ``KafkaVoters`` are taken by Kafka's clients, and what is compared after each.

Compared are who has stopped, and of everybody else the epoch, leader, vote, role, the log with its epochs, the high
watermark, the voters by its log, who has voted for it or refused, which end offsets a leader knows and what it waits
for, and of one that has resigned its first successor and whose answer it lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import jpype
from bridge import Classes
from quorum_adapter import number, observed, roles
from raft import REQUEST_TIMEOUT, Member, Quorum

from floodmark.conformance import Adapter, observable


class VotersAdapter(Adapter):
    """Controllers with the classes of ``kafka``, whose voters change."""

    kafka: ClassVar[Classes]

    def __init__(self, start: Any) -> None:
        first = tuple(sorted(number(voter) for voter in next(iter(start.voter_set.values()))))
        here = {number(replica) for replica, log in start.logs.items() if len(log) > 0}
        self.quorum = Quorum(self.kafka, len(start.role), first, fresh=len(here) < len(start.role))
        self.members = self.quorum.members
        self.stopped: set[int] = set()
        self.late: dict[tuple[int, int], tuple[Any, Any]] = {}
        """The answers to BeginQuorumEpoch that are late, by leader and voter."""
        self.seen: dict[int, dict[str, Any]] = {}
        leader, *others = first
        self.members[leader].expire()
        for role in ("Prospective", "Candidate"):
            for voter in others:
                if self.members[leader].role == role:
                    self.exchange(leader, voter)
        for _ in range(3):
            for other in here - {leader}:
                self.exchange(other, leader)

    def close(self) -> None:
        self.quorum.close()
        self.late.clear()

    # What members do.

    def does(self, member: int, what: Callable[[], Any]) -> Any:
        """None if the member throws, which stops it."""
        self.seen.pop(member, None)
        try:
            return what()
        except jpype.JException:
            self.stopped.add(member)
            return None

    def asks(self, source: int, destination: int) -> tuple[Any, Any]:
        """A request to another member, and its answer."""
        member = self.members[source]
        request = self.does(source, lambda: member.request_to(destination))
        return request, self.does(destination, lambda: self.members[destination].take(request))

    def exchange(self, source: int, destination: int) -> None:
        request, answer = self.asks(source, destination)
        if destination not in self.stopped:
            self.does(source, lambda: self.members[source].hear(request, answer))

    def expires(self, replica: Any) -> None:
        self.does(number(replica), self.members[number(replica)].expire)

    def election_timeout(self, replica: Any) -> None:
        self.expires(replica)

    def prospective_gives_up(self, replica: Any) -> None:
        self.expires(replica)

    def former_leader_leaves_epoch(self, replica: Any) -> None:
        self.expires(replica)

    def quorum_check_expires(self, leader: Any) -> None:
        self.expires(leader)

    def leader_resigns(self, leader: Any) -> None:
        self.does(number(leader), self.members[number(leader)].resign)

    def client_writes(self, leader: Any) -> None:
        self.does(number(leader), self.members[number(leader)].write)

    def candidate_requests_vote(self, candidate: Any, voter: Any) -> None:
        self.exchange(number(candidate), number(voter))

    def prospective_requests_pre_vote(self, replica: Any, voter: Any) -> None:
        self.exchange(number(replica), number(voter))

    def leader_sends_begin_quorum_epoch(self, leader: Any, voter: Any, late: bool) -> None:
        ends = number(leader), number(voter)
        self.late.pop(ends, None)
        if late:
            self.late[ends] = self.asks(*ends)
        else:
            self.exchange(*ends)

    def late_acknowledgement_arrives(self, leader: Any, voter: Any) -> None:
        request, answer = self.late.pop((number(leader), number(voter)))
        self.does(number(leader), lambda: self.members[number(leader)].hear(request, answer))

    def leader_sends_end_quorum_epoch(self, leader: Any, voter: Any) -> None:
        self.exchange(number(leader), number(voter))

    def replica_fetches(self, replica: Any, source: Any, records: int) -> None:
        """An answer with records is lost where the model has none arrive."""
        fetches, leads = number(replica), number(source)
        request, answer = self.asks(fetches, leads)
        partition = answer.responses().get(0).partitions().get(0)
        if partition.errorCode() != 0 or records > 0 or partition.records().sizeInBytes() == 0:
            self.does(fetches, lambda: self.members[fetches].hear(request, answer))

    def replica_restarts(self, replica: Any) -> None:
        member = self.members[number(replica)]
        self.stopped.discard(number(replica))
        self.does(number(replica), lambda: member.restart(len(member.log)))

    # Changes of the voters.

    def leader_adds_voter(self, leader: Any, replica: Any) -> None:
        member = self.members[number(leader)]
        member.free(number(replica))
        self.does(number(leader), lambda: member.add_voter(number(replica)))

    def leader_removes_voter(self, leader: Any, voter: Any) -> None:
        member = self.members[number(leader)]
        self.does(number(leader), lambda: member.remove_voter(number(voter)))

    def leader_updates_voter(self, leader: Any, voter: Any) -> None:
        member = self.members[number(leader)]
        self.does(number(leader), lambda: member.update_voter(number(voter)))

    def change_times_out(self, leader: Any) -> None:
        member = self.members[number(leader)]

        def waits() -> None:
            member.now += 2 * REQUEST_TIMEOUT
            member.settle()

        self.late = {ends: late for ends, late in self.late.items() if ends[0] != number(leader)}
        self.does(number(leader), waits)

    # What is observed.

    def of(self, replica: int) -> dict[str, Any]:
        if replica not in self.seen:
            member = self.members[replica]
            found = observed(member)
            for name in ("votes", "refusals"):
                found[name] = named(found[name])
            found["voters"] = named(f"r{voter}" for voter in member.voters())
            found["pending"] = pending(member)
            found["successor"], found["unheard"] = successor(member)
            if found["role"] == "Leader":
                found["end_offsets"] |= observers(member)
            self.seen[replica] = found
        return self.seen[replica]

    def each(self, name: str) -> dict[str, Any]:
        return {f"r{replica}": self.of(replica)[name] for replica in self.members if replica not in self.stopped}

    @observable(of=lambda model: named(model.stopped))
    def stopped_members(self) -> list[str]:
        return named(f"r{replica}" for replica in self.stopped)

    @observable(of=lambda model: {repr(each): model.quorum_state[each].epoch for each in running(model)})
    def epoch(self) -> dict[str, int]:
        return self.each("epoch")

    @observable(of=lambda model: {repr(each): repr(model.quorum_state[each].leader) for each in running(model)})
    def leader(self) -> dict[str, str]:
        return self.each("leader")

    @observable(of=lambda model: {repr(each): repr(model.quorum_state[each].voted_key) for each in running(model)})
    def voted_key(self) -> dict[str, str]:
        return self.each("voted_key")

    @observable(of=lambda model: {repr(each): roles(model.role[each].name) for each in running(model)})
    def roles(self) -> dict[str, str]:
        return self.each("role")

    @observable(of=lambda model: {repr(each): [entry.epoch for entry in log] for each, log in model.logs.items()})
    def log_epochs(self) -> dict[str, list[int]]:
        return {f"r{replica}": list(member.log.epochs) for replica, member in self.members.items()}

    @observable(of=lambda model: {repr(each): model.high_watermark[each] for each in running(model)})
    def high_watermark(self) -> dict[str, int]:
        return self.each("high_watermark")

    @observable(of=lambda model: {repr(each): named(model.voter_set[each]) for each in running(model)})
    def voter_set(self) -> dict[str, list[str]]:
        return self.each("voters")

    @observable(of=lambda model: {repr(each): named(nominee(model, each, model.votes)) for each in running(model)})
    def votes(self) -> dict[str, list[str]]:
        return self.each("votes")

    @observable(of=lambda model: {repr(each): named(nominee(model, each, model.refusals)) for each in running(model)})
    def refusals(self) -> dict[str, list[str]]:
        return self.each("refusals")

    @observable(of=lambda model: {repr(each): {
        repr(other): model.end_offsets[each][other] for other in model.known[each]} for each in running(model)})
    def end_offsets(self) -> dict[str, dict[str, int]]:
        return self.each("end_offsets")

    @observable(of=lambda model: {repr(each): model.pending[each].value for each in running(model)})
    def pending(self) -> dict[str, str]:
        return self.each("pending")

    @observable(of=lambda model: {repr(each): repr(model.preferred_successor[each]) for each in running(model)})
    def successor(self) -> dict[str, str]:
        return self.each("successor")

    @observable(of=lambda model: {repr(each): named(unheard(model, each)) for each in running(model)})
    def unheard(self) -> dict[str, list[str]]:
        return self.each("unheard")

    @observable(of=lambda model: named(model.has_fetched - model.stopped))
    def has_fetched(self) -> list[str]:
        return named(f"r{replica}" for replica in self.members
                     if replica not in self.stopped and self.of(replica)["has_fetched"])

    @observable
    def illegal(self) -> bool:
        """What the model rules out: it would have stopped a member."""
        return False


def named(replicas: Any) -> list[str]:
    return sorted(map(str, replicas))


def running(model: Any) -> list[Any]:
    return [each for each in model.role if each not in model.stopped]


def nominee(model: Any, replica: Any, of: Any) -> Any:
    """What only prospectives and candidates have; a leader of the model keeps nothing of it either."""
    return of[replica] if model.role[replica].name in ("PROSPECTIVE", "CANDIDATE") else set()


def unheard(model: Any, replica: Any) -> Any:
    """Who has not answered the EndQuorumEpoch of this replica."""
    resigned = model.role[replica].name == "RESIGNED"
    return model.voter_set[replica] - {replica} - model.acknowledged[replica] if resigned else set()


def successor(member: Member) -> tuple[str, list[str]]:
    """Whom a leader that has resigned prefers, and who has not answered its EndQuorumEpoch."""
    if member.role != "Resigned":
        return "None", []
    preferred = member.state.preferredSuccessors()
    first = "None" if preferred.isEmpty() else f"r{preferred.get(0).id()}"
    return first, named(f"r{voter}" for voter in member.state.unackedVoters())


def pending(member: Member) -> str:
    """What a leader waits for."""
    if member.role != "Leader":
        return "none"
    if member.state.addVoterHandlerState().isPresent():
        return "add"
    return "remove" if member.state.removeVoterHandlerState().isPresent() else "none"


def observers(member: Member) -> dict[str, int]:
    """The end offsets of those that are no voters, but for the leader itself."""
    kafka = member.kinds.kafka
    found = {}
    for key, each in kafka.field(member.state, "observerStates").items():
        end = kafka.field(each, "endOffset")
        if int(key.id()) != member.number and end.isPresent():
            found[f"r{int(key.id())}"] = int(end.get().offset())
    return found
