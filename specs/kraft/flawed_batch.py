"""Known-bad designs of KIP-595's batched requests: in each, one partition's result depends on another's."""

from __future__ import annotations

from floodmark import Map
from model.kraft.batch import KraftBatch, Partition, PartitionData, PartitionResult, QuorumState, Replica


class GrantsWholeBatch(KraftBatch):
    """A vote that is granted for one partition is granted for all partitions of the request."""

    def vote(
        self, partition: Partition, candidate: Replica, voter: Replica, request: Map[Partition, PartitionData | None]
    ) -> PartitionResult | None:
        result = super().vote(partition, candidate, voter, request)
        if result is not None:
            for other in Partition:
                data = request[other]
                if data is not None and self.judge(other, candidate, voter, data).vote_granted:
                    result = result.replace(vote_granted=True)
        return result


class SharesEpoch(KraftBatch):
    """The highest epoch of a request is used as the epoch of each of its partitions."""

    def vote(
        self, partition: Partition, candidate: Replica, voter: Replica, request: Map[Partition, PartitionData | None]
    ) -> PartitionResult | None:
        result = super().vote(partition, candidate, voter, request)
        if result is not None:
            for other in Partition:
                data = request[other]
                if data is not None and data.candidate_epoch > result.leader_epoch:
                    result = result.replace(leader_epoch=data.candidate_epoch)
        return result


class ComparesOneLog(KraftBatch):
    """The end of the first partition's log stands for all of them."""

    def vote(
        self, partition: Partition, candidate: Replica, voter: Replica, request: Map[Partition, PartitionData | None]
    ) -> PartitionResult | None:
        data = request[partition]
        first = request[Partition(1)]
        if data is not None and first is not None:
            return self.judge(partition, candidate, voter, data.replace(last_offset=first.last_offset))
        return super().vote(partition, candidate, voter, request)


class VotesAgain(KraftBatch):
    """A vote for another candidate does not rule out one for a longer log."""

    def judge(self, partition: Partition, candidate: Replica, voter: Replica, data: PartitionData) -> PartitionResult:
        result = super().judge(partition, candidate, voter, data)
        current = result.leader_epoch == data.candidate_epoch and result.leader is None
        longer = data.last_offset > self.log_end_offsets[partition][voter]
        return result.replace(vote_granted=True) if current and longer else result


class TakesAnyEpoch(KraftBatch):
    """A voter takes over the epoch of a request, whether or not it is later than its own."""

    def store(self, partition: Partition, candidate: Replica, voter: Replica, result: PartitionResult) -> None:
        super().store(partition, candidate, voter, result)
        if not result.vote_granted:
            epoch = self.quorum_state[partition][candidate].epoch
            self.quorum_state[partition][voter] = QuorumState(epoch=epoch, leader=None, voted_key=None)


class RemainsCandidate(KraftBatch):
    """A candidate that learns of a later epoch continues its election."""

    def hear(self, partition: Partition, candidate: Replica, voter: Replica, result: PartitionResult) -> None:
        super().hear(partition, candidate, voter, result)
        if not result.vote_granted:
            self.candidates[partition].add(candidate)


class TellsEarlierLeader(KraftBatch):
    """A voter that refuses a candidate of a later epoch names the leader of its own epoch as the leader of that one."""

    def judge(self, partition: Partition, candidate: Replica, voter: Replica, data: PartitionData) -> PartitionResult:
        return super().judge(partition, candidate, voter, data).replace(
            leader=self.quorum_state[partition][voter].leader
        )


class AnswersOnce(KraftBatch):
    """A candidate that asks again is refused, although it has the vote."""

    def judge(self, partition: Partition, candidate: Replica, voter: Replica, data: PartitionData) -> PartitionResult:
        result = super().judge(partition, candidate, voter, data)
        return (
            result.replace(vote_granted=False) if self.quorum_state[partition][voter].voted_key == candidate else result
        )


class VotesOnJoining(KraftBatch):
    """A replica votes when it learns of an epoch from a candidate, and not if it already knows the epoch."""

    def judge(self, partition: Partition, candidate: Replica, voter: Replica, data: PartitionData) -> PartitionResult:
        result = super().judge(partition, candidate, voter, data)
        state = self.quorum_state[partition][voter]
        known = state.epoch == data.candidate_epoch and state.voted_key is None
        return result.replace(vote_granted=False) if known else result
