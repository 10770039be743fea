"""``KafkaVoters`` with six mistakes repaired, in five of which a member throws, and designs that have one of them.

The repairs are beliefs of ``mistaken_voters.py``: what one might expect of Kafka, and Kafka contradicts.
"""

from __future__ import annotations

from mistaken_voters import (
    AsksForAddress,
    FollowsFromFetch,
    IgnoresFormerVoters,
    ReadsAgain,
    RestartsAsObserver,
    TellsAddressAtEnd,
)
from voters import KafkaVoters

from floodmark import action, invariant
from model.kraft.quorum import Epoch, Offset, Replica


class RepairedVoters(
    IgnoresFormerVoters, FollowsFromFetch, AsksForAddress, TellsAddressAtEnd, RestartsAsObserver, ReadsAgain
):
    """Controllers of Kafka with all the repairs."""

    @invariant
    def nobody_throws(self) -> bool:
        """A member that throws stops (``KafkaRaftClientDriver``)."""
        return len(self.stopped) == 0


class HeedsFormerVoters(RepairedVoters):
    """``LeaderState.addAcknowledgementFrom`` throws if the acknowledgement is that of a former voter."""

    @action
    def late_acknowledgement_arrives(self, leader: Replica, voter: Replica) -> None:
        KafkaVoters.late_acknowledgement_arrives(self, leader, voter)


class FetchesAsFollowerOnly(RepairedVoters):
    """``KafkaRaftClient.handleFetchResponse`` wants a follower, which nobody is that knows only its leader's id."""

    def take_fetched(self, replica: Replica, leader: Replica, records: int) -> None:
        KafkaVoters.take_fetched(self, replica, leader, records)


class NeedsAddress(RepairedVoters):
    """``KafkaRaftClient.transitionToFollower`` throws if whoever is told of a leader does not have its address."""

    def hear_of_leader(self, replica: Replica, epoch: Epoch, leader: Replica | None, told: bool) -> None:
        KafkaVoters.hear_of_leader(self, replica, epoch, leader, told)


class ResignsWithoutAddress(NeedsAddress):
    """``RaftUtil.singletonEndQuorumEpochRequest`` does not set the leader's addresses."""

    def tells_address_at_end(self) -> bool:
        return KafkaVoters.tells_address_at_end(self)


class ReadsOnce(RepairedVoters):
    """``KRaftControlRecordStateMachine.truncateNewEntries`` leaves the next offset to be read where it is."""

    def reads(self, replica: Replica, end: Offset) -> bool:
        return KafkaVoters.reads(self, replica, end)


class StandsAgain(RepairedVoters):
    """``QuorumState.initialize`` makes a candidate of whoever has voted for itself, and only a voter can be one."""

    def stands_again(self, replica: Replica) -> bool:
        return KafkaVoters.stands_again(self, replica)
