"""Changes of a design that make a known weakness go away."""

from __future__ import annotations

from model.alter_isr.core import Error, ShippedAlterIsr


class StaysPendingWhenIneligible(ShippedAlterIsr):
    """INELIGIBLE leaves the change pending too, so that a copy of the request may be accepted later without harm.

    The price is progress: nothing is on its way that would settle the change.
    """

    def withdraws(self, error: Error) -> bool:
        return False
