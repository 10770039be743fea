"""The states of a refined model side by side: before and after an illegal step, and after the nearest legal step."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from floodmark.checkers.explanation.refinement import RefutedStep, nearest_lines
from floodmark.checkers.report.html.markup import Part, code, tag
from floodmark.checkers.value_text import show, show_step
from floodmark.language.model import State


def side_by_side(found: RefutedStep) -> list[Element]:
    """A table with a row for each variable, in which each change from one column to the next is marked."""
    step = found.nearest
    columns: list[tuple[Part, State]] = [("begins with", found.states[0])]
    if len(found.states) == 2:
        columns = [("before", found.states[0]), ("after", found.states[1])]
    if step is not None:
        columns.append((tag("code", code(show_step(step.step))), step.state))
    rows = [tag("tr", tag("th", found.name, scope="col"), [tag("th", head, scope="col") for head, _ in columns])]
    for place, name in enumerate(found.variables):
        values = [state[place] for _, state in columns]
        cells = [
            tag("td", tag("mark", code(show(value))) if number and value != values[number - 1] else code(show(value)))
            for number, value in enumerate(values)
        ]
        rows.append(tag("tr", tag("th", name, scope="row"), cells))
    table = tag("div", tag("table", rows), class_="scroll state", tabindex="0", role="region", aria_label=found.name)
    return [table, *(tag("p", line.strip(), class_="quiet") for line in nearest_lines(found))]
