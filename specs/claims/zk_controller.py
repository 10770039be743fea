"""The controller design V3 on ZooKeeper: its arithmetic, elections, conditional writes, and when a move is done."""

from __future__ import annotations

from floodmark import Identifier, Set, require
from floodmark.claims import fails, holds


class Broker(Identifier, count=8, prefix=""):
    """One of up to eight brokers."""


PARTITIONS = 10_000
WRITE_MS = 2
REQUEST_LIMIT = 1_048_575
"""The most bytes that ZooKeeper accepts in one request (jute.maxbuffer), and so in one transaction."""
ENTRY = 150
"""The bytes of one write: path and state of a partition."""


@holds("V3, failover latency: 10,000 partitions at 2 ms are 20 s")
def writes_take_twenty_seconds(latency_ms: int) -> bool:
    require(latency_ms == PARTITIONS * WRITE_MS)
    return latency_ms == 20_000


@fails("V3, failover latency: step 3.1 reads the ISR of each partition, too")
def reads_and_writes_take_twenty_seconds(read_ms: int, write_ms: int) -> bool:
    """With a read of 2 ms before each write it is still 20 s."""
    require(read_ms == 2 and write_ms == 2)
    total = PARTITIONS * read_ms + PARTITIONS * write_ms
    return total <= 20_000


@fails("V3, remedy: use multi; ZooKeeper's limit of 1 MB")
def one_transaction_is_enough(entry_bytes: int) -> bool:
    """All partitions' writes fit into one transaction, at 100 bytes or more per write."""
    require(entry_bytes >= 100)
    return PARTITIONS * entry_bytes <= REQUEST_LIMIT


@holds("V3, remedy: use multi; ZooKeeper's limit of 1 MB")
def two_transactions_are_needed(partitions: int, transactions: int) -> bool:
    """At 150 bytes per write, 10,000 partitions need two transactions, and two are enough."""
    require(partitions == PARTITIONS and transactions == (partitions * ENTRY + REQUEST_LIMIT - 1) // REQUEST_LIMIT)
    return transactions == 2


@holds("V3, remedy: use multi")
def batches_cost_what_they_number(partitions: int, batch: int) -> bool:
    """Batches of up to 6,990 partitions fit, and 10,000 partitions then take at most two, when batches are full."""
    require(partitions == PARTITIONS and batch * ENTRY <= REQUEST_LIMIT)
    return batch <= 6_990 and partitions <= 2 * 6_990


# Elections (V3, on_broker_change and change_leaders).


@holds("V3, change_leaders")
def clean_election_keeps_to_the_isr(
    replicas: Set[Broker], isr: Set[Broker], live: Set[Broker], leader: Broker
) -> bool:
    """While a member of the ISR is alive, the new leader is one, and the new ISR has live members only."""
    require(isr <= replicas and len(isr & live) > 0 and leader in isr & live)
    new_isr = isr & live
    return leader in new_isr and new_isr <= isr and new_isr <= live and len(new_isr) > 0


@holds("V3, change_leaders")
def unclean_election_only_without_isr(isr: Set[Broker], live: Set[Broker], leader: Broker) -> bool:
    """A leader from outside of the ISR is elected exactly when no member is alive."""
    require(leader in live)
    clean = len(isr & live) > 0
    require(leader in isr or not clean)
    return (leader not in isr) == (not clean)


@fails("V3, change_leaders: question A.1")
def some_replica_is_alive(replicas: Set[Broker], live: Set[Broker]) -> bool:
    """There is always a replica to elect."""
    require(len(replicas) > 0 and len(live) > 0)
    return len(replicas & live) > 0


# Moving a partition (V3, on_partitions_reassigned).


@holds("V3, on_partitions_reassigned, step 3.1: ISR == AR + RAR")
def dead_old_replica_blocks_the_move(
    replicas: Set[Broker], reassigned: Set[Broker], live: Set[Broker], isr: Set[Broker], dead: Broker
) -> bool:
    """If a replica that is to be removed is dead, the test for completion never comes true."""
    require(dead in replicas - reassigned and dead not in live and isr <= live)
    return isr != replicas | reassigned


@fails("KIP-455: RAR within the ISR")
def dead_old_replica_blocks_the_shipped_test(
    replicas: Set[Broker], reassigned: Set[Broker], live: Set[Broker], isr: Set[Broker], dead: Broker
) -> bool:
    """The test that Kafka uses cannot come true either."""
    require(len(reassigned) > 0 and dead in replicas - reassigned and dead not in live and isr <= live)
    return not reassigned <= isr


# Conditional writes (V3, 2.1.2).


def written(version: int, quoted: int) -> int:
    """The version after a write that quotes a version: the next one if that is right, otherwise the same."""
    return version + 1 if quoted == version else version


@holds("V3, conditional writes")
def one_of_two_writers_succeeds(version: int, quoted: int) -> bool:
    """Of two writers that quote one version, in any order, at most one succeeds."""
    first = written(version, quoted)
    second = written(first, quoted)
    return second <= version + 1


@fails("V3, without conditional writes")
def one_of_two_unconditional_writers_succeeds(version: int) -> bool:
    """Without the condition, too."""
    first = version + 1
    second = first + 1
    return second <= version + 1
