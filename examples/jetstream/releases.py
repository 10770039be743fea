"""The releases that are known here, each as it is, and each with one rule changed.

A server has to take every run of its release's model. A model that has a known bug where the release does not, or lacks
one that it has, is contradicted by the server: so each bug is told apart in each release.
"""

from __future__ import annotations

from driven import Driven
from library import NoServer

from model.jetstream.raft import JetStreamRaft, Message, Server
from specs.jetstream.flawed import CountsEarlierTerms, Release2121, Release2125, TakesBackVote


class Driven2121(Driven, Release2121):
    """2.12.1."""


class Driven2125(Driven, Release2125):
    """2.12.5."""


class Driven2151(Driven):
    """2.15.1."""


class Repaired7955(JetStreamRaft):
    """A leader counts answers about entries of its own term only."""

    def counts(self, leader: Server, message: Message) -> bool:
        return JetStreamRaft.counts(self, leader, message)


class KeepsVote(JetStreamRaft):
    """A follower keeps its vote when the leadership goes to another."""

    def take_back_vote(self, server: Server) -> None:
        JetStreamRaft.take_back_vote(self, server)


class Driven2121Without7955(Repaired7955, Driven2121):
    pass


class Driven2121KeepsVote(KeepsVote, Driven2121):
    pass


class Driven2125Without7955(Repaired7955, Driven2125):
    pass


class Driven2125TakesBackVote(TakesBackVote, Driven2125):
    pass


class Driven2151With7955(CountsEarlierTerms, Driven2151):
    pass


class Driven2151TakesBackVote(TakesBackVote, Driven2151):
    pass


RELEASES: dict[str, type[Driven]] = {"2.12.1": Driven2121, "2.12.5": Driven2125, "2.15.1": Driven2151}
HAS: dict[str, dict[str, bool]] = {
    "7955": {"2.12.1": True, "2.12.5": True, "2.15.1": False},
    "bf8ebe7dd": {"2.12.1": True, "2.12.5": False, "2.15.1": False},
}
"""Which release has which bug, by its number in the tracker or the commit that repaired it."""
CHANGED: dict[tuple[str, str], type[Driven]] = {
    ("2.12.1", "7955"): Driven2121Without7955, ("2.12.1", "bf8ebe7dd"): Driven2121KeepsVote,
    ("2.12.5", "7955"): Driven2125Without7955, ("2.12.5", "bf8ebe7dd"): Driven2125TakesBackVote,
    ("2.15.1", "7955"): Driven2151With7955, ("2.15.1", "bf8ebe7dd"): Driven2151TakesBackVote,
}
"""The model of a release with one bug changed: without it where the release has it, with it where it has not."""


def known_model(version: str) -> str:
    """The release itself, if its rules are known here. Raises NoServer for another one: patches change the rules (as
    read, 2.12.4, 2.12.6 and 2.12.8 each repair one), so a right server would look wrong.
    """
    if version not in RELEASES:
        raise NoServer(f"nats-server {version}: its rules are not known here; those of {', '.join(RELEASES)} are")
    return version
