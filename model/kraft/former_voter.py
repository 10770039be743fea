"""KIP-595, "Leader Progress Timeout": a leader "that was not in the voters anymore", so that no BeginQuorumEpoch
reaches it.

The others have elected a leader for a later epoch, and the former one is removed from the voters, which only it does
not know (how voters are removed, KIP-853, is one step here). No BeginQuorumEpoch is sent to it. What it still has is
its own timer, and the answers to its own requests. Whether it counts itself as a voter does not matter: a majority of
all is in the later epoch, so it has none by either count.

The protocol itself is in model/kraft/quorum.py, where to begin.
"""

from __future__ import annotations

from floodmark import Constant, action, initial, require, rule
from model.kraft.observers import KraftObservers
from model.kraft.quorum import Epoch, Replica, Role


class KraftFormerVoter(KraftObservers):
    """A quorum with observers that removes a zombie. Sizes are bounds, because liveness is checked, too."""

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
        """Once, by the leader of a later epoch, with the consent of a majority in that epoch.

        KIP-595, "Leader Progress Timeout": "that leader was not in the voters anymore". Since KIP-853
        ``RemoveVoterHandler`` does it.
        """
        require(len(self.current_voters) == self.voters)
        require(self.is_active_controller(leader) and self.role[zombie] == Role.LEADER)
        require(self.quorum_state[zombie].epoch < self.quorum_state[leader].epoch)
        self.current_voters = self.current_voters - {zombie}
        self.former = zombie

    def transition_to_follower(self, replica: Replica, epoch: Epoch, leader: Replica) -> None:
        """In the log of its new leader, a former voter finds that it has been removed."""
        super().transition_to_follower(replica, epoch, leader)
        if replica == self.former:
            self.former = None

    def may_stand(self, replica: Replica) -> bool:
        return replica == self.former or super().may_stand(replica)

    def may_fetch(self, replica: Replica, source: Replica) -> bool:
        """Only an observer that its leader does not answer asks another: a zombie answers."""
        leader = self.quorum_state[replica].leader
        if leader is not None and self.answers(leader, replica):
            return source == leader
        return replica != self.former and super().may_fetch(replica, source)

    @rule
    def answers(self, leader: Replica, replica: Replica) -> bool:
        """Whether fetches succeed (``KafkaRaftClient.tryCompleteFetchRequest``)."""
        return self.role[leader] == Role.LEADER and leader != replica
