"""KIP-497: what the high watermark may follow while changes of the ISR are pending."""

from __future__ import annotations

from floodmark import Identifier, Map, Set, require
from floodmark.claims import fails, holds


class Broker(Identifier, count=8, prefix=""):
    """One of up to eight replicas."""


def high_watermark(followed: Set[Broker], log_end_offset: Map[Broker, int]) -> int:
    """The offset up to which every member of a set has the log."""
    return min(log_end_offset[broker] for broker in followed)


def is_log(log_end_offset: Map[Broker, int]) -> bool:
    return all(log_end_offset[broker] >= 0 for broker in Broker)


def holds_committed(isr: Set[Broker], committed: int, log_end_offset: Map[Broker, int]) -> bool:
    return all(log_end_offset[broker] >= committed for broker in isr)


@holds("KIP-497, Proposed Changes")
def superset_is_always_safe(isr: Set[Broker], followed: Set[Broker], log_end_offset: Map[Broker, int]) -> bool:
    """The high watermark may follow any superset of the ISR."""
    require(len(isr) > 0 and isr <= followed)
    return high_watermark(followed, log_end_offset) <= high_watermark(isr, log_end_offset)


@holds("KIP-497, comments")
def union_of_pending_changes_is_safe(
    leader: Broker,
    isr: Set[Broker],
    first: Set[Broker],
    second: Set[Broker],
    accepted: Set[Broker],
    log_end_offset: Map[Broker, int],
) -> bool:
    """With two changes pending at one partition epoch, whichever is accepted, if any: its members have everything
    committed.
    """
    require(leader in isr and leader in first and leader in second and is_log(log_end_offset))
    require(accepted in (isr, first, second))
    return holds_committed(accepted, high_watermark(isr | first | second, log_end_offset), log_end_offset)


@fails("KIP-497, comments: which of several changes is accepted is not known")
def latest_change_is_safe(
    leader: Broker,
    isr: Set[Broker],
    first: Set[Broker],
    second: Set[Broker],
    accepted: Set[Broker],
    log_end_offset: Map[Broker, int],
) -> bool:
    """The high watermark may follow the ISR and the latest of the pending changes."""
    require(leader in isr and leader in first and leader in second and is_log(log_end_offset))
    require(accepted in (isr, first, second))
    return holds_committed(accepted, high_watermark(isr | second, log_end_offset), log_end_offset)


@fails("KIP-497, Proposed Changes: shrinking")
def shrunk_isr_is_safe(isr: Set[Broker], shrunk: Set[Broker], log_end_offset: Map[Broker, int]) -> bool:
    """The high watermark may follow a smaller ISR before the controller has agreed."""
    require(len(shrunk) > 0 and shrunk <= isr and is_log(log_end_offset))
    return holds_committed(isr, high_watermark(shrunk, log_end_offset), log_end_offset)


@fails("KIP-497, Proposed Changes: the largest possible ISR")
def largest_possible_isr_is_an_outcome(isr: Set[Broker], first: Broker, second: Broker) -> bool:
    """Of two expansions at one partition epoch, one leads to the ISR that the leader follows."""
    require(len(isr) > 0 and first not in isr and second not in isr)
    followed = isr | {first, second}
    return followed == isr | {first} or followed == isr | {second}


@holds("KIP-497, Proposed Changes: the largest possible ISR")
def union_waits_for_the_worst_outcome(
    isr: Set[Broker], first: Set[Broker], second: Set[Broker], log_end_offset: Map[Broker, int]
) -> bool:
    """The union may be an outcome that no request asks for, and yet it is no lower than the worst that may happen."""
    require(len(isr) > 0 and isr <= first and isr <= second)
    outcomes = min(high_watermark(first, log_end_offset), high_watermark(second, log_end_offset))
    return high_watermark(isr | first | second, log_end_offset) == outcomes


@fails("KIP-497, Proposed Changes: the largest possible ISR")
def union_waits_no_longer_than_needed(
    isr: Set[Broker], first: Set[Broker], second: Set[Broker], accepted: Set[Broker], log_end_offset: Map[Broker, int]
) -> bool:
    """Whichever change is accepted, the high watermark was as high as that ISR allows: the union costs no delay."""
    require(len(isr) > 0 and isr <= first and isr <= second and accepted in (first, second) and is_log(log_end_offset))
    return high_watermark(isr | first | second, log_end_offset) == high_watermark(accepted, log_end_offset)


@fails("Kafka before KAFKA-15583: an append counts the committed ISR, its success the maximal one")
def success_means_enough_in_sync(
    isr: Set[Broker], joining: Set[Broker], min_insync_replicas: int, offset: int, log_end_offset: Map[Broker, int]
) -> bool:
    """When acks=all succeeds, the committed ISR has at least min.insync.replicas members."""
    require(len(isr) > 0 and isr & joining == Set[Broker]() and offset >= 0 and is_log(log_end_offset))
    maximal_isr = isr | joining
    require(len(maximal_isr) >= min_insync_replicas and high_watermark(maximal_isr, log_end_offset) > offset)
    return len(isr) >= min_insync_replicas


@holds("KIP-497, comments; KAFKA-15583")
def success_means_enough_copies(
    isr: Set[Broker], joining: Set[Broker], min_insync_replicas: int, offset: int, log_end_offset: Map[Broker, int]
) -> bool:
    """But min.insync.replicas brokers have the record."""
    require(len(isr) > 0)
    maximal_isr = isr | joining
    require(len(maximal_isr) >= min_insync_replicas and high_watermark(maximal_isr, log_end_offset) > offset)
    return sum(1 for broker in Broker if log_end_offset[broker] > offset) >= min_insync_replicas
