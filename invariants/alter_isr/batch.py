"""What must hold of AlterIsr requests for several partitions (KIP-497, "Public Interfaces"; begin with core.py)."""

from __future__ import annotations

from floodmark import Set, implies, invariant, reachable, transition
from model.alter_isr.batch import (
    AlterIsrBatch,
    AlterIsrRequest,
    AlterIsrResponse,
    Partition,
    PartitionState,
    Result,
    TopLevelError,
)
from model.alter_isr.core import Broker


@invariant
def leader_assumes_superset(model: AlterIsrBatch) -> bool:
    """For each partition the leader of the current epoch counts every member of the controller's ISR (V35)."""
    return all(
        model.controller[partition].isr <= model.maximal_isr(partition)
        for partition in model.controller
        if model.controller[partition].leader_epoch == model.known[partition].leader_epoch
    )


@invariant
def isr_is_within_replicas(model: AlterIsrBatch) -> bool:
    """The controller's ISR names replicas only (V35, ValidControllerState; KAFKA-9672)."""
    return all(state.isr <= state.replicas for state in model.controller.values())


@invariant
def leader_is_in_isr(model: AlterIsrBatch) -> bool:
    """The controller never accepts an ISR without the leader (INVALID_REQUEST)."""
    return all(model.leader in state.isr for state in model.controller.values())


@invariant
def leader_counts_replicas_only(model: AlterIsrBatch) -> bool:
    """The leader counts and proposes only brokers that it knows as replicas (KAFKA-13837)."""
    return all(model.maximal_isr(partition) <= model.known[partition].replicas for partition in model.known)


def answers(old: AlterIsrBatch, new: AlterIsrBatch, request: AlterIsrRequest, response: AlterIsrResponse) -> bool:
    """Whether this step answers ``request`` with ``response``."""
    return request not in new.requests and response not in old.responses


@transition
def asked_partitions_are_answered(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """Without a top-level error the response names exactly the partitions of the request (KAFKA-12367)."""
    return all(
        (request.changes[partition] is None) == (response.results[partition] is None)
        for request in old.requests
        for response in new.responses
        if answers(old, new, request, response) and response.error is None
        for partition in old.controller
    )


@transition
def partitions_are_judged_alone(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """Each partition gets the result that it would get in a request of its own, whatever the others' errors."""
    return all(
        response.results[partition] == old.judge_asked(partition, request.changes[partition])
        for request in old.requests
        for response in new.responses
        if answers(old, new, request, response) and response.error is None
        for partition in old.controller
        if response.results[partition] is not None
    )


@transition
def only_deleted_topics_are_unknown(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """UNKNOWN_TOPIC_OR_PARTITION is answered for every deleted topic, and for no other (KIP-497)."""
    return all(
        (response.results[partition] == Result.UNKNOWN_TOPIC_OR_PARTITION) == (partition in old.deleted)
        for request in old.requests
        for response in new.responses
        if answers(old, new, request, response) and response.error is None
        for partition in old.controller
        if response.results[partition] is not None
    )


@transition
def refused_change_changes_nothing(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """A partition's state changes with the answer only if the answer says that its change was accepted."""
    return all(
        new.controller[partition] == old.controller[partition]
        for request in old.requests
        for response in new.responses
        if answers(old, new, request, response)
        for partition in old.controller
        if response.error is not None or response.results[partition] != Result.ACCEPTED
    )


@transition
def only_current_sessions_change_anything(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """A request without CLUSTER_ACTION or from an earlier session of the broker gets no results (KIP-497, KIP-380)."""
    return all(
        old.authorized and request.broker_epoch == old.registered_epoch
        for request in old.requests
        for response in new.responses
        if answers(old, new, request, response) and response.error is None
    )


@transition
def top_level_error_settles_nothing(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """After a top-level error all changes stay pending and on the list, to be sent again."""
    return all(
        new.pending == old.pending and new.waiting == old.waiting and new.known == old.known
        for response in old.responses
        if response not in new.responses and response.error is not None
    )


@transition
def answer_settles_its_partition_only(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """A partition that the response does not name stays as it was."""
    return all(
        new.pending[partition] == old.pending[partition]
        and new.waiting[partition] == old.waiting[partition]
        and new.known[partition] == old.known[partition]
        for response in old.responses
        if response not in new.responses and response.error is None
        for partition in old.known
        if response.results[partition] is None
    )


@transition
def epochs_never_decrease(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """Leader epochs and partition epochs only grow, at the controller and at the leader, and a new epoch takes a
    partition epoch.
    """
    return all(
        new.controller[partition].leader_epoch >= old.controller[partition].leader_epoch
        and new.known[partition].leader_epoch >= old.known[partition].leader_epoch
        and new.known[partition].partition_epoch >= old.known[partition].partition_epoch
        and implies(
            new.controller[partition] != old.controller[partition],
            new.controller[partition].partition_epoch == old.controller[partition].partition_epoch + 1,
        )
        for partition in old.controller
    )


@invariant
def isr_is_eligible(model: AlterIsrBatch) -> bool:
    """No fenced broker is in an ISR (KIP-841)."""
    return all(not state.isr & model.fenced for state in model.controller.values())


@invariant
def request_asks_for_something(model: AlterIsrBatch) -> bool:
    """A request names at least one partition."""
    return all(any(request.changes[partition] is not None for partition in model.known) for request in model.requests)


@transition
def proposal_is_a_change(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """A leader asks for a non-empty ISR that differs from its own, one per partition at a time (KIP-497)."""
    return all(
        old.pending[partition] is None
        and new.pending[partition] != old.known[partition].isr
        and new.pending[partition] != Set()
        for partition in old.known
        if new.waiting[partition] is not None and old.waiting[partition] is None
    )


def known_after(old: AlterIsrBatch, partition: Partition, result: Result | None) -> PartitionState:
    """The state that a leader knows after a result: only ACCEPTED brings a new one."""
    state = old.known[partition]
    change = old.waiting[partition]
    if change is None or change.partition_epoch != state.partition_epoch or result != Result.ACCEPTED:
        return state
    return state.replace(isr=change.isr, partition_epoch=state.partition_epoch + 1)


def pending_after(old: AlterIsrBatch, partition: Partition, result: Result | None) -> Set[Broker] | None:
    """What is pending after a result: an error that a LeaderAndIsr will explain leaves the change pending."""
    change = old.waiting[partition]
    if change is None or change.partition_epoch != old.known[partition].partition_epoch:
        return old.pending[partition]
    return None if result in (Result.ACCEPTED, Result.INELIGIBLE_REPLICA) else old.pending[partition]


@transition
def answer_settles_its_change(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """An answered partition is off the list. ACCEPTED settles its change, with the new state, and INELIGIBLE_REPLICA
    withdraws it; no other result does, and none has any effect on a change at an older partition epoch.
    """
    return all(
        new.waiting[partition] is None
        and new.known[partition] == known_after(old, partition, response.results[partition])
        and new.pending[partition] == pending_after(old, partition, response.results[partition])
        for response in old.responses
        if response not in new.responses and response.error is None
        for partition in old.known
        if response.results[partition] is not None
    )


@transition
def leader_learns_newer_states(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """Without an answer the leader gives up a pending change only for a newer state, of a topic that exists."""
    return all(
        new.known[partition] == old.controller[partition]
        and new.known[partition].partition_epoch > old.known[partition].partition_epoch
        and partition not in old.deleted
        for partition in old.known
        if new.responses == old.responses
        and (
            new.known[partition] != old.known[partition]
            or (old.pending[partition] is not None and new.pending[partition] is None)
        )
    )


@transition
def return_changes_no_isr(old: AlterIsrBatch, new: AlterIsrBatch) -> bool:
    """A broker that comes back joins no ISR by that alone (KIP-841)."""
    return all(new.controller == old.controller for broker in old.fenced if broker not in new.fenced)


def answered(model: AlterIsrBatch, result: Result) -> bool:
    return any(response.results[partition] == result for response in model.responses for partition in model.known)


@reachable
def results_differ(model: AlterIsrBatch) -> bool:
    """One response can accept one partition's change and refuse another's."""
    return answered(model, Result.ACCEPTED) and any(
        answered(model, result) for result in Result if result != Result.ACCEPTED
    )


@reachable
def cluster_authorization_failed_is_answered(model: AlterIsrBatch) -> bool:
    """CLUSTER_AUTHORIZATION_FAILED can be on its way."""
    return any(response.error == TopLevelError.CLUSTER_AUTHORIZATION_FAILED for response in model.responses)


@reachable
def not_controller_is_answered(model: AlterIsrBatch) -> bool:
    """NOT_CONTROLLER can be on its way."""
    return any(response.error == TopLevelError.NOT_CONTROLLER for response in model.responses)


@reachable
def stale_broker_epoch_is_answered(model: AlterIsrBatch) -> bool:
    """STALE_BROKER_EPOCH can be on its way."""
    return any(response.error == TopLevelError.STALE_BROKER_EPOCH for response in model.responses)


@reachable
def later_session_asks(model: AlterIsrBatch) -> bool:
    """A broker that has registered again can ask with its new broker epoch (KIP-380)."""
    return model.registered_epoch > 0 and any(
        request.broker_epoch == model.registered_epoch for request in model.requests
    )


@reachable
def unknown_topic_or_partition_is_answered(model: AlterIsrBatch) -> bool:
    """UNKNOWN_TOPIC_OR_PARTITION can be on its way."""
    return answered(model, Result.UNKNOWN_TOPIC_OR_PARTITION)


@reachable
def fenced_leader_epoch_is_answered(model: AlterIsrBatch) -> bool:
    """FENCED_LEADER_EPOCH can be on its way."""
    return answered(model, Result.FENCED_LEADER_EPOCH)


@reachable
def invalid_update_version_is_answered(model: AlterIsrBatch) -> bool:
    """INVALID_UPDATE_VERSION can be on its way."""
    return answered(model, Result.INVALID_UPDATE_VERSION)


@reachable
def invalid_request_is_answered(model: AlterIsrBatch) -> bool:
    """INVALID_REQUEST can be on its way."""
    return answered(model, Result.INVALID_REQUEST)


@reachable
def ineligible_is_answered(model: AlterIsrBatch) -> bool:
    """INELIGIBLE_REPLICA can be on its way."""
    return answered(model, Result.INELIGIBLE_REPLICA)


@reachable
def fenced_broker_leaves_isr(model: AlterIsrBatch) -> bool:
    """A fenced broker can be out of an ISR whose leader neither asked for that nor knows it."""
    return any(
        model.controller[partition].isr < model.known[partition].isr
        and model.controller[partition].replicas == model.known[partition].replicas
        and model.controller[partition].leader_epoch == model.known[partition].leader_epoch
        and model.pending[partition] is None
        for partition in model.known
    )
