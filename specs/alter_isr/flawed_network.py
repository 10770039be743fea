"""Known-bad designs of KIP-497 with failover where fetches and answers are late: harmless if they are on time."""

from __future__ import annotations

from model.alter_isr.network import Answer, Fetch, LateFetches


class TakesAnswersOfEarlierEpochs(LateFetches):
    """A follower takes an answer of an earlier leader epoch, in which it followed another broker perhaps (the race that
    Kafka's AbstractFetcherThread guards against).
    """

    def is_of_this_epoch(self, answer: Answer) -> bool:
        return not self.leads(answer.fetch.follower)


class TakesAnswersToEarlierFetches(LateFetches):
    """A follower compares offsets only, although an earlier fetch of its leader epoch may be answered after a later
    one: what it was to truncate then is another record now.
    """

    def is_of_this_log(self, answer: Answer) -> bool:
        return len(self.replicas[answer.fetch.follower].log) == answer.fetch.offset


class CountsEarlierLives(LateFetches):
    """A leader takes a fetch from before the follower restarted for one of today: the follower has joined the ISR
    again, with less (KIP-903 has the broker epoch in fetches, too).
    """

    def broker_epoch_is_valid(self, fetch: Fetch) -> bool:
        return True


class AnswersEarlierEpochs(LateFetches):
    """A-M13: a leader answers fetches of any leader epoch (KIP-320, KAFKA-7395)."""

    def leader_epoch_is_valid(self, fetch: Fetch) -> bool:
        return True
