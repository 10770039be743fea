"""KIP-595 over the worst network: messages are late, overtaken, duplicated, or lost.

A message is on time or late. One that is on time arrives in the step in which it is sent; one that is late arrives in
any later state, or never. So a few late messages at a time cover a lot: each of them may arrive at a replica that has
forgotten what it was about. The protocol itself is in model/kraft/quorum.py, where to begin.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Capacity, Constant, Set, action, initial, require
from model.kraft.quorum import Fate, Kind, Kraft, Message, Offset, Replica


class KraftNetwork(Kraft):
    """The quorum over a bad network."""

    delays = Constant(1)
    """How many messages may be late at a time."""
    duplicates = Constant(True)
    """Whether a late message may arrive more than once."""
    partitions = Constant(False)
    """Whether one replica at a time may be partitioned from the others."""

    late: Annotated[Set[Message], Capacity("delays")]
    cut_off: Replica | None

    @initial
    def start(self) -> None:
        super().start()
        self.late = Set()
        self.cut_off = None

    def may_happen(self, fate: Fate) -> bool:
        if fate in (Fate.REQUEST_LATE, Fate.RESPONSE_LATE):
            return len(self.late) < self.delays
        return super().may_happen(fate)

    def send(self, kind: Kind, request: Message, fate: Fate) -> None:
        if fate == Fate.REQUEST_LATE:
            self.late.add(request)
        else:
            super().send(kind, request, fate)

    def answer(self, kind: Kind, response: Message, fate: Fate) -> None:
        if fate == Fate.RESPONSE_LATE:
            self.late.add(response)
        else:
            super().answer(kind, response, fate)

    @action
    def late_request_arrives(self, message: Message, fate: Fate, again: bool) -> None:
        """The environment: a request is late, and may arrive twice (``KafkaRaftClient.handleRequest``)."""
        require(message in self.late and self.is_request(message.kind) and (self.duplicates or not again))
        require(super().may_happen(fate) or (fate == Fate.RESPONSE_LATE and not again))
        self.take(message, again)
        self.send(message.kind, message, fate)

    @action
    def late_response_arrives(self, message: Message, again: bool) -> None:
        """The environment: a response is late (``KafkaRaftClient.handleResponse``)."""
        require(message in self.late and not self.is_request(message.kind) and (self.duplicates or not again))
        self.take(message, again)
        self.handle_response(self.answered_kind(message.kind), message)

    @action
    def late_message_is_lost(self, message: Message) -> None:
        """The environment: a late message is lost."""
        require(message in self.late and self.loss)
        self.late.discard(message)

    def take(self, message: Message, again: bool) -> None:
        """A message arrives, and may arrive ``again``."""
        if not again:
            self.late.discard(message)

    def is_request(self, kind: Kind) -> bool:
        return kind in (Kind.VOTE, Kind.PRE_VOTE, Kind.BEGIN_QUORUM_EPOCH, Kind.END_QUORUM_EPOCH, Kind.FETCH)

    def answered_kind(self, kind: Kind) -> Kind:
        """The kind of request that a response answers, if the response says more than who the current leader is."""
        return Kind.VOTE if kind == Kind.VOTE_GRANTED else Kind.FETCH

    @action
    def replica_restarts(self, replica: Replica, kept: Offset) -> None:
        """The replica's connections are gone as well, and with them the responses to it."""
        super().replica_restarts(replica, kept)
        self.late = Set(
            message for message in self.late if self.is_request(message.kind) or message.destination != replica
        )

    def reaches(self, source: Replica, destination: Replica) -> bool:
        """Messages in flight when a replica was partitioned still arrive."""
        return super().reaches(source, destination) and self.cut_off not in (source, destination)

    @action
    def network_parts(self, replica: Replica) -> None:
        """The environment: a replica is partitioned from all others."""
        require(self.partitions and self.cut_off is None)
        self.cut_off = replica

    @action
    def network_heals(self) -> None:
        """The environment: the partitioned replica is back."""
        require(self.cut_off is not None)
        self.cut_off = None
