"""The parts of the explorer's page, as HTML built from elements, so no text of a model can become markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, tostring

from floodmark.checkers.designs.design_pair import Decision
from floodmark.checkers.explorer.design_comparison import DesignComparison
from floodmark.checkers.explorer.state_view import PathView, PropertyValue, StateView
from floodmark.checkers.project.modules import Project
from floodmark.checkers.project.paths import resolved, shown, shown_line
from floodmark.checkers.report.html.chart import chart, legend
from floodmark.checkers.report.html.markup import Part, code, tag
from floodmark.checkers.report.html.states import changes, side_by_side, whole
from floodmark.checkers.report.sequence import message_sequence
from floodmark.checkers.report.text import first_sentence
from floodmark.checkers.value_text import show_arguments, show_step, written_step
from floodmark.checkers.walking.expansion import ExpandedAction, StoppingGuard
from floodmark.language.errors import SourceError
from floodmark.language.model import State
from floodmark.language.plurals import counted, plural
from floodmark.language.reference import Step

_MAX_STEPS = 12
"""The greatest number of choices that are listed below a guard that disables them."""


def parts(shown: PathView) -> dict[str, Any]:
    """The page's parts by the identifier of the element that holds each, and where in the path it is."""
    names = list(shown.model.variable_types)
    return {
        "at": shown.at,
        "path": [written_step(entry.step) for entry in shown.walked.trace],
        "stop": shown.walked.stop,
        "parts": {
            "timeline": _text(_timeline(shown, names)),
            "state": _text(_state(shown, names)),
            "properties": _text(_properties(shown.place)),
            "watched": _text(_watched(shown)),
            "actions": _text(_actions(shown, names)),
            "chart": _text(_chart(shown)),
        },
    }


def _text(parts: Part) -> str:
    holder = tag("div", parts)
    return "".join(tostring(child, encoding="unicode", method="html") for child in holder)


def _place(file: str | None, line: int | None) -> Element | None:
    if file is None:
        return None
    short = _short(Path(file))
    return tag("span", short if line is None else f"{short}:{line}", class_="place", title=shown_line(file, line))


def _short(file: Path) -> str:
    """The path of a file in its project, which is shorter than where the project lies."""
    root = Project.of(file).root
    whole = resolved(file)
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else shown(file)


# The path.


def _timeline(shown: PathView, names: Sequence[str]) -> Iterator[Part]:
    befores = [None, *(entry.state for entry in shown.walked.trace)]
    items = [_step_item(shown, names, place, befores[place]) for place in range(len(shown.walked.trace))]
    yield tag("ol", items, class_="path")
    if shown.walked.stop:
        yield tag("p", shown.walked.stop, class_="bad-text")


def _step_item(shown: PathView, names: Sequence[str], place: int, before: State | None) -> Element:
    entry = shown.walked.trace[place]
    differs = shown.difference
    kind = "now" if place == shown.at else "ahead" if place > shown.at else "past"
    changed = None if before is None else changes(names, before, entry.state)
    return tag(
        "li",
        tag("button", tag("code", code(show_step(entry.step))), type="button", data_at=str(place), class_="go",
            aria_current="step" if kind == "now" else False),
        changed,
        _decided(shown.beside, differs[1]) if differs is not None and differs[0] == place else None,
        class_=kind,
    )


def _decided(beside: str, decision: Decision) -> Element:
    """The reaction of the other design, and the rule that decides it."""
    ruling = decision.ruling
    rule: list[Part] = []
    if ruling is not None:
        rule = [
            tag("p", "the rule ", tag("code", ruling.call)),
            tag("ul", [
                tag("li", tag("b", it.design), " ", tag("code", code(it.text)), " ", _place(it.file, it.line))
                for it in (ruling.good, ruling.bad)
            ], class_="versions"),
        ]
    return tag(
        "div",
        tag("p", tag("b", beside), f" {decision.text} ", _place(decision.file, decision.line)),
        _lines(decision.reasons),
        rule,
        class_="otherwise",
    )


def _lines(lines: Sequence[str]) -> Element | None:
    return tag("pre", "\n".join(lines), class_="why") if lines else None


def _chart(shown: PathView) -> Element | None:
    trace = shown.walked.trace
    if not trace:
        return None
    sequence = message_sequence(shown.model, trace)
    return tag("div", chart(sequence), legend(sequence))


# The state.


def _state(shown: PathView, names: Sequence[str]) -> Part:
    if shown.at < 0:
        return tag("p", "Choose a state to begin with.", class_="quiet")
    trace = shown.walked.trace
    before = trace[shown.at - 1].state if shown.at > 0 else None
    return whole(names, trace[shown.at].state, before)


def _watched(shown: PathView) -> Part:
    """A table: an expression in each row, a step of the path in each column. Equal values beside each other are one
    cell."""
    if not shown.watched:
        return None
    count = len(shown.walked.trace)
    head = [tag("th", str(place + 1), scope="col", class_="now" if place == shown.at else False)
            for place in range(count)]
    rows = [tag("tr", tag("td"), head)]
    for number, (text, values) in enumerate(shown.watched):
        cells = [
            tag("td", code(value), colspan=str(last - first + 1), class_="now" if first <= shown.at <= last else False)
            for first, last, value in _stretches(values)
        ] if len(values) == count else [tag("td", values[0], colspan=str(max(count, 1)), class_="bad-text")]
        drop = tag("button", "✕", type="button", data_drop=str(number), aria_label=f"stop watching {text}")
        rows.append(tag("tr", tag("th", code(text), " ", drop, scope="row"), cells))
    return tag("div", tag("table", rows), class_="scroll state")


def _stretches(values: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """The first and the last place of each stretch of equal values."""
    first = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or values[place] != values[first]:
            yield first, place - 1, values[first]
            first = place


def _properties(place: StateView | None) -> Part:
    if place is None:
        return None
    wrong = [it for it in place.judgements if it.true is False and it.prop.kind != "reachable"]
    open_ = [it for it in place.judgements if it.true is None and it.why]
    right = [it for it in place.judgements if it.true and it.prop.kind != "reachable"]
    reached = [it for it in place.judgements if it.true and it.prop.kind == "reachable"]
    lines: list[Part] = [
        [_property(it, "✗", "bad") for it in wrong],
        [_property(it, "!", "warn") for it in open_],
        tag("p", "outside of the boundary: no search goes beyond it", class_="warn-text") if place.outside else None,
        tag("p", "reached here: ", ", ".join(it.prop.name for it in reached), class_="quiet") if reached else None,
    ]
    if right:
        count = f"{counted(len(right), 'property')} {plural(len(right), 'is', 'are')}"
        lines.append(tag("details", tag("summary", tag("span", "✓", class_="sign good"), f" {count} true here"),
                        tag("ul", [_named(it) for it in right], class_="names")))
    return lines


def _named(it: PropertyValue) -> Element:
    return tag("li", tag("code", it.prop.name), " ", tag("span", first_sentence(it.prop.doc), class_="quiet"))


def _property(it: PropertyValue, sign: str, kind: str) -> Element:
    return tag(
        "div",
        tag("p", tag("span", sign, class_=f"sign {kind}"), " ", tag("b", it.prop.name), " ",
            _place(it.prop.file, it.prop.line)),
        tag("p", first_sentence(it.prop.doc), class_="quiet") if it.prop.doc else None,
        _lines([line.removeprefix("  ") for line in it.why]),
        None if it.mapped is None else side_by_side(it.mapped),
        class_=f"judged {kind}",
    )


# The actions.


def _actions(shown: PathView, names: Sequence[str]) -> Part:
    if shown.place is None:
        every = [_choice(begun.step, None, "enabled") for begun in shown.beginnings]
        return tag("ol", every, class_="choices")
    place = shown.place
    before = shown.walked.trace[shown.at].state
    beside = place.beside
    enabled = [
        _choice(step, changes(names, before, after), "enabled", _beside(beside, written_step(step)))
        for action in place.actions for step, after in action.enabled
    ]
    failed = [
        _choice(step, _failure(error), "failed") for action in place.actions for step, error in action.failed
    ]
    rest = [action for action in place.actions if not action.enabled]
    partly = [action for action in place.actions if action.enabled and action.stopped]
    return [
        _unlike(beside),
        tag("ol", [*enabled, *failed], class_="choices") if enabled or failed else tag(
            "p", "No step is possible: a deadlock, unless the model is to end here.", class_="warn-text"),
        _only_there(beside),
        tag("h3", f"Not enabled ({len(rest)})") if rest else None,
        tag("ul", [_stopped_action(action) for action in rest], class_="stopped") if rest else None,
        tag("h3", "Enabled, but not with these choices") if partly else None,
        tag("ul", [_stopped_action(action) for action in partly], class_="stopped") if partly else None,
    ]


def _choice(step: Step, effect: Part, kind: str, note: Part = None) -> Element:
    return tag(
        "li",
        tag("button", tag("code", code(show_step(step))), type="button", data_step=written_step(step), class_="take"),
        effect,
        note,
        class_=kind,
    )


def _failure(error: SourceError) -> Element:
    return tag("p", f"leaves the declared types: {error.message} ", _place(error.file, error.line), class_="bad-text")


def _beside(beside: DesignComparison | None, text: str) -> Element | None:
    decision = None if beside is None else beside.decisions.get(text)
    if beside is None or decision is None or decision.how is None:
        return None
    return _decided(beside.name, decision)


def _unlike(beside: DesignComparison | None) -> Element | None:
    if beside is None or not beside.mismatch:
        return None
    return tag("p", f"{beside.name} has no such state: {beside.mismatch}", class_="warn-text")


def _only_there(beside: DesignComparison | None) -> Part:
    if beside is None or not beside.more:
        return None
    return [
        tag("h3", f"Only {beside.name} can take"),
        tag("ul", [tag("li", tag("code", code(show_step(step)))) for step, _ in beside.more], class_="only"),
    ]


def _stopped_action(action: ExpandedAction) -> Element:
    error = action.error
    return tag(
        "li",
        tag("p", tag("code", action.name, class_="call"), " ",
            tag("span", first_sentence(action.doc), class_="quiet")),
        [_guard(it) for it in action.stopped],
        None if error is None else tag("p", f"{error.message} ", _place(error.file, error.line), class_="bad-text"),
    )


def _guard(stopped: StoppingGuard) -> Element:
    guard = stopped.guard
    steps = stopped.steps
    several = len(steps) > 1
    texts = [show_arguments(step.arguments) for step in steps[:_MAX_STEPS] if step.arguments]
    more = f" and {len(steps) - _MAX_STEPS} more" if len(steps) > _MAX_STEPS else ""
    text = f"{texts[0]}: " if texts and not several else ""
    return tag(
        "div",
        tag("p", text, tag("code", code(guard.text)), " ", _place(guard.file, guard.line)),
        _lines(guard.reasons),
        tag("details", tag("summary", f"so for {len(steps)} choices; the values are those of the first"),
            tag("p", "; ".join(texts) + more)) if several else None,
        [tag("button", "run it", type="button", data_try=written_step(steps[0]), class_="try",
             title="Runs the action up to the guard, for a breakpoint")] if steps else None,
        class_="guard",
    )
