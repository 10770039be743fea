"""``floodmark prove``: runs a method on a spec, or asks claims, and says what came of it."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from checkers.exploration import Limits, Options, TraceState, Violation
from checkers.properties import Property
from checkers.report.explain import explain
from checkers.report.trace import change_lines, trace_lines
from checkers.report.value import plain, show, show_step
from checkers.result import MEANINGS, ExitCode, Verdict, worst
from checkers.run import Check, Settings, _instance, checks, shown, variant_name
from checkers.spec import ProofMethod, Proving, Spec, find, known, read
from checkers.symbolic import bmc, claims
from checkers.symbolic.clock import Clock
from checkers.symbolic.endless import endless_constants
from checkers.symbolic.induction import INITIAL, TYPES, Counterexample, Obligation, Proof, induction, with_reachability
from checkers.symbolic.infer import infer
from checkers.symbolic.kinduction import k_induction
from checkers.symbolic.lemmas import lemmas_of
from checkers.symbolic.spots import spot_check
from checkers.symbolic.system import System, system_of
from model.compiler.layout import lay_out
from model.language.errors import SourceError
from model.language.model import Model, State
from model.language.values import Identifier

REACHABLE_STATES = 3_000_000
"""Up to this many states the native checker is asked whether a state is reachable."""
REACHABLE_SECONDS = 60.0
_MEANINGS = {**MEANINGS, ExitCode.UNDETERMINED: "something is neither proved nor refuted"}
DEFAULT_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of ``floodmark prove``, beside the specs."""

    method: ProofMethod = "induction"
    depth: int = DEFAULT_DEPTH
    unbounded: bool = False
    seconds: float | None = None
    constants: dict[str, int] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    only_variant: str | None = None
    properties: tuple[str, ...] = ()


@dataclass(slots=True)
class Proved:
    """What came of one spec or one claim. ``line`` is a claim's; ``lines`` say more than the headline does."""

    name: str
    method: str
    verdict: Verdict
    exit_code: ExitCode
    headline: str
    seconds: float
    spec: str = ""
    line: int | None = None
    model: str = ""
    variant: str | None = None
    constants: dict[str, int] = field(default_factory=dict)
    broken: str | None = None
    lines: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    reproduce: str = ""

    @property
    def expected(self) -> bool:
        return self.exit_code == ExitCode.AS_EXPECTED

    def as_json(self) -> dict[str, Any]:
        return {
            "spec": self.spec,
            "model": self.model,
            "variant": self.variant,
            "constants": self.constants,
            "engine": "symbolic",
            "method": self.method,
            "name": self.name,
            "verdict": self.verdict,
            "expected": self.expected,
            "property": self.broken,
            "seconds": round(self.seconds, 3),
            **self.facts,
        }


def prove(paths: list[Path], task: Task, watch: Callable[[str], None] | None = None) -> Iterator[Proved]:
    """Proves what specs say, and asks the claims of Python files; of a folder, its claims and its quick specs."""
    for path in paths:
        if path.suffix == ".py" or path.is_dir():
            for claim in claims.all_of([path]):
                yield prove_claim(claim, task.seconds)
        for spec in find([path], "quick") if path.suffix != ".py" else []:
            yield from _prove_spec(read(spec), task, watch)


def _prove_spec(spec: Spec, task: Task, watch: Callable[[str], None] | None) -> Iterator[Proved]:
    settings = Settings(constants=task.constants, invariant_files=task.files, only_variant=task.only_variant)
    for check in checks(spec, settings):
        if check.flawed is None or task.only_variant is not None:
            yield prove_check(check, task, watch)


def task_of(proving: Proving) -> Task:
    """What is asked for a proof that a spec lists."""
    return Task(
        method=proving.method,
        depth=DEFAULT_DEPTH if proving.depth is None else proving.depth,
        unbounded=proving.unbounded,
        constants=dict(proving.constants),
        properties=proving.properties,
    )


def prove_listed(spec: Spec, proving: Proving) -> Proved:
    """Makes a proof that a spec lists. An unknown property is an error at its line."""
    check = Check(spec, None, Settings(constants=dict(proving.constants)))
    names = [prop.name for prop in check.properties()]
    for name in proving.properties:
        known(name, names, "property", str(spec.path), proving.line)
    proved = prove_check(check, task_of(proving))
    proved.name = f"{spec.name} {proving.name}"
    proved.line = proving.line
    proved.reproduce = reproduce(spec, proving)
    return proved


def reproduce(spec: Spec, proving: Proving) -> str:
    """The command that makes a proof that a spec lists."""
    words = ["floodmark", "prove", shown(spec.path), "--method", proving.method]
    words += ["--depth", str(proving.depth)] if proving.depth is not None else []
    words += ["--unbounded"] if proving.unbounded else []
    for name, value in proving.constants.items():
        words += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    for name in proving.properties:
        words += ["--property", name]
    return shlex.join(words)


def prove_claim(claim: claims.Claim, seconds: float | None = None) -> Proved:
    """Asks one claim."""
    answered = claims.ask(claim, seconds)
    name = f"{Path(claim.file).stem}.{claim.name}"
    code = ExitCode.AS_EXPECTED if answered.expected else ExitCode.NOT_AS_EXPECTED
    verdict: Verdict = "holds"
    lines = []
    headline = "true of everything"
    if answered.answer == "undetermined":
        verdict, code = "undetermined", ExitCode.UNDETERMINED
        headline = f"z3 does not know: {answered.reason}"
    elif answered.answer == "fails":
        verdict = "violated"
        headline = "false"
        lines = [claim.doc, f"  {claim.expectation.source}"] if claim.doc else [claim.expectation.source]
        case = ", ".join(f"{key} = {show(value)}" for key, value in answered.witness.items())
        lines.append(f"  smallest case: {case}")
        if answered.computed:
            lines.append("  there: " + ", ".join(f"{key} = {show(value)}" for key, value in answered.computed.items()))
    if code == ExitCode.NOT_AS_EXPECTED:
        headline += ", but the file expects it to " + ("hold" if claim.expectation.holds else "fail")
    facts: dict[str, Any] = {"source": claim.expectation.source}
    if answered.witness:
        facts["witness"] = {key: plain(value) for key, value in answered.witness.items()}
    place = shown(Path(claim.file))
    return Proved(name, "claim", verdict, code, headline, answered.seconds, place, claim.line, lines=lines, facts=facts)


def prove_check(check: Check, task: Task, watch: Callable[[str], None] | None = None) -> Proved:
    """Runs the method on a spec's model, or on one of its known-bad designs."""
    cls = check.cls()
    model = _instance(check, cls)
    properties = check.properties() if task.method == "bmc" else _all_properties(check, cls)
    if task.properties:
        properties = [prop for prop in properties if prop.name in task.properties]
    result = Proved(check.spec.name, task.method, "undetermined", ExitCode.UNDETERMINED, "", 0.0)
    result.spec, result.model = shown(check.spec.path), check.spec.model
    result.variant = None if check.flawed is None else variant_name(check)
    result.constants = model.constant_values
    if task.unbounded and task.method != "induction":
        raise SourceError("--unbounded goes with --method induction")
    match task.method:
        case "bmc":
            _bounded(check, task, model, properties, result)
        case "induction":
            _induction(check, task, model, properties, result, watch)
        case "k-induction":
            _k_induction(task, model, properties, result)
        case "infer":
            _inference(task, model, properties, result)
    return result


def _all_properties(check: Check, cls: type[Model]) -> list[Property]:
    spec = check.spec
    if check.flawed is not None:
        every = spec.properties(cls, check.settings.invariant_files).values()
        return [prop for prop in every if prop.kind != "reachable"]
    return [prop for prop in check.properties() if prop.kind != "reachable"]


# Bounded search.


def _bounded(check: Check, task: Task, model: Model, properties: list[Property], result: Proved) -> None:
    wanted = [prop for prop in properties if prop.kind != "reachable"]
    found = bmc.search(system_of(model, wanted), wanted, task.depth, Clock(task.seconds))
    result.seconds = found.seconds
    result.facts = {"depth": found.depth}
    result.lines = [_interchangeable(members) for members in found.interchangeable]
    expected = check.wanted_property
    if found.violation is not None:
        _violated(model, found.violation, wanted, result)
        result.exit_code = ExitCode.NOT_AS_EXPECTED
        if found.violation.kind == "error":
            result.exit_code = ExitCode.USER_ERROR
        elif expected == found.violation.property:
            result.exit_code = ExitCode.AS_EXPECTED
    elif found.stopped:
        result.headline = f"no violation within {_states(found.depth)}; ended by {found.stopped}"
    else:
        result.headline = f"no violation within {_states(found.depth)}"
        result.verdict = "holds" if expected is None else "undetermined"
        result.exit_code = ExitCode.AS_EXPECTED if expected is None else ExitCode.UNDETERMINED


def _interchangeable(members: tuple[Identifier, ...]) -> str:
    names = ", ".join(show(member) for member in members)
    return f"z3 proved that no action, property or boundary tells {names} apart: runs mention them in this order"


def _violated(model: Model, violation: Violation, properties: list[Property], result: Proved) -> None:
    result.verdict = "error" if violation.kind == "error" else "violated"
    result.broken = violation.property or None
    length = len(violation.trace)
    name = violation.property or violation.message
    result.headline = f"violates {name} in {_states(length)}; there is no shorter run"
    result.lines += trace_lines(model, violation.trace)
    if violation.failed_step is not None:
        result.lines.append(f"{length + 1}  {show_step(violation.failed_step)}")
        result.lines.append(f"     fails: {violation.message}")
    prop = next((prop for prop in properties if prop.name == violation.property), None)
    if prop is not None and violation.kind in ("invariant", "transition"):
        result.lines += ["", *explain(model, prop, violation.trace)]
    result.facts["trace"] = _trace(model, violation.trace)


def _trace(model: Model, trace: tuple[TraceState, ...]) -> list[dict[str, Any]]:
    names = list(model.variable_types)
    return [
        {
            "action": entry.step.action,
            "arguments": {name: plain(value) for name, value in entry.step.arguments.items()},
            "state": {name: plain(value) for name, value in zip(names, entry.state, strict=True)},
        }
        for entry in trace
    ]


def _states(count: int) -> str:
    return "1 state" if count == 1 else f"{count} states"


# Induction.


def _induction(
    check: Check,
    task: Task,
    model: Model,
    properties: list[Property],
    result: Proved,
    watch: Callable[[str], None] | None,
) -> None:
    lemmas = lemmas_of(check.spec, type(model))
    endless = endless_constants(model) if task.unbounded else []
    if task.unbounded and not endless:
        raise SourceError(f"no constant of {type(model).__name__} only bounds integers, so nothing can be unbounded")
    system = system_of(model, [*properties, *lemmas], endless)
    proof = induction(system, [*properties, *lemmas], task.seconds, watch)
    if not endless:
        proof = with_reachability(proof, _Reachable(model).asks)
    result.seconds = proof.seconds
    names = [prop.name for prop in properties]
    result.facts = {
        "properties": names,
        "lemmas": [lemma.name for lemma in lemmas],
        "obligations": len(proof.obligations),
        "open": [[it.action, it.property, it.outcome, it.reason] for it in proof.failing()],
        "unbounded": endless,
    }
    with_lemmas = f"{len(names)} properties with {len(lemmas)} lemmas, {len(proof.obligations)} obligations"
    every = f", for every {', '.join(endless)}" if endless else ""
    if system.domain:
        every += f" with {', '.join(f'{form} >= 0' for form in system.domain)}"
    result.verdict, result.exit_code = _judged(proof)
    if result.verdict == "holds":
        result.headline = f"inductive: {with_lemmas}{every}"
        if endless:
            _spot_check(system, [*properties, *lemmas], task, result)
        return
    failing = proof.failing()
    counts = Counter(obligation.outcome for obligation in failing)
    parts = [f"{counts['fails']} fail"] if counts["fails"] else []
    parts += [f"{counts['undetermined']} are undetermined ({failing[0].reason})"] if counts["undetermined"] else []
    result.headline = f"not proved: {with_lemmas}{every}; {' and '.join(parts)}"
    for obligation in failing:
        result.lines += _open(system, obligation)


def _spot_check(system: System, properties: list[Property], task: Task, result: Proved) -> None:
    """Makes the proof for every value at a few once more; without any it is not believed."""
    spots = spot_check(system, properties, task.seconds)
    result.facts["spots"] = spots.proved
    result.seconds += spots.seconds
    tried = [", ".join(str(value) for value in constants.values()) for constants in spots.proved]
    result.lines.append(f"once more at {', '.join(system.values.endless)} = {'; '.join(tried) or 'nothing'}")
    if not spots.proved:
        result.verdict, result.exit_code = "undetermined", ExitCode.UNDETERMINED
        result.headline += ", but at no values of them could it be proved once more"


def _judged(proof: Proof) -> tuple[Verdict, ExitCode]:
    if proof.outcome == "proved":
        return "holds", ExitCode.AS_EXPECTED
    shown = [obligation.counterexample for obligation in proof.failing() if obligation.counterexample is not None]
    if any(counterexample.reachable for counterexample in shown):
        return "violated", ExitCode.NOT_AS_EXPECTED
    return "undetermined", ExitCode.UNDETERMINED


def _open(system: System, obligation: Obligation) -> list[str]:
    """An obligation that was not proved, with its counterexample to induction."""
    if obligation.action == INITIAL:
        said = f"{obligation.property} is false of an initial state"
        if obligation.property == TYPES:
            said = "an initial state has values that are not of the declared types"
    else:
        said = f"{obligation.action} does not preserve {obligation.property}"
    if obligation.outcome == "undetermined":
        return [f"undetermined whether {obligation.action} preserves {obligation.property}: {obligation.reason}"]
    shown = obligation.counterexample
    return [said] if shown is None else [said, *(f"    {line}" for line in counterexample_lines(system, shown)), ""]


def counterexample_lines(system: System, shown: Counterexample) -> list[str]:
    """Two states: the first as it differs from an initial one, the second as it differs from the first."""
    names = list(system.variables)
    _, first = system.initial_states()[0]
    reached = {True: "which is reachable", False: "which is not reachable: a lemma that excludes it is missing"}
    constants = ", ".join(f"{name} = {value}" for name, value in shown.constants.items())
    lines = [
        f"in a state{', with ' + constants if constants else ''}"
        f"{', ' + reached[shown.reachable] if shown.reachable is not None else ''}:"
    ]
    lines += [f"  {line}" for line in _differences(names, first, shown.before)] or ["  as in an initial one"]
    if shown.after is None:
        lines.append(f"{show_step(shown.step)} leaves the declared types")
        return lines
    lines.append(f"{show_step(shown.step)} leads to:")
    lines += [f"  {line}" for line in change_lines(names, shown.before, shown.after)] or ["  the same state"]
    return lines


def _differences(names: list[str], first: State, state: State) -> list[str]:
    return [f"{name}: {show(new)}" for name, old, new in zip(names, first, state, strict=True) if old != new]


class _Reachable:
    """Knows which states can be reached, from the native checker, when there are not too many."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.layout = lay_out(model.variable_types)
        self.rows: Any = None
        self.tried = False

    def asks(self, state: State) -> bool | None:
        rows = self.all_rows()
        if rows is None:
            return None
        return bool((rows == np.array(self.layout.pack(state), dtype=np.uint64)).all(axis=1).any())

    def all_rows(self) -> Any:
        if not self.tried:
            self.tried = True
            from checkers.explicit.search import reachable_set

            limits = Limits(states=REACHABLE_STATES, seconds=REACHABLE_SECONDS)
            try:
                self.rows = reachable_set(self.model, Options(workers=1, limits=limits))
            except (RuntimeError, SourceError):
                self.rows = None
        return self.rows

    def states(self) -> Iterator[State]:
        for row in self.all_rows():
            yield self.layout.unpack(row)


# k-induction and inference.


def _k_induction(task: Task, model: Model, properties: list[Property], result: Proved) -> None:
    found = k_induction(system_of(model, properties), properties, task.depth, task.seconds)
    result.seconds = found.seconds
    result.facts = {"depth": found.depth, "properties": [prop.name for prop in properties]}
    if found.violation is not None:
        _violated(model, found.violation, properties, result)
        result.exit_code = ExitCode.NOT_AS_EXPECTED
    elif found.outcome == "proved":
        result.verdict, result.exit_code = "holds", ExitCode.AS_EXPECTED
        result.headline = f"{len(properties)} properties are {found.depth}-inductive"
    elif found.outcome == "undetermined":
        result.headline = f"undetermined at k = {found.depth}: {found.reason}"
    else:
        result.headline = f"not {found.depth}-inductive; there is no violation within {_states(found.depth)}"
        result.lines = trace_lines(model, found.counterexample)


def _inference(task: Task, model: Model, properties: list[Property], result: Proved) -> None:
    reachable = _Reachable(model)
    states = reachable.states if reachable.all_rows() is not None else None
    found = infer(system_of(model, properties), properties, task.seconds, states)
    result.seconds = found.seconds
    result.facts = {
        "properties": [prop.name for prop in properties],
        "clauses": found.clauses,
        "frames": found.frames,
        "queries": found.queries,
        "checks": found.checks,
    }
    if found.refuted:
        result.verdict, result.exit_code = "violated", ExitCode.NOT_AS_EXPECTED
        result.headline = "a reachable state breaks a property; bmc shows the run"
    elif found.stopped:
        result.headline = f"undetermined: ended by {found.stopped}, after {found.frames} frames"
    elif not found.found:
        wrong = ", ".join(name for name, good in found.checks.items() if not good)
        raise RuntimeError(f"the inferred invariant does not pass its check: {wrong}")
    else:
        result.verdict, result.exit_code = "holds", ExitCode.AS_EXPECTED
        checked = ", ".join(found.checks)
        result.headline = f"inductive with {len(found.clauses)} inferred clauses (checked: {checked})"
        result.lines = list(found.clauses)


def write_json(file: Path, results: list[Proved]) -> None:
    """Writes the results as one object."""
    text = json.dumps({"results": [result.as_json() for result in results]}, indent=2, ensure_ascii=False)
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise SourceError(f"cannot be written: {error.strerror}", str(file)) from None


def text_lines(result: Proved) -> list[str]:
    """What is printed of a result."""
    variant = "" if result.variant is None else f" {result.variant}"
    word = "found" if result.expected and result.verdict == "violated" else result.verdict
    first = f"{word:<12}  {result.name}{variant}  {result.method}: {result.headline}, {result.seconds:.1f} s"
    return [first, *(f"              {line}" for line in result.lines)]


def run(paths: list[Path], given: dict[str, Any], json_file: Path | None, say: Callable[[str], None]) -> int:
    """The command: proves, prints, and returns the exit code. ``given`` are its options."""
    constants = dict(given.pop("assignments"))
    task = Task(constants=constants, **{key: value for key, value in given.items() if value is not None})
    results: list[Proved] = []
    for result in prove(paths, task):
        results.append(result)
        for line in text_lines(result):
            say(line)
    if json_file is not None:
        write_json(json_file, results)
    code = worst(result.exit_code for result in results)
    good = sum(result.expected for result in results)
    asked = "1 question" if len(results) == 1 else f"{len(results)} questions"
    outcome = "each as expected"
    if code != ExitCode.AS_EXPECTED:
        outcome = f"{good} as expected (exit {int(code)}: {_MEANINGS[code]})"
    say(f"{asked}, {outcome}")
    return int(code)
