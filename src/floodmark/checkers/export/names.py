"""Names and places in an exported text: names are unique, and legal in the target language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from floodmark.compiler.ir import Position


class Names:
    """Hands out names. No name is handed out twice, so nothing hides anything else."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self._taken = set(reserved)

    def fresh(self, name: str) -> str:
        """A legal form of ``name``, with a number appended if it is taken."""
        base = legal(name)
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def inner(self) -> Names:
        """The names inside one definition: different from those outside, and free again in the next definition."""
        return Names(self._taken)


def legal(text: str) -> str:
    """A name of letters, digits and underscores that begins with a letter and with no prefix that has a meaning."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return name if re.match(r"[A-Za-z]", name) and not re.match(r"[WS]F_", name) else f"v_{name}"


def shown(at: Position) -> str:
    """A place in a source file, with a relative path if it is below the current folder."""
    path = Path(at.file)
    here = Path.cwd()
    return f"{path.relative_to(here) if path.is_relative_to(here) else path.name}:{at.line}"
