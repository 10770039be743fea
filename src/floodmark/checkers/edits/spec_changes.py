"""The differences between two versions of a spec apart from the model: constants, properties, known-bad designs,
bounds.

``SettingChange.emptier`` is whether the check covers less than before. Reports list such settings first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.project.spec import Spec
from floodmark.checkers.project.spec_entries import Scenario
from floodmark.checkers.symbolic.methods.task import DEFAULT_DEPTH
from floodmark.language.members import LIVENESS_KINDS


@dataclass(frozen=True)
class SettingChange:
    """A changed setting: ``was`` and ``now`` as text, "-" where a version lacks it. ``note`` is the consequence for the
    check if it becomes ``emptier``."""

    what: str
    was: str
    now: str
    emptier: bool = False
    note: str = ""
    line: int | None = None


def setting_changes(
    old: Spec, new: Spec, old_constants: Mapping[str, int], new_constants: Mapping[str, int],
    old_properties: Mapping[str, str], new_properties: Mapping[str, str],
    old_fairness: Mapping[str, str], new_fairness: Mapping[str, str],
) -> Iterator[SettingChange]:
    """The changed settings. Constants are those of the models, including those that the specs leave at their defaults;
    properties are the checked ones with their kinds, fairness those of models and specs by their actions."""
    yield from _constants(new, old_constants, new_constants)
    yield from _properties(new, old_properties, new_properties)
    yield from _designs(old, new)
    for what, silent, now_silent in (("idle", old.idle, new.idle), ("vacuous", old.vacuous, new.vacuous)):
        more = [name for name in now_silent if name not in silent]
        if silent != now_silent:
            note = f"{', '.join(more)} may now occur" if more else ""
            yield SettingChange(what, _listed(silent), _listed(now_silent), bool(more), note, new.line(what))
    for what, weaker in (("tier", "deep"), ("symmetry", None), ("deadlock", False)):
        before, after = getattr(old, what), getattr(new, what)
        if before != after:
            note = _WEAKER[what] if after == weaker else ""
            yield SettingChange(what, _value(before), _value(after), after == weaker, note, new.line(what))
    if old.simulate is None and new.simulate is not None:
        yield SettingChange("simulate", "search", "random walks", True, "walks never show that a property holds",
                      new.line("simulate"))
    verdicts = old.expect.verdict, new.expect.verdict
    if verdicts[0] != verdicts[1]:
        emptier = verdicts[1] != "holds"
        yield SettingChange("expected verdict", *verdicts, emptier, "", new.line("expect.verdict"))
    if old.expect.property != new.expect.property and verdicts == ("violated", "violated"):
        line = new.line("expect.property")
        yield SettingChange(
            "expected violation", _value(old.expect.property), _value(new.expect.property), False, "", line
        )
    if old.refines.liveness and not new.refines.liveness:
        note = "runs of the refined model are no longer compared"
        yield SettingChange("refines.liveness", "true", "false", True, note, new.line("refines.liveness"))
    yield from _fairness(old, new, old_fairness, new_fairness, bool({*new_properties.values()} & {*LIVENESS_KINDS}))
    yield from _scenarios(old, new)
    yield from _proofs(old, new)


def _fairness(
    old: Spec, new: Spec, was: Mapping[str, str], now: Mapping[str, str], asks_runs: bool
) -> Iterator[SettingChange]:
    for name in {**was, **now}:
        before, after = was.get(name, "-"), now.get(name, "-")
        if before != after:
            less = after == "-" or before.replace("strongly", "weakly") == after
            more = not less and (asks_runs or new.refines.liveness)
            note = "runs that are not fair are not checked" if more else ""
            yield SettingChange(f"fairness of {name}", before, after, more, note, new.line(f"fairness.{name}"))


def _scenarios(old: Spec, new: Spec) -> Iterator[SettingChange]:
    before, after = ({each.name: each for each in spec.scenario} for spec in (old, new))
    for name, scenario in before.items():
        was, other = _run(scenario), after.get(name)
        if other is None:
            yield SettingChange(f"scenario {name}", was, "-", True, "is no longer tried", new.line("scenario"))
        elif was != _run(other):
            yield SettingChange(f"scenario {name}", was, _run(other), False, "", other.line)
    for name, scenario in after.items():
        if name not in before:
            yield SettingChange(f"scenario {name}", "-", _run(scenario), False, "", scenario.line)


def _run(scenario: Scenario) -> str:
    return f"{'possible' if scenario.possible else 'impossible'}: {', '.join(scenario.steps)}"


def _proofs(old: Spec, new: Spec) -> Iterator[SettingChange]:
    after = {proving.name: proving for proving in new.prove}
    for proving in old.prove:
        what, other = f"proof {proving.name}", after.get(proving.name)
        if other is None:
            yield SettingChange(what, "listed", "-", True, "is no longer made", new.line("prove"))
            continue
        if proving.tier != other.tier:
            note = _LEFT if other.tier == "deep" else ""
            yield SettingChange(what, f"tier {proving.tier}", f"tier {other.tier}", bool(note), note, other.line)
        depths = [DEFAULT_DEPTH if each.depth is None else each.depth for each in (proving, other)]
        if proving.expect != other.expect or depths[0] != depths[1]:
            weaker = other.expect == "bounded" and (proving.expect != "bounded" or depths[1] < depths[0])
            was, now = (f"{each.expect}, depth {depth}" for each, depth in zip((proving, other), depths, strict=True))
            yield SettingChange(what, was, now, weaker, "less is proved" if weaker else "", other.line)


_LEFT = "is no longer in the default gate"
_WEAKER = {
    "tier": f"the model {_LEFT}",
    "deadlock": "a state without successors is no longer an error",
}


def _constants(new: Spec, was: Mapping[str, int], now: Mapping[str, int]) -> Iterator[SettingChange]:
    for name in {**was, **now}:
        before, after = was.get(name), now.get(name)
        if before == after and type(before) is type(after):
            continue
        smaller = before is not None and after is not None and after < before
        note = "a smaller bound: fewer states are checked" if smaller else ""
        line = new.line(f"constants.{name}")
        yield SettingChange(f"constant {name}", _value(before), _value(after), smaller, note, line)


def _properties(new: Spec, was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[SettingChange]:
    for name, kind in was.items():
        if name not in now:
            yield SettingChange(f"property {name}", kind, "-", True, "is no longer checked", new.line("invariants"))
    for name, kind in now.items():
        if name not in was:
            yield SettingChange(f"property {name}", "-", kind, False, "", new.line("invariants"))


def _designs(old: Spec, new: Spec) -> Iterator[SettingChange]:
    before = {(each.name, each.property): each for each in old.flawed}
    after = {(each.name, each.property): each for each in new.flawed}
    names = {name for name, _ in after}
    for (name, prop), design in before.items():
        if (name, prop) in after:
            other = after[name, prop]
            if dict(design.constants) != dict(other.constants):
                yield SettingChange(
                    f"known-bad design {name}", _pairs(design.constants), _pairs(other.constants), False, "", other.line
                )
            tiers = old.tier_of(design), new.tier_of(other)
            if tiers[0] != tiers[1] and old.tier == new.tier:
                left = tiers[1] == "deep"
                yield SettingChange(f"known-bad design {name}", f"tier {tiers[0]}", f"tier {tiers[1]}", left,
                              _LEFT if left else "", other.line)
            if design.depth != other.depth:
                yield SettingChange(f"known-bad design {name}", f"depth {_value(design.depth)}",
                              f"depth {_value(other.depth)}", False, "", other.line)
        elif name in names:
            now = next(each for (its, _), each in after.items() if its == name)
            was, breaks = f"breaks {prop}", f"breaks {now.property}"
            yield SettingChange(f"known-bad design {name}", was, breaks, False, "", now.line)
        else:
            yield SettingChange(f"known-bad design {name}", f"breaks {prop}", "-", True, "is no longer checked", None)
    known = {name for name, _ in before}
    for (name, prop), design in after.items():
        if name not in known:
            yield SettingChange(f"known-bad design {name}", "-", f"breaks {prop}", False, "", design.line)


def _value(value: Any) -> str:
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "-"


def _pairs(constants: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in constants.items()) or "-"
