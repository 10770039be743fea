"""Drift: the differences between two entries of the lock, with their meanings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from floodmark.checkers.gate.lock import LockEntry
from floodmark.checkers.gate.property_hashes import is_constant
from floodmark.checkers.verdict.gate_outcome import Drift
from floodmark.checkers.verdict.result import CheckResult, ExitCode

_ORDER = (
    "properties", "verdict", "property", "vacuous", "fairness", "needs", "actions", "distinct", "generated", "depth",
    "loop", "cut", "digest",
)  # fmt: skip
_STATIC = ("tier", "model", "source", "predicates", "constants", "symmetry", "deadlock", "properties", "scenarios")
"""The keys of an entry that are known without a search."""
_COMPLETE = ("vacuous", "fairness", "needs", "actions", "distinct", "generated", "cut", "digest")
"""The keys of an entry that only a complete search has."""
_CAUSES = ("model", "source")
"""The keys that may explain a violation."""
_NOTES = {
    "source": "the model changed",
    "predicates": "the meaning of code that the properties share changed",
    "digest": "different states are reached",
    "property": "a different property is broken",
    "tier": "it is in a different tier",
    "symmetry": "states are counted differently",
}


FileLine = tuple[str, int | None]
"""A file and a line in it."""


@dataclass(frozen=True, slots=True)
class DriftSources:
    """The source locations for drift: ``spec`` is the default for everything without a location of its own.

    ``says_nothing`` tells whether a property is constant; ``failed`` is the unexpected result of this entry, and
    ``designs`` has those of its known-bad designs, by name.
    """

    spec: FileLine
    properties: Mapping[str, FileLine] = field(default_factory=dict)
    actions: Mapping[str, FileLine] = field(default_factory=dict)
    says_nothing: Callable[[str], bool] = lambda name: False
    failed: str = ""
    designs: Mapping[str, str] = field(default_factory=dict)


def where(result: CheckResult, designs: Mapping[str, CheckResult]) -> DriftSources:
    """The locations of a check's spec, properties and actions, and the failures of it and its known-bad designs."""
    properties: dict[str, FileLine] = {prop.name: (prop.file, prop.line) for prop in result.properties}
    actions: dict[str, FileLine] = {}
    if result.subject is not None:
        for name, method in type(result.subject).methods("action").items():
            code = inspect.unwrap(method).__code__
            actions[name] = (code.co_filename, code.co_firstlineno)

    def says_nothing(name: str) -> bool:
        prop, model = result.find_property(name), result.subject
        return prop is not None and model is not None and is_constant(prop, model)

    failed = {name: _failed(each) for name, each in designs.items()}
    return DriftSources((result.spec, result.spec_line), properties, actions, says_nothing, _failed(result), failed)


def where_designs(designs: Mapping[str, CheckResult]) -> DriftSources:
    """The locations of a spec of which only known-bad designs were checked, with their failures."""
    any_of_them = next(iter(designs.values()))
    failed = {name: _failed(each) for name, each in designs.items()}
    return DriftSources((any_of_them.spec, any_of_them.spec_line), designs=failed)


def _failed(result: CheckResult) -> str:
    return result.case_title() if result.exit_code == ExitCode.NOT_AS_EXPECTED else ""


def table_drift(name: str, was: LockEntry, now: LockEntry, at: DriftSources) -> Iterator[Drift]:
    """The differences between two entries, all in the table ``name``.

    If the entry has no verdict now, only the keys that need no search are compared. If its verdict changed, its figures
    are not compared, because a search ends at a violation. Differences that a failure explains name it: those in the
    search's results, and those in the sources that caused it.
    """
    for each, key in _differences(name, was, now, at):
        own = key != "flawed" and (key not in _STATIC or key in _CAUSES)
        yield replace(each, table=name, follows=each.follows or (at.failed if own else ""))


def compared_designs(name: str, was: LockEntry, now: LockEntry, at: DriftSources) -> Iterator[Drift]:
    """The differences between the known-bad designs of two entries, where the model itself was not checked."""
    for each in _flawed(name, was.get("flawed", {}), now.get("flawed", {}), at):
        yield replace(each, table=name)


def _differences(name: str, was: LockEntry, now: LockEntry, at: DriftSources) -> Iterator[tuple[Drift, str]]:
    keys = dict.fromkeys([*_ORDER, *(key for key in (*was, *now) if key not in _ORDER)])
    compared_keys = [key for key in keys if was.get(key) != now.get(key) and (key in _STATIC or "verdict" in now)]
    if "verdict" in compared_keys:
        compared_keys = [key for key in compared_keys if key in (*_STATIC, "verdict", "flawed")]
    elif ("distinct" in was) != ("distinct" in now):
        compared_keys = [key for key in compared_keys if key not in _COMPLETE or key == "distinct"]
    changed = _changed(was, now, "properties") if {"source", "predicates"} & set(compared_keys) else []
    for key in compared_keys:
        if key == "predicates" and changed:
            continue
        if key == "verdict":
            yield _drift(name, key, _verdict(was), _verdict(now), "", at.spec), key
            continue
        for each in _difference(name, key, was.get(key), now.get(key), at):
            yield each, key
    for prop in changed:
        before, after = was["properties"][prop], now["properties"][prop]
        note = "it is constant now, so it is vacuous" if at.says_nothing(prop) else "its meaning changed"
        yield _drift(name, f"property {prop}", before, after, note, at.properties.get(prop, at.spec)), "properties"
    for scenario in _changed(was, now, "scenarios"):
        before, after = was["scenarios"][scenario], now["scenarios"][scenario]
        yield _drift(name, f"scenario {scenario}", before, after, "it says something else", at.spec), "scenarios"


def _changed(was: LockEntry, now: LockEntry, key: str) -> list[str]:
    """The properties or scenarios whose text changed; a lock that an earlier version wrote has only names."""
    before, after = was.get(key), now.get(key)
    if not isinstance(before, dict) or not isinstance(after, dict):
        return []
    return [name for name in after if name in before and before[name] != after[name]]


def _verdict(entry: LockEntry) -> str:
    return f"{entry['verdict']} ({entry['property']})" if "property" in entry else str(entry.get("verdict", "-"))


def _difference(name: str, key: str, was: Any, now: Any, at: DriftSources) -> Iterator[Drift]:
    match key:
        case "properties" | "scenarios" | "vacuous" | "lemmas" | "rankings" | "fairness" | "needs":
            yield from _names(name, key, was or (), now or (), at)
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
    "scenarios": ("the scenario is no longer tried", "a new scenario"),
    "vacuous": ("its premise comes true", "its premise is never true: the property is vacuous"),
    "lemmas": ("the lemma is gone", "a new lemma"),
    "rankings": ("the ranking is gone", "a new ranking"),
    "fairness": ("this is no longer assumed", "a new assumption"),
    "needs": ("this no longer holds, or needs something else", "a property of runs, and the fairness that it needs"),
}
_ONE = {
    "properties": "property", "vacuous": "premise", "lemmas": "lemma", "rankings": "ranking", "fairness": "fairness",
    "needs": "liveness", "scenarios": "scenario",
}  # fmt: skip


def _names(name: str, key: str, was: Collection[str], now: Collection[str], at: DriftSources) -> Iterator[Drift]:
    gone, new = _NAMED[key]
    for each in was:
        if each not in now:
            yield _drift(name, _ONE[key], each, None, gone, at.properties.get(each, at.spec))
    for each in now:
        if each not in was:
            yield _drift(name, _ONE[key], None, each, new, at.properties.get(each, at.spec))


def _actions(name: str, was: LockEntry, now: LockEntry, at: DriftSources) -> Iterator[Drift]:
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


def _flawed(name: str, was: LockEntry, now: LockEntry, at: DriftSources) -> Iterator[Drift]:
    for design in dict.fromkeys([*was, *now]):
        here = f"{name} {design}"
        if design not in now:
            yield _drift(here, "known-bad design", design, None, "the design is no longer checked", at.spec)
        elif design not in was:
            yield _drift(here, "known-bad design", None, design, "a new known-bad design", at.spec)
        else:
            own = replace(at, failed=at.designs.get(design) or at.failed)
            yield from table_drift(here, was[design], now[design], own)


def _note(key: str, was: Any, now: Any) -> str:
    if key == "distinct" and (was is None or now is None):
        return "all states were seen" if was is None else "the search stopped before all states were seen"
    if key == "distinct" and isinstance(was, int) and isinstance(now, int):
        return "the state space shrank" if now < was else "the state space grew"
    if key == "deadlock":
        return f"a state without a step is {'a violation now' if now else 'no violation any more'}"
    if key == "depth" and isinstance(was, int) and isinstance(now, int):
        return "less deep" if now < was else "deeper"
    if key in ("generated", "cut") and isinstance(was, int) and isinstance(now, int):
        return "fewer than before" if now < was else "more than before"
    return _NOTES.get(key, "")


def renaming(name: str, was: str, place: FileLine) -> Drift:
    """Drift for a spec that has another name in the lock."""
    return _drift(name, "name", was, name, "it has another name; the rest is compared with its entry", place)


def entry_gone(name: str, was: LockEntry, what: str, place: FileLine, why: str = "is gone") -> Drift:
    """Drift for an entry of the lock that was not checked."""
    return _drift(name, what, was.get("verdict"), None, f"the {what} {why}", place)


def entry_new(name: str, now: LockEntry, what: str, place: FileLine) -> Drift:
    """Drift for a check that has no entry in the lock."""
    return _drift(name, what, None, now.get("verdict"), f"the {what} is not in the lock", place)


def _drift(entry: str, what: str, was: Any, now: Any, note: str, place: FileLine) -> Drift:
    return Drift(entry, what, _text(was), _text(now), note, *place)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,}" if isinstance(value, int) else str(value)
