"""k-induction: no run of k states violates a property, and k consecutive states that satisfy it lead only to one that
does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import z3

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Stop, TraceState, Violation
from floodmark.checkers.symbolic.methods.bmc import search
from floodmark.checkers.symbolic.methods.induction import Outcome
from floodmark.checkers.symbolic.methods.smtlib import ObligationRecorder, status_of
from floodmark.checkers.symbolic.methods.unrolling import Unrolling
from floodmark.checkers.symbolic.tactics.budget import Deadline, gave_up
from floodmark.checkers.symbolic.terms.booleans import as_term, conj, disj, negation
from floodmark.checkers.symbolic.translate.obligations import assumption
from floodmark.checkers.symbolic.translate.transition_system import System
from floodmark.language.reference import Step


@dataclass(frozen=True, slots=True)
class KInduction:
    """The result. ``depth`` is the smallest k that was sufficient, or the last that was tried.

    ``violation`` is a run from an initial state; ``counterexample`` is one from any state: k states that satisfy the
    properties and one more that does not.
    """

    outcome: Outcome
    depth: int
    violation: Violation | None = None
    counterexample: tuple[TraceState, ...] = ()
    reason: Stop | None = None
    seconds: float = 0.0


def k_induction(
    system: System,
    properties: Sequence[Property],
    depth: int,
    seconds: float | None = None,
    record: ObligationRecorder | None = None,
) -> KInduction:
    """Tries k = 1, 2, ... up to ``depth``. The states of a run are all different, so that some k is always sufficient.

    ``record`` receives the obligations of every k that was tried.
    """
    deadline = Deadline(seconds)
    states = [prop for prop in properties if prop.kind not in ("transition", "reachable")]
    steps = [prop for prop in properties if prop.kind == "transition"]
    assumed = as_term(assumption(system, system.now.state, states))
    parts = [system.boundary_failed(system.now.state)]
    for prop in states:
        judged = system.judge(system.predicates[prop.name], system.now.state)
        parts += [negation(judged.truth), judged.failed]
    broken = disj(parts)
    failing = [fired.failed for fired in system.fired]
    for prop in steps:
        for fired in system.fired:
            judged = system.judge(system.predicates[prop.name], fired.after, system.now.state)
            failing.append(conj((fired.succeeds, disj((negation(judged.truth), judged.failed)))))
    unrolling = Unrolling(system)
    unrolling.say(unrolling.at(assumed, 0))
    shown: tuple[TraceState, ...] = ()
    for k in range(1, depth + 1):
        if deadline.ended:
            return KInduction("undetermined", k, None, shown, deadline.reason, deadline.seconds_used)
        base = search(system, [*states, *steps], k, deadline, least=k, record=record)
        if base.violation is not None or base.stopped:
            outcome: Outcome = "undetermined" if base.stopped else "fails"
            return KInduction(outcome, k, base.violation, shown, base.stopped, deadline.seconds_used)
        mark = system.values.symbols.truth(f"breaks:{k}")
        last = system.values.symbols.truth(f"fails:{k}")
        goal = unrolling.at(as_term(disj(failing)), k - 1)
        unrolling.add(z3.Implies(last, goal))
        answer = deadline.check(unrolling.solver, last)
        if record is not None:
            about = f"{k} different states that have the properties, and a step from the last that fails or breaks one"
            record(f"k={k}-step", about, (*unrolling.meaning, goal), status_of(answer))
        if answer == z3.unsat:
            unrolling.extend()
            if k > 1:
                _all_different(unrolling, k - 1)
            goal = unrolling.at(as_term(broken), k)
            unrolling.add(z3.Implies(mark, goal))
            answer = deadline.check(unrolling.solver, mark)
            if record is not None:
                about = f"{k} different states that have the properties, and a step to one that does not have them"
                record(f"k={k}-state", about, (*unrolling.meaning, goal), status_of(answer))
        else:
            mark = last
        if answer == z3.unsat:
            return KInduction("proved", k, seconds=deadline.seconds_used)
        if answer == z3.unknown:
            reason = deadline.reason if deadline.ended else gave_up(unrolling.solver)
            return KInduction("undetermined", k, None, shown, reason, deadline.seconds_used)
        shown = _run(unrolling, unrolling.solver.model(), len(unrolling.states))
        unrolling.add(z3.Not(mark))
        if len(unrolling.states) == k:
            unrolling.extend()
            if k > 1:
                _all_different(unrolling, k - 1)
        unrolling.say(unrolling.at(assumed, k))
    return KInduction("fails", depth, None, shown, None, deadline.seconds_used)


def _all_different(unrolling: Unrolling, index: int) -> None:
    """State number ``index`` differs from all before it."""
    new = unrolling.states[index]
    for old in unrolling.states[:index]:
        unrolling.say(z3.Or([a != b for a, b in zip(old.terms, new.terms, strict=True)]))


def _run(unrolling: Unrolling, model: object, length: int) -> tuple[TraceState, ...]:
    system = unrolling.system
    states = [system.decode(replica.state, model) for replica in unrolling.states[:length]]
    steps = [Step("any state")] + [unrolling.step(model, index) for index in range(length - 1)]
    return tuple(TraceState(step, state) for step, state in zip(steps, states, strict=True))
