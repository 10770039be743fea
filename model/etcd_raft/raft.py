"""etcd's Raft: the library go.etcd.io/raft, step by step as its own state traces log it.

Start here. The names of methods are those of etcd's ``raft.go``, ``log.go`` and ``confchange.go``:

    elections, replication by MsgApp           raft.py       flawed.py    raft
    pre-votes, the lease of a leader           raft.py       flawed.py    pre_vote
    learners, joint configurations, snapshots  raft.py       flawed.py    membership
    runs that were recorded elsewhere          recorded.py                recorded
    tests of the library, later writes         interactive.py             interactive

A node handles one message at a time. Its messages wait in its ``outbox`` until the application has stored the node's
state (``Ready``); messages to itself go the same way, so a leader counts its own copy only after it was stored. The
network loses messages, which it does as soon as they are sent, and delivers them in any order.

Several things that etcd does in one call of ``Step`` are steps of their own here: entering the term of a message
(``learns_term``), and advancing the commit index after an acknowledgement (``leader_commits``, which is ``due`` before
the leader does anything else). Other nodes may act in between. A leader sends entries whenever it likes: flow control
(Progress.Next, inflight messages, pauses) decides only when. Nothing has a clock.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Bag,
    Between,
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


class Node(Identifier, count="nodes", prefix="n"):
    """A member of the group, or a node that may become one."""


Term = Annotated[int, Between(0, "max_term")]
Index = Annotated[int, Between(0, "max_log")]
"""A position in the log; the first entry has index 1, and 0 is before it."""


class Change(Record):
    """A configuration change (raftpb.ConfChangeV2). One without any node leaves a joint configuration."""

    voters: Set[Node]
    learners: Set[Node]
    removed: Set[Node]
    joint: bool


class Entry(Record):
    """An entry of the log. What clients write is left out: a leader writes an index once in its term."""

    term: Term
    change: Change | None


Log = Seq[Entry]


class Config(Record):
    """A configuration (tracker.Config): while there are outgoing voters, it is joint."""

    incoming: Set[Node]
    outgoing: Set[Node]
    learners: Set[Node]
    learners_next: Set[Node]
    """Outgoing voters that become learners when the joint configuration is left."""


class Role(Enum):
    """raft.StateType."""

    FOLLOWER = "StateFollower"
    PRE_CANDIDATE = "StatePreCandidate"
    CANDIDATE = "StateCandidate"
    LEADER = "StateLeader"


class Due(Enum):
    """What a node has to do before anything else."""

    NOTHING = "nothing"
    ELECTION = "election"
    """A candidate has won, and leads; or it has lost, and follows."""
    FIRST_ENTRY = "first entry"
    """A new leader appends an empty entry of its term."""
    COMMIT = "commit"
    """A leader looks whether its commit index advances."""


class Kind(Enum):
    """raftpb.MessageType, as far as nodes send them to each other."""

    PRE_VOTE = "MsgPreVote"
    PRE_VOTE_RESPONSE = "MsgPreVoteResp"
    VOTE = "MsgVote"
    VOTE_RESPONSE = "MsgVoteResp"
    APPEND = "MsgApp"
    APPEND_RESPONSE = "MsgAppResp"
    HEARTBEAT = "MsgHeartbeat"
    HEARTBEAT_RESPONSE = "MsgHeartbeatResp"
    SNAPSHOT = "MsgSnap"


class Message(Record):
    """A message (raftpb.Message). Fields that its kind does not use are 0, empty or False."""

    kind: Kind
    source: Node
    destination: Node
    term: Term
    index: Index = 0
    """VOTE: the candidate's last index. APPEND: the index before the entries. SNAPSHOT: its last index. Its response:
    the last index that was acknowledged, or the one that was refused."""
    log_term: Term = 0
    """The term of the entry at the index; in a refusal, at the hint."""
    entries: Log
    """SNAPSHOT: the whole log up to its index, which stands for the state of the application."""
    commit: Index = 0
    reject: bool = False
    hint: Index = 0


class EtcdRaft(Model):
    """One group, and the messages between its nodes."""

    nodes = Constant(3)
    voters = Constant(3)
    """The first so many nodes are voters at the beginning."""
    max_term = Constant(3)
    max_log = Constant(2)
    max_outbox = Constant(3)
    max_messages = Constant(3)
    max_restarts = Constant(0)
    pre_vote = Constant(False)
    check_quorum = Constant(False)
    """Whether a node ignores candidates as long as it hears from a leader (the leader's lease)."""
    heartbeats = Constant(True)
    changes = Constant(False)
    validates_changes = Constant(True)
    """Whether a leader refuses to propose a change while another is pending (not DisableConfChangeValidation)."""
    snapshots = Constant(False)
    early_sends = Constant(False)
    """Whether requests may be sent before the state is stored, as in etcd they may (AsyncStorageWrites)."""

    term: Map[Node, Term]
    vote: Map[Node, Node | None]
    role: Map[Node, Role]
    leader: Map[Node, Node | None]
    """The leader of its term that a node knows."""
    log: Map[Node, Log]
    commit: Map[Node, Index]
    config: Map[Node, Config]
    configured: Map[Node, Index]
    """The last index whose configuration change, if it has one, is in the configuration."""
    applied: Map[Node, Index]
    pending_change: Map[Node, Index]
    """A leader's newest configuration change has at most this index (pendingConfIndex)."""
    granted: Map[Node, Set[Node]]
    refused: Map[Node, Set[Node]]
    match: Map[Node, Map[Node, Index]]
    """How far a leader knows that each node has its log (Progress.Match)."""
    due: Map[Node, Due]
    stored_term: Map[Node, Term]
    """What survives a crash (raftpb.HardState, and the log)."""
    stored_vote: Map[Node, Node | None]
    stored_commit: Map[Node, Index]
    stored_log: Map[Node, Log]
    outbox: Map[Node, Seq[Message]]
    network: Bag[Message]

    restarts: Annotated[int, Between(0, "max_restarts")]

    elected: Map[Term, Node | None]
    """History: who became the leader of each term."""
    panicked: bool
    """History: a node found itself in a state in which etcd panics."""

    @initial
    def start(self) -> None:
        """The voters have one entry, which makes them voters; other nodes are empty."""
        voters = Set[Node]()
        for node in Node:
            if len(voters) < self.voters:
                voters = voters | {node}
        first = Entry(term=1, change=Change(voters=voters, learners=Set(), removed=Set(), joint=False))
        self.empty()
        for node in Node:
            if node in voters:
                self.boot(node, 1, 1, Seq([first]), Config(
                    incoming=voters, outgoing=Set(), learners=Set(), learners_next=Set()
                ))
                self.configured[node] = 1
                self.applied[node] = 1

    def empty(self) -> None:
        """Nothing has happened yet."""
        self.term = Map({node: 0 for node in Node})
        self.vote = Map({node: None for node in Node})
        self.role = Map({node: Role.FOLLOWER for node in Node})
        self.leader = Map({node: None for node in Node})
        self.log = Map({node: Seq() for node in Node})
        self.commit = Map({node: 0 for node in Node})
        self.config = Map({node: self.no_config() for node in Node})
        self.configured = Map({node: 0 for node in Node})
        self.applied = Map({node: 0 for node in Node})
        self.pending_change = Map({node: 0 for node in Node})
        self.granted = Map({node: Set() for node in Node})
        self.refused = Map({node: Set() for node in Node})
        self.match = Map({node: Map({other: 0 for other in Node}) for node in Node})
        self.due = Map({node: Due.NOTHING for node in Node})
        self.stored_term = Map({node: 0 for node in Node})
        self.stored_vote = Map({node: None for node in Node})
        self.stored_commit = Map({node: 0 for node in Node})
        self.stored_log = Map({node: Seq() for node in Node})
        self.outbox = Map({node: Seq() for node in Node})
        self.network = Bag()
        self.restarts = 0
        self.elected = Map({term: None for term in range(self.max_term + 1)})
        self.panicked = False

    def boot(self, node: Node, term: Term, commit: Index, log: Log, config: Config) -> None:
        """The application starts a node with a log that is committed and a configuration."""
        self.term[node] = term
        self.log[node] = log
        self.commit[node] = commit
        self.config[node] = config
        self.store(node)

    def no_config(self) -> Config:
        return Config(incoming=Set(), outgoing=Set(), learners=Set(), learners_next=Set())

    # The log.

    def last_index(self, node: Node) -> Index:
        return len(self.log[node])

    def term_at(self, node: Node, index: Index) -> Term:
        """The term of an entry; 0 before the first and after the last."""
        return self.log[node][index - 1].term if index > 0 and index <= len(self.log[node]) else 0

    def last_term(self, node: Node) -> Term:
        return self.term_at(node, len(self.log[node]))

    @rule
    def is_up_to_date(self, voter: Node, index: Index, term: Term) -> bool:
        """A log that ends with this entry has at least what the voter's has (raftLog.isUpToDate)."""
        return term > self.last_term(voter) or (term == self.last_term(voter) and index >= self.last_index(voter))

    @rule
    def matches(self, node: Node, index: Index, term: Term) -> bool:
        """The node has this entry (raftLog.matchTerm)."""
        return index == 0 or (index <= self.last_index(node) and self.term_at(node, index) == term)

    def commit_to(self, node: Node, index: Index) -> None:
        """raftLog.commitTo, which panics when there is no entry to commit."""
        if index > self.last_index(node):
            self.panicked = True
        elif index > self.commit[node]:
            self.commit[node] = index

    def overwrite(self, node: Node, index: Index, entries: Log) -> None:
        """Entries follow an index at which the logs match: what conflicts with them is cut off (raftLog.maybeAppend).
        """
        kept = self.kept_entries(node, index, entries)
        if kept < len(entries):
            if index + kept < self.commit[node]:
                self.panicked = True
            self.log[node] = self.log[node][: index + kept] + entries[kept:]

    @rule
    def kept_entries(self, node: Node, index: Index, entries: Log) -> Index:
        """How many of the entries the node has already (raftLog.findConflict)."""
        kept = 0
        for number, entry in enumerate(entries, 1):
            if not self.matches(node, index + number, entry.term):
                break
            kept = number
        return kept

    def conflict_by_term(self, node: Node, index: Index, term: Term) -> Index:
        """The last index up to this one whose term is not higher (raftLog.findConflictByTerm)."""
        found = 0
        for lower in range(index, 0, -1):
            if self.term_at(node, lower) <= term:
                found = lower
                break
        return found

    # Configurations.

    def members(self, config: Config) -> Set[Node]:
        """The nodes that a leader of this configuration sends entries to."""
        return config.incoming | config.outgoing | config.learners

    @rule
    def is_quorum(self, config: Config, nodes: Set[Node]) -> bool:
        """A majority of the voters and, in a joint configuration, of the outgoing ones (quorum.JointConfig)."""
        return self.is_majority(config.incoming, nodes) and self.is_majority(config.outgoing, nodes)

    def is_majority(self, voters: Set[Node], nodes: Set[Node]) -> bool:
        return len(nodes & voters) > len(voters) // 2 or len(voters) == 0

    @rule
    def may_stand(self, node: Node) -> bool:
        """Only voters stand for election (raft.promotable)."""
        return node in self.config[node].incoming | self.config[node].outgoing

    def changed(self, config: Config, change: Change) -> Config:
        """A configuration after a change (confchange.Changer)."""
        if len(change.voters) == 0 and len(change.learners) == 0 and len(change.removed) == 0:
            return Config(
                incoming=config.incoming,
                outgoing=Set(),
                learners=config.learners | config.learners_next,
                learners_next=Set(),
            )
        outgoing = config.incoming if change.joint else config.outgoing
        demoted = change.learners & outgoing
        return Config(
            incoming=(config.incoming | change.voters) - change.learners - change.removed,
            outgoing=outgoing,
            learners=(config.learners | (change.learners - demoted)) - change.voters - change.removed,
            learners_next=(config.learners_next | demoted) - change.voters - change.removed,
        )

    def config_at(self, log: Log) -> Config:
        """The configuration after all changes of a log."""
        config = self.no_config()
        for entry in log:
            if entry.change is not None:
                config = self.changed(config, entry.change)
        return config

    def switch_to_config(self, node: Node, config: Config) -> None:
        """Takes a configuration (raft.switchToConfig). A leader forgets nodes that are no longer in it, and the new
        quorum may have more of its log."""
        members = self.members(config)
        self.config[node] = config
        self.match[node] = Map(
            {other: self.match[node][other] if other in members else 0 for other in Node}
        )
        if self.role[node] == Role.LEADER and node in members and node not in config.learners:
            self.due[node] = Due.COMMIT

    # Roles.

    def take_role(self, node: Node, role: Role, leader: Node | None) -> None:
        """What becoming anything does (raft.reset)."""
        self.role[node] = role
        self.leader[node] = leader
        self.granted[node] = Set()
        self.refused[node] = Set()
        self.match[node] = Map({other: 0 for other in Node})
        self.pending_change[node] = 0
        self.due[node] = Due.NOTHING

    def enter_term(self, node: Node, term: Term) -> None:
        self.term[node] = term
        self.vote[node] = None

    def send(self, message: Message) -> None:
        require(len(self.outbox[message.source]) < self.max_outbox)
        self.outbox[message.source].append(message)

    def request_votes(self, node: Node, request: Kind, response: Kind, term: Term) -> None:
        """Asks all voters, in their order, itself by a response that it receives once its state is stored."""
        for voter in Node:
            if voter in self.config[node].incoming | self.config[node].outgoing:
                if voter == node:
                    self.send(Message(kind=response, source=node, destination=node, term=term, entries=Seq()))
                else:
                    self.send(Message(
                        kind=request, source=node, destination=voter, term=term, index=self.last_index(node),
                        log_term=self.last_term(node), entries=Seq(),
                    ))

    def has_unapplied_change(self, node: Node) -> bool:
        """A committed configuration change waits for being applied (raft.hasUnappliedConfChanges)."""
        return any(
            entry.change is not None for entry in self.log[node][self.configured[node] : self.commit[node]]
        )

    @action
    def pre_campaigns(self, node: Node) -> None:
        """An election timeout with pre-votes: asks whether it would be elected, before it begins a term."""
        require(self.pre_vote and self.role[node] != Role.LEADER and self.due[node] == Due.NOTHING)
        require(self.may_stand(node) and not self.has_unapplied_change(node))
        require(self.term[node] < self.max_term)
        self.role[node] = Role.PRE_CANDIDATE
        self.leader[node] = None
        self.granted[node] = Set()
        self.refused[node] = Set()
        self.request_votes(node, Kind.PRE_VOTE, Kind.PRE_VOTE_RESPONSE, self.term[node] + 1)

    @action
    def campaigns(self, node: Node) -> None:
        """An election timeout, a won pre-election, or an order to take over (MsgTimeoutNow)."""
        require(self.role[node] != Role.LEADER and self.term[node] < self.max_term)
        require(self.may_stand(node) and not self.has_unapplied_change(node))
        require(self.may_campaign(node))
        self.take_role(node, Role.CANDIDATE, None)
        self.enter_term(node, self.term[node] + 1)
        self.vote[node] = node
        self.request_votes(node, Kind.VOTE, Kind.VOTE_RESPONSE, self.term[node])

    @rule
    def may_campaign(self, node: Node) -> bool:
        if self.pre_vote:
            return (
                self.due[node] == Due.ELECTION
                and self.role[node] == Role.PRE_CANDIDATE
                and self.is_quorum(self.config[node], self.granted[node])
            )
        return self.due[node] == Due.NOTHING

    @action
    def becomes_leader(self, node: Node) -> None:
        """A candidate has a quorum of votes."""
        require(self.due[node] == Due.ELECTION and self.role[node] == Role.CANDIDATE)
        require(self.is_quorum(self.config[node], self.granted[node]))
        self.take_role(node, Role.LEADER, node)
        self.match[node][node] = self.last_index(node)
        self.pending_change[node] = self.last_index(node)
        self.due[node] = Due.FIRST_ENTRY
        self.elected[self.term[node]] = node

    @action
    def gives_up(self, node: Node) -> None:
        """Too many voters have refused (quorum.VoteLost)."""
        require(self.due[node] == Due.ELECTION and self.has_lost(node))
        self.take_role(node, Role.FOLLOWER, None)

    def has_lost(self, node: Node) -> bool:
        config = self.config[node]
        return not self.is_quorum(config, (config.incoming | config.outgoing) - self.refused[node])

    @action
    def steps_down(self, node: Node) -> None:
        """A leader has not heard from a quorum, or is no longer a voter (MsgCheckQuorum, StepDownOnRemoval)."""
        require(self.role[node] == Role.LEADER and self.due[node] in (Due.NOTHING, Due.COMMIT))
        require(self.check_quorum or not self.may_stand(node))
        self.take_role(node, Role.FOLLOWER, None)

    @action
    def forgets_leader(self, node: Node) -> None:
        """The application tells a follower that its leader is dead (MsgForgetLeader)."""
        require(self.check_quorum and self.role[node] == Role.FOLLOWER and self.leader[node] is not None)
        self.leader[node] = None

    # What a leader does.

    @action
    def leader_appends(self, leader: Node) -> None:
        """A client's proposal, or the first entry of a new leader's term."""
        require(self.role[leader] == Role.LEADER and self.due[leader] in (Due.NOTHING, Due.FIRST_ENTRY))
        require(self.due[leader] == Due.FIRST_ENTRY or leader in self.members(self.config[leader]))
        self.append(leader, None)
        self.due[leader] = Due.NOTHING

    @action
    def leader_proposes(self, leader: Node, voters: Set[Node], learners: Set[Node], removed: Set[Node], joint: bool
                        ) -> None:
        """A configuration change. It waits until the one before it is applied."""
        require(self.changes and self.role[leader] == Role.LEADER and self.due[leader] == Due.NOTHING)
        require(leader in self.members(self.config[leader]))
        require(voters & learners == Set() and (voters | learners) & removed == Set())
        change = Change(voters=voters, learners=learners, removed=removed, joint=joint)
        leaves = voters | learners | removed == Set()
        require(not self.validates_changes or self.may_propose(leader, leaves))
        require(not leaves or not joint)
        require(leaves or joint or len(voters | learners | removed) == 1)
        require(leaves or self.changed(self.config[leader], change).incoming != Set())
        self.append(leader, change)
        self.pending_change[leader] = self.last_index(leader)

    @rule
    def may_propose(self, leader: Node, leaves: bool) -> bool:
        is_joint = self.config[leader].outgoing != Set()
        return self.pending_change[leader] <= self.applied[leader] and is_joint == leaves

    def append(self, leader: Node, change: Change | None) -> None:
        """Appends an entry, and acknowledges it to itself once it is stored (raft.appendEntry)."""
        require(self.last_index(leader) < self.max_log)
        self.log[leader].append(Entry(term=self.term[leader], change=change))
        self.send(Message(
            kind=Kind.APPEND_RESPONSE, source=leader, destination=leader, term=self.term[leader],
            index=self.last_index(leader), entries=Seq(),
        ))

    @action
    def leader_sends_entries(self, leader: Node, to: Node, start: Index, count: Index) -> None:
        """Sends entries, or none, to whoever is in its configuration (raft.maybeSendAppend)."""
        require(self.may_send(leader, to))
        require(self.match[leader][to] <= start and start + count <= self.last_index(leader))
        self.send(Message(
            kind=Kind.APPEND, source=leader, destination=to, term=self.term[leader], index=start,
            log_term=self.term_at(leader, start), entries=self.log[leader][start : start + count],
            commit=self.commit[leader],
        ))

    def may_send(self, leader: Node, to: Node) -> bool:
        return (
            self.role[leader] == Role.LEADER
            and self.due[leader] == Due.NOTHING
            and to != leader
            and to in self.members(self.config[leader])
        )

    @action
    def leader_sends_heartbeat(self, leader: Node, to: Node) -> None:
        """Tells how far the follower may commit (raft.sendHeartbeat)."""
        require(self.heartbeats and self.may_send(leader, to))
        self.send(Message(
            kind=Kind.HEARTBEAT, source=leader, destination=to, term=self.term[leader],
            commit=self.heartbeat_commit(leader, to), entries=Seq(),
        ))

    @rule
    def heartbeat_commit(self, leader: Node, to: Node) -> Index:
        return min(self.match[leader][to], self.commit[leader])

    @action
    def leader_sends_snapshot(self, leader: Node, to: Node, index: Index) -> None:
        """Sends what it has applied in place of entries (raft.maybeSendSnapshot)."""
        require(self.snapshots and self.may_send(leader, to))
        require(index > 0 and index <= self.applied[leader])
        self.send(self.snapshot_message(leader, to, index))

    def snapshot_message(self, node: Node, to: Node, index: Index) -> Message:
        return Message(
            kind=Kind.SNAPSHOT, source=node, destination=to, term=self.term[node], index=index,
            log_term=self.term_at(node, index), entries=self.log[node][:index],
        )

    @action
    def leader_commits(self, leader: Node) -> None:
        """Commits what a quorum has, if it ends with an entry of the leader's term (raft.maybeCommit)."""
        require(self.role[leader] == Role.LEADER and self.may_look_at_commit(leader))
        index = max(
            (self.match[leader][node] for node in Node if self.has_up_to(leader, self.match[leader][node])), default=0
        )
        if index > self.commit[leader] and self.may_commit(leader, index):
            self.commit[leader] = index
        self.due[leader] = Due.NOTHING

    @rule
    def may_look_at_commit(self, leader: Node) -> bool:
        return self.due[leader] == Due.COMMIT

    def has_up_to(self, leader: Node, index: Index) -> bool:
        """A quorum has the log up to this index. Nobody is a quorum without voters."""
        config = self.config[leader]
        return config.incoming != Set() and self.is_quorum(
            config, Set([node for node in Node if self.match[leader][node] >= index])
        )

    @rule
    def may_commit(self, leader: Node, index: Index) -> bool:
        return self.term_at(leader, index) == self.term[leader]

    # Messages.

    @action
    def learns_term(self, message: Message) -> None:
        """A message has a higher term, which the node enters before it handles the message. Pre-votes are of terms that
        have not begun."""
        require(message in self.network)
        node = message.destination
        require(message.term > self.term[node] and self.due[node] == Due.NOTHING)
        require(message.kind != Kind.PRE_VOTE and (message.kind != Kind.PRE_VOTE_RESPONSE or message.reject))
        self.take_role(node, Role.FOLLOWER, message.source if self.is_from_leader(message) else None)
        self.enter_term(node, message.term)

    def is_from_leader(self, message: Message) -> bool:
        return message.kind in (Kind.APPEND, Kind.HEARTBEAT, Kind.SNAPSHOT)

    @action
    def ignores_candidate(self, message: Message) -> None:
        """A node that hears from a leader ignores candidates of later terms (raft.Step, "inLease")."""
        require(message in self.network)
        require(self.check_quorum and message.kind in (Kind.VOTE, Kind.PRE_VOTE))
        require(message.term > self.term[message.destination] and self.leader[message.destination] is not None)
        self.network.remove(message)

    @action
    def concedes(self, message: Message) -> None:
        """A candidate hears from the leader of its term, and follows it before it handles the message."""
        require(message in self.network)
        node = message.destination
        require(message.term == self.term[node] and self.is_from_leader(message))
        require(self.role[node] in (Role.CANDIDATE, Role.PRE_CANDIDATE))
        self.take_role(node, Role.FOLLOWER, message.source)

    @action
    def answers_stale(self, message: Message) -> None:
        """A leader of an earlier term hears of the later one (raft.Step, for CheckQuorum and PreVote)."""
        require(message in self.network)
        node = message.destination
        require(self.check_quorum or self.pre_vote)
        require(message.kind in (Kind.APPEND, Kind.HEARTBEAT) and message.term < self.term[node])
        self.network.remove(message)
        self.send(Message(
            kind=Kind.APPEND_RESPONSE, source=node, destination=message.source, term=self.term[node], entries=Seq()
        ))

    @action
    def handles(self, message: Message) -> None:
        """A message of the node's term, or of an earlier one, which is ignored; pre-votes may be of a later one."""
        require(message in self.network)
        node = message.destination
        require(self.due[node] == Due.NOTHING)
        if message.kind == Kind.PRE_VOTE:
            self.handle_pre_vote(node, message)
        elif message.kind == Kind.PRE_VOTE_RESPONSE:
            require(message.term <= self.term[node] or not message.reject)
            if self.role[node] == Role.PRE_CANDIDATE and message.term > self.term[node] - (1 if message.reject else 0):
                self.count_vote(node, message)
        else:
            require(message.term <= self.term[node])
            if message.term == self.term[node]:
                self.handle(node, message)
        self.network.remove(message)

    def handle(self, node: Node, message: Message) -> None:
        """A message of the node's term. One that does not fit the node's role is ignored."""
        if message.kind == Kind.VOTE:
            self.handle_vote(node, message)
        elif message.kind == Kind.VOTE_RESPONSE:
            if self.role[node] == Role.CANDIDATE:
                self.count_vote(node, message)
        elif message.kind == Kind.APPEND_RESPONSE:
            if self.role[node] == Role.LEADER and message.source in self.members(self.config[node]):
                self.handle_append_response(node, message)
        elif self.is_from_leader(message):
            require(self.role[node] == Role.FOLLOWER)
            self.leader[node] = message.source
            if message.kind == Kind.APPEND:
                self.handle_append(node, message)
            elif message.kind == Kind.HEARTBEAT:
                self.handle_heartbeat(node, message)
            else:
                self.handle_snapshot(node, message)

    def respond(self, message: Message, kind: Kind, term: Term, index: Index = 0, reject: bool = False,
                hint: Index = 0, log_term: Term = 0) -> None:
        self.send(Message(
            kind=kind, source=message.destination, destination=message.source, term=term, index=index, reject=reject,
            hint=hint, log_term=log_term, entries=Seq(),
        ))

    @rule
    def can_vote(self, node: Node, candidate: Node) -> bool:
        """It has voted for the candidate, or for nobody while it knows no leader."""
        return self.vote[node] == candidate or (self.vote[node] is None and self.leader[node] is None)

    def handle_vote(self, node: Node, message: Message) -> None:
        """raft.Step, MsgVote. A learner votes, too: it may be a voter without knowing it."""
        if self.can_vote(node, message.source) and self.is_up_to_date(node, message.index, message.log_term):
            self.respond(message, Kind.VOTE_RESPONSE, message.term)
            self.vote[node] = message.source
        else:
            self.respond(message, Kind.VOTE_RESPONSE, self.term[node], reject=True)

    def handle_pre_vote(self, node: Node, message: Message) -> None:
        """raft.Step, MsgPreVote. A pre-vote promises nothing, and is not remembered."""
        can_vote = message.term > self.term[node] or (
            message.term == self.term[node] and self.can_vote(node, message.source)
        )
        if can_vote and self.is_up_to_date(node, message.index, message.log_term):
            self.respond(message, Kind.PRE_VOTE_RESPONSE, message.term)
        else:
            self.respond(message, Kind.PRE_VOTE_RESPONSE, self.term[node], reject=True)

    def count_vote(self, node: Node, message: Message) -> None:
        """The first answer of a voter counts (tracker.RecordVote)."""
        if message.source not in self.granted[node] | self.refused[node]:
            if message.reject:
                self.refused[node].add(message.source)
            else:
                self.granted[node].add(message.source)
        if self.is_quorum(self.config[node], self.granted[node]) or self.has_lost(node):
            self.due[node] = Due.ELECTION

    def handle_append(self, node: Node, message: Message) -> None:
        """raft.handleAppendEntries."""
        if message.index < self.commit[node]:
            self.respond(message, Kind.APPEND_RESPONSE, self.term[node], index=self.commit[node])
        elif self.matches(node, message.index, message.log_term):
            last = message.index + len(message.entries)
            self.overwrite(node, message.index, message.entries)
            self.commit_to(node, min(message.commit, last))
            self.respond(message, Kind.APPEND_RESPONSE, self.term[node], index=last)
        else:
            hint = self.conflict_by_term(node, min(message.index, self.last_index(node)), message.log_term)
            self.respond(
                message, Kind.APPEND_RESPONSE, self.term[node], index=message.index, reject=True, hint=hint,
                log_term=self.term_at(node, hint),
            )

    def handle_heartbeat(self, node: Node, message: Message) -> None:
        """raft.handleHeartbeat."""
        self.commit_to(node, message.commit)
        self.respond(message, Kind.HEARTBEAT_RESPONSE, self.term[node])

    def handle_snapshot(self, node: Node, message: Message) -> None:
        """raft.handleSnapshot: takes the leader's log and configuration, unless it has all of that."""
        config = self.config_at(message.entries)
        if message.index > self.commit[node] and node in self.members(config):
            if self.matches(node, message.index, message.log_term):
                self.commit_to(node, message.index)
            else:
                self.log[node] = message.entries
                self.commit[node] = message.index
                self.configured[node] = message.index
                self.switch_to_config(node, config)
        self.respond(message, Kind.APPEND_RESPONSE, self.term[node], index=self.commit[node])

    def handle_append_response(self, leader: Node, message: Message) -> None:
        """raft.stepLeader, MsgAppResp. A refusal only moves what is sent next."""
        if not message.reject and message.index > self.match[leader][message.source]:
            self.match[leader][message.source] = message.index
            self.due[leader] = Due.COMMIT

    # The application.

    def store(self, node: Node) -> None:
        self.stored_term[node] = self.term[node]
        self.stored_vote[node] = self.vote[node]
        self.stored_commit[node] = self.commit[node]
        self.stored_log[node] = self.log[node]

    @action
    def ready(self, node: Node, reached: Set[Node]) -> None:
        """The application takes what is to be done (Node.Ready): it stores the state, then it sends the messages, of
        which some are lost."""
        arriving = Seq([message for message in self.outbox[node] if message.destination in reached])
        require(all(any(message.destination == other for message in arriving) for other in reached))
        require(len(self.network) + len(arriving) <= self.max_messages)
        self.store_before_sending(node)
        for message in arriving:
            self.network.add(message)
        self.outbox[node] = Seq()

    @rule
    def store_before_sending(self, node: Node) -> None:
        self.store(node)

    @action
    def sends_early(self, node: Node) -> None:
        """Only answers have to wait until the state is stored (raft.send, msgsAfterAppend)."""
        require(self.early_sends)
        waiting = Seq([message for message in self.outbox[node] if self.waits(message)])
        require(len(waiting) < len(self.outbox[node]))
        require(len(self.network) + len(self.outbox[node]) - len(waiting) <= self.max_messages)
        for message in self.outbox[node]:
            if not self.waits(message):
                self.network.add(message)
        self.outbox[node] = waiting

    @rule
    def waits(self, message: Message) -> bool:
        return message.kind in (Kind.APPEND_RESPONSE, Kind.VOTE_RESPONSE, Kind.PRE_VOTE_RESPONSE)

    @action
    def applies_change(self, node: Node, index: Index) -> None:
        """The application applies the next committed configuration change (RawNode.ApplyConfChange)."""
        require(self.changes and self.configured[node] < index and index <= self.last_appliable(node))
        require(self.due[node] == Due.NOTHING)
        require(all(entry.change is None for entry in self.log[node][self.configured[node] : index - 1]))
        change = self.log[node][index - 1].change
        require(change is not None)
        assert change is not None
        self.configured[node] = index
        self.switch_to_config(node, self.changed(self.config[node], change))

    @action
    def applies(self, node: Node, index: Index) -> None:
        """The application has applied entries (raft.appliedTo), configuration changes among them one by one before."""
        require((self.changes or self.snapshots) and self.applied[node] < index and index <= self.last_appliable(node))
        require(
            all(entry.change is None for entry in self.log[node][self.configured[node] : index])
        )
        self.applied[node] = index
        self.configured[node] = max(self.configured[node], index)

    def last_appliable(self, node: Node) -> Index:
        """Up to where the application is given committed entries (Ready.CommittedEntries)."""
        return self.stored_commit[node]

    @action
    def restarts_from_disk(self, node: Node) -> None:
        """A node crashes, and starts with what was stored. What was not sent is lost."""
        require(self.restarts < self.max_restarts)
        self.restarts += 1
        self.take_role(node, Role.FOLLOWER, None)
        self.term[node] = self.stored_term[node]
        self.vote[node] = self.stored_vote[node]
        self.commit[node] = self.stored_commit[node]
        self.log[node] = self.stored_log[node]
        self.outbox[node] = Seq()
