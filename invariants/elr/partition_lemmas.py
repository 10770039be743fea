"""Lemmas for proving the invariants of eligible leader replicas for any number of brokers (see partition.py)."""

from __future__ import annotations

from floodmark import implies, lemma
from model.elr.partition import EligibleLeaders


@lemma
def clean_file_is_of_stopped_broker(model: EligibleLeaders) -> bool:
    """Only a broker that stopped cleanly, and is not back, has a clean shutdown file."""
    return model.clean_file.isdisjoint(model.running)


@lemma
def stopped_broker_has_a_clean_file(model: EligibleLeaders) -> bool:
    """A broker that is down either has a clean shutdown file or shut down uncleanly, and that has not been repaired."""
    return (model.isr | model.elr) - model.running <= model.clean_file | model.unclean


@lemma
def stopped_last_known_leader_has_a_clean_file(model: EligibleLeaders) -> bool:
    """The same is true of the last known leader, which may be elected although it is not eligible."""
    last = model.last_known_leader
    return last is None or last in model.running | model.clean_file | model.unclean


@lemma
def clean_member_is_complete(model: EligibleLeaders) -> bool:
    """A member that stopped cleanly has what it had."""
    return (model.isr | model.elr) & model.clean_file <= model.complete


@lemma
def last_known_leader_is_out_of_sync(model: EligibleLeaders) -> bool:
    """While nobody leads, nobody is in sync."""
    return implies(model.leader is None, len(model.isr) == 0)


@lemma
def enough_are_eligible_or_suspect(model: EligibleLeaders) -> bool:
    """Whoever left the ISR and the ELR below min.insync.replicas shut down uncleanly."""
    return len(model.isr | model.elr | model.unclean) >= model.controller_min_isr()
