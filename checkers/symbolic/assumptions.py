"""What an induction assumes of the state before a step, and which part of that is likely to be enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import z3

from floodmark.checkers.properties import Property
from floodmark.checkers.symbolic.copies import Copies
from floodmark.checkers.symbolic.obligations import TYPES, assumption, goals_of, said, variables_of
from floodmark.checkers.symbolic.smt_text import Symbols
from floodmark.checkers.symbolic.system import System, system_of
from floodmark.checkers.symbolic.terms import Truth, as_term, conj, subterms
from floodmark.checkers.symbolic.unbounded_constants import any_size_constants
from floodmark.language.errors import ModelError
from floodmark.language.model import Model


@dataclass(frozen=True, slots=True)
class Weaker:
    """Parts of what is assumed, and others that are worth finding, each where those before it do not help."""

    parts: Sequence[Truth] = ()
    likely: Sequence[Callable[[], Any]] = ()


NOTHING_WEAKER = Weaker()

LATER = 2
"""By how much epochs and the like are larger where it is looked at what is needed: an argument may be about several."""


class Assumed:
    """What an induction assumes of the state before a step: ``whole``, or less of it for one property.

    Where there may be any number of identifiers, each property that is assumed gives z3 a lot to look at. The lemmas
    are there to make the properties inductive, so a property's proof usually needs no other property, and often only
    what is about the same variables.
    """

    def __init__(self, system: System, properties: Sequence[Property], steps: Sequence[Property] = ()) -> None:
        """``steps`` are properties of steps that have to be proved as well."""
        now = system.now.state
        self._state = assumption(system, now, ())
        self._said = {prop.name: said(system, now, prop) for prop in properties}
        self.whole = conj((self._state, *self._said.values()))
        self._any_size = system.values.any_size
        self._lemmas = [prop.name for prop in properties if prop.kind not in ("invariant", "transition")]
        self._needed = Needed(system.model, properties, steps)
        self._about = {name: variables_of(predicate) for name, predicate in system.predicates.items()}

    def weaker(self, action: str, name: str) -> Weaker:
        """Less than the whole, for the obligation that an action preserves the property of this name."""
        likely = partial(self._likely, action, name)
        return Weaker(self._fewer(name), [lambda: self._enough(likely()), lambda: self._enough(likely(more=True))])

    def _likely(self, action: str, name: str, more: bool = False) -> list[str] | None:
        """What is likely to be enough for an obligation; and for the action not to fail, which would leave anything
        behind. With ``more``, what is needed where more are counted; None if that is nothing else.
        """
        needed = self._needed.by(action, name)
        if more:
            few, needed = needed, self._needed.by(action, name, more=True)
            if needed == few:
                return None
        return None if needed is None else [*needed, *(self._needed.by(action, TYPES) or ())]

    def _enough(self, names: list[str] | None) -> Any:
        """What properties and lemmas of these names say, as a term; and those that say nothing of everything, which
        cost z3 nothing.
        """
        if names is None:
            return None
        plain = [name for name, it in self._said.items() if not any(map(z3.is_quantifier, subterms([as_term(it)])))]
        return as_term(conj((self._state, *(it for name, it in self._said.items() if name in (*names, *plain)))))

    def _fewer(self, name: str) -> list[Truth]:
        """What the lemmas and the property of this name say, what is said about its variables, and both at once."""
        if name not in self._about or not self._any_size:
            return []
        near = {it for it in self._said if self._about[it] <= self._about[name]}
        lemmas = {*self._lemmas, name} & {*self._said}
        chosen = [names for names in (lemmas, near, lemmas & near) if len(names) < len(self._said)]
        distinct = [names for index, names in enumerate(chosen) if names not in chosen[:index]]
        return [conj((self._state, *(self._said[it] for it in self._said if it in names))) for names in distinct]


class Needed:
    """Which assumptions an obligation needs at given sizes, where z3 answers without quantifiers.

    These are the model's own constants, where the other numbers that are left open are larger, and one identifier of
    each kind that is counted: who is alone is a majority, and does in one step what otherwise takes several. The
    argument for a few identifiers is usually that for any number, so what it needs is likely to be enough there. It
    need not be: what takes four identifiers is found out with one more, which takes z3 ten times as long. All this only
    chooses what is asked first.
    """

    def __init__(self, model: Model, properties: Sequence[Property], steps: Sequence[Property] = ()) -> None:
        self._model = model
        self._properties = properties
        self._steps = steps

    def by(self, action: str, name: str, more: bool = False) -> list[str] | None:
        """The names of properties and lemmas, also with ``more`` that are counted; None when that is not found out."""
        sizes = self._sized if more else self._sized[:-1]
        found = [set(one) for sized in sizes if (one := sized.by(action, name)) is not None]
        return [it.name for it in self._properties if any(it.name in one for one in found)] if found else None

    @cached_property
    def _sized(self) -> list[_NeededAt]:
        own = self._model.constant_values
        left_open, counting = any_size_constants(self._model)
        later = {name: own[name] + LATER for name in left_open if name not in counting}
        more = {name: own[name] + 1 for name in counting}
        sizes = [own | later, own | dict.fromkeys(counting, 1), own | more]
        return [_NeededAt(type(self._model)(**it), self._properties, self._steps) for it in sizes]


class _NeededAt:
    """Which assumptions an obligation needs with the constants of a model."""

    EFFORT = 30_000_000
    """What z3 may do for one of these answers, in its own units."""

    def __init__(self, model: Model, properties: Sequence[Property], steps: Sequence[Property]) -> None:
        self._model = model
        self._properties = properties
        self._steps = steps
        self._goals: dict[str, dict[str, Truth]] = {}
        self._symbols = Symbols()

    def by(self, action: str, name: str) -> list[str] | None:
        """The names of properties and lemmas; None when that cannot be found out."""
        try:
            return self._found(action, name)
        except ModelError:  # the model cannot be said with these constants, or is too much for z3
            return None

    @cached_property
    def _system(self) -> System:
        return system_of(self._model, [*self._properties, *self._steps])

    def _found(self, action: str, name: str) -> list[str] | None:
        system = self._system
        if action not in self._goals:  # that the action does not fail may take assumptions, too
            fired = next(it for it in system.fired if it.action.name == action)
            subjects = [*self._properties, *self._steps]
            self._goals[action] = dict(goals_of(system, subjects, fired, fired.enabled))
        now = system.now.state
        stated = [assumption(system, now, ()), self._goals[action][name]]
        stated += [said(system, now, prop) for prop in self._properties]
        copies = Copies(self._symbols)
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
    """Which of these marked assumptions refute what a solver is asked, in their order; None if they do not."""
    if solver.check(*(marks[name] for name in names)) != z3.unsat:
        return None
    core = {term.get_id() for term in solver.unsat_core()}
    return [name for name in names if marks[name].get_id() in core]
