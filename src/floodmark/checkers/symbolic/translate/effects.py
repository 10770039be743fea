"""The effect of an action on a symbolic state, and predicates there."""

from __future__ import annotations

from dataclasses import dataclass

from floodmark.checkers.symbolic.terms.booleans import Truth, conj, disj, negation
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext
from floodmark.checkers.symbolic.translate.statements import StatementEvaluator
from floodmark.checkers.symbolic.values.types import Value
from floodmark.checkers.symbolic.values.value import Values
from floodmark.compiler import ir
from floodmark.language.types import Type


@dataclass(frozen=True, slots=True)
class SymbolicStep:
    """An action taken from a symbolic state.

    ``enabled`` combines its guards, wherever in the body they are; ``failures`` have the locations and conditions of
    errors in the model; ``after`` is the next state if the action is enabled and does not fail.
    """

    action: ir.Action
    enabled: Truth
    failures: list[tuple[ir.Position, Truth]]
    after: dict[str, Value]
    parameters: list[Value]

    @property
    def failed(self) -> Truth:
        return disj(bad for _, bad in self.failures)

    @property
    def succeeds(self) -> Truth:
        return conj((self.enabled, negation(self.failed)))


@dataclass(frozen=True, slots=True)
class PredicateEvaluation:
    """A predicate in a symbolic state: its truth value, and the locations and conditions of failures in evaluating it.
    """

    predicate: ir.Predicate
    truth: Truth
    failures: list[tuple[ir.Position, Truth]]

    @property
    def failed(self) -> Truth:
        return disj(bad for _, bad in self.failures)


def fire(
    values: Values, variables: dict[str, Type], action: ir.Action, state: dict[str, Value], parameters: list[Value]
) -> SymbolicStep:
    """An action taken from a symbolic state with symbolic arguments."""
    context = EvaluationContext(values, state)
    evaluator = StatementEvaluator(context, variables)
    guards: list[Truth] = []
    for parameter, value in zip(action.parameters, parameters, strict=True):
        context.locals[parameter.slot] = value
        guards.append(values.well_formed(parameter.type, value))
    for guard in action.guards:
        context.path = conj(guards)
        guards.append(evaluator.evaluate(guard))
    context.path = True
    context.required.append(conj(guards))
    evaluator.run(action.body)
    enabled = conj(context.required)
    return SymbolicStep(action, enabled, context.failures, context.state["new"], parameters)


def judge(
    values: Values,
    variables: dict[str, Type],
    predicate: ir.Predicate,
    state: dict[str, Value],
    old: dict[str, Value] | None = None,
) -> PredicateEvaluation:
    """A predicate in a symbolic state, or on a step from ``old`` to it."""
    context = EvaluationContext(values, state, old)
    truth = StatementEvaluator(context, variables).evaluate(predicate.value)
    return PredicateEvaluation(predicate, truth, context.failures)
