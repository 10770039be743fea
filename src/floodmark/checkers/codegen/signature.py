"""Machine code for the signatures of identifiers; ``floodmark.compiler.renaming`` explains their purpose.

The signatures of all identifiers of a type are hashed side by side, in the elements of vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I64, Value, const, cut, resize, shifted_right
from floodmark.compiler.renaming import SIGNATURE_MULTIPLIER, is_renamed
from floodmark.language.types import WORD, IdentifierType, MapType, OptionalType, RecordType, SeqType, SetType, Type
from floodmark.language.values import Identifier

Code = Value | tuple[Value, ...]
"""What a state says: a code that is the same for all identifiers, or a vector, or one code for each where these are
wider than a word."""


class Signatures:
    """What a state says of each identifier of a type, hashed to 64 bits.

    ``classes`` are those whose identifiers are renamed. Vectors have a power of two of elements; those behind the last
    identifier mean nothing.
    """

    def __init__(self, builder: ir.IRBuilder, identifier: IdentifierType, classes: Container[type[Identifier]]) -> None:
        self._builder = builder
        self._identifier = identifier
        self._classes = classes
        self.lanes = 1 << (identifier.count - 1).bit_length()
        self._numbers = range(identifier.count)

    def of(self, variables: Mapping[str, Type], codes: Mapping[str, Value]) -> Value:
        """The signatures in a state, given by the codes of its variables."""
        builder = self._builder
        multiplier, half = (self.constant([number] * self.lanes) for number in (SIGNATURE_MULTIPLIER, 32))
        found = self.constant([])
        for name, kind in variables.items():
            for part in self._parts(kind, codes[name]):
                found = builder.mul(builder.xor(found, self._vector(part)), multiplier)
                found = builder.xor(found, builder.lshr(found, half))
        return found

    def constant(self, numbers: Sequence[int]) -> Value:
        """A vector of numbers, and zeros behind them."""
        return self._builder.lanes(I64, [*numbers, *[0] * (self.lanes - len(numbers))])

    def _parts(self, kind: Type, code: Code) -> Iterator[Code]:
        if not is_renamed(kind, self._classes):
            yield from self._words(code)
            return
        match kind:
            case IdentifierType():
                if kind == self._identifier:
                    yield self._is(code, 0)
            case OptionalType(inner):
                yield self._each(code, self._is_some)
                if inner == self._identifier:
                    yield self._is(code, 1)
            case RecordType(_, fields):
                offset = sum(of.bits for _, of in fields)
                for _, of in fields:
                    offset -= of.bits
                    yield from self._parts(of, self._cut(code, [offset], of.bits))
            case SetType(element, None):
                yield self._each(code, lambda one: self._resized(self._builder.ctpop(one)))
                if element == self._identifier:
                    yield self._cut(code, list(self._numbers), 1)
            case MapType(key, of):
                if key == self._identifier:
                    yield from self._parts(of, self._cut(code, [number * of.bits for number in self._numbers], of.bits))
                elif not is_renamed(key, self._classes):
                    for position in range(key.size):
                        yield from self._parts(of, self._cut(code, [position * of.bits], of.bits))
            case SeqType(_, capacity):
                yield self._cut(code, [0], capacity.bit_length())

    def _words(self, code: Code) -> Iterator[Code]:
        first = code[0] if isinstance(code, tuple) else code
        if isinstance(first.type, ir.VectorType):
            yield code
            return
        for index in range(first.type.width // WORD):
            yield self._each(code, partial(self._word, index))

    def _word(self, index: int, code: Value) -> Value:
        return resize(self._builder, shifted_right(self._builder, code, WORD * index), I64)

    def _resized(self, value: Value) -> Value:
        return value if isinstance(value.type, ir.VectorType) else resize(self._builder, value, I64)

    def _is_some(self, code: Value) -> Value:
        if isinstance(code.type, ir.VectorType):
            return self._builder.compared_lanes("!=", code, self.constant([]))
        return self._builder.zext(self._builder.icmp_unsigned("!=", code, const(0, code.type)), I64)

    def _is(self, code: Code, first: int) -> Value:
        """Whether a code is an identifier's number, counted from ``first``."""
        wanted = self.constant([first + number for number in self._numbers])
        return self._builder.compared_lanes("==", self._vector(code), wanted)

    def _each(self, code: Code, operation: Callable[[Value], Value]) -> Code:
        return self._packed([operation(one) for one in code]) if isinstance(code, tuple) else operation(code)

    def _packed(self, codes: Sequence[Value]) -> Code:
        """Codes of all identifiers, side by side if they fit."""
        if codes[0].type is not I64:
            return tuple(codes)
        found = self.constant([])
        for number, code in enumerate(codes):
            found = self._builder.insert_element(found, code, number)
        return found

    def _vector(self, code: Code) -> Value:
        assert isinstance(code, Value)
        return code if isinstance(code.type, ir.VectorType) else self._builder.splat(code, self.lanes)

    def _cut(self, code: Code, offsets: Sequence[int], bits: int) -> Code:
        """``bits`` bits of a code, at an offset for each identifier or at one for all."""
        builder = self._builder
        if isinstance(code, tuple):
            every = offsets if len(offsets) > 1 else [*offsets] * len(code)
            return self._packed([cut(builder, one, offset, bits) for one, offset in zip(code, every, strict=True)])
        if isinstance(code.type, ir.LlvmIntType):
            if len(offsets) == 1:
                return cut(builder, code, offsets[0], bits)
            if code.type is not I64:
                return self._packed([cut(builder, code, offset, bits) for offset in offsets])
        if bits == 0:
            return self.constant([])
        every = offsets if len(offsets) > 1 else [*offsets] * self.lanes
        moved = builder.lshr(self._vector(code), self.constant(every))
        return builder.and_(moved, self.constant([(1 << bits) - 1] * self.lanes))


def is_determined(kind: Type, identifier: IdentifierType, classes: Container[type[Identifier]]) -> bool:
    """Whether equal signatures of two identifiers mean that exchanging them changes no value of a type.

    The types accepted are a list: ``_parts`` contributes all that such a value states about one identifier. A value
    that relates two identifiers, such as a map's entry for one that names another, is not on it: no signature of a
    single identifier contains the relation.
    """
    if not is_renamed(kind, {identifier.cls}):
        return True
    match kind:
        case IdentifierType() | OptionalType(IdentifierType()) | SetType(IdentifierType(), None):
            return True
        case RecordType(_, fields):
            return all(is_determined(of, identifier, classes) for _, of in fields)
        case MapType(key, of):
            if key == identifier:
                return not is_renamed(of, classes)
            return not is_renamed(key, classes) and is_determined(of, identifier, classes)
    return False
