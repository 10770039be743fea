"""The jobs of a gate: a check, a proof or a claim each, with what its verdict depends on."""

from __future__ import annotations

import hashlib
import pickle
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from checkers.gate.closure import Closure, Numbering
from checkers.gate.versions import checker_source, versions
from checkers.result import CheckResult, ExitCode
from checkers.run import Check, run_check, shown
from checkers.spec import Proving, Spec
from checkers.symbolic.claims import Claim
from checkers.symbolic.claims import read as read_claims
from checkers.symbolic.lemmas import lemmas_of
from checkers.symbolic.prove import Proved, prove_claim, prove_listed, reproduce
from model.language.errors import SourceError

Sources = Mapping[str, str]
"""Hashes of what was checked, as they stand in the lock."""
Found = tuple[CheckResult | Proved, Sources]

_FLAWED_SECONDS, _CLAIM_SECONDS, _PROOF_SECONDS = 0.5, 0.2, 3.0
_GENERATED_A_SECOND = 4_000_000
_USUAL_GENERATED = 200_000


class Job(Protocol):
    """Something with a verdict. ``name`` is its entry in the lock, ``seconds`` a guess of how long it takes."""

    @property
    def name(self) -> str: ...

    @property
    def seconds(self) -> float: ...

    def key(self) -> str:
        """What the verdict depends on, hashed. Raises SourceError when the sources cannot be read."""

    def run(self) -> Found:
        """Finds the verdict. Never raises: an error is a verdict too."""

    def received(self, found: Found) -> Found:
        """What another process or an earlier run found, as if it had been found here."""


def run_pickled(job: Job) -> bytes:
    """Runs a job for another process, or for a later run."""
    return pickled(*job.run())


def pickled(result: CheckResult | Proved, sources: Sources) -> bytes:
    """A result for ``unpickled``."""
    if isinstance(result, CheckResult):
        result = replace(result, properties=[])  # functions of the user's files, which every process has itself
    return pickle.dumps((result, sources), pickle.HIGHEST_PROTOCOL)


def unpickled(job: Job, content: bytes) -> Found:
    """What ``run_pickled`` gave."""
    found: Found = pickle.loads(content)
    return job.received(found)


def is_final(result: CheckResult | Proved) -> bool:
    """Whether a verdict may be kept: it would be the same again, however much time there were."""
    return result.exit_code in (ExitCode.AS_EXPECTED, ExitCode.NOT_AS_EXPECTED)


@dataclass(frozen=True, slots=True)
class CheckJob:
    """A spec's model, or one of its known-bad designs, which ``variant`` names in the lock."""

    name: str
    variant: str | None
    check: Check
    generated: int | None = None

    @property
    def seconds(self) -> float:
        if self.check.flawed is not None:
            return _FLAWED_SECONDS
        expect = self.check.spec.expect
        guess = self.generated or expect.generated or 4 * (expect.distinct or 0) or _USUAL_GENERATED
        return _FLAWED_SECONDS + guess / _GENERATED_A_SECOND

    def key(self) -> str:
        check = self.check
        flawed = None if check.flawed is None else replace(check.flawed, line=None)
        properties = check.properties()
        closure = Closure()
        closure.add([check.spec.model_class(), check.cls(), *(prop.function for prop in properties)])
        settings = replace(check.settings, workers=0)
        names = [prop.name for prop in properties]
        return _hash("check", closure.exact(), names, _plain(check.spec), flawed, settings, check.constants)

    def run(self) -> Found:
        result = run_check(self.check)
        return result, self.sources(result)

    def sources(self, result: CheckResult) -> Sources:
        """The hashes of what was checked; none where it could not be read."""
        return {} if result.subject is None else self.model_sources()

    def model_sources(self) -> Sources:
        """The hashes of the model and of its properties, which can be read."""
        closure, numbering = Closure(), Numbering()
        source = numbering.hash(closure.add([self.check.spec.model_class()]))
        functions = [prop.function for prop in self.check.properties()]
        if self.check.flawed is not None:
            return {"source": numbering.hash(closure.add([self.check.cls(), *functions]))}
        outside = closure.add(functions)
        return {"source": source, **({"predicates": numbering.hash(outside)} if outside else {})}

    def received(self, found: Found) -> Found:
        result, sources = found
        assert isinstance(result, CheckResult)
        check = self.check
        properties = check.properties() if result.exploration is not None else []
        place = shown(check.spec.path)
        return replace(result, spec=place, properties=properties, reproduce=check.reproduce()), sources


@dataclass(frozen=True, slots=True)
class ProofJob:
    """A proof that a spec lists."""

    name: str
    spec: Spec
    proving: Proving

    @property
    def seconds(self) -> float:
        return _PROOF_SECONDS

    def key(self) -> str:
        roots = self._roots()
        closure = Closure()
        closure.add(roots)
        return _hash("proof", closure.exact(), [root.__qualname__ for root in roots], _plain(self.spec), self.proving)

    def _roots(self) -> list[Any]:
        cls = self.spec.model_class()
        properties = self.spec.chosen(self.spec.properties(cls))
        lemmas = lemmas_of(self.spec, cls) if self.proving.method == "induction" else []
        return [cls, *(prop.function for prop in [*properties, *lemmas])]

    def run(self) -> Found:
        try:
            proved = prove_listed(self.spec, self.proving)
            return proved, {"source": Numbering().hash(Closure().add(self._roots()))}
        except Exception as error:
            return self._failed(error), {}

    def _failed(self, error: Exception) -> Proved:
        blank = Proved(self.name, self.proving.method, "error", ExitCode.USER_ERROR, "", 0.0, shown(self.spec.path))
        command = reproduce(self.spec, self.proving)
        return _with(replace(blank, line=self.proving.line, model=self.spec.model, reproduce=command), error)

    def received(self, found: Found) -> Found:
        result, sources = found
        assert isinstance(result, Proved)
        command = reproduce(self.spec, self.proving)
        return replace(result, spec=shown(self.spec.path), line=self.proving.line, reproduce=command), sources


@dataclass(frozen=True, slots=True)
class ClaimJob:
    """A claim: the function ``function`` of a file."""

    name: str
    path: Path
    function: str

    @property
    def seconds(self) -> float:
        return _CLAIM_SECONDS

    def _claim(self) -> Claim:
        return next(claim for claim in read_claims(self.path) if claim.name == self.function)

    def key(self) -> str:
        closure = Closure()
        closure.add([self._claim().function])
        return _hash("claim", closure.exact(), self.path.resolve(), self.function)

    def run(self) -> Found:
        try:
            claim = self._claim()
            proved = replace(prove_claim(claim), reproduce=f"floodmark prove {shown(self.path)}")
            return proved, {"source": Numbering().hash(Closure().add([claim.function]))}
        except Exception as error:
            blank = Proved(self.name, "claim", "error", ExitCode.USER_ERROR, "", 0.0, shown(self.path))
            return _with(blank, error), {}

    def received(self, found: Found) -> Found:
        result, sources = found
        assert isinstance(result, Proved)
        return replace(result, spec=shown(self.path), reproduce=f"floodmark prove {shown(self.path)}"), sources


def _with(blank: Proved, error: Exception) -> Proved:
    """A result that says what went wrong."""
    if isinstance(error, SourceError):
        return replace(blank, headline=str(error))
    return replace(
        blank, exit_code=ExitCode.INTERNAL_ERROR, headline=f"{type(error).__name__}: {error}",
        lines=traceback.format_exc().splitlines(),
    )


def unreadable(path: Path, error: SourceError) -> Proved:
    """The result of a file of claims that cannot be read."""
    return _with(Proved(path.stem, "claim", "error", ExitCode.USER_ERROR, "", 0.0, shown(path), error.line), error)


def _plain(spec: Spec) -> Spec:
    """What a spec says of its model, wherever it says it and whatever else it asks for."""
    files = tuple(file.resolve() for file in spec.invariant_files)
    path = spec.path.resolve()
    return replace(spec, path=path, invariant_files=files, flawed=(), prove=(), mutation=None, lines={})


def _hash(*parts: Any) -> str:
    text = "\x1f".join([checker_source(), versions(), *map(repr, parts)])
    return hashlib.sha256(text.encode()).hexdigest()
