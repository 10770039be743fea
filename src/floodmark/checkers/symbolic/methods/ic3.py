"""Infers the lemmas that an induction lacks: property-directed reachability (IC3) over the components of a state.

A frame is a set of clauses that hold in every state that is reachable within a number of steps. A bad state is traced
back; if it is unreachable, a clause, as general as possible, excludes it. When two frames agree, they are an inductive
invariant. Separate queries, which share nothing with the search, check the result.
"""

from __future__ import annotations

import heapq
import itertools
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import z3

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import LimitReached, Stop
from floodmark.checkers.symbolic.methods.cardinality_atoms import CountAtom
from floodmark.checkers.symbolic.methods.clauses import ClauseLiteral, predicate_of
from floodmark.checkers.symbolic.methods.smtlib import ObligationRecorder
from floodmark.checkers.symbolic.tactics.budget import Deadline, gave_up
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, negation
from floodmark.checkers.symbolic.translate.synthetic_functions import name_in_text
from floodmark.checkers.symbolic.translate.transition_system import Components, System, Transition, replaced
from floodmark.checkers.symbolic.values.components import Leaf
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.language.types import BoolType, EnumType, IdentifierType, IntType

MAX_ATOMS_OF_A_NUMBER = 64


@dataclass(frozen=True, slots=True)
class ComponentAtom:
    """An atom about one component of a state: ``b1 in isr``, ``version <= 2``, ``coordinator == INIT``."""

    text: str
    opposite: str
    leaf: int
    relation: str
    code: int

    def of(self, term: Any) -> Truth:
        """The atom, about a given component."""
        match self.relation:
            case "==":
                return term == self.code
            case "<=":
                return term <= self.code
        return term


Literal = int
"""The number of an atom, counted from 1; negative for its negation."""
Clause = frozenset[Literal]


@dataclass(frozen=True, slots=True)
class InferenceResult:
    """The result: ``clauses``, as text, which together with the properties are an inductive invariant; or why there are
    none. ``literals`` has them as atoms about components.

    ``refuted`` means that a reachable state violates a property, so there is nothing to find. ``predicate`` is the
    conjunction of the clauses as a function of the modelling language, which every engine can evaluate.
    """

    clauses: list[str] = field(default_factory=list)
    literals: list[list[ClauseLiteral]] = field(default_factory=list)
    predicate: Property | None = None
    refuted: bool = False
    stopped: Stop | None = None
    frames: int = 0
    queries: int = 0
    seconds: float = 0.0
    checks: dict[str, bool] = field(default_factory=dict)

    @property
    def found(self) -> bool:
        return not self.refuted and not self.stopped and self.checks == dict.fromkeys(CHECKS, True)


class _RefutedError(Exception):
    """A bad state is reachable."""


@dataclass(order=True, slots=True)
class _ProofObligation:
    """A state to exclude from a frame."""

    frame: int
    number: int
    cube: tuple[Literal, ...] = field(compare=False)


class Inference:
    """A search in progress."""

    def __init__(
        self,
        system: System,
        properties: Sequence[Property],
        seconds: float | None = None,
        counts: Sequence[CountAtom] = (),
        effort: int | None = None,
    ) -> None:
        self.system = system
        self.counts = [as_term(_holds_condition(system, count.question)) for count in counts]
        self.deadline = Deadline(seconds, effort)
        self.queries = 0
        self.step = Transition(system)
        self.leaves = system.leaves(system.now.state)
        self.atoms = [atom for index, leaf in enumerate(self.leaves) for atom in _atoms(index, leaf)]
        self.plain = len(self.atoms)
        self.atoms += [
            ComponentAtom(
                count.text, f"not {count.text}", index, "", 0
            ) for index, count in enumerate(counts, len(self.leaves))
        ]
        self.good: list[Truth] = [negation(system.boundary_failed(system.now.state))]
        unsafe: list[Truth] = [fired.failed for fired in system.fired]
        for prop in properties:
            if prop.kind == "transition":
                unsafe += [self._broken_by(prop, fired) for fired in system.fired]
                continue
            judged = system.judge(system.predicates[prop.name], system.now.state)
            self.good += [judged.truth, negation(judged.failed)]
        self.safe = conj([*self.good, negation(conj((system.within(system.now.state), disj(unsafe))))])
        self.first = self._solver(system.initial(system.now.state))
        self.main = self._solver(system.well_formed(system.now.state), self.step.term)
        self.bad = self._solver(system.well_formed(system.now.state))
        mark = system.values.symbols.truth
        self.bad_mark = mark("bad")
        self.bad.add(z3.Implies(self.bad_mark, as_term(negation(self.safe))))
        self.here = [mark(f"here:{atom.text}") for atom in self.atoms]
        self.there = [mark(f"there:{atom.text}") for atom in self.atoms]
        now = self.atom_terms(system.now.terms)
        for solver in (self.first, self.main, self.bad):
            for name, atom in zip(self.here, self.atoms, strict=True):
                solver.add(name == as_term(atom.of(now[atom.leaf])))
        after = self.atom_terms(self.step.next.terms)
        for name, atom in zip(self.there, self.atoms, strict=True):
            self.main.add(name == as_term(atom.of(after[atom.leaf])))
        self.frames: list[set[Clause]] = [set(), set()]
        self.marks = [mark("frame:0"), mark("frame:1")]
        self.main.add(z3.Implies(self.marks[0], as_term(system.initial(system.now.state))))
        self.numbers = itertools.count()

    def atom_terms(self, terms: Sequence[Any]) -> list[Any]:
        """The terms of atoms in a state with these components: the components, and the cardinality atoms."""
        return [*terms, *(replaced(count, self.system.now.terms, terms) for count in self.counts)]

    def _broken_by(self, prop: Property, fired: Any) -> Truth:
        judged = self.system.judge(self.system.predicates[prop.name], fired.after, self.system.now.state)
        return conj((fired.succeeds, disj((negation(judged.truth), judged.failed))))

    def _solver(self, *terms: Truth) -> Any:
        solver = z3.SolverFor("QF_FD")
        solver.add(*(as_term(term) for term in terms))
        return solver

    def _check(self, solver: Any, assumptions: Iterable[Any]) -> bool:
        self.queries += 1
        if self.deadline.ended:
            raise LimitReached(self.deadline.reason)
        answer = self.deadline.check(solver, *assumptions)
        if answer == z3.unknown:
            raise LimitReached(gave_up(solver))
        return bool(answer == z3.sat)

    def _named(self, cube: Iterable[Literal], names: list[Any]) -> list[Any]:
        return [names[literal - 1] if literal > 0 else z3.Not(names[-literal - 1]) for literal in cube]

    def _core(self, solver: Any, cube: Iterable[Literal], names: list[Any]) -> tuple[Literal, ...]:
        """The literals of a cube that z3 needed."""
        needed = {term.get_id() for term in solver.unsat_core()}
        pairs = zip(cube, self._named(cube, names), strict=True)
        return tuple(literal for literal, term in pairs if term.get_id() in needed)

    # The search.

    def run(self) -> set[Clause]:
        """The clauses of an inductive invariant."""
        if self._check(self.first, [self._denied(self.first, as_term(self.safe))]):
            raise _RefutedError
        while True:
            self._clear_last()
            self.frames.append(set())
            self.marks.append(self.system.values.symbols.truth(f"frame:{len(self.marks)}"))
            for index in range(1, len(self.frames) - 1):
                self._push(index)
                if not self.frames[index]:
                    return set().union(*self.frames[index + 1 :])

    def _denied(self, solver: Any, term: Any) -> Any:
        mark = self.system.values.symbols.truth("denied")
        solver.add(z3.Implies(mark, z3.Not(term)))
        return mark

    def _clear_last(self) -> None:
        """Excludes every bad state from the last frame."""
        last = len(self.frames) - 1
        while True:
            clauses = self.marks[last:]
            if not self._check(self.bad, [self.bad_mark, *clauses]):
                return
            cube = self._lifted_bad(self.bad.model())
            duties = [_ProofObligation(last, next(self.numbers), cube)]
            self._discharge(duties, last)

    def _discharge(self, duties: list[_ProofObligation], last: int) -> None:
        while duties:
            duty = heapq.heappop(duties)
            if self._meets_first(duty.cube):
                raise _RefutedError
            if duty.frame == 0:
                raise _RefutedError
            if self._excluded(duty):
                continue
            before = self._predecessor(duty)
            if before is not None:
                heapq.heappush(duties, _ProofObligation(duty.frame - 1, next(self.numbers), before))
                heapq.heappush(duties, duty)
                continue
            cube = self._general(duty)
            frame = duty.frame
            while frame < last and self._relative(cube, frame):
                frame += 1
            self._add(frozenset(-literal for literal in cube), frame)
            if frame < last:
                heapq.heappush(duties, _ProofObligation(frame + 1, next(self.numbers), duty.cube))

    def _excluded(self, duty: _ProofObligation) -> bool:
        clauses = set().union(*self.frames[duty.frame :])
        denied = {-literal for literal in duty.cube}
        return any(clause <= denied for clause in clauses)

    def _meets_first(self, cube: Iterable[Literal]) -> bool:
        return self._check(self.first, self._named(cube, self.here))

    def _relative(self, cube: tuple[Literal, ...], frame: int) -> bool:
        """Whether no step leads from the frame, without the cube itself, into the cube."""
        mark = self.system.values.symbols.truth("not")
        self.main.add(z3.Implies(mark, z3.Or([z3.Not(term) for term in self._named(cube, self.here)])))
        assumptions = [mark, *self._frame(frame), *self._named(cube, self.there)]
        answer = self._check(self.main, assumptions)
        if not answer:
            self._last_core = self._core(self.main, cube, self.there)
        self._mark = mark
        return not answer

    def _frame(self, frame: int) -> list[Any]:
        return self.marks if frame == 0 else self.marks[frame:]

    def _predecessor(self, duty: _ProofObligation) -> tuple[Literal, ...] | None:
        """A cube of the previous frame with steps into the duty's cube; None when there is none."""
        if self._relative(duty.cube, duty.frame - 1):
            self.main.add(z3.Not(self._mark))
            return None
        model = self.main.model()
        self.main.add(z3.Not(self._mark))
        return self._lifted(model, duty.cube)

    def _cube(self, model: Any) -> tuple[Literal, ...]:
        """Every literal of the current state."""
        found = []
        for number, name in enumerate(self.here, 1):
            found.append(number if z3.is_true(model.eval(name, True)) else -number)
        return tuple(found)

    def _lifted(self, model: Any, target: tuple[Literal, ...]) -> tuple[Literal, ...]:
        """The part of a state that suffices to step into a cube, for all values of the rest."""
        system = self.system
        for fired, chosen, own in zip(system.fired, self.step.chosen, self.step.parameters, strict=True):
            if z3.is_true(model.eval(chosen, True)):
                values = [(term, model.eval(term, True)) for term in own]
                after = self.atom_terms([leaf.term for leaf in system.leaves(fired.after)])
                wanted = [_literal(self.atoms, literal, after) for literal in target]
                goal = z3.And(as_term(system.within(system.now.state)), as_term(fired.succeeds), *wanted)
                return self._needed(model, z3.substitute(goal, *values) if values else goal)
        raise AssertionError("no action was chosen")

    def _lifted_bad(self, model: Any) -> tuple[Literal, ...]:
        own = [term for terms in self.step.parameters for term in terms]
        values = [(term, model.eval(term, True)) for term in own]
        goal = as_term(negation(self.safe))
        return self._needed(model, z3.substitute(goal, *values) if values else goal)

    def _needed(self, model: Any, goal: Any) -> tuple[Literal, ...]:
        cube = self._cube(model)
        solver = self._solver(self.system.well_formed(self.system.now.state), z3.Not(goal))
        now = self.atom_terms(self.system.now.terms)
        names = [as_term(atom.of(now[atom.leaf])) for atom in self.atoms]
        for name, term in zip(self.here, names, strict=True):
            solver.add(name == term)
        if self._check(solver, self._named(cube, self.here)):
            return cube
        needed = set(self._core(solver, cube, self.here))
        return tuple(it for it in cube if it in needed or abs(it) > self.plain) if needed else cube

    def _general(self, duty: _ProofObligation) -> tuple[Literal, ...]:
        """A subset of the duty's cube that is still unreachable.

        Cardinality atoms are dropped last, because they generalise to any number of identifiers; z3's core is ignored
        then.
        """
        cube = duty.cube if self.counts else self._apart_from_first(self._last_core, duty.cube)
        for literal in list(cube):
            if len(cube) == 1:
                break
            if literal not in cube:
                continue
            tried = tuple(other for other in cube if other != literal)
            if self._meets_first(tried):
                continue
            if self._relative(tried, duty.frame - 1):
                cube = tried if self.counts else self._apart_from_first(self._last_core, tried)
            self.main.add(z3.Not(self._mark))
        return cube

    def _apart_from_first(self, core: tuple[Literal, ...], whole: tuple[Literal, ...]) -> tuple[Literal, ...]:
        """``core`` with enough of ``whole`` added to exclude the initial states."""
        if core and not self._meets_first(core):
            return core
        needed = set(core)
        self._meets_first(whole)
        needed |= set(self._core(self.first, whole, self.here))
        return tuple(literal for literal in whole if literal in needed)

    def _add(self, clause: Clause, frame: int) -> None:
        self.frames[frame].add(clause)
        for index in range(1, frame + 1):
            self.frames[index] -= {old for old in self.frames[index] if clause < old}
        term = z3.Or(self._named(clause, self.here))
        for solver in (self.main, self.bad):
            solver.add(z3.Implies(self.marks[frame], term))

    def _push(self, frame: int) -> None:
        """Moves every clause forward that also holds in the next frame."""
        for clause in sorted(self.frames[frame], key=lambda it: sorted(it)):
            cube = tuple(-literal for literal in clause)
            if not self._check(self.main, [*self._frame(frame), *self._named(cube, self.there)]):
                self.frames[frame].discard(clause)
                self._add(clause, frame + 1)

    # The result.

    def term(self, clauses: Iterable[Clause], terms: Sequence[Any]) -> Truth:
        """Clauses as a term about a state with these components."""
        return conj(disj(_literal(self.atoms, literal, terms) for literal in clause) for clause in clauses)

    def pruned(self, clauses: set[Clause]) -> list[Clause]:
        """The clauses without those that the others imply."""
        kept = sorted(clauses, key=lambda clause: (-len(clause), sorted(clause)))
        for clause in list(kept):
            fewer = [other for other in kept if other != clause]
            if self.is_inductive(fewer):
                kept = fewer
        return sorted(kept, key=lambda clause: (len(clause), sorted(clause)))

    def is_inductive(self, clauses: Iterable[Clause]) -> bool:
        """Whether every step preserves the properties and the clauses, and is safe under them."""
        clauses = list(clauses)
        system = self.system
        statement = self.term(clauses, self.atom_terms(system.now.terms))
        now = conj([*self.good, statement, system.well_formed(system.now.state)])
        safe = self._solver(now, negation(self.safe))
        kept = self._solver(now, self.step.term, z3.Not(_good_after(self, clauses)))
        return not self._check(safe, ()) and not self._check(kept, ())

    def literals_of(self, clauses: Iterable[Clause]) -> list[list[ClauseLiteral]]:
        """Clauses as literals about components, without z3's terms."""
        return [
            [ClauseLiteral(atom.leaf, atom.relation, atom.code, literal > 0) for literal in sorted(clause)
             for atom in [self.atoms[abs(literal) - 1]]]
            for clause in clauses
        ]

    def words(self, clause: Clause) -> str:
        """A clause as an implication, in terms of the model."""
        premises = [self.atoms[-literal - 1].text for literal in sorted(clause, reverse=True) if literal < 0]
        conclusions = [self.atoms[literal - 1].text for literal in sorted(clause) if literal > 0]
        if not conclusions:
            if len(premises) == 1:
                return self.atoms[-next(iter(clause)) - 1].opposite
            last = max(clause)
            conclusions = [self.atoms[-last - 1].opposite]
            premises = [self.atoms[-literal - 1].text for literal in sorted(clause, reverse=True) if literal != last]
        if not premises:
            return " or ".join(conclusions)
        return f"{' and '.join(premises)}  =>  {' or '.join(conclusions)}"

    def described(self, clauses: Sequence[Clause]) -> list[str]:
        """Clauses as text; a set of clauses that is closed under renaming of identifiers is shown as one of them."""
        names = _identifiers(self.system.variables.values())
        groups: dict[tuple[str, ...], list[Clause]] = {}
        for clause in clauses:
            groups.setdefault(self._pattern(clause, names)[0], []).append(clause)
        texts = []
        for members in groups.values():
            first = members[0]
            pattern, used = self._pattern(first, names)
            kinds = {cls.__name__: len(all_names) for cls, all_names in names.items()}
            instances = {frozenset(renamed) for renamed in _instances(pattern, used, names)}
            if used and len(members) > 1 and len(members) == len(instances):
                texts.append(_for_every(self.words(first), used, names, kinds))
            else:
                texts += [self.words(clause) for clause in members]
        return texts

    def _pattern(self, clause: Clause, names: dict[type, list[str]]) -> tuple[tuple[str, ...], list[str]]:
        """A clause's literals with placeholders for identifiers, and the identifiers that these replace."""
        texts = [self._literal_text(literal) for literal in clause]
        used = [name for all_names in names.values() for name in all_names if any(_mentions(t, name) for t in texts)]
        best: tuple[tuple[str, ...], list[str]] | None = None
        for order in itertools.permutations(used):
            renaming = {name: f"<{_class_of(name, names)}{index}>" for index, name in enumerate(order)}
            pattern = tuple(sorted(_renamed_text(text, renaming) for text in texts))
            if best is None or pattern < best[0]:
                best = (pattern, list(order))
        return best if best is not None else (tuple(sorted(texts)), [])

    def _literal_text(self, literal: Literal) -> str:
        atom = self.atoms[abs(literal) - 1]
        return atom.text if literal > 0 else atom.opposite


def _identifiers(kinds: Iterable[Any]) -> dict[type, list[str]]:
    """The identifiers that types mention, by class, as they are printed."""
    found: dict[type, list[str]] = {}
    for kind in kinds:
        if isinstance(kind, IdentifierType):
            found[kind.cls] = [name_in_text(kind.cls(number)) for number in range(1, kind.count + 1)]
        parts = [getattr(kind, name) for name in ("inner", "element", "key", "value") if hasattr(kind, name)]
        found.update(_identifiers([*parts, *(of for _, of in getattr(kind, "fields", ()))]))
    return found


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _class_of(name: str, names: dict[type, list[str]]) -> str:
    return next(cls.__name__ for cls, all_names in names.items() if name in all_names)


def _renamed_text(text: str, renaming: dict[str, str]) -> str:
    if not renaming:
        return text
    return re.sub("|".join(rf"\b{re.escape(name)}\b" for name in renaming), lambda it: renaming[it[0]], text)


def _instances(pattern: tuple[str, ...], used: list[str], names: dict[type, list[str]]) -> Iterable[list[str]]:
    """The pattern with distinct identifiers of the right classes filled in, in every way."""
    marks = [f"<{_class_of(name, names)}{index}>" for index, name in enumerate(used)]
    choices = [names[next(cls for cls in names if cls.__name__ == _class_of(name, names))] for name in used]
    for chosen in itertools.product(*choices):
        if len(set(chosen)) == len(chosen):
            replacing = dict(zip(marks, chosen, strict=True))
            yield [re.sub(r"<\w+>", lambda it, known=replacing: known[it[0]], text) for text in pattern]  # type: ignore[misc]


def _for_every(words: str, used: list[str], names: dict[type, list[str]], kinds: dict[str, int]) -> str:
    letters = dict(zip(used, "xyzuvw", strict=False))
    parts = []
    for kind in kinds:
        own = [letters[name] for name in used if _class_of(name, names) == kind]
        if own:
            parts.append(f"{'different ' if len(own) > 1 else ''}{kind} {', '.join(own)}")
    return f"for every {' and '.join(parts)}:  {_renamed_text(words, letters)}"


def _good_after(inference: Inference, clauses: list[Clause]) -> Any:
    system = inference.system
    whole = conj([*inference.good, inference.term(clauses, inference.atom_terms(system.now.terms))])
    return replaced(whole, system.now.terms, inference.step.next.terms)


def _literal(atoms: list[ComponentAtom], literal: Literal, terms: Sequence[Any]) -> Truth:
    atom = atoms[abs(literal) - 1]
    true = atom.of(terms[atom.leaf])
    return true if literal > 0 else negation(true)


def _atoms(index: int, leaf: Leaf) -> list[ComponentAtom]:
    """The atoms about a component."""
    match leaf.type:
        case BoolType():
            return [ComponentAtom(leaf.path, _opposite(leaf.path), index, "", 0)]
        case IntType(low, high) if high - low <= MAX_ATOMS_OF_A_NUMBER:
            return [
                ComponentAtom(
                    f"{leaf.path} <= {code}", f"{leaf.path} > {code}", index, "<=", code
                ) for code in range(low, high)
            ]
        case EnumType(cls):
            names = [member.name for member in cls]
            return [
                ComponentAtom(f"{leaf.path} == {n}", f"{leaf.path} != {n}", index, "==", i) for i, n in enumerate(names)
            ]
        case IdentifierType(cls, count):
            members = [name_in_text(cls(number)) for number in range(1, count + 1)]
            return [ComponentAtom(
                f"{leaf.path} == {n}", f"{leaf.path} != {n}", index, "==", i
            ) for i, n in enumerate(members)]
    raise UnsupportedError(f"{leaf.path} has too many values for inference")


def _opposite(path: str) -> str:
    if " in " in path:
        return path.replace(" in ", " not in ", 1)
    if " is not None" in path:
        return path.replace(" is not None", " is None")
    return f"not {path}"


def _holds_condition(system: System, question: Property) -> Truth:
    """The condition that an atom can be evaluated in the current state, and is true."""
    judged = system.judge(system.predicates[question.name], system.now.state)
    return conj((judged.truth, negation(judged.failed)))


CHECKS = ("initial states", "every action", "safety")
"""The checks of the inferred clauses, by queries that share nothing with the search."""


def infer(
    system: System,
    properties: Sequence[Property],
    seconds: float | None = None,
    record: ObligationRecorder | None = None,
    counts: Sequence[CountAtom] = (),
    effort: int | None = None,
) -> InferenceResult:
    """Searches for clauses that make the properties inductive, and checks them by separate queries.

    ``record`` receives those queries. Clauses may contain ``counts``, whose cardinality atoms the system must have.
    ``effort`` is z3's resource limit.
    """
    started = time.perf_counter()
    found = InferenceResult()
    inference = Inference(system, [prop for prop in properties if prop.kind != "reachable"], seconds, counts, effort)
    try:
        clauses = inference.pruned(inference.run())
        literals = inference.literals_of(clauses)
        predicate = predicate_of(system.variables, literals, counts)
        found = InferenceResult(inference.described(clauses), literals, predicate)
        found = replace(found, checks=check_clauses(inference, clauses, record))
    except LimitReached as error:
        found = replace(found, stopped=error.stop)
    except _RefutedError:
        found = InferenceResult(refuted=True)
    frames, seconds = len(inference.frames) - 1, time.perf_counter() - started
    return replace(found, frames=frames, queries=inference.queries, seconds=seconds)


def check_clauses(
    inference: Inference, clauses: list[Clause], record: ObligationRecorder | None = None
) -> dict[str, bool]:
    """Whether clauses and properties hold initially, are preserved by each action and make every step safe.

    Each query has its own solver. An inferred proof relies on nothing else: the search may be wrong.
    """
    system = inference.system
    whole: Components = system.now.state
    good = conj([inference.term(clauses, inference.atom_terms(system.now.terms)), *inference.good])

    def never(name: str, about: str, *terms: Truth) -> bool:
        possible = inference._check(inference._solver(*terms), ())
        if record is not None:
            record(name, about, terms, "sat" if possible else "unsat")
        return not possible

    invariant = conj([system.well_formed(whole), good])
    initial = never("initial", "an initial state breaks the invariant", system.initial(whole), negation(good))
    kept = []
    for fired in system.fired:
        after = [leaf.term for leaf in system.leaves(fired.after)]
        goal = conj([inference.term(clauses, inference.atom_terms(after)), *(
            replaced(part, system.now.terms, after) for part in inference.good
        )])
        about = f"{fired.action.name} does not preserve the invariant"
        step = (invariant, system.within(whole), fired.succeeds, negation(goal))
        kept.append(never(fired.action.name, about, *step))
    safe = never("safety", "a step from the invariant is an error or breaks a property", invariant,
                 negation(inference.safe))
    return dict(zip(CHECKS, (initial, all(kept), safe), strict=True))
