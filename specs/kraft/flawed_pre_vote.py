"""Known-bad designs of KIP-996's pre-votes; docs/properties.md says which ones are left out."""

from __future__ import annotations

from model.kraft.pre_vote import DisruptiveVoter, KeepsVoteBesideLeader, KraftPreVote
from model.kraft.quorum import Kind, Message, Replica, Role


class WithoutPreVote(DisruptiveVoter):
    """KIP-595 alone: a replica whose fetch timer expires raises its epoch, and the leader steps down when it learns the
    epoch.

    "Leader Progress Timeout" says so of a leader that was partitioned; it is the same with any voter.
    """

    def stand(self, replica: Replica) -> None:
        self.transition_to_candidate(replica)


class FollowersAlwaysGrant(DisruptiveVoter):
    """A follower grants a pre-vote even if it fetches from a leader (B-M24; KIP-996, "Proposed Changes")."""

    def misses_leader(self, voter: Replica) -> bool:
        return self.role[voter] != Role.LEADER


class ForgetsVoteWhenItGivesUp(KraftPreVote):
    """A prospective voter that gives up is unattached, without its vote in this epoch (B-M26, KIP-996)."""

    def give_up(self, replica: Replica) -> None:
        if self.quorum_state[replica].leader is None:
            self.transition_to_unattached(replica, self.quorum_state[replica].epoch)
        else:
            super().give_up(replica)


class SkipsPreVote(KraftPreVote):
    """A follower whose fetches fail raises its epoch at once, as in KIP-595."""

    def stand(self, replica: Replica) -> None:
        if self.role[replica] == Role.FOLLOWER:
            self.transition_to_candidate(replica)
        else:
            super().stand(replica)


class StoresPreVote(KraftPreVote):
    """A pre-vote is stored in place of the vote (KIP-996: it is granted without any change of state)."""

    def handle_pre_vote(self, request: Message) -> Message:
        response = super().handle_pre_vote(request)
        if self.role[request.destination] == Role.PROSPECTIVE and self.quorum_state[request.destination].leader is None:
            self.quorum_state[request.destination].voted_key = request.source
        return response


class ResignedLeaderAsks(KraftPreVote):
    """A resigned leader asks for pre-votes in the epoch that it led (KIP-996: it gives the others an epoch first)."""

    def stand(self, replica: Replica) -> None:
        self.transition_to_prospective(replica)


class WaitsForAllPreVotes(KraftPreVote):
    """A prospective voter keeps asking until all voters have granted."""

    def count_pre_vote(self, replica: Replica, voter: Replica) -> None:
        self.votes[replica].add(voter)
        if self.votes[replica] == self.current_voters:
            self.transition_to_candidate(replica)


class GrantsStaleLogs(KraftPreVote):
    """A voter grants a pre-vote whatever the asking replica's log, so one that cannot win raises the epoch
    (KIP-996).
    """

    def handle_pre_vote(self, request: Message) -> Message:
        response = super().handle_pre_vote(request)
        if self.misses_leader(request.destination):
            return self.response(Kind.PRE_VOTE_GRANTED, request)
        return response


class ForgetsFetches(KraftPreVote):
    """A follower does not remember that it has fetched, and helps others depose a leader that it can reach."""

    def handle_records(self, response: Message) -> None:
        super().handle_records(response)
        self.has_fetched.discard(response.destination)


class ForgetsVoteWithLeader(KeepsVoteBesideLeader):
    """A replica that had stored the leader of its epoch forgets the vote beside it when it restarts, too, and may vote
    again (B-M30).
    """

    def resume(self, replica: Replica) -> None:
        state = self.quorum_state[replica]
        if state.voted_key is not None and state.leader is not None:
            self.transition_to_unattached(replica, state.epoch)
        super().resume(replica)
