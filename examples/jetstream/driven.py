"""The model as a test can drive a real server with it: the first server of the group is real, the model is the others.

What differs from ``JetStreamRaft`` is what a test cannot do, or has to see. A timer that ends within a second ends at
once, because the test could do nothing in between. The real server hands over nothing, and its timer does not end where
that would not show. ``sent`` is what it sent in the last step.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Capacity, Seq, action, initial, require
from model.jetstream.raft import JetStreamRaft, Message, Server


class Driven(JetStreamRaft):
    """What a release does is in ``releases.py``."""

    real: Server | None
    sent: Annotated[Seq[Message], Capacity(8)]
    """As it left the real server: the order of a message is 0."""

    @initial
    def start(self) -> None:
        super().start()
        self.real = None
        for server in Server:
            if self.real is None:
                self.real = server
        self.sent = Seq()

    def send(self, message: Message) -> None:
        super().send(message)
        if message.source == self.real:
            self.sent.append(message.replace(order=0))

    def hurries(self, server: Server) -> None:
        if server == self.real:
            self.stand(server)

    @action
    def message_arrives(self, message: Message) -> None:
        require(message in self.network)
        self.sent = Seq()
        super().message_arrives(message)

    @action
    def message_is_lost(self, message: Message) -> None:
        require(message in self.network)
        self.sent = Seq()
        super().message_is_lost(message)

    @action
    def election_times_out(self, server: Server) -> None:
        catchup = self.catchup[server]
        require(server != self.real or catchup is None or catchup.seen == len(self.log[server]))
        self.sent = Seq()
        super().election_times_out(server)

    @action
    def leader_sends_heartbeat(self, leader: Server) -> None:
        self.sent = Seq()
        super().leader_sends_heartbeat(leader)

    @action
    def client_writes(self, leader: Server) -> None:
        self.sent = Seq()
        super().client_writes(leader)

    @action
    def leader_hands_over(self, leader: Server, successor: Server) -> None:
        require(leader != self.real)
        self.sent = Seq()
        super().leader_hands_over(leader, successor)

    @action
    def server_restarts(self, server: Server) -> None:
        self.sent = Seq()
        super().server_restarts(server)
