"""Reads TOML files; errors name the broken line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from floodmark.language.errors import SourceError


def text_of(path: Path) -> str:
    """The text of a file. Raises SourceError when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", str(path)) from None
    except UnicodeDecodeError:
        raise SourceError("is not UTF-8 text", str(path)) from None


def parse(text: str, path: Path) -> dict[str, Any]:
    """Parses a TOML text. Raises SourceError with the first line that is not valid TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        message = f"this is not valid TOML: {re.sub(r' [(]at .*[)]$', '', str(error))}"
        raise SourceError(message, str(path), int(place[1]) if place else len(text.splitlines())) from None
