"""``floodmark.known_bad_designs``: the designs that a spec lists because they must break a property."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from floodmark.checkers.interface.checking import result_of
from floodmark.checkers.interface.results import Result
from floodmark.checkers.project.spec import read_all
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.language.model import Model


@dataclass(frozen=True)
class KnownBadDesign:
    """A known-bad design of a spec: its class with its constants, and the name of the property that it must break."""

    model: Model
    breaks: str
    asked: Check = field(repr=False)

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self.model).__name__

    def check(self) -> Result:
        """Searches for its shortest counterexample, as ``floodmark check`` does for the spec. Raises what
        ``floodmark.check`` raises."""
        return result_of(self.asked, [self.breaks], None)


def known_bad_designs(spec: str | Path) -> list[KnownBadDesign]:
    """The known-bad designs of a spec: of all rows of a file, or of one row, as in ``lease.toml@small``.

    Raises SourceError, with the command's text, for what cannot be read.
    """
    return [
        KnownBadDesign(asked.cls()(**asked.constants), asked.flawed.property, asked)
        for each in read_all(Path(spec))
        for asked in checks(each, CheckSettings())
        if asked.flawed is not None
    ]
