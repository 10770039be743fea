"""Symmetry: machine code that replaces a state by the representative of its orbit (``floodmark.compiler.renaming``).

Renaming is exact for every type: identifiers are looked up, sets and maps are rearranged, and slots are sorted again.

``canonical`` handles states in chunks. First it finds the order of the identifiers of each state, for several states
side by side (``lanes.py``), and then it renames.
"""

from __future__ import annotations

import itertools
import math

from floodmark.checkers.codegen import containers, elements, windows
from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, I64, Value, const, cut, masked, register, resize, shifted_left, table
from floodmark.checkers.codegen.lanes import LANES, LaneBuilder
from floodmark.checkers.codegen.routine import Routine
from floodmark.checkers.codegen.signature import Signatures, is_determined
from floodmark.checkers.codegen.state_words import StateWords, code_in
from floodmark.compiler.layout import Layout
from floodmark.compiler.renaming import SymmetryProof, is_renamed
from floodmark.language.errors import ModelError
from floodmark.language.types import (
    WORD,
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
MAX_UNROLLED = 4
"""The capacity up to which slots are renamed and sorted without a loop."""
_BYTE = ir.LlvmIntType(8)
_NIBBLE = 4
_TIES = 32
"""The bit of an order from which it has the ties."""


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
    return sum(image << (_NIBBLE * index) for index, image in enumerate(permutation))


class _Canonical:
    """Emits the renamings that sort the signatures, and the choice of the least of the resulting states."""

    def __init__(self, function: ir.Function, layout: Layout, types: list[IdentifierType]) -> None:
        self.routine = Routine(function)
        self.builder = self.routine.builder
        self.states = StateWords(self.builder, layout)
        self.types = types
        self.classes = {kind.cls for kind in types}
        self.images: dict[IdentifierType, Value] = {}
        self.masks = {kind: self._room_for_masks(kind) for kind in types if self._has_sets_of(kind)}
        """For each type, where the renamed codes of all sets of its identifiers are."""

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
            self._set_images(named, self.builder.load(self.builder.gep(images, [const(number)])))
        for name, kind in self.states.layout.variables.items():
            self.states.write_code(name, self.renamed(kind, self.states.read_code(name, "old")))
        for pointer, place in zip(pointers, new, strict=True):
            self.builder.store(self.builder.load(place), pointer)
        self.builder.ret(const(0))
        self.routine.finish()

    def _emit_chunks(self, module: ir.Module) -> None:
        builder = self.builder
        states, count = self.routine.function.args
        old, new, best = self._room_for_state(), self._room_for_state(), self._room_for_state()
        self.states.words["old"] = old
        self.states.words["new"] = new
        orders = {kind: self.routine.room(ir.ArrayType(I64, CHUNK), "orders") for kind in self.types}
        with self.routine.counting(const(0), count, CHUNK) as (start, _, _):
            left = builder.sub(count, start)
            size = builder.select(builder.icmp_unsigned("<", left, const(CHUNK)), left, const(CHUNK))
            first = self._state_at(states, start)
            with self.routine.counting(const(0), size, LANES) as (index, _, _):
                self._find_orders(first, index, builder.sub(size, const(1)), orders)
            with self.routine.counting(const(0), size) as (index, _, _):
                chosen = [builder.load(builder.gep(room, [const(0), index])) for room in orders.values()]
                with self.routine.when(self._may_change(chosen)):
                    pointers = self._pointers(self._state_at(first, index))
                    codes = self._read(pointers)
                    known = self._is_known(chosen)
                    for other, place in zip(best, old, strict=True):
                        builder.store(builder.select(known, builder.load(place), const(-1)), other)
                    self._try_all(module, list(zip(self.types, chosen, strict=True)), codes, best)
                    for pointer, place in zip(pointers, best, strict=True):
                        builder.store(builder.load(place), pointer)

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
            order = builder.add(order, builder.shl(behind, const(_NIBBLE * one)))
            order = builder.add(order, builder.shl(builder.xor(behind, const(1)), const(_NIBBLE * other)))
            same = builder.zext(builder.icmp_unsigned("==", signatures[other], signatures[one]), I64)
            ties[one] = builder.or_(ties[one], same)
        if self._is_determined(kind):
            return order
        found = order
        for number, tie in enumerate(ties):
            place = builder.add(cut(builder, order, _NIBBLE * number, _NIBBLE), const(_TIES))
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

    def _has_sets_of(self, kind: IdentifierType) -> bool:
        """Whether variables contain sets of these identifiers."""
        return any(_contains_set_of(each, kind) for each in self.states.layout.variables.values())

    def _room_for_masks(self, kind: IdentifierType) -> Value:
        return self.routine.room(ir.ArrayType(_BYTE, 1 << kind.count), "masks")

    def _set_images(self, kind: IdentifierType, images: Value) -> None:
        """Sets the images of identifiers, a nibble each, for the code that follows."""
        self.images[kind] = images
        if kind not in self.masks:
            return
        size = 1 << kind.count
        table: Value = self.builder.lanes(_BYTE, [0] * size)
        for number in range(kind.count):
            bit = self.builder.trunc(self.builder.shl(const(1), self._image(kind, number)), _BYTE)
            having = self.builder.lanes(_BYTE, [255 * (code >> number & 1) for code in range(size)])
            table = self.builder.or_(table, self.builder.and_(self.builder.splat(bit, size), having))
        whole = self.builder.bitcast(self.masks[kind], ir.VectorType(_BYTE, size).as_pointer())
        self.builder.store(table, whole, align=1)

    def _image(self, kind: IdentifierType, number: int) -> Value:
        return cut(self.builder, self.images[kind], _NIBBLE * number, _NIBBLE)

    def _try_all(
        self, module: ir.Module, orders: list[tuple[IdentifierType, Value]], codes: dict[str, Value], best: list[Value]
    ) -> None:
        """For each kind of identifiers, every order that its ties leave open."""
        if not orders:
            self._try(codes, best)
            return
        (kind, order), *rest = orders
        if self._is_determined(kind):
            self._set_images(kind, order)
            self._try_all(module, rest, codes, best)
            return
        ways, starts = _ties(kind.count)
        places = table(module, f"starts.{len(rest)}", starts)
        ties = self.builder.lshr(order, const(_TIES))
        first, last = (self._entry(places, self.builder.add(ties, const(more))) for more in (0, 1))
        if len(self.types) == 1:  # the first way keeps all places
            first = self.builder.add(first, self.builder.zext(self._is_known([order]), I64))
        tried = table(module, f"ways.{len(rest)}", ways)
        with self.routine.counting(first, last) as (index, _, _):
            self._set_images(kind, self._rearranged(kind, order, self._entry(tried, index)))
            self._try_all(module, rest, codes, best)

    def _rearranged(self, kind: IdentifierType, order: Value, way: Value) -> Value:
        """The identifiers' new numbers, a nibble each, when their places are rearranged in this way."""
        images: Value = const(0)
        for number in range(kind.count):
            place = cut(self.builder, order, _NIBBLE * number, _NIBBLE)
            image = cut(self.builder, way, self.builder.mul(place, const(_NIBBLE)), _NIBBLE)
            images = self.builder.or_(images, shifted_left(self.builder, image, _NIBBLE * number))
        return images

    def _entry(self, table: ir.GlobalVariable, index: Value) -> Value:
        return self.builder.load(self.builder.gep(table, [const(0), index]))

    def _try(self, codes: dict[str, Value], best: list[Value]) -> None:
        """Renames, and keeps the result if it is the least so far."""
        new = self.states.words["new"]
        for place in new:
            self.builder.store(const(0), place)
        for name, kind in self.states.layout.variables.items():
            self.states.write_code(name, self.renamed(kind, codes[name]))
        self._keep_smaller(new, best)

    def _keep_smaller(self, new: list[Value], best: list[Value]) -> None:
        smaller: Value = const(0, I1)
        equal: Value = const(1, I1)
        for place, other in zip(new, best, strict=True):
            a, b = self.builder.load(place), self.builder.load(other)
            less = self.builder.and_(equal, self.builder.icmp_unsigned("<", a, b))
            smaller = self.builder.or_(smaller, less)
            equal = self.builder.and_(equal, self.builder.icmp_unsigned("==", a, b))
        for place, other in zip(new, best, strict=True):
            chosen = self.builder.select(smaller, self.builder.load(place), self.builder.load(other))
            self.builder.store(chosen, other)

    def renamed(self, kind: Type, code: Value) -> Value:
        """The code of a value after the renaming."""
        if not is_renamed(kind, self.classes):
            return code
        match kind:
            case IdentifierType():
                place = self.builder.mul(resize(self.builder, code, I64), const(_NIBBLE))
                return cut(self.builder, self.images[kind], place, _NIBBLE)
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
        if self._is_simple(inner) and code.type is I64:
            return self._renamed_slot(inner, code)
        result = self.routine.room(code.type, "optional")
        self.builder.store(const(0, code.type), result)
        with self.routine.when(self.builder.icmp_unsigned("!=", code, const(0, code.type))):
            part = resize(self.builder, self.builder.sub(code, const(1, code.type)), register(inner.bits))
            image = resize(self.builder, self.renamed(inner, part), code.type)
            self.builder.store(self.builder.add(image, const(1, code.type)), result)
        return self.builder.load(result)

    def _is_simple(self, kind: Type) -> bool:
        """Whether renaming takes no branch: then it may be done to any bits, whether or not they are a code."""
        if not is_renamed(kind, self.classes):
            return True
        match kind:
            case IdentifierType() | SetType(IdentifierType(), None):
                return True
            case OptionalType(inner):
                return kind.bits <= WORD and self._is_simple(inner)
            case RecordType(_, fields):
                return all(self._is_simple(of) for _, of in fields)
            case MapType(key, value):
                return key in self.images and self._is_simple(value)
        return False

    def _renamed_slot(self, element: Type, code: Value) -> Value:
        """0 is nothing, and stays; other codes are those of an element plus one."""
        part = masked(self.builder, self.builder.sub(code, const(1)), element.bits)
        image = self.builder.add(self.renamed(element, part), const(1))
        return self.builder.select(self.builder.icmp_unsigned("!=", code, const(0)), image, const(0))

    def _renamed_mask(self, element: Type, code: Value) -> Value:
        if isinstance(element, IdentifierType):
            place = self.builder.gep(self.masks[element], [const(0), resize(self.builder, code, I64)])
            return self.builder.zext(self.builder.load(place), I64)
        result = windows.blank(self.routine, code.type)
        with windows.members(self.routine, code) as (position, _, _):
            image = self.renamed(element, resize(self.builder, position, register(element.bits)))
            result.write(resize(self.builder, image, I64), 1, const(1))
        return result.code()

    def _renamed_slots(self, element: Type, capacity: int, code: Value) -> Value:
        width = element.codes.bit_length()
        if capacity <= MAX_UNROLLED and width <= WORD and self._is_simple(element):
            return self._sorted_slots(element, capacity, code)
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

    def _sorted_slots(self, element: Type, capacity: int, code: Value) -> Value:
        """Renamed slots in descending order, without a branch."""
        width = element.codes.bit_length()
        kept: list[Value] = []
        for index in range(capacity):
            moving = self._renamed_slot(element, cut(self.builder, code, index * width, width))
            for place, slot in enumerate(kept):
                larger = self.builder.icmp_unsigned(">", moving, slot)
                kept[place] = self.builder.select(larger, moving, slot)
                moving = self.builder.select(larger, slot, moving)
            kept.append(moving)
        result: Value = const(0, code.type)
        for place, slot in enumerate(kept):
            moved = shifted_left(self.builder, resize(self.builder, slot, code.type), place * width)
            result = self.builder.or_(result, moved)
        return result

    def _unreachable(self) -> ir.Block:
        block = self.routine.block("impossible")
        ir.IRBuilder(block).unreachable()
        return block

    def _renamed_map(self, kind: MapType, code: Value) -> Value:
        width = kind.value.bits
        if isinstance(kind.key, IdentifierType) and kind.key in self.images and self._is_simple(kind.value):
            entries = windows.blank(self.routine, code.type)
            for number in range(kind.key.count):
                image = self.renamed(kind.value, cut(self.builder, code, number * width, width))
                entries.write(self.builder.mul(self._image(kind.key, number), const(width)), width, image)
            return entries.code()
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


def _contains_set_of(kind: Type, identifier: IdentifierType) -> bool:
    match kind:
        case OptionalType(inner):
            return _contains_set_of(inner, identifier)
        case RecordType(_, fields):
            return any(_contains_set_of(of, identifier) for _, of in fields)
        case SetType(element, capacity):
            return (capacity is None and element == identifier) or _contains_set_of(element, identifier)
        case BagType(element, _) | SeqType(element, _):
            return _contains_set_of(element, identifier)
        case MapType(key, value):
            return _contains_set_of(key, identifier) or _contains_set_of(value, identifier)
    return False


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
