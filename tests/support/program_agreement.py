"""Compares what compiled code, z3's terms and CPython make of many small bodies, in every state of their variables.

The bodies are the actions, or the properties, of one model, so that compiling is cheap; each is read for itself, so
that one that the compiler refuses does not spoil the others.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import z3

from floodmark.checkers.codegen.jit import UNOPTIMISED, Effort, MachineCode, _compile
from floodmark.checkers.codegen.model_module import FAILED, MAX_PREDICATES, parts, whole
from floodmark.checkers.symbolic.terms.booleans import as_term
from floodmark.checkers.symbolic.translate.effects import fire as taken
from floodmark.checkers.symbolic.translate.transition_system import System
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.compiler import statements
from floodmark.compiler.fingerprint import Fingerprints
from floodmark.compiler.identifier_bias import first_bias
from floodmark.compiler.ir import Action, Predicate
from floodmark.compiler.layout import lay_out
from floodmark.compiler.program import Program, read_action, read_predicate
from floodmark.compiler.renaming import Renaming, renamed, symmetric_types
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, _bindings, fire, holds, parameter_types
from floodmark.language.types import Type
from floodmark.language.universe import universe
from floodmark.language.values import running
from tests.support.engines import imported
from tests.support.small_programs import Grammar, Lines, Template


class Failed:
    """A body leaves the declared types, or an assertion fails. CPython alone says where and
    why: every engine has it replay what fails."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Failed)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "a failure"


Part = Action | Predicate
Answer = State | bool | Failed | None
"""The result of a body in a state: the next state, None if it is disabled, or the value of a property."""


@dataclass
class Compared:
    """The counts for some bodies, and the faults: each is about one body in one state."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __iadd__(self, other: Compared) -> Compared:
        self.counts += other.counts
        self.faults += other.faults
        return self


def compare(
    grammar: Grammar, place: Template, bodies: Sequence[Lines], directory: Path, effort: Effort = UNOPTIMISED
) -> Compared:
    """Runs bodies three times, and compares."""
    source, where = grammar.source(list(enumerate(bodies)), place)
    largest = 0 if place.shared else statements.MAX_COPY
    with patch.object(statements, "MAX_COPY", largest), imported(source, "Programs", directory) as cls:
        batch = _Batch(cls, place, source, where)
        batch.run(effort)
        return batch.compared


class _Batch:
    """Bodies that are in one module. A point is a state with a choice of the parameters."""

    def __init__(self, cls: type[Model], place: Template, source: str, where: dict[int, range]) -> None:
        self.model = cls()
        self.place = place
        self.lines = source.splitlines()
        self.where = where
        self.compared = Compared()
        self.system = System(cls.__mro__[1](), {})
        self.members = vars(cls)
        self.states = self._every(self.model.variable_types.values())
        self.kinds = {} if place.judged else parameter_types(self.model, self._function(min(where)))
        self.choices = [dict(zip(self.kinds, chosen, strict=True)) for chosen in self._every(self.kinds.values())]
        self.points = [(state, chosen) for state in self.states for chosen in self.choices]
        self.layout = lay_out(self.model.variable_types)

    def _every(self, kinds: Iterable[Type]) -> list[tuple[Any, ...]]:
        with running(self.model):
            return list(product(*(list(universe(kind)) for kind in kinds)))

    def run(self, effort: Effort) -> None:
        read = dict(self._read())
        self.compared.counts["compared"] += len(read)
        self.compared.counts["points"] += len(read) * len(self.points)
        real = {number: self._by_cpython(number) for number in read}
        native = self._by_code(read, effort)
        terms = self._by_terms(read)
        self._count_meanings(read, real)
        for number, wanted in real.items():
            if number in terms:
                for point, one, said in zip(self.points, wanted, terms[number], strict=True):
                    if one != said or type(one) is not type(said):
                        self._fault(number, f"z3: at {point} it says {said}, CPython {one}")
                        break
            if number in native:
                for state, here, code in zip(self.states, self._by_states(wanted), native[number], strict=True):
                    if here != code:
                        self._fault(number, f"native: in {state} it says {code}, CPython {here}")
                        break
        self._same_code_means_the_same(read, real)
        if not self.place.judged:
            self._impartial_parts_commute_with_renaming(read, real)

    def _fault(self, number: int, what: str) -> None:
        text = "\n".join(self.lines[line - 1] for line in self.where[number])
        self.compared.faults.append(f"{what}\n{text}")
        self.compared.counts["faults"] += 1

    def _function(self, number: int) -> Callable[..., Any]:
        found: Callable[..., Any] = self.members[self._name(number)]
        return found

    def _name(self, number: int) -> str:
        return f"{'law' if self.place.judged else 'act'}{number}"

    def _read(self) -> Iterator[tuple[int, Part]]:
        """The bodies that the compiler accepts; refusals are counted by their messages."""
        for number in self.where:
            name, function = self._name(number), self._function(number)
            try:
                if self.place.judged:
                    yield number, read_predicate(self.model, name, function, "invariant")
                else:
                    yield number, read_action(self.model, name, function)
            except ModelError as error:
                self.compared.counts["refused"] += 1
                self.compared.counts[f"refused: {kind_of(error.message)}"] += 1
                if error.line not in self.where[number]:
                    self._fault(number, f"refusal: it is about line {error.line}: {error.message}")
            except Exception as error:
                self._fault(number, f"compiler: it raises {type(error).__name__}: {error}")

    # CPython.

    def _by_cpython(self, number: int) -> list[Answer]:
        """The result of a body at every point."""
        function = self._function(number)
        if self.place.judged:
            return [self._asked(number, holds, function, state) for state in self.states]
        found: list[Answer] = []
        for state in self.states:
            if self.kinds:
                self.model.load(state)
                tried = list(_bindings(self.model, function))
            else:
                tried = self.choices
            for chosen in self.choices:
                step = Step(self._name(number), chosen)
                found.append(self._asked(number, fire, state, step) if chosen in tried else None)
        return found

    def _asked(self, number: int, question: Callable[..., Answer], *about: Any) -> Answer:
        try:
            return question(self.model, *about)
        except SourceError as error:
            if error.line is None:
                self._fault(number, f"CPython: a failure has no line: {error.message}")
            return Failed()

    def _by_states(self, answers: list[Answer]) -> list[object]:
        """The result of a body in every state: whether it fails, and its successors."""
        if self.place.judged:
            return list(answers)
        found: list[object] = []
        for start in range(0, len(answers), len(self.choices)):
            here = answers[start : start + len(self.choices)]
            found.append((Failed() in here, {it for it in here if isinstance(it, tuple)}))
        return found

    # Compiled code.

    def _by_code(self, read: dict[int, Part], effort: Effort) -> dict[int, list[object]]:
        found: dict[int, list[object]] = {}
        numbers, most = list(read), MAX_PREDICATES if self.place.judged else len(read)
        waiting = [numbers[start : start + most] for start in range(0, len(numbers), max(most, 1))]
        while waiting:
            chosen = waiting.pop()
            try:
                found |= self._compiled({number: read[number] for number in chosen}, effort)
            except Exception as error:
                if len(chosen) == 1:
                    self._fault(chosen[0], f"native: making its code raises {type(error).__name__}: {error}")
                else:
                    waiting += [chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]]
        return found

    def _compiled(self, read: dict[int, Part], effort: Effort) -> dict[int, list[object]]:
        """The results of bodies that are compiled together."""
        actions = [part for part in read.values() if isinstance(part, Action)]
        predicates = [part for part in read.values() if isinstance(part, Predicate)]
        program = Program("Programs", self.model.variable_types, actions, predicates, [])
        made, interface = parts(program, None)
        module = whole(made, "programs")
        role = "invariant" if self.place.judged else "action"
        for function in module.functions:
            function.linkage = "" if function.name.startswith(f"{role}.0.") else "internal"
        code = MachineCode([_compile(module, effort)])
        found = {}
        for number in read:
            called = code.function(f"{role}.0.{self._name(number)}", 2 if self.place.judged else 3)
            found[number] = self._run_code(called, interface.context_words)
        return found

    def _run_code(self, function: Callable[..., int], words: int) -> list[object]:
        width = self.layout.words
        here = (ctypes.c_uint64 * width)()
        out = (ctypes.c_uint64 * (width * len(self.choices)))()
        context = (ctypes.c_uint64 * words)()
        places = [ctypes.addressof(it) for it in (here, out, context)]
        found: list[object] = []
        for state in self.states:
            here[:] = list(self.layout.pack(state))
            context[FAILED] = 0
            if self.place.judged:
                true = bool(function(places[0], places[2]) & 1)
                found.append(Failed() if context[FAILED] else true)
                continue
            count = function(*places)
            after = {self.layout.unpack(out[at * width : (at + 1) * width]) for at in range(count)}
            found.append((bool(context[FAILED]), after))
        return found

    # Terms.

    def _by_terms(self, read: dict[int, Part]) -> dict[int, list[Answer]]:
        """Evaluates the terms of all bodies at one point after the other."""
        system, values = self.system, self.system.values
        leaves = [leaf.term for leaf in system.leaves(system.now.state)]
        parameters = {name: values.fresh(kind, name) for name, kind in self.kinds.items()}
        arguments = [leaf.term for name, kind in self.kinds.items()
                     for leaf in values.components.leaves(kind, parameters[name], name)]

        def of_sorts(terms: Iterable[Any], like: list[Any]) -> list[Any]:
            return [_of_sort(term, it.sort()) for term, it in zip(terms, like, strict=True)]

        def of_state(components: Any) -> list[Any]:
            return of_sorts((leaf.term for leaf in system.leaves(components)), leaves)

        wanted: list[Any] = []
        places: dict[int, tuple[int, int]] = {}
        for number, part in read.items():
            try:
                if isinstance(part, Predicate):
                    judged = system.judge(part, system.now.state)
                    failures, said = judged.failures, [as_term(judged.truth)]
                else:
                    fired = taken(values, system.variables, part, system.now.state, list(parameters.values()))
                    failures, said = fired.failures, [as_term(fired.enabled), *of_state(fired.after)]
            except UnsupportedError as error:
                self.compared.counts["without a form in z3"] += 1
                self.compared.counts[f"without a form in z3: {kind_of(error.message)}"] += 1
                continue
            except Exception as error:
                self._fault(number, f"z3: making its terms raises {type(error).__name__}: {error}")
                continue
            places[number] = (len(wanted), len(wanted) + len(said) + len(failures))
            wanted += [*said, *(as_term(bad) for _, bad in failures)]
        if not places:
            return {}
        together = z3.Function("together", *(term.sort() for term in wanted), z3.BoolSort())(*wanted)
        known = {state: of_state(system.constant(state)) for state in self.states}
        by_leaves = {tuple(term.get_id() for term in terms): state for state, terms in known.items()}
        true = z3.BoolVal(True).get_id()
        found: dict[int, list[Answer]] = {number: [] for number in places}
        for state, chosen in self.points:
            given = [leaf.term for name, kind in self.kinds.items()
                     for leaf in values.components.leaves(kind, values.constant(kind, chosen[name]), name)]
            pairs = zip([*leaves, *arguments], [*known[state], *of_sorts(given, arguments)], strict=True)
            said_here = z3.simplify(z3.substitute(together, *pairs))
            context, whole_of = said_here.ctx_ref(), said_here.as_ast()
            ids = [z3.Z3_get_ast_id(context, z3.Z3_get_app_arg(context, whole_of, at)) for at in range(len(wanted))]
            for number, (first, end) in places.items():
                last = first + 1 if self.place.judged else first + 1 + len(leaves)
                if true in ids[last:end]:
                    found[number].append(Failed())
                elif self.place.judged:
                    found[number].append(ids[first] == true)
                elif ids[first] != true:
                    found[number].append(None)
                else:
                    found[number].append(by_leaves.get(tuple(ids[first + 1 : last]), ("no state",)))
        return found

    # What rests on reading alone.

    def _same_code_means_the_same(self, read: dict[int, Part], real: dict[int, list[Answer]]) -> None:
        """Parts with one fingerprint share their machine code, so nothing may tell them apart."""
        fingerprints = Fingerprints(self.layout)
        first: dict[str, int] = {}
        for number, part in read.items():
            said = [part.parameters, part.guards, part.body] if isinstance(part, Action) else [part.value]
            other = first.setdefault(fingerprints.of(*said), number)
            self.compared.counts["with a known fingerprint"] += other != number
            if real[other] != real[number]:
                self._fault(number, f"fingerprint: it is that of {self._name(other)}, which does something else")

    def _impartial_parts_commute_with_renaming(self, read: dict[int, Part], real: dict[int, list[Answer]]) -> None:
        """Parts that favour no identifier as far as reading them tells may be searched up to renaming."""
        kinds = symmetric_types([*self.model.variable_types.values(), *self.kinds.values()])
        if not kinds:
            return
        swap = {kind.cls: (2, 1, *range(3, kind.count + 1)) for kind in kinds}
        places = {(state, tuple(chosen.values())): at for at, (state, chosen) in enumerate(self.points)}
        others = [places[renamed_all(state, swap), renamed_all(tuple(chosen.values()), swap)]
                  for state, chosen in self.points]
        for number, part in read.items():
            if first_bias(part, kinds) is not None:
                continue
            self.compared.counts["impartial"] += 1
            answers = real[number]
            for point, one, other in zip(self.points, answers, others, strict=True):
                meant = renamed_all(one, swap) if isinstance(one, tuple) else one
                if meant != answers[other]:
                    self._fault(number, f"symmetry: it distinguishes an identifier at {point}")
                    break

    def _count_meanings(self, read: dict[int, Part], real: dict[int, list[Answer]]) -> None:
        """Counts the effects of the bodies, so that a grammar of bodies without effects is noticed."""
        counts = self.compared.counts
        for number in read:
            answers = real[number]
            counts["that fail somewhere"] += Failed() in answers
            counts["that are disabled somewhere"] += None in answers


def renamed_all(values: tuple[Any, ...], swap: Renaming) -> tuple[Any, ...]:
    return tuple(renamed(value, swap) for value in values)


def _of_sort(term: Any, sort: Any) -> Any:
    """A component that may be a plain value, as a term."""
    if isinstance(term, bool):
        return z3.BoolVal(term)
    return z3.BitVecVal(term, sort.size()) if isinstance(term, int) else term


def kind_of(message: str) -> str:
    """The kind of a refusal: its message without names."""
    return re.sub(r"\b(act|law|ask)\d+\b", r"\1", message)
