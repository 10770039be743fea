"""The specs of a comparison, each in its two versions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from floodmark.checkers.edits.spec_edit import EditSettings, SpecEdit, spec_edit
from floodmark.checkers.edits.versions import Version, has_lost_files
from floodmark.checkers.project import spec_address
from floodmark.checkers.project.paths import resolved
from floodmark.checkers.project.spec import MissingRow, Spec, Tier, find, read_all
from floodmark.checkers.search_result import Watcher
from floodmark.language.errors import SourceError

Versions = tuple[Version, Version]


@dataclass(frozen=True)
class SpecPair:
    """A spec in two versions, one of which may lack it; ``error`` says why one cannot be read."""

    name: str
    old: Spec | None
    new: Spec | None
    error: str = ""


def pairs_in(versions: Versions, paths: Sequence[Path], tier: Tier | None) -> list[SpecPair]:
    """The specs that some paths of the repository name, in both versions; a folder names those of one tier."""
    found: dict[str, SpecPair] = {}
    for path in paths:
        file, row = spec_address.split_address(path)
        sides = [_read(version, file, row, tier) for version in versions]
        if not any(specs or error for specs, error in sides):
            raise SourceError("neither version has a spec here", str(path))
        for name in dict.fromkeys([*sides[1][0], *sides[0][0]]):
            found.setdefault(name, SpecPair(name, sides[0][0].get(name), sides[1][0].get(name)))
        for _, errors in sides:
            for name, error in errors.items():
                for row in [other for other in found if other != name and spec_address.of_file(other) == name]:
                    del found[row]  # the other version alone has been read, and nothing is known of this one
                found[name] = SpecPair(name, None, None, error)
    return list(found.values())


def _read(
    version: Version, path: Path, row: str | None, tier: Tier | None
) -> tuple[dict[str, Spec], dict[str, str]]:
    """The specs of one version below a path, by name, and the error of each that cannot be read."""
    place = version.path_of(path)
    specs: dict[str, Spec] = {}
    errors: dict[str, str] = {}
    if os.path.isdir(place):
        addresses = find([place], tier or "all")
    elif place.is_file():
        addresses = [spec_address.join_address(place, row)] if row is not None else [place]
    else:
        return specs, errors
    for address in addresses:
        try:
            for spec in read_all(address):
                specs[_name(version, spec)] = spec
        except MissingRow:
            continue
        except SourceError as error:
            errors[_name_of_path(version, address)] = version.place(error.file, error.line) + f": {error.message}"
    return specs, errors


def _name(version: Version, spec: Spec) -> str:
    return spec_address.with_row(_name_of_path(version, spec.path), spec.row)


def _name_of_path(version: Version, path: Path) -> str:
    below = resolved(path).with_suffix("").relative_to(version.root)
    return Path(*below.parts[1:]).as_posix() if below.parts[0] == "specs" and len(below.parts) > 1 else below.as_posix()


def compare_pairs(
    pairs: Sequence[SpecPair], versions: Versions, settings: EditSettings, watch: Watcher | None = None
) -> Iterator[SpecEdit]:
    """Compares each pair of specs in turn."""
    lost = versions[0].root != versions[1].root and has_lost_files(*versions)
    for pair in pairs:
        if pair.error:
            yield SpecEdit(pair.name, pair.old, pair.new, error=pair.error)
        elif pair.old is None or pair.new is None:
            yield SpecEdit(pair.name, pair.old, pair.new)
        else:
            yield replace(spec_edit(pair.old, pair.new, versions, settings, lost, watch), name=pair.name)
