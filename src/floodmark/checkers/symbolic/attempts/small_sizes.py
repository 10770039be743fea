"""Cross-checks proofs for any number of identifiers at small numbers of them.

Compiled code searches the model with 1 to 5 of them (for several classes also with unequal numbers), and evaluates in
each state every predicate that the proof relies on. z3 repeats the proof with 1 and 2 identifiers, where terms are
exact and without quantifiers. Neither check shares the laws and quantifiers of the proof. A difference is an internal
error, never a verdict.

A proof for every number is vacuous where there is no initial state. Few identifiers may be too few for a model; but if
some number has an initial state and a larger one has none, the proof is not reported. Beyond the searched sizes,
CPython looks for an initial state with some numbers up to 100, if the choices are few. Otherwise z3 is queried about
these numbers, and in one query about all numbers from 1000 on: there is no initial state if none exists from any number
up to 1000 on. The numbers between those that are tried remain unchecked, and z3 may fail to find that there is no
initial state; the proof concerns only the numbers that have one.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import z3

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Limits
from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.crosscheck.countermodels import at_sizes
from floodmark.checkers.symbolic.crosscheck.enumeration import Enumeration, enumerate_states
from floodmark.checkers.symbolic.methods.induction import induction
from floodmark.checkers.symbolic.tactics.budget import MAX_EFFORT, Deadline
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj
from floodmark.checkers.symbolic.terms.canonical import CanonicalCopies
from floodmark.checkers.symbolic.terms.smt_text import SmtNames
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import ModelError
from floodmark.language.model import Model
from floodmark.language.reference import initial_states, parameter_types

SEARCHED_SIZES = (1, 2, 3, 4, 5)
"""The numbers of identifiers at which the model is searched."""
REPEATED_SIZES = (1, 2)
"""The numbers of identifiers for which a proof is repeated."""
SEARCH_LIMITS = Limits(states=200_000, generated=2_000_000)
"""The limits of the search at each number: some seconds' work, and the same on a busy machine."""
UNEQUAL = Limits(states=20_000, generated=200_000)
"""The limits of the search at each choice of unequal numbers."""
PAIRS = 6
"""The maximum number of choices of unequal numbers, from 1 to 3, that are searched."""
LARGER = (6, 7, 8, 10, 30, 100)
"""The numbers of identifiers at which an initial state is looked for, besides those that are searched."""
MAX_INITIAL_CHOICES = 4096
"""The maximum number of choices of an initial state's parameters that CPython tries."""
LARGE_SIZE = 1000
"""A representative of large numbers of identifiers."""
INITIAL_STATE_EFFORT = 300_000
"""z3's resource limit for showing that no initial state has so many identifiers."""


@dataclass(frozen=True, slots=True)
class _SearchedSize:
    """The search with some numbers of identifiers, described by ``text``; None without an initial state."""

    text: str
    constants: dict[str, int]
    found: Enumeration | None

    def __str__(self) -> str:
        if self.found is None:
            return f"{self.text} (no initial state)"
        states = f"{self.found.states:,} state{'' if self.found.states == 1 else 's'}"
        return f"{self.text} ({states if self.found.complete else f'the first {states}'})"

    def as_json(self) -> dict[str, object]:
        found = self.found or Enumeration()
        return {"constants": self.constants, "states": found.states, "complete": found.complete}


def cross_check(attempt: Attempt, system: System, properties: list[Property], counting: list[str]) -> None:
    """Searches at a few sizes, and proves the properties again there."""
    _search(attempt, system, properties, counting)
    if attempt.draft.verdict == "holds":
        _ask_for_a_beginning(attempt, system, counting)
    if attempt.draft.verdict == "holds":
        _prove_again(attempt, properties, counting)
    attempt.says_no_limit()


def _search(attempt: Attempt, system: System, properties: list[Property], counting: list[str]) -> None:
    """Searches with a few numbers of identifiers, within the domain of the proof, and with the spec's other constants.
    """
    draft, every = attempt.draft, list[_SearchedSize]()
    for constants, model in at_sizes(attempt.model, counting, [*SEARCHED_SIZES, *unequal(len(counting))]):
        if not _is_about(system, model):
            continue
        started = time.perf_counter()
        is_equal = len({constants[name] for name in constants if constants[name]}) <= 1
        found = enumerate_states(model, properties, attempt.left, SEARCH_LIMITS if is_equal else UNEQUAL)
        draft.seconds += time.perf_counter() - started
        if found.violation is not None:
            attempt.contradicted(
                f"{draft.headline} (with {_constants_text(constants)})", found.violation, properties, model
            )
            return
        if found.states:
            every.append(_SearchedSize(_constants_text(constants), constants, found))
        elif is_equal and not _begins(model):
            every.append(_SearchedSize(_constants_text(constants), constants, None))
    draft.facts["searched"] = [it.as_json() for it in every]
    draft.lines.append(f"searched with {'; '.join(map(str, every)) or 'no number of identifiers'}")
    begun = next((at for at, it in enumerate(every) if it.found is not None), len(every))
    missing = [it.text for it in every[begun:] if it.found is None]
    if missing:
        _says_nothing(attempt, f"there is no initial state with {missing[0]}")


def _begins(model: Model) -> bool:
    """Whether CPython finds an initial state, or cannot decide."""
    try:
        return next(iter(initial_states(model)), None) is not None
    except ModelError:
        return True


def unequal(classes: int) -> list[tuple[int, ...]]:
    """Choices of unequal numbers of the identifiers of some classes, the smallest first."""
    every = [it for it in itertools.product((1, 2, 3), repeat=classes) if len(set(it)) > 1]
    return sorted(every, key=sum)[:PAIRS]


def _is_about(system: System, model: Model) -> bool:
    """Whether a proof covers the constants of a model."""
    return all(form.at(model.constant_values) >= 0 for form in system.domain)


def _ask_for_a_beginning(attempt: Attempt, system: System, counting: list[str]) -> None:
    """Looks for an initial state with larger numbers of identifiers than those that are searched."""
    values = system.values
    for constants, model in at_sizes(attempt.model, counting, LARGER):
        if not _is_about(system, model):
            continue
        if _has_few_choices(model):
            begins = _begins(model)
        else:
            exactly = [values.numbers.equal(values.types.constants[name], number) for name, number in constants.items()]
            begins = _may_begin(attempt, system, exactly)
        if not begins:
            _says_nothing(attempt, f"there is no initial state with {_constants_text(constants)}")
            return
    if not _may_begin(
        attempt, system, [values.numbers.at_most(LARGE_SIZE, values.types.constants[name]) for name in counting]
    ):
        _says_nothing(attempt, f"there is no initial state with {LARGE_SIZE:,} or more of {', '.join(counting)}")


def _has_few_choices(model: Model) -> bool:
    methods = type(model).methods("initial").values()
    choices = (math.prod(kind.codes for kind in parameter_types(model, method).values()) for method in methods)
    return all(each <= MAX_INITIAL_CHOICES for each in choices)


def _may_begin(attempt: Attempt, system: System, numbers: list[Truth]) -> bool:
    """Whether z3 cannot exclude an initial state with such numbers of identifiers."""
    begins = disj(it.enabled for it in system.beginnings)
    asked = [as_term(system.constants_allowed()), as_term(conj(numbers)), as_term(begins)]
    terms, known = CanonicalCopies(SmtNames()).with_axioms(asked, system.values.axioms)
    solver = z3.SimpleSolver(ctx=terms[0].ctx)
    solver.add(*terms, *(axiom.term for axiom in known.about(terms)))
    return bool(Deadline(attempt.left).check(solver, most=INITIAL_STATE_EFFORT) != z3.unsat)


def _says_nothing(attempt: Attempt, why: str) -> None:
    draft = attempt.draft
    draft.verdict, draft.exit_code = "undetermined", ExitCode.UNDETERMINED
    draft.headline += f", but {why}, so nothing is proved there"


def _prove_again(attempt: Attempt, properties: Sequence[Property], counting: list[str]) -> None:
    """Proves the properties again at a few sizes; a size for which z3 gives no answer does not count.

    Raises RuntimeError when an obligation fails.
    """
    draft, proved = attempt.draft, []
    for constants, model in at_sizes(attempt.model, counting, REPEATED_SIZES):
        try:
            again = induction(system_of(model, properties), properties, attempt.left, effort=MAX_EFFORT)
        except ModelError:  # too few for what an initial method mentions
            continue
        draft.seconds += again.seconds
        if again.outcome == "fails":
            failing = next(obligation for obligation in again.failing() if obligation.outcome == "fails")
            raise RuntimeError(f"what is proved for every size is wrong for {_constants_text(constants)}: {failing}")
        if again.outcome == "proved":
            proved.append(_constants_text(constants))
    draft.facts["spots"] = proved
    draft.lines.append(f"proved again with {'; '.join(proved) or 'no number of identifiers'}")
    if not proved:
        draft.verdict, draft.exit_code = "undetermined", ExitCode.UNDETERMINED
        draft.headline += ", but it could not be proved again at any size"


def _constants_text(constants: dict[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in constants.items())
