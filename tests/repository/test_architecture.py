"""ARCHITECTURE.md and the docstrings of the rooms name what is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
PAGES = [ROOT / "ARCHITECTURE.md", ROOT / "docs" / "protocols.md", ROOT / "CONTRIBUTING.md", *DECISIONS]
PACKAGE = ROOT / "src" / "floodmark"
PARTS = [PACKAGE / name for name in ("checkers", "compiler", "language")]
ROOMS = sorted({file.parent for part in [*PARTS, ROOT / "tests"] for file in part.rglob("__init__.py")})
_FILE = r"`(?:[\w.]+/)*\w+\.(?:py|toml|css|md)`"


def named(text: str) -> list[str]:
    """The files that a text names between backticks."""
    return [name.strip("`") for name in re.findall(_FILE, text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    files = {path.relative_to(ROOT).as_posix() for top in ("model", "specs") for path in (ROOT / top).rglob("*.*")}
    for name in named(page.read_text(encoding="utf-8")):
        beside = any((folder / name).is_file() for folder in (ROOT, PACKAGE))
        assert beside or any(file.endswith(f"/{name}") for file in files), name


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(ROOT).as_posix())
def test_a_room_says_what_is_in_it(room: Path) -> None:
    doc = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))
    assert doc
    places = (room, PACKAGE, PACKAGE / "checkers", PACKAGE.parent, ROOT)
    for name in named(doc):
        assert any((folder / name).is_file() for folder in places), name


def test_the_map_has_every_room() -> None:
    for room in {*PARTS, *(file.parent for file in PACKAGE.glob("checkers/*/*.py"))}:
        assert f"`{room.relative_to(PACKAGE).as_posix()}/`" in MAP, room


def test_the_map_leads_to_every_decision() -> None:
    assert DECISIONS
    for page in DECISIONS:
        assert f"({page.relative_to(ROOT).as_posix()})" in MAP, page
