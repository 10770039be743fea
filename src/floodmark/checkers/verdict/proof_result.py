"""The result of one proof or one claim; the command for a proof that a spec lists, and the listed proofs that a name
denotes.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from floodmark.checkers.project.paths import shown
from floodmark.checkers.project.properties import did_you_mean
from floodmark.checkers.project.spec import ListedProof, Spec
from floodmark.checkers.verdict.result import ExitCode, Verdict
from floodmark.language.errors import SourceError


@dataclass(frozen=True, slots=True)
class ProofResult:
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

    def text_lines(self) -> list[str]:
        """The result as the command prints it."""
        variant = "" if self.variant is None else f" {self.variant}"
        first = f"{self.word:<12}  {self.name}{variant}  {self.method}: {self.headline}, {self.seconds:.1f} s"
        return [first, *(f"              {line}" for line in self.lines)]

    def as_json(self) -> dict[str, Any]:
        """The result as ``--json`` writes it; ``of_json`` reads it."""
        return {
            "spec": self.spec,
            "line": self.line,
            "model": self.model,
            "variant": self.variant,
            "constants": self.constants,
            "engine": "symbolic",
            "method": self.method,
            "name": self.name,
            "verdict": self.verdict,
            "expected": self.expected,
            "exit_code": int(self.exit_code),
            "property": self.broken,
            "headline": self.headline,
            "lines": self.lines,
            "seconds": self.seconds,
            "reproduce": self.reproduce,
            **self.facts,
        }

    @classmethod
    def of_json(cls, entry: Mapping[str, Any]) -> ProofResult:
        """The inverse of ``as_json``. Raises KeyError, TypeError or ValueError for anything else."""
        named = {name: entry[name] for name in _FIELDS}
        facts = {name: value for name, value in entry.items() if name not in (*_FIELDS, *_NOT_FACTS)}
        return cls(**named, exit_code=ExitCode(entry["exit_code"]), broken=entry["property"], facts=facts)


_FIELDS = (
    "spec", "line", "model", "variant", "constants", "method", "name", "verdict", "headline", "lines", "seconds",
    "reproduce",
)  # fmt: skip
_NOT_FACTS = ("engine", "expected", "exit_code", "property")
"""The keys in the JSON of a proof that are not facts about it."""


def proof_command(spec: Spec, proving: ListedProof, *options: str) -> str:
    """The command, with the fewest words that name the proof."""
    words = ["floodmark", "prove", shown(spec.address)]
    if len(spec.prove) > 1:
        words += ["--proof", _shortest(spec, proving)]
    return shlex.join([*words, *options])


def listed_proofs(spec: Spec, name: str | None) -> list[ListedProof]:
    """The proofs that a spec lists, or those that a name denotes: the proof of that name, or else all whose name begins
    with it. Raises SourceError if there is none."""
    if name is None:
        return list(spec.prove)
    exact = [it for it in spec.prove if it.name == name]
    found = exact or [it for it in spec.prove if it.is_called(name)]
    if not found:
        offered = did_you_mean(name, (_shortest(spec, it) for it in spec.prove))
        raise SourceError(f"the spec lists no proof {name!r}{offered}", shown(spec.path))
    return found


def _shortest(spec: Spec, proving: ListedProof) -> str:
    words = proving.name.split()
    starts = (" ".join(words[:count]) for count in range(1, len(words) + 1))
    return next((it for it in starts if listed_proofs(spec, it) == [proving]), proving.name)
