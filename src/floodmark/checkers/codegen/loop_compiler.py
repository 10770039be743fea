"""A small compiler for the fixed loops of the search: from typed Python functions over 64-bit words to LLVM.

The language has what the loops need: unsigned 64-bit words (``Word``), arrays of these (``Words``) and of 32-bit cells
(``Cells``), assignment, while, if, ``for i in range``, and calls of each other. It exists because the loops are
specialised for the width of a state, and because LLVM is loaded anyway: a second compiler takes many times as long to
start.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, I64

I8 = ir.LlvmIntType(8)
I32 = ir.LlvmIntType(32)
WINDOW = 8
"""Cells that ``fitting`` looks at together."""


Word = int
"""An unsigned 64-bit integer."""


class Words:
    """An array of 64-bit words."""

    def __getitem__(self, index: int) -> int:
        raise NotImplementedError

    def __setitem__(self, index: int, value: int) -> None:
        raise NotImplementedError


class Cells(Words):
    """An array of 32-bit cells."""


# Operations that the compiler knows; the bodies never run.


def words_at(address: int) -> Words:
    """The array of words at an address."""
    raise NotImplementedError


def cells_at(address: int) -> Cells:
    """The array of cells at an address."""
    raise NotImplementedError


def offset(array: Words, index: int) -> Words:
    """The array that starts at an element of another."""
    raise NotImplementedError


def peek(address: int) -> int:
    """The word at an address, which may be any byte's."""
    raise NotImplementedError


def poke(address: int, value: int) -> None:
    """Sets the word at an address, which may be any byte's."""
    raise NotImplementedError


def fitting(array: Cells, index: int, kept: int, wanted: int) -> int:
    """Reads ``WINDOW`` cells that no other thread may write, from an element on. Bit i of the result says whether the
    i-th is zero, or is ``wanted`` in the bits that are ``kept``."""
    raise NotImplementedError


def lowest_bit(word: int) -> int:
    """The place of the lowest bit that is set in a word, which is not zero."""
    raise NotImplementedError


def bits_in(word: int) -> int:
    """The number of bits that are set in a word."""
    raise NotImplementedError


def deposited(bits: int, mask: int) -> int:
    """The lowest bits of a word, at the places of the bits that are set in a mask. Only processors with BMI2 can."""
    raise NotImplementedError


def prefetch(array: Words, index: int) -> None:
    """Tells the processor to load an element into its cache."""
    raise NotImplementedError


def acquire(array: Words, index: int) -> int:
    """Reads an element that another thread publishes with ``release``."""
    raise NotImplementedError


def release(array: Words, index: int, value: int) -> None:
    """Publishes an element, and all that was written before it, to other threads."""
    raise NotImplementedError


def claim(array: Words, index: int, amount: int) -> int:
    """Atomically adds to an element that other threads add to as well; returns its value before."""
    raise NotImplementedError


def put_if_zero(array: Cells, index: int, value: int) -> int:
    """Sets a cell if it is zero, unless another thread does so first; returns its value before. Publishes as
    ``release`` does."""
    raise NotImplementedError


def call_model(address: int, *arguments: Words | int) -> int:
    """Calls a function of the model's machine code."""
    raise NotImplementedError


_TYPES: dict[str, ir.LlvmType] = {"Word": I64, "Words": I64.as_pointer(), "Cells": I32.as_pointer(), "int": I64}
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "lshr",
    ast.FloorDiv: "udiv",
    ast.Mod: "urem",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def compile_loops(functions: list[Callable[..., Any]], constants: Mapping[str, int]) -> ir.Module:
    """The LLVM module of functions, each of which may call those before it; ``constants`` specialise them.

    The last function is exported, the others are internal.
    """
    module = ir.Module("loops")
    known: dict[str, ir.Function] = {}
    for number, function in enumerate(functions):
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        parameters = [_TYPES[ast.unparse(a.annotation)] for a in tree.args.args if a.annotation is not None]
        result = "None" if tree.returns is None else ast.unparse(tree.returns)
        returns = ir.VoidType() if result == "None" else _TYPES[result]
        built = ir.Function(module, ir.FunctionType(returns, parameters), function.__name__)
        built.attributes.append("nounwind")
        exported = getattr(function, "exported", False) or number == len(functions) - 1
        if not exported:
            built.linkage = "internal"
            built.attributes.append("noinline" if getattr(function, "apart", False) else "alwaysinline")
        known[function.__name__] = built
        names = {**{k: v for k, v in function.__globals__.items() if isinstance(v, int)}, **constants}
        _FunctionCompiler(built, tree, known, names).compile()
    return module


def exported(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a loop that Python calls."""
    function.exported = True  # type: ignore[attr-defined]
    return function


def apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a loop that is not inlined. The constants of its vector instructions are then loaded when it is called, and
    not again after each call of the model's code by its caller."""
    function.apart = True  # type: ignore[attr-defined]
    return function


class _FunctionCompiler:
    """Compiles one function."""

    def __init__(
        self, function: ir.Function, tree: ast.FunctionDef, known: Mapping[str, ir.Function], names: Mapping[str, int]
    ) -> None:
        self.function = function
        self.tree = tree
        self.known = known
        self.names = names
        self.entry = function.append_basic_block("entry")
        self.builder = ir.IRBuilder(function.append_basic_block("body"))
        self.first = self.builder.block
        self.locals: dict[str, Any] = {}
        self.exits: list[ir.Block] = []

    def compile(self) -> None:
        for argument, parameter in zip(self.function.args, self.tree.args.args, strict=True):
            self.assign(parameter.arg, argument)
        self.block(self.tree.body)
        if not self.builder.block.is_terminated:
            if isinstance(self.function.function_type.return_type, ir.VoidType):
                self.builder.ret_void()
            else:
                self.builder.unreachable()
        ir.IRBuilder(self.entry).branch(self.first)

    def assign(self, name: str, value: Any) -> None:
        if name not in self.locals:
            self.locals[name] = ir.IRBuilder(self.entry).alloca(value.type, name=name)
        self.builder.store(value, self.locals[name])

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value):
                self.value(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.assign(name, self.value(value))
            case ast.Assign(targets=[ast.Subscript() as place], value=value):
                self.store(place, self.value(value))
            case ast.If():
                self.branch(node)
            case ast.While(test=test, body=body):
                self.loop(test, body)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=[stop]), body=body):
                self.assign(name, ir.LlvmConstant(I64, 0))
                bound = self.value(stop)
                self.loop(
                    lambda: self.builder.icmp_unsigned("<", self.builder.load(self.locals[name]), bound), body, name
                )
            case ast.Return(value=value) if value is not None:
                self.builder.ret(self.value(value))
            case ast.Break():
                self.builder.branch(self.exits[-1])
            case _:
                raise TypeError(f"loops have no {ast.unparse(node)}")

    def branch(self, node: ast.If) -> None:
        then, otherwise, after = (self.function.append_basic_block(name) for name in ("then", "else", "after"))
        self.builder.cbranch(self.flag(node.test), then, otherwise)
        for block, body in ((then, node.body), (otherwise, node.orelse)):
            self.builder.position_at_end(block)
            self.block(body)
            if not self.builder.block.is_terminated:
                self.builder.branch(after)
        self.builder.position_at_end(after)

    def loop(self, test: ast.expr | Callable[[], Any], body: list[ast.stmt], counter: str | None = None) -> None:
        head, inside, onward, leave = (self.function.append_basic_block(n) for n in ("head", "loop", "next", "leave"))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.builder.cbranch(self.flag(test) if isinstance(test, ast.expr) else test(), inside, leave)
        self.builder.position_at_end(inside)
        self.exits.append(leave)
        self.block(body)
        self.exits.pop()
        if not self.builder.block.is_terminated:
            self.builder.branch(onward)
        self.builder.position_at_end(onward)
        if counter is not None:
            self.assign(counter, self.builder.add(self.builder.load(self.locals[counter]), ir.LlvmConstant(I64, 1)))
        self.builder.branch(head)
        self.builder.position_at_end(leave)

    def flag(self, node: ast.expr) -> Any:
        match node:
            case ast.BoolOp(op=op, values=values):
                return self.chain(values, isinstance(op, ast.Or))
        value = self.value(node)
        return value if value.type == I1 else self.builder.icmp_unsigned("!=", value, ir.LlvmConstant(I64, 0))

    def chain(self, values: list[ast.expr], stop_at: bool) -> Any:
        result = ir.IRBuilder(self.entry).alloca(I1)
        leave = self.function.append_basic_block("decided")
        for value in values:
            flag = self.flag(value)
            self.builder.store(flag, result)
            onward = self.function.append_basic_block("operand")
            self.builder.cbranch(flag, *((leave, onward) if stop_at else (onward, leave)))
            self.builder.position_at_end(onward)
        self.builder.branch(leave)
        self.builder.position_at_end(leave)
        return self.builder.load(result)

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() as number):
                return ir.LlvmConstant(I64, number & ((1 << 64) - 1))
            case ast.Name(id=name) if name in self.locals:
                return self.builder.load(self.locals[name])
            case ast.Name(id=name):
                return ir.LlvmConstant(I64, self.names[name] & ((1 << 64) - 1))
            case ast.BinOp(left=left, op=op, right=right):
                return getattr(self.builder, _BINARY[type(op)])(self.value(left), self.value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.builder.icmp_unsigned(_COMPARE[type(op)], self.value(left), self.value(right))
            case ast.BoolOp():
                return self.flag(node)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return self.builder.not_(self.value(operand))
            case ast.Subscript(value=array, slice=index):
                loaded = self.builder.load(self.builder.gep(self.value(array), [self.value(index)]))
                return loaded if loaded.type == I64 else self.builder.zext(loaded, I64)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self.call(name, arguments)
        raise TypeError(f"loops have no {ast.unparse(node)}")

    def store(self, place: ast.Subscript, value: Any) -> None:
        target = self.builder.gep(self.value(place.value), [self.value(place.slice)])
        if target.type.pointee != value.type:
            value = self.builder.trunc(value, target.type.pointee)
        self.builder.store(value, target)

    def call(self, name: str, arguments: list[ast.expr]) -> Any:
        if name in self.known:
            return self.builder.call(self.known[name], [self.value(argument) for argument in arguments])
        values = [self.value(argument) for argument in arguments]
        match name:
            case "words_at":
                return self.builder.inttoptr(values[0], I64.as_pointer())
            case "cells_at":
                return self.builder.inttoptr(values[0], I32.as_pointer())
            case "offset":
                return self.builder.gep(values[0], [values[1]])
            case "peek":
                return self.builder.load(self.builder.inttoptr(values[0], I64.as_pointer()), align=1)
            case "poke":
                return self.builder.store(values[1], self.builder.inttoptr(values[0], I64.as_pointer()), align=1)
            case "acquire":
                place = self.builder.gep(values[0], [values[1]])
                loaded = self.builder.load_atomic(place, "acquire", place.type.pointee.width // 8)
                return loaded if loaded.type == I64 else self.builder.zext(loaded, I64)
            case "claim":
                return self.builder.atomic_rmw("add", self.builder.gep(values[0], [values[1]]), values[2], "acq_rel")
            case "put_if_zero":
                place = self.builder.gep(values[0], [values[1]])
                value = self.builder.trunc(values[2], I32)
                result = self.builder.cmpxchg(place, ir.LlvmConstant(I32, 0), value, "acq_rel", "acquire")
                return self.builder.zext(self.builder.extract_value(result, 0), I64)
            case "release":
                return self.builder.store_atomic(values[2], self.builder.gep(values[0], [values[1]]), "release", 8)
            case "fitting":
                return self._fitting(self.builder.gep(values[0], [values[1]]), values[2], values[3])
            case "lowest_bit":
                return self.builder.cttz(values[0], ir.LlvmConstant(I1, 1))
            case "bits_in":
                return self._intrinsic("llvm.ctpop.i64", values)
            case "deposited":
                return self._intrinsic("llvm.x86.bmi.pdep.64", values)
            case "prefetch":
                return self._prefetch(self.builder.gep(values[0], [values[1]]))
            case "call_model":
                kind = ir.FunctionType(I64, [value.type for value in values[1:]])
                return self.builder.call(self.builder.inttoptr(values[0], kind.as_pointer()), values[1:])
        raise TypeError(f"loops have no function {name}")

    def _fitting(self, first: Any, of_kept: Any, of_wanted: Any) -> Any:
        window = ir.VectorType(I32, WINDOW)
        cells = self.builder.load(self.builder.bitcast(first, window.as_pointer()), align=4)
        kept, wanted = (self.builder.splat(self.builder.trunc(value, I32), WINDOW) for value in (of_kept, of_wanted))
        there = self.builder.same_lanes(self.builder.and_(cells, kept), wanted)
        empty = self.builder.same_lanes(cells, self.builder.splat(ir.LlvmConstant(I32, 0), WINDOW))
        return self.builder.zext(self.builder.or_(there, empty), I64)

    def _intrinsic(self, name: str, values: list[Any]) -> Any:
        return self.builder.call(self.function.module.declared(name, I64, [I64] * len(values)), values)

    def _prefetch(self, pointer: Any) -> Any:
        byte = I8.as_pointer()
        function = self.function.module.declared("llvm.prefetch.p0", ir.VoidType(), [byte, I32, I32, I32])
        flags = [ir.LlvmConstant(I32, value) for value in (0, 3, 1)]
        return self.builder.call(function, [self.builder.bitcast(pointer, byte), *flags])
