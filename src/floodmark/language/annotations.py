"""The meaning of an annotation of a model: a finite type, once the constants of a spec are known."""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin

from floodmark.language import values
from floodmark.language.bindings import annotation_position
from floodmark.language.errors import ModelError
from floodmark.language.linear import Bound, Linear, SearchBound
from floodmark.language.plain_classes import require_plain, require_plain_enum
from floodmark.language.types import (
    INTEGER_LIMIT,
    MAX_MASK_BITS,
    BagType,
    Between,
    BoolType,
    Capacity,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OpenIdentifierType,
    OpenIntType,
    OpenSetType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
    growing,
    is_open,
    is_packed_loosely,
    open_int,
    parts_of,
    union_of,
)
from floodmark.language.values import Record
from floodmark.language.widths import Widths


def bound(value: int | str, constants: Mapping[str, Bound]) -> Bound:
    """The value of a bound: itself, or that of an expression over the constants such as ``"2 * brokers"``.

    An integer unless it mentions a constant that is left open.
    """
    if isinstance(value, int):
        return value
    if not isinstance(value, str):
        raise ModelError(f"a bound is an integer or an expression over constants such as 'brokers + 1', not {value!r}")
    try:
        tree = _parsed(value)
    except SyntaxError:
        raise ModelError(f"the bound {value!r} is not an expression over constants") from None
    return _evaluate(tree, constants)


@functools.lru_cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _evaluate(node: ast.expr, constants: Mapping[str, Bound]) -> Bound:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            if name not in constants:
                known = ", ".join(sorted(constants)) or "none"
                raise ModelError(
                    f"the bound names the constant {name!r}, which the model does not have (it has: {known})"
                )
            known_as = constants[name]
            return known_as if isinstance(known_as, Linear) else int(known_as)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, constants)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _evaluate(left, constants), _evaluate(right, constants)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.FloorDiv() if any(
                    isinstance(each, ast.Name) and isinstance(constants[each.id], SearchBound)
                    for each in ast.walk(node)
                ):
                    message = "divides by or into a bound=True constant; larger ones have to give larger types"
                    raise ModelError(f"the bound {ast.unparse(node)!r} {message}")
                case ast.FloorDiv() if b != 0:
                    return a // b
                case ast.FloorDiv():
                    raise ModelError(f"the bound {ast.unparse(node)!r} divides by zero")
    raise ModelError("a bound may use integers, constants, + - * and // only")


@dataclasses.dataclass(frozen=True, slots=True)
class AnnotationContext:
    """The context of an annotation: ``widths`` are those of containers without a capacity, None where each needs one.

    Without a place (``floodmark.language.widths``) an annotation is that of a parameter.
    """

    widths: Widths | None = None
    place: str = ""

    def at(self, place: str) -> AnnotationContext:
        return AnnotationContext(self.widths, place)

    def inside(self, how: str) -> AnnotationContext:
        """The context of a part of it; ``how`` is the part's place, with {} for this one."""
        return self.at(how.format(self.place) if self.place else "")

    def width(self, form: str) -> int:
        """The width of a container here that has no capacity."""
        if self.widths is None:
            raise ModelError(form)
        return self.widths.of(self.place)


def resolve(annotation: Any, constants: Mapping[str, Bound], declared: AnnotationContext = AnnotationContext()) -> Type:
    """The type that ``annotation`` declares with these constants: finite unless one of them is left open.

    Raises ModelError if the annotation has no finite meaning (a bare ``int``, for example), or cannot be left open.
    """
    origin = get_origin(annotation)
    notes: tuple[Any, ...] = ()
    if origin is Annotated:
        annotation, *rest = get_args(annotation)
        notes = tuple(rest)
        origin = get_origin(annotation)
    capacity = next((bound(note.limit, constants) for note in notes if isinstance(note, Capacity)), None)
    between = next((note for note in notes if isinstance(note, Between)), None)
    if capacity is not None and origin not in (values.Set, values.Bag, values.Seq):
        raise ModelError("a capacity belongs to a Set, a Bag or a Seq: Annotated[Seq[T], Capacity(limit)]")
    if isinstance(capacity, Linear) and origin is not values.Set:
        raise ModelError(f"the capacity {capacity} of a {origin.__name__} cannot be left open; only that of a Set can")
    if isinstance(capacity, int) and capacity < 0:
        raise ModelError(f"a capacity of {capacity} is negative")
    if isinstance(capacity, int) and capacity >= INTEGER_LIMIT:
        raise ModelError(f"a capacity of {capacity} is too large; leave it out where there is no limit")
    if between is not None and annotation is not int:
        raise ModelError("bounds belong to an integer: Annotated[int, Between(low, high)]")
    if annotation is bool:
        return BoolType()
    if annotation is int:
        if between is None:
            raise ModelError("an integer needs bounds: write Annotated[int, Between(low, high)]")
        low, high = bound(between.low, constants), bound(between.high, constants)
        if isinstance(low, Linear) or isinstance(high, Linear):
            return open_int(low, high)
        if high < low:
            raise ModelError(f"the bounds {low}..{high} contain no integer")
        if low <= -INTEGER_LIMIT or high >= INTEGER_LIMIT:
            raise ModelError(f"the bounds {low}..{high} are too large; they must lie within 2**62")
        return IntType(low, high)
    if origin in (types.UnionType, typing.Union):
        members = [member for member in get_args(annotation) if member is not type(None)]
        one = len(members) == 1
        whole = resolve(members[0], constants, declared) if one else _union(members, constants, declared)
        return OptionalType(whole) if type(None) in get_args(annotation) else whole
    if isinstance(annotation, type):
        if issubclass(annotation, enum.Enum):
            require_plain_enum(annotation)
            if not annotation.__members__:
                raise ModelError(f"{annotation.__name__} has no members")
            return EnumType(annotation)
        if issubclass(annotation, values.Identifier):
            require_plain(annotation, values.Identifier, {"number"})
            count = bound(annotation.count, constants)
            if isinstance(count, Linear):
                return OpenIdentifierType(annotation, INTEGER_LIMIT, limit=count)
            if count < 1:
                raise ModelError(f"there has to be at least one {annotation.__name__}, but its count is {count}")
            return IdentifierType(annotation, count)
        if issubclass(annotation, values.Record):
            return _resolve_record(annotation, constants, declared)
    if origin in (values.Set, values.Bag, values.Seq, values.Map):
        wanted = 2 if origin is values.Map else 1
        if len(get_args(annotation)) != wanted:
            form = "Map[K, V]" if wanted == 2 else f"{origin.__name__}[T]"
            raise ModelError(f"{origin.__name__} takes {'two types' if wanted == 2 else 'one type'}: {form}")
    if origin is values.Set:
        element = resolve(get_args(annotation)[0], constants, declared.inside("an element of {}"))
        if isinstance(capacity, Linear) or is_open(element):
            return _open_set(element, capacity)
        if capacity is None and (any(growing(element)) or element.codes > MAX_MASK_BITS):
            form = f"a set over {element} needs a capacity: write Annotated[Set[{element}], Capacity(8)]"
            return SetType(element, declared.width(form), declared.place)
        return SetType(element, capacity)
    if origin is values.Bag:
        element = resolve(get_args(annotation)[0], constants, declared.inside("an element of {}"))
        if capacity is None:
            form = "a bag needs a capacity: write Annotated[Bag[T], Capacity(limit)]"
            return BagType(element, declared.width(form), declared.place)
        assert isinstance(capacity, int)
        return BagType(element, capacity)
    if origin is values.Map:
        key_of, value_of = get_args(annotation)
        key = resolve(key_of, constants, declared.inside("a key of {}"))
        value = resolve(value_of, constants, declared.inside("{}[...]"))
        if is_open(key) and not isinstance(key, OpenIdentifierType | OpenIntType):
            raise ModelError(f"a map has an entry for every {key}, so this cannot be left open")
        if any(is_packed_loosely(part) for part in parts_of(key)):
            raise ModelError(f"a map has an entry for every {key}, so this cannot contain a Seq, a Bag or a capacity")
        if any(isinstance(part, UnionType) for part in parts_of(key)):
            raise ModelError(f"a map has an entry for every {key}; use a map for each class, or a set of records")
        return MapType(key, value)
    if origin is values.Seq:
        element = resolve(get_args(annotation)[0], constants, declared.inside("an element of {}"))
        if capacity is None:
            form = "a sequence needs a capacity: write Annotated[Seq[T], Capacity(limit)]"
            return SeqType(element, declared.width(form), declared.place)
        assert isinstance(capacity, int)
        return SeqType(element, capacity)
    raise ModelError(f"{_written(annotation)} is not a type of the modelling language{_instead(annotation, origin)}")


_INSTEAD: dict[Any, str] = {
    float: "there are no fractions: count in whole units, Annotated[int, Between(0, 10)]",
    str: "name the values in an Enum, or declare an Identifier",
    bytes: "name the values in an Enum",
    list: "write Annotated[Seq[T], Capacity(4)]",
    tuple: "write Annotated[Seq[T], Capacity(4)], or a Record with named fields",
    dict: "write Map[K, V]",
    set: "write Set[T]",
    frozenset: "write Set[T]",
    values.Seq: "say of what: Annotated[Seq[T], Capacity(4)]",
    values.Bag: "say of what: Annotated[Bag[T], Capacity(4)]",
    values.Set: "say of what: Set[T]",
    values.Map: "say of what: Map[K, V]",
    Any: "say which values there are",
}


def _instead(annotation: Any, origin: Any) -> str:
    """The replacement for a type of Python's that the language does not have."""
    meant = annotation if origin is None else origin
    if meant in _INSTEAD:
        return f"; {_INSTEAD[meant]}"
    if dataclasses.is_dataclass(meant) or (isinstance(meant, type) and issubclass(meant, tuple)):
        return f"; derive {meant.__name__} from Record" if isinstance(meant, type) else ""
    return ""


def _written(annotation: Any) -> str:
    """An annotation as it is written, without the modules of its classes."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _written(arguments[0])
    if origin is not None and arguments:
        name = getattr(origin, "__name__", str(origin))
        return f"{name}[{', '.join(map(_written, arguments))}]"
    return annotation.__name__ if isinstance(annotation, type) else repr(annotation)


def _union(members: list[Any], constants: Mapping[str, Bound], declared: AnnotationContext) -> Type:
    """Records of one of several classes."""
    kinds = [resolve(member, constants, declared) for member in members]
    records = [kind for kind in kinds if isinstance(kind, RecordType)]
    if len(records) != len(kinds):
        raise ModelError("a union is T | None, or of records: Vote | Fetch")
    return union_of(records)


def _open_set(element: Type, capacity: Bound | None) -> SetType:
    """A set whose elements or capacity are left open."""
    for part in parts_of(element):
        within = part.element if isinstance(part, SetType) and part.capacity is None else None
        if isinstance(part, OpenSetType) or (
            within is not None and is_open(within) and not isinstance(within, OpenIdentifierType)
        ):
            raise ModelError(f"a set of {element}, which contains a set of any size, cannot be left open")
    if not isinstance(capacity, Linear):
        return SetType(element, capacity)
    if not is_open(element):
        raise ModelError(f"the capacity {capacity} is left open, so the elements have to be left open as well")
    return OpenSetType(element, INTEGER_LIMIT, limit=capacity)


_RECORDS_OWN = frozenset({"annotations", "build", "replace", "_at", "_place", "_values", "_with"})
_unfinished_records: list[type[Record]] = []


def _resolve_record(cls: type[Record], constants: Mapping[str, Bound], declared: AnnotationContext) -> RecordType:
    if cls in _unfinished_records:
        raise ModelError(f"{cls.__name__} contains itself, so it has no finite size; refer to an identifier instead")
    require_plain(cls, Record, _RECORDS_OWN)
    _unfinished_records.append(cls)
    try:
        fields = []
        for name, annotation in cls.annotations().items():
            if name.startswith("_") or name in _RECORDS_OWN:
                message = f"{cls.__name__} cannot have a field called {name}; rename it so that it begins with a letter"
                raise ModelError(message, *annotation_position(cls, name))
            try:
                fields.append((name, resolve(annotation, constants, declared.at(f"the field {name}"))))
            except ModelError as error:
                if error.file is not None:
                    raise
                message = f"field {name} of {cls.__name__}: {error.message}"
                raise ModelError(message, *annotation_position(cls, name)) from None
        return RecordType(cls, tuple(fields))
    finally:
        _unfinished_records.pop()
