"""Known-bad designs of KIP-595 and KIP-996 that are safe and get nowhere."""

from __future__ import annotations

from floodmark import action, fair, require
from model.kraft.high_watermark import Fetch as HwFetch
from model.kraft.high_watermark import HighWatermark
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


class WaitsForRecords(HighWatermark):
    """A fetch waits for a record, though the high watermark has risen (before KIP-1166)."""

    def has_news(self, fetch: HwFetch) -> bool:
        return fetch.offset < self.log_end


class TellsLogEnd(HighWatermark):
    """A leader tells where its log ends for what is committed."""

    @fair
    @action
    def leader_answers(self) -> None:
        super().leader_answers()
        self.follower_high_watermark = self.follower_end
