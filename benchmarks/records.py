"""Rows of measurements that are kept in a CSV file, so that a campaign can be ended and goes on where it was."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = TypeVar("Row", bound="DataclassInstance")
_KINDS: dict[str, type] = {"str": str, "int": int, "float": float}


class Records(Generic[Row]):
    """The file that has the name of a benchmark. A row is a dataclass of texts and numbers, annotated as such."""

    def __init__(self, benchmark: str, kind: type[Row]) -> None:
        self.path = Path(benchmark).with_suffix(".csv")
        self.kind = kind

    def read(self) -> list[Row]:
        """The rows so far."""
        if not self.path.exists():
            return []
        kinds = {field.name: _KINDS[str(field.type)] for field in fields(self.kind)}
        with self.path.open(newline="") as opened:
            given = list(csv.DictReader(opened))
        return [self.kind(**{name: kinds[name](text) for name, text in row.items()}) for row in given]

    def add(self, rows: Iterable[Row]) -> None:
        """Writes rows at the end."""
        fresh = not self.path.exists()
        with self.path.open("a", newline="") as opened:
            writer = csv.DictWriter(opened, [field.name for field in fields(self.kind)], lineterminator="\n")
            if fresh:
                writer.writeheader()
            writer.writerows(asdict(row) for row in rows)
