"""Compares every engine with CPython on changed models: the mutants of ``floodmark mutate``, stronger ones, and
rewrites that must change nothing.

    python -m tools.mutants compare                      every spec of the repository; goes on where it was stopped
    python -m tools.mutants compare kraft --jobs 1       specs whose names begin so
    python -m tools.mutants draw --models 1000           drawn models, some variants of each function
    python -m tools.mutants terms                        compares z3's terms of the mutants of every spec with CPython
    python -m tools.mutants counterexamples              looks for those of the mutants in the same terms
    python -m tools.mutants prove                        asks the proof methods about some of each spec and each kind
    python -m tools.mutants report --write               puts what was compared into benchmarks/RESULTS.md

A function is changed in one model, the smallest of those that run it. Each changed model is searched natively up to a
number of states, and by CPython up to a number of steps, level by level and state by state
(``tests/support/level_agreement.py``). A rewrite that must change nothing (``tools/rewriting``) also has to have the
levels, digest, figures, verdict and length of trace of the unchanged model.

With ``terms``, z3's terms of the actions, boundaries and properties that run the function are compared with CPython, in
states from all parts of the unchanged model's search (``tests/support/term_agreement.py``); terms for any number of
identifiers must not exclude what CPython does. Every query of a proof method consists of these terms. With
``counterexamples``, each violation that a search finds has to be a counterexample in the terms of the methods as well
(``tests/support/counterexample_terms.py``), so that no sound method proves the property. With ``prove``, bounded search
by z3 has to come to CPython's verdict at CPython's depth, and no proof, also none for any number of identifiers, may
claim that a violated model holds, or the opposite. The methods run on one mutant of each kind of each spec: on a
violated one if the first few contain one. They go round by round, in each of which a spec has another kind.

A result counts as long as the changed model's text, its subject and the sources of Floodmark stay the same.
``report`` adds whole jobs of ``terms`` and ``counterexamples`` to ``tools/mutants.jsonl``. Another machine does not
repeat these while the changed functions have the same texts, whatever the sources of Floodmark.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import inspect
import itertools
import json
import linecache
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from random import Random
from types import CodeType, FrameType, FunctionType
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, seed, settings

from benchmarks.results import section
from floodmark import Identifier, Model
from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.mutation.change import changes
from floodmark.checkers.native import search as native
from floodmark.checkers.processes import run_each
from floodmark.checkers.project.loading import is_users
from floodmark.checkers.project.properties import Property, functions_by_name
from floodmark.checkers.project.reached_functions import reached_functions
from floodmark.checkers.project.spec import find, read_all
from floodmark.checkers.resources import cores
from floodmark.checkers.search_result import Limits, Options
from floodmark.checkers.symbolic.methods import bmc
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.checkers.verdict.result import ExitCode
from floodmark.compiler.program import read_program
from floodmark.language.errors import SourceError
from floodmark.language.model import State
from floodmark.language.reference import initial_states
from floodmark.language.source import rewritten, source_of
from floodmark.language.values import admit, running
from floodmark.language.widths import WidthExceeded
from tests.support.any_size_agreement import disagreements_of_part
from tests.support.counterexample_terms import RunTerms
from tests.support.drawn_states import drawn_states
from tests.support.engines import imported, properties_of
from tests.support.level_agreement import Budget, DisagreementError, Found, RefusedError, agreement
from tests.support.model_strategy import GeneratedModel
from tests.support.model_strategy import models as drawn_models
from tests.support.term_agreement import Part, Question, Terms, questions, run
from tools.mutant_archive import ArchivedJob, Summary, commit, summary
from tools.mutant_archive import read as read_archive
from tools.mutant_archive import write as write_archive
from tools.rewriting import members_of, rewrites
from tools.rewriting.scene import RewriteContext

ROOT = Path(__file__).parent.parent
VARIANTS_OF_A_KIND = 4
"""The number of stronger mutants of one kind of a function that are compared; their names decide which ones."""


@dataclass(frozen=True)
class Subject:
    """A model whose functions are changed, with the properties of states and of steps."""

    name: str
    model: Model
    properties: tuple[Property, ...]
    deadlock: bool
    check: Check | None = None

    @property
    def cls(self) -> type[Model]:
        return type(self.model)

    def functions(self) -> list[FunctionType]:
        """The functions of users' files that its steps and properties run."""
        roots = [method for kind in ("initial", "action", "boundary") for method in self.cls.methods(kind).values()]
        every = reached_functions(self.cls, [*roots, *(prop.function for prop in self.properties)])
        return [each for each in every if isinstance(each, FunctionType)]


def subjects_of_specs() -> list[Subject]:
    """The models of all specs, the smallest first."""
    specs = [spec for path in find([ROOT / "specs"], "all") for spec in read_all(path)]
    found = {}
    for spec in sorted(specs, key=lambda spec: (spec.expect.distinct or 10**9, spec.tier == "deep", spec.name)):
        check = Check(spec, None, CheckSettings())
        model = check.cls()(**check.constants)
        found[spec.name] = replace(subject(spec.name, model, check.properties()), deadlock=spec.deadlock, check=check)
    return list(found.values())


def subject(name: str, model: Model, properties: Sequence[Property]) -> Subject:
    return Subject(name, model, tuple(prop for prop in properties if not prop.is_liveness), deadlock=False)


@dataclass(frozen=True)
class Variant:
    """A changed function of a subject: one of ``floodmark mutate``'s, or a rewrite."""

    kind: str
    alike: bool
    what: str
    tree: ast.FunctionDef
    helpers: tuple[str, ...] = ()
    place: range = range(0)
    """The lines of the changed statement, as far as it has no statements in it."""

    def text(self) -> str:
        return "\n\n".join([*self.helpers, ast.unparse(self.tree)])


def variants(subject: Subject, function: FunctionType, few: int | None = VARIANTS_OF_A_KIND) -> Iterator[Variant]:
    """The changed functions that are compared; with ``few``, only so many of each stronger kind."""
    yield from mutants(function)
    yield from stronger(subject, function, few)


def mutants(function: FunctionType) -> Iterator[Variant]:
    """The changes that ``floodmark mutate`` makes of a function."""
    tree = source_of(function).tree
    for change in changes(tree):
        what = f"- {change.was}  + {change.now}"
        yield Variant(f"mutate: {change.kind}", False, what, change.tree, place=_statement(tree, change.line))


def _statement(tree: ast.FunctionDef, line: int) -> range:
    """The lines of the innermost statement at a line, without those of the statements in it."""
    at = max((node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node is not tree
              and node.lineno <= line <= (node.end_lineno or 0)), key=lambda node: (node.lineno, node.col_offset))
    inner = [node.lineno for node in ast.walk(at) if isinstance(node, ast.stmt) and node is not at]
    return range(at.lineno, max(at.lineno, min([it - 1 for it in inner], default=at.end_lineno or 0)) + 1)


def stronger(subject: Subject, function: FunctionType, few: int | None = VARIANTS_OF_A_KIND) -> Iterator[Variant]:
    """The rewrites of a function; with ``few``, only so many of each kind that makes another model."""
    for each in rewrites(scene_of(subject, function), few):
        yield Variant(each.kind, each.alike, each.what, each.tree, each.helpers)


def scene_of(subject: Subject, function: FunctionType) -> RewriteContext:
    """The knowledge of a rewrite about a function: the variables of one type, called functions, domains of loops."""
    kinds = subject.model.variable_types
    similar = {name: [other for other in kinds if other != name and kinds[other] == kinds[name]] for name in kinds}
    source = source_of(function)

    def called(call: ast.Call) -> tuple[FunctionType, ast.FunctionDef] | None:
        member: Any = None
        match call.func:
            case ast.Attribute(value=ast.Name(id=model), attr=name) if source.parameters[:1] == [model]:
                member = inspect.getattr_static(subject.cls, name, None)
            case ast.Name(id=name) if name not in source.own_names:
                member = function.__globals__.get(name)
        if not inspect.isfunction(member) or not is_users(member.__code__.co_filename):
            return None
        return member, source_of(member).tree

    def count(kind: type[Identifier]) -> int:
        with running(subject.model):
            return len(kind)

    return RewriteContext(function, source.tree, similar, called, members_of(function, count))


@contextmanager
def planted(function: FunctionType, variant: Variant) -> Iterator[None]:
    """Makes the change for as long as it is open; the functions that it needs are in a file of their own."""
    with ExitStack() as stack:
        if variant.helpers:
            stack.enter_context(_with_helpers(function, variant.helpers))
        stack.enter_context(rewritten(function, variant.tree))
        yield


@contextmanager
def _with_helpers(function: FunctionType, helpers: Sequence[str]) -> Iterator[None]:
    names = function.__globals__
    before = set(names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "helpers.py"
        path.write_text("\n\n\n".join(helpers) + "\n")
        try:
            exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), names)
            yield
        finally:
            for name in set(names) - before:
                del names[name]
            linecache.cache.pop(str(path), None)


def compare_variant(
    subject: Subject, function: FunctionType, variant: Variant, plain: Found | None, budget: Budget,
    proofs: bool = False,
) -> dict[str, Any]:
    """The result for a changed function: ``agreed``, ``refused``, ``disagreed`` or ``failed``, and the reason.

    ``plain`` is the result of the unchanged model; a change that makes another model needs none.
    """
    started, clock = time.process_time(), time.perf_counter()
    found = Found("")
    why = ""
    verdicts: Counter[str] = Counter()
    try:
        with planted(function, variant):
            found = agreement(subject.model, subject.properties, budget, subject.deadlock)
            fate = "agreed"
            if variant.alike and plain is not None and (why := difference(plain, found)):
                fate = "disagreed"
            if proofs:
                slow = (time.perf_counter() - clock) / max(0.01, time.process_time() - started)
                verdicts = prove_variant(subject, found, SECONDS * max(1.0, slow))
    except RefusedError as error:
        fate, why = "refused", str(error)
    except DisagreementError as error:
        fate, why = "disagreed", str(error)
    except Exception as error:
        fate, why = "failed", f"{type(error).__name__}: {error}"
    return {
        "subject": subject.name, "function": function.__qualname__, "kind": variant.kind, "alike": variant.alike,
        "what": variant.what, "fate": fate, "why": why[:2000], "verdict": found.verdict, "states": sum(found.levels),
        "compared": found.compared, "whole": found.whole, "proofs": dict(verdicts),
        "seconds": round(time.process_time() - started, 2),
    }


def difference(plain: Found, found: Found) -> str:
    """The first difference between models that must mean the same; empty if there is none."""
    if plain.verdict == found.verdict == "open":
        common = min(len(plain.levels), len(found.levels))
        if plain.levels[:common] != found.levels[:common]:
            return f"levels {found.levels}, of the model {plain.levels}"
        same = plain.levels != found.levels or plain.digest == found.digest
        return "" if same else "the states are others"
    return "" if plain == found else f"{found}, of the model {plain}"


DEPTH = 4
"""States of the longest runs that bounded search looks at, and the largest k."""
SECONDS = 3.0
"""The time limit of a method for a changed model, in processor time."""
TASKS = (ProofTask(method="induction"), ProofTask(method="k-induction", depth=DEPTH), ProofTask(method="infer"),
         ProofTask(method="induction", unbounded=True), ProofTask(method="induction", any_size=True),
         ProofTask(method="infer", any_size=True))
RANKING = ProofTask(method="ranking")
"""The method for properties of runs, which are not searched here; its proof searches them itself, as far as it gets."""
TRIALS = 6
"""The number of mutants of a kind that are searched for a violated one, on which the proof methods then run."""


def prove_variant(subject: Subject, found: Found, seconds: float) -> Counter[str]:
    """The verdicts of the proof methods, within so many seconds each, on a model on which CPython and the native search
    agree. Raises DisagreementError if one contradicts them."""
    assert subject.check is not None
    verdicts = Counter([_bounded(subject, found, seconds)])
    runs = any(prop.is_liveness for prop in subject.check.properties())
    for task in (*TASKS, RANKING) if runs else TASKS:
        name = f"{task.method}{' for any size' * task.any_size}{' unbounded' * task.unbounded}"
        try:
            result = prove_check(subject.check, replace(task, seconds=seconds))
        except (SourceError, UnsupportedError):
            verdicts[f"{name}: refused"] += 1
            continue
        verdicts[f"{name}: {result.verdict}"] += 1
        bad = found.verdict in ("violated", "error") and task is not RANKING
        wrong = (result.verdict, found.verdict) == ("violated", "holds") or (result.verdict == "holds" and bad)
        if wrong or result.exit_code == ExitCode.INTERNAL_ERROR:
            raise DisagreementError(f"{name}: {result.headline}; CPython: {found}")
    return verdicts


def check_counterexample(subject: Subject, function: FunctionType, variant: Variant) -> dict[str, Any]:
    """The result for a changed function: a counterexample, if a search finds one, has to be one in the terms of the
    proof methods. It is ``agreed``, ``refused``, ``disagreed`` or ``failed``, with the reason; ``steps`` are those of
    the run."""
    started = time.process_time()
    steps: list[int] = []

    def refutations(model: Model) -> list[str]:
        steps.clear()
        options = Options(workers=1, limits=Limits(states=Budget.states))
        found = native.search_states(model, subject.properties, options).violations[:1]
        steps.extend(len(each.trace) for each in found)
        return [each for one in found for each in RunTerms(model, subject.properties).refutations(one)]

    with planted(function, variant):
        try:
            wrong = at_widths(subject.model, refutations)
            fate, why = ("disagreed", wrong[0]) if wrong else ("agreed", "")
        except (SourceError, UnsupportedError) as error:
            fate, why = "refused", error.message
        except Exception as error:
            fate, why = "failed", f"{type(error).__name__}: {error}"
    return {
        "subject": subject.name, "function": function.__qualname__, "kind": variant.kind, "alike": False,
        "what": variant.what, "fate": fate, "why": why[:2000], "steps": steps,
        "seconds": round(time.process_time() - started, 2),
    }


def _bounded(subject: Subject, found: Found, seconds: float) -> str:
    """The result of bounded search, which has to find a violation at CPython's depth, and none before."""
    try:
        searched = at_widths(subject.model, lambda model: bmc.search(
            system_of(model, subject.properties), subject.properties, DEPTH, Deadline(seconds)))
    except (SourceError, UnsupportedError):
        return "bmc: refused"
    length = None if searched.violation is None else len(searched.violation.trace)
    bad = found.verdict in ("violated", "error")
    first = len(found.levels) if found.shortest is None else found.shortest
    if length is None and not searched.stopped and bad and first < DEPTH:
        raise DisagreementError(f"bmc finds nothing within {DEPTH} states; CPython: {found}")
    if length is not None and (found.shortest not in (None, length) if bad else _deep(found)):
        raise DisagreementError(f"bmc finds a run of {length} states; CPython: {found}")
    return f"bmc: {'stopped' if searched.stopped else 'nothing' if length is None else 'violated'}"


def _deep(found: Found) -> bool:
    """Whether a search has seen every run that bounded search looks at."""
    return found.verdict == "holds" or len(found.levels) >= DEPTH


# Terms.

STATES, STATES_OF_ANY_SIZE, CHOICES, SIZES = 5, 2, 4, (1, 2, 3)
"""The number of states in which z3's terms of a changed function are compared with CPython, also for any size; the
choices of an action's parameters in each; and the numbers of identifiers whose initial states are compared."""
FURTHER_STATES, DRAWN_STATES, QUESTIONS_OF_A_PLACE, MORE_MODELS = 300, 600, 3, 8
"""The numbers of reached states, drawn states and further models that are searched for questions for which CPython runs
the changed line, and the number of questions that suffice for a line."""


class Scope:
    """The states in which the functions of a subject are compared, and the parts of the model that run each of them."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        cls = subject.cls
        called: dict[Callable[..., Any], list[Callable[..., Any]]] = {}
        self.methods = {
            kind: {name: set(reached_functions(cls, [method], called)) for name, method in cls.methods(kind).items()}
            for kind in ("action", "boundary", "initial")
        }
        self.properties = {prop: set(reached_functions(cls, [prop.function], called)) for prop in subject.properties}
        self.states = at_widths(subject.model, self._states)

    def _states(self, model: Model) -> list[State]:
        self.sized = model
        found = native.begin(model, self.subject.properties, Options(workers=1, limits=Limits(states=Budget.states)))
        found.run()
        rows = [tuple(row) for piece in found.pieces() for row in piece.tolist()]
        unpack = found.interface.layout.unpack
        self.further = [unpack(rows[at]) for at in _spread(len(rows), FURTHER_STATES)]
        return [unpack(rows[at]) for at in _spread(len(rows), STATES)]

    def require_room(self, model: Model, questions: Sequence[Question]) -> None:
        """Raises WidthExceeded where a container of the model is too small for a state."""
        with running(model):
            for state in [*self.states, *(question.state for question in questions)]:
                for (name, kind), value in zip(model.variable_types.items(), state, strict=True):
                    admit(kind, value, name)

    def part(self, function: FunctionType) -> Part:
        """The part of the model that runs a function."""
        actions, boundaries = (
            frozenset(name for name, reached in self.methods[kind].items() if function in reached)
            for kind in ("action", "boundary")
        )
        properties = (prop for prop, reached in self.properties.items() if function in reached)
        begins = any(function in reached for reached in self.methods["initial"].values())
        return Part(actions, boundaries, tuple(properties), begins)

    def questions_at(self, function: FunctionType, places: Iterable[range]) -> dict[range, list[Question]]:
        """For each of these ranges of lines of a function, questions for which CPython runs them."""
        part, chance = self.part(function), Random(0)
        found: dict[range, list[Question]] = {place: [] for place in places}
        if not (part.actions or part.boundaries or part.properties):
            return found
        drawn = itertools.islice(drawn_states(self.sized, self.further, chance), DRAWN_STATES)
        states = itertools.chain(self.states, self.further, drawn)
        for few in iter(lambda: list(itertools.islice(states, 2)), []):
            for question in questions(self.sized, part, few, CHOICES, chance):
                try:
                    lines = lines_of(function, partial(run, self.sized, part, question))
                except WidthExceeded:
                    continue
                for place, known in found.items():
                    if len(known) < QUESTIONS_OF_A_PLACE and not lines.isdisjoint(place):
                        known.append(question)
            if all(len(known) == QUESTIONS_OF_A_PLACE for known in found.values()):
                break
        return found


def lines_of(function: FunctionType, runs: Callable[[], object]) -> set[int]:
    """The lines of a function that are run."""
    codes, waiting = set(), [function.__code__]
    while waiting:
        code = waiting.pop()
        codes.add(code)
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    lines: set[int] = set()

    def inside(frame: FrameType, event: str, argument: Any) -> Any:
        lines.add(frame.f_lineno)
        return inside

    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: inside if frame.f_code in codes else None)
    try:
        runs()
    finally:
        sys.settrace(before)
    return lines


def _spread(count: int, most: int) -> list[int]:
    """Up to ``most`` indices from all parts of a sequence, among them its last."""
    return sorted({(at + 1) * count // most - 1 for at in range(most)} - {-1})


def compare_terms(
    scope: Scope, function: FunctionType, variant: Variant, witnesses: Sequence[Question] = ()
) -> dict[str, Any]:
    """The result of comparing the terms of a changed function, also for the questions that run the change: ``agreed``,
    ``refused``, ``without terms``, ``disagreed`` or ``failed``, and the reason. ``asked`` counts the comparisons, those
    for any number of identifiers as well, and the questions for which CPython ran the changed line."""
    started = time.process_time()
    part = scope.part(function)
    counts: Counter[str] = Counter()

    def disagreements(model: Model) -> list[str]:
        scope.require_room(model, witnesses)
        counts.clear()
        terms = Terms(model, part)
        every = [*witnesses, *questions(model, part, scope.states, CHOICES, Random(0))]
        found = [*terms.disagreements(every)]
        counts["runs"] = sum(_runs_change(function, variant, partial(run, model, part, question)) for question in every)
        if part.begins:
            found += terms.initial_disagreements(scope.states)
            begun = itertools.islice(initial_states(model), FURTHER_STATES)
            counts["runs"] += _runs_change(function, variant, lambda: [*begun])
        counts.update(terms.counts)
        of_few = {question.state for question in witnesses[:1]} | {*scope.states[-STATES_OF_ANY_SIZE:]}
        few = [question for question in every if question.state in of_few]
        return found + open_disagreements(model, part, few, counts)

    with planted(function, variant):
        try:
            wrong = at_widths(scope.subject.model, disagreements)
            fate, why = ("disagreed", wrong[0]) if wrong else ("agreed", "")
        except (SourceError, UnsupportedError) as error:
            fate, why = _refusal(scope), error.message
        except Exception as error:
            fate, why = "failed", f"{type(error).__name__}: {error}"
    return {
        "subject": scope.subject.name, "function": function.__qualname__, "kind": variant.kind, "alike": False,
        "what": variant.what, "fate": fate, "why": why[:2000], "asked": dict(counts),
        "seconds": round(time.process_time() - started, 2),
    }


def open_disagreements(model: Model, part: Part, chosen: Sequence[Question], counts: Counter[str]) -> list[str]:
    """The behaviour of CPython that terms with open constants exclude, if there are such terms."""
    found = []
    for any_size in (True, False):
        way = "for any size" if any_size else "unbounded"
        try:
            wrong, count = disagreements_of_part(model, part, chosen, SIZES, any_size)
        except (SourceError, UnsupportedError):
            continue
        found += [f"{way}: {each}" for each in wrong]
        counts.update({f"{way}: {name}": number for name, number in count.items()})
        counts[way] += 1
    return found


def _runs_change(function: FunctionType, variant: Variant, runs: Callable[[], object]) -> bool:
    """Whether a changed line is run."""
    return not lines_of(function, runs).isdisjoint(variant.place)


def _refusal(scope: Scope) -> str:
    """The result for a changed model without terms: ``refused`` if its source cannot be read or it has no initial
    state, so that there is neither a search nor a proof; ``without terms`` if z3's translation refuses it."""
    model = scope.sized
    try:
        read_program(model, functions_by_name(scope.subject.properties))
        return "without terms" if next(initial_states(model), None) else "refused"
    except SourceError:
        return "refused"


# The campaign.


@dataclass(frozen=True)
class Job:
    """Variants of some functions of a subject: those of ``floodmark mutate``, or the stronger ones."""

    subject: Subject
    functions: Sequence[FunctionType]
    one_in: int
    budget: Budget
    is_stronger: bool
    question: str = "compare"
    """The command that compares them."""
    command: str = ""
    """The whole command."""
    kind: str = ""
    """The kind of the mutants; the proof methods run on one of them."""
    running: Mapping[FunctionType, Sequence[Subject]] = field(default_factory=dict)
    """The subjects that run each function, the smallest first; the others are used if the smallest does not run a
    changed line."""

    def variants(self) -> Iterator[tuple[FunctionType, Variant]]:
        for function in self.functions:
            found = stronger(self.subject, function) if self.is_stronger else mutants(function)
            yield from ((function, variant) for variant in found if self.kind in ("", variant.kind))

    def keys(self) -> list[str]:
        return [_key(self, function, variant) for function, variant in self.variants()]

    def content(self) -> str:
        return hashlib.sha256(" ".join(self.keys()).encode()).hexdigest()[:16]

    def __str__(self) -> str:
        kind = "rewrites" if self.is_stronger else self.kind or "mutants"
        return f"{self.subject.name}, {kind} of {len(self.functions)} functions from {self.functions[0].__qualname__}"


class TermComparison:
    """Compares the terms of a job's variants, each in the smallest of a few models in which CPython runs its line."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.scopes: dict[str, Scope] = {}
        self.questions: dict[FunctionType, dict[range, tuple[Scope, list[Question]]]] = {}

    def compare(self, function: FunctionType, variant: Variant) -> dict[str, Any]:
        if function not in self.questions:
            self.questions[function] = self._questions_by_place(function)
        scope, selected = self.questions[function][variant.place]
        entry = compare_terms(scope, function, variant, selected)
        return entry | {"subject": self.job.subject.name, "asked of": scope.subject.name}

    def _scope(self, subject: Subject) -> Scope:
        if subject.name not in self.scopes:
            self.scopes[subject.name] = Scope(subject)
        return self.scopes[subject.name]

    def _questions_by_place(self, function: FunctionType) -> dict[range, tuple[Scope, list[Question]]]:
        own = self._scope(self.job.subject)
        found: dict[range, tuple[Scope, list[Question]]] = {it.place: (own, []) for it in mutants(function)}
        if own.part(function) == Part(begins=True):
            return found
        every = self.job.running[function]
        for subject in [every[0], *(every[1:][at] for at in _spread(len(every) - 1, MORE_MODELS))]:
            missing = [place for place, (_, witnesses) in found.items() if not witnesses]
            if not missing:
                break
            scope = self._scope(subject)
            found |= {place: (scope, known) for place, known in scope.questions_at(function, missing).items() if known}
        return found


@cache
def _sources() -> str:
    """A hash of the sources of Floodmark and of this comparison."""
    files = [*(ROOT / "src").rglob("*.py")]
    files += [*(ROOT / "tools" / "rewriting").glob("*.py"), ROOT / "tests" / "support" / "level_agreement.py"]
    content = b"\0".join(path.read_bytes() for path in sorted(files))
    return hashlib.sha256(content).hexdigest()[:16]


def _key(job: Job, function: FunctionType, variant: Variant) -> str:
    name = function.__qualname__
    content = (job.subject.name, name, variant.kind, variant.what, variant.text(), job.budget, job.question)
    return hashlib.sha256(repr(content).encode()).hexdigest()[:20]


def _run_job(known: set[tuple[str, str]], into: Path, job: Job) -> Counter[str]:
    """Compares the variants of a job that have no result yet, and stores each result at once."""
    plain: Found | None = None
    comparison: TermComparison | None = None
    fates: Counter[str] = Counter()
    if job.kind:
        return _prove_one(known, into, job)
    for function, variant in job.variants():
        key = _key(job, function, variant)
        if (key, _sources()) in known or int(key[:8], 16) % job.one_in:
            continue
        if plain is None and variant.alike and job.question != "terms":
            plain = agreement(job.subject.model, job.subject.properties, job.budget, job.subject.deadlock)
        if job.question == "terms":
            comparison = TermComparison(job) if comparison is None else comparison
            entry = comparison.compare(function, variant)
        elif job.question == "counterexamples":
            entry = check_counterexample(job.subject, function, variant)
        else:
            entry = compare_variant(job.subject, function, variant, plain, job.budget)
        entry |= {"key": key, "sources": _sources(), "command": job.command}
        fates[entry["fate"]] += 1
        _store(into, entry, variant)
    return fates


def _prove_one(known: set[tuple[str, str]], into: Path, job: Job) -> Counter[str]:
    """Runs the proof methods on a violated mutant that has states, if one of the first is violated, or else on the
    first. A hash of the mutants decides their order."""
    every = sorted((_key(job, function, variant), function, variant) for function, variant in job.variants())[:TRIALS]
    if any((key, _sources()) in known for key, _, _ in every):
        return Counter()

    def is_violated(function: FunctionType, variant: Variant) -> bool:
        found = compare_variant(job.subject, function, variant, None, job.budget)
        return found["verdict"] in ("violated", "error") and found["states"] > 0

    key, function, variant = next((it for it in every if is_violated(*it[1:])), every[0])
    entry = compare_variant(job.subject, function, variant, None, job.budget, proofs=True)
    _store(into, entry | {"key": key, "sources": _sources(), "command": job.command}, variant)
    return Counter([entry["fate"]])


def proof_jobs(chosen: Sequence[str], budget: Budget, command: str) -> list[Job]:
    """Each spec with each kind of mutants that there is of its functions, which none smaller runs; in rounds, in each
    of which the specs have other kinds."""
    rounds: dict[int, list[Job]] = defaultdict(list)
    for number, (each, functions) in enumerate(smallest(subjects_of_specs())):
        if not chosen or any(each.name.startswith(name) for name in chosen):
            kinds = sorted({variant.kind for function in functions for variant in mutants(function)})
            for at, kind in enumerate(kinds):
                job = Job(each, functions, 1, budget, False, "prove", command, kind)
                rounds[(at - number) % len(kinds)].append(job)
    return [job for _, jobs in sorted(rounds.items()) for job in jobs]


def jobs(
    chosen: Sequence[str], one_in: int, budget: Budget, question: str = "compare", command: str = ""
) -> list[Job]:
    """Each function of the project once with the mutants of ``floodmark mutate``, and then once with the stronger
    ones, in the smallest model that runs it; in an order in which those that come first are a sample of all."""
    found = []
    every = subjects_of_specs()
    running: dict[FunctionType, list[Subject]] = defaultdict(list)
    for each in every if question == "terms" else ():
        for function in each.functions():
            running[function].append(each)
    for each, functions in smallest(every):
        if not chosen or any(each.name.startswith(name) for name in chosen):
            parts = [functions[at : at + FUNCTIONS_PER_JOB] for at in range(0, len(functions), FUNCTIONS_PER_JOB)]
            found += [Job(each, part, one_in, budget, is_stronger, question, command, running=running)
                      for is_stronger in ((False, True) if question == "compare" else (False,)) for part in parts]
    return sorted(found, key=lambda job: (job.is_stronger, hashlib.sha256(str(job).encode()).digest()))


FUNCTIONS_PER_JOB = 20
"""The number of functions of a model that one process changes; it reads the unchanged actions only once."""


def smallest(subjects: Sequence[Subject]) -> Iterator[tuple[Subject, list[FunctionType]]]:
    """Each subject with the functions that none before it runs."""
    seen: set[FunctionType] = set()
    for each in subjects:
        new = [function for function in each.functions() if function not in seen]
        seen.update(new)
        yield each, new


def results(into: Path) -> list[dict[str, Any]]:
    path = into / "compared.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def compare(into: Path, every: Sequence[Job], processes: int) -> None:
    into.mkdir(parents=True, exist_ok=True)
    _sources()  # as they are now, also for the processes that come later
    known = {(entry["key"], entry["sources"]) for entry in results(into)}
    archived = {(done.question, done.job): done.content for done in read_archive()}
    keys = [(job.question, str(job)) for job in every]
    every = [job for job, key in zip(every, keys, strict=True) if key not in archived or archived[key] != job.content()]
    totals: Counter[str] = Counter()
    done = 0
    for position, fates in run_each(partial(_run_job, known, into), every, processes, alone=lambda job: True):
        job = every[position]
        done += 1
        if isinstance(fates, Exception):
            print(f"{job}: {type(fates).__name__}: {fates}", flush=True)
            continue
        totals += fates
        print(f"{done}/{len(every)} {job}: {dict(fates)}; {dict(totals)}", flush=True)


def draw(into: Path, models: int, start: int, each: int, budget: Budget) -> None:
    """Compares some variants of each function of so many drawn models."""
    into.mkdir(parents=True, exist_ok=True)
    known = {(entry["key"], entry["sources"]) for entry in results(into)}
    fates: Counter[str] = Counter()

    @seed(start)
    @settings(max_examples=models, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=[Phase.generate])
    @given(drawn_models(growing=True))
    def compare_variants(model: GeneratedModel) -> None:
        source = model.source()
        name = f"drawn {hashlib.sha256(source.encode()).hexdigest()[:12]}"
        with imported(source, model.name, into) as cls:
            try:
                drawn = subject(name, cls(), properties_of(cls))
                plain = agreement(drawn.model, drawn.properties, budget)
            except (RefusedError, SourceError):
                return
            for function in drawn.functions():
                job = Job(drawn, [function], 1, budget, is_stronger=True)
                every = {_key(job, function, variant): variant for variant in variants(drawn, function, 1)}
                for key in sorted(every)[:each]:
                    if (key, _sources()) not in known:
                        known.add((key, _sources()))
                        entry = compare_variant(drawn, function, every[key], plain, budget)
                        fates[entry["fate"]] += 1
                        _store(into, entry | {"key": key, "sources": _sources()}, every[key], source)
        print(dict(fates), end="\r", flush=True)

    with patch("floodmark.language.widths.START", 1):  # so that most of what has no capacity grows
        compare_variants()
    print(dict(fates))


def _store(into: Path, entry: dict[str, Any], variant: Variant, source: str = "") -> None:
    """Writes down the result for a variant, and prints it if the engines disagree."""
    with (into / "compared.jsonl").open("a") as kept:
        kept.write(json.dumps(entry) + "\n")
    if entry["fate"] in ("disagreed", "failed"):
        print(f"{entry['fate']}  {entry['subject']}  {entry['function']}  {entry['kind']}  {entry['what']}\n"
              f"{entry['why']}\n{variant.text()}\n{source}", flush=True)


def table(into: Path) -> list[str]:
    """The results with the latest sources, by kind, for benchmarks/RESULTS.md."""
    every = results(into)
    latest = every[-1]["sources"] if every else ""
    kept = {entry["key"]: entry for entry in every if entry["sources"] == latest}
    for question, mark, describe in (("terms", "asked", _of_terms), ("counterexamples", "steps", _of_counterexamples)):
        if any(mark in entry for entry in kept.values()):
            return _of_archive(question, kept, describe)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in kept.values():
        kinds[entry["kind"]].update({entry["fate"]: 1, "whole": entry["whole"] and entry["fate"] == "agreed",
                                     "states": entry["compared"]})
    alike = {entry["kind"] for entry in kept.values() if entry["alike"]}
    totals = sum(kinds.values(), Counter())
    seconds = sum(entry["seconds"] for entry in kept.values())
    functions = {(entry["subject"], entry["function"]) for entry in kept.values()}
    lines = [
        f"{len(kept):,} changed models, of {len(functions):,} functions: {totals['agreed']:,} agree, "
        f"{totals['disagreed'] + totals['failed']:,} do not, and {totals['refused']:,} are refused by the compiler. "
        f"CPython expanded {totals['states']:,} states of them, and all states of {totals['whole']:,}. "
        f"{seconds:,.0f} seconds of one core.",
        "",
        *_of_all_mutants(sum(entry["kind"].startswith("mutate: ") and not entry["subject"].startswith("drawn ")
                             for entry in kept.values())),
    ]
    lines += _of_proofs(list(kept.values()))
    lines += ["| change | must mean the same | agreed | all states seen | refused | disagreed |",
              "|---|---|---|---|---|---|"]
    for kind, fates in sorted(kinds.items()):
        same = "yes" if kind in alike else ""
        lines.append(f"| {kind.replace('_', ' ')} | {same} | {fates['agreed']:,} | {fates['whole']:,} | "
                     f"{fates['refused']:,} | {fates['disagreed'] + fates['failed']:,} |")
    return lines


def _of_archive(
    question: str, kept: Mapping[str, dict[str, Any]], describe: Callable[[Summary], list[str]]
) -> list[str]:
    """Archives the jobs that are whole, and reports the results of these and of the rest."""
    rest = dict(kept)
    done = []
    for job in jobs([], 1, Budget(), question):
        keys = job.keys()
        entries = [rest.pop(key) for key in keys if key in rest]
        if len(entries) == len(keys) and not any(entry["fate"] in ("disagreed", "failed") for entry in entries):
            done.append(ArchivedJob(question, str(job), job.content(), commit(), summary(entries)))
        else:
            rest |= {entry["key"]: entry for entry in entries}
    write_archive(done)
    archived = [each for each in read_archive() if each.question == question]
    found = sum((each.summary for each in archived), summary(rest.values()))
    by = Counter({each.commit: 0 for each in archived})
    for each in archived:
        by[each.commit] += each.summary.changes
    asked_at = ", ".join(f"{count:,} at {name}" for name, count in sorted(by.items()))
    return [*_of_all_mutants(found.changes), *describe(found), *(["", f"Asked: {asked_at}."] if by else [])]


def _of_proofs(compared: Sequence[dict[str, Any]]) -> list[str]:
    """The verdicts of each proof method, by those of CPython."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in compared:
        found = "violated" if entry["verdict"] == "error" else entry["verdict"]
        for name, count in entry["proofs"].items():
            counts[name][found] += count
    if not counts:
        return []
    made = Counter(entry["command"] for entry in compared)
    by = ", ".join(f"{count:,} by `{command}`" for command, count in sorted(made.items()))
    lines = [f"Which of the changed models z3 is asked about, a hash of what they are decides: {by}. Their order is "
             "one of hashes, too, so what a command had asked when it was stopped is a sample of the same kind.", "",
             "What the proof methods said of those that CPython found to hold, to be violated (or to have a model "
             "error), or not to be violated as far as it searched:", "",
             "| method | holds | violated | open |", "|---|---|---|---|"]
    lines += [f"| {name} | {each['holds']:,} | {each['violated']:,} | {each['open']:,} |"
              for name, each in sorted(counts.items())]
    return [*lines, ""]


def _of_terms(found: Summary) -> list[str]:
    """The results of comparing the terms of changed functions."""
    fates, asked, idle, why = found.fates, found.asked, found.idle, found.reasons
    names = ", ".join(f"`{name}` {count}" for name, count in sorted(idle.items()))
    return [
        f"z3's terms of {fates['agreed']:,} of them mean what CPython does; those of "
        f"{fates['disagreed'] + fates['failed']:,} do not. {fates['refused']:,} are refused by the compiler or have no "
        "initial state, so there is neither a search of them nor a proof; "
        f"{fates['without terms']:,} have no terms, so there is no proof.",
        "",
        f"CPython runs the changed line in some question about each, but for {idle.total():,} changes of lines that it "
        f"runs in none of {FURTHER_STATES} reached and {DRAWN_STATES} drawn states of up to {MORE_MODELS + 1} models: "
        f"{names or 'none'}. {asked['elsewhere']:,} were asked in another model than the smallest one. "
        f"{asked['steps']:,} steps and {asked['predicates']:,} values of properties and boundaries were compared, and "
        f"whether {asked['beginnings']:,} states are initial, which every method takes from CPython where a model has "
        f"constants. {_of_open_constants(asked, 'for any size')} have terms for any number of identifiers as well, "
        f"{_of_open_constants(asked, 'unbounded')} some for every bound of integers. "
        f"{found.seconds:,.0f} seconds of one core.",
        *(["", "Why there are no terms: " + "; ".join(f"{reason} ({count:,})" for reason, count in why.most_common())]
          if why else []),
    ]


def _of_counterexamples(found: Summary) -> list[str]:
    """The number of counterexamples that are counterexamples in terms as well."""
    fates = found.fates
    return [
        f"A search of up to {Budget.states:,} states finds {found.changes - fates['without a counterexample']:,} of "
        f"them violated, with runs of {found.asked['states']:,} states. "
        f"{fates['agreed']:,} counterexamples are some in the terms of the proof methods: they begin in an "
        "initial state, each step satisfies the step relation, the last state or step breaks the property, and that "
        "step is a counterexample to induction, all of which z3's simplifier says without a query. "
        f"{fates['disagreed'] + fates['failed']:,} are not, and {fates['refused']:,} models have no terms. "
        f"{found.seconds:,.0f} seconds of one core.",
    ]


def _of_open_constants(asked: Counter[str], way: str) -> str:
    """The number of changed models that have terms with open constants, and their comparisons."""
    counts = {name.removeprefix(f"{way}: "): count for name, count in asked.items() if name.startswith(f"{way}: ")}
    steps = counts.get("steps", 0) + counts.get("failures", 0)
    properties = sum(count for name, count in counts.items() if name.startswith(("properties", "transitions")))
    return (f"{asked[way]:,} (which exclude none of {steps:,} steps, {properties:,} values of properties and "
            f"{counts.get('initial', 0):,} beginnings with 1 to {SIZES[-1]})")


def _of_all_mutants(counted: int) -> list[str]:
    """The number of mutants that ``floodmark mutate`` makes of all specs, and of those that were compared."""
    subjects = subjects_of_specs()
    made = {function: len(list(mutants(function))) for _, functions in smallest(subjects) for function in functions}
    of_specs = sum(made[function] for each in subjects for function in each.functions())
    return [
        f"`floodmark mutate` makes {sum(made.values()):,} changes of the {len(made):,} functions of {len(subjects)} "
        f"specs, {of_specs:,} if a change counts once for each spec whose model runs it. {counted:,} of them were "
        f"compared, each in the smallest model that runs it.",
        "",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "mutants", help="where what is found is kept")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("compare", "terms", "counterexamples", "prove"):
        comparing = commands.add_parser(name)
        comparing.add_argument("specs", nargs="*", help="what their names begin with; all of them by default")
        if name != "prove":
            comparing.add_argument("--one-in", type=int, default=1, help="only one variant in so many")
        comparing.add_argument("--jobs", type=int, default=cores(), help="how many at once")
        comparing.add_argument("--steps", type=int, default=Budget.steps, help="steps that CPython takes of each")
    drawing = commands.add_parser("draw")
    drawing.add_argument("--models", type=int, default=1000)
    drawing.add_argument("--seed", type=int, default=1)
    drawing.add_argument("--each", type=int, default=4, help="variants of each function")
    reporting = commands.add_parser("report")
    reporting.add_argument("--write", action="store_true", help="puts the figures into benchmarks/RESULTS.md")
    options = parser.parse_args(arguments)
    if options.command == "report":
        lines = table(options.into)
        print("\n".join(lines))
        if options.write:
            every = results(options.into)
            proofs = any(entry.get("proofs") for entry in every)
            name = "proofs of mutants" if proofs else "mutants and rewrites"
            name = "terms of mutants" if any("asked" in entry for entry in every) else name
            name = "counterexamples of mutants" if any("steps" in entry for entry in every) else name
            section(name, "python -m tools.mutants report --write", lines)
        return
    with tempfile.TemporaryDirectory() as cache_folder:
        os.environ["FLOODMARK_CACHE"] = cache_folder
        if options.command == "draw":
            draw(options.into, options.models, options.seed, options.each, Budget(states=400, steps=300, late=3))
            return
        budget = replace(Budget(), steps=options.steps)
        command = " ".join(["python -m tools.mutants", options.command, *options.specs])
        if options.command == "prove":
            compare(options.into, proof_jobs(options.specs, budget, command), options.jobs)
            return
        compare(options.into, jobs(options.specs, options.one_in, budget, options.command, command), options.jobs)


if __name__ == "__main__":
    main()
