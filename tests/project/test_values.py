"""Values of specs and options, as they are read and as they are written."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from floodmark.checkers.edits.spec_edit import _may_load_others
from floodmark.checkers.project import input_file, toml
from floodmark.checkers.project.input_limits import count, memory, memory_text, positive
from floodmark.language.errors import SourceError


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0"), (1, "1"), (1023, "1023"), (1024, "1K"), (1536, "1536"), (500 << 20, "500M"), (8 << 30, "8G")],
)
def test_memory_is_written_as_it_is_read(amount: int, text: str) -> None:
    assert memory_text(amount) == text
    assert memory(text) == amount


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "3", None])
def test_what_is_no_positive_number_is_refused_as_such(value: object) -> None:
    with pytest.raises(ValueError, match="must be a whole number, 1 or more, not"):
        positive(value)
    assert positive(7) == count(7) == 7


@pytest.mark.parametrize("value", [[], [1, 2], [{"a": 1}, {}], {"a b": [{"c": "ä"}]}, [[True], ["x"]]], ids=str)
def test_a_value_is_written_as_toml_reads_it(value: object) -> None:
    assert tomllib.loads(f"it = {toml.inline(value)}") == {"it": value}


def test_a_name_with_a_nul_character_is_no_file() -> None:
    with pytest.raises(SourceError, match="no file has a name with a NUL character"):
        input_file.require_plain_name(Path("a\0b"))


def test_a_file_that_imports_by_name_may_load_others(tmp_path: Path) -> None:
    loads, plain, text = tmp_path / "loads.py", tmp_path / "plain.py", tmp_path / "loads.txt"
    for file in (loads, text):
        file.write_text("import importlib\n\nimportlib.import_module('a' + 'b')\n")
    plain.write_text("import json\n")
    assert [_may_load_others(file) for file in (loads, plain, text)] == [True, False, False]
