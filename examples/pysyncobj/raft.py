"""Raft as PySyncObj implements it: AppendEntries pushed in batches, over ordered links that break and come back.

``Raft`` is that protocol with two repairs (``take_entries`` and ``is_current``); ``versions.py`` has the library as it
was released. Names are the library's where they say what they mean. Indexes count from 1, and every log begins
with an entry of term 0 that no leader wrote.

A node's tick is split where the library reads its clock. Left out are snapshots, membership changes, read-only nodes,
commands forwarded by a follower, and entries larger than a batch, which travel in pieces.
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
    implies,
    initial,
    invariant,
    require,
    rule,
    transition,
)


class Node(Identifier, count="nodes", prefix="n"):
    """A member of the cluster."""


Term = Annotated[int, Between(0, "max_term")]
Index = Annotated[int, Between(0, "max_log")]
Write = Annotated[int, Between(0, "max_writes")]
"""A client's command; 0 is the no-op with which a leader begins its term."""


class Entry(Record):
    """An entry of a log; its index is its position."""

    term: Term
    write: Write


Log = Annotated[Seq[Entry], Capacity("max_log")]


class Role(Enum):
    """The role that a node believes it has."""

    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


class Kind(Enum):
    """The messages between members."""

    REQUEST_VOTE = "request_vote"
    RESPONSE_VOTE = "response_vote"
    APPEND_ENTRIES = "append_entries"
    NEXT_NODE_IDX = "next_node_idx"
    """A follower's answer to AppendEntries."""


class Message(Record):
    """A message; fields that its kind does not use are 0, empty or False."""

    kind: Kind
    term: Term = 0
    index: Annotated[int, Between(0, "max_log + 1")] = 0
    """The end of the candidate's log, the index before the entries (0: the leader has none), or the index that the
    follower wants next."""
    log_term: Term = 0
    """The term of the entry at ``index``."""
    commit: Index = 0
    entries: Annotated[Seq[Entry], Capacity("max_log")] = Seq()
    reset: bool = False
    success: bool = False


Messages = Annotated[Seq[Message], Capacity("max_log")]
"""What a leader sends to a node in one go."""


class Raft(Model):
    """A cluster and the clients of its leaders."""

    nodes = Constant(3)
    max_term = Constant(2)
    max_log = Constant(4)
    max_writes = Constant(2)
    in_flight = Constant(3)
    """How many messages a link holds."""
    max_breaks = Constant(1)
    """How often a connection is lost, restarts not counted."""
    max_restarts = Constant(1)
    write_size = Constant(63)
    """Bytes of a client's command. A no-op has 1."""
    batch_size = Constant(64)
    """Bytes after which a batch of entries ends (appendEntriesBatchSizeBytes); more than a command has."""
    fallback = Constant(False)
    """Whether leaders that do not hear from a majority step down."""

    role: Map[Node, Role]
    term: Map[Node, Term]
    voted: Map[Node, Node | None]
    votes: Map[Node, Annotated[int, Between(0, "nodes + 1")]]
    """How many votes a candidate has, its own included."""
    logs: Map[Node, Log]
    commit: Map[Node, Index]
    applied: Map[Node, Index]
    stored_commit: Map[Node, Index]
    """The commit index in the file beside the journal, which is written every second and with term and vote."""
    next_index: Map[Node, Map[Node, Annotated[int, Between(0, "max_log + 1")]]]
    """For a leader: the next index to send to each node. 0 while a node does not lead."""
    match_index: Map[Node, Map[Node, Index]]
    """For a leader: how far it knows each node's log to match its own."""
    waiting: Map[Node, Set[Write]]
    """The writes whose clients wait for an answer from this node."""

    connected: Map[Node, Set[Node]]
    links: Map[Node, Map[Node, Annotated[Seq[Message], Capacity("in_flight")]]]
    """The messages in transit from one node to another."""
    breaks: Annotated[int, Between(0, "max_breaks")]
    restarts: Annotated[int, Between(0, "max_restarts")]
    writes: Write
    """How many writes there have been."""

    elected: Map[Term, Node | None]
    """History: who first became leader of each term."""
    committed: Log
    """History: the longest log that any leader has called committed."""
    acknowledged: Set[Write]
    """History: the writes that clients were told had succeeded."""

    @initial
    def start(self) -> None:
        """A new cluster, all connected."""
        self.role = Map({node: Role.FOLLOWER for node in Node})
        self.term = Map({node: 0 for node in Node})
        self.voted = Map({node: None for node in Node})
        self.votes = Map({node: 0 for node in Node})
        self.logs = Map({node: Seq([Entry(term=0, write=0)]) for node in Node})
        self.commit = Map({node: 1 for node in Node})
        self.applied = Map({node: 1 for node in Node})
        self.stored_commit = Map({node: 1 for node in Node})
        self.next_index = Map({node: Map({other: 0 for other in Node}) for node in Node})
        self.match_index = Map({node: Map({other: 0 for other in Node}) for node in Node})
        self.waiting = Map({node: Set() for node in Node})
        self.connected = Map({node: Set(other for other in Node if other != node) for node in Node})
        self.links = Map({node: Map({other: Seq() for other in Node}) for node in Node})
        self.breaks = 0
        self.restarts = 0
        self.writes = 0
        self.elected = Map({term: None for term in range(self.max_term + 1)})
        self.committed = Seq([Entry(term=0, write=0)])
        self.acknowledged = Set()

    # The network.

    def send(self, source: Node, destination: Node, message: Message) -> None:
        """Messages to a node that is not connected are lost. The bound on links is not a rule of the library."""
        if destination in self.connected[source]:
            require(len(self.links[source][destination]) < self.in_flight)
            self.links[source][destination].append(message)

    def send_all(self, source: Node, messages: Map[Node, Messages]) -> None:
        """Sends the same message to several nodes."""
        require(all(len(self.links[source][to]) + len(messages[to]) <= self.in_flight for to in self.connected[source]))
        self.links[source] = Map({
            to: self.links[source][to] + (messages[to] if to in self.connected[source] else messages[to][:0])
            for to in Node
        })

    def disconnect(self, one: Node, other: Node) -> None:
        """Messages in transit are lost."""
        self.connected[one].discard(other)
        self.connected[other].discard(one)
        self.links[one][other] = Seq()
        self.links[other][one] = Seq()

    def are_connected(self, ends: Set[Node]) -> bool:
        return any(other in self.connected[one] for one in ends for other in ends)

    @action
    def connection_breaks(self, ends: Set[Node]) -> None:
        require(len(ends) == 2 and self.are_connected(ends) and self.breaks < self.max_breaks)
        self.breaks += 1
        for one in ends:
            for other in ends - {one}:
                self.disconnect(one, other)

    @action
    def connection_returns(self, ends: Set[Node]) -> None:
        require(len(ends) == 2 and not self.are_connected(ends))
        for one in ends:
            for other in ends - {one}:
                self.connected[one].add(other)

    @action
    def message_arrives(self, source: Node, destination: Node) -> None:
        require(len(self.links[source][destination]) > 0)
        message = self.links[source][destination][0]
        self.links[source][destination] = self.links[source][destination][1:]
        if message.kind == Kind.REQUEST_VOTE:
            self.handle_request_vote(destination, source, message)
        elif message.kind == Kind.RESPONSE_VOTE:
            self.handle_response_vote(destination, message)
        elif message.kind == Kind.APPEND_ENTRIES:
            self.handle_append_entries(destination, source, message)
        else:
            self.handle_next_node_idx(destination, source, message)

    # Roles and terms.

    def last_term(self, node: Node) -> Term:
        return self.logs[node][len(self.logs[node]) - 1].term

    @rule
    def set_term(self, node: Node, term: Term, voted: Node | None) -> None:
        """Stores term and vote, and the commit index with them."""
        self.term[node] = term
        self.voted[node] = voted
        self.stored_commit[node] = self.commit[node]

    def take_role(self, node: Node, role: Role) -> None:
        if role != self.role[node]:
            self.role[node] = role
            self.votes[node] = 0
            self.next_index[node] = Map({other: 0 for other in Node})
            self.match_index[node] = Map({other: 0 for other in Node})

    def is_majority(self, count: int) -> bool:
        return 2 * count > self.nodes

    @action
    def election_times_out(self, node: Node) -> None:
        """A tick of a node that has not heard from a leader for long enough."""
        require(self.role[node] != Role.LEADER and len(self.connected[node]) > 0 and self.term[node] < self.max_term)
        self.save_commit(node)
        self.take_role(node, Role.CANDIDATE)
        self.set_term(node, self.term[node] + 1, node)
        self.votes[node] = 1
        request = Message(
            kind=Kind.REQUEST_VOTE, term=self.term[node], index=len(self.logs[node]), log_term=self.last_term(node)
        )
        self.send_all(node, Map({other: Seq([request]) for other in Node}))
        self.apply_entries(node)

    @rule
    def is_up_to_date(self, message: Message, voter: Node) -> bool:
        """Whether the candidate's log is at least as new as the voter's."""
        own = self.last_term(voter)
        return message.log_term > own or (message.log_term == own and message.index >= len(self.logs[voter]))

    def handle_request_vote(self, voter: Node, candidate: Node, message: Message) -> None:
        if message.term > self.term[voter]:
            self.set_term(voter, message.term, None)
            self.take_role(voter, Role.FOLLOWER)
        current = message.term == self.term[voter] and self.role[voter] != Role.LEADER
        if current and self.is_up_to_date(message, voter) and self.voted[voter] is None:
            self.set_term(voter, message.term, candidate)
            self.send(voter, candidate, Message(kind=Kind.RESPONSE_VOTE, term=message.term))

    def handle_response_vote(self, candidate: Node, message: Message) -> None:
        if self.role[candidate] == Role.CANDIDATE and message.term == self.term[candidate]:
            self.votes[candidate] += 1
            if self.is_majority(self.votes[candidate]):
                self.transition_to_leader(candidate)

    def transition_to_leader(self, node: Node) -> None:
        """Begins its term with a no-op, which it sends at once."""
        require(len(self.logs[node]) < self.max_log)
        self.take_role(node, Role.LEADER)
        self.next_index[node] = Map({other: len(self.logs[node]) + 1 if other != node else 0 for other in Node})
        self.logs[node].append(Entry(term=self.term[node], write=0))
        if self.elected[self.term[node]] is None:
            self.elected[self.term[node]] = node
        self.send_append_entries(node)

    @action
    def leader_steps_down(self, leader: Node) -> None:
        """A tick of a leader that has not heard from a majority for long enough (leaderFallbackTimeout)."""
        require(self.fallback and self.role[leader] == Role.LEADER)
        self.save_commit(leader)
        self.advance_commit(leader)
        self.take_role(leader, Role.FOLLOWER)
        self.apply_entries(leader)

    # Log replication.

    @action
    def leader_ticks(self, leader: Node, writes: bool, sends: bool) -> None:
        """A tick of a leader, in which it may be time to send, and a client's command may have arrived."""
        require(self.role[leader] == Role.LEADER)
        require(writes or sends or self.committable(leader) != self.commit[leader])
        self.save_commit(leader)
        self.advance_commit(leader)
        self.apply_entries(leader)
        if sends:
            self.send_append_entries(leader)
        if writes:
            require(self.writes < self.max_writes and len(self.logs[leader]) < self.max_log)
            self.writes += 1
            self.logs[leader].append(Entry(term=self.term[leader], write=self.writes))
            self.waiting[leader].add(self.writes)

    def save_commit(self, node: Node) -> None:
        """The timer that stores the commit index fires in every tick."""
        self.stored_commit[node] = self.commit[node]

    def size(self, entry: Entry) -> int:
        return 1 if entry.write == 0 else self.write_size

    def batch(self, leader: Node, begin: int) -> Log:
        """The entries from an index on that travel together; none if the index is past the end."""
        log = self.logs[leader]
        end = begin - 1
        size = 0
        for index in range(1, self.max_log + 1):
            if index >= begin and index <= len(log) and size < self.batch_size:
                size = size + self.size(log[index - 1])
                end = index
        return log[begin - 1 : end]

    def send_append_entries(self, leader: Node) -> None:
        """Sends each connected node all entries that the leader has for it, or a message without any."""
        end = len(self.logs[leader])
        self.send_all(leader, Map({other: self.append_entries(leader, other) for other in Node}))
        self.next_index[leader] = Map({
            other: max(self.next_index[leader][other], end + 1) if other in self.connected[leader]
            else self.next_index[leader][other]
            for other in Node
        })

    def append_entries(self, leader: Node, node: Node) -> Messages:
        """As many messages as there are batches, at least one."""
        if node == leader:
            return Seq()
        begin = self.next_index[leader][node]
        return Seq(
            self.append_batch(leader, first)
            for first in range(1, self.max_log + 2)
            if first == begin or self.ends_batch(leader, begin, first - 1)
        )

    def ends_batch(self, leader: Node, begin: int, last: int) -> bool:
        """Whether, of the entries from ``begin`` on, a batch ends with this one and more follow."""
        log = self.logs[leader]
        if last < begin or last >= len(log):
            return False
        size = 0
        for index in range(1, self.max_log + 1):
            if index >= begin and index <= last:
                size = size + self.size(log[index - 1])
                if size >= self.batch_size:
                    size = 0
        return size == 0

    def append_batch(self, leader: Node, begin: int) -> Message:
        log = self.logs[leader]
        known = begin - 1 <= len(log)
        return Message(
            kind=Kind.APPEND_ENTRIES,
            term=self.term[leader],
            index=begin - 1 if known else 0,
            log_term=log[begin - 2].term if known else 0,
            commit=self.commit[leader],
            entries=self.batch(leader, begin),
        )

    def handle_append_entries(self, node: Node, leader: Node, message: Message) -> None:
        if message.term < self.term[node]:
            return
        if message.term > self.term[node]:
            self.set_term(node, message.term, None)
        self.take_role(node, Role.FOLLOWER)
        log = self.logs[node]
        previous = message.index
        if previous == 0 or previous > len(log):
            self.answer(node, leader, len(log) + 1, True, False)
        elif log[previous - 1].term != message.log_term:
            self.answer(node, leader, previous, True, False)
        else:
            self.take_entries(node, previous, message.entries)
            self.answer(node, leader, self.wanted_index(message), False, True)
            self.learn_commit(node, message)

    @rule
    def take_entries(self, node: Node, previous: Index, entries: Log) -> None:
        """Only what contradicts the leader's log is removed (Raft, figure 2: "If an existing entry conflicts")."""
        log = self.logs[node]
        end = previous + len(entries)
        if len(log) < end or log[previous:end] != entries:
            self.logs[node] = log[:previous] + entries

    @rule
    def wanted_index(self, message: Message) -> Annotated[int, Between(0, "max_log + 1")]:
        """What a follower that took the entries wants next."""
        return message.index + len(message.entries) + 1

    def answer(self, node: Node, leader: Node, wanted: int, reset: bool, success: bool) -> None:
        self.send(node, leader, Message(
            kind=Kind.NEXT_NODE_IDX, term=self.answer_term(node), index=wanted, reset=reset, success=success
        ))

    @rule
    def answer_term(self, node: Node) -> Term:
        """The answer says in which term the follower took, or refused, the entries."""
        return self.term[node]

    @rule
    def learn_commit(self, node: Node, message: Message) -> None:
        """How far the follower's log is known to match the leader's."""
        self.commit[node] = max(self.commit[node], min(message.commit, message.index + len(message.entries)))

    @rule
    def is_current(self, leader: Node, message: Message) -> bool:
        """Whether an answer is to something that this leader sent in its current term."""
        return message.term == self.term[leader]

    def handle_next_node_idx(self, leader: Node, node: Node, message: Message) -> None:
        if self.role[leader] == Role.LEADER and self.is_current(leader, message):
            if message.reset:
                self.next_index[leader][node] = message.index
            if message.success:
                self.learn_match(leader, node, message.index)

    @rule
    def learn_match(self, leader: Node, node: Node, wanted: int) -> None:
        if self.match_index[leader][node] < wanted - 1:
            self.match_index[leader][node] = wanted - 1
            self.next_index[leader][node] = wanted

    @rule
    def may_commit(self, leader: Node, index: Index) -> bool:
        """An entry of an earlier term may still be replaced (Raft, figure 8)."""
        return self.logs[leader][index - 1].term == self.term[leader]

    def committable(self, leader: Node) -> Index:
        found = self.commit[leader]
        for index in range(1, self.max_log + 1):
            if index > self.commit[leader] and index <= len(self.logs[leader]):
                copies = 1 + sum(1 for other in Node if other != leader and self.match_index[leader][other] >= index)
                if not self.is_majority(copies):
                    break
                if self.may_commit(leader, index):
                    found = index
        return found

    def advance_commit(self, leader: Node) -> None:
        self.commit[leader] = self.committable(leader)
        known = self.logs[leader][: self.commit[leader]]
        if len(known) > len(self.committed) or known != self.committed[: len(known)]:
            self.committed = known

    def apply_entries(self, node: Node) -> None:
        """Applies what is committed, and answers the clients that wait for it here."""
        log = self.logs[node]
        for index in range(1, self.max_log + 1):
            if index > self.applied[node] and index <= self.commit[node] and index <= len(log):
                write = log[index - 1].write
                if write in self.waiting[node]:
                    self.waiting[node].discard(write)
                    self.acknowledged.add(write)
        self.applied[node] = max(self.applied[node], min(self.commit[node], len(log)))

    # Restarts.

    @action
    def node_restarts(self, node: Node) -> None:
        """A kill -9 and a restart: the journal and stored state survive, connections do not."""
        require(self.restarts < self.max_restarts)
        self.restarts += 1
        for other in Node:
            if other != node:
                self.disconnect(node, other)
        self.take_role(node, Role.FOLLOWER)
        self.votes[node] = 0
        self.commit[node] = self.stored_commit[node]
        self.applied[node] = 1
        self.waiting[node] = Set()
        self.forget(node)

    @rule
    def forget(self, node: Node) -> None:
        """What else a restart forgets."""
        self.term[node] = max(self.term[node], self.last_term(node))

    # What must hold.

    def leads(self, node: Node) -> bool:
        return self.role[node] == Role.LEADER

    def leads_newest_term(self, node: Node) -> bool:
        return self.leads(node) and all(
            self.elected[term] is None or term <= self.term[node] for term in range(self.max_term + 1)
        )

    @invariant
    def election_safety(self) -> bool:
        """A term has one leader."""
        return all(
            implies(self.leads(node), self.elected[self.term[node]] == node) for node in Node
        )

    @invariant
    def log_matching(self) -> bool:
        """Logs that have an entry of the same index and term are the same up to there."""
        return all(
            implies(
                index < len(self.logs[one]) and index < len(self.logs[other])
                and self.logs[one][index].term == self.logs[other][index].term,
                self.logs[one][: index + 1] == self.logs[other][: index + 1],
            )
            for one in Node
            for other in Node
            if one != other
            for index in range(self.max_log)
        )

    @invariant
    def leader_has_what_is_committed(self) -> bool:
        """Leader completeness: whoever leads the newest term has every entry that was ever committed."""
        return all(
            implies(self.leads_newest_term(node), self.logs[node][: len(self.committed)] == self.committed)
            for node in Node
        )

    @invariant
    def leader_has_what_is_acknowledged(self) -> bool:
        """No write that a client was told to have succeeded is lost."""
        return all(
            implies(
                write in self.acknowledged and self.leads_newest_term(node),
                any(entry.write == write for entry in self.logs[node]),
            )
            for node in Node
            for write in range(1, self.max_writes + 1)
        )

    @invariant
    def majority_has_what_is_acknowledged(self) -> bool:
        """A write that a client was told to have succeeded is in the journals of a majority."""
        return all(
            implies(
                write in self.acknowledged,
                self.is_majority(sum(1 for node in Node if any(entry.write == write for entry in self.logs[node]))),
            )
            for write in range(1, self.max_writes + 1)
        )

    @invariant
    def committed_entries_agree(self) -> bool:
        """State machine safety: what two nodes apply at an index is the same."""
        return all(
            self.logs[node][: min(self.commit[node], len(self.committed))]
            == self.committed[: min(self.commit[node], len(self.committed))]
            for node in Node
        )

    @invariant
    def match_index_is_true(self) -> bool:
        """A leader counts no entry for a node that does not have it."""
        return all(
            implies(
                self.leads_newest_term(leader) and other != leader,
                len(self.logs[other]) >= self.match_index[leader][other]
                and self.logs[other][: self.match_index[leader][other]]
                == self.logs[leader][: self.match_index[leader][other]],
            )
            for leader in Node
            for other in Node
        )

    @invariant
    def next_index_is_above_match_index(self) -> bool:
        return all(
            implies(
                self.leads(leader) and other != leader,
                self.next_index[leader][other] > self.match_index[leader][other],
            )
            for leader in Node
            for other in Node
        )

    @transition
    def match_index_never_decreases(self, new: Raft) -> bool:
        """As long as a leader leads its term."""
        return all(
            implies(
                self.leads(leader) and new.leads(leader) and self.term[leader] == new.term[leader],
                self.match_index[leader][other] <= new.match_index[leader][other],
            )
            for leader in Node
            for other in Node
        )

    @transition
    def commit_index_never_decreases(self, new: Raft) -> bool:
        """But in a restart."""
        return all(
            implies(self.restarts == new.restarts, self.commit[node] <= new.commit[node]) for node in Node
        )

    @transition
    def leader_commits_its_own_term(self, new: Raft) -> bool:
        """A leader that moves its commit index moves it to an entry of its term."""
        return all(
            new.logs[node][new.commit[node] - 1].term == new.term[node]
            for node in Node
            if self.leads(node) and new.leads(node) and new.commit[node] > self.commit[node]
        )

    @transition
    def term_never_decreases(self, new: Raft) -> bool:
        return all(self.term[node] <= new.term[node] for node in Node)

    @transition
    def vote_is_kept(self, new: Raft) -> bool:
        """A node votes once in a term, restarts or not."""
        return all(
            implies(
                self.term[node] == new.term[node] and self.voted[node] is not None,
                self.voted[node] == new.voted[node],
            )
            for node in Node
        )
