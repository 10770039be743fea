"""Tests the site: every page is on it, no link leads nowhere, and it can be read on a phone and on a screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from docs.tools import site
from docs.tools.findings import ROOT, findings
from tests.report.test_html import OVERFLOW, SIZES
from tests.support.browser import browser, chromium


def named(entry: object) -> Iterator[str]:
    """The pages and folders of the navigation."""
    if isinstance(entry, dict):
        entry = list(entry.values())
    if isinstance(entry, list):
        for each in entry:
            yield from named(each)
    else:
        yield str(entry)


def test_the_navigation_has_every_page() -> None:
    listed = set(named(yaml.safe_load(site.CONFIGURATION.read_text(encoding="utf-8"))["nav"]))
    pages = set(site.places().values())
    assert listed - pages == {"findings/", "decisions/"}
    assert {page for page in pages - listed if not page.startswith(("findings/", "decisions/"))} == set()


def test_every_finding_has_a_page_of_its_own_name() -> None:
    titles = [entry.title for entry in findings()]
    assert len({site._slug(title) for title in titles}) == len(titles)


@pytest.mark.slow
def test_the_site_is_built_with_charts_and_can_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the extra floodmark[site] is not installed")
    monkeypatch.setattr(site, "PAGES", tmp_path / "pages")
    monkeypatch.setattr(site, "HTML", tmp_path / "html")
    monkeypatch.chdir(ROOT)
    entries = findings()
    site.write_pages(entries)
    site.build()
    pages = sorted((tmp_path / "html" / "findings").glob("*.html"))
    assert len(pages) == len(entries) + 1
    texts = {page.stem: page.read_text(encoding="utf-8") for page in pages}
    drawn = [name for name, text in texts.items() if 'class="chart"' in text and 'class="steps"' in text]
    assert len(drawn) >= len(entries) * 0.8
    index = (tmp_path / "html" / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "guide/coming-from.html" in index
    program = chromium()
    if program is None:
        pytest.skip("there is no Chromium here; Debian's package is called chromium")
    shown = [tmp_path / "html" / "index.html", tmp_path / "html" / "guide" / "coming-from.html", *pages[:3]]
    with browser(program) as tab:
        for size in SIZES.values():
            for page in shown:
                tab.visit(page.as_uri(), *size, "light")
                assert tab.evaluate(OVERFLOW) <= 0, page.name
                assert re.search(r"\w{4,}", tab.evaluate("document.querySelector('h1').textContent"))
