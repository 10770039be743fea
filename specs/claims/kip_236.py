"""KIP-236: what cancelling a reassignment may do, and which replicas the page's earlier protocol drops.

OAR are the original replicas, RAR the reassigned ones, AR the assigned ones.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Capacity, Identifier, Seq, Set, require
from floodmark.claims import fails, holds
from model.replica_sets import without


class Broker(Identifier, count=8, prefix=""):
    """One of up to eight brokers."""


Replicas = Annotated[Seq[Broker], Capacity(4)]


# Cancelling, in the current version of the page.


@fails("KIP-236, cancellation, step 2: the sentence names the wrong set")
def replicas_kept_out_are_oar_without_rar(oar: Set[Broker], rar: Set[Broker]) -> bool:
    """With AR = OAR the leader cannot add the replicas in OAR - RAR back."""
    require(len(oar) > 0 and len(rar) > 0)
    kept_out = (oar | rar) - oar
    return kept_out == oar - rar


@holds("KIP-236, cancellation, step 2, mended")
def replicas_kept_out_are_rar_without_oar(oar: Set[Broker], rar: Set[Broker]) -> bool:
    """With AR = OAR the leader cannot add the replicas in RAR - OAR back."""
    kept_out = (oar | rar) - oar
    return kept_out == rar - oar


def is_skipped(oar: Set[Broker], rar: Set[Broker], isr: Set[Broker], live: Set[Broker]) -> bool:
    """Skip rule 2: no original replica is in the ISR, and some new one is not offline."""
    return len(oar & isr) == 0 and len((rar - oar) & live) > 0


@fails("KIP-236, Skip Reassignment Cancellation Scenarios, rule 2; KAFKA-14424")
def cancelling_keeps_partition_online(
    oar: Set[Broker], rar: Set[Broker], isr: Set[Broker], live: Set[Broker], leader: Broker
) -> bool:
    """If the rules do not skip a partition that has a leader, it has one afterwards: in OAR, in the ISR, and live."""
    require(len(oar) > 0 and len(rar) > 0 and isr <= oar | rar and leader in isr & live)
    require(not is_skipped(oar, rar, isr, live))
    return len(oar & isr & live) > 0


@fails("KIP-236, Skip Reassignment Cancellation Scenarios, rule 2; KAFKA-14424")
def skipping_is_needed(
    oar: Set[Broker], rar: Set[Broker], isr: Set[Broker], live: Set[Broker], leader: Broker
) -> bool:
    """If they skip one, cancelling would have left no leader, not even an original replica that is alive."""
    require(len(oar) > 0 and len(rar) > 0 and isr <= oar | rar and leader in isr & live)
    require(is_skipped(oar, rar, isr, live))
    return len(oar & live) == 0


@holds("KIP-236, rule 2, mended: some original replica is in the ISR and live")
def mended_rule_keeps_partition_online(
    oar: Set[Broker], rar: Set[Broker], isr: Set[Broker], live: Set[Broker], leader: Broker
) -> bool:
    require(isr <= oar | rar and leader in isr & live and any(broker in oar and broker in live for broker in isr))
    after = isr - (rar - oar)
    return len(after & oar & live) > 0


@fails("KIP-236, Motivation: clean, safe way to cancel; linkedin/kafka#442")
def cancelling_keeps_enough_in_sync(
    oar: Set[Broker], rar: Set[Broker], isr: Set[Broker], live: Set[Broker], min_insync_replicas: int
) -> bool:
    """An ISR that was large enough for producers still is."""
    require(len(oar) > 0 and len(rar) == len(oar) and isr <= oar | rar and isr <= live)
    require(len(oar & isr & live) > 0 and 1 <= min_insync_replicas <= len(oar))
    require(len(isr) >= min_insync_replicas)
    return len(isr - (rar - oar)) >= min_insync_replicas


@fails("KIP-236, cancellation, step 3")
def shrinking_leaves_a_member(oar: Set[Broker], rar: Set[Broker], isr: Set[Broker], live: Set[Broker]) -> bool:
    """Taking RAR - OAR out of the ISR never leaves it empty."""
    require(len(oar) > 0 and len(rar) > 0 and len(isr) > 0 and isr <= oar | rar)
    require(not is_skipped(oar, rar, isr, live))
    return len(isr - (rar - oar)) > 0


# Which replicas are dropped when a reassignment changes, in an earlier version of the page: of the replicas, the leader
# first, then the ISR, then the others, the first ``top`` are kept. The page writes existing[0:top-1].


def existing(assigned: Seq[Broker], isr: Set[Broker], leader: Broker | None) -> Seq[Broker]:
    """The leader, the ISR, the rest, each once."""
    first = Seq(broker for broker in assigned if broker == leader)
    in_sync = Seq(broker for broker in assigned if broker in isr and broker != leader)
    others = Seq(broker for broker in assigned if broker not in isr and broker != leader)
    return first + in_sync + others


def dropped_excluding(assigned: Seq[Broker], isr: Set[Broker], leader: Broker | None, top: int) -> Set[Broker]:
    """As Python reads existing[0:top-1]: without the index after the colon."""
    return Set(without(assigned, Set(existing(assigned, isr, leader)[0 : top - 1])))


def dropped_including(assigned: Seq[Broker], isr: Set[Broker], leader: Broker | None, top: int) -> Set[Broker]:
    """As it must be meant: indices 0 to top-1."""
    return Set(without(assigned, Set(existing(assigned, isr, leader)[0:top])))


def is_assigned(assigned: Seq[Broker], isr: Set[Broker], leader: Broker) -> bool:
    return len(Set(assigned)) == len(assigned) and isr <= Set(assigned) and leader in isr


@fails("KIP-236, drop, excluding")
def undisturbed_partition_keeps_replicas_excluding(assigned: Replicas, isr: Set[Broker], leader: Broker) -> bool:
    """Nothing is dropped from a partition that has as many replicas as it started with."""
    require(is_assigned(assigned, isr, leader))
    drop = dropped_excluding(assigned, isr, leader, len(assigned))
    return len(drop) == 0


@holds("KIP-236, drop, including")
def undisturbed_partition_keeps_replicas_including(assigned: Replicas, isr: Set[Broker], leader: Broker) -> bool:
    """Nothing is dropped from a partition that has as many replicas as it started with."""
    require(is_assigned(assigned, isr, leader))
    drop = dropped_including(assigned, isr, leader, len(assigned))
    return len(drop) == 0


@fails("KIP-236, drop, excluding: since top > 0 the leader is not dropped")
def leader_stays_excluding(assigned: Replicas, isr: Set[Broker], leader: Broker, top: int) -> bool:
    require(is_assigned(assigned, isr, leader) and top > 0)
    drop = dropped_excluding(assigned, isr, leader, top)
    return leader not in drop


@holds("KIP-236, drop, including: since top > 0 the leader is not dropped")
def leader_stays_including(assigned: Replicas, isr: Set[Broker], leader: Broker, top: int) -> bool:
    require(is_assigned(assigned, isr, leader) and top > 0)
    drop = dropped_including(assigned, isr, leader, top)
    return leader not in drop


@fails("KIP-236, drop, excluding: by the assumption top >= min.insync.replicas producers are not blocked")
def producers_go_on_excluding(
    assigned: Replicas, isr: Set[Broker], leader: Broker, top: int, min_insync_replicas: int
) -> bool:
    require(is_assigned(assigned, isr, leader))
    require(min_insync_replicas >= 1 and min_insync_replicas <= top and min_insync_replicas <= len(isr))
    drop = dropped_excluding(assigned, isr, leader, top)
    return len(isr - drop) >= min_insync_replicas


@holds("KIP-236, drop, including: by the assumption top >= min.insync.replicas producers are not blocked")
def producers_go_on_including(assigned: Replicas, isr: Set[Broker], leader: Broker, top: int) -> bool:
    """The ISR stays whole, or ``top`` of it stay: in both cases min.insync.replicas of it do, which are at most
    ``top`` and were in it before."""
    require(is_assigned(assigned, isr, leader) and top >= 1)
    drop = dropped_including(assigned, isr, leader, top)
    return isr - drop == isr or len(isr - drop) >= top


@fails("KIP-236, drop, including: a leader outside of the ISR takes up a place")
def producers_go_on_whoever_leads(
    assigned: Replicas, isr: Set[Broker], leader: Broker, top: int, min_insync_replicas: int
) -> bool:
    require(len(Set(assigned)) == len(assigned) and isr <= Set(assigned) and leader in assigned)
    require(min_insync_replicas >= 1 and min_insync_replicas <= top and min_insync_replicas <= len(isr))
    drop = dropped_including(assigned, isr, leader, top)
    return len(isr - drop) >= min_insync_replicas


@fails("KIP-236, drop, excluding: only replicas that are not wanted any more are dropped")
def target_is_spared_excluding(
    assigned: Replicas, isr: Set[Broker], leader: Broker, top: int, target: Set[Broker]
) -> bool:
    require(is_assigned(assigned, isr, leader) and len(target) == top and top > 0)
    drop = dropped_excluding(assigned, isr, leader, top)
    return len(drop & target) == 0


@fails("KIP-236, drop, including: only replicas that are not wanted any more are dropped")
def target_is_spared_including(
    assigned: Replicas, isr: Set[Broker], leader: Broker, top: int, target: Set[Broker]
) -> bool:
    require(is_assigned(assigned, isr, leader) and len(target) == top and top > 0)
    drop = dropped_including(assigned, isr, leader, top)
    return len(drop & target) == 0


@holds("KIP-455: a changed reassignment removes what is neither original nor wanted")
def target_is_spared_by_kip_455(replicas: Set[Broker], oar: Set[Broker], target: Set[Broker]) -> bool:
    require(oar <= replicas)
    drop = replicas - (oar | target)
    return len(drop & target) == 0 and len(drop & oar) == 0


@holds("KIP-236, the example [1,2], [2,3], [2,4], including")
def example_of_the_page(assigned: Replicas, isr: Set[Broker], leader: Broker) -> bool:
    """While 1 and 2 are in sync, 3 is dropped when 4 takes its place."""
    require(assigned == [Broker(1), Broker(2), Broker(3)] and isr == Set({Broker(1), Broker(2)}) and leader in isr)
    return dropped_including(assigned, isr, leader, 2) == Set({Broker(3)})
