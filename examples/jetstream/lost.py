"""The model of a release for hunts of lost writes (``hunt.py``): a quiet network, and properties half-way.

A hunt among five servers has to be spared what changes nothing. So messages are lost that would be refused or ignored
when they are sent, and those that become so because a server enters a later term; so are heartbeats. A network may do
that, so a run of this model is one of the protocol, and a server can take it.
"""

from __future__ import annotations

from driven import Driven
from releases import Repaired7955

from floodmark import invariant
from model.jetstream.raft import Inbox, Kind, Message, Role, Server, Term
from specs.jetstream.flawed import Release2121, Release2125


class Quiet(Driven):
    """Loses what is of no use."""

    def send(self, message: Message) -> None:
        if self.is_useful(message):
            super().send(message)
        elif message.source == self.real:
            self.sent.append(message.replace(order=0))

    def is_useful(self, message: Message) -> bool:
        server = message.destination
        if message.kind == Kind.VOTE_REQUEST:
            useful = message.term > self.term[server] and self.is_up_to_date(server, message)
        elif message.kind == Kind.VOTE_RESPONSE:
            useful = message.success
        elif message.kind == Kind.APPEND_ENTRY_RESPONSE:
            useful = (message.success and message.index > self.commit[server]) or message.inbox == Inbox.OPEN
        else:
            useful = message.term >= self.term[server] and message.entry is not None
        return useful

    def enter_term(self, server: Server, term: Term) -> None:
        super().enter_term(server, term)
        self.forget_earlier(server, term)

    def stand(self, server: Server) -> None:
        self.forget_earlier(server, self.term[server] + 1)
        super().stand(server)

    def is_over(self, message: Message, server: Server, term: int) -> bool:
        """The server has left the term of this message."""
        return message.term < term and (
            (message.destination == server and message.kind != Kind.APPEND_ENTRY_RESPONSE)
            or (message.source == server and message.kind == Kind.VOTE_REQUEST)
        )

    def forget_earlier(self, server: Server, term: int) -> None:
        for message in self.network:
            if self.is_over(message, server, term):
                self.take_out(message)


class HalfWay(Quiet):
    """Properties that are false half-way. It is the real server that will lose an entry."""

    def is_outlived(self, message: Message) -> bool:
        """The real server will hear that a member has an entry which the member has no longer."""
        return (
            message.kind == Kind.APPEND_ENTRY_RESPONSE and message.success and message.destination == self.real
            and message.term < self.term[message.destination]
            and message.index > len(self.log[message.source])
        )

    @invariant
    def no_answer_outlives_its_entry(self) -> bool:
        """Nor has the real server such an entry."""
        return all(
            not self.is_outlived(message) or message.index <= len(self.log[message.destination])
            for message in self.network
        )

    @invariant
    def no_answer_outlives_two_entries(self) -> bool:
        """Two, because a leader begins with an entry of its own."""
        return all(
            not self.is_outlived(message) or message.index <= len(self.log[message.destination]) + 1
            for message in self.network
        )

    @invariant
    def no_leader_hears_of_what_is_gone(self) -> bool:
        """It leads again, and has another entry at that index."""
        return all(
            not self.is_outlived(message) or self.role[message.destination] != Role.LEADER
            or self.log[message.destination][message.index - 1].term != self.term[message.destination]
            for message in self.network
            if message.index <= len(self.log[message.destination])
        )

    @invariant
    def no_leader_serves_before_what_is_gone(self) -> bool:
        """It leads again, serves clients, and the next write gets that index."""
        return all(
            not self.is_outlived(message) or self.role[message.destination] != Role.LEADER
            or self.commit[message.destination] < self.floor[message.destination]
            or message.index != len(self.log[message.destination]) + 1
            for message in self.network
        )

    def is_told_by_real_server(self, write: int) -> bool:
        """A client of the real server was told: it led the term of the write."""
        return write in self.acknowledged and any(
            entry.write == write and self.elected[entry.term] == self.real for entry in self.committed
        )

    @invariant
    def real_server_keeps_what_it_acknowledged(self) -> bool:
        """False when it follows the leader that lacks the write."""
        return all(
            not self.is_told_by_real_server(write) or any(entry.write == write for entry in self.log[server])
            for server in Server
            if server == self.real
            for write in range(1, self.max_writes + 1)
        )


class HalfWay2125(HalfWay, Release2125):
    """2.12.5."""


class HalfWay2121(HalfWay, Release2121):
    """2.12.1."""


class HalfWay2125Without7955(Repaired7955, HalfWay2125):
    pass


class HalfWay2121Without7955(Repaired7955, HalfWay2121):
    pass


RELEASES: dict[str, type[HalfWay]] = {"2.12.1": HalfWay2121, "2.12.5": HalfWay2125, "2.15.1": HalfWay}
REPAIRED: dict[str, type[HalfWay]] = {"2.12.1": HalfWay2121Without7955, "2.12.5": HalfWay2125Without7955}
