"""Known-bad designs of etcd's Raft, each one rule away from the good one."""

from __future__ import annotations

from model.etcd_raft.interactive import InteractiveRaft
from model.etcd_raft.raft import Due, EtcdRaft, Index, Log, Message, Node, Term


class VotesTwice(EtcdRaft):
    """A vote does not depend on the one given before (Raft, section 5.2)."""

    def can_vote(self, node: Node, candidate: Node) -> bool:
        return True


class IgnoresLogs(EtcdRaft):
    """A vote goes to candidates that lack entries of the voter (Raft, section 5.4.1; raftLog.isUpToDate)."""

    def is_up_to_date(self, voter: Node, index: Index, term: Term) -> bool:
        return True


class CutsOffLaterEntries(EtcdRaft):
    """A follower replaces all entries after the index at which a message begins, although it has the message's entries
    and later ones (raftLog.findConflict).
    """

    def kept_entries(self, node: Node, index: Index, entries: Log) -> Index:
        return 0


class SendsBeforeStoring(EtcdRaft):
    """The application sends the messages of a Ready and stores nothing (see raft.send about msgsAfterAppend)."""

    def store_before_sending(self, node: Node) -> None:
        pass


class CommitsUnmatched(EtcdRaft):
    """A heartbeat has the leader's commit index, even where the follower's log is not known to match
    (raft.sendHeartbeat: "The leader MUST NOT forward the follower's commit to an unmatched index").
    """

    def heartbeat_commit(self, leader: Node, to: Node) -> Index:
        return self.commit[leader]


class LearnersStand(EtcdRaft):
    """A learner stands for election (raft.promotable)."""

    def may_stand(self, node: Node) -> bool:
        return node in self.members(self.config[node])


class StandsAtOnce(EtcdRaft):
    """A node raises the term without a quorum of pre-votes."""

    def may_campaign(self, node: Node) -> bool:
        return self.due[node] == Due.NOTHING


class AnswersAtOnce(InteractiveRaft):
    """With AsyncStorageWrites answers are sent with the requests, before anything is stored (raft.msgsAfterAppend)."""

    def waits(self, message: Message) -> bool:
        return False
