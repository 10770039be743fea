"""Compares the terms about any number of identifiers of the parts of one model with CPython, at a few numbers of them.

What CPython does has to be possible in the terms (``tests/support/any_size_agreement.py`` says why no more is asked).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import z3

from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, negation
from floodmark.checkers.symbolic.translate.effects import fire as taken
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext
from floodmark.checkers.symbolic.translate.statements import StatementEvaluator
from floodmark.checkers.symbolic.translate.transition_system import Components
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.compiler.ir import Predicate
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State, opened
from floodmark.language.types import IntType, OpenIdentifierType, parts_of
from tests.support.any_size_agreement import Pinned
from tests.support.construct_agreement import FAILS, Answer, Beginning, Part, Rank, begins_with, by_cpython, read_parts
from tests.support.finite_terms import Finite

TOGETHER = 16
"""The number of parts that one system contains."""


def refused_or_unlike(
    models: Sequence[Model],
    plain: Sequence[Model],
    functions: Mapping[str, tuple[str, Callable[..., Any]]],
    states: Sequence[Sequence[State]],
) -> Iterator[tuple[str, str, bool]]:
    """The parts that are refused, and why; and those whose terms exclude what CPython says, in which case the last is
    true. ``models`` are in some sizes, ``plain`` are models of the same variables, with these ``states``."""
    opened_at, read = opened(models[0], ["nodes"], any_size=True), list[Part]()
    for name, part in read_parts(opened_at, functions):
        if isinstance(part, SourceError):
            yield name, part.message, False
        else:
            read.append(part)
    for start in range(0, len(read), TOGETHER):
        told: set[str] = set()
        for sized, model, some in zip(models, plain, states, strict=True):
            asking = _Asking(model, some)
            for part in read[start : start + TOGETHER]:
                if part.name in told:
                    continue
                role, function = functions[part.name]
                real = [by_cpython(sized, role, function, state, case) for case, state in enumerate(some)]
                try:
                    wrong = asking.wrong(part, real)
                except UnsupportedError as error:
                    told.add(part.name)
                    yield part.name, error.message, False
                    continue
                if wrong is not None:
                    told.add(part.name)
                    yield part.name, wrong, True


class _Asking:
    """The terms about any number of nodes, told that there are so many as ``model`` has."""

    def __init__(self, model: Model, states: Sequence[State]) -> None:
        self.states = states
        self.pinned = Pinned(model, [])
        self.system = self.pinned.system
        values, now = self.system.values, self.system.now.state
        kinds = {it.cls: it for kind in self.system.variables.values() for it in parts_of(kind)
                 if isinstance(it, OpenIdentifierType)}  # fmt: skip
        (kind,) = kinds.values()
        self.finite = Finite(self.system, values.types.individuals(kind), "nodes", model.constant_values["nodes"])
        self.case = values.fresh(IntType(0, len(states) - 1), "case")
        self.pinned.in_first_slots = True
        self.here = [as_term(self.pinned.is_state(now, state)) for state in states]
        self.pinned.in_first_slots = False
        self.begun = [as_term(values.numbers.equal(self.case, at)) for at in range(len(states))]

    def wrong(self, part: Part, real: Sequence[Answer]) -> str | None:
        """The difference between CPython's results for a part and the terms, or None. Raises UnsupportedError for parts
        without terms."""
        said = [as_term(it) for it in self._said(part, real)]
        here = self.begun if isinstance(part, Beginning) else self.here
        try:
            axioms = self.finite.axioms_about([*here, *said])
            pairs = zip(map(self.finite.term, here), map(self.finite.term, said), strict=True)
            questions = [z3.And(*pair) for pair in pairs]
        except UnsupportedError:  # a quantifier over integers: z3 is asked about the terms as they are
            excluded = [self.pinned.excludes(one, it) for one, it in zip(here, said, strict=True)]
        else:
            solver = z3.SimpleSolver()
            solver.add(*axioms, *self.finite.ranges)
            answers = [solver.check(question) for question in questions]
            assert z3.unknown not in answers
            excluded = [answer == z3.unsat for answer in answers]
        for state, answer, wrong in zip(self.states, real, excluded, strict=True):
            if wrong:
                return f"in {state} CPython says {answer}, which the terms exclude"
        return None

    def _said(self, part: Part, real: Sequence[Answer]) -> Iterator[Truth]:
        """Checks that the terms say what CPython says, in each state."""
        system, values, now = self.system, self.system.values, self.system.now.state
        after, result = None, None
        match part:
            case Predicate():
                judged = system.judge(part, now, now if part.kind == "transition" else None)
                enabled, failed = judged.truth, judged.failed
            case Rank(value=value):
                context = EvaluationContext(values, now)
                result, enabled = StatementEvaluator(context, system.variables).evaluate(value), True
                failed = disj(bad for _, bad in context.failures)
            case Beginning(action=action):
                fired = taken(values, system.variables, action, begins_with(system), [self.case])
                enabled, failed, after = fired.enabled, fired.failed, fired.after
            case _:
                fired = taken(values, system.variables, part, now, [])
                enabled, failed, after = fired.enabled, fired.failed, fired.after
        for answer in real:
            yield _agreed(self.pinned, enabled, failed, after, result, answer)


def _agreed(
    pinned: Pinned, enabled: Truth, failed: Truth, after: Components | None, result: Any, real: Answer
) -> Truth:
    """Checks that the terms say what CPython says, in one state."""
    fine = negation(failed)
    if real == FAILS:
        return failed
    match real:
        case bool():
            return conj((enabled if real else negation(enabled), fine))
        case None:
            return conj((negation(enabled), fine))
        case int():
            return conj((pinned.system.values.numbers.equal(result, real), fine))
    assert after is not None and isinstance(real, tuple)
    return conj((enabled, fine, pinned.is_state(after, real)))
