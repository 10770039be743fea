"""What one might believe instead of Kafka's quorum: each design differs from ``KafkaQuorum`` by one rule.

Most are known-bad designs of ``specs/kraft/``, put before what Kafka's code adds; the others leave one of these out.
"""

from __future__ import annotations

from quorum import KafkaQuorum

from floodmark import rule
from model.kraft.pre_vote import KraftPreVote
from model.kraft.quorum import Epoch, Kraft, Replica, Role
from specs.kraft import flawed, flawed_pre_vote


class CommitsAtEpochStart(flawed.CommitsAtEpochStart, KafkaQuorum):
    """A leader commits as soon as a majority has everything from before its epoch."""


class CommitsEarlierEpochs(flawed.CommitsEarlierEpochs, KafkaQuorum):
    """A leader commits records of earlier epochs by counting copies."""


class KeepsHighWatermark(flawed.KeepsHighWatermark, KafkaQuorum):
    """A new leader keeps the high watermark that it knew."""


class CountsDivergedFollowers(flawed.CountsDivergedFollowers, KafkaQuorum):
    """A fetch counts, whether or not the follower's log diverges."""


class ComparesLengthsOnly(flawed.ComparesLengthsOnly, KafkaQuorum):
    """A log diverges if it is longer than the leader's."""


class CountsSentRecords(flawed.CountsSentRecords, KafkaQuorum):
    """A record that was sent counts as fetched."""


class ForgetsLeadership(flawed.ForgetsLeadership, KafkaQuorum):
    """A leader that restarts does not know that it led."""


class ResumesLeadership(flawed.ResumesLeadership, KafkaQuorum):
    """A leader that restarts goes on leading."""


class DeniesLeadership(KafkaQuorum):
    """A resigned leader that hears that it leads the epoch stops. Every answer of Kafka's names the leader, so a leader
    hears it, too, and goes on.
    """

    def is_consistent_leader(self, replica: Replica, epoch: Epoch, leader: Replica) -> bool:
        resigned = leader == replica and self.role[replica] == Role.RESIGNED
        return not resigned and super().is_consistent_leader(replica, epoch, leader)


class ForgetsVote(flawed.ForgetsVote, KafkaQuorum):
    """A voter that restarts may vote again."""


class ForgetsCandidacy(flawed.ForgetsCandidacy, KafkaQuorum):
    """A candidate that restarts may vote for another."""


class ForgetsEpoch(flawed.ForgetsEpoch, KafkaQuorum):
    """The epoch is not stored."""


class LosesQuorumState(flawed.LosesQuorumState, KafkaQuorum):
    """Nothing is stored."""


class ResignsWithHighWatermark(flawed.ResignsWithHighWatermark, KafkaQuorum):
    """A leader that resigns keeps its high watermark."""


class VotesForAnyLog(flawed.VotesForAnyLog, KafkaQuorum):
    """A voter does not compare logs."""


class VotesForLongerLog(flawed.VotesForLongerLog, KafkaQuorum):
    """The longer log wins."""


class VotesTwice(flawed.VotesTwice, KafkaQuorum):
    """A voter votes for everybody that asks."""


class ChangesVote(flawed.ChangesVote, KafkaQuorum):
    """The last to ask has the vote."""


class TellsVoteOnly(flawed.TellsVoteOnly, KafkaQuorum):
    """The vote is told, and not stored."""


class LargestEpochWins(flawed.LargestEpochWins, KafkaQuorum):
    """A vote goes to the larger epoch only."""


class HalfIsEnough(flawed.HalfIsEnough, KafkaQuorum):
    """Half of the voters are enough."""


class TakesCandidateForLeader(flawed.TakesCandidateForLeader, KafkaQuorum):
    """A candidate with a higher epoch is followed."""


class FollowsEarlierEpochs(flawed.FollowsEarlierEpochs, KafkaQuorum):
    """A leader of an earlier epoch is followed."""


class KeepsVotes(flawed.KeepsVotes, KafkaQuorum):
    """Votes of earlier elections count."""


class SkipsPreVote(flawed_pre_vote.SkipsPreVote, KafkaQuorum):
    """A voter stands without asking first."""


class StoresPreVote(flawed_pre_vote.StoresPreVote, KafkaQuorum):
    """A pre-vote is stored like a vote."""


class ResignedLeaderAsks(flawed_pre_vote.ResignedLeaderAsks, KafkaQuorum):
    """A leader that has resigned asks for pre-votes in its own epoch."""


class WaitsForAllPreVotes(flawed_pre_vote.WaitsForAllPreVotes, KafkaQuorum):
    """A prospective waits for everybody's pre-vote."""


class GrantsStaleLogs(flawed_pre_vote.GrantsStaleLogs, KafkaQuorum):
    """A pre-vote is granted to any log."""


class ForgetsFetches(flawed_pre_vote.ForgetsFetches, KafkaQuorum):
    """A follower forgets that it has fetched."""


class ForgetsVoteWhenItGivesUp(flawed_pre_vote.ForgetsVoteWhenItGivesUp, KafkaQuorum):
    """A prospective that gives up forgets its vote."""


class HearsLateAnswers(KafkaQuorum):
    """A late answer is taken, whatever was asked since."""

    def forget(self, replica: Replica, other: Replica) -> None:
        pass


class FollowersForgetVote(KafkaQuorum):
    """Whoever follows a leader has no vote stored."""

    def transition_to_follower(self, replica: Replica, epoch: int, leader: Replica) -> None:
        KraftPreVote.transition_to_follower(self, replica, epoch, leader)


class CountsNoRefusals(KafkaQuorum):
    """A prospective that is refused by a majority waits for its timer."""

    @rule
    def count_refusal(self, replica: Replica, voter: Replica) -> None:
        self.refusals[replica].add(voter)


class AllStandAtOnce(KafkaQuorum):
    """Every voter stands when the leader resigns, not only the first successor."""

    def successor_rank(self, leader: Replica, voter: Replica) -> int:
        return 0


class SuccessorsAreEqual(KafkaQuorum):
    """Voters that have fetched as far are equal successors."""

    def successor_rank(self, leader: Replica, voter: Replica) -> int:
        return Kraft.successor_rank(self, leader, voter)


BELIEFS: dict[type[KafkaQuorum], dict[str, bool | int]] = {
    CommitsAtEpochStart: {"led": True},
    CommitsEarlierEpochs: {"rivals": True},
    KeepsHighWatermark: {"led": True},
    CountsDivergedFollowers: {"rivals": True},
    ComparesLengthsOnly: {"rivals": True},
    CountsSentRecords: {"led": True},
    ForgetsLeadership: {"led": True},
    ResumesLeadership: {"led": True},
    DeniesLeadership: {"led": True},
    ForgetsVote: {},
    ForgetsCandidacy: {},
    ForgetsEpoch: {"led": True},
    LosesQuorumState: {"led": True},
    ResignsWithHighWatermark: {"led": True},
    VotesForAnyLog: {"rivals": True},
    VotesForLongerLog: {"rivals": True},
    VotesTwice: {},
    ChangesVote: {},
    TellsVoteOnly: {},
    LargestEpochWins: {},
    HalfIsEnough: {"led": True, "voters": 4},
    TakesCandidateForLeader: {"led": True},
    FollowsEarlierEpochs: {"rivals": True},
    KeepsVotes: {},
    SkipsPreVote: {"led": True},
    StoresPreVote: {},
    ResignedLeaderAsks: {"led": True},
    WaitsForAllPreVotes: {"led": True},
    GrantsStaleLogs: {"rivals": True},
    ForgetsFetches: {"led": True},
    ForgetsVoteWhenItGivesUp: {},
    HearsLateAnswers: {"led": True},
    FollowersForgetVote: {},
    CountsNoRefusals: {"led": True},
    AllStandAtOnce: {"led": True},
    SuccessorsAreEqual: {"led": True},
}
"""With the opening after which the difference shows soon."""
