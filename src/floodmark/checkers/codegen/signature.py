"""Machine code for the signatures of identifiers; ``floodmark.compiler.renaming`` explains their purpose."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I64, Value, const, cut, resize, shifted_right
from floodmark.compiler.renaming import SIGNATURE_MULTIPLIER, is_renamed
from floodmark.language.types import WORD, IdentifierType, MapType, OptionalType, RecordType, SeqType, SetType, Type
from floodmark.language.values import Identifier


def signature(
    builder: ir.IRBuilder, variables: Mapping[str, Type], codes: Mapping[str, Value], identifier: IdentifierType,
    number: int, classes: Container[type[Identifier]],
) -> Value:
    """What a state, given by the codes of its variables, says of identifier ``number`` (from 0), hashed to 64 bits.

    ``classes`` are those whose identifiers are renamed.
    """
    found: Value = const(0)
    for name, kind in variables.items():
        for part in _parts(builder, kind, codes[name], identifier, number, classes):
            found = builder.mul(builder.xor(found, part), const(SIGNATURE_MULTIPLIER))
            found = builder.xor(found, builder.lshr(found, const(32)))
    return found


def _parts(
    builder: ir.IRBuilder, kind: Type, code: Value, identifier: IdentifierType, number: int,
    classes: Container[type[Identifier]],
) -> Iterator[Value]:
    if not is_renamed(kind, classes):
        for index in range(code.type.width // WORD):
            yield resize(builder, shifted_right(builder, code, WORD * index), I64)
        return
    match kind:
        case IdentifierType():
            if kind == identifier:
                yield _is(builder, code, number)
        case OptionalType(inner):
            yield builder.zext(builder.icmp_unsigned("!=", code, const(0, code.type)), I64)
            if inner == identifier:
                yield _is(builder, code, number + 1)
        case RecordType(_, fields):
            offset = sum(of.bits for _, of in fields)
            for _, of in fields:
                offset -= of.bits
                yield from _parts(builder, of, cut(builder, code, offset, of.bits), identifier, number, classes)
        case SetType(element, None):
            yield resize(builder, builder.ctpop(code), I64)
            if element == identifier:
                yield cut(builder, code, number, 1)
        case MapType(key, of):
            positions = [number] if key == identifier else [] if is_renamed(key, classes) else range(key.size)
            for position in positions:
                entry = cut(builder, code, position * of.bits, of.bits)
                yield from _parts(builder, of, entry, identifier, number, classes)
        case SeqType(_, capacity):
            yield resize(builder, cut(builder, code, 0, capacity.bit_length()), I64)


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


def _is(builder: ir.IRBuilder, code: Value, wanted: int) -> Value:
    return builder.zext(builder.icmp_unsigned("==", code, const(wanted, code.type)), I64)
