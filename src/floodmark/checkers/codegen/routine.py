"""Emits one LLVM function: its frame, its blocks and loops, and its exit when the model fails."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, I64, Value, const, register_of, resize
from floodmark.compiler.ir import Local


class Routine:
    """One LLVM function under construction: its local variables, its blocks and loops, its failure block."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.entry = function.append_basic_block("entry")
        self.builder = ir.IRBuilder(self.entry)
        body = function.append_basic_block("body")
        self.leave_entry = body
        self.builder.position_at_end(body)
        self.locals: dict[int, Value] = {}
        self.failed: ir.Block | None = None

    def finish(self) -> None:
        """Closes the entry block, which only allocates variables."""
        ir.IRBuilder(self.entry).branch(self.leave_entry)

    def room(self, kind: ir.LlvmType, name: str = "") -> Value:
        """A variable in the function's frame."""
        builder = ir.IRBuilder(self.entry)
        return builder.alloca(kind, name=name)

    def variable(self, local: Local) -> Value:
        known = self.locals.get(local.slot)
        if known is None:
            known = self.locals[local.slot] = self.room(register_of(local.type), local.name)
        return known

    def block(self, name: str) -> ir.Block:
        return self.function.append_basic_block(name)

    def fail_unless(self, condition: Value) -> None:
        """Jumps to the failure block unless the condition is true: the model leaves its declared types here."""
        if isinstance(condition, ir.LlvmConstant) and condition.constant:
            return
        assert self.failed is not None
        good = self.block("good")
        self.builder.cbranch(condition, good, self.failed)
        self.builder.position_at_end(good)

    def fail(self) -> None:
        """Jumps to the failure block."""
        self.fail_unless(const(0, I1))

    def exactly(self, op: str, left: Value, right: Value) -> Value:
        """The result of ``+``, ``-`` or ``*`` on signed words; fails when it does not fit in a word."""
        checked: dict[str, Any] = {
            "+": self.builder.sadd_with_overflow,
            "-": self.builder.ssub_with_overflow,
            "*": self.builder.smul_with_overflow,
        }
        pair = checked[op](left, right)
        self.fail_unless(self.builder.not_(self.builder.extract_value(pair, 1)))
        return self.builder.extract_value(pair, 0)

    @contextmanager
    def counting(self, start: Value, stop: Value, step: int = 1, unrolled: bool = False) -> Any:
        """A loop of a 64-bit counter from start up (or down) to stop, exclusive; yields (counter, next, exit).

        The counter never wraps. Inside the loop it is before ``stop``, so one further is at most ``stop``. A longer
        step is taken only if the distance to ``stop`` is longer still; as an unsigned word that distance is exact.
        """
        counter = self.room(I64, "i")
        head, body, onward, leave = (self.block(name) for name in ("head", "loop", "next", "leave"))
        self.builder.store(start, counter)
        self.builder.branch(head)
        self.builder.position_at_end(head)
        index = self.builder.load(counter)
        more = self.builder.icmp_signed("<" if step > 0 else ">", index, stop)
        self.builder.cbranch(more, body, leave)
        self.builder.position_at_end(body)
        yield index, onward, leave
        if not self.builder.block.is_terminated:
            self.builder.branch(onward)
        self.builder.position_at_end(onward)
        if abs(step) > 1:
            rest = self.builder.sub(stop, index) if step > 0 else self.builder.sub(index, stop)
            further = self.block("further")
            self.builder.cbranch(self.builder.icmp_unsigned(">", rest, const(abs(step))), further, leave)
            self.builder.position_at_end(further)
        self.builder.store(self.builder.add(index, const(step)), counter)
        self.builder.repeat(head, unrolled)
        self.builder.position_at_end(leave)

    @contextmanager
    def set_bits(self, mask: Value) -> Any:
        """A loop over the set bits of a register, from the lowest up; yields (position, next, exit)."""
        kind = mask.type
        rest = self.room(kind, "rest")
        head, body, onward, leave = (self.block(name) for name in ("bits", "bit", "next", "leave"))
        self.builder.store(mask, rest)
        self.builder.branch(head)
        self.builder.position_at_end(head)
        left = self.builder.load(rest)
        self.builder.cbranch(self.builder.icmp_unsigned("!=", left, const(0, kind)), body, leave)
        self.builder.position_at_end(body)
        position = self.builder.cttz(left, const(1, I1))
        yield resize(self.builder, position, I64), onward, leave
        if not self.builder.block.is_terminated:
            self.builder.branch(onward)
        self.builder.position_at_end(onward)
        self.builder.store(self.builder.and_(left, self.builder.sub(left, const(1, kind))), rest)
        self.builder.branch(head)
        self.builder.position_at_end(leave)

    @contextmanager
    def when(self, condition: Value) -> Any:
        """Code that runs only when the condition is true."""
        then, after = self.block("then"), self.block("after")
        self.builder.cbranch(condition, then, after)
        self.builder.position_at_end(then)
        yield
        if not self.builder.block.is_terminated:
            self.builder.branch(after)
        self.builder.position_at_end(after)

    def skip_unless(self, condition: Value | None, onward: ir.Block) -> None:
        """Jumps to ``onward`` unless the condition is true; None is a condition that is always true."""
        if condition is None:
            return
        good = self.block("valid")
        self.builder.cbranch(condition, good, onward)
        self.builder.position_at_end(good)
