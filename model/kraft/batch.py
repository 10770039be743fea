"""KIP-595, "Vote" ("multi-raft"): one Vote request may be about several partitions, each with its own quorum.

This is the elections of a few partitions that share their voters and their requests. Logs do not change; what else a
quorum does is in model/kraft/quorum.py, where to begin. What matters is that every partition is judged on its own: its
epoch, its vote, its log, its error.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Identifier, Map, Model, Record, Set, action, initial, require, rule


class Replica(Identifier, count="voters", prefix="r"):
    """A voter of every partition."""


class Partition(Identifier, count="partitions", prefix="p"):
    """A partition whose replicas elect their leader."""


Epoch = Annotated[int, Between(0, "max_epoch")]
Offset = Annotated[int, Between(0, 1)]


class QuorumState(Record):
    """What a replica stores for one partition."""

    epoch: Epoch
    leader: Replica | None
    voted_key: Replica | None


class PartitionData(Record):
    """One partition of a Vote request. All logs end in the same epoch, so their length decides."""

    candidate_epoch: Epoch
    last_offset: Offset


class PartitionResult(Record):
    """One partition of the response. Without a vote it carries the epoch and the leader that the voter knows."""

    vote_granted: bool
    leader: Replica | None
    leader_epoch: Epoch


class KraftBatch(Model):
    """Several quorums of the same replicas."""

    voters = Constant(3)
    partitions = Constant(2)
    max_epoch = Constant(2)

    quorum_state: Map[Partition, Map[Replica, QuorumState]]
    candidates: Map[Partition, Set[Replica]]
    log_end_offsets: Map[Partition, Map[Replica, Offset]]
    elected: Map[Partition, Map[Epoch, Replica | None]]
    """History: who became the leader of each epoch."""

    @initial
    def start(self, ahead: Map[Partition, Replica]) -> None:
        """In each partition one replica's log is longer than the others'. Names do not matter, so it is the first
        replica's.
        """
        require(ahead[Partition(1)] == Replica(1))
        self.quorum_state = Map(
            {
                partition: Map({replica: QuorumState(epoch=0, leader=None, voted_key=None) for replica in Replica})
                for partition in Partition
            }
        )
        self.candidates = Map({partition: Set() for partition in Partition})
        self.log_end_offsets = Map(
            {
                partition: Map({replica: 1 if replica == ahead[partition] else 0 for replica in Replica})
                for partition in Partition
            }
        )
        self.elected = Map(
            {partition: Map({epoch: None for epoch in range(self.max_epoch + 1)}) for partition in Partition}
        )

    @action
    def election_timeout(self, partition: Partition, replica: Replica) -> None:
        """``QuorumState.transitionToCandidate``."""
        state = self.quorum_state[partition][replica]
        require(state.leader != replica and state.epoch < self.max_epoch)
        self.quorum_state[partition][replica] = QuorumState(epoch=state.epoch + 1, leader=None, voted_key=replica)
        self.candidates[partition].add(replica)

    @action
    def candidate_requests_votes(self, candidate: Replica, voter: Replica, answered: bool) -> None:
        """One request for all the partitions in which the replica is a candidate. The response may be lost.

        KIP-595, "Vote"; Kafka's requests have one partition each (``KafkaRaftClient.handleVoteRequest``).
        """
        require(candidate != voter and any(candidate in self.candidates[partition] for partition in Partition))
        request = Map({partition: self.data(partition, candidate) for partition in Partition})
        response = Map({partition: self.vote(partition, candidate, voter, request) for partition in Partition})
        for partition in Partition:
            result = response[partition]
            if result is not None:
                self.store(partition, candidate, voter, result)
                if answered:
                    self.hear(partition, candidate, voter, result)

    def data(self, partition: Partition, candidate: Replica) -> PartitionData | None:
        """What the request says about a partition, if anything."""
        if candidate not in self.candidates[partition]:
            return None
        return PartitionData(
            candidate_epoch=self.quorum_state[partition][candidate].epoch,
            last_offset=self.log_end_offsets[partition][candidate],
        )

    @rule
    def vote(
        self, partition: Partition, candidate: Replica, voter: Replica, request: Map[Partition, PartitionData | None]
    ) -> PartitionResult | None:
        """The result for one partition depends on this partition only (KIP-595, "Vote")."""
        data = request[partition]
        return None if data is None else self.judge(partition, candidate, voter, data)

    def judge(self, partition: Partition, candidate: Replica, voter: Replica, data: PartitionData) -> PartitionResult:
        """What a voter answers. One that led its current epoch, or voted for itself in it, votes for no other."""
        state = self.quorum_state[partition][voter]
        epoch = max(state.epoch, data.candidate_epoch)
        free = data.candidate_epoch > state.epoch or (state.leader is None and state.voted_key is None)
        again = data.candidate_epoch == state.epoch and state.voted_key == candidate
        granted = data.candidate_epoch == epoch and (
            again or (free and data.last_offset >= self.log_end_offsets[partition][voter])
        )
        leader = state.leader if state.epoch == epoch else None
        return PartitionResult(vote_granted=granted, leader=leader, leader_epoch=epoch)

    def store(self, partition: Partition, candidate: Replica, voter: Replica, result: PartitionResult) -> None:
        """The voter joins a later epoch, and keeps its vote."""
        if result.leader_epoch > self.quorum_state[partition][voter].epoch:
            self.quorum_state[partition][voter] = QuorumState(epoch=result.leader_epoch, leader=None, voted_key=None)
            self.candidates[partition].discard(voter)
        if result.vote_granted:
            self.quorum_state[partition][voter].voted_key = candidate

    def hear(self, partition: Partition, candidate: Replica, voter: Replica, result: PartitionResult) -> None:
        """The candidate joins a later epoch, follows the leader, or leads with the one other vote that it needs among
        three.
        """
        state = self.quorum_state[partition][candidate]
        if result.vote_granted:
            self.candidates[partition].discard(candidate)
            self.quorum_state[partition][candidate] = QuorumState(epoch=state.epoch, leader=candidate, voted_key=None)
            self.elected[partition][state.epoch] = candidate
        elif result.leader_epoch > state.epoch or result.leader is not None:
            self.candidates[partition].discard(candidate)
            self.quorum_state[partition][candidate] = QuorumState(
                epoch=result.leader_epoch, leader=result.leader, voted_key=None
            )
