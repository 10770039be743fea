"""Ra and Erlang, as the user has them: nothing of either is in this repository.

``FLOODMARK_RA_LIBS`` names the folder with the plugins of a RabbitMQ release, /usr/lib/rabbitmq/lib/*/plugins; that of
RabbitMQ 3.10 has ``ra-2.2.0`` in it. ``erl`` is found on the PATH, or ``FLOODMARK_ERLANG`` names the folder of an
Erlang that need not be installed, /usr/lib/erlang.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LIBS, ERLANG = "FLOODMARK_RA_LIBS", "FLOODMARK_ERLANG"


class NoRa(RuntimeError):  # noqa: N818 - it says what is missing
    """Ra cannot be run here."""


@dataclass(frozen=True)
class Library:
    """A release of Ra, and how Erlang is started."""

    version: str
    folder: Path
    """With Ra's compiled modules."""
    erlang: str
    environment: Mapping[str, str]

    def __str__(self) -> str:
        return f"Ra {self.version}"


def library(environment: Mapping[str, str] = os.environ) -> Library:
    """Raises NoRa for what is missing."""
    named = environment.get(LIBS)
    if not named:
        raise NoRa(f"no Ra: set {LIBS} to the plugins folder of RabbitMQ, /usr/lib/rabbitmq/lib/*/plugins")
    found = sorted(Path(named).glob("ra-*/ebin/ra_server.beam"))
    if not found:
        raise NoRa(f"{LIBS}: {named} has no ra-*/ebin/ra_server.beam; name the plugins folder of RabbitMQ")
    folder = found[-1].parent
    version = folder.parent.name.removeprefix("ra-")
    root = environment.get(ERLANG)
    if not root:
        erlang = shutil.which("erl", path=environment.get("PATH"))
        if erlang is None:
            raise NoRa(f"no Erlang: put erl on the PATH, or set {ERLANG} to the folder of Erlang, /usr/lib/erlang")
        return Library(version, folder, erlang, environment)
    programs = sorted(Path(root).glob("erts-*/bin/erlexec"))
    if not programs:
        raise NoRa(f"{ERLANG}: {root} has no erts-*/bin/erlexec; name the folder of Erlang")
    places = {"ROOTDIR": str(Path(root).resolve()), "BINDIR": str(programs[-1].parent.resolve())}
    return Library(
        version, folder, str(programs[-1]), {**environment, **places, "EMU": "beam", "PROGNAME": "erl"}
    )


def missing(environment: Mapping[str, str] = os.environ) -> str | None:
    """Why Ra cannot be run, and what to do; None if it can."""
    try:
        library(environment)
    except NoRa as reason:
        return str(reason)
    return None
