"""Known-bad designs of KIP-595's elections."""

from __future__ import annotations

from model.kraft.elections import Elections, Voter


class NeedsMajorityOfOthers(Elections):
    """B-M13: a leader resigns unless a majority fetches from it that does not count itself; no leader lasts."""

    def may_lead(self, leader: Voter) -> bool:
        return self.is_majority(self.reached_by(leader))


class NeedsOneFetcher(Elections):
    """B-M14: a single voter resigns because nobody fetches from it (KAFKA-16144)."""

    def may_lead(self, leader: Voter) -> bool:
        return super().may_lead(leader) and len(self.reached_by(leader)) > 0


class VotesOnceForEver(Elections):
    """A voter does not forget whom it has voted for when it enters another epoch."""

    def ask(self, candidate: Voter, voter: Voter) -> None:
        voted = self.states[voter].voted_key
        if voted is None or voted == candidate:
            super().ask(candidate, voter)


class VotesForEverybody(Elections):
    """A voter gives its vote to everyone who asks in an epoch whose leader it does not know."""

    def ask(self, candidate: Voter, voter: Voter) -> None:
        if self.states[voter].epoch == self.states[candidate].epoch:
            self.states[voter].voted_key = None
        super().ask(candidate, voter)
