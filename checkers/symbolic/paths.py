"""A case of a question, one path through an action at a time, with no more than what is known of that path.

What an action leaves behind depends on its ``if``s. In one question about all paths every value is one or another, and
z3 is told of each symbol that any path introduces, such as a set that a comprehension describes on one of them. On a
path, a condition is true or it is false: what it decides is gone, and so are the facts about symbols that only other
paths mention. That matters where facts speak of all identifiers, for each of them has instances without an end.

Why this is the same question: in a model a condition is true or false. So a case has a model exactly if it has one
together with the condition, or one together with its denial, and likewise for each of these two. A term that is true
may be replaced by ``true`` wherever it stands, also within a quantifier, as no variable occurs in it: it means the same
there. A path that then says ``false`` has no model, and no other path is left out. The facts about symbols that a path
does not mention are left out of its question, which is sound for the reason that ``facts.py`` gives, and so is leaving
out assumptions; both can only add models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import z3

from floodmark.checkers.symbolic.facts import Fact, told
from floodmark.checkers.symbolic.terms import subterms

Terms = tuple[Any, ...]
Look = Literal["at a glance", "quickly", "thoroughly"]


@dataclass(frozen=True, slots=True)
class Path:
    """What is true on a path: the conditions that it chose, and what a case says on it. ``facts`` may all be asked."""

    stated: Terms
    facts: tuple[Fact, ...]

    @property
    def known(self) -> list[Any]:
        """The facts about what the path mentions."""
        return [fact.term for fact in told(self.facts, self.stated)]


def path_by_path(whole: Path, answer: Callable[[Path, Look], Any], most: int) -> Any:
    """What is found on the paths of a case: ``z3.unsat`` if each of them is refuted, ``z3.sat`` if one has a model.

    ``answer`` is asked about a path, and how thoroughly it has to look: where it does not know, the path is parted. At
    most so many are parted. What a condition does not part, because one side is refuted at a glance, is no easier than
    before, and asked again when another condition has parted it.
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


def start(case: Iterable[Any], facts: Iterable[Fact]) -> Path:
    """All paths of a case."""
    return Path(tuple(case), simple(facts))


def simple(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Facts in simpler terms, so that what is known on a path is not known twice."""
    return tuple(Fact(it.heads, z3.simplify(it.term)) for it in facts)


def undecided(path: Path) -> Any | None:
    """What the path has not decided and the conditions of the most ``if``s ask; None if it has decided all of them.

    It is no ``if`` itself and has none within, so what it decides does not have to be asked again further outside.
    """
    counted: Counter[int] = Counter()
    atoms: dict[int, Any] = {}
    looking = _Looking()
    for choice in _choices([*path.stated, *path.known]):
        for atom in looking.atoms(choice.arg(0)):
            counted[atom.get_id()] += 1
            atoms[atom.get_id()] = atom
    return atoms[counted.most_common(1)[0][0]] if counted else None


def parted(path: Path, condition: Any) -> list[Path]:
    """The paths on which a condition is true, and on which it is false, of those that do not contradict themselves."""
    found = []
    for value, chosen in ((True, condition), (False, z3.Not(condition))):
        decided = [(condition, z3.BoolVal(value, condition.ctx)), *(_replaced(condition) if value else [])]
        stated = _simplified([z3.substitute(term, *decided) for term in path.stated])
        if stated is not None:
            facts = simple(Fact(it.heads, z3.substitute(it.term, *decided)) for it in path.facts)
            found.append(Path((chosen, *stated), facts))
    return found


def _replaced(condition: Any) -> list[tuple[Any, Any]]:
    """What a condition says to be the same as a value, which may take its place."""
    if not z3.is_eq(condition):
        return []
    one, other = condition.children()
    if _is_value(other):
        one, other = other, one
    return [(other, one)] if _is_value(one) and not _is_value(other) else []


def _is_value(term: Any) -> bool:
    return bool(z3.is_int_value(term) or z3.is_bv_value(term) or z3.is_true(term) or z3.is_false(term))


def _simplified(terms: Iterable[Any]) -> Terms | None:
    """The parts of terms that are true together, in simpler terms; None if one is false."""
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
    """Looks for what conditions ask."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bool]] = {}  # with the term, as z3 reuses the ids of others

    def atoms(self, condition: Any) -> Iterator[Any]:
        """The parts of a condition that are no connectives, without an ``if`` or variables of quantifiers within."""
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
        """Whether a term has no ``if`` and no variable of a quantifier within."""
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
