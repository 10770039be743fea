"""The rules of Ra 2.2.0 that are wrong, one at a time, and one of later releases.

The numbers are those of its tracker, github.com/rabbitmq/ra. ``Release220`` has all of its rules, and is what
``examples/ra`` compares with Ra itself.
"""

from __future__ import annotations

from model.ra.server import Index, Message, Position, Ra, Server


class AppliesUnvalidatedEntries(Ra):
    """A follower that has all the entries that arrive applies what follows them in its log, and confirms it (#508)."""

    def hear_commit(self, server: Server, message: Message) -> None:
        self.commit[server] = message.commit

    def is_validated(self, server: Server, end: int) -> bool:
        return True


class ConfirmsUnwrittenEntries(Ra):
    """A follower confirms entries that it has, and has not written yet (2.15.3 to 3.1.10, with the repair of #508)."""

    def confirmed(self, server: Server, known: Index) -> Index:
        return known


class CountsLongerLogs(Ra):
    """A leader that hears of an entry which it does not have takes it for a match (repaired with #508)."""

    def take_longer_log(self, server: Server, source: Server, message: Message) -> None:
        self.match_index[server][source] = message.index
        self.next_index[server][source] = message.next


class KeepsLastWritten(Ra):
    """What was on disk stays "written" when other entries replace it (#637)."""

    def lower_last_written(self, server: Server, kept: int) -> None:
        pass


class ConfirmsAnyWrittenEvent(KeepsLastWritten):
    """A late event about a write that was replaced makes a follower confirm what took its place (#516)."""

    def confirms(self, before: Position, after: Position) -> bool:
        return True


class CandidateIgnoresPreVotes(Ra):
    """A candidate does not answer a pre-vote of its own term (#439, repaired with #442)."""

    def candidate_answers(self) -> bool:
        return False


class PreVoteTakesVote(Ra):
    """A server that grants a pre-vote remembers it as its vote (#608)."""

    def grant_pre_vote(self, server: Server, source: Server) -> None:
        self.voted[server] = source


class StepsBeforeTheLog(Ra):
    """A leader that is refused goes back by one index, also from the first (repaired in 3.1.10)."""

    def least_next_index(self, matched: Index) -> int:
        return matched


class TakesLowerCommit(Ra):
    """A follower takes over the commit index of a leader that has not committed anything yet (2.2.0 to 3.1.10)."""

    def leader_commit(self, server: Server, message: Message) -> Index:
        return message.commit


class CountsOtherEntries(Ra):
    """A leader counts what a follower has written, whatever the term of the last entry is (2.2.0 to 3.1.10)."""

    def confirms_own_entry(self, server: Server, message: Message) -> bool:
        return True


class Release220(
    AppliesUnvalidatedEntries, CountsLongerLogs, ConfirmsAnyWrittenEvent, CandidateIgnoresPreVotes, PreVoteTakesVote,
    StepsBeforeTheLog, TakesLowerCommit, CountsOtherEntries,
):
    """Ra 2.2.0, as RabbitMQ 3.10 has it."""
