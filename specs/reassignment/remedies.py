"""Designs that keep a promise which another design gives up."""

from __future__ import annotations

from floodmark import action, require
from model.reassignment.kip236 import Reassignment


class FreezesCluster(Reassignment):
    """The cancel znode of an earlier version of KIP-236, which stays until an operator removes it.

    The controller looks for it in ZooKeeper before it starts or completes anything, not only when its watch fires.
    """

    def goes_on(self) -> bool:
        return not self.cancel_requested

    @action
    def client_cancels(self) -> None:
        """Also with nothing pending, so that nothing can be started by accident."""
        require(not self.cancel_requested)
        self.cancel_requested = True

    def may_drop_cancel(self) -> bool:
        return False

    @action
    def client_removes_cancel(self) -> None:
        """``--remove-cancel``, once everything that can be cancelled is; earlier would be too early."""
        require(self.cancelling and self.is_free() and len(self.to_cancel) == 0)
        self.cancel_requested = False
        self.cancelling = False
