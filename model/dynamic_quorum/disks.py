"""KIP-853, directory ids: a node that loses its disk comes back as another replica, and replicas join by themselves.

A replica key is a node id with a directory id. A node that loses its disk draws a new directory id, so what has been
forgotten, votes and records, was another replica's. voters.py is where to begin.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Map, Seq, Set, action, initial, require, rule
from model.dynamic_quorum.voters import DynamicQuorum
from model.kraft.quorum import QuorumState, Replica, Role


class DynamicDisks(DynamicQuorum):
    """Nodes and their directories. A disk may be lost at any time, also the last one with a committed record."""

    max_losses = Constant(1)
    max_joins = Constant(1)

    node: Map[Replica, Replica]
    """The node id of each replica, named after its first replica."""
    lost: Set[Replica]
    """The replicas whose directories are gone for good."""
    joins: Annotated[int, Between(0, "max_joins")]
    """How often a replica has joined by itself."""

    @initial
    def start(self, leader: Replica, first: Set[Replica]) -> None:
        super().start(leader, first)
        self.node = Map({replica: replica for replica in Replica})
        self.lost = Set()
        self.joins = 0

    @action
    def node_loses_disk(self, replica: Replica, fresh: Replica) -> None:
        """The environment: the node starts with an empty directory (``Formatter.doFormat`` gives it an id)."""
        require(len(self.lost) < self.max_losses and replica not in self.lost)
        require(self.returns_as(replica, fresh))
        self.node[fresh] = self.node[replica]
        self.lost.add(replica)
        self.forget_everything(replica)
        if fresh == replica:
            self.lost.discard(replica)

    @rule
    def returns_as(self, replica: Replica, fresh: Replica) -> bool:
        """A directory id that nobody has seen before (KIP-853, "Directory Id Generation")."""
        return self.is_blank(fresh) and fresh != replica

    def is_blank(self, replica: Replica) -> bool:
        """It has done nothing yet, so it need not have existed."""
        return (
            replica not in self.lost
            and self.node[replica] == replica
            and self.quorum_state[replica] == QuorumState(epoch=0, leader=None, voted_key=None)
            and len(self.logs[replica]) == 0
            and all(replica not in self.voter_set[other] for other in Replica)
        )

    def forget_everything(self, replica: Replica) -> None:
        self.take_role(replica, Role.UNATTACHED)
        self.quorum_state[replica] = QuorumState(epoch=0, leader=None, voted_key=None)
        self.logs[replica] = Seq()
        self.voter_set[replica] = Set()
        self.high_watermark[replica] = 0

    @action
    def candidate_requests_vote(self, candidate: Replica, voter: Replica) -> None:
        """A node that has another directory id refuses (INVALID_VOTER_KEY)."""
        require(voter not in self.lost)
        super().candidate_requests_vote(candidate, voter)

    @action
    def leader_sends_begin_quorum_epoch(self, leader: Replica, voter: Replica) -> None:
        require(voter not in self.lost)
        super().leader_sends_begin_quorum_epoch(leader, voter)

    @action
    def replica_fetches(
        self, replica: Replica, source: Replica, records: Annotated[int, Between(0, "max_batch")]
    ) -> None:
        require(replica not in self.lost and source not in self.lost)
        super().replica_fetches(replica, source, records)

    @action
    def replica_restarts(self, replica: Replica) -> None:
        require(replica not in self.lost)
        super().replica_restarts(replica)

    @rule
    def has_new_id(self, leader: Replica, replica: Replica) -> bool:
        """``VoterSet.addVoter``: one key for a node id (DUPLICATE_VOTER). In the text, a node may have two."""
        return all(self.node[voter] != self.node[replica] for voter in self.voter_set[leader])

    @action
    def leader_adds_voter(self, leader: Replica, replica: Replica) -> None:
        require(self.has_new_id(leader, replica))
        super().leader_adds_voter(leader, replica)

    # controller.quorum.auto.join.enable

    @rule
    def joins_by_itself(self, replica: Replica) -> bool:
        """Once: not if the log says that it has been a voter, and has been removed (KAFKA-19850; KIP-853, "Automatic
        joining controllers").
        """
        return all(entry.voters is None or replica not in entry.voters for entry in self.logs[replica])

    @action
    def replica_joins(self, leader: Replica, replica: Replica) -> None:
        """``KafkaRaftClient.pollFollowerAsObserver`` sends AddVoter, once it has caught up."""
        require(self.joins < self.max_joins and self.may_change(leader))
        require(self.role[replica] == Role.FOLLOWER and self.quorum_state[replica].leader == leader)
        require(not self.is_voter(replica) and self.joins_by_itself(replica) and self.has_new_id(leader, replica))
        require(replica not in self.voter_set[leader] and self.has_caught_up(leader, replica))
        self.joins += 1
        self.write_voters(leader, self.voter_set[leader] | {replica})

    @action
    def replica_removes_former_key(self, leader: Replica, replica: Replica, former: Replica) -> None:
        """It sends RemoveVoter first if its node id is among the voters with another directory id.

        ``KafkaRaftClient.pollFollowerAsObserver``.
        """
        require(self.joins < self.max_joins and self.may_change(leader) and self.leaves_voters(leader))
        require(self.role[replica] == Role.FOLLOWER and self.quorum_state[replica].leader == leader)
        require(former != replica and self.node[former] == self.node[replica] and former in self.voter_set[replica])
        require(former in self.voter_set[leader])
        self.write_voters(leader, self.voter_set[leader] - {former})
