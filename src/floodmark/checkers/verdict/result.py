"""The result of one check (a spec's model or one of its known-bad designs), and the exit codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from floodmark.checkers.project import spec_address
from floodmark.checkers.project.paths import shown_line
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Premise, SearchResult, Symmetry, Violation
from floodmark.checkers.verdict.divergence import Divergence
from floodmark.language.model import Model


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """The outcome of a scenario, which begins at ``line`` of its spec. ``taken`` is the number of its steps that are
    enabled; ``problem`` describes the failure, and is empty without one."""

    name: str
    line: int | None
    taken: int
    problem: str = ""


Verdict = Literal["holds", "violated", "undetermined", "error"]


class ExitCode(IntEnum):
    """The exit codes of the command. The last two are those of a shell for the signals SIGINT and SIGPIPE."""

    AS_EXPECTED = 0
    NOT_AS_EXPECTED = 1
    USER_ERROR = 2
    UNDETERMINED = 3
    DRIFT = 4
    NOTHING_CHECKED = 5
    INTERNAL_ERROR = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141


MEANINGS = {
    ExitCode.AS_EXPECTED: "every verdict is as expected",
    ExitCode.NOT_AS_EXPECTED: "a property is violated, or an expected violation did not happen",
    ExitCode.USER_ERROR: "usage, spec or model error",
    ExitCode.UNDETERMINED: "undetermined: a limit ended a search, or a bound ends a run",
    ExitCode.DRIFT: "drift from the lock",
    ExitCode.NOTHING_CHECKED: "nothing was checked",
    ExitCode.INTERNAL_ERROR: "internal error in floodmark",
    ExitCode.INTERRUPTED: "interrupted: only what had finished by then was checked",
    ExitCode.BROKEN_PIPE: "the reader of the output went away, as in a pipe to head",
}
SHORT_MEANINGS = {
    ExitCode.INTERNAL_ERROR: "with an internal error",
    ExitCode.USER_ERROR: "with an error",
    ExitCode.NOT_AS_EXPECTED: "not as expected",
    ExitCode.UNDETERMINED: "undetermined",
    ExitCode.NOTHING_CHECKED: "with nothing checked",
}
"""Words for several results, the worst first."""

_PRIORITY = (
    ExitCode.INTERNAL_ERROR,
    ExitCode.USER_ERROR,
    ExitCode.NOT_AS_EXPECTED,
    ExitCode.DRIFT,
    ExitCode.UNDETERMINED,
    ExitCode.NOTHING_CHECKED,
    ExitCode.AS_EXPECTED,
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check. ``spec`` is the spec's file. If the spec is a row of the file, ``row`` is that row and
    ``spec_line`` its first line; ``name`` is the spec's name. ``variant`` is None for the model itself, else the class
    of the known-bad design.

    ``expected`` is whether the result is the one that the spec expects. ``message`` adds to the verdict: an error, a
    difference from the expectation, or the limit that was reached. ``idle`` and ``vacuous`` are the actions that the
    spec expects never to fire and the properties whose premise it expects never to hold; ``empty`` is whether it
    expects no state within the boundary. ``divergence`` is the step at which the good design differs in the
    counterexample of a known-bad one. ``invariant_files`` are those that the command line added. ``scenarios`` are the
    outcomes of the spec's scenarios.
    """

    spec: str
    name: str
    model: str
    variant: str | None
    tier: str
    row: str | None = None
    spec_line: int | None = None
    title: str = ""
    constants: dict[str, int] = field(default_factory=dict)
    engine: str = ""
    symmetry: Symmetry = False
    verdict: Verdict = "error"
    expected: bool = False
    property: str | None = None
    message: str = ""
    file: str | None = None
    line: int | None = None
    reproduce: str = ""
    exit_code: ExitCode = ExitCode.USER_ERROR
    search_result: SearchResult | None = None
    violation: Violation | None = None
    divergence: Divergence | None = None
    properties: Sequence[Property] = ()
    subject: Model | None = None
    unreached: Sequence[str] = ()
    traceback: str = ""
    idle: Sequence[str] = ()
    vacuous: Sequence[str] = ()
    empty: bool = False
    invariant_files: Sequence[str] = ()
    scenarios: Sequence[ScenarioResult] = ()

    def address(self) -> str:
        """The address of the spec on the command line."""
        return spec_address.with_row(self.spec, self.row)

    def design(self) -> str:
        """The class that the result is about; "spec" if unknown."""
        return self.variant or spec_address.class_name(self.model) or "spec"

    def case_title(self) -> str:
        """The name of the result in reports: its spec, and the class that it is about."""
        return f"{self.name} {self.design()}"

    def idle_actions(self) -> list[str]:
        """The actions that never fired in a complete search, except those that the spec lists as idle."""
        found = self.search_result
        if found is None or not found.complete:
            return []
        return [name for name, fired in found.actions.items() if fired == 0 and name not in self.idle]

    def vacuous_premises(self) -> list[Premise]:
        """The premises that were never true in a complete search, except those that the spec lists as vacuous."""
        found = self.search_result
        return [] if found is None else [it for it in found.vacuous if it.property not in self.vacuous]

    def unexercised(self) -> list[str]:
        """The parts of a model that the search did not exercise although the spec does not announce it, in words.

        There are none for a known-bad design, nor for a search that ended at an expected violation.
        """
        found = self.search_result
        if found is None or self.variant is not None or (self.expected and self.verdict == "violated"):
            return []
        lines = ["no state is within the boundary"] if found.complete and not found.distinct and not self.empty else []
        idle = self.idle_actions()
        lines += [f"never fired: {', '.join(idle)}"] if idle else []
        lines += [
            f"{it.property}: {it.text} ({shown_line(it.file, it.line)})"
            for it in self.vacuous_premises()
        ]
        return lines

    def find_property(self, name: str | None) -> Property | None:
        return next((prop for prop in self.properties if prop.name == name), None)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """The exit code of a run whose parts end with ``codes``; without any part, nothing was checked."""
    seen = set(codes) or {ExitCode.NOTHING_CHECKED}
    return next(code for code in _PRIORITY if code in seen)
