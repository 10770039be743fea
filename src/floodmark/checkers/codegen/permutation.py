"""Symmetry: machine code that replaces a state by the representative of its orbit (``floodmark.compiler.renaming``).

Renaming is exact for every type: identifiers are looked up, sets and maps are rearranged, and slots are sorted again.

``canonical`` handles states in chunks. First it finds the order of the identifiers of each state, for several states
side by side (``lanes.py``), and then it renames: side by side as well (``lane_renaming.py``), or one state after the
other if a type needs branches for that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from floodmark.checkers.codegen import containers, elements, windows
from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, I64, Value, const, cut, register, resize, shifted_left, table
from floodmark.checkers.codegen.lane_renaming import NIBBLE, LaneRenaming, is_straight
from floodmark.checkers.codegen.lanes import LANES, VECTOR, LaneBuilder
from floodmark.checkers.codegen.routine import Routine
from floodmark.checkers.codegen.signature import Signatures, is_determined
from floodmark.checkers.codegen.state_words import StateWords, code_in
from floodmark.compiler.layout import Layout
from floodmark.compiler.renaming import SymmetryProof, is_renamed
from floodmark.language.errors import ModelError
from floodmark.language.types import (
    BagType,
    IdentifierType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)

MAX_PERMUTATIONS = 5040
CHUNK = 32
"""States whose orders are found before the first of them is renamed: a multiple of ``LANES``. No branch depends on a
state meanwhile."""
_TIES = 32
"""The bit of an order from which it has the ties."""
Numbering = tuple[Value, Value]
"""The order of identifiers, and the way in which the places that it gives them are rearranged, a nibble for each."""


def emit_canonical(module: ir.Module, layout: Layout, symmetry_proof: SymmetryProof) -> None:
    """Adds ``canonical(states*, count)`` to a module. Raises ModelError when there are too many renamings to
    try."""
    types = list(symmetry_proof.kinds)
    count = math.prod(math.factorial(kind.count) for kind in types)
    if count > MAX_PERMUTATIONS:  # so of any type there are fewer identifiers than a nibble has values
        raise ModelError(f"identifiers have {count} renamings, more than {MAX_PERMUTATIONS}; use symmetry = false")
    function = ir.Function(module, ir.FunctionType(I64, [I64.as_pointer(), I64]), "canonical")
    function.attributes.append("nounwind")
    _Canonical(function, layout, types).emit_all(module)


def emit_rename(module: ir.Module, layout: Layout, symmetry_proof: SymmetryProof) -> None:
    """Adds ``rename(state*, images*)`` to a module; ``images`` has a word for each kind, as ``packed`` gives it."""
    pointer = I64.as_pointer()
    function = ir.Function(module, ir.FunctionType(I64, [pointer, pointer]), "rename")
    function.attributes.append("nounwind")
    _Canonical(function, layout, list(symmetry_proof.kinds)).emit_one()


def packed(permutation: tuple[int, ...]) -> int:
    """The images of identifiers by their codes, both from 0 on."""
    return sum(image << (NIBBLE * index) for index, image in enumerate(permutation))


class _Canonical:
    """Emits the renamings that sort the signatures, and the choice of the least of the resulting states."""

    def __init__(self, function: ir.Function, layout: Layout, types: list[IdentifierType]) -> None:
        self.routine = Routine(function)
        self.builder = self.routine.builder
        self.states = StateWords(self.builder, layout)
        self.types = types
        self.classes = {kind.cls for kind in types}
        self.images: dict[IdentifierType, Value] = {}

    def emit_all(self, module: ir.Module) -> None:
        if self.types:
            self._emit_chunks(module)
        self.builder.ret(const(0))
        self.routine.finish()

    def emit_one(self) -> None:
        """Renames by a given renaming."""
        state, images = self.routine.function.args
        pointers = self._pointers(state)
        old, new = self._room_for_state(), self._room_for_state()
        self.states.words["old"] = old
        self.states.words["new"] = new
        self._read(pointers)
        for other in new:
            self.builder.store(const(0), other)
        for number, named in enumerate(self.types):
            self.images[named] = self.builder.load(self.builder.gep(images, [const(number)]))
        for name, kind in self.states.layout.variables.items():
            self.states.write_code(name, self.renamed(kind, self.states.read_code(name, "old")))
        for pointer, place in zip(pointers, new, strict=True):
            self.builder.store(self.builder.load(place), pointer)
        self.builder.ret(const(0))
        self.routine.finish()

    def _emit_chunks(self, module: ir.Module) -> None:
        builder = self.builder
        states, count = self.routine.function.args
        orders = {kind: self.routine.room(ir.ArrayType(I64, CHUNK), "orders") for kind in self.types}
        variables = self.states.layout.variables.values()
        straight = all(is_straight(kind, self.types) for kind in variables)
        with self.routine.counting(const(0), count, CHUNK) as (start, _, _):
            left = builder.sub(count, start)
            size = builder.select(builder.icmp_unsigned("<", left, const(CHUNK)), left, const(CHUNK))
            first = self._state_at(states, start)
            with self.routine.counting(const(0), size, LANES) as (index, _, _):
                self._find_orders(first, index, builder.sub(size, const(1)), orders)
            (self._rename_side_by_side if straight else self._rename_each)(module, first, size, orders)

    @contextmanager
    def _changing(self, size: Value, orders: dict[IdentifierType, Value]) -> Iterator[tuple[Value, list[Value]]]:
        """A loop over the states of a chunk that renaming may change: the index of one, and its orders."""
        with self.routine.counting(const(0), size) as (index, _, _):
            chosen = [self.builder.load(self.builder.gep(room, [const(0), index])) for room in orders.values()]
            with self.routine.when(self._may_change(chosen)):
                yield index, chosen

    def _rename_each(self, module: ir.Module, first: Value, size: Value, orders: dict[IdentifierType, Value]) -> None:
        """Renames the states of a chunk one after the other."""
        builder = self.builder
        old, new, best = self._room_for_state(), self._room_for_state(), self._room_for_state()
        self.states.words["old"] = old
        self.states.words["new"] = new
        with self._changing(size, orders) as (index, chosen):
            pointers = self._pointers(self._state_at(first, index))
            codes = self._read(pointers)
            self._begin(chosen, old, best)
            self._try_all(module, chosen, [], partial(self._try, codes, best))
            for pointer, place in zip(pointers, best, strict=True):
                builder.store(builder.load(place), pointer)

    def _rename_side_by_side(
        self, module: ir.Module, first: Value, size: Value, orders: dict[IdentifierType, Value]
    ) -> None:
        """Renames the states of a chunk, several pairs of a state and a renaming at a time."""
        builder, width = self.builder, self.states.layout.words
        best = builder.gep(self.routine.room(ir.ArrayType(I64, CHUNK * width), "best"), [const(0), const(0)])
        pairs = self.routine.room(ir.ArrayType(I64, LANES * (1 + 2 * len(self.types))), "pairs")
        filled = self.routine.room(I64, "filled")
        renaming = self._side_by_side(module)

        def rename(count: Value) -> None:
            builder.call(renaming, [first, best, builder.gep(pairs, [const(0), const(0)]), count])
            builder.store(const(0), filled)

        def note(numberings: list[Numbering]) -> None:
            number = builder.load(filled)
            for row, word in enumerate([index, *(word for numbering in numberings for word in numbering)]):
                builder.store(word, builder.gep(pairs, [const(0), builder.add(number, const(LANES * row))]))
            count = builder.add(number, const(1))
            builder.store(count, filled)
            with self.routine.when(builder.icmp_unsigned("==", count, const(LANES))):
                rename(const(LANES))

        builder.store(const(0), filled)
        with self._changing(size, orders) as (index, chosen):
            self._begin(
                chosen, self._pointers(self._state_at(first, index)), self._pointers(self._state_at(best, index))
            )
            self._try_all(module, chosen, [], note)
        left = builder.load(filled)
        with self.routine.when(builder.icmp_unsigned("!=", left, const(0))):
            rename(left)
        with self._changing(size, orders) as (index, _):
            rows = (self._pointers(self._state_at(base, index)) for base in (first, best))
            for pointer, place in zip(*rows, strict=True):
                builder.store(builder.load(place), pointer)

    def _side_by_side(self, module: ir.Module) -> ir.Function:
        """(states*, best*, pairs*, count) -> 0: renames states, and keeps for each the least result so far. A pair is
        the index of a state and a numbering for each kind; ``pairs`` has them side by side."""
        pointer, layout = I64.as_pointer(), self.states.layout
        function = ir.Function(module, ir.FunctionType(I64, [pointer, pointer, pointer, I64]), "renamed")
        function.attributes += ["nounwind", "noinline"]
        function.linkage = "internal"
        routine = Routine(function)
        builder = routine.builder
        states, best, pairs, count = function.args
        numbers = [const(lane) for lane in range(LANES)]
        used = [builder.select(builder.icmp_unsigned("<", lane, count), lane, const(0)) for lane in numbers]

        def row(number: int) -> list[Value]:
            return [builder.load(builder.gep(pairs, [builder.add(lane, const(LANES * number))])) for lane in used]

        old = [[builder.gep(states, [builder.add(builder.mul(index, const(layout.words)), const(word))])
                for index in row(0)] for word in range(layout.words)]
        lanes = LaneBuilder(builder.block)
        images = {}
        for number, kind in enumerate(self.types):
            order, way = (lanes.side_by_side(row(1 + 2 * number + part)) for part in range(2))
            images[kind] = _rearranged(lanes, kind, order, way)
        words = [lanes.side_by_side([builder.load(place) for place in of_word]) for of_word in old]
        found = [routine.room(VECTOR, "renamed") for _ in words]
        for word, room in zip(LaneRenaming(lanes, routine, images).state(layout, words), found, strict=True):
            lanes.store_all(word, room)
        builder.position_at_end(lanes.block)
        with routine.counting(const(0), count) as (lane, _, _):
            new = [builder.gep(ir.Value(pointer, room.text), [lane]) for room in found]
            index = builder.mul(builder.load(builder.gep(pairs, [lane])), const(layout.words))
            _keep_smaller(
                builder, new, [builder.gep(best, [builder.add(index, const(word))]) for word in range(layout.words)]
            )
        builder.ret(const(0))
        routine.finish()
        return function

    def _begin(self, chosen: list[Value], old: list[Value], best: list[Value]) -> None:
        """Begins with the state itself if the first renaming to try would change nothing, else with none."""
        known = self._is_known(chosen)
        for other, place in zip(best, old, strict=True):
            self.builder.store(self.builder.select(known, self.builder.load(place), const(-1)), other)

    def _find_orders(self, first: Value, index: Value, last: Value, orders: dict[IdentifierType, Value]) -> None:
        """Stores the orders of the states from ``index`` on. Lanes without a state have the last one."""
        builder = self.builder
        pointers = []
        for lane in range(LANES):
            place = builder.add(index, const(lane))
            place = builder.select(builder.icmp_unsigned("<", place, last), place, last)
            pointers.append(self._pointers(self._state_at(first, place)))
        words = [[builder.load(pointer) for pointer in of_word] for of_word in zip(*pointers, strict=True)]
        lanes = LaneBuilder(builder.block)
        states = [lanes.side_by_side(of_word) for of_word in words]
        slots = self.states.layout.slots
        codes = {name: code_in(lanes, slot, states.__getitem__) for name, slot in slots.items()}
        for kind, room in orders.items():
            lanes.store_all(self._order(lanes, kind, codes), builder.gep(room, [const(0), index]))

    def _state_at(self, states: Value, index: Value) -> Value:
        return self.builder.gep(states, [self.builder.mul(index, const(self.states.layout.words))])

    def _pointers(self, state: Value) -> list[Value]:
        return [self.builder.gep(state, [const(index)]) for index in range(self.states.layout.words)]

    def _read(self, pointers: list[Value]) -> dict[str, Value]:
        """The codes of the variables of a state, which is the old one from now on."""
        for place, pointer in zip(self.states.words["old"], pointers, strict=True):
            self.builder.store(self.builder.load(pointer), place)
        return {name: self.states.read_code(name, "old") for name in self.states.layout.variables}

    def _order(self, builder: ir.IRBuilder, kind: IdentifierType, codes: dict[str, Value]) -> Value:
        """The identifiers' new numbers where those with equal signatures keep their order, a nibble each; and from bit
        ``_TIES`` on, unless one order suffices, a bit for each place that has the same signature as the next one."""
        signatures = Signatures(builder, kind, self.classes).of(self.states.layout.variables, codes)
        order: Value = const(0)
        ties: list[Value] = [const(0)] * kind.count
        for one, other in itertools.combinations(range(kind.count), 2):  # of each pair, one comes behind the other
            behind = builder.zext(builder.icmp_unsigned("<", signatures[other], signatures[one]), I64)
            order = builder.add(order, builder.shl(behind, const(NIBBLE * one)))
            order = builder.add(order, builder.shl(builder.xor(behind, const(1)), const(NIBBLE * other)))
            same = builder.zext(builder.icmp_unsigned("==", signatures[other], signatures[one]), I64)
            ties[one] = builder.or_(ties[one], same)
        if self._is_determined(kind):
            return order
        found = order
        for number, tie in enumerate(ties):
            place = builder.add(cut(builder, order, NIBBLE * number, NIBBLE), const(_TIES))
            found = builder.or_(found, builder.shl(tie, place))
        return found

    def _may_change(self, orders: list[Value]) -> Value:
        """Whether some identifiers are not in the order of their signatures, or more than one order has to be tried."""
        found: Value = const(0, I1)
        for kind, order in zip(self.types, orders, strict=True):
            moved = self.builder.icmp_unsigned("!=", order, const(packed(tuple(range(kind.count)))))
            found = self.builder.or_(found, moved)
        return found

    def _is_known(self, orders: list[Value]) -> Value:
        """Whether the first renaming to try changes nothing; where several types are renamed, that is not asked."""
        if len(self.types) > 1 or self._is_determined(self.types[0]):
            return const(0, I1)
        numbers = self.builder.and_(orders[0], const((1 << _TIES) - 1))
        return self.builder.icmp_unsigned("==", numbers, const(packed(tuple(range(self.types[0].count)))))

    def _is_determined(self, kind: IdentifierType) -> bool:
        """Whether identifiers with equal signatures can be exchanged in every state, so that one order suffices.

        Signatures are hashes of 64 bits. If two collide, an orbit may have two representatives and is searched twice.
        """
        return all(is_determined(each, kind, self.classes) for each in self.states.layout.variables.values())

    def _room_for_state(self) -> list[Value]:
        return [self.routine.room(I64, "word") for _ in range(self.states.layout.words)]

    def _try_all(
        self, module: ir.Module, orders: list[Value], chosen: list[Numbering],
        attempt: Callable[[list[Numbering]], None],
    ) -> None:
        """Makes an attempt with, for each further kind of identifiers, every order that its ties leave open."""
        if not orders:
            attempt(chosen)
            return
        kind, (order, *rest) = self.types[len(chosen)], orders
        if self._is_determined(kind):
            self._try_all(module, rest, [*chosen, (order, const(packed(tuple(range(kind.count)))))], attempt)
            return
        ways, starts = _ties(kind.count)
        places = table(module, f"starts.{len(rest)}", starts)
        ties = self.builder.lshr(order, const(_TIES))
        first, last = (self._entry(places, self.builder.add(ties, const(more))) for more in (0, 1))
        if len(self.types) == 1:  # the first way keeps all places
            first = self.builder.add(first, self.builder.zext(self._is_known([order]), I64))
        tried = table(module, f"ways.{len(rest)}", ways)
        with self.routine.counting(first, last) as (index, _, _):
            self._try_all(module, rest, [*chosen, (order, self._entry(tried, index))], attempt)

    def _entry(self, table: ir.GlobalVariable, index: Value) -> Value:
        return self.builder.load(self.builder.gep(table, [const(0), index]))

    def _try(self, codes: dict[str, Value], best: list[Value], chosen: list[Numbering]) -> None:
        """Renames, and keeps the result if it is the least so far."""
        new = self.states.words["new"]
        for named, numbering in zip(self.types, chosen, strict=True):
            self.images[named] = _rearranged(self.builder, named, *numbering)
        for place in new:
            self.builder.store(const(0), place)
        for name, kind in self.states.layout.variables.items():
            self.states.write_code(name, self.renamed(kind, codes[name]))
        _keep_smaller(self.builder, new, best)

    def renamed(self, kind: Type, code: Value) -> Value:
        """The code of a value after the renaming."""
        if not is_renamed(kind, self.classes):
            return code
        match kind:
            case IdentifierType():
                place = self.builder.mul(resize(self.builder, code, I64), const(NIBBLE))
                return cut(self.builder, self.images[kind], place, NIBBLE)
            case OptionalType(inner):
                return self._renamed_optional(inner, code)
            case RecordType(_, fields):
                offset = sum(of.bits for _, of in fields)
                result: Value = const(0, code.type)
                for _, of in fields:
                    offset -= of.bits
                    part = self.renamed(of, cut(self.builder, code, offset, of.bits))
                    moved = shifted_left(self.builder, resize(self.builder, part, code.type), offset)
                    result = self.builder.or_(result, moved)
                return result
            case SetType(element, None):
                return self._renamed_mask(element, code)
            case SetType(element, capacity) | BagType(element, capacity):
                assert capacity is not None
                return self._renamed_slots(element, capacity, code)
            case MapType():
                return self._renamed_map(kind, code)
            case SeqType():
                return self._renamed_seq(kind, code)
        return code

    def _renamed_optional(self, inner: Type, code: Value) -> Value:
        result = self.routine.room(code.type, "optional")
        self.builder.store(const(0, code.type), result)
        with self.routine.when(self.builder.icmp_unsigned("!=", code, const(0, code.type))):
            part = resize(self.builder, self.builder.sub(code, const(1, code.type)), register(inner.bits))
            image = resize(self.builder, self.renamed(inner, part), code.type)
            self.builder.store(self.builder.add(image, const(1, code.type)), result)
        return self.builder.load(result)

    def _renamed_mask(self, element: Type, code: Value) -> Value:
        result = windows.blank(self.routine, code.type)
        with windows.members(self.routine, code) as (position, _, _):
            image = self.renamed(element, resize(self.builder, position, register(element.bits)))
            result.write(resize(self.builder, image, I64), 1, const(1))
        return result.code()

    def _renamed_slots(self, element: Type, capacity: int, code: Value) -> Value:
        width = element.codes.bit_length()
        source, result = windows.of(self.routine, code), self.routine.room(code.type, "slots")
        self.builder.store(const(0, code.type), result)
        self.routine.failed = self.routine.failed or self._unreachable()
        with self.routine.counting(const(0), const(capacity)) as (index, onward, _):
            slot = source.cut(self.builder.mul(index, const(width)), width)
            self.routine.skip_unless(self.builder.icmp_unsigned("!=", slot, const(0, slot.type)), onward)
            part = resize(self.builder, self.builder.sub(slot, const(1, slot.type)), register(element.bits))
            image = self.renamed(element, part)
            slots = self.builder.load(result)
            self.builder.store(containers.insert(self.routine, element, capacity, slots, image, once=False), result)
        return self.builder.load(result)

    def _unreachable(self) -> ir.Block:
        block = self.routine.block("impossible")
        ir.IRBuilder(block).unreachable()
        return block

    def _renamed_map(self, kind: MapType, code: Value) -> Value:
        width = kind.value.bits
        source, result = windows.of(self.routine, code), windows.blank(self.routine, code.type)
        with elements.keys(self.routine, kind) as (position, key):
            image = self.renamed(kind.value, source.cut(self.builder.mul(position, const(width)), width))
            rank = elements.rank(self.routine, kind.key, self.renamed(kind.key, key))
            offset = self.builder.mul(rank, const(width))
            result.write(offset, width, image)
        return result.code()

    def _renamed_seq(self, kind: SeqType, code: Value) -> Value:
        length = elements.seq_length(self.routine, kind, code)
        source = windows.of(self.routine, code)
        result = windows.of(self.routine, resize(self.builder, length, code.type))
        with self.routine.counting(const(0), length) as (index, _, _):
            offset = elements.seq_offset(self.routine, kind, index)
            result.write(offset, kind.element.bits, self.renamed(kind.element, source.cut(offset, kind.element.bits)))
        return result.code()


def _rearranged(builder: ir.IRBuilder, kind: IdentifierType, order: Value, way: Value) -> Value:
    """The identifiers' new numbers, a nibble each, when their places are rearranged in this way."""
    images: Value = const(0)
    for number in range(kind.count):
        place = cut(builder, order, NIBBLE * number, NIBBLE)
        image = cut(builder, way, builder.mul(place, const(NIBBLE)), NIBBLE)
        images = builder.or_(images, shifted_left(builder, image, NIBBLE * number))
    return images


def _keep_smaller(builder: ir.IRBuilder, new: list[Value], best: list[Value]) -> None:
    """Keeps the smaller one of two states in ``best``."""
    smaller: Value = const(0, I1)
    equal: Value = const(1, I1)
    for place, other in zip(new, best, strict=True):
        a, b = builder.load(place), builder.load(other)
        less = builder.and_(equal, builder.icmp_unsigned("<", a, b))
        smaller = builder.or_(smaller, less)
        equal = builder.and_(equal, builder.icmp_unsigned("==", a, b))
    for place, other in zip(new, best, strict=True):
        builder.store(builder.select(smaller, builder.load(place), builder.load(other)), other)


def _ties(count: int) -> tuple[list[int], list[int]]:
    """The permutations of places within runs of ties, and for each mask ``ties`` the index of its first permutation."""
    ways: list[int] = []
    starts = [0]
    for ties in range(1 << (count - 1)):
        runs: list[list[int]] = [[0]]
        for place in range(1, count):
            if ties >> (place - 1) & 1:
                runs[-1].append(place)
            else:
                runs.append([place])
        for parts in itertools.product(*(itertools.permutations(run) for run in runs)):
            ways.append(packed(tuple(itertools.chain(*parts))))
        starts.append(len(ways))
    return ways, starts
