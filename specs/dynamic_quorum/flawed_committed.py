"""A known-bad design of the committed log that KIP-853 refines (model/dynamic_quorum/committed_voters.py)."""

from __future__ import annotations

from floodmark import Set, action, require
from model.dynamic_quorum.committed_voters import CommittedVoters
from model.dynamic_quorum.voters import Entry
from model.kraft.quorum import Epoch, Replica


class CommitsVotersLate(CommittedVoters):
    """Voters that the leader of an earlier epoch has named are committed behind records of later epochs."""

    @action
    def voters_are_committed(self, epoch: Epoch, named: Set[Replica]) -> None:
        require(len(self.committed) < self.max_log and self.leaders[epoch] is not None)
        require(len(named) > 0 and len(named ^ self.last_voters()) <= 1)
        self.committed.append(Entry(epoch=epoch, voters=named))
