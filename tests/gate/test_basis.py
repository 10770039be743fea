"""Tests that no verdict is cached once a part of floodmark, or of what models may use, was replaced."""

from __future__ import annotations

import fractions
from collections.abc import Callable
from typing import Any

import pytest

from floodmark.checkers.gate.basis import Bases, own_definitions
from floodmark.checkers.gate.values import NotCacheable
from floodmark.checkers.project import paths
from floodmark.checkers.project.modules import Project
from floodmark.checkers.walking.scenarios import run_scenario


def replaced(change: Callable[[], object]) -> str:
    """The reason why nothing is cached after a change; empty where something is."""
    own_definitions()
    at_first = own_definitions()
    change()
    try:
        Bases(at_first).of([], [])
    except NotCacheable as error:
        return str(error)
    return ""


def test_nothing_is_replaced_by_looking() -> None:
    assert replaced(lambda: None) == ""


def other(*_: Any, **__: Any) -> None:
    """Takes the place of a function."""


@pytest.mark.parametrize(
    ("owner", "name"),
    [(paths, "shown"), (Project, "find"), (Project, "name_of"), (fractions, "Fraction"), (fractions.Fraction, "real")],
)
def test_a_name_that_means_something_else_is_noticed(owner: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f".{name} was replaced" in replaced(lambda: monkeypatch.setattr(owner, name, other))
    monkeypatch.undo()
    assert replaced(lambda: None) == ""


@pytest.mark.parametrize("function", [run_scenario, Project.find])
def test_other_code_of_the_same_function_is_noticed(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f".{function.__name__} was replaced" in replaced(
        lambda: monkeypatch.setattr(function, "__code__", other.__code__)
    )


def test_a_new_name_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    added = replaced(lambda: monkeypatch.setattr(Project, "found_elsewhere", other, raising=False))
    assert ".Project.found_elsewhere was replaced" in added
    assert replaced(lambda: monkeypatch.setattr(paths, "_counter", 5, raising=False)) == ""
