"""AsyncIsr, the TLA+ specification of KIP-497 (kafka-specification, July 2019), action by action.

No message is ever consumed: requests and updates are sets that only grow, as in the original text, which has no bounds
at all. Here the boundary is the bound: states beyond ``max_version`` or ``max_offset`` are checked and not explored.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import (
    Between,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Set,
    action,
    boundary,
    initial,
    invariant,
    require,
    rule,
)

Version = Annotated[int, Between(0, "max_version + 1")]
Offset = Annotated[int, Between(0, "max_offset + 1")]


class Replica(Identifier, count="replicas", prefix="r"):
    """A replica of the partition; the first one leads."""


class Message(Record):
    """An ISR with its version: as the leader asks for it, or as the controller wrote it."""

    isr: Set[Replica]
    version: Version


class AsyncIsr(Model):
    """The controller writes versions of the ISR; the leader asks for changes and assumes the larger set meanwhile."""

    replicas = Constant(3)
    max_version = Constant(3)
    max_offset = Constant(2)

    controller_isr: Set[Replica]
    controller_version: Version = 0
    leader_isr: Set[Replica]
    leader_version: Version = 0
    pending_isr: Set[Replica]
    pending_version: Version | None = None
    offsets: Map[Replica, Offset]
    requests: Set[Message]
    updates: Set[Message]

    @initial
    def start(self) -> None:
        self.controller_isr = Set(Replica)
        self.leader_isr = Set(Replica)
        self.pending_isr = Set()
        self.offsets = Map({replica: 0 for replica in Replica})
        self.requests = Set()
        self.updates = Set()

    @boundary
    def within_bounds(self) -> bool:
        return self.controller_version <= self.max_version and self.offsets[Replica(1)] <= self.max_offset

    @rule
    def assumed_isr(self) -> Set[Replica]:
        """What a record has to reach before it counts as committed: the current ISR and every requested one."""
        return self.leader_isr | self.pending_isr

    @rule
    def is_news(self, update: Message) -> bool:
        return update.version > self.leader_version

    def high_watermark(self) -> int:
        return min(self.offsets[replica] for replica in self.assumed_isr())

    def write(self, isr: Set[Replica]) -> None:
        self.controller_isr = isr
        self.controller_version += 1
        self.updates.add(Message(isr=isr, version=self.controller_version))

    def ask_for(self, isr: Set[Replica]) -> None:
        self.requests.add(Message(isr=isr, version=self.leader_version))
        self.pending_isr = self.pending_isr | isr
        self.pending_version = self.leader_version

    @action
    def controller_shrinks_isr(self, replica: Replica) -> None:
        require(replica != Replica(1) and replica in self.controller_isr)
        self.write(self.controller_isr - {replica})

    @action
    def controller_handles_request(self, message: Message) -> None:
        require(message in self.requests)
        require(message.version == self.controller_version)
        self.write(message.isr)

    @action
    def leader_requests_shrink(self, replica: Replica) -> None:
        require(replica != Replica(1) and replica in self.leader_isr)
        self.ask_for(self.leader_isr - {replica})

    @action
    def leader_requests_expand(self, replica: Replica) -> None:
        require(replica not in self.leader_isr)
        require(self.offsets[replica] >= self.high_watermark())
        self.ask_for(self.leader_isr | {replica})

    @action
    def leader_writes(self) -> None:
        self.offsets[Replica(1)] += 1

    @action
    def leader_handles_update(self, update: Message) -> None:
        require(update in self.updates)
        require(self.is_news(update))
        self.leader_isr = update.isr
        self.leader_version = update.version
        self.pending_isr = Set()
        self.pending_version = None

    @action
    def follower_replicates(self, replica: Replica) -> None:
        require(replica != Replica(1))
        require(self.offsets[replica] < self.offsets[Replica(1)])
        self.offsets[replica] += 1

    @invariant
    def valid_high_watermark(self) -> bool:
        """Every member of the controller's ISR has everything below the high watermark."""
        return all(self.offsets[replica] >= self.high_watermark() for replica in self.controller_isr)
