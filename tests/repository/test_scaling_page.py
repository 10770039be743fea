"""docs/scaling.md has the figures that follow from benchmarks/RESULTS.md."""

from __future__ import annotations

import pytest

from benchmarks.scaling import LEVELS, PAGE, RESULTS, Cost, measured, page, pays_from, tables

COST = Cost(level=0.2, generated=100e-9, shuffled=4.0)


def test_the_page_has_the_measured_figures() -> None:
    text = PAGE.read_text()
    assert page(text, measured(RESULTS.read_text())) == text


def test_other_figures_make_another_page() -> None:
    text = PAGE.read_text()
    assert page(text, COST) != text
    assert "`F` = 0.20 s, `g` = 100 ns, `b` = 4.0 bytes" in page(text, COST)


def test_the_formula_gives_the_figures_of_the_page() -> None:
    assert COST.compute(1e9, 10) == pytest.approx(10 * 1e9 * 100e-9 / 10)
    assert COST.shuffle(1e9, 10) == pytest.approx(10 * 1e9 * 8 / (10 * 1e9))
    assert COST.total(0, 10) == pytest.approx(0.2 * LEVELS)
    assert "| 10^9 | 10 | 20 s | 1.7 min | 8 s | 2.1 min | 2.2 GB | 0.08 GB |" in list(tables(COST))


def test_distribution_pays_from_the_size_at_which_it_is_faster() -> None:
    size = pays_from(COST, 10)
    assert size is not None
    assert COST.total(size, 10) == pytest.approx(size / 2e6)
    assert pays_from(Cost(0.2, 1e-6, 0), 10) is None
