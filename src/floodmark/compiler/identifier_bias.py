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

from floodmark.compiler import ir
from floodmark.compiler.commuting_loops import why_rounds_keep_places
from floodmark.compiler.failures import may_refuse
from floodmark.compiler.guarded_failures import rounds_can_fail
from floodmark.compiler.renaming import identifiers_in
from floodmark.language.types import BagType, IdentifierType, IntType, SeqType, SetType, Type
from floodmark.language.values import Identifier


@dataclass(frozen=True, slots=True)
class Bias:
    """A place that may distinguish identifiers, and how: ``what`` can be followed by ", so"."""

    at: ir.Position
    what: str


def first_bias(
    part: ir.Action | ir.Predicate, kinds: Collection[IdentifierType], never_fails: bool = False
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
    def __init__(self, at: ir.Position, what: str) -> None:
        self.bias = Bias(at, what)


class _BiasFinder:
    """Analyses one part. ``loose`` are the variables that may hold a sequence whose order depends on names."""

    def __init__(self, part: ir.Action | ir.Predicate, kinds: Collection[IdentifierType], never_fails: bool) -> None:
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
                case ir.Action(guards=guards, body=body):
                    for guard in guards:
                        self.exact(guard)
                    self.block(body)
                case ir.Predicate(kind="invariant" | "transition", value=value):
                    self.true(value)
                case ir.Predicate(value=value):
                    self.exact(value)
            if len(self.loose) == known:
                return

    # Types.

    def named(self, kind: Type) -> bool:
        """Whether a renaming may change values of the type, and their order."""
        return not self.kinds.isdisjoint(identifiers_in(kind))

    # Expressions.

    def exact(self, node: ir.Expr) -> None:
        """Analyses an expression whose value may be observed completely, including the order of a sequence."""
        if not self.keeps_order(node):
            raise _BiasFound(node.at, f"this sequence is in {self._order()}")

    def _order(self) -> str:
        return f"the order of the numbers of {' or '.join(sorted(kind.cls.__name__ for kind in self.kinds))}"

    def keeps_order(self, node: ir.Expr) -> bool:
        """Whether a renaming also preserves the order of a sequence; true of anything without an order."""
        node = ir.closed(node)
        match node:
            case ir.Const():
                return self._const(node)
            case ir.OpenConstant():
                raise _BiasFound(node.at, f"it is not known whether {node.name} distinguishes identifiers")
            case ir.Local(slot=slot):
                return slot not in self.loose
            case ir.StateVar():
                return True
            case ir.Field(record=record):
                return self._parts(record)
            case ir.MapGet(map=mapping, key=key):
                return self._parts(mapping, key)
            case ir.SeqGet(seq=seq, index=index):
                return self._parts(seq, index)
            case ir.SeqSlice(seq=seq, low=low, high=high):
                return self._parts(seq, *(end for end in (low, high) if end is not None))
            case ir.SeqConcat(left=left, right=right):
                both = [self.keeps_order(left), self.keeps_order(right)]
                return all(both)
            case ir.SeqOf(elements=elements) | ir.SetOf(elements=elements):
                return self._parts(*elements)
            case ir.RecordOf(fields=fields):
                return self._parts(*fields.values())
            case ir.Count(item=item, bag=bag):
                return self._parts(item, bag)
            case ir.BagChange(bag=bag, item=item):
                return self._parts(bag, item)
            case ir.Contains(item=item, container=container):
                self.exact(item)
                self.keeps_order(container)
                return True
            case ir.Size(container=container):
                self.keeps_order(container)
                return True
            case ir.Sorted(seq=seq):
                return self._sorted(node, seq)
            case (
                ir.SetBinary(left=left, right=right)
                | ir.Subset(left=left, right=right)
                | ir.Arithmetic(left=left, right=right)
                | ir.Compare(left=left, right=right)
                | ir.Equal(left=left, right=right)
            ):
                return self._parts(left, right)
            case ir.Implies(premise=premise, conclusion=conclusion):
                return self._parts(premise, conclusion)
            case ir.And(operands=operands) | ir.Or(operands=operands) | ir.Extremum(operands=operands):
                return self._parts(*operands)
            case ir.Not(operand=operand) | ir.IsNone(operand=operand) | ir.Marked(operand=operand):
                return self._parts(operand)
            case ir.Witness(operand=operand, condition=condition):
                return self._parts(operand, *([] if condition is None else [condition]))
            case ir.Convert(operand=operand):
                kept = self.keeps_order(operand)
                return kept or isinstance(node.type, BagType)
            case ir.Choose(condition=condition, then=then, otherwise=otherwise):
                self.exact(condition)
                both = [self.keeps_order(then), self.keeps_order(otherwise)]
                return all(both)
            case ir.Reduce():
                return self._reduce(node)
            case ir.Inline(body=body, result=result):
                self._called(body, must_be_true=False)
                return result is None or result.slot not in self.loose
            case ir.Applied():
                return self._applied(node)
            case _:
                assert_never(node)

    def true(self, node: ir.Expr) -> None:
        """Analyses a value that has to be true, for which false and a failure are equivalent."""
        match node:
            case ir.And(operands=operands):
                for operand in operands:
                    self.true(operand)
            case ir.Or(operands=[*others, last]):
                self._parts(*others)
                self.true(last)
            case ir.Choose(condition=condition, then=then, otherwise=otherwise):
                self.exact(condition)
                self.true(then)
                self.true(otherwise)
            case ir.Witness(operand=operand, condition=condition):
                if condition is not None:
                    self.exact(condition)
                self.true(operand)
            case ir.Reduce(kind="all", generators=generators, body=body):
                for generator in generators:
                    self.domain(generator.domain, generator.variable.at)
                    self._parts(*generator.conditions)
                self.true(body)
            case ir.Inline(body=body):
                self._called(body, must_be_true=True)
            case _:
                self.exact(node)

    def _called(self, body: list[ir.Stmt], must_be_true: bool) -> None:
        saved, self.returns_must_be_true = self.returns_must_be_true, must_be_true
        self.block(body)
        self.returns_must_be_true = saved

    def _applied(self, node: ir.Applied) -> bool:
        """Analyses a call of a shared function. The body is analysed once: a loose variable is loose for every call."""
        called = node.function
        for parameter, argument in zip(called.parameters, node.arguments, strict=True):
            self._hold(parameter, argument)
        if id(called) not in self.called:
            self.called.add(id(called))
            self._called(called.body, must_be_true=False)
        return called.result is None or called.result.slot not in self.loose

    def _parts(self, *parts: ir.Expr) -> bool:
        for part in parts:
            self.exact(part)
        return True

    def _const(self, node: ir.Const) -> bool:
        value = node.value
        if isinstance(value, Identifier) and any(kind.cls is type(value) for kind in self.kinds):
            raise _BiasFound(node.at, f"{type(value).__name__}({value.number}) is named here")
        return True

    def _sorted(self, node: ir.Sorted, seq: ir.Expr) -> bool:
        """Sorting undoes any order, if equal elements are identical."""
        kind = seq.type
        if not (isinstance(kind, SeqType) and isinstance(kind.element, IntType | ir.NothingType)):
            raise _BiasFound(node.at, "this sorts other values than integers")
        self.keeps_order(seq)
        return True

    def _reduce(self, node: ir.Reduce) -> bool:
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
        if ir.has_effects(node) or may_refuse(node):
            raise _BiasFound(node.at, f"this changes the state, or requires something, in {self._order()}")
        decides = node.kind in ("any", "all")  # a failure may come before what decides, or after it
        if decides and not self.never_fails and rounds_can_fail(node.generators, node.body):
            raise _BiasFound(node.at, f"what {node.kind} asks can fail, and it asks in {self._order()}")
        if node.kind == "sum" and node.type == ir.INT:
            raise _BiasFound(node.at, f"this sum may grow beyond 64 bits on the way, and it adds in {self._order()}")
        return node.kind != "seq"

    def domain(self, domain: ir.Domain, at: ir.Position) -> bool:
        """Whether a renaming preserves the iteration order of a domain."""
        match domain:
            case ir.Universe(type=kind):
                return not self.named(kind)
            case ir.Range(low=low, high=high):
                return self._parts(low, high)
            case ir.Expr():
                kept = self.keeps_order(domain)
                match domain.type:
                    case SeqType():
                        return kept
                    case SetType(element, _) | BagType(element, _):
                        return not self.named(element)
        raise _BiasFound(at, "the iteration order is unknown")

    # Statements.

    def block(self, body: list[ir.Stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ir.Stmt) -> None:
        match node:
            case ir.SetLocal(target=target, value=value):
                self._hold(target, value)
            case ir.SetVariable(path=path, value=value):
                for step in path:
                    if isinstance(step, ir.ItemStep):
                        self.exact(step.key)
                self.exact(value)
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                self.exact(condition)
                self.block(then)
                self.block(otherwise)
            case ir.For(variable=variable, domain=domain, body=body):
                ordered = self.domain(domain, variable.at)
                self.block(body)
                if not ordered:
                    self._rounds(node)
            case ir.Require(condition=condition) | ir.Assert(condition=condition):
                self.exact(condition)
            case ir.Return(value=ir.Expr() as value) if self.returns_must_be_true:
                self.true(value)
            case ir.Return(value=value, into=into):
                if value is not None and into is not None:
                    self._hold(into, value)
                elif value is not None:
                    self.exact(value)
            case ir.Do(call=call):
                self.keeps_order(call)
            case ir.Break() | ir.Continue():
                pass
            case _:
                assert_never(node)

    def _hold(self, variable: ir.Local, value: ir.Expr) -> None:
        if not self.keeps_order(value):
            self.loose.add(variable.slot)

    def _rounds(self, loop: ir.For) -> None:
        why = why_rounds_keep_places(loop, self.part, self.never_fails, self.returns_must_be_true)
        if why is not None:
            at, what = why
            raise _BiasFound(at, f"this loop runs in {self._order()}, and {what}")
