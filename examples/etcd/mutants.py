"""Changes one thing in a recorded run: an event is dropped, doubled, moved, or shows another value in one field."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

KINDS = ("dropped", "doubled", "moved", "changed")


def mutant(text: str, chance: random.Random) -> tuple[str, str]:
    """How a trace was changed, and the changed trace."""
    rows = [json.loads(row) for row in text.split("\n") if row.strip()]
    events = [number for number, row in enumerate(rows) if row.get("tag") == "trace"]
    kind, at = chance.choice(KINDS), chance.choice(events)
    if kind == "dropped":
        del rows[at]
    elif kind == "doubled":
        rows.insert(at, rows[at])
    elif kind == "moved":
        row = rows.pop(at)
        rows.insert(max(0, min(len(rows), at + chance.choice((-3, -2, -1, 1, 2, 3)))), row)
    else:
        rows[at] = copy.deepcopy(rows[at])
        _change(rows[at]["event"], chance)
    return kind, "\n".join(json.dumps(row) for row in rows)


def _change(event: dict[str, Any], chance: random.Random) -> None:
    """Another value in one of the event's fields."""
    places: list[tuple[Any, Any]] = []
    _collect(event, places)
    holder, key = chance.choice(places)
    value = holder[key]
    if isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int):
        holder[key] = max(0, value + chance.choice((-1, 1, 2)))
        if holder[key] == value:
            holder[key] += 1
    elif value.isdecimal():
        holder[key] = str(int(value) + 1)
    elif key == "role":
        holder[key] = chance.choice([role for role in ("StateFollower", "StateCandidate", "StateLeader")
                                     if role != value])
    else:
        holder[key] = value + "?"


def _collect(value: Any, places: list[tuple[Any, Any]]) -> None:
    """Where the event has a text or a number."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, dict | list):
            _collect(item, places)
        else:
            places.append((value, key))
