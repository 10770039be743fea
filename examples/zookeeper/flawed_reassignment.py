"""Known-bad designs of reassignment.py: what a controller can get wrong about ZooKeeper itself."""

from __future__ import annotations

from reassignment import ReassignmentOnZooKeeper

from floodmark import action, require


class WatchesCancelOnly(ReassignmentOnZooKeeper):
    """A new controller sets a watch on the cancel znode, and does not look whether it is there already."""

    overlooked: bool = False

    def read_cancel(self) -> None:
        if not self.overlooked:
            super().read_cancel()

    def controller_fails_over(self) -> None:
        self.overlooked = self.cancel_requested
        super().controller_fails_over()

    @action
    def controller_reads_cancel(self) -> None:
        require(not self.overlooked)
        super().controller_reads_cancel()


class DropsCancelWhenRead(ReassignmentOnZooKeeper):
    """The cancel znode is deleted as soon as it is read. After a crash nothing says that it was there."""

    def read_cancel(self) -> None:
        super().read_cancel()
        self.cancel_requested = False
