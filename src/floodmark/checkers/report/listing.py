"""Lists the specs, and describes the parts of a model."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from floodmark.checkers.liveness.assumptions import assumptions_of
from floodmark.checkers.project.paths import shown_line
from floodmark.checkers.project.spec import Spec
from floodmark.checkers.verdict.check import Check
from floodmark.language.model import Model, sized
from floodmark.language.plurals import counted
from floodmark.language.source import source_of
from floodmark.language.types import Type, growing
from floodmark.language.widths import FIRST_WIDTHS


def listing(spec: Spec) -> Iterator[str]:
    """A spec and its known-bad designs."""
    title = f"  {spec.title}" if spec.title else ""
    yield f"{spec.name}  {spec.model}  {spec.tier}{title}"
    for flawed in spec.flawed:
        tier = spec.tier_of(flawed)
        yield f"    {flawed.name}  breaks {flawed.property}{'' if tier == spec.tier else f'  {tier}'}"


def description(check: Check) -> Iterator[str]:
    """A model's variables with types and bits, constants, actions, rules and properties."""
    cls, model = check.cls(), check.model()
    kinds = sized(model, FIRST_WIDTHS).variable_types
    more = " or more" if any(any(growing(kind)) for kind in kinds.values()) else ""
    yield f"{check.spec.name}: {cls.__name__}  {_summary(cls)}"
    yield "constants"
    yield from _table([(name, str(value), "") for name, value in model.constant_values.items()])
    yield f"variables ({counted(sum(kind.bits for kind in kinds.values()), 'bit')}{more})"
    yield from _table(variables_of(model))
    for kind, heading in (("initial", "initial"), ("action", "actions"), ("rule", "rules"), ("boundary", "boundary")):
        methods = cls.methods(kind)
        if methods:
            yield heading
            yield from _table([(_signature(name, method), _summary(method), "") for name, method in methods.items()])
    assumed = assumptions_of(model, check.spec.fairness).by_action.values()
    if assumed:
        yield "fairness"
        yield from (f"  {assumption}" for assumption in assumed)
    yield "properties"
    found = check.spec.properties(cls)
    places = {name: shown_line(it.file, it.line) for name, it in found.items()}
    yield from _table([(f"{it.name} ({it.kind})", places[it.name], _first(it.doc)) for it in found.values()])


def variables_of(model: Model) -> list[tuple[str, str, str]]:
    """The variables of a model: name, type, and size."""
    kinds = sized(model, FIRST_WIDTHS).variable_types
    return [(name, str(kind), _bits(kind)) for name, kind in kinds.items()]


def _bits(kind: Type) -> str:
    """The bits of a variable. A variable with a container without a capacity may become wider."""
    return counted(kind.bits, "bit") + (" or more" if any(growing(kind)) else "")


def _table(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(2)]
    for name, middle, last in rows:
        yield f"  {name:<{widths[0]}}  {middle:<{widths[1]}}  {last}".rstrip()


def _signature(name: str, method: Callable[..., Any]) -> str:
    arguments = source_of(method).tree.args.args[1:]
    shown_arguments = [f"{it.arg}: {ast.unparse(it.annotation)}" if it.annotation else it.arg for it in arguments]
    return f"{name}({', '.join(shown_arguments)})"


def _summary(subject: type[Model] | Callable[..., Any]) -> str:
    return _first(subject.__doc__ or "")


def _first(doc: str) -> str:
    """The first sentence or line of a docstring."""
    return doc.strip().split("\n")[0]
