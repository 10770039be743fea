"""The answers of the tools, as data: verdicts, counterexamples, and the weaknesses of a result.

``TOOLS`` has each tool by its name. A tool raises SourceError for a request that it cannot answer. Solvers and mutants
are imported where they are used: a process answers one call, and most need neither.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from floodmark.checkers.assistants.confinement import require_inside, specs_of
from floodmark.checkers.explanation.false_property import explain as why_false
from floodmark.checkers.explanation.guard import FalseGuard
from floodmark.checkers.explanation.trace import change_lines, step_entry, trace_entry
from floodmark.checkers.project.input_limits import require_numbers
from floodmark.checkers.project.paths import shown
from floodmark.checkers.project.properties import Property, did_you_mean
from floodmark.checkers.project.spec import Spec, only
from floodmark.checkers.project.spec_entries import PROOF_METHODS, STRATEGIES, SimulationSettings, StrategyName
from floodmark.checkers.report import text
from floodmark.checkers.report.divergence import divergence_entry
from floodmark.checkers.report.listing import variables_of
from floodmark.checkers.report.liveness import open_lines
from floodmark.checkers.report.watched import WatchExpression
from floodmark.checkers.run.checks import run
from floodmark.checkers.search_result import Limits, TraceState
from floodmark.checkers.value_text import written_step
from floodmark.checkers.verdict.check import Check, CheckSettings, checks, variant_name
from floodmark.checkers.verdict.result import MEANINGS, CheckResult, ExitCode, worst
from floodmark.checkers.walking.nearest_guard import nearest_guards
from floodmark.checkers.walking.walk import Walk
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.plurals import counted
from floodmark.language.source import source_of

Answer = dict[str, Any]
_MAX_PROPERTIES_WHY = 20
_GUARD_SECONDS = 3.0
"""The seconds for which an answer searches for the nearest guards."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The project, as the folder in which the call runs, and the budget of the call."""

    root: Path
    seconds: float
    memory: int

    def settings(self, constants: Mapping[str, int] | None, **more: Any) -> CheckSettings:
        """The settings of a search within the budget."""
        limits = Limits(seconds=self.seconds, memory=self.memory)
        return CheckSettings(constants=dict(constants or {}), limits=limits, **more)

    def one(self, spec: str, design: str | None, constants: Mapping[str, int] | None) -> Check:
        """The only check that a spec and the name of a class mean; without a name, that of the model."""
        specs = specs_of(self.root, spec)
        settings = self.settings(constants)
        if design is None:
            return Check(only(specs), None, settings)
        every = [check for each in specs for check in checks(each, settings)]
        for check in every:
            if variant_name(check) == design:
                return check
        names = dict.fromkeys(map(variant_name, every))
        raise SourceError(f"there is no design {design!r}{did_you_mean(design, names)}", spec)


def place(file: str | None, line: int | None) -> Answer | None:
    """A line of a file of the project."""
    return None if file is None else {"file": shown(Path(file)), "line": line}


def _ended(code: ExitCode, **content: Any) -> Answer:
    return {"exit_code": int(code), "meaning": MEANINGS[code], **content}


def check(
    call: ToolCall, spec: str, design: str | None = None, property: str | None = None,
    constants: Mapping[str, int] | None = None,
) -> Answer:
    """Searches every reachable state of a spec's model and of its known-bad designs."""
    wanted = () if property is None else (property,)
    settings = call.settings(constants, only_variant=design, properties=wanted)
    return _checked(specs_of(call.root, spec), settings)


def simulate(
    call: ToolCall, spec: str, walks: int, steps: int, seed: int, strategy: StrategyName, design: str | None = None,
    constants: Mapping[str, int] | None = None,
) -> Answer:
    """Random walks instead of a search."""
    if strategy not in STRATEGIES:
        raise SourceError(f"strategy is one of {', '.join(STRATEGIES)}, not {strategy!r}")
    _require_numbers(walks=walks, steps=steps, seed=seed)
    asked = SimulationSettings(walks, steps, seed, strategy)
    return _checked(specs_of(call.root, spec), call.settings(constants, only_variant=design, walks=asked))


def _require_numbers(**given: float | None) -> None:
    try:
        require_numbers(**given)
    except ValueError as error:
        raise SourceError(str(error)) from None


def _checked(specs: Sequence[Spec], settings: CheckSettings) -> Answer:
    every = [each for spec in specs for each in checks(spec, settings)]
    if not every:
        names = dict.fromkeys(variant_name(it) for each in specs for it in checks(each, CheckSettings()))
        hint = did_you_mean(settings.only_variant or "", names)
        raise SourceError(f"there is no design {settings.only_variant!r}{hint}")
    if settings.properties and not any(it.spec.properties(it.cls()).keys() & set(settings.properties) for it in every):
        raise SourceError(f"no model here has a property {settings.properties[0]!r}")
    results = [result for _, result in run(every)]
    entries = [result_entry(result) for result in results]
    return _ended(worst(result.exit_code for result in results), results=entries)


def result_entry(result: CheckResult) -> Answer:
    """The result of a check, for an assistant."""
    found = result.search_result
    line = text.result_line(result)
    prop = result.find_property(result.property)
    return {
        "spec": result.address(),
        "design": result.design(),
        "known_bad": result.variant is not None,
        "verdict": result.verdict,
        "expected": result.expected,
        "said": f"{line.word}: {line.text}",
        "property": None if prop is None else _property_entry(prop),
        "place": place(result.file, result.line),
        "states": None if found is None else found.distinct,
        "depth": None if found is None else found.depth,
        "complete": found is not None and found.complete,
        "actions": {} if found is None else found.actions,
        "weak": weak(result),
        "scenarios": [asdict(each) for each in result.scenarios],
        "counterexample": None if result.violation is None else counterexample(result),
        "notes": text.notes(result),
        "reproduce": result.reproduce,
    }


def _property_entry(prop: Property) -> Answer:
    return {"name": prop.name, "kind": prop.kind, "means": text.first_sentence(prop.doc),
            "place": place(prop.file, prop.line)}


def weak(result: CheckResult) -> list[Answer]:
    """Every reason why the result is weaker than it seems."""
    found, model = result.search_result, result.subject
    if found is None or model is None:
        return []
    lines: list[Answer] = []
    if result.verdict == "holds" or found.complete:
        sizes = ", ".join(f"{name}={value}" for name, value in model.constant_values.items())
        text = f"every state was visited for {sizes or 'this model'}, and for no other size; prove shows more"
        lines.append({"kind": "bounded", "text": text})
    if not found.complete:
        lines.append({"kind": "incomplete", "text": f"the search did not visit every state: {result.message}"})
    idle = result.idle_actions()
    nearest = nearest_guards(model, idle, _GUARD_SECONDS) if idle else {}
    for name in idle:
        near = nearest.get(name)
        method = source_of(type(model).methods("action")[name])
        lines.append({
            "kind": "never fired", "action": name, "place": place(method.file, method.tree.lineno),
            "nearest_guard": None if near is None else {**guard_entry(near.guard), "step": near.step,
                                                        "after": list(near.run)},
        })  # fmt: skip
    lines += [
        {"kind": "vacuous", "property": it.property, "text": it.text, "place": place(it.file, it.line)}
        for it in result.vacuous_premises()
    ]
    lines += [{"kind": "never reached", "property": name} for name in result.unreached]
    if found.cut:
        lines.append({"kind": "cut", "text": f"the search was cut at the boundary {counted(found.cut, 'time')}"})
    lines += [{"kind": "open", "text": line} for line in open_lines(found)]
    if not result.properties:
        lines.append({"kind": "nothing checked", "text": "no property belongs to this model"})
    return lines


def guard_entry(guard: FalseGuard) -> Answer:
    """A guard that stops a step."""
    return {"guard": guard.text, "reasons": list(guard.reasons), "place": place(guard.file, guard.line)}


def counterexample(result: CheckResult) -> Answer:
    """The steps of a violation with what each changes, why the property is false, and where the good design differs."""
    violation, model = result.violation, result.subject
    assert violation is not None and model is not None
    trace = violation.trace
    prop = result.find_property(violation.property)
    names = list(model.variable_types)
    steps = []
    for number, entry in enumerate(trace):
        changes = [] if number == 0 else change_lines(names, trace[number - 1].state, entry.state)
        action = type(model).methods("action").get(entry.step.action)
        source = None if action is None else source_of(action)
        steps.append({
            "step": written_step(entry.step), "changes": changes,
            "place": None if source is None else place(source.file, source.tree.lineno),
        })  # fmt: skip
    if steps:
        steps[0]["state"] = trace_entry(model, trace[0])["state"]
    is_safety = prop is not None and violation.kind in ("invariant", "transition")
    return {
        "kind": violation.kind,
        "property": violation.property,
        "message": violation.message,
        "steps": steps,
        "loop_to": violation.loop,
        "failed_step": None if violation.failed_step is None else step_entry(model, violation.failed_step),
        "why": why_false(model, prop, trace) if is_safety and prop is not None else [],
        "where_the_good_design_differs": divergence_entry(result.divergence),
        "text": click.unstyle("\n".join(text.counterexample(result))),
    }


def explain(
    call: ToolCall, spec: str, design: str | None = None, constants: Mapping[str, int] | None = None,
    watch: Sequence[str] = (),
) -> Answer:
    """The counterexample of one design, with whole states and the values of expressions."""
    asked = call.one(spec, design, constants)
    answered = _checked([asked.spec], replace(asked.settings, only_variant=variant_name(asked)))
    entry = answered["results"][0]
    if entry["counterexample"] is None:
        return answered
    model = asked.model()
    watched = [WatchExpression(model, each) for each in watch]
    for step, at in zip(entry["counterexample"]["steps"], _states(model, entry["counterexample"]), strict=True):
        step["state"] = trace_entry(model, at)["state"]
        step["watched"] = {each.text: each.value(at.state) for each in watched}
    return answered


def _states(model: Model, found: Answer) -> tuple[TraceState, ...]:
    walked = Walk(model).along([step["step"] for step in found["steps"]])
    if walked.stop:
        raise AssertionError(f"CPython does not take the counterexample: {walked.stop}")
    return walked.trace


def show(call: ToolCall, spec: str) -> Answer:
    """The parts of specs and their models."""
    return _ended(ExitCode.AS_EXPECTED, specs=[_shown(each) for each in specs_of(call.root, spec)])


def _shown(spec: Spec) -> Answer:
    asked = Check(spec, None, CheckSettings())
    model, cls = asked.model(), asked.cls()
    checked = {prop.name for prop in asked.properties()}
    return {
        "spec": shown(spec.address),
        "title": spec.title,
        "tier": spec.tier,
        "model": spec.model,
        "means": text.first_sentence(cls.__doc__ or ""),
        "place": place(*cls.source_position()),
        "constants": model.constant_values,
        "variables": [{"name": name, "type": kind, "bits": bits} for name, kind, bits in variables_of(model)],
        "actions": [_method(name, each) for name, each in cls.methods("action").items()],
        "properties": [
            {**_property_entry(prop), "checked": prop.name in checked} for prop in spec.properties(cls).values()
        ],
        "known_bad": [{"design": each.name, "must_violate": each.property} for each in spec.flawed],
        "scenarios": [{"name": each.name, "steps": list(each.steps), "possible": each.possible}
                      for each in spec.scenario],
    }  # fmt: skip


def _method(name: str, method: Callable[..., Any]) -> Answer:
    source = source_of(method)
    return {"name": name, "parameters": [arg.arg for arg in source.tree.args.args[1:]],
            "means": text.first_sentence(method.__doc__ or ""), "place": place(source.file, source.tree.lineno)}


def step(
    call: ToolCall, spec: str, path: Sequence[str] = (), design: str | None = None,
    constants: Mapping[str, int] | None = None, watch: Sequence[str] = (),
) -> Answer:
    """The state behind a path of steps: what can happen next, what cannot and why, and which properties are true."""
    asked = call.one(spec, design, constants)
    model = asked.model()
    walk = Walk(model)
    if not path:
        begun = [written_step(each.step) for each in walk.beginnings()]
        return _ended(ExitCode.AS_EXPECTED, design=variant_name(asked), beginnings=begun)
    walked = walk.along(path)
    taken = [written_step(entry.step) for entry in walked.trace]
    if not walked.trace:
        return _ended(ExitCode.USER_ERROR, error=walked.stop, taken=taken)
    last, names = walked.trace[-1], list(model.variable_types)
    actions = walk.actions(last.state)
    enabled = [
        {"step": written_step(each), "changes": change_lines(names, last.state, after)}
        for action in actions for each, after in action.enabled
    ]
    blocked = [
        {**guard_entry(it.guard), "action": action.name, "steps": [written_step(each) for each in it.steps[:8]],
         "number_of_steps": len(it.steps)}
        for action in actions for it in sorted(action.stopped, key=_nearness)
    ]
    fails = [
        {"step": written_step(each), "error": error.message, "place": place(error.file, error.line)}
        for action in actions for each, error in action.failed
    ]
    code = ExitCode.USER_ERROR if walked.stop else ExitCode.AS_EXPECTED
    return _ended(
        code, design=variant_name(asked), taken=taken, stopped=walked.stop, state=trace_entry(model, last)["state"],
        watched={each: WatchExpression(model, each).value(last.state) for each in watch}, enabled=enabled,
        blocked=blocked, fails=fails, properties=list(_property_answers(model, asked.properties(), walked.trace)),
    )


def _nearness(stopped: Any) -> tuple[int, int]:
    """The guards, the last one in the action's text first: it stops the choices that are nearest to being enabled."""
    return -(stopped.guard.line or 0), -stopped.guard.part


def _property_answers(model: Model, properties: Sequence[Property], trace: Sequence[TraceState]) -> Iterator[Answer]:
    for prop in properties:
        states = trace[-2:] if prop.kind == "transition" else trace[-1:]
        if prop.kind not in ("invariant", "transition", "reachable") or (prop.kind == "transition" and len(states) < 2):
            continue
        try:
            true = reference.holds(model, prop.function, *(entry.state for entry in states))
        except SourceError as error:
            yield {**_property_entry(prop), "error": error.message}
            continue
        why = [] if true or prop.kind == "reachable" else why_false(model, prop, trace)
        yield {**_property_entry(prop), "true": true, "why": why[:_MAX_PROPERTIES_WHY]}


def mutate(call: ToolCall, spec: str, only_changes: str | None = None) -> Answer:
    """Tries the mutants of a model."""
    from floodmark.checkers.commands.mutate import MutateSettings
    from floodmark.checkers.commands.mutate import mutate as tried

    (each,) = {it.path for it in specs_of(call.root, spec)}
    code, lines, content = _command(
        lambda file: tried([each], MutateSettings(only=only_changes, seconds=call.seconds, json_file=file))
    )
    return _ended(code, mutation=content.get("mutation", []), said=lines)


def conform(
    call: ToolCall, spec: str, trace: str, hidden: int = 0, constants: Mapping[str, int] | None = None
) -> Answer:
    """Judges recorded runs."""
    from floodmark.checkers.commands.conform import ConformSettings, conform_traces

    asked = call.one(spec, None, constants)
    recorded = require_inside(call.root, Path(trace))
    settings = ConformSettings(hidden=hidden, constants=dict(constants or {}), max_seconds=call.seconds)
    code, lines, content = _command(lambda file: conform_traces(asked.spec.address, [recorded], settings, file))
    return _ended(code, traces=content.get("traces", []), said=lines)


def _command(lines: Callable[[Path], Iterator[str | ExitCode]]) -> tuple[ExitCode, list[str], Answer]:
    """The exit code of a command, its text output, and its JSON."""
    with TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        file = Path(folder) / "results.json"
        *texts, code = lines(file)
        content = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    assert isinstance(code, ExitCode)
    return code, [str(line) for line in texts], content


def prove(
    call: ToolCall, spec: str, method: str = "induction", properties: Sequence[str] = (), any_size: bool = False,
    unbounded: bool = False, depth: int | None = None, after_walks: int | None = None,
    constants: Mapping[str, int] | None = None,
) -> Answer:
    """Proves properties of a model."""
    from floodmark.checkers.symbolic.methods.task import ProofTask
    from floodmark.checkers.symbolic.prove import prove_check

    if method not in PROOF_METHODS:
        raise SourceError(f"method is one of {', '.join(PROOF_METHODS)}, not {method!r}")
    if after_walks is not None and (method != "bmc" or after_walks < 1):
        raise SourceError("after_walks is a number of walks, 1 or more, for method bmc: a proof is about all states")
    _require_numbers(depth=depth)
    asked = call.one(spec, None, constants)
    task = ProofTask(method=method, unbounded=unbounded, any_size=any_size, seconds=call.seconds,
                     properties=tuple(properties), constants=dict(constants or {}), after_walks=after_walks or 0)
    proved = prove_check(asked, task if depth is None else replace(task, depth=depth))
    bounded = [{"kind": "bounded", "text": proved.headline}] if proved.verdict == "undetermined" else []
    return _ended(proved.exit_code, result=proved.as_json(), weak=bounded)


def diff(call: ToolCall, spec: str, against: str = "HEAD", constants: Mapping[str, int] | None = None) -> Answer:
    """The effects of an edit of a spec and its model since a commit."""
    from floodmark.checkers.commands.diff import DiffRequest, compare_versions

    (path,) = {it.path for it in specs_of(call.root, spec)}
    limits = Limits(seconds=call.seconds, memory=call.memory)
    asked = DiffRequest([against], [str(path)], constants=dict(constants or {}), limits=limits)
    content, code = compare_versions(asked)
    weak = [
        {"kind": "emptier", "text": f"{entry['name']}: {sentence}"}
        for entry in content["specs"] for sentence in entry["emptier"]
    ]
    return {"exit_code": int(code), **content, "weak": weak}


TOOLS: Mapping[str, Callable[..., Answer]] = {
    "check": check, "show": show, "step": step, "explain": explain, "mutate": mutate, "prove": prove,
    "conform": conform, "simulate": simulate, "diff": diff,
}  # fmt: skip
