"""Compares the terms about any number of identifiers with CPython, for many small bodies at one to three identifiers.

What CPython does has to be possible in the terms (``tests/support/any_size_agreement.py`` says why no more is asked):
where a body leads to a state, the terms may not exclude that; where it is not enabled, or fails, they may not exclude
that.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import z3

from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, negation
from floodmark.checkers.symbolic.translate.effects import fire as taken
from floodmark.checkers.symbolic.translate.transition_system import Components
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.compiler.ir import Predicate
from floodmark.compiler.program import read_action, read_predicate
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, State, opened
from floodmark.language.reference import Step, fire, holds
from floodmark.language.types import OpenIdentifierType, Type, parts_of
from floodmark.language.universe import universe
from floodmark.language.values import running
from tests.support.any_size_agreement import Pinned
from tests.support.engines import imported
from tests.support.finite_terms import Finite
from tests.support.program_agreement import Answer, Compared, Failed, Part, kind_of
from tests.support.small_programs import Grammar, Lines, Template

SIZES = (1, 2, 3)


def compare_any_size(grammar: Grammar, place: Template, bodies: Sequence[Lines], directory: Path) -> Compared:
    """Asks of each body whether its terms allow what CPython makes of it, at each size."""
    source, where = grammar.source(list(enumerate(bodies)), place)
    with imported(source, "Programs", directory) as cls:
        asking = _Asking(cls, place, source, where)
        for number in where:
            asking.ask(number)
        return asking.compared


class _Asking:
    """Bodies in one module, of any number of nodes."""

    def __init__(self, cls: type[Model], place: Template, source: str, where: dict[int, range]) -> None:
        self.cls, self.place, self.where = cls, place, where
        self.base: type[Model] = cls.__mro__[1]
        self.lines = source.splitlines()
        self.compared = Compared()
        self.models = [cls(nodes=size) for size in SIZES]
        self.states = list(map(_states_of, self.models))
        names, _ = any_size_constants(self.base())
        self.opened = opened(cls(), names, any_size=True)

    def ask(self, number: int) -> None:
        """Compares one body, with the axioms about its own terms alone."""
        name = f"{'law' if self.place.judged else 'act'}{number}"
        function = vars(self.cls)[name]
        counts = self.compared.counts
        try:
            part: Part
            if self.place.judged:
                part = read_predicate(self.opened, name, function, "invariant")
            else:
                part = read_action(self.opened, name, function)
            for model, states in zip(self.models, self.states, strict=True):
                wrong = self._wrong(part, model, states, name, function)
                if wrong is not None:
                    self._fault(number, f"any size: {wrong}")
                    return
        except UnsupportedError as error:
            counts["without a form for any size"] += 1
            counts[f"without a form for any size: {kind_of(error.message)}"] += 1
        except ModelError as error:
            counts["refused"] += 1
            counts[f"refused: {kind_of(error.message)}"] += 1
        except Exception as error:
            self._fault(number, f"any size: {type(error).__name__}: {error}")
        else:
            counts["compared"] += 1
            counts["points"] += sum(map(len, self.states))

    def _wrong(self, part: Part, model: Model, states: list[State], name: str, function: Any) -> str | None:
        """The difference between CPython's result for a body with so many nodes and the terms, or None."""
        pinned = Pinned(self.base(**model.constant_values), [])
        system = pinned.system
        if isinstance(part, Predicate):
            judged = system.judge(part, system.now.state)
            enabled, failed, after = judged.truth, judged.failed, None
        else:
            fired = taken(system.values, system.variables, part, system.now.state, [])
            enabled, failed, after = fired.enabled, fired.failed, fired.after
        (kind,) = {kind for kind in map(_nodes_in, system.variables.values()) if kind is not None}
        finite = Finite(system, system.values.types.individuals(kind), "nodes", model.constant_values["nodes"])
        pinned.in_first_slots = True
        here = [as_term(pinned.is_state(system.now.state, state)) for state in states]
        pinned.in_first_slots = False
        real = [self._real(model, name, function, state) for state in states]
        said = [as_term(_question(pinned, enabled, failed, after, answer)) for answer in real]
        axioms = finite.axioms_about([*here, *said])
        questions = [z3.And(finite.term(now), finite.term(it)) for now, it in zip(here, said, strict=True)]
        solver = z3.SimpleSolver()
        solver.add(*axioms, *finite.ranges)
        for state, answer, question in zip(states, real, questions, strict=True):
            found = solver.check(question)
            assert found != z3.unknown
            if found == z3.unsat:
                return f"in {state} CPython says {answer}, which the terms exclude"
        return None

    def _real(self, model: Model, name: str, function: Any, state: State) -> Answer:
        try:
            return holds(model, function, state) if self.place.judged else fire(model, state, Step(name))
        except SourceError:
            return Failed()

    def _fault(self, number: int, what: str) -> None:
        text = "\n".join(self.lines[line - 1] for line in self.where[number])
        self.compared.faults.append(f"{what}\n{text}")
        self.compared.counts["faults"] += 1


def _states_of(model: Model) -> list[State]:
    with running(model):
        return list(product(*(list(universe(kind)) for kind in model.variable_types.values())))


def _question(
    pinned: Pinned, enabled: Truth, failed: Truth, after: Components | None, real: Answer
) -> Truth:
    """Checks that the terms say what CPython says."""
    fine = negation(failed)
    match real:
        case Failed():
            return failed
        case bool():
            return conj((enabled if real else negation(enabled), fine))
        case None:
            return conj((negation(enabled), fine))
    assert after is not None
    return conj((enabled, fine, pinned.is_state(after, real)))


def _nodes_in(kind: Type) -> OpenIdentifierType | None:
    return next((part for part in parts_of(kind) if isinstance(part, OpenIdentifierType)), None)
