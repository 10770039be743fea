"""Where TLA+ text stands: the definitions before it, the conditions under which it is reached, and its failures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from floodmark.checkers.export.names import Names
from floodmark.checkers.export.tla_text import with_definitions
from floodmark.checkers.export.tla_values import conj, negated

MAX_REPEATED_LENGTH = 40
"""A longer condition that is needed more than once gets a name."""


@dataclass(slots=True)
class TlaScope:
    """The state of the writing: LET definitions so far, current names of variables, conditions reached, and failures.

    ``path`` is a list of conditions under which control gets here. ``failures`` and ``required`` are in the order in
    which CPython evaluates them.
    """

    definitions: list[tuple[str, str]] = field(default_factory=list)
    locals: dict[int, str] = field(default_factory=dict)
    born: dict[int, int] = field(default_factory=dict)
    state: dict[str, str] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    required: list[str] = field(default_factory=list)

    def inner(self) -> TlaScope:
        """The scope of a bound variable: it sees the definitions here, and starts empty."""
        born = dict.fromkeys(self.born, 0)
        return TlaScope([], dict(self.locals), born, dict(self.state), [], [], [])


class TlaContext:
    """The scope that is being written, which gets definitions and failures."""

    def __init__(self, names: Names, scope: TlaScope) -> None:
        self.names = names
        self.scope = scope

    @contextmanager
    def within(self, scope: TlaScope) -> Iterator[TlaScope]:
        saved, self.scope = self.scope, scope
        yield scope
        self.scope = saved

    @contextmanager
    def under(self, *conditions: str) -> Iterator[None]:
        """The context for an expression that is evaluated only if the conditions are true."""
        saved = self.scope.path
        self.scope.path = [*saved, *(condition for condition in conditions if condition != "TRUE")]
        yield
        self.scope.path = saved

    def named(self, name: str, text: str) -> str:
        """A name for a text that is needed more than once; a short text is used as it is."""
        if len(text) <= MAX_REPEATED_LENGTH and "\n" not in text:
            return text
        return self.define(name, text)

    def define(self, name: str, text: str) -> str:
        name = self.names.fresh(name)
        self.scope.definitions.append((name, text))
        return name

    def fail_unless(self, possible: str) -> None:
        if possible != "TRUE":
            bad = conj([*self.scope.required, *self.scope.path, negated(possible)])
            if bad != "FALSE":
                self.scope.failures.append(bad)


def let(scope: TlaScope, text: str) -> str:
    """A text with the definitions of its scope that it needs."""
    return with_definitions(scope.definitions, text)
