"""Known-bad designs of KIP-595 and KIP-996 that are safe and get nowhere."""

from __future__ import annotations

from floodmark import Map, Set, action, fair, initial, require
from model.kraft.high_watermark import Fetch as HwFetch
from model.kraft.high_watermark import HighWatermark
from model.kraft.progress import BesideObservers, KraftPreVoteProgress, KraftProgress
from model.kraft.purgatory import ResigningLeader
from model.kraft.quorum import Epoch, Fate, Offset, Replica, Role


class NeverResigns(KraftProgress):
    """A leader keeps leading, whether or not anybody fetches from it (B-M12, KAFKA-15489)."""

    @action
    def fetch_timer_expires(self, leader: Replica) -> None:
        require(False)


class AnnouncesNothing(KraftProgress):
    """A leader waits until the others ask who leads."""

    @action
    def leader_sends_begin_quorum_epoch(self, leader: Replica, voter: Replica, fate: Fate) -> None:
        require(False)


class AnnouncesOnce(KraftProgress):
    """A leader sends each voter one BeginQuorumEpoch, whether it is acknowledged or not."""

    announced: Map[Replica, Set[Replica]]

    @initial
    def start(self) -> None:
        super().start()
        self.announced = Map({replica: Set() for replica in Replica})

    def transition_to_leader(self, replica: Replica) -> None:
        super().transition_to_leader(replica)
        self.announced[replica] = Set()

    @action
    def leader_sends_begin_quorum_epoch(self, leader: Replica, voter: Replica, fate: Fate) -> None:
        require(voter not in self.announced[leader])
        super().leader_sends_begin_quorum_epoch(leader, voter, fate)
        self.announced[leader].add(voter)

    @action
    def announcement_is_lost(self, leader: Replica, voter: Replica) -> None:
        require(self.role[leader] == Role.LEADER and voter in self.current_voters and self.cut_off in (leader, voter))
        require(voter != leader and voter not in self.announced[leader])
        self.announced[leader].add(voter)


class CountsObserversThatFetch(BesideObservers):
    """B-M15: a leader takes observers that fetch for voters, and leads on without any (KAFKA-16530)."""

    def majority_fetched(self, leader: Replica) -> bool:
        return len(self.leader_state[leader].fetched_voters | {leader}) > self.voters // 2

    def record_fetch(self, leader: Replica, replica: Replica, offset: Offset) -> None:
        super().record_fetch(leader, replica, offset)
        if not self.majority_fetched(leader):
            self.leader_state[leader].fetched_voters.add(replica)


class KeepsWhatDiverges(KraftProgress):
    """A follower whose log diverges keeps as much as either side has, and so diverges at its next fetch again."""

    def truncation_offset(self, follower: Replica, epoch: Epoch, end: Offset) -> Offset:
        return max(super().truncation_offset(follower, epoch, end), len(self.logs[follower]))


class TellsVotersOnly(KraftProgress):
    """Only voters are told who leads, which an observer then never learns."""

    def learn_leader(self, replica: Replica, epoch: Epoch, leader: Replica | None) -> None:
        if replica in self.current_voters:
            super().learn_leader(replica, epoch, leader)


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
        return fetch.offset < self.log_end_offset


class TellsLogEnd(HighWatermark):
    """A leader tells where its log ends for what is committed."""

    @fair
    @action
    def leader_answers(self) -> None:
        super().leader_answers()
        self.follower_high_watermark = self.follower_log_end_offset


class KeepsParkedFetches(ResigningLeader):
    """B-M18: what a leader has parked when it resigns stays parked (KAFKA-10677)."""

    def completes_parked(self) -> bool:
        return False
