"""Writes LET definitions: only those that are needed; those used once are inlined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from floodmark.checkers.export.tla_values import bracketed

MAX_INLINED = 60


def with_definitions(definitions: Sequence[tuple[str, str]], text: str, indent: str = "") -> str:
    """``LET definitions IN text``, on separate lines if there is an ``indent``, which other lines of ``text`` then get.

    Names are unique within a text, so a definition can replace its name. Only short ones are inlined, because what is
    inside a quantifier would be evaluated again for each value.
    """
    kept, text = needed_definitions(definitions, text)
    if not kept:
        return text.replace("\n", f"\n{indent}")
    if not indent:
        return "LET " + " ".join(_definition(name, body) for name, body in kept) + f" IN {text}"
    lines = f"\n{indent}    ".join(_definition(name, body) for name, body in kept)
    text = text.replace("\n", f"\n{indent}    ")
    return f"LET {lines}\n{indent}IN  {text}"


def needed_definitions(definitions: Sequence[tuple[str, str]], text: str) -> tuple[list[tuple[str, str]], str]:
    """The definitions that a text needs, and the text with the others inlined."""
    kept: list[tuple[str, str]] = []
    for name, body in reversed(definitions):
        uses = _uses(name, text) + sum(_uses(name, later) for _, later in kept)
        if uses == 0:
            continue
        short = len(body) <= MAX_INLINED and not body.startswith("RECURSIVE")
        if uses == 1 and (short or text == name):
            text = body if text == name else _put(name, body, text)
            kept = [(other, _put(name, body, later)) for other, later in kept]
            continue
        kept.insert(0, (name, body))
    return kept, text


def _definition(name: str, body: str) -> str:
    return body if body.startswith("RECURSIVE") else f"{name} == {body}"


def _uses(name: str, text: str) -> int:
    return sum(1 for _ in _places(name, text))


def _put(name: str, body: str, text: str) -> str:
    for start, end in reversed(list(_places(name, text))):
        text = text[:start] + bracketed(body) + text[end:]
    return text


def _places(name: str, text: str) -> Iterator[tuple[int, int]]:
    """The spans of a name in a text where it is not part of another name, a string or a field of a record."""
    for match in re.finditer(rf"(?<![\w.\"]){re.escape(name)}(?![\w\"])", text):
        before, behind = text[: match.start()], text[match.end() :]
        if not (behind.startswith(" |->") and before.endswith(("[", ", "))):
            yield match.span()
