"""The JSON schemas of the commands' ``--json`` output, a file for each value of the key ``schema``.

``results.json`` is ``floodmark.results/1``, and so on. The number grows with each change that breaks readers of the
earlier form; pure additions keep it. ``floodmark schema`` prints them.
"""

from __future__ import annotations

import importlib.resources
import json
from typing import Any

KINDS = ("results", "progress", "mutation", "traces", "metadata-log", "plan", "edits")


def schema_text(kind: str) -> str:
    """The schema of a kind of output, as JSON."""
    return importlib.resources.files(__name__).joinpath(f"{kind}.json").read_text(encoding="utf-8")


def schema_of(name: str) -> dict[str, Any]:
    """The schema for a value of the key ``schema``, such as ``floodmark.results/1``. Raises KeyError for another."""
    kind = name.removeprefix("floodmark.").partition("/")[0]
    if kind not in KINDS:
        raise KeyError(name)
    found: dict[str, Any] = json.loads(schema_text(kind))
    if found["properties"]["schema"]["const"] != name:
        raise KeyError(name)
    return found
