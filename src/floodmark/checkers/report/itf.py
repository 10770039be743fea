"""Counterexamples in the Informal Trace Format (Apalache's ADR-015), which other state machine tools read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any

from floodmark.checkers.part_kinds import argument_kinds, element_kind, field_kind, is_of_union
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.value_text import show
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language.model import Model
from floodmark.language.types import Type
from floodmark.language.values import Bag, Identifier, Record, Seq

_SAFE = 2**53 - 1
"""The largest integer that every JSON reader represents exactly."""


def itf(result: CheckResult) -> str:
    """The counterexample of a check as a trace object; ``#meta`` of each state names the step that led to it."""
    model, violation = result.subject, result.violation
    assert model is not None
    assert violation is not None
    meta = {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "source": result.spec,
        "spec": result.name,
        "model": result.model,
        "variant": result.variant,
        "status": "violation",
        "property": violation.property,
        "constants": result.constants,
        "description": f"reproduce: {result.reproduce}",
    }
    states = [_state(model, entry, index) for index, entry in enumerate(violation.trace)]
    whole: dict[str, Any] = {"#meta": meta, "vars": list(model.variable_types), "states": states}
    if violation.loop is not None:
        whole["loop"] = violation.loop
    return json.dumps(whole, indent=1) + "\n"


def file_name(result: CheckResult) -> str:
    """The name of a check's file: ``alter_isr-core-AssumesProposedIsr.itf.json``."""
    name = f"{result.name}-{result.design()}"
    return re.sub(r"[^\w.@-]+", "-", name) + ".itf.json"


def _state(model: Model, entry: TraceState, index: int) -> dict[str, Any]:
    kinds = argument_kinds(model, entry.step)
    arguments = {name: expression(value, kinds.get(name)) for name, value in entry.step.arguments.items()}
    values = zip(model.variable_types.items(), entry.state, strict=True)
    return {
        "#meta": {"index": index, "action": entry.step.action, "arguments": arguments},
        **{name: expression(value, kind) for (name, kind), value in values},
    }


def expression(value: Any, kind: Type | None = None) -> Any:
    """A value as an ITF expression: identifiers and members of enums are strings, None is the string "None".

    A record whose type is a union is encoded as Apalache and Quint encode a variant: its class as ``tag``, and the
    record as ``value``.
    """
    match value:
        case bool() | str():
            return value
        case int():
            return value if abs(value) <= _SAFE else {"#bigint": str(value)}
        case None:
            return "None"
        case Enum():
            return value.name
        case Identifier():
            return show(value)
        case Record():
            fields = {name: expression(item, field_kind(kind, value, name)) for name, item in value._values.items()}
            return {"tag": type(value).__name__, "value": fields} if is_of_union(kind) else fields
        case Mapping():
            return {"#map": [[expression(key), expression(item, element_kind(kind))] for key, item in value.items()]}
        case AbstractSet():
            return {"#set": [expression(item, element_kind(kind)) for item in value]}
        case Seq() | Bag() | list():
            return [expression(item, element_kind(kind)) for item in value]
        case tuple():
            return {"#tup": [expression(item) for item in value]}
    return {"#unserializable": repr(value)}
