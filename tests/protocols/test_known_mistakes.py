"""Tests docs/properties.md: its tables are complete, and what they say of properties and known-bad designs is true."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import Spec, find, read

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "properties.md").read_text(encoding="utf-8")
FAMILIES = {"A": "alter_isr", "B": "kraft", "C": "reassignment", "D": "under_replicated", "E": "zk_controller",
            "F": "elr", "G": "dynamic_quorum", "H": "epoch_cache"}
MISTAKES = [f"A-M{number}" for number in range(1, 40)]
MISTAKES += [f"B-M{number}" for number in range(1, 36)]
MISTAKES += [f"C-M{number}" for number in range(1, 36)]
MISTAKES += [f"D-M{number}" for number in range(1, 9)]
MISTAKES += [f"E-M{number}" for number in range(1, 25)]
MISTAKES += [f"F-M{number}" for number in range(1, 41)]
MISTAKES += [f"G-M{number}" for number in range(1, 28)]
MISTAKES += [f"H-M{number}" for number in range(1, 10)]


@cache
def specs(family: str) -> list[Spec]:
    return [read(path) for path in find([ROOT / "specs" / family], "all")]


@cache
def properties(family: str) -> dict[tuple[str, str], Property]:
    """The invariants and transition properties of a family by file and name: two models may use one name. Of another
    family's, whose model it extends, those that a spec of this one checks.
    """
    found = {}
    for spec in specs(family):
        known = spec.properties(spec.model_class())
        chosen = spec.chosen(known)
        for prop in known.values():
            if prop.kind != "reachable" and (prop in chosen or Path(prop.file).parent.name == family):
                found[prop.file, prop.name] = prop
    return found


def broken(spec: Spec) -> list[tuple[str, str]]:
    """(design, property) of a spec: its known-bad designs, and the spec itself when it is violated as a whole."""
    pairs = [(flawed.name, flawed.property) for flawed in spec.flawed]
    return pairs if spec.expect.property is None else [*pairs, (spec.name, spec.expect.property)]


@cache
def designs(family: str) -> list[tuple[str, str]]:
    """(name, docstring) of each known-bad design of a family."""
    return [(each.name, spec.flawed_class(each).__doc__ or "") for spec in specs(family) for each in spec.flawed]


def rows(heading: str) -> list[tuple[str, list[str]]]:
    """(family, cells) of each row of the tables with this heading."""
    found = []
    letter, inside = "", False
    for line in PAGE.splitlines():
        if section := re.match(r"## .*\((\w)\)$", line):
            letter = section[1]
        inside = line.startswith("|") and (inside or line.startswith(f"| id | {heading} |"))
        if inside and not line.startswith(("| id |", "|---")):
            found.append((FAMILIES[letter], [cell.strip() for cell in line.strip("|").split("|")]))
    return found


def names(cell: str) -> list[str]:
    return re.findall(r"`([\w/@]+)`", cell)


MUTANTS = "mutants"


def left_to_mutants(cells: list[str]) -> bool:
    """Whether some property in a row has no known-bad design, only mutants of the model that violate it."""
    return cells[3].endswith(MUTANTS)


MUST_HOLD = rows("what must hold")
MISTAKEN = rows("mistake")
CONSEQUENCES = set(names(PAGE[PAGE.index("These are consequences:") : PAGE.index("## The in-sync replicas (A)")]))


def violations(design: str) -> set[str]:
    """What designs of this name violate, in any family."""
    return {prop for family in FAMILIES.values() for spec in specs(family) for found, prop in broken(spec)
            if found == design}


@pytest.mark.parametrize("family", FAMILIES.values())
def test_each_row_names_what_breaks_its_properties(family: str) -> None:
    pairs = [pair for spec in specs(family) for pair in broken(spec)]
    known = {name for _, name in properties(family)}
    for cells in (cells for of, cells in MUST_HOLD if of == family):
        wanted, breaking = names(cells[2]), names(cells[3])
        assert wanted, cells
        assert breaking or left_to_mutants(cells), cells
        assert known >= set(wanted), cells
        for design in breaking:
            assert any(prop in wanted for found, prop in pairs if found == design), f"{cells[1]}: {design}"


@pytest.mark.parametrize("family", FAMILIES.values())
def test_every_property_is_in_the_table_and_is_broken(family: str) -> None:
    listed = {name for of, cells in MUST_HOLD if of == family for name in names(cells[2])}
    assert {name for _, name in properties(family)} == listed
    noticed = {name for of, cells in MUST_HOLD if of == family and left_to_mutants(cells) for name in names(cells[2])}
    fallen = set()
    for spec in specs(family):
        found = spec.properties(spec.model_class())
        fallen |= {(found[prop].file, prop) for _, prop in broken(spec)}
    assert {(file, name) for file, name in properties(family) if name not in noticed} <= fallen
    assert all(any((file, name) not in fallen for file, known in properties(family) if known == name)
               for of, cells in MUST_HOLD if of == family and cells[3] == MUTANTS for name in names(cells[2]))


def test_every_mistake_is_built_or_left_out() -> None:
    assert [cells[0] for _, cells in MISTAKEN] == MISTAKES
    for _, cells in MISTAKEN:
        assert names(cells[2]) or re.match(r"left out, \w{3}", cells[2]), cells


@pytest.mark.parametrize("family", FAMILIES.values())
def test_a_mistake_is_the_design_that_says_so(family: str) -> None:
    for cells in (cells for of, cells in MISTAKEN if of == family):
        elsewhere = re.search(r"\(specs/(\w+)\)", cells[2])
        for name in names(cells[2]):
            docs = [doc for known, doc in designs(elsewhere[1] if elsewhere else family) if known == name]
            assert docs, f"there is no {name}"
            says = any(re.search(rf"\b{cells[0]}\b", doc) for doc in docs)
            assert elsewhere or says, f"{name} does not say {cells[0]}"


@pytest.mark.parametrize("family", FAMILIES.values())
def test_a_design_that_names_a_mistake_is_in_its_row(family: str) -> None:
    listed = {cells[0]: names(cells[2]) for _, cells in MISTAKEN}
    for name, doc in designs(family):
        for mistake in re.findall(r"\b[A-H]-M\d+\b", doc):
            assert name in listed[mistake], f"{name} says {mistake}"


WITH_CONSEQUENCES = [cells for of, cells in MISTAKEN if of != "under_replicated"]


@pytest.mark.parametrize("cells", WITH_CONSEQUENCES, ids=[cells[0] for cells in WITH_CONSEQUENCES])
def test_a_mistake_has_its_consequence(cells: list[str]) -> None:
    """The consequences of a mistake that is built are named, and come of designs in its row; or none was found."""
    built = names(cells[2]) if not cells[2].startswith("left out") else []
    none_found = cells[3].startswith("none found (")
    costs = [] if none_found else names(cells[3].partition(";")[0])
    assert (bool(costs) or none_found) == bool(built), cells
    assert set(costs) <= CONSEQUENCES
    assert set(costs) <= {prop for design in built for prop in violations(design)}


def test_what_lost_nothing_is_said_with_its_spec() -> None:
    for _, cells in MISTAKEN:
        for name in re.findall(r"(?:no data is lost|none found) \(`([\w/@]+)`", cells[-1]):
            found = [spec for family in FAMILIES.values() for spec in specs(family) if spec.name == name]
            assert found and found[0].expect.verdict == "holds", name
