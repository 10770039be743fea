"""What the evaluation of expressions as z3 terms carries along: states, local variables, the path, what can fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from floodmark.checkers.symbolic.terms import Truth, conj, negation
from floodmark.checkers.symbolic.value_types import UnsupportedError, Value
from floodmark.checkers.symbolic.values import Values
from floodmark.compiler.ir import Expr, Position


class Evaluation:
    """Evaluates expressions in a symbolic state.

    ``path`` is the condition under which the current expression is evaluated at all; ``failures`` collects where and
    under which condition the model leaves its declared types.
    """

    def __init__(self, values: Values, new: dict[str, Value], old: dict[str, Value] | None = None) -> None:
        self.values = values
        self.state = {"new": new, "old": old or {}}
        self.locals: dict[int, Value] = {}
        self.path: Truth = True
        self.failures: list[tuple[Position, Truth]] = []
        self.bound: list[Value] = []

    def reached(self) -> Truth:
        """The condition under which evaluation gets to the current expression."""
        return self.path

    def fail_unless(self, condition: Truth, at: Position) -> None:
        if condition is not True:
            bad = conj((self.reached(), negation(condition)))
            if bad is not False:
                self.failures.append((at, bad))

    @contextmanager
    def under(self, condition: Truth) -> Iterator[None]:
        """For what is evaluated only when the condition is true."""
        saved = self.path
        self.path = conj((saved, condition))
        yield
        self.path = saved

    def evaluate(self, node: Expr) -> Value:
        """The value of an expression."""
        method: Callable[[Any], Value] = getattr(self, "_" + type(node).__name__.lower())
        try:
            return method(node)
        except UnsupportedError as error:
            raise error.at(node.at) from None

    def truth(self, node: Expr) -> Truth:
        return self.evaluate(node)
