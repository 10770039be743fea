"""SARIF 2.1.0: each unexpected outcome at its line, with the counterexample as a code flow through the actions."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from floodmark.checkers.explanation.source_location import SourceLocation, action_location, root
from floodmark.checkers.report.verdict_summary import SummaryLine
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.value_text import show, show_step
from floodmark.checkers.verdict.result import ExitCode, worst
from floodmark.language.model import Model
from floodmark.language.reference import Step

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = "%SRCROOT%"


def sarif(cases: Sequence[SummaryLine]) -> str:
    """The log of one run. Expected results are not listed; ``undetermined`` is an error like any other."""
    wrong = [case for case in cases if case.status != "passed"]
    rules = list(dict.fromkeys(case.rule for case in wrong))
    run = {
        "tool": {"driver": _driver(rules, wrong)},
        "invocations": [_invocation(cases)],
        "originalUriBaseIds": {_BASE: {"uri": f"{root().as_uri()}/"}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(case, rules.index(case.rule)) for case in wrong],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _driver(rules: Sequence[str], wrong: Sequence[SummaryLine]) -> dict[str, Any]:
    about = {name: sentence for case in wrong for name, sentence in case.about.items()}
    return {
        "name": "floodmark",
        "version": importlib.metadata.version("floodmark"),
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": about.get(rule, rule)},
                "defaultConfiguration": {"level": "error"},
            }
            for rule in rules
        ],
    }


def _invocation(cases: Sequence[SummaryLine]) -> dict[str, Any]:
    code = worst(case.exit_code for case in cases)
    return {"executionSuccessful": code not in (ExitCode.INTERNAL_ERROR, ExitCode.USER_ERROR), "exitCode": int(code)}


def _result(case: SummaryLine, rule: int) -> dict[str, Any]:
    key = "|".join((case.suite, case.name, case.rule))
    entry: dict[str, Any] = {
        "ruleId": case.rule,
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": f"{case.title}: {case.word}: {case.text}\n\n{case.detail}"},
        "locations": [{"physicalLocation": _physical(case.place)}],
        "partialFingerprints": {"check/v1": hashlib.sha256(key.encode()).hexdigest()},
        "properties": {"reproduce": case.reproduce},
    }
    flow = _flow(case)
    if flow:
        entry["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return entry


def _physical(at: SourceLocation) -> dict[str, Any]:
    path = Path(at.file)
    artifact = {"uri": path.as_uri()} if path.is_absolute() else {"uri": _quoted(at.file), "uriBaseId": _BASE}
    return {"artifactLocation": artifact, "region": {"startLine": at.line}}


def _quoted(file: str) -> str:
    """A relative path as a relative URI."""
    return (Path("/") / file).as_uri().removeprefix("file:///")


def _flow(case: SummaryLine) -> list[dict[str, Any]]:
    """The actions of the trace, the step that failed, and finally the property that is false."""
    result = case.result
    if result is None or result.violation is None or result.subject is None:
        return []
    model, violation = result.subject, result.violation
    steps = [_step(model, entry, number) for number, entry in enumerate(violation.trace, 1)]
    if violation.failed_step is not None:
        steps.append(_location(action_location(model, violation.failed_step.action), violation.failed_step))
    end = {"location": {"physicalLocation": _physical(case.place), "message": {"text": case.text}}}
    located = [step for step in steps if step is not None]
    return [*located, {**end, "importance": "essential", "executionOrder": len(located) + 1}]


def _step(model: Model, entry: TraceState, number: int) -> dict[str, Any] | None:
    found = _location(action_location(model, entry.step.action), entry.step)
    if found is not None:
        names = model.variable_types
        found["executionOrder"] = number
        found["state"] = {name: {"text": show(value)} for name, value in zip(names, entry.state, strict=True)}
    return found


def _location(at: SourceLocation | None, step: Step) -> dict[str, Any] | None:
    if at is None:
        return None
    return {"location": {"physicalLocation": _physical(at), "message": {"text": show_step(step)}}}
