"""The gate's jobs (a check, a proof or a claim each) and what the verdict of each depends on."""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import pickle
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from floodmark.checkers import processes
from floodmark.checkers.gate.basis import Bases, Basis
from floodmark.checkers.gate.closure import Closure, Numbering
from floodmark.checkers.gate.limits import RunDeadline, seconds_left
from floodmark.checkers.gate.property_hashes import meanings
from floodmark.checkers.project.claim import Claim, read_claims
from floodmark.checkers.project.loading import is_users
from floodmark.checkers.project.paths import shown
from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import ListedProof, Spec
from floodmark.checkers.project.versions import source_hash, versions
from floodmark.checkers.run.checks import run_check, with_divergence
from floodmark.checkers.search_result import Limits, Watcher
from floodmark.checkers.symbolic.methods.lemmas import lemmas_of
from floodmark.checkers.symbolic.methods.rankings import ranking_roots
from floodmark.checkers.symbolic.records.answer_file import recorded_answers
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.proof_result import ProofResult, proof_command
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.checkers.verdict.verdict import blank
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

Sources = Mapping[str, Any]
"""Hashes of what was checked, as they are in the lock; those of properties are a table of their own."""
PROPERTIES = "properties"
VerdictWithSources = tuple[CheckResult | ProofResult, Sources]


@dataclass(frozen=True, slots=True)
class VerdictSubject:
    """The subject of a verdict: classes and functions, each with its name, and the modules that were searched for
    them. ``properties`` are those of a check."""

    roots: Sequence[Any]
    names: Sequence[str]
    modules: Sequence[ModuleType]
    properties: Sequence[Property] = ()


@dataclass(frozen=True, slots=True)
class CacheKey:
    """The hash of what a verdict depends on, and the part of that which may change while the verdict is being found."""

    text: str
    basis: Basis


_FLAWED_SECONDS, _CLAIM_SECONDS, _PROOF_SECONDS, _ANY_SIZE_SECONDS = 0.5, 0.6, 3.0, 60.0
"""Claims come first: their times differ most, from hundredths of a second to several seconds."""
_GENERATED_A_SECOND = 4_000_000
_USUAL_GENERATED = 200_000


class Job(Protocol):
    """A job that finds a verdict. ``name`` is its entry in the lock, ``seconds`` an estimate of its duration."""

    @property
    def name(self) -> str: ...

    @property
    def seconds(self) -> float: ...

    def within(self, deadline: RunDeadline | None) -> Job:
        """The same job in a run with this deadline."""

    def load(self) -> VerdictSubject:
        """Loads the subject of the verdict. Raises SourceError if it cannot be read."""

    def key(self, subject: VerdictSubject, bases: Bases) -> CacheKey:
        """The dependences of the verdict, once everything is loaded. Raises NotCacheable when they cannot be known."""

    def run(self, watch: Watcher | None = None) -> VerdictWithSources:
        """Finds the verdict. Never raises: an error is a verdict too."""

    def received(self, found: VerdictWithSources, subject: VerdictSubject | None) -> VerdictWithSources:
        """The result of another process or an earlier run, completed as if it had been found here. The subject is None
        if it could not be loaded."""


def run_pickled(job: Job) -> bytes:
    """Runs a job in a worker process, and reports the progress of its search."""
    return pickled(*job.run(processes.tell))


def pickled(result: CheckResult | ProofResult, sources: Sources) -> bytes:
    """A result in the form that ``unpickled`` reads."""
    if isinstance(result, CheckResult):
        result = replace(result, properties=[])  # the user's functions, which every process loads for itself
    return pickle.dumps((result, sources), pickle.HIGHEST_PROTOCOL)


def unpickled(job: Job, subject: VerdictSubject | None, content: bytes) -> VerdictWithSources:
    """The result that ``run_pickled`` returned."""
    found: VerdictWithSources = pickle.loads(content)
    return job.received(found, subject)


def is_final(result: CheckResult | ProofResult) -> bool:
    """Whether a verdict may be cached because more time would not change it."""
    return result.exit_code in (ExitCode.AS_EXPECTED, ExitCode.NOT_AS_EXPECTED)


@dataclass(frozen=True, slots=True)
class CheckJob:
    """A spec's model, or the known-bad design that ``variant`` names in the lock. ``generated`` and ``total`` are the
    figures that its search will have, as far as they are known."""

    name: str
    variant: str | None
    check: Check
    generated: int | None = None
    total: int | None = None
    deadline: RunDeadline | None = None

    @property
    def seconds(self) -> float:
        if self.check.flawed is not None:
            return _FLAWED_SECONDS
        expect = self.check.spec.expect
        guess = self.generated or expect.generated or 4 * (expect.distinct or 0) or _USUAL_GENERATED
        return _FLAWED_SECONDS + guess / _GENERATED_A_SECOND

    def within(self, deadline: RunDeadline | None) -> CheckJob:
        return replace(self, deadline=deadline)

    def load(self) -> VerdictSubject:
        check, cls = self.check, self.check.cls()
        properties = check.properties()
        roots = [check.spec.model_class(), cls, *(each for prop in properties for each in prop.functions)]
        names = [f"{prop.kind} {prop.name}" for prop in properties]
        return VerdictSubject(roots, names, _consulted(check.spec, cls, check.settings.invariant_files), properties)

    def key(self, subject: VerdictSubject, bases: Bases) -> CacheKey:
        check = self.check
        flawed = None if check.flawed is None else replace(check.flawed, line=None)
        # A verdict is the same within any limits, and what a comparison adds can be added later.
        settings = replace(check.settings, workers=0, limits=Limits(), compare=True)
        return _key("check", subject, bases, _plain(check.spec), flawed, settings)

    def run(self, watch: Watcher | None = None) -> VerdictWithSources:
        result = run_within(self.check, self.deadline, watch)
        return result, self.sources(result)

    def sources(self, result: CheckResult) -> Sources:
        """The hashes of the checked sources; empty if these could not be read."""
        if result.subject is None:
            return {}
        if self.variant is not None:
            return self.model_sources()
        by_name = sorted(self.check.properties(), key=lambda prop: prop.name)
        return {**self.model_sources(), PROPERTIES: meanings(by_name, type(result.subject))}

    def model_sources(self) -> Sources:
        """The hashes of the model and its properties, once they have been read."""
        source, closure, numbering = _model_source(self.check.spec.model_class())
        closure, numbering = closure.copy(), numbering.copy()
        files = _files(_consulted(self.check.spec, self.check.cls(), self.check.settings.invariant_files))
        functions = [each for prop in self.check.properties() for each in prop.functions]
        if self.check.flawed is not None:
            return {"source": numbering.hash(closure.add([self.check.cls(), *functions], files))}
        outside = closure.add(functions, files)
        return {"source": source, **({"predicates": numbering.hash(outside)} if outside else {})}

    def received(self, found: VerdictWithSources, subject: VerdictSubject | None) -> VerdictWithSources:
        result, sources = found
        assert isinstance(result, CheckResult)
        check = self.check
        properties = [] if subject is None or result.search_result is None else list(subject.properties)
        place, line = shown(check.spec.path), check.spec.first_line
        completed = replace(result, spec=place, spec_line=line, properties=properties, reproduce=check.reproduce())
        lines = {scenario.name: scenario.line for scenario in check.spec.scenario}
        scenarios = tuple(replace(each, line=lines.get(each.name)) for each in result.scenarios)
        return replace(completed, scenarios=scenarios), sources


@dataclass(frozen=True, slots=True)
class ProofJob:
    """A proof that a spec lists."""

    name: str
    spec: Spec
    proving: ListedProof
    deadline: RunDeadline | None = None

    @property
    def seconds(self) -> float:
        return _ANY_SIZE_SECONDS if self.proving.any_size else _PROOF_SECONDS

    def within(self, deadline: RunDeadline | None) -> ProofJob:
        return replace(self, deadline=deadline)

    def load(self) -> VerdictSubject:
        roots = self._roots()
        consulted = [*_consulted(self.spec, roots[0]), *self.spec.invariant_modules(roots[0], "lemmas")]
        return VerdictSubject(roots, [root.__qualname__ for root in roots], consulted)

    def key(self, subject: VerdictSubject, bases: Bases) -> CacheKey:
        return _key("proof", subject, bases, _plain(self.spec), self.proving, recorded_answers(self.spec, self.proving))

    def _roots(self) -> list[Any]:
        cls = self.spec.model_class()
        properties = self.spec.properties(cls)
        ranks = self.proving.method == "ranking"
        subjects = list(properties.values()) if ranks else self.spec.chosen(properties)
        lemmas = lemmas_of(self.spec, cls) if ranks or self.proving.method == "induction" else []
        rankings = ranking_roots(self.spec, cls) if ranks else []
        return [cls, *(prop.function for prop in [*subjects, *lemmas]), *rankings]

    def run(self, watch: Watcher | None = None) -> VerdictWithSources:
        if self.deadline is not None and not self.deadline.left:
            return replace(self._blank(), **_undetermined(self.deadline)), {}
        from floodmark.checkers.symbolic.prove import prove_listed

        try:
            proved = prove_listed(self.spec, self.proving, seconds=seconds_left(self.deadline))
            return proved, self.sources()
        except Exception as error:
            return _with(self._blank(), error), {}

    def sources(self) -> Sources:
        """The hash of what is proved, once it has been read."""
        subject = self.load()
        return {"source": Numbering().hash(Closure().add(subject.roots, _files(subject.modules)))}

    def _blank(self) -> ProofResult:
        file = shown(self.spec.path)
        unset = ProofResult(self.name, self.proving.method, "error", ExitCode.USER_ERROR, "", 0.0, file)
        command = proof_command(self.spec, self.proving)
        return replace(unset, line=self.proving.line, model=self.spec.model, reproduce=command)

    def received(self, found: VerdictWithSources, subject: VerdictSubject | None) -> VerdictWithSources:
        result, sources = found
        assert isinstance(result, ProofResult)
        command = proof_command(self.spec, self.proving)
        return replace(result, spec=shown(self.spec.path), line=self.proving.line, reproduce=command), sources


@dataclass(frozen=True, slots=True)
class ClaimJob:
    """A claim: the function ``function`` of a file."""

    name: str
    path: Path
    function: str
    deadline: RunDeadline | None = None

    @property
    def seconds(self) -> float:
        return _CLAIM_SECONDS

    def _claim(self) -> Claim:
        return next(claim for claim in read_claims(self.path) if claim.name == self.function)

    def within(self, deadline: RunDeadline | None) -> ClaimJob:
        return replace(self, deadline=deadline)

    def load(self) -> VerdictSubject:
        claim = self._claim()
        return VerdictSubject([claim.function], [claim.name], [sys.modules[claim.function.__module__]])

    def key(self, subject: VerdictSubject, bases: Bases) -> CacheKey:
        return _key("claim", subject, bases, self.path.resolve(), self.function)

    def run(self, watch: Watcher | None = None) -> VerdictWithSources:
        unset = ProofResult(self.name, "claim", "error", ExitCode.USER_ERROR, "", 0.0, shown(self.path))
        if self.deadline is not None and not self.deadline.left:
            return replace(unset, **_undetermined(self.deadline)), {}
        from floodmark.checkers.symbolic.prove import prove_claim

        try:
            claim = self._claim()
            answered = prove_claim(claim, seconds_left(self.deadline))
            proved = replace(answered, reproduce=f"floodmark prove {shown(self.path)}")
            return proved, {"source": Numbering().hash(Closure().add([claim.function]))}
        except Exception as error:
            return _with(unset, error), {}

    def received(self, found: VerdictWithSources, subject: VerdictSubject | None) -> VerdictWithSources:
        result, sources = found
        assert isinstance(result, ProofResult)
        return replace(result, spec=shown(self.path), reproduce=f"floodmark prove {shown(self.path)}"), sources


def run_within(check: Check, deadline: RunDeadline | None, watch: Watcher | None = None) -> CheckResult:
    """Runs a check in the time that is left; without any, its verdict is undetermined."""
    if deadline is None:
        return run_check(check, watch)
    if not deadline.left:
        return replace(blank(check), verdict="undetermined", exit_code=ExitCode.UNDETERMINED, message=deadline.reason)
    limits = replace(check.settings.limits, seconds=seconds_left(deadline, check.seconds))
    return run_check(replace(check, settings=replace(check.settings, limits=limits)), watch)


def asks_a_solver(job: Job) -> bool:
    """Whether a job is a proof or a claim."""
    return not isinstance(job, CheckJob)


def load_solver() -> None:
    """Loads the code of proofs and claims for all processes that begin later. It takes a quarter of a second, so a run
    without proofs or claims skips it."""
    importlib.import_module("floodmark.checkers.symbolic.prove")


def complete_result(job: Job, found: VerdictWithSources) -> VerdictWithSources:
    """The result of an earlier run, completed with the parts that it lacks; ``found`` itself if it lacks none."""
    result, sources = found
    if not isinstance(job, CheckJob) or not isinstance(result, CheckResult) or job.check.flawed is None:
        return found
    if not job.check.settings.compare or result.divergence is not None:
        return found
    more = with_divergence(job.check, result)
    return found if more.divergence is None else (more, sources)


def overdue(job: Job, deadline: RunDeadline) -> VerdictWithSources:
    """The result of a job that was still running long after the run should have ended."""
    if isinstance(job, CheckJob):
        undecided = replace(blank(job.check), verdict="undetermined", exit_code=ExitCode.UNDETERMINED)
        return replace(undecided, message=deadline.reason), {}
    return ProofResult(job.name, "", "undetermined", ExitCode.UNDETERMINED, deadline.reason, 0.0), {}


def _undetermined(deadline: RunDeadline) -> dict[str, Any]:
    return {"verdict": "undetermined", "exit_code": ExitCode.UNDETERMINED, "headline": deadline.reason}


def _with(unset: ProofResult, error: Exception) -> ProofResult:
    """A result that reports an error."""
    if isinstance(error, SourceError):
        return replace(unset, headline=str(error))
    return replace(
        unset, exit_code=ExitCode.INTERNAL_ERROR, headline=f"{type(error).__name__}: {error}",
        lines=traceback.format_exc().splitlines(),
    )


def unreadable(path: Path, error: SourceError) -> ProofResult:
    """The result of a file of claims that cannot be read."""
    return _with(ProofResult(path.stem, "claim", "error", ExitCode.USER_ERROR, "", 0.0, shown(path), error.line), error)


@functools.lru_cache(maxsize=1)
def _model_source(cls: type[Model]) -> tuple[str, Closure, Numbering]:
    """The hash of a model, for the latest one: its known-bad designs, which are checked after it, begin with it."""
    closure, numbering = Closure(), Numbering()
    return numbering.hash(closure.add([cls])), closure, numbering


class _LatestSpec:
    """The statements of the latest spec, which all its known-bad designs share."""

    spec: Spec | None = None
    plain: str = ""


def _plain(spec: Spec) -> str:
    """The statements of a spec about its model, independent of their place and of its other keys."""
    if _LatestSpec.spec is not spec:
        files = tuple(file.resolve() for file in spec.invariant_files)
        path = spec.path.resolve()
        plain = replace(spec, path=path, invariant_files=files, flawed=(), prove=(), mutation=None, lines={})
        _LatestSpec.spec, _LatestSpec.plain = spec, repr(plain)
    return _LatestSpec.plain


def _consulted(spec: Spec, cls: type[Model], files: tuple[Path, ...] = ()) -> list[ModuleType]:
    """The modules that were searched for a class and its properties, also those that define none."""
    bases = [sys.modules[base.__module__] for base in cls.__mro__ if base.__module__ in sys.modules]
    given = [spec.project.load(file) for file in (*spec.invariant_files, *files)]
    return [*bases, spec.module(), *spec.invariant_modules(cls, "scenarios"), *given]


def _files(modules: Iterable[ModuleType]) -> list[Path]:
    """The files of users' modules."""
    files = [file for module in modules if isinstance(file := getattr(module, "__file__", None), str)]
    return [Path(file) for file in files if is_users(file)]


def _key(kind: str, subject: VerdictSubject, bases: Bases, *parts: Any) -> CacheKey:
    """The key of a verdict. Texts of results name files as one sees them from the current folder."""
    basis = bases.of(subject.modules, subject.roots)
    parts = (sorted(basis.files.items()), subject.names, *parts)
    text = "\x1f".join([source_hash(), versions(), os.getcwd(), kind, basis.values, *map(repr, parts)])
    return CacheKey(hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest(), basis)
