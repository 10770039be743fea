"""The command ``floodmark gate``."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from floodmark.checkers.gate import lock, text
from floodmark.checkers.gate.limits import limits_of
from floodmark.checkers.gate.run import GateRun
from floodmark.checkers.gate.schedule import GateProgress
from floodmark.checkers.gate.scope import GateScope
from floodmark.checkers.project import spec_address
from floodmark.checkers.project.input_limits import memory_text
from floodmark.checkers.project.modules import Project
from floodmark.checkers.project.paths import shown
from floodmark.checkers.project.spec import Tier
from floodmark.checkers.report.outputs import Reports, write_reports
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import CheckSettings
from floodmark.checkers.verdict.gate_outcome import Drift, GateOutcome
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult, ExitCode, worst
from floodmark.language.errors import SourceError


@dataclass(frozen=True, slots=True)
class GateRequest:
    """The arguments of the command. The limits in ``settings`` are for the whole run."""

    folder: Path
    tier: Tier
    update: bool
    use_cache: bool
    settings: CheckSettings
    against: str | None = None

    @property
    def command(self) -> str:
        words = ["floodmark", "gate", shown(self.folder)]
        words += ["--tier", self.tier] if self.tier != "quick" else []
        words += ["--against", self.against] if self.against is not None else []
        words += self.settings.engine_words()
        limits = self.settings.limits
        words += ["--max-seconds", f"{limits.seconds:g}"] if limits.seconds is not None else []
        words += ["--max-memory", memory_text(limits.memory)] if limits.memory is not None else []
        return shlex.join(words)


def gate(request: GateRequest, reports: Reports, say: Callable[[str], None]) -> ExitCode:
    """Runs the gate, prints the results, writes reports and the lock, and returns the exit code."""
    if not request.folder.is_dir() and not (request.folder.is_file() and request.folder.suffix == spec_address.SUFFIX):
        raise SourceError("there is no such folder and no such spec", str(request.folder))
    reports.must_be_writable()
    scope = GateScope.of(request.folder)
    limits = limits_of(Project.of(scope.lock).root, request.settings.limits)
    settings = replace(request.settings, limits=Limits(memory=limits.memory), compare=reports.are_wanted)
    run = GateRun(scope, request.tier, settings, request.use_cache, request.command, request.update, limits.seconds)
    began = time.perf_counter()
    outcome, now = run.outcome(lambda result: _tell(result, run.progress, say))
    run.progress.clear()
    edits = None
    lines: Iterable[str] = ()
    if request.against is not None:
        from floodmark.checkers.commands.diff import edit_lines, edits_since  # a tenth of a run that finds all it needs

        spent = time.perf_counter() - began
        left = None if limits.seconds is None else max(limits.seconds - spent, 0.0)
        edits = edits_since(request.against, request.folder, request.tier, Limits(seconds=left, memory=limits.memory))
        lines = edit_lines(edits)
    code = outcome.exit_code
    refusals = _refusals(outcome) if request.update else []
    accepted = request.update and not refusals
    if accepted:
        lock.write(outcome.lock, now)
        code = ExitCode.AS_EXPECTED
    for line in (*lines, *text.table(outcome), *text.end(outcome, accepted)):
        say(line)
    if refusals:
        say(f"the lock was not written: {refusals[0]}")
        code = ExitCode.NOT_AS_EXPECTED if code == ExitCode.AS_EXPECTED else code
        for more in refusals[1:]:
            say(f"  {more}")
    drift = [] if accepted else [*outcome.drift, *_nothing(outcome)]
    return worst([code, write_reports(reports, outcome.results, outcome.proofs, drift, edits=edits)])


def _nothing(outcome: GateOutcome) -> Iterator[Drift]:
    """A line for reports of a run that checked no model: without it, all that they show would have passed."""
    if not outcome.has_models:
        note = f"no model was checked, as there is none in the {outcome.tier} tier here"
        yield Drift(shown(outcome.lock), "models", "-", "-", note, str(outcome.lock))


def _refusals(outcome: GateOutcome) -> list[str]:
    """The reasons why a lock must not accept the results, the first as the rest of a sentence.

    A lock that recorded an action that never fires, or a premise that is never true, would make that the norm.
    """
    codes = [result.exit_code for result in outcome.results] + [proved.exit_code for proved in outcome.proofs]
    if outcome.is_empty or worst(codes) != ExitCode.AS_EXPECTED:
        return ["it accepts only verdicts that are as expected"]
    silent = [f"{result.name}: {text}" for result in outcome.results for text in result.unexercised()]
    if not silent:
        return []
    return ["these checks are weaker than they look; fix them, or list in the spec what is intended,",
            "under idle = [...] or vacuous = [...], or as distinct = 0 under [expect]:", *silent]


def _tell(result: CheckResult | ProofResult, progress: GateProgress, say: Callable[[str], None]) -> None:
    """Reports failures as soon as they are known."""
    wrong = text.wrong(result)
    if wrong:
        progress.clear()
    for line in wrong:
        say(line)
    sys.stdout.flush()
