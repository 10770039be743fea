"""Clusters of Ra that have come so far already, from where a search goes on (model/ra/server.py is where to begin).

What is wrong with a release is many steps away from an empty cluster, and few from here. Each state is one that a
cluster reaches: tests/protocols/test_ra_halfway.py takes the steps. It is written out, because a search compiles what
begins it.
"""

from __future__ import annotations

from floodmark import Constant, Map, Seq, initial, require
from model.ra.server import Batch, Entry, Kind, Message, Position, Ra, Role, Server


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
