"""The rules of earlier releases of NATS that are wrong, one at a time, and releases as they are.

The numbers are those of its tracker, github.com/nats-io/nats-server, and of its commits.
"""

from __future__ import annotations

from model.jetstream.raft import JetStreamRaft, Message, Server


class CountsEarlierTerms(JetStreamRaft):
    """A leader counts any answer about an index: an entry of an earlier term is committed by its copies alone, and an
    answer to an earlier term of the leader counts for what has the index now (#7955)."""

    def counts(self, leader: Server, message: Message) -> bool:
        return True


class TakesBackVote(JetStreamRaft):
    """Who hears that the leadership goes to another forgets whom it has voted for in this term (bf8ebe7dd)."""

    def take_back_vote(self, server: Server) -> None:
        self.vote[server] = None


class TruncatesCommitted(JetStreamRaft):
    """A follower cuts off an entry of another term though it is committed (c6f6c25ac)."""

    def may_truncate_to(self, server: Server, index: int) -> bool:
        return True


class KeepsLeader(JetStreamRaft):
    """A follower that enters the term of a candidate still names the leader of the term before. That is harmless."""

    def forget_leader(self, server: Server) -> None:
        pass


class HeartbeatFirst(JetStreamRaft):
    """A leader that has uncommitted entries sends a heartbeat before its first entry, and serves clients once it has
    committed those: with ``CountsEarlierTerms`` it commits them although no entry of its own term follows."""

    def begin_to_lead(self, server: Server) -> None:
        uncommitted = len(self.log[server]) > self.commit[server]
        self.floor[server] = len(self.log[server]) if uncommitted else 0
        if uncommitted:
            self.send_heartbeat(server)
        self.append(server, 0, None)

    def always_tells_commit(self) -> bool:
        return True


class HurriesInItsTerm(JetStreamRaft):
    """A server that refuses its vote because its log is longer stands soon, also if the request is of the term in which
    it is. That is harmless."""

    def hurries_after(self, is_later: bool) -> bool:
        return True


class Release2125(CountsEarlierTerms, TruncatesCommitted, KeepsLeader, HurriesInItsTerm):
    """2.12.5."""


class Release2121(Release2125, TakesBackVote, HeartbeatFirst):
    """2.12.1."""
