"""KIP-966: min.insync.replicas changes, and the feature is switched on and off, while the partition lives.

Begin with partition.py. The controller knows a new value at once, the brokers when they have read it. They read the
metadata log in order, so whoever knows a later change of the partition knows the value, too.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Set, action, initial, require, rule
from model.elr.partition import Broker, EligibleLeaders

MinIsr = Annotated[int, Between(1, "largest_min_isr")]


class ChangedMinIsr(EligibleLeaders):
    """An operator sets min.insync.replicas of the topic."""

    largest_min_isr = Constant(2)

    min_isr: MinIsr
    """As the controller has it."""
    known_min_isr: MinIsr
    """As the leader has read it."""
    promised: Annotated[int, Between(0, "largest_min_isr")]
    """History: how many brokers have everything committed, or had it until an unclean shutdown. It is the least value
    of min.insync.replicas since the ISR last had as many members as the present one demands.
    """

    @initial
    def start(self, leader: Broker, followers: Set[Broker]) -> None:
        super().start(leader, followers)
        self.min_isr = self.min_insync_replicas
        self.known_min_isr = self.min_insync_replicas
        self.promised = self.min_insync_replicas

    def controller_min_isr(self) -> int:
        return min(self.min_isr, len(self.assigned()))

    def leader_min_isr(self) -> int:
        return min(self.known_min_isr, len(self.assigned()))

    def promised_copies(self) -> int:
        return self.promised

    @action
    def operator_sets_min_isr(self, number: MinIsr, successor: Broker | None) -> None:
        """``ConfigurationControlManager.incrementalAlterConfigs``. The ELR is judged by the new value at once
        (KAFKA-16540).
        """
        require(number != self.min_isr)
        self.min_isr = number
        self.promised = min(self.promised, number)
        self.revise_elr(successor)

    @rule
    def revise_elr(self, successor: Broker | None) -> None:
        """"If the new min ISR <= current ISR, the ELR will be removed" (KIP-966, an earlier version of the text): else
        nothing is committed under the new value either, and whoever was eligible still is.
        """
        require(successor == self.leader)
        self.elr = self.target_elr(self.isr, Set[Broker]())
        self.forget_repaired()

    def change(
        self, isr: Set[Broker], unclean_shutdown: Set[Broker], active: Set[Broker], successor: Broker | None
    ) -> None:
        super().change(isr, unclean_shutdown, active, successor)
        self.learn_min_isr()

    @rule
    def learn_min_isr(self) -> None:
        """Whoever knows the new state of the partition knows the value that was set before it (KAFKA-16540)."""
        self.known_min_isr = self.min_isr

    def forget_repaired(self) -> None:
        super().forget_repaired()
        if self.has_min_isr(self.isr) and self.isr <= self.complete:
            self.promised = self.min_isr

    @action
    def leader_reads_min_isr(self) -> None:
        """The leader has replayed the new value (``DynamicConfigPublisher.onMetadataUpdate``)."""
        self.known_min_isr = self.min_isr


class SwitchedElr(EligibleLeaders):
    """The feature eligible.leader.replicas.version is switched on and off (``FeatureControlManager``). While it is off
    the ISR keeps its last member.
    """

    enabled: bool = True
    promised: bool = True
    """History: whether the ISR has had enough members since the feature was last off."""

    def promised_copies(self) -> int:
        return self.controller_min_isr() if self.promised else 0

    @action
    def operator_switches_elr(self) -> None:
        """The partition changes only with its next record. ``FeatureControlManager.updateFeatures``."""
        self.enabled = not self.enabled
        self.promised = self.enabled and len(self.isr) >= self.controller_min_isr()

    def is_tracked(self) -> bool:
        return self.enabled

    def kept_in_isr(self) -> Set[Broker]:
        """The last member, from when the feature was off."""
        return self.isr if self.leader is None and len(self.isr) == 1 else Set[Broker]()

    def isr_without(self, broker: Broker) -> Set[Broker]:
        return self.isr if not self.enabled and self.isr == Set([broker]) else self.isr - {broker}

    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        if self.enabled:
            return super().target_elr(isr, unclean_shutdown)
        return self.elr_while_off(isr, unclean_shutdown)

    @rule
    def elr_while_off(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        """With an empty ISR the ELR is the only way back to a leader, so it stays until there is one."""
        return self.elr - unclean_shutdown if len(isr) == 0 else Set[Broker]()

    def may_elect_last_known_leader(self, isr: Set[Broker], elr: Set[Broker], active: Set[Broker]) -> bool:
        return self.enabled and super().may_elect_last_known_leader(isr, elr, active)

    def change(
        self, isr: Set[Broker], unclean_shutdown: Set[Broker], active: Set[Broker], successor: Broker | None
    ) -> None:
        super().change(isr, unclean_shutdown, active, successor)
        if self.enabled and len(self.isr) >= self.controller_min_isr():
            self.promised = True

    def leave_at_registration(self, broker: Broker, suspect: Set[Broker], successor: Broker | None) -> None:
        """While the feature is off nobody asks what the last member has lost: what it has left counts as committed."""
        super().leave_at_registration(broker, suspect, successor)
        if not self.enabled and self.isr == Set([broker]) and broker in suspect:
            self.announce_loss(broker)
