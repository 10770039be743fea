"""Synthetic functions of the modelling language, which have no source file, such as inferred clauses."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Mapping
from typing import Any

from floodmark.language.values import Identifier

_FILES = itertools.count(1)


def predicate_of_text(source: str, name: str, names: Mapping[str, Any]) -> tuple[Callable[..., bool], str]:
    """The predicate ``name`` that a source text defines with these names, and the name of its virtual file.

    The text is registered there, so that CPython runs it and the compiler reads it, like any other.
    """
    file = f"<{name} {next(_FILES)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    known: dict[str, Any] = {**names, "__name__": __name__}
    exec(compile(source, file, "exec"), known)
    function: Callable[..., bool] = known[name]
    return function, file


def name_in_text(value: Identifier) -> str:
    """The name of an identifier in an expression: ``b1``, independent of its printed form, or ``broker1`` if that is
    invalid."""
    name = f"{value.prefix}{value.number}"
    return name if name.isidentifier() else f"{type(value).__name__.lower()}{value.number}"
