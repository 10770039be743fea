"""Changes to a design that remove a known weakness."""

from __future__ import annotations

from model.alter_isr.core import Error, ShippedAlterIsr


class StaysPendingWhenIneligible(ShippedAlterIsr):
    """INELIGIBLE leaves the change pending too, so that a later acceptance of a copy of the request does no harm.

    The price is progress: nothing is on its way that would settle the change.
    """

    def withdraws(self, error: Error) -> bool:
        return False
