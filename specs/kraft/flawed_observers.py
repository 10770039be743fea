"""Known-bad designs of what KIP-595's followers, and its observers, know to be committed."""

from __future__ import annotations

from model.kraft.observers import KraftObservers
from model.kraft.quorum import Message


class TakesLowerHighWatermark(KraftObservers):
    """A follower takes over its leader's high watermark even if it knows better; a new leader knows none."""

    def handle_records(self, response: Message) -> None:
        super().handle_records(response)
        follower = response.destination
        self.high_watermark[follower] = self.known_committed(follower, response.bound)


class LearnsBeforeItAppends(KraftObservers):
    """A follower looks at the high watermark of an answer before it appends the record: it is always one behind."""

    def handle_records(self, response: Message) -> None:
        follower = response.destination
        known = max(self.high_watermark[follower], self.known_committed(follower, response.bound))
        super().handle_records(response)
        self.high_watermark[follower] = known
