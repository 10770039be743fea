"""Comprehensions in Promela: loops before the expression that needs their result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from floodmark.checkers.export.graph_queries import refuse
from floodmark.checkers.export.promela_expressions import PromelaExpressions
from floodmark.checkers.export.promela_values import (
    NoValue,
    Number,
    Value,
    cells,
    code,
    decoded,
    empty,
    load,
    must_fit,
    no,
    plus,
    stride,
)
from floodmark.compiler import ir
from floodmark.language.types import MapType, SeqType, SetType


class PromelaComprehensions(PromelaExpressions):
    """Writes expressions other than calls."""

    @contextmanager
    def each(self, variable: ir.Local, domain: ir.Domain, freeze: bool) -> Iterator[None]:
        """Loops over a domain, with the variable set to each element."""
        match domain:
            case ir.Universe(kind):
                with self.text.loop("0", str(kind.size)) as index:
                    self.locals[variable.slot] = decoded(kind, index)
                    yield
                return
            case ir.Range(low, high, step):
                must_fit(variable.type, low.at)
                first, last = self.number(low), self.held(self.number(high), "end")
                with self.text.loop(first, last, step) as index:
                    self.locals[variable.slot] = Number(index)
                    yield
                return
        container = self.evaluate(domain)
        if isinstance(variable.type, ir.NothingType):
            with self.text.aside():  # it is always empty
                self.locals[variable.slot] = NoValue()
                yield
            return
        if freeze:
            container = self.kept(domain.type, container, "domain")
        with self.elements(domain.type, container) as item:
            self.locals[variable.slot] = item
            yield

    @contextmanager
    def generated(self, generators: list[ir.Generator], depth: int = 0) -> Iterator[None]:
        """Loops over the elements that a comprehension iterates over."""
        if depth == len(generators):
            yield
            return
        generator = generators[depth]
        with (
            self.each(generator.variable, generator.domain, False),
            self._conditions(generator.conditions),
            self.generated(generators, depth + 1),
        ):
            yield

    @contextmanager
    def _conditions(self, conditions: list[ir.Expr]) -> Iterator[None]:
        if not conditions:
            yield
            return
        with self.text.when(self.number(conditions[0])), self._conditions(conditions[1:]):
            yield

    def visit_reduce(self, node: ir.Reduce) -> Value:
        if ir.has_effects(node):
            raise refuse("a comprehension that changes variables; write a for loop", node.at)
        match node.kind:
            case "any" | "all":
                return self._any_or_all(node)
            case "sum":
                total = self.held("0", "n")
                with self.generated(node.generators):
                    self.text.emit(f"{total} = {total} + {self.number(node.body)};")
                return Number(total)
            case "min" | "max":
                return self._best(node)
            case "map":
                return self._map_of(node)
        return self._gathered(node)

    def _any_or_all(self, node: ir.Reduce) -> Value:
        sought = "1" if node.kind == "any" else "0"
        result, decided = self.held(no(sought), "b"), self.text.label("decided")
        with self.generated(node.generators):
            body = self.number(node.body)
            hit = body if sought == "1" else no(body)
            self.text.emit(f"if :: {hit} -> {result} = {sought}; goto {decided} :: else fi;")
        self.text.emit(f"{decided}: skip;")
        return Number(result)

    def _best(self, node: ir.Reduce) -> Value:
        best, some = self.held("0", "n"), self.held("0", "b")
        with self.generated(node.generators):
            value = self.short(self.number(node.body))
            better = f"{value} {'>' if node.kind == 'max' else '<'} {best}"
            self.text.emit(f"if :: !{some} || {better} -> {best} = {value}; {some} = 1 :: else fi;")
        if node.default is None:
            self.fail_unless(some)
            return Number(best)
        with self.text.when(no(some)):
            default = self.number(node.default)
            self.text.emit(f"{best} = {default};")
        return Number(best)

    def _map_of(self, node: ir.Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, MapType)
        place = self.text.temporary("m", cells(kind))
        (generator,) = node.generators
        with self.text.loop("0", str(kind.key.size)) as index:
            self.locals[generator.variable.slot] = decoded(kind.key, index)
            self.write(kind.value, place.at(stride(index, cells(kind.value))), self.evaluate(node.body))
        return load(kind, place)

    def _gathered(self, node: ir.Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, SetType | SeqType)
        if isinstance(kind.element, ir.NothingType):
            return empty(kind)
        place = self.saved(kind, empty(kind), "s")
        with self.generated(node.generators):
            item = self.evaluate(node.body)
            match kind:
                case SetType(element, None):
                    self.text.emit(f"{place.cell(self.index_of(code(element, item), 'e'))} = 1;")
                case SetType():
                    self.insert(kind, place, item)
                case SeqType(element, _):
                    end = self.index_of(place.cell("0"), "n")
                    here = place.at(plus(stride(end, cells(element)), "1"))
                    self.write(element, here, item)
                    self.text.emit(f"{place.cell('0')} = {place.cell('0')} + 1;")
        return load(kind, place)
