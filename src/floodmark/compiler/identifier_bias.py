"""Finds the places where a program may distinguish identifiers.

A renaming exchanges the identifiers of some types. A part of a program is impartial (equivariant) if it commutes with
renamings: in a renamed state each expression gives the renamed value or fails likewise, and each statement leads to the
renamed state. Nearly everything in the language is impartial if its parts are: equality, membership, reading at a key,
set operations, arithmetic, branches. Two constructs are not:

- the name of one identifier;
- an order of identifiers: a loop, a comprehension or a sequence that takes values in the order of their codes, which a
  renaming does not preserve. It is harmless where the order cannot be observed: in a fold that gives the same result in
  every order and has no effects, in a sequence that is only sorted, counted or searched, and in a loop whose rounds
  commute (``floodmark.compiler.commuting_loops``).

An invariant is violated where it is false and where it fails, so for a value that has to be true these two are not
distinguished: ``all`` may meet either first, and a search of orbits then finds one violation or the other.

This is the discipline of scalarsets (Ip and Dill, "Better verification through symmetry", 1996), extended to loops. The
analysis is conservative: a part without a bias is impartial; a part with one may be impartial all the same. An
expression of an unknown kind counts as biased.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import assert_never

from floodmark.compiler.commuting_loops import why_rounds_keep_places
from floodmark.compiler.failures import may_refuse
from floodmark.compiler.guarded_failures import rounds_can_fail
from floodmark.compiler.ir import (
    INT,
    Action,
    And,
    Applied,
    Arithmetic,
    Assert,
    BagChange,
    Break,
    Choose,
    Compare,
    Const,
    Contains,
    Continue,
    Convert,
    Count,
    Do,
    Domain,
    Equal,
    Expr,
    Extremum,
    Field,
    For,
    If,
    Implies,
    Inline,
    IsNone,
    ItemStep,
    Local,
    MapGet,
    Marked,
    Not,
    NothingType,
    OpenConstant,
    Or,
    Position,
    Predicate,
    Range,
    RecordOf,
    Reduce,
    Require,
    Return,
    SeqConcat,
    SeqGet,
    SeqOf,
    SeqSlice,
    SetBinary,
    SetLocal,
    SetOf,
    SetVariable,
    Size,
    Sorted,
    StateVar,
    Stmt,
    Subset,
    Universe,
    Witness,
    closed,
    has_effects,
)
from floodmark.compiler.renaming import identifiers_in
from floodmark.language.types import BagType, IdentifierType, IntType, SeqType, SetType, Type
from floodmark.language.values import Identifier


@dataclass(frozen=True, slots=True)
class Bias:
    """A place that may distinguish identifiers, and how: ``what`` can be followed by ", so"."""

    at: Position
    what: str


def first_bias(
    part: Action | Predicate, kinds: Collection[IdentifierType], never_fails: bool = False
) -> Bias | None:
    """The first place where an action, a property or a boundary may distinguish an identifier of these types.

    ``never_fails`` is whether a property is known to fail in no state of the declared types. Then ``any`` and ``all``
    meet no failure before the deciding element, in any order.
    """
    reader = _BiasFinder(part, kinds, never_fails)
    try:
        reader.read()
    except _BiasFound as found:
        return found.bias
    return None


class _BiasFound(Exception):  # noqa: N818 - it is no error
    def __init__(self, at: Position, what: str) -> None:
        self.bias = Bias(at, what)


class _BiasFinder:
    """Analyses one part. ``loose`` are the variables that may hold a sequence whose order depends on names."""

    def __init__(self, part: Action | Predicate, kinds: Collection[IdentifierType], never_fails: bool) -> None:
        self.part = part
        self.never_fails = never_fails
        self.kinds = frozenset(kinds)
        self.loose: set[int] = set()
        self.called: set[int] = set()
        self.returns_must_be_true = False

    def read(self) -> None:
        """Raises _Found. Repeats the analysis when a variable, perhaps one read before, turns out to be loose."""
        while True:
            known = len(self.loose)
            self.called.clear()
            match self.part:
                case Action(guards=guards, body=body):
                    for guard in guards:
                        self.exact(guard)
                    self.block(body)
                case Predicate(kind="invariant" | "transition", value=value):
                    self.true(value)
                case Predicate(value=value):
                    self.exact(value)
            if len(self.loose) == known:
                return

    # Types.

    def named(self, kind: Type) -> bool:
        """Whether a renaming may change values of the type, and their order."""
        return not self.kinds.isdisjoint(identifiers_in(kind))

    # Expressions.

    def exact(self, node: Expr) -> None:
        """Analyses an expression whose value may be observed completely, including the order of a sequence."""
        if not self.keeps_order(node):
            raise _BiasFound(node.at, f"this sequence is in {self._order()}")

    def _order(self) -> str:
        return f"the order of the numbers of {' or '.join(sorted(kind.cls.__name__ for kind in self.kinds))}"

    def keeps_order(self, node: Expr) -> bool:
        """Whether a renaming also preserves the order of a sequence; true of anything without an order."""
        node = closed(node)
        match node:
            case Const():
                return self._const(node)
            case OpenConstant():
                raise _BiasFound(node.at, f"it is not known whether {node.name} distinguishes identifiers")
            case Local(slot=slot):
                return slot not in self.loose
            case StateVar():
                return True
            case Field(record=record):
                return self._parts(record)
            case MapGet(map=mapping, key=key):
                return self._parts(mapping, key)
            case SeqGet(seq=seq, index=index):
                return self._parts(seq, index)
            case SeqSlice(seq=seq, low=low, high=high):
                return self._parts(seq, *(end for end in (low, high) if end is not None))
            case SeqConcat(left=left, right=right):
                both = [self.keeps_order(left), self.keeps_order(right)]
                return all(both)
            case SeqOf(elements=elements) | SetOf(elements=elements):
                return self._parts(*elements)
            case RecordOf(fields=fields):
                return self._parts(*fields.values())
            case Count(item=item, bag=bag):
                return self._parts(item, bag)
            case BagChange(bag=bag, item=item):
                return self._parts(bag, item)
            case Contains(item=item, container=container):
                self.exact(item)
                self.keeps_order(container)
                return True
            case Size(container=container):
                self.keeps_order(container)
                return True
            case Sorted(seq=seq):
                return self._sorted(node, seq)
            case (
                SetBinary(left=left, right=right)
                | Subset(left=left, right=right)
                | Arithmetic(left=left, right=right)
                | Compare(left=left, right=right)
                | Equal(left=left, right=right)
            ):
                return self._parts(left, right)
            case Implies(premise=premise, conclusion=conclusion):
                return self._parts(premise, conclusion)
            case And(operands=operands) | Or(operands=operands) | Extremum(operands=operands):
                return self._parts(*operands)
            case Not(operand=operand) | IsNone(operand=operand) | Marked(operand=operand):
                return self._parts(operand)
            case Witness(operand=operand, condition=condition):
                return self._parts(operand, *([] if condition is None else [condition]))
            case Convert(operand=operand):
                kept = self.keeps_order(operand)
                return kept or isinstance(node.type, BagType)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                self.exact(condition)
                both = [self.keeps_order(then), self.keeps_order(otherwise)]
                return all(both)
            case Reduce():
                return self._reduce(node)
            case Inline(body=body, result=result):
                self._called(body, must_be_true=False)
                return result is None or result.slot not in self.loose
            case Applied():
                return self._applied(node)
            case _:
                assert_never(node)

    def true(self, node: Expr) -> None:
        """Analyses a value that has to be true, for which false and a failure are equivalent."""
        match node:
            case And(operands=operands):
                for operand in operands:
                    self.true(operand)
            case Or(operands=[*others, last]):
                self._parts(*others)
                self.true(last)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                self.exact(condition)
                self.true(then)
                self.true(otherwise)
            case Witness(operand=operand, condition=condition):
                if condition is not None:
                    self.exact(condition)
                self.true(operand)
            case Reduce(kind="all", generators=generators, body=body):
                for generator in generators:
                    self.domain(generator.domain, generator.variable.at)
                    self._parts(*generator.conditions)
                self.true(body)
            case Inline(body=body):
                self._called(body, must_be_true=True)
            case _:
                self.exact(node)

    def _called(self, body: list[Stmt], must_be_true: bool) -> None:
        saved, self.returns_must_be_true = self.returns_must_be_true, must_be_true
        self.block(body)
        self.returns_must_be_true = saved

    def _applied(self, node: Applied) -> bool:
        """Analyses a call of a shared function. The body is analysed once: a loose variable is loose for every call."""
        called = node.function
        for parameter, argument in zip(called.parameters, node.arguments, strict=True):
            self._hold(parameter, argument)
        if id(called) not in self.called:
            self.called.add(id(called))
            self._called(called.body, must_be_true=False)
        return called.result is None or called.result.slot not in self.loose

    def _parts(self, *parts: Expr) -> bool:
        for part in parts:
            self.exact(part)
        return True

    def _const(self, node: Const) -> bool:
        value = node.value
        if isinstance(value, Identifier) and any(kind.cls is type(value) for kind in self.kinds):
            raise _BiasFound(node.at, f"{type(value).__name__}({value.number}) is named here")
        return True

    def _sorted(self, node: Sorted, seq: Expr) -> bool:
        """Sorting undoes any order, if equal elements are identical."""
        kind = seq.type
        if not (isinstance(kind, SeqType) and isinstance(kind.element, IntType | NothingType)):
            raise _BiasFound(node.at, "this sorts other values than integers")
        self.keeps_order(seq)
        return True

    def _reduce(self, node: Reduce) -> bool:
        ordered = True
        for generator in node.generators:
            ordered = self.domain(generator.domain, generator.variable.at) and ordered
            for condition in generator.conditions:
                self.exact(condition)
        for part in (node.key, node.body, node.default):
            if part is not None:
                self.exact(part)
        if ordered:
            return True
        if has_effects(node) or may_refuse(node):
            raise _BiasFound(node.at, f"this changes the state, or requires something, in {self._order()}")
        decides = node.kind in ("any", "all")  # a failure may come before what decides, or after it
        if decides and not self.never_fails and rounds_can_fail(node.generators, node.body):
            raise _BiasFound(node.at, f"what {node.kind} asks can fail, and it asks in {self._order()}")
        if node.kind == "sum" and node.type == INT:
            raise _BiasFound(node.at, f"this sum may grow beyond 64 bits on the way, and it adds in {self._order()}")
        return node.kind != "seq"

    def domain(self, domain: Domain, at: Position) -> bool:
        """Whether a renaming preserves the iteration order of a domain."""
        match domain:
            case Universe(type=kind):
                return not self.named(kind)
            case Range(low=low, high=high):
                return self._parts(low, high)
            case Expr():
                kept = self.keeps_order(domain)
                match domain.type:
                    case SeqType():
                        return kept
                    case SetType(element, _) | BagType(element, _):
                        return not self.named(element)
        raise _BiasFound(at, "the iteration order is unknown")

    # Statements.

    def block(self, body: list[Stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: Stmt) -> None:
        match node:
            case SetLocal(target=target, value=value):
                self._hold(target, value)
            case SetVariable(path=path, value=value):
                for step in path:
                    if isinstance(step, ItemStep):
                        self.exact(step.key)
                self.exact(value)
            case If(condition=condition, then=then, otherwise=otherwise):
                self.exact(condition)
                self.block(then)
                self.block(otherwise)
            case For(variable=variable, domain=domain, body=body):
                ordered = self.domain(domain, variable.at)
                self.block(body)
                if not ordered:
                    self._rounds(node)
            case Require(condition=condition) | Assert(condition=condition):
                self.exact(condition)
            case Return(value=Expr() as value) if self.returns_must_be_true:
                self.true(value)
            case Return(value=value, into=into):
                if value is not None and into is not None:
                    self._hold(into, value)
                elif value is not None:
                    self.exact(value)
            case Do(call=call):
                self.keeps_order(call)
            case Break() | Continue():
                pass
            case _:
                assert_never(node)

    def _hold(self, variable: Local, value: Expr) -> None:
        if not self.keeps_order(value):
            self.loose.add(variable.slot)

    def _rounds(self, loop: For) -> None:
        why = why_rounds_keep_places(loop, self.part, self.never_fails, self.returns_must_be_true)
        if why is not None:
            at, what = why
            raise _BiasFound(at, f"this loop runs in {self._order()}, and {what}")
