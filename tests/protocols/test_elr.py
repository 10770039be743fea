"""The rules of KIP-966's model beside those of the model that walks with Kafka's controller (examples/kafka)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from itertools import chain, combinations, islice, product
from pathlib import Path
from typing import Any

import pytest

from floodmark import Seq, Set
from floodmark.language.errors import ActionDisabled
from floodmark.language.reference import initial_states
from floodmark.language.values import running
from model.elr.partition import Broker
from model.elr.reassignment import ReassignedEligibleLeaders
from tests.support.command import REPOSITORY

EXAMPLE = REPOSITORY / "examples" / "kafka"
NUMBERS = (1, 2, 3)
Numbers = frozenset[int]


@pytest.fixture(scope="module")
def observed() -> Iterator[Any]:
    """The module of the model that Kafka's classes are compared with."""
    before = set(sys.modules)
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield importlib.import_module("partition")
    finally:
        sys.path.remove(str(EXAMPLE))
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or "").parent == EXAMPLE:
                del sys.modules[name]


def subsets(of: Numbers) -> list[Numbers]:
    return [frozenset(each) for each in chain.from_iterable(combinations(sorted(of), n) for n in range(len(of) + 1))]


def some(kind: Any, numbers: Numbers) -> Set[Any]:
    return Set(kind(number) for number in numbers)


def cases() -> Iterator[tuple[Numbers, Numbers, int | None, int | None, Numbers, Numbers, Numbers, Numbers]]:
    """ISR, ELR, leader and last known leader before; the replicas, the ISR, the active brokers and those that shut down
    uncleanly that a change is built from. A leader leaves the ISR only once it is not active. With two in sync of
    min.insync.replicas = 2 nobody is eligible.
    """
    everybody = frozenset(NUMBERS)
    for isr in subsets(everybody):
        for elr in subsets(everybody - isr if len(isr) < 2 else frozenset()):
            leaders: list[tuple[int | None, int | None]] = [(number, None) for number in sorted(isr)]
            leaders += [] if isr else [(None, number) for number in NUMBERS]
            for leader, last_known in leaders:
                replicas = [each for each in subsets(everybody) if len(each) > 1]
                for kept, to_isr, active, unclean in product(
                    replicas, subsets(everybody), subsets(everybody), subsets(everybody)
                ):
                    fits = to_isr <= kept & active and len(unclean) < 2 and to_isr.isdisjoint(unclean)
                    leaves = leader is None or leader in to_isr or leader not in active
                    if fits and leaves and (last_known is None or last_known in kept):
                        yield isr, elr, leader, last_known, kept, to_isr, active, unclean


@pytest.mark.parametrize("stride", [101, pytest.param(1, marks=pytest.mark.slow)])
def test_a_change_is_what_kafkas_builder_makes_of_it(observed: Any, stride: int) -> None:
    """Both models write the same ISR, ELR, leader and last known leader, whoever is elected; and the model of KIP-966
    elects nobody whom the other could not elect in another order of replicas.
    """
    kafka = observed.PartitionControl(brokers=3, replication_factor=3)
    ours = ReassignedEligibleLeaders(brokers=3, replication_factor=3)
    compared = 0
    for isr, elr, leader, last_known, kept, to_isr, active, unclean in islice(cases(), 0, None, stride):
        elected = set()
        for order in (sorted(kept), sorted(kept, reverse=True)):
            with running(kafka):
                next(iter(initial_states(kafka)))
                kafka.isr, kafka.elr = some(observed.Broker, isr), some(observed.Broker, elr)
                kafka.leader = None if leader is None else observed.Broker(leader)
                kafka.last_known = Set() if last_known is None else Set([observed.Broker(last_known)])
                kafka.change(
                    Seq(observed.Broker(number) for number in order), Set(), Set(), some(observed.Broker, to_isr),
                    some(observed.Broker, active), some(observed.Broker, unclean), observed.Election.ONLINE, True,
                    False, 1,
                )
                after = (numbers(kafka.isr), numbers(kafka.elr), number_of(kafka.leader), numbers(kafka.last_known))
            successor = after[2]
            elected.add(successor)
            with running(ours):
                begin(ours, isr, elr, leader, last_known)
                ours.assign(some(Broker, kept), Set(), Set())
                ours.change(
                    some(Broker, to_isr), some(Broker, unclean), some(Broker, active),
                    None if successor is None else Broker(successor),
                )
                last = number_of(ours.last_known_leader)
                known = frozenset[int]() if last is None else frozenset([last])
                found = (numbers(ours.isr), numbers(ours.elr), number_of(ours.leader), known)
                assert found == after, (isr, elr, leader, last_known, kept, to_isr, active, unclean)
        for other in {*NUMBERS, None} - elected:
            with running(ours):
                begin(ours, isr, elr, leader, last_known)
                if other not in (to_isr or (elr | isr)):
                    ours.assign(some(Broker, kept), Set(), Set())
                    with pytest.raises(ActionDisabled):
                        ours.change(
                            some(Broker, to_isr), some(Broker, unclean), some(Broker, active),
                            None if other is None else Broker(other),
                        )
        compared += 1
    assert compared > 20


def begin(ours: Any, isr: Numbers, elr: Numbers, leader: int | None, last_known: int | None) -> None:
    next(iter(initial_states(ours)))
    ours.isr, ours.elr = some(Broker, isr), some(Broker, elr)
    ours.leader = None if leader is None else Broker(leader)
    ours.last_known_leader = None if last_known is None else Broker(last_known)


def numbers(brokers: Any) -> Numbers:
    return frozenset(number_of(broker) for broker in brokers)


def number_of(broker: Any) -> Any:
    return None if broker is None else int(str(broker)[1:])
