"""Recognises loops whose iterations commute: the result is the same in any order.

Two rounds may be exchanged if neither reads a change of the other, and if their changes commute. Each variable that the
body of a loop assigns therefore has to be

- entered at the loop's own variable: every read or assignment in the body is at that key, so that rounds with different
  values have entries of their own;
- gathered: every assignment adds to it by one and the same commutative operation (``|``, ``&``, ``max``, ``+`` of
  something never negative, one more in a bag ...), and nothing else in the body reads it;
- a variable of the round, which has no value before it.

An operation of the second kind is monotone: if the last value fits its type, all earlier ones did, so it fails in every
order or in none. A failure anywhere is an error in any order, and so is a ``require``, as long as the other cannot
happen in the same loop. A loop with an early exit must be a pure search: it gathers nothing, some round leaves it or
none does, and all its exits are equal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from floodmark.compiler import ir
from floodmark.compiler.failures import can_fail, may_refuse
from floodmark.compiler.layout import encode
from floodmark.language.types import BagType, IntType, MapType, SetType

Name = str | int
"""A state variable, or the slot of a local variable."""

_READ = "read"


def why_rounds_keep_places(
    loop: ir.For, part: ir.Action | ir.Predicate, never_fails: bool, must_be_true: bool
) -> tuple[ir.Position, str] | None:
    """The reason why the rounds of a loop may not be exchanged, and its location; None if they may.

    ``part`` is the surrounding action or predicate, perhaps known never to fail. If the result of the loop has to be
    true, ``return False`` and a failure are equivalent exits.
    """
    inside = list(nodes(loop.body))
    inline = ir.Inline(ir.BOOL, loop.at, loop.body, None)
    exits = list(_exits(loop.body))
    if exits:
        changes = [node for node in inside if isinstance(node, ir.SetVariable)]
        if changes or not _alike(exits):
            return exits[0].at, "which of them comes first decides"
        fails = not never_fails and can_fail(inline) and not (must_be_true and all(_is_false(way) for way in exits))
        if fails or any(isinstance(node, ir.Require | ir.Witness) for node in inside):
            return exits[0].at, "an element before the first that ends it can fail, or is a premise"
    requires = [node for node in inside if isinstance(node, ir.Require)]
    if requires and can_fail(inline):
        return requires[0].at, "a round can fail where another has a require that is false"
    return _Accesses(loop, inside, part).conflict(may_gather=not exits)


class _Accesses:
    """The effect of a loop's body on each variable that it assigns."""

    def __init__(self, loop: ir.For, inside: list[Any], part: ir.Action | ir.Predicate) -> None:
        self.loop = loop
        self.assigned_inside = _assigned(inside)
        everything = [*part.guards, *part.body] if isinstance(part, ir.Action) else part.value
        self.assigned_anywhere = _assigned(nodes(everything))
        self.paths: dict[Name, list[tuple[Any, ...]]] = defaultdict(list)
        self.ways: dict[Name, set[str]] = defaultdict(set)
        self.called: set[int] = set()
        self._look(loop.body)

    def conflict(self, may_gather: bool) -> tuple[ir.Position, str] | None:
        """A variable through which one round can observe another, or the number of rounds."""
        found = []
        for name, places in self.assigned_inside.items():
            if may_gather and len(self.ways[name]) == 1 and _READ not in self.ways[name]:
                continue
            if isinstance(name, str):
                apart = self._entered_at_own_key(name)
            else:
                apart = len(places) == len(self.assigned_anywhere[name])
            if not apart:
                first = min(places, key=lambda place: place.at.line)
                shown = name if isinstance(name, str) else first.target.name
                found.append((first.at, f"a round reads or undoes another round's change of {shown}"))
        return min(found, key=lambda conflict: conflict[0].line, default=None)

    def _entered_at_own_key(self, name: str) -> bool:
        paths = self.paths[name]
        return any(
            all(len(path) > depth and path[depth] == self.loop.variable.slot for path in paths)
            for depth in range(min(len(path) for path in paths))
        )

    def _look(self, value: Any) -> None:
        """Records every read and every assignment in statements or expressions."""
        match value:
            case list() | tuple():
                for item in value:
                    self._look(item)
            case dict():
                self._look(list(value.values()))
            case ir.SetVariable(variable=variable, path=path, value=given):
                self._look([step.key for step in path if isinstance(step, ir.ItemStep)])
                self.paths[variable].append(self._steps(path))
                self._assign(variable, given, not path)
            case ir.SetLocal(target=target, value=given):
                self._assign(target.slot, given, True)
            case ir.Local(slot=slot):
                self.ways[slot].add(_READ)
            case ir.StateVar() | ir.MapGet() | ir.Field() | ir.SeqGet():
                self._access(value)
            case ir.SharedFunction(body=body):
                if id(value) not in self.called:  # another call of it reads and assigns the same
                    self.called.add(id(value))
                    self._look(body)
            case ir.Expr() | ir.Statement() | ir.Generator() | ir.Range():
                for name in type(value).__slots__:
                    self._look(getattr(value, name))

    def _access(self, node: ir.Expr) -> None:
        """A read of a state variable, or of a part of one."""
        keys: list[ir.Expr] = []
        steps: list[Any] = []
        while True:
            match node:
                case ir.MapGet(map=inner, key=key):
                    keys.append(key)
                    steps.append(_slot(key))
                case ir.SeqGet(seq=inner, index=index):
                    keys.append(index)
                    steps.append(None)
                case ir.Field(record=inner):
                    steps.append(None)
                case _:
                    break
            node = inner
        self._look(keys)
        if isinstance(node, ir.StateVar):
            if node.which == "new":
                self.paths[node.name].append(tuple(reversed(steps)))
                self.ways[node.name].add(_READ)
        else:
            self._look(node)

    @staticmethod
    def _steps(path: list[ir.FieldStep | ir.ItemStep]) -> tuple[Any, ...]:
        return tuple(
            _slot(step.key) if isinstance(step, ir.ItemStep) and isinstance(step.container, MapType) else None
            for step in path
        )

    def _assign(self, name: Name, value: ir.Expr, whole: bool) -> None:
        way, others = _gathers(name, value) if whole else (None, [value])
        if way is None:
            self.ways[name].add(_READ)
            self._look(value)
            return
        if isinstance(name, str):
            self.paths[name].append(())
        self.ways[name].add(way)
        self._look(others)


def _gathers(name: Name, value: ir.Expr) -> tuple[str | None, list[ir.Expr]]:
    """The operation by which an assignment adds to a variable, and its operands."""
    if isinstance(_plain(value), ir.Const):
        return _constant_text(value), []
    match _unconverted(value):
        case ir.SetBinary(op="|" | "&" as op, left=left, right=right):
            return _one_is(name, op, [left, right])
        case ir.SetBinary(op="-", left=left, right=right) if _is(name, left):
            return "-", [right]
        case ir.Arithmetic(op="+", left=left, right=right):
            way, others = _one_is(name, "+", [left, right])
            return (None, others) if way is None else (_direction(others[0], 1), others)
        case ir.Arithmetic(op="-", left=left, right=right) if _is(name, left):
            return _direction(right, -1), [right]
        case ir.Extremum(largest=largest, operands=operands):
            return _one_is(name, "max" if largest else "min", operands)
        case ir.And(operands=operands) | ir.Or(operands=operands):
            way, others = _one_is(name, type(value).__name__, operands)
            return (None, others) if any(can_fail(other) or may_refuse(other) for other in others) else (way, others)
        case ir.BagChange(bag=bag, item=item, remove=remove) if _is(name, bag):
            return "remove" if remove else "add", [item]
    return None, [value]


def _one_is(name: Name, way: str, operands: list[ir.Expr]) -> tuple[str | None, list[ir.Expr]]:
    others = [operand for operand in operands if not _is(name, operand)]
    return (way if len(others) == len(operands) - 1 else None), others


def _is(name: Name, node: ir.Expr) -> bool:
    match _unconverted(node):
        case ir.StateVar(name=variable, which="new"):
            return variable == name
        case ir.Local(slot=slot):
            return slot == name
    return False


def _direction(amount: ir.Expr, sign: int) -> str | None:
    """Whether adding ``sign * amount`` only ever increases a number, or only ever decreases it."""
    if isinstance(amount.type, IntType) and amount.type.low >= 0:
        return "up" if sign > 0 else "down"
    if isinstance(amount.type, IntType) and amount.type.high <= 0:
        return "down" if sign > 0 else "up"
    return None


def _unconverted(node: ir.Expr) -> ir.Expr:
    """The operand of a conversion to a wider or narrower integer, set or bag: the same value, if it fits."""
    while isinstance(node, ir.Convert) and isinstance(node.type, IntType | SetType | BagType):
        node = node.operand
    return node


def _slot(key: ir.Expr) -> int | None:
    return key.slot if isinstance(key, ir.Local) else None


def _assigned(nodes: Any) -> dict[Name, list[Any]]:
    found: dict[Name, list[Any]] = defaultdict(list)
    for node in nodes:
        match node:
            case ir.SetVariable(variable=variable):
                found[variable].append(node)
            case ir.SetLocal(target=target):
                found[target.slot].append(node)
    return found


def _exits(body: list[ir.Stmt], own: bool = True) -> Iterator[ir.Return | ir.Break]:
    """The statements that leave a loop early."""
    for statement in body:
        match statement:
            case ir.Return():
                yield statement
            case ir.Break() if own:
                yield statement
            case ir.If(then=then, otherwise=otherwise):
                yield from _exits(then, own)
                yield from _exits(otherwise, own)
            case ir.For(body=inner):
                yield from _exits(inner, own=False)


def _alike(exits: list[ir.Return | ir.Break]) -> bool:
    """Whether it is unobservable which of these exits left a loop."""
    ways = set()
    for way in exits:
        match way:
            case ir.Return(value=None):
                ways.add("return")
            case ir.Return(value=ir.Expr() as value):
                if not isinstance(_plain(value), ir.Const):
                    return False
                ways.add(f"return {_constant_text(value)}")
            case ir.Break():
                ways.add("break")
    return len(ways) == 1


def _is_false(way: ir.Return | ir.Break) -> bool:
    match way:
        case ir.Return(value=ir.Expr() as value):
            known = _plain(value)
            return isinstance(known, ir.Const) and known.value is False
    return False


def _plain(value: ir.Expr) -> ir.Expr:
    while isinstance(value, ir.Convert):
        value = value.operand
    return value


def _constant_text(constant: ir.Expr) -> str:
    """A constant as text, different from that of every other constant of its type."""
    value = _plain(constant)
    assert isinstance(value, ir.Const)
    return f"{value.type} {encode(value.type, value.value) if value.value is not None else None}"


def nodes(value: Any) -> Iterator[Any]:
    """Every expression and statement in a value, each once."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        node = waiting.pop()
        match node:
            case list() | tuple():
                waiting.extend(node)
            case dict():
                waiting.extend(node.values())
            case ir.Expr() | ir.Statement() | ir.Generator() | ir.Range() | ir.ItemStep() | ir.SharedFunction():
                if id(node) not in seen:
                    seen.add(id(node))
                    yield node
                    waiting.extend(getattr(node, name) for name in type(node).__slots__)
