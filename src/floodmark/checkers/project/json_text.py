"""Parses JSON from users' files; a text that is not JSON is an error, however strange."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

Pairs = Sequence[tuple[str, Any]]


class NotJsonError(Exception):
    """Why a text is not JSON; ``line`` and ``column`` count from 1, as far as they are known."""

    def __init__(self, why: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(why)
        self.line = line
        self.column = column


def parse(text: str | bytes, pairs: Callable[[Pairs], Any] | None = None) -> Any:
    """The value of a JSON text; ``pairs`` makes what an object becomes. Raises NotJsonError.

    NaN and infinities are refused: JSON has none, although Python's parser accepts them.
    """
    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise NotJsonError(error.msg, error.lineno, error.colno) from None
    except UnicodeDecodeError:
        raise NotJsonError("it is not UTF-8 text") from None
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except ValueError:  # an integer with more digits than Python converts
        raise NotJsonError("a number has too many digits") from None


def _no_constant(name: str) -> Any:
    raise NotJsonError(f"{name} is not a number")
