"""KIP-497, "Compatibility": while brokers are upgraded one by one, some leaders still write the ISR to ZooKeeper.

core.py is where to begin. ``controller`` there is the written state, which here may be newer than what the controller
remembers (``cached``): a leader of the older version writes the partition's znode itself, at the version that it knows,
and leaves a notification that the controller watches for. What the controller decides it reads first, and writes at the
version that it has read. What it tells other brokers by UpdateMetadata ("Motivation", the first benefit) is what it
remembers; one such broker stands for all.

Whether a leader writes itself depends on its own inter.broker.protocol.version, and whether the controller watches on
the controller's. A broker is restarted to change it, so a leader does not change sides while it leads.
"""

from __future__ import annotations

from floodmark import Constant, Set, action, fair, initial, require, rule
from model.alter_isr.core import Broker, LeaderAndIsr, ShippedAlterIsr


class MixedVersions(ShippedAlterIsr):
    """A leader of the older or the newer version, and a controller of the newer one."""

    max_partition_epoch = Constant(2, bound=True)
    in_flight = Constant(1, bound=True)
    writes_itself = Constant(True)
    """Whether the leader is of the older version, which writes the ISR itself."""

    cached: LeaderAndIsr
    """The state as the controller remembers it."""
    notified: bool = False
    """There is a notification that the controller has not seen."""
    metadata: LeaderAndIsr
    """The state that another broker received last."""

    @initial
    def start(self) -> None:
        super().start()
        self.cached = self.controller
        self.metadata = self.controller

    # A leader of the older version.

    @rule
    def may_write(self) -> bool:
        """ZooKeeper refuses to write at any version but the current one (``ReplicationUtils.updateLeaderAndIsr``)."""
        return self.partition_epoch == self.controller.partition_epoch

    @action
    def leader_writes(self, isr: Set[Broker]) -> None:
        """Shrinks or expands the ISR, waits until it is written, and tells the controller by a notification.

        ``ZkAlterPartitionManager.submit``.
        """
        require(self.leading and self.writes_itself and self.may_write() and self.may_change())
        require(self.leader in isr and (isr < self.isr or self.isr < isr))
        require(all(self.caught_up(broker) for broker in isr - self.isr))
        self.controller = self.controller.replace(isr=isr, partition_epoch=self.next_partition_epoch())
        self.isr = isr
        self.partition_epoch = self.controller.partition_epoch
        self.notified = True

    def may_propose(self, isr: Set[Broker]) -> bool:
        return not self.writes_itself and super().may_propose(isr)

    # The controller.

    def change(self, state: LeaderAndIsr) -> None:
        super().change(state)
        self.cached = self.controller

    @rule
    def watches(self) -> bool:
        """Whether the controller, which itself is upgraded, learns what leaders write. Kafka's always does
        (``KafkaController.processIsrChangeNotification``).
        """
        return True

    @fair
    @action
    def controller_is_notified(self) -> None:
        """The watch fires: the controller reads the state again. ``KafkaController.processIsrChangeNotification``."""
        require(self.notified and self.watches())
        self.notified = False
        self.cached = self.controller

    @fair
    @action
    def controller_tells_brokers(self) -> None:
        """UpdateMetadata, with what the controller remembers. ``KafkaController.sendUpdateMetadataRequest``."""
        self.metadata = self.cached
