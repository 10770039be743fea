"""Tests that docs/spec.md has every key of a spec, as specs are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from docs.tools.spec import PAGE, ROWS, page
from floodmark.checkers.project.spec import Spec, read, read_all
from floodmark.checkers.project.spec_entries import (
    ExpectedVerdict,
    ListedDesign,
    ListedProof,
    Mutation,
    RefinementDemands,
    Scenario,
    SimulationSettings,
    SpecRow,
    SurvivalReason,
)
from floodmark.checkers.project.spec_keys import (
    EXPECT,
    FAIRNESS,
    FLAWED,
    LIMITS,
    MUTATION,
    PROVE,
    REFINES,
    ROW,
    SCENARIO,
    SIMULATE,
    SPEC,
    SURVIVORS,
)
from floodmark.checkers.project.spec_values import Key
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.language.errors import SourceError
from floodmark.language.fairness import Fairness
from tests.repository.test_readme import block
from tests.support.projects import write

TABLES: dict[str, tuple[Sequence[Key], type[Any], str]] = {
    "": (SPEC, Spec, ""),
    "expect": (EXPECT, ExpectedVerdict, "[expect]\n"),
    "limits": (LIMITS, Limits, "[limits]\n"),
    "simulate": (SIMULATE, SimulationSettings, "[simulate]\n"),
    "fairness": (FAIRNESS, Fairness, "[fairness.act]\n"),
    "refines": (REFINES, RefinementDemands, "[refines]\n"),
    "row": (ROW, SpecRow, "[[row]]\n"),
    "flawed": (FLAWED, ListedDesign, "[[flawed]]\n"),
    "prove": (PROVE, ListedProof, "[[prove]]\n"),
    "scenario": (SCENARIO, Scenario, "[[scenario]]\n"),
    "mutation": (MUTATION, Mutation, "[mutation]\n"),
    "survivors": (SURVIVORS, SurvivalReason, "[[mutation.survivors]]\n"),
}
"""Each table: its keys, the class that it becomes, and its header."""
GRANTS_TWICE = """
    from lease import Client, Lease


    class GrantsTwice(Lease):
        def server_grants(self, client: Client) -> None:
            self.granted = self.duration
            self.believed[client] = self.duration
"""
EACH = [pytest.param(name, key, id=f"{name}.{key.name}") for name, (keys, _, _) in TABLES.items() for key in keys]


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m docs.tools.spec"


def tables(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    yield keys
    for key in keys:
        if key.kind.keys:
            yield from tables(key.kind.keys)


def test_no_table_is_left_out() -> None:
    assert sorted(map(id, tables(SPEC))) == sorted(id(keys) for keys, _, _ in TABLES.values())


def test_the_rows_that_the_page_shows_hold(tmp_path: Path) -> None:
    """With the README's lease."""
    (spec,) = re.findall(r"```toml\n(.*?)```", ROWS, re.DOTALL)
    write(tmp_path, {"lease.py": block("model"), "lease.toml": spec, "flawed.py": GRANTS_TWICE})
    results = [
        run_check(check) for each in read_all(tmp_path / "lease.toml") for check in checks(each, CheckSettings())
    ]
    assert [(result.name, result.variant, result.expected) for result in results] == [
        ("lease@two", None, True), ("lease@two", "GrantsTwice", True), ("lease@five", None, True),
    ]  # fmt: skip


def error_of(tmp_path: Path, text: str) -> SourceError:
    with pytest.raises(SourceError) as error:
        read(write(tmp_path, {"a.toml": text}) / "a.toml")
    return error.value


@pytest.mark.parametrize(("table", "key"), EACH)
def test_a_misspelt_key_is_an_error_that_names_the_key(tmp_path: Path, table: str, key: Key) -> None:
    text = f'title = "t"\n{TABLES[table][2]}{key.name}x = 1\n'
    error = error_of(tmp_path, text)
    assert error.message == f"unknown key '{key.name}x'; did you mean '{key.name}'?"
    assert error.line == text.count("\n")


@pytest.mark.parametrize(("table", "key"), EACH)
def test_the_default_is_the_one_that_is_read(table: str, key: Key) -> None:
    known = {each.name: each for each in fields(TABLES[table][1])}
    if key.name not in known or key.error_if_missing:
        assert key.error_if_missing or key.name == "class" or table == "row"
        return
    field = known[key.name]
    make: Any = field.default_factory
    default = field.default if field.default is not MISSING else make()
    if table == "" and key.name == "invariants":
        assert (default, key.default) == (None, '`"all"`')
    elif (table, key.name) == ("prove", "properties"):
        assert (default, key.default) == ((), "all")
    elif (table, key.name) == ("prove", "depth"):
        assert (default, key.default) == (None, "10")
    elif key.name == "rows":
        assert (default, key.default) == ((), "the first row")
    elif (table, key.name) == ("flawed", "tier"):
        assert (default, key.default) == (None, "that of its spec")
    elif isinstance(default, bool):
        assert key.default == f"`{str(default).lower()}`"
    elif table == "simulate" and isinstance(default, int):
        assert key.default == f"{default:,}"
    elif isinstance(default, str) and default:
        assert key.default == f'`"{default}"`'
    else:
        assert (not default or not key.kind.keys or default == type(default)(), key.default) == (True, "")


@pytest.mark.parametrize(("table", "key"), EACH)
def test_a_value_of_another_kind_is_an_error_at_its_line(tmp_path: Path, table: str, key: Key) -> None:
    needed = "".join(f'{each.name} = "f:F"\n' for each in TABLES[table][0] if each.error_if_missing and each is not key)
    error = error_of(tmp_path, f"# a spec\n{TABLES[table][2]}{key.name} = 1979-05-27\n{needed}")
    assert error.line == (3 if table else 2)
    assert key.name in error.message
