"""The jars of Kafka that the user names: ``FLOODMARK_KAFKA_LIBS=/opt/kafka/libs``, of an unpacked release.

Several folders, separated as in PATH, are several versions. Nothing of Kafka is in this repository.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

VARIABLE = "FLOODMARK_KAFKA_LIBS"
_PROPERTIES = "kafka/kafka-version.properties"
_NEEDED = ("kafka-clients", "kafka-metadata", "kafka-server-common")


class NoKafka(RuntimeError):  # noqa: N818 - it says what is missing
    """Kafka's classes cannot be loaded here."""


@dataclass(frozen=True)
class Libraries:
    """The jars of one version of Kafka, and that version, as its jars say it."""

    folder: Path
    version: str
    commit: str
    jars: tuple[Path, ...]

    def __str__(self) -> str:
        return f"Kafka {self.version} ({self.commit})"

    @property
    def number(self) -> tuple[int, ...]:
        """(4, 1) for 4.1.0-SNAPSHOT: what decides how the classes of a version are called."""
        return tuple(int(part) for part in re.findall(r"\d+", self.version)[:2])


def libraries(environment: Mapping[str, str] = os.environ) -> list[Libraries]:
    """The versions that the variable names, in its order. Raises NoKafka if there is none, or one is no Kafka."""
    named = [each for each in environment.get(VARIABLE, "").split(os.pathsep) if each]
    if not named:
        raise NoKafka(f"no classes of Kafka: set {VARIABLE} to the libs folder of an unpacked release, /opt/kafka/libs")
    if find_spec("jpype") is None:
        raise NoKafka('JPype is not installed; run: pip install "floodmark[kafka]"')
    return [_read(Path(each)) for each in named]


def missing(environment: Mapping[str, str] = os.environ) -> str | None:
    """Why Kafka's classes cannot be loaded, and what to do; None if they can."""
    try:
        libraries(environment)
    except NoKafka as reason:
        return str(reason)
    return None


def _read(folder: Path) -> Libraries:
    jars = tuple(sorted(folder.glob("*.jar")))
    lacking = [name for name in _NEEDED if not any(jar.name.startswith(name) for jar in jars)]
    if lacking:
        raise NoKafka(f"{VARIABLE}: {folder} has no {lacking[0]}-*.jar; name the libs folder of an unpacked release")
    for jar in jars:
        if jar.name.startswith("kafka-clients"):
            with zipfile.ZipFile(jar) as archive:
                if _PROPERTIES in archive.namelist():
                    found = dict(re.findall(r"^(\w+)=(.*?)\s*$", archive.read(_PROPERTIES).decode(), re.MULTILINE))
                    return Libraries(folder, found["version"], found.get("commitId", "unknown"), jars)
    raise NoKafka(f"{VARIABLE}: the jars in {folder} do not say their version ({_PROPERTIES} in kafka-clients-*.jar)")
