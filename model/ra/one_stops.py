"""A cluster of Ra of which one server stops for good, and the others are treated fairly (server.py is where to begin).

Fair means: after the stop all that happens by itself comes before a timer ends, and timers end in turns. So if no
leader is elected in ``max_turns`` timers, time alone does not help.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Seq, action, initial, require
from model.ra.server import Entry, Position, Ra, Role, Server

EarlyTerm = Annotated[int, Between(1, 2)]


class OneStops(Ra):
    """Budgets of the cluster are those before the stop."""

    max_turns = Constant(8)
    """How many timers end after the stop."""

    turns: Annotated[int, Between(0, "max_turns")] = 0
    waits: Server | None = None
    """Whose timer has ended last; the next one is another's."""

    def has_stopped(self) -> bool:
        return any(self.role[server] == Role.CRASHED for server in Server)

    def is_led(self) -> bool:
        return any(self.role[server] == Role.LEADER for server in Server)

    def is_quiet(self) -> bool:
        """Nothing happens by itself."""
        return all(
            self.role[server] != Role.AWAIT_CONDITION
            and (self.role[server] == Role.CRASHED or len(self.waiting[server]) == 0)
            and all(len(self.links[server][peer]) == 0 for peer in Server)
            for server in Server
        )

    @action
    def server_stops(self, server: Server) -> None:
        """What it has sent still arrives. The environment: a machine is lost."""
        require(not self.has_stopped())
        self.crash(server)

    @action
    def election_times_out(self, server: Server) -> None:
        """Ra: election_timeout in ra_server:handle_follower, handle_pre_vote and handle_candidate."""
        if self.has_stopped():
            require(self.role[server] not in (Role.LEADER, Role.CRASHED) and self.turns < self.max_turns)
            require(self.is_quiet() and not self.is_led() and self.waits != server)
            self.turns += 1
            self.waits = server
            self.begin_election(server)
        else:
            super().election_times_out(server)

    @action
    def patience_ends(self, server: Server) -> None:
        """Ra: await_condition_timeout."""
        if self.has_stopped():
            require(self.role[server] == Role.AWAIT_CONDITION)
            self.ask_again(server)
        else:
            super().patience_ends(server)


class TwoLeft(OneStops):
    """It begins as a new cluster, or after the stop, when nothing happens by itself. The others have asked for votes,
    or not, and one of them has the first entry of a leader. Not each of these states is one that a cluster reaches.
    """

    max_term = Constant(8)
    max_log = Constant(3)
    max_writes = Constant(0)
    max_losses = Constant(0)
    max_timeouts = Constant(0)
    max_ticks = Constant(0)

    @initial
    def begin(
        self, stopped: Server, first: Role, first_term: EarlyTerm, second: Role, second_term: EarlyTerm,
        longer: Server,
    ) -> None:
        require(longer != stopped)
        require(first in (Role.FOLLOWER, Role.PRE_VOTE, Role.CANDIDATE))
        require(second in (Role.FOLLOWER, Role.PRE_VOTE, Role.CANDIDATE))
        noop = Seq([Entry(term=1, write=0)])
        super().start()
        for server in Server:
            self.role[server] = Role.CRASHED if server == stopped else first if server == longer else second
            self.term[server] = first_term if server == longer else second_term
            if server != stopped and self.role[server] != Role.FOLLOWER:
                self.voted[server] = server
                self.votes[server] = 1
            self.stored_vote[server] = self.voted[server]
        self.logs[longer] = noop
        self.stored[longer] = noop
        self.written[longer] = Position(index=1, term=1)
