"""Lowers calls: built-in functions, the language's own, methods of values, records, and the model's methods."""

from __future__ import annotations

import ast
import enum
import inspect
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any, Literal, NoReturn, cast

from floodmark.compiler import ir
from floodmark.compiler.compile_cache import attribute, has_base, member
from floodmark.compiler.comprehensions import ComprehensionLowering, domain_size
from floodmark.compiler.constructs import FUNCTIONS, METHODS, instead_of_function, instead_of_method
from floodmark.compiler.enabledness import EnablednessLowering
from floodmark.compiler.failures import may_stop
from floodmark.compiler.frame import Frame, ModelRef, StaticObject
from floodmark.compiler.joins import fits, hull
from floodmark.compiler.known_values import ConstantEvaluation
from floodmark.compiler.lowering import Lowering, LoweringPart
from floodmark.compiler.plain_containers import NONE, Forms
from floodmark.compiler.sizes import size_bound
from floodmark.compiler.statements import StatementLowering
from floodmark.compiler.unions import UnionLowering, no_field
from floodmark.language.enabledness import enabled
from floodmark.language.model import Model
from floodmark.language.types import (
    BagType,
    IntType,
    MapType,
    OpenIdentifierType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
    classes_in,
)
from floodmark.language.values import Bag, Identifier, Map, Record, Seq, Set, implies, require

_OUTSIDE = frozenset({"time", "random", "os", "posix", "nt", "secrets", "uuid", "socket", "datetime", "_random"})
"""Modules whose functions depend on more than the state."""
_LOOPS: dict[Any, str] = {
    enumerate: "for index, epoch in enumerate(log)",
    zip: "for mine, theirs in zip(one, other)",
}
_FORMS: dict[Any, Forms] = {
    set: frozenset({"set"}),
    frozenset: frozenset({"frozenset"}),
    list: frozenset({"list"}),
    tuple: frozenset({"tuple"}),
}
_FOR_A_UNION = "; write a function that takes the record and asks for its class: isinstance(message, Vote)"
_WITHOUT_KEY = "; compute the best value, most = max(self.end[b] for b in Broker), and choose what has it"
_FOLDS = {any: "any", all: "all", sum: "sum", min: "min", max: "max"}

ReadState = Callable[[Frame, ast.Call, type[Model]], ir.Expr]
"""Reads a call of the class of another model, which stands for a state of it."""


class CallLowering(LoweringPart):
    """The calls of the compiler; ``read_state`` reads a state of another model."""

    def __init__(
        self, lowering: Lowering, constants: ConstantEvaluation, comprehensions: ComprehensionLowering,
        statements: StatementLowering, unions: UnionLowering, read_state: ReadState,
    ) -> None:
        super().__init__(lowering)
        self._constants = constants
        self._comprehensions = comprehensions
        self._statements = statements
        self._unions = unions
        self._enabledness = EnablednessLowering(lowering)
        self._read_state = read_state

    def call(self, frame: Frame, node: ast.Call) -> ir.Expr:
        if isinstance(node.func, ast.Attribute):
            return self._method(frame, node, node.func)
        callee = self.lowering.binding(frame, node.func)
        if not isinstance(callee, StaticObject):
            raise frame.refuse(node, f"{ast.unparse(node.func)} cannot be called")
        return self._function(frame, node, callee.value)

    def _function(self, frame: Frame, node: ast.Call, callee: Any) -> ir.Expr:
        at = frame.at(node)
        if getattr(callee, "__module__", None) in _OUTSIDE:
            hint = "a step depends on the state alone: let a parameter of the action choose"
            raise frame.refuse(node, f"{ast.unparse(node.func)} is not part of the modelling language; {hint}")
        if not isinstance(callee, type | FunctionType | BuiltinFunctionType):
            name, hint = ast.unparse(node.func), "write one: def name(...)"
            if hasattr(callee, "__wrapped__"):
                hint = f"leave out the decorator of {name}, a {type(callee).__name__}: nothing is computed twice here"
            raise frame.refuse(node, f"{name} is not a plain function; {hint}")
        if _is_of_python(callee) and callee not in FUNCTIONS:
            for argument in node.args if callee in (int, bool, str) else ():
                self.lowering.expression(frame, argument)  # an error there is reported first
            name = ast.unparse(node.func)
            raise frame.refuse(node, f"{name} is not part of the modelling language{instead_of_function(callee)}")
        if callee is require:
            raise frame.refuse(node, "require must be on a line of its own")
        if callee is implies:
            premise, conclusion = (self.lowering.condition(frame, part) for part in self._exactly(frame, node, 2))
            return self.lowering.as_written(ir.Implies(ir.BOOL, at, premise, conclusion), node)
        if callee is enabled:
            return self._enabledness.enabledness(frame, node)
        if callee is len:
            return self._length(frame, node)
        if callee is isinstance:
            return self._unions.is_instance(frame, node)
        if callee is abs:
            value = self.nodes.integer(frame, node, self.lowering.expression(frame, self._exactly(frame, node, 1)[0]))
            return self.nodes.once(at, [value], lambda parts: self._magnitude(frame, node, *parts))
        if callee in _FOLDS:
            return self._fold(frame, node, callee)
        if callee is sorted:
            return self._sorted(frame, node)
        if callee in (Set, set, frozenset, Seq, list, tuple, Map, dict, Bag):
            return self._container(frame, node, callee)
        if callee is range:
            raise frame.refuse(node, "range belongs in a for loop, a comprehension or after `in`")
        if callee in (enumerate, zip):
            message = "belongs in a for loop or a comprehension with several variables"
            raise frame.refuse(node, f"{ast.unparse(node.func)} {message}: {_LOOPS[callee]}")
        if isinstance(callee, type):
            return self._construct(frame, node, callee)
        return self._statements.inline(frame, node, callee, None)

    def _magnitude(self, frame: Frame, node: ast.Call, value: ir.Expr) -> ir.Expr:
        zero = ir.Const(IntType(0, 0), value.at, 0)
        negative = self.nodes.arithmetic(frame.at(node), "-", zero, value)
        return ir.Extremum(_absolute(value.type), value.at, True, [value, negative])

    def _exactly(self, frame: Frame, node: ast.Call, count: int) -> list[ast.expr]:
        if len(node.args) != count or node.keywords:
            raise frame.refuse(node, f"{ast.unparse(node.func)} takes {count} argument{'s' * (count != 1)}")
        return node.args

    def _length(self, frame: Frame, node: ast.Call) -> ir.Expr:
        bound = self.lowering.binding(frame, self._exactly(frame, node, 1)[0])
        if isinstance(bound, StaticObject):
            of = self.nodes.class_type(bound.value)
            if isinstance(of, OpenIdentifierType):
                each = self.nodes.fresh(of, "each", frame.at(node))
                of_all = ir.Generator(each, ir.Universe(of), [])
                everyone = ir.Reduce(SetType(of), frame.at(node), "set", [of_all], each)
                return ir.Size(IntType(0, of.count), frame.at(node), everyone)
            if of is not None:
                return ir.Const(IntType(of.codes, of.codes), frame.at(node), of.codes)
        value = bound if isinstance(bound, ir.Expr) else self.lowering.expression(frame, node.args[0])
        value = self.nodes.unwrapped(value)
        if not isinstance(value.type, SetType | SeqType | BagType | MapType):
            raise frame.refuse(node, f"{value.type} has no length")
        return ir.Size(IntType(0, size_bound(value.type)), frame.at(node), value)

    # Folds.

    def _fold(self, frame: Frame, node: ast.Call, callee: Any) -> ir.Expr:
        kind = cast(Literal["any", "all", "sum", "min", "max"], _FOLDS[callee])
        default = None
        for keyword in node.keywords:
            if keyword.arg != "default" or kind not in ("min", "max"):
                instead = _WITHOUT_KEY if keyword.arg == "key" else ""
                raise frame.refuse(node, f"{kind} takes no {keyword.arg!r} here{instead}")
            default = self.lowering.expression(frame, keyword.value)
            if may_stop(default) or ir.has_effects(default):
                message = "the default is evaluated in any case, and this one can fail, require or change something"
                raise frame.refuse(keyword.value, f"{message}; assign its value to a local first")
        if kind in ("min", "max") and len(node.args) > 1:
            operands = [self.lowering.expression(frame, argument) for argument in node.args]
            extremum = partial(self._extremum, frame, node, kind == "max")
            return self.nodes.operands(frame.at(node), operands, extremum)
        if len(node.args) != 1:
            raise frame.refuse(node, f"{kind} takes one container")
        match node.args[0]:
            case (
                ast.GeneratorExp(elt=element, generators=generators)
                | ast.ListComp(elt=element, generators=generators)
                | ast.SetComp(elt=element, generators=generators)
            ) if not (isinstance(node.args[0], ast.SetComp) and kind == "sum"):
                folded = self._comprehensions.comprehension(frame, node, kind, element, generators, default=default)
                if not self._stops_too_early(node.args[0], kind, folded):
                    return self.lowering.as_written(folded, node) if kind == "all" else folded
        domain, of, _ = self.lowering.domain(frame, node.args[0])
        if kind != "sum":
            self._comprehensions.require_not_none(frame, node, of, kind)
        variable = self.nodes.element(domain, of, "item", frame.at(node))
        generator = ir.Generator(variable, domain, [])
        size = domain_size(domain, of)
        folded = self._comprehensions.reduction(
            frame, node, kind, [generator], variable, None, size, frame.at(node), default
        )
        return self.lowering.as_written(folded, node) if kind == "all" else folded

    def _stops_too_early(self, made: ast.expr, kind: str, folded: ir.Expr) -> bool:
        """Whether a fold with early termination skips an evaluation that CPython makes: CPython builds a list or a set
        completely before ``any`` and ``all`` inspect it. From a generator they take one element at a time."""
        is_made_first = kind in ("any", "all") and not isinstance(made, ast.GeneratorExp)
        return is_made_first and (may_stop(folded) or ir.has_effects(folded))

    def _extremum(self, frame: Frame, node: ast.Call, largest: bool, operands: list[ir.Expr]) -> ir.Expr:
        numbers = [self.nodes.integer(frame, node, operand) for operand in operands]
        return ir.Extremum(_extremum_type(largest, numbers), frame.at(node), largest, numbers)

    def _sorted(self, frame: Frame, node: ast.Call) -> ir.Expr:
        reverse = False
        for keyword in node.keywords:
            if keyword.arg != "reverse" or not isinstance(keyword.value, ast.Constant):
                raise frame.refuse(node, "sorted takes reverse=True only")
            reverse = bool(keyword.value.value)
        if len(node.args) != 1:
            raise frame.refuse(node, "sorted takes one container")
        seq = self.lowering.as_seq(frame, node, node.args[0], any_order=True)
        assert isinstance(seq.type, SeqType)
        if not isinstance(seq.type.element, IntType | ir.NothingType):
            raise frame.refuse(node, f"sorted takes integers; {seq.type.element} has no order in Python")
        return ir.Sorted(seq.type, frame.at(node), seq, reverse)

    # Containers.

    def _container(self, frame: Frame, node: ast.Call, callee: Any) -> ir.Expr:
        at = frame.at(node)
        if node.keywords or len(node.args) > 1:
            raise frame.refuse(node, f"{callee.__name__} takes one container")
        if callee in (Map, dict):
            if not node.args:
                raise frame.refuse(node, "a map has a value for every key: Map({b: ... for b in Broker})")
            value = self.lowering.expression(frame, node.args[0])
            if not isinstance(value.type, MapType):
                raise frame.refuse(node, f"a map is built from a comprehension over its keys, not from {value.type}")
            return value
        if callee in (Set, set, frozenset):
            made, plain = self._make_set(frame, node, typed=callee is Set), self.nodes.plain
            return made if callee is Set else plain.with_forms(made, plain.inside(made) | _FORMS[callee])
        if not node.args:
            seq: ir.Expr = ir.SeqOf(SeqType(ir.NothingType(), 0), at, [])
        else:
            seq = self.lowering.as_seq(frame, node, node.args[0], any_order=callee is Bag)
        if callee is Bag:
            assert isinstance(seq.type, SeqType)
            return self.nodes.convert(seq, BagType(seq.type.element, seq.type.capacity), "")
        return self.nodes.plain.with_forms(seq, self.nodes.plain.inside(seq) | _FORMS.get(callee, NONE))

    def _make_set(self, frame: Frame, node: ast.Call, typed: bool) -> ir.Expr:
        at = frame.at(node)
        if not node.args:
            return ir.SetOf(SetType(ir.NothingType()), at, [], typed=typed)
        match node.args[0]:
            case ast.GeneratorExp(elt=element, generators=generators):
                made = self._comprehensions.comprehension(frame, node, "set", element, generators)
            case argument:
                domain, of, canonical = self.lowering.domain(frame, argument)
                if isinstance(domain, ir.Expr) and isinstance(domain.type, SetType) and (typed or not canonical):
                    made = domain
                else:
                    made = self._comprehensions.gather(frame, node, "set", domain, of)
        if not typed or self.nodes.has_order(made):
            return made
        if isinstance(made, ir.SetOf | ir.Reduce):
            made.typed = True
            return made
        return ir.SetBinary(made.type, at, "|", made, ir.SetOf(made.type, at, [], typed=True))

    def _construct(self, frame: Frame, node: ast.Call, cls: type) -> ir.Expr:
        at = frame.at(node)
        if issubclass(cls, Record):
            kind = self.nodes.record_type(cls)
            if node.args or any(keyword.arg is None for keyword in node.keywords):
                first = kind.fields[0][0] if kind.fields else ""
                raise frame.refuse(node, f"name the fields: {cls.__name__}({first}=...)")
            given = {str(keyword.arg): self.lowering.expression(frame, keyword.value) for keyword in node.keywords}
            fields = partial(self._fields, frame, node, kind)
            return self.nodes.evaluated(at, given, lambda values: ir.RecordOf(kind, at, fields(values)))
        if issubclass(cls, Identifier):
            number = self.lowering.expression(frame, self._exactly(frame, node, 1)[0])
            if not isinstance(number, ir.Const) or not isinstance(number.type, IntType):
                raise frame.refuse(node, f"{cls.__name__}(...) takes a constant number")
            constant = self.nodes.constant(cls(number.value), at)
            assert constant is not None
            return constant
        if issubclass(cls, Model):
            return self._read_state(frame, node, cls)
        if issubclass(cls, enum.Enum):
            raise frame.refuse(node, f"name the member: {cls.__name__}.{next(iter(cls.__members__))}")
        raise frame.refuse(node, f"{cls.__name__} is not part of the modelling language")

    def _fields(self, frame: Frame, node: ast.Call, kind: RecordType, given: dict[str, ir.Expr]) -> dict[str, ir.Expr]:
        fields: dict[str, ir.Expr] = {}
        known = [name for name, _ in kind.fields]
        for name in given:
            if name not in known:
                raise frame.refuse(node, f"{kind} has no field {name!r}; it has {', '.join(known)}")
        for name, of in kind.fields:
            if name in given:
                fields[name] = self.nodes.convert(given[name], of, f"{kind}.{name}")
            elif name in vars(kind.cls) or hasattr(kind.cls, name):
                self.inputs.rests_on(attribute, kind.cls, name)
                default = self._constants.known(frame, node, getattr(kind.cls, name))
                fields[name] = self.nodes.convert(default, of, f"{kind}.{name}")
            else:
                raise frame.refuse(node, f"{kind} needs the field {name!r}")
        return fields

    # Methods.

    def _method(self, frame: Frame, node: ast.Call, func: ast.Attribute) -> ir.Expr:
        match func.value:
            case ast.Call(func=ast.Name() as called, args=[], keywords=[]):
                if self.lowering.is_name_of(frame, called, super):
                    return self._super(frame, node, func.attr)
        owner = self.lowering.binding(frame, func.value)
        if isinstance(owner, ModelRef):
            return self._own_method(frame, node, func.attr, owner)
        if isinstance(owner, StaticObject) and isinstance(owner.value, Set | Seq | Map | Bag | Record | frozenset):
            owner = self._constants.known(frame, func.value, owner.value)
        if isinstance(owner, StaticObject):
            self.inputs.rests_on(attribute, owner.value, func.attr)
            if hasattr(owner.value, func.attr):
                return self._static_method(frame, node, owner.value, func.attr)
            raise frame.refuse(node, f"{ast.unparse(func)} is not defined")
        return self._value_method(frame, node, func.attr, owner)

    def _static_method(self, frame: Frame, node: ast.Call, owner: Any, name: str) -> ir.Expr:
        member = getattr(owner, name)
        if isinstance(owner, type) and inspect.isfunction(member) and self._is_model(owner):
            if isinstance(inspect.getattr_static(owner, name), staticmethod):
                return self._statements.inline(frame, node, member, None)
            if not node.args:
                called = ast.unparse(node.func)
                raise frame.refuse(node, f"{called} takes the model as its first argument: {called}(self)")
            first, *rest = node.args
            call = ast.copy_location(ast.Call(func=node.func, args=rest, keywords=node.keywords), node)
            return self._statements.inline(frame, call, member, self.lowering.binding(frame, first))
        return self._function(frame, node, member)

    def _is_model(self, owner: type) -> bool:
        self.inputs.rests_on(has_base, owner)
        return issubclass(owner, Model) or owner in type(self.model).__mro__

    def _own_method(self, frame: Frame, node: ast.Call, name: str, first: ModelRef) -> ir.Expr:
        self.inputs.rests_on(member, name)
        for base in type(self.model).__mro__:
            if name in vars(base):
                return self._inline_member(frame, node, vars(base)[name], first)
        raise frame.refuse(node, f"{type(self.model).__name__} has no method {name!r}")

    def _super(self, frame: Frame, node: ast.Call, name: str) -> ir.Expr:
        written_in = frame.defining_class()
        order = type(self.model).__mro__
        first = frame.bindings.get(frame.source.parameters[0]) if frame.source.parameters else None
        if written_in not in order or not isinstance(first, ModelRef):
            raise frame.refuse(node, "super() works in a method written in the class of the model or a base of it")
        if _is_in_comprehension(frame.source.tree, node):
            raise frame.refuse(node, "super() finds no model inside a comprehension; write a loop, or another method")
        self.inputs.rests_on(member, name, written_in)
        for base in order[order.index(written_in) + 1 :]:
            if name in vars(base):
                return self._inline_member(frame, node, vars(base)[name], first)
        raise frame.refuse(node, f"no base of {written_in.__name__} has a method {name!r}")

    def _inline_member(self, frame: Frame, node: ast.Call, member: Any, first: ModelRef) -> ir.Expr:
        if isinstance(member, staticmethod):
            return self._statements.inline(frame, node, member.__func__, None)
        if isinstance(member, property):
            raise frame.refuse(node, "a property is not part of the language; write a method")
        if not inspect.isfunction(member):
            kind = type(member).__name__
            message = f"{ast.unparse(node.func)} is not a method but a {kind}; write a plain or a static one"
            raise frame.refuse(node, message)
        return self._statements.inline(frame, node, cast(Callable[..., Any], member), first)

    def _value_method(self, frame: Frame, node: ast.Call, name: str, owner: ir.Expr) -> ir.Expr:
        owner = self.nodes.unwrapped(owner)
        at = frame.at(node)
        for cls in classes_in(owner.type):
            self.inputs.rests_on(attribute, cls, name)
        if isinstance(owner.type, RecordType) and (own := _own_function(owner.type, name)) is not None:
            function, first = (own.__func__, None) if isinstance(own, staticmethod) else (own, owner)
            return self._statements.inline(frame, node, function, first)
        if not any(isinstance(owner.type, kind) and name in names for kind, names in METHODS.items()):
            instead = _FOR_A_UNION if isinstance(owner.type, UnionType) else instead_of_method(owner.type, name)
            raise frame.refuse(node, f"{owner.type} has no method {name!r}{instead}")
        match owner.type, name:
            case RecordType() as kind, "replace":
                if node.args or any(keyword.arg is None for keyword in node.keywords):
                    raise frame.refuse(node, "name the fields: replace(field=...)")
                known = dict(kind.fields)
                for keyword in node.keywords:
                    if keyword.arg not in known:
                        raise frame.refuse(node, no_field(kind, str(keyword.arg)))

                def replaced(record: ir.Expr) -> ir.Expr:
                    changes = {str(each.arg): self.lowering.expression(frame, each.value) for each in node.keywords}
                    build = partial(self._replaced, at, kind)
                    return self.nodes.evaluated(
                        at, changes, lambda values: self._unions.having(record, values, partial(build, values))
                    )

                return self.nodes.once(at, [owner], lambda parts: replaced(parts[0]))
            case BagType(element, capacity), "count":
                item = self.lowering.expression(frame, self._exactly(frame, node, 1)[0])
                self.nodes.alike(item, owner, at)
                if not fits(item.type, element):
                    return self._times(at, item, owner, element, capacity)
                return ir.Count(IntType(0, capacity), at, self.nodes.convert(item, element, "the element"), owner)
            case SetType(), "isdisjoint":
                other = self.nodes.unwrapped(self.lowering.expression(frame, self._exactly(frame, node, 1)[0]))
                left, right = self.nodes.unify(owner, other, "this compares")
                both = ir.SetBinary(left.type, at, "&", left, right)
                zero = ir.Const(IntType(0, 0), at, 0)
                return ir.Compare(ir.BOOL, at, "<=", ir.Size(IntType(0, size_bound(left.type)), at, both), zero)
            case _, "add" | "discard" | "remove" | "append":
                message = f"{name} changes a variable and returns nothing; write it on a line of its own"
                raise frame.refuse(node, message)
            case MapType(), "items":
                raise frame.refuse(node, "items() belongs in a loop or a comprehension: for key, value in m.items()")
            case MapType(), "values" | "keys":
                raise frame.refuse(node, f"{name}() belongs in a for loop, a comprehension or a fold")
        raise AssertionError(name)

    def _times(self, at: ir.Position, item: ir.Expr, bag: ir.Expr, element: Type, capacity: int) -> ir.Expr:
        """The number of occurrences in a bag of a value that its element type may not admit."""
        wanted, other = self.nodes.holding(item, "item", at), self.nodes.element(bag, element, "element", at)
        one, zero = (ir.Const(IntType(number, number), at, number) for number in (1, 0))
        same = ir.Choose(IntType(0, 1), at, self.nodes.equal(wanted, other, at), one, zero)
        count = self.nodes.fresh(IntType(0, capacity), "count", at)
        total = ir.Reduce(count.type, at, "sum", [ir.Generator(other, bag, [])], same)
        return ir.Inline(count.type, at, [ir.SetLocal(at, wanted, item), ir.Return(at, total, count)], count)

    def _replaced(self, at: ir.Position, kind: RecordType, given: dict[str, ir.Expr], record: ir.Expr) -> ir.Expr:
        fields: dict[str, ir.Expr] = {}
        for field, of in kind.fields:
            if field in given:
                fields[field] = self.nodes.convert(given[field], of, f"{kind}.{field}")
            else:
                fields[field] = ir.Field(of, at, record, field)
        return ir.RecordOf(kind, at, fields)


def refuse_state(frame: Frame, node: ast.Call, cls: type[Model]) -> NoReturn:
    """Refuses a state of another model: only a mapping returns one."""
    raise frame.refuse(node, f"{cls.__name__} is a model; only a mapping, decorated with @refines, returns one")


def _is_of_python(callee: Any) -> bool:
    """Whether a function or a class is neither the model's own nor read like one."""
    if isinstance(callee, type):
        return not issubclass(callee, Record | Identifier | enum.Enum) and (
            callee is Model or not issubclass(callee, Model)
        )
    return not inspect.isfunction(callee) or callee in FUNCTIONS


def _is_in_comprehension(tree: ast.FunctionDef, node: ast.expr) -> bool:
    """Whether an expression is evaluated in the scope of a comprehension. Its first domain is evaluated outside."""
    for each in ast.walk(tree):
        if isinstance(each, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
            outside = {id(part) for part in ast.walk(each.generators[0].iter)}
            if id(node) not in outside and any(part is node for part in ast.walk(each)):
                return True
    return False


def _own_function(kind: RecordType, name: str) -> Any:
    """The function that a record's class defines; for a union, the one that all of its classes share."""
    classes = [member.cls for member in kind.members] if isinstance(kind, UnionType) else [kind.cls]
    found = [inspect.getattr_static(cls, name, None) for cls in classes]
    if any(one is not found[0] for one in found) or hasattr(Record, name):
        return None
    return found[0] if isinstance(found[0], FunctionType | staticmethod) else None


def _absolute(kind: Type) -> IntType:
    assert isinstance(kind, IntType)
    widest = max(abs(kind.low), abs(kind.high))
    return hull(max(0, kind.low, -kind.high), widest)


def _extremum_type(largest: bool, operands: list[ir.Expr]) -> IntType:
    kinds = [operand.type for operand in operands]
    assert all(isinstance(kind, IntType) for kind in kinds)
    pick = max if largest else min
    return hull(
        pick(kind.low for kind in kinds if isinstance(kind, IntType)),
        pick(kind.high for kind in kinds if isinstance(kind, IntType)),
    )
