"""What one might believe of Kafka's eligible leader replicas instead: designs that a walk beside the controller
contradicts.
"""

from __future__ import annotations

from elr import OrderedEligibleLeaders

from floodmark import Set
from model.elr.partition import Broker


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


class TrustsFileOfEarlierLife(OrderedEligibleLeaders):
    """A broker's clean shutdown file stays when it starts again."""

    def remove_file(self, broker: Broker) -> None:
        pass


class ClearsElrBelowMinIsr(OrderedEligibleLeaders):
    """The ELR is emptied once somebody is in sync again."""

    def has_min_isr(self, isr: Set[Broker]) -> bool:
        return len(isr) > 0


BELIEFS: dict[type[OrderedEligibleLeaders], dict[str, int]] = {
    TrustsUncleanShutdowns: {}, KeepsLastMember: {}, NeverElectsLastKnown: {}, TrustsFileOfEarlierLife: {},
    ClearsElrBelowMinIsr: {},
}
