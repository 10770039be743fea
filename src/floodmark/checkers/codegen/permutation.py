"""Symmetry: machine code that replaces a state by the representative of its orbit (``floodmark.compiler.renaming``).

Renaming is exact for every type: identifiers are looked up, sets and maps are rearranged, and slots are sorted again.
"""

from __future__ import annotations

import itertools
import math

from floodmark.checkers.codegen import containers, elements, windows
from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, I64, Value, const, cut, register, resize, shifted_left
from floodmark.checkers.codegen.routine import Routine
from floodmark.checkers.codegen.signature import is_determined, signature
from floodmark.checkers.codegen.state_words import StateWords
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
_NIBBLE = 4


def emit_canonical(module: ir.Module, layout: Layout, symmetry_proof: SymmetryProof) -> None:
    """Adds ``canonical(state*)`` to a module. Raises ModelError when there are too many renamings to try."""
    types = list(symmetry_proof.kinds)
    count = math.prod(math.factorial(kind.count) for kind in types)
    if count > MAX_PERMUTATIONS:  # so of any type there are fewer identifiers than a nibble has values
        raise ModelError(f"identifiers have {count} renamings, more than {MAX_PERMUTATIONS}; use symmetry = false")
    pointer = I64.as_pointer()
    function = ir.Function(module, ir.FunctionType(I64, [pointer]), "canonical")
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

    def emit_all(self, module: ir.Module) -> None:
        if self.types:
            self._emit_least(module)
        self.builder.ret(const(0))
        self.routine.finish()

    def emit_one(self) -> None:
        """Renames by a given renaming."""
        state, images = self.routine.function.args
        pointers = [self.builder.gep(state, [const(index)]) for index in range(self.states.layout.words)]
        old, new = self._room_for_state(), self._room_for_state()
        for place, other, pointer in zip(old, new, pointers, strict=True):
            self.builder.store(self.builder.load(pointer), place)
            self.builder.store(const(0), other)
        self.states.words["old"] = old
        self.states.words["new"] = new
        for number, named in enumerate(self.types):
            self.images[named] = self.builder.load(self.builder.gep(images, [const(number)]))
        for name, kind in self.states.layout.variables.items():
            self.states.write_code(name, self.renamed(kind, self.states.read_code(name, "old")))
        for pointer, place in zip(pointers, new, strict=True):
            self.builder.store(self.builder.load(place), pointer)
        self.builder.ret(const(0))
        self.routine.finish()

    def _emit_least(self, module: ir.Module) -> None:
        state = self.routine.function.args[0]
        pointers = [self.builder.gep(state, [const(index)]) for index in range(self.states.layout.words)]
        old, new, best = self._room_for_state(), self._room_for_state(), self._room_for_state()
        for place, other, pointer in zip(old, best, pointers, strict=True):
            self.builder.store(self.builder.load(pointer), place)
            self.builder.store(const(-1), other)
        self.states.words["old"] = old
        self.states.words["new"] = new
        codes = {name: self.states.read_code(name, "old") for name in self.states.layout.variables}
        orders = [_Order(self.builder, self._signatures(kind, codes)) for kind in self.types]
        with self.routine.when(self._may_change(orders)):
            self._try_all(module, list(zip(self.types, orders, strict=True)), codes, best)
            for pointer, place in zip(pointers, best, strict=True):
                self.builder.store(self.builder.load(place), pointer)

    def _may_change(self, orders: list[_Order]) -> Value:
        """Whether some identifiers are not in the order of their signatures, or more than one order has to be tried."""
        found: Value = const(0, I1)
        for kind, order in zip(self.types, orders, strict=True):
            moved = self.builder.icmp_unsigned("!=", order.sorted, const(packed(tuple(range(kind.count)))))
            found = self.builder.or_(found, moved)
            if not self._is_determined(kind):
                found = self.builder.or_(found, self.builder.icmp_unsigned("!=", order.ties, const(0)))
        return found

    def _is_determined(self, kind: IdentifierType) -> bool:
        """Whether identifiers with equal signatures can be exchanged in every state, so that one order suffices.

        Signatures are hashes of 64 bits. If two collide, an orbit may have two representatives and is searched twice.
        """
        return all(is_determined(each, kind, self.classes) for each in self.states.layout.variables.values())

    def _room_for_state(self) -> list[Value]:
        return [self.routine.room(I64, "word") for _ in range(self.states.layout.words)]

    def _signatures(self, kind: IdentifierType, codes: dict[str, Value]) -> list[Value]:
        variables, numbers = self.states.layout.variables, range(kind.count)
        return [signature(self.builder, variables, codes, kind, number, self.classes) for number in numbers]

    def _try_all(
        self, module: ir.Module, orders: list[tuple[IdentifierType, _Order]], codes: dict[str, Value], best: list[Value]
    ) -> None:
        """For each kind of identifiers, every order that its ties leave open."""
        if not orders:
            self._try(codes, best)
            return
        (kind, order), *rest = orders
        if self._is_determined(kind):
            self.images[kind] = order.sorted
            self._try_all(module, rest, codes, best)
            return
        ways, starts = _ties(kind.count)
        places = _table(module, f"starts.{len(rest)}", starts)
        first, last = (self._entry(places, self.builder.add(order.ties, const(more))) for more in (0, 1))
        table = _table(module, f"ways.{len(rest)}", ways)
        with self.routine.counting(first, last) as (index, _, _):
            self.images[kind] = order.images(self._entry(table, index))
            self._try_all(module, rest, codes, best)

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


def _table(module: ir.Module, name: str, numbers: list[int]) -> ir.GlobalVariable:
    content = ir.LlvmConstant(ir.ArrayType(I64, len(numbers)), [const(number) for number in numbers])
    return ir.GlobalVariable(module, name, content)


class _Order:
    """Where identifiers go when they are sorted by signature; those with equal signatures share their places."""

    def __init__(self, builder: ir.IRBuilder, signatures: list[Value]) -> None:
        self._builder = builder
        count = len(signatures)
        self._places: list[Value] = [const(0)] * count
        lowest: list[Value] = [const(0)] * count
        alike: list[Value] = [const(0)] * count
        for i, j in itertools.combinations(range(count), 2):
            less = builder.zext(builder.icmp_unsigned("<", signatures[i], signatures[j]), I64)
            same = builder.zext(builder.icmp_unsigned("==", signatures[i], signatures[j]), I64)
            more = builder.sub(builder.sub(const(1), less), same)
            lowest[i], lowest[j] = builder.add(lowest[i], more), builder.add(lowest[j], less)
            alike[i], alike[j] = builder.add(alike[i], same), builder.add(alike[j], same)
            self._places[j] = builder.add(self._places[j], same)
        self._places = [builder.add(place, low) for place, low in zip(self._places, lowest, strict=True)]
        self.ties: Value = const(0)
        """Bit k is set when places k and k + 1 belong to equal signatures."""
        for low, others in zip(lowest, alike, strict=True):
            run = builder.sub(builder.shl(const(1), others), const(1))
            self.ties = builder.or_(self.ties, builder.shl(run, low))
        self.sorted: Value = self.images(const(packed(tuple(range(count)))))
        """The identifiers' new numbers where those with equal signatures keep their order."""

    def images(self, way: Value) -> Value:
        """The identifiers' new numbers, a nibble each, when the places are rearranged in this way."""
        images: Value = const(0)
        for number, place in enumerate(self._places):
            image = cut(self._builder, way, self._builder.mul(place, const(_NIBBLE)), _NIBBLE)
            images = self._builder.or_(images, shifted_left(self._builder, image, _NIBBLE * number))
        return images


def _ties(count: int) -> tuple[list[int], list[int]]:
    """Every rearrangement of places that keeps them within their ties, and where those of each ``ties`` begin."""
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
