"""Builds the site from the pages of this repository: ``python -m docs.tools.site`` (needs ``floodmark[site]``).

MkDocs makes the site from ``docs/mkdocs.yml``. This module writes the pages that it reads: those of ``docs/`` as they
are, and each finding as a page of its own, with the chart and the steps of its counterexamples, which it runs. A link
to a file that is no page, such as a model, becomes plain text.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, tostring

import yaml

from docs.tools.findings import HEAD, ROOT, VERDICTS, Finding, Shown, findings, links, wrapped
from floodmark.checkers.report import text
from floodmark.checkers.report.html.chart import chart, legend
from floodmark.checkers.report.html.markup import code, tag
from floodmark.checkers.report.html.states import changes, whole
from floodmark.checkers.report.sequence import violation_sequence
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.symbolic.prove import prove_claim
from floodmark.checkers.value_text import show_step
from floodmark.checkers.verdict.result import CheckResult

CONFIGURATION = ROOT / "docs" / "mkdocs.yml"
PAGES = ROOT / "build" / "site" / "pages"
HTML = ROOT / "build" / "site" / "html"
_MOVED = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "benchmarks/RESULTS.md": "results.md",
    "docs/findings.md": "findings/index.md",
}
"""Pages of the repository that lie elsewhere on the site."""
_RULES = re.compile(
    r"^(?::root|\.(?:chart|lifeline|participant|action|everybody|actor|lost|asks|loop|message|name-|ending|changes|state"
    r"|legend|scroll))[^{}]*\{[^{}]*\}",
    re.MULTILINE,
)
"""Rules of the report's style that charts, states and changes need."""


def main() -> None:
    """Writes the pages and builds the site."""
    write_pages(findings())
    build()


def write_pages(entries: list[Finding]) -> None:
    """Writes what MkDocs reads; the counterexamples of ``entries`` are run."""
    os.chdir(ROOT)
    shutil.rmtree(PAGES, ignore_errors=True)
    for source, target in places().items():
        if source != "docs/findings.md":
            _write(target, _relinked((ROOT / source).read_text(encoding="utf-8"), source))
    _write("site.css", _style())
    for name, content in finding_pages(entries).items():
        _write(f"findings/{name}", _relinked(content, "docs/findings.md"))


def build() -> None:
    """Runs MkDocs, which fails for a link that leads nowhere and for a page that the navigation lacks."""
    configuration = yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))
    configuration["nav"] = [_whole(entry) for entry in configuration["nav"]]
    configuration |= {"docs_dir": str(PAGES), "site_dir": str(HTML)}
    file = PAGES.parent / "mkdocs.yml"
    file.write_text(yaml.safe_dump(configuration, sort_keys=False), encoding="utf-8")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", str(file)]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)


def _whole(entry: Any) -> Any:
    """An entry of the navigation, in which a folder stands for all of its pages."""
    if isinstance(entry, dict):
        return {name: _whole(value) for name, value in entry.items()}
    if isinstance(entry, list):
        return [_whole(each) for each in entry]
    if isinstance(entry, str) and entry.endswith("/"):
        pages = sorted((PAGES / entry).glob("*.md"), key=lambda page: (page.name != "index.md", page.name))
        return [page.relative_to(PAGES).as_posix() for page in pages]
    return entry


def places() -> dict[str, str]:
    """Every page of the repository, and its place on the site."""
    pages = [page.relative_to(ROOT).as_posix() for page in sorted((ROOT / "docs").rglob("*.md"))]
    return {page: _MOVED.get(page, page.removeprefix("docs/")) for page in (*_MOVED, *pages)}


def _write(target: str, content: str) -> None:
    path = PAGES / target
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def _relinked(content: str, source: str) -> str:
    """A page whose links lead to pages of the site; other files are named, not linked."""
    known, here = places(), Path(places()[source]).parent

    def link(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        if re.match(r"https?:|#|mailto:", target) or target.startswith(("findings/", "./")):
            return found[0]
        file, sign, anchor = target.partition("#")
        place = known.get(os.path.normpath(os.path.join(os.path.dirname(source), file)))
        return words if place is None else f"[{words}]({os.path.relpath(place, here)}{sign}{anchor})"

    return re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)", link, content)


def _style() -> str:
    whole_style = (ROOT / "src/floodmark/checkers/report/html/page.css").read_text(encoding="utf-8")
    light, _, dark = whole_style.partition("@media (prefers-color-scheme: dark)")
    rules = "\n".join(found[0] for found in _RULES.finditer(light + dark))
    variables = re.search(r"--[^}]*", dark)
    assert variables is not None
    more = ".md-typeset .held { font-size: .68rem; } .md-typeset .steps > li { margin-bottom: .8em; }"
    return f'{rules}\n[data-md-color-scheme="slate"] {{ {variables[0]} }}\n{more}\n'


def finding_pages(entries: list[Finding]) -> dict[str, str]:
    """The pages of the findings by their names, with a list of all as the index."""
    pages: dict[str, str] = {}
    index = [HEAD.rstrip("\n")]
    for source, group in groupby(entries, key=lambda entry: entry.source):
        index += ["", f"## {source}", "", "| finding | verdict |", "|---|---|"]
        for entry in group:
            name = f"{_slug(entry.title)}.md"
            pages[name] = "\n".join(_finding(entry)) + "\n"
            index.append(f"| [{entry.title}](./{name}) | {VERDICTS[entry.verdict]} |")
    return {"index.md": "\n".join(index) + "\n", **pages}


def _slug(title: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))


def _finding(entry: Finding) -> Iterator[str]:
    yield from (f"# {entry.title}", "", f"*{entry.source}*, {entry.place}:", "")
    yield from wrapped(entry.sentence, "> ") if entry.sentence else wrapped(entry.reading)
    yield from ("", *wrapped(f"**{VERDICTS[entry.verdict]}.** {entry.why}"))
    yield from ("", *wrapped(f"*Repair:* {entry.repair}"))
    if entry.kafka:
        yield from ("", *wrapped(f"*Kafka:* {entry.kafka}"))
    yield from ("", *wrapped(f"Holds: {links(entry.good)}. Fails: {links(entry.bad)}."))
    for reference in entry.bad:
        shown = Shown.of(reference)
        yield from ("", f"## {shown.name or shown.path.stem}", "")
        if shown.is_claim:
            proved = prove_claim(shown.claim())
            yield from ("```text", f"{proved.name}: {proved.headline}", *proved.lines, "```")
            continue
        yield from _counterexample(run_check(shown.check()))


def _counterexample(result: CheckResult) -> Iterator[str]:
    violation, model = result.violation, result.subject
    assert violation is not None and model is not None and result.expected
    said: Mapping[str, str] = text.about(result)
    yield from (f"- `{name}`: {sentence}" for name, sentence in said.items())
    yield ""
    sequence = violation_sequence(model, violation)
    yield _markup(tag("div", chart(sequence, violation.property), legend(sequence), class_="scroll"))
    names = list(model.variable_types)
    steps = []
    for number, entry in enumerate(violation.trace):
        before = violation.trace[number - 1].state if number else None
        what = whole(names, entry.state, None) if before is None else changes(names, before, entry.state)
        steps.append(tag("li", tag("code", code(show_step(entry.step)), class_="call"), what))
    yield from ("", _markup(tag("ol", steps, class_="steps")), "")
    yield from ("```sh", result.reproduce, "```")


def _markup(element: Element) -> str:
    """An element on one line, which Markdown leaves as it is; the theme leaves tables alone that have a class."""
    for table in element.iter("table"):
        table.set("class", f"{table.get('class', '')} held".strip())
    return tostring(element, encoding="unicode", method="html").replace("\n", " ")


if __name__ == "__main__":
    main()
