"""The lock, ``floodmark.lock``: the results that were last accepted, as TOML that diffs well.

    [specs."alter_isr/core"]         a check and its results; ``actions`` and ``flawed`` are tables of their own
    [claims]                         the answer to each claim
    [proofs]                         the verdict of each proof; one with many lemmas is a table of its own
    [mutants."alter_isr/core"]       the mutants that no property notices, with reasons, and hashes of their model

``properties`` and ``scenarios`` map each name to the hash of its meaning; older locks, which list only names, can be
read. A row whose properties are those of an earlier row of its spec names that row instead. Tables and keys are sorted,
except where the order means something. A run of a tier writes the entries of that tier and leaves those of other tiers
as they are, also in the table of a model's known-bad designs. There a design has a tier if it differs from the model's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from floodmark.checkers.project import input_file, toml
from floodmark.language.errors import SourceError

NAME = "floodmark.lock"
VERSION = 2
_KNOWN_VERSIONS = (1, VERSION)
"""Version 1 has the properties of each row."""
LockEntry = dict[str, Any]
"""Plain values, lists of strings, and tables of these."""

_HEAD = """\
# What `floodmark gate` found. It writes this file with --update-lock; whatever differs from it turns the gate red.
"""
_SECTIONS = ("specs", "claims", "proofs")
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |$)")
_INLINE = 100
"""The maximum length of a table that is written on one line."""


@dataclass(frozen=True, slots=True)
class Mutants:
    """The result of trying a model's mutants.

    ``sources`` are the hashes of the model and its properties at that time; ``tried`` is the number of mutants;
    ``survivors`` has the change of each mutant that breaks no property, as one line, with the reason why that is not a
    gap.
    """

    sources: dict[str, str]
    tried: int
    survivors: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lock:
    """The content of a lock; ``lines`` has the line of each entry, by keys such as ``specs.alter_isr/core``."""

    specs: dict[str, LockEntry] = field(default_factory=dict)
    claims: dict[str, LockEntry] = field(default_factory=dict)
    proofs: dict[str, LockEntry] = field(default_factory=dict)
    mutants: dict[str, Mutants] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict, compare=False)

    def with_mutants(self, name: str, mutants: Mutants) -> Lock:
        """The lock with the mutants of one spec replaced."""
        return replace(self, mutants={**self.mutants, name: mutants})


def read(path: Path, renew: bool = False) -> Lock | None:
    """The lock in a file; None if there is no such file. Raises SourceError with the line of an error in it.

    With ``renew``, as for ``--update-lock``, an invalid file counts as none.
    """
    if not os.path.lexists(path):
        return None
    text = input_file.text_of(path)
    for number, line in enumerate(text.splitlines(), 1):
        if _CONFLICT.match(line):
            raise SourceError(
                "two branches changed the lock: take either side and run floodmark gate --update-lock",
                str(path), number,
            )
    data = toml.parse(text, path)
    lines = _lines(text)
    version = data.pop("version", None)
    if type(version) is int and version > VERSION:
        message = f"this lock has version {version}, and this floodmark knows version {VERSION}; install a newer one"
        raise SourceError(message, str(path), lines.get("version", 1))
    if type(version) is not int or version not in _KNOWN_VERSIONS:
        if renew:
            return None
        message = f"this is not a lock of version {VERSION}; floodmark gate --update-lock replaces it"
        raise SourceError(message, str(path), lines.get("version", 1))
    for key in data:
        if key not in (*_SECTIONS, "mutants"):
            raise SourceError(f"unknown table {key!r} in the lock", str(path), lines.get(key, 1))
    tables = {key: _entries(data.get(key, {}), key, path, lines) for key in _SECTIONS}
    _resolve_properties(tables["specs"], path, lines)
    return Lock(**tables, mutants=_mutants(data.get("mutants", {}), path, lines), lines=lines)


def _entries(data: Any, key: str, path: Path, lines: Mapping[str, int]) -> dict[str, LockEntry]:
    for name, entry in data.items() if isinstance(data, dict) else [("", None)]:
        if not isinstance(entry, dict):
            raise SourceError(f"{key} must be a table of tables", str(path), lines.get(f"{key}.{name}", 1))
    return dict(data)


def _resolve_properties(specs: Mapping[str, LockEntry], path: Path, lines: Mapping[str, int]) -> None:
    """Gives each row that names another one the properties of that one."""
    named = {name: entry["properties"] for name, entry in specs.items() if isinstance(entry.get("properties"), str)}
    for name, other in named.items():
        properties = specs.get(other, {}).get("properties")
        if not isinstance(properties, dict) or other in named:
            message = (f"the properties of {name} are to be those of {other}, which has none of its own here; remove "
                       "that line and run floodmark gate --update-lock")
            raise SourceError(message, str(path), lines.get(f"specs.{name}", 1))
        specs[name]["properties"] = dict(properties)


def _mutants(data: Any, path: Path, lines: Mapping[str, int]) -> dict[str, Mutants]:
    found = {}
    for name, entry in _entries(data, "mutants", path, lines).items():
        try:
            found[name] = Mutants(entry.get("sources", {}), entry["tried"], entry.get("survivors", {}))
        except KeyError as error:
            line = lines.get(f"mutants.{name}", 1)
            raise SourceError(f"the mutants of {name} need {error.args[0]} = ...", str(path), line) from None
    return found


_HEADER = re.compile(r'^\[\[?(\w+)(?:\.(?:"((?:[^"\\]|\\.)*)"|([\w-]+)))?\]?\]')
_KEY = re.compile(r'^(?:"((?:[^"\\]|\\.)*)"|([\w-]+)) = \{')
_VERSION = re.compile(r"^\s*version\s*=")


def _lines(text: str) -> dict[str, int]:
    """The first line of each entry, in the layout of ``text``."""
    found: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not section and _VERSION.match(line):
            found["version"] = number
        if header := _HEADER.match(line):
            section = header[1]
            name = header[2] or header[3]
            found.setdefault(section, number)
            if name:
                found.setdefault(f"{section}.{name}", number)
        elif key := _KEY.match(line):
            found.setdefault(f"{section}.{key[1] or key[2]}", number)
    return found


def write(path: Path, lock: Lock) -> None:
    """Writes the lock. Raises SourceError when the file cannot be written."""
    try:
        path.write_text(text(lock), encoding="utf-8")
    except OSError as error:
        raise SourceError(f"cannot be written: {error.strerror}", str(path)) from None


def text(lock: Lock) -> str:
    lines = [_HEAD, f"version = {VERSION}"]
    first: dict[str, str] = {}
    for name, entry in sorted(lock.specs.items()):
        lines += ["", *_table(f"specs.{toml.key(name)}", _sharing_properties(name, entry, first))]
    for section, entries in (("claims", lock.claims), ("proofs", lock.proofs)):
        if entries:
            lines += ["", f"[{section}]", *_entries_of(section, entries)]
    for name, mutants in sorted(lock.mutants.items()):
        entry = {"sources": mutants.sources, "tried": mutants.tried}
        lines += ["", *_table(f"mutants.{toml.key(name)}", entry)]
        if mutants.survivors:
            lines.append(f"[mutants.{toml.key(name)}.survivors]")
            known = sorted(mutants.survivors.items())
            lines += [f"{toml.key(change)} = {toml.inline(reason)}" for change, reason in known]
    return "\n".join(lines) + "\n"


def _sharing_properties(name: str, entry: LockEntry, first: dict[str, str]) -> LockEntry:
    """An entry that names the first row of its spec with the same properties, if they do not fit on a line. ``first``
    has these rows so far."""
    properties = entry.get("properties")
    if not isinstance(properties, dict) or len(toml.inline(properties)) <= _INLINE:
        return entry
    other = first.setdefault(f"{name.partition('@')[0]} {sorted(properties.items())}", name)
    return entry if other == name else {**entry, "properties": other}


def _entries_of(section: str, entries: Mapping[str, LockEntry]) -> Iterator[str]:
    """A line for each entry; one with lists that is too long for a line gets a header of its own, after the others."""
    long = {}
    for name, entry in sorted(entries.items()):
        inline = f"{toml.key(name)} = {toml.inline(entry)}"
        if len(inline) > _INLINE and any(isinstance(value, list) for value in entry.values()):
            long[name] = entry
        else:
            yield inline
    for name, entry in long.items():
        yield ""
        yield from _table(f"{section}.{toml.key(name)}", entry)


def _table(title: str, entry: LockEntry) -> Iterator[str]:
    """A table: its plain keys first, in order; a nested table that is too long for a line gets a header of its own."""
    yield f"[{title}]"
    long = {}
    for key, value in entry.items():
        inline = f"{toml.key(key)} = {toml.inline(value)}"
        if isinstance(value, dict) and (len(inline) > _INLINE or _nested(value)):
            long[key] = value
        elif isinstance(value, list) and len(inline) > _INLINE:
            yield f"{toml.key(key)} = ["
            yield from (f"    {toml.inline(item)}," for item in value)
            yield "]"
        else:
            yield inline
    for key, value in long.items():
        yield f"[{title}.{toml.key(key)}]"
        yield from (f"{toml.key(name)} = {toml.inline(item)}" for name, item in value.items())


def _nested(value: LockEntry) -> bool:
    return any(isinstance(each, dict) for each in value.values())
