"""Emits LLVM code for statements: how an action changes the new state, and inlined calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_never

from floodmark.checkers.codegen import elements, windows
from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import (
    I1,
    I64,
    Value,
    code_of,
    const,
    cut,
    put,
    register,
    register_of,
    resize,
    shifted_left,
    value_of,
)
from floodmark.checkers.codegen.expressions import Expressions, field_place
from floodmark.checkers.codegen.footprint import footprint
from floodmark.checkers.codegen.memory import Memory, MemoryEntry, words_of
from floodmark.checkers.codegen.routine import Routine
from floodmark.checkers.codegen.state_words import StateWords
from floodmark.compiler.ir import (
    Applied,
    Assert,
    Break,
    Continue,
    Do,
    FieldStep,
    For,
    If,
    Inline,
    ItemStep,
    Require,
    Return,
    SetLocal,
    SetVariable,
    SharedFunction,
    Stmt,
    Which,
)
from floodmark.compiler.layout import Layout
from floodmark.language.types import MapType, SeqType, Type

_DONE, _FAILED, _ABANDONED = range(3)
"""The ends of a function: normal, by a failure of the model, or by a ``require`` that is false."""
_FAILED_TO_JUDGE = 2
"""The result of a predicate whose evaluation fails, besides 0 for false and 1 for true."""


@dataclass(frozen=True, slots=True)
class MarkPlaces:
    """The positions in the context of the marks of an action or a property: the flags that are set, and the counters.
    """

    flags: int
    counts: int


class Statements:
    """Runs statements in a routine of its own.

    ``context`` is the array in which ``first_premise`` is the place of the first premise, and in which ``memory`` has
    its places. ``abandoned`` is where a ``require`` that is false leads.
    """

    def __init__(
        self, function: ir.Function, layout: Layout, context: Value, first_premise: int, memory: Memory | None = None
    ) -> None:
        self.routine = Routine(function)
        self.builder = self.routine.builder
        self.states = StateWords(self.builder, layout)
        self.expressions = Expressions(self.routine, self.states, self)
        self.context = context
        self.first_premise = first_premise
        self.memory = memory
        self.marks: MarkPlaces | None = None
        """The positions of marks, in code that counts coverage."""
        self.abandoned: ir.Block | None = None
        self.symbol = function.name
        self.functions: dict[int, ir.Function] = {}
        """The functions in the module so far, by the identities of the called functions."""
        self._returns: list[ir.Block] = []
        self._loops: list[tuple[ir.Block, ir.Block]] = []

    def see_premise(self, index: int) -> None:
        self.builder.store(const(1), self._premise(index))

    def is_premise_seen(self, index: int) -> Value:
        return self.builder.icmp_unsigned("!=", self.builder.load(self._premise(index)), const(0))

    def _premise(self, index: int) -> Value:
        return self.builder.gep(self.context, [const(self.first_premise + index)])

    def set_mark(self, mark: int, counted: bool) -> None:
        assert self.marks is not None
        if not counted:
            self.builder.store(const(1), self.builder.gep(self.context, [const(self.marks.flags + mark)]))
            return
        place = self.builder.gep(self.context, [const(self.marks.counts + mark)])
        self.builder.store(self.builder.add(self.builder.load(place), const(1)), place)

    def run(self, body: list[Stmt]) -> None:
        """Runs statements; leaves the builder at their end."""
        leave = self.routine.block("returned")
        self._returns.append(leave)
        self._block(body)
        self._returns.pop()
        if not self.builder.block.is_terminated:
            self.builder.branch(leave)
        self.builder.position_at_end(leave)

    def _block(self, body: list[Stmt]) -> None:
        for statement in body:
            outer, self.builder.place = self.builder.place, statement.at
            self._statement(statement)
            self.builder.place = outer

    def _statement(self, node: Stmt) -> None:
        match node:
            case SetLocal(target=target, value=value):
                self.builder.store(self.expressions.emit(value), self.routine.variable(target))
            case SetVariable():
                self._store(node)
            case If():
                self._if(node)
            case For(variable=variable, domain=domain, body=body):
                with self.expressions.comprehensions.over(domain, variable.type) as (value, onward, leave):
                    self.builder.store(value, self.routine.variable(variable))
                    self._loops.append((onward, leave))
                    self._block(body)
                    self._loops.pop()
            case Require(condition=condition):
                assert self.abandoned is not None
                good = self.routine.block("required")
                self.builder.cbranch(self.expressions.emit(condition), good, self.abandoned)
                self.builder.position_at_end(good)
            case Assert(condition=condition):
                self.routine.fail_unless(self.expressions.emit(condition))
            case Return(value=value, into=into):
                if value is not None and into is not None:
                    self.builder.store(self.expressions.emit(value), self.routine.variable(into))
                self.builder.branch(self._returns[-1])
            case Break():
                self.builder.branch(self._loops[-1][1])
            case Continue():
                self.builder.branch(self._loops[-1][0])
            case Do(call=call):
                if isinstance(call, Inline):
                    self.run(call.body)
                else:
                    self._apply(call)
            case _:
                assert_never(node)

    def _if(self, node: If) -> None:
        then, otherwise, after = self.routine.block("then"), self.routine.block("else"), self.routine.block("after")
        self.builder.cbranch(self.expressions.emit(node.condition), then, otherwise)
        for block, body in ((then, node.then), (otherwise, node.otherwise)):
            self.builder.position_at_end(block)
            self._block(body)
            if not self.builder.block.is_terminated:
                self.builder.branch(after)
        self.builder.position_at_end(after)

    def inline(self, node: Inline) -> Value:
        if node.remembered:
            return self._remembering(node)
        if node.of_state is not None:
            return self._image(node, node.of_state)
        if node.images:
            return self._step(node)
        self.run(node.body)
        assert node.result is not None
        return self.builder.load(self.routine.variable(node.result))

    def _place(self, node: Inline) -> MemoryEntry:
        """The place of a call in the memory."""
        assert self.memory is not None
        return self.memory.look(self.builder, self.context, node, self._key(node))

    def _key(self, node: Inline) -> list[Value]:
        """The words on which the result of a call depends: variables, or parts of states."""
        if node.images:
            return [word for image in node.images for word in self._key(image)]
        if node.of_state is None:
            variables = [(local.type, self.builder.load(self.routine.variable(local))) for local in node.remembered]
            return [word for kind, value in variables for word in self._words(kind, value)]
        words = zip(self.states.words[node.of_state], footprint(node, node.of_state, self.states.layout), strict=True)
        return [self.builder.and_(self.builder.load(word), const(mask)) for word, mask in words if mask]

    def _remembering(self, node: Inline) -> Value:
        """The result of a call, which is true without another evaluation for the variables of an earlier call."""
        place = self._place(node)
        found, again, done = self._true_unless(node, self.builder.not_(place.known))
        self.builder.position_at_end(again)
        self._evaluate(node, place)
        self.builder.branch(done)
        self.builder.position_at_end(done)
        return self.builder.load(found)

    def _evaluate(self, node: Inline, place: MemoryEntry) -> None:
        """Evaluates a call, and remembers that it is true."""
        assert node.result is not None
        self.run(node.body)
        remember, done = self.routine.block("remember"), self.routine.block("evaluated")
        self.builder.cbranch(self.builder.load(self.routine.variable(node.result)), remember, done)
        self.builder.position_at_end(remember)
        place.keep(self.builder, [])
        self.builder.branch(done)
        self.builder.position_at_end(done)

    def _image(self, node: Inline, which: Which) -> Value:
        """The result of a call, which is what it was for another state that is the same where the call reads it."""
        assert node.result is not None
        builder, kind, place = self.builder, node.result.type, self._place(node)
        found = self.routine.variable(node.result)
        known, again, done = (self.routine.block(name) for name in ("known", "evaluate", "done"))
        builder.cbranch(place.known, known, again)
        builder.position_at_end(known)
        code: Value = const(0, register(kind.bits))
        for index, pointer in enumerate(place.found):
            part = resize(builder, builder.load(pointer), register(kind.bits))
            code = builder.or_(code, shifted_left(builder, part, 64 * index))
        builder.store(value_of(builder, kind, code), found)
        builder.branch(done)
        builder.position_at_end(again)
        self.run(node.body)
        place.keep(builder, self._words(kind, builder.load(found)))
        builder.branch(done)
        builder.position_at_end(done)
        return builder.load(found)

    def _step(self, node: Inline) -> Value:
        """The result of a call, which is true where nothing has changed that its images read, and where it was true for
        what they read now. Mostly one of these is so, and to find that out is little enough to be done where a
        successor is made. The evaluation is in a function of its own, so that it leaves the registers to the rest."""
        builder = self.builder
        changed: Value = const(0)
        for image in node.images:
            assert image.of_state is not None
            masks = footprint(image, image.of_state, self.states.layout)
            for old, new, mask in zip(self.states.words["old"], self.states.words["new"], masks, strict=True):
                differs = builder.xor(builder.load(old), builder.load(new))
                changed = builder.or_(changed, builder.and_(differs, const(mask)))
        found, judged, done = self._true_unless(node, builder.icmp_unsigned("!=", changed, const(0)))
        builder.position_at_end(judged)
        again, went = self.routine.block("again"), self.routine.block("went")
        builder.cbranch(self._place(node).known, done, again)
        builder.position_at_end(again)
        states = [self.states.words[which][0] for which in ("old", "new")]
        ended = builder.call(self._evaluation(node), [*states, self.context])
        assert self.routine.failed is not None
        builder.cbranch(builder.icmp_unsigned("==", ended, const(_FAILED_TO_JUDGE)), self.routine.failed, went)
        builder.position_at_end(went)
        builder.store(builder.icmp_unsigned("==", ended, const(1)), found)
        builder.branch(done)
        builder.position_at_end(done)
        return builder.load(found)

    def _evaluation(self, node: Inline) -> ir.Function:
        """(old state*, new state*, context*) -> the result of a call, or that it failed, which is not remembered."""
        assert node.result is not None
        known = self.functions.get(id(node))
        if known is not None:
            return known
        old, new = (self.states.words[which] for which in ("old", "new"))
        kinds = [old[0].type, new[0].type, self.context.type]
        name = f"{self.symbol}.call.{len(self.functions)}"
        self.functions[id(node)] = made = ir.Function(self.routine.function.module, ir.FunctionType(I64, kinds), name)
        made.linkage = "internal"
        made.attributes += ["nounwind", "noinline", "cold"]
        inner = Statements(made, self.states.layout, made.args[2], self.first_premise, self.memory)
        inner.functions, inner.symbol = self.functions, self.symbol
        for which, base, words in (("old", made.args[0], old), ("new", made.args[1], new)):
            inner.states.words[which] = [inner.builder.gep(base, [const(index)]) for index in range(len(words))]
        inner.routine.failed = inner.routine.block("failed")
        ir.IRBuilder(inner.routine.failed).ret(const(_FAILED_TO_JUDGE))
        inner._evaluate(node, inner._place(node))
        inner.builder.ret(inner.builder.zext(inner.builder.load(inner.routine.variable(node.result)), I64))
        inner.routine.finish()
        return made

    def _true_unless(self, node: Inline, condition: Value) -> tuple[Value, ir.Block, ir.Block]:
        """Makes the result of a call true, and leads to its evaluation where a condition is true: where the result is,
        where the evaluation is to be, and what comes after it."""
        assert node.result is not None
        found, evaluation, done = self.routine.variable(node.result), *map(self.routine.block, ("evaluate", "done"))
        self.builder.store(const(1, I1), found)
        self.builder.cbranch(condition, evaluation, done)
        return found, evaluation, done

    def _words(self, kind: Type, value: Value) -> list[Value]:
        """The words of a value's code."""
        code = code_of(self.builder, kind, value)
        return [cut(self.builder, code, 64 * index, 64) for index in range(words_of(kind))]

    # Functions that calls share.

    def apply(self, node: Applied) -> Value:
        result = self._apply(node)
        assert result is not None
        return self.builder.load(result)

    def _apply(self, node: Applied) -> Value | None:
        """Calls a function of its own; returns where its result is. It has the words of the state at the same places,
        so what it changes is changed for the caller."""
        arguments = [self.expressions.emit(argument) for argument in node.arguments]
        wanted = node.function.result
        results = [] if wanted is None else [self.routine.room(register_of(wanted.type), "result")]
        states = [*self.states.words["new"], *self.states.words.get("old", [])]
        ended = self.builder.call(self._function_of(node.function), [self.context, *states, *results, *arguments])
        done, ended_early = self.routine.block("done"), self.routine.block("ended")
        self.builder.cbranch(self.builder.icmp_unsigned("==", ended, const(_DONE)), done, ended_early)
        self.builder.position_at_end(ended_early)
        assert self.routine.failed is not None
        if self.abandoned is None:
            self.builder.branch(self.routine.failed)
        else:
            failed = self.builder.icmp_unsigned("==", ended, const(_FAILED))
            self.builder.cbranch(failed, self.routine.failed, self.abandoned)
        self.builder.position_at_end(done)
        return results[0] if results else None

    def _function_of(self, called: SharedFunction) -> ir.Function:
        """(context*, new state's words*, old state's words*, result*, arguments) -> how it ended."""
        known = self.functions.get(id(called))
        if known is not None:
            return known
        states = [*self.states.words["new"], *self.states.words.get("old", [])]
        results = [] if called.result is None else [register_of(called.result.type).as_pointer()]
        kinds = [self.context.type, *(word.type for word in states), *results]
        kinds += [register_of(parameter.type) for parameter in called.parameters]
        name = f"{self.symbol}.call.{len(self.functions)}"
        made = ir.Function(self.routine.function.module, ir.FunctionType(I64, kinds), name)
        made.linkage = "internal"
        made.attributes += ["nounwind", "noinline"]
        self.functions[id(called)] = made
        inner = Statements(made, self.states.layout, made.args[0], self.first_premise)
        inner.functions, inner.symbol, inner.marks = self.functions, self.symbol, self.marks
        inner.emit_function(called, {which: len(words) for which, words in self.states.words.items()})
        return made

    def emit_function(self, called: SharedFunction, words: dict[str, int]) -> None:
        """The function itself, where the states have so many words."""
        given = iter(self.routine.function.args[1:])
        for which in ("new", "old"):
            if which in words:
                self.states.words[which] = [next(given) for _ in range(words[which])]
        result = None if called.result is None else next(given)
        for parameter, value in zip(called.parameters, given, strict=True):
            self.builder.store(value, self.routine.variable(parameter))
        self.routine.failed, self.abandoned = self.routine.block("failed"), self.routine.block("abandoned")
        ir.IRBuilder(self.routine.failed).ret(const(_FAILED))
        ir.IRBuilder(self.abandoned).ret(const(_ABANDONED))
        self.run(called.body)
        if result is not None:
            assert called.result is not None
            self.builder.store(self.builder.load(self.routine.variable(called.result)), result)
        self.builder.ret(const(_DONE))
        self.routine.finish()

    def _store(self, node: SetVariable) -> None:
        kind = self.states.layout.variables[node.variable]
        value = self.expressions.emit(node.value)
        if not node.path:
            self.states.write_code(
                node.variable, resize(self.builder, code_of(self.builder, kind, value), register(kind.bits))
            )
            return
        code = self.states.read_code(node.variable, "new")
        self.states.write_code(node.variable, self._updated(kind, code, node.path, value))

    def _updated(self, kind: Type, code: Value, path: list[FieldStep | ItemStep], value: Value) -> Value:
        """The code of a container after an assignment inside it."""
        if not path:
            return code_of(self.builder, kind, value)
        step, rest = path[0], path[1:]
        offset: Any
        match step:
            case FieldStep(record=record, name=name):
                offset, of = field_place(record, name)
            case ItemStep(container=MapType() as container, key=key):
                offset, of = elements.map_offset(self.routine, container, self.expressions.emit(key)), container.value
            case ItemStep(container=SeqType() as container, key=key):
                index = elements.seq_index(self.routine, container, code, self.expressions.emit(key))
                offset, of = elements.seq_offset(self.routine, container, index), container.element
            case _:
                raise AssertionError(step)
        if isinstance(offset, int):
            inner = cut(self.builder, code, offset, of.bits)
            return put(self.builder, code, offset, of.bits, self._updated(of, inner, rest, value))
        window = windows.of(self.routine, code)
        window.replace(offset, of.bits, self._updated(of, window.cut(offset, of.bits), rest, value))
        return window.code()
