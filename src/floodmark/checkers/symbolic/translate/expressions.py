"""Expressions of the program's graph as z3 terms: CPython's value, and the condition of a failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floodmark.checkers.symbolic.terms.booleans import Truth, conj, disj, implied, negation
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext, FunctionCalls
from floodmark.checkers.symbolic.translate.reductions import Domains, Reductions
from floodmark.checkers.symbolic.translate.sequences import Sequences, require_positions
from floodmark.checkers.symbolic.translate.set_operations import SetOperations
from floodmark.checkers.symbolic.translate.small_counts import SmallCounts
from floodmark.checkers.symbolic.values.components import UnboundedMap
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.compiler import ir
from floodmark.compiler.visitor import Visitor
from floodmark.language.types import BagType, MapType, OptionalType, RecordType, SeqType, SetType


class ExpressionEvaluator(Visitor[Value]):
    """Evaluates expressions in a context; ``meet`` is called with each premise of a property before its value is
    known."""

    def __init__(
        self, context: EvaluationContext, calls: FunctionCalls, meet: Callable[[ir.Witness], None] | None = None
    ) -> None:
        values = self._values = context.values
        self._context = context
        self._calls = calls
        self._meet = meet
        self._reductions = Reductions(context, self.evaluate, Domains(values, self.evaluate))
        self._small_counts = SmallCounts(values, self.evaluate, self._reductions.summed_set)
        self._sequences = Sequences(context)
        self._sets = SetOperations(context)

    def evaluate(self, node: ir.Expr) -> Value:
        """The value of an expression."""
        try:
            return node.accept(self)
        except UnsupportedError as error:
            raise error.at(node.at) from None

    # Leaves and access.

    def visit_const(self, node: ir.Const) -> Value:
        return self._values.constant(node.type, node.value)

    def visit_open_constant(self, node: ir.OpenConstant) -> Value:
        return self._values.types.constants[node.name]

    def visit_local(self, node: ir.Local) -> Value:
        return self._context.locals[node.slot]

    def visit_state_var(self, node: ir.StateVar) -> Value:
        return self._context.state[node.which][node.name]

    def visit_field(self, node: ir.Field) -> Value:
        kind = node.record.type
        assert isinstance(kind, RecordType)
        index = [name for name, _ in kind.fields].index(node.name)
        return self.evaluate(node.record)[index]

    def visit_map_get(self, node: ir.MapGet) -> Value:
        kind = node.map.type
        assert isinstance(kind, MapType)
        entries = self.evaluate(node.map)
        if isinstance(entries, UnboundedMap):
            return entries.at(self.evaluate(node.key))
        which = self._values.containers.positions(kind.key, self.evaluate(node.key))
        return self._values.containers.selected(kind.value, entries, which)

    def visit_seq_get(self, node: ir.SeqGet) -> Value:
        kind = node.seq.type
        assert isinstance(kind, SeqType)
        return self._sequences.element(kind, self.evaluate(node.seq), self.evaluate(node.index), node.at)

    def visit_seq_slice(self, node: ir.SeqSlice) -> Value:
        kind = node.seq.type
        assert isinstance(kind, SeqType)
        value = require_positions(self.evaluate(node.seq))
        low, high = (None if bound is None else self.evaluate(bound) for bound in (node.low, node.high))
        return self._sequences.cut(kind, value, low, high)

    def visit_seq_concat(self, node: ir.SeqConcat) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        first, second = (require_positions(self.evaluate(operand)) for operand in (node.left, node.right))
        return self._sequences.join(kind, first, second)

    def visit_seq_of(self, node: ir.SeqOf) -> Value:
        return (len(node.elements), tuple(self.evaluate(element) for element in node.elements))

    def visit_record_of(self, node: ir.RecordOf) -> Value:
        kind = node.type
        assert isinstance(kind, RecordType)
        return tuple(self.evaluate(node.fields[name]) for name, _ in kind.fields)

    # Sets and bags.

    def visit_set_of(self, node: ir.SetOf) -> Value:
        kind = node.type
        assert isinstance(kind, SetType)
        result = self._values.default(kind)
        for element in node.elements:
            room, result = self._values.containers.with_element(kind, result, self.evaluate(element))
            self._context.fail_unless(room, node.at)
        return result

    def visit_set_binary(self, node: ir.SetBinary) -> Value:
        return self._sets.combine(node, self.evaluate(node.left), self.evaluate(node.right))

    def visit_subset(self, node: ir.Subset) -> Truth:
        return self._sets.is_subset(node, self.evaluate(node.left), self.evaluate(node.right))

    def visit_bag_change(self, node: ir.BagChange) -> Value:
        return self._sets.change(node, self.evaluate(node.bag), self.evaluate(node.item))

    def visit_contains(self, node: ir.Contains) -> Truth:
        kind = node.container.type
        assert isinstance(kind, SetType | SeqType | BagType)
        item, container = self.evaluate(node.item), self.evaluate(node.container)
        if isinstance(kind.element, ir.NothingType):
            return False
        fits, embedded = self._values.cast(node.item.type, kind.element, item)
        return conj((fits, self._values.containers.contains(kind, container, embedded)))

    def visit_size(self, node: ir.Size) -> Any:
        return self._values.containers.size(node.container.type, self.evaluate(node.container))

    def visit_count(self, node: ir.Count) -> Any:
        kind = node.bag.type
        assert isinstance(kind, BagType)
        item, bag = self.evaluate(node.item), self.evaluate(node.bag)
        return self._values.numbers.count(
            conj((there, self._values.equal(kind.element, held, item)))
            for there, held in self._values.containers.elements(kind, bag)
        )

    # Arithmetic and logic.

    def visit_arithmetic(self, node: ir.Arithmetic) -> Any:
        numbers = self._values.numbers
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        match node.op:
            case "+":
                return numbers.plus(left, right)
            case "-":
                return numbers.minus(left, right)
            case "*":
                return numbers.times(left, right)
        self._context.fail_unless(negation(numbers.equal(right, 0)), node.at)
        return numbers.divided(left, right) if node.op == "//" else numbers.rest(left, right)

    def visit_compare(self, node: ir.Compare) -> Truth:
        counted = self._small_counts.compare(node)
        if counted is not None:
            return counted
        return self._values.numbers.compare(node.op, self.evaluate(node.left), self.evaluate(node.right))

    def visit_equal(self, node: ir.Equal) -> Truth:
        counted = self._small_counts.compare(node)
        if counted is not None:
            return counted
        return self._values.equal(node.left.type, self.evaluate(node.left), self.evaluate(node.right))

    def visit_not(self, node: ir.Not) -> Truth:
        return negation(self.evaluate(node.operand))

    def visit_and(self, node: ir.And) -> Truth:
        return self._chain(node.operands, stop_at=False)

    def visit_or(self, node: ir.Or) -> Truth:
        return self._chain(node.operands, stop_at=True)

    def _chain(self, operands: list[ir.Expr], stop_at: bool) -> Truth:
        """Evaluates operands from left to right until one is ``stop_at``."""
        saved = self._context.path
        found: list[Truth] = []
        for operand in operands:
            value = self.evaluate(operand)
            found.append(value)
            if value is stop_at:
                break
            self._context.path = conj((self._context.path, negation(value) if stop_at else value))
        self._context.path = saved
        return disj(found) if stop_at else conj(found)

    def visit_implies(self, node: ir.Implies) -> Truth:
        premise = self.evaluate(node.premise)
        return implied(premise, self.evaluate(node.conclusion))

    def visit_choose(self, node: ir.Choose) -> Value:
        condition = self.evaluate(node.condition)
        if isinstance(condition, bool):
            return self.evaluate(node.then if condition else node.otherwise)
        with self._context.under(condition):
            then = self.evaluate(node.then)
        with self._context.under(negation(condition)):
            otherwise = self.evaluate(node.otherwise)
        return self._values.either(node.type, condition, then, otherwise)

    def visit_is_none(self, node: ir.IsNone) -> Truth:
        value = self.evaluate(node.operand)
        match node.operand.type:
            case ir.NoneType():
                return True
            case OptionalType():
                return negation(value[0])
        return False

    def visit_extremum(self, node: ir.Extremum) -> Any:
        numbers = self._values.numbers
        best = self.evaluate(node.operands[0])
        for operand in node.operands[1:]:
            value = self.evaluate(operand)
            best = numbers.larger(best, value) if node.largest else numbers.smaller(best, value)
        return best

    def visit_witness(self, node: ir.Witness) -> Truth:
        if self._meet is not None:
            self._meet(node)
        return self.evaluate(node.operand)

    def visit_marked(self, node: ir.Marked) -> Value:
        return self.evaluate(node.operand)

    def visit_convert(self, node: ir.Convert) -> Value:
        fits, value = self._values.cast(node.operand.type, node.type, self.evaluate(node.operand))
        self._context.fail_unless(fits, node.at)
        return value

    def visit_sorted(self, node: ir.Sorted) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        return self._sequences.sort(kind, self.evaluate(node.seq), node.reverse)

    def visit_reduce(self, node: ir.Reduce) -> Value:
        return self._reductions.reduce(node)

    def visit_inline(self, node: ir.Inline) -> Value:
        return self._calls.inline(node)

    def visit_applied(self, node: ir.Applied) -> Value:
        return self._calls.apply(node)
