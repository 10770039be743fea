"""The functions of users' files that a model's methods and properties run, as far as their text shows."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from floodmark.checkers.project.loading import is_users
from floodmark.language.model import Model
from floodmark.language.source import source_of

_SUPER, _MEMBER, _GLOBAL = "super", "member", "global"


Called = dict[Callable[..., Any], list[Callable[..., Any]]]
"""The calls of each function, for one class, as long as neither the functions nor their modules change."""


def reached_functions(
    cls: type[Model], roots: Iterable[Callable[..., Any]], known: Called | None = None
) -> list[Callable[..., Any]]:
    """The functions ``roots`` and all that they may call, in the order in which they are found.

    Every function that a function mentions counts as called. A caller with several queries about one class passes a
    ``known``, which is used and extended.
    """
    called: Called = {} if known is None else known
    found: dict[Callable[..., Any], None] = {}
    waiting = list(roots)
    while waiting:
        function = waiting.pop(0)
        if function not in found:
            found[function] = None
            if function not in called:
                called[function] = list(_called(cls, function))
            waiting += called[function]
    return list(found)


def _called(cls: type[Model], function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    order = cls.__mro__
    for how, name in _mentioned(source_of(function).tree):
        member: Any = None
        if how == _GLOBAL:
            member = function.__globals__.get(name)
        else:
            after = 0
            if how == _SUPER:
                after = next(place for place, base in enumerate(order, 1) if function in vars(base).values())
            member = next((vars(base)[name] for base in order[after:] if name in vars(base)), None)
        if isinstance(member, staticmethod):
            member = member.__func__
        if inspect.isfunction(member) and is_users(member.__code__.co_filename):
            yield member


@functools.cache
def _mentioned(tree: ast.FunctionDef) -> list[tuple[str, str]]:
    """The names that a function mentions, each once: names, attributes, and attributes of ``super()``."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
                found.append((_SUPER, name))
            case ast.Attribute(attr=name):
                found.append((_MEMBER, name))
            case ast.Name(id=name):
                found.append((_GLOBAL, name))
    return list(dict.fromkeys(found))
