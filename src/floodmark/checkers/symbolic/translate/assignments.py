"""Assignments to state variables, and to parts of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from floodmark.checkers.symbolic.terms.booleans import Truth
from floodmark.checkers.symbolic.translate.evaluation import Evaluate, EvaluationContext
from floodmark.checkers.symbolic.translate.sequences import Sequences
from floodmark.checkers.symbolic.values.components import UnboundedMap
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.compiler import ir
from floodmark.language.types import MapType, OpenIdentifierType, OpenIntType, RecordType, SeqType, Type


class Assignments:
    """Assigns state variables."""

    def __init__(self, context: EvaluationContext, evaluate: Evaluate, variables: Mapping[str, Type]) -> None:
        self._context = context
        self._values = context.values
        self._evaluate = evaluate
        self._variables = variables
        self._sequences = Sequences(context)

    def store(self, node: ir.SetVariable) -> None:
        """Runs an assignment."""
        if self._context.is_unordered:  # one symbolic element stands for all, each of which would change the variable
            raise UnsupportedError(
                "a function that changes a variable is called for each of any number of elements, which is not "
                "supported; change it in a loop or a comprehension of its own"
            )
        kind = self._variables[node.variable]
        value = self._evaluate(node.value)
        state = self._context.state["new"]
        old = state[node.variable]
        fits, value = self._values.settled(node.value.type, value)
        self._context.fail_unless(fits, node.at)
        updated = self._updated(kind, old, node.path, value, node.at)
        state[node.variable] = self._values.either(kind, self._context.path, updated, old)

    def _updated(
        self, kind: Type, old: Value, path: list[ir.FieldStep | ir.ItemStep], value: Value, at: ir.Position
    ) -> Value:
        """A container after an assignment inside it."""
        if not path:
            return value
        step, rest = path[0], path[1:]

        def inner(of: Type, part: Value) -> Value:
            return self._updated(of, part, rest, value, at)

        match step, kind:
            case ir.FieldStep(name=name), RecordType(_, fields):
                parts = zip(fields, old, strict=True)
                return tuple(inner(of, part) if field == name else part for (field, of), part in parts)
            case ir.ItemStep(key=key), MapType(OpenIdentifierType() | OpenIntType() as keys, of):
                index = self._evaluate(key)
                values, updated = self._values, inner(of, old.at(index))
                return UnboundedMap(lambda it: values.either(of, values.equal(keys, it, index), updated, old.at(it)))
            case ir.ItemStep(key=key), MapType(keys, of):
                which = self._values.containers.positions(keys, self._evaluate(key))
                return self._entries(of, old, which, inner)
            case ir.ItemStep(key=key), SeqType(of, _):
                which = self._sequences.positions(kind, old, self._evaluate(key), at)
                return (old[0], self._entries(of, old[1], which, inner))
        raise AssertionError(step)

    def _entries(self, of: Type, old: Any, which: list[Truth], inner: Callable[[Type, Value], Value]) -> Value:
        """The entries of a container after an assignment inside one of them."""
        found = []
        for part, here in zip(old, which, strict=True):
            with self._context.under(here):  # an inner index can fail only on the path through this one
                found.append(part if here is False else self._values.either(of, here, inner(of, part), part))
        return tuple(found)
