"""Known-bad designs that depose a leader from which a majority fetches."""

from __future__ import annotations

from floodmark import action, require
from model.kraft.quorum import Replica, Role
from model.kraft.timely import KraftPreVoteTimely, KraftTimely


class ObserversStandForElection(KraftTimely):
    """A replica that is not a voter may become a candidate: an observer that has lost its leader begins a later epoch
    (B-M16, KAFKA-17067).
    """

    def may_stand(self, replica: Replica) -> bool:
        return not any(self.can_fetch(replica, leader) for leader in Replica)


class DisruptiveLeader(KraftTimely):
    """KIP-595 alone, where only leaders are partitioned, until followers fetch from another one: the earlier leader
    "will keep increasing its epoch", and that deposes the later one ("Leader Progress Timeout").
    """

    @action
    def network_parts(self, replica: Replica) -> None:
        require(self.role[replica] == Role.LEADER)
        super().network_parts(replica)

    @action
    def network_heals(self) -> None:
        require(any(self.can_fetch(voter, leader) for voter in Replica for leader in Replica))
        super().network_heals()


class NeedsMajorityOfOthers(KraftPreVoteTimely):
    """A leader requires fetches from a majority besides itself (B-M13): one dead follower of three deposes it."""

    def majority_fetched(self, leader: Replica) -> bool:
        return self.is_majority(self.leader_state[leader].fetched_voters - {leader})


class NeedsFetchesWhenAlone(KraftTimely):
    """A leader that is the only voter requires a fetch (B-M14, KAFKA-16144)."""

    def majority_fetched(self, leader: Replica) -> bool:
        return len(self.leader_state[leader].fetched_voters) > 0 and super().majority_fetched(leader)


class GrantsToEarlierLeaders(KraftPreVoteTimely):
    """A follower grants a pre-vote even if it fetches from a leader (B-M24; KIP-996, "Proposed Changes")."""

    def misses_leader(self, voter: Replica) -> bool:
        return self.role[voter] != Role.LEADER
