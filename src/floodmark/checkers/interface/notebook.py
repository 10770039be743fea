"""Results as HTML for a notebook: a table, and the counterexample as the chart and the steps of the report's page.

The style is that of the page, nested below one class, so that it changes nothing else in the notebook.
"""

from __future__ import annotations

import itertools
import os
from xml.etree.ElementTree import Element, tostring

import click

from floodmark.checkers.report.html.counterexample import counterexample
from floodmark.checkers.report.html.document import page_style
from floodmark.checkers.report.html.markup import Part, tag
from floodmark.checkers.report.text import figures, warnings
from floodmark.checkers.search_result import SearchResult
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult, Verdict

_CHIPS: dict[Verdict, str] = {"holds": "good", "violated": "bad", "error": "bad", "undetermined": "warn"}
_numbers = itertools.count(1)


def result_html(found: CheckResult) -> str:
    """A table of the results of a search, their weaknesses, and the counterexample."""
    explored = found.search_result or SearchResult(engine=found.engine)
    rows = [
        ("Properties", ", ".join(prop.name for prop in found.properties)),
        ("Constants", _constants(found.constants)),
        ("Orbits" if found.symmetry else "States", f"{explored.distinct:,}"),
        ("Generated", f"{explored.generated:,}"),
        ("Depth", f"{explored.depth:,}"),
        ("Engine", found.engine),
    ]
    text = ": ".join(filter(None, [found.property or "", found.message]))
    listed = [tag("li", line) for line in plain_warnings(found)]
    return _block(
        _head(found.verdict, found.name, text or figures(found)),
        _table(rows),
        tag("ul", listed, class_="warnings") if listed else None,
        _drawn(found),
    )


def counterexample_html(found: CheckResult) -> str:
    """A counterexample alone."""
    return _block(_drawn(found))


def proof_html(found: ProofResult) -> str:
    """A table of the proved statements, with their text."""
    rows = [
        ("Method", found.method),
        ("Properties", ", ".join(found.facts.get("properties", ()))),
        ("Constants", _constants(found.constants)),
    ]
    details = tag("div", tag("pre", "\n".join(found.lines)), class_="scroll") if found.lines else None
    return _block(_head(found.verdict, found.name, found.headline), _table(rows), details)


def plain_warnings(found: CheckResult) -> list[str]:
    """The warnings and notes of a check, as text."""
    return [click.unstyle(line).strip().removeprefix("warning").strip() for line in warnings(found)]


def _drawn(found: CheckResult) -> list[Element]:
    """The counterexample; several in one notebook have identifiers of their own, those of two kernels as well."""
    return counterexample(found, f"floodmark-{os.getpid()}-{next(_numbers)}")


def _constants(constants: dict[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in constants.items())


def _head(verdict: Verdict, name: str, text: str) -> Element:
    return tag("p", tag("span", verdict, class_=f"chip {_CHIPS[verdict]}"), tag("b", f" {name} "), text)


def _table(rows: list[tuple[str, str]]) -> Element:
    cells = [tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in rows if value]
    return tag("table", tag("tbody", cells), class_="ruling")


def _block(*parts: Part) -> str:
    style = page_style().replace(":root {", "& {").replace("\nbody {", "\n& {")
    whole = tag("div", tag("style", f".floodmark {{\n{style}\n}}"), parts, class_="floodmark", style="padding: 8px")
    return tostring(whole, encoding="unicode", method="html")
