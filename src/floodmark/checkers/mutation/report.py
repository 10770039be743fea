"""The fates of the mutants of a spec's model, compared with the spec's reasons for those that survive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from floodmark.checkers.gate.lock import Mutants
from floodmark.checkers.mutation.trial import Fate, Trial
from floodmark.checkers.project.paths import shown, shown_line
from floodmark.checkers.project.spec import Spec, SurvivalReason
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.plurals import counted

_FATES: dict[Fate, str] = {
    "killed": "killed",
    "equal": "equal at this size",
    "survived": "survive",
    "undetermined": "undetermined",
    "refused": "no model",
}


@dataclass(frozen=True, slots=True)
class MutationReport:
    """The trials of a spec's mutants; ``complete`` is false when only some were tried.

    ``sources`` are the hashes of the model and its properties, as in the gate's lock.
    """

    spec: Spec
    trials: Sequence[Trial]
    complete: bool
    seconds: float
    sources: Mapping[str, str]

    def of(self, fate: Fate) -> list[Trial]:
        """The trials with this result."""
        return [trial for trial in self.trials if trial.fate == fate]

    def reason(self, change: str) -> str:
        """Why a mutant need not be noticed; empty when the spec does not say."""
        return reason(self.spec, change)

    def unexplained(self) -> list[Trial]:
        """The survivors without a reason."""
        return [trial for trial in self.of("survived") if not self.reason(trial.change)]

    def stale(self) -> list[tuple[SurvivalReason, str, str]]:
        """Reasons for changes that do not survive: the entry, the change, and what became of it."""
        if not self.complete:
            return []
        fates = {trial.change: trial for trial in self.trials}
        found = []
        for entry in _reasons(self.spec):
            for change in entry.changes:
                trial = fates.get(change)
                if trial is None:
                    found.append((entry, change, "there is no such mutant"))
                elif trial.fate not in ("survived", "undetermined"):
                    found.append((entry, change, _FATES[trial.fate] + (f" by {trial.by}" if trial.by else "")))
        return found

    def locked(self) -> Mutants:
        """The lock's entry for the mutants of this spec."""
        survivors = {trial.change: self.reason(trial.change) for trial in self.of("survived")}
        return Mutants(dict(self.sources), len(self.trials), survivors)

    @property
    def exit_code(self) -> ExitCode:
        """Success when every mutant was decided, every survivor has a reason, and every reason a survivor."""
        if self.unexplained() or self.stale():
            return ExitCode.NOT_AS_EXPECTED
        if self.of("undetermined"):
            return ExitCode.UNDETERMINED
        return ExitCode.AS_EXPECTED if self.trials else ExitCode.NOTHING_CHECKED

    def end(self) -> Iterator[str]:
        """The lines after all mutants were tried: stale reasons, then a summary."""
        for entry, change, why in self.stale():
            yield f"stale reason  {shown(self.spec.path)}:{entry.line}  {change}  ({why})"
        counts = Counter(trial.fate for trial in self.trials)
        fates = ", ".join(f"{counts[fate]} {text}" for fate, text in _FATES.items() if counts[fate] or fate == "killed")
        explained = len(self.of("survived")) - len(self.unexplained())
        reasons = f", {explained} of the survivors with a reason" if counts["survived"] else ""
        yield f"{self.spec.name}  {counted(len(self.trials), 'mutant')}: {fates}{reasons}  {self.seconds:.1f} s"

    def data(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        trials = [
            {**asdict(trial), "file": shown(Path(trial.file)), "reason": self.reason(trial.change)}
            for trial in self.trials
        ]
        stale = [{"change": change, "line": entry.line, "why": why} for entry, change, why in self.stale()]
        return {
            "spec": self.spec.name,
            "exit_code": int(self.exit_code),
            "counts": dict(Counter(trial.fate for trial in self.trials)),
            "seconds": self.seconds,
            "mutants": trials,
            "stale": stale,
        }


def reason(spec: Spec, change: str) -> str:
    """Why a mutant need not be noticed; empty when the spec does not say."""
    return next((each.reason for each in _reasons(spec) if change in each.changes), "")


def line(spec: Spec, trial: Trial) -> str | None:
    """One line about a mutant that needs attention; None for one that does not."""
    if trial.fate == "undetermined" or (trial.fate == "survived" and not reason(spec, trial.change)):
        return trial_line(trial)
    return None


def trial_line(trial: Trial) -> str:
    """One line about a mutant and what became of it."""
    return f"{_FATES[trial.fate]:12}  {_where(trial)}{_because(trial)}"


def _reasons(spec: Spec) -> tuple[SurvivalReason, ...]:
    return () if spec.mutation is None else spec.mutation.survivors


def _where(trial: Trial) -> str:
    return f"{shown_line(trial.file, trial.line)}  {trial.change}"


def _because(trial: Trial) -> str:
    if trial.fate == "survived":
        return "  (reaches other states)" if trial.states_differ else "  (reaches the same states)"
    return f"  ({trial.by})" if trial.by else ""
