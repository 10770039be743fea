"""The model's own source with counts beside each line."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element

from floodmark.checkers.coverage.places import REFUSALS, OutcomeCoverage, places
from floodmark.checkers.project.paths import shown_line
from floodmark.checkers.report.html.markup import Part, tag
from floodmark.checkers.search_result import Coverage, CoverageCount
from floodmark.language.plurals import counted


def covered_source(coverage: Coverage) -> Element:
    """Each file, with the number of steps and property evaluations that took each line; then the values of arguments
    and variables."""
    every = places(coverage)
    files = [_file(file, list(group)) for file, group in groupby(every, key=lambda it: it.file)]
    about = (
        f"Counts are of {counted(coverage.states, 'state')} and all steps from them: the steps that took a line, then "
        "the evaluations of properties that did."
    )
    return tag("details", tag("summary", "Source with counts"), tag("p", about), files, _values(coverage),
               class_="source")


def _file(file: str, of_file: Sequence[OutcomeCoverage]) -> Element:
    lines = {it.line: it for it in of_file if it.kind == "line"}
    others: dict[int, list[OutcomeCoverage]] = {}
    for it in of_file:
        if it.kind != "line":
            others.setdefault(it.line, []).append(it)
    shown = range(min(it.line for it in of_file), max(it.line for it in of_file) + 1)
    rows = [_row(file, number, lines.get(number), others.get(number, [])) for number in shown]
    taken = sum(it.taken for it in lines.values())
    head = tag("tr", [tag("th", text, scope="col") for text in ("line", "steps", "evaluations", "source")])
    name = shown_line(file, None)
    return tag(
        "details",
        tag("summary", f"{name}: {taken:,} of {counted(len(lines), 'line')}"),
        tag("div", tag("table", tag("thead", head), tag("tbody", rows), class_="counts"), class_="scroll",
            tabindex="0", role="region", aria_label=name),
    )


def _row(file: str, number: int, line: OutcomeCoverage | None, others: Sequence[OutcomeCoverage]) -> Element:
    text = linecache.getline(file, number).rstrip()
    kind: str | bool = False if line is None else "taken" if line.taken else "never"
    steps, evaluations = ("", "") if line is None else (_count(line.steps), _count(line.evaluations))
    return tag(
        "tr",
        tag("th", str(number), scope="row"),
        tag("td", steps, class_="number"),
        tag("td", evaluations, class_="number"),
        tag("td", tag("code", text), [_outcome(it) for it in others]),
        class_=kind,
    )


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def _outcome(it: OutcomeCoverage) -> Element:
    word = "refused" if it.kind in REFUSALS else str(it.outcome).lower()
    times = f"{it.steps + it.evaluations:,}" if it.taken else "never"
    return tag("span", f"{it.text} {word}: {times}", class_="outcome" if it.taken else "outcome never")


def _values(coverage: Coverage) -> Iterator[Part]:
    """The values of arguments and variables, a table for each action and for the states."""
    lines = [it for it in coverage.counts if it.kind in ("argument", "value")]
    for part, group in groupby(sorted(lines, key=lambda it: it.part), key=lambda it: it.part):
        yield tag(
            "details",
            tag("summary", "Values in states" if part == "states" else f"Arguments of {part}"),
            tag("table", [_value(it) for it in group], class_="coverage"),
        )


def _value(it: CoverageCount) -> Element:
    times = f"{it.count:,}" if it.count else tag("b", "never", class_="warn-text")
    return tag("tr", tag("th", it.text, scope="row"), tag("td", times, class_="number"))
