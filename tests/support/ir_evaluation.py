"""Evaluates integer nodes of the expression graph in Python's integers, and checks them against their types.

This is an oracle between CPython and compiled code: it sees the value of every node, so it can detect an interval that
is too narrow, and where a machine word does not hold what Python computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from floodmark.compiler.failures import may_outgrow
from floodmark.compiler.ir import (
    INT,
    And,
    Arithmetic,
    Break,
    Choose,
    Compare,
    Const,
    Continue,
    Convert,
    Equal,
    Expr,
    Extremum,
    For,
    Generator,
    If,
    Implies,
    Inline,
    Local,
    Not,
    Or,
    Range,
    Reduce,
    Return,
    SetLocal,
    StateVar,
    Stmt,
)
from floodmark.language.types import BoolType, IntType


class Fails(Exception):  # noqa: N818 - what is evaluated is at fault
    """Compiled code gives up here: Python raises something, or a word does not hold the value."""


class TooNarrowError(AssertionError):
    """A value outside of the interval that the compiler computed for its node."""


class _Returned(Exception):  # noqa: N818 - control flow
    pass


class _Broken(Exception):  # noqa: N818 - control flow
    pass


class _Continued(Exception):  # noqa: N818 - control flow
    pass


_ARITHMETIC = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}
_COMPARE = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


class Evaluation:
    """Evaluates nodes in one state; raises Fails and TooNarrowError."""

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self.variables = variables
        self.locals: dict[int, Any] = {}

    def value(self, node: Expr) -> Any:
        """The value of an expression."""
        found = self._value(node)
        if isinstance(node.type, IntType) and not node.type.low <= found <= node.type.high:
            if may_outgrow(node):
                raise Fails(found)
            raise TooNarrowError(f"{found} is not in {node.type}, which is the type of {node}")
        assert isinstance(node.type, BoolType) == isinstance(found, bool)
        return found

    def _value(self, node: Expr) -> Any:
        match node:
            case Const(value=value):
                return value
            case Local(slot=slot):
                return self.locals[slot]
            case StateVar(name=name):
                return self.variables[name]
            case Arithmetic(op=op, left=left, right=right):
                a, b = self.value(left), self.value(right)
                if op in ("//", "%") and b == 0:
                    raise Fails("division by zero")
                return _ARITHMETIC[op](a, b)
            case Compare(op=op, left=left, right=right):
                return _COMPARE[op](self.value(left), self.value(right))
            case Equal(left=left, right=right):
                return self.value(left) == self.value(right)
            case Not(operand=operand):
                return not self.value(operand)
            case And(operands=operands):
                return all(self.value(operand) for operand in operands)
            case Or(operands=operands):
                return any(self.value(operand) for operand in operands)
            case Implies(premise=premise, conclusion=conclusion):
                first, second = self.value(premise), self.value(conclusion)
                return second or not first
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return self.value(then if self.value(condition) else otherwise)
            case Convert(operand=operand, type=IntType(low, high)):
                found = self.value(operand)
                if not low <= found <= high:
                    raise Fails(found)
                return found
            case Extremum(largest=largest, operands=operands):
                return (max if largest else min)([self.value(operand) for operand in operands])
            case Reduce():
                return self._reduce(node)
            case Inline(body=body, result=result):
                assert result is not None
                with suppress(_Returned):
                    self._run(body)
                return self.locals[result.slot]
        raise AssertionError(f"no integer is made by {node}")

    def _reduce(self, node: Reduce) -> Any:
        bodies = (self.value(node.body) for _ in self._bindings(node.generators))
        match node.kind:
            case "any":
                return any(bodies)
            case "all":
                return all(bodies)
            case "sum":
                total = 0
                for body in bodies:
                    total += body
                    if may_outgrow(node) and not INT.low <= total <= INT.high:
                        raise Fails(total)
                return total
            case "min" | "max":
                values = list(bodies)
                if not values:
                    return self._default(node)
                return (min if node.kind == "min" else max)(values)
        raise AssertionError(node.kind)

    def _default(self, node: Reduce) -> Any:
        if node.default is None:
            raise Fails("of nothing")
        return self.value(node.default)

    def _bindings(self, generators: list[Generator]) -> Iterator[None]:
        if not generators:
            yield
            return
        first, *rest = generators
        for value in self._range(first.domain):
            self._bind(first.variable, value)
            if all(self.value(condition) for condition in first.conditions):
                yield from self._bindings(rest)

    def _range(self, domain: object) -> range:
        assert isinstance(domain, Range)
        return range(self.value(domain.low), self.value(domain.high), domain.step)

    def _bind(self, variable: Local, value: Any) -> None:
        self.locals[variable.slot] = value
        self.value(variable)

    def _run(self, body: list[Stmt]) -> None:
        for statement in body:
            match statement:
                case SetLocal(target=target, value=value):
                    self._bind(target, self.value(value))
                case If(condition=condition, then=then, otherwise=otherwise):
                    self._run(then if self.value(condition) else otherwise)
                case For(variable=variable, domain=domain, body=inner):
                    self._loop(variable, self._range(domain), inner)
                case Return(value=value, into=into):
                    assert value is not None and into is not None
                    self._bind(into, self.value(value))
                    raise _Returned
                case Break():
                    raise _Broken
                case Continue():
                    raise _Continued
                case _:
                    raise AssertionError(statement)

    def _loop(self, variable: Local, values: range, body: list[Stmt]) -> None:
        with suppress(_Broken):
            for value in values:
                self._bind(variable, value)
                with suppress(_Continued):
                    self._run(body)
