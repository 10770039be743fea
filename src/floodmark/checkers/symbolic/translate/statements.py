"""Statements as z3 terms: their effect on the context of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

from floodmark.checkers.symbolic.terms.booleans import Truth, conj, disj, implied, negation
from floodmark.checkers.symbolic.translate.any_size_effects import AnySizeLoops
from floodmark.checkers.symbolic.translate.any_size_loops import additions
from floodmark.checkers.symbolic.translate.assignments import Assignments
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext, FunctionCalls
from floodmark.checkers.symbolic.translate.expressions import ExpressionEvaluator
from floodmark.checkers.symbolic.translate.reductions import Domains
from floodmark.checkers.symbolic.values.components import Relation, identity
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.compiler import ir
from floodmark.language.types import Type

MAX_OUTCOMES = 1_000
"""The maximum number of different calls of shared functions in one action or property; each may come to thousands of
terms."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result of a call of a shared function. ``keep_alive`` holds the terms of the call, whose identity is its
    key."""

    result: Value
    failures: list[tuple[ir.Position, Truth]]
    required: list[Truth]
    after: dict[str, Value]
    keep_alive: Any


@dataclass(frozen=True, slots=True)
class _LoopExits:
    continued: list[Truth] = field(default_factory=list)
    broken: list[Truth] = field(default_factory=list)


class StatementEvaluator(FunctionCalls):
    """Runs statements and evaluates expressions; ``meet`` is called with each premise of a property."""

    def __init__(
        self,
        context: EvaluationContext,
        variables: Mapping[str, Type],
        meet: Callable[[ir.Witness], None] | None = None,
    ) -> None:
        self.context = context
        self._values = context.values
        self._variables = variables
        self.evaluate = ExpressionEvaluator(context, self, meet).evaluate
        self._domains = Domains(self._values, self.evaluate)
        self._assignments = Assignments(context, self.evaluate, variables)
        self._any_size_loops = AnySizeLoops(context, self.evaluate)
        self._returns: list[list[Truth]] = []
        self._loops: list[_LoopExits] = []
        self._assigned: dict[int, set[int]] = {}
        self._outcomes: dict[tuple[int, object], _Outcome] = {}

    def run(self, body: list[ir.Stmt]) -> None:
        """Runs statements. A Return ends only these, so every path continues after them."""
        before = self.context.path
        self._returns.append([])
        loops, self._loops = self._loops, []
        self._block(body)
        self._returns.pop()
        self._loops = loops
        self.context.path = before

    def inline(self, node: ir.Inline) -> Value:
        assert node.result is not None
        self._call(node)
        return self.context.locals.get(node.result.slot, self._values.default(node.result.type))

    def _call(self, node: ir.Inline) -> None:
        for slot in self._own_slots(node):
            self.context.locals.pop(slot, None)
        self.run(node.body)

    def _own_slots(self, node: ir.Inline) -> set[int]:
        """The variables that a call assigns: every call starts without values for them."""
        if id(node) not in self._assigned:
            slots = {local.slot for local in assigned(node.body)}
            self._assigned[id(node)] = slots if node.result is None else slots | {node.result.slot}
        return self._assigned[id(node)]

    def _block(self, body: list[ir.Stmt]) -> None:
        for statement in body:
            if self.context.path is False:
                return
            try:
                self._effect(statement)
            except UnsupportedError as error:
                raise error.at(statement.at) from None

    def _effect(self, node: ir.Stmt) -> None:
        context = self.context
        match node:
            case ir.SetLocal(target=target, value=value):
                context.assign(target, self.evaluate(value))
            case ir.SetVariable():
                self._assignments.store(node)
            case ir.If():
                self._if(node)
            case ir.For():
                self._for(node)
            case ir.Require(condition=condition):
                context.require(self.evaluate(condition))
            case ir.Assert(condition=condition):
                context.fail_unless(self.evaluate(condition), node.at)
            case ir.Return(value=value, into=into):
                if value is not None and into is not None:
                    context.assign(into, self.evaluate(value))
                self._leave(self._returns[-1])
            case ir.Break():
                self._leave(self._loops[-1].broken)
            case ir.Continue():
                self._leave(self._loops[-1].continued)
            case ir.Do(call=call):
                if isinstance(call, ir.Inline):
                    self._call(call)
                else:
                    self.apply(call)
            case _:
                assert_never(node)

    def _leave(self, exits: list[Truth]) -> None:
        """Ends the current path at an exit."""
        exits.append(self.context.path)
        self.context.path = False

    def _if(self, node: ir.If) -> None:
        condition = self.evaluate(node.condition)
        if isinstance(condition, bool):
            self._block(node.then if condition else node.otherwise)
            return
        before = self.context.path
        ends = []
        whole = True
        for chosen, body in ((condition, node.then), (negation(condition), node.otherwise)):
            self.context.path = entered = conj((before, chosen))
            self._block(body)
            whole = whole and self.context.path is entered
            ends.append(self.context.path)
        self.context.path = before if whole else disj(ends)

    def _for(self, node: ir.For) -> None:
        visited = self._domains.elements(node.domain, node.variable.type)
        unordered = isinstance(node.domain, ir.Expr) and self._values.types.is_unordered(node.domain.type)
        if unordered and any(addition.optional for addition in additions(node)):
            visited = self._in_any_order(node.variable.type, visited)
        if isinstance(visited, Relation):
            self._any_size_loops.run(node, visited)
        else:
            self._unroll(node, visited)

    def _in_any_order(self, element: Type, slots: Relation | list[tuple[Truth, Value]]) -> Relation:
        """Elements in slots as a membership predicate, because the order of the slots is not CPython's."""
        assert not isinstance(slots, Relation)
        same = self._values.equal
        return Relation(lambda item: disj(conj((used, same(element, held, item))) for used, held in slots), None)

    def _unroll(self, node: ir.For, visited: list[tuple[Truth, Value]]) -> None:
        """A loop over a list of values, round by round."""
        context, loop = self.context, _LoopExits()
        self._loops.append(loop)
        before, returned = context.path, len(self._returns[-1])
        for there, value in visited:
            if context.path is False:
                break
            context.locals[node.variable.slot] = value
            start = context.path
            context.path = conj((start, there))
            self._block(node.body)
            if not loop.broken and len(self._returns[-1]) == returned:
                context.path = start
            else:
                context.path = disj((context.path, conj((start, negation(there))), *loop.continued))
            loop.continued.clear()
        self._loops.pop()
        whole = len(self._returns[-1]) == returned
        context.path = before if whole else disj((context.path, *loop.broken))

    def apply(self, node: ir.Applied) -> Value:
        """A call of a shared function. Calls with the same arguments in the same state share their result.

        The result of a call does not depend on the path to it. The path is added where it matters: to failures and
        requirements, and to assignments.
        """
        context, values = self.context, self._values
        if values.types.any_size or values.types.unbounded:
            message = f"{node.function.name} with all that it calls is too large for a proof for every size"
            raise UnsupportedError(message, node.at.file, node.at.line)
        arguments = tuple(self.evaluate(argument) for argument in node.arguments)
        key = (id(node.function), identity((arguments, *(tuple(state.values()) for state in context.state.values()))))
        if key not in self._outcomes:
            if len(self._outcomes) >= MAX_OUTCOMES:
                message = f"calls of {node.function.name} are too many for z3: more than {MAX_OUTCOMES}"
                raise UnsupportedError(message, node.at.file, node.at.line)
            self._outcomes[key] = self._outcome_of(node.function, arguments)
        outcome = self._outcomes[key]
        reached = context.reached()
        found = [(at, conj((reached, bad))) for at, bad in outcome.failures]
        context.failures += [(at, bad) for at, bad in found if bad is not False]
        context.required += [implied(context.path, needed) for needed in outcome.required]
        before = context.state["new"]
        for name, after in outcome.after.items():
            before[name] = values.either(self._variables[name], context.path, after, before[name])
        return outcome.result

    def _outcome_of(self, called: ir.SharedFunction, arguments: tuple[Value, ...]) -> _Outcome:
        """The result of a call that is reached."""
        new, old = self.context.state["new"], self.context.state["old"]
        inner = EvaluationContext(self._values, new, old)
        evaluator = StatementEvaluator(inner, self._variables)
        evaluator._outcomes = self._outcomes
        for parameter, value in zip(called.parameters, arguments, strict=True):
            inner.locals[parameter.slot] = value
        evaluator.run(called.body)
        result: Value = None
        if called.result is not None:
            result = inner.locals.get(called.result.slot, self._values.default(called.result.type))
        after = {name: value for name, value in inner.state["new"].items() if value is not new[name]}
        kept = [arguments, list(new.values()), list(old.values())]
        return _Outcome(result, inner.failures, inner.required, after, kept)


def assigned(body: list[ir.Stmt]) -> list[ir.Local]:
    """The local variables that statements assign, except in calls inside expressions."""
    found: list[ir.Local] = []
    for statement in body:
        match statement:
            case ir.SetLocal(target=target):
                found.append(target)
            case ir.If(then=then, otherwise=otherwise):
                found += assigned(then) + assigned(otherwise)
            case ir.For(body=inner):
                found += assigned(inner)
    return found
