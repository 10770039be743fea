"""Lemmas for proving the invariants of KIP-497's single-leader models by induction (see core.py).

Each lemma is true in every reachable state, and together with the invariants they are preserved by every action: so
nothing about a run needs to be known except its last state.
"""

from __future__ import annotations

from floodmark import Set, implies, lemma
from model.alter_isr.core import AlterIsr, AlterIsrRequest, Broker, Error, PartitionIsr, ShippedAlterIsr, Status


@lemma
def controller_knows_most(model: PartitionIsr) -> bool:
    """The leader is never ahead of the controller."""
    return (
        model.partition_epoch <= model.controller.partition_epoch
        and model.leader_epoch <= model.controller.leader_epoch
    )


@lemma
def equal_partition_epochs_mean_equal_states(model: PartitionIsr) -> bool:
    """A leader that has learned the latest partition epoch has the controller's state."""
    return implies(
        model.partition_epoch == model.controller.partition_epoch,
        model.leader_epoch == model.controller.leader_epoch
        and model.leading == (model.controller.leader == model.leader)
        and (model.isr == model.controller.isr or not model.leading),
    )


@lemma
def updates_are_earlier_states(model: PartitionIsr) -> bool:
    """Every update on its way to the leader was the controller's state at some time; the latest one still is."""
    return all(
        1 <= update.partition_epoch <= model.controller.partition_epoch
        and update.leader_epoch <= model.controller.leader_epoch
        and (update == model.controller or update.partition_epoch < model.controller.partition_epoch)
        for update in model.updates
    )


@lemma
def epoch_has_one_leader(model: PartitionIsr) -> bool:
    """An election takes a new leader epoch, and epochs grow with the partition epochs."""
    return all(
        (update.leader == model.controller.leader or update.leader_epoch < model.controller.leader_epoch)
        and all(
            (update.leader == other.leader or update.leader_epoch < other.leader_epoch)
            and update.leader_epoch <= other.leader_epoch
            for other in model.updates
            if update.partition_epoch < other.partition_epoch
        )
        for update in model.updates
    )


@lemma
def updates_differ_in_partition_epoch(model: PartitionIsr) -> bool:
    """There is one state per partition epoch, so no more than ``max_partition_epoch`` are on their way."""
    return all(
        update == other or update.partition_epoch != other.partition_epoch
        for update in model.updates
        for other in model.updates
    )


def is_refused(model: PartitionIsr, isr: Set[Broker]) -> bool:
    """Whether an answer is on its way that makes the leader withdraw a pending change."""
    return any(
        response.error == Error.INELIGIBLE_REPLICA
        and response.request.isr == isr
        and response.request.partition_epoch == model.partition_epoch
        and response.request.leader_epoch == model.leader_epoch
        for response in model.responses
    )


def is_counted(model: PartitionIsr, isr: Set[Broker]) -> bool:
    """Whether the leader counts every member of an ISR, now and after it has received all refusals."""
    return isr <= model.isr or any(isr <= pending and not is_refused(model, pending) for pending in model.pending)


def is_genuine(model: PartitionIsr, request: AlterIsrRequest) -> bool:
    """Whether a request is the leader's: it quotes what the leader knew, and is pending until the leader knows more."""
    return (
        request.partition_epoch <= model.partition_epoch
        and request.leader_epoch <= model.leader_epoch
        and (model.leading or request.leader_epoch < model.leader_epoch)
        and model.leader in request.isr
        and (
            request.partition_epoch < model.partition_epoch
            or not model.leading
            or (
                request.leader_epoch == model.leader_epoch
                and request.isr in model.pending
                and not is_refused(model, request.isr)
            )
        )
    )


@lemma
def news_is_safe(model: PartitionIsr) -> bool:
    """States that the leader has not learned were decided by the controller alone, which only ever shrinks the ISR.

    Nobody could ask for a change at a partition epoch that the leader does not know, so the ISR of such a state
    contains the current one, and its members are counted already.
    """
    return all(
        update.leader_epoch >= model.leader_epoch
        and (update.leader == model.leader or not model.leading or update.leader_epoch > model.leader_epoch)
        and model.controller.isr <= update.isr
        and (update.leader is None or update.leader in update.isr)
        and (is_counted(model, update.isr) or not model.leading)
        and all(model.log_end_offset[broker] >= model.high_watermark for broker in update.isr)
        for update in model.updates
        if update.partition_epoch > model.partition_epoch
    )


@lemma
def news_only_shrinks(model: PartitionIsr) -> bool:
    """Of two states that the leader has not learned, the later has the smaller ISR."""
    return all(
        other.isr <= update.isr
        for update in model.updates
        if update.partition_epoch > model.partition_epoch
        for other in model.updates
        if other.partition_epoch > update.partition_epoch
    )


@lemma
def partition_without_leader_has_one_replica(model: PartitionIsr) -> bool:
    """Nobody leads only while the last member of the ISR is fenced."""
    return implies(
        model.controller.leader is None,
        len(model.controller.isr) == 1
        and all(model.status[broker] == Status.FENCED for broker in model.controller.isr),
    )


@lemma
def leader_counts_itself(model: PartitionIsr) -> bool:
    """The leader is in its ISR and in every change that it remembers."""
    return implies(
        model.leading,
        model.leader in model.isr and all(model.leader in isr for isr in model.pending),
    )


@lemma
def leader_counts_whoever_may_lead(model: PartitionIsr) -> bool:
    """Even a leader that was replaced counts the controller's ISR until it learns of its replacement."""
    return implies(model.leading, is_counted(model, model.controller.isr))


@lemma
def maximal_isr_holds_committed(model: PartitionIsr) -> bool:
    """Every replica that counts has everything below the high watermark."""
    return implies(
        model.leading,
        all(model.log_end_offset[broker] >= model.high_watermark for broker in model.maximal_isr()),
    )


@lemma
def another_leader_has_a_later_epoch(model: PartitionIsr) -> bool:
    """While a broker leads, nobody else does in its epoch."""
    return implies(
        model.leading,
        model.controller.leader == model.leader or model.controller.leader_epoch > model.leader_epoch,
    )


@lemma
def refused_changes_are_pending(model: PartitionIsr) -> bool:
    """A change is pending until the leader learns that it was refused."""
    return all(
        response.request.partition_epoch < model.partition_epoch
        or (response.request.partition_epoch == model.partition_epoch and not model.leading)
        or (
            response.request.partition_epoch == model.partition_epoch
            and response.request.leader_epoch == model.leader_epoch
            and response.request.isr in model.pending
        )
        for response in model.responses
        if response.error == Error.INELIGIBLE_REPLICA
    )


@lemma
def requests_are_the_leaders(model: PartitionIsr) -> bool:
    """The requests that the controller has yet to judge are what the leader asked for."""
    return all(is_genuine(model, request) for request in model.requests)


@lemma
def acknowledged_requests_are_the_leaders(model: AlterIsr) -> bool:
    """So are those that the controller has acknowledged and not written."""
    return all(is_genuine(model, request) for request in model.acknowledged)


@lemma
def request_is_in_one_place(model: AlterIsr) -> bool:
    """The network does not duplicate: an acknowledged request is no longer on its way."""
    return all(request not in model.requests for request in model.acknowledged)


@lemma
def awaited_request_is_alone(model: ShippedAlterIsr) -> bool:
    """Without duplicates, the one request that the leader waits for is the only one on its way."""
    return model.duplicates or (
        all(request == model.awaited for request in model.requests)
        and all(response.request == model.awaited for response in model.responses)
        and len(model.requests) + len(model.responses) <= 1
    )


@lemma
def awaited_change_is_pending(model: ShippedAlterIsr) -> bool:
    """What is pending is what the leader awaits an answer to; nothing is pending once it does not lead."""
    return all(
        model.leading
        and (
            model.duplicates
            or model.awaited is None
            or model.awaited
            == AlterIsrRequest(leader_epoch=model.leader_epoch, isr=isr, partition_epoch=model.partition_epoch)
        )
        for isr in model.pending
    )


@lemma
def refusal_for_good_comes_with_news(model: ShippedAlterIsr) -> bool:
    """FENCED_LEADER_EPOCH and INVALID_UPDATE_VERSION are answered only to a leader that is behind."""
    return all(
        (response.error != Error.FENCED_LEADER_EPOCH or response.request.leader_epoch < model.controller.leader_epoch)
        and (
            response.error != Error.INVALID_UPDATE_VERSION
            or response.request.partition_epoch < model.controller.partition_epoch
        )
        and response.error != Error.NOT_CONTROLLER
        for response in model.responses
    )


@lemma
def acceptance_tells_the_next_state(model: ShippedAlterIsr) -> bool:
    """The answer to the pending change is the state of the next partition epoch; later changes only shrank it."""
    return all(
        model.controller.partition_epoch > model.partition_epoch
        and model.controller.isr <= response.request.isr
        and model.leader in response.request.isr
        and (
            model.controller.partition_epoch > model.partition_epoch + 1
            or (
                model.controller.isr == response.request.isr
                and model.controller.leader == model.leader
                and model.controller.leader_epoch == model.leader_epoch
            )
        )
        and all(
            update.isr <= response.request.isr
            and (
                update.partition_epoch > model.partition_epoch + 1
                or (
                    update.isr == response.request.isr
                    and update.leader == model.leader
                    and update.leader_epoch == model.leader_epoch
                )
            )
            for update in model.updates
            if update.partition_epoch > model.partition_epoch
        )
        for response in model.responses
        if response.error is None and model.is_pending(response.request)
    )
