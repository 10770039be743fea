"""What a bound leaves decided: a run that violates a property is one at every larger bound, on random models."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from floodmark.checkers import reference
from floodmark.checkers.exploration import Exploration, Finding, Options
from floodmark.checkers.liveness.assumptions import assumptions_of
from floodmark.checkers.native import search as native
from floodmark.checkers.properties import collect
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import fire, initial_states, successors
from tests.bounded_models import random_source
from tests.fair_graphs import loaded

LARGER = (3, 4, 7, 12)


def found(cls: type[Model], explore: Callable[..., Exploration]) -> list[Finding] | None:
    """The findings at the smallest bound; None for a model that leaves its types."""
    try:
        result = explore(cls(most=2), list(collect(cls, []).values()), Options(workers=1))
    except SourceError:
        return None
    return None if any(violation.kind == "error" for violation in result.violations) else result.liveness


def assert_outlives(model: Model, finding: Finding) -> None:
    """Fails unless the steps of a counterexample are a fair run of a model with another bound, too."""
    states = [entry.state for entry in finding.trace]
    assert any(entry == (finding.trace[0].step, states[0]) for entry in initial_states(model))
    for entry, before in zip(finding.trace[1:], states, strict=False):
        assert fire(model, before, entry.step) == entry.state, entry.step
    if finding.loop is None:
        assert_lost(model, finding, states[-1])
        return
    assumptions = assumptions_of(model)
    around = states[finding.loop :]
    enabled: list[set[int]] = []
    taken: set[int] = set()
    for place, state in enumerate(around):
        steps = [(assumptions.label(step.action, step.arguments), to) for step, to in successors(model, state)]
        enabled.append({label for label, to in steps if to != state})
        taken |= {label for label, to in steps if to != state and to in around[place + 1 : place + 2]}
    for assumption in assumptions.by_action.values():
        for label in set(assumption.labels) - taken:
            pressed = [label in here for here in enabled]
            assert not (any(pressed) if assumption.strong else all(pressed)), (str(assumption), label)


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
        findings = found(cls, reference.explore)
        if findings is None:
            return Counter()
        if engines:
            other = found(cls, native.explore)
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
    for _ in range(100):
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
