"""The command ``floodmark gate``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from floodmark.checkers.check import Settings
from floodmark.checkers.gate import lock, text
from floodmark.checkers.gate.run import Run
from floodmark.checkers.gate.scope import Scope
from floodmark.checkers.paths import shown
from floodmark.checkers.proof_result import Proved
from floodmark.checkers.report.outputs import Reports, write_reports
from floodmark.checkers.result import CheckResult, ExitCode, worst
from floodmark.checkers.spec import Tier
from floodmark.language.errors import SourceError


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for."""

    folder: Path
    tier: Tier
    update: bool
    use_cache: bool
    settings: Settings

    @property
    def command(self) -> str:
        words = ["floodmark", "gate", shown(self.folder)]
        words += ["--tier", self.tier] if self.tier != "quick" else []
        words += ["--engine", self.settings.engine] if self.settings.engine != "auto" else []
        words += ["--master", self.settings.master] if self.settings.master is not None else []
        return shlex.join(words)


def gate(asked: Asked, reports: Reports, say: Callable[[str], None]) -> ExitCode:
    """Runs the gate, prints what it found, writes reports and the lock, and returns the exit code."""
    if not asked.folder.is_dir():
        raise SourceError("there is no such folder", str(asked.folder))
    reports.must_be_writable()
    run = Run(Scope.of(asked.folder), asked.tier, asked.settings, asked.use_cache, asked.command)
    outcome, now = run.outcome(lambda result, missing: _tell(result, missing, say))
    code = outcome.exit_code
    accepted = asked.update and not _refused(outcome.results, outcome.proofs)
    if accepted:
        lock.write(outcome.lock, now)
        code = ExitCode.AS_EXPECTED
    for line in (*text.table(outcome), *text.end(outcome, accepted)):
        say(line)
    if asked.update and not accepted:
        say("the lock was not written: it accepts only verdicts that are as expected")
    return worst([code, write_reports(reports, outcome.results, outcome.proofs, [] if accepted else outcome.drift)])


def _refused(results: list[CheckResult], proofs: list[Proved]) -> bool:
    """Whether any result is one that a lock must not accept."""
    codes = [result.exit_code for result in results] + [proved.exit_code for proved in proofs]
    return not results or worst(codes) != ExitCode.AS_EXPECTED


def _tell(result: CheckResult | Proved, missing: int, say: Callable[[str], None]) -> None:
    """Reports failures as soon as they are known; on a terminal also how much is left, in a line that is erased."""
    live = sys.stderr.isatty()
    if live:
        click.echo("\r\033[K", nl=False, err=True)
    for line in text.wrong(result):
        say(line)
    sys.stdout.flush()
    if live and missing:
        click.echo(f"{missing} to go", nl=False, err=True)
