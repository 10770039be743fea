"""The context in which expressions are evaluated to z3 terms: states, local variables, the path, possible failures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from floodmark.checkers.symbolic.terms.booleans import Truth, conj, implied, negation
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.checkers.symbolic.values.value import Values
from floodmark.compiler.ir import Expr, Position
from floodmark.compiler.visitor import Visitor


class Evaluation(Visitor[Value]):
    """Evaluates expressions in a symbolic state.

    ``path`` is the condition under which the current expression is evaluated at all; ``failures`` collects the
    locations and conditions of errors in the model, and ``required`` the condition of each ``require`` so far.
    """

    def __init__(self, values: Values, new: dict[str, Value], old: dict[str, Value] | None = None) -> None:
        self.values = values
        self.state = {"new": new, "old": old or {}}
        self.locals: dict[int, Value] = {}
        self.path: Truth = True
        self.failures: list[tuple[Position, Truth]] = []
        self.required: list[Truth] = []
        self.bound: list[Value] = []
        self._unordered = 0

    def reached(self) -> Truth:
        """The condition under which evaluation reaches the current expression."""
        return conj((self.path, *self.required))

    def fail_unless(self, condition: Truth, at: Position) -> None:
        if condition is not True:
            bad = conj((self.reached(), negation(condition)))
            if bad is not False:
                self.failures.append((at, bad))

    @contextmanager
    def under(self, condition: Truth) -> Iterator[None]:
        """The context for an expression that is evaluated only if the condition is true."""
        saved = self.path
        self.path = conj((saved, condition))
        yield
        self.path = saved

    @contextmanager
    def for_each(self, item: Value) -> Iterator[None]:
        """The context for an expression that is evaluated for each value of a variable: it fails if it fails for some
        value."""
        already = len(self.failures)
        with self.in_any_order():
            yield
        self.failures[already:] = [(at, self.values.of_some(item, bad)) for at, bad in self.failures[already:]]

    @contextmanager
    def in_any_order(self) -> Iterator[None]:
        """The context for an expression that is evaluated for elements without an order, some of which may be
        skipped."""
        self._unordered += 1
        yield
        self._unordered -= 1

    def require(self, condition: Truth) -> None:
        """Records a condition of the action, if evaluation reaches this point. It must not depend on elements without
        an order: it is unknown which of them ``any`` and ``all`` evaluate."""
        if self._unordered:
            raise UnsupportedError(
                "a require in a function that is called for each of any number of elements is not supported; let the "
                "function return a bool, and require that"
            )
        self.required.append(implied(self.path, condition))

    def evaluate(self, node: Expr) -> Value:
        """The value of an expression."""
        try:
            return node.accept(self)
        except UnsupportedError as error:
            raise error.at(node.at) from None

    def truth(self, node: Expr) -> Truth:
        return self.evaluate(node)
