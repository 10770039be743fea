"""Known-bad designs of HashiCorp's Raft, each one rule away from the good one."""

from __future__ import annotations

from model.hashicorp_raft.raft import HashicorpRaft, Index, Log, Message, Server, Term


class VotesTwice(HashicorpRaft):
    """A vote does not depend on the one given before (lastVoteTerm, lastVoteCand)."""

    def can_vote(self, server: Server, candidate: Server) -> bool:
        return True


class ForgetsVotes(HashicorpRaft):
    """The vote is not on the disk (persistVote)."""

    def forget_vote(self, server: Server) -> None:
        self.vote[server] = None


class IgnoresLogs(HashicorpRaft):
    """A vote goes to candidates that lack entries of the voter (requestVote, "candidate has older log")."""

    def is_up_to_date(self, voter: Server, index: Index, term: Term) -> bool:
        return True


class CutsOffLaterEntries(HashicorpRaft):
    """A follower replaces all entries after the index at which a request begins, although it has the request's entries
    and later ones (appendEntries, "skip any duplicates").
    """

    def overwrite(self, server: Server, index: Index, entries: Log) -> None:
        self.log[server] = self.log[server][:index] + entries


class CommitsUpToLastIndex(HashicorpRaft):
    """A follower commits up to its last index, though the request has shown less of its log to match. The library does
    this (appendEntries, "min(a.LeaderCommitIndex, r.getLastIndex())"), and rightly: its leader looks for the last entry
    that matches from above (nextIndex), and never sends an earlier part. Here a leader sends any part.
    """

    def follower_commit(self, server: Server, message: Message) -> Index:
        return min(message.commit, self.last_index(server))
