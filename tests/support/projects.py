"""Writes small repositories for tests to check."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

TANK = '''
from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Model, action, initial, invariant, reachable, require, rule


class Tank(Model):
    """A tank that is filled and drained."""

    size = Constant(3)
    level: Annotated[int, Between(0, "size")]

    @initial
    def start(self) -> None:
        self.level = 0

    @rule
    def full(self) -> bool:
        return self.level == self.size

    @action
    def fill(self) -> None:
        require(not self.full())
        self.level += 1

    @action
    def drain(self) -> None:
        require(self.level > 0)
        self.level -= 1

    @invariant
    def below_size(self) -> bool:
        """The level stays below the size of the tank."""
        return self.level < self.size + 1

    @reachable
    def gets_full(self) -> bool:
        return self.level == self.size
'''

LEAKY = '''
from __future__ import annotations

from floodmark import invariant
from model.tank import Tank


class Leaks(Tank):
    """Nothing ever stays in the tank."""

    def fill(self) -> None:
        self.level = 0


class Overflows(Tank):
    """The tank is never full."""

    def full(self) -> bool:
        return False


class StopsHalf(Tank):
    def full(self) -> bool:
        return self.level == 2
'''

INVARIANTS = '''
from __future__ import annotations

from floodmark import invariant, transition
from model.tank import Tank


@invariant
def never_two(tank: Tank) -> bool:
    """The level is never two."""
    return tank.level != 2


@transition
def one_step(old: Tank, new: Tank) -> bool:
    """The level changes by one."""
    return abs(old.level - new.level) == 1
'''


def write(root: Path, files: dict[str, str]) -> Path:
    """Writes files below ``root``, whose texts may be indented, and gives ``root`` back."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return root


def tank_project(root: Path, spec: str = "", **files: str) -> Path:
    """A repository with a model, invariants and a spec of a tank, whose spec has ``spec`` added at its end."""
    text = 'model = "model.tank:Tank"\n' + dedent(spec)
    return write(root, {"model/tank.py": TANK, "specs/flawed.py": LEAKY, "specs/tank.toml": text, **files})
