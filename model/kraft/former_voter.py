"""KIP-595, "Leader Progress Timeout": a leader "that was not in the voters anymore", so that nobody tells it who leads.

The others have elected a leader for a later epoch, and the former one is removed from the voters, which only it does
not know (how voters are removed, KIP-853, is one step here). No BeginQuorumEpoch is sent to it. What it still has is
its own timer, and the answers to its own requests. The protocol itself is in model/kraft/quorum.py, where to begin.
"""

from __future__ import annotations

from floodmark import Constant, Set, action, initial, require, rule
from model.kraft.observers import KraftObservers
from model.kraft.quorum import Epoch, Offset, Replica, Role


class KraftFormerVoter(KraftObservers):
    """A quorum with observers that removes a zombie. Sizes are bounds: it is asked what happens some day, too."""

    observers = Constant(1)
    max_epoch = Constant(3, bound=True)
    max_log = Constant(3, bound=True)
    max_restarts = Constant(0, bound=True)
    lossy_restarts = Constant(False)
    loss = Constant(False)

    former: Replica | None
    """The replica that still takes itself for a voter."""

    @initial
    def start(self) -> None:
        super().start()
        self.former = None

    @action
    def zombie_is_removed(self, leader: Replica, zombie: Replica) -> None:
        """Once, by the leader of a later epoch, with the consent of a majority in that epoch."""
        require(len(self.current_voters) == self.voters)
        require(self.is_active_controller(leader) and self.role[zombie] == Role.LEADER)
        require(self.quorum_state[zombie].epoch < self.quorum_state[leader].epoch)
        self.current_voters = self.current_voters - {zombie}
        self.former = zombie

    def become_follower(self, replica: Replica, epoch: Epoch, leader: Replica) -> None:
        """In the log of its new leader, a former voter finds that it has been removed."""
        super().become_follower(replica, epoch, leader)
        if replica == self.former:
            self.former = None

    def may_stand(self, replica: Replica) -> bool:
        return replica == self.former or super().may_stand(replica)

    def voters_known_to(self, replica: Replica) -> Set[Replica]:
        """The former voter counts as it always has."""
        return self.current_voters | {replica} if replica == self.former else self.current_voters

    def is_majority_of(self, replica: Replica, others: Set[Replica]) -> bool:
        """Whether these are a majority of the voters that the replica knows."""
        voters = self.voters_known_to(replica)
        return len(others & voters) > len(voters) // 2

    def count_vote(self, candidate: Replica, voter: Replica) -> None:
        self.votes[candidate].add(voter)
        if self.is_majority_of(candidate, self.votes[candidate]):
            self.become_leader(candidate)

    @rule
    def majority_fetched(self, leader: Replica) -> bool:
        return self.is_majority_of(leader, self.leadership[leader].fetched | {leader})

    def majority_offset(self, leader: Replica) -> Offset:
        voters = self.voters_known_to(leader)
        return sorted((self.end_offset(leader, voter) for voter in voters), reverse=True)[len(voters) // 2]

    def may_fetch(self, replica: Replica, source: Replica) -> bool:
        """Only an observer that its leader does not answer asks another: a zombie answers."""
        leader = self.quorum_state[replica].leader
        if leader is not None and self.answers(leader, replica):
            return source == leader
        return replica != self.former and super().may_fetch(replica, source)

    @rule
    def answers(self, leader: Replica, replica: Replica) -> bool:
        """Whether fetches of its log succeed."""
        same_epoch = self.quorum_state[leader].epoch == self.quorum_state[replica].epoch
        return self.role[leader] == Role.LEADER and same_epoch and leader != replica
