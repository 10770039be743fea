"""``floodmark prove``: runs a method on a spec, or asks claims, and says what came of it."""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floodmark.checkers.exploration import TraceState, Violation
from floodmark.checkers.properties import Property, did_you_mean
from floodmark.checkers.report.explain import explain
from floodmark.checkers.report.trace import change_lines, trace_lines
from floodmark.checkers.report.value import plain, show, show_step
from floodmark.checkers.result import MEANINGS, ExitCode, Verdict, worst
from floodmark.checkers.run import Check, Settings, _instance, checks, must_matter, shown, variant_name
from floodmark.checkers.spec import ProofExpectation, ProofMethod, Proving, Spec, find, known, read
from floodmark.checkers.symbolic import bmc, claims
from floodmark.checkers.symbolic.deadline import Clock
from floodmark.checkers.symbolic.enumeration import Enumeration, Reachable, enumerate_states
from floodmark.checkers.symbolic.induction import (
    BOUNDARY,
    INITIAL,
    TYPES,
    Counterexample,
    Obligation,
    Proof,
    confirm,
    induction,
    with_reachability,
)
from floodmark.checkers.symbolic.infer import CHECKS, infer
from floodmark.checkers.symbolic.kinduction import k_induction
from floodmark.checkers.symbolic.lemmas import lemmas_of
from floodmark.checkers.symbolic.smtlib import Record, Scripts
from floodmark.checkers.symbolic.spots import spot_check
from floodmark.checkers.symbolic.system import System, system_of
from floodmark.checkers.symbolic.unbounded import endless_constants
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.values import Identifier

_MEANINGS = {**MEANINGS, ExitCode.UNDETERMINED: "something is neither proved nor refuted"}
DEFAULT_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of ``floodmark prove``, beside the specs.

    With ``expect`` "bounded" a bounded search need not show more than that there is no violation within ``depth``.
    """

    method: ProofMethod = "induction"
    depth: int = DEFAULT_DEPTH
    unbounded: bool = False
    seconds: float | None = None
    constants: dict[str, int] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    only_variant: str | None = None
    properties: tuple[str, ...] = ()
    expect: ProofExpectation = "holds"


@dataclass(slots=True)
class Proved:
    """What came of one spec or one claim. ``line`` is a claim's; ``lines`` say more than the headline does.

    A bounded search that finds nothing is ``undetermined``, also where its spec expects no more.
    """

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

    @property
    def word(self) -> str:
        """The verdict for people: a violation that was looked for is found, and a bounded search may be enough."""
        words: dict[Verdict, str] = {"violated": "found", "undetermined": "bounded"}
        return words.get(self.verdict, self.verdict) if self.expected else self.verdict

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


def prove(
    paths: list[Path], task: Task, watch: Callable[[str], None] | None = None, scripts: Scripts | None = None
) -> Iterator[Proved]:
    """Proves what specs say, and asks the claims of Python files; of a folder, its claims and its quick specs.

    ``scripts`` gets every obligation. Raises SourceError for what is asked of no spec at all.
    """
    every = _checks(paths, task)
    for path in paths:
        if path.suffix == ".py" or path.is_dir():
            for claim in claims.all_of([path]):
                yield prove_claim(claim, task.seconds, scripts)
        for check in every[path]:
            yield prove_check(check, task, watch, scripts)


def _checks(paths: list[Path], task: Task) -> dict[Path, list[Check]]:
    """What is to be proved of the specs that each path means. Options that no spec is there for are an error."""
    settings = Settings(constants=task.constants, invariant_files=task.files, only_variant=task.only_variant)
    specs = {path: [read(spec) for spec in find([path], "quick")] if path.suffix != ".py" else [] for path in paths}
    found = {
        path: [
            check
            for spec in of_path
            for check in checks(spec, settings)
            if check.flawed is None or task.only_variant is not None
        ]
        for path, of_path in specs.items()
    }
    every = [check for of_path in found.values() for check in of_path]
    if task.only_variant is not None and not every:
        names = [variant_name(check) for of_path in specs.values() for spec in of_path
                 for check in checks(spec, Settings())]
        offered = did_you_mean(task.only_variant, dict.fromkeys(names))
        raise SourceError(f"no spec has a variant {task.only_variant!r}{offered}")
    if task.properties and not every:
        raise SourceError(f"there is no spec whose property {task.properties[0]!r} could be proved")
    must_matter(task.files, every)
    return found


def task_of(proving: Proving) -> Task:
    """What is asked for a proof that a spec lists."""
    return Task(
        method=proving.method,
        depth=DEFAULT_DEPTH if proving.depth is None else proving.depth,
        unbounded=proving.unbounded,
        constants=dict(proving.constants),
        properties=proving.properties,
        expect=proving.expect,
    )


def prove_listed(spec: Spec, proving: Proving, scripts: Scripts | None = None) -> Proved:
    """Makes a proof that a spec lists. An unknown property is an error at its line."""
    check = Check(spec, None, Settings(constants=dict(proving.constants)))
    task = task_of(proving)
    _subjects(check, task, proving.line)
    proved = prove_check(check, task, scripts=scripts)
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


def prove_claim(claim: claims.Claim, seconds: float | None = None, scripts: Scripts | None = None) -> Proved:
    """Asks one claim."""
    name = f"{Path(claim.file).stem}.{claim.name}"
    answered = claims.ask(claim, seconds, None if scripts is None else scripts.of(f"claim {name}"))
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


def prove_check(
    check: Check, task: Task, watch: Callable[[str], None] | None = None, scripts: Scripts | None = None
) -> Proved:
    """Runs the method on a spec's model, or on one of its known-bad designs."""
    if task.unbounded and task.method != "induction":
        raise SourceError("--unbounded needs --method induction")
    cls = check.cls()
    model = _instance(check, cls)
    properties = _subjects(check, task)
    result = Proved(check.spec.name, task.method, "undetermined", ExitCode.UNDETERMINED, "", 0.0)
    result.spec, result.model = shown(check.spec.path), check.spec.model
    result.variant = None if check.flawed is None else variant_name(check)
    result.constants = model.constant_values
    result.facts["properties"] = [prop.name for prop in properties]
    if not properties:
        result.exit_code = ExitCode.NOTHING_CHECKED
        result.headline = f"nothing was checked: there is no invariant and no transition property of {cls.__name__}"
        return result
    record = None if scripts is None else scripts.of(_subject(result, task))
    asking = _Asking(check, task, model, properties, result, record)
    match task.method:
        case "bmc":
            _bounded(asking)
        case "induction":
            _induction(asking, watch)
        case "k-induction":
            _k_induction(asking)
        case "infer":
            _inference(asking)
    return result


@dataclass(frozen=True, slots=True)
class _Asking:
    """One proof under way: what is asked, what came of it so far, and who is told of its obligations."""

    check: Check
    task: Task
    model: Model
    properties: list[Property]
    result: Proved
    record: Record | None

    @property
    def left(self) -> float | None:
        return None if self.task.seconds is None else max(0.0, self.task.seconds - self.result.seconds)


def _subject(result: Proved, task: Task) -> str:
    words = [result.name, *filter(None, [result.variant]), task.method, *(["unbounded"] if task.unbounded else [])]
    words += [f"{name}={value}" for name, value in task.constants.items()]
    return " ".join([*words, *task.properties])


def _subjects(check: Check, task: Task, line: int | None = None) -> list[Property]:
    """What is to be proved: invariants and transition properties. An unknown name is an error.

    Of a known-bad design a bounded search looks at what its entry names; a proof may need all there is.
    """
    found = check.properties()
    if check.flawed is not None and (task.method != "bmc" or task.properties):
        found = list(check.spec.properties(check.cls(), check.settings.invariant_files).values())
    if task.properties:
        wanted = {known(name, [prop.name for prop in found], "property", str(check.spec.path), line)
                  for name in task.properties}
        found = [prop for prop in found if prop.name in wanted]
        for prop in found:
            if prop.kind == "reachable":
                message = f"{prop.name} says that a state can be reached; a proof is of what is never violated"
                raise SourceError(message, str(check.spec.path), line)
    return [prop for prop in found if prop.kind != "reachable"]


# What is said of a proof.


def _proved(asking: _Asking, headline: str, judged: Sequence[Property]) -> None:
    """Says that there is a proof, unless compiled code contradicts it in a reachable state.

    ``judged`` is what the proof says of every such state: properties, lemmas, inferred clauses.
    """
    result = asking.result
    found = _enumerated(asking, judged)
    if found.violation is not None:
        _contradicted(asking, headline, found.violation, judged)
        return
    result.verdict, result.exit_code = "holds", ExitCode.AS_EXPECTED
    result.headline = f"{headline}; {_looked_at(found)}"
    _as_the_spec_expects(asking)


def _as_the_spec_expects(asking: _Asking) -> None:
    wanted = asking.check.wanted_property
    if wanted in [prop.name for prop in asking.properties]:
        asking.result.exit_code = ExitCode.NOT_AS_EXPECTED
        asking.result.headline += f", but the spec expects {wanted} to be violated"


def _enumerated(asking: _Asking, judged: Sequence[Property]) -> Enumeration:
    started = time.perf_counter()
    found = enumerate_states(asking.model, judged, asking.left)
    asking.result.seconds += time.perf_counter() - started
    asking.result.facts["enumerated"] = found.states if found.complete else None
    return found


def _looked_at(found: Enumeration) -> str:
    if found.complete:
        return f"true of all {found.states:,} reachable states" if found.states > 1 else "true of the reachable state"
    return f"not looked at in all reachable states: {found.reason}"


def _contradicted(asking: _Asking, headline: str, violation: Violation, judged: Sequence[Property]) -> None:
    """z3 and compiled code disagree, so one of them is wrong, and nothing is proved."""
    result = asking.result
    name = violation.property or violation.message
    result.verdict, result.exit_code = "error", ExitCode.INTERNAL_ERROR
    result.broken = violation.property or None
    length = len(violation.trace)
    result.headline = f"internal error in floodmark: {name} fails after {_states(length)}, where z3 says: {headline}"
    result.lines = _run_lines(asking.model, violation, judged)
    result.facts["trace"] = _trace(asking.model, violation.trace)


# Bounded search.


def _bounded(asking: _Asking) -> None:
    result, task, wanted = asking.result, asking.task, asking.properties
    found = bmc.search(system_of(asking.model, wanted), wanted, task.depth, Clock(task.seconds), record=asking.record)
    result.seconds = found.seconds
    result.facts["depth"] = found.depth
    result.lines = [_interchangeable(members) for members in found.interchangeable]
    if found.violation is not None:
        _violated(asking, found.violation)
        result.headline += "; there is no shorter run"
        if asking.check.wanted_property == found.violation.property and found.violation.kind != "error":
            result.exit_code = ExitCode.AS_EXPECTED
        return
    result.headline = f"no violation within {_states(found.depth)}"
    if found.stopped:
        result.headline += f"; ended by {found.stopped}"
        return
    _to_the_end(asking, found.depth)


def _to_the_end(asking: _Asking, depth: int) -> None:
    """Whether runs of ``depth`` states are all there is; if they are not, nothing is known of longer ones.

    Each state is the end of a shortest run, which has at most as many states as the search has levels. A step from the
    last level, which a transition property looks at, is one more, and so is a state outside of the boundary.
    """
    result, headline = asking.result, asking.result.headline
    found = _enumerated(asking, asking.properties)
    violation = found.violation
    if violation is not None and len(violation.trace) <= depth:
        _contradicted(asking, headline, violation, asking.properties)
    elif violation is not None:
        name = violation.property or violation.message
        result.headline += f"; {name} fails after {_states(len(violation.trace))}, which check shows"
    elif found.complete and found.depth + _beyond(asking) <= depth:
        result.verdict, result.exit_code = "holds", ExitCode.AS_EXPECTED
        result.headline = f"{headline}, which lead to all {found.states:,} reachable states"
        _as_the_spec_expects(asking)
    elif asking.task.expect == "bounded" and asking.check.wanted_property is None:
        result.exit_code = ExitCode.AS_EXPECTED
        result.headline += ", which is what the spec asks for"
    else:
        result.headline += "; what is deeper was not looked at"


def _beyond(asking: _Asking) -> int:
    """How many states a run may have beyond the last level of a search."""
    steps = any(prop.kind == "transition" for prop in asking.properties)
    return int(steps or bool(type(asking.model).methods("boundary")))


def _interchangeable(members: tuple[Identifier, ...]) -> str:
    names = ", ".join(show(member) for member in members)
    return f"z3 proved that no action, property or boundary tells {names} apart: runs mention them in this order"


def _violated(asking: _Asking, violation: Violation) -> None:
    """Shows a run that breaks a property, or leaves the declared types."""
    result = asking.result
    result.verdict = "error" if violation.kind == "error" else "violated"
    result.exit_code = ExitCode.USER_ERROR if violation.kind == "error" else ExitCode.NOT_AS_EXPECTED
    result.broken = violation.property or None
    result.headline = f"violates {violation.property or violation.message} in {_states(len(violation.trace))}"
    result.lines += _run_lines(asking.model, violation, asking.properties)
    result.facts["trace"] = _trace(asking.model, violation.trace)


def _run_lines(model: Model, violation: Violation, properties: Sequence[Property]) -> list[str]:
    lines = trace_lines(model, violation.trace)
    if violation.failed_step is not None:
        lines.append(f"{len(violation.trace) + 1}  {show_step(violation.failed_step)}")
        lines.append(f"     fails: {violation.message}")
    prop = next((prop for prop in properties if prop.name == violation.property), None)
    if prop is not None and violation.kind in ("invariant", "transition"):
        lines += ["", *explain(model, prop, violation.trace)]
    return lines


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


def _induction(asking: _Asking, watch: Callable[[str], None] | None) -> None:
    check, task, model, result, properties = (
        asking.check, asking.task, asking.model, asking.result, asking.properties
    )
    lemmas = lemmas_of(check.spec, type(model), check.settings.invariant_files)
    endless = endless_constants(model) if task.unbounded else []
    if task.unbounded and not endless:
        raise SourceError(f"no constant of {type(model).__name__} only bounds integers, so nothing can be unbounded")
    every = [*properties, *lemmas]
    system = system_of(model, every, endless)
    proof = induction(system, every, task.seconds, watch, asking.record)
    result.seconds = proof.seconds
    if not endless:
        for obligation in proof.failing():
            confirm(model, every, obligation)
        proof = with_reachability(proof, Reachable(model).asks)
    result.facts |= {
        "lemmas": [lemma.name for lemma in lemmas],
        "obligations": len(proof.obligations),
        "open": [[it.action, it.property, it.outcome, it.reason] for it in proof.failing()],
        "unbounded": endless,
    }
    with_lemmas = f"{len(properties)} properties with {len(lemmas)} lemmas, {len(proof.obligations)} obligations"
    for_every = f", for every {', '.join(endless)}" if endless else ""
    if system.domain:
        for_every += f" with {', '.join(f'{form} >= 0' for form in system.domain)}"
    result.verdict, result.exit_code = _judged(proof)
    if result.verdict == "holds":
        _proved(asking, f"inductive: {with_lemmas}{for_every}", every)
        if endless and result.verdict == "holds":
            _spot_check(system, every, task, result)
        return
    failing = proof.failing()
    counts = Counter(obligation.outcome for obligation in failing)
    parts = [f"{counts['fails']} fail"] if counts["fails"] else []
    parts += [f"{counts['undetermined']} are undetermined ({failing[0].reason})"] if counts["undetermined"] else []
    result.headline = f"not proved: {with_lemmas}{for_every}; {' and '.join(parts)}"
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
    if obligation.property == BOUNDARY:
        where = "in an initial state" if obligation.action == INITIAL else f"after {obligation.action}"
        said = f"the boundary cannot be evaluated {where}"
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


# k-induction and inference.


def _k_induction(asking: _Asking) -> None:
    task, result, properties = asking.task, asking.result, asking.properties
    found = k_induction(system_of(asking.model, properties), properties, task.depth, task.seconds, asking.record)
    result.seconds = found.seconds
    result.facts["depth"] = found.depth
    if found.violation is not None:
        _violated(asking, found.violation)
        result.headline += "; there is no shorter run"
    elif found.outcome == "proved":
        _proved(asking, f"{len(properties)} properties are {found.depth}-inductive", properties)
    elif found.outcome == "undetermined":
        result.headline = f"undetermined at k = {found.depth}: {found.reason}"
    else:
        result.headline = f"not {found.depth}-inductive; there is no violation within {_states(found.depth)}"
        result.lines = trace_lines(asking.model, found.counterexample)


def _inference(asking: _Asking) -> None:
    task, result, properties = asking.task, asking.result, asking.properties
    found = infer(system_of(asking.model, properties), properties, task.seconds, asking.record)
    result.seconds = found.seconds
    result.facts |= {
        "clauses": found.clauses,
        "frames": found.frames,
        "queries": found.queries,
        "checks": found.checks,
    }
    if found.refuted:
        _refuted(asking)
    elif found.stopped:
        result.headline = f"undetermined: ended by {found.stopped}, after {found.frames} frames"
    elif not found.found or found.predicate is None:
        wrong = ", ".join(name for name in CHECKS if not found.checks.get(name))
        raise RuntimeError(f"the inferred invariant does not pass its check: {wrong}")
    else:
        result.lines = list(found.clauses)
        headline = f"inductive with {len(found.clauses)} inferred clauses (checked: {', '.join(found.checks)})"
        _proved(asking, headline, [*properties, found.predicate])


def _refuted(asking: _Asking) -> None:
    """z3 says that a reachable state breaks a property: compiled code shows the run, where it can."""
    found = _enumerated(asking, asking.properties)
    if found.complete:
        raise RuntimeError(f"z3 says that a reachable state breaks a property; none of {found.states:,} states does")
    if found.violation is not None:
        _violated(asking, found.violation)
        return
    asking.result.verdict, asking.result.exit_code = "violated", ExitCode.NOT_AS_EXPECTED
    asking.result.headline = "a reachable state breaks a property; bmc shows the run"


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
    first = f"{result.word:<12}  {result.name}{variant}  {result.method}: {result.headline}, {result.seconds:.1f} s"
    return [first, *(f"              {line}" for line in result.lines)]


def run(paths: list[Path], given: dict[str, Any], json_file: Path | None, say: Callable[[str], None]) -> int:
    """The command: proves, prints, and returns the exit code. ``given`` are its options."""
    constants = dict(given.pop("assignments"))
    folder = given.pop("smt")
    scripts = None if folder is None else Scripts(folder)
    task = Task(constants=constants, **{key: value for key, value in given.items() if value is not None})
    results: list[Proved] = []
    for result in prove(paths, task, scripts=scripts):
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
