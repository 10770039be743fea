"""The machine code that counts coverage: ``cover`` looks at one state, its properties, and all steps from it.

    cover(state*, after*, context*)   after: room for one state

``context`` is an array of 64-bit words: one for each mark of the largest part, which are set while a step is taken or a
property evaluated, then the counts, one for each mark of each part, and for each part how often it was complete. What
fails counts nothing: the real code reports the failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I64, Value, const
from floodmark.checkers.codegen.model_module import CodePart, Symbols, choose, function_in
from floodmark.checkers.codegen.statements import MarkPlaces, Statements
from floodmark.compiler.fingerprint import Fingerprints
from floodmark.compiler.layout import Layout
from floodmark.compiler.marks import CoverageMark, MarkedAction, MarkedPredicate

COVER = "cover"


@dataclass(frozen=True, slots=True)
class CoverageInterface:
    """The positions of the counts of each part in the context: ``firsts`` of its marks, ``wholes`` for the part itself.
    """

    parts: tuple[MarkedAction | MarkedPredicate, ...]
    firsts: tuple[int, ...]
    wholes: tuple[int, ...]
    words: int

    def marks(self) -> list[tuple[MarkedAction | MarkedPredicate, CoverageMark, int]]:
        """Each mark with its part and its place in the context."""
        return [
            (part, mark, first + number)
            for part, first in zip(self.parts, self.firsts, strict=True)
            for number, mark in enumerate(part.marks)
        ]


def coverage_interface(parts: Sequence[MarkedAction | MarkedPredicate]) -> CoverageInterface:
    """The arrangement of the counts of these parts."""
    place = max((len(part.marks) for part in parts), default=0)
    firsts = []
    for part in parts:
        firsts.append(place)
        place += len(part.marks)
    wholes = tuple(range(place, place + len(parts)))
    return CoverageInterface(tuple(parts), tuple(firsts), wholes, place + len(parts))


def coverage_parts(name: str, layout: Layout, interface: CoverageInterface) -> list[CodePart]:
    """The functions that count: one for each part, and ``cover``."""
    return _Parts(name, layout, interface).all()


class _Parts:
    def __init__(self, name: str, layout: Layout, interface: CoverageInterface) -> None:
        self.name = name
        self.layout = layout
        self.interface = interface
        self.words = layout.words
        self.fingerprints = Fingerprints(layout)
        symbols = Symbols()
        self.symbols = [symbols.new(f"{COVER}.{_role(part)}", part.name) for part in interface.parts]
        self.of_steps = [
            symbol
            for part, symbol in zip(interface.parts, self.symbols, strict=True)
            if isinstance(part, MarkedPredicate) and part.kind == "transition"
        ]

    def all(self) -> list[CodePart]:
        made = []
        for number, (part, symbol) in enumerate(zip(self.interface.parts, self.symbols, strict=True)):
            made.append(
                self._action(part, symbol, number)
                if isinstance(part, MarkedAction)
                else self._predicate(part, symbol, number)
            )
        made.append(self._cover())
        return made

    def _cover(self) -> CodePart:
        asked = [
            (symbol, isinstance(part, MarkedAction))
            for part, symbol in zip(self.interface.parts, self.symbols, strict=True)
            if symbol not in self.of_steps
        ]

        def emit(module: ir.Module) -> None:
            function = function_in(module, COVER, I64, 3)
            builder = ir.IRBuilder(function.append_basic_block("entry"))
            state, after, context = function.args
            for symbol, is_action in asked:
                given = [state, after, context] if is_action else [state, context]
                builder.call(function_in(module, symbol, I64, len(given)), given)
            builder.ret(const(0))

        return CodePart(COVER, self.fingerprints.of(COVER, [list(each) for each in asked]), emit)

    def _code(self, function: ir.Function, number: int) -> Statements:
        code = Statements(function, self.layout, function.args[-1], 0)
        code.marks = MarkPlaces(0, self.interface.firsts[number])
        return code

    def _pointers(self, code: Statements, base: Value) -> list[Value]:
        return [code.builder.gep(base, [const(index)]) for index in range(self.words)]

    def _clear(self, code: Statements, number: int) -> None:
        """Takes back all marks of a part."""
        with code.routine.counting(const(0), const(len(self.interface.parts[number].marks))) as (index, _, _):
            code.builder.store(const(0), code.builder.gep(code.context, [index]))

    def _count(self, code: Statements, number: int) -> None:
        """Adds the marks of a part to its counts: it is complete."""
        builder, first = code.builder, self.interface.firsts[number]
        with code.routine.counting(const(0), const(len(self.interface.parts[number].marks))) as (index, _, _):
            place = builder.gep(code.context, [builder.add(index, const(first))])
            mark = builder.load(builder.gep(code.context, [index]))
            builder.store(builder.add(builder.load(place), mark), place)
        whole = builder.gep(code.context, [const(self.interface.wholes[number])])
        builder.store(builder.add(builder.load(whole), const(1)), whole)

    def _key(self, part: MarkedAction | MarkedPredicate, symbol: str) -> str:
        """The key of a part. The positions of its counts follow from the marks of all parts, whose keys are used
        together."""
        marks = len(part.marks)
        if isinstance(part, MarkedPredicate):
            return self.fingerprints.of(symbol, marks, part.value)
        order = part.order
        choices = [[choice.parameter, choice.domain, choice.guards] for choice in order.choices]
        return self.fingerprints.of(symbol, marks, order.first, choices, part.body, self.of_steps)

    def _predicate(self, part: MarkedPredicate, symbol: str, number: int) -> CodePart:
        """(state*, context*) or (old*, new*, context*)."""
        transition = part.kind == "transition"

        def emit(module: ir.Module) -> None:
            function = function_in(module, symbol, I64, 3 if transition else 2)
            code = self._code(function, number)
            leave = code.routine.block("failed")
            code.routine.failed = leave
            ir.IRBuilder(leave).ret(const(0))
            code.states.words["new"] = self._pointers(code, function.args[-2])
            if transition:
                code.states.words["old"] = self._pointers(code, function.args[0])
            self._clear(code, number)
            code.expressions.emit(part.value)
            self._count(code, number)
            code.builder.ret(const(0))
            code.routine.finish()

        return CodePart(symbol, self._key(part, symbol), emit)

    def _action(self, part: MarkedAction, symbol: str, number: int) -> CodePart:
        return CodePart(
            symbol, self._key(part, symbol), lambda module: self._emit_action(module, part, symbol, number)
        )

    def _emit_action(self, module: ir.Module, part: MarkedAction, symbol: str, number: int) -> None:
        """(state*, after*, context*): takes all steps of an action, one after the other."""
        function = function_in(module, symbol, I64, 3)
        state, after, context = function.args
        code = self._code(function, number)
        before = [code.routine.room(I64, f"before{index}") for index in range(self.words)]
        words = [code.routine.room(I64, f"word{index}") for index in range(self.words)]
        original = [code.builder.load(pointer) for pointer in self._pointers(code, state)]
        for place, value in zip(before, original, strict=True):
            code.builder.store(value, place)
        code.states.words["new"] = before
        done = code.routine.block("done")
        with ExitStack() as loops:
            onward = choose(code, part.order, loops, done, records=False)
            code.abandoned = code.routine.failed = onward
            for word, value in zip(words, original, strict=True):
                code.builder.store(value, word)
            code.states.words["new"] = words
            self._clear(code, number)
            code.run(part.body)
            self._count(code, number)
            for word, target in zip(words, self._pointers(code, after), strict=True):
                code.builder.store(code.builder.load(word), target)
            for name in self.of_steps:
                code.builder.call(function_in(module, name, I64, 3), [state, after, context])
            code.builder.branch(onward)
        if not code.builder.block.is_terminated:
            code.builder.branch(done)
        code.builder.position_at_end(done)
        code.builder.ret(const(0))
        code.routine.finish()


def _role(part: MarkedAction | MarkedPredicate) -> str:
    return "action" if isinstance(part, MarkedAction) else part.kind
