"""Lemmas for proving the invariants of eligible leader replicas for any number of brokers (see partition.py)."""

from __future__ import annotations

from floodmark import implies, lemma
from model.elr.partition import EligibleLeaders


@lemma
def clean_file_is_of_stopped_broker(model: EligibleLeaders) -> bool:
    """Only a broker that stopped cleanly, and is not back, has a clean shutdown file."""
    return model.clean_file.isdisjoint(model.running)


@lemma
def clean_member_is_complete(model: EligibleLeaders) -> bool:
    """Such a broker has what it had."""
    return (model.isr | model.elr) & model.clean_file <= model.complete


@lemma
def last_known_leader_is_out_of_sync(model: EligibleLeaders) -> bool:
    """While nobody leads, nobody is in sync."""
    return implies(model.leader is None, len(model.isr) == 0)
