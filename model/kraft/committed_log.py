"""What KIP-595 is for, in one page: a log to which committed records are only added, and one leader for each epoch.

``Kraft`` (quorum.py) reaches this with votes, fetches and restarts. ``as_committed_log`` says which part of its state
it is: every step of the protocol leaves that part as it is, or changes it as one or two of these actions do.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Map, Model, Seq, action, initial, refines, require
from model.kraft.quorum import Epoch, Kraft, Log, Replica


class CommittedLog(Model):
    """The committed records, and the leader of each epoch. A record is the epoch that it was written in."""

    voters = Constant(3)
    observers = Constant(0)
    max_epoch = Constant(3)
    max_log = Constant(2)

    committed: Log
    leaders: Map[Epoch, Replica | None]

    @initial
    def start(self) -> None:
        """Nothing is committed, and nobody has led."""
        self.committed = Seq()
        self.leaders = Map({epoch: None for epoch in range(self.max_epoch + 1)})

    @initial
    def bootstrap(self, leader: Replica) -> None:
        """A quorum may be formatted with a leader of the first epoch and its first record (KIP-853)."""
        self.committed = Seq([1])
        self.leaders = Map({epoch: leader if epoch == 1 else None for epoch in range(self.max_epoch + 1)})

    @action
    def leader_is_elected(self, epoch: Annotated[int, Between(1, "max_epoch")], replica: Replica) -> None:
        """An epoch gets its leader, which stays the only one. ``QuorumState.transitionToLeader``."""
        require(self.leaders[epoch] is None)
        self.leaders[epoch] = replica

    @action
    def record_is_committed(self, epoch: Annotated[int, Between(1, "max_epoch")]) -> None:
        """A record that the leader of an epoch has written comes behind all that are committed, none of which changes.

        ``LeaderState.maybeUpdateHighWatermark``.
        """
        require(len(self.committed) < self.max_log and self.leaders[epoch] is not None)
        require(all(earlier <= epoch for earlier in self.committed))
        self.committed.append(epoch)


@refines(steps=2)
def as_committed_log(model: Kraft) -> CommittedLog:
    """The records below the highest high watermark so far, and who was elected, are those of a committed log."""
    return CommittedLog(
        voters=model.voters,
        observers=model.observers,
        max_epoch=model.max_epoch,
        max_log=model.max_log,
        committed=model.committed,
        leaders=model.elected,
    )
