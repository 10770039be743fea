"""The result of one proof or one claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from floodmark.checkers.result import ExitCode, Verdict


@dataclass(slots=True)
class Proved:
    """The result for one spec or one claim. ``line`` is that of a claim; ``lines`` add detail to the headline.

    A bounded search that finds nothing is ``undetermined``, even if its spec expects no more.
    """

    name: str
    method: str
    verdict: Verdict
    exit_code: ExitCode
    headline: str
    seconds: float
    spec: str = ""
    line: int | None = None
    model: str = ""
    variant: str | None = None
    constants: dict[str, int] = field(default_factory=dict)
    broken: str | None = None
    lines: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    reproduce: str = ""

    @property
    def expected(self) -> bool:
        return self.exit_code == ExitCode.AS_EXPECTED

    @property
    def word(self) -> str:
        """The verdict for people: an expected violation is "found", and a bounded search that was enough "bounded"."""
        words: dict[Verdict, str] = {"violated": "found", "undetermined": "bounded"}
        return words.get(self.verdict, self.verdict) if self.expected else self.verdict

    def as_json(self) -> dict[str, Any]:
        return {
            "spec": self.spec,
            "model": self.model,
            "variant": self.variant,
            "constants": self.constants,
            "engine": "symbolic",
            "method": self.method,
            "name": self.name,
            "verdict": self.verdict,
            "expected": self.expected,
            "property": self.broken,
            "seconds": round(self.seconds, 3),
            **self.facts,
        }
