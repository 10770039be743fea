"""The role and the epoch of a participant in a state, as far as a model's types and names reveal them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from floodmark.checkers.value_text import show
from floodmark.language.model import Model, State
from floodmark.language.values import Identifier, Map, Record

EPOCHS = frozenset({"ballot", "epoch", "generation", "reign", "round", "term", "view"})
"""Last words of the names of variables and fields that count leaderships."""
HOLDERS = frozenset({"candidate", "controller", "coordinator", "leader", "owner", "primary"})
"""Names of variables that hold the identifier with that role."""


@dataclass(slots=True)
class _RoleReader:
    roles: list[str] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)

    def value(self, name: str, value: Any) -> None:
        if isinstance(value, Enum):
            self.roles.append(show(value))
        elif isinstance(value, Record):
            for inner, item in value._values.items():
                if not isinstance(item, Record):
                    self.value(inner, item)
        elif type(value) is int and name.split("_")[-1] in EPOCHS:
            self.epochs.append(value)


def role_and_epoch(model: Model, state: State, who: Identifier | str) -> str:
    """``LEADER e2``: the first role and the first epoch that are found; empty without either."""
    given = dict(zip(model.variable_types, state, strict=True))
    read = _RoleReader()
    for name, value in given.items():
        if name in HOLDERS and isinstance(who, Identifier) and value == who:
            read.roles.insert(0, name)
            read.value(f"{name}_epoch", given.get(f"{name}_epoch"))
        elif name == who and isinstance(value, Record):
            read.value(name, value)
    for name, value in _own(given, who):
        read.value(name, value)
    return " ".join([*read.roles[:1], *(f"e{epoch}" for epoch in read.epochs[:1])])


def _own(given: dict[str, Any], who: Identifier | str) -> Iterator[tuple[str, Any]]:
    """The entries of maps that are keyed by a participant."""
    for name, value in given.items():
        if isinstance(value, Map) and any(key == who for key in value):
            yield name, value[who]
