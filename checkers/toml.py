"""Reads TOML files; errors name the broken line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from floodmark.checkers import input_file
from floodmark.language.errors import SourceError


def text_of(path: Path) -> str:
    """The text of a file. Raises SourceError when it cannot be read."""
    return input_file.text_of(path)


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
