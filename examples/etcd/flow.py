"""How a leader of etcd's Raft paces what it sends to a node (``tracker/progress.go``, ``tracker/inflights.go``).

The model leaves this out: there a leader sends what it likes. Who carries out a test of the library has to know what it
does send, and when.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Progress:
    """What a leader knows of a node (tracker.Progress)."""

    next: int
    most: int
    """How many messages with entries may be on the way (MaxInflightMsgs)."""
    match: int = 0
    state: str = "Probe"
    paused: bool = False
    pending: int = 0
    sent_commit: int = 0
    active: bool = False
    learner: bool = False
    inflight: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        """As the command ``status`` prints it."""
        text = f"State{self.state} match={self.match} next={self.next}"
        text += " learner" if self.learner else ""
        text += " paused" if self.is_paused else ""
        text += f" pendingSnap={self.pending}" if self.pending else ""
        text += "" if self.active else " inactive"
        full = "[full]" if self.is_full else ""
        return text + (f" inflight={len(self.inflight)}{full}" if self.inflight else "")

    @property
    def is_full(self) -> bool:
        return len(self.inflight) == self.most

    @property
    def is_paused(self) -> bool:
        return self.paused or self.state == "Snapshot"

    def _enter(self, state: str, following: int) -> None:
        self.state, self.next = state, following
        self.paused, self.pending, self.inflight = False, 0, []

    def probe(self) -> None:
        after = self.pending + 1 if self.state == "Snapshot" else 0
        self._enter("Probe", max(self.match + 1, after))
        self.sent_commit = min(self.sent_commit, self.next - 1)

    def replicate(self) -> None:
        self._enter("Replicate", self.match + 1)

    def send_snapshot(self, index: int) -> None:
        self._enter("Snapshot", index + 1)
        self.pending = self.sent_commit = index

    def sent(self, entries: int, commit: int) -> None:
        if self.state == "Replicate":
            if entries > 0:
                self.next += entries
                self.inflight.append(self.next - 1)
            self.paused = self.is_full
        elif entries > 0:
            self.paused = True
        self.sent_commit = commit

    def update(self, index: int) -> bool:
        """An acknowledgement; whether it says something new (MaybeUpdate)."""
        if index <= self.match:
            return False
        self.match, self.next, self.paused = index, max(self.next, index + 1), False
        return True

    def refused(self, index: int, hint: int) -> bool:
        """A refusal; whether it is not stale (MaybeDecrTo)."""
        if self.state == "Replicate":
            if index <= self.match:
                return False
            self.next = self.match + 1
        else:
            if self.next - 1 != index:
                return False
            self.next = max(min(index, hint + 1), self.match + 1)
            self.paused = False
        self.sent_commit = min(self.sent_commit, self.next - 1)
        return True

    def may_bump_commit(self, commit: int) -> bool:
        return commit > self.sent_commit and self.sent_commit < self.next - 1
