"""Lowers Python expressions: names, operators, comparisons, indexing, literals."""

from __future__ import annotations

import ast
import builtins
import enum
import types

from floodmark.compiler import ir
from floodmark.compiler.compile_cache import attribute, member, name_around, name_in_file
from floodmark.compiler.comprehensions import ComprehensionLowering
from floodmark.compiler.constructs import ARITHMETIC, ORDER, SET_OPERATORS, refused_syntax
from floodmark.compiler.frame import Binding, Frame, ModelRef, StaticObject
from floodmark.compiler.joins import changes_class, either, fits, join
from floodmark.compiler.known_values import ConstantEvaluation, instead_of
from floodmark.compiler.lowering import Lowering, LoweringPart, must_be_pure
from floodmark.compiler.plain_containers import Form
from floodmark.compiler.sizes import size_bound
from floodmark.compiler.unions import UnionLowering, no_field
from floodmark.language.errors import ModelError
from floodmark.language.linear import Linear
from floodmark.language.members import Constant
from floodmark.language.model import bounds_of
from floodmark.language.types import (
    INTEGER_LIMIT,
    BagType,
    IdentifierType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from floodmark.language.values import Bag, Map, Record, Seq, Set


class ExpressionLowering(LoweringPart):
    """The expression half of the compiler."""

    def __init__(
        self, lowering: Lowering, constants: ConstantEvaluation, comprehensions: ComprehensionLowering,
        unions: UnionLowering,
    ) -> None:
        super().__init__(lowering)
        self._constants = constants
        self._comprehensions = comprehensions
        self._unions = unions

    def expression(self, frame: Frame, node: ast.expr) -> ir.Expr:
        bound = self.binding(frame, node)
        if isinstance(bound, ir.Expr):
            return bound
        if isinstance(bound, ModelRef):
            raise frame.refuse(node, "the model itself is not a value; name one of its variables")
        return self._constants.known(frame, node, bound.value, ast.unparse(node))

    def binding(self, frame: Frame, node: ast.expr) -> Binding:
        self.lowering.steps += 1
        if (text := refused_syntax(node)) is not None:
            raise frame.refuse(node, text)
        match node:
            case ast.Name(id=name):
                return self._name(frame, node, name)
            case ast.Constant(value=value) if value is None or isinstance(value, bool | int):
                return self._constants.known(frame, node, value)
            case ast.Attribute():
                return self._attribute(frame, node)
            case ast.Call():
                called = self.lowering.call(frame, node)
                if isinstance(called, ir.Inline | ir.Applied) and _is_effect(called):
                    raise frame.refuse(node, f"{ast.unparse(node.func)} returns no value; call it on a line of its own")
                return called
            case ast.BoolOp(op=op, values=values):
                operands = self._operands(frame, values, isinstance(op, ast.Or))
                places = [frame.at(value) for value in values]
                if isinstance(op, ast.And):
                    return self.nodes.all_of(frame.at(node), operands, places)
                return self.lowering.as_written(self.nodes.any_of(frame.at(node), operands, places), node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.nodes.negate(self.lowering.condition(frame, operand))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._negative(frame, node, self.expression(frame, operand))
            case ast.BinOp():
                return self._binary(frame, node)
            case ast.Compare():
                return self._comparison(frame, node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._choose(frame, node, test, body, orelse)
            case ast.Subscript(value=ast.Name() as container) if self._is_container(frame, container):
                return self.binding(frame, container)
            case ast.Subscript():
                return self._subscript(frame, node)
            case ast.Set(elts=elements):
                return self._constants.set_literal([self.expression(frame, each) for each in elements], frame, node)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                form: Form = "list" if isinstance(node, ast.List) else "tuple"
                members = [self.expression(frame, element) for element in elements]
                return self._constants.seq_literal(members, frame, node, form)
            case ast.SetComp(elt=element, generators=generators):
                return self._comprehensions.comprehension(frame, node, "set", element, generators)
            case ast.ListComp(elt=element, generators=generators):
                made = self._comprehensions.comprehension(frame, node, "seq", element, generators)
                return self.nodes.plain.with_forms(made, self.nodes.plain.of(made) | {"list"})
            case ast.DictComp(key=key, value=value, generators=generators):
                return self._comprehensions.comprehension(frame, node, "map", value, generators, key=key)
            case ast.Constant(value=str()):
                raise frame.refuse(node, "strings are not part of the language; use an Enum")
            case ast.Constant():
                raise frame.refuse(
                    node, f"{ast.unparse(node)} is not part of the language; use bool, int, Enum or None"
                )
            case ast.GeneratorExp():
                text = "a generator is not part of the modelling language but alone in the brackets of a call: any(...)"
                raise frame.refuse(node, f"{text}; here write a list: [x for x in ...]")
        what = type(node).__name__
        raise frame.refuse(node, f"{ast.unparse(node)!r} ({what}) is not part of the modelling language")

    def _is_container(self, frame: Frame, node: ast.Name) -> bool:
        """Whether a name is the class of a container, as in ``Set[Broker]()``."""
        bound = self._name(frame, node, node.id)
        return isinstance(bound, StaticObject) and bound.value in (Set, Map, Seq, Bag)

    def _operands(self, frame: Frame, nodes: list[ast.expr], decisive: bool) -> list[ir.Expr]:
        """The operands of ``and`` or ``or``. An operand that cannot be read may follow one that is known to decide,
        since it is never evaluated: ``best is None or x > best``, as long as only None has been assigned so far."""
        found: list[ir.Expr] = []
        for node in nodes:
            try:
                found.append(self._flag(frame, node))
            except ModelError:
                if not any(isinstance(each, ir.Const) and each.value == decisive for each in found):
                    raise
        return found

    def _flag(self, frame: Frame, node: ast.expr) -> ir.Expr:
        value = self.expression(frame, node)
        if isinstance(value.type, ir.NothingType):
            return self.nodes.convert(value, ir.BOOL, "")
        if value.type != ir.BOOL:
            message = "`and` and `or` take truth values; write x != 0, x is not None or len(x) > 0"
            raise frame.refuse(node, message)
        return value

    # Names and attributes.

    def _name(self, frame: Frame, node: ast.Name, name: str) -> Binding:
        if name in frame.bindings:
            bound = frame.bindings[name]
            if isinstance(bound, ir.Local) and name not in frame.definite:
                raise frame.refuse(node, f"{name} may have no value here; assign it before the branch")
            return bound
        if name in frame.unbound:
            raise frame.refuse(node, f"{name} is a variable of this comprehension, which has no value here yet")
        if name in frame.local_types.types or name in frame.slots or name in frame.source.own_names:
            raise frame.refuse(node, f"{name} may have no value here; assign it first")
        self.inputs.rests_on(name_around, frame.source.function, name)
        self.inputs.rests_on(name_in_file, frame.source.function, name)
        found = frame.free_name(name)
        if found is not None:
            return found
        if hasattr(builtins, name):
            return StaticObject(getattr(builtins, name))
        raise frame.refuse(node, f"{name} is not defined")

    def _attribute(self, frame: Frame, node: ast.Attribute) -> Binding:
        base = self.binding(frame, node.value)
        if isinstance(base, ModelRef):
            return self._member(frame, node, base)
        if isinstance(base, StaticObject) and isinstance(base.value, Record):
            base = self._constants.known(frame, node.value, base.value, ast.unparse(node.value))
        if isinstance(base, StaticObject):
            self.inputs.rests_on(attribute, base.value, node.attr)
            if (
                isinstance(base.value, type)
                and issubclass(base.value, enum.Enum)
                and node.attr in base.value.__members__
            ):
                return self._constants.known(frame, node, base.value[node.attr])
            if isinstance(base.value, type | types.ModuleType) and hasattr(base.value, node.attr):
                return StaticObject(getattr(base.value, node.attr))
            what = ast.unparse(node)
            raise frame.refuse(node, f"{what} is not part of the modelling language{instead_of(base.value)}")
        record = self.nodes.unwrapped(base)
        if isinstance(record.type, RecordType):
            fields = dict(record.type.fields)
            if isinstance(record.type, UnionType) and node.attr in fields:
                return self._unions.field_of_union(frame, node, record)
            if node.attr in fields:
                return ir.Field(fields[node.attr], frame.at(node), record, node.attr)
            raise frame.refuse(node, no_field(record.type, node.attr))
        hint = "; identifiers are interchangeable names" if isinstance(record.type, IdentifierType) else ""
        raise frame.refuse(node, f"{record.type} has no attribute {node.attr!r}{hint}")

    def _member(self, frame: Frame, node: ast.Attribute, base: ModelRef) -> Binding:
        self.inputs.rests_on(member, node.attr)
        kinds = self.model.variable_types
        if node.attr in kinds:
            return ir.StateVar(kinds[node.attr], frame.at(node), node.attr, base.which)
        cls = type(self.model)
        if isinstance(getattr(cls, node.attr, None), Constant):
            if isinstance(bounds_of(self.model)[node.attr], Linear):
                return ir.OpenConstant(IntType(0, INTEGER_LIMIT), frame.at(node), node.attr)
            return self._constants.known(frame, node, self.model.constant_values[node.attr])
        if hasattr(cls, node.attr):
            return StaticObject(getattr(cls, node.attr))
        has = ", ".join(kinds)
        raise frame.refuse(node, f"{cls.__name__} has no attribute {node.attr!r}; its variables are {has}")

    # Operators.

    def _negative(self, frame: Frame, node: ast.expr, operand: ir.Expr) -> ir.Expr:
        value = self.nodes.integer(frame, node, operand)
        if isinstance(value, ir.Const):
            return self._constants.known(frame, node, -value.value)
        zero = ir.Const(IntType(0, 0), frame.at(node), 0)
        return self.nodes.arithmetic(frame.at(node), "-", zero, value)

    def _binary(self, frame: Frame, node: ast.BinOp) -> ir.Expr:
        sides = [self.expression(frame, side) for side in (node.left, node.right)]

        def combined(held: list[ir.Expr]) -> ir.Expr:
            return self._combined(frame, node, *map(self.nodes.unwrapped, held))

        return self.nodes.operands(frame.at(node), sides, combined)

    def _combined(self, frame: Frame, node: ast.BinOp, left: ir.Expr, right: ir.Expr) -> ir.Expr:
        if isinstance(left.type, SetType) and isinstance(right.type, SetType) and type(node.op) in SET_OPERATORS:
            return self.nodes.set_binary(frame.at(node), SET_OPERATORS[type(node.op)], left, right)
        if isinstance(left.type, SeqType) and isinstance(right.type, SeqType) and isinstance(node.op, ast.Add):
            element = join(left.type.element, right.type.element)
            if element is None:
                raise frame.refuse(node, f"this joins sequences of {left.type.element} and {right.type.element}")
            if self.nodes.plain.differ(left, right):
                message = "a list cannot be joined with a tuple; write both as lists, or one as Seq(...)"
                raise frame.refuse(node, message)
            left = self.nodes.convert(left, SeqType(element, left.type.capacity), "")
            right = self.nodes.convert(right, SeqType(element, right.type.capacity), "")
            both = SeqType(element, size_bound(left.type) + size_bound(right.type))
            return ir.SeqConcat(both, frame.at(node), left, right)
        if isinstance(left.type, SetType) and isinstance(right.type, SetType):
            raise frame.refuse(node, f"sets are combined with | & - ^, not as in {ast.unparse(node)!r}")
        if type(node.op) not in ARITHMETIC:
            hint = "; divide with //" if isinstance(node.op, ast.Div) else "; integers have + - * // %, sets | & - ^"
            raise frame.refuse(node, f"{left.type} and {right.type} cannot be combined in {ast.unparse(node)!r}{hint}")
        left, right = self.nodes.integer(frame, node.left, left), self.nodes.integer(frame, node.right, right)
        return self.nodes.arithmetic(frame.at(node), ARITHMETIC[type(node.op)], left, right)

    def _comparison(self, frame: Frame, node: ast.Compare) -> ir.Expr:
        operands = [node.left, *node.comparators]
        for middle in operands[1:-1]:
            must_be_pure(frame, middle, self.binding(frame, middle))
        parts = [
            self._compare(frame, node, left, op, right)
            for left, op, right in zip(operands, node.ops, operands[1:], strict=False)
        ]
        return self.nodes.all_of(frame.at(node), parts)

    def _compare(self, frame: Frame, node: ast.Compare, left: ast.expr, op: ast.cmpop, right: ast.expr) -> ir.Expr:
        at = frame.at(node)
        match op:
            case ast.In() | ast.NotIn():
                found = self._membership(frame, left, right)
                return found if isinstance(op, ast.In) else self.nodes.negate(found)
            case ast.Is() | ast.IsNot():
                if not (isinstance(right, ast.Constant) and right.value is None):
                    raise frame.refuse(node, "`is` compares with None only; write ==")
                missing = self.nodes.missing(self.expression(frame, left), at)
                return missing if isinstance(op, ast.Is) else self.nodes.negate(missing)
            case ast.Eq() | ast.NotEq():
                same = self.nodes.equal(self.expression(frame, left), self.expression(frame, right), at)
                return same if isinstance(op, ast.Eq) else self.nodes.negate(same)
        sides = [self.expression(frame, side) for side in (left, right)]

        def ordered(held: list[ir.Expr]) -> ir.Expr:
            first, second = map(self.nodes.unwrapped, held)
            return self._ordered(frame, node, op, (left, first), (right, second))

        return self.nodes.operands(at, sides, ordered)

    def _ordered(
        self, frame: Frame, node: ast.Compare, op: ast.cmpop, left: tuple[ast.expr, ir.Expr],
        right: tuple[ast.expr, ir.Expr],
    ) -> ir.Expr:
        """``<`` and its kin, of sets or of integers."""
        at, (a, b) = frame.at(node), (left[1], right[1])
        if isinstance(a.type, ir.NothingType) and isinstance(b.type, SetType):
            a = self.nodes.convert(a, b.type, "")
        elif isinstance(b.type, ir.NothingType) and isinstance(a.type, SetType):
            b = self.nodes.convert(b, a.type, "")
        if isinstance(a.type, SetType) and isinstance(b.type, SetType):
            a, b = self.nodes.unify(a, b, "this compares")
            if isinstance(op, ast.Gt | ast.GtE):
                a, b = b, a
            return ir.Subset(ir.BOOL, at, a, b, isinstance(op, ast.Lt | ast.Gt))
        if isinstance(a.type, SeqType):
            raise frame.refuse(node, "sequences have no order here; compare their elements one by one")
        first, second = self.nodes.integer(frame, left[0], a), self.nodes.integer(frame, right[0], b)
        return ir.Compare(ir.BOOL, at, ORDER[type(op)], first, second)

    def _membership(self, frame: Frame, item: ast.expr, container: ast.expr) -> ir.Expr:
        at = frame.at(item)
        match container:
            case ast.Call(func=ast.Name() as called) if self.lowering.is_name_of(frame, called, range):
                domain, kind, _ = self.lowering.domain(frame, container)
                assert isinstance(domain, ir.Range)
                if domain.step != 1:
                    raise frame.refuse(container, "`in range` with a step is not part of the language")
                value = self.expression(frame, item)
                values = [value, domain.low, domain.high]
                return self.nodes.once(at, values, lambda parts: self._between(frame, item, *parts))
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements) if elements:
                values = [self.expression(frame, item), *(self.expression(frame, element) for element in elements)]
                if isinstance(container, ast.Set):
                    for value in values[1:]:
                        self.nodes.hashable(frame, container, value)
                    self._searched(frame, item, values[0])
                return self.nodes.once(at, values, lambda all_of: self._one_of(at, *all_of))
        value = self.expression(frame, item)
        match container:
            case ast.Call(func=ast.Attribute(attr="values"), args=[], keywords=[]):
                domain, _, _ = self.lowering.domain(frame, container)
                assert isinstance(domain, ir.Expr)
                bound: Binding = domain
            case _:
                bound = self.binding(frame, container)
        if isinstance(bound, StaticObject) and (of := self.nodes.class_type(bound.value)) is not None:
            if value.type != of:
                raise frame.refuse(item, f"this asks whether {value.type} is one of {of}; write `is not None` or ==")
            return self.nodes.once(at, [value], lambda _: ir.Const(ir.BOOL, at, True))
        whole = self.nodes.unwrapped(bound if isinstance(bound, ir.Expr) else self.expression(frame, container))
        kind = whole.type
        if isinstance(kind, SetType | SeqType | BagType):
            if join(value.type, kind.element) is None:
                raise frame.refuse(item, f"{value.type} is never an element of {kind}")
            self.nodes.alike(value, whole, at)
            if isinstance(kind, SetType):
                self._searched(frame, item, value)
            of_many = isinstance(kind.element, UnionType) and value.type in kind.element.members
            if of_many and frame.is_action and isinstance(value, ir.Local) and value.name in frame.source.parameters:
                return self._unions.of_its_class(value, whole)
            if changes_class(value.type, kind.element) and fits(value.type, kind.element):
                value = self.nodes.convert(value, kind.element, "")
            if not _comparable(value.type, kind.element):
                return self._found(at, value, whole, kind.element)
            return ir.Contains(ir.BOOL, at, value, whole)
        if isinstance(kind, MapType):
            message = "a map has every key; where one may be without a value let that be None: self.x[key] is not None"
            raise frame.refuse(item, message)
        raise frame.refuse(container, f"{kind} has no elements")

    def _searched(self, frame: Frame, node: ast.expr, item: ir.Expr) -> None:
        """Refuses a value that cannot be searched in a set. A plain set can: Python converts it to a frozenset."""
        if "list" in self.nodes.plain.of(item) or not isinstance(self.nodes.unwrapped(item).type, SetType):
            self.nodes.hashable(frame, node, item)

    def _one_of(self, at: ir.Position, value: ir.Expr, *elements: ir.Expr) -> ir.Expr:
        return self.nodes.any_of(at, [self.nodes.equal(value, element, at) for element in elements])

    def _between(self, frame: Frame, item: ast.expr, value: ir.Expr, low: ir.Expr, high: ir.Expr) -> ir.Expr:
        at = value.at
        number = self.nodes.integer(frame, item, value)
        within: list[ir.Expr] = [ir.Compare(ir.BOOL, at, ">=", number, low), ir.Compare(ir.BOOL, at, "<", number, high)]
        there = [self.nodes.negate(ir.IsNone(ir.BOOL, at, value))] if number is not value else []
        return ir.And(ir.BOOL, at, [*there, *within])

    def _found(self, at: ir.Position, item: ir.Expr, container: ir.Expr, element: Type) -> ir.Expr:
        """Whether some element equals ``item``, which the element type may not admit."""
        value, other = self.nodes.holding(item, "item", at), self.nodes.element(container, element, "element", at)
        result = self.nodes.fresh(ir.BOOL, "found", at)
        found = ir.Reduce(ir.BOOL, at, "any", [ir.Generator(other, container, [])], self.nodes.equal(value, other, at))
        return ir.Inline(ir.BOOL, at, [ir.SetLocal(at, value, item), ir.Return(at, found, result)], result)

    def _choose(self, frame: Frame, node: ast.IfExp, test: ast.expr, body: ast.expr, orelse: ast.expr) -> ir.Expr:
        condition = self.lowering.condition(frame, test)
        if isinstance(condition, ir.Const):
            return self.expression(frame, body if condition.value else orelse)
        then, otherwise = self.expression(frame, body), self.expression(frame, orelse)
        if _compares_with_none(test, body, ast.IsNot):
            then = self.nodes.unwrapped(then)
        if _compares_with_none(test, orelse, ast.Is):
            otherwise = self.nodes.unwrapped(otherwise)
        then = self._of_asked_class(frame, test, body, then)
        kind = either(then.type, otherwise.type)
        if kind is not None:
            then, otherwise = self.nodes.convert(then, kind, ""), self.nodes.convert(otherwise, kind, "")
        then, otherwise = self.nodes.unify(then, otherwise, "the branches give")
        at = frame.at(node)
        return self.lowering.as_written(ir.Choose(then.type, at, condition, then, otherwise, [at]), node)

    def _of_asked_class(self, frame: Frame, test: ast.expr, body: ast.expr, then: ir.Expr) -> ir.Expr:
        """``message`` in ``message if isinstance(message, Vote) else ...``, narrowed to Vote."""
        match test:
            case ast.Call(func=ast.Name() as called, args=[asked, ast.Name() as cls]) if (
                self.lowering.is_name_of(frame, called, isinstance) and ast.dump(asked) == ast.dump(body)
            ):
                held = then.type.inner if isinstance(then.type, OptionalType) else then.type
                bound = self.binding(frame, cls)
                for member in held.members if isinstance(held, UnionType) else ():
                    if isinstance(bound, StaticObject) and member.cls is bound.value:
                        return self.nodes.convert(then, member, "")
        return then

    def _subscript(self, frame: Frame, node: ast.Subscript) -> ir.Expr:
        base = self.nodes.unwrapped(self.expression(frame, node.value))
        at = frame.at(node)
        if isinstance(node.slice, ast.Slice) and not isinstance(base.type, SeqType):
            raise frame.refuse(node, f"only a sequence has slices, not {base.type}")
        match base.type:
            case MapType(key, value):
                return ir.MapGet(value, at, base, self.map_key(frame, node.slice, key))
            case SeqType(element, _):
                if isinstance(node.slice, ast.Slice):
                    return self._slice(frame, node, base)
                index = self.nodes.integer(frame, node.slice, self.expression(frame, node.slice))
                return ir.SeqGet(element, at, base, index)
        raise frame.refuse(node, f"{base.type} cannot be indexed")

    def map_key(self, frame: Frame, node: ast.expr, kind: Type) -> ir.Expr:
        key = self.expression(frame, node)
        return self.nodes.convert(key, kind, "the key")

    def _slice(self, frame: Frame, node: ast.Subscript, base: ir.Expr) -> ir.Expr:
        assert isinstance(node.slice, ast.Slice)
        if node.slice.step is not None:
            raise frame.refuse(node, "a slice with a step is not part of the language")
        low = self._slice_end(frame, node.slice.lower, 0)
        high = self._slice_end(frame, node.slice.upper, INTEGER_LIMIT - 1)
        return ir.SeqSlice(base.type, frame.at(node), base, low, high)

    def _slice_end(self, frame: Frame, node: ast.expr | None, if_none: int) -> ir.Expr | None:
        if node is None:
            return None
        value = self.expression(frame, node)
        number = self.nodes.integer(frame, node, value)
        if number is value:
            return number
        at = frame.at(node)
        whole = ir.Const(IntType(if_none, if_none), at, if_none)
        number, otherwise = self.nodes.unify(number, whole, "the branches give")
        return ir.Choose(number.type, at, ir.IsNone(ir.BOOL, at, value), otherwise, number)


def _is_effect(called: ir.Inline | ir.Applied) -> bool:
    """Whether a call is made for its effects alone."""
    return (called.function.result if isinstance(called, ir.Applied) else called.result) is None


def _compares_with_none(test: ast.expr, value: ast.expr, operator: type[ast.cmpop]) -> bool:
    """Whether a test is ``value is None`` or ``value is not None`` for this very value."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=None)]):
            return isinstance(op, operator) and ast.dump(left) == ast.dump(value)
    return False


def _comparable(source: Type, element: Type) -> bool:
    """Whether a value's code in the element type can be searched for."""
    match source, element:
        case OptionalType(inner), OptionalType(other):
            return inner == other
        case (OptionalType(inner), _):
            return _comparable(inner, element)
        case _, OptionalType(inner):
            return _comparable(source, inner)
        case (IntType(), IntType()) | (_, ir.NothingType()):
            return True
    return fits(source, element) or source == ir.NoneType()
