"""Atomic commitment with a simple broadcast (Babaoglu and Toueg, 1993): a coordinator asks for votes and decides."""

from enum import Enum

from floodmark import (
    Constant,
    Identifier,
    Map,
    Model,
    action,
    eventually,
    fair,
    implies,
    initial,
    invariant,
    reachable,
    require,
    transition,
)


class Participant(Identifier, count="participants", prefix="p"):
    """A participant of the transaction."""


class Decision(Enum):
    UNDECIDED = 0
    COMMIT = 1
    ABORT = 2


class Vote(Enum):
    UNKNOWN = 0
    YES = 1
    NO = 2


class Commitment(Model):
    """Participants vote; the coordinator decides and tells each of them. Whoever dies stays dead."""

    participants = Constant(3)
    votes_yes: Map[Participant, bool]
    alive: Map[Participant, bool]
    vote_sent: Map[Participant, bool]
    decision: Map[Participant, Decision]
    coordinator_alive: bool = True
    requested: Map[Participant, bool]
    vote_known: Map[Participant, Vote]
    coordinator_decision: Decision = Decision.UNDECIDED
    told: Map[Participant, Decision]

    @initial
    def start(self, votes_yes: Map[Participant, bool]) -> None:
        self.votes_yes = votes_yes
        self.alive = Map({p: True for p in Participant})
        self.vote_sent = Map({p: False for p in Participant})
        self.decision = Map({p: Decision.UNDECIDED for p in Participant})
        self.requested = Map({p: False for p in Participant})
        self.vote_known = Map({p: Vote.UNKNOWN for p in Participant})
        self.told = Map({p: Decision.UNDECIDED for p in Participant})

    # The coordinator.

    @action
    @fair
    def coordinator_requests(self, participant: Participant) -> None:
        require(self.coordinator_alive)
        require(not self.requested[participant])
        self.requested[participant] = True

    def collects_votes(self) -> bool:
        undecided = self.coordinator_decision == Decision.UNDECIDED
        return self.coordinator_alive and undecided and all(self.requested[p] for p in Participant)

    @action
    @fair
    def coordinator_gets_vote(self, participant: Participant) -> None:
        require(self.collects_votes())
        require(self.vote_known[participant] == Vote.UNKNOWN)
        require(self.vote_sent[participant])
        self.vote_known[participant] = Vote.YES if self.votes_yes[participant] else Vote.NO

    @action
    @fair
    def coordinator_detects_fault(self, participant: Participant) -> None:
        """It waits no longer for a participant that died before it sent its vote."""
        require(self.collects_votes())
        require(self.vote_known[participant] == Vote.UNKNOWN)
        require(not self.alive[participant])
        require(not self.vote_sent[participant])
        self.coordinator_decision = Decision.ABORT

    @action
    @fair
    def coordinator_decides(self) -> None:
        require(self.coordinator_alive)
        require(self.coordinator_decision == Decision.UNDECIDED)
        require(all(self.vote_known[p] != Vote.UNKNOWN for p in Participant))
        all_yes = all(self.vote_known[p] == Vote.YES for p in Participant)
        self.coordinator_decision = Decision.COMMIT if all_yes else Decision.ABORT

    @action
    @fair
    def coordinator_tells(self, participant: Participant) -> None:
        require(self.coordinator_alive)
        require(self.coordinator_decision != Decision.UNDECIDED)
        require(self.told[participant] == Decision.UNDECIDED)
        self.told[participant] = self.coordinator_decision

    @action
    def coordinator_dies(self) -> None:
        require(self.coordinator_alive)
        self.coordinator_alive = False

    # A participant.

    @action
    @fair(each="participant")
    def participant_votes(self, participant: Participant) -> None:
        """It sends its vote, also again."""
        require(self.alive[participant])
        require(self.requested[participant])
        self.vote_sent[participant] = True

    @action
    @fair(each="participant")
    def participant_aborts(self, participant: Participant) -> None:
        """Having voted no it need not wait."""
        require(self.alive[participant])
        require(self.decision[participant] == Decision.UNDECIDED)
        require(self.vote_sent[participant])
        require(not self.votes_yes[participant])
        self.decision[participant] = Decision.ABORT

    @action
    @fair(each="participant")
    def participant_times_out(self, participant: Participant) -> None:
        """The coordinator died before it asked for its vote."""
        require(self.alive[participant])
        require(self.decision[participant] == Decision.UNDECIDED)
        require(not self.coordinator_alive)
        require(not self.requested[participant])
        self.decision[participant] = Decision.ABORT

    @action
    @fair(each="participant")
    def participant_decides(self, participant: Participant) -> None:
        require(self.alive[participant])
        require(self.decision[participant] == Decision.UNDECIDED)
        require(self.told[participant] != Decision.UNDECIDED)
        self.decision[participant] = self.told[participant]

    @action
    def participant_dies(self, participant: Participant) -> None:
        require(self.alive[participant])
        self.alive[participant] = False

    # What the text promises.

    def nobody_died(self) -> bool:
        return self.coordinator_alive and all(self.alive[p] for p in Participant)

    @invariant
    def same_decision(self) -> bool:
        """AC1: no participant commits while another aborts."""
        committed = any(self.decision[p] == Decision.COMMIT for p in Participant)
        return not (committed and any(self.decision[p] == Decision.ABORT for p in Participant))

    @invariant
    def commit_needs_every_vote(self) -> bool:
        """AC2: if a participant commits, all voted yes."""
        return implies(
            any(self.decision[p] == Decision.COMMIT for p in Participant), all(self.votes_yes[p] for p in Participant)
        )

    @invariant
    def abort_has_a_reason(self) -> bool:
        """AC3: if a participant aborts, one voted no or somebody died."""
        return implies(
            any(self.decision[p] == Decision.ABORT for p in Participant),
            not self.nobody_died() or any(not self.votes_yes[p] for p in Participant),
        )

    @reachable
    def all_can_commit(self) -> bool:
        return all(self.decision[p] == Decision.COMMIT for p in Participant)

    @eventually
    def all_decide_unless_somebody_dies(self) -> bool:
        """AC3: every participant decides, unless a participant or the coordinator dies."""
        return not self.nobody_died() or all(self.decision[p] != Decision.UNDECIDED for p in Participant)


@transition
def decisions_are_final(before: Commitment, after: Commitment) -> bool:
    """AC4: a participant decides at most once."""
    return all(
        before.decision[p] == Decision.UNDECIDED or after.decision[p] == before.decision[p] for p in Participant
    )
