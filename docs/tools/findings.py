"""Writes docs/findings.md from docs/findings.toml and from runs: ``python -m docs.tools.findings``.

An entry is about one sentence of a text. The page shows the verdict and the steps of the counterexamples that
``floodmark check`` and ``floodmark prove`` print for the known-bad designs, specs and claims that the entry names; what
is left out, ``floodmark check`` prints.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any

import click

from floodmark.checkers.project import input_file, spec_address, toml
from floodmark.checkers.project.claim import Claim, read_claims
from floodmark.checkers.report import text
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.symbolic.prove import prove_claim
from floodmark.checkers.verdict.check import Check, CheckSettings, one_check
from floodmark.language.errors import SourceError

ROOT = Path(__file__).resolve().parent.parent.parent
ENTRIES = ROOT / "docs" / "findings.toml"
PAGE = ROOT / "docs" / "findings.md"

_REQUIRED = ("title", "source", "place", "verdict", "why", "bad", "repair", "good")
VERDICTS = {
    "false": "False",
    "incomplete": "Incomplete",
    "ambiguous": "Ambiguous",
    "candidate": "Candidate finding, not reproduced against Kafka",
    "reproduced": "Reproduced in Kafka's own classes",
}

HEAD = """# What the models say about the texts

These are sentences of the proposals, and behaviour of Kafka's code, that are false, leave something open, or can be
read in two ways. Each comes with the steps of a shortest counterexample, the rule that repairs it, and the checks that
show both. The command below the steps prints every state on the way and why the property is false.
`python -m docs.tools.findings` runs every counterexample again and writes this page; its sentences are in
`docs/findings.toml`. Statements about Kafka itself come from reading its code; they remain candidates until they are
reproduced there. `docs/kafka.md` says what Kafka's own classes do.

What a search found in a real Raft library, PySyncObj, by running it in step with a model, is in `docs/pysyncobj.md`.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """An entry. ``sentence`` is quoted, ``reading`` a summary; ``bad`` and ``good`` are references (``Shown``)."""

    title: str
    source: str
    place: str
    verdict: str
    why: str
    bad: tuple[str, ...]
    repair: str
    good: tuple[str, ...]
    sentence: str = ""
    reading: str = ""
    kafka: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a reference means: ``specs/a/b.toml`` or a row of it (``@row``), one design of that (``:Class``), or a claim
    (``a.py:function``)."""

    path: Path
    name: str

    @classmethod
    def of(cls, reference: str) -> Shown:
        file, _, name = reference.partition(":")
        return cls(ROOT / file, name)

    @property
    def is_claim(self) -> bool:
        return self.path.suffix == ".py"

    def claim(self) -> Claim:
        """The claim of this name. Raises SourceError."""
        for claim in read_claims(self.path):
            if claim.name == self.name:
                return claim
        raise SourceError(f"there is no claim {self.name!r}", str(self.path))

    def check(self) -> Check:
        """The check of this spec, or of its known-bad design. Raises SourceError."""
        return one_check(self.path, self.name or None, CheckSettings(workers=1))


def findings(path: Path = ENTRIES) -> list[Finding]:
    """The entries of a file, in order. Raises SourceError for a file that cannot be read, or an incomplete entry."""
    entries = toml.parse(input_file.text_of(path), path).get("finding")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise SourceError("write each finding in a table of its own: [[finding]]", str(path))
    return [_finding(entry, path) for entry in entries]


def _finding(entry: dict[str, Any], path: Path) -> Finding:
    missing = [key for key in _REQUIRED if not entry.get(key)]
    if missing:
        raise SourceError(f"{entry.get('title', 'an entry')} has no {missing[0]}", str(path))
    if entry["verdict"] not in VERDICTS:
        raise SourceError(f"{entry['title']}: verdict is one of {', '.join(VERDICTS)}", str(path))
    if bool(entry.get("sentence")) == bool(entry.get("reading")):
        raise SourceError(f"{entry['title']} needs a sentence that is quoted, or a reading", str(path))
    return Finding(**{**entry, "bad": tuple(entry["bad"]), "good": tuple(entry["good"])})


def counterexample(reference: str) -> list[str]:
    """What the command prints for a known-bad design, a spec that is violated or a claim that fails."""
    shown = Shown.of(reference)
    if shown.is_claim:
        proved = prove_claim(shown.claim())
        return [f"{proved.name}: {proved.headline}", *proved.lines]
    result = run_check(shown.check())
    if not result.expected or result.violation is None:
        raise SourceError(f"{reference} does not fail as it should: {result.message}")
    return [click.unstyle(line) for line in text.counterexample(result)]


def page(entries: Sequence[Finding], shown: Mapping[str, Sequence[str]]) -> str:
    """The page as Markdown; ``shown`` has the counterexample of each reference."""
    lines = [HEAD.rstrip("\n")]
    for source, group in groupby(entries, key=lambda entry: entry.source):
        lines += ["", f"## {source}"]
        for entry in group:
            lines += ["", *_entry(entry, shown)]
    return "\n".join(lines) + "\n"


def _entry(entry: Finding, shown: Mapping[str, Sequence[str]]) -> list[str]:
    said = wrapped(entry.sentence, "> ") if entry.sentence else wrapped(entry.reading)
    lines = [f"### {entry.title}", "", f"{entry.place}:", "", *said, ""]
    lines += wrapped(f"**{VERDICTS[entry.verdict]}.** {entry.why}")
    lines += ["", *wrapped(f"*Repair:* {entry.repair}")]
    if entry.kafka:
        lines += ["", *wrapped(f"*Kafka:* {entry.kafka}")]
    lines += ["", *wrapped(f"Holds: {links(entry.good)}. Fails: {links(entry.bad)}.")]
    whole = next((reference for reference in entry.bad if not Shown.of(reference).is_claim), None)
    for reference in entry.bad:
        if reference == whole:
            lines += ["", *block(reference, schedule(shown[reference]))]
        elif Shown.of(reference).is_claim:
            lines += ["", *block(reference, shown[reference])]
        else:
            lines += ["", *block(reference, [shown[reference][0], shown[reference][-1]])]
    return lines


def wrapped(paragraph: str, prefix: str = "") -> list[str]:
    """Lines of up to 120 characters; none begins with a minus sign, which Markdown would read as a list."""
    lines = textwrap.wrap(
        paragraph.replace(" - ", "\0-\0"), 120, initial_indent=prefix, subsequent_indent=prefix,
        break_long_words=False, break_on_hyphens=False,
    )
    return [line.replace("\0-\0", " - ") for line in lines]


def schedule(lines: Sequence[str]) -> list[str]:
    """The verdict, the steps without the states, and the command that prints the whole counterexample."""
    heading = list(takewhile(bool, lines))
    return [*heading, "", *(line for line in lines if re.match(r" *\d+  |after step ", line)), "", lines[-1]]


def block(reference: str, lines: Sequence[str]) -> list[str]:
    """A counterexample as it is on the page, below a marker by which it is found again."""
    return [f"<!-- {reference} -->", "```text", *lines, "```"]


def blocks(markdown: str) -> dict[str, list[str]]:
    """The counterexamples on a page, by reference."""
    found = re.findall(r"^<!-- (\S+) -->\n```text\n(.*?)\n```$", markdown, re.DOTALL | re.MULTILINE)
    return {reference: body.split("\n") for reference, body in found}


def links(references: Sequence[str]) -> str:
    """Links to what references mean, in Markdown."""
    return ", ".join(_link(Shown.of(reference)) for reference in references)


def _link(shown: Shown) -> str:
    path, row = spec_address.split_address(shown.path)
    file = path.relative_to(ROOT).as_posix()
    name = spec_address.with_row(file.removeprefix("specs/").removesuffix(".toml").removesuffix(".py"), row)
    return f"[`{name}`](../{file})" + (f" `{shown.name}`" if shown.name else "")


def main() -> None:
    """Runs every counterexample and writes the page."""
    os.chdir(ROOT)  # so that file names are printed as the command prints them there
    entries = findings()
    references = dict.fromkeys(reference for entry in entries for reference in entry.bad)
    PAGE.write_text(page(entries, {each: counterexample(each) for each in references}), encoding="utf-8")


if __name__ == "__main__":
    main()
