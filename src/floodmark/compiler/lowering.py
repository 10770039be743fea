"""The base of the compiler's parts: the model, fresh variables, conversions, and each other's entry points."""

from __future__ import annotations

import ast
import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from floodmark.compiler import ir
from floodmark.compiler.compile_cache import CompilerInputs, meant_type
from floodmark.compiler.failures import may_refuse, may_stop
from floodmark.compiler.frame import Binding, Frame, StaticObject
from floodmark.compiler.joins import changes_class, convertible, join, set_type
from floodmark.compiler.plain_containers import SETS, UNHASHABLE, PlainContainers
from floodmark.compiler.premises import NodeSource
from floodmark.language.errors import ModelError
from floodmark.language.model import Model
from floodmark.language.types import (
    INTEGER_LIMIT,
    BagType,
    BoolType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
    is_open,
    is_unlimited,
)
from floodmark.language.values import Identifier, Record

Noted = TypeVar("Noted", bound=ir.Expr | ir.Return)

MAX_VALUE_BITS = 1 << 16
"""The maximum number of bits of a value: compiling a larger one would take too long."""


MAX_REPEATED = 200
"""The maximum number of expressions in a value that may be evaluated several times rather than held in a variable."""


class Lowering(ABC):
    """Lowers functions of one model, with its constants, to the expression graph."""

    def __init__(self, model: Model, reading: CompilerInputs | None = None) -> None:
        self.model = model
        self.reading = reading or CompilerInputs(model)
        self.next_slot = 0
        self.depth = 0
        self.calls = self.steps = 0
        """The numbers of calls and of expressions read so far; a body counts once for each reading."""
        self.shared: dict[tuple[object, ...], ir.SharedFunction] = {}
        self.named: list[object] = []
        self.plain = PlainContainers()
        self.written: dict[int, NodeSource] = {}
        """The possible premises of a property, by the identities of their nodes."""
        self.path: tuple[ast.Call, ...] = ()
        """The calls of helpers around the current code, the outermost first."""
        self.guarded = True
        """Whether ``require`` is allowed here: in an action, not in a property."""

        self.may_ask_actions = True
        """Whether ``enabled`` is allowed here: not in a property of runs of a model with bounds."""

    # The entry points that the other parts provide.

    @abstractmethod
    def expression(self, frame: Frame, node: ast.expr) -> ir.Expr:
        """Lowers an expression to a node."""

    @abstractmethod
    def binding(self, frame: Frame, node: ast.expr) -> Binding:
        """The value of an expression at compile time: a node, a class or function, or the model itself."""

    @abstractmethod
    def domain(self, frame: Frame, node: ast.expr) -> tuple[ir.Domain, Type, bool]:
        """The domain of a loop, the type of its variable, and whether its order is fixed."""

    @abstractmethod
    def call(self, frame: Frame, node: ast.Call) -> ir.Expr:
        """Lowers a call to a node."""

    @abstractmethod
    def block(self, frame: Frame, body: list[ast.stmt]) -> tuple[list[ir.Stmt], bool]:
        """The statements of a block, and whether control can reach its end."""

    @abstractmethod
    def inline(self, frame: Frame, node: ast.Call, function: Callable[..., Any], first: Binding | None) -> ir.Expr:
        """The body of ``function`` in place of a call to it; ``first`` is what ``self`` means there."""

    @abstractmethod
    def reshaped(self, value: ir.Expr, kind: Type) -> ir.Expr:
        """``value`` as a ``kind``; some record in it becomes one of a union, or one of a union a plain one."""

    @abstractmethod
    def field_of_union(self, frame: Frame, node: ast.Attribute, value: ir.Expr) -> ir.Expr:
        """A field that may belong to some of the classes only: a model error for a record of another class."""

    @abstractmethod
    def of_its_class(self, item: ir.Local, container: ir.Expr) -> ir.Expr:
        """``item in container``, where the elements may be of other classes as well."""

    # Shared helpers.

    def as_written(self, node: Noted, tree: ast.expr | ast.Return) -> Noted:
        """A node of a property that may contain a premise, with its source recorded."""
        if not self.guarded:
            self.written[id(node)] = NodeSource(node, tree, self.path)
        return node

    def fresh(self, kind: Type, name: str, at: ir.Position) -> ir.Local:
        """A new local variable, with a slot of its own."""
        self.next_slot += 1
        return ir.Local(kind, at, self.next_slot, name)

    def holding(self, value: ir.Expr, name: str, at: ir.Position) -> ir.Local:
        """A new local variable for a value."""
        variable = self.fresh(value.type, name, at)
        self.plain.hold(variable, value)
        return variable

    def element(self, domain: ir.Domain, kind: Type, name: str, at: ir.Position) -> ir.Local:
        """A new local variable for the elements of what a loop runs over."""
        variable = self.fresh(kind, name, at)
        if isinstance(domain, ir.Expr):
            self.plain.hold(variable, domain)
        return variable

    def constant(self, value: Any, at: ir.Position) -> ir.Const | None:
        """The constant for a Python object, or None if it is not a value of the language."""
        match value:
            case None:
                return ir.Const(ir.NoneType(), at, None)
            case enum.Enum():
                kind = self.class_type(type(value))
                if kind is None:
                    return None
                return ir.Const(kind, at, value)
            case bool():
                return ir.Const(ir.BOOL, at, value)
            case int() if type(value) is int:
                if abs(value) >= INTEGER_LIMIT:
                    raise ModelError(f"{value} is too large; integers lie within 2**62", at.file, at.line)
                return ir.Const(IntType(value, value), at, value)
            case Identifier():
                count = self.model.identifier_count(type(value))
                if not 1 <= value.number <= count:
                    message = f"there is no {type(value).__name__}({value.number}): the model has {count}"
                    raise ModelError(message, at.file, at.line)
                self.reading.rests_on(meant_type, type(value))
                return ir.Const(self.model.declared_type(type(value)), at, value)
        return None

    def class_type(self, value: Any) -> Type | None:
        """The type that iterating over a class enumerates: identifiers and enums."""
        if isinstance(value, type) and issubclass(value, Identifier | enum.Enum):
            self.reading.rests_on(meant_type, value)
            return self.model.declared_type(value)
        return None

    def record_type(self, cls: type[Record]) -> RecordType:
        """The type of a record with the model's constants."""
        self.reading.rests_on(meant_type, cls)
        kind = self.model.record_type(cls)
        if is_unlimited(kind):
            raise AssertionError(f"{kind} is read before its containers have widths")
        return kind

    def convert(self, value: ir.Expr, kind: Type, what: str) -> ir.Expr:
        """``value`` as a ``kind``; checked at run time unless the type alone says that it fits."""
        if value.type == kind:
            return value
        if not convertible(value.type, kind):
            raise ModelError(f"{what} is {kind}, but this is {value.type}", value.at.file, value.at.line)
        made = self._made_as(value, kind)
        return made if self.plain.of(made) == self.plain.of(value) else self.plain.made(made, self.plain.of(value))

    def _made_as(self, value: ir.Expr, kind: Type) -> ir.Expr:
        match value, kind:
            case ir.SetOf(elements=elements), SetType(element, _) if _has_room(kind, len(elements)):
                members = [self.convert(member, element, "the element") for member in elements]
                return ir.SetOf(kind, value.at, members, value.typed)
            case ir.Reduce(kind="set", body=body), SetType(element, None) if not is_open(kind):
                body = self.convert(body, element, "the element")
                return ir.Reduce(kind, value.at, "set", value.generators, body, typed=value.typed)
        if changes_class(value.type, kind):
            return self.reshaped(value, kind)
        return ir.Convert(kind, value.at, value)

    def unify(self, left: ir.Expr, right: ir.Expr, what: str) -> tuple[ir.Expr, ir.Expr]:
        """Both sides in one type; refused if no value of one can be a value of the other."""
        kind = join(left.type, right.type)
        if kind is None:
            raise ModelError(
                f"{what} {left.type} and {right.type}, which have no value in common", left.at.file, left.at.line
            )
        return self.convert(left, kind, ""), self.convert(right, kind, "")

    def is_name_of(self, frame: Frame, node: ast.Name, meant: object) -> bool:
        """Whether a name denotes this built-in here, not something of the model's with the same name."""
        bound = self.binding(frame, node)
        return isinstance(bound, StaticObject) and bound.value is meant

    def unwrapped(self, value: ir.Expr) -> ir.Expr:
        """The value inside an optional one; checked at run time."""
        return self.convert(value, value.type.inner, "") if isinstance(value.type, OptionalType) else value

    def integer(self, frame: Frame, node: ast.expr, value: ir.Expr) -> ir.Expr:
        """An integer expression, unwrapped from an optional one if need be."""
        value = self.unwrapped(value)
        if isinstance(value.type, ir.NothingType):
            return self.convert(value, IntType(0, 0), "")
        if not isinstance(value.type, IntType):
            raise frame.refuse(node, f"an integer is needed here, but this is {value.type}")
        return value

    def condition(self, frame: Frame, node: ast.expr) -> ir.Expr:
        """A truth value: a bool, or a container, which is true if it is not empty."""
        return self.truth(frame, node, self.expression(frame, node))

    def truth(self, frame: Frame, node: ast.expr, value: ir.Expr) -> ir.Expr:
        """Whether a value is true, if it has a truth value."""
        if isinstance(value.type, BoolType):
            return value
        if isinstance(value.type, ir.NothingType):
            return self.convert(value, ir.BOOL, "")
        if isinstance(value.type, SetType | SeqType | BagType | MapType):
            size = ir.Size(IntType(0, max(size_bound(value.type), 1)), value.at, value)
            return ir.Compare(ir.BOOL, value.at, ">", size, ir.Const(IntType(0, 0), value.at, 0))
        if isinstance(value.type, IntType):
            raise frame.refuse(node, "an integer is not a truth value here; write x != 0")
        raise frame.refuse(node, f"{value.type} is not a truth value here; write `is not None` or a comparison")

    # What is known about a condition before the model runs is decided here: a function inlined for one kind of
    # message then has no code for the others. A property keeps its premises anyway, to report those never true;
    # and integers are left alone, since a proof may be for every value of a constant.

    def equal(self, left: ir.Expr, right: ir.Expr, at: ir.Position) -> ir.Expr:
        """``left == right``, decided here if both are known when the model is read."""
        for value, nothing in ((left, right), (right, left)):
            if isinstance(nothing.type, ir.NoneType):
                return self._missing_beside(nothing, value, at)
        self.alike(left, right, at)
        one, other = self.unify(left, right, "this compares")
        if isinstance(left, ir.Const) and isinstance(right, ir.Const) and not isinstance(one.type, IntType):
            return ir.Const(ir.BOOL, at, left.value == right.value)
        return ir.Equal(ir.BOOL, at, one, other)

    def alike(self, left: ir.Expr, right: ir.Expr, at: ir.Position) -> None:
        """Refuses to compare a list with a tuple: in Python they are never equal, whatever their elements."""
        if self.plain.differ(left, right):
            message = "a list never equals a tuple; write both as lists, or one as Seq(...)"
            raise ModelError(message, at.file, at.line)

    def _missing_beside(self, nothing: ir.Expr, value: ir.Expr, at: ir.Position) -> ir.Expr:
        """Whether ``value`` equals an expression that can only be None; the expression is evaluated if it may fail."""
        if may_stop(nothing):
            return self.once(at, [nothing, value], lambda held: self.missing(held[1], at))
        return self.missing(value, at)

    def missing(self, value: ir.Expr, at: ir.Position) -> ir.Expr:
        """Whether a value is None."""
        if isinstance(value, ir.Const):
            return ir.Const(ir.BOOL, at, value.value is None)
        if isinstance(value, ir.Local) and not isinstance(value.type, OptionalType):
            return ir.Const(ir.BOOL, at, isinstance(value.type, ir.NoneType))
        return ir.IsNone(ir.BOOL, at, value)

    def all_of(self, at: ir.Position, operands: list[ir.Expr], places: Sequence[ir.Position] = ()) -> ir.Expr:
        """``and``: nothing after a false operand is evaluated. ``places`` are the positions of the operands."""
        needed, where = self._needed(operands, places, False)
        return ir.And(ir.BOOL, at, needed, where) if len(needed) > 1 else needed[0]

    def any_of(self, at: ir.Position, operands: list[ir.Expr], places: Sequence[ir.Position] = ()) -> ir.Expr:
        """``or``: nothing after a true operand is evaluated."""
        needed, where = self._needed(operands, places, True)
        return ir.Or(ir.BOOL, at, needed, where) if len(needed) > 1 else needed[0]

    def _needed(
        self, operands: list[ir.Expr], places: Sequence[ir.Position], decisive: bool
    ) -> tuple[list[ir.Expr], list[ir.Position]]:
        """The operands that count, and their places."""
        if not self.guarded:
            return operands, list(places)
        needed = _until(operands, decisive)
        kept = {id(operand) for operand in needed}
        return needed, [at for operand, at in zip(operands, places, strict=False) if id(operand) in kept]

    def set_of(self, at: ir.Position, element: Type, members: list[ir.Expr], slotted: bool = False) -> ir.Expr:
        """A set literal; in slots if it will be combined with slots."""
        kind = SetType(element, len(members)) if slotted else set_type(element, len(members))
        return ir.SetOf(kind, at, members)

    def set_binary(self, at: ir.Position, op: Literal["|", "&", "-", "^"], left: ir.Expr, right: ir.Expr) -> ir.Expr:
        """``| & - ^`` of two sets. Elements only on the right side of ``-`` or ``&`` need no room."""
        left, right = self.unify(left, right, "this combines")
        kind = left.type
        assert isinstance(kind, SetType)
        if kind.capacity is not None and op in ("|", "^"):
            most = min(slots_needed(left) + slots_needed(right), kind.element.codes)
            slotted = SetType(kind.element, most)
            # Two sets in slots stay so unless a mask has fewer bits: to z3, conversions are dearer than slots.
            keeps_slots = is_open(kind.element) or slotted.bits <= kind.element.codes
            kind = slotted if keeps_slots else set_type(kind.element, most)
            if not is_open(kind.element) and kind.bits > MAX_VALUE_BITS:
                raise ModelError(f"this may hold {kind.capacity} elements; combine smaller sets", at.file, at.line)
            if kind.capacity is None:
                left, right = self.convert(left, kind, ""), self.convert(right, kind, "")
        return ir.SetBinary(kind, at, op, left, right)

    def once(self, at: ir.Position, values: list[ir.Expr], build: Callable[[list[ir.Expr]], ir.Expr]) -> ir.Expr:
        """``build`` applied to values that are evaluated once each and in order, whether or not it uses them all."""
        if not any(may_stop(value) or _is_large(value) for value in values):
            return build(values)
        variables: list[ir.Expr] = []
        body: list[ir.Stmt] = []
        for value in values:
            variable = self.holding(value, "value", at)
            body.append(ir.SetLocal(at, variable, value))
            variables.append(variable)
        built = build(variables)
        result = self.holding(built, "result", at)
        return ir.Inline(built.type, at, [*body, ir.Return(at, built, result)], result)

    def operands(self, at: ir.Position, values: list[ir.Expr], build: Callable[[list[ir.Expr]], ir.Expr]) -> ir.Expr:
        """``build`` applied to the operands of an operation, which fails for None.

        The failure comes after all operands are evaluated: a ``require`` in one of them takes precedence.
        """
        if any(isinstance(value.type, OptionalType) for value in values) and any(map(may_refuse, values)):
            return self.once(at, values, build)
        return build(values)

    def negate(self, value: ir.Expr) -> ir.Expr:
        """``not value``, decided here if the value is known when the model is read."""
        if isinstance(value, ir.Const):
            return ir.Const(ir.BOOL, value.at, not value.value)
        return ir.Not(ir.BOOL, value.at, value)

    def has_order(self, value: ir.Expr) -> bool:
        """Whether CPython iterates this set in the order of its codes: it does for a ``Set``, not for a plain set."""
        return not self.plain.of(value) & SETS

    def hashable(self, frame: Frame, node: ast.AST, item: ir.Expr) -> ir.Expr:
        """An element of a set, or a value that is searched in one, which must not be a list."""
        found = self.plain.of(item) & UNHASHABLE
        if found:
            what, instead = ("list", "a tuple or Seq(...)") if "list" in found else ("set", "Set(...)")
            raise frame.refuse(node, f"a plain {what} cannot be in a set; write {instead}")
        return item


def _is_large(value: ir.Expr) -> bool:
    """Whether a value has more than MAX_REPEATED expressions."""
    count, waiting = 0, [value]
    while waiting and count <= MAX_REPEATED:
        count += 1
        waiting += ir.children(waiting.pop())
    return count > MAX_REPEATED


def _has_room(kind: SetType, count: int) -> bool:
    """Whether a set of so many elements can be made as a set of this type directly, without a conversion."""
    return not is_open(kind) and (kind.capacity is None or count <= kind.capacity)


def _until(operands: list[ir.Expr], decisive: bool) -> list[ir.Expr]:
    """The operands up to the first one known to be decisive, without those known not to be."""
    needed: list[ir.Expr] = []
    for operand in operands:
        if isinstance(operand, ir.Const):
            if operand.value == decisive:
                return [*needed, operand]
        else:
            needed.append(operand)
    return needed or operands[:1]


def in_code_order(kind: Type) -> bool:
    """Whether CPython orders the values of a type as their codes do. It cannot if there are sequences, or sets packed
    in slots, as their order depends on the type."""
    match kind:
        case SeqType() | SetType(_, int()):
            return False
        case OptionalType(inner) | SetType(inner, _) | BagType(inner, _) | MapType(_, inner):
            return in_code_order(inner)
        case RecordType(_, fields):
            return all(in_code_order(of) for _, of in fields)
    return True


def slots_needed(value: ir.Expr) -> int:
    """The largest number of elements of a set expression, before any conversion to a wider type."""
    while isinstance(value, ir.Convert) and isinstance(value.operand.type, SetType):
        value = value.operand
    bound = size_bound(value.type)
    return min(bound, len(value.elements)) if isinstance(value, ir.SetOf) else bound


def size_bound(kind: Type) -> int:
    """The largest number of elements of a container of this type."""
    match kind:
        case SetType(element, capacity):
            return element.codes if capacity is None else min(capacity, element.codes)
        case SeqType(_, capacity) | BagType(_, capacity):
            return capacity
        case MapType(key, _):
            return key.size
    return 0


def common_fields(kind: RecordType) -> dict[str, Type]:
    """The fields that every record of a type has."""
    if isinstance(kind, UnionType):
        return {name: of for name, of in kind.fields[1:] if kind.is_common(name)}
    return dict(kind.fields)


def no_field(kind: RecordType, name: str) -> str:
    """The error for a field that not every record of a type has."""
    has = ", ".join(common_fields(kind)) or "none"
    if isinstance(kind, UnionType) and name in dict(kind.fields):
        return f"only some of {kind} have the field {name}; make a new record (common to all: {has})"
    return f"{kind} has no field {name!r}; it has {has}"
