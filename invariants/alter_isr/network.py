"""What must hold of KIP-497 with failover where fetches and answers are late, besides what failover.py says.

Begin with core.py.
"""

from __future__ import annotations

from floodmark import invariant, reachable, transition
from model.alter_isr.failover import Broker
from model.alter_isr.network import Fetch, LateFetches


@transition
def offsets_go_with_broker_epochs(old: LateFetches, new: LateFetches) -> bool:
    """Within its leader epoch, what a leader knows of a follower's log belongs to the latest broker epoch that it has
    learned (KIP-903).
    """
    return all(
        new.fetched_broker_epochs[leader][follower] >= old.fetched_broker_epochs[leader][follower]
        for leader in Broker
        if old.leads(leader) and new.known(leader).leader_epoch == old.known(leader).leader_epoch
        for follower in Broker
    )


@invariant
def counted_records_were_there(model: LateFetches) -> bool:
    """A leader counts for a member of the ISR only records that it has, unless the member has lost them since, or
    follows another leader by now (KIP-320, KIP-903).
    """
    return all(
        len(model.replicas[follower].log) >= model.replicas[leader].fetch_offsets[follower]
        for leader in Broker
        if model.leads(leader)
        for follower in model.maximal_isr(leader)
        if model.known(follower).leader_epoch == model.known(leader).leader_epoch
        and model.fetched_broker_epochs[leader][follower] == model.broker_epochs[follower]
    )


@reachable
def fetch_outlives_its_broker(model: LateFetches) -> bool:
    """A fetch can arrive after its follower has restarted and is in sync again."""
    return model.max_restarts == 0 or any(outlives(model, fetch) for fetch in model.fetches)


def outlives(model: LateFetches, fetch: Fetch) -> bool:
    return (
        fetch.broker_epoch < model.broker_epochs[fetch.follower]
        and fetch.follower in model.current().isr
        and model.fetched_broker_epochs[fetch.leader][fetch.follower] > fetch.broker_epoch
    )


@reachable
def answer_outlives_its_epoch(model: LateFetches) -> bool:
    """A response can tell a follower to truncate although it follows another leader by now."""
    return any(
        answer.diverging and answer.fetch.leader_epoch < model.known(answer.fetch.follower).leader_epoch
        for answer in model.answers
    )
