"""Rankings: why a goal is reached, as natural numbers that fall and fair actions that make them fall.

The rankings of a property of runs are its levels, in the order in which they are written. While the goal is missing, a
step either makes the ranking of some level fall and leaves the levels above as they are, whatever it does to those
below; or one of that level's helpers, a fair action, is enabled and is not what the step takes. Either can only happen
finitely often, so the goal is reached. ``floodmark prove --method ranking`` proves this of every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

RANKS = "__floodmark_ranks__"


@dataclass(frozen=True)
class Helper:
    """A fair action that helps, and functions of the model that say with which arguments."""

    action: str
    chosen: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Ranks:
    """The properties that a ranking is for, and what helps it."""

    of: tuple[str, ...]
    helpers: tuple[Helper, ...]


def helper(action: str, /, **chosen: Callable[..., Any]) -> Helper:
    """A fair action with arguments that functions of the model choose, for ``@ranking(helped_by=...)``.

    Where an action is fair for each choice of a parameter, that parameter has to be chosen. Others may be, to say with
    which arguments the action is enabled.
    """
    return Helper(action, dict(chosen))


def ranks(of: tuple[str, ...], helped_by: str | Helper | Sequence[str | Helper]) -> Ranks:
    """The arguments of ``@ranking``."""
    given = (helped_by,) if isinstance(helped_by, str | Helper) else tuple(helped_by)
    return Ranks(of, tuple(it if isinstance(it, Helper) else Helper(it) for it in given))


def ranks_of(function: Callable[..., Any]) -> Ranks:
    """The arguments of a function's ``@ranking``."""
    found: Ranks = getattr(function, RANKS)
    return found
