"""The whole HTML page: the verdict, what needs attention, a table of specs, each spec, and the claims."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element

from floodmark.checkers.report.edits import Entry, ordered, rank, sums
from floodmark.checkers.report.html.counterexample import counterexample
from floodmark.checkers.report.html.markup import Part, page, tag
from floodmark.checkers.report.html.search import coverage, levels
from floodmark.checkers.report.html.source import covered_source
from floodmark.checkers.report.text import notices
from floodmark.checkers.report.verdict_summary import SummaryLine, what_differs
from floodmark.checkers.verdict.result import MEANINGS, CheckResult, worst
from floodmark.language.plurals import counted, plural

_KIND = {"passed": "good", "failed": "bad", "error": "warn"}
_SIGN = {"passed": "✓", "failed": "✗", "error": "!"}


def html(cases: Sequence[SummaryLine], edits: Entry | None = None) -> str:
    """The document. It loads nothing from elsewhere and is complete without scripts: its script steps through
    counterexamples, pins variables and filters specs. ``edits`` is the result of a comparison with another version."""
    checks = [case for case in cases if case.result is not None]
    claims = [case for case in cases if case.result is None and case.word != "drift"]
    suites = [(name, list(group)) for name, group in groupby(checks, key=lambda case: case.suite)]
    wrong = [case for case in cases if case.status != "passed"]
    code = worst(case.exit_code for case in cases)
    shown = [case for case in cases if case.result is not None and case.result.violation is not None]
    only = shown[0] if len(shown) == 1 and shown[0].status == "passed" else None
    return _document(f"Floodmark: {MEANINGS[code]}", [
        _header(cases, suites, claims, MEANINGS[code]),
        tag(
            "main",
            _attention(wrong) if wrong else None,
            edits_section(edits) if edits else None,
            _overview(suites) if suites else None,
            _specs(suites, only) if suites else None,
            _claims(claims) if claims else None,
        ),
    ])


def edits_page(content: Entry) -> str:
    """A page about the effects of an edit alone."""
    title = f"from {content['old']} to {content['new']}"
    return _document(f"Floodmark: {title}", [
        tag("header", tag("p", "Floodmark", class_="brand"), tag("h1", f"What changes {title}")),
        tag("main", edits_section(content)),
    ])


def _document(title: str, body: Sequence[Element]) -> str:
    root = tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", title),
            tag("style", page_style()),
        ),
        tag(
            "body",
            body,
            tag("footer", f"floodmark {importlib.metadata.version('floodmark')}"),
            tag("script", _file("pins.js"), _file("page.js")),
        ),
        lang="en",
    )
    return page(root)


def page_style() -> str:
    """The style sheet of the page."""
    return _file("page.css")


def _file(name: str) -> str:
    return importlib.resources.files("floodmark.checkers.report.html").joinpath(name).read_text(encoding="utf-8")


def _header(
    cases: Sequence[SummaryLine], suites: Sequence[tuple[str, list[SummaryLine]]], claims: Sequence[SummaryLine],
    verdict: str,
) -> Element:
    wrong = sum(case.status != "passed" for case in cases)
    states = sum(case.result.search_result.distinct for case in cases if case.result and case.result.search_result)
    facts = [
        _counted(len(suites), "spec"),
        _counted(sum(len(group) for _, group in suites), "check"),
        _counted(len(claims), "claim or proof", "claims and proofs"),
        counted(states, "state"),
        f"{sum(case.seconds for case in cases):.1f} s of search time",
    ]
    good = len(cases) - wrong
    verb = plural(1 if len(cases) == 1 else good, "is", "are")
    summary = f"{good} of {counted(len(cases), 'outcome')} {verb} as expected"
    status = "passed" if not wrong else "failed" if any(case.status == "failed" for case in cases) else "error"
    return tag(
        "header",
        tag("p", "Floodmark", class_="brand"),
        tag("h1", tag("span", _SIGN[status], class_=f"sign {_KIND[status]}", aria_hidden="true"), f" {summary}"),
        tag("p", f"{verdict[:1].upper()}{verdict[1:]}.", class_="lead"),
        tag("p", " · ".join(fact for fact in facts if not fact.startswith("0 ")), class_="quiet"),
    )


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def _overview(suites: Sequence[tuple[str, list[SummaryLine]]]) -> Element:
    heads = ("Verdict", "Spec", "States", "Depth", "Known-bad designs", "Search")
    return tag(
        "section",
        tag("h2", "Verdicts"),
        tag(
            "table",
            tag("thead", tag("tr", [tag("th", head, scope="col") for head in heads])),
            tag("tbody", [_overview_row(name, group) for name, group in suites]),
            class_="verdicts",
        ),
        id="verdicts",
    )


def _overview_row(name: str, group: Sequence[SummaryLine]) -> Element:
    models = [case for case in group if case.result is not None and case.result.variant is None]
    flawed = [case for case in group if case.result is not None and case.result.variant is not None]
    found = models[0].result.search_result if models and models[0].result else None
    good = sum(case.status == "passed" for case in flawed)
    text = f"{good} of {len(flawed)} found" if flawed else "-"
    title = next((case.result.title for case in group if case.result is not None), "")
    return tag(
        "tr",
        tag("td", _verdict(group), class_="verdict"),
        tag("th", tag("a", name, href=f"#{_anchor(name)}"), tag("span", title, class_="quiet") if title else None,
            scope="row"),
        _figure("States", f"{found.distinct:,}" if found else "-"),
        _figure("Depth", f"{found.depth:,}" if found else "-"),
        tag("td", tag("span", text, class_="" if good == len(flawed) else "bad-text"), class_="number",
            data_label="Known-bad designs"),
        _figure("Search", f"{sum(case.seconds for case in group):.2f} s"),
    )


def _figure(label: str, text: str) -> Element:
    return tag("td", text, class_="number", data_label=label)


def _verdict(group: Sequence[SummaryLine]) -> Element:
    shown = next((case for case in group if case.status != "passed"), group[0])
    return _chip(shown)


def _chip(case: SummaryLine) -> Element:
    return tag(
        "span", tag("span", _SIGN[case.status], aria_hidden="true"), f" {case.word}",
        class_=f"chip {_KIND[case.status]}",
    )


def _attention(wrong: Sequence[SummaryLine]) -> Element:
    return tag("section", tag("h2", "What needs attention"), [_article(case) for case in wrong], id="attention")


def _article(case: SummaryLine) -> Element:
    shown = [] if case.result is None else counterexample(case.result, _anchor(case.title))
    body: Part = shown or _more(case)
    return tag(
        "article",
        tag("h3", _chip(case), f" {case.title}"),
        _broken(case),
        body,
        _drift(case),
        _reproduce(case),
        class_=_KIND[case.status],
        id=_anchor(case.title),
    )


def _drift(case: SummaryLine) -> Element | None:
    """The differences from the lock as one table."""
    if not case.drift:
        return None
    head = tag("tr", [tag("th", text, scope="col") for text in ("differs from the lock", "was", "now", "")])
    table = case.name if case.result is None else case.suite
    rows = [
        tag("tr", [tag("td", text) for text in (what_differs(table, each), each.was, each.now, each.note)])
        for each in case.drift
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", rows)), class_="scroll", tabindex="0",
               role="region", aria_label="drift")


def _more(case: SummaryLine) -> Element | None:
    """The optional parts next to the text and the command."""
    text = f"reproduce: {case.reproduce}"
    lines = [line for line in case.detail.splitlines() if line not in case.text and line != text]
    if not lines or case.word == "drift":
        return None
    return tag("div", tag("pre", "\n".join(lines)), class_="scroll", tabindex="0", role="region", aria_label="details")


def _broken(case: SummaryLine) -> list[Element]:
    lines = [tag("p", case.text)]
    for name, sentence in case.about.items():
        at = tag("code", str(case.place)) if name == case.rule else None
        lines.append(tag("p", tag("b", name), f": {sentence} ", at, class_="about"))
    return lines


def _reproduce(case: SummaryLine) -> Element | None:
    if not case.reproduce:
        return None
    return tag("p", "Reproduce: ", tag("code", case.reproduce, class_="command"), class_="reproduce")


def _specs(suites: Sequence[tuple[str, list[SummaryLine]]], only: SummaryLine | None) -> Element:
    """Each spec. Its parts are unfolded if the page has nothing else: a single spec, or the ``only`` counterexample."""
    every = [_spec(name, group, len(suites) == 1 or only in group, only) for name, group in suites]
    return tag("section", tag("h2", "Specs"), every, id="specs")


def _spec(name: str, group: Sequence[SummaryLine], opened: bool, only: SummaryLine | None) -> Element:
    model = next((case for case in group if case.result is not None and case.result.variant is None), None)
    flawed = [case for case in group if case is not model]
    title = next((case.result.title for case in group if case.result is not None), "")
    return tag(
        "details",
        tag("summary", _verdict(group), tag("b", f" {name} "), tag("span", title, class_="quiet")),
        tag(
            "div",
            [] if model is None else _model(model),
            [tag("h3", "Known-bad designs"), [_flawed(case, case is only) for case in flawed]] if flawed else [],
            class_="body",
        ),
        class_="spec",
        id=_anchor(name),
        open=opened,
    )


def _model(case: SummaryLine) -> Iterator[Part]:
    result = case.result
    assert result is not None
    constants = ", ".join(f"{name} = {value}" for name, value in result.constants.items())
    yield tag("p", f"{case.text[:1].upper()}{case.text[1:]}.")
    if case.status != "passed":
        yield _link(case)
    yield tag(
        "dl",
        _fact("Model", result.model),
        _fact("Constants", constants) if constants else None,
        _fact("Properties", ", ".join(prop.name for prop in result.properties)) if result.properties else None,
        _fact("Engine", result.engine) if result.engine else None,
        _fact("Reproduce", result.reproduce) if result.reproduce else None,
    )
    lines = notices(result)
    if lines:
        yield tag("ul", [tag("li", line) for line in lines], class_="warnings")
    yield from _search(result)
    if result.violation is not None and case.status == "passed":
        yield counterexample(result, _anchor(case.title))


def _fact(name: str, text: str) -> list[Element]:
    return [tag("dt", name), tag("dd", tag("code", text))]


def _search(result: CheckResult) -> Iterator[Part]:
    found = result.search_result
    if found is not None:
        yield tag("div", levels(found, "orbits" if result.symmetry else "states"),
                  coverage(found, result.idle_actions()), class_="search")
        if found.coverage is not None:
            yield covered_source(found.coverage)


def _flawed(case: SummaryLine, opened: bool) -> Element:
    if case.status != "passed":
        return tag("p", _chip(case), " ", _link(case), class_="flawed")
    result = case.result
    assert result is not None
    return tag(
        "details",
        tag("summary", _chip(case), tag("b", f" {case.name} "), tag("span", case.text, class_="quiet")),
        tag("div", _broken(case)[1:], counterexample(result, _anchor(case.title)), _reproduce(case), class_="body"),
        class_="flawed",
        id=_anchor(case.title),
        open=opened,
    )


def _link(case: SummaryLine) -> Element:
    return tag("a", f"{case.name}: {case.text}", href=f"#{_anchor(case.title)}")


def _claims(claims: Sequence[SummaryLine]) -> Element:
    return tag("section", tag("h2", "Claims and proofs"), [_claim(case) for case in claims], id="claims")


def _claim(case: SummaryLine) -> Element:
    """A claim or proof; wrong ones are shown in full above."""
    if case.status != "passed":
        return tag("p", _chip(case), " ", _link(case), class_="flawed")
    return tag(
        "details",
        tag("summary", _chip(case), tag("b", f" {case.name} "), tag("span", case.text, class_="quiet")),
        tag("div", _broken(case)[1:], _more(case), _reproduce(case), class_="body"),
        class_="flawed",
        id=_anchor(case.title),
    )


def _anchor(text: str) -> str:
    return re.sub(r"[^\w@]+", "-", text).strip("-")


def edits_section(content: Entry) -> Element:
    """The section of a page."""
    return tag(
        "section",
        tag("h2", f"What the edit changes, since {content['old']}"),
        tag("p", f"{sums(content)}."),
        [_part(entry) for entry in ordered(content)],
        id="edits",
    )


def _part(entry: Entry) -> Element:
    less = [tag("li", f"Checks less: {sentence}", class_="bad-text") for sentence in entry["emptier"]]
    return tag(
        "article",
        tag("h3", entry["name"]),
        tag("ul", less) if less else None,
        tag("p", f"{entry['headline'][:1].upper()}{entry['headline'][1:]}."),
        tag(
            "details",
            tag("summary", "Runs, actions, properties"),
            tag("div", tag("pre", "\n".join(entry["text"])), class_="scroll", tabindex="0", role="region",
                aria_label=f"what changed of {entry['name']}"),
            open=entry["emptier"] != [] or rank(entry) == 1,
        ),
    )
