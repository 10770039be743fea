"""Runs of etcd's Raft that were recorded elsewhere: nodes start one by one, each with the log that it was given.

``examples/etcd/reader.py`` reads what etcd's trace logger writes as steps of this model. The protocol itself is in
model/etcd_raft/raft.py, where to begin.
"""

from __future__ import annotations

from floodmark import Constant, Seq, Set, action, initial, require
from model.etcd_raft.raft import Change, Config, Due, Entry, EtcdRaft, Index, Kind, Message, Node, Term


class RecordedRaft(EtcdRaft):
    """A group of any size, and nodes that join it later."""

    started: Set[Node]
    validating: bool
    """Whether leaders refuse a change while another is pending; an application may turn that off."""

    again: Set[Node]
    """Leaders that got an acknowledgement of what was acknowledged before. Only one that probes looks at its commit
    index again; which they are is not modelled."""

    changes = Constant(True)
    snapshots = Constant(True)
    check_quorum = Constant(True)

    @initial
    def start(self) -> None:
        self.empty()
        self.started = Set()
        self.again = Set()
        self.validating = self.validates_changes

    @action
    def node_starts(
        self, node: Node, term: Term, commit: Index, voters: Set[Node], learners: Set[Node], replays: bool
    ) -> None:
        """A node starts with ``commit`` entries of the first term, the last of which is its configuration. One that
        ``replays`` was bootstrapped (RawNode.Bootstrap): each entry adds a voter, and it is going to apply them again.
        """
        require(node not in self.started)
        require(not replays or (commit == len(voters) and learners == Set()))
        self.started.add(node)
        if replays:
            log = Seq([self.adding(Set([voter]), Set()) for voter in voters])
        else:
            log = Seq([
                self.adding(voters, learners) if index == commit else Entry(term=1, change=None)
                for index in range(1, commit + 1)
            ])
        config = Config(incoming=voters, outgoing=Set(), learners=learners, learners_next=Set())
        self.boot(node, term, commit, log, config)
        self.configured[node] = 0 if replays else commit
        self.applied[node] = 0 if replays else commit

    def adding(self, voters: Set[Node], learners: Set[Node]) -> Entry:
        return Entry(term=1, change=Change(voters=voters, learners=learners, removed=Set(), joint=False))

    @action
    def validation_is_off(self) -> None:
        """The application disables the validation of changes (Config.DisableConfChangeValidation)."""
        require(self.validating and self.started == Set())
        self.validating = False

    @action
    def application_sends_snapshot(self, node: Node, to: Node, index: Index) -> None:
        """The application sends what it has applied by itself, in a message of the node's term."""
        require(node != to and index > 0 and index <= self.applied[node])
        require(len(self.network) < self.max_messages)
        self.network.add(self.snapshot_message(node, to, index))

    @action
    def message_arrives(self, message: Message) -> None:
        """A node gets a message that it is going to handle after it has entered its term, or together with its answer.
        """
        require(message in self.network)

    @action
    def network_loses(self, message: Message) -> None:
        """A message is never received."""
        require(message in self.network)
        self.network.remove(message)

    def handle(self, node: Node, message: Message) -> None:
        if (
            message.kind == Kind.APPEND_RESPONSE
            and not message.reject
            and self.match[node][message.source] == message.index
        ):
            self.again.add(node)
        else:
            self.again.discard(node)
        super().handle(node, message)

    def may_look_at_commit(self, leader: Node) -> bool:
        return super().may_look_at_commit(leader) or leader in self.again

    @action
    def leader_commits(self, leader: Node) -> None:
        super().leader_commits(leader)
        self.again.discard(leader)

    @action
    def leader_looks_at_commit(self, leader: Node) -> None:
        """The same where it is not logged, unless the commit index moves."""
        before = self.commit[leader]
        if self.due[leader] == Due.COMMIT:
            super().leader_commits(leader)
        require(self.commit[leader] == before)

    def may_propose(self, leader: Node, leaves: bool) -> bool:
        return not self.validating or super().may_propose(leader, leaves)

    def may_campaign(self, node: Node) -> bool:
        """Pre-votes are not logged."""
        return self.due[node] == Due.NOTHING
