"""The kinds of values that a spec's keys may have: their parsers and their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floodmark.checkers.project import input_file, input_limits, spec_address
from floodmark.checkers.project.input_limits import brief
from floodmark.checkers.project.properties import did_you_mean
from floodmark.language.errors import SourceError
from floodmark.language.fairness import Fairness


class SpecReader:
    """A spec file while it is being read: the positions of its keys, and errors that name their lines."""

    def __init__(self, path: Path, lines: Mapping[str, int]) -> None:
        self.path = path
        self.lines = lines

    def error(self, message: str, key: str) -> SourceError:
        """An error at a key such as ``flawed.0.class``, or at the nearest one around it that has a line."""
        return SourceError(message, str(self.path), line_of(key, self.lines) or 1)

    def wrong(self, what: str, value: object, key: str) -> SourceError:
        return self.error(f"{key.rpartition('.')[2]} must be {what}, not {brief(value)}", key)

    def table(self, data: Any, keys: Sequence[Key], place: str) -> dict[str, Any]:
        """The values of a table's keys. A key that the table does not have is an error, and so is a missing one that it
        needs."""
        if not isinstance(data, dict):
            raise self.error(f"{place} must be a table", place)
        known = {key.name: key for key in keys}
        values = {}
        for name, value in data.items():
            full = f"{place}.{name}" if place else name
            if name not in known:
                raise self.error(f"unknown key {brief(name)}{did_you_mean(name, known)}", full)
            values[name] = known[name].kind.read(self, value, full)
        for key in keys:
            if key.error_if_missing and not values.get(key.name):
                raise self.error(key.error_if_missing, place)
        return values

    def entries(self, value: Any, keys: Sequence[Key], key: str) -> list[tuple[str, dict[str, Any]]]:
        """The tables of a list of tables, each with its place."""
        if not isinstance(value, list):
            raise self.error(f"write [[{key}]], with two brackets: there can be several", key)
        places = [f"{key}.{index}" for index in range(len(value))]
        return [(place, self.table(entry, keys, place)) for place, entry in zip(places, value, strict=True)]


def line_of(key: str, lines: Mapping[str, int]) -> int | None:
    """The line of a key such as ``constants.brokers``, or of the nearest one around it that has a line."""
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key)


@dataclass(frozen=True, slots=True)
class ValueKind:
    """The kind of a key's value: ``words`` name it, ``read`` converts it from TOML's value. ``keys`` are those of a
    table, or of each table in a list (``many``)."""

    words: str
    read: Callable[[SpecReader, Any, str], Any]
    keys: Sequence[Key] = ()
    many: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a table of a spec. ``meaning`` and ``default`` are for the page of all keys; ``error_if_missing`` is the
    error if the key is missing."""

    name: str
    kind: ValueKind
    meaning: str
    default: str = ""
    error_if_missing: str = ""


def _text(reader: SpecReader, value: Any, key: str) -> str:
    if type(value) is not str:
        raise reader.wrong("a string", value, key)
    return value


def _flag(reader: SpecReader, value: Any, key: str) -> bool:
    if type(value) is not bool:
        raise reader.wrong("true or false", value, key)
    return value


def _amount(of: Callable[[Any], Any]) -> Callable[[SpecReader, Any, str], Any]:
    def read(reader: SpecReader, value: Any, key: str) -> Any:
        try:
            return of(value)
        except ValueError as error:
            raise reader.error(f"{key.rpartition('.')[2]} {error}", key) from None

    return read


def _memory(reader: SpecReader, value: Any, key: str) -> int:
    if type(value) not in (int, float, str):
        raise reader.wrong("an amount of memory such as \"8G\"", value, key)
    try:
        return input_limits.memory(value if isinstance(value, str) else brief(value))
    except ValueError as error:
        raise reader.error(str(error), key) from None


def _names(reader: SpecReader, value: Any, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise reader.wrong("a list of names", value, key)
    twice = next((name for name in value if value.count(name) > 1), None)
    if twice is not None:
        raise reader.error(f"{twice} is listed twice", key)
    return tuple(value)


def _texts(reader: SpecReader, value: Any, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(text, str) and text for text in value):
        raise reader.wrong("a list of strings, and not empty", value, key)
    return tuple(value)


def _flag_or_names(reader: SpecReader, value: Any, key: str) -> bool | tuple[str, ...]:
    if isinstance(value, list) and value:
        return _names(reader, value, key)
    if type(value) is not bool:
        raise reader.wrong("true, false or a list of names", value, key)
    return value


def _some_names(reader: SpecReader, value: Any, key: str) -> tuple[str, ...]:
    names = _names(reader, value, key)
    if not names:
        raise reader.error("name the properties to be proved, or leave the key out for all", key)
    return names


def _all_or_names(reader: SpecReader, value: Any, key: str) -> tuple[str, ...] | None:
    if value == "all":
        return None
    if isinstance(value, str):
        raise reader.wrong('"all" or a list of names', value, key)
    return _names(reader, value, key)


def _name_or_names(reader: SpecReader, value: Any, key: str) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else _names(reader, value, key)


def _files(reader: SpecReader, value: Any, key: str) -> tuple[Path, ...]:
    paths = tuple(reader.path.parent / name for name in _names(reader, value, key))
    _require_files(reader, paths, key)
    return paths


def _specs(reader: SpecReader, value: Any, key: str) -> tuple[Path, ...]:
    own = reader.path.name
    names = [f"{own}{name}" if name.startswith(spec_address.SIGN) else name for name in _names(reader, value, key)]
    addresses = tuple(reader.path.parent / name for name in names)
    _require_files(reader, [spec_address.split_address(address)[0] for address in addresses], key)
    return addresses


def _require_files(reader: SpecReader, paths: Iterable[Path], key: str) -> None:
    for path in paths:
        try:
            input_file.size_of(path)
        except SourceError as error:
            raise reader.error(f"{path} {error.message}", key) from None


def _constants(reader: SpecReader, value: Any, key: str) -> dict[str, int]:
    if not isinstance(value, dict):
        raise reader.error("constants must be a table", key)
    for name, number in value.items():
        try:
            input_limits.constant(number)
        except ValueError as error:
            raise reader.error(f"the constant {name} {error}", f"{key}.{name}") from None
    return dict(value)


def one_of(allowed: Sequence[str]) -> ValueKind:
    """One of some words."""

    def read(reader: SpecReader, value: Any, key: str) -> str:
        name = _text(reader, value, key)
        if name not in allowed:
            raise reader.wrong(f"one of {', '.join(allowed)}", value, key)
        return name

    return ValueKind(", ".join(f'`"{word}"`' for word in allowed), read)


def table(keys: Sequence[Key], make: Callable[..., Any]) -> ValueKind:
    """A table with these keys; ``make`` takes them by name."""
    return ValueKind("a table", lambda reader, value, key: make(**reader.table(value, keys, key)), keys)


TEXT = ValueKind("a string", _text)
FLAG = ValueKind("`true` or `false`", _flag)
COUNT = ValueKind("a whole number, 0 or more", _amount(input_limits.count))
POSITIVE = ValueKind("a whole number, 1 or more", _amount(input_limits.positive))
SECONDS = ValueKind("a number of seconds", _amount(input_limits.seconds))
MEMORY = ValueKind('an amount such as `"8G"`', _memory)
NAMES = ValueKind("a list of names", _names)
TEXTS = ValueKind("a list of strings", _texts)
FLAG_OR_NAMES = ValueKind("`true`, `false` or a list of names", _flag_or_names)
SOME_NAMES = ValueKind("a list of names", _some_names)
ALL_OR_NAMES = ValueKind('`"all"` or a list of names', _all_or_names)
NAME_OR_NAMES = ValueKind("a name or a list of names", _name_or_names)
FILES = ValueKind("a list of files, relative to the spec", _files)
SPECS = ValueKind("a list of specs, relative to the spec", _specs)
CONSTANTS = ValueKind("a table: a whole number, `true` or `false` for each constant", _constants)


def fairness(keys: Sequence[Key]) -> ValueKind:
    """The fairness of actions: ``name = "weak"``, ``"strong"`` or ``"none"``, or a table with these keys."""
    word = one_of(("weak", "strong", "none"))

    def fair(reader: SpecReader, how: Any, key: str) -> Fairness | None:
        if isinstance(how, str):
            strength = word.read(reader, how, key)
            return None if strength == "none" else Fairness(strong=strength == "strong")
        given = reader.table(how, keys, key)
        return Fairness(given.get("strong", False), given.get("each", ()))

    def read(reader: SpecReader, value: Any, key: str) -> dict[str, Fairness | None]:
        if not isinstance(value, dict):
            raise reader.error("fairness must be a table of actions", key)
        return {name: fair(reader, how, f"{key}.{name}") for name, how in value.items()}

    return ValueKind(f"a table: for each action {word.words}, or a table", read, keys)
