"""Emits comprehensions and their consumers (any, all, sum, min, max, sets, sequences, maps), and sorting."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from floodmark.checkers.codegen import containers, elements, windows
from floodmark.checkers.codegen.bits import I1, I64, Value, code_of, const, register, resize, value_of
from floodmark.checkers.codegen.routine import Routine
from floodmark.checkers.codegen.windows import Window
from floodmark.compiler.failures import may_outgrow
from floodmark.compiler.ir import Domain, Expr, Range, Reduce, Sorted, Universe
from floodmark.language.types import (
    MapType,
    SeqType,
    SetType,
    Type,
)


class Comprehensions:
    """Emits loops over domains, with what ``emit`` makes of the expressions in them."""

    def __init__(self, routine: Routine, emit: Callable[[Expr], Value]) -> None:
        self.routine = routine
        self.builder = routine.builder
        self.emit = emit
        self._divided: Reduce | None = None
        self._todo: Value | None = None
        self._first = 0

    def leave_out(self, divided: Reduce, todo: Value, first: int) -> None:
        """Restricts an ``all``, in the code that follows, to the values whose bits are set in the word at ``todo``, in
        which the value with code 0 has the bit ``first``."""
        self._divided, self._todo, self._first = divided, todo, first

    @contextmanager
    def _those_to_do(self, kind: Type) -> Any:
        assert self._todo is not None
        todo = self.builder.load(self._todo)
        with elements.codes(self.routine, kind) as (code, onward, leave):
            place = self.builder.add(resize(self.builder, code, I64), const(self._first))
            bit = self.builder.and_(self.builder.lshr(todo, place), const(1))
            self.routine.skip_unless(self.builder.icmp_unsigned("!=", bit, const(0)), onward)
            yield value_of(self.builder, kind, code), onward, leave

    @contextmanager
    def over(self, domain: Domain, of: Type, distinct: bool = False, unrolled: bool = False) -> Any:
        """A loop over a domain; yields (value of the loop variable, next, exit).

        With ``distinct``, an element that a bag holds several times is visited once. An ``unrolled`` loop over all
        values of a type has its body once for each.
        """
        match domain:
            case Universe(kind):
                with elements.codes(self.routine, kind, unrolled) as (code, onward, leave):
                    yield value_of(self.builder, kind, code), onward, leave
            case Range():
                low, high = self.emit(domain.low), self.emit(domain.high)
                with self.routine.counting(low, high, domain.step) as (index, onward, leave):
                    yield index, onward, leave
            case _:
                with elements.iterate(self.routine, self.emit(domain), domain.type, distinct) as (value, onward, leave):
                    yield value, onward, leave

    def sort(self, node: Sorted) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        code = self.emit(node.seq)
        length = elements.seq_length(self.routine, kind, code)
        result = windows.of(self.routine, code)
        with self.routine.counting(const(1), length) as (index, _, _):
            self._sink(kind, result, index, node.reverse)
        return result.code()

    def _sink(self, kind: SeqType, result: Window, index: Value, reverse: bool) -> None:
        """One round of an insertion sort: moves the element at ``index`` to its place among those before it."""
        width = kind.element.bits
        with self.routine.counting(index, const(0), -1) as (position, _, leave):
            high_at = elements.seq_offset(self.routine, kind, position)
            low_at = self.builder.sub(high_at, const(width))
            high, low = result.cut(high_at, width), result.cut(low_at, width)
            swap = self.builder.icmp_unsigned(">" if reverse else "<", high, low)
            exchange = self.routine.block("exchange")
            self.builder.cbranch(swap, exchange, leave)
            self.builder.position_at_end(exchange)
            for place in (high_at, low_at):
                result.flip(place, width, self.builder.xor(high, low))

    def reduce(self, node: Reduce) -> Value:
        match node.kind:
            case "any" | "all":
                return self._any_or_all(node)
            case "sum":
                return self._sum(node)
            case "min" | "max":
                return self._best(node)
            case "set":
                return self._set_of(node)
            case "seq":
                return self._seq_of(node)
        return self._map_of(node)

    def generate(self, node: Reduce, body: Callable[[], None], depth: int = 0) -> None:
        """The nested loops of a comprehension, with ``body`` inside."""
        if depth == len(node.generators):
            body()
            return
        generator = node.generators[depth]
        kind = generator.variable.type
        is_divided = node is self._divided and depth == 0
        with self._those_to_do(kind) if is_divided else self.over(generator.domain, kind) as (value, onward, _):
            self.builder.store(value, self.routine.variable(generator.variable))
            for condition in generator.conditions:
                self.routine.skip_unless(self.emit(condition), onward)
            self.generate(node, body, depth + 1)

    def _any_or_all(self, node: Reduce) -> Value:
        looking_for = node.kind == "any"
        result = self.routine.room(I1, node.kind)
        self.builder.store(const(int(not looking_for), I1), result)
        leave = self.routine.block("found")

        def body() -> None:
            value = self.emit(node.body)
            hit, onward = self.routine.block("hit"), self.routine.block("miss")
            if looking_for:
                self.builder.cbranch(value, hit, onward)
            else:
                self.builder.cbranch(value, onward, hit)
            self.builder.position_at_end(hit)
            self.builder.store(const(int(looking_for), I1), result)
            self.builder.branch(leave)
            self.builder.position_at_end(onward)

        self.generate(node, body)
        self.builder.branch(leave)
        self.builder.position_at_end(leave)
        return self.builder.load(result)

    def _sum(self, node: Reduce) -> Value:
        result = self.routine.room(I64, "sum")
        self.builder.store(const(0), result)

        def body() -> None:
            value, total = self.emit(node.body), self.builder.load(result)
            add = self.builder.add if not may_outgrow(node) else lambda a, b: self.routine.exactly("+", a, b)
            self.builder.store(add(total, value), result)

        self.generate(node, body)
        return self.builder.load(result)

    def _best(self, node: Reduce) -> Value:
        result, some = self.routine.room(I64, node.kind), self.routine.room(I1, "some")
        self.builder.store(const(0, I1), some)
        self.builder.store(const(0), result)

        def body() -> None:
            value, best = self.emit(node.body), self.builder.load(result)
            better = self.builder.icmp_signed(">" if node.kind == "max" else "<", value, best)
            first = self.builder.not_(self.builder.load(some))
            self.builder.store(self.builder.select(self.builder.or_(first, better), value, best), result)
            self.builder.store(const(1, I1), some)

        self.generate(node, body)
        if node.default is None:
            self.routine.fail_unless(self.builder.load(some))
        else:
            with self.routine.when(self.builder.not_(self.builder.load(some))):
                self.builder.store(self.emit(node.default), result)
        return self.builder.load(result)

    def _set_of(self, node: Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, SetType)
        result = self.routine.room(register(kind.bits), "set")
        self.builder.store(const(0, register(kind.bits)), result)

        def body() -> None:
            item = code_of(self.builder, kind.element, self.emit(node.body))
            self.builder.store(containers.with_element(self.routine, kind, self.builder.load(result), item), result)

        self.generate(node, body)
        return self.builder.load(result)

    def _seq_of(self, node: Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        result, count = windows.blank(self.routine, register(kind.bits)), self.routine.room(I64, "count")
        self.builder.store(const(0), count)

        def body() -> None:
            index = self.builder.load(count)
            containers.append(self.routine, kind, result, index, self.emit(node.body))
            self.builder.store(self.builder.add(index, const(1)), count)

        self.generate(node, body)
        length = resize(self.builder, self.builder.load(count), register(kind.bits))
        return self.builder.or_(result.code(), length)

    def _map_of(self, node: Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, MapType) and node.key is not None
        result = windows.blank(self.routine, register(kind.bits))

        def body() -> None:
            assert node.key is not None
            value = code_of(self.builder, kind.value, self.emit(node.body))
            result.write(elements.map_offset(self.routine, kind, self.emit(node.key)), kind.value.bits, value)

        self.generate(node, body)
        return result.code()
