"""The text that a run prints: one line for each check, counterexamples, warnings, and the overall verdict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import click

from floodmark.checkers.explanation.false_property import explain
from floodmark.checkers.explanation.trace import step_with_note, trace_lines
from floodmark.checkers.project.paths import shown_line
from floodmark.checkers.report import divergence
from floodmark.checkers.report.colour import coloured_lines
from floodmark.checkers.report.coverage import coverage_lines
from floodmark.checkers.report.liveness import (
    around,
    finding_of,
    lasso_lines,
    needs_lines,
    open_lines,
    superfluous_lines,
)
from floodmark.checkers.report.trace_view import TraceView
from floodmark.checkers.search_result import SearchResult, Violation, WalkFigures
from floodmark.checkers.value_text import show_step
from floodmark.checkers.verdict.result import MEANINGS, SHORT_MEANINGS, CheckResult, ExitCode, worst
from floodmark.language.model import sized
from floodmark.language.plurals import counted
from floodmark.language.widths import Widths, capacities

_WIDTH = 12


def lines(result: CheckResult, traces: bool = False, only: Sequence[str] = ()) -> list[str]:
    """The full text for one check: its line, its warnings, and its counterexample.

    An expected counterexample, such as a known-bad design's, is shown only with ``traces``. ``only`` restricts the
    shown steps, as for ``TraceView``.
    """
    texts = [f"{' ' * _WIDTH}  {text}" for text in scenario_lines(result)]
    lines = [headline(result), *texts, *_sizes(result), *_liveness(result), *notice_lines(result), *_coverage(result)]
    if result.violation is not None and (traces or not result.expected):
        lines += ["", *coloured_lines(counterexample(result, only)), ""]
    elif not result.expected and result.reproduce:
        lines.append(f"{' ' * _WIDTH}  reproduce: {result.reproduce}")
    return lines


def scenario_lines(result: CheckResult) -> list[str]:
    """The scenarios that fail, a sentence each."""
    return [
        f"{shown_line(result.spec, it.line)}: scenario {it.name}: {it.problem}" for it in result.scenarios if it.problem
    ]


def _sizes(result: CheckResult) -> list[str]:
    """The largest sizes of containers with a capacity or a width: over the whole search, or until one overflowed."""
    found, subject = result.search_result, result.subject
    overfull = result.violation is not None and result.violation.overfull
    if found is None or subject is None or result.variant is not None or not (found.complete or overfull):
        return []
    kinds = sized(subject, Widths(found.widths)).variable_types
    room = dict(place for name, kind in kinds.items() for place in capacities(kind, name))
    full = [f"{place} {size} of {room[place]}" for place, size in found.sizes.items()]
    return [f"{' ' * _WIDTH}  largest sizes: {', '.join(full)}"] if full else []


def _coverage(result: CheckResult) -> list[str]:
    found = result.search_result
    if found is None or found.coverage is None:
        return []
    return [f"{' ' * _WIDTH}  {text}" for text in coverage_lines(found.coverage)]


def _liveness(result: CheckResult) -> list[str]:
    """The fairness that each liveness property needs, and the properties that a bound leaves undetermined."""
    found = result.search_result
    if found is None or result.verdict not in ("holds", "undetermined"):
        return []
    return [f"{' ' * _WIDTH}  {text}" for text in (*needs_lines(found), *open_lines(found))]


@dataclass(frozen=True, slots=True)
class ResultLine:
    """The content of a check's line: one word, its colour on a terminal, and the rest."""

    word: str
    colour: str
    text: str


def headline(result: CheckResult) -> str:
    """One line: ``holds  alter_isr/core  9,716 states, 41,202 generated, depth 19, 0.1 s``."""
    line = result_line(result)
    name = result.name if result.variant is None else f"  {result.variant}"
    return f"{click.style(f'{line.word:<{_WIDTH}}', fg=line.colour)}  {name}  {line.text}"


def result_line(result: CheckResult) -> ResultLine:
    """The word and the text of a check's line, without its name."""
    if result.verdict == "error" and result.violation is None:
        word = "internal" if result.exit_code == ExitCode.INTERNAL_ERROR else "error"
        return ResultLine(word, "red", f"{_place(result)}{result.message}")
    if result.expected and result.verdict == "violated":
        steps = 0 if result.violation is None else len(result.violation.trace)
        how = f"breaks {result.property} in {_steps(steps)}" if steps else f"never reaches {result.property}"
        return ResultLine("found", "green", f"{how}, {seconds(result)}")
    message = result.message
    if result.verdict == "holds" and not result.expected and result.properties:
        message += " (no property is violated)"
    if message and result.search_result is None:
        return ResultLine(*_word(result), message)
    text = figures(result)
    if result.property is None or result.verdict == "holds":
        return ResultLine(*_word(result), f"{message}; {text}" if message else text)
    chosen = "" if result.violation is None or result.violation.kind != "liveness" else result.violation.message
    if chosen:  # of the property's parameters
        differences = message.removeprefix(chosen).removeprefix("; ")
        name = f"{result.property} ({chosen.removeprefix('for ')})"
        return ResultLine(*_word(result), f"{name}: {differences}; {text}" if differences else f"{name}, {text}")
    text = f"{result.property}: {message}; {text}" if message else f"{result.property}, {text}"
    return ResultLine(*_word(result), text)


def _word(result: CheckResult) -> tuple[str, str]:
    if result.verdict == "holds":
        return ("holds", "green") if result.expected else ("unexpected", "red")
    if result.verdict == "undetermined":
        return "undetermined", "yellow"
    return result.verdict, "green" if result.expected else "red"


def figures(result: CheckResult) -> str:
    """The size of a search: ``9,716 states, 41,202 generated, depth 19, 0.1 s``."""
    found = result.search_result or SearchResult(engine="")
    if found.walked is not None:
        return walk_extent(found, found.walked, seconds(result))
    size = counted(found.distinct, "orbit" if result.symmetry else "state")
    return f"{size}, {found.generated:,} generated, depth {found.depth}, {seconds(result)}"


def walk_extent(found: SearchResult, walks: WalkFigures, taken: str) -> str:
    """The extent of random walks: ``2,000 walks (actions, seed 0), 201,354 states, 9,247 of them distinct, ...``."""
    seen = walks.distinct
    distinct = f"{found.distinct:,}"
    if seen.low < seen.high:
        distinct = f"about {found.distinct:,} (95 %: {seen.low:,.0f} to {seen.high:,.0f})"
    ends = [f"{walks.cut_short:,} ended at the boundary"] if walks.cut_short else []
    ends += [f"{walks.dead_ends:,} ended where no action is enabled"] if walks.dead_ends else []
    return ", ".join((
        f"{counted(walks.walks, 'walk')} ({walks.strategy}, seed {walks.seed})",
        counted(found.generated, "state"),
        f"{distinct} of them distinct",
        f"at most {counted(found.depth - 1, 'step')}",
        *ends,
        taken,
    ))


def seconds(result: CheckResult) -> str:
    """The duration of the search."""
    taken = 0.0 if result.search_result is None else result.search_result.seconds
    return f"{taken:.1f} s" if taken >= 0.05 else f"{taken * 1000:.0f} ms"


def notices(result: CheckResult) -> list[str]:
    """The notes of a search and its warnings, a sentence each."""
    return [*notes(result), *warnings(result)]


def notice_lines(result: CheckResult) -> list[str]:
    """The same as they are printed below a check's line."""
    sign = click.style("warning", fg="yellow")
    return [f"{' ' * _WIDTH}  {text}" for text in (*notes(result), *(f"{sign}  {it}" for it in warnings(result)))]


def notes(result: CheckResult) -> list[str]:
    """Notes on how the search was done."""
    return [] if result.search_result is None else [f"note: {note}" for note in result.search_result.notes]


def warnings(result: CheckResult) -> list[str]:
    """Warnings besides the verdict, above all about what was not exercised."""
    found = result.search_result
    if found is None or result.variant is not None or (result.expected and result.verdict == "violated"):
        return []
    lines = result.unexercised()
    for name in result.unreached:
        prop = result.find_property(name)
        lines.append(f"never reached: {name}" + (f" ({shown_line(prop.file, prop.line)})" if prop else ""))
    if found.walked is not None:
        goals = [prop.name for prop in result.properties if prop.kind == "reachable"]
        missed = [name for name in goals if name not in found.reached]
        lines += [f"not reached by these walks: {', '.join(missed)}"] if missed else []
    lines += superfluous_lines(found)
    if found.cut:
        lines.append(f"the search was cut at the boundary {counted(found.cut, 'time')}")
    return lines


def counterexample(result: CheckResult, only: Sequence[str] = ()) -> list[str]:
    """The verdict, the steps, why the property is false, where the good design differs, and the command that shows it
    again."""
    violation, model = result.violation, result.subject
    assert violation is not None
    assert model is not None
    title = result.design()
    prop = result.find_property(violation.property)
    lines = [click.style(_verdict_line(result, title), bold=True), *_indented_about(result), ""]
    differs = result.divergence
    view = TraceView.of(model, only)

    def mark(number: int) -> str:
        return divergence.mark(differs, number)

    lines += view.lines(violation, mark) if view else trace_lines(model, violation.trace, mark)
    if violation.failed_step is not None:
        number = len(violation.trace) + 1
        lines.append(f"{number}  {step_with_note(show_step(violation.failed_step), mark(number))}")
        lines.append(f"{' ' * len(str(number))}    fails: {_place(result)}{violation.message}")
    if prop is not None and violation.kind in ("invariant", "transition"):
        lines += ["", *explain(model, prop, violation.trace)]
    finding = finding_of(result.search_result, violation)
    if finding is not None:
        lines += lasso_lines(finding)
    if differs is not None:
        lines += ["", *divergence.lines(differs, violation, shown_line)]
    others = Counter(other.property or "a model error" for other in _others(result))
    if others:
        lines += ["", f"also violated at the same depth: {', '.join(others)}"]
    return [*lines, "", f"reproduce: {result.reproduce}"] if result.reproduce else lines


def _indented_about(result: CheckResult) -> list[str]:
    return [f"  {name}: {sentence}" for name, sentence in about(result).items()]


def about(result: CheckResult) -> dict[str, str]:
    """The first sentence of the docstrings of the violated property and of the design that violates it."""
    prop = result.find_property(result.property)
    docs = {} if prop is None else {prop.name: prop.doc}
    if result.variant is not None and result.subject is not None:
        docs[result.variant] = type(result.subject).__doc__ or ""
    return {name: sentence for name, doc in docs.items() if (sentence := first_sentence(doc))}


def first_sentence(doc: str) -> str:
    """The first sentence of a docstring, on one line."""
    whole = " ".join(doc.replace("``", "").split())
    return re.split(r"(?<=[^.]\.) (?=[A-Z])", whole, maxsplit=1)[0]


def _others(result: CheckResult) -> list[Violation]:
    found = result.search_result
    return [] if found is None else [it for it in found.violations if it is not result.violation]


def _verdict_line(result: CheckResult, title: str) -> str:
    violation = result.violation
    assert violation is not None
    steps = f"after {_steps(len(violation.trace))}"
    if violation.kind == "deadlock":
        return f"{title} has a deadlock {steps}"
    if violation.kind == "error":
        return f"{title} has an error {steps}: {_place(result)}{violation.message}"
    prop = result.find_property(violation.property)
    place = f" ({shown_line(prop.file, prop.line)})" if prop is not None else ""
    name = " ".join(filter(None, [violation.property + place, violation.message]))
    if violation.kind == "liveness" and violation.loop is not None:
        return f"{title} violates {name}: {around(violation.loop, len(violation.trace))}"
    return f"{title} violates {name} {steps}"


def _steps(count: int) -> str:
    return counted(count, "step")


def _place(result: CheckResult) -> str:
    if result.file is None:
        return ""
    return f"{shown_line(result.file, result.line)}: "


def hint(results: Sequence[CheckResult]) -> list[str]:
    """The command that shows the counterexample of a known-bad design, if there is one."""
    for result in results:
        if result.expected and result.violation is not None:
            return [f"to see a counterexample: {result.reproduce}"]
    return []


def summary(results: Sequence[CheckResult], code: ExitCode) -> str:
    """The last line: the overall verdict in words."""
    wrong = [result for result in results if result.exit_code != ExitCode.AS_EXPECTED]
    checks = counted(len(results), "check")
    if not wrong:
        return click.style(f"{checks}, each as expected", fg="green", bold=True)
    counts = Counter(result.exit_code for result in wrong)
    parts = [f"{counts[kind]} {SHORT_MEANINGS[kind]}" for kind in SHORT_MEANINGS if counts[kind]]
    text = f"{checks}: {', '.join(parts)} (exit {int(code)}: {MEANINGS[code]})"
    return click.style(text, fg="yellow" if code == ExitCode.UNDETERMINED else "red", bold=True)

__all__ = ["counterexample", "figures", "headline", "lines", "notice_lines", "notices", "summary", "worst"]
