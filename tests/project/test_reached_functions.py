"""Tests that the functions which a method runs are found: members, those of super(), and functions beside the class."""

from __future__ import annotations

from pathlib import Path

from floodmark.checkers.project.modules import load_file
from floodmark.checkers.project.reached_functions import reached_functions

MODEL = """
from typing import Annotated

from floodmark import Between, Model, action

Level = Annotated[int, Between(0, 9)]


def most() -> int:
    return least() + 8


def least() -> int:
    return 1


def nobody() -> int:
    return 0


class Tank(Model):
    level: Level = 1

    @action
    def fills(self) -> None:
        self.raised(1)

    def raised(self, by: int) -> None:
        self.level = min(self.level + by, most())

    def drained(self) -> None:
        self.level = 0


class Fast(Tank):
    def raised(self, by: int) -> None:
        super().raised(by + 1)
"""


def test_what_a_method_runs_is_found_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "tank.py").write_text(MODEL)
    module = load_file("tank.py", tmp_path / "test_tank.py")
    found = {cls.__name__: [function.__qualname__ for function in reached_functions(cls, [cls.fills])]
             for cls in (module.Tank, module.Fast)}
    assert found == {
        "Tank": ["Tank.fills", "Tank.raised", "most", "least"],
        "Fast": ["Tank.fills", "Fast.raised", "Tank.raised", "most", "least"],
    }
