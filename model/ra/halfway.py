"""Clusters of Ra that have come so far already, from where a search goes on (model/ra/server.py is where to begin).

What is wrong with a release is many steps away from an empty cluster, and few from here. Each state is one that a
cluster reaches: tests/protocols/test_ra_halfway.py takes the steps. It is written out, because a search compiles what
begins it.
"""

from __future__ import annotations

from floodmark import Constant, Map, Seq, initial, require, rule
from model.ra.server import Batch, Entry, Kind, Log, Message, Position, Ra, Role, Server


class Halfway(Ra):
    """What the beginnings have in common. Budgets count from here."""

    max_losses = Constant(0)
    max_timeouts = Constant(0)
    max_ticks = Constant(0)
    in_flight = Constant(4)
    unwritten = Constant(3)


class ReplacedEntry(Halfway):
    """The third server led term 1, and has a write that nobody else has. The second leads term 2, and has committed
    another entry there. The third has refused its entries; it may send again, beginning with the first (#508).
    """

    max_log = Constant(4)
    max_writes = Constant(3)

    @initial
    def begin(self, first: Server, second: Server, third: Server) -> None:
        require(first != second and second != third and third != first)
        noop = Entry(term=1, write=0)
        log = Seq([noop, Entry(term=2, write=0), Entry(term=2, write=2)])
        lost = Seq([noop, Entry(term=1, write=1)])
        refusal = Message(kind=Kind.APPEND_ENTRIES_REPLY, term=2, next=1)
        super().start()
        for server in Server:
            self.term[server] = 2
            self.leader[server] = second
            self.voted[server] = None if server == third else second
            self.stored_vote[server] = self.voted[server]
            self.logs[server] = lost if server == third else log
        self.role[second] = Role.LEADER
        self.role[third] = Role.AWAIT_CONDITION
        self.written[first] = Position(index=3, term=2)
        self.written[second] = Position(index=2, term=2)
        self.waiting[second] = Seq([Batch(first=3, entries=log[2:])])
        self.waiting[third] = Seq([Batch(first=1, entries=lost[:1]), Batch(first=2, entries=lost[1:])])
        self.stored[first] = log
        self.stored[second] = log[:2]
        self.commit[second] = 2
        self.applied[second] = 2
        self.machine[second] = log[:2]
        self.next_index[second] = Map({
            peer: 4 if peer == first else 1 if peer == third else 0 for peer in Server
        })
        self.match_index[second] = Map({peer: 3 if peer == first else 0 for peer in Server})
        self.commit_sent[second] = Map({peer: 2 if peer == first else 0 for peer in Server})
        self.repeated[third] = refusal
        self.asked[third] = second
        self.links[second][third] = Seq([
            Message(kind=Kind.APPEND_ENTRIES_REPLY, term=2, index=1, log_term=1, next=4)
        ])
        self.writes = 2
        self.elected[1] = third
        self.elected[2] = second
        self.committed = log[:2]


class DeposedLeader(Halfway):
    """The first server led term 1, and has two writes that nobody else has; one of them is on its disk. The second
    leads term 2, and its first entry is on the way to the first (#516, #637).
    """

    max_writes = Constant(2)
    max_ticks = Constant(1)

    @initial
    def begin(self, first: Server, second: Server, third: Server) -> None:
        require(first != second and second != third and third != first)
        noop = Entry(term=1, write=0)
        own = Seq([noop, Entry(term=1, write=1), Entry(term=1, write=2)])
        log = Seq([noop, Entry(term=2, write=0)])
        sent = Message(kind=Kind.APPEND_ENTRIES_RPC, term=2, index=1, log_term=1, entries=log[1:])
        super().start()
        for server in Server:
            self.term[server] = 1 if server == first else 2
            self.voted[server] = first if server == first else second
            self.stored_vote[server] = self.voted[server]
            self.leader[server] = second if server == second else first
            self.written[server] = Position(index=1, term=1)
            self.logs[server] = Seq([noop])
            self.stored[server] = Seq([noop])
        self.role[first] = Role.LEADER
        self.role[second] = Role.LEADER
        self.logs[first] = own
        self.logs[second] = log
        self.written[first] = Position(index=2, term=1)
        self.waiting[first] = Seq([Batch(first=3, entries=own[2:])])
        self.waiting[second] = Seq([Batch(first=2, entries=log[1:])])
        self.stored[first] = own[:2]
        self.next_index[first] = Map({peer: 0 if peer == first else 4 for peer in Server})
        self.next_index[second] = Map({peer: 0 if peer == second else 3 for peer in Server})
        self.links[second][first] = Seq([sent])
        self.writes = 2
        self.elected[1] = first
        self.elected[2] = second


class ReplacedChange(Halfway):
    """The first server led term 1, and has lost its last entry in a restart, a change of the cluster. Only the third
    has that entry (#600).

    The last write stands for the change: another server joins, which is never started. A server follows the newest
    change in its log, committed or not.
    """

    max_log = Constant(3)
    max_timeouts = Constant(1)

    changed: Map[Server, Position | None]
    """cluster_index_term of a change."""

    @initial
    def start(self) -> None:
        super().start()
        self.changed = Map({server: None for server in Server})
        self.writes = self.max_writes

    @initial
    def begin(self, first: Server, second: Server, third: Server) -> None:
        require(first != second and second != third and third != first)
        noop = Seq([Entry(term=1, write=0)])
        change = Seq([Entry(term=1, write=self.max_writes)])
        self.start()
        for server in Server:
            self.term[server] = 1
            self.voted[server] = first
            self.stored_vote[server] = first
            self.logs[server] = noop + change if server == third else noop
            self.stored[server] = Seq() if server == third else noop
            self.written[server] = Position(index=0, term=0) if server == third else Position(index=1, term=1)
        self.leader[third] = first
        self.waiting[third] = Seq([Batch(first=1, entries=noop), Batch(first=2, entries=change)])
        self.commit[third] = 1
        self.applied[third] = 1
        self.machine[third] = noop
        self.changed[third] = Position(index=2, term=1)
        self.elected[1] = first
        self.committed = noop

    def size(self, server: Server) -> int:
        return self.servers if self.changed[server] is None else self.servers + 1

    @rule
    def remembers_cluster(self) -> bool:
        """A follower that takes a change of the cluster keeps what was before it (previous_cluster, #600)."""
        return True

    def follow(self, server: Server, source: Server, message: Message) -> None:
        if self.replaces_change(server, message) and not self.remembers_cluster():
            self.update_term(server, message.term)
            self.crash(server)
        else:
            super().follow(server, source, message)

    def replaces_change(self, server: Server, message: Message) -> bool:
        """An entry of another term comes where the server has a change (pre_append_log_follower)."""
        change = self.changed[server]
        fits = self.has(server, message.index) and self.term_at(server, message.index) == message.log_term
        return change is not None and fits and any(
            message.index + number == change.index and entry.term != change.term
            for number, entry in enumerate(message.entries, 1)
        )

    def write(self, server: Server, first: int, entries: Log) -> None:
        """The server takes over changes; where it had one, it goes back to the cluster of before."""
        super().write(server, first, entries)
        change = self.changed[server]
        for place, entry in enumerate(entries):
            if entry.write == self.max_writes:
                self.changed[server] = Position(index=first + place, term=entry.term)
            elif change is not None and change.index == first + place and entry.term != change.term:
                self.changed[server] = None

    def forget(self, server: Server, role: Role) -> None:
        super().forget(server, role)
        self.changed[server] = None
