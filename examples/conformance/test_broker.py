"""Tests the broker in ``broker.py`` against KIP-497 as shipped in Kafka: ``pytest examples/conformance``.

The model is ``model/alter_isr/core.py``. The partition's leader and its followers are the real code. The controller is
the model's, so its response is an argument of the action in which the leader receives it. With
``BUG=COUNTS_PROPOSED_ISR`` in the environment, the test fails and shows the steps that are enough.
"""

from __future__ import annotations

import os
from typing import ClassVar

from broker import AlterPartitionRequest, Bug, Follower, LeaderAndIsr, Partition
from hypothesis import settings

from floodmark import Set
from floodmark.conformance import Adapter, observable, state_machine
from model.alter_isr.core import AlterIsrRequest, AlterIsrResponse, Broker, ShippedAlterIsr
from model.alter_isr.core import LeaderAndIsr as ControllerState

LAG_MS = 30_000
MODEL = ShippedAlterIsr(max_offset=3)


def numbers(brokers: Set[Broker]) -> frozenset[int]:
    return frozenset(broker.number for broker in brokers)


def names(numbers: frozenset[int]) -> set[Broker]:
    return {Broker(number) for number in numbers}


def as_request(request: AlterIsrRequest) -> AlterPartitionRequest:
    return AlterPartitionRequest(request.leader_epoch, request.partition_epoch, numbers(request.isr))


def as_state(state: ControllerState) -> LeaderAndIsr:
    leader = None if state.leader is None else state.leader.number
    return LeaderAndIsr(leader, state.leader_epoch, numbers(state.isr), state.partition_epoch)


class PartitionAdapter(Adapter):
    """The leader ``b1`` and its followers."""

    environment = (
        "controller_accepts",
        "controller_refuses",
        "controller_fences",
        "controller_shuts_down",
        "controller_fences_last_replica",
        "controller_unfences",
        "controller_elects",
    )
    eager = ("leader_advances_high_watermark",)
    bug: ClassVar[Bug | None] = None

    def __init__(self, start: ShippedAlterIsr) -> None:
        brokers = {broker.number for broker in start.log_end_offset}
        self.followers = {broker: Follower(broker) for broker in brokers - {start.leader.number}}
        self.leader = Partition(
            start.leader.number, as_state(start.controller), set(self.followers), start.min_insync_replicas, LAG_MS,
            self.bug,
        )
        self.now_ms = 0

    # Actions of the real code.

    def leader_appends(self) -> None:
        self.leader.append_as_leader(["record"], acks=-1)

    def follower_fetches(self, follower: Broker) -> None:
        """Two fetches: as in Kafka, the leader learns what a follower has from the next fetch."""
        self.followers[follower.number].fetch_from(self.leader, 1, self.now_ms)
        self.followers[follower.number].fetch_from(self.leader, 0, self.now_ms)

    def leader_proposes_shrink(self, laggards: Set[Broker]) -> None:
        """Time passes, during which all replicas but the laggards have been caught up."""
        self.now_ms += LAG_MS + 1
        for broker, remote in self.leader.remote.items():
            if Broker(broker) not in laggards:
                remote.last_caught_up_ms = self.now_ms
        self.leader.maybe_shrink_isr(self.now_ms)

    def leader_proposes_expand(self, follower: Broker) -> None:
        self.leader.maybe_expand_isr(follower.number)

    def leader_receives_response(self, response: AlterIsrResponse) -> None:
        error = None if response.error is None else response.error.name
        self.leader.handle_alter_partition_response(as_request(response.request), error)

    def leader_receives_leader_and_isr(self, update: ControllerState) -> None:
        self.leader.make_leader_or_follower(as_state(update))

    # What can be observed.

    @observable
    def high_watermark(self) -> int:
        return self.leader.high_watermark

    @observable
    def log_end_offset(self) -> dict[Broker, int]:
        ends = {Broker(broker): follower.log.log_end_offset for broker, follower in self.followers.items()}
        return {Broker(self.leader.broker): self.leader.log.log_end_offset, **ends}

    @observable
    def leading(self) -> bool:
        return self.leader.is_leader

    @observable
    def leader_epoch(self) -> int:
        return self.leader.leader_epoch

    @observable
    def partition_epoch(self) -> int:
        return self.leader.partition_epoch

    @observable
    def isr(self) -> set[Broker]:
        return names(self.leader.isr)

    @observable
    def pending(self) -> list[set[Broker]]:
        return [] if self.leader.pending_isr is None else [names(self.leader.pending_isr)]

    @observable
    def maximal_isr(self) -> set[Broker]:
        return names(self.leader.maximal_isr)

    @observable
    def awaited(self) -> dict[str, object] | None:
        """The request that is in flight to the controller; values may also be as in JSON."""
        request = self.leader.alter_partition.in_flight
        if request is None:
            return None
        return {
            "leader_epoch": request.leader_epoch, "isr": names(request.new_isr),
            "partition_epoch": request.partition_epoch,
        }


class UndisturbedAdapter(PartitionAdapter):
    """The same without failures: the remaining actions run much more often, so longer exchanges occur."""

    environment = ("controller_accepts",)
    unsupported = tuple(name for name in PartitionAdapter.environment if name != "controller_accepts")


PartitionAdapter.bug = Bug[os.environ["BUG"]] if "BUG" in os.environ else None
TestPartition = state_machine(MODEL, PartitionAdapter).TestCase
TestUndisturbed = state_machine(MODEL, UndisturbedAdapter).TestCase
TestPartition.settings = settings(max_examples=100, stateful_step_count=20, deadline=None)
TestUndisturbed.settings = settings(max_examples=100, stateful_step_count=20, deadline=None)
