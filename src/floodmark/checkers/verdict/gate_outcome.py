"""The outcome of a run of the gate, as the command and every report read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult, ExitCode, worst


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference from the lock.

    ``entry`` is its place in the lock, such as ``alter_isr/core``; ``what`` is the key that differs; ``was`` and
    ``now`` are its values as text, "-" for none; ``note`` is its meaning. ``file`` and ``line`` are the location for
    the author: the spec, the property, or the lock. ``table`` is the entry of the lock in whose table reports show it;
    ``follows`` is the failed result that causes it, if there is one.
    """

    entry: str
    what: str
    was: str
    now: str
    note: str
    file: str
    line: int | None = None
    table: str = ""
    follows: str = ""


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The results of a run of the gate.

    ``proofs`` are claims and proofs. ``cached`` counts the results from the verdict cache; ``seconds`` is the time of
    the whole run; ``reproduce`` is the command that runs it again; ``lock`` is the file that the results were compared
    with. ``uncacheable`` counts the verdicts that cannot be cached, by reason; ``deferred`` describes the rest, in the
    other tier.
    """

    results: list[CheckResult]
    proofs: list[ProofResult]
    drift: list[Drift]
    tier: str
    seconds: float
    reproduce: str
    lock: Path
    cached: int = 0
    uncacheable: Mapping[str, int] = field(default_factory=dict)
    deferred: str = ""

    @property
    def has_models(self) -> bool:
        """Whether a model was checked or proved. Known-bad designs and claims alone give no evidence about any."""
        checked = any(result.variant is None for result in self.results)
        return checked or any(proved.method != "claim" for proved in self.proofs)

    @property
    def is_empty(self) -> bool:
        """Whether no spec has a part in the run."""
        return not self.results and not self.has_models

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the run; for a run that checked and proved no model, that nothing was checked."""
        codes = [result.exit_code for result in self.results] + [proved.exit_code for proved in self.proofs]
        if not self.has_models:
            codes.append(ExitCode.NOTHING_CHECKED)
        if self.drift:
            codes.append(ExitCode.DRIFT)
        return worst(codes)
