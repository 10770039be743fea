"""Compares JSON that a command writes with its schema, where jsonschema is installed."""

from __future__ import annotations

import functools
import json
from importlib.util import find_spec
from typing import Any

from floodmark.checkers.report.schemas import schema_of


@functools.cache
def validator(name: str) -> Any:
    """A validator for objects whose key ``schema`` names this schema."""
    from jsonschema import Draft202012Validator

    schema = schema_of(name)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def require_schema(text: str) -> None:
    """Fails if a text is JSON of a command and differs from its schema."""
    if not text.startswith('{\n "schema": "floodmark.') or find_spec("jsonschema") is None:
        return
    whole = json.loads(text)
    validator(whole["schema"]).validate(whole)
