"""Lemmas for proving two-phase commit by induction, whatever the number of resource managers."""

from __future__ import annotations

from floodmark import implies, lemma
from specs.examples.two_phase_commit import Coordinator, Manager, ResourceManager, TwoPhaseCommit


@lemma
def messages_tell_the_decision(model: TwoPhaseCommit) -> bool:
    """The coordinator announces what it has decided, and nothing else."""
    return model.commit_message == (model.coordinator == Coordinator.COMMITTED) and model.abort_message == (
        model.coordinator == Coordinator.ABORTED
    )


@lemma
def coordinator_counts_who_said_so(model: TwoPhaseCommit) -> bool:
    """A manager that counts as prepared has sent the message."""
    return model.prepared <= model.prepared_messages


@lemma
def prepared_managers_wait(model: TwoPhaseCommit) -> bool:
    """Who has said that it is prepared changes only with the decision."""
    return all(
        model.managers_state[manager] != Manager.WORKING
        and implies(model.managers_state[manager] == Manager.ABORTED, model.abort_message)
        for manager in model.prepared_messages
    )


@lemma
def everyone_prepared_before_a_commit(model: TwoPhaseCommit) -> bool:
    """A commit needs every manager, and no manager commits without it."""
    return implies(model.commit_message, all(manager in model.prepared for manager in ResourceManager)) and all(
        implies(model.managers_state[manager] == Manager.COMMITTED, model.commit_message)
        for manager in ResourceManager
    )
