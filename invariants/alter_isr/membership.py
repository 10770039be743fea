"""Who is in the ISR some day (KIP-497, "Motivation"). Begin with core.py."""

from __future__ import annotations

from floodmark import leads_to
from model.alter_isr.core import Broker, Status
from model.alter_isr.membership import WatchedFollowers


@leads_to
def lagging_member_leaves(model: WatchedFollowers, follower: Broker) -> tuple[bool, bool]:
    """A member that does not get what the leader has is removed, so that what the others have is committed."""
    lags = follower in model.controller.isr and not model.is_level(follower)
    return lags, not lags


@leads_to
def caught_up_follower_joins(model: WatchedFollowers, follower: Broker) -> tuple[bool, bool]:
    """A follower that has everything, and is not fenced or about to go, becomes a member."""
    waits = (
        follower not in model.controller.isr
        and model.is_level(follower)
        and model.status[follower] == Status.ACTIVE
    )
    return waits, not waits
