"""What must hold of a cluster of Ra of which one server stops (model/ra/one_stops.py; begin with server.py)."""

from __future__ import annotations

from floodmark import implies, invariant
from model.ra.one_stops import OneStops


@invariant
def leader_is_elected(state: OneStops) -> bool:
    """Those that remain have elected a leader before the last timer has ended and nothing more happens."""
    return implies(state.turns == state.max_turns and state.is_quiet(), state.is_led())
