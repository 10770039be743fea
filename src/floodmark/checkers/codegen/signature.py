"""Machine code for the signatures of identifiers; ``floodmark.compiler.renaming`` explains their purpose."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I64, Value, const, cut, resize, shifted_right
from floodmark.compiler.renaming import SIGNATURE_MULTIPLIER, is_renamed
from floodmark.language.types import WORD, IdentifierType, MapType, OptionalType, RecordType, SeqType, SetType, Type
from floodmark.language.values import Identifier


class Signatures:
    """Hashes, in 64 bits, of the occurrences of each identifier of a type in a state. ``classes`` are those whose
    identifiers are renamed."""

    def __init__(self, builder: ir.IRBuilder, identifier: IdentifierType, classes: Container[type[Identifier]]) -> None:
        self._builder = builder
        self._identifier = identifier
        self._classes = classes

    def of(self, variables: Mapping[str, Type], codes: Mapping[str, Value]) -> list[Value]:
        """The signature of each identifier in a state, given by the codes of its variables.

        The hashes of all identifiers grow together, so a processor need not wait for one of them.
        """
        builder = self._builder
        numbers = range(self._identifier.count)
        found: list[Value] = [const(0) for _ in numbers]
        for name, kind in variables.items():
            for parts in zip(*(self._parts(kind, codes[name], number) for number in numbers), strict=True):
                mixed = [builder.xor(one, part) for one, part in zip(found, parts, strict=True)]
                products = [builder.mul(one, const(SIGNATURE_MULTIPLIER)) for one in mixed]
                found = [builder.xor(one, builder.lshr(one, const(32))) for one in products]
        return found

    def _parts(self, kind: Type, code: Value, number: int) -> Iterator[Value]:
        """A value's content about an identifier, as words, as ``floodmark.compiler.renaming`` has it."""
        builder = self._builder
        if not is_renamed(kind, self._classes):
            for index in range(code.type.width // WORD):
                yield resize(builder, shifted_right(builder, code, WORD * index), I64)
            return
        match kind:
            case IdentifierType():
                if kind == self._identifier:
                    yield self._is(code, number)
            case OptionalType(inner):
                yield builder.zext(builder.icmp_unsigned("!=", code, const(0, code.type)), I64)
                if inner == self._identifier:
                    yield self._is(code, number + 1)
            case RecordType(_, fields):
                offset = sum(of.bits for _, of in fields)
                for _, of in fields:
                    offset -= of.bits
                    yield from self._parts(of, cut(builder, code, offset, of.bits), number)
            case SetType(element, None):
                yield resize(builder, builder.ctpop(code), I64)
                if element == self._identifier:
                    yield cut(builder, code, number, 1)
            case MapType(key, of):
                if key == self._identifier:
                    yield from self._parts(of, cut(builder, code, number * of.bits, of.bits), number)
                elif not is_renamed(key, self._classes):
                    for position in range(key.size):
                        yield from self._parts(of, cut(builder, code, position * of.bits, of.bits), number)
            case SeqType(_, capacity):
                yield cut(builder, code, 0, capacity.bit_length())

    def _is(self, code: Value, wanted: int) -> Value:
        return self._builder.zext(self._builder.icmp_unsigned("==", code, const(wanted)), I64)


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
