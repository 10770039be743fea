"""Output for GitHub Actions: annotations at the lines of a change, and the summary of a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floodmark.checkers.report.edits import Entry, markdown
from floodmark.checkers.report.mermaid import mermaid
from floodmark.checkers.report.verdict_summary import SummaryLine
from floodmark.checkers.verdict.result import MEANINGS, worst

MAX_SUMMARY_BYTES = 900_000
"""GitHub refuses a summary of more than 1 MiB."""
MAX_EXPECTED = 20
"""At most this many counterexamples of known-bad designs are drawn: a browser takes long to draw hundreds."""

_SIGN = {"passed": ":white_check_mark:", "failed": ":x:", "error": ":warning:"}


def workflow_commands(cases: Sequence[SummaryLine]) -> list[str]:
    """The workflow commands that annotate the line of each unexpected outcome."""
    return [
        f"::error file={_property(case.place.file)},line={case.place.line},title={_property(case.title)}::"
        f"{_data(f'{case.word}: {case.text}')}%0A%0A{_data(case.detail)}"
        for case in cases
        if case.status != "passed"
    ]


def summary(cases: Sequence[SummaryLine], edits: Entry | None = None) -> str:
    """The page in Markdown: the effects of an edit, a table of verdicts, then each counterexample as a sequence
    diagram; truncated if it is too long."""
    code = worst(case.exit_code for case in cases)
    text = f"## Floodmark: {MEANINGS[code]}\n"
    first = [*(markdown(edits) if edits else ()), "\n" + "\n".join(_table(cases)) + "\n"]
    for part in [*first, *_unexpected(cases), *_expected(cases)]:
        if len(text.encode()) + len(part.encode()) > MAX_SUMMARY_BYTES:
            return f"{text}\nThe rest does not fit here; `floodmark report RESULTS.json --as html` has everything.\n"
        text += part
    return text


def _table(cases: Sequence[SummaryLine]) -> Iterator[str]:
    yield "| | spec | what | verdict |"
    yield "|---|---|---|---|"
    for case in cases:
        cells = [_SIGN[case.status], *map(_cell, (case.suite, case.name, f"{case.word}: {case.text}"))]
        yield f"| {' | '.join(cells)} |"


def _unexpected(cases: Sequence[SummaryLine]) -> Iterator[str]:
    for case in cases:
        if case.status != "passed":
            yield f"\n### {_escaped(case.title)}: {_escaped(case.word)}\n\n{_diagram(case)}\n{_fenced(case.detail)}\n"


def _expected(cases: Sequence[SummaryLine]) -> Iterator[str]:
    """The known-bad designs, in a folded section."""
    found = [case for case in cases if case.status == "passed" and _has_trace(case)]
    for case in found[:MAX_EXPECTED]:
        yield (
            f"\n<details><summary>{_escaped(case.title)} {_escaped(case.text)}</summary>\n\n{_diagram(case)}\n"
            f"{_fenced(case.detail)}\n</details>\n"
        )
    if len(found) > MAX_EXPECTED:
        everything = "`floodmark report RESULTS.json --as html` draws them all"
        yield f"\n{len(found) - MAX_EXPECTED} more known-bad designs were found; {everything}.\n"


def _has_trace(case: SummaryLine) -> bool:
    return case.result is not None and case.result.violation is not None and case.result.subject is not None


def _diagram(case: SummaryLine) -> str:
    return f"```mermaid\n{mermaid(case.result)}```\n" if _has_trace(case) and case.result is not None else ""


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"


def _cell(text: str) -> str:
    return _escaped(text).replace("|", "\\|").replace("\n", " ")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
