"""Expressions of the program's graph as z3 terms: CPython's value, and the condition of a failure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, either, implied, negation
from floodmark.checkers.symbolic.translate.reductions import Reductions
from floodmark.checkers.symbolic.values.components import Relation, UnboundedMap
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.compiler import ir
from floodmark.language.types import (
    BagType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)

MAX_NAMED = 3
"""The largest number with which the size of a set of any size is compared by naming its elements."""


class Evaluator(Reductions):
    """Evaluates expressions in a symbolic state."""

    # Leaves and access.

    def visit_const(self, node: ir.Const) -> Value:
        return self.values.constant(node.type, node.value)

    def visit_open_constant(self, node: ir.OpenConstant) -> Value:
        return self.values.constants[node.name]

    def visit_local(self, node: ir.Local) -> Value:
        return self.locals[node.slot]

    def visit_state_var(self, node: ir.StateVar) -> Value:
        return self.state[node.which][node.name]

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
        return self.selected(kind.value, entries, self.positions(kind.key, self.evaluate(node.key)))

    def positions(self, kind: Type, key: Value) -> list[Truth]:
        """The condition, for each value of a finite type, that ``key`` is that value."""
        return [self.values.equal(kind, key, known) for known in self.values.lifted(kind)]

    def selected(self, kind: Type, entries: tuple[Value, ...], which: list[Truth]) -> Value:
        """The entry whose condition is true; any entry when none is."""
        for entry, here in zip(entries, which, strict=True):
            if here is True:
                return entry
        candidates = [(entry, here) for entry, here in zip(entries, which, strict=True) if here is not False]
        if not candidates:
            return entries[0]
        result = candidates[-1][0]
        for entry, here in reversed(candidates[:-1]):
            result = self.values.either(kind, here, entry, result)
        return result

    def _some_element(self, kind: Type, value: Relation, index: Any, at: ir.Position) -> Value:
        """The element at a position of a list of any length: some element, if the list has that position.

        If the list is sorted, the elements up to that position are at least as good (as large or larger, if the largest
        come first), and they number one more than the position. All better elements come before it, so they number at
        most as many as the position.
        """
        if value.length is None or not isinstance(kind, IntType):
            raise UnsupportedError("this list may have any length, which is not known, so it cannot be indexed here")
        numbers, axioms = self.values.numbers, self.values.axioms
        place = numbers.either(numbers.less(index, 0), numbers.plus(index, value.length), index)
        inside = conj((numbers.at_most(0, place), numbers.less(place, value.length)))
        self.fail_unless(inside, at)
        example = self.values.variable(kind, "element")
        mentioned = axioms.free(as_term(value.holds(example)), as_term(inside))
        element = axioms.chosen("element", example.sort(), [it for it in mentioned if not it.eq(example)])
        known = [value.holds(element)]
        if value.order and value.among is not None:
            falls = value.order == "descending"
            reached = value.among(lambda it: numbers.at_most(element, it) if falls else numbers.at_most(it, element))
            better = value.among(lambda it: numbers.less(element, it) if falls else numbers.less(it, element))
            known += [numbers.less(place, reached), numbers.at_most(better, place)]
        axioms.add([element], implied(inside, conj(known)))
        return element

    def listed(self, node: ir.Expr) -> Value:
        """A sequence, position by position."""
        value = self.evaluate(node)
        if isinstance(value, Relation):
            message = "a list of any length has no positions here, so it cannot be indexed, cut, joined or sorted"
            raise UnsupportedError(message)
        return value

    def seq_position(self, kind: SeqType, value: Value, index: Any, at: ir.Position) -> list[Truth]:
        """The condition, for each position, that an index denotes it, as in Python; fails if the index is out of range.
        """
        numbers = self.values.numbers
        length = value[0]
        index = numbers.either(numbers.less(index, 0), numbers.plus(index, length), index)
        self.fail_unless(conj((numbers.at_most(0, index), numbers.less(index, length))), at)
        return [numbers.equal(index, position) for position in range(kind.capacity)]

    def visit_seq_get(self, node: ir.SeqGet) -> Value:
        kind = node.seq.type
        assert isinstance(kind, SeqType)
        value, index = self.evaluate(node.seq), self.evaluate(node.index)
        if isinstance(value, Relation):
            return self._some_element(kind.element, value, index, node.at)
        if kind.capacity == 0:
            self.fail_unless(False, node.at)
            return self.values.default(kind.element)
        return self.selected(kind.element, value[1], self.seq_position(kind, value, index, node.at))

    def visit_seq_slice(self, node: ir.SeqSlice) -> Value:
        kind = node.seq.type
        assert isinstance(kind, SeqType)
        numbers = self.values.numbers
        length, items = self.listed(node.seq)
        low = 0 if node.low is None else self._clipped(self.evaluate(node.low), length)
        high = length if node.high is None else self._clipped(self.evaluate(node.high), length)
        size = numbers.minus(high, low)
        size = numbers.either(numbers.less(size, 0), 0, size)
        empty = self.values.default(kind.element)
        taken = []
        for position in range(kind.capacity):
            which = [numbers.equal(numbers.plus(low, position), index) for index in range(kind.capacity)]
            item = self.selected(kind.element, items, which)
            taken.append(self.values.either(kind.element, numbers.less(position, size), item, empty))
        return (size, tuple(taken))

    def _clipped(self, index: Any, length: Any) -> Any:
        numbers = self.values.numbers
        index = numbers.either(numbers.less(index, 0), numbers.plus(index, length), index)
        index = numbers.either(numbers.less(index, 0), 0, index)
        return numbers.either(numbers.less(length, index), length, index)

    def visit_seq_concat(self, node: ir.SeqConcat) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        numbers = self.values.numbers
        first, second = self.listed(node.left), self.listed(node.right)
        length, items = first
        grown = list(items) + [self.values.default(kind.element)] * (kind.capacity - len(items))
        for index, item in enumerate(second[1]):
            inside = numbers.less(index, second[0])
            target = numbers.plus(length, index)
            for position in range(index, kind.capacity):
                here = conj((inside, numbers.equal(target, position)))
                grown[position] = self.values.either(kind.element, here, item, grown[position])
        return (numbers.plus(length, second[0]), tuple(grown))

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
        result = self.values.default(kind)
        for element in node.elements:
            room, result = self.values.with_element(kind, result, self.evaluate(element))
            self.fail_unless(room, node.at)
        return result

    def visit_set_binary(self, node: ir.SetBinary) -> Value:
        kind, of = node.type, node.left.type
        assert isinstance(kind, SetType)
        assert isinstance(of, SetType)
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(kind.element, ir.NothingType):
            return ()
        if isinstance(left, Relation) or isinstance(right, Relation):
            return self._relation_binary(node.op, left, right)
        if of.capacity is None:
            combined = {"|": _union, "&": _intersection, "-": _difference, "^": _symmetric}[node.op]
            return tuple(combined(x, y) for x, y in zip(left, right, strict=True))
        if node.op in ("&", "-"):
            return self._filtered(kind, of, left, right, node.op == "&")
        if node.op == "^":
            left = self._filtered(of, of, left, right, False)
            right = self._filtered(of, of, right, self.evaluate(node.left), False)
        assert kind.capacity is not None
        empty = (False, self.values.default(kind.element))
        result = (*left[: kind.capacity], *[empty] * (kind.capacity - len(left)))
        for there, _ in left[kind.capacity :]:
            self.fail_unless(negation(there), node.at)
        for there, item in self.values.elements(of, right):
            room, larger = self.values.with_element(kind, result, item)
            self.fail_unless(implied(there, room), node.at)
            result = self.values.either(kind, there, larger, result)
        return result

    def _filtered(self, kind: SetType, of: SetType, source: Value, other: Value, wanted: bool) -> Value:
        """The slots whose elements are in ``other`` (if ``wanted``) or are not, moved together."""
        assert kind.capacity is not None
        if self.values.is_unordered(of):
            kept_slots = []
            for there, item in source:
                inside = self.values.contains(of, other, item)
                kept_slots.append((conj((there, inside if wanted else negation(inside))), item))
            return self.values.resized(of, kind, tuple(kept_slots))[1]
        result = self.values.default(kind)
        for there, item in self.values.elements(of, source):
            inside = self.values.contains(of, other, item)
            kept = conj((there, inside if wanted else negation(inside)))
            result = self.values.either(kind, kept, ((True, item), *result[:-1]), result)
        return result

    def _relation_binary(self, op: str, left: Relation, right: Relation) -> Relation:
        combined = {"|": _union, "&": _intersection, "-": _difference, "^": _symmetric}[op]
        return Relation(lambda item: combined(left.holds(item), right.holds(item)), self._most(op, left, right))

    def _most(self, op: str, left: Relation, right: Relation) -> Any:
        """The maximum number of elements of a combination of two sets; None if unknown."""
        if op == "-":
            return left.most
        if left.most is None or right.most is None:
            return (left.most if right.most is None else right.most) if op == "&" else None
        numbers = self.values.numbers
        return numbers.smaller(left.most, right.most) if op == "&" else numbers.plus(left.most, right.most)

    def visit_subset(self, node: ir.Subset) -> Truth:
        kind = node.left.type
        assert isinstance(kind, SetType)
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(left, Relation):
            item = self.values.variable(kind.element, "each")
            inside = self.values.of_every(item, implied(left.holds(item), self.values.contains(kind, right, item)))
            return conj((inside, negation(self.values.equal(kind, left, right)))) if node.strict else inside
        inside = conj(
            implied(there, self.values.contains(kind, right, item)) for there, item in self.values.elements(kind, left)
        )
        if not node.strict:
            return inside
        return conj((inside, negation(self.values.equal(kind, left, right))))

    def visit_bag_change(self, node: ir.BagChange) -> Value:
        kind = node.bag.type
        assert isinstance(kind, BagType | SetType)
        value, item = self.evaluate(node.bag), self.evaluate(node.item)
        if isinstance(value, Relation):
            old = value
            self.fail_unless(old.holds(item), node.at)
            most = None if old.most is None else self.values.numbers.minus(old.most, 1)
            return Relation(lambda x: conj((old.holds(x), negation(self.values.equal(kind.element, x, item)))), most)
        if kind.capacity is None:
            self.fail_unless(self.values.contains(kind, value, item), node.at)
            here = self.positions(kind.element, item)
            return tuple(conj((there, negation(it))) for there, it in zip(value, here, strict=True))
        if not node.remove:
            room, result = self.values.insert(kind.element, value, item, once=False)
            self.fail_unless(room, node.at)
            return result
        found, result = self.values.without(kind.element, value, item)
        self.fail_unless(found, node.at)
        return result

    def visit_contains(self, node: ir.Contains) -> Truth:
        kind = node.container.type
        assert isinstance(kind, SetType | SeqType | BagType)
        item, container = self.evaluate(node.item), self.evaluate(node.container)
        if isinstance(kind.element, ir.NothingType):
            return False
        fits, embedded = self.values.cast(node.item.type, kind.element, item)
        return conj((fits, self.values.contains(kind, container, embedded)))

    def visit_size(self, node: ir.Size) -> Any:
        return self.values.size(node.container.type, self.evaluate(node.container))

    def visit_count(self, node: ir.Count) -> Any:
        kind = node.bag.type
        assert isinstance(kind, BagType)
        item, bag = self.evaluate(node.item), self.evaluate(node.bag)
        return self.values.numbers.count(
            conj((there, self.values.equal(kind.element, held, item)))
            for there, held in self.values.elements(kind, bag)
        )

    # Arithmetic and logic.

    def visit_arithmetic(self, node: ir.Arithmetic) -> Any:
        numbers = self.values.numbers
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        match node.op:
            case "+":
                return numbers.plus(left, right)
            case "-":
                return numbers.minus(left, right)
            case "*":
                return numbers.times(left, right)
        self.fail_unless(negation(numbers.equal(right, 0)), node.at)
        return numbers.divided(left, right) if node.op == "//" else numbers.rest(left, right)

    def visit_compare(self, node: ir.Compare) -> Truth:
        counted = self._counted(node)
        if counted is not None:
            return counted
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        numbers = self.values.numbers
        match node.op:
            case "<":
                return numbers.less(left, right)
            case "<=":
                return numbers.at_most(left, right)
            case ">":
                return numbers.less(right, left)
        return numbers.at_most(right, left)

    def visit_equal(self, node: ir.Equal) -> Truth:
        counted = self._counted(node)
        if counted is not None:
            return counted
        return self.values.equal(node.left.type, self.evaluate(node.left), self.evaluate(node.right))

    def visit_not(self, node: ir.Not) -> Truth:
        return negation(self.evaluate(node.operand))

    def visit_and(self, node: ir.And) -> Truth:
        return self._chain(node.operands, stop_at=False)

    def visit_or(self, node: ir.Or) -> Truth:
        return self._chain(node.operands, stop_at=True)

    def _chain(self, operands: list[ir.Expr], stop_at: bool) -> Truth:
        """Evaluates operands from left to right until one is ``stop_at``."""
        saved = self.path
        found: list[Truth] = []
        for operand in operands:
            value = self.evaluate(operand)
            found.append(value)
            if value is stop_at:
                break
            self.path = conj((self.path, negation(value) if stop_at else value))
        self.path = saved
        return disj(found) if stop_at else conj(found)

    def visit_implies(self, node: ir.Implies) -> Truth:
        premise = self.evaluate(node.premise)
        return implied(premise, self.evaluate(node.conclusion))

    def visit_choose(self, node: ir.Choose) -> Value:
        condition = self.evaluate(node.condition)
        if isinstance(condition, bool):
            return self.evaluate(node.then if condition else node.otherwise)
        with self.under(condition):
            then = self.evaluate(node.then)
        with self.under(negation(condition)):
            otherwise = self.evaluate(node.otherwise)
        return self.values.either(node.type, condition, then, otherwise)

    def visit_is_none(self, node: ir.IsNone) -> Truth:
        value = self.evaluate(node.operand)
        match node.operand.type:
            case ir.NoneType():
                return True
            case OptionalType():
                return negation(value[0])
        return False

    def visit_extremum(self, node: ir.Extremum) -> Any:
        numbers = self.values.numbers
        best = self.evaluate(node.operands[0])
        for operand in node.operands[1:]:
            value = self.evaluate(operand)
            best = numbers.larger(best, value) if node.largest else numbers.smaller(best, value)
        return best

    def visit_witness(self, node: ir.Witness) -> Truth:
        return self.evaluate(node.operand)

    def visit_marked(self, node: ir.Marked) -> Value:
        return self.evaluate(node.operand)

    # Few elements of a set of any size.

    def _counted(self, node: ir.Compare | ir.Equal) -> Truth | None:
        """A comparison of the size of a set of any size with a small number, made by naming the elements."""
        if not self.values.any_size or not isinstance(node.left.type, IntType):
            return None
        for counted, given, op in (
            (node.left, node.right, "=="if isinstance(node, ir.Equal) else node.op),
            (node.right, node.left, "==" if isinstance(node, ir.Equal) else _MIRRORED[node.op]),
        ):
            limit = self._small(given)
            found = None if limit is None else self._counted_set(counted)
            if limit is None or found is None:
                continue
            element, members = found
            some = {count: self._at_least(element, members, count) for count in (limit, limit + 1)}
            match op:
                case ">=":
                    return some[limit]
                case ">":
                    return some[limit + 1]
                case "<":
                    return negation(some[limit])
                case "<=":
                    return negation(some[limit + 1])
            return conj((some[limit], negation(some[limit + 1])))
        return None

    def _small(self, node: ir.Expr) -> int | None:
        while isinstance(node, ir.Convert) and isinstance(node.operand.type, IntType):
            node = node.operand
        if isinstance(node, ir.Const) and isinstance(node.value, int) and node.value <= MAX_NAMED:
            return node.value
        return None

    def _counted_set(self, node: ir.Expr) -> tuple[Type, Relation] | None:
        """The set whose elements an expression counts, if it may have any size."""
        while isinstance(node, ir.Convert) and isinstance(node.operand.type, IntType):
            node = node.operand
        if isinstance(node, ir.Size) and self.values.is_relation(node.container.type):
            assert isinstance(node.container.type, SetType)
            return node.container.type.element, self.evaluate(node.container)
        if isinstance(node, ir.Reduce) and node.kind == "sum":
            return self._summed_set(node)
        return None

    def _at_least(self, element: Type, members: Relation, count: int) -> Truth:
        """Whether a set has so many elements."""
        named = [self.values.variable(element, "one") for _ in range(count)]
        different = (
            negation(self.values.equal(element, a, b)) for index, a in enumerate(named) for b in named[:index]
        )
        return self.values.of_some(tuple(named), conj((*map(members.holds, named), *different)))

    def visit_convert(self, node: ir.Convert) -> Value:
        fits, value = self.values.cast(node.operand.type, node.type, self.evaluate(node.operand))
        self.fail_unless(fits, node.at)
        return value

    def visit_sorted(self, node: ir.Sorted) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        numbers = self.values.numbers
        value = self.evaluate(node.seq)
        if isinstance(value, Relation):
            return replace(value, order="descending" if node.reverse else "ascending")
        length, items = value
        ordered = list(items)
        for end in range(kind.capacity - 1, 0, -1):
            for index in range(end):
                low, high = ordered[index], ordered[index + 1]
                wrong = numbers.less(low, high) if node.reverse else numbers.less(high, low)
                swap = conj((numbers.less(index + 1, length), wrong))
                ordered[index] = numbers.either(swap, high, low)
                ordered[index + 1] = numbers.either(swap, low, high)
        return (length, tuple(ordered))


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _union(a: Truth, b: Truth) -> Truth:
    return disj((a, b))


def _intersection(a: Truth, b: Truth) -> Truth:
    return conj((a, b))


def _difference(a: Truth, b: Truth) -> Truth:
    return conj((a, negation(b)))


def _symmetric(a: Truth, b: Truth) -> Truth:
    return either(a, negation(b), b)
