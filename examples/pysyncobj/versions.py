"""PySyncObj as it was released, and what is wrong with each release, one rule at a time.

The numbers are those of its tracker, github.com/bakwc/PySyncObj.
"""

from __future__ import annotations

from raft import Index, Log, Message, Node, Raft, Term

# What is wrong.


class TruncatesAfterPrevious(Raft):
    """Everything after the entry that precedes the new ones is removed, even if it is the same (0.3.17)."""

    def take_entries(self, node: Node, previous: Index, entries: Log) -> None:
        self.logs[node] = self.logs[node][:previous] + entries


class CountsAnswersOfOtherTerms(Raft):
    """An answer has no term, so one from an earlier leadership counts in this one (0.3.17)."""

    def answer_term(self, node: Node) -> Term:
        return 0

    def is_current(self, leader: Node, message: Message) -> bool:
        return True


class ForgetsTermAndVote(Raft):
    """Term and vote are not stored (#202, until 0.3.15)."""

    def forget(self, node: Node) -> None:
        self.term[node] = 0
        self.voted[node] = None

    def set_term(self, node: Node, term: Term, voted: Node | None) -> None:
        self.term[node] = term
        self.voted[node] = voted


class LowersCommitIndex(Raft):
    """A follower adopts the leader's commit index, even a lower one (#166, until 0.3.11)."""

    def learn_commit(self, node: Node, message: Message) -> None:
        self.commit[node] = min(message.commit, message.index + len(message.entries))


class LowersMatchIndex(Raft):
    """The leader believes the last answer, not the highest; and a follower asks for the last entry again (#167)."""

    def wanted_index(self, message: Message) -> int:
        return message.index + len(message.entries) if len(message.entries) > 0 else message.index + 1

    def learn_match(self, leader: Node, node: Node, wanted: int) -> None:
        self.match_index[leader][node] = wanted - 1


class LeavesNextIndex(Raft):
    """An answer that raises the match index leaves the next index where it is (#167, until 0.3.11)."""

    def learn_match(self, leader: Node, node: Node, wanted: int) -> None:
        self.match_index[leader][node] = max(self.match_index[leader][node], wanted - 1)


class CommitsEarlierTerms(Raft):
    """What a majority has is committed, whichever leader wrote it (#169, until 0.3.11)."""

    def may_commit(self, leader: Node, index: Index) -> bool:
        return True


# As released.


class Release0317(TruncatesAfterPrevious, CountsAnswersOfOtherTerms):
    """0.3.16 and 0.3.17."""

    def learn_commit(self, node: Node, message: Message) -> None:
        """When the log is cut after the entries that arrived, the commit index is cut with it."""
        end = len(self.logs[node])
        self.commit[node] = max(min(self.commit[node], end), min(message.commit, end))


class Release0315(Release0317, ForgetsTermAndVote):
    """0.3.12 to 0.3.15."""

    def learn_commit(self, node: Node, message: Message) -> None:
        self.commit[node] = max(self.commit[node], min(message.commit, len(self.logs[node])))


class Release0311(Release0315, LowersMatchIndex, CommitsEarlierTerms):
    """0.3.11."""

    def learn_commit(self, node: Node, message: Message) -> None:
        self.commit[node] = min(message.commit, len(self.logs[node]))
