"""What one might believe of Kafka's eligible leader replicas instead: designs that a walk beside the controller
contradicts, and known-bad designs of ``specs/elr/flawed.py``, whose counterexamples the controller does not take to the
end (``elr.toml``, ``replayed.py``). Where the mistake would be a leader's or a broker's own, the docstring says so.
"""

from __future__ import annotations

from elr import OrderedEligibleLeaders

from floodmark import Set
from model.elr.partition import Broker
from specs.elr import flawed


class TrustsUncleanShutdowns(OrderedEligibleLeaders):
    """An unclean shutdown does not end that a replica is eligible."""

    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        return super().target_elr(isr, Set[Broker]())


class KeepsLastMember(OrderedEligibleLeaders):
    """The last member of the ISR stays in it when it is fenced, as without the ELR."""

    def isr_without(self, broker: Broker) -> Set[Broker]:
        return self.isr if self.isr == Set({broker}) else self.isr - {broker}


class NeverElectsLastKnown(OrderedEligibleLeaders):
    """The last known leader is not elected: it may lack what is committed."""

    def may_elect_last_known_leader(self, isr: Set[Broker], elr: Set[Broker], active: Set[Broker]) -> bool:
        return False


class ClearsElrBelowMinIsr(OrderedEligibleLeaders):
    """The ELR is emptied once somebody is in sync again."""

    def has_min_isr(self, isr: Set[Broker]) -> bool:
        return len(isr) > 0


class KeepsElrWithMinIsr(flawed.KeepsElrWithMinIsr, OrderedEligibleLeaders):
    """The ELR is kept when enough are in sync again."""


class CommitsBelowMinIsr(flawed.CommitsBelowMinIsr, OrderedEligibleLeaders):
    """The high watermark advances with fewer in sync than min.insync.replicas. The leader decides that."""


class MakesLaggardsEligible(flawed.MakesLaggardsEligible, OrderedEligibleLeaders):
    """Every replica outside the ISR is eligible once the ISR is too small."""


class ForgetsWhoLeaves(flawed.ForgetsWhoLeaves, OrderedEligibleLeaders):
    """Who leaves a small ISR is not eligible."""


class DropsFencedMembers(flawed.DropsFencedMembers, OrderedEligibleLeaders):
    """A member of the ELR leaves it when it is fenced."""


class CountsOneTooMany(flawed.CountsOneTooMany, OrderedEligibleLeaders):
    """The ELR is emptied one member too early."""


class LastReplicaStands(flawed.LastReplicaStands, OrderedEligibleLeaders):
    """The ISR keeps its last member, as before KIP-966."""


class TakesAllForClean(flawed.TakesAllForClean, OrderedEligibleLeaders):
    """Unclean shutdowns are not detected."""


class KeepsSuspects(flawed.KeepsSuspects, OrderedEligibleLeaders):
    """The ELR keeps a broker that shut down uncleanly."""


class TrustsAnyFile(flawed.TrustsAnyFile, OrderedEligibleLeaders):
    """A broker's clean shutdown file stays when it starts again. The broker writes it."""


class RegistersInPlace(flawed.RegistersInPlace, OrderedEligibleLeaders):
    """A broker that registers anew stays in the ISR."""


class LeavesElrAlone(flawed.LeavesElrAlone, OrderedEligibleLeaders):
    """A registration changes the partition only if the broker is in the ISR."""


class ElectsFencedLastKnownLeader(flawed.ElectsFencedLastKnownLeader, OrderedEligibleLeaders):
    """The last known leader is elected, fenced or not."""


class DoesNotWaitForElr(flawed.DoesNotWaitForElr, OrderedEligibleLeaders):
    """The last known leader is elected while members of the ELR are only fenced."""


class ElectsAnybody(flawed.ElectsAnybody, OrderedEligibleLeaders):
    """With an empty ISR anybody is electable."""


class NeverElectsFromElr(flawed.NeverElectsFromElr, OrderedEligibleLeaders):
    """Only the ISR is electable."""


class ForgetsTheOthers(flawed.ForgetsTheOthers, OrderedEligibleLeaders):
    """An election from the ELR empties it."""


class LetsSuspectsJoin(flawed.LetsSuspectsJoin, OrderedEligibleLeaders):
    """A follower joins the ISR without having caught up. The leader decides that."""


class LeaderNeedsLess(flawed.LeaderNeedsLess, OrderedEligibleLeaders):
    """A broker has a smaller min.insync.replicas of its own. The leader decides by it."""


class CountsReplicasOfPartitionZero(flawed.CountsReplicasOfPartitionZero, OrderedEligibleLeaders):
    """The controller caps min.insync.replicas by the replicas of another partition."""


BELIEFS: dict[type[OrderedEligibleLeaders], dict[str, int]] = {
    TrustsUncleanShutdowns: {}, KeepsLastMember: {}, NeverElectsLastKnown: {}, TrustsAnyFile: {},
    ClearsElrBelowMinIsr: {},
}
