"""Raft as NATS JetStream has it: every stream, consumer and the meta layer is a group of it (``server/raft.go``).

``JetStreamRaft`` is the protocol of release 2.15.1; ``specs/jetstream/flawed.py`` has the rules of earlier releases
that are wrong, one at a time. Names are those of ``raft.go`` where they say what they mean. It is not built upon the
other Rafts here, because it replicates in its own way: a follower that lacks entries asks for them with an inbox of its
own, to which the leader sends them beside the new ones; only new entries are answered; what does not fit is cut off and
not answered; and a leader counts answers by their index.

A step is one event of a server. A connection keeps the order of its messages and may lose any of them; a server has a
queue for each kind of message and takes from them at random, so a message overtakes those of other kinds. Term and vote
are stored before anything is sent. Left out are snapshots and compaction, changes of the membership, empty logs,
servers that lag behind in applying, and leaders that step down because they hear from nobody.
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
    """A member of the group."""


Term = Annotated[int, Between(0, "max_term")]
Index = Annotated[int, Between(0, "max_log")]
Write = Annotated[int, Between(0, "max_writes")]
"""A client's message; 0 is none."""


class Entry(Record):
    """What one append entry adds to a log; its index is its position, from 1. It is stored as the leader sent it."""

    term: Term
    commit: Index
    """The leader's commit index when it sent the entry."""
    write: Write
    """0 in the entry with which a leader begins, its peer state."""
    successor: Server | None
    """Whom a leader asks to take over (EntryLeaderTransfer)."""


Log = Annotated[Seq[Entry], Capacity("max_log")]


class Role(Enum):
    """RaftState."""

    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


class Catchup(Record):
    """catchupState: a follower has asked for the entries up to this one."""

    index: Index
    term: Term
    seen: Index
    """How long its log was when its progress was looked at."""


class Kind(Enum):
    """The messages, by the type that encodes them."""

    VOTE_REQUEST = "voteRequest"
    VOTE_RESPONSE = "voteResponse"
    APPEND_ENTRY = "appendEntry"
    CATCHUP_ENTRY = "appendEntry to an inbox"
    """It comes on the inbox of a follower that asked for entries."""
    APPEND_ENTRY_RESPONSE = "appendEntryResponse"


class Inbox(Enum):
    """Whether a follower asks for entries, and whether it still listens for them."""

    NONE = "none"
    OPEN = "open"
    CLOSED = "closed"


class Message(Record):
    """A message; fields that its kind does not use are 0, False or None."""

    kind: Kind
    source: Server
    destination: Server
    order: Annotated[int, Between(0, "in_flight")]
    """How many messages of its queue are before it."""
    term: Term
    """Of CATCHUP_ENTRY: the sender's (lterm). Of a success: that of the last entry (pterm)."""
    index: Index = 0
    """The last index of the sender; of entries: the index before them (pindex)."""
    log_term: Term = 0
    """The term of the entry there (pterm)."""
    commit: Index = 0
    entry: Entry | None = None
    success: bool = False
    """Also whether a vote is granted."""
    inbox: Inbox = Inbox.NONE


class JetStreamRaft(Model):
    """A group and the clients of its leaders. It begins after all restarted; the first entry stands for a snapshot."""

    servers = Constant(3)
    max_term = Constant(2)
    """The group has had one term when it begins."""
    max_log = Constant(3)
    max_writes = Constant(1)
    in_flight = Constant(4)
    """How many messages the network holds; what is sent beyond that is lost."""
    max_losses = Constant(0)
    max_restarts = Constant(0)
    max_timeouts = Constant(2)
    max_heartbeats = Constant(0)
    max_transfers = Constant(0)

    role: Map[Server, Role]
    term: Map[Server, Term]
    vote: Map[Server, Server | None]
    leader: Map[Server, Server | None]
    """Whom a server takes for the leader."""
    log: Map[Server, Log]
    commit: Map[Server, Index]
    votes: Map[Server, Set[Server]]
    """Who has voted for a candidate."""
    acks: Map[Server, Map[Index, Set[Server]]]
    """Who has told a leader that its log ends at this index."""
    floor: Map[Server, Index]
    """A leader serves clients once it has committed so much (aflr)."""
    catchup: Map[Server, Catchup | None]
    network: Annotated[Set[Message], Capacity("in_flight")]

    losses: Annotated[int, Between(0, "max_losses")]
    restarts: Annotated[int, Between(0, "max_restarts")]
    timeouts: Annotated[int, Between(0, "max_timeouts")]
    heartbeats: Annotated[int, Between(0, "max_heartbeats")]
    transfers: Annotated[int, Between(0, "max_transfers")]
    writes: Write
    """How many writes there have been."""

    elected: Map[Term, Server | None]
    """History: who first became leader of each term."""
    committed: Log
    """History: the longest log that any leader has committed."""
    acknowledged: Set[Write]
    """History: the writes that clients were told had succeeded."""

    @initial
    def start(self) -> None:
        """All servers have the same snapshot, and no leader."""
        first = Entry(term=1, commit=1, write=0, successor=None)
        self.role = Map({server: Role.FOLLOWER for server in Server})
        self.term = Map({server: 1 for server in Server})
        self.vote = Map({server: None for server in Server})
        self.leader = Map({server: None for server in Server})
        self.log = Map({server: Seq([first]) for server in Server})
        self.commit = Map({server: 1 for server in Server})
        self.votes = Map({server: Set() for server in Server})
        self.acks = Map({server: Map({index: Set() for index in range(self.max_log + 1)}) for server in Server})
        self.floor = Map({server: 0 for server in Server})
        self.catchup = Map({server: None for server in Server})
        self.network = Set()
        self.losses = 0
        self.restarts = 0
        self.timeouts = 0
        self.heartbeats = 0
        self.transfers = 0
        self.writes = 0
        self.elected = Map({term: None for term in range(self.max_term + 1)})
        self.committed = Seq([first])
        self.acknowledged = Set()

    # The network.

    def share_queue(self, one: Message, other: Message) -> bool:
        """Both kinds of entries wait in one queue."""
        entries = one.kind in (Kind.APPEND_ENTRY, Kind.CATCHUP_ENTRY)
        return (
            one.source == other.source and one.destination == other.destination
            and (one.kind == other.kind or (entries and other.kind in (Kind.APPEND_ENTRY, Kind.CATCHUP_ENTRY)))
        )

    def send(self, message: Message) -> None:
        """What the network has no room for is lost."""
        before = sum(1 for other in self.network if self.share_queue(other, message))
        if len(self.network) < self.in_flight:
            self.network.add(message.replace(order=before))

    def take_out(self, message: Message) -> None:
        self.network = Set([
            other.replace(order=other.order - 1)
            if self.share_queue(other, message) and other.order > message.order else other
            for other in self.network
            if other != message
        ])

    @action
    def message_arrives(self, message: Message) -> None:
        require(message in self.network)
        require(message.order == 0)
        self.take_out(message)
        server = message.destination
        if message.kind == Kind.VOTE_REQUEST:
            self.process_vote_request(server, message)
        elif message.kind == Kind.VOTE_RESPONSE:
            self.process_vote_response(server, message)
        elif message.kind == Kind.APPEND_ENTRY_RESPONSE:
            self.process_append_entry_response(server, message)
        else:
            self.process_append_entry(server, message)

    @action
    def message_is_lost(self, message: Message) -> None:
        require(message in self.network)
        require(self.losses < self.max_losses)
        self.losses += 1
        self.take_out(message)

    # The log.

    def last_term(self, server: Server) -> Term:
        return self.log[server][len(self.log[server]) - 1].term

    def term_at(self, server: Server, index: int) -> Term:
        """The term of an entry that the server has."""
        return self.log[server][index - 1].term

    def truncate(self, server: Server, index: Index) -> None:
        """truncateWAL."""
        self.log[server] = self.log[server][:index]
        self.commit[server] = min(self.commit[server], index)

    def commit_to(self, server: Server, index: Index) -> None:
        """applyCommit, for each index; it ends where the log does."""
        self.commit[server] = max(self.commit[server], min(index, len(self.log[server])))

    # Roles and terms.

    def enter_term(self, server: Server, term: Term) -> None:
        self.term[server] = term
        self.vote[server] = None

    def step_down(self, server: Server, leader: Server | None) -> None:
        """switchToFollower."""
        self.role[server] = Role.FOLLOWER
        self.leader[server] = leader
        self.votes[server] = Set()
        self.floor[server] = 0
        self.acks[server] = Map({index: Set() for index in range(self.max_log + 1)})

    @action
    def election_times_out(self, server: Server) -> None:
        require(self.timeouts < self.max_timeouts and self.role[server] != Role.LEADER)
        self.timeouts += 1
        catchup = self.catchup[server]
        if catchup is None:
            self.stand(server)
        elif catchup.seen == len(self.log[server]):
            self.cancel_catchup(server)
        else:
            self.catchup[server] = catchup.replace(seen=len(self.log[server]))

    def stand(self, server: Server) -> None:
        """switchToCandidate and requestVote."""
        require(self.term[server] < self.max_term)
        self.term[server] += 1
        self.vote[server] = server
        self.role[server] = Role.CANDIDATE
        self.leader[server] = None
        self.votes[server] = Set([server])
        for peer in Server:
            if peer != server:
                self.send(Message(
                    kind=Kind.VOTE_REQUEST, source=server, destination=peer, order=0, term=self.term[server],
                    index=len(self.log[server]), log_term=self.last_term(server),
                ))

    @rule
    def hurries(self, server: Server) -> None:
        """The election timer of the server ends soon: within a second, or at once if it was asked to take over. It may
        end at any time, so there is nothing to do; a test of a real server, which cannot stop that timer, says more."""

    def process_vote_request(self, server: Server, message: Message) -> None:
        candidate = message.source
        granted = False
        is_later = message.term > self.term[server]
        if message.term >= self.term[server]:
            if message.term > self.term[server]:
                if self.role[server] != Role.FOLLOWER:
                    self.step_down(server, None)
                self.cancel_catchup(server)
                self.enter_term(server, message.term)
                self.forget_leader(server)
            granted = self.may_vote(server, candidate) and self.is_up_to_date(server, message)
        if granted:
            self.vote[server] = candidate
        self.send(Message(
            kind=Kind.VOTE_RESPONSE, source=server, destination=candidate, order=0, term=self.term[server],
            success=granted,
        ))
        if (
            not granted and message.term == self.term[server] and self.vote[server] is None
            and self.role[server] == Role.FOLLOWER and self.hurries_after(is_later)
        ):
            self.hurries(server)

    @rule
    def hurries_after(self, is_later: bool) -> bool:
        """Whether a server stands soon that refuses its vote because its log is longer: if the request brought it into
        a later term."""
        return is_later

    @rule
    def forget_leader(self, server: Server) -> None:
        """A candidate of a later term has asked for a vote."""
        self.leader[server] = None

    @rule
    def may_vote(self, server: Server, candidate: Server) -> bool:
        return self.vote[server] is None or self.vote[server] == candidate

    @rule
    def is_up_to_date(self, server: Server, message: Message) -> bool:
        return message.log_term > self.last_term(server) or (
            message.log_term == self.last_term(server) and message.index >= len(self.log[server])
        )

    def process_vote_response(self, server: Server, message: Message) -> None:
        """In runAsCandidate, and in runAsLeader, which does not learn the later term."""
        if self.role[server] == Role.CANDIDATE:
            if message.success and message.term == self.term[server]:
                self.votes[server].add(message.source)
                if 2 * len(self.votes[server]) > self.servers:
                    self.switch_to_leader(server)
            elif message.term > self.term[server]:
                self.enter_term(server, message.term)
                self.step_down(server, None)
        elif self.role[server] == Role.LEADER and message.term > self.term[server]:
            self.step_down(server, None)

    def switch_to_leader(self, server: Server) -> None:
        self.role[server] = Role.LEADER
        self.leader[server] = server
        self.votes[server] = Set()
        if self.elected[self.term[server]] is None:
            self.elected[self.term[server]] = server
        self.begin_to_lead(server)

    @rule
    def begin_to_lead(self, server: Server) -> None:
        """Clients are served once the leader's first entry is committed."""
        self.append(server, 0, None)
        self.floor[server] = len(self.log[server])

    # What a leader does.

    def append(self, leader: Server, write: Write, successor: Server | None) -> None:
        """sendAppendEntry, with an entry."""
        index = len(self.log[leader])
        log_term = self.last_term(leader)
        require(index < self.max_log)
        entry = Entry(term=self.term[leader], commit=self.commit[leader], write=write, successor=successor)
        self.log[leader].append(entry)
        self.broadcast(leader, index, log_term, entry)

    def send_heartbeat(self, leader: Server) -> None:
        self.broadcast(leader, len(self.log[leader]), self.last_term(leader), None)

    def broadcast(self, leader: Server, index: Index, log_term: Term, entry: Entry | None) -> None:
        for peer in Server:
            if peer != leader:
                self.send(Message(
                    kind=Kind.APPEND_ENTRY, source=leader, destination=peer, order=0, term=self.term[leader],
                    index=index, log_term=log_term, commit=self.commit[leader], entry=entry,
                ))

    @action
    def leader_sends_heartbeat(self, leader: Server) -> None:
        require(self.role[leader] == Role.LEADER and self.heartbeats < self.max_heartbeats)
        self.heartbeats += 1
        self.send_heartbeat(leader)

    @action
    def client_writes(self, leader: Server) -> None:
        require(self.role[leader] == Role.LEADER and self.writes < self.max_writes)
        require(self.commit[leader] >= self.floor[leader])
        self.writes += 1
        self.append(leader, self.writes, None)

    @action
    def leader_hands_over(self, leader: Server, successor: Server) -> None:
        """StepDown, which an operator asks for."""
        require(self.role[leader] == Role.LEADER and self.transfers < self.max_transfers and leader != successor)
        self.transfers += 1
        self.append(leader, 0, successor)
        self.take_back_vote(leader)
        self.step_down(leader, None)

    @rule
    def take_back_vote(self, server: Server) -> None:
        """The vote of a server stays as it is when leadership is transferred."""

    def process_append_entry_response(self, leader: Server, message: Message) -> None:
        if message.success:
            leads = self.role[leader] == Role.LEADER
            if leads and message.index > self.commit[leader] and self.counts(leader, message):
                self.acks[leader][message.index].add(message.source)
                if 2 * (len(self.acks[leader][message.index]) + 1) > self.servers:
                    self.commit_as_leader(leader, message.index)
        elif message.inbox != Inbox.NONE:
            if self.role[leader] == Role.LEADER:
                self.catch_up(leader, message)
        elif self.role[leader] == Role.LEADER and message.term > self.term[leader]:
            self.enter_term(leader, message.term)
            self.step_down(leader, None)

    @rule
    def counts(self, leader: Server, message: Message) -> bool:
        """trackResponse: the term of a success is that of the last entry, which has to be the leader's."""
        return message.term == self.term[leader]

    def commit_as_leader(self, leader: Server, index: Index) -> None:
        """tryCommit."""
        before = self.commit[leader]
        self.commit_to(leader, index)
        for reached in range(1, self.max_log + 1):
            if reached > before and reached <= min(index, self.commit[leader] + 1):
                self.acks[leader][reached] = Set()
        for number, entry in enumerate(self.log[leader], 1):
            if number > before and number <= self.commit[leader] and self.is_told(leader, entry):
                self.acknowledged.add(entry.write)
        if self.commit[leader] > len(self.committed):
            self.committed = self.log[leader][: self.commit[leader]]
        if self.commit[leader] == index or self.always_tells_commit():
            self.send_heartbeat(leader)

    def is_told(self, leader: Server, entry: Entry) -> bool:
        """A client waits for the answer of the leader that it wrote to."""
        return entry.write > 0 and entry.term == self.term[leader]

    @rule
    def always_tells_commit(self) -> bool:
        """Whether a leader sends a heartbeat after an answer of a quorum about an entry that it does not have."""
        return False

    def catch_up(self, leader: Server, message: Message) -> None:
        """catchupFollower and runCatchup: the entries after those that the follower has, one by one, up to the last."""
        if message.index >= len(self.log[leader]):
            self.step_down(leader, None)
        elif message.inbox == Inbox.OPEN:
            for number, entry in enumerate(self.log[leader], 1):
                if number > message.index:
                    self.send(Message(
                        kind=Kind.CATCHUP_ENTRY, source=leader, destination=message.source, order=0,
                        term=self.term[leader], index=number - 1, log_term=self.term_at(leader, number - 1),
                        commit=entry.commit, entry=entry,
                    ))

    # What a follower does.

    def cancel_catchup(self, server: Server) -> None:
        """Nobody listens to the inbox any more. What is on the way to it is lost, and what is sent there will be."""
        if self.catchup[server] is not None:
            self.catchup[server] = None
            self.close_inbox(server)

    def close_inbox(self, server: Server) -> None:
        self.network = Set([
            message.replace(inbox=Inbox.CLOSED)
            if message.source == server and message.inbox == Inbox.OPEN
            else message.replace(order=message.order - self.catchup_entries_before(message))
            if message.destination == server else message
            for message in self.network
            if message.destination != server or message.kind != Kind.CATCHUP_ENTRY
        ])

    def catchup_entries_before(self, message: Message) -> int:
        return sum(
            1 for other in self.network
            if other.kind == Kind.CATCHUP_ENTRY and other.order < message.order and self.share_queue(other, message)
        )

    def answer(self, server: Server, message: Message, term: Term, success: bool, inbox: Inbox) -> None:
        self.send(Message(
            kind=Kind.APPEND_ENTRY_RESPONSE, source=server, destination=message.source, order=0, term=term,
            index=len(self.log[server]), success=success, inbox=inbox,
        ))

    def process_append_entry(self, server: Server, message: Message) -> None:
        is_new = message.kind == Kind.APPEND_ENTRY
        if message.term < self.term[server]:
            if is_new:
                self.answer(server, message, self.term[server], False, Inbox.NONE)
        else:
            if self.role[server] != Role.FOLLOWER:
                self.step_down(server, message.source)
            if message.term > self.term[server]:
                self.enter_term(server, message.term)
            catchup = self.catchup[server]
            if catchup is not None and self.has_reached(server, catchup):
                self.cancel_catchup(server)
                catchup = None
            if catchup is None or not is_new:
                if is_new:
                    self.leader[server] = message.source
                self.compare_logs(server, message)

    def has_reached(self, server: Server, catchup: Catchup) -> bool:
        return self.last_term(server) >= catchup.term and len(self.log[server]) >= catchup.index

    def compare_logs(self, server: Server, message: Message) -> None:
        last = len(self.log[server])
        if message.index == last and message.log_term == self.last_term(server):
            self.take_entry(server, message)
        elif message.index > last:
            if self.catchup[server] is not None:
                self.cancel_catchup(server)
            else:
                self.catchup[server] = Catchup(index=message.index, term=message.log_term, seen=last)
                self.answer(server, message, self.last_term(server), False, Inbox.OPEN)
        elif message.index < self.commit[server]:
            pass
        elif self.term_at(server, message.index) == message.log_term:
            self.truncate(server, message.index)
            self.take_entry(server, message)
        else:
            if self.may_truncate_to(server, message.index - 1):
                self.truncate(server, message.index - 1)
                self.cancel_catchup(server)

    @rule
    def may_truncate_to(self, server: Server, index: int) -> bool:
        """An entry of another term is cut off unless it is committed."""
        return index >= self.commit[server]

    def take_entry(self, server: Server, message: Message) -> None:
        """The logs are equal up to here. Only new entries are answered, and make a server stand."""
        entry = message.entry
        stands = False
        if entry is not None:
            self.log[server].append(entry)
            if message.kind == Kind.APPEND_ENTRY and entry.successor is not None:
                stands = entry.successor == server
                if not stands:
                    self.take_back_vote(server)
        self.commit_to(server, message.commit)
        if message.kind == Kind.APPEND_ENTRY:
            self.answer(server, message, self.last_term(server), True, Inbox.NONE)
        if stands:
            self.hurries(server)

    # Restarts.

    @action
    def server_restarts(self, server: Server) -> None:
        """A kill -9. Term, vote and log are on disk; of the commit index, what the entries say."""
        require(self.restarts < self.max_restarts)
        self.restarts += 1
        self.step_down(server, None)
        self.catchup[server] = None
        self.commit[server] = max((entry.commit for entry in self.log[server]), default=0)
        self.close_inbox(server)
        self.network = Set([message for message in self.network if message.destination != server])
