"""What KIP-853 is for, in one page: a committed log that says who the voters are, and changes them one at a time.

``DynamicQuorum`` (voters.py, where to begin) and what extends it reach this with a voter set for each replica, votes,
fetches and truncation. ``as_committed_voters`` says which part of their state it is: every step of theirs leaves that
part as it is, or changes it as these actions do. This log is itself one of KIP-595: ``as_committed_log`` leaves out who
votes.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Map, Model, Seq, Set, action, initial, refines, require
from model.dynamic_quorum.voters import DynamicQuorum, Entry, Log
from model.kraft.committed_log import CommittedLog
from model.kraft.quorum import Epoch, Replica


class CommittedVoters(Model):
    """The committed records, some of which name the voters from there on, and the leader of each epoch."""

    voters = Constant(2)
    observers = Constant(1)
    max_epoch = Constant(2)
    max_log = Constant(4)

    committed: Log
    leaders: Map[Epoch, Replica | None]

    @initial
    def bootstrap(self, leader: Replica, first: Set[Replica]) -> None:
        """The first record names the first voters, one of which leads the first epoch."""
        require(leader in first and len(first) == self.voters)
        self.committed = Seq([Entry(epoch=1, voters=first)])
        self.leaders = Map({epoch: leader if epoch == 1 else None for epoch in range(self.max_epoch + 1)})

    def last_voters(self) -> Set[Replica]:
        """The voters that the last VotersRecord names."""
        named = Set[Replica]()
        for entry in self.committed:
            if entry.voters is not None:
                named = entry.voters
        return named

    @action
    def leader_is_elected(self, epoch: Annotated[int, Between(1, "max_epoch")], replica: Replica) -> None:
        """An epoch gets its leader, which stays the only one. ``QuorumState.transitionToLeader``."""
        require(self.leaders[epoch] is None)
        self.leaders[epoch] = replica

    @action
    def record_is_committed(self, epoch: Annotated[int, Between(1, "max_epoch")]) -> None:
        """A record of an epoch that has a leader comes behind all that are committed, none of which changes.

        ``LeaderState.maybeUpdateHighWatermark``.
        """
        require(len(self.committed) < self.max_log and self.leaders[epoch] is not None)
        require(all(earlier.epoch <= epoch for earlier in self.committed))
        self.committed.append(Entry(epoch=epoch))

    @action
    def voters_are_committed(self, epoch: Annotated[int, Between(1, "max_epoch")], named: Set[Replica]) -> None:
        """The same of a record that names the voters: those of before, or one more of them, or one fewer.

        ``VoterSet.hasOverlappingMajority``.
        """
        require(len(self.committed) < self.max_log and self.leaders[epoch] is not None)
        require(all(earlier.epoch <= epoch for earlier in self.committed))
        require(len(named) > 0 and len(named ^ self.last_voters()) <= 1)
        self.committed.append(Entry(epoch=epoch, voters=named))


@refines(steps=3)
def as_committed_voters(model: DynamicQuorum) -> CommittedVoters:
    """The records below the highest high watermark so far, and who was elected, are those of a committed log of voters.
    """
    return CommittedVoters(
        voters=model.voters,
        observers=model.observers,
        max_epoch=model.max_epoch,
        max_log=model.max_log,
        committed=model.committed,
        leaders=model.elected,
    )


@refines
def as_committed_log(model: CommittedVoters) -> CommittedLog:
    """Whoever the voters are, the log is one to which committed records are only added."""
    return CommittedLog(
        voters=model.voters,
        observers=model.observers,
        max_epoch=model.max_epoch,
        max_log=model.max_log,
        committed=Seq(entry.epoch for entry in model.committed),
        leaders=model.leaders,
    )
