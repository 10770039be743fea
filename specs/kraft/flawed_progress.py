"""Known-bad designs of KIP-595 and KIP-996 that are safe and get nowhere."""

from __future__ import annotations

from floodmark import action, require
from model.kraft.progress import KraftPreVoteProgress, KraftProgress
from model.kraft.quorum import Fate, Replica, Role


class NeverResigns(KraftProgress):
    """A leader goes on leading, whether anybody fetches from it or not (B-M12, KAFKA-15489)."""

    @action
    def fetch_timer_expires(self, leader: Replica) -> None:
        require(False)


class AnnouncesNothing(KraftProgress):
    """A leader waits until the others ask who leads."""

    @action
    def leader_announces_itself(self, leader: Replica, voter: Replica, fate: Fate) -> None:
        require(False)


class FollowersNeverGrant(KraftPreVoteProgress):
    """A follower refuses every pre-vote, as long as it knows a leader, reached or not (B-M25, KAFKA-17641)."""

    def misses_leader(self, voter: Replica) -> bool:
        return self.role[voter] not in (Role.FOLLOWER, Role.LEADER)


class NeverGivesUp(KraftPreVoteProgress):
    """A replica asks for pre-votes until it is granted them."""

    @action
    def prospective_gives_up(self, replica: Replica) -> None:
        require(False)
