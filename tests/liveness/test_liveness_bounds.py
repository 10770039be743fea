"""What a bound leaves decided: a run that violates a property is one at every larger bound, on random models."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from floodmark.checkers.liveness.assumptions import assumptions_of
from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search
from floodmark.checkers.search_result import Finding, Options, SearchResult
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import fire, initial_states, successors
from floodmark.language.values import Map
from tests.support.bound_dependence import CONTEXTS, READINGS, source_of
from tests.support.bounded_models import random_source
from tests.support.fair_graphs import loaded

LARGER = (3, 4, 7, 12)


def found(cls: type[Model], search_states: Callable[..., SearchResult]) -> list[Finding] | None:
    """The findings at the smallest bound; None for a model that leaves its types."""
    try:
        result = search_states(cls(most=2), list(collect(cls, []).values()), Options(workers=1))
    except SourceError:
        return None
    return None if any(violation.kind == "error" for violation in result.violations) else result.liveness


def goes_on_as(small: object, large: object) -> bool:
    """Whether a value is one of a larger model, whose maps have more entries."""
    if isinstance(small, tuple) and isinstance(large, tuple):
        return all(map(goes_on_as, small, large))
    if isinstance(small, Map) and isinstance(large, Map):
        return all(large[key] == value for key, value in small.items())
    return small == large


def assert_outlives(model: Model, finding: Finding) -> None:
    """Fails unless the steps of a counterexample are a fair run of a model with another bound, too."""
    first = finding.trace[0]
    states = [to for step, to in initial_states(model) if step == first.step and goes_on_as(first.state, to)]
    assert len(states) == 1
    for entry in finding.trace[1:]:
        after = fire(model, states[-1], entry.step)
        assert after is not None and goes_on_as(entry.state, after), entry.step
        states.append(after)
    assert_misses(model, finding, states)
    if finding.loop is None:
        assert_lost(model, finding, states[-1])
        return
    assumptions = assumptions_of(model)
    around = states[finding.loop :]
    enabled: list[set[int]] = []
    taken: set[int] = set()
    for place, state in enumerate(around):
        steps = [(assumptions.label(model, state, step), to) for step, to in successors(model, state)]
        enabled.append({label for label, to in steps if to != state})
        taken |= {label for label, to in steps if to != state and to in around[place + 1 : place + 2]}
    for assumption in assumptions.by_action.values():
        for label in set(assumption.labels) - taken:
            pressed = [label in here for here in enabled]
            assert not (any(pressed) if assumption.strong else all(pressed)), (str(assumption), label)


def assert_misses(model: Model, finding: Finding, states: list[State]) -> None:
    """Fails unless a goal is missed in the states in which it has to be."""
    goal = collect(type(model), [])[finding.property]
    held = [goal.function(model.at(state)) for state in states]
    around = held[finding.loop or 0 :]
    match goal.kind:
        case "eventually":
            assert not any(held)
        case "always_eventually" | "recoverable":
            assert not any(around if finding.loop is not None else held[-1:])
        case "eventually_always":
            assert not all(around[1:] or around)
        case _:
            assert not any(reached for _, reached in around) and any(begun for begun, _ in held)


def assert_lost(model: Model, finding: Finding, state: State) -> None:
    goal = collect(type(model), [])[finding.property].function
    waiting, seen = [state], {state}
    while waiting and len(seen) < 2000:
        here = waiting.pop()
        assert not goal(model.at(here))
        new = {to for _, to in successors(model, here)} - seen
        seen |= new
        waiting += new


def violations_outlive(source: str, engines: bool = False) -> Counter[str]:
    """Fails where one does not, or where the engines differ; returns the verdicts."""
    with loaded(source) as cls:
        findings = found(cls, search.search_states)
        if findings is None:
            return Counter()
        if engines:
            other = found(cls, native.search_states)
            assert other is not None
            assert [(it.name, it.verdict, it.bounds, it.needs, it.loop) for it in other] == [
                (it.name, it.verdict, it.bounds, it.needs, it.loop) for it in findings
            ], source
        for finding in findings:
            for most in LARGER if finding.verdict == "violated" else ():
                try:
                    assert_outlives(cls(most=most), finding)
                except (AssertionError, SourceError) as error:
                    raise AssertionError(f"{finding.name} at {most}: {error!r}\n{finding}\n{source}") from error
        return Counter(finding.verdict for finding in findings)


def test_violations_outlive_their_bound() -> None:
    chance = random.Random(3)
    seen: Counter[str] = Counter()
    for _ in range(60):
        seen += violations_outlive(random_source(chance))
    assert min(seen[verdict] for verdict in ("holds", "violated", "undetermined")) > 5, seen


def test_engines_agree_on_bounds() -> None:
    chance = random.Random(5)
    for _ in range(6):
        violations_outlive(random_source(chance), engines=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_violations_outlive_their_bound_on_a_thousand(seed: int) -> None:
    chance = random.Random(1000 + seed)
    for _ in range(100):
        violations_outlive(random_source(chance), engines=True)


def verdict(cls: type[Model], bound: int, search_states: Callable[..., SearchResult]) -> str:
    """The verdict on the only property at one bound; ``error`` where there is none."""
    try:
        result = search_states(cls(lim=bound), list(collect(cls, []).values()), Options(workers=1))
    except SourceError:
        return "error"
    return "error" if result.violations and result.violations[0].kind == "error" else result.liveness[0].verdict


OFTEN = ("guard", "branch", "helper", "initial", "goal")
"""The places of a quick run where a model reads its bound."""


@pytest.mark.parametrize("context", [
    pytest.param(context, marks=[] if context in OFTEN else [pytest.mark.slow]) for context in CONTEXTS
])
def test_a_violation_that_needs_a_small_bound_is_undetermined(context: str) -> None:
    """The property fails as long as the bound is small, whichever way a model finds that out."""
    seen: Counter[str] = Counter()
    for reading in READINGS[::9]:
        with loaded(source_of(reading, context)) as cls:
            seen[verdict(cls, 3, search.search_states)] += 1
    assert seen["undetermined"] > 5 and seen["violated"] == 0, seen


@pytest.mark.slow
@pytest.mark.parametrize("context", CONTEXTS)
def test_no_reading_of_a_bound_makes_a_violation_that_larger_ones_lack(context: str) -> None:
    for reading in READINGS:
        with loaded(source_of(reading, context)) as cls:
            small = verdict(cls, 3, search.search_states)
            assert small != "violated", reading
            assert verdict(cls, 3, native.search_states) in (small, "error"), reading
            assert verdict(cls, 6, search.search_states) in ("holds", "undetermined", "error"), reading
