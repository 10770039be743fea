"""A small repository under git, to be edited: the lease of the README with a known-bad design."""

from __future__ import annotations

import subprocess
from pathlib import Path

LEASE = '''
from typing import Annotated

from floodmark import (
    Between, Constant, Identifier, Map, Model, action, boundary, initial, invariant, require, rule,
)

Time = Annotated[int, Between(0, "duration")]


class Client(Identifier, count="clients", prefix="c"):
    """A client that wants the lease."""


class Lease(Model):
    """One lease at a time."""

    clients = Constant(2)
    duration = Constant(2)
    granted: Time = 0
    believed: Map[Client, Time]

    @initial
    def start(self) -> None:
        self.believed = Map({client: 0 for client in Client})

    @rule
    def is_free(self) -> bool:
        return self.granted == 0

    @action
    def server_grants(self, client: Client) -> None:
        require(self.is_free())
        self.granted = self.duration
        self.believed[client] = self.duration

    @action
    def time_passes(self) -> None:
        self.granted = max(0, self.granted - 1)
        self.believed = Map({client: max(0, self.believed[client] - 1) for client in Client})


class GrantsEarly(Lease):
    """Grants the lease while somebody may believe to have it."""

    def is_free(self) -> bool:
        return self.granted <= 1


@invariant
def one_holder(model: Lease) -> bool:
    """At most one client believes that it has the lease."""
    return sum(1 for client in Client if model.believed[client] > 0) <= 1


@invariant
def never_longer(model: Lease) -> bool:
    """No client believes to have it for longer than the server."""
    return all(model.believed[client] <= model.granted for client in Client)
'''
SPEC = """model = "lease.py:Lease"

[constants]
clients = 3

[[flawed]]
class = "lease.py:GrantsEarly"
property = "one_holder"
"""


class Repository:
    """A repository with one commit, called ``main``."""

    def __init__(self, root: Path, model: str = LEASE, spec: str = SPEC) -> None:
        self.root = root
        self.specs = root / "specs"
        self.specs.mkdir(parents=True)
        self.model, self.spec = self.specs / "lease.py", self.specs / "lease.toml"
        self.model.write_text(model)
        self.spec.write_text(spec)
        self.git("init", "-q", "-b", "main")
        self.commit("first")

    def git(self, *words: str) -> str:
        settings = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *settings, *words], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def edit(self, old: str, new: str, file: Path | None = None) -> None:
        """Replaces a text that is there."""
        file = file or self.model
        text = file.read_text()
        assert old in text, old
        file.write_text(text.replace(old, new))
