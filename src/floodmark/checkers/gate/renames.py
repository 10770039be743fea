"""Specs whose name differs from the lock's: a renamed row or file, or a spec that has rows now.

An entry without a spec is paired with a spec without an entry if both have the same model with the same constants. A
wrong guess hides nothing: the new name alone is drift, and so is every other difference from the entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from floodmark.checkers.gate.lock import Lock, LockEntry
from floodmark.checkers.project import spec_address
from floodmark.checkers.project.spec import Spec
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.language.errors import SourceError

Renames = Mapping[str, str]
"""The names in the lock, each with the name that the spec has now."""


def renames(gone: Iterable[str], new: Mapping[str, Spec], locked: Lock) -> Renames:
    """The new names of entries whose spec is gone, as far as a new spec continues them. Of several candidates, those in
    the same file come first."""
    left = {name: subject for name, spec in new.items() if (subject := _subject_of_spec(spec)) is not None}
    found: dict[str, str] = {}
    for was in gone:
        same = [name for name, subject in left.items() if subject == _subject_of_entry(locked.specs[was])]
        same.sort(key=lambda name: spec_address.of_file(name) != spec_address.of_file(was))
        if same:
            found[was] = same[0]
            del left[same[0]]
    return found


def rename_entries(locked: Lock, names: Renames) -> Lock:
    """The lock with its entries under the names that their specs have now."""
    return replace(
        locked,
        specs={names.get(name, name): entry for name, entry in locked.specs.items()},
        proofs={_proof(name, names): entry for name, entry in locked.proofs.items()},
        mutants={names.get(name, name): entry for name, entry in locked.mutants.items()},
        lines={**locked.lines, **dict(_lines(locked, names))},
    )


def _proof(name: str, names: Renames) -> str:
    spec, space, proof = name.partition(" ")
    return f"{names.get(spec, spec)}{space}{proof}"


def _lines(locked: Lock, names: Renames) -> Iterator[tuple[str, int]]:
    for key, line in locked.lines.items():
        section, _, name = key.partition(".")
        yield f"{section}.{_proof(name, names)}", line


def _subject_of_entry(entry: LockEntry) -> tuple[Any, Any]:
    return entry.get("model"), entry.get("constants")


def _subject_of_spec(spec: Spec) -> tuple[Any, Any] | None:
    """The subject that the entry of a spec would have; None if its model cannot be made."""
    with suppress(SourceError):
        return spec.model, Check(spec, None, CheckSettings()).model().constant_values
    return None
