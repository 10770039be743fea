"""Parses TOML, with errors that name the line, and writes values on one line."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from floodmark.language.errors import SourceError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse(text: str, path: Path) -> dict[str, Any]:
    """Parses a TOML text. Raises SourceError with the first line that is not valid TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        message = f"this is not valid TOML: {re.sub(r' [(]at .*[)]$', '', str(error))}"
        raise SourceError(message, str(path), int(place[1]) if place else len(text.splitlines())) from None
    except ValueError:  # an integer with more digits than Python converts
        raise SourceError("this is not valid TOML: a number has too many digits", str(path)) from None
    except RecursionError:
        raise SourceError("this is not TOML that can be read: it is nested too deeply", str(path)) from None


def key(name: str) -> str:
    """A key, in quotes if it needs them."""
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def inline(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        inner = ", ".join(f"{key(name)} = {inline(item)}" for name, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)  # TOML writes strings, numbers and booleans the same way
