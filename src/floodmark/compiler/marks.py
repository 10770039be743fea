"""Marks the evaluated parts of the model: the lines, branches, guards, arguments and values of coverage.

The graph of an action or a property is rebuilt with ``Marked`` nodes, each of which sets the numbers of its marks. A
mark counts once for each completed step, and once for each state or step on which a property was evaluated, however
often the line ran in it. Counts therefore do not depend on the number of rounds of a loop.

- A line is a statement of the source, named by its first line. The graph knows the place of each statement and each
  expression; an expression whose statement differs from that of the surrounding expression belongs to a called
  function.
- Branches are those of the source: ``if``, ``x if c else y``, the operands of ``and`` and ``or`` (which one decided),
  the conditions of comprehensions, the premise of ``implies``. A condition that the model's constants decide is no
  branch.
- ``any`` and ``all`` count up to the deciding element, even for a list that CPython builds first; elements of a plain
  set are in the order of their codes.
- A guard counts each choice of parameters that it is the first to refuse. Parameters are chosen one after the other, in
  their order; a guard is evaluated, in the order of the source, as soon as the parameters that it depends on are
  chosen. A guard from which a parameter is drawn refuses nothing: only the members of its set are tried.

The rebuilt graph is separate from the real one, which alone determines the model's behaviour.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from floodmark.compiler import ir
from floodmark.compiler.guard_order import GuardOrder, plan
from floodmark.compiler.program import conjuncts
from floodmark.compiler.sizes import size_bound
from floodmark.language.types import (
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from floodmark.language.universe import universe

MarkKind = Literal["line", "if", "choice", "and", "or", "condition", "premise", "guard", "require", "argument", "value"]
MAX_VALUES = 16
"""The maximum number of distinguished values of one part of a variable or a parameter; larger types are not counted."""
MAX_PARTS = 64
"""The maximum number of distinguished values of one variable or one parameter."""

Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class CoverageMark:
    """The subject of a count: a place in the source, one of its outcomes, and for a value its text."""

    kind: MarkKind
    file: str
    line: int
    column: int
    outcome: bool | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class MarkedAction:
    """An action whose guards count their refusals, in ``order``, and whose ``body`` marks everything that a step takes.
    """

    name: str
    at: ir.Position
    order: GuardOrder
    body: list[ir.Stmt]
    marks: tuple[CoverageMark, ...]


@dataclass(frozen=True, slots=True)
class MarkedPredicate:
    """A property, or with the kind "values" a pseudo-property that marks the values of the variables."""

    name: str
    kind: str
    at: ir.Position
    value: ir.Expr
    marks: tuple[CoverageMark, ...]


def marked_action(action: ir.Action) -> MarkedAction:
    whole = ir.Inline(ir.BOOL, action.at, action.body, None)
    marking = _Marking(next_slot=_last_slot([*action.parameters, *action.guards, whole]))
    order = plan(action, in_order=True)
    of_guards = {id(guard): place for guard, place in zip(action.guards, action.places, strict=True)}

    def refusing(guards: list[ir.Expr]) -> list[ir.Expr]:
        return [marking.refusing(guard, of_guards[id(guard)], "guard") for guard in guards]

    order.first = refusing(order.first)
    for choice in order.choices:
        choice.guards = refusing(choice.guards)
    body: list[ir.Stmt] = []
    for guard, place in zip(action.guards, action.places, strict=True):
        body += marking.block([ir.Require(place, guard)], is_counted=True)
    for parameter in action.parameters:
        body += marking.values_of(parameter, parameter.name, action.at, "argument")
    body += marking.same_identifiers(action)
    body += marking.block(action.body)
    return MarkedAction(action.name, action.at, order, body, marking.marks)


def marked_predicate(predicate: ir.Predicate) -> MarkedPredicate:
    """A property, read without its premises, with its marks."""
    marking = _Marking(next_slot=_last_slot([predicate.value]))
    value = marking.expression(predicate.value, None)
    return MarkedPredicate(predicate.name, predicate.kind, predicate.at, value, marking.marks)


def marked_values(variables: dict[str, Type], places: dict[str, ir.Position]) -> MarkedPredicate:
    """The pseudo-property that marks the values of a state's variables."""
    marking = _Marking(next_slot=0)
    body: list[ir.Stmt] = []
    for name, kind in variables.items():
        at = places[name]
        body += marking.values_of(ir.StateVar(kind, at, name, "new"), name, at, "value")
    at = next(iter(places.values()), ir.Position("", 0))
    result = marking.fresh(ir.BOOL, "noted", at)
    whole = ir.Inline(ir.BOOL, at, [*body, ir.SetLocal(at, result, ir.Const(ir.BOOL, at, True))], result)
    return MarkedPredicate("", "values", at, whole, marking.marks)


def _last_slot(parts: Sequence[ir.Expr]) -> int:
    nodes = (node for part in parts for node in ir.walk(part))
    return max((node.slot for node in nodes if isinstance(node, ir.Local)), default=0)


@cache
def _statements(file: str) -> dict[int, int]:
    """For each line of a file, the first line of its statement; for a compound statement, that of its head. Definitions
    and bare strings are excluded."""
    try:
        with open(file, encoding="utf-8") as opened:
            tree = ast.parse(opened.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[int, int] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        inner = getattr(node, "body", None)
        last = max(node.lineno, inner[0].lineno - 1) if isinstance(inner, list) else node.end_lineno or node.lineno
        counts = not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Pass)
        for line in range(node.lineno, last + 1):
            if counts:
                found[line] = max(node.lineno, found.get(line, 0))
    return found


def line_of(at: ir.Position) -> Line | None:
    """The file and the first line of the statement that contains a position."""
    first = _statements(at.file).get(at.line)
    return None if first is None else (at.file, first)


class _Marking:
    """The marks of one action or property, and its graph with them."""

    def __init__(self, next_slot: int) -> None:
        self._numbers: dict[CoverageMark, int] = {}
        self._known: dict[tuple[int, Line | None, bool], ir.Expr] = {}
        self._functions: dict[int, ir.SharedFunction] = {}
        self._kept: list[Any] = []
        self._slot = next_slot

    @property
    def marks(self) -> tuple[CoverageMark, ...]:
        return tuple(self._numbers)

    def fresh(self, kind: Type, name: str, at: ir.Position) -> ir.Local:
        self._slot += 1
        return ir.Local(kind, at, self._slot, name)

    def _number(self, kind: MarkKind, at: ir.Position, outcome: bool | None = None, text: str = "") -> int:
        mark = CoverageMark(kind, at.file, at.line, at.column, outcome, text)
        return self._numbers.setdefault(mark, len(self._numbers))

    def _line(self, line: Line) -> int:
        return self._number("line", ir.Position(*line))

    def _note(self, at: ir.Position, value: ir.Expr) -> ir.Stmt:
        """A statement that evaluates a marked expression, and has no other effect."""
        return ir.SetLocal(at, self.fresh(ir.BOOL, "noted", at), value)

    # Counted where it is false.

    def refusing(self, guard: ir.Expr, at: ir.Position, kind: MarkKind) -> ir.Expr:
        """A guard that counts each time that it is false."""
        return ir.Marked(ir.BOOL, guard.at, guard, false=self._number(kind, at, False), counted=True)

    # Lines and branches.

    def block(self, body: Sequence[ir.Stmt], is_counted: bool = False) -> list[ir.Stmt]:
        """Statements that set the marks of their lines; ``is_counted`` is whether the refusals of a ``require`` have
        been counted before."""
        marked: list[ir.Stmt] = []
        before: Line | None = None
        for statement in body:
            line = line_of(statement.at)
            if line is not None and line != before:
                true = ir.Const(ir.BOOL, statement.at, True)
                mark = ir.Marked(ir.BOOL, statement.at, true, reached=self._line(line))
                marked.append(self._note(statement.at, mark))
            before = line
            marked.append(self._statement(statement, line, is_counted))
        return marked

    def _statement(self, node: ir.Stmt, line: Line | None, is_counted: bool) -> ir.Stmt:
        if isinstance(node, ir.Require):
            parts = [(self.expression(part, line, must=True), at) for part, at in conjuncts(node.condition, node.at)]
            asked = [part if is_counted else self.refusing(part, at, "require") for part, at in parts]
            return ir.Require(node.at, ir.And(ir.BOOL, node.at, asked) if len(asked) > 1 else asked[0])
        made = cast(ir.Stmt, self._inside(node, line))
        if isinstance(made, ir.If):
            made.condition = self._branches(made.condition, "if", node.at)
        return made

    def _branches(self, condition: ir.Expr, kind: MarkKind, at: ir.Position) -> ir.Expr:
        yes, no = (self._number(kind, at, outcome) for outcome in (True, False))
        return ir.Marked(ir.BOOL, condition.at, condition, true=yes, false=no)

    def expression(self, node: ir.Expr, line: Line | None, must: bool = False) -> ir.Expr:
        """An expression in a statement of a certain line, with its marks.

        An expression that ``must`` be true is required: if it is false there is no step, so the outcome of an operand
        that makes it false cannot be missing.
        """
        if isinstance(node, ir.Local | ir.Const):  # these are where they were bound
            return node
        known = self._known.get((id(node), line, must))
        if known is not None:
            return known
        own = line_of(node.at)
        made = self._required(node, own or line) if must else self._unconstrained(node, own or line)
        if own is not None and own != line:
            made = ir.Marked(node.type, node.at, made, reached=self._line(own))
        self._kept.append(node)  # so that no other node gets its identity
        self._known[id(node), line, must] = made
        return made

    def _unconstrained(self, node: ir.Expr, line: Line | None) -> ir.Expr:
        """An expression that may be true or false."""
        made: ir.Expr = self._inside(node, line)
        match made:
            case ir.Inline():
                made.remembered, made.of_state, made.images = [], None, []  # a cached result would not be counted
            case ir.And(operands=operands, places=places) if len(places) == len(operands):
                made.operands = self._operands(operands, places, "and")
            case ir.Or(operands=operands, places=places) if len(places) == len(operands):
                made.operands = self._operands(operands, places, "or")
            case ir.Choose(condition=condition, places=[at]):
                made.condition = self._branches(condition, "choice", at)
            case ir.Implies(premise=premise):
                made.premise = self._branches(premise, "premise", node.at)
        return made

    def _required(self, node: ir.Expr, line: Line | None) -> ir.Expr:
        """An expression that is true in every step that is completed."""
        match node:
            case ir.And(operands=operands):
                return ir.And(ir.BOOL, node.at, [self.expression(operand, line, must=True) for operand in operands])
            case ir.Or(operands=operands, places=places) if len(places) == len(operands):
                parts = [self.expression(operand, line) for operand in operands]
                return ir.Or(ir.BOOL, node.at, self._operands(parts, places, "or", must=True))
            case ir.Reduce(kind="all", generators=generators, body=body):
                over = [self._part(generator, line) for generator in generators]
                return ir.Reduce(ir.BOOL, node.at, "all", over, self.expression(body, line, must=True))
        return self._unconstrained(node, line)

    def _operands(
        self, operands: list[ir.Expr], places: list[ir.Position], kind: Literal["and", "or"], must: bool = False
    ) -> list[ir.Expr]:
        """The operands with marks: for ``and`` of those that are false, for ``or`` of those that are true; also of the
        last operand with the other value, unless the whole ``must`` be true."""
        marked: list[ir.Expr] = []
        for number, (operand, at) in enumerate(zip(operands, places, strict=True)):
            decides = kind == "or"
            marks = {decides: self._number(kind, at, decides)}
            if number + 1 == len(operands) and not must:
                marks[not decides] = self._number(kind, at, not decides)
            marked.append(ir.Marked(ir.BOOL, operand.at, operand, true=marks.get(True), false=marks.get(False)))
        return marked

    def _inside(self, node: Any, line: Line | None) -> Any:
        """A copy of a node whose parts are marked."""
        made = copy.copy(node)
        for name in _slots(node.__class__):
            setattr(made, name, self._part(getattr(node, name), line))
        return made

    def _part(self, value: Any, line: Line | None) -> Any:
        match value:
            case ir.Expr():
                return self.expression(value, line)
            case [ir.Statement(), *_]:
                return self.block(value)
            case list():
                return [self._part(item, line) for item in value]
            case dict():
                return {key: self._part(item, line) for key, item in value.items()}
            case ir.Generator(variable=variable, domain=domain, conditions=conditions, places=places):
                over = self._part(domain, line)
                asked = [self.expression(condition, line) for condition in conditions]
                if len(places) == len(asked):
                    asked = [self._branches(it, "condition", at) for it, at in zip(asked, places, strict=True)]
                return ir.Generator(variable, over, asked)
            case ir.Range(low=low, high=high, step=step):
                return ir.Range(self.expression(low, line), self.expression(high, line), step)
            case ir.ItemStep(container=container, key=key):
                return ir.ItemStep(container, self.expression(key, line))
            case ir.SharedFunction():
                return self._function(value)
        return value

    def _function(self, shared: ir.SharedFunction) -> ir.SharedFunction:
        known = self._functions.get(id(shared))
        if known is None:
            known = self._functions[id(shared)] = copy.copy(shared)
            self._kept.append(shared)
            known.body = self.block(shared.body)
        return known

    # Values.

    def values_of(self, value: ir.Expr, text: str, at: ir.Position, kind: MarkKind) -> list[ir.Stmt]:
        """Statements that mark the value of a variable or a parameter, if its values are few enough."""
        return list(self._values(value, text, at, kind, MAX_PARTS))

    def _values(self, value: ir.Expr, text: str, at: ir.Position, kind: MarkKind, room: int) -> Iterator[ir.Stmt]:
        of = value.type
        match of:
            case BoolType() | EnumType() | IntType() if of.codes <= min(MAX_VALUES, room):
                for each in universe(of):
                    same = ir.Equal(ir.BOOL, at, value, ir.Const(of, at, each))
                    yield self._note_value(same, f"{text} = {_name(each)}", at, kind)
            case OptionalType(inner=inner):
                none = ir.IsNone(ir.BOOL, at, value)
                yield self._note_value(none, f"{text} = None", at, kind)
                number = self._number(kind, at, None, f"{text} is not None")
                yield self._note(at, ir.Marked(ir.BOOL, at, none, false=number))
                if isinstance(inner, BoolType | EnumType | IntType) and inner.codes <= min(MAX_VALUES, room):
                    for each in universe(inner):
                        same = ir.Equal(ir.BOOL, at, value, ir.Const(of, at, each))
                        yield self._note_value(same, f"{text} = {_name(each)}", at, kind)
            case SetType() | SeqType() | BagType() if size_bound(of) < min(MAX_VALUES, room):
                most = IntType(0, max(size_bound(of), 0))
                for size in range(most.high + 1):
                    same = ir.Equal(ir.BOOL, at, ir.Size(most, at, value), ir.Const(most, at, size))
                    yield self._note_value(same, f"len({text}) = {size}", at, kind)
            case MapType(key=key, value=entry):
                each_key = self.fresh(key, "key", at)
                body = list(self._values(ir.MapGet(entry, at, value, each_key), f"{text}[...]", at, kind, room))
                if body:
                    yield ir.For(at, each_key, ir.Universe(key), body)
            case RecordType() if not isinstance(of, UnionType):
                for name, part in of.fields:
                    yield from self._values(
                        ir.Field(part, at, value, name), f"{text}.{name}", at, kind, room // len(of.fields)
                    )

    def _note_value(self, true: ir.Expr, text: str, at: ir.Position, kind: MarkKind) -> ir.Stmt:
        return self._note(at, ir.Marked(ir.BOOL, at, true, true=self._number(kind, at, None, text)))

    def same_identifiers(self, action: ir.Action) -> Iterator[ir.Stmt]:
        """Statements that mark which parameters are the same identifier."""
        for number, one in enumerate(action.parameters):
            for other in action.parameters[number + 1 :]:
                if isinstance(one.type, IdentifierType) and one.type == other.type:
                    same = ir.Equal(ir.BOOL, action.at, one, other)
                    yes, no = (
                        self._number("argument", action.at, None, f"{one.name} {sign} {other.name}")
                        for sign in ("==", "!=")
                    )
                    yield self._note(action.at, ir.Marked(ir.BOOL, action.at, same, true=yes, false=no))


def _name(value: Any) -> str:
    return getattr(value, "name", None) or repr(value)


@cache
def _slots(kind: type) -> tuple[str, ...]:
    names = [name for cls in reversed(kind.__mro__) for name in getattr(cls, "__slots__", ())]
    return tuple(name for name in names if name not in ("type", "at", "places"))
