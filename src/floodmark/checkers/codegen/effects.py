"""Emits LLVM code for statements: how an action changes the new state, and inlined calls."""

from __future__ import annotations

from typing import Any, assert_never

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I64, Value, code_of, const, cut, held, put, register, resize
from floodmark.checkers.codegen.emitter import Emitter, field_place
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
)
from floodmark.compiler.layout import Layout
from floodmark.language.types import MapType, SeqType, Type

_DONE, _FAILED, _ABANDONED = range(3)
"""How a function ended: at its end, by a failure of the model, or by a ``require`` that is false."""


class Effects(Emitter):
    """An emitter that also runs statements."""

    def __init__(self, function: ir.Function, layout: Layout, context: Value, first_premise: int) -> None:
        super().__init__(function, layout, context)
        self.first_premise = first_premise
        self.abandoned: ir.Block | None = None
        self.symbol = function.name
        self.functions: dict[int, ir.Function] = {}
        """The functions in the module so far, by the identities of the called functions."""
        self._returns: list[ir.Block] = []
        self._loops: list[tuple[ir.Block, ir.Block]] = []

    def see_premise(self, index: int) -> None:
        place = self.builder.gep(self.context, [const(self.first_premise + index)])
        self.builder.store(const(1), place)

    def run(self, body: list[Stmt]) -> None:
        """Runs statements; leaves the builder at their end."""
        leave = self.block("returned")
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
                self.builder.store(self.emit(value), self.variable(target))
            case SetVariable():
                self._store(node)
            case If():
                self._if(node)
            case For(variable=variable, domain=domain, body=body):
                with self.over(domain, variable.type) as (value, onward, leave):
                    self.builder.store(value, self.variable(variable))
                    self._loops.append((onward, leave))
                    self._block(body)
                    self._loops.pop()
            case Require(condition=condition):
                assert self.abandoned is not None
                good = self.block("required")
                self.builder.cbranch(self.emit(condition), good, self.abandoned)
                self.builder.position_at_end(good)
            case Assert(condition=condition):
                self.fail_unless(self.emit(condition))
            case Return(value=value, into=into):
                if value is not None and into is not None:
                    self.builder.store(self.emit(value), self.variable(into))
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
        then, otherwise, after = self.block("then"), self.block("else"), self.block("after")
        self.builder.cbranch(self.emit(node.condition), then, otherwise)
        for block, body in ((then, node.then), (otherwise, node.otherwise)):
            self.builder.position_at_end(block)
            self._block(body)
            if not self.builder.block.is_terminated:
                self.builder.branch(after)
        self.builder.position_at_end(after)

    def visit_inline(self, node: Inline) -> Value:
        self.run(node.body)
        assert node.result is not None
        return self.builder.load(self.variable(node.result))

    # Functions that calls share.

    def visit_applied(self, node: Applied) -> Value:
        result = self._apply(node)
        assert result is not None
        return self.builder.load(result)

    def _apply(self, node: Applied) -> Value | None:
        """Calls a function of its own; returns where its result is. It has the words of the state at the same places,
        so what it changes is changed for the caller."""
        arguments = [self.emit(argument) for argument in node.arguments]
        wanted = node.function.result
        results = [] if wanted is None else [self.room(held(wanted.type), "result")]
        states = [*self.words["new"], *self.words.get("old", [])]
        ended = self.builder.call(self._function_of(node.function), [self.context, *states, *results, *arguments])
        done, ended_early = self.block("done"), self.block("ended")
        self.builder.cbranch(self.builder.icmp_unsigned("==", ended, const(_DONE)), done, ended_early)
        self.builder.position_at_end(ended_early)
        assert self.failed is not None
        if self.abandoned is None:
            self.builder.branch(self.failed)
        else:
            failed = self.builder.icmp_unsigned("==", ended, const(_FAILED))
            self.builder.cbranch(failed, self.failed, self.abandoned)
        self.builder.position_at_end(done)
        return results[0] if results else None

    def _function_of(self, called: SharedFunction) -> ir.Function:
        """(context*, new state's words*, old state's words*, result*, arguments) -> how it ended."""
        known = self.functions.get(id(called))
        if known is not None:
            return known
        states = [*self.words["new"], *self.words.get("old", [])]
        results = [] if called.result is None else [held(called.result.type).as_pointer()]
        kinds = [self.context.type, *(word.type for word in states), *results]
        kinds += [held(parameter.type) for parameter in called.parameters]
        name = f"{self.symbol}.call.{len(self.functions)}"
        made = ir.Function(self.function.module, ir.FunctionType(I64, kinds), name)
        made.linkage = "internal"
        made.attributes += ["nounwind", "noinline"]
        self.functions[id(called)] = made
        inner = Effects(made, self.layout, made.args[0], self.first_premise)
        inner.functions, inner.symbol = self.functions, self.symbol
        inner.emit_function(called, {which: len(words) for which, words in self.words.items()})
        return made

    def emit_function(self, called: SharedFunction, words: dict[str, int]) -> None:
        """The function itself, where the states have so many words."""
        given = iter(self.function.args[1:])
        for which in ("new", "old"):
            if which in words:
                self.bind_words(which, [next(given) for _ in range(words[which])])
        result = None if called.result is None else next(given)
        for parameter, value in zip(called.parameters, given, strict=True):
            self.builder.store(value, self.variable(parameter))
        self.failed, self.abandoned = self.block("failed"), self.block("abandoned")
        ir.IRBuilder(self.failed).ret(const(_FAILED))
        ir.IRBuilder(self.abandoned).ret(const(_ABANDONED))
        self.run(called.body)
        if result is not None:
            assert called.result is not None
            self.builder.store(self.builder.load(self.variable(called.result)), result)
        self.builder.ret(const(_DONE))
        self.finish()

    def _store(self, node: SetVariable) -> None:
        kind = self.layout.variables[node.variable]
        value = self.emit(node.value)
        if not node.path:
            self.write_code(
                node.variable, resize(self.builder, code_of(self.builder, kind, value), register(kind.bits))
            )
            return
        code = self.read_code(node.variable, "new")
        self.write_code(node.variable, self._updated(kind, code, node.path, value))

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
                offset, of = self.map_offset(container, self.emit(key)), container.value
            case ItemStep(container=SeqType() as container, key=key):
                index = self.seq_index(container, code, self.emit(key))
                offset, of = self.seq_offset(container, index), container.element
            case _:
                raise AssertionError(step)
        if isinstance(offset, int):
            inner = cut(self.builder, code, offset, of.bits)
            return put(self.builder, code, offset, of.bits, self._updated(of, inner, rest, value))
        window = self.window(code)
        window.replace(offset, of.bits, self._updated(of, window.cut(offset, of.bits), rest, value))
        return window.code()
