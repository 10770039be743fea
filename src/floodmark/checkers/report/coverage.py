"""The uncovered parts of a model's source, in a few lines. All counts are in the JSON and on the HTML page."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterator, Sequence

from floodmark.checkers.coverage.places import ACTION, REFUSALS, OutcomeCoverage, places, shares
from floodmark.checkers.project.paths import shown_line
from floodmark.checkers.search_result import Coverage
from floodmark.language.plurals import plural

MAX_LINES = 6
"""The maximum number of items that are printed of a list."""
_NOUNS = {"lines": ("line",), "branches": ("branch", "branches"), "guards": ("guard",), "values": ("value",)}


def coverage_lines(coverage: Coverage) -> list[str]:
    """A sentence, then the uncovered parts."""
    every = places(coverage)
    lines = [it for it in every if it.kind == "line"]
    missed = {(it.file, it.line) for it in lines if not it.taken}
    branches = [it for it in every if it.is_branch]
    refusals = [it for it in every if it.kind in REFUSALS]
    never = [
        *_spans(lines),
        *dict.fromkeys(_never(it, branches) for it in branches if not it.taken and (it.file, it.line) not in missed),
    ]
    idle = [_never(it, []) for it in refusals if not it.taken and (it.file, it.line) not in missed]
    arguments = [
        f"{it.part.removeprefix(ACTION)}: {it.text}"
        for it in coverage.counts
        if it.kind == "argument" and not it.count and coverage.whole[it.part]
    ]
    values = [it.text for it in coverage.counts if it.kind == "value" and not it.count]
    each = {name: f"{it.taken:,} of {it.of:,} {plural(it.of, *_NOUNS[name])}" for name, it in shares(coverage).items()}
    return [
        f"coverage: {each['lines']}, {each['branches']}, {each['guards']} refused something, {each['values']}",
        *_listed("never taken", never),
        *_listed("guards that never refuse", idle),
        *_listed("arguments that no step has", arguments),
        *_listed("values that no state has", values),
        "all counts: add --json FILE, then floodmark report FILE --as html --into PAGE",
    ]


def _spans(lines: Sequence[OutcomeCoverage]) -> Iterator[str]:
    """The uncovered lines, with the text of the first line of each group; no line within a group is covered."""
    for (taken, file), several in itertools.groupby(lines, lambda it: (it.taken, it.file)):
        if taken:
            continue
        for missed in _close([it.line for it in several]):
            last = f"-{missed[-1]}" if len(missed) > 1 else ""
            yield f"{shown_line(file, missed[0])}{last}  {linecache.getline(file, missed[0]).strip()}"


def _close(numbers: Sequence[int]) -> list[list[int]]:
    """Groups ascending line numbers; neighbours in a group differ by at most two."""
    found = [[numbers[0]]]
    for number in numbers[1:]:
        if number - found[-1][-1] <= 2:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def _never(it: OutcomeCoverage, branches: Sequence[OutcomeCoverage]) -> str:
    """A missing outcome. If the other outcome of the condition is missing too, the condition was never evaluated."""
    at = f"{shown_line(it.file, it.line)}  {it.text}"
    if it.kind in REFUSALS:
        return at
    place = it.kind, it.file, it.line, it.column
    both = [other for other in branches if (other.kind, other.file, other.line, other.column) == place]
    if len(both) > 1 and not any(other.taken for other in both):
        return f"{at}: never asked"
    return f"{shown_line(it.file, it.line)}  {it.text}: never {str(it.outcome).lower()}"


def _listed(title: str, every: Sequence[str]) -> list[str]:
    if not every:
        return []
    more = [f"  and {len(every) - MAX_LINES:,} more"] if len(every) > MAX_LINES else []
    return [f"{title}:", *(f"  {each}" for each in every[:MAX_LINES]), *more]
