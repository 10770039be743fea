"""KIP-595 and KIP-996 for liveness: the sizes that only keep the search finite are bounds.

quorum.py is where to begin. The network cuts off one replica at a time, and loses nothing else. Whether it does, and
whether it heals, is its own matter: neither is fair.
"""

from __future__ import annotations

from floodmark import Constant
from model.kraft.network import KraftNetwork
from model.kraft.pre_vote import KraftPreVote
from model.kraft.quorum import Replica


class KraftProgress(KraftNetwork):
    """KIP-595: a run that ends because epochs, offsets or restarts have run out says nothing."""

    max_epoch = Constant(2, bound=True)
    max_log = Constant(2, bound=True)
    max_restarts = Constant(0, bound=True)
    lossy_restarts = Constant(False)
    loss = Constant(False)
    delays = Constant(0)
    partitions = Constant(True)


class BesideObservers(KraftProgress):
    """A partitioned voter cannot reach the other voters; observers still reach it."""

    def reaches(self, source: Replica, destination: Replica) -> bool:
        beside = source not in self.current_voters or destination not in self.current_voters
        return source != destination and (beside or super().reaches(source, destination))


class KraftPreVoteProgress(KraftProgress, KraftPreVote):
    """KIP-996 on top of it."""
