"""The explorer's page in Chromium: keys and clicks, addresses, lassos, two designs, two sizes, two themes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from floodmark.checkers.explorer.server import Explorer
from floodmark.checkers.explorer.session import Session
from floodmark.checkers.project.spec import read
from floodmark.checkers.verdict.check import CheckSettings, checks
from tests.report.test_html import OPEN_ALL, OVERFLOW, SIZES, TEXTS
from tests.support.browser import Browser, Scheme, browser, chromium

ROOT = Path(__file__).parents[2]
HERE = "document.getElementById('where').textContent"
PATH = "[...document.querySelectorAll('.path .go')].map(it => it.textContent)"
SAID = "document.getElementById('said').textContent"


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    program = chromium()
    if program is None:
        pytest.skip("there is no Chromium here; Debian's package is called chromium")
    with browser(program) as found:
        yield found


def served(spec: str, variant: str) -> Iterator[str]:
    """The address of an explorer that begins with a known-bad design."""
    every = {check.flawed.name: check for check in checks(read(ROOT / spec), CheckSettings(workers=1)) if check.flawed}
    explorer = Explorer(Session(read(ROOT / spec), every[variant]))
    thread = threading.Thread(target=explorer.run)
    thread.start()
    yield explorer.address
    explorer.stop()
    thread.join(20)


@pytest.fixture(scope="module")
def isr() -> Iterator[str]:
    yield from served("specs/alter_isr/core.toml", "JoinsBelowHighWatermark")


@pytest.fixture(scope="module")
def bits() -> Iterator[str]:
    yield from served("specs/examples/alternating_bit.toml", "LosesEverything")


def opened(tab: Browser, address: str, size: str = "desktop", scheme: Scheme = "light") -> None:
    tab.visit(address, *SIZES[size], scheme)
    tab.until("document.querySelectorAll('.take').length > 0", True)


def foreign(tab: Browser, address: str) -> list[str]:
    """What the console says, and requests for anything but the explorer."""
    return [it for it in tab.complaints() if not it.startswith((address, "data:"))]


def test_a_counterexample_is_walked_left_and_found_again(tab: Browser, isr: str) -> None:
    opened(tab, isr)
    assert tab.evaluate("document.getElementById('beside').value") == "AlterIsr"
    tab.until(HERE, "step 7 of 7")
    assert "isr_holds_committed" in tab.evaluate("document.querySelector('#properties .bad').textContent")
    path = tab.evaluate(PATH)
    tab.press("Home")
    tab.press("ArrowRight")
    tab.until(HERE, "step 1 of 7")
    assert path[4] == "leader_proposes_expand(follower=b3)"
    assert "the rule caught_up(b3)" in tab.evaluate("document.getElementById('why').textContent")
    for step in (2, 3, 4):
        tab.press("ArrowRight")
        tab.until(HERE, f"step {step} of 7")
    assert tab.evaluate("document.querySelector('.path > li:nth-child(5) .otherwise').textContent").startswith(
        "AlterIsr does not take it: it requires self.caught_up(follower)"
    )
    tab.press("ArrowDown")
    assert tab.evaluate("document.activeElement.dataset.step") == "leader_appends()"
    tab.press("Enter")
    tab.until(HERE, "step 5 of 5")
    assert tab.evaluate(PATH) == [*path[:4], "leader_appends()"]
    tab.press("ArrowLeft")
    tab.until(HERE, "step 4 of 5")
    tab.evaluate("document.getElementById('return').click()")
    tab.until(HERE, "step 7 of 7")
    assert tab.evaluate(PATH) == path
    assert foreign(tab, isr) == []


def test_an_address_is_all_that_another_person_needs(tab: Browser, isr: str) -> None:
    """The address of a path is readable, comes back to it, and so does the browser's own way back."""
    opened(tab, f"{isr}#design=JoinsBelowHighWatermark&path=start()")  # without a path it opens at the violation
    tab.until(HERE, "step 1 of 1")
    tab.evaluate("[...document.querySelectorAll('.take')].find(it => it.dataset.step.includes('shrink')).click()")
    tab.until(HERE, "step 2 of 2")
    address = tab.evaluate("location.href")
    assert "path=start();leader_proposes_shrink(laggards={b2})&at=1" in address
    opened(tab, isr)
    opened(tab, address)
    tab.until(HERE, "step 2 of 2")
    assert tab.evaluate(PATH) == ["start()", "leader_proposes_shrink(laggards={b2})"]
    tab.press("ArrowLeft")
    tab.until(HERE, "step 1 of 2")
    tab.evaluate("history.back()")
    tab.until(HERE, "step 2 of 2")
    opened(tab, f"{isr}#design=AlterIsr&path={quote('start();leader_proposes_expand(follower=b1)')}")
    tab.until(HERE, "step 1 of 1")
    stopped = "leader_proposes_expand(follower=b1) is not enabled: it requires follower not in self.isr"
    assert stopped in tab.evaluate(SAID)


def test_a_lasso_can_be_walked_round_its_loop(tab: Browser, bits: str) -> None:
    opened(tab, bits)
    tab.until("document.getElementById('where').textContent.includes('forever')", True)
    steps = len(tab.evaluate(PATH))
    loop = int(tab.evaluate("new URLSearchParams(location.hash.slice(1)).get('loop')"))
    assert loop < steps - 1
    tab.evaluate(f"document.querySelectorAll('.go')[{steps - 1}].click()")
    tab.until("document.querySelector('.path > .now .go').dataset.at", str(steps - 1))
    tab.press("ArrowRight")
    tab.until("document.querySelector('.path > .now .go').dataset.at", str(loop + 1))
    assert foreign(tab, bits) == []


def test_the_page_shows_pins_charts_and_the_other_design(tab: Browser, isr: str) -> None:
    path = quote("start();leader_appends();follower_fetches(follower=b2)")
    opened(tab, f"{isr}#design=AlterIsr&beside=JoinsBelowHighWatermark&path={path}&at=2")
    tab.until(HERE, "step 3 of 3")
    pins = "[...document.querySelectorAll('#state th.pin')]"
    tab.evaluate(f"{pins}.find(it => it.textContent === 'log_end_offset').click()")
    held = "document.getElementById('held').innerText.split(/\\s+/).filter(Boolean)"
    assert tab.evaluate(held) == ["b1", "b2", "b3", "log_end_offset", "1", "1", "0"]
    tab.press("ArrowLeft")
    tab.until(held, ["b1", "b2", "b3", "log_end_offset", "1", "0", "0"])
    tab.press("c")
    assert tab.evaluate("document.querySelector('#chart .step.now').dataset.number") == "2"
    tab.evaluate("document.querySelector('#chart .step').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    tab.until(HERE, "step 1 of 3")
    tab.press("b")
    tab.until("new URLSearchParams(location.hash.slice(1)).get('beside')", None)
    tab.evaluate("document.querySelector('#held th.pin').click()")
    assert tab.evaluate(held) == []
    assert foreign(tab, isr) == []


def test_an_expression_is_shown_for_every_state_of_the_path(tab: Browser, isr: str) -> None:
    opened(tab, isr)
    tab.until(HERE, "step 7 of 7")
    tab.evaluate("document.getElementById('expression').value = 'len(self.pending) + high_watermark'")
    tab.evaluate("document.getElementById('watch').requestSubmit()")
    cells = "[...document.querySelectorAll('#watched td[colspan]')].map(it => [it.textContent, it.colSpan])"
    tab.until(f"{cells}.length > 0", True)
    assert sum(wide for _, wide in tab.evaluate(cells)) == 7
    assert "watch=len(self.pending)" in tab.evaluate("decodeURIComponent(location.hash)")
    tab.evaluate("document.getElementById('expression').value = 'self.__class__'")
    tab.evaluate("document.getElementById('watch').requestSubmit()")
    tab.until("document.querySelector('#watched .bad-text')?.textContent.includes('__class__')", True)
    tab.evaluate("document.querySelector('#watched [data-drop]').click()")
    tab.until("document.querySelectorAll('#watched tr').length", 2)
    assert foreign(tab, isr) == []


def test_the_step_bar_stays_on_a_phone(tab: Browser, isr: str) -> None:
    opened(tab, isr, "phone")
    tab.until(HERE, "step 7 of 7")
    tab.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    box = "document.querySelector('.walkbar').getBoundingClientRect()"
    assert tab.evaluate(f"{box}.top >= 0 && {box}.bottom <= innerHeight + 1")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", list(SIZES))
def test_the_page_can_be_read(tab: Browser, isr: str, scheme: Scheme, size: str) -> None:
    """Nothing sticks out to the side, and every text is large and clear enough: with a path, another design beside, a
    property that is false."""
    opened(tab, isr, size, scheme)
    tab.until(HERE, "step 7 of 7")
    for at in (3, 6):
        tab.evaluate(f"document.querySelectorAll('.go')[{at}].click()")
        tab.until(HERE, f"step {at + 1} of 7")
        tab.evaluate(OPEN_ALL)
        tab.evaluate("['help', 'chart'].forEach(it => { document.getElementById(it).hidden = false })")
        assert tab.evaluate(OVERFLOW) <= 0
        texts = tab.evaluate(TEXTS)
        assert len(texts) > 100
        assert [it for it in texts if it[4] < 10] == []
        assert [it for it in texts if it[1] < 4.5] == []
    assert foreign(tab, isr) == []
