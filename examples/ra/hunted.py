"""Ra 2.2.0 with the places at which a hunt begins its next leg, and without one of its bugs at a time."""

from __future__ import annotations

from floodmark import implies, invariant, transition
from model.ra.server import Message, Position, Ra, Role, Server
from specs.ra.flawed import Release220


class Hunted(Release220):
    """Each invariant is false where a run is on its way to a bug; none of them is a rule of Raft."""

    def contradicts(self, server: Server, peer: Server) -> bool:
        """A leader and another server have the same first entry, and differ after it."""
        return (
            self.role[server] == Role.LEADER and self.term[peer] <= self.term[server]
            and len(self.logs[server]) > 1 and len(self.logs[peer]) > 1
            and self.logs[server][0] == self.logs[peer][0] and self.logs[server][1] != self.logs[peer][1]
        )

    @invariant
    def nobody_contradicts_a_leader(self) -> bool:
        return not any(self.contradicts(server, peer) for server in Server for peer in Server)

    @invariant
    def nobody_contradicts_a_leader_that_waits(self) -> bool:
        """The follower has refused entries of the leader, which sends it nothing now."""
        return not any(
            peer in self.suspended[server] and self.role[peer] == Role.AWAIT_CONDITION
            and not self.lacks[peer] and self.contradicts(server, peer)
            for server in Server
            for peer in Server
        )

    @invariant
    def nobody_is_owed_what_is_committed(self) -> bool:
        """The leader may go on, has to begin with the first entry, and has committed the second."""
        return not any(
            self.contradicts(server, peer) and self.may_send(server, peer)
            and self.next_index[server][peer] == 1 and self.commit[server] > 1
            for server in Server
            for peer in Server
        )

    @transition
    def late_events_confirm_nothing(self, new: Hunted) -> bool:
        """A follower that is told of a write which was replaced meanwhile does not confirm what took its place."""
        return all(
            implies(
                len(new.waiting[server]) < len(self.waiting[server]) and new.written[server] == self.written[server]
                and len(new.links[server][peer]) > len(self.links[server][peer]),
                new.stored[server][: new.written[server].index] == new.logs[server][: new.written[server].index],
            )
            for server in Server
            for peer in Server
        )


class Without508(Release220):
    """A follower takes over a commit index only if its whole log is known to be the leader's."""

    def hear_commit(self, server: Server, message: Message) -> None:
        Ra.hear_commit(self, server, message)

    def is_validated(self, server: Server, end: int) -> bool:
        return Ra.is_validated(self, server, end)


class Without516(Release220):
    """A follower answers its leader only if it knows more to be written."""

    def confirms(self, before: Position, after: Position) -> bool:
        return Ra.confirms(self, before, after)


class Without608(Release220):
    """A pre-vote that is granted is not remembered."""

    def grant_pre_vote(self, server: Server, source: Server) -> None:
        Ra.grant_pre_vote(self, server, source)


class Without637(Release220):
    """What is replaced in a log is not written any more."""

    def lower_last_written(self, server: Server, kept: int) -> None:
        Ra.lower_last_written(self, server, kept)


class WithoutLostWrite(Release220):
    """A leader counts what a follower has written only if it is the leader's own."""

    def confirms_own_entry(self, server: Server, message: Message) -> bool:
        return Ra.confirms_own_entry(self, server, message)
