"""Splits a case into the paths through an action; the query about a path contains only what applies to it.

What an action leaves behind depends on its ``if``s. In one question about all paths every value is one or another, and
z3 is told of each symbol that any path introduces, such as a set that a comprehension describes on one of them. On a
path, a condition is true or it is false: what it decides is gone, and so are the axioms about symbols that only other
paths mention. That matters where axioms speak of all identifiers, for each of them has instances without an end.

Why this is the same question: in a model a condition is true or false. So a case has a model exactly if it has one
together with the condition, or one together with its denial, and likewise for each of these two. A term that is true
may be replaced by ``true`` wherever it stands, also within a quantifier, as no variable occurs in it: it means the same
there. A path that then says ``false`` has no model, and no other path is left out. The axioms about symbols that a path
does not mention are left out of its question, which is sound for the reason that ``terms/axioms.py`` gives, and so is
leaving out assumptions; both can only add models.
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

    stated: Terms
    axioms: tuple[Axiom, ...]

    @property
    def known(self) -> list[Any]:
        """The axioms about the symbols of the path."""
        return [axiom.term for axiom in relevant_axioms(self.axioms, self.stated)]


def path_by_path(whole: Path, answer: Callable[[Path, Look], Any], most: int) -> Any:
    """The answer for the paths of a case: ``z3.unsat`` if each of them is refuted, ``z3.sat`` if one has a model.

    ``answer`` solves a path, with a given thoroughness; where it does not know, the path is split, up to a limit of
    splits. If one side of a split is refuted at once, the other is no easier than before, so it is solved again only
    after a further split.
    """
    waiting = [(whole, True)]
    while waiting:
        path, worthwhile = waiting.pop()
        found = answer(path, "quickly") if worthwhile else z3.unknown
        if found == z3.unknown:
            condition = undecided(path) if most else None
            if condition is not None:
                most -= 1
                possible = [it for it in parted(path, condition) if answer(it, "at a glance") != z3.unsat]
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
    """Axioms, simplified, without duplicates of what is known on a path."""
    return tuple(Axiom(it.heads, z3.simplify(it.term)) for it in axioms)


def undecided(path: Path) -> Any | None:
    """The undecided atom of the path that occurs in the conditions of the most ``if``s; None if all are decided.

    It is no ``if`` itself and has none within, so what it decides does not have to be asked again further outside.
    """
    found = list(asked(path))
    counted = Counter(atom.get_id() for atom in found)
    atoms = {atom.get_id(): atom for atom in found}
    return atoms[counted.most_common(1)[0][0]] if counted else None


def asked(path: Path) -> Iterator[Any]:
    """The atoms in the conditions of a path's ``if``s, once for each condition."""
    looking = _Looking()
    for choice in _choices([*path.stated, *path.known]):
        yield from looking.atoms(choice.arg(0))


def parted(path: Path, condition: Any) -> list[Path]:
    """The paths on which a condition is true, and on which it is false, without contradictory ones."""
    return [it for it in sides(path, condition) if it is not None]


def sides(path: Path, condition: Any) -> tuple[Path | None, Path | None]:
    """The paths on which a condition is true, and on which it is false; None for a contradictory one."""
    return _side(path, condition, True), _side(path, condition, False)


def _side(path: Path, condition: Any, value: bool) -> Path | None:
    chosen = condition if value else z3.Not(condition)
    decided = [(condition, z3.BoolVal(value, condition.ctx)), *(_replaced(condition) if value else [])]
    stated = _simplified([z3.substitute(term, *decided) for term in path.stated])
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


class _Looking:
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
