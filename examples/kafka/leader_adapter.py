"""How the steps of ``ObservedLeader`` are taken by Kafka's ``Partition``, and what is compared after each.

The controller is the model's: what it answers and what the metadata says are the arguments of the leader's steps. How
far a follower's log goes, and what is registered of a broker, is kept here. Compared are whether the broker leads, its
leader epoch, partition epoch, ISR and maximal ISR, whether a change is pending, log end offset, high watermark, the
start of the leader epoch, what it knows of each follower and whether that was caught up lately, the request under way
with its broker epochs, what a producer is told, and errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from bridge import Classes
from partition_broker import Broker, State

from floodmark.conformance import Adapter, observable


def number(broker: Any) -> int:
    """2 for b2."""
    return int(repr(broker)[1:])


def names(brokers: Iterable[int]) -> set[str]:
    return {f"b{broker}" for broker in brokers}


def known(model: Any) -> dict[str, list[Any]]:
    """What the model's leader knows of its followers."""
    if not model.leading:
        return {}
    return {
        repr(each): [model.fetch_offsets[each], model.fetched_broker_epoch[each], each in model.caught_up_lately]
        for each in model.fetch_offsets if each != model.leader
    }


def under_way(model: Any) -> list[list[Any]]:
    request = model.awaited
    if request is None:
        return []
    quoted = {repr(each): -1 if model.quoted[each] is None else model.quoted[each] for each in request.isr}
    return [[request.leader_epoch, request.partition_epoch, quoted]]


def told(model: Any) -> str:
    """What a producer with acks=all is told of the last record."""
    if not model.leading:
        return "NOT_LEADER_OR_FOLLOWER"
    if model.high_watermark < model.end():
        return "WAITS"
    return "NONE" if model.acks_succeed() else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"


class LeaderAdapter(Adapter):
    """A broker with the classes of ``kafka``."""

    kafka: ClassVar[Classes]
    environment = ("controller_accepts", "controller_refuses", "controller_elects")
    unsupported = ("leader_proposes_shrink", "leader_proposes_expand", "leader_advances_high_watermark")

    def __init__(self, start: Any) -> None:
        self.replicas = tuple(number(each) for each in start.log_end_offset)
        self.log_ends = dict.fromkeys(self.replicas, 0)
        self.epochs = dict.fromkeys(self.replicas, 0)
        self.status = dict.fromkeys(self.replicas, "ACTIVE")
        self.answered = "NONE"
        state = self.state(start.controller)
        self.broker = Broker(self.kafka, number(start.leader), state, start.min_insync_replicas)

    def close(self) -> None:
        self.broker.close()

    def state(self, given: Any) -> State:
        leader = None if given.leader is None else number(given.leader)
        isr = tuple(sorted(map(number, given.isr)))
        return State(leader, given.leader_epoch, isr, given.partition_epoch, self.replicas)

    # The log.

    def leader_appends(self) -> None:
        self.answered = self.broker.append()

    def leader_appends_for_itself(self) -> None:
        self.answered = self.broker.append(acks=1)

    # Followers fetch.

    def fetch(self, follower: int, leader_epoch: int | None = None, broker_epoch: int | None = None) -> bool:
        """Whether it is answered."""
        epoch = self.epochs[follower] if broker_epoch is None else broker_epoch
        self.answered = self.broker.fetch(follower, self.log_ends[follower], leader_epoch, epoch)
        return self.answered == "NONE"

    def follower_fetches(self, follower: Any) -> None:
        if self.fetch(number(follower)) and self.log_ends[number(follower)] < self.broker.end:
            self.log_ends[number(follower)] += 1

    def follower_hears_nothing(self, follower: Any) -> None:
        self.fetch(number(follower))

    def follower_fetches_wrongly(self, follower: Any, fault: Any) -> None:
        off = {"OLDER_LEADER_EPOCH": -1, "NEWER_LEADER_EPOCH": 1}.get(fault.name)
        if off is None:
            self.fetch(number(follower), broker_epoch=0)
        else:
            self.fetch(number(follower), leader_epoch=self.broker.leader_epoch + off)

    def follower_truncates(self, follower: Any) -> None:
        self.log_ends[number(follower)] -= 1

    def time_passes(self) -> None:
        self.broker.pass_time()

    # The leader.

    def leader_looks_for_laggards(self) -> None:
        self.broker.shrink()

    def leader_receives_response(self, response: Any) -> None:
        request = response.request
        if response.error is not None:
            self.broker.refuse(response.error.name)
        else:
            isr = tuple(sorted(map(number, request.isr)))
            self.broker.answer(
                State(self.broker.broker, request.leader_epoch, isr, request.partition_epoch + 1, self.replicas))

    def request_fails(self, request: Any, failure: Any) -> None:
        if failure.name == "STALE_BROKER_EPOCH":
            self.broker.fail(failure.name)
        else:
            self.broker.refuse(failure.name)

    def topic_is_unknown(self, request: Any) -> None:
        self.broker.refuse("UNKNOWN_TOPIC_ID")

    def leader_receives_leader_and_isr(self, update: Any) -> None:
        self.broker.receive(self.state(update))

    def cache_learns(self, broker: Any) -> None:
        which = number(broker)
        cached = self.broker.cached(which)
        cached.broker_epoch = self.epochs[which]
        cached.fenced = self.status[which] == "FENCED"
        cached.shutting_down = self.status[which] == "SHUTTING_DOWN"

    # What is registered.

    def controller_fences(self, broker: Any) -> None:
        self.status[number(broker)] = "FENCED"

    def controller_fences_last_replica(self) -> None:
        self.status[self.broker.broker] = "FENCED"

    def controller_shuts_down(self, broker: Any) -> None:
        self.status[number(broker)] = "SHUTTING_DOWN"

    def controller_unfences(self, broker: Any) -> None:
        self.status[number(broker)] = "ACTIVE"

    def broker_registers_again(self, broker: Any) -> None:
        self.status[number(broker)] = "FENCED"
        self.epochs[number(broker)] += 1
        self.log_ends[number(broker)] = 0

    # What is observed.

    @observable
    def leading(self) -> bool:
        return self.broker.leads

    @observable
    def leader_epoch(self) -> int:
        return self.broker.leader_epoch

    @observable
    def partition_epoch(self) -> int:
        return self.broker.partition_epoch

    @observable
    def isr(self) -> set[str]:
        return names(self.broker.isr)

    @observable(of=lambda model: sorted(repr(each) for each in model.maximal_isr()))
    def maximal_isr(self) -> list[str]:
        return sorted(names(self.broker.maximal_isr))

    @observable(of=lambda model: len(model.pending) > 0)
    def in_flight(self) -> bool:
        return self.broker.in_flight

    @observable
    def end(self) -> int:
        return self.broker.end

    @observable
    def high_watermark(self) -> int:
        return self.broker.high_watermark

    @observable
    def leader_epoch_start_offset(self) -> int:
        found = self.broker.epoch_start
        return -1 if found is None else found

    @observable
    def error(self) -> str:
        return self.answered

    @observable(of=known)
    def followers(self) -> dict[str, list[Any]]:
        found = {each: self.broker.follower(each) for each in self.replicas if each != self.broker.broker}
        return {f"b{each}": [seen.offset, seen.broker_epoch, seen.caught_up_lately]
                for each, seen in found.items() if seen is not None}

    @observable(of=under_way)
    def request(self) -> list[list[Any]]:
        return [[each.leader_epoch, each.partition_epoch, {f"b{broker}": epoch for broker, epoch in each.isr}]
                for each in self.broker.requests]

    @observable(of=told)
    def producer(self) -> str:
        return self.broker.acknowledged(self.broker.end)

    @observable
    def is_under_min_isr(self) -> bool:
        return self.broker.is_under_min_isr()

    @observable(of=lambda model: model.leading and len(model.isr) == model.min_insync_replicas)
    def is_at_min_isr(self) -> bool:
        return self.broker.is_at_min_isr()

    @observable(of=lambda model: model.leading and len(model.isr) < len(model.log_end_offset))
    def is_under_replicated(self) -> bool:
        return self.broker.is_under_replicated()
