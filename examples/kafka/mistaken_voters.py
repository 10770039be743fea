"""What one might believe instead of Kafka's changes of voters: each design differs from ``KafkaVoters`` by one rule.

The first are known-bad designs of ``specs/dynamic_quorum/``, put before what Kafka's code adds; the others leave one of
these out, or take the text of KIP-853 at its word.
"""

from __future__ import annotations

from voters import KafkaVoters

from floodmark import action, require, rule
from model.dynamic_quorum.pre_vote import DynamicPreVote
from model.dynamic_quorum.voters import DynamicQuorum
from model.kraft.quorum import Epoch, Offset, Replica, Role
from specs.dynamic_quorum import flawed, flawed_pre_vote


class ChangesBeforeCommit(flawed.ChangesBeforeCommit, KafkaVoters):
    """A leader changes the voters before it has committed a record of its own epoch."""


class ChangesTwoAtOnce(flawed.ChangesTwoAtOnce, KafkaVoters):
    """A change does not wait until the last one is committed."""


class ReplacesVoter(flawed.ReplacesVoter, KafkaVoters):
    """One record takes a voter out and another one in."""


class UsesCommittedVoters(flawed.UsesCommittedVoters, KafkaVoters):
    """Voters count once their record is committed."""


class KeepsTruncatedVoters(flawed.KeepsTruncatedVoters, KafkaVoters):
    """Truncating the log does not take the voters back."""


class CountsRemovedLeader(flawed.CountsRemovedLeader, KafkaVoters):
    """A leader that has removed itself goes on to count itself."""


class AddsWithoutCatchingUp(flawed.AddsWithoutCatchingUp, KafkaVoters):
    """A replica is added that has not caught up."""


class ObserversStand(flawed.ObserversStand, KafkaVoters):
    """A replica stands for election although its log does not name it."""


class CountsObservers(flawed.CountsObservers, KafkaVoters):
    """Whoever fetches is counted."""


class CountsFormerVoters(flawed.CountsFormerVoters, KafkaVoters):
    """Until a change is committed, a majority of the voters before it commits."""

    def last_change(self, replica: Replica) -> Offset:
        """There are voters before it: the first are those of kraft.version 1, at the second offset."""
        change = super().last_change(replica)
        return 1 if change == 2 and self.high_watermark[replica] < 2 else change


class CandidatesDoNotAsk(flawed_pre_vote.CandidatesDoNotAsk, KafkaVoters):
    """A replica stands without having asked for pre-votes."""


class ForgetsVote(flawed_pre_vote.ForgetsVote, KafkaVoters):
    """A replica that becomes prospective forgets its vote."""


class HeedsVotersOnly(KafkaVoters):
    """A replica refuses a candidate that is no voter by its own log."""

    def heeds_stranger(self, voter: Replica, candidate: Replica) -> bool:
        return candidate in self.voter_set[voter]


class ServesVotersOnly(KafkaVoters):
    """A leader does not count fetches of those that are no voters, and so adds none of them."""

    def record_fetch(self, leader: Replica, replica: Replica) -> None:
        if replica in self.voter_set[leader]:
            super().record_fetch(leader, replica)


class CatchesUpNow(KafkaVoters):
    """A replica is added if it is level now, as KIP-853 has it, not if it was at some time."""

    def has_caught_up(self, leader: Replica, replica: Replica) -> bool:
        return DynamicQuorum.has_caught_up(self, leader, replica) and replica in self.known[leader]


class ResignsWheneverRemoved(KafkaVoters):
    """A leader that has removed itself resigns once that is committed, whether or not the request has timed out."""

    def resigns_when_removed(self, leader: Replica) -> bool:
        return DynamicQuorum.resigns_when_removed(self, leader)


class ResignsAtOnce(KafkaVoters):
    """A leader that removes itself resigns before that is committed."""

    @action
    def leader_removes_voter(self, leader: Replica, voter: Replica) -> None:
        super().leader_removes_voter(leader, voter)
        if voter == leader and self.role[leader] == Role.LEADER:
            self.resign(leader)


class ForgetsChange(KafkaVoters):
    """A leader does not wait for the change that it was asked for."""

    @action
    def change_times_out(self, leader: Replica) -> None:
        require(False)

    def may_change(self, leader: Replica) -> bool:
        return leader not in self.stopped and DynamicQuorum.may_change(self, leader)

    def wait_for(self, leader: Replica, change: object) -> None:
        pass


class KnowsAddresses(KafkaVoters):
    """Whoever knows its leader's id knows where that one is, also after a restart."""

    def begin_again(self, replica: Replica) -> None:
        super().begin_again(replica)
        if replica in self.nowhere:
            self.nowhere.discard(replica)
            self.take_role(replica, Role.FOLLOWER)


class FollowsFromFetch(KafkaVoters):
    """Whoever fetches from the leader whose id it knows, and not the address, follows it."""

    def take_fetched(self, replica: Replica, leader: Replica, records: int) -> None:
        if replica in self.nowhere:
            self.transition_to_follower(replica, self.quorum_state[leader].epoch, leader)
        super().take_fetched(replica, leader, records)


class AsksForAddress(KafkaVoters):
    """Whoever hears of a leader that it has no address of waits for one."""

    def hear_of_leader(self, replica: Replica, epoch: Epoch, leader: Replica | None, told: bool) -> None:
        if leader is None or self.knows_address(replica, leader, told):
            super().hear_of_leader(replica, epoch, leader, told)


class ReadsAgain(KafkaVoters):
    """A replica whose log was truncated reads what comes in its place."""

    @rule
    def reads(self, replica: Replica, end: Offset) -> bool:
        return True


class TellsAddressAtEnd(KafkaVoters):
    """A leader that has resigned says where it is, as KIP-853 has it."""

    @rule
    def tells_address_at_end(self) -> bool:
        return True


class AllSucceed(KafkaVoters):
    """Every voter that hears of a leader's resignation stands at once."""

    def resign(self, leader: Replica) -> None:
        super().resign(leader)
        self.preferred_successor[leader] = None


class IgnoresFormerVoters(KafkaVoters):
    """The late acknowledgement of a former voter is ignored."""

    @action
    def late_acknowledgement_arrives(self, leader: Replica, voter: Replica) -> None:
        super().late_acknowledgement_arrives(leader, voter)
        self.stopped.discard(leader)


class RestartsAsObserver(KafkaVoters):
    """Whoever has voted for itself, and is no voter any more, restarts as an observer."""

    @rule
    def stands_again(self, replica: Replica) -> bool:
        return super().stands_again(replica) and self.is_voter(replica)


class FollowsAgain(KafkaVoters):
    """A prospective that is told by its leader that it leads follows it again, as the model of KIP-853 has it."""

    def learn_leader(self, replica: Replica, epoch: Epoch, leader: Replica | None) -> None:
        DynamicPreVote.learn_leader(self, replica, epoch, leader)


BELIEFS: dict[type[KafkaVoters], dict[str, int]] = {
    ChangesBeforeCommit: {}, ChangesTwoAtOnce: {}, ReplacesVoter: {}, UsesCommittedVoters: {},
    CountsRemovedLeader: {"voters": 2}, AddsWithoutCatchingUp: {}, ObserversStand: {}, CountsObservers: {},
    CandidatesDoNotAsk: {}, ForgetsVote: {}, ServesVotersOnly: {}, ResignsAtOnce: {}, ForgetsChange: {},
    FollowsAgain: {}, AllSucceed: {},
}
"""Those that a walk contradicts soon, with the numbers of replicas; the others are in ``voter_tours.py``."""
