"""Cardinality laws, instantiated on demand.

Any two sets have a member that the other lacks, or a common one, if their sizes imply it
(``any_size/open_identifiers.py``). Twenty sets have hundreds of pairs, each pair has such a member, and every
assumption has an instance for each member: too many for z3, while an argument about majorities takes a few pairs. So
the laws that name a member are left out at first. Where the candidate model's sizes contradict a law, its instance for
those sets is added, and z3 solves the query again; sets that the query itself compares come first.

This is sound: each added statement is an instance of a law. The candidate model only selects instances, so it need not
even be a correct model: it may select too many or too few, but none that does not follow.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from floodmark.checkers.symbolic.tactics.skolem_instances import plain_name
from floodmark.checkers.symbolic.terms import structure
from floodmark.checkers.symbolic.terms.structure import closed_subterms, kind_of, parts_of, subterms

MAX_AT_ONCE = 4
"""The maximum number of instances that are added in one round."""
MAX_ROUNDS = 60
"""The maximum number of rounds."""
INCOMPLETE = "(incomplete quantifiers)"
"""z3's reason for unknown where it has a candidate model."""

SetNumbers = tuple[int, ...]
"""Some sets, by number."""


LawInstance = tuple[str, tuple[Any, ...]]
"""The name of a law, and the sets for which it is instantiated."""


def by_set_pairs(
    terms: Iterable[Any],
    question: Iterable[Any],
    sets: Sequence[Any],
    solver: Any,
    check: Callable[[], Any],
    instances: list[LawInstance] | None = None,
) -> tuple[Any, list[Any]]:
    """Whether terms are satisfiable: ``z3.unsat``, with the unsatisfiable terms, or ``z3.unknown``.

    ``question`` are the terms of the query itself, ``sets`` the sorts of counted sets; ``check`` runs the ``solver``
    within its limits; ``instances`` receives the instances that were added.
    """
    laws, stated = _parted([part for term in terms for part in _conjuncts(term)], sets)
    counted = _CountedSets(laws, stated, question, [] if instances is None else instances)
    solver.add(*stated)
    for _ in range(MAX_ROUNDS):
        found = check()
        if found == z3.unsat:
            return found, stated
        if found == z3.unknown and solver.reason_unknown() != INCOMPLETE:
            break
        added = counted.contradicted(solver.model())
        if not added:
            break
        stated += added
        solver.add(*added)
    return z3.unknown, stated


def with_laws(terms: Iterable[Any], sets: Sequence[Any], instances: Iterable[LawInstance]) -> list[Any]:
    """The instances for these sets of the laws that name a member; other terms are left out."""
    laws, stated = _parted([part for term in terms for part in _conjuncts(term)], sets)
    for name, chosen in instances:
        stated += [law.of(chosen) for law in laws if law.name == name and law.is_about(chosen)]
    return stated


def counted_sets(terms: Iterable[Any], sets: Sequence[Any]) -> list[Any]:
    """The sets in terms to which a law applies."""
    return [it for it in closed_subterms(terms) if any(it.sort() == sort for sort in sets)]


def _conjuncts(term: Any) -> Iterator[Any]:
    if kind_of(term) == z3.Z3_OP_AND:
        for part in parts_of(term):
            yield from _conjuncts(part)
    else:
        yield term


@dataclass(frozen=True, slots=True)
class _Law:
    """A law about sets: ``consequence`` is what it says of their sizes alone, which are called ``sizes`` there.

    ``size`` is the number of the declaration of their cardinality function.
    """

    formula: Any
    consequence: Any
    sizes: tuple[Any, ...]
    size: int

    @property
    def arity(self) -> int:
        return len(self.sizes)

    @property
    def number(self) -> int:
        return int(self.formula.get_id())

    @property
    def name(self) -> str:
        """The members that it names, and of how many sets: "in both of 2"."""
        members = {plain_name(it.decl().name()) for it in subterms([self.formula.body()]) if _is_member(it)}
        return f"{', '.join(sorted(members))} of {self.arity}"

    def is_about(self, chosen: Sequence[Any]) -> bool:
        """Whether it applies to so many sets of their sorts."""
        sorts = [self.formula.var_sort(at) for at in range(self.formula.num_vars())]
        return [it.sort() for it in chosen] == sorts

    def of(self, chosen: Sequence[Any]) -> Any:
        """The law's instance for some sets."""
        return z3.substitute_vars(self.formula.body(), *reversed(chosen))

    def is_contradicted(self, model: Any, sizes: Sequence[int]) -> bool:
        """Whether sets of these sizes need a member that the law names."""
        values = [(it, z3.IntVal(size, it.ctx)) for it, size in zip(self.sizes, sizes, strict=True)]
        return not z3.is_true(model.eval(z3.substitute(self.consequence, *values), model_completion=True))


def _parted(parts: Iterable[Any], sets: Sequence[Any]) -> tuple[list[_Law], list[Any]]:
    """The laws that name a member of any sets, each once, and the other terms."""
    laws: dict[int, _Law] = {}
    others = []
    for part in parts:
        law = _law(part, sets)
        if law is None:
            others.append(part)
        else:
            laws[part.body().get_id()] = law
    return list(laws.values()), others


def _law(term: Any, sets: Sequence[Any]) -> _Law | None:
    """A law that names a member of any sets; None if a term is something else."""
    if kind_of(term) != structure.QUANTIFIER or not term.is_forall():
        return None
    if not all(any(term.var_sort(at) == sort for sort in sets) for at in range(term.num_vars())):
        return None
    own = [z3.FreshConst(term.var_sort(at), "set") for at in range(term.num_vars())]
    body = z3.substitute_vars(term.body(), *reversed(own))
    if not any(map(_is_member, subterms([body]))):
        return None
    counts = [it for one in own for it in subterms([body]) if _is_number_of(it, one)]
    if len(counts) != len(own):
        return None
    sizes = tuple(z3.FreshConst(it.sort(), "size") for it in counts)
    named = {one.get_id() for one in own}
    alternatives = body.children() if z3.is_or(body) else [body]
    parts = [z3.substitute(it, *zip(counts, sizes, strict=True)) for it in alternatives]
    consequences = [it for it in parts if named.isdisjoint(part.get_id() for part in subterms([it]))]
    consequence = z3.Or(consequences) if consequences else z3.BoolVal(False, term.ctx)
    return _Law(term, consequence, sizes, counts[0].decl().get_id())


def _is_number_of(term: Any, one: Any) -> bool:
    return bool(z3.is_app(term) and z3.is_int(term)) and term.num_args() == 1 and bool(term.arg(0).eq(one))


def _is_member(term: Any) -> bool:
    """Whether a term is an identifier that belongs to a set."""
    return bool(z3.is_app(term)) and term.num_args() > 0 and term.sort().kind() == z3.Z3_UNINTERPRETED_SORT


class _CountedSets:
    """The counted sets of a query, and the instances of laws that were added for them."""

    def __init__(
        self, laws: Sequence[_Law], stated: Iterable[Any], question: Iterable[Any], added: list[LawInstance]
    ) -> None:
        self._laws = laws
        self._added = added
        self._size = {law.size for law in laws}
        mentioned = list(closed_subterms(stated))
        self._counts = {it.arg(0).get_id(): it for it in mentioned if self._is_count(it)}
        self._of = {key: {it.get_id() for it in count.arg(0).children()} for key, count in self._counts.items()}
        self._bounds = [bound for it in mentioned for bound in self._thresholds(it)]
        shares = [part for it in mentioned if it.decl().kind() == z3.Z3_OP_IDIV for part in subterms([it])]
        self._wholes = {it.arg(0).get_id() for it in shares if self._is_count(it)}
        self._in_question = {it.arg(0).get_id() for it in closed_subterms(question) if self._is_count(it)}
        self._instantiated: set[tuple[int, ...]] = set()

    def _is_count(self, term: Any) -> bool:
        """Whether a term is the number of elements of a set."""
        return z3.is_app(term) and term.decl().get_id() in self._size

    def _thresholds(self, comparison: Any) -> Iterator[tuple[Any, int]]:
        """The size from which on a comparison changes its value, as a term and an offset."""
        if not (z3.is_le(comparison) or z3.is_ge(comparison)):
            return
        smaller, larger = comparison.children() if z3.is_le(comparison) else reversed(comparison.children())
        if self._is_count(smaller):
            yield larger, 1
        if self._is_count(larger):
            yield smaller, 0

    def contradicted(self, model: Any) -> list[Any]:
        """Instances of laws that the sizes of some sets in a model contradict.

        First, only the information about sizes that comparisons reveal counts: more than half, or nothing.
        """
        sizes = {key: _number(model, count) for key, count in self._counts.items()}
        bounds = [_number(model, bound) + more for bound, more in self._bounds]
        revealed = {key: max((it for it in bounds if it <= size), default=0) for key, size in sizes.items()}
        revealed |= {key: sizes[key] for key in self._wholes}
        pairs = [law for law in self._laws if law.arity > 1]
        members = [law for law in self._laws if law.arity == 1]
        for known, laws in ((revealed, pairs), (sizes, pairs), (sizes, members)):
            without = self._wholes if known is revealed else ()
            found = [it for law in laws for it in self._broken(law, model, known, without)]
            if found:
                found.sort(key=lambda it: self._distance(it[1]))
                return [self._instance(*it) for it in found[:MAX_AT_ONCE]]
        return []

    def _distance(self, chosen: SetNumbers) -> int:
        """The distance of some sets from the query: it compares some of them, and some belong to the same identifier.
        """
        compared = len(self._in_question.intersection(chosen))
        alike = any(self._of[one] & self._of[other] for one, other in itertools.combinations(chosen, 2))
        return -2 * compared - alike

    def _broken(
        self, law: _Law, model: Any, sizes: Mapping[int, int], without: Collection[int]
    ) -> Iterator[tuple[_Law, SetNumbers]]:
        """The sets, by number, whose sizes contradict a law without an instance for them."""
        of_size: dict[int, list[int]] = {}
        wholes: dict[int, list[int]] = {}
        for key, size in sizes.items():
            if key not in without:
                of_size.setdefault(size, []).append(key)
            if key in self._wholes:
                wholes.setdefault(size, []).append(key)
        within = [of_size, of_size, wholes][: law.arity]
        for given in itertools.product(*within):
            if not law.is_contradicted(model, given):
                continue
            either_way = law.arity > 1 and law.is_contradicted(model, (given[1], given[0], *given[2:]))
            for chosen in itertools.product(*(keys[size] for keys, size in zip(within, given, strict=True))):
                is_new = len({*chosen}) == len(chosen) and (law.number, *chosen) not in self._instantiated
                if is_new and not (either_way and chosen[0] > chosen[1]):
                    yield law, chosen

    def _instance(self, law: _Law, chosen: SetNumbers) -> Any:
        self._instantiated.add((law.number, *chosen))
        sets = tuple(self._counts[key].arg(0) for key in chosen)
        self._added.append((law.name, sets))
        return law.of(sets)


def _number(model: Any, term: Any) -> int:
    return int(model.eval(term, model_completion=True).as_long())
