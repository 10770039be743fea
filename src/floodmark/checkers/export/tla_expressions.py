"""Expressions of the graph as TLA+: what CPython would evaluate, and when that would fail.

TLA+ has no order of evaluation and no errors, so the two are kept apart: a value is written as if nothing could fail,
and each failure is a separate condition, ``reached /\\ ~possible``. Code that uses a value checks the failures first,
in CPython's order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from floodmark.checkers.export.graph_queries import assigned, open_end, refuse
from floodmark.checkers.export.tla_scope import TlaContext, TlaScope, let
from floodmark.checkers.export.tla_values import TlaTypes, bracketed, chosen, conj, disj, negated, number
from floodmark.compiler import ir
from floodmark.compiler.failures import can_fail
from floodmark.compiler.joins import fits, join
from floodmark.compiler.visitor import Visitor
from floodmark.language.types import BagType, IntType, OptionalType, RecordType, SeqType, SetType, Type

_SETS = {"|": "\\cup", "&": "\\cap", "-": "\\"}


class TlaExpressions(Visitor[str]):
    """Writes expressions. ``run`` writes the statements of a call."""

    def __init__(self, types: TlaTypes, context: TlaContext, old: dict[str, str],
                 run: Callable[[list[ir.Stmt]], None]) -> None:
        self.types = types
        self.context = context
        self.names = context.names
        self.old = old
        self.run = run

    def evaluate(self, node: ir.Expr) -> str:
        """The value of an expression; its failures go to the scope."""
        return node.accept(self)

    def operand(self, node: ir.Expr) -> str:
        return bracketed(self.evaluate(node))

    def visit_const(self, node: ir.Const) -> str:
        return self.types.literal(node.type, node.value, node.at)

    def visit_open_constant(self, node: ir.OpenConstant) -> str:
        raise AssertionError(f"{node.name} is open in a proof alone")

    def visit_local(self, node: ir.Local) -> str:
        return self.context.scope.locals[node.slot]

    def visit_state_var(self, node: ir.StateVar) -> str:
        return self.context.scope.state[node.name] if node.which == "new" else self.old[node.name]

    def visit_field(self, node: ir.Field) -> str:
        kind = node.record.type
        assert isinstance(kind, RecordType)
        return f"{self.operand(node.record)}.{self.types.field(kind, node.name)}"

    def visit_map_get(self, node: ir.MapGet) -> str:
        return f"{self.operand(node.map)}[{self.evaluate(node.key)}]"

    def visit_seq_get(self, node: ir.SeqGet) -> str:
        seq, index = self.evaluate(node.seq), self.evaluate(node.index)
        seq, index = self.context.named("seq", seq), self.context.named("index", index)
        self.inside(seq, index)
        return f"At({seq}, {index})"

    def inside(self, seq: str, index: str) -> None:
        """Fails when an index, as in Python, is outside a sequence."""
        self.context.fail_unless(f"{bracketed(index)} \\in (-Len({seq}))..(Len({seq}) - 1)")

    def visit_seq_slice(self, node: ir.SeqSlice) -> str:
        seq = self.context.named("seq", self.evaluate(node.seq))
        low = "0" if node.low is None else f"Clip({self.evaluate(node.low)}, Len({seq}))"
        high = self._end(node.high, seq)
        return f"SubSeq({seq}, {low} + 1, {high})"

    def _end(self, node: ir.Expr | None, seq: str) -> str:
        if node is None:
            return f"Len({seq})"
        maybe = open_end(node)
        if maybe is None:
            return f"Clip({self.evaluate(node)}, Len({seq}))"
        condition = self.context.named("condition", self.evaluate(maybe[0]))
        with self.context.under(negated(condition)):
            return bracketed(chosen(condition, f"Len({seq})", f"Clip({self.evaluate(maybe[1])}, Len({seq}))"))

    def visit_seq_concat(self, node: ir.SeqConcat) -> str:
        if isinstance(node.right, ir.SeqOf) and len(node.right.elements) == 1:
            return f"Append({self.evaluate(node.left)}, {self.evaluate(node.right.elements[0])})"
        return f"{self.operand(node.left)} \\o {self.operand(node.right)}"

    def visit_seq_of(self, node: ir.SeqOf) -> str:
        return "<<" + ", ".join(self.evaluate(element) for element in node.elements) + ">>"

    def visit_record_of(self, node: ir.RecordOf) -> str:
        assert isinstance(node.type, RecordType)
        fields = {name: self.evaluate(value) for name, value in node.fields.items()}
        return self.types.record(node.type, fields)

    def visit_set_of(self, node: ir.SetOf) -> str:
        return "{" + ", ".join(self.evaluate(element) for element in node.elements) + "}"

    def visit_set_binary(self, node: ir.SetBinary) -> str:
        left, right = self.operand(node.left), self.operand(node.right)
        if node.op == "^":
            return f"({left} \\cup {right}) \\ ({left} \\cap {right})"
        return f"{left} {_SETS[node.op]} {right}"

    def visit_subset(self, node: ir.Subset) -> str:
        left, right = self.operand(node.left), self.operand(node.right)
        inside = f"{left} \\subseteq {right}"
        return f"({inside}) /\\ ({left} # {right})" if node.strict else inside

    def visit_bag_change(self, node: ir.BagChange) -> str:
        held, item = self.evaluate(node.bag), self.evaluate(node.item)
        kind = node.bag.type
        if isinstance(kind, SetType):
            held = bracketed(held)
            self.context.fail_unless(f"{bracketed(item)} \\in {held}")
            return f"{held} \\ {{{item}}}"
        assert isinstance(kind, BagType)
        if node.remove:
            self.context.fail_unless(f"{bracketed(item)} \\in DOMAIN {bracketed(held)}")
            return f"Removed({held}, {item})"
        self.context.fail_unless(f"Size({held}) < {kind.capacity}")
        return f"Added({held}, {item})"

    def visit_contains(self, node: ir.Contains) -> str:
        item, container = self.evaluate(node.item), self.evaluate(node.container)
        kind = node.container.type
        assert isinstance(kind, SetType | SeqType | BagType)
        if isinstance(kind.element, ir.NothingType):
            return "FALSE"
        possible, item = self._as_element(node.item.type, kind.element, item)
        members = {SetType: container, SeqType: f"Elements({container})", BagType: f"DOMAIN {bracketed(container)}"}
        return conj([possible, f"{bracketed(item)} \\in {bracketed(members[type(kind)])}"])

    def _as_element(self, source: Type, element: Type, item: str) -> tuple[str, str]:
        """Whether an item can be an element at all, and how it is written as one."""
        if isinstance(source, IntType) and isinstance(element, IntType):
            return "TRUE", item
        if join(source, element) is None and not isinstance(source, OptionalType):
            return "FALSE", item
        item = self.context.named("item", item)
        possible = self.types.within(source, element, item, self.names)
        return possible, self.types.converted(source, element, item, self.names)

    def visit_size(self, node: ir.Size) -> str:
        container = self.evaluate(node.container)
        match node.container.type:
            case SetType():
                return f"Cardinality({container})"
            case SeqType():
                return f"Len({container})"
            case BagType():
                return f"Size({container})"
        return f"Cardinality(DOMAIN {bracketed(container)})"

    def visit_count(self, node: ir.Count) -> str:
        item, bag = self.evaluate(node.item), self.evaluate(node.bag)
        return f"Copies({item}, {bag})"

    # Arithmetic and logic.

    def visit_arithmetic(self, node: ir.Arithmetic) -> str:
        left, right = self.operand(node.left), self.operand(node.right)
        if node.op in ("+", "-", "*"):
            return f"{left} {node.op} {right}"
        divisor = node.right.type
        assert isinstance(divisor, IntType)
        if divisor.low > 0:  # here \div and % are Python's
            return f"{left} \\div {right}" if node.op == "//" else f"{left} % {right}"
        self.context.fail_unless(f"{right} # 0")
        return f"{'Quotient' if node.op == '//' else 'Rest'}({left}, {right})"

    def visit_compare(self, node: ir.Compare) -> str:
        return f"{self.operand(node.left)} {node.op} {self.operand(node.right)}"

    def visit_equal(self, node: ir.Equal) -> str:
        return f"{self.operand(node.left)} = {self.operand(node.right)}"

    def visit_not(self, node: ir.Not) -> str:
        if isinstance(node.operand, ir.Equal | ir.IsNone):
            text = self.evaluate(node.operand)
            return text.replace(" = ", " # ", 1) if text.count(" = ") == 1 else negated(text)
        return negated(self.evaluate(node.operand))

    def visit_and(self, node: ir.And) -> str:
        return conj(self._operands(node.operands, lambda value: value))

    def visit_or(self, node: ir.Or) -> str:
        return disj(self._operands(node.operands, negated))

    def _operands(self, operands: list[ir.Expr], on: Callable[[str], str]) -> list[str]:
        """Operands evaluated from left to right, each only if evaluation goes ``on`` past those before it."""
        saved = self.context.scope.path
        found = []
        for position, operand in enumerate(operands):
            value = self.evaluate(operand)
            if any(can_fail(later) for later in operands[position + 1 :]):
                value = self.context.named("holds", value)
                self.context.scope.path = [*self.context.scope.path, on(value)]
            found.append(value)
        self.context.scope.path = saved
        return found

    def visit_implies(self, node: ir.Implies) -> str:
        return f"{self.operand(node.premise)} => {self.operand(node.conclusion)}"

    def visit_choose(self, node: ir.Choose) -> str:
        condition = self.evaluate(node.condition)
        if can_fail(node.then) or can_fail(node.otherwise):
            condition = self.context.named("condition", condition)
        with self.context.under(condition):
            then = self.evaluate(node.then)
        with self.context.under(negated(condition)):
            otherwise = self.evaluate(node.otherwise)
        return chosen(condition, then, otherwise)

    def visit_is_none(self, node: ir.IsNone) -> str:
        value = self.operand(node.operand)
        match node.operand.type:
            case ir.NoneType():
                return "TRUE"
            case OptionalType():
                return f"{value} = None"
        return "FALSE"

    def visit_extremum(self, node: ir.Extremum) -> str:
        values = ", ".join(self.evaluate(operand) for operand in node.operands)
        return f"{'Greatest' if node.largest else 'Least'}({{{values}}})"

    def visit_witness(self, node: ir.Witness) -> str:
        return self.evaluate(node.operand)

    def visit_marked(self, node: ir.Marked) -> str:
        return self.evaluate(node.operand)

    def visit_convert(self, node: ir.Convert) -> str:
        source, text = node.operand.type, self.evaluate(node.operand)
        if not fits(source, node.type):
            text = self.context.named("value", text)
            self.context.fail_unless(self.types.within(source, node.type, text, self.names))
        return self.types.converted(source, node.type, text, self.names)

    def visit_sorted(self, node: ir.Sorted) -> str:
        return f"Ordered({self.evaluate(node.seq)}, {'TRUE' if node.reverse else 'FALSE'})"

    def visit_inline(self, node: ir.Inline) -> str:
        scope = self.context.scope
        for local in [*assigned(node.body), *([node.result] if node.result is not None else [])]:
            scope.locals.pop(local.slot, None)
            scope.born[local.slot] = len(scope.path)
        self.run(node.body)
        if node.result is None:
            return "None"
        return scope.locals.get(node.result.slot) or self.types.default(node.result.type)

    def visit_applied(self, node: ir.Applied) -> str:
        message = f"{node.function.name} with all that it calls is too large to be written out for each call"
        raise refuse(message, node.at)

    # Domains of loops.

    def members(self, domain: ir.Domain) -> str:
        """The set that a loop iterates over."""
        match domain:
            case ir.Universe(kind):
                return self.types.universe(kind)
            case ir.Range(low, high, step):
                first, last = self.operand(low), self.operand(high)
                if step == 1:
                    return f"{first}..({last} - 1)"
                return f"Elements({self._steps(first, last, step)})"
        text = self.evaluate(domain)
        match domain.type:
            case SeqType():
                return f"Elements({text})"
            case BagType():
                return f"DOMAIN {bracketed(text)}"
        return text

    def _steps(self, first: str, last: str, step: int) -> str:
        n = self.names.fresh("n")
        size = f"({last} - {first} + {step - 1}) \\div {step}"
        if step < 0:
            size = f"({first} - {last} + {-step - 1}) \\div {-step}"
        size = f"{last} - {first}" if step == 1 else size
        return f"[{n} \\in 1..({size}) |-> {first} + ({n} - 1) * {number(step)}]"

    def sequence(self, domain: ir.Domain, at: ir.Position) -> str:
        """The elements of a loop's domain, in order."""
        match domain:
            case ir.Universe(kind):
                return self.types.order(kind, at)
            case ir.Range(low, high, step):
                return self._steps(self.operand(low), self.operand(high), step)
        text = self.evaluate(domain)
        match domain.type:
            case SeqType():
                return text
            case SetType(element, _):
                if isinstance(element, ir.NothingType):
                    return "<<>>"
                text, item = self.context.named("set", text), self.names.fresh("e")
                return f"SelectSeq({self.types.order(element, at)}, LAMBDA {item} : {item} \\in {bracketed(text)})"
            case BagType(element, _):
                text, n = self.context.named("bag", text), self.names.fresh("n")
                order = self.types.order(element, at)
                m, item = self.names.fresh("m"), f"{order}[{n}]"
                return f"Flatten([{n} \\in DOMAIN {order} |-> [{m} \\in 1..Copies({item}, {text}) |-> {item}]])"
        raise AssertionError(domain)

    @contextmanager
    def bound(self, generator: ir.Generator) -> Iterator[tuple[TlaScope, str, str]]:
        """Inside a generator: its scope, the name of its variable, and its conditions. Its failures stay in its
        scope."""
        scope = self.context.scope.inner()
        name = self.names.fresh(generator.variable.name)
        scope.locals[generator.variable.slot] = name
        scope.born[generator.variable.slot] = 0
        with self.context.within(scope):
            conditions = []
            for condition in generator.conditions:
                text = self.context.named("chosen", self.evaluate(condition))
                conditions.append(text)
                scope.path = [*scope.path, text]
            yield scope, name, conj(conditions)

    # Comprehensions.

    def visit_reduce(self, node: ir.Reduce) -> str:
        if ir.has_effects(node):
            raise refuse("a comprehension that changes variables; write a for loop", node.at)
        match node.kind:
            case "any" | "all":
                return self._any_or_all(node, 0)
            case "sum":
                return self._sum(node, 0)
            case "set":
                return self._collected(node, 0)
            case "min" | "max":
                return self._best(node)
            case "seq":
                return self._listed(node, 0)
        return self._mapped(node)

    def _any_or_all(self, node: ir.Reduce, depth: int) -> str:
        if depth == len(node.generators):
            return self.evaluate(node.body)
        generator = node.generators[depth]
        if any(can_fail(part) for part in (node.body, *generator.conditions, *_inside(node, depth))):
            return self._in_order(node, depth)
        domain = self.members(generator.domain)
        with self.bound(generator) as (scope, name, condition):
            inner = self._any_or_all(node, depth + 1)
            if node.kind == "any":
                return f"\\E {name} \\in {domain} : {let(scope, conj([condition, inner]))}"
            text = inner if condition == "TRUE" else f"{bracketed(condition)} => {bracketed(inner)}"
            return f"\\A {name} \\in {domain} : {let(scope, text)}"

    def _in_order(self, node: ir.Reduce, depth: int) -> str:
        """``any`` or ``all`` whose elements may fail: a failure counts only before the result is decided."""
        generator = node.generators[depth]
        seq = self.context.define("seq", self.sequence(generator.domain, node.at))
        with self.bound(generator) as (scope, name, condition):
            inner = self._any_or_all(node, depth + 1)
            any_of = node.kind == "any"
            hit = conj([condition, inner if any_of else negated(inner)])
            failing = disj(scope.failures)
        i, j = self.names.fresh("i"), self.names.fresh("j")

        def of(index: str, text: str) -> str:
            return f"LET {name} == {seq}[{index}] IN {let(scope, text)}"

        if failing != "FALSE":
            undecided = f"\\A {j} \\in 1..({i} - 1) : {of(j, negated(hit))}"
            self.context.fail_unless(f"~(\\E {i} \\in DOMAIN {seq} : ({undecided}) /\\ ({of(i, failing)}))")
        found = f"\\E {i} \\in DOMAIN {seq} : {of(i, hit)}"
        return found if any_of else f"~({found})"

    def _spread(self, scope: TlaScope, name: str, domain: str) -> None:
        """A failure inside a generator becomes one outside it, for whichever value of its variable."""
        failing = disj(scope.failures)
        if failing != "FALSE":
            self.context.fail_unless(f"~(\\E {name} \\in {domain} : {let(scope, failing)})")

    def _sum(self, node: ir.Reduce, depth: int) -> str:
        generator = node.generators[depth]
        if isinstance(generator.domain, ir.Expr) and isinstance(generator.domain.type, SeqType):
            seq = self.context.named("seq", self.evaluate(generator.domain))
            index = self.names.fresh("i")
            with self.bound(generator) as (scope, name, condition):
                inner = self._summand(node, depth, condition)
            self._spread(scope, name, f"Elements({seq})")
            return f"Sum([{index} \\in DOMAIN {bracketed(seq)} |-> LET {name} == {bracketed(seq)}[{index}] IN " \
                   f"{let(scope, inner)}])"
        if isinstance(generator.domain, ir.Expr) and isinstance(generator.domain.type, BagType):
            bag = self.context.named("bag", self.evaluate(generator.domain))
            with self.bound(generator) as (scope, name, condition):
                inner = self._summand(node, depth, condition)
            self._spread(scope, name, f"DOMAIN {bracketed(bag)}")
            return f"Sum([{name} \\in DOMAIN {bracketed(bag)} |-> Copies({name}, {bag}) * ({let(scope, inner)})])"
        domain = self.members(generator.domain)
        with self.bound(generator) as (scope, name, condition):
            inner = self._summand(node, depth, condition)
        self._spread(scope, name, domain)
        if inner in ("1", f"IF {condition} THEN 1 ELSE 0"):
            counted = domain if condition == "TRUE" else f"{{{name} \\in {domain} : {let(scope, condition)}}}"
            return f"Cardinality({counted})"
        return f"Sum([{name} \\in {domain} |-> {let(scope, inner)}])"

    def _summand(self, node: ir.Reduce, depth: int, condition: str) -> str:
        last = depth + 1 == len(node.generators)
        return chosen(condition, self.evaluate(node.body) if last else self._sum(node, depth + 1), "0")

    def _collected(self, node: ir.Reduce, depth: int) -> str:
        """The set of a comprehension's elements."""
        generator = node.generators[depth]
        domain = self.members(generator.domain)
        with self.bound(generator) as (scope, name, condition):
            last = depth + 1 == len(node.generators)
            body = self.evaluate(node.body) if last else self._collected(node, depth + 1)
        self._spread(scope, name, domain)
        if last and condition == "TRUE":
            return domain if body == name else f"{{{let(scope, body)} : {name} \\in {domain}}}"
        if last and body == name:
            return f"{{{name} \\in {domain} : {let(scope, condition)}}}"
        inner = chosen(condition, f"{{{body}}}" if last else body, "{}")
        return f"UNION {{{let(scope, inner)} : {name} \\in {domain}}}"

    def _best(self, node: ir.Reduce) -> str:
        every = self.context.named("numbers", self._collected(node, 0))
        best = f"{'Greatest' if node.kind == 'max' else 'Least'}({every})"
        if node.default is None:
            self.context.fail_unless(f"{bracketed(every)} # {{}}")
            return best
        with self.context.under(f"{bracketed(every)} = {{}}"):
            default = self.evaluate(node.default)
        return f"IF {bracketed(every)} = {{}} THEN {default} ELSE {best}"

    def _listed(self, node: ir.Reduce, depth: int) -> str:
        """The sequence of a comprehension's elements."""
        generator = node.generators[depth]
        seq = bracketed(self.context.named("seq", self.sequence(generator.domain, node.at)))
        index = self.names.fresh("i")
        with self.bound(generator) as (scope, name, condition):
            last = depth + 1 == len(node.generators)
            body = self.evaluate(node.body) if last else self._listed(node, depth + 1)
        self._spread(scope, name, f"Elements({seq})")
        if last and condition == "TRUE":
            if body == name:
                return seq
            return f"[{index} \\in DOMAIN {seq} |-> LET {name} == {seq}[{index}] IN {let(scope, body)}]"
        inner = chosen(condition, f"<<{body}>>" if last else body, "<<>>")
        return f"Flatten([{index} \\in DOMAIN {seq} |-> LET {name} == {seq}[{index}] IN {let(scope, inner)}])"

    def _mapped(self, node: ir.Reduce) -> str:
        (generator,) = node.generators
        domain = self.members(generator.domain)
        with self.bound(generator) as (scope, name, _):
            body = self.evaluate(node.body)
        self._spread(scope, name, domain)
        return f"[{name} \\in {domain} |-> {let(scope, body)}]"


def _inside(node: ir.Reduce, depth: int) -> list[ir.Expr]:
    """The expressions that the generators after this one evaluate."""
    found: list[ir.Expr] = []
    for generator in node.generators[depth + 1 :]:
        found.extend(generator.conditions)
        match generator.domain:
            case ir.Range(low, high, _):
                found += [low, high]
            case ir.Expr() as domain:
                found.append(domain)
    return found
