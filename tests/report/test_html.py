"""Tests the HTML report: its content, and that it is readable on a phone and a desktop, in light and dark themes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import tostring

import pytest

from floodmark import Identifier, Map, Record
from floodmark.checkers.report.html.chart import chart
from floodmark.checkers.report.html.document import html
from floodmark.checkers.report.html.markup import tag
from floodmark.checkers.report.html.states import changes, whole
from floodmark.checkers.report.sequence import Event, MessageSequence
from floodmark.checkers.report.verdict_summary import SummaryLine, cases, proof_case
from floodmark.checkers.verdict.check import CheckSettings
from floodmark.checkers.verdict.gate_outcome import Drift
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import ExitCode
from tests.support.browser import Browser, Scheme, browser, chromium
from tests.support.outcomes import check, inside, tank_cases

ROOT = Path(__file__).parents[2]
SIZES = {"phone": (390, 844), "desktop": (1280, 900)}


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for found, attributes in self.elements if found == name]


def claim(code: ExitCode) -> SummaryLine:
    proved = ProofResult(
        f"kip.sentence_{int(code)}", "claim", "violated", code, "false", 0.1, "specs/claims/kip.py", 7,
        lines=["smallest case: x = <b>"], facts={"source": "KIP-1, rule 2"},
    )
    return proof_case(proved)


@pytest.fixture(scope="module")
def every() -> list[SummaryLine]:
    """Known-bad designs that are found, one of which nobody expected, and claims."""
    with inside(ROOT):
        results = check(Path("specs/examples/two_phase_commit.toml"))
        (unexpected,) = check(
            Path("specs/alter_isr/core.toml"), CheckSettings(workers=1, only_variant="AcceptsAnyPartitionEpoch")
        )
        (wide,) = check(
            Path("specs/reassignment/kip236.toml"), CheckSettings(workers=1, only_variant="CancelsBelowMinIsr")
        )
    unexpected = replace(unexpected, expected=False, exit_code=ExitCode.NOT_AS_EXPECTED)
    return [*cases([*results, unexpected, wide]), claim(ExitCode.AS_EXPECTED), claim(ExitCode.UNDETERMINED)]


def test_the_page_needs_nothing_else(every: list[SummaryLine]) -> None:
    text = html(every)
    page = Page(text)
    assert page.of("script") == [{}] and not page.of("link") and not page.of("img")
    assert not re.findall(r"url\(|@import|https?://", text)
    assert [str(attributes["href"])[:1] for attributes in page.of("a")] == ["#"] * len(page.of("a"))


def test_a_step_that_changes_nothing_says_so() -> None:
    assert "Nothing changes." in "".join(changes(("x",), (1,), (1,)).itertext())
    assert "Nothing changes." not in "".join(changes(("x",), (1,), (2,)).itertext())


def test_every_link_leads_somewhere(every: list[SummaryLine]) -> None:
    page = Page(html(every))
    anchors = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(anchors)) == len(anchors)
    assert {str(attributes["href"])[1:] for attributes in page.of("a")} <= set(anchors)


def test_it_says_what_is_wrong_first(tmp_path: Path) -> None:
    with inside(tmp_path):
        text = Page(html(tank_cases(tmp_path))).text
    assert "2 of 3 outcomes are as expected" in text
    places = [text.index(said) for said in ("What needs attention", "tank Tank", "Verdicts", "Specs", "Leaks")]
    assert places == sorted(places)
    for said in ("never_two: The level is never two.", "invariants/tank.py:8", "false: tank.level != 2, that is 2 != 2",
                 "floodmark check specs/tank.toml --only-variant Tank", "size = 3", "1 of 2", "Why one_step is false"):
        assert said in text or said == "1 of 2"
    assert "2 of 2 found" in text
    assert "Reproduce: floodmark check specs/tank.toml --only-variant Tank" in text
    assert "Claims" not in text


def test_a_spec_has_its_title_beside_its_name(tmp_path: Path) -> None:
    with inside(tmp_path):
        titled = html(tank_cases(tmp_path / "a", 'title = "One tank"\n'))
        plain = html(tank_cases(tmp_path / "b", ""))
    assert '</a><span class="quiet">One tank</span></th>' in titled
    assert '</a></th>' in plain


def test_an_error_has_no_states_and_no_more_lines_than_it_has(tmp_path: Path) -> None:
    with inside(tmp_path):
        (case,) = tank_cases(tmp_path, "constants = { sice = 3 }\n")
    text = html([case])
    assert "Tank has no constant 'sice'" in text
    assert " states" not in Page(text).text
    assert 'aria-label="details"' not in text


def test_a_difference_from_the_lock_is_no_claim() -> None:
    drift = Drift("tank", "distinct", "4", "5", "more states", "specs/tank.toml")
    text = html(cases([], drift=[drift]))
    assert "differs from the lock" in text
    assert 'id="claims"' not in text
    assert 'aria-label="details"' not in text
    assert 'id="claims"' in html([claim(ExitCode.AS_EXPECTED)])


class Broker(Identifier, count="brokers", prefix="b"):
    """A broker."""


class Place(Record):
    epoch: int
    leads: bool


def test_a_state_has_every_field_of_each_identifier() -> None:
    before, after = (Map({Broker(n): Place(epoch=n, leads=leads) for n in (1, 2)}) for leads in (False, True))
    text = tostring(whole(["place"], (after,), (before,)), encoding="unicode")
    assert [re.sub("<.*?>", " ", row).split() for row in re.findall(r"<tr>(.*?)</tr>", text)] == [
        ["b1", "b2"], ["place.", "epoch", "1", "2"], ["place.", "leads", "True", "True"],
    ]
    assert text.count("<mark>True</mark>") == 2


def test_what_changed_is_marked(tmp_path: Path) -> None:
    with inside(tmp_path):
        text = html(tank_cases(tmp_path)[:1])
    assert re.findall(r"<b>level</b> <span class=\"old\">(\d)</span> → <mark>(\d)</mark>", text) == [
        ("0", "1"),
        ("1", "2"),
    ]
    assert re.findall(r"<th scope=\"row\">level</th><td>(.*?)</td>", text) == [
        "0",
        "<mark>1</mark>",
        "<mark>2</mark>",
    ]


def test_each_level_and_each_action_is_there(every: list[SummaryLine]) -> None:
    first = every[0].result
    assert first is not None
    assert first.search_result is not None
    page = Page(html(every[:1]))
    titles = [str(attributes["title"]) for attributes in page.of("span") if "title" in attributes]
    assert titles == [f"level {n}: {count:,} states" for n, count in enumerate(first.search_result.levels, 1)]
    for name, fired in first.search_result.actions.items():
        assert f"{name}{fired:,}" in page.text


def test_text_of_a_model_is_escaped() -> None:
    assert html([claim(ExitCode.NOT_AS_EXPECTED)]).count("x = &lt;b&gt;") == 1
    assert tag("p", "a", tag("b", "<i>"), "c", None, ["d", tag("i")], class_="x", hidden=False).tail is None


def test_a_lasso_is_told_and_drawn() -> None:
    with inside(ROOT):
        found = check(
            Path("specs/examples/alternating_bit.toml"), CheckSettings(workers=1, only_variant="LosesEverything")
        )
    page = Page(html(cases(found)))
    said = "steps 2 to 3 can be repeated forever"
    for text in (f"a_message_arrives is missed: {said}", f"after step 3: {said}", "why that is fair:",
                 "The arrow on the right leads back to the first of the steps that are repeated."):  # fmt: skip
        assert text in page.text
    assert [attributes["class"] for attributes in page.of("polygon")] == ["head loop-head"]


def test_everything_of_a_chart_is_inside_of_it() -> None:
    """Labels at the first and the last lifeline, and a note that is far too long, do not stick out."""
    events = [
        Event(1, "start", "start()", "", None, ()),
        Event(2, "a_very_long_name_of_an_action", "", "n" * 200, 0, (1,)),
        Event(3, "another_very_long_name_of_an_action", "", "note=1", 7, ()),
    ]
    drawing = chart(MessageSequence([f"p{index}" for index in range(8)], events), "something is false")
    width = float(drawing.get("width", "0"))
    for rect in drawing.iter("rect"):
        left = float(rect.get("x", "0"))
        assert left >= 0
        assert left + float(rect.get("width", "0")) <= width
    assert all(len(text.text or "") <= 46 for text in drawing.iter("text") if text.get("class") == "note")


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    program = chromium()
    if program is None:
        pytest.skip("there is no Chromium here; Debian's package is called chromium")
    with browser(program) as found:
        yield found


@pytest.fixture(scope="module")
def page(every: list[SummaryLine], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html(every), encoding="utf-8")
    return path


OPEN_ALL = "document.querySelectorAll('details').forEach(it => { it.open = true })"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
TEXTS = """
(() => {
  const rgb = text => { const it = text.match(/[\\d.]+/g).map(Number); return it.length < 4 ? [...it, 1] : it };
  const channel = it => it <= 10.3 ? it / 3294.6 : ((it / 255 + 0.055) / 1.055) ** 2.4;
  const light = it => 0.2126 * channel(it[0]) + 0.7152 * channel(it[1]) + 0.0722 * channel(it[2]);
  const shade = element => {
    const style = getComputedStyle(element);
    return element instanceof SVGElement && !(element instanceof SVGSVGElement)
      ? (style.fill === 'none' || element.tagName === 'line' ? null : rgb(style.fill)) : rgb(style.backgroundColor);
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || ['STYLE', 'SCRIPT', 'title'].includes(element.tagName)) continue;
    if (getComputedStyle(element).display === 'none' || element.closest('thead') && innerWidth <= 640) continue;
    element.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    const box = (() => { const range = document.createRange(); range.selectNode(texts.currentNode);
                         return range.getBoundingClientRect() })();
    const under = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2)
      .filter(it => it.tagName !== 'text' && it.tagName !== 'polygon');
    const back = under.map(shade).find(it => it && it[3] === 1) || shade(document.body);
    const style = getComputedStyle(element);
    const front = rgb(element instanceof SVGElement ? style.fill : style.color);
    const [low, high] = [light(back), light(front)].sort((a, b) => a - b);
    found.push([texts.currentNode.data.trim().slice(0, 40), (high + 0.05) / (low + 0.05), box.width, box.height,
                parseFloat(style.fontSize)]);
  }
  return found;
})()
"""


@pytest.mark.parametrize(
    ("size", "scheme"),
    [("phone", "light"), ("desktop", "dark"),
     *(pytest.param(*each, marks=pytest.mark.slow) for each in [("phone", "dark"), ("desktop", "light")])],
)
def test_the_page_can_be_read(tab: Browser, page: Path, scheme: Scheme, size: str) -> None:
    """Nothing sticks out to the side, the console is silent, and every text is there, large and clear enough."""
    tab.open(page, *SIZES[size], scheme)
    assert tab.evaluate(OVERFLOW) <= 0
    tab.evaluate(OPEN_ALL)
    assert tab.evaluate(OVERFLOW) <= 0
    assert tab.complaints() == []
    texts: list[list[Any]] = tab.evaluate(TEXTS)
    assert len(texts) > 300
    assert [it for it in texts if it[2] <= 0 or it[3] <= 0] == []
    assert [it for it in texts if it[4] < 10] == []
    assert [it for it in texts if it[1] < 4.5] == []


MARKED = """[...document.querySelectorAll('article .now')].map(it => it.closest('svg') ? Number(it.dataset.number)
    : it.querySelector('.number-of-step').textContent).map(Number)"""


def test_the_arrow_keys_step_through_a_counterexample(tab: Browser, page: Path) -> None:
    """The step is marked in the list and in the chart, and its state is open; nothing happens at the ends."""
    tab.open(page, *SIZES["desktop"], "light")
    tab.evaluate("document.querySelector('article .trace').scrollIntoView()")
    steps = tab.evaluate("document.querySelectorAll('article .steps > li').length")
    assert tab.evaluate(MARKED) == [steps, steps]
    tab.press("ArrowLeft")
    assert tab.evaluate(MARKED) == [steps - 1, steps - 1]
    opened = "document.querySelectorAll('article .steps > li')[%d].querySelector('details').open"
    assert tab.evaluate(opened % (steps - 2)) is True
    tab.press("ArrowLeft")
    assert tab.evaluate(opened % (steps - 2)) is False
    for _ in range(steps + 2):
        tab.press("ArrowLeft")
    assert tab.evaluate(MARKED) == [1, 1]
    tab.evaluate("document.querySelector('article .chart .step[data-number=\"3\"]').dispatchEvent("
                 "new MouseEvent('click', {bubbles: true}))")
    tab.until(MARKED, [3, 3])
    assert tab.complaints() == []


def test_a_pinned_variable_stays_in_view(tab: Browser, page: Path) -> None:
    tab.open(page, *SIZES["desktop"], "light")
    tab.evaluate("document.querySelector('article .trace').scrollIntoView()")
    held = "document.querySelector('article .held').innerText.split(/\\s+/).filter(Boolean)"
    assert tab.evaluate(held) == []
    pins = "[...document.querySelectorAll('article .state th.pin')]"
    pin = f"{pins}.find(it => it.textContent === 'partition_epoch').click()"
    tab.evaluate(pin)
    shown = tab.evaluate(held)
    assert shown[0] == "partition_epoch"
    while tab.evaluate(MARKED)[0] > 1:
        tab.press("ArrowLeft")
    assert tab.evaluate(held) == ["partition_epoch", "0"]
    tab.evaluate(pin)
    assert tab.evaluate(held) == []


def test_the_filter_leaves_the_specs_that_have_every_word(tab: Browser, page: Path) -> None:
    tab.open(page, *SIZES["desktop"], "light")
    left = "[...document.querySelectorAll('details.spec')].filter(it => it.offsetParent).map(it => it.id)"
    rows = "[...document.querySelectorAll('.verdicts tbody tr')].filter(it => it.offsetParent).length"
    assert tab.evaluate(rows) == 3
    tab.press("/")
    for words, wanted in (("kip-236", ["reassignment-kip236"]), ("COMMITS majority", ["examples-two-phase-commit"]),
                          ("nothing of the kind", [])):
        tab.evaluate(f"document.activeElement.value = '{words}';"
                     "document.activeElement.dispatchEvent(new Event('input'))")
        assert [it.replace("_", "-") for it in tab.evaluate(left)] == wanted
        assert tab.evaluate(rows) == len(wanted)
    tab.press("Escape")
    assert tab.evaluate(rows) == 3


def test_a_link_opens_what_it_leads_to(tab: Browser, page: Path) -> None:
    """A counterexample in a closed spec, a step of one."""
    name = "examples-two_phase_commit-CommitsOnMajority"
    tab.visit(f"{page.as_uri()}#{name}", *SIZES["desktop"], "light")
    seen = f"document.getElementById('{name}').getBoundingClientRect().height > 300"
    assert tab.evaluate(seen) is True
    tab.visit(f"{page.as_uri()}#{name}-step-2", *SIZES["desktop"], "light")
    assert tab.evaluate(seen) is True
    assert tab.evaluate(f"document.querySelector('#{name} .steps > .now').id") == f"{name}-step-2"


def test_the_only_counterexample_is_open() -> None:
    """Without scripts, too; one of several is not."""
    with inside(ROOT):
        results = check(
            Path("specs/alter_isr/core.toml"), CheckSettings(workers=1, only_variant="AcceptsAnyPartitionEpoch")
        )
        more = check(Path("specs/alter_isr/core.toml"), CheckSettings(workers=1, only_variant="KeepsPartitionEpoch"))
        other = check(Path("specs/examples/dekker.toml"), CheckSettings(workers=1, only_variant="Dekker"))
    specs = [it for it in Page(html(cases([*results, *other]))).of("details") if it.get("class") == "spec"]
    assert [(it["id"], "open" in it) for it in specs] == [("alter_isr-core", True), ("examples-dekker", False)]
    one, both = Page(html(cases(results))), Page(html(cases([*results, *more])))
    assert [("open" in it) for it in one.of("details") if it.get("class") == "flawed"] == [True]
    assert [("open" in it) for it in both.of("details") if it.get("class") == "flawed"] == [False, False]


def test_it_says_where_the_good_design_decides_otherwise(every: list[SummaryLine]) -> None:
    (case,) = [case for case in every if case.name == "AcceptsAnyPartitionEpoch"]
    assert case.result is not None and case.result.divergence is not None
    step = case.result.divergence.step
    text = html([case])
    assert f'<li id="alter_isr-core-AcceptsAnyPartitionEpoch-step-{step}" class="differs">' in text
    assert re.search('<span class="chip warn">AlterIsr (does not take it|goes elsewhere)</span>', text)
    assert f'href="#alter_isr-core-AcceptsAnyPartitionEpoch-step-{step}">step {step}, ' in text
    assert re.search(r"<code>True</code></td><td class=\"quiet\"><code>model/alter_isr/core.py:\d+</code>", text)


LETTERS = """[...document.querySelectorAll('.state td, .state th, .ruling td, .ruling th')].filter(it =>
    it.getBoundingClientRect().width && it.getBoundingClientRect().width < 24
    && it.getBoundingClientRect().height > 48).map(it => it.textContent)"""


def test_on_a_phone_nothing_is_broken_by_letter_or_cut(tab: Browser, page: Path) -> None:
    """Charts of few participants fit; tables scroll rather than break their words."""
    tab.open(page, *SIZES["phone"], "light")
    tab.evaluate(OPEN_ALL)
    assert tab.evaluate(LETTERS) == []
    cut = """[...document.querySelectorAll('.chart')].filter(it => it.viewBox.baseVal.width < 380
        && it.parentElement.scrollWidth > it.parentElement.clientWidth + 1).length"""
    assert tab.evaluate(cut) == 0
    assert tab.evaluate("document.querySelectorAll('.chart').length") >= 3


def test_the_dark_theme_has_other_colours(tab: Browser, page: Path) -> None:
    backgrounds = []
    for scheme in ("light", "dark"):
        tab.open(page, *SIZES["desktop"], scheme)
        backgrounds.append(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert backgrounds[0] != backgrounds[1]


def test_a_counterexample_opens_without_scripts(tab: Browser, page: Path) -> None:
    tab.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.open(page, *SIZES["desktop"], "light")
        shown = "[...document.querySelectorAll('article .chart')].map(it => it.getBoundingClientRect().height > 100)"
        assert tab.evaluate(shown) == [True]
    finally:
        tab.ask("Emulation.setScriptExecutionDisabled", value=False)
