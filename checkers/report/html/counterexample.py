"""A counterexample on the page: the chart, the steps with what they change, and why the property is false."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from floodmark.checkers.exploration import Violation
from floodmark.checkers.report.explanation import explain
from floodmark.checkers.report.html.chart import chart
from floodmark.checkers.report.html.markup import code, tag
from floodmark.checkers.report.html.states import changes, whole
from floodmark.checkers.report.liveness import ending, finding_of, lasso_lines
from floodmark.checkers.report.sequence import MessageSequence, message_sequence
from floodmark.checkers.report.text import figures
from floodmark.checkers.report.value import show_step
from floodmark.checkers.result import CheckResult
from floodmark.language.model import Model


def counterexample(result: CheckResult) -> list[Element]:
    """Everything about one counterexample except its title."""
    model, violation = result.subject, result.violation
    if model is None or violation is None:
        return []
    sequence = message_sequence(model, violation.trace, violation.failed_step)
    drawn = chart(sequence, _ending(violation))
    return [
        tag(
            "div",
            tag("div", drawn, _legend(sequence), class_="scroll chart-box", tabindex="0", role="region",
                aria_label="sequence chart"),
            tag("ol", list(_steps(model, violation)), class_="steps"),
            class_="trace",
        ),
        *_reasons(result, model, violation),
    ]


def _legend(sequence: MessageSequence) -> Element | None:
    """What the arrows mean, for the kinds that occur."""
    messages = sequence.messages
    said = [
        "a solid arrow is a message" if any(it.receiver is not None for it in messages) else "",
        "a message that ends in a ring has not been received" if any(it.receiver is None for it in messages) else "",
        "a dotted arrow points to whatever a step is about" if any(event.others for event in sequence.events) else "",
    ]
    text = "; ".join(filter(None, said))
    return tag("p", f"{text[:1].upper()}{text[1:]}.", class_="legend") if text else None


def _ending(violation: Violation) -> str:
    if violation.kind == "deadlock":
        return "deadlock: no step is possible"
    if violation.kind == "liveness":
        return ending(violation)
    return violation.message if violation.kind == "error" else f"{violation.property} is false"


def _steps(model: Model, violation: Violation) -> Iterator[Element]:
    names = list(model.variable_types)
    before = None
    for number, entry in enumerate(violation.trace, 1):
        last = number == len(violation.trace)
        yield tag(
            "li",
            tag("code", code(show_step(entry.step)), class_="call"),
            None if before is None else changes(names, before, entry.state),
            tag(
                "details",
                tag("summary", "Initial state" if before is None else f"State after step {number}"),
                whole(names, entry.state, before),
                open=last,
            ),
        )
        before = entry.state
    if violation.failed_step is not None:
        said = tag("p", f"fails: {violation.message}", class_="bad-text")
        yield tag("li", tag("code", code(show_step(violation.failed_step)), class_="call"), said)


def _reasons(result: CheckResult, model: Model, violation: Violation) -> list[Element]:
    prop = result.find_property(violation.property)
    parts = []
    if prop is not None and violation.kind in ("invariant", "transition"):
        lines = explain(model, prop, violation.trace)
        if lines:
            why = tag("pre", "\n".join(line.removeprefix("  ") for line in lines[1:]))
            box = tag("div", why, class_="scroll", tabindex="0", role="region", aria_label="reason")
            parts += [tag("h4", f"Why {prop.name} is false"), box]
    finding = finding_of(result.exploration, violation)
    if finding is not None:
        why = tag("pre", "\n".join(lasso_lines(finding)))
        box = tag("div", why, class_="scroll", tabindex="0", role="region", aria_label="reason")
        parts += [tag("h4", "How the run goes on"), box]
    if result.exploration is not None:
        parts.append(tag("p", f"Found after {figures(result)}.", class_="quiet"))
    return parts
