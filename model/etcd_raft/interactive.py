"""etcd's Raft as the library's own interaction tests drive it: with pre-votes, and with storage that writes later.

``examples/etcd/interactions.py`` reads the logs of these tests (``testdata/*.txt``) as steps of this model. The
protocol itself is in model/etcd_raft/raft.py, where to begin, and how recorded runs differ from it in recorded.py.
"""

from __future__ import annotations

from floodmark import Constant, Map, Record, Seq, Set, action, initial, require
from model.etcd_raft.raft import Due, Index, Log, Message, Node, Role, Term
from model.etcd_raft.recorded import RecordedRaft


class Write(Record):
    """What a Ready gives to a node's append thread (MsgStorageAppend): the state to store, then the answers to send."""

    term: Term
    vote: Node | None
    commit: Index
    log: Log
    responses: Seq[Message]


class InteractiveRaft(RecordedRaft):
    """Nodes with and without pre-votes, and with and without AsyncStorageWrites."""

    writes: Map[Node, Seq[Write]]
    """What each node's append thread has still to do, in order."""

    later: Set[Node]
    """Nodes with AsyncStorageWrites."""

    pre_vote = Constant(True)

    @initial
    def start(self) -> None:
        super().start()
        self.writes = Map({node: Seq() for node in Node})
        self.later = Set()

    def may_campaign(self, node: Node) -> bool:
        """A pre-candidate needs a quorum; a node without pre-votes, or one that is to take over, stands at once."""
        if self.role[node] == Role.PRE_CANDIDATE:
            return self.due[node] == Due.ELECTION and self.is_quorum(self.config[node], self.granted[node])
        return self.due[node] == Due.NOTHING

    @action
    def ready(self, node: Node, reached: Set[Node]) -> None:
        require(node not in self.later)
        super().ready(node, reached)

    @action
    def ready_to_write(self, node: Node) -> None:
        """Ready with AsyncStorageWrites: requests are sent at once, answers only when the append thread has stored
        what they depend on."""
        require(node in self.started and len(self.writes[node]) < self.max_outbox)
        self.later.add(node)
        waiting = Seq([message for message in self.outbox[node] if self.waits(message)])
        require(len(self.network) + len(self.outbox[node]) - len(waiting) <= self.max_messages)
        for message in self.outbox[node]:
            if not self.waits(message):
                self.network.add(message)
        self.writes[node].append(Write(
            term=self.term[node], vote=self.vote[node], commit=self.commit[node], log=self.log[node], responses=waiting,
        ))
        self.outbox[node] = Seq()

    def last_appliable(self, node: Node) -> Index:
        """With AsyncStorageWrites entries have to be stored, and the commit index need not be."""
        if node in self.later:
            return min(self.commit[node], len(self.stored_log[node]))
        return self.stored_commit[node]

    @action
    def restarts_from_disk(self, node: Node) -> None:
        super().restarts_from_disk(node)
        self.writes[node] = Seq()

    @action
    def append_thread_writes(self, node: Node) -> None:
        """The append thread stores what was given to it first."""
        require(len(self.writes[node]) > 0)
        write = self.writes[node][0]
        require(len(self.network) + len(write.responses) <= self.max_messages)
        self.writes[node] = self.writes[node][1:]
        self.stored_term[node] = write.term
        self.stored_vote[node] = write.vote
        self.stored_commit[node] = write.commit
        self.stored_log[node] = write.log
        for message in write.responses:
            self.network.add(message)
