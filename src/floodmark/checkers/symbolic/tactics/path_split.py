"""Splits a case into the paths through an action; the query about a path contains only the terms that apply to it.

The effect of an action depends on its ``if``s. In one query about all paths, every value is a choice between terms, and
z3 gets the axioms of each symbol that any path introduces, such as a set that a comprehension describes on one of them.
On a path, each condition is fixed: the choices that it decides disappear, and so do the axioms about symbols that only
other paths mention. This matters for axioms about all identifiers, whose instances have no end.

Why the split is equivalent: in a model a condition is true or false. A case is therefore satisfiable exactly if it is
satisfiable together with the condition or with its negation, and likewise for each of these two. A term that is true
may be replaced by ``true`` at every occurrence, also within a quantifier: it has no free variables, so its meaning is
the same there. A path that then contains ``false`` is unsatisfiable, and no other path is left out. A path's query
omits the axioms about symbols that it does not mention, which is sound for the reason that ``terms/axioms.py`` gives,
and some assumptions; both can only add models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import z3

from floodmark.checkers.symbolic.terms.axioms import Axiom, relevant_axioms
from floodmark.checkers.symbolic.terms.structure import subterms

Terms = tuple[Any, ...]
Look = Literal["at a glance", "quickly", "thoroughly"]


@dataclass(frozen=True, slots=True)
class Path:
    """The conditions that a path fixes, and the case under them. ``axioms`` are all that a query about it may need."""

    conditions: Terms
    axioms: tuple[Axiom, ...]

    @property
    def known(self) -> list[Any]:
        """The axioms about the symbols of the path."""
        return [axiom.term for axiom in relevant_axioms(self.axioms, self.conditions)]


def path_by_path(whole: Path, answer: Callable[[Path, Look], Any], most: int) -> Any:
    """The answer for the paths of a case: ``z3.unsat`` if each of them is refuted, ``z3.sat`` if one has a model.

    ``answer`` solves a path, with a given thoroughness; if it gives no answer, the path is split, up to a limit of
    splits. If one side of a split is refuted at once, the other is no easier than before, so it is solved again only
    after a further split.
    """
    waiting = [(whole, True)]
    while waiting:
        path, worthwhile = waiting.pop()
        found = answer(path, "quickly") if worthwhile else z3.unknown
        if found == z3.unknown:
            condition = undecided_atom(path) if most else None
            if condition is not None:
                most -= 1
                possible = [it for it in split_path(path, condition) if answer(it, "at a glance") != z3.unsat]
                waiting += ((it, len(possible) > 1) for it in possible)
                continue
            found = answer(path, "thoroughly")
        if found != z3.unsat:
            return found
    return z3.unsat


def start(case: Iterable[Any], axioms: Iterable[Axiom]) -> Path:
    """All paths of a case."""
    return Path(tuple(case), simple(axioms))


def simple(axioms: Iterable[Axiom]) -> tuple[Axiom, ...]:
    """Axioms, simplified, without statements that are already known on a path."""
    return tuple(Axiom(it.heads, z3.simplify(it.term)) for it in axioms)


def undecided_atom(path: Path) -> Any | None:
    """The undecided atom of the path that occurs in the conditions of the most ``if``s; None if all are decided.

    It neither is nor contains an ``if``, so no enclosing condition has to be decided again.
    """
    found = list(conditions_of(path))
    counted = Counter(atom.get_id() for atom in found)
    atoms = {atom.get_id(): atom for atom in found}
    return atoms[counted.most_common(1)[0][0]] if counted else None


def conditions_of(path: Path) -> Iterator[Any]:
    """The atoms in the conditions of a path's ``if``s, once for each condition."""
    looking = _AtomCollector()
    for choice in _choices([*path.conditions, *path.known]):
        yield from looking.atoms(choice.arg(0))


def split_path(path: Path, condition: Any) -> list[Path]:
    """The paths on which a condition is true, and on which it is false, without contradictory ones."""
    return [it for it in sides(path, condition) if it is not None]


def sides(path: Path, condition: Any) -> tuple[Path | None, Path | None]:
    """The paths on which a condition is true, and on which it is false; None for a contradictory one."""
    return _side(path, condition, True), _side(path, condition, False)


def _side(path: Path, condition: Any, value: bool) -> Path | None:
    chosen = condition if value else z3.Not(condition)
    decided = [(condition, z3.BoolVal(value, condition.ctx)), *(_replaced(condition) if value else [])]
    stated = _simplified([z3.substitute(term, *decided) for term in path.conditions])
    if stated is None:
        return None
    return Path((chosen, *stated), simple(Axiom(it.heads, z3.substitute(it.term, *decided)) for it in path.axioms))


def _replaced(condition: Any) -> list[tuple[Any, Any]]:
    """The term that a condition equates with a value, which may replace it."""
    if not z3.is_eq(condition):
        return []
    one, other = condition.children()
    if _is_value(other):
        one, other = other, one
    return [(other, one)] if _is_value(one) and not _is_value(other) else []


def _is_value(term: Any) -> bool:
    return bool(z3.is_int_value(term) or z3.is_bv_value(term) or z3.is_true(term) or z3.is_false(term))


def _simplified(terms: Iterable[Any]) -> Terms | None:
    """The conjuncts of terms, simplified; None if one is false."""
    found: list[Any] = []
    for term in terms:
        simple = z3.simplify(term)
        if z3.is_false(simple):
            return None
        found += simple.children() if z3.is_and(simple) else [simple]
    return tuple(term for term in found if not z3.is_true(term))


def _choices(terms: Sequence[Any]) -> Iterator[Any]:
    """The terms ``if condition then ... else ...`` within terms, each once."""
    return (term for term in subterms(terms) if z3.is_app(term) and term.decl().kind() == z3.Z3_OP_ITE)


class _AtomCollector:
    """Collects the atoms of conditions."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bool]] = {}  # with the term, as z3 reuses the ids of others

    def atoms(self, condition: Any) -> Iterator[Any]:
        """The atoms of a condition, without an ``if`` or quantified variables within."""
        met: set[int] = set()
        waiting = [condition]
        while waiting:
            term = waiting.pop()
            if term.get_id() in met or z3.is_true(term) or z3.is_false(term):
                continue
            met.add(term.get_id())
            if _is_connective(term):
                waiting += term.children()
            elif self._is_plain(term):
                yield term

    def _is_plain(self, term: Any) -> bool:
        """Whether a term has no ``if`` and no quantified variable within."""
        key = term.get_id()
        if key not in self._known:
            plain = z3.is_app(term) and term.decl().kind() != z3.Z3_OP_ITE
            self._known[key] = term, plain and all(map(self._is_plain, term.children()))
        return self._known[key][1]


def _is_connective(term: Any) -> bool:
    is_equality = z3.is_eq(term) and z3.is_bool(term.arg(0))
    is_choice = z3.is_app(term) and z3.is_bool(term) and term.decl().kind() == z3.Z3_OP_ITE
    joined = z3.is_not(term) or z3.is_and(term) or z3.is_or(term) or z3.is_implies(term)
    return bool(joined or is_equality or is_choice)
