"""The coverage of a model in CPython: its source is rewritten so that it records each line and branch, and then run.

Nothing here knows the expression graph. States come from a plain breadth-first search, and are packed as in compiled
code, so that both use the same states.
"""

from __future__ import annotations

import ast
import re
import sys
import types
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floodmark.compiler.layout import Layout, lay_out
from floodmark.language import reference
from floodmark.language.enabledness import levels_of
from floodmark.language.errors import SourceError, ValueOutOfRange
from floodmark.language.members import kind_of
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, domain_of, evaluated, guard_names, parameter_types
from floodmark.language.source import source_of
from floodmark.language.types import Type
from floodmark.language.universe import universe
from floodmark.language.values import Map, admit, running

Taken = tuple[str, int, int, bool | None]
"""The kind of a place, its line and column, and what was true there."""
_NOTE = "note_"


@dataclass
class Oracle:
    """The counts of one model: of each part and place, and of each part how often it was complete."""

    counts: Counter[tuple[str, Taken]] = field(default_factory=Counter)
    whole: Counter[str] = field(default_factory=Counter)
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    packed: list[tuple[int, ...]] = field(default_factory=list)
    now: set[Taken] = field(default_factory=set)
    refused: set[Taken] = field(default_factory=set)

    def line(self, line: int) -> None:
        self.now.add(("line", line, 0, None))

    def branch(self, kind: str, line: int, column: int, value: Any) -> Any:
        """A condition with both outcomes."""
        self.now.add((kind, line, column, bool(value)))
        return value

    def operand(self, kind: str, line: int, column: int, last: bool, value: Any) -> Any:
        """An operand of ``and`` or ``or``: the outcome that decides, and any outcome of the last one."""
        if last or bool(value) == (kind == "or"):
            self.now.add((kind, line, column, bool(value)))
        return value

    def asked(self, line: int, column: int, value: Any) -> Any:
        """A part of what is required."""
        if not value:
            self.refused.add(("require", line, column, False))
        return value

    def complete(self, part: str) -> None:
        self.whole[part] += 1
        self.counts.update((part, taken) for taken in self.now)


def covered_by_cpython(
    path: Path, name: str, most: int, counted_guards: Mapping[str, set[tuple[int, int]]]
) -> tuple[Oracle, Layout]:
    """The coverage by the first states of the model ``name``, whose module is at ``path``.

    ``counted_guards`` are the lines and columns of the guards of each action that count; others draw a parameter.
    """
    oracle = Oracle()
    module = types.ModuleType(f"{path.stem}_noted")
    vars(module)[_NOTE] = oracle
    tree = _Noting().visit(ast.parse(path.read_text()))
    sys.modules[module.__name__] = module
    try:
        exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), vars(module))
        model = getattr(module, name)()
        layout = lay_out(model.variable_types)
        for state in _first_states(model, most):
            oracle.packed.append(layout.pack(state))
            _cover(model, state, oracle, counted_guards)
    finally:
        del sys.modules[module.__name__]
    return oracle, layout


class _Noting(ast.NodeTransformer):
    """Rewrites functions so that they note what they take."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = self._block(node.body)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not isinstance(statement, ast.Pass) and not text:
                made.append(ast.Expr(_call("line", statement.lineno)))
            made.append(self.visit(statement))
        return made

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = _call("branch", "if", node.lineno, node.col_offset, self.visit(node.test))
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        node.iter = self.visit(node.iter)
        node.body = self._block(node.body)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        place = node.lineno, node.col_offset
        self.generic_visit(node)
        node.test = _call("branch", "choice", *place, node.test)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        kind = "and" if isinstance(node.op, ast.And) else "or"
        last = len(node.values) - 1
        node.values = [
            _call("operand", kind, value.lineno, value.col_offset, place == last, self.visit(value))
            for place, value in enumerate(node.values)
        ]
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.iter = self.visit(node.iter)
        node.ifs = [_call("branch", "condition", it.lineno, it.col_offset, self.visit(it)) for it in node.ifs]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        match node.value:
            case ast.Call(func=ast.Name(id="require"), args=[condition]):
                node.value.args = [self._required(condition, node)]
                return node
        self.generic_visit(node)
        return node

    def _required(self, condition: ast.expr, at: ast.expr | ast.stmt) -> ast.expr:
        if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
            return ast.BoolOp(condition.op, [self._required(value, value) for value in condition.values])
        return _call("asked", at.lineno, at.col_offset, self.visit(condition))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        place = node.lineno, node.col_offset
        self.generic_visit(node)
        match node:  # the rest of the list decides nothing, and is not counted
            case ast.Call(func=ast.Name(id="any" | "all"), args=[ast.ListComp() | ast.SetComp() as made]):
                node.args = [ast.GeneratorExp(made.elt, made.generators)]
        if isinstance(node.func, ast.Name) and node.func.id == "implies" and len(node.args) == 2:
            node.args[0] = _call("branch", "premise", *place, node.args[0])
        return node


def _call(name: str, *given: Any) -> ast.Call:
    arguments = [each if isinstance(each, ast.expr) else ast.Constant(each) for each in given]
    return ast.Call(ast.Attribute(ast.Name(_NOTE, ast.Load()), name, ast.Load()), arguments, [])


def _first_states(model: Model, most: int) -> list[State]:
    """The states that a breadth-first search finds first, up to where the model fails."""
    found: dict[State, None] = {}
    for _, state in reference.initial_states(model):
        if reference.within_boundary(model, state):
            found[state] = None
    for state in (waiting := list(found)):
        try:
            for _, after in reference.successors(model, state):
                if after not in found and len(found) < most and reference.within_boundary(model, after):
                    found[after] = None
                    waiting.append(after)
        except SourceError:
            continue
    return list(found)


def _cover(
    model: Model, state: State, oracle: Oracle, counted_guards: Mapping[str, set[tuple[int, int]]]
) -> None:
    _say(oracle, "states", dict(zip(model.variable_types, state, strict=True)))
    properties = {
        name: value for name, value in ((name, getattr(type(model), name)) for name in dir(type(model)))
        if kind_of(value) in ("invariant", "reachable", "transition")
    }
    for name, function in properties.items():
        if kind_of(function) != "transition":
            _evaluate(model, oracle, f"{kind_of(function)} {name}", function, state)
    for name in type(model).methods("action"):
        for step in _choices(model, state, name, oracle, counted_guards[name]):
            oracle.now, oracle.refused = set(), set()
            try:
                after = reference.fire(model, state, step)
            except SourceError:
                continue
            if after is None:
                oracle.counts.update((f"action {name}", taken) for taken in oracle.refused)
                continue
            oracle.complete(f"action {name}")
            _say(oracle, f"action {name}", step.arguments)
            for other, function in properties.items():
                if kind_of(function) == "transition":
                    _evaluate(model, oracle, f"transition {other}", function, state, after)


def _evaluate(model: Model, oracle: Oracle, part: str, function: Any, *states: State) -> None:
    oracle.now = set()
    try:
        reference.holds(model, function, *states)
    except SourceError:
        return
    oracle.complete(part)


def _choices(
    model: Model, state: State, name: str, oracle: Oracle, counted: set[tuple[int, int]]
) -> Iterator[Step]:
    """The choices of parameters that no leading guard refuses; what a guard refuses is counted."""
    method = type(model).methods("action")[name]
    kinds, seen = parameter_types(model, method), model.at(state)
    source = source_of(method)
    levels = levels_of(source, kinds)
    drawn: dict[str, ast.expr] = {}
    places = _places(source.body)
    for guard in (guard for guards in levels.guards for guard in guards):
        if places[id(guard)] not in counted:
            match guard:
                case ast.Compare(left=ast.Name(id=parameter)) if parameter in kinds:
                    drawn[parameter] = domain_of(guard, parameter)  # type: ignore[assignment]
    found: list[Step] = []

    def choose(chosen: dict[str, Any]) -> None:
        names = guard_names(model, method, chosen) | {source.parameters[0]: seen}
        for guard in levels.guards[len(chosen)]:
            place = places[id(guard)]
            if place not in counted and not _is_drawn(guard, drawn):
                continue
            try:
                with running(model):
                    true = evaluated(guard, names)
            except Exception:
                return
            if not true:
                if place in counted:
                    oracle.counts[f"action {name}", ("guard", *place, False)] += 1
                return
        if len(chosen) == len(kinds):
            found.append(Step(name, chosen))
            return
        parameter, kind = list(kinds.items())[len(chosen)]
        for value in _values(model, drawn.get(parameter), kind, names):
            choose({**chosen, parameter: value})

    choose({})
    yield from found


def _is_drawn(guard: ast.expr, drawn: Mapping[str, ast.expr]) -> bool:
    return isinstance(guard, ast.Compare) and isinstance(guard.left, ast.Name) and guard.left.id in drawn


def _values(model: Model, domain: ast.expr | None, kind: Type, names: dict[str, Any]) -> list[Any]:
    with running(model):
        if domain is None:
            return list(universe(kind))
        try:
            members = list(evaluated(domain, names))
        except Exception:
            return []
        found: list[Any] = []
        for member in members:
            with suppress(ValueOutOfRange):
                value = admit(kind, member, "a parameter")
                if value not in found:
                    found.append(value)
        return found


def _places(body: list[ast.stmt]) -> dict[int, tuple[int, int]]:
    """The position of each part of a ``require``: a part that stands alone is at its statement."""
    found: dict[int, tuple[int, int]] = {}

    def look(condition: ast.expr, at: ast.expr | ast.stmt) -> None:
        found[id(condition)] = at.lineno, at.col_offset
        if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
            for value in condition.values:
                look(value, value)

    for statement in body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition])):
                look(condition, statement)
    return found


def _say(oracle: Oracle, part: str, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        for said in set(_sayings(name, value)):
            oracle.said[part, said] += 1
    names = list(values)
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            oracle.said[part, f"{one} {'==' if values[one] == values[other] else '!='} {other}"] += 1


def _sayings(name: str, value: Any) -> Iterator[str]:
    """All texts that describe a value, whether the compiled code counts them or not."""
    yield f"{name} = {getattr(value, 'name', None) or repr(value)}"
    if value is not None:
        yield f"{name} is not None"
    if isinstance(value, Map):
        for entry in value.values():
            yield from _sayings(f"{name}[...]", entry)
    elif hasattr(value, "__len__"):
        yield f"len({name}) = {len(value)}"
    for part, inner in getattr(value, "_values", {}).items() if not isinstance(value, Map) else ():
        if isinstance(part, str):
            yield from _sayings(f"{name}.{part}", inner)


def is_identifier_pair(said: str) -> bool:
    """Whether something said is about two parameters."""
    return re.fullmatch(r"\w+ [=!]= \w+", said) is not None
