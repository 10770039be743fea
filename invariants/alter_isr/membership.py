"""Who eventually joins and leaves the ISR (KIP-497, "Motivation"). Begin with core.py."""

from __future__ import annotations

from floodmark import eventually_always, leads_to
from model.alter_isr.core import Broker, Status
from model.alter_isr.membership import WatchedFollowers


@leads_to
def lagging_member_leaves(model: WatchedFollowers, follower: Broker) -> tuple[bool, bool]:
    """The leader removes a member that does not catch up, so that the records of the other members are committed."""
    lags = follower in model.controller.isr and not model.is_level(follower)
    return lags, not lags


@leads_to
def caught_up_follower_joins(model: WatchedFollowers, follower: Broker) -> tuple[bool, bool]:
    """A caught-up follower that is neither fenced nor shutting down joins the ISR."""
    waits = (
        follower not in model.controller.isr
        and model.is_level(follower)
        and model.status[follower] == Status.ACTIVE
    )
    return waits, not waits


@eventually_always
def isr_settles(model: WatchedFollowers) -> bool:
    """The leader does not ask for changes again and again, when nothing but its own judgement changes (KAFKA-19996)."""
    return len(model.pending) == 0
