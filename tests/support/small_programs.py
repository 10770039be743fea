"""Enumerates every small body of a function over a few statements, conditions and loops, as source.

A grammar has two or three variables of two values each, or a container of two, so that a body can be run in every state
that there is. The size of a body is the number of its statements, ``if`` and ``for`` among them; ``else`` counts with
what is in it. A body stands in a place: as an action, behind an assignment and before a read, in a function that a
guard calls, as a property. All bodies up to a size stand in all places of their grammar, but for two kinds, of which
nothing is lost: ``pass`` beside another statement, and statements after one that leaves, which the compiler refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

Lines = tuple[str, ...]

HEADER = """\
from __future__ import annotations

from typing import Annotated

from floodmark import (
    Bag, Between, Capacity, Constant, Identifier, Map, Model, Record, Seq, Set, action, implies, require,
)

Bit = Annotated[int, Between(0, 1)]


class Bee(Identifier, count="bees", prefix="b"):
    \"\"\"One of two.\"\"\"


class Node(Identifier, count="nodes", prefix="n"):
    \"\"\"One of any number.\"\"\"


class Pair(Record):
    \"\"\"A number and a truth value.\"\"\"

    a: Bit
    b: bool


class One(Record):
    \"\"\"A number alone.\"\"\"

    a: Bit


class Base(Model):
    \"\"\"What all bodies have in common.\"\"\"

"""
_LEAVING = ("return", "break", "continue")


@dataclass(frozen=True)
class Template:
    """The context of bodies: ``text`` is a part of a class, with ``{body}`` alone in a line and ``{number}`` in names.

    With ``goes_on``, more statements follow in the same function, so a body that never reaches its end is excluded.
    ``judged`` is whether the body is that of a property instead of an action, ``shared`` whether the compiler shares
    functions among their calls there, as it does with large ones.
    """

    name: str
    text: str
    size: int
    goes_on: bool = True
    judged: bool = False
    shared: bool = False

    def with_body(self, body: Lines, number: int) -> list[str]:
        """The lines of the class, with a body in its place."""
        lines: list[str] = []
        for line in self.text.replace("{number}", str(number)).splitlines():
            if line.strip() == "{body}":
                margin = line[: -len("{body}")]
                lines += [margin + part for part in body]
            else:
                lines.append(line)
        return lines


@dataclass(frozen=True)
class Grammar:
    """Variables, and what bodies about them consist of."""

    name: str
    variables: str
    simple: Lines
    conditions: Lines
    loops: Lines
    places: tuple[Template, ...]

    def source(self, bodies: Sequence[tuple[int, Lines]], place: Template) -> tuple[str, dict[int, range]]:
        """A module with the class ``Programs``, and the lines of each body's part by its number."""
        text = HEADER + self.variables + "\n\nclass Programs(Base):\n    \"\"\"The bodies.\"\"\"\n"
        lines = text.splitlines()
        where = {}
        for number, body in bodies:
            first = len(lines) + 1
            lines += ["", *place.with_body(body, number)]
            where[number] = range(first, len(lines) + 1)
        return "\n".join(lines) + "\n", where

    def bodies(self, place: Template, most: int | None = None) -> list[Lines]:
        """All bodies that stand in a place, the smaller ones first."""
        sizes = range(1, (place.size if most is None else min(most, place.size)) + 1)
        return [body for size in sizes for body in _blocks(self, size, False) if not (place.goes_on and _leaves(body))]


@lru_cache(maxsize=64)
def _blocks(grammar: Grammar, size: int, inside: bool) -> list[Lines]:
    """Every block of so many statements; ``inside`` a loop it may break."""
    found: list[Lines] = [("pass",)] if size == 1 else []
    for first in range(1, size + 1):
        for statement in _statements(grammar, first, inside):
            if first == size:
                found.append(statement)
            elif not _leaves(statement):
                found += [statement + rest for rest in _blocks(grammar, size - first, inside) if rest != ("pass",)]
    return found


@lru_cache(maxsize=64)
def _statements(grammar: Grammar, size: int, inside: bool) -> list[Lines]:
    if size == 1:
        single: list[Lines] = [(line,) for line in (*grammar.simple, *(("break", "continue") if inside else ()))]
        return single
    found: list[Lines] = []
    for condition in grammar.conditions:
        found += [(f"if {condition}:", *_deeper(then)) for then in _blocks(grammar, size - 1, inside)]
        for of_then in range(1, size - 1):
            for then in _blocks(grammar, of_then, inside):
                for otherwise in _blocks(grammar, size - 1 - of_then, inside):
                    if otherwise != ("pass",):
                        found.append((f"if {condition}:", *_deeper(then), "else:", *_deeper(otherwise)))
    for loop in grammar.loops:
        found += [(f"{loop}:", *_deeper(body)) for body in _blocks(grammar, size - 1, True)]
    return found


def _deeper(block: Lines) -> Lines:
    return tuple("    " + line for line in block)


def _leaves(block: Lines) -> bool:
    """Whether a block never reaches its end."""
    last = block[-1]
    if not last.startswith(" "):
        return last.startswith(_LEAVING)
    start = max(at for at, line in enumerate(block) if not line.startswith(" "))
    if block[start] != "else:":
        return False
    first = max(at for at, line in enumerate(block[:start]) if not line.startswith(" "))
    return _leaves(_outer(block[first + 1 : start])) and _leaves(_outer(block[start + 1 :]))


def _outer(block: Lines) -> Lines:
    return tuple(line[4:] for line in block)
