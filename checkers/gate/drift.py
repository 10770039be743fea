"""Drift: each difference between two entries of the lock, with what it means."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from floodmark.checkers.gate.lock import Entry
from floodmark.checkers.gate.outcome import Drift
from floodmark.checkers.result import CheckResult

_ORDER = (
    "properties", "verdict", "property", "vacuous", "fairness", "needs", "actions", "distinct", "generated", "depth",
    "loop", "cut", "digest",
)  # fmt: skip
_STATIC = ("tier", "model", "source", "predicates", "constants", "symmetry", "properties")
"""The keys of an entry that are known without a search."""
_NOTES = {
    "source": "the model changed",
    "predicates": "the meaning of a property changed",
    "digest": "different states are reached",
    "verdict": "the verdict changed",
    "property": "a different property is broken",
    "tier": "the spec is in a different tier",
    "symmetry": "states are counted differently",
}


Place = tuple[str, int | None]
"""A file and a line in it."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where the author of a change should look: ``spec`` for everything that has no place of its own."""

    spec: Place
    properties: Mapping[str, Place] = field(default_factory=dict)
    actions: Mapping[str, Place] = field(default_factory=dict)


def where(result: CheckResult) -> Where:
    """The places of a check's spec, properties and actions."""
    properties: dict[str, Place] = {prop.name: (prop.file, prop.line) for prop in result.properties}
    actions: dict[str, Place] = {}
    if result.subject is not None:
        for name, method in type(result.subject).methods("action").items():
            code = inspect.unwrap(method).__code__
            actions[name] = (code.co_filename, code.co_firstlineno)
    return Where((result.spec, None), properties, actions)


def compared(name: str, was: Entry, now: Entry, at: Where) -> Iterator[Drift]:
    """The differences between two entries; for one without a verdict, only in keys that need no search."""
    keys = [*_ORDER, *(key for key in (*was, *now) if key not in _ORDER)]
    for key in dict.fromkeys(keys):
        if was.get(key) == now.get(key) or ("verdict" not in now and key not in _STATIC):
            continue
        yield from _difference(name, key, was.get(key), now.get(key), at)


def _difference(name: str, key: str, was: Any, now: Any, at: Where) -> Iterator[Drift]:
    match key:
        case "properties" | "vacuous" | "lemmas" | "fairness" | "needs":
            yield from _names(name, key, was or [], now or [], at)
        case "actions":
            yield from _actions(name, was or {}, now or {}, at)
        case "constants":
            for constant in sorted({**(was or {}), **(now or {})}):
                before, after = (was or {}).get(constant), (now or {}).get(constant)
                if before != after:
                    yield _drift(name, f"constant {constant}", before, after, "", at.spec)
        case "flawed":
            yield from _flawed(name, was or {}, now or {}, at)
        case "source" | "predicates" | "digest":
            yield _drift(name, key, _short(was), _short(now), _note(key, was, now), at.spec)
        case _:
            yield _drift(name, key, was, now, _note(key, was, now), at.spec)


def _short(hashed: Any) -> str | None:
    return None if hashed is None else str(hashed)[:8]


_NAMED = {
    "properties": ("the property is no longer checked", "a new property"),
    "vacuous": ("its premise comes true", "its premise is never true: the property says nothing"),
    "lemmas": ("the lemma is gone", "a new lemma"),
    "fairness": ("this is no longer assumed", "a new assumption"),
    "needs": ("this no longer holds, or needs something else", "a property of runs, and the fairness that it needs"),
}
_ONE = {"properties": "property", "vacuous": "premise", "lemmas": "lemma", "fairness": "fairness", "needs": "liveness"}


def _names(name: str, key: str, was: list[str], now: list[str], at: Where) -> Iterator[Drift]:
    gone, new = _NAMED[key]
    for each in was:
        if each not in now:
            yield _drift(name, _ONE[key], each, None, gone, at.properties.get(each, at.spec))
    for each in now:
        if each not in was:
            yield _drift(name, _ONE[key], None, each, new, at.properties.get(each, at.spec))


def _actions(name: str, was: Entry, now: Entry, at: Where) -> Iterator[Drift]:
    for action in dict.fromkeys([*was, *now]):
        before, after = was.get(action), now.get(action)
        if before == after:
            continue
        note = "fires more often" if (after or 0) > (before or 0) else "fires less often"
        if after == 0:
            note = "never fires"
        elif after is None:
            note = "the action is gone"
        elif before is None:
            note = "a new action"
        yield _drift(name, f"action {action}", before, after, note, at.actions.get(action, at.spec))


def _flawed(name: str, was: Entry, now: Entry, at: Where) -> Iterator[Drift]:
    for design in dict.fromkeys([*was, *now]):
        here = f"{name} {design}"
        if design not in now:
            yield _drift(here, "known-bad design", design, None, "the design is no longer checked", at.spec)
        elif design not in was:
            yield _drift(here, "known-bad design", None, design, "a new known-bad design", at.spec)
        else:
            yield from compared(here, was[design], now[design], at)


def _note(key: str, was: Any, now: Any) -> str:
    if key == "distinct" and isinstance(was, int) and isinstance(now, int):
        return "the state space shrank" if now < was else "the state space grew"
    if key == "depth" and isinstance(was, int) and isinstance(now, int):
        return "less deep" if now < was else "deeper"
    if key in ("generated", "cut") and isinstance(was, int) and isinstance(now, int):
        return "fewer than before" if now < was else "more than before"
    return _NOTES.get(key, "")


def entry_gone(name: str, was: Entry, what: str, place: Place, why: str = "is gone") -> Drift:
    """Drift for an entry of the lock that was not checked."""
    return _drift(name, what, was.get("verdict"), None, f"the {what} {why}", place)


def entry_new(name: str, now: Entry, what: str, place: Place) -> Drift:
    """Drift for something that was checked and is not in the lock."""
    return _drift(name, what, None, now.get("verdict"), f"the {what} is not in the lock", place)


def _drift(entry: str, what: str, was: Any, now: Any, note: str, place: Place) -> Drift:
    return Drift(entry, what, _text(was), _text(now), note, *place)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,}" if isinstance(value, int) else str(value)
