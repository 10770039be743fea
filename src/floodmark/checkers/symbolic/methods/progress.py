"""Liveness by rankings: the obligations that ``rankings.py`` states in words, for every state and every action.

The state before a step is assumed to satisfy the properties that induction proves, and the step not to fail. To decide
whether a helper is enabled, arguments are tried: those that a function chooses, every value of a small type, and the
values of a large type that the state holds. A helper that is not found enabled counts as disabled, which can only make
a proof fail.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

import z3

from floodmark.checkers.liveness.goals import Goal
from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.methods.induction import CounterexampleToInduction, Obligation, QueryRunner
from floodmark.checkers.symbolic.methods.rankings import BoundRanking, Explanations, FairHelper
from floodmark.checkers.symbolic.methods.smtlib import ObligationRecorder
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, negation, same_truth
from floodmark.checkers.symbolic.translate.effects import SymbolicStep, fire
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext
from floodmark.checkers.symbolic.translate.obligations import assumption
from floodmark.checkers.symbolic.translate.statements import StatementEvaluator
from floodmark.checkers.symbolic.translate.transition_system import Components, System
from floodmark.checkers.symbolic.values.components import Relation
from floodmark.checkers.symbolic.values.types import Value
from floodmark.compiler.conditions import read_condition, read_value
from floodmark.compiler.ir import Inline
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State, opened
from floodmark.language.reference import Step, within_boundary
from floodmark.language.reference import fire as fire_in_python
from floodmark.language.source import source_of
from floodmark.language.types import (
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)

EVERY_PENDING_STATE = "every pending state"
"""In place of an action: the obligation concerns states."""
NATURAL, HELPED, EXPLAINED, KEPT = "is natural", "has help", "explains", "keeps the premise"
MAX_ARGUMENTS = 64
"""The maximum number of choices of a helper's arguments that are tried."""
MAX_CASES = 8


@dataclass(frozen=True, slots=True)
class _Choice:
    """The arguments of a helper that are chosen, and whether it helps."""

    helps: Truth
    arguments: dict[str, Value]


@dataclass(frozen=True, slots=True)
class _GoalView:
    """The property and its levels in one symbolic state.

    ``failed`` says that the property cannot be evaluated, ``broken`` that a level cannot.
    """

    pending: Truth
    premise: Truth
    goal: Truth
    failed: Truth
    broken: Truth
    ranks: list[Value]
    chosen: list[list[_Choice]]
    enabled: list[list[Truth]]


class RankingProof:
    """The obligations of one goal."""

    def __init__(
        self, system: System, goal: Goal, levels: Sequence[BoundRanking], properties: Sequence[Property]
    ) -> None:
        self.system = system
        self.goal = goal
        self.levels = levels
        read = opened(system.model, system.values.types.unbounded, system.values.types.any_size)
        self._goal = read_condition(read, goal.goal)
        self._premise = None if goal.starts is None else read_condition(read, goal.starts)
        self._rank = [_number(read, level) for level in levels]
        self._chosen = [[_choices(read, level, it) for it in level.helpers] for level in levels]
        self._actions = {action.name: action for action in system.program.actions}
        self._now = system.now.state
        self._before = self._view(self._now)
        self._state = assumption(system, self._now, properties)

    # The obligations.

    def obligations(
        self, seconds: float | None = None, record: ObligationRecorder | None = None
    ) -> Iterator[Obligation]:
        """All obligations, with their answers."""
        runner = QueryRunner(self.system, seconds, record)
        numbers, pending = self.system.values.numbers, self._before.pending
        below = disj([self._before.broken, *(numbers.less(rank, 0) for rank in self._before.ranks)])
        yield self._obligation(runner, None, NATURAL, disj((self._before.failed, conj((pending, below)))), None)
        helped = disj(enabled for level in self._before.enabled for enabled in level)
        yield self._obligation(runner, None, HELPED, conj((pending, negation(helped))), None)
        for fired in self.system.fired:
            after = self._view(fired.after)
            taken = conj((pending, fired.succeeds, self.system.within(fired.after), negation(after.goal)))
            if self._premise is not None:
                yield self._obligation(runner, fired, KEPT, conj((taken, negation(after.premise))), fired.after)
            unexplained = conj((taken, after.premise, negation(self._explained_condition(fired, after))))
            yield self._obligation(runner, fired, EXPLAINED, unexplained, fired.after)

    def _obligation(
        self, runner: QueryRunner, fired: SymbolicStep | None, name: str, goal: Truth, after: Components | None
    ) -> Obligation:
        action = EVERY_PENDING_STATE if fired is None else fired.action.name
        found = self._check(runner, fired, action, name, goal, after)
        runner.record(f"{action}-{name}", f"{action}: {name}", (self._state, goal), found)
        return found

    def _check(
        self, runner: QueryRunner, fired: SymbolicStep | None, action: str, name: str, goal: Truth,
        after: Components | None,
    ) -> Obligation:
        if goal is False:
            return Obligation(action, name, "proved")
        started = time.perf_counter()
        solver = runner.solver()
        solver.add(as_term(self._state))
        answer, reason = runner.check(solver, goal)
        seconds = time.perf_counter() - started
        if answer == z3.unsat:
            return Obligation(action, name, "proved", seconds=seconds)
        if answer != z3.sat:
            return Obligation(action, name, "undetermined", None, reason, seconds)
        model = solver.model()
        state = self.system.decode(self._now, model)
        step = Step(EVERY_PENDING_STATE) if fired is None else self.system.step(fired, model)
        later = None if after is None else self.system.decode(after, model)
        shown = CounterexampleToInduction(state, step, later, constants=self.system.constants(model))
        return Obligation(action, name, "fails", shown, seconds=seconds)

    # The rule.

    def _explained_condition(self, fired: SymbolicStep, after: _GoalView) -> Truth:
        """The condition that some level explains a step."""
        above: list[Truth] = []
        ways = []
        for index, level in enumerate(self.levels):
            less = self.system.values.numbers.less(after.ranks[index], self._before.ranks[index])
            ways.append(conj([*above, less]))
            stays = self._stays(index, level, fired, after)
            ways.append(conj([*above, stays, disj(self._before.enabled[index])]))
            above.append(stays)
        return disj(ways)

    def _stays(self, index: int, level: BoundRanking, fired: SymbolicStep, after: _GoalView) -> Truth:
        """The condition that a step leaves a level unchanged."""
        values = self.system.values
        parts = [values.numbers.equal(self._before.ranks[index], after.ranks[index])]
        for place, it in enumerate(level.helpers):
            old, new = self._before.chosen[index][place], after.chosen[index][place]
            same = [
                values.equal(each.kind, old.arguments[each.name], new.arguments[each.name])
                for each in it.assumption.each
            ]
            parts += [same_truth(old.helps, new.helps), disj((negation(old.helps), conj(same)))]
            parts.append(negation(self._taken_condition(it, old, fired)))
            if not it.assumption.strong:
                parts.append(disj((negation(self._before.enabled[index][place]), after.enabled[index][place])))
        return conj(parts)

    def _taken_condition(self, it: FairHelper, chosen: _Choice, fired: SymbolicStep) -> Truth:
        """The condition that a step may be one of a helper, with the arguments for which it is fair, and possibly
        others.

        Sets that may have any size are not compared: too many steps count as the helper's, which can only make a proof
        fail.
        """
        fixed = {each.name: chosen.arguments[each.name] for each in it.assumption.each}
        other = self._fire(it, fixed, self._now)
        same = [
            self.system.values.equal(kind, other.after[name], fired.after[name])
            for name, kind in self.system.variables.items()
            if not self.system.values.types.is_relation(kind)
        ]
        changes = negation(self.system.equal(fired.after, self._now))
        return conj((chosen.helps, changes, other.succeeds, *same))

    def _fire(self, it: FairHelper, given: dict[str, Value], state: Components) -> SymbolicStep:
        """A helper with these arguments; the others may be any."""
        action, values = self._actions[it.action], self.system.values
        arguments = [
            given[parameter.name] if parameter.name in given
            else values.fresh(parameter.type, f"{action.name}.{parameter.name}")
            for parameter in action.parameters
        ]  # fmt: skip
        return fire(values, self.system.variables, action, state, arguments)

    # One state.

    def _view(self, state: Components) -> _GoalView:
        goal = self.system.judge(self._goal, state)
        premise = None if self._premise is None else self.system.judge(self._premise, state)
        failed = [goal.failed, *([] if premise is None else [premise.failed])]
        begun = True if premise is None else premise.truth
        context = EvaluationContext(self.system.values, state)
        evaluator = StatementEvaluator(context, self.system.variables)
        ranks = [evaluator.evaluate(rank) for rank in self._rank]
        chosen = [
            [self._choice(evaluator, it, given) for it, given in zip(level.helpers, of_level, strict=True)]
            for level, of_level in zip(self.levels, self._chosen, strict=True)
        ]
        enabled = [
            [self._enabled_condition(it, given, state) for it, given in zip(level.helpers, of_level, strict=True)]
            for level, of_level in zip(self.levels, chosen, strict=True)
        ]
        pending = conj((begun, negation(goal.truth)))
        broken = disj(bad for _, bad in context.failures)
        return _GoalView(pending, begun, goal.truth, disj(failed), broken, ranks, chosen, enabled)

    def _choice(self, evaluator: StatementEvaluator, it: FairHelper, chosen: dict[str, Inline]) -> _Choice:
        """The choices of a helper's functions; a None among them means that it does not help."""
        helps: list[Truth] = []
        arguments: dict[str, Value] = {}
        for name, function in chosen.items():
            wanted = next(each.type for each in self._actions[it.action].parameters if each.name == name)
            kind, value = function.type, evaluator.evaluate(function)
            there: Truth = True
            if isinstance(kind, OptionalType) and not isinstance(wanted, OptionalType):
                there, value = value
                kind = kind.inner
            fits, arguments[name] = self.system.values.cast(kind, wanted, value)
            evaluator.context.fail_unless(disj((negation(there), fits)), function.at)
            helps.append(there)
        return _Choice(conj(helps), arguments)

    def _enabled_condition(self, it: FairHelper, chosen: _Choice, state: Components) -> Truth:
        """The condition that a helper helps, and changes the state with arguments that are tried."""
        tried = self._argument_choices(it, chosen.arguments, state)
        return conj((chosen.helps, disj(self._changes(it, arguments, state) for arguments in tried)))

    def _changes(self, it: FairHelper, arguments: dict[str, Value], state: Components) -> Truth:
        fired = self._fire(it, arguments, state)
        same = self.system.equal(fired.after, state)
        return conj((fired.succeeds, negation(same), self.system.within(fired.after)))

    def _argument_choices(
        self, it: FairHelper, given: dict[str, Value], state: Components
    ) -> Iterator[dict[str, Value]]:
        offered: list[list[Value]] = []
        for parameter in self._actions[it.action].parameters:
            if parameter.name in given:
                offered.append([given[parameter.name]])
            elif _is_small(parameter.type):
                offered.append(self.system.values.lifted(parameter.type))
            else:
                held = [part for name, kind in self.system.variables.items()
                        for part in self._parts_of_type(parameter.type, kind, state[name])]  # fmt: skip
                offered.append(held)
        names = [parameter.name for parameter in self._actions[it.action].parameters]
        for arguments in islice(product(*offered), MAX_ARGUMENTS):
            yield dict(zip(names, arguments, strict=True))

    def _parts_of_type(self, wanted: Type, kind: Type, value: Value) -> Iterator[Value]:
        """The values of one type that another holds, or may hold: an empty slot also has a value of the type."""
        if kind == wanted:
            yield value
            return
        match kind:
            case OptionalType(inner):
                yield from self._parts_of_type(wanted, inner, value[1])
            case RecordType(_, fields):
                for (_, of), part in zip(fields, value, strict=True):
                    yield from self._parts_of_type(wanted, of, part)
            case SetType(element, int()) | BagType(element, _) | SeqType(element, _) if not isinstance(value, Relation):
                for _, item in self.system.values.containers.elements(kind, value):
                    yield from self._parts_of_type(wanted, element, item)
            case MapType(_, of) if isinstance(value, tuple):
                for part in value:
                    yield from self._parts_of_type(wanted, of, part)


def _is_small(kind: Type) -> bool:
    return isinstance(kind, BoolType | EnumType | IdentifierType | IntType) and 0 < kind.codes <= MAX_CASES


def _number(model: Model, level: BoundRanking) -> Inline:
    read = read_value(model, source_of(level.prop.function), level.arguments)
    if read is None or not isinstance(read.type, IntType):
        message = f"{level.name} has to return a natural number, on every path"
        raise SourceError(message, level.prop.file, level.prop.line)
    return read


def _choices(model: Model, level: BoundRanking, it: FairHelper) -> dict[str, Inline]:
    found: dict[str, Inline] = {}
    for name, function in it.chosen.items():
        source = source_of(function)
        read = read_value(model, source, level.arguments)
        if read is None:
            message = f"{source.tree.name} has to return the {name} of {it.action}, on every path"
            raise SourceError(message, source.file, source.tree.lineno)
        found[name] = read
    return found


def confirm_failure(explanations: Explanations, obligation: Obligation) -> Obligation:
    """An obligation that fails, if CPython agrees; undetermined if CPython finds a helper that was not tried.

    Raises RuntimeError if z3 takes a step that CPython does not. Only for models without open constants.
    """
    shown = obligation.counterexample
    if shown is None:
        return obligation
    model, before, after = explanations.model, shown.before, shown.after
    try:
        if after is not None and (fire_in_python(model, before, shown.step) != after):
            raise RuntimeError(f"z3 takes {shown.step} from {before} to {after}, and CPython does not")
        if breaks(explanations, obligation.property, before, after):
            return obligation
    except SourceError:
        if obligation.property == NATURAL:
            return obligation
        raise
    if obligation.property in (NATURAL, KEPT):
        text = f"z3 says that {obligation.property!r} fails after {shown.step}, CPython that it does not"
        raise RuntimeError(f"{text}, in {before}")
    reason = "a helper is enabled with arguments that were not tried; choose them with helper(...)"
    return replace(obligation, outcome="undetermined", counterexample=None, reason=reason)


def breaks(explanations: Explanations, name: str, before: State, after: State | None) -> bool:
    """Whether an obligation fails in a state, or on a step, as CPython evaluates it."""
    if not explanations.pending(before):
        return False
    match name:
        case "is natural":
            return any(explanations.rank(level, before) < 0 for level in explanations.levels)
        case "has help":
            return not explanations.helped(before)
    assert after is not None
    if explanations.goal_holds(after) or not within_boundary(explanations.model, after):
        return False
    if name == KEPT:
        return not explanations.pending(after)
    return explanations.pending(after) and not explanations.explained(before, after)
