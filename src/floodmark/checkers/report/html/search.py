"""Charts of a search: the states of each level, and the firings of each action."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from floodmark.checkers.report.html.markup import tag
from floodmark.checkers.search_result import SearchResult


def levels(found: SearchResult, unit: str) -> Element | None:
    """New states by their distance from an initial state."""
    if len(found.levels) < 2:
        return None
    most = max(found.levels)
    widest = found.levels.index(most) + 1
    last = len(found.levels)
    text = f"{last} levels; the widest is level {widest} with {most:,} {unit}"
    return tag(
        "figure",
        tag("figcaption", f"New {unit} on each level: {text}."),
        tag("div", [_column(number, count, most, unit) for number, count in enumerate(found.levels, 1)],
            class_="levels", role="img", aria_label=text),
        tag("div", tag("span", "level 1"), tag("span", f"level {last}"), class_="axis", aria_hidden="true"),
    )


def _column(number: int, count: int, most: int, unit: str) -> Element:
    height = max(100 * count / most, 1.0)
    return tag("span", style=f"height:{height:.1f}%", title=f"level {number}: {count:,} {unit}")


def coverage(found: SearchResult, idle: Sequence[str]) -> Element | None:
    """The firings of each action; those in ``idle`` never fired, unexpectedly."""
    if not found.actions:
        return None
    most = max(found.actions.values())
    return tag(
        "figure",
        tag("figcaption", "How often each action fired (the bars are logarithmic)."),
        tag("table", [_action(name, fired, most, name in idle) for name, fired in found.actions.items()],
            class_="coverage"),
    )


def _action(name: str, fired: int, most: int, idle: bool) -> Element:
    share = 100 * math.log1p(fired) / math.log1p(most) if most else 0.0
    count = tag("b", "never", class_="warn-text") if idle else f"{fired:,}"
    return tag(
        "tr",
        tag("th", name, scope="row"),
        tag("td", count, class_="number"),
        tag("td", tag("span", class_="bar", style=f"width:{share:.1f}%"), class_="bar-cell", aria_hidden="true"),
    )
