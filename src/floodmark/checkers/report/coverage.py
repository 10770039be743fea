"""What was never taken of a model's source, in a few lines. All counts are in the JSON and on the HTML page."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from floodmark.checkers.project.paths import shown_line
from floodmark.checkers.search_result import Coverage, CoverageCount
from floodmark.language.plurals import plural

MOST = 6
"""So many of a list are printed."""
BRANCHES = ("if", "choice", "and", "or", "condition", "premise")
REFUSALS = ("guard", "require")
_ACTION = "action "


@dataclass(frozen=True, slots=True)
class Covered:
    """A place in the source with one of its outcomes: the counts of all actions, and of all properties."""

    kind: str
    file: str
    line: int
    column: int
    outcome: bool | None
    said: str
    steps: int
    evaluations: int
    in_actions: bool

    @property
    def taken(self) -> bool:
        return bool(self.steps or self.evaluations)


def places(coverage: Coverage) -> list[Covered]:
    """The lines and conditions of all actions and properties together, in the order of the source."""
    together: dict[tuple[str, str, int, int, bool | None, str], list[CoverageCount]] = {}
    for it in coverage.counts:
        if it.kind not in ("argument", "value"):
            together.setdefault((it.kind, it.file, it.line, it.column, it.outcome, it.said), []).append(it)
    found = []
    for key, counts in together.items():
        of_actions = [it for it in counts if it.part.startswith(_ACTION)]
        steps = sum(it.count for it in of_actions)
        evaluations = sum(it.count for it in counts if not it.part.startswith(_ACTION))
        found.append(Covered(*key, steps, evaluations, bool(of_actions)))
    return sorted(found, key=lambda it: (it.file, it.line, it.column, it.kind, it.outcome is not True))


def coverage_lines(coverage: Coverage) -> list[str]:
    """A sentence, then what was never taken."""
    every = places(coverage)
    lines = [it for it in every if it.kind == "line"]
    missed = {(it.file, it.line) for it in lines if not it.taken}
    branches = [it for it in every if it.kind in BRANCHES and _is_asked(it)]
    refusals = [it for it in every if it.kind in REFUSALS]
    never = [
        *_spans(lines),
        *dict.fromkeys(_never(it, branches) for it in branches if not it.taken and (it.file, it.line) not in missed),
    ]
    idle = [_never(it, []) for it in refusals if not it.taken and (it.file, it.line) not in missed]
    arguments = [
        f"{it.part.removeprefix(_ACTION)}: {it.said}"
        for it in coverage.counts
        if it.kind == "argument" and not it.count and coverage.whole[it.part]
    ]
    said = (
        f"coverage: {_share(lines, 'line')}, {_share(branches, 'branch', 'branches')}, "
        f"{_share(refusals, 'guard')} refused something"
    )
    return [
        said,
        *_listed("never taken", never),
        *_listed("guards that never refuse", idle),
        *_listed("arguments that no step has", arguments),
        "all counts: add --json FILE, then floodmark report FILE --as html --into PAGE",
    ]


def _is_asked(it: Covered) -> bool:
    """Whether it says something that an outcome is missing. A property that holds is never false, so what would make
    it so is not."""
    return it.in_actions or it.kind in ("if", "choice") or (it.kind in ("premise", "condition") and it.outcome is True)


def _share(every: Sequence[Covered], one: str, many: str | None = None) -> str:
    return f"{sum(it.taken for it in every):,} of {len(every):,} {plural(len(every), one, many)}"


def _spans(lines: Sequence[Covered]) -> Iterator[str]:
    """The lines that were never taken, those between which no line was taken together, with the text of the first."""
    for (taken, file), several in itertools.groupby(lines, lambda it: (it.taken, it.file)):
        if taken:
            continue
        for missed in _close([it.line for it in several]):
            last = f"-{missed[-1]}" if len(missed) > 1 else ""
            yield f"{shown_line(file, missed[0])}{last}  {linecache.getline(file, missed[0]).strip()}"


def _close(numbers: Sequence[int]) -> list[list[int]]:
    """Numbers of lines in order, apart where there is more than one line between them."""
    found = [[numbers[0]]]
    for number in numbers[1:]:
        if number - found[-1][-1] <= 2:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def _never(it: Covered, branches: Sequence[Covered]) -> str:
    """An outcome that is missing. Where another one of the place was not seen either, the condition was never asked."""
    at = f"{shown_line(it.file, it.line)}  {it.said}"
    if it.kind in REFUSALS:
        return at
    place = it.kind, it.file, it.line, it.column
    both = [other for other in branches if (other.kind, other.file, other.line, other.column) == place]
    if len(both) > 1 and not any(other.taken for other in both):
        return f"{at}: never asked"
    return f"{shown_line(it.file, it.line)}  {it.said}: never {str(it.outcome).lower()}"


def _listed(title: str, every: Sequence[str]) -> list[str]:
    if not every:
        return []
    more = [f"  and {len(every) - MOST:,} more"] if len(every) > MOST else []
    return [f"{title}:", *(f"  {each}" for each in every[:MOST]), *more]
