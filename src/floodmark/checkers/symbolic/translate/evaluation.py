"""The context in which expressions are evaluated to z3 terms: states, local variables, the path, possible failures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from floodmark.checkers.symbolic.terms.booleans import Truth, conj, implied, negation
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.checkers.symbolic.values.value import Values
from floodmark.compiler.ir import Applied, Expr, Inline, Local, Position

Evaluate = Callable[[Expr], Value]


class FunctionCalls(ABC):
    """The operations that expressions leave to statements: calls, whose bodies are statements."""

    @abstractmethod
    def inline(self, node: Inline) -> Value:
        """The result of a call whose body stands where the call is."""

    @abstractmethod
    def apply(self, node: Applied) -> Value:
        """The result of a call of a function that calls share."""


class EvaluationContext:
    """A symbolic state, local variables, and what is known so far.

    ``path`` is the condition under which the current expression is evaluated at all; ``failures`` collects the
    locations and conditions of errors in the model, and ``required`` the condition of each ``require`` so far.
    """

    def __init__(self, values: Values, new: Mapping[str, Value], old: dict[str, Value] | None = None) -> None:
        self.values = values
        self.state = {"new": dict(new), "old": old or {}}
        self.locals: dict[int, Value] = {}
        self.path: Truth = True
        self.failures: list[tuple[Position, Truth]] = []
        self.required: list[Truth] = []
        self.bound: list[Value] = []
        """The variables around the current expression that stand for any number of elements."""
        self._unordered = 0

    @property
    def is_unordered(self) -> bool:
        """Whether the current expression is evaluated for elements without an order."""
        return self._unordered > 0

    def reached(self) -> Truth:
        """The condition under which evaluation reaches the current expression."""
        return conj((self.path, *self.required))

    def fail_unless(self, condition: Truth, at: Position) -> None:
        if condition is not True:
            bad = conj((self.reached(), negation(condition)))
            if bad is not False:
                self.failures.append((at, bad))

    def assign(self, target: Local, value: Value) -> None:
        """Assigns a local variable on the current path; on others it keeps its value."""
        old = self.locals.get(target.slot)
        self.locals[target.slot] = value if old is None else self.values.either(target.type, self.path, value, old)

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
        of_some = self.values.quantifiers.of_some
        self.failures[already:] = [(at, of_some(item, bad)) for at, bad in self.failures[already:]]

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
        if self.is_unordered:
            raise UnsupportedError(
                "a require in a function that is called for each of any number of elements is not supported; let the "
                "function return a bool, and require that"
            )
        self.required.append(implied(self.path, condition))
