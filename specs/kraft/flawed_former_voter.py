"""Known-bad designs that leave a former voter, or those that follow it, in the past."""

from __future__ import annotations

from floodmark import action, require
from model.kraft.former_voter import KraftFormerVoter
from model.kraft.quorum import Fate, Kind, Message, Replica


class ZombieNeverResigns(KraftFormerVoter):
    """A leader resigns only when it is told of a later one (B-M12, KAFKA-15489), and a former voter is not told.

    The observer that fetches from it gets answers, and asks nobody else.
    """

    @action
    def fetch_timer_expires(self, leader: Replica) -> None:
        require(False)


class StaysWithItsLeader(KraftFormerVoter):
    """An observer asks who leads only before it has a leader; one that has resigned names itself."""

    def may_fetch(self, replica: Replica, source: Replica) -> bool:
        leader = self.quorum_state[replica].leader
        return (leader is None or source == leader) and super().may_fetch(replica, source)


class TellsFormerVoterNothing(KraftFormerVoter):
    """Voters answer no request of a replica that is no voter, not even with who leads."""

    def send(self, kind: Kind, request: Message, fate: Fate) -> None:
        if request.source != self.former:
            super().send(kind, request, fate)
