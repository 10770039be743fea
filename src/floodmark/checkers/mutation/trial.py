"""Tries one mutant: runs the checks of a spec on it until one of them notices the change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from floodmark.checkers.mutation.mutant import Mutant, functions
from floodmark.checkers.mutation.steps import steps_digest
from floodmark.checkers.project.spec import Spec, read_all
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.language.errors import SourceError

Fate = Literal["killed", "survived", "equal", "refused", "undetermined"]
"""``killed``: a check notices the change. ``equal``: at this size the mutant has the same states and the same steps
between them (see ``floodmark.checkers.mutation.steps``). ``refused``: the mutant is not a valid model.
``undetermined``: a limit was reached first."""


@dataclass(frozen=True, slots=True)
class TrialBudget:
    """The limits of one search of a mutant: states as a multiple of the model's, and seconds."""

    factor: float = 8.0
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class TrialSpec:
    """A spec whose checks a mutant has to pass, and the figures of its unchanged model: the number of states that it
    reaches, their digest, and the digest of its steps."""

    spec: Spec
    distinct: int
    digest: str
    steps: str

    def limits(self, budget: TrialBudget) -> Limits:
        """The limits of a search of a mutant of this spec's model."""
        return Limits(states=int(budget.factor * max(self.distinct, 1000)), seconds=budget.seconds)


@dataclass(frozen=True, slots=True)
class Trial:
    """The fate of a mutant. ``by`` says what noticed it, or why it is undetermined or refused; ``spec`` says where.

    ``states_differ`` is whether a survivor reaches other states than the model.
    """

    change: str
    kind: str
    file: str
    line: int
    column: int
    fate: Fate
    by: str = ""
    spec: str = ""
    states_differ: bool = False


_NATIVE = CheckSettings(engine="native", workers=1, symmetry=False, compare=False)
"""Orbits do not distinguish all steps: one that passes a lease on leads, up to names, back to where it began."""


def stages(spec: Spec, budget: TrialBudget) -> list[TrialSpec]:
    """The spec and those that it lists under ``also``. Raises SourceError when one of them does not hold as expected,
    or has a known-bad design that is not caught: every mutant would seem to be noticed by that."""
    also = () if spec.mutation is None else spec.mutation.also
    others = [each for address in also for each in read_all(address) if each.name != spec.name]
    return [_stage(each, budget) for each in (spec, *others)]


def _stage(spec: Spec, budget: TrialBudget) -> TrialSpec:
    if spec.expect.verdict != "holds":
        raise spec.error("mutants are made of a model that holds; this spec expects a violation", "expect.verdict")
    result = run_check(Check(spec, None, _NATIVE))
    if result.exit_code != ExitCode.AS_EXPECTED:
        raise SourceError(f"the model itself is not as expected: {result.message}", str(spec.path), spec.line("model"))
    if (already := _noticed(result)) is not None:
        message = f"{already}, which would be noticed in every mutant; list it under idle or vacuous"
        raise SourceError(message, str(spec.path), spec.line("model"))
    found = result.search_result
    assert found is not None
    stage = TrialSpec(spec, found.distinct, found.digest, _steps(result))
    for check in _flawed(stage, budget):
        if not _still_caught(check, result := run_check(check)):
            message = f"the known-bad design {result.variant} is not caught without a mutant either: {result.message}"
            raise SourceError(message, str(spec.path), None if check.flawed is None else check.flawed.line)
    return stage


def try_mutant(mutant: Mutant, every: Sequence[TrialSpec], budget: TrialBudget) -> Trial:
    """Tries a mutant against the checks of the stages, the smallest first, and returns its fate."""
    every = sorted(every, key=lambda stage: stage.distinct)
    trial = Trial(mutant.change, mutant.kind, mutant.file, mutant.line, mutant.column, "equal")
    with mutant.planted():
        for stage in every:
            if mutant.function in functions(stage.spec.model_class()):
                trial = _worse(trial, _in_stage(trial, stage, budget))
            if trial.fate in ("killed", "refused"):
                return trial
        for stage in every:
            for check in _flawed(stage, budget):
                if not _still_caught(check, result := run_check(check)):
                    by = f"{check.wanted_property} is no longer broken by {result.variant}"
                    return replace(trial, fate="killed", by=by, spec=stage.spec.name, states_differ=False)
    return trial


_ORDER: tuple[Fate, ...] = ("killed", "refused", "undetermined", "survived", "equal")


def _worse(one: Trial, other: Trial) -> Trial:
    return min(one, other, key=lambda trial: _ORDER.index(trial.fate))


def _in_stage(trial: Trial, stage: TrialSpec, budget: TrialBudget) -> Trial:
    result = run_check(Check(stage.spec, None, _settings(stage, budget)))
    found = result.search_result
    outcome = replace(trial, spec=stage.spec.name)
    if found is None:
        fate: Fate = "undetermined" if result.exit_code == ExitCode.INTERNAL_ERROR else "refused"
        return replace(outcome, fate=fate, by=result.message)
    noticed = _noticed(result)
    if noticed is not None:
        return replace(outcome, fate="killed", by=noticed)
    if not found.complete:
        return replace(outcome, fate="undetermined", by=str(found.stopped))
    if found.digest != stage.digest:
        return replace(outcome, fate="survived", states_differ=True)
    return outcome if _steps(result) == stage.steps else replace(outcome, fate="survived")


def _steps(result: CheckResult) -> str:
    """The digest of the steps of a model that was searched completely."""
    assert result.subject is not None
    return steps_digest(result.subject)


def _noticed(result: CheckResult) -> str | None:
    """The part of a check's result that shows a mistake; None when nothing does as far as it was searched."""
    if result.violation is not None and result.violation.kind == "error":
        return f"error: {result.message}"
    if result.verdict == "violated":
        return str(result.property)
    for name in result.idle_actions():
        return f"{name} never fires"
    for premise in result.vacuous_premises():
        return f"{premise.property}: {premise.text}"
    for scenario in result.scenarios:
        if scenario.problem:
            return f"the scenario {scenario.name!r}: {scenario.problem}"
    return None


def _settings(stage: TrialSpec, budget: TrialBudget) -> CheckSettings:
    return replace(_NATIVE, limits=stage.limits(budget))


def _flawed(stage: TrialSpec, budget: TrialBudget) -> Iterator[Check]:
    return (check for check in checks(stage.spec, _settings(stage, budget)) if check.flawed is not None)


def _still_caught(check: Check, result: CheckResult) -> bool:
    """Whether a known-bad design still breaks its property, at any depth, or is undetermined within the budget."""
    if result.verdict == "undetermined" or result.exit_code == ExitCode.INTERNAL_ERROR:
        return True
    return result.verdict == "violated" and result.property == check.wanted_property
