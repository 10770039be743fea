"""Lowers comprehensions, generators and domains of loops; folds of their elements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Literal, TypeGuard

from floodmark.compiler import ir
from floodmark.compiler.failures import may_refuse
from floodmark.compiler.frame import Frame, ModelRef, StaticObject
from floodmark.compiler.guarded_failures import rounds_can_fail
from floodmark.compiler.joins import hull, join, set_type
from floodmark.compiler.lowering import Lowering, LoweringPart, no_order
from floodmark.compiler.pairs import ProductLoopLowering
from floodmark.compiler.sizes import MAX_VALUE_BITS, in_code_order, size_bound
from floodmark.language.linear import Bound, Linear, left_open
from floodmark.language.source import names_assigned
from floodmark.language.types import (
    BagType,
    IntType,
    MapType,
    OpenIntType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    has_any_size,
    has_mask,
    open_int,
)
from floodmark.language.universe import universe

ReduceKind = Literal["any", "all", "sum", "min", "max", "set", "seq", "map"]


class ComprehensionLowering(LoweringPart):
    """The part of the compiler for loops that make a value, and for the domains of all loops."""

    def __init__(self, lowering: Lowering, loops: ProductLoopLowering) -> None:
        super().__init__(lowering)
        self._loops = loops

    def comprehension(
        self,
        frame: Frame,
        node: ast.expr,
        kind: ReduceKind,
        element: ast.expr,
        generators: list[ast.comprehension],
        key: ast.expr | None = None,
        any_order: bool = False,
        default: ir.Expr | None = None,
    ) -> ir.Expr:
        """A comprehension or a generator, with the operation on its elements.

        Its variables mean nothing after it, also where it cannot be read: an operand of ``or`` that is never evaluated
        need not be readable.
        """
        saved, definite, unbound = dict(frame.bindings), set(frame.definite), set(frame.unbound)
        try:
            return self._comprehension(frame, node, kind, element, generators, key, any_order, default)
        finally:
            frame.bindings, frame.definite, frame.unbound = saved, definite, unbound

    def _comprehension(
        self,
        frame: Frame,
        node: ast.expr,
        kind: ReduceKind,
        element: ast.expr,
        generators: list[ast.comprehension],
        key: ast.expr | None,
        any_order: bool,
        default: ir.Expr | None,
    ) -> ir.Expr:
        own = {name.id for generator in generators for name in names_assigned([generator.target])}
        lowered: list[ir.Generator] = []
        bound = 1
        unordered: tuple[ast.expr, Type] | None = None
        for generator in generators:
            if not isinstance(generator.target, ast.Name):
                domain, of = self._several(frame, lowered, generator, own)
                bound *= domain_size(domain, of)
                continue
            domain, of, canonical = self.domain(frame, generator.iter)
            if not lowered:
                self._begin(frame, own)
            if kind == "seq" and not canonical and not any_order:
                raise no_order(frame, generator.iter, of)
            if not canonical:
                unordered = generator.iter, of
            bound *= domain_size(domain, of)
            variable = self._loop_variable(frame, generator.target, domain, of)
            conditions = [self.lowering.condition(frame, test) for test in generator.ifs]
            lowered.append(ir.Generator(variable, domain, conditions, [frame.at(test) for test in generator.ifs]))
        at = frame.at(node)
        lower_body = self.lowering.condition if kind in ("any", "all") else self.lowering.expression
        body = lower_body(frame, element)
        lowered_key = self.lowering.expression(frame, key) if key is not None else None
        asked = [body, *([lowered_key] if lowered_key is not None else []), *_parts(lowered)]
        if unordered is not None:
            fails = rounds_can_fail(lowered, *asked[: 1 if lowered_key is None else 2])
            refuses = any(may_refuse(part) for part in asked)
            if (fails or refuses) if kind in ("any", "all") else (fails and refuses):
                what = "can fail" if fails else "has a require"
                instead = "keep out what fails by an earlier `if`" if fails else "require it in a statement of its own"
                raise no_order(frame, *unordered, f"what {kind} evaluates for it {what}, and ", instead)
        if unordered is not None and any(ir.has_effects(part) for part in asked):
            why = "a call for its elements changes a variable, and "
            raise no_order(frame, *unordered, why, "change it in a statement of its own")
        constant = not any(ir.has_effects(part) for part in asked)
        if any(not isinstance(it.target, ast.Name) for it in generators) and not constant:
            raise frame.refuse(node, "a call here changes a variable; write a for statement")
        if kind in ("min", "max") and not (constant and _leaves_none_out(element, generators)):
            self.require_not_none(frame, node, body.type, kind)
        return self.reduction(frame, node, kind, lowered, body, lowered_key, bound, at, default)

    def require_not_none(self, frame: Frame, node: ast.expr, kind: Type, called: str) -> None:
        """Refuses None among the elements of min and max: Python fails only if there is another one to compare with."""
        if isinstance(kind, OptionalType):
            message = f"{called} may meet None here; leave it out: {called}(x for x in ... if x is not None)"
            raise frame.refuse(node, message)

    @staticmethod
    def _begin(frame: Frame, own: set[str]) -> None:
        """Marks the variables of a comprehension as unassigned: only its first domain is evaluated outside of it, and
        everywhere else these names are its own, even before they have values."""
        for name in own:
            frame.bindings.pop(name, None)
            frame.unbound.add(name)

    def _several(
        self, frame: Frame, lowered: list[ir.Generator], generator: ast.comprehension, own: set[str]
    ) -> tuple[ir.Domain, Type]:
        """Adds a loop with several variables; returns the domain of its hidden variable and the type of that variable.
        """
        found = self._loops.several(frame, generator.target, generator.iter, hold=False)
        if not lowered:
            self._begin(frame, own)
        variable = self.nodes.fresh(found.kind, "index", frame.at(generator.target))
        assert isinstance(generator.target, ast.Tuple | ast.List)
        for target, part in zip(generator.target.elts, found.parts(variable), strict=True):
            assert isinstance(target, ast.Name)
            frame.bindings[target.id] = part
            frame.definite.add(target.id)
            frame.unbound.discard(target.id)
        conditions = [self.lowering.condition(frame, test) for test in generator.ifs]
        lowered.append(ir.Generator(variable, found.domain, conditions, [frame.at(test) for test in generator.ifs]))
        return found.domain, found.kind

    def _loop_variable(self, frame: Frame, target: ast.Name, domain: ir.Domain, kind: Type) -> ir.Local:
        variable = self.nodes.element(domain, kind, target.id, frame.at(target))
        frame.bindings[target.id] = variable
        frame.definite.add(target.id)
        frame.unbound.discard(target.id)
        return variable

    def reduction(
        self,
        frame: Frame,
        node: ast.expr,
        kind: ReduceKind,
        generators: list[ir.Generator],
        body: ir.Expr,
        key: ir.Expr | None,
        bound: int,
        at: Any,
        default: ir.Expr | None = None,
    ) -> ir.Expr:
        """A Reduce node with the type of its result; ``bound`` is the largest possible number of elements."""
        match kind:
            case "any" | "all":
                return ir.Reduce(ir.BOOL, at, kind, generators, self.nodes.truth(frame, node, body))
            case "sum":
                body = (
                    ir.Choose(IntType(0, 1), at, body, ir.Const(IntType(1, 1), at, 1), ir.Const(IntType(0, 0), at, 0))
                    if body.type == ir.BOOL
                    else self.nodes.integer(frame, node, body)
                )
                assert isinstance(body.type, IntType)
                total = hull(min(0, body.type.low * bound), max(0, body.type.high * bound))
                return ir.Reduce(total, at, kind, generators, body)
            case "min" | "max":
                body = self.nodes.integer(frame, node, body)
                result = body.type
                if default is not None:
                    wider = join(result, default.type)
                    if not isinstance(wider, IntType):
                        raise frame.refuse(node, "the default of min and max must be an integer")
                    result = wider
                return ir.Reduce(result, at, kind, generators, body, default=default)
            case "set" | "seq" if bound * max(1, body.type.bits) > MAX_VALUE_BITS and not has_mask(body.type):
                raise frame.refuse(node, f"this may hold {_count_text(bound)} elements; loop over something smaller")
            case "seq" if bound > MAX_VALUE_BITS and not any(has_any_size(it.variable.type) for it in generators):
                raise frame.refuse(node, f"this may hold {_count_text(bound)} elements; loop over something smaller")
            case "set":
                self.nodes.hashable(frame, node, body)
                return ir.Reduce(set_type(body.type, bound), at, kind, generators, body)
            case "seq":
                return ir.Reduce(SeqType(body.type, bound), at, kind, generators, body)
            case "map":
                assert key is not None
                return self._map(frame, node, generators, body, key)

    def _map(
        self, frame: Frame, node: ast.expr, generators: list[ir.Generator], body: ir.Expr, key: ir.Expr
    ) -> ir.Expr:
        """A map from a comprehension that visits every key, in order.

        The loops over the fields of a record become one over all records, which sets the variables of the others. Both
        visit the keys in the same order, so it makes no difference which entry fails first or changes a variable.
        """
        at = frame.at(node)
        for generator in generators:
            generator.domain = _whole(generator.domain, generator.variable.type)
        every = self.nodes.fresh(key.type, "key", at)
        parts = list(_parts_of_key(key, every))
        chosen = [part.slot for part, _ in parts if isinstance(part, ir.Local)]
        looped = [generator.variable.slot for generator in generators]
        if len(chosen) < len(parts) or chosen != looped or not all(_visits_all(generator) for generator in generators):
            one = "{b: ... for b in Broker}"
            if isinstance(key.type, RecordType):
                one = f"{{{key.type}(...): ... for ... in ...}} with a loop for each field, in the order of the fields"
            raise frame.refuse(node, f"a map has a value for every key: {one}, without `if`")
        made = MapType(key.type, body.type)
        if isinstance(key, ir.Local):
            return ir.Reduce(made, at, "map", generators, body, key=key)
        result = self.nodes.holding(body, "entry", at)
        settings: list[ir.Stmt] = [ir.SetLocal(at, part, value) for part, value in parts if isinstance(part, ir.Local)]
        entry = ir.Inline(body.type, at, [*settings, ir.Return(at, body, result)], result)
        return ir.Reduce(made, at, "map", [ir.Generator(every, ir.Universe(key.type), [])], entry, key=every)

    def domain(self, frame: Frame, node: ast.expr) -> tuple[ir.Domain, Type, bool]:
        """The domain of a loop, the type of its variable, and whether its order is fixed."""
        match node:
            case ast.Call(func=ast.Name() as called, args=arguments, keywords=keywords) if self.lowering.is_name_of(
                frame, called, range
            ):
                if not 1 <= len(arguments) <= 3 or keywords:
                    raise frame.refuse(node, "range takes one to three integers")
                return self._range(frame, node, arguments)
            case ast.Call(func=ast.Attribute(value=base, attr=("values" | "keys") as method), args=[], keywords=[]):
                return self._map_domain(frame, node, base, method)
        bound = self.lowering.binding(frame, node)
        if isinstance(bound, StaticObject):
            of = self.nodes.class_type(bound.value)
            if of is not None:
                return ir.Universe(of), of, True
            bound = self.lowering.expression(frame, node)
        if isinstance(bound, ModelRef):
            raise frame.refuse(node, "the model itself cannot be iterated; name one of its variables")
        value = self.nodes.unwrapped(bound)
        match value.type:
            case SetType(element, _):
                return value, element, self.nodes.has_order(value) and in_code_order(element)
            case BagType(element, _):
                return value, element, in_code_order(element)
            case SeqType(element, _):
                return value, element, True
            case MapType(key, _):
                return self.nodes.keys_of(frame.at(node), value, key), key, True
            case ir.NothingType():
                failing = self.nodes.convert(value, SetType(ir.NothingType()), "")  # evaluating it fails
                return failing, ir.NothingType(), True
        raise frame.refuse(node, f"{value.type} cannot be iterated")

    def _map_domain(self, frame: Frame, node: ast.expr, base: ast.expr, method: str) -> tuple[ir.Domain, Type, bool]:
        mapping = self.nodes.unwrapped(self.lowering.expression(frame, base))
        if not isinstance(mapping.type, MapType):
            raise frame.refuse(node, f"{mapping.type} has no {method}()")
        key, value = mapping.type.key, mapping.type.value
        if method == "keys":
            return self.nodes.keys_of(frame.at(node), mapping, key), key, True
        variable = self.nodes.fresh(key, "key", frame.at(node))
        generator = ir.Generator(variable, ir.Universe(key), [])
        body = ir.MapGet(value, frame.at(node), mapping, variable)
        return ir.Reduce(SeqType(value, key.size), frame.at(node), "seq", [generator], body), value, True

    def _range(self, frame: Frame, node: ast.expr, arguments: list[ast.expr]) -> tuple[ir.Domain, Type, bool]:
        values = [self.lowering.expression(frame, argument) for argument in arguments]
        if any(isinstance(value.type, OptionalType) for value in values) and any(map(may_refuse, values)):
            raise frame.refuse(node, "an end of this range may be None, another requires something; assign them first")
        values = [self.nodes.integer(frame, argument, value) for argument, value in zip(arguments, values, strict=True)]
        zero = ir.Const(IntType(0, 0), frame.at(node), 0)
        low, high = (zero, values[0]) if len(values) == 1 else (values[0], values[1])
        step = 1
        if len(values) == 3:
            if not isinstance(values[2], ir.Const) or values[2].value == 0:
                raise frame.refuse(node, "the step of a range is a constant other than 0")
            step = values[2].value
        a, b = low.type, high.type
        assert isinstance(a, IntType) and isinstance(b, IntType)
        first, end = _bound_of(low), _bound_of(high)
        if step == 1 and first is not None and end is not None and Linear in (type(first), type(end)):
            return ir.Range(low, high, step), open_int(first, end - 1), True
        of = hull(a.low, max(b.high - 1, a.low)) if step > 0 else hull(min(b.low + 1, a.high), a.high)
        return ir.Range(low, high, step), of, True

    def as_seq(self, frame: Frame, node: ast.Call, argument: ast.expr, any_order: bool) -> ir.Expr:
        match argument:
            case (
                ast.GeneratorExp(elt=element, generators=generators) | ast.ListComp(elt=element, generators=generators)
            ):
                return self.comprehension(frame, node, "seq", element, generators, any_order=any_order)
        domain, of, canonical = self.domain(frame, argument)
        if isinstance(domain, ir.Expr) and isinstance(domain.type, SeqType):
            return domain
        if not canonical and not any_order:
            raise no_order(frame, argument, of)
        return self.gather(frame, node, "seq", domain, of)

    def gather(
        self, frame: Frame, node: ast.Call, kind: Literal["seq", "set"], domain: ir.Domain, of: Type
    ) -> ir.Expr:
        variable = self.nodes.element(domain, of, "item", frame.at(node))
        generator = ir.Generator(variable, domain, [])
        size = domain_size(domain, of)
        return self.reduction(frame, node, kind, [generator], variable, None, size, at=frame.at(node))


def _bound_of(value: ir.Expr) -> Bound | None:
    """An integer as a sum over constants, if it is one."""
    match value:
        case ir.Const(value=int() as number):
            return number
        case ir.OpenConstant(name=name):
            return left_open(name)
        case ir.Convert(operand=operand):
            return _bound_of(operand)
        case ir.Arithmetic(op="+" | "-" as op, left=left, right=right):
            a, b = _bound_of(left), _bound_of(right)
            if a is not None and b is not None:
                return a + b if op == "+" else a - b
    return None


def _whole(domain: ir.Domain, of: Type) -> ir.Domain:
    """A range whose ends are known, as all the values of a type: that of its variable, where they are left open."""
    match domain:
        case ir.Range(step=1) if isinstance(of, OpenIntType):
            return ir.Universe(of)
        case ir.Range(low=ir.Expr(type=IntType() as low), high=ir.Expr(type=IntType() as high), step=1):
            if low.low == low.high < high.low == high.high:
                return ir.Universe(IntType(low.low, high.low - 1))
    return domain


def _parts_of_key(key: ir.Expr, whole: ir.Expr) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """The parts of a key, each with the same part of another key, ``whole``."""
    if not isinstance(key, ir.RecordOf):
        yield key, whole
        return
    for name, part in key.fields.items():
        yield from _parts_of_key(part, ir.Field(part.type, whole.at, whole, name))


def _visits_all(generator: ir.Generator) -> bool:
    """Whether a loop visits every value of its variable's type once, in order."""
    kind = generator.variable.type
    if generator.conditions:
        return False
    match generator.domain:
        case ir.Universe():
            return True
        case ir.Range(low=ir.Const(value=low), high=ir.Const(value=high), step=1):
            return kind == IntType(low, high - 1)
        case ir.SeqOf(elements=elements):
            given = [element.value for element in elements if isinstance(element, ir.Const)]
            return len(given) == len(elements) == kind.size and given == list(universe(kind))
    return False


def _leaves_none_out(element: ast.expr, generators: list[ast.comprehension]) -> bool:
    """Whether a comprehension has ``if x is not None`` for its element x, and no later loop rebinds x."""
    wanted = f"{ast.unparse(element)} is not None"
    names = {node.id for node in ast.walk(element) if isinstance(node, ast.Name)}
    found = False
    for generator in generators:
        rebound = isinstance(generator.target, ast.Name) and generator.target.id in names
        parts = [part for test in generator.ifs for part in (test.values if _is_and(test) else [test])]
        found = (found and not rebound) or any(ast.unparse(part) == wanted for part in parts)
    return found


def _is_and(test: ast.expr) -> TypeGuard[ast.BoolOp]:
    return isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)


def _parts(generators: list[ir.Generator]) -> Iterator[ir.Expr]:
    """The expressions of generators, except the first domain, which is evaluated once and before everything else."""
    for number, generator in enumerate(generators):
        match generator.domain:
            case ir.Range(low=low, high=high) if number:
                yield from (low, high)
            case ir.Expr() as domain if number:
                yield domain
        yield from generator.conditions


def _count_text(bound: int) -> str:
    """A number of elements as text; it may have very many digits, or stand for a constant that is left open."""
    return str(bound) if bound < ir.UNBOUNDED else "any number of"


def domain_size(domain: ir.Domain, of: Type) -> int:
    """The largest number of values that a loop variable takes."""
    match domain:
        case ir.Universe():
            return domain.type.size
        case ir.Range():
            assert isinstance(of, IntType)
            return of.codes
    return size_bound(domain.type)
