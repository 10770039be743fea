"""``floodmark mutate``: tries the mutants of models and reports the results."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from floodmark.checkers.gate import lock
from floodmark.checkers.gate.job import CheckJob
from floodmark.checkers.gate.scope import GateScope
from floodmark.checkers.mutation.mutant import Mutant, mutants, own
from floodmark.checkers.mutation.report import MutationReport, line, trial_line
from floodmark.checkers.mutation.run import run
from floodmark.checkers.mutation.trial import TrialBudget, stages
from floodmark.checkers.project.paths import shown_line
from floodmark.checkers.project.spec import Spec, read_all
from floodmark.checkers.report.outputs import must_be_writable, write_json
from floodmark.checkers.report.progress import CountingLine
from floodmark.checkers.verdict.check import Check, CheckSettings, EngineName
from floodmark.checkers.verdict.result import MEANINGS, ExitCode, worst
from floodmark.language.errors import SourceError
from floodmark.language.plurals import counted

_MEANINGS = {
    ExitCode.AS_EXPECTED: "every mutant is noticed, equal, or has a reason",
    ExitCode.NOT_AS_EXPECTED: "a mutant survives without a reason, or a reason is stale",
}


@dataclass(frozen=True, slots=True)
class MutateSettings:
    """The options of the command. ``only`` is text that the changes to try must contain."""

    only: str | None = None
    engine: EngineName = "auto"
    master: str | None = None
    workers: int = 0
    states: float = 8.0
    seconds: float = 60.0
    every: bool = False
    listing: bool = False
    update_lock: bool = False
    json_file: Path | None = None

    @property
    def where(self) -> str | None:
        """The Spark master to use; None for processes on this machine."""
        return (self.master or "local[*]") if self.engine == "spark" else None


def mutate(paths: Sequence[Path], settings: MutateSettings) -> Iterator[str | ExitCode]:
    """Lines to print, then the exit code."""
    must_be_writable(settings.json_file, paths)
    reports = []
    for spec in (spec for path in paths for spec in _mutated(path)):
        chosen = _chosen(spec, settings.only)
        if settings.listing:
            yield from (f"{shown_line(each.file, each.line)}:{each.column + 1}  {each.kind}  {each.change}"
                        for each in chosen)
            yield f"{spec.name}  {counted(len(chosen), 'mutant')}"
            continue
        started = time.perf_counter()
        trials = []
        budget = TrialBudget(settings.states, settings.seconds)
        with CountingLine(len(chosen), "mutant", spec.name) as counting:
            for trial in run(chosen, stages(spec, budget), budget, settings.workers, settings.where):
                trials.append(trial)
                text = trial_line(trial) if settings.every else line(spec, trial)
                if text is not None:
                    counting.clear()
                    yield text
                counting.one()
        sources = CheckJob(spec.name, None, Check(spec, None, CheckSettings())).model_sources()
        report = MutationReport(spec, trials, settings.only is None, time.perf_counter() - started, sources)
        reports.append(report)
        yield from report.end()
    if settings.listing:
        yield ExitCode.AS_EXPECTED
        return
    written = write_json(settings.json_file, "mutation", {"mutation": [report.data() for report in reports]})
    codes = [report.exit_code for report in reports]
    for report in reports:
        drift = _against_lock(report, settings.update_lock)
        yield from drift
        codes += [ExitCode.DRIFT] if drift else []
    code = worst(codes)
    yield f"{_MEANINGS.get(code, MEANINGS[code])} (exit code {int(code)})"
    yield worst([code, written])


def _mutated(address: Path) -> list[Spec]:
    """The specs whose mutants are tried. In a file with rows, these are the rows to which ``[mutation]`` belongs, else
    the first; the other rows are tried on mutants that survive there, as ``also`` states."""
    every = read_all(address)
    return [spec for spec in every if spec.mutation is not None] or every[:1]


def _chosen(spec: Spec, only: str | None) -> list[Mutant]:
    every = own if spec.mutation is not None and spec.mutation.own else mutants
    chosen = [mutant for mutant in every(spec.model_class()) if only is None or only in mutant.change]
    if only is not None and not chosen:
        raise SourceError(f"no mutant of {spec.model} has {only!r} in its change; --list shows them", str(spec.path))
    return chosen


def _against_lock(report: MutationReport, update: bool) -> list[str]:
    """Writes the surviving set to the repository's lock, or reports how it differs from the lock."""
    if not report.complete:
        return []
    specs = report.spec.project.root / "specs"
    scope = GateScope.of(specs if report.spec.path.resolve().is_relative_to(specs) else report.spec.path.parent)
    name = scope.name_of(report.spec)
    known = lock.read(scope.lock)
    if update:
        if report.exit_code != ExitCode.AS_EXPECTED:
            raise SourceError("the surviving mutants are written when each has a reason and none is undetermined",
                              str(report.spec.path), report.spec.line("mutation"))
        lock.write(scope.lock, (known or lock.Lock()).with_mutants(name, report.locked()))
        return []
    if known is None or name not in known.mutants:
        return []
    was, now = known.mutants[name].survivors, report.locked().survivors
    return [f"drift  survives now, not in the lock: {change}" for change in sorted(now.keys() - was)] + [
        f"drift  in the lock, no longer survives: {change}" for change in sorted(was.keys() - now)
    ]
