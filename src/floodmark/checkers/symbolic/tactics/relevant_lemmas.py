"""The induction hypotheses, and the subset of them that is likely to suffice for an obligation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import z3

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj
from floodmark.checkers.symbolic.terms.canonical import CanonicalCopies
from floodmark.checkers.symbolic.terms.smt_text import SmtNames
from floodmark.checkers.symbolic.terms.structure import subterms
from floodmark.checkers.symbolic.translate.obligations import TYPES, assumption, goals_of, holds_condition, variables_of
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.language.errors import ModelError
from floodmark.language.model import Model

Names = tuple[str, ...]
"""The names of properties and lemmas."""


@dataclass(frozen=True, slots=True)
class WeakerHypotheses:
    """The assumptions: the ``always`` assumed ones, those of properties and lemmas, the subsets of these worth trying,
    ``parts``, and further subsets, each of which is computed if the previous ones do not suffice."""

    always: Truth = True
    statements: Mapping[str, Truth] = field(default_factory=dict)
    parts: Sequence[Names] = ()
    likely: Sequence[Callable[[], Names | None]] = ()

    def of(self, names: Names) -> Truth:
        """The assumptions with some properties and lemmas only."""
        return conj((self.always, *(term for name, term in self.statements.items() if name in names)))

NOTHING_WEAKER = WeakerHypotheses()

LATER = 2
"""The increment of open constants such as epochs for computing the needed lemmas: an argument may be about several."""


class InductionHypotheses:
    """The induction hypotheses: ``whole``, or a subset for one property.

    With any number of identifiers, each assumed property has many instances. Lemmas exist to make the properties
    inductive, so a property's proof usually needs no other property, and often only the lemmas about the same
    variables.
    """

    def __init__(self, system: System, properties: Sequence[Property], steps: Sequence[Property] = ()) -> None:
        """``steps`` are transition properties that have to be proved as well."""
        now = system.now.state
        self._state = assumption(system, now, ())
        self._statements = {prop.name: holds_condition(system, now, prop) for prop in properties}
        self.whole = conj((self._state, *self._statements.values()))
        self._any_size = system.values.types.any_size
        self._lemmas = [prop.name for prop in properties if prop.kind not in ("invariant", "transition")]
        self._needed = NeededHypotheses(system.model, properties, steps)
        self._about = {name: variables_of(predicate) for name, predicate in system.predicates.items()}

    def weaker(self, action: str, name: str) -> WeakerHypotheses:
        """Subsets of the whole, for the obligation that an action preserves the property of this name."""
        likely = partial(self._likely, action, name)
        return WeakerHypotheses(self._always, self._quantified, self._fewer(name), [likely, partial(likely, more=True)])

    def _likely(self, action: str, name: str, more: bool = False) -> Names | None:
        """The assumptions that are likely to suffice for an obligation, and for the action not to fail, after which
        every state would be possible. With ``more``, those needed with a further counted identifier; None if they are
        the same."""
        needed = self._needed.names(action, name)
        if more:
            few, needed = needed, self._needed.names(action, name, more=True)
            if needed == few:
                return None
        return None if needed is None else (*needed, *(self._needed.names(action, TYPES) or ()))

    @cached_property
    def _quantified(self) -> dict[str, Truth]:
        """The universal statements of properties and lemmas."""
        return {
            name: it for name, it in self._statements.items() if any(map(z3.is_quantifier, subterms([as_term(it)])))
        }

    @cached_property
    def _always(self) -> Truth:
        """The assumptions about the state without universal quantifiers, which cost z3 nothing."""
        return conj((self._state, *(it for name, it in self._statements.items() if name not in self._quantified)))

    def _fewer(self, name: str) -> list[Names]:
        """The lemmas and the property of this name, the statements about its variables, and the intersection."""
        if name not in self._about or not self._any_size:
            return []
        near = {it for it in self._statements if self._about[it] <= self._about[name]}
        lemmas = {*self._lemmas, name} & {*self._statements}
        chosen = [names for names in (lemmas, near, lemmas & near) if len(names) < len(self._statements)]
        distinct = [names for index, names in enumerate(chosen) if names not in chosen[:index]]
        return [tuple(it for it in self._statements if it in names) for names in distinct]


class NeededHypotheses:
    """The assumptions that an obligation needs at given sizes, where z3 needs no quantifiers.

    The sizes are the model's own constants, with larger values for other open numbers, and one identifier of each
    counted class: with one voter every quorum is a singleton, and a single step replaces several. The argument for a
    few identifiers is usually the one for any number, so its assumptions are likely to suffice there. If the argument
    takes several identifiers, a further one reveals it, which takes z3 ten times as long. All this only chooses the
    first query.
    """

    def __init__(self, model: Model, properties: Sequence[Property], steps: Sequence[Property] = ()) -> None:
        self._model = model
        self._properties = properties
        self._steps = steps

    def names(self, action: str, name: str, more: bool = False) -> list[str] | None:
        """The names of properties and lemmas, also with ``more`` counted identifiers; None if z3 gives no answer."""
        sizes = self._sized if more else self._sized[:-1]
        found = [set(one) for sized in sizes if (one := sized.names(action, name)) is not None]
        return [it.name for it in self._properties if any(it.name in one for one in found)] if found else None

    @cached_property
    def _sized(self) -> list[_NeededAtSize]:
        own = self._model.constant_values
        left_open, counting = any_size_constants(self._model)
        later = {name: own[name] + LATER for name in left_open if name not in counting}
        more = {name: own[name] + 1 for name in counting}
        sizes = [own | later, own | dict.fromkeys(counting, 1), own | more]
        return [_NeededAtSize(type(self._model)(**it), self._properties, self._steps) for it in sizes]


class _NeededAtSize:
    """The assumptions that an obligation needs with the constants of a model."""

    EFFORT = 30_000_000
    """z3's resource limit for one of these answers."""

    def __init__(self, model: Model, properties: Sequence[Property], steps: Sequence[Property]) -> None:
        self._model = model
        self._properties = properties
        self._steps = steps
        self._goals: dict[str, dict[str, Truth]] = {}
        self._symbols = SmtNames()

    def names(self, action: str, name: str) -> list[str] | None:
        """The names of properties and lemmas; None if they cannot be computed."""
        try:
            return self._needed(action, name)
        except ModelError:  # the model cannot be said with these constants, or is too much for z3
            return None

    @cached_property
    def _system(self) -> System:
        return system_of(self._model, [*self._properties, *self._steps])

    def _needed(self, action: str, name: str) -> list[str] | None:
        system = self._system
        if action not in self._goals:  # that the action does not fail may take assumptions, too
            fired = next(it for it in system.fired if it.action.name == action)
            subjects = [*self._properties, *self._steps]
            self._goals[action] = dict(goals_of(system, subjects, fired, fired.enabled))
        now = system.now.state
        stated = [assumption(system, now, ()), self._goals[action][name]]
        stated += [holds_condition(system, now, prop) for prop in self._properties]
        copies = CanonicalCopies(self._symbols)
        always, goal, *saying = copies.of(map(as_term, stated))
        solver = copies.solver("QF_FD")
        solver.set("rlimit", self.EFFORT)
        solver.add(always, goal)
        marks = {prop.name: copies.truth(f"needs {prop.name}") for prop in self._properties}
        for mark, truth in zip(marks.values(), saying, strict=True):
            solver.add(z3.Implies(mark, truth))
        kept = _core(solver, marks, list(marks))
        for mark in kept or ():  # z3 may have needed more than it has to
            if kept is not None and mark in kept:
                fewer = _core(solver, marks, [it for it in kept if it != mark])
                kept = kept if fewer is None else fewer
        return kept


def _core(solver: Any, marks: Mapping[str, Any], names: Sequence[str]) -> list[str] | None:
    """The marked assumptions of an unsatisfiable core, in their order; None if the query is not refuted."""
    if solver.check(*(marks[name] for name in names)) != z3.unsat:
        return None
    core = {term.get_id() for term in solver.unsat_core()}
    return [name for name in names if marks[name].get_id() in core]
