"""Expressions of the program's graph as z3 terms: what CPython would evaluate, and when that would fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from floodmark.checkers.symbolic.terms import Truth, as_term, conj, disj, either, implied, negation, substituted
from floodmark.checkers.symbolic.value_components import Relation, Table, replaced_in, symbols_in
from floodmark.checkers.symbolic.value_types import UnsupportedError, Value
from floodmark.checkers.symbolic.values import Values
from floodmark.compiler.failures import can_fail
from floodmark.compiler.ir import (
    BOOL,
    And,
    Arithmetic,
    BagChange,
    Choose,
    Compare,
    Const,
    Contains,
    Convert,
    Count,
    Domain,
    Equal,
    Expr,
    Extremum,
    Field,
    Generator,
    Implies,
    Inline,
    IsNone,
    Local,
    MapGet,
    NoneType,
    Not,
    NothingType,
    OpenConstant,
    Or,
    Position,
    Range,
    RecordOf,
    Reduce,
    SeqConcat,
    SeqGet,
    SeqOf,
    SeqSlice,
    SetBinary,
    SetOf,
    Size,
    Sorted,
    StateVar,
    Subset,
    Universe,
    Witness,
)
from floodmark.language.types import (
    WIDEST_INTEGER,
    BagType,
    IntType,
    MapType,
    OpenIdentifierType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)

MOST_ITERATIONS = 4096
MOST_NAMED = 3
"""The size of a set of any size is compared with a number up to this by naming its elements."""


class Evaluator:
    """Evaluates expressions in a symbolic state.

    ``path`` is the condition under which the current expression is evaluated at all; ``failures`` collects where and
    under which condition the model leaves its declared types.
    """

    def __init__(self, values: Values, new: dict[str, Value], old: dict[str, Value] | None = None) -> None:
        self.values = values
        self.state = {"new": new, "old": old or {}}
        self.locals: dict[int, Value] = {}
        self.path: Truth = True
        self.failures: list[tuple[Position, Truth]] = []
        self.bound: list[Value] = []

    def reached(self) -> Truth:
        """The condition under which evaluation gets to the current expression."""
        return self.path

    def fail_unless(self, condition: Truth, at: Position) -> None:
        if condition is not True:
            bad = conj((self.reached(), negation(condition)))
            if bad is not False:
                self.failures.append((at, bad))

    @contextmanager
    def under(self, condition: Truth) -> Iterator[None]:
        """For what is evaluated only when the condition is true."""
        saved = self.path
        self.path = conj((saved, condition))
        yield
        self.path = saved

    def evaluate(self, node: Expr) -> Value:
        """The value of an expression."""
        method: Callable[[Any], Value] = getattr(self, "_" + type(node).__name__.lower())
        try:
            return method(node)
        except UnsupportedError as error:
            raise error.at(node.at) from None

    def truth(self, node: Expr) -> Truth:
        return self.evaluate(node)

    # Leaves and access.

    def _const(self, node: Const) -> Value:
        return self.values.constant(node.type, node.value)

    def _openconstant(self, node: OpenConstant) -> Value:
        return self.values.constants[node.name]

    def _local(self, node: Local) -> Value:
        return self.locals[node.slot]

    def _statevar(self, node: StateVar) -> Value:
        return self.state[node.which][node.name]

    def _field(self, node: Field) -> Value:
        kind = node.record.type
        assert isinstance(kind, RecordType)
        index = [name for name, _ in kind.fields].index(node.name)
        return self.evaluate(node.record)[index]

    def _mapget(self, node: MapGet) -> Value:
        kind = node.map.type
        assert isinstance(kind, MapType)
        entries = self.evaluate(node.map)
        if isinstance(entries, Table):
            return entries.at(self.evaluate(node.key))
        return self.selected(kind.value, entries, self.positions(kind.key, self.evaluate(node.key)))

    def positions(self, kind: Type, key: Value) -> list[Truth]:
        """For each value of a finite type, whether ``key`` is that value."""
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

    def _some_element(self, kind: Type, value: Relation, index: Any, at: Position) -> Value:
        """The element at a position of a list of any length: some element, if the list has that position."""
        if value.length is None or not isinstance(kind, IntType):
            raise UnsupportedError("this list may have any length, which is not known, so it cannot be indexed here")
        numbers, facts = self.values.numbers, self.values.facts
        place = numbers.either(numbers.less(index, 0), numbers.plus(index, value.length), index)
        inside = conj((numbers.at_most(0, place), numbers.less(place, value.length)))
        self.fail_unless(inside, at)
        example = self.values.variable(kind, "element")
        mentioned = facts.free(as_term(value.holds(example)), as_term(inside))
        element = facts.chosen("element", example.sort(), [it for it in mentioned if not it.eq(example)])
        facts.add([element], implied(inside, value.holds(element)))
        return element

    def listed(self, node: Expr) -> Value:
        """A sequence, position by position."""
        value = self.evaluate(node)
        if isinstance(value, Relation):
            message = "a list of any length has no positions here, so it cannot be indexed, cut, joined or sorted"
            raise UnsupportedError(message)
        return value

    def seq_position(self, kind: SeqType, value: Value, index: Any, at: Position) -> list[Truth]:
        """For each position, whether an index means it, as in Python; fails when the index is out of range."""
        numbers = self.values.numbers
        length = value[0]
        index = numbers.either(numbers.less(index, 0), numbers.plus(index, length), index)
        self.fail_unless(conj((numbers.at_most(0, index), numbers.less(index, length))), at)
        return [numbers.equal(index, position) for position in range(kind.capacity)]

    def _seqget(self, node: SeqGet) -> Value:
        kind = node.seq.type
        assert isinstance(kind, SeqType)
        value, index = self.evaluate(node.seq), self.evaluate(node.index)
        if isinstance(value, Relation):
            return self._some_element(kind.element, value, index, node.at)
        if kind.capacity == 0:
            self.fail_unless(False, node.at)
            return self.values.default(kind.element)
        return self.selected(kind.element, value[1], self.seq_position(kind, value, index, node.at))

    def _seqslice(self, node: SeqSlice) -> Value:
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

    def _seqconcat(self, node: SeqConcat) -> Value:
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

    def _seqof(self, node: SeqOf) -> Value:
        return (len(node.elements), tuple(self.evaluate(element) for element in node.elements))

    def _recordof(self, node: RecordOf) -> Value:
        kind = node.type
        assert isinstance(kind, RecordType)
        return tuple(self.evaluate(node.fields[name]) for name, _ in kind.fields)

    # Sets and bags.

    def _setof(self, node: SetOf) -> Value:
        kind = node.type
        assert isinstance(kind, SetType)
        result = self.values.default(kind)
        for element in node.elements:
            room, result = self.values.with_element(kind, result, self.evaluate(element))
            self.fail_unless(room, node.at)
        return result

    def _setbinary(self, node: SetBinary) -> Value:
        kind, of = node.type, node.left.type
        assert isinstance(kind, SetType)
        assert isinstance(of, SetType)
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(kind.element, NothingType):
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
        """The slots whose elements are (``wanted``) or are not in ``other``, moved together."""
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
        """The most elements that a combination of two sets can have."""
        if op == "-":
            return left.most
        if left.most is None or right.most is None:
            return (left.most if right.most is None else right.most) if op == "&" else None
        numbers = self.values.numbers
        return numbers.smaller(left.most, right.most) if op == "&" else numbers.plus(left.most, right.most)

    def _subset(self, node: Subset) -> Truth:
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

    def _bagchange(self, node: BagChange) -> Value:
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

    def _contains(self, node: Contains) -> Truth:
        kind = node.container.type
        assert isinstance(kind, SetType | SeqType | BagType)
        item, container = self.evaluate(node.item), self.evaluate(node.container)
        if isinstance(kind.element, NothingType):
            return False
        fits, embedded = self.values.cast(node.item.type, kind.element, item)
        return conj((fits, self.values.contains(kind, container, embedded)))

    def _size(self, node: Size) -> Any:
        return self.values.size(node.container.type, self.evaluate(node.container))

    def _count(self, node: Count) -> Any:
        kind = node.bag.type
        assert isinstance(kind, BagType)
        item, bag = self.evaluate(node.item), self.evaluate(node.bag)
        return self.values.numbers.count(
            conj((there, self.values.equal(kind.element, held, item)))
            for there, held in self.values.elements(kind, bag)
        )

    # Arithmetic and logic.

    def _arithmetic(self, node: Arithmetic) -> Any:
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

    def _compare(self, node: Compare) -> Truth:
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

    def _equal(self, node: Equal) -> Truth:
        counted = self._counted(node)
        if counted is not None:
            return counted
        return self.values.equal(node.left.type, self.evaluate(node.left), self.evaluate(node.right))

    def _not(self, node: Not) -> Truth:
        return negation(self.evaluate(node.operand))

    def _and(self, node: And) -> Truth:
        return self._chain(node.operands, stop_at=False)

    def _or(self, node: Or) -> Truth:
        return self._chain(node.operands, stop_at=True)

    def _chain(self, operands: list[Expr], stop_at: bool) -> Truth:
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

    def _implies(self, node: Implies) -> Truth:
        premise = self.evaluate(node.premise)
        return implied(premise, self.evaluate(node.conclusion))

    def _choose(self, node: Choose) -> Value:
        condition = self.evaluate(node.condition)
        if isinstance(condition, bool):
            return self.evaluate(node.then if condition else node.otherwise)
        with self.under(condition):
            then = self.evaluate(node.then)
        with self.under(negation(condition)):
            otherwise = self.evaluate(node.otherwise)
        return self.values.either(node.type, condition, then, otherwise)

    def _isnone(self, node: IsNone) -> Truth:
        value = self.evaluate(node.operand)
        match node.operand.type:
            case NoneType():
                return True
            case OptionalType():
                return negation(value[0])
        return False

    def _extremum(self, node: Extremum) -> Any:
        numbers = self.values.numbers
        best = self.evaluate(node.operands[0])
        for operand in node.operands[1:]:
            value = self.evaluate(operand)
            best = numbers.larger(best, value) if node.largest else numbers.smaller(best, value)
        return best

    def _witness(self, node: Witness) -> Truth:
        return self.evaluate(node.operand)

    # Few elements of a set of any size.

    def _counted(self, node: Compare | Equal) -> Truth | None:
        """A comparison of the size of a set of any size with a small number, made by naming the elements."""
        if not self.values.any_size or not isinstance(node.left.type, IntType):
            return None
        for counted, given, op in (
            (node.left, node.right, "=="if isinstance(node, Equal) else node.op),
            (node.right, node.left, "==" if isinstance(node, Equal) else _MIRRORED[node.op]),
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

    def _small(self, node: Expr) -> int | None:
        while isinstance(node, Convert) and isinstance(node.operand.type, IntType):
            node = node.operand
        if isinstance(node, Const) and isinstance(node.value, int) and node.value <= MOST_NAMED:
            return node.value
        return None

    def _counted_set(self, node: Expr) -> tuple[Type, Relation] | None:
        """The set whose elements an expression counts, if it may have any size."""
        while isinstance(node, Convert) and isinstance(node.operand.type, IntType):
            node = node.operand
        if isinstance(node, Size) and self.values.is_relation(node.container.type):
            assert isinstance(node.container.type, SetType)
            return node.container.type.element, self.evaluate(node.container)
        if isinstance(node, Reduce) and node.kind == "sum":
            return self._summed_set(node)
        return None

    def _at_least(self, element: Type, members: Relation, count: int) -> Truth:
        """Whether a set has so many elements."""
        if count <= 0:
            return True
        named = [self.values.variable(element, "one") for _ in range(count)]
        different = (
            negation(self.values.equal(element, a, b)) for index, a in enumerate(named) for b in named[:index]
        )
        return self.values.of_some(tuple(named), conj((*map(members.holds, named), *different)))

    def _convert(self, node: Convert) -> Value:
        fits, value = self.values.cast(node.operand.type, node.type, self.evaluate(node.operand))
        self.fail_unless(fits, node.at)
        return value

    def _sorted(self, node: Sorted) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        numbers = self.values.numbers
        value = self.evaluate(node.seq)
        if isinstance(value, Relation):
            return value
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

    def _inline(self, node: Inline) -> Value:
        raise NotImplementedError

    # Loops and comprehensions.

    def visited(self, domain: Domain, of: Type) -> Relation | list[tuple[Truth, Value]]:
        """What a loop runs over: a list as from ``iteration``, or a set where there may be any number of elements."""
        match domain:
            case Universe(kind) if self.values.any_size and self.values.is_unbounded(kind):
                return Relation(lambda item: self.values.well_formed(kind, item), None)
            case Range(step=1) if self.values.any_size and isinstance(of, IntType) and of.codes > MOST_ITERATIONS:
                low, high = self.evaluate(domain.low), self.evaluate(domain.high)
                numbers = self.values.numbers
                return Relation(lambda item: conj((numbers.at_most(low, item), numbers.less(item, high))), None)
            case Expr():
                value = self.evaluate(domain)
                return value if isinstance(value, Relation) else self.values.elements(domain.type, value)
        return self.iteration(domain, of)

    def iteration(self, domain: Domain, of: Type) -> list[tuple[Truth, Value]]:
        """The values of a loop variable in order, each with the condition under which the loop gets to it."""
        match domain:
            case Universe(kind):
                return [(True, value) for value in self.values.lifted(kind)]
            case Range():
                return self._range(domain, of)
        raise AssertionError(domain)

    def _range(self, domain: Range, of: Type) -> list[tuple[Truth, Value]]:
        numbers = self.values.numbers
        low, high = self.evaluate(domain.low), self.evaluate(domain.high)
        if isinstance(low, int) and isinstance(high, int):
            return [(True, index) for index in range(low, high, domain.step)]
        assert isinstance(of, IntType)
        if of.codes > MOST_ITERATIONS:
            how_many = "any number of" if self.values.unbounded else f"up to {of.codes}"
            message = f"a range of {how_many} numbers is too long to unroll; at most {MOST_ITERATIONS}"
            raise UnsupportedError(message, domain.low.at.file, domain.low.at.line)
        found = []
        for turn in range((of.codes - 1) // abs(domain.step) + 1):
            index = numbers.plus(low, turn * domain.step)
            inside = numbers.less(index, high) if domain.step > 0 else numbers.less(high, index)
            found.append((inside, index))
        return [(inside, index) for inside, index in found if inside is not False]

    def _reduce(self, node: Reduce) -> Value:
        match node.kind:
            case "any" | "all":
                return self._any_or_all(node, 0)
            case "sum":
                return self._sum(node)
            case "min" | "max":
                return self._best(node)
            case "set":
                return self._set_of(node)
            case "seq":
                return self._seq_of(node)
        return self._map_of(node)

    def _any_or_all(self, node: Reduce, depth: int) -> Truth:
        """Whether any or all bodies are true; as in CPython, evaluation stops at the first that decides."""
        if depth == len(node.generators):
            return self.evaluate(node.body)
        looking_for = node.kind == "any"
        generator = node.generators[depth]
        visited = self.visited(generator.domain, generator.variable.type)
        if isinstance(visited, Relation):
            return self._quantified(node, depth, generator, visited)
        unordered = isinstance(generator.domain, Expr) and self.values.is_unordered(generator.domain.type)
        careful = (not unordered and any(can_fail(part) for part in (node.body, *generator.conditions))) or (
            depth + 1 < len(node.generators) and not unordered
        )
        found: list[Truth] = []
        saved = self.path
        for there, value in visited:
            self.locals[generator.variable.slot] = value
            before = self.path
            chosen = self._chosen(generator, there)
            if chosen is not False:
                self.path = conj((before, chosen))
                inner = self._any_or_all(node, depth + 1)
                hit = conj((chosen, inner)) if looking_for else implied(chosen, inner)
                found.append(hit)
                self.path = before
                if hit is looking_for:
                    break
                if careful:
                    self.path = conj((before, negation(hit) if looking_for else hit))
        self.path = saved
        return disj(found) if looking_for else conj(found)

    def _quantified(self, node: Reduce, depth: int, generator: Generator, relation: Relation) -> Truth:
        """``any`` and ``all`` over a set without a bound."""
        item = self.values.variable(generator.variable.type, generator.variable.name)
        self.locals[generator.variable.slot] = item
        saved, already = self.path, len(self.failures)
        there = relation.holds(item)
        self.path = conj((saved, there))
        chosen = self._chosen(generator, there)
        self.path = conj((saved, chosen))
        inner = self._any_or_all(node, depth + 1)
        self.path = saved
        self.some_fail(item, already)
        if node.kind == "any":
            return self.values.of_some(item, conj((chosen, inner)))
        return self.values.of_every(item, implied(chosen, inner))

    def some_fail(self, item: Value, already: int) -> None:
        """Closes the failures found since there were ``already`` so many: for some value of a variable they happen."""
        self.failures[already:] = [(at, self.values.of_some(item, bad)) for at, bad in self.failures[already:]]

    def _chosen(self, generator: Generator, there: Truth) -> Truth:
        """Whether an element passes the conditions of its generator."""
        saved = self.path
        chosen = there
        for condition in generator.conditions:
            self.path = conj((saved, chosen))
            chosen = conj((chosen, self.evaluate(condition)))
            if chosen is False:
                break
        self.path = saved
        return chosen

    def generate(self, node: Reduce, depth: int = 0, outer: Truth = True) -> Iterator[Truth]:
        """Iterates over a comprehension's elements with its variables set; yields whether each one counts.

        Where there may be any number of elements, a variable stands for each of them, and is in ``bound`` meanwhile.
        """
        if depth == len(node.generators):
            yield outer
            return
        generator = node.generators[depth]
        visited = self.visited(generator.domain, generator.variable.type)
        if isinstance(visited, Relation):
            item = self.values.variable(generator.variable.type, generator.variable.name)
            saved, already = self.path, len(self.failures)
            self.locals[generator.variable.slot] = item
            self.bound.append(item)
            there = visited.holds(item)
            self.path = conj((saved, there))
            chosen = self._chosen(generator, there)
            if chosen is not False:
                self.path = conj((saved, chosen))
                yield from self.generate(node, depth + 1, conj((outer, chosen)))
            self.path = saved
            self.bound.pop()
            self.some_fail(item, already)
            return
        for there, value in visited:
            saved = self.path
            self.locals[generator.variable.slot] = value
            self.path = conj((saved, there))
            chosen = self._chosen(generator, there)
            if chosen is not False:
                self.path = conj((saved, chosen))
                yield from self.generate(node, depth + 1, conj((outer, chosen)))
            self.path = saved

    def _sum(self, node: Reduce) -> Any:
        numbers = self.values.numbers
        total: Any = 0
        counted = self._summed_set(node)
        if counted is not None:
            element, members = counted
            return self.values.size(SetType(element), members)
        for chosen in self.generate(node):
            if self.bound:
                raise UnsupportedError("a sum over any number of elements is known only when each counts as one")
            total = numbers.plus(total, numbers.either(chosen, self.evaluate(node.body), 0))
        return total

    def _summed_set(self, node: Reduce) -> tuple[Type, Relation] | None:
        """The elements that a sum of ones counts, if there may be any number of them."""
        if len(node.generators) != 1 or not self.values.any_size:
            return None
        (generator,) = node.generators
        counts = _counts_as_one(node.body)
        domain = generator.domain
        of = generator.variable.type
        if isinstance(domain, Universe):
            distinct = self.values.is_unbounded(of)
        else:
            distinct = isinstance(domain, Expr) and self.values.is_relation(domain.type)
        if counts is None or not distinct:
            return None
        found: Relation | None = None
        for chosen in self.generate(node):
            item = self.bound[-1]
            with self.under(chosen):
                one = conj((chosen, self.evaluate(counts)))
            found = self._where(of, item, one)
        return None if found is None else (of, found)

    def _where(self, kind: Type, item: Value, truth: Truth) -> Relation:
        """The values of which a statement about a variable is true."""
        own = symbols_in(item)
        return Relation(lambda known: substituted(truth, own, self.values.arguments(kind, known)), None)

    def _best(self, node: Reduce) -> Any:
        numbers = self.values.numbers
        best: Any = None
        some: Truth = False
        outside = len(self.bound)
        for chosen in self.generate(node):
            value = self.evaluate(node.body)
            if self.bound[outside:]:
                chosen, value = self._extreme(tuple(self.bound[outside:]), chosen, value, node.kind == "max")
            if best is None:
                best, some = value, chosen
                continue
            better = numbers.less(best, value) if node.kind == "max" else numbers.less(value, best)
            best = numbers.either(conj((chosen, disj((negation(some), better)))), value, best)
            some = disj((some, chosen))
        if node.default is not None:
            with self.under(negation(some)):
                default = self.evaluate(node.default)
            return default if best is None else numbers.either(some, best, default)
        self.fail_unless(some, node.at)
        return self.values.default(node.type) if best is None else best

    def _extreme(self, item: Value, chosen: Truth, value: Any, largest: bool) -> tuple[Truth, Any]:
        """Whether there is an element, and the best value of one: that of a witness, which the facts say is best.

        Among finitely many elements one is best, so there is a witness whenever there is an element.
        """
        facts, numbers = self.values.facts, self.values.numbers
        own = symbols_in(item)
        mentioned = facts.free(as_term(chosen), *([] if isinstance(value, int) else [value]))
        over = [it for it in mentioned if not any(it.eq(mine) for mine in own)]
        witness = [facts.chosen("best", mine.sort(), over) for mine in own]
        best = value if isinstance(value, int) else substituted(value, own, witness)
        better = numbers.at_most(value, best) if largest else numbers.at_most(best, value)
        facts.add(witness, implied(chosen, conj((substituted(chosen, own, witness), better))))
        return self.values.of_some(item, chosen), best

    def _set_of(self, node: Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, SetType)
        if self.values.is_relation(kind):
            return self._set_of_any_size(node, kind.element)
        result = self.values.default(kind)
        for chosen in self.generate(node):
            room, larger = self.values.with_element(kind, result, self.evaluate(node.body))
            self.fail_unless(room, node.at)
            result = self.values.either(kind, chosen, larger, result)
        return result

    def _set_of_any_size(self, node: Reduce, element: Type) -> Relation:
        parts: list[Relation] = []
        outside = len(self.bound)
        for chosen in self.generate(node):
            value, item = self.evaluate(node.body), tuple(self.bound[outside:])
            if len(item) == 1 and value is item[0]:
                parts.append(self._where(element, value, chosen))
            else:
                parts.append(self._image(element, item, chosen, value))
        return Relation(lambda known: disj(part.holds(known) for part in parts), None)

    def _image(self, element: Type, item: Value, chosen: Truth, value: Value) -> Relation:
        """The values that an expression takes."""
        return Relation(
            lambda known: self.values.of_some(item, conj((chosen, self.values.equal(element, value, known)))), None
        )

    def _seq_of(self, node: Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        for generator in node.generators:
            if isinstance(generator.domain, Expr) and self.values.is_unordered(generator.domain.type):
                raise UnsupportedError(f"{generator.domain.type} has no order here, so it cannot become a sequence")
        if kind.capacity >= WIDEST_INTEGER:
            listed = self._set_of_any_size(node, kind.element)
            listed.repeats = len(node.generators) > 1 or not _is_variable(node)
            one = Reduce(kind.element, node.at, "sum", node.generators, Const(IntType(1, 1), node.at, 1))
            counted = self._summed_set(one)
            listed.length = None if counted is None else self.values.size(SetType(counted[0]), counted[1])
            return listed
        numbers = self.values.numbers
        items = [self.values.default(kind.element)] * kind.capacity
        count: Any = 0
        for chosen in self.generate(node):
            value = self.evaluate(node.body)
            for position in range(kind.capacity):
                here = conj((chosen, numbers.equal(count, position)))
                items[position] = self.values.either(kind.element, here, value, items[position])
            count = numbers.plus(count, numbers.either(chosen, 1, 0))
        return (count, tuple(items))

    def _map_of(self, node: Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, MapType)
        if isinstance(kind.key, OpenIdentifierType):
            for _ in self.generate(node):
                value, own = self.evaluate(node.body), symbols_in(self.bound[-1])
            return Table(lambda key: replaced_in(value, lambda term: substituted(term, own, [key])))
        return tuple(self.evaluate(node.body) for _ in self.generate(node))


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _counts_as_one(body: Expr) -> Expr | None:
    """The condition under which an element of a sum counts as one, if it otherwise counts as nothing."""
    match body:
        case Const(value=1):
            return Const(BOOL, body.at, True)
        case Choose(condition=condition, then=Const(value=1), otherwise=Const(value=0)):
            return condition
    return None


def _is_variable(node: Reduce) -> bool:
    """Whether a comprehension lists the elements of its domain themselves, each once."""
    (generator,) = node.generators
    domain = generator.domain
    once = isinstance(domain, Universe | Range) or isinstance(domain.type, SetType)
    return once and isinstance(node.body, Local) and node.body.slot == generator.variable.slot


def _union(a: Truth, b: Truth) -> Truth:
    return disj((a, b))


def _intersection(a: Truth, b: Truth) -> Truth:
    return conj((a, b))


def _difference(a: Truth, b: Truth) -> Truth:
    return conj((a, negation(b)))


def _symmetric(a: Truth, b: Truth) -> Truth:
    return either(a, negation(b), b)


