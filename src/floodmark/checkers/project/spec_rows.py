"""Rows of a spec: the same model at several sizes in one file.

Each ``[[row]]`` table stands for a spec of its own, ``lease@small`` for the row ``small`` of ``lease.toml``. The row's
values override those of the file outside of rows: tables key by key, other values as a whole. The result is read by the
same keys as a spec without rows, so a row cannot mean anything that such a spec could not.

Known-bad designs, proofs, scenarios and mutants belong to the rows that their ``rows`` names, else to the first: a
mistake is shown where it is cheapest to find, and showing it again at every size would add time and no knowledge.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from floodmark.checkers.project import spec_address
from floodmark.checkers.project.properties import did_you_mean
from floodmark.checkers.project.spec_entries import ListedDesign, ListedProof, Mutation, Scenario, SpecRow
from floodmark.checkers.project.spec_keys import BELONGING, COMMON, ROWS, SPEC
from floodmark.checkers.project.spec_values import SpecReader, line_of

Entry = TypeVar("Entry", ListedDesign, ListedProof, Scenario)


def expand_rows(reader: SpecReader, data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values of ``Spec`` for each row of a file. Raises SourceError for an error in one of them."""
    rows: Sequence[SpecRow] = ROWS.read(reader, data["row"], "row")
    belonging = {key.name: data[key.name] for key in BELONGING if key.name in data}
    entries = reader.table(belonging, BELONGING, "")
    common = {name: value for name, value in data.items() if name != "row" and name not in belonging}
    reader.table(common, COMMON, "")
    names = [row.name for row in rows]
    specs = []
    for row in rows:
        _require_free_name(reader, row)
        merged, lines = _merged(common, row, reader.lines)
        values = SpecReader(reader.path, lines).table(merged, SPEC, "")
        own = _belonging_to(row.name, reader, entries, names)
        specs.append({**values, **own, "row": row.name, "lines": lines})
    _require_differences(reader, rows, specs)
    return specs


def without_rows(reader: SpecReader, data: Mapping[str, Any]) -> dict[str, Any]:
    """The values of ``Spec`` for a file without rows."""
    values = reader.table(data, SPEC, "")
    _belonging_to(None, reader, values, [])
    return {**values, "lines": reader.lines}


def _merged(common: Mapping[str, Any], row: SpecRow, lines: Mapping[str, int]) -> tuple[dict[str, Any], dict[str, int]]:
    """A row's keys merged over the file's, and the line of each key: that in the row if the row has it."""
    values, at = dict(common), {**lines, "row": row.line}
    for name, value in row.values.items():
        place = f"{row.place}.{name}"
        at[name] = line_of(place, lines) or row.line
        values[name] = {**common.get(name, {}), **value} if isinstance(value, dict) else value
        for inner in value if isinstance(value, dict) else ():
            at[f"{name}.{inner}"] = line_of(f"{place}.{inner}", lines) or row.line
    return values, at


def _belonging_to(
    row: str | None, reader: SpecReader, entries: Mapping[str, Any], names: Sequence[str]
) -> dict[str, Any]:
    """The known-bad designs, proofs, scenarios and mutants of a row."""
    mutation: Mutation | None = entries.get("mutation")
    if mutation is not None and not _belongs(row, reader, mutation.rows, "mutation", names):
        mutation = None
    return {
        "flawed": _of_row(row, reader, entries.get("flawed", ()), "flawed", names),
        "scenario": _of_row(row, reader, entries.get("scenario", ()), "scenario", names),
        "prove": _of_row(row, reader, entries.get("prove", ()), "prove", names),
        "mutation": mutation and replace(mutation, rows=()),
    }


def _of_row(
    row: str | None, reader: SpecReader, entries: Iterable[Entry], key: str, names: Sequence[str]
) -> tuple[Entry, ...]:
    return tuple(
        replace(entry, rows=())
        for index, entry in enumerate(entries)
        if _belongs(row, reader, entry.rows, f"{key}.{index}", names)
    )


def _belongs(row: str | None, reader: SpecReader, wanted: Sequence[str], place: str, names: Sequence[str]) -> bool:
    for name in wanted:
        if not names:
            raise reader.error("rows needs a spec that has rows, each in a table [[row]]", f"{place}.rows")
        if name not in names:
            raise reader.error(f"there is no row {name!r}{did_you_mean(name, names)}", f"{place}.rows")
    return row is None or row in (wanted or names[:1])


def _require_free_name(reader: SpecReader, row: SpecRow) -> None:
    """Refuses a row whose name in reports and in the lock is that of another file."""
    taken = Path(spec_address.with_row(reader.path.stem, row.name) + reader.path.suffix)
    if os.path.lexists(reader.path.with_name(taken.name)):
        message = f"the row {row.name} would have the same name in reports as the file {taken}; rename one"
        raise reader.error(message, f"{row.place}.name")


_SEARCHED = ("constants", "invariants", "symmetry", "deadlock", "fairness")
"""The differences of two searches of a model."""


def _require_differences(reader: SpecReader, rows: Sequence[SpecRow], specs: Sequence[Mapping[str, Any]]) -> None:
    for index, spec in enumerate(specs):
        for earlier in range(index):
            if all(specs[earlier].get(name) == spec.get(name) for name in _SEARCHED):
                same = f"the row {rows[index].name} is the same search as the row {rows[earlier].name}"
                message = f"{same} at line {rows[earlier].line}: give it other constants, or remove one"
                raise reader.error(message, rows[index].place)
