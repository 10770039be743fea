"""A counterexample on the page: chart, steps, why the property is false, and where the good design differs.

Chart and steps are linked to each other, by identifiers that begin with that of the counterexample.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from floodmark.checkers.explanation.false_property import explain, refinement_lines, refuted_step
from floodmark.checkers.explanation.source_location import source_location
from floodmark.checkers.report import divergence
from floodmark.checkers.report.html.chart import chart, legend
from floodmark.checkers.report.html.markup import Part, code, tag
from floodmark.checkers.report.html.states import changes, side_by_side, whole
from floodmark.checkers.report.liveness import ending, finding_of, lasso_lines
from floodmark.checkers.report.sequence import violation_sequence
from floodmark.checkers.report.text import figures
from floodmark.checkers.search_result import Violation
from floodmark.checkers.value_text import show_step
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language.model import Model


def counterexample(result: CheckResult, anchor: str) -> list[Element]:
    """Everything about one counterexample except its title; ``anchor`` is its identifier on the page."""
    model, violation = result.subject, result.violation
    if model is None or violation is None:
        return []
    sequence = violation_sequence(model, violation)
    drawn = chart(sequence, _ending(violation), anchor)
    return [
        tag(
            "div",
            tag("div", drawn, legend(sequence), class_="scroll chart-box", tabindex="0", role="region",
                aria_label="sequence chart"),
            tag("ol", list(_steps(result, model, violation, anchor)), class_="steps"),
            class_="trace",
        ),
        *_reasons(result, model, violation),
        *_otherwise(result, violation, anchor),
    ]


def _ending(violation: Violation) -> str:
    if violation.kind == "deadlock":
        return "deadlock: no step is possible"
    if violation.kind == "liveness":
        return ending(violation)
    return violation.message if violation.kind == "error" else f"{violation.property} is false"


def _steps(result: CheckResult, model: Model, violation: Violation, anchor: str) -> Iterator[Element]:
    names = list(model.variable_types)
    differs = result.divergence
    before = None
    for number, entry in enumerate(violation.trace, 1):
        last = number == len(violation.trace)
        yield tag(
            "li",
            _number(anchor, number),
            tag("code", code(show_step(entry.step)), class_="call"),
            _mark(divergence.mark(differs, number)),
            None if before is None else changes(names, before, entry.state),
            tag(
                "details",
                tag("summary", "Initial state" if before is None else f"State after step {number}"),
                whole(names, entry.state, before),
                open=last,
            ),
            id=f"{anchor}-step-{number}",
            class_="differs" if divergence.mark(differs, number) else "",
        )
        before = entry.state
    if violation.failed_step is not None:
        number = len(violation.trace) + 1
        yield tag(
            "li",
            _number(anchor, number),
            tag("code", code(show_step(violation.failed_step)), class_="call"),
            _mark(divergence.mark(differs, number)),
            tag("p", f"fails: {violation.message}", class_="bad-text"),
            id=f"{anchor}-step-{number}",
        )


def _number(anchor: str, number: int) -> Element:
    return tag("a", str(number), href=f"#{anchor}-chart-{number}", class_="number-of-step")


def _mark(text: str) -> Element | None:
    return tag("span", text, class_="chip warn") if text else None


def _otherwise(result: CheckResult, violation: Violation, anchor: str) -> Iterator[Element]:
    """The first step that the good design would not take, and the rule by which it decides."""
    found = result.divergence
    if found is None:
        return
    title, where = divergence.headline(found), divergence.where(found, violation)
    step: Part = where if found.step is None else tag("a", where, href=f"#{anchor}-step-{found.step}")
    yield tag("h4", f"{title[:1].upper()}{title[1:]}: ", step)
    yield tag("p", divergence.sentence(found, _at))
    if found.reasons:
        lines = tag("pre", "\n".join(found.reasons))
        yield tag("div", lines, class_="scroll", tabindex="0", role="region", aria_label="what differs")
    if found.ruling is not None:
        rows = [
            tag("tr", tag("th", answer.design, scope="row"), tag("td", tag("code", code(answer.text))),
                tag("td", tag("code", _at(answer.file, answer.line)), class_="quiet"))
            for answer in divergence.versions(found)
        ]
        yield tag("p", "The rule ", tag("code", code(found.ruling.call)), ":")
        yield tag("div", tag("table", rows, class_="ruling"), class_="scroll")


def _at(file: str, line: int | None) -> str:
    return str(source_location(file, line))


def _reasons(result: CheckResult, model: Model, violation: Violation) -> list[Element]:
    prop = result.find_property(violation.property)
    parts = []
    mapped = refuted_step(model, prop, violation.trace) if prop is not None and prop.is_refinement else None
    if prop is not None and mapped is not None and violation.kind == "transition":
        text = refinement_lines(prop, mapped)[0].partition(": ")[2]
        parts += [tag("h4", f"Why {prop.name} is false"), tag("p", f"{text[:1].upper()}{text[1:]}.")]
        parts += side_by_side(mapped)
    elif prop is not None and violation.kind in ("invariant", "transition"):
        lines = explain(model, prop, violation.trace)
        if lines:
            why = tag("pre", "\n".join(line.removeprefix("  ") for line in lines[1:]))
            box = tag("div", why, class_="scroll", tabindex="0", role="region", aria_label="reason")
            parts += [tag("h4", f"Why {prop.name} is false"), box]
    finding = finding_of(result.search_result, violation)
    if finding is not None:
        why = tag("pre", "\n".join(lasso_lines(finding)))
        box = tag("div", why, class_="scroll", tabindex="0", role="region", aria_label="reason")
        parts += [tag("h4", "How the run continues"), box]
    if result.search_result is not None:
        parts.append(tag("p", f"Found after {figures(result)}.", class_="quiet"))
    return parts
