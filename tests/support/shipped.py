"""The specs that Floodmark ships, read once for all files of tests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from floodmark.checkers.project.spec import Spec, selected_specs

SPECS = Path(__file__).resolve().parents[2] / "specs"


@cache
def shipped() -> Mapping[Path, Spec]:
    """All specs, by their addresses."""
    found = {}
    for each in selected_specs([SPECS], "all"):
        assert each.spec is not None, f"{each.address} cannot be read"
        found[each.address] = each.spec
    return found


def quick() -> list[Path]:
    """The addresses of the specs that have a quick check."""
    return [address for address, spec in shipped().items() if spec.has_checks_in("quick")]
