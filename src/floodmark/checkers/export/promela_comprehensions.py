"""Comprehensions in Promela: loops before the expression that needs their result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from floodmark.checkers.export.graph_queries import refuse
from floodmark.checkers.export.promela_containers import PromelaContainers
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


class ExpressionWriter(Protocol):
    """Writes the expressions of a comprehension, whose variables are among ``locals``."""

    locals: dict[int, Value]

    def evaluate(self, node: ir.Expr) -> Value: ...

    def number(self, node: ir.Expr) -> str: ...


class PromelaComprehensions:
    """Writes loops over domains."""

    def __init__(self, expressions: ExpressionWriter, containers: PromelaContainers) -> None:
        self.expressions = expressions
        self.containers = containers
        self.memory = containers.memory
        self.text = containers.text

    @contextmanager
    def each(self, variable: ir.Local, domain: ir.Domain, freeze: bool) -> Iterator[None]:
        """Loops over a domain, with the variable set to each element."""
        match domain:
            case ir.Universe(kind):
                with self.text.loop("0", str(kind.size)) as index:
                    self.expressions.locals[variable.slot] = decoded(kind, index)
                    yield
                return
            case ir.Range(low, high, step):
                must_fit(variable.type, low.at)
                first, last = self.expressions.number(low), self.memory.held(self.expressions.number(high), "end")
                with self.text.loop(first, last, step) as index:
                    self.expressions.locals[variable.slot] = Number(index)
                    yield
                return
        container = self.expressions.evaluate(domain)
        if isinstance(variable.type, ir.NothingType):
            with self.text.aside():  # it is always empty
                self.expressions.locals[variable.slot] = NoValue()
                yield
            return
        if freeze:
            container = self.memory.kept(domain.type, container, "domain")
        with self.containers.elements(domain.type, container) as item:
            self.expressions.locals[variable.slot] = item
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
        with self.text.when(self.expressions.number(conditions[0])), self._conditions(conditions[1:]):
            yield

    def reduce(self, node: ir.Reduce) -> Value:
        if ir.has_effects(node):
            raise refuse("a comprehension that changes variables; write a for loop", node.at)
        match node.kind:
            case "any" | "all":
                return self._any_or_all(node)
            case "sum":
                total = self.memory.held("0", "n")
                with self.generated(node.generators):
                    self.text.emit(f"{total} = {total} + {self.expressions.number(node.body)};")
                return Number(total)
            case "min" | "max":
                return self._best(node)
            case "map":
                return self._map_of(node)
        return self._gathered(node)

    def _any_or_all(self, node: ir.Reduce) -> Value:
        sought = "1" if node.kind == "any" else "0"
        result, decided = self.memory.held(no(sought), "b"), self.text.label("decided")
        with self.generated(node.generators):
            body = self.expressions.number(node.body)
            hit = body if sought == "1" else no(body)
            self.text.emit(f"if :: {hit} -> {result} = {sought}; goto {decided} :: else fi;")
        self.text.emit(f"{decided}: skip;")
        return Number(result)

    def _best(self, node: ir.Reduce) -> Value:
        best, some = self.memory.held("0", "n"), self.memory.held("0", "b")
        with self.generated(node.generators):
            value = self.memory.short(self.expressions.number(node.body))
            better = f"{value} {'>' if node.kind == 'max' else '<'} {best}"
            self.text.emit(f"if :: !{some} || {better} -> {best} = {value}; {some} = 1 :: else fi;")
        if node.default is None:
            self.memory.fail_unless(some)
            return Number(best)
        with self.text.when(no(some)):
            default = self.expressions.number(node.default)
            self.text.emit(f"{best} = {default};")
        return Number(best)

    def _map_of(self, node: ir.Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, MapType)
        place = self.text.temporary("m", cells(kind))
        (generator,) = node.generators
        with self.text.loop("0", str(kind.key.size)) as index:
            self.expressions.locals[generator.variable.slot] = decoded(kind.key, index)
            entry = place.at(stride(index, cells(kind.value)))
            self.memory.write(kind.value, entry, self.expressions.evaluate(node.body))
        return load(kind, place)

    def _gathered(self, node: ir.Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, SetType | SeqType)
        if isinstance(kind.element, ir.NothingType):
            return empty(kind)
        place = self.memory.saved(kind, empty(kind), "s")
        with self.generated(node.generators):
            item = self.expressions.evaluate(node.body)
            match kind:
                case SetType(element, None):
                    self.text.emit(f"{place.cell(self.memory.index_of(code(element, item), 'e'))} = 1;")
                case SetType():
                    self.containers.insert(kind, place, item)
                case SeqType(element, _):
                    end = self.memory.index_of(place.cell("0"), "n")
                    here = place.at(plus(stride(end, cells(element)), "1"))
                    self.memory.write(element, here, item)
                    self.text.emit(f"{place.cell('0')} = {place.cell('0')} + 1;")
        return load(kind, place)
