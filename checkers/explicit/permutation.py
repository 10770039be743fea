"""Symmetry: machine code that replaces a state by the smallest of the states that renaming identifiers makes of it.

Renaming is exact for every type: identifiers are looked up, sets and maps are rearranged, slots are sorted again.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from llvmlite import ir

from checkers.explicit.bits import I1, I64, const, cut, register, resize, shifted_left
from checkers.explicit.emitter import Emitter
from model.compiler.ir import BOOL, Const, Inline, walk
from model.compiler.layout import Layout
from model.compiler.program import Program
from model.language.errors import ModelError
from model.language.types import (
    BagType,
    IdentifierType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)

MOST_PERMUTATIONS = 5040
_NIBBLE = 4


def identifiers_in(kind: Type) -> set[IdentifierType]:
    """The identifier types that a type is made of."""
    match kind:
        case IdentifierType():
            return {kind}
        case OptionalType(inner):
            return identifiers_in(inner)
        case RecordType(_, fields):
            return set().union(*(identifiers_in(of) for _, of in fields))
        case SetType(element, _) | BagType(element, _) | SeqType(element, _):
            return identifiers_in(element)
        case MapType(key, value):
            return identifiers_in(key) | identifiers_in(value)
    return set()


def symmetric_types(layout: Layout) -> list[IdentifierType]:
    """The identifier types that states are symmetric in, in a fixed order."""
    found = set().union(*(identifiers_in(kind) for kind in layout.variables.values()))
    return sorted((kind for kind in found if kind.count > 1), key=lambda kind: kind.cls.__name__)


def refuse_named(program: Program, layout: Layout) -> None:
    """Raises ModelError when an action, a property or a boundary names an identifier, which breaks the symmetry."""
    symmetric = symmetric_types(layout)
    nodes = [p.value for p in [*program.predicates, *program.boundaries]]
    for action in program.actions:
        nodes += [*action.guards, Inline(BOOL, action.at, action.body, None)]
    for node in nodes:
        for part in walk(node):
            if isinstance(part, Const) and part.type in symmetric:
                name = f"{type(part.value).__name__}({part.value.number})"
                message = f"{name} is named here, so the model is not symmetric; use symmetry = false, or a parameter"
                raise ModelError(message, part.at.file, part.at.line)


def emit_canonical(module: ir.Module, layout: Layout) -> None:
    """Adds ``canonical(state*)`` to a module. Raises ModelError when there are too many renamings to try."""
    types = symmetric_types(layout)
    count = math.prod(math.factorial(kind.count) for kind in types)
    if count > MOST_PERMUTATIONS or any(kind.count > 15 for kind in types):
        raise ModelError(f"{count} renamings of identifiers are more than {MOST_PERMUTATIONS}; use symmetry = false")
    pointer = I64.as_pointer()
    function = ir.Function(module, ir.FunctionType(I64, [pointer]), "canonical")
    function.attributes.add("nounwind")
    _Canonical(function, layout, types).emit_all(module)


def _packed(permutation: tuple[int, ...]) -> int:
    return sum(image << (_NIBBLE * index) for index, image in enumerate(permutation))


class _Canonical(Emitter):
    """Emits the loop over all renamings, the identity left out."""

    def __init__(self, function: ir.Function, layout: Layout, types: list[IdentifierType]) -> None:
        super().__init__(function, layout, function.args[0])
        self.types = types
        self.images: dict[IdentifierType, Any] = {}

    def emit_all(self, module: ir.Module) -> None:
        groups = [[_packed(p) for p in itertools.permutations(range(kind.count))] for kind in self.types]
        renamings = list(itertools.product(*groups))[1:]
        state = self.function.args[0]
        pointers = [self.builder.gep(state, [const(index)]) for index in range(self.layout.words)]
        original = [self.builder.load(pointer) for pointer in pointers]
        old, new = self._room_for_state(), self._room_for_state()
        best = self._room_for_state()
        for place, other, word in zip(old, best, original, strict=True):
            self.builder.store(word, place)
            self.builder.store(word, other)
        self.bind_words("old", old)
        self.bind_words("new", new)
        if renamings:
            self._try_all(module, renamings, new, best)
        for pointer, place in zip(pointers, best, strict=True):
            self.builder.store(self.builder.load(place), pointer)
        self.builder.ret(const(0))
        self.finish()

    def _room_for_state(self) -> list[Any]:
        return [self.room(I64, "word") for _ in range(self.layout.words)]

    def _try_all(self, module: ir.Module, renamings: list[tuple[int, ...]], new: list[Any], best: list[Any]) -> None:
        row = ir.ArrayType(I64, len(self.types))
        table_type = ir.ArrayType(row, len(renamings))
        table = ir.GlobalVariable(module, table_type, "renamings")
        table.linkage = "internal"
        table.global_constant = True
        rows = [ir.Constant(row, [const(image) for image in renaming]) for renaming in renamings]
        table.initializer = ir.Constant(table_type, rows)
        with self.counting(const(0), const(len(renamings))) as (index, _, _):
            for number, identifier in enumerate(self.types):
                self.images[identifier] = self.builder.load(self.builder.gep(table, [const(0), index, const(number)]))
            for place in new:
                self.builder.store(const(0), place)
            for name, kind in self.layout.variables.items():
                self.write_code(name, self.renamed(kind, self.read_code(name, "old")))
            self._keep_smaller(new, best)

    def _keep_smaller(self, new: list[Any], best: list[Any]) -> None:
        smaller: Any = const(0, I1)
        equal: Any = const(1, I1)
        for place, other in zip(new, best, strict=True):
            a, b = self.builder.load(place), self.builder.load(other)
            less = self.builder.and_(equal, self.builder.icmp_unsigned("<", a, b))
            smaller = self.builder.or_(smaller, less)
            equal = self.builder.and_(equal, self.builder.icmp_unsigned("==", a, b))
        for place, other in zip(new, best, strict=True):
            chosen = self.builder.select(smaller, self.builder.load(place), self.builder.load(other))
            self.builder.store(chosen, other)

    def renamed(self, kind: Type, code: Any) -> Any:
        """The code of a value after the renaming."""
        if not any(used.count > 1 for used in identifiers_in(kind)):
            return code
        match kind:
            case IdentifierType():
                offset = self.builder.mul(resize(self.builder, code, I64), const(_NIBBLE))
                return cut(self.builder, self.images[kind], offset, _NIBBLE)
            case OptionalType(inner):
                return self._renamed_optional(inner, code)
            case RecordType(_, fields):
                offset = sum(of.bits for _, of in fields)
                result: Any = const(0, code.type)
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

    def _renamed_optional(self, inner: Type, code: Any) -> Any:
        result = self.room(code.type, "optional")
        self.builder.store(const(0, code.type), result)
        with self.when(self.builder.icmp_unsigned("!=", code, const(0, code.type))):
            part = resize(self.builder, self.builder.sub(code, const(1, code.type)), register(inner.bits))
            image = resize(self.builder, self.renamed(inner, part), code.type)
            self.builder.store(self.builder.add(image, const(1, code.type)), result)
        return self.builder.load(result)

    def _renamed_mask(self, element: Type, code: Any) -> Any:
        result = self.room(code.type, "mask")
        self.builder.store(const(0, code.type), result)
        with self.members(code) as (position, _, _):
            image = self.renamed(element, resize(self.builder, position, register(element.bits)))
            bit = shifted_left(self.builder, const(1, code.type), resize(self.builder, image, I64))
            self.builder.store(self.builder.or_(self.builder.load(result), bit), result)
        return self.builder.load(result)

    def _renamed_slots(self, element: Type, capacity: int, code: Any) -> Any:
        width = element.codes.bit_length()
        result = self.room(code.type, "slots")
        self.builder.store(const(0, code.type), result)
        self.failed = self.failed or self._unreachable()
        with self.counting(const(0), const(capacity)) as (index, onward, _):
            slot = cut(self.builder, code, self.builder.mul(index, const(width)), width)
            self._skip_unless(self.builder.icmp_unsigned("!=", slot, const(0, slot.type)), onward)
            part = resize(self.builder, self.builder.sub(slot, const(1, slot.type)), register(element.bits))
            image = self.renamed(element, part)
            slots = self.builder.load(result)
            self.builder.store(self.insert(element, capacity, slots, image, once=False), result)
        return self.builder.load(result)

    def _unreachable(self) -> ir.Block:
        block = self.block("impossible")
        ir.IRBuilder(block).unreachable()
        return block

    def _renamed_map(self, kind: MapType, code: Any) -> Any:
        width = kind.value.bits
        result = self.room(code.type, "map")
        self.builder.store(const(0, code.type), result)
        with self.counting(const(0), const(kind.key.codes)) as (index, _, _):
            part = cut(self.builder, code, self.builder.mul(index, const(width)), width)
            image = resize(self.builder, self.renamed(kind.value, part), code.type)
            key = self.renamed(kind.key, resize(self.builder, index, register(kind.key.bits)))
            offset = self.builder.mul(resize(self.builder, key, I64), const(width))
            moved = shifted_left(self.builder, image, offset)
            self.builder.store(self.builder.or_(self.builder.load(result), moved), result)
        return self.builder.load(result)

    def _renamed_seq(self, kind: SeqType, code: Any) -> Any:
        start = kind.capacity.bit_length()
        length = self.seq_length(kind, code)
        result = self.room(code.type, "seq")
        self.builder.store(resize(self.builder, length, code.type), result)
        with self.counting(const(0), length) as (index, _, _):
            offset = self.builder.add(self.builder.mul(index, const(kind.element.bits)), const(start))
            part = cut(self.builder, code, offset, kind.element.bits)
            image = resize(self.builder, self.renamed(kind.element, part), code.type)
            moved = shifted_left(self.builder, image, offset)
            self.builder.store(self.builder.or_(self.builder.load(result), moved), result)
        return self.builder.load(result)
