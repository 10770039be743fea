"""Tests how the tests are chosen that a whole run traces."""

from __future__ import annotations

from pathlib import Path

from tools import tracing
from tools.tracing import Arc, choose_tests

ARCS = {
    "quick": {Arc("a.py", 1, 2), Arc("a.py", 2, 3)},
    "long": {Arc("a.py", 1, 2), Arc("a.py", 2, 3), Arc("a.py", 3, 4)},
    "again": {Arc("a.py", 2, 3)},
    "other": {Arc("b.py", 3, 4)},
}
SECONDS = {"quick": 0.1, "long": 9.0, "again": 0.01, "other": 0.2}


def test_a_test_that_adds_more_for_its_time_comes_first() -> None:
    assert choose_tests(ARCS, SECONDS, 0.75) == ["other", "quick"]


def test_all_is_run_if_all_is_wanted_and_nothing_twice() -> None:
    assert choose_tests(ARCS, SECONDS, 1.0) == ["long", "other", "quick"]


def test_what_measures_and_what_times_call_a_test_alike() -> None:
    name = _name("what_measures_and_what_times_call_a_test_alike")
    assert tracing._names()[name.replace(".py::", ".").replace("/", ".")] == name


def test_times_are_those_of_all_cases(tmp_path: Path) -> None:
    file = "tests.tools.test_tracing"
    cases = "".join(
        f'<testcase classname="{file}" name="{name}" time="{time}"/>'
        for name, time in {"test_times_are_those_of_all_cases[a]": 1, "test_times_are_those_of_all_cases[b]": 2}.items()
    )
    (tmp_path / "times.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert tracing._seconds(tmp_path / "times.xml") == {_name("times_are_those_of_all_cases"): 3.0}


def _name(test: str) -> str:
    return f"tests/tools/test_tracing.py::test_{test}"
