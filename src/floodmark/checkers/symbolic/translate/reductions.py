"""Loops, comprehensions and reductions as z3 terms: unrolled, or quantified over a set of any size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, implied, negation, substituted
from floodmark.checkers.symbolic.translate.evaluation import Evaluate, EvaluationContext
from floodmark.checkers.symbolic.values.components import Relation, UnboundedMap, replaced_in, symbols_in
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.checkers.symbolic.values.value import Values
from floodmark.compiler import ir
from floodmark.compiler.failures import may_stop
from floodmark.language.types import INTEGER_LIMIT, IntType, MapType, SeqType, SetType, Type, has_any_key

MAX_ITERATIONS = 4096


class Domains:
    """Lists domains."""

    def __init__(self, values: Values, evaluate: Evaluate) -> None:
        self._values = values
        self._evaluate = evaluate

    def elements(self, domain: ir.Domain, of: Type) -> Relation | list[tuple[Truth, Value]]:
        """The values of a loop variable in order, each with the condition under which the loop reaches it; or a set if
        there may be any number of them."""
        values, any_size = self._values, self._values.types.any_size
        match domain:
            case ir.Universe(kind) if any_size and values.types.is_unbounded(kind):
                return Relation(lambda item: values.well_formed(kind, item), None)
            case ir.Universe(kind):
                return [(True, value) for value in values.lifted(kind)]
            case ir.Range(step=1) if any_size and of.codes > MAX_ITERATIONS:
                low, high = self._evaluate(domain.low), self._evaluate(domain.high)
                numbers = values.numbers
                return Relation(lambda item: conj((numbers.at_most(low, item), numbers.less(item, high))), None)
            case ir.Range():
                return self._range(domain, of)
        value = self._evaluate(domain)
        return value if isinstance(value, Relation) else values.containers.elements(domain.type, value)

    def _range(self, domain: ir.Range, of: Type) -> list[tuple[Truth, Value]]:
        numbers = self._values.numbers
        low, high = self._evaluate(domain.low), self._evaluate(domain.high)
        if isinstance(low, int) and isinstance(high, int):
            return [(True, index) for index in range(low, high, domain.step)]
        if of.codes > MAX_ITERATIONS:
            how_many = "any number of" if self._values.types.unbounded else f"up to {of.codes}"
            message = f"a range of {how_many} numbers is too long to unroll; at most {MAX_ITERATIONS}"
            raise UnsupportedError(message, domain.low.at.file, domain.low.at.line)
        found = []
        for turn in range((of.codes - 1) // abs(domain.step) + 1):
            index = numbers.plus(low, turn * domain.step)
            inside = numbers.less(index, high) if domain.step > 0 else numbers.less(high, index)
            found.append((inside, index))
        return [(inside, index) for inside, index in found if inside is not False]


class Reductions:
    """Evaluates expressions that iterate over domains."""

    def __init__(self, context: EvaluationContext, evaluate: Evaluate, domains: Domains) -> None:
        self._context = context
        self._values = context.values
        self._evaluate = evaluate
        self._domains = domains

    def reduce(self, node: ir.Reduce) -> Value:
        """The value of such an expression."""
        match node.kind:
            case "any" | "all":
                return self._any_or_all(node, 0)
            case "sum":
                return self._sum(node)
            case "max" if (is_any := _whether_any(node)) is not None and self._values.types.any_size:
                return self._values.numbers.either(self._any_or_all(is_any, 0, whole=True), 1, 0)
            case "min" | "max":
                return self._best(node)
            case "set":
                return self._set_of(node)
            case "seq":
                return self._seq_of(node)
        return self._map_of(node)

    def _any_or_all(self, node: ir.Reduce, depth: int, whole: bool = False) -> Truth:
        """Whether any or all bodies are true; as in CPython, evaluation stops at the first that decides, unless the
        ``whole`` domain is to be evaluated.
        """
        if depth == len(node.generators):
            return self._evaluate(node.body)
        generator = node.generators[depth]
        visited = self._domains.elements(generator.domain, generator.variable.type)
        if isinstance(visited, Relation):
            return self._quantified(node, depth, generator, visited, whole)
        unordered = isinstance(generator.domain, ir.Expr) and self._values.types.is_unordered(generator.domain.type)
        parts = (node.body, *generator.conditions)
        careful = not unordered and not whole and (
            depth + 1 < len(node.generators) or any(map(may_stop, parts))
        )
        looking_for = node.kind == "any"
        found: list[Truth] = []
        saved = self._context.path
        with self._context.in_any_order() if unordered else nullcontext():
            for there, value in visited:
                self._context.locals[generator.variable.slot] = value
                chosen = self._chosen(generator, there)
                if chosen is not False:
                    with self._context.under(chosen):
                        inner = self._any_or_all(node, depth + 1, whole)
                    hit = conj((chosen, inner)) if looking_for else implied(chosen, inner)
                    found.append(hit)
                    if hit is looking_for and not whole:
                        break
                    if careful:
                        self._context.path = conj((self._context.path, negation(hit) if looking_for else hit))
        self._context.path = saved
        return disj(found) if looking_for else conj(found)

    def _quantified(
        self, node: ir.Reduce, depth: int, generator: ir.Generator, relation: Relation, whole: bool
    ) -> Truth:
        """``any`` and ``all`` over a set without a bound."""
        item = self._values.components.variable(generator.variable.type, generator.variable.name)
        self._context.locals[generator.variable.slot] = item
        with self._context.for_each(item):
            there = relation.holds(item)
            with self._context.under(there):
                chosen = self._chosen(generator, there)
            with self._context.under(chosen):
                inner = self._any_or_all(node, depth + 1, whole)
        if node.kind == "any":
            return self._values.quantifiers.of_some(item, conj((chosen, inner)))
        return self._values.quantifiers.of_every(item, implied(chosen, inner))

    def _chosen(self, generator: ir.Generator, there: Truth) -> Truth:
        """Whether an element passes the conditions of its generator."""
        chosen = there
        for condition in generator.conditions:
            with self._context.under(chosen):
                chosen = conj((chosen, self._evaluate(condition)))
            if chosen is False:
                break
        return chosen

    def _generate(self, node: ir.Reduce, depth: int = 0, outer: Truth = True) -> Iterator[Truth]:
        """Iterates over a comprehension's elements with its variables set; yields the condition that each one counts.

        With any number of elements, a variable stands for each of them, and is in ``bound`` meanwhile.
        """
        if depth == len(node.generators):
            yield outer
            return
        generator = node.generators[depth]
        visited = self._domains.elements(generator.domain, generator.variable.type)
        if isinstance(visited, Relation):
            item = self._values.components.variable(generator.variable.type, generator.variable.name)
            self._context.locals[generator.variable.slot] = item
            self._context.bound.append(item)
            with self._context.for_each(item):
                yield from self._generate_inner(node, depth, outer, visited.holds(item))
            self._context.bound.pop()
            return
        for there, value in visited:
            self._context.locals[generator.variable.slot] = value
            yield from self._generate_inner(node, depth, outer, there)

    def _generate_inner(self, node: ir.Reduce, depth: int, outer: Truth, there: Truth) -> Iterator[Truth]:
        """Iterates over the domains inside one, for the present value of its variable."""
        with self._context.under(there):
            chosen = self._chosen(node.generators[depth], there)
        if chosen is not False:
            with self._context.under(chosen):
                yield from self._generate(node, depth + 1, conj((outer, chosen)))

    def _sum(self, node: ir.Reduce) -> Any:
        numbers = self._values.numbers
        total: Any = 0
        counted = self.summed_set(node)
        if counted is not None:
            element, members = counted
            return self._values.containers.size(SetType(element), members)
        for chosen in self._generate(node):
            if self._context.bound:
                raise UnsupportedError("a sum over any number of elements is known only when each counts as one")
            total = numbers.plus(total, numbers.either(chosen, self._evaluate(node.body), 0))
        return total

    def summed_set(self, node: ir.Reduce) -> tuple[Type, Relation] | None:
        """The elements that a sum of ones counts, if there may be any number of them."""
        if len(node.generators) != 1 or not self._values.types.any_size:
            return None
        (generator,) = node.generators
        counts = _counts_as_one(node.body)
        domain = generator.domain
        of = generator.variable.type
        if isinstance(domain, ir.Universe):
            distinct = self._values.types.is_unbounded(of)
        else:
            distinct = isinstance(domain, ir.Expr) and self._values.types.is_relation(domain.type)
        if counts is None or not distinct:
            return None
        found: Relation | None = None
        for chosen in self._generate(node):
            item = self._context.bound[-1]
            with self._context.under(chosen):
                one = conj((chosen, self._evaluate(counts)))
            found = self._where(of, item, one)
        return None if found is None else (of, found)

    def _where(self, kind: Type, item: Value, truth: Truth) -> Relation:
        """The values of a variable that satisfy a statement."""
        own = symbols_in(item)
        return Relation(lambda known: substituted(truth, own, self._values.components.arguments(kind, known)), None)

    def _best(self, node: ir.Reduce) -> Any:
        numbers = self._values.numbers
        best: Any = None
        some: Truth = False
        outside = len(self._context.bound)
        for chosen in self._generate(node):
            value = self._evaluate(node.body)
            if self._context.bound[outside:]:
                chosen, value = self._extreme(tuple(self._context.bound[outside:]), chosen, value, node.kind == "max")
            if best is None:
                best, some = value, chosen
                continue
            better = numbers.less(best, value) if node.kind == "max" else numbers.less(value, best)
            best = numbers.either(conj((chosen, disj((negation(some), better)))), value, best)
            some = disj((some, chosen))
        if node.default is not None:
            with self._context.under(negation(some)):
                default = self._evaluate(node.default)
            return default if best is None else numbers.either(some, best, default)
        self._context.fail_unless(some, node.at)
        return self._values.default(node.type) if best is None else best

    def _extreme(self, item: Value, chosen: Truth, value: Any, largest: bool) -> tuple[Truth, Any]:
        """Whether there is an element, and the best value: that of a witness, which the axioms state to be best.

        Among finitely many elements one is best, so there is a witness whenever there is an element.
        """
        axioms, numbers = self._values.axioms, self._values.numbers
        own = symbols_in(item)
        over = axioms.free(as_term(chosen), *([] if isinstance(value, int) else [value]), besides=own)
        witness = [axioms.chosen("best", mine.sort(), over) for mine in own]
        best = value if isinstance(value, int) else substituted(value, own, witness)
        better = numbers.at_most(value, best) if largest else numbers.at_most(best, value)
        axioms.add(witness, implied(chosen, conj((substituted(chosen, own, witness), better))))
        return self._values.quantifiers.of_some(item, chosen), best

    def _set_of(self, node: ir.Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, SetType)
        if self._values.types.is_relation(kind):
            return self._set_of_any_size(node, kind.element)
        result = self._values.default(kind)
        outside = len(self._context.bound)
        for chosen in self._generate(node):
            value, item = self._evaluate(node.body), tuple(self._context.bound[outside:])
            if item:
                result = self._with_each(kind, result, item, chosen, value)
                continue
            room, larger = self._values.containers.with_element(kind, result, value)
            self._context.fail_unless(room, node.at)
            result = self._values.either(kind, chosen, larger, result)
        return result

    def _with_each(self, kind: SetType, before: Value, item: Value, chosen: Truth, value: Value) -> Value:
        """A set with few possible elements, extended by the values of an expression for any number of identifiers."""
        if kind.capacity is not None:
            raise UnsupportedError(f"{kind} cannot be made of any number of elements here, as it may not hold them all")
        taken = self._image(kind.element, item, chosen, value)
        pairs = zip(before, self._values.lifted(kind.element), strict=True)
        return tuple(disj((there, taken.holds(known))) for there, known in pairs)

    def _set_of_any_size(self, node: ir.Reduce, element: Type) -> Relation:
        parts: list[Relation] = []
        outside = len(self._context.bound)
        for chosen in self._generate(node):
            value, item = self._evaluate(node.body), tuple(self._context.bound[outside:])
            if len(item) == 1 and value is item[0]:
                parts.append(self._where(element, value, chosen))
            else:
                parts.append(self._image(element, item, chosen, value))
        return Relation(lambda known: disj(part.holds(known) for part in parts), None)

    def _image(self, element: Type, item: Value, chosen: Truth, value: Value) -> Relation:
        """The image of an expression."""
        equal, of_some = self._values.equal, self._values.quantifiers.of_some
        return Relation(lambda known: of_some(item, conj((chosen, equal(element, value, known)))), None)

    def _seq_of(self, node: ir.Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        for generator in node.generators:
            if isinstance(generator.domain, ir.Expr) and self._values.types.is_unordered(generator.domain.type):
                raise UnsupportedError(f"{generator.domain.type} has no order here, so it cannot become a sequence")
        if kind.capacity >= INTEGER_LIMIT:
            listed = self._set_of_any_size(node, kind.element)
            listed.repeats = len(node.generators) > 1 or not _is_variable(node)
            one = ir.Reduce(kind.element, node.at, "sum", node.generators, ir.Const(IntType(1, 1), node.at, 1))
            counted = self.summed_set(one)
            listed.length = None if counted is None else self._values.containers.size(SetType(counted[0]), counted[1])
            if isinstance(kind.element, IntType) and counted is not None:
                listed.among = self._among(node)
            return listed
        numbers = self._values.numbers
        items = [self._values.default(kind.element)] * kind.capacity
        count: Any = 0
        outside = len(self._context.bound)
        for chosen in self._generate(node):
            value = self._evaluate(node.body)
            if self._context.bound[outside:]:
                raise UnsupportedError("a list of any number of elements has no positions here; make it a set")
            for position in range(kind.capacity):
                here = conj((chosen, numbers.equal(count, position)))
                items[position] = self._values.either(kind.element, here, value, items[position])
            count = numbers.plus(count, numbers.either(chosen, 1, 0))
        return (count, tuple(items))

    def _among(self, node: ir.Reduce) -> Callable[[Callable[[Any], Truth]], Any]:
        """A function that counts the numbers of a list that satisfy a condition. Each number belongs to one identifier,
        so it counts those identifiers."""
        (generator,) = node.generators
        kind = generator.variable.type
        listed: list[tuple[Value, Truth, Any]] = []
        for chosen in self._generate(node):
            with self._context.under(chosen):
                listed.append((self._context.bound[-1], chosen, self._evaluate(node.body)))

        def counted(meets: Callable[[Any], Truth]) -> Any:
            parts = [self._where(kind, item, conj((chosen, meets(number)))) for item, chosen, number in listed]
            return self._values.containers.size(SetType(kind), parts[0]) if parts else 0

        return counted

    def _map_of(self, node: ir.Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, MapType)
        if has_any_key(kind):
            for _ in self._generate(node):
                value, own = self._evaluate(node.body), symbols_in(self._context.bound[-1])
            return UnboundedMap(lambda key: self._at_key(kind, value, own, key))
        return tuple(self._evaluate(node.body) for _ in self._generate(node))

    def _at_key(self, kind: MapType, value: Value, own: list[Any], key: Value) -> Value:
        """The value at a key, which may be a number of Python, from that at a fresh one."""
        known = self._values.components.arguments(kind.key, key)
        return replaced_in(value, lambda term: substituted(term, own, known))


def _counts_as_one(body: ir.Expr) -> ir.Expr | None:
    """The condition under which an element of a sum counts as one, if it otherwise counts as nothing."""
    match body:
        case ir.Const(value=1):
            return ir.Const(ir.BOOL, body.at, True)
        case ir.Choose(condition=condition, then=ir.Const(value=1), otherwise=ir.Const(value=0)):
            return condition
    return None


def _whether_any(node: ir.Reduce) -> ir.Reduce | None:
    """The ``any`` that is equivalent to a maximum of ones and zeros: 1 if some element satisfies a condition, else 0.
    """
    condition = _counts_as_one(node.body)
    if condition is None or not isinstance(node.default, ir.Const) or node.default.value != 0:
        return None
    return ir.Reduce(ir.BOOL, node.at, "any", node.generators, condition)


def _is_variable(node: ir.Reduce) -> bool:
    """Whether a comprehension lists the elements of its domain themselves, each once."""
    (generator,) = node.generators
    domain = generator.domain
    once = isinstance(domain, ir.Universe | ir.Range) or isinstance(domain.type, SetType)
    return once and isinstance(node.body, ir.Local) and node.body.slot == generator.variable.slot
