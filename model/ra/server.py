"""Raft as RabbitMQ's Ra has it: pre-votes, a write-ahead log that writes later, and messages sent ahead of the answers.

Start here. ``Ra`` is the protocol with repairs for what is wrong with release 2.2.0, one rule each;
``specs/ra/flawed.py`` has the rules as they were released. ``halfway.py`` has clusters that have come far already,
``one_stops.py`` one of which a server stops. Names are those of ``ra_server`` and ``ra_log`` where they say what they
mean. An entry's index counts from 1; every log begins with an entry of index 0 and term 0, which is not in ``logs``.

A step is one event of a server, with all that it tells itself in it. Servers send over ordered links that may lose any
message. Timers, ticks, losses and restarts have budgets. Left out are snapshots, changes of the membership, consistent
queries, and leadership transfer.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    initial,
    require,
    rule,
)


class Server(Identifier, count="servers", prefix="n"):
    """A member of the cluster."""


Term = Annotated[int, Between(0, "max_term")]
Index = Annotated[int, Between(0, "max_log")]
NextIndex = Annotated[int, Between(0, "max_log + 1")]
Write = Annotated[int, Between(0, "max_writes")]
"""A client's command; 0 is the noop with which a leader begins its term."""


class Entry(Record):
    """An entry of a log; its index is its position."""

    term: Term
    write: Write


Log = Annotated[Seq[Entry], Capacity("max_log")]


class Position(Record):
    """An index and the term of the entry there (ra_idxterm)."""

    index: Index
    term: Term


class Batch(Record):
    """Entries that ra_log has given to the write-ahead log in one call, the first of them at index ``first``."""

    first: Index
    entries: Log


class Role(Enum):
    """The states of ra_server_proc; CRASHED is a process that an exception has ended."""

    FOLLOWER = "follower"
    PRE_VOTE = "pre_vote"
    CANDIDATE = "candidate"
    LEADER = "leader"
    AWAIT_CONDITION = "await_condition"
    """A follower that has asked its leader for entries, and waits for entries that fit."""
    CRASHED = "crashed"


class Kind(Enum):
    """The messages, as in ra.hrl."""

    APPEND_ENTRIES_RPC = "append_entries_rpc"
    APPEND_ENTRIES_REPLY = "append_entries_reply"
    REQUEST_VOTE_RPC = "request_vote_rpc"
    REQUEST_VOTE_RESULT = "request_vote_result"
    PRE_VOTE_RPC = "pre_vote_rpc"
    PRE_VOTE_RESULT = "pre_vote_result"


class Message(Record):
    """A message; fields that its kind does not use are 0, empty or False."""

    kind: Kind
    term: Term
    index: Index = 0
    """prev_log_index of entries, last_log_index of a request, last_index of a reply."""
    log_term: Term = 0
    """The term of the entry at ``index``, as the sender sees it."""
    commit: Index = 0
    entries: Log = Seq()
    next: NextIndex = 0
    success: bool = False
    """Also whether a vote is granted."""
    current: bool = False
    """Whether a pre-vote's token is that of the asking server's last round."""


class Ra(Model):
    """A cluster and the clients of its leaders."""

    servers = Constant(3)
    max_term = Constant(2)
    max_log = Constant(3)
    max_writes = Constant(1)
    in_flight = Constant(3)
    """How many messages a link holds."""
    unwritten = Constant(2)
    """How many calls the write-ahead log may lag behind."""
    max_losses = Constant(1)
    max_restarts = Constant(0)
    max_timeouts = Constant(4)
    """How often a timer ends: that of an election, or of a follower that waits for entries."""
    max_ticks = Constant(1)
    max_suspensions = Constant(0)
    """How often a link is so busy that its sender waits."""

    role: Map[Server, Role]
    term: Map[Server, Term]
    voted: Map[Server, Server | None]
    """voted_for, as the server remembers it."""
    stored_vote: Map[Server, Server | None]
    """voted_for, as a restart finds it. The term is always stored."""
    votes: Map[Server, Annotated[int, Between(0, "servers")]]
    leader: Map[Server, Server | None]
    """leader_id: whom a follower answers."""
    logs: Map[Server, Log]
    written: Map[Server, Position]
    """last_written: how far the server believes its log to be on disk."""
    waiting: Map[Server, Annotated[Seq[Batch], Capacity("unwritten")]]
    """What the write-ahead log has not written yet."""
    stored: Map[Server, Log]
    """What a restart finds."""
    resent: Map[Server, bool]
    """Whether ra_log has filled a gap by writing again, which it does once in 20 seconds."""
    commit: Map[Server, Index]
    applied: Map[Server, Index]
    machine: Map[Server, Log]
    """The entries that the server has applied, in their order."""
    next_index: Map[Server, Map[Server, NextIndex]]
    match_index: Map[Server, Map[Server, Index]]
    commit_sent: Map[Server, Map[Server, Index]]
    """commit_index_sent. Like the two above it is 0 while a server does not lead."""
    suspended: Map[Server, Set[Server]]
    """The peers to which a leader sends nothing, because its last message to them has not left yet."""
    lacks: Map[Server, bool]
    """Whether a follower in AWAIT_CONDITION lacks an entry, rather than having one of another term."""
    repeated: Map[Server, Message | None]
    """What a follower in AWAIT_CONDITION says again when its patience ends."""
    asked: Map[Server, Server | None]
    """Whom it says that to."""

    links: Map[Server, Map[Server, Annotated[Seq[Message], Capacity("in_flight")]]]
    losses: Annotated[int, Between(0, "max_losses")]
    restarts: Annotated[int, Between(0, "max_restarts")]
    timeouts: Annotated[int, Between(0, "max_timeouts")]
    ticks: Annotated[int, Between(0, "max_ticks")]
    suspensions: Annotated[int, Between(0, "max_suspensions")]
    writes: Write
    """How many writes there have been."""

    elected: Map[Term, Server | None]
    """History: who first became leader of each term."""
    committed: Log
    """History: the longest log that any leader has called committed."""
    acknowledged: Set[Write]
    """History: the writes that clients were told had succeeded."""

    @initial
    def start(self) -> None:
        """A new cluster."""
        self.role = Map({server: Role.FOLLOWER for server in Server})
        self.term = Map({server: 0 for server in Server})
        self.voted = Map({server: None for server in Server})
        self.stored_vote = Map({server: None for server in Server})
        self.votes = Map({server: 0 for server in Server})
        self.leader = Map({server: None for server in Server})
        self.logs = Map({server: Seq() for server in Server})
        self.written = Map({server: Position(index=0, term=0) for server in Server})
        self.waiting = Map({server: Seq() for server in Server})
        self.stored = Map({server: Seq() for server in Server})
        self.resent = Map({server: False for server in Server})
        self.commit = Map({server: 0 for server in Server})
        self.applied = Map({server: 0 for server in Server})
        self.machine = Map({server: Seq() for server in Server})
        self.next_index = Map({server: Map({peer: 0 for peer in Server}) for server in Server})
        self.match_index = Map({server: Map({peer: 0 for peer in Server}) for server in Server})
        self.commit_sent = Map({server: Map({peer: 0 for peer in Server}) for server in Server})
        self.suspended = Map({server: Set() for server in Server})
        self.lacks = Map({server: False for server in Server})
        self.repeated = Map({server: None for server in Server})
        self.asked = Map({server: None for server in Server})
        self.links = Map({server: Map({peer: Seq() for peer in Server}) for server in Server})
        self.losses = 0
        self.restarts = 0
        self.timeouts = 0
        self.ticks = 0
        self.suspensions = 0
        self.writes = 0
        self.elected = Map({term: None for term in range(self.max_term + 1)})
        self.committed = Seq()
        self.acknowledged = Set()

    # The network.

    def send(self, source: Server, destination: Server, message: Message) -> None:
        require(len(self.links[source][destination]) < self.in_flight)
        self.links[source][destination].append(message)

    @action
    def message_arrives(self, source: Server, destination: Server) -> None:
        require(len(self.links[source][destination]) > 0)
        message = self.links[source][destination][0]
        self.links[source][destination] = self.links[source][destination][1:]
        if self.role[destination] != Role.CRASHED:
            if message.kind == Kind.APPEND_ENTRIES_RPC:
                self.handle_append_entries_rpc(destination, source, message)
            elif message.kind == Kind.APPEND_ENTRIES_REPLY:
                self.handle_append_entries_reply(destination, source, message)
            elif message.kind == Kind.REQUEST_VOTE_RPC:
                self.handle_request_vote_rpc(destination, source, message)
            elif message.kind == Kind.REQUEST_VOTE_RESULT:
                self.handle_request_vote_result(destination, message)
            elif message.kind == Kind.PRE_VOTE_RPC:
                self.handle_pre_vote_rpc(destination, source, message)
            else:
                self.handle_pre_vote_result(destination, message)

    @action
    def message_is_lost(self, source: Server, destination: Server) -> None:
        require(len(self.links[source][destination]) > 0 and self.losses < self.max_losses)
        self.losses += 1
        self.links[source][destination] = self.links[source][destination][1:]

    @action
    def link_is_busy(self, server: Server, peer: Server) -> None:
        """The buffer of the connection is full, so another process waits to send the last message in the server's
        place, and the server sends the peer nothing until it has been sent (``nosuspend`` in ra_server_proc)."""
        sent = len(self.links[server][peer])
        require(self.role[server] == Role.LEADER and self.suspensions < self.max_suspensions)
        require(peer not in self.suspended[server] and sent > 0)
        require(self.links[server][peer][sent - 1].kind == Kind.APPEND_ENTRIES_RPC)
        self.suspensions += 1
        self.suspended[server].add(peer)

    @action
    def link_is_free(self, server: Server, peer: Server) -> None:
        require(peer in self.suspended[server])
        self.suspended[server].discard(peer)

    # The log.

    def has(self, server: Server, index: int) -> bool:
        return index >= 0 and index <= len(self.logs[server])

    def term_at(self, server: Server, index: int) -> Term:
        """The term of an entry that the server has."""
        return 0 if index == 0 else self.logs[server][index - 1].term

    def last_term(self, server: Server) -> Term:
        return self.term_at(server, len(self.logs[server]))

    def give_to_wal(self, server: Server, first: int, entries: Log) -> None:
        require(len(self.waiting[server]) < self.unwritten)
        self.waiting[server].append(Batch(first=first, entries=entries))

    def append(self, server: Server, write: Write) -> None:
        """A leader's own entry."""
        require(len(self.logs[server]) < self.max_log)
        entry = Entry(term=self.term[server], write=write)
        self.give_to_wal(server, len(self.logs[server]) + 1, Seq([entry]))
        self.logs[server].append(entry)

    def write(self, server: Server, first: int, entries: Log) -> None:
        """A follower takes the leader's entries; what it has from the first of them on is replaced."""
        self.logs[server] = self.logs[server][: first - 1] + entries
        self.lower_last_written(server, first - 1)
        self.give_to_wal(server, first, entries)

    @rule
    def lower_last_written(self, server: Server, kept: int) -> None:
        """What was replaced is not on disk any more."""
        if self.written[server].index > kept:
            self.written[server] = Position(index=kept, term=self.term_at(server, kept))

    def set_last_index(self, server: Server, index: Index) -> None:
        """The server forgets what comes later; the disk does not."""
        self.logs[server] = self.logs[server][:index]
        known = min(index, self.written[server].index)
        self.written[server] = Position(index=known, term=self.term_at(server, known))

    @action
    def wal_writes(self, server: Server) -> None:
        """The write-ahead log has written the oldest call, and tells the server (the event ``written``)."""
        require(len(self.waiting[server]) > 0 and self.role[server] != Role.CRASHED)
        batch = self.waiting[server][0]
        self.waiting[server] = self.waiting[server][1:]
        self.stored[server] = self.stored[server][: batch.first - 1] + batch.entries
        before = self.written[server]
        self.take_written(server, batch)
        if self.role[server] == Role.LEADER:
            self.evaluate_quorum_and_send(server)
        elif self.role[server] == Role.FOLLOWER:
            leader = self.leader[server]
            if leader is not None and self.confirms(before, self.written[server]):
                self.send(server, leader, self.append_entries_reply(server, True))

    @rule
    def confirms(self, before: Position, after: Position) -> bool:
        """A follower answers its leader only if it knows more to be written."""
        return before != after

    def take_written(self, server: Server, batch: Batch) -> None:
        last = batch.first + len(batch.entries) - 1
        if batch.first <= len(self.logs[server]):
            if batch.first <= self.written[server].index + 1:
                known = min(last, len(self.logs[server]))
                term = batch.entries[len(batch.entries) - 1].term
                if self.term_at(server, known) == term:
                    self.written[server] = Position(index=known, term=term)
            elif not self.resent[server]:
                self.resent[server] = True
                for index in range(1, self.max_log + 1):
                    if index > self.written[server].index and index <= len(self.logs[server]):
                        self.give_to_wal(server, index, self.logs[server][index - 1 : index])

    # Roles and terms.

    def become(self, server: Server, role: Role) -> None:
        """What another role does not use is reset; Ra leaves it where it is, and never reads it."""
        self.role[server] = role
        self.votes[server] = 0
        self.next_index[server] = Map({peer: 0 for peer in Server})
        self.match_index[server] = Map({peer: 0 for peer in Server})
        self.commit_sent[server] = Map({peer: 0 for peer in Server})
        self.suspended[server] = Set()
        self.lacks[server] = False
        self.repeated[server] = None
        self.asked[server] = None

    def update_term_and_voted_for(self, server: Server, term: Term, voted: Server | None) -> None:
        """Stores term and vote, unless the server remembers them as they are."""
        if term != self.term[server] or voted != self.voted[server]:
            self.term[server] = term
            self.voted[server] = voted
            self.stored_vote[server] = voted

    def update_term(self, server: Server, term: Term) -> None:
        if term > self.term[server]:
            self.update_term_and_voted_for(server, term, None)

    @rule
    def size(self, server: Server) -> int:
        """Of the cluster, as the server knows it."""
        return self.servers

    def is_quorum(self, server: Server, count: int) -> bool:
        return count == self.size(server) // 2 + 1

    def crash(self, server: Server) -> None:
        """An exception ends the process; what it had not sent and stored is lost."""
        self.forget(server, Role.CRASHED)
        self.voted[server] = None

    def forget(self, server: Server, role: Role) -> None:
        """What is in memory only."""
        self.drop_token(server)
        self.become(server, role)
        self.leader[server] = None
        self.logs[server] = Seq()
        self.written[server] = Position(index=0, term=0)
        self.resent[server] = False
        self.commit[server] = 0
        self.applied[server] = 0
        self.machine[server] = Seq()

    # Elections.

    @action
    def election_times_out(self, server: Server) -> None:
        require(self.role[server] not in (Role.LEADER, Role.CRASHED) and self.timeouts < self.max_timeouts)
        self.timeouts += 1
        self.begin_election(server)

    def begin_election(self, server: Server) -> None:
        if self.role[server] == Role.CANDIDATE:
            self.call_for_election(server)
        else:
            self.call_for_pre_votes(server)

    def call_for_pre_votes(self, server: Server) -> None:
        """Asks in the present term. Earlier rounds do not count any more: their token is another."""
        self.become(server, Role.PRE_VOTE)
        self.update_term_and_voted_for(server, self.term[server], server)
        self.leader[server] = None
        self.votes[server] = 1
        self.drop_token(server)
        for peer in Server:
            if peer != server:
                self.send(server, peer, Message(
                    kind=Kind.PRE_VOTE_RPC, term=self.term[server], index=len(self.logs[server]),
                    log_term=self.last_term(server), current=True,
                ))

    def drop_token(self, server: Server) -> None:
        """pre_vote_token is another one from now on."""
        for peer in Server:
            self.links[server][peer] = Seq([
                message.replace(current=False) if message.kind == Kind.PRE_VOTE_RPC else message
                for message in self.links[server][peer]
            ])
            self.links[peer][server] = Seq([
                message.replace(current=False) if message.kind == Kind.PRE_VOTE_RESULT else message
                for message in self.links[peer][server]
            ])

    def call_for_election(self, server: Server) -> None:
        require(self.term[server] < self.max_term)
        self.become(server, Role.CANDIDATE)
        self.update_term_and_voted_for(server, self.term[server] + 1, server)
        self.leader[server] = None
        self.votes[server] = 1
        for peer in Server:
            if peer != server:
                self.send(server, peer, Message(
                    kind=Kind.REQUEST_VOTE_RPC, term=self.term[server], index=len(self.logs[server]),
                    log_term=self.last_term(server),
                ))

    @rule
    def is_up_to_date(self, message: Message, server: Server) -> bool:
        """Whether the candidate's log is at least as new as the voter's."""
        own = self.last_term(server)
        return message.log_term > own or (message.log_term == own and message.index >= len(self.logs[server]))

    def handle_pre_vote_rpc(self, server: Server, source: Server, message: Message) -> None:
        if self.role[server] == Role.LEADER:
            if message.term > self.term[server]:
                self.update_term(server, message.term)
                self.leader[server] = None
                self.become(server, Role.FOLLOWER)
                self.process_pre_vote(server, source, message)
            else:
                self.enforce_leadership(server)
        elif self.role[server] == Role.CANDIDATE:
            if message.term > self.term[server]:
                self.update_term(server, message.term)
                self.become(server, Role.FOLLOWER)
                self.process_pre_vote(server, source, message)
            elif self.candidate_answers():
                self.process_pre_vote(server, source, message)
        else:
            self.process_pre_vote(server, source, message)

    @rule
    def candidate_answers(self) -> bool:
        """A candidate grants a pre-vote of its own term (#439)."""
        return True

    def process_pre_vote(self, server: Server, source: Server, message: Message) -> None:
        result = Message(kind=Kind.PRE_VOTE_RESULT, term=self.term[server], current=message.current)
        if message.term < self.term[server]:
            self.send(server, source, result)
        else:
            self.update_term(server, message.term)
            if self.is_up_to_date(message, server):
                self.grant_pre_vote(server, source)
                self.send(server, source, result.replace(term=message.term, success=True))
            elif self.role[server] != Role.FOLLOWER:
                self.send(server, source, result.replace(term=message.term))

    @rule
    def grant_pre_vote(self, server: Server, source: Server) -> None:
        """A pre-vote that is granted changes nothing (#608)."""

    def handle_pre_vote_result(self, server: Server, message: Message) -> None:
        if self.role[server] == Role.PRE_VOTE:
            if message.term > self.term[server]:
                self.update_term(server, message.term)
                self.become(server, Role.FOLLOWER)
            elif message.term == self.term[server] and message.success and message.current:
                self.votes[server] += 1
                if self.is_quorum(server, self.votes[server]):
                    self.call_for_election(server)

    def handle_request_vote_rpc(self, server: Server, source: Server, message: Message) -> None:
        later = message.term > self.term[server]
        if self.role[server] == Role.AWAIT_CONDITION:
            self.become(server, Role.FOLLOWER)
        elif self.role[server] != Role.FOLLOWER and later:
            self.update_term(server, message.term)
            if self.role[server] == Role.LEADER:
                self.leader[server] = None
            self.become(server, Role.FOLLOWER)
        refusal = Message(kind=Kind.REQUEST_VOTE_RESULT, term=self.term[server])
        if self.role[server] == Role.FOLLOWER:
            voted = self.voted[server]
            taken = message.term == self.term[server] and voted is not None and voted != source
            if message.term < self.term[server] or taken:
                self.send(server, source, refusal)
            else:
                self.update_term(server, message.term)
                if self.is_up_to_date(message, server):
                    self.update_term_and_voted_for(server, message.term, source)
                    self.send(server, source, refusal.replace(term=message.term, success=True))
                else:
                    self.send(server, source, refusal.replace(term=message.term))
        elif self.role[server] != Role.PRE_VOTE:
            self.send(server, source, refusal)

    def handle_request_vote_result(self, server: Server, message: Message) -> None:
        if self.role[server] == Role.CANDIDATE:
            if message.term == self.term[server] and message.success:
                self.votes[server] += 1
                if self.is_quorum(server, self.votes[server]):
                    self.become_leader(server)
            elif message.term > self.term[server]:
                self.update_term(server, message.term)
                self.become(server, Role.FOLLOWER)

    def become_leader(self, server: Server) -> None:
        """Says so to all, appends the noop, and sends it."""
        self.become(server, Role.LEADER)
        self.leader[server] = server
        if self.elected[self.term[server]] is None:
            self.elected[self.term[server]] = server
        self.next_index[server] = Map({
            peer: len(self.logs[server]) + 1 if peer != server else 0 for peer in Server
        })
        self.enforce_leadership(server)
        self.append(server, 0)
        self.send_pipelined(server, self.max_log)

    # Log replication: the leader.

    @action
    def command_arrives(self, server: Server) -> None:
        """A client's command, of normal priority."""
        self.take_command(server)
        self.send_pipelined(server, self.max_log)

    @action
    def low_priority_command_arrives(self, server: Server) -> None:
        """Commands of low priority come in batches, and a peer is sent no more entries than the batch has."""
        self.take_command(server)
        self.send_pipelined(server, 1)

    def take_command(self, server: Server) -> None:
        require(self.role[server] == Role.LEADER and self.writes < self.max_writes)
        self.writes += 1
        self.append(server, self.writes)

    @action
    def leader_ticks(self, server: Server) -> None:
        """Peers that have not confirmed everything are sent what comes next (make_rpcs)."""
        require(self.role[server] == Role.LEADER and self.ticks < self.max_ticks)
        require(any(self.is_stale(server, peer) for peer in Server))
        self.ticks += 1
        if any(self.is_stale(server, peer) and not self.can_send(server, peer) for peer in Server):
            self.crash(server)
        else:
            for peer in Server:
                if self.is_stale(server, peer):
                    self.send(server, peer, self.append_entries_rpc(server, peer, self.max_log))

    def is_stale(self, server: Server, peer: Server) -> bool:
        unconfirmed = self.match_index[server][peer] < self.next_index[server][peer] - 1
        return self.may_send(server, peer) and (unconfirmed or self.commit_sent[server][peer] < self.commit[server])

    def may_send(self, server: Server, peer: Server) -> bool:
        return peer != server and peer not in self.suspended[server]

    def can_send(self, server: Server, peer: Server) -> bool:
        """Ra takes an entry that it has not for one that a snapshot has, and fails if there is no snapshot."""
        return self.has(server, self.next_index[server][peer] - 1)

    def enforce_leadership(self, server: Server) -> None:
        """Every peer is sent what comes next, as if nothing had been sent before (make_all_rpcs)."""
        if any(self.may_send(server, peer) and not self.can_send(server, peer) for peer in Server):
            self.crash(server)
        else:
            for peer in Server:
                if self.may_send(server, peer):
                    self.send(server, peer, self.append_entries_rpc(server, peer, self.max_log))

    def append_entries_rpc(self, server: Server, peer: Server, most: int) -> Message:
        previous = self.next_index[server][peer] - 1
        return Message(
            kind=Kind.APPEND_ENTRIES_RPC, term=self.term[server], index=previous,
            log_term=self.term_at(server, previous), commit=self.commit[server],
            entries=self.logs[server][previous : previous + most],
        )

    def has_news(self, server: Server, peer: Server) -> bool:
        unsent = self.next_index[server][peer] <= len(self.logs[server])
        return self.may_send(server, peer) and (unsent or self.commit_sent[server][peer] < self.commit[server])

    def send_pipelined(self, server: Server, most: int) -> None:
        """Sends without waiting for answers: the next index moves with what is sent (make_pipelined_rpc_effects)."""
        for peer in Server:
            if self.has_news(server, peer):
                message = self.append_entries_rpc(server, peer, most)
                self.send(server, peer, message)
                self.next_index[server][peer] += len(message.entries)
                self.commit_sent[server][peer] = self.commit[server]

    def handle_append_entries_reply(self, server: Server, source: Server, message: Message) -> None:
        if self.role[server] == Role.LEADER:
            if message.term > self.term[server]:
                self.update_term(server, message.term)
                self.leader[server] = None
                self.become(server, Role.FOLLOWER)
            elif not message.success:
                self.learn_refusal(server, source, message)
                if any(self.has_news(server, peer) and not self.can_send(server, peer) for peer in Server):
                    self.crash(server)
                else:
                    self.send_pipelined(server, self.max_log)
            elif message.term == self.term[server]:
                if self.confirms_own_entry(server, message):
                    self.match_index[server][source] = max(self.match_index[server][source], message.index)
                self.next_index[server][source] = max(self.next_index[server][source], message.next)
                self.evaluate_quorum_and_send(server)
        elif self.role[server] == Role.FOLLOWER:
            self.update_term(server, message.term)
        elif self.role[server] == Role.CANDIDATE and message.term > self.term[server]:
            self.update_term(server, message.term)
            self.become(server, Role.FOLLOWER)

    @rule
    def confirms_own_entry(self, server: Server, message: Message) -> bool:
        """Whether the last entry that a follower has written is the leader's. It need not be: what the follower has of
        an earlier leader is written late."""
        return self.has(server, message.index) and self.term_at(server, message.index) == message.log_term

    def learn_refusal(self, server: Server, source: Server, message: Message) -> None:
        """How far a follower says that its log goes."""
        matched = self.match_index[server][source]
        wanted = self.next_index[server][source]
        if not self.has(server, message.index):
            self.take_longer_log(server, source, message)
        elif self.term_at(server, message.index) == message.log_term and message.index >= matched:
            self.match_index[server][source] = message.index
            self.next_index[server][source] = message.next
        elif message.index < matched:
            self.match_index[server][source] = message.index
            self.next_index[server][source] = message.index + 1
        else:
            self.next_index[server][source] = max(min(wanted - 1, message.index), self.least_next_index(matched))

    @rule
    def take_longer_log(self, server: Server, source: Server, message: Message) -> None:
        """The follower has entries that the leader has not: they match nothing (#508)."""
        self.next_index[server][source] = message.next

    @rule
    def least_next_index(self, matched: Index) -> int:
        """What matches need not be sent again, nor what comes before the log."""
        return matched + 1

    def agreed(self, server: Server) -> Index:
        """The largest index that a majority has written, as far as the leader knows."""
        return max(
            index for index in range(self.max_log + 1)
            if 2 * sum(
                1 for peer in Server
                if (self.written[server].index if peer == server else self.match_index[server][peer]) >= index
            ) > self.size(server)
        )

    def evaluate_quorum_and_send(self, server: Server) -> None:
        agreed = self.agreed(server)
        commit = self.commit[server]
        if self.has(server, agreed) and self.may_commit(server, agreed):
            commit = agreed
        fails = any(
            self.may_send(server, peer) and not self.can_send(server, peer)
            and (self.next_index[server][peer] <= len(self.logs[server]) or self.commit_sent[server][peer] < commit)
            for peer in Server
        )
        if fails:
            self.crash(server)
        else:
            self.commit[server] = commit
            known = self.logs[server][:commit]
            if len(known) > len(self.committed) or known != self.committed[: len(known)]:
                self.committed = known
            self.apply_to(server, commit)
            self.send_pipelined(server, self.max_log)

    @rule
    def may_commit(self, server: Server, index: Index) -> bool:
        """An entry of an earlier term may still be replaced (Raft, figure 8)."""
        return self.term_at(server, index) == self.term[server]

    def apply_to(self, server: Server, commit: int) -> None:
        """Applies what is committed; a leader answers the clients, whoever took the command."""
        end = min(commit, len(self.logs[server]))
        if end > self.applied[server]:
            for index in range(1, self.max_log + 1):
                if index > self.applied[server] and index <= end:
                    entry = self.logs[server][index - 1]
                    self.machine[server].append(entry)
                    if self.role[server] == Role.LEADER and entry.write != 0:
                        self.acknowledged.add(entry.write)
            self.applied[server] = end

    # Log replication: the follower.

    def handle_append_entries_rpc(self, server: Server, source: Server, message: Message) -> None:
        """Other roles turn to follower for a leader of their term or a later one, and begin again."""
        if message.term < self.term[server]:
            if self.role[server] in (Role.FOLLOWER, Role.CANDIDATE, Role.LEADER):
                self.send(server, source, self.append_entries_reply(server, False))
        elif self.role[server] == Role.LEADER and message.term == self.term[server]:
            self.crash(server)
        elif self.role[server] != Role.AWAIT_CONDITION or self.condition_holds(server, message):
            if self.role[server] == Role.CANDIDATE:
                self.update_term_and_voted_for(server, message.term, None)
            if self.role[server] != Role.FOLLOWER:
                self.become(server, Role.FOLLOWER)
            self.follow(server, source, message)

    def condition_holds(self, server: Server, message: Message) -> bool:
        """What a follower that waits for entries takes (follower_catchup_cond)."""
        return self.has(server, message.index) and (
            self.term_at(server, message.index) == message.log_term or self.lacks[server]
        )

    def follow(self, server: Server, source: Server, message: Message) -> None:
        self.update_term(server, message.term)
        self.leader[server] = source
        self.hear_commit(server, message)
        if not self.has(server, message.index):
            self.wait_for_entries(server, source, True, self.append_entries_reply(server, False))
        elif self.term_at(server, message.index) != message.log_term:
            if self.has(server, self.applied[server]):
                self.wait_for_entries(server, source, False, self.append_entries_reply(server, False).replace(
                    next=self.applied[server] + 1, index=self.applied[server],
                    log_term=self.term_at(server, self.applied[server]),
                ))
            else:
                self.crash(server)
        else:
            known = self.known_entries(server, message)
            if known < len(message.entries):
                self.write(server, message.index + known + 1, message.entries[known:])
                self.commit[server] = self.leader_commit(server, message)
                self.apply_to(server, message.commit)
            else:
                self.follow_without_news(server, source, message)

    @rule
    def hear_commit(self, server: Server, message: Message) -> None:
        """The leader's commit index says nothing about a log that has not been compared with the leader's (#508)."""

    @rule
    def leader_commit(self, server: Server, message: Message) -> Index:
        """A new leader may not know yet what is committed; its follower does not forget it."""
        return max(self.commit[server], message.commit)

    def known_entries(self, server: Server, message: Message) -> int:
        """With how many of the entries that arrive the follower's log goes on (drop_existing)."""
        return max(
            count for count in range(self.max_log + 1)
            if count <= len(message.entries) and message.index + count <= len(self.logs[server])
            and self.logs[server][message.index : message.index + count] == message.entries[:count]
        )

    def follow_without_news(self, server: Server, source: Server, message: Message) -> None:
        """All entries are there. If none came, what the follower has beyond is not the leader's."""
        if len(message.entries) == 0 and len(self.logs[server]) > message.index:
            self.set_last_index(server, message.index)
        end = message.index + len(message.entries)
        if self.is_validated(server, end):
            self.commit[server] = self.leader_commit(server, message)
            self.apply_to(server, message.commit)
            self.send(server, source, self.append_entries_reply(server, True))
        else:
            known = max(self.applied[server], end)
            confirmed = self.confirmed(server, known)
            self.send(server, source, self.append_entries_reply(server, True).replace(
                next=known + 1, index=confirmed, log_term=self.term_at(server, confirmed)
            ))

    @rule
    def confirmed(self, server: Server, known: Index) -> Index:
        """Of the entries that are known to be the leader's, a follower confirms those that are on its disk."""
        return min(known, self.written[server].index)

    @rule
    def is_validated(self, server: Server, end: int) -> bool:
        """Whether the whole log is known to be the leader's (#508)."""
        return len(self.logs[server]) <= end

    def append_entries_reply(self, server: Server, success: bool) -> Message:
        return Message(
            kind=Kind.APPEND_ENTRIES_REPLY, term=self.term[server], index=self.written[server].index,
            log_term=self.written[server].term, next=len(self.logs[server]) + 1, success=success,
        )

    def wait_for_entries(self, server: Server, source: Server, lacks: bool, reply: Message) -> None:
        self.become(server, Role.AWAIT_CONDITION)
        self.lacks[server] = lacks
        self.repeated[server] = reply
        self.asked[server] = source
        self.send(server, source, reply)

    @action
    def patience_ends(self, server: Server) -> None:
        """await_condition_timeout: the follower asks again, and takes whatever comes."""
        require(self.role[server] == Role.AWAIT_CONDITION and self.timeouts < self.max_timeouts)
        self.timeouts += 1
        self.ask_again(server)

    def ask_again(self, server: Server) -> None:
        reply = self.repeated[server]
        asked = self.asked[server]
        self.become(server, Role.FOLLOWER)
        if reply is not None and asked is not None:
            self.send(server, asked, reply)

    # Restarts.

    @action
    def server_restarts(self, server: Server) -> None:
        """A kill -9, or the supervisor after a crash. Calls that the write-ahead log has not written are lost."""
        require(self.restarts < self.max_restarts)
        self.restarts += 1
        self.forget(server, Role.FOLLOWER)
        self.voted[server] = self.stored_vote[server]
        self.logs[server] = self.stored[server]
        self.written[server] = Position(index=len(self.logs[server]), term=self.last_term(server))
        self.waiting[server] = Seq()
        for peer in Server:
            self.links[peer][server] = Seq()
