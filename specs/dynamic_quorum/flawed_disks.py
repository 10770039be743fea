"""Known-bad designs of replica keys and of replicas that join by themselves."""

from __future__ import annotations

from floodmark import Set, action, require
from model.dynamic_quorum.disks import DynamicDisks
from model.kraft.quorum import Replica


class VotersById(DynamicDisks):
    """Voters have no directory ids, so a node with an empty disk is the voter that it was (G-M16; KIP-853,
    "Motivation").
    """

    def returns_as(self, replica: Replica, fresh: Replica) -> bool:
        return fresh == replica


class AddsSecondKey(DynamicDisks):
    """The new key of a node is added beside its former one (G-M17; KIP-853, "Disk Failure Recovery", word for word)."""

    def has_new_id(self, leader: Replica, replica: Replica) -> bool:
        return True


class RejoinsWhenRemoved(DynamicDisks):
    """A replica that is removed asks to be added again as soon as it has read that (G-M18, KAFKA-19850)."""

    def joins_by_itself(self, replica: Replica) -> bool:
        return True


class UpdatesVoterById(DynamicDisks):
    """UpdateVoter finds a voter by its node id alone (G-M26): a node with an empty disk takes the place of its former
    replica in a single record.
    """

    @action
    def leader_updates_voter(self, leader: Replica, voter: Replica) -> None:
        voters = self.voter_set[leader]
        others = Set(other for other in voters if self.node[other] != self.node[voter])
        require(self.updates < self.max_updates and self.may_change(leader) and len(others) < len(voters))
        self.updates += 1
        self.write_voters(leader, others | {voter})
