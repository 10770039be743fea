"""Fingerprints of expression graphs: equal where the same code is made of them, wherever their source stands."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from functools import cache
from typing import Any

from model.compiler.ir import Action, Expr, Generator, ItemStep, Local, Predicate, Range, Stmt, Universe
from model.compiler.ir import FieldStep as _FieldStep
from model.language.types import EnumType, RecordType, Type

_NODES = (Action, Expr, _FieldStep, Generator, ItemStep, Predicate, Range, Stmt, Universe)


def fingerprint(*parts: Any) -> str:
    """The hash of nodes, types and plain values, with their structure and their constants.

    Positions and the names of local variables do not count. Two graphs that share their parts differently may have two
    fingerprints; two graphs that mean different things never have one.
    """
    words: list[str] = []
    seen: dict[int, int] = {}
    for part in parts:
        _write(part, words, seen)
    return hashlib.sha256("\x1f".join(words).encode()).hexdigest()


def _write(value: Any, words: list[str], seen: dict[int, int]) -> None:
    kind = value.__class__
    names = _names(kind)
    if names is not None:
        known = seen.setdefault(id(value), len(seen))
        if known != len(seen) - 1:
            words.append(f"@{known}")
            return
        words.append(f"{kind.__name__}(")
        for name in names:
            _write(getattr(value, name), words, seen)
    elif kind is list or kind is tuple:
        words.append(f"[{len(value)}")
        for item in value:
            _write(item, words, seen)
    elif kind is dict:
        words.append(f"{{{len(value)}")
        for key, item in value.items():
            words.append(str(key))
            _write(item, words, seen)
    elif isinstance(value, Type):
        words.append(_type(value))
    else:
        words.append(repr(value))


@cache
def _names(kind: type) -> tuple[str, ...] | None:
    """The fields of a node that count; None for what is no node."""
    if not issubclass(kind, _NODES):
        return None
    skipped = {"at", "premises"} | ({"name"} if kind is Local else set())
    return tuple(field.name for field in fields(kind) if field.name not in skipped)


@cache
def _type(kind: Type) -> str:
    match kind:
        case EnumType(cls):
            return f"Enum({cls.__name__}:{','.join(cls.__members__)})"
        case RecordType(cls, of):
            inner = ",".join(f"{name}={_type(part)}" for name, part in of)
            return f"Record({cls.__name__}:{inner})"
    parts = [getattr(kind, field.name) for field in fields(kind)]  # type: ignore[arg-type]
    inner = ",".join(_type(part) if isinstance(part, Type) else _plain(part) for part in parts)
    return f"{type(kind).__name__}({inner})"


def _plain(part: Any) -> str:
    return part.__name__ if isinstance(part, type) else repr(part)
