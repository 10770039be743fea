"""KIP-595: a leader that was deposed, and has truncated its log, leads again.

Five voters are the fewest among which a leader and one follower may have records that nobody else has. Here the first
voter led epoch 1 and the second has its records; the others have elected the third in epoch 2, of which these two have
not heard. quorum.py is where to begin.
"""

from __future__ import annotations

from floodmark import Constant, Map, Seq, Set, action, initial, require
from model.kraft.quorum import Kraft, LeaderState, QuorumState, Replica, Role


class ReturningLeader(Kraft):
    """A quorum with an earlier leader that does not know yet that it was replaced."""

    voters = Constant(5)
    max_epoch = Constant(4)
    max_restarts = Constant(0)
    lossy_restarts = Constant(False)
    loss = Constant(False)
    progress_timeout = Constant(False)

    @initial
    def start(self) -> None:
        """Names do not matter, so the first voter is the earlier leader, and the third the later one."""
        super().start()
        former, follower, leader = Replica(1), Replica(2), Replica(3)
        for replica in Replica:
            earlier = replica in (former, follower)
            if earlier:
                self.quorum_state[replica] = QuorumState(epoch=1, leader=former, voted_key=None)
                self.logs[replica] = Seq([1, 1])
                self.role[replica] = Role.FOLLOWER
            else:
                self.quorum_state[replica] = QuorumState(epoch=2, leader=leader, voted_key=None)
                self.role[replica] = Role.FOLLOWER
        self.logs[leader] = Seq([2])
        for replica in Replica:
            self.flush(replica)
        self.role[former] = Role.LEADER
        self.role[leader] = Role.LEADER
        ends = Map({replica: 2 if replica == follower else 0 for replica in Replica})
        self.leader_state[former] = LeaderState(epoch_start_offset=0, end_offsets=ends, fetched_voters=Set())
        self.elected[1] = former
        self.elected[2] = leader

    def may_stand(self, replica: Replica) -> bool:
        """Only the timers of the two leaders expire, the earlier one's first."""
        return self.elected[1] == replica or (self.elected[2] == replica and self.elected[3] is not None)

    @action
    def client_writes(self, leader: Replica) -> None:
        require(False)

    @action
    def fetch_timer_expires(self, leader: Replica) -> None:
        require(False)
