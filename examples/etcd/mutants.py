"""Changes one thing in a recorded run: an event is dropped, doubled, moved, or shows another value in one field."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

from examples.etcd.printed import commands

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


def log_mutant(text: str, chance: random.Random) -> tuple[str, int, str]:
    """How a log of an interaction test was changed (printed.py), the number of the line, and the changed log: a line
    that was printed is dropped, doubled, or has another number.
    """
    rows = text.split("\n")
    printed = [number for command in commands(text) for number, row in command.printed if row not in ("", "ok")]
    number = chance.choice(printed)
    row = rows[number - 1]
    kind, numbers = chance.choice(KINDS), list(re.finditer(r"\d+", row.split('"')[0]))
    if kind == "changed" and numbers:
        found = chance.choice(numbers)
        rows[number - 1] = row[: found.start()] + str(int(found[0]) + 1) + row[found.end() :]
    elif kind == "doubled":
        rows.insert(number - 1, row)
    elif kind == "moved" and rows[number].strip() and rows[number] != "----":
        rows[number - 1 : number + 1] = rows[number], row
    else:
        kind = "dropped"
        del rows[number - 1]
    return kind, number, "\n".join(rows)
