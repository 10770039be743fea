"""What must hold of KIP-497's single-leader models (model/alter_isr/core.py, which maps all files to the KIP).

Start here. core_lemmas.py helps to prove these; batch.py: several partitions; failover.py: elections; network.py,
reassignment.py, replicated.py, acknowledgement.py: more of that; progress.py, batch_progress.py, membership.py:
liveness, which progress_lemmas.py helps to prove; upgrade.py.

A property is about ``PartitionIsr``, so about both readings of the KIP, unless its parameter names one of them. "V35"
is Jack Vanlightly's TLA+ specification of Kafka 3.5's data replication, "AsyncIsr" Jason Gustafson's of this KIP.
"""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model.alter_isr.core import (
    AlterIsr,
    AlterIsrRequest,
    Error,
    LeaderAndIsr,
    PartitionIsr,
    ShippedAlterIsr,
    Status,
    ZombieController,
)


def leads(model: PartitionIsr) -> bool:
    """Whether the leader believes that it leads, in the epoch that the controller has."""
    return (
        model.leading
        and model.controller.leader == model.leader
        and model.controller.leader_epoch == model.leader_epoch
    )


@invariant
def leader_assumes_superset(model: PartitionIsr) -> bool:
    """The leader of the current epoch counts every member of the controller's ISR (V35, ReplicationQuorumSuperset)."""
    return implies(leads(model), model.controller.isr <= model.maximal_isr())


@invariant
def isr_counts_when_nothing_is_pending(model: PartitionIsr) -> bool:
    """Without a pending change the leader counts exactly the ISR that it was told (V35)."""
    return implies(len(model.pending) == 0, model.maximal_isr() == model.isr)


@invariant
def isr_holds_committed(model: PartitionIsr) -> bool:
    """Every member of the controller's ISR, which may be elected, has every record below the high watermark.

    ValidHighWatermark of AsyncIsr; KIP-497, "Proposed Changes": otherwise an election loses committed records.
    """
    return all(model.log_end_offset[broker] >= model.high_watermark for broker in model.controller.isr)


@invariant
def leader_is_in_isr(model: PartitionIsr) -> bool:
    """A leader is a member of the ISR (V35, ValidControllerState)."""
    return implies(model.controller.leader is not None, model.controller.leader in model.controller.isr)


@invariant
def isr_is_never_empty(model: PartitionIsr) -> bool:
    """The ISR keeps its last member even when that one is fenced (V35, ValidControllerState)."""
    return len(model.controller.isr) > 0


@invariant
def isr_is_eligible(model: PartitionIsr) -> bool:
    """A fenced or departing broker is in the ISR only as its last member (KIP-497, "Motivation"; KIP-841)."""
    return implies(
        len(model.controller.isr) > 1,
        all(model.status[broker] == Status.ACTIVE for broker in model.controller.isr),
    )


@transition
def epochs_never_decrease(old: PartitionIsr, new: PartitionIsr) -> bool:
    """Leader epochs and partition epochs only grow, at the controller and at the leader."""
    return (
        new.controller.leader_epoch >= old.controller.leader_epoch
        and new.controller.partition_epoch >= old.controller.partition_epoch
        and new.leader_epoch >= old.leader_epoch
        and new.partition_epoch >= old.partition_epoch
    )


@transition
def change_takes_next_partition_epoch(old: PartitionIsr, new: PartitionIsr) -> bool:
    """Every change of leader, leader epoch or ISR takes exactly the next partition epoch (KIP-497, comments;
    KAFKA-12367).
    """
    return implies(
        new.controller != old.controller, new.controller.partition_epoch == old.controller.partition_epoch + 1
    )


@transition
def written_change_quotes_current_partition_epoch(old: AlterIsr, new: AlterIsr) -> bool:
    """Of the requests that quote one partition epoch, at most one is applied (KIP-497, comments)."""
    return all(
        request.partition_epoch == old.controller.partition_epoch
        for request in old.acknowledged
        if request not in new.acknowledged and new.controller.partition_epoch > old.controller.partition_epoch
    )


@transition
def accepted_change_quotes_current_partition_epoch(old: ShippedAlterIsr, new: ShippedAlterIsr) -> bool:
    """Of the requests that quote one partition epoch, at most one is accepted (KIP-497, comments)."""
    return all(
        response.request.partition_epoch == old.controller.partition_epoch
        for response in new.responses
        if response.error is None and response not in old.responses
    )


@transition
def earlier_leader_is_fenced(old: AlterIsr, new: AlterIsr) -> bool:
    """After an election, a request from before is refused with FENCED_LEADER_EPOCH and no other error.

    KIP-497, "Public Interfaces". The partition epoch alone would refuse it too, since every election takes one.
    """
    return all(
        response.error == Error.FENCED_LEADER_EPOCH
        for response in new.responses
        if response not in old.responses and response.request.leader_epoch < old.controller.leader_epoch
    )


@transition
def high_watermark_never_decreases(old: PartitionIsr, new: PartitionIsr) -> bool:
    """Within one leader epoch the high watermark only rises (V35, section 6.4)."""
    return implies(new.leader_epoch == old.leader_epoch, new.high_watermark >= old.high_watermark)


@invariant
def committed_has_enough_copies(model: PartitionIsr) -> bool:
    """Every record below the high watermark has min.insync.replicas copies (KIP-966, "Motivation"; KAFKA-15583)."""
    copies = sum(1 for broker in model.log_end_offset if model.log_end_offset[broker] >= model.high_watermark)
    return implies(model.high_watermark > 0, copies >= model.min_insync_replicas)


@transition
def success_has_enough_copies(old: PartitionIsr, new: PartitionIsr) -> bool:
    """Producers with acks=all are told of success only if min.insync.replicas members of the maximal ISR, which may
    include one that is still joining, have their record (Kafka's checkEnoughReplicasReachOffset).
    """
    copies = sum(1 for broker in new.maximal_isr() if new.log_end_offset[broker] >= new.high_watermark)
    return implies(
        new.high_watermark > old.high_watermark and new.acks_succeed(),
        copies >= new.min_insync_replicas,
    )


@invariant
def partition_epoch_names_a_state(model: PartitionIsr) -> bool:
    """A leader that knows the current partition epoch knows the state: epoch, leader and ISR (KIP-497, "Public
    Interfaces").
    """
    return implies(
        model.partition_epoch == model.controller.partition_epoch,
        model.leader_epoch == model.controller.leader_epoch
        and model.leading == (model.controller.leader == model.leader)
        and implies(model.leading, model.isr == model.controller.isr),
    )


@invariant
def only_a_leader_counts(model: PartitionIsr) -> bool:
    """A broker that does not lead keeps no ISR and awaits no change (Kafka's Partition.makeFollower)."""
    return implies(not model.leading, len(model.maximal_isr()) == 0)


@invariant
def fenced_replica_does_not_lead(model: PartitionIsr) -> bool:
    """Nobody leads only while the ISR's last member is fenced; it leads again once it is back (KIP-841)."""
    return implies(
        model.controller.leader is None,
        all(model.status[broker] == Status.FENCED for broker in model.controller.isr),
    )


@transition
def election_changes_leader(old: PartitionIsr, new: PartitionIsr) -> bool:
    """A leader epoch begins with a different leader, or with none: it counts the changes of leader (KIP-101)."""
    return implies(
        new.controller.leader_epoch > old.controller.leader_epoch, new.controller.leader != old.controller.leader
    )


@transition
def departing_broker_is_fenced_next(old: PartitionIsr, new: PartitionIsr) -> bool:
    """A broker that shuts down comes back only after it was fenced, and one that is fenced comes back (KIP-841)."""
    return all(
        new.status[broker] == (Status.ACTIVE if old.status[broker] == Status.FENCED else Status.FENCED)
        for broker in old.status
        if new.status[broker] != old.status[broker] and old.status[broker] != Status.ACTIVE
    )


@transition
def log_grows_under_its_leader(old: PartitionIsr, new: PartitionIsr) -> bool:
    """Only a leader accepts records, into a large enough ISR (NOT_ENOUGH_REPLICAS), and followers copy what it has."""
    grown = [broker for broker in old.log_end_offset if new.log_end_offset[broker] > old.log_end_offset[broker]]
    return all(
        old.leading
        and (
            len(old.isr) >= old.min_insync_replicas
            if broker == old.leader
            else new.log_end_offset[broker] <= old.log_end_offset[old.leader]
        )
        for broker in grown
    )


@transition
def request_is_a_new_change(old: AlterIsr, new: AlterIsr) -> bool:
    """A leader asks for an ISR that differs from its own, and for each one once per partition epoch (KIP-497,
    comments).
    """
    return all(
        request.isr != old.isr and request.isr not in old.pending
        for request in new.requests
        if request not in old.requests
    )


@transition
def only_acceptable_is_acknowledged(old: AlterIsr, new: AlterIsr) -> bool:
    """The controller acknowledges only what it would not refuse at that moment."""
    return all(old.refusal(request) is None for request in new.acknowledged if request not in old.acknowledged)


@invariant
def only_refusals_are_answered(model: AlterIsr) -> bool:
    """The leader does nothing on an acknowledgement, so every answer that reaches it is an error."""
    return all(response.error is not None for response in model.responses)


@transition
def answer_settles_nothing(old: AlterIsr, new: AlterIsr) -> bool:
    """Whatever the controller answers, the change stays pending until a LeaderAndIsr arrives (KIP-497, comments)."""
    return implies(
        any(response not in new.responses for response in old.responses),
        new.pending == old.pending and new.isr == old.isr and new.partition_epoch == old.partition_epoch,
    )


@invariant
def one_request_at_a_time(model: ShippedAlterIsr) -> bool:
    """Kafka's leader has one change pending and one request outstanding; the next waits for the answer
    (KAFKA-12686).
    """
    return len(model.pending) <= 1 and implies(
        not model.duplicates, len(model.requests) + len(model.responses) <= 1
    )


@invariant
def pending_change_can_be_settled(model: ShippedAlterIsr) -> bool:
    """While a change is pending, its request or the answer is on its way, or a newer state is on its way to the leader.

    This is what a single state shows of "every pending change is settled eventually" (V35, section 6).
    """
    under_way = model.awaited in model.requests or any(
        response.request == model.awaited for response in model.responses
    )
    return implies(
        len(model.pending) > 0 and not model.duplicates,
        under_way or model.controller.partition_epoch > model.partition_epoch,
    )


def is_answer(error: Error | None, request: AlterIsrRequest, seen: LeaderAndIsr) -> bool:
    """Whether a controller that sees this state would answer this, apart from what it knows about brokers."""
    if error == Error.FENCED_LEADER_EPOCH:
        return request.leader_epoch < seen.leader_epoch
    if error == Error.INVALID_UPDATE_VERSION:
        return request.leader_epoch >= seen.leader_epoch and request.partition_epoch < seen.partition_epoch
    return error != Error.NOT_CONTROLLER or request.partition_epoch > seen.partition_epoch


@transition
def answers_are_true_of_a_controller(old: ZombieController, new: ZombieController) -> bool:
    """An error says what the controller sees, or what the one that it replaced saw: an election, a change, or that a
    request knows more than its receiver (KIP-497, "Public Interfaces"; KAFKA-14154).
    """
    return all(
        is_answer(response.error, response.request, old.controller)
        or any(is_answer(response.error, response.request, seen) for seen in old.zombie)
        for response in new.responses
        if response not in old.responses
    )


@reachable
def isr_is_the_leader_alone(model: PartitionIsr) -> bool:
    """The ISR can shrink to the leader, with records committed."""
    return leads(model) and len(model.controller.isr) == 1 and model.high_watermark > 0


@reachable
def isr_is_complete(model: PartitionIsr) -> bool:
    """Every broker can be in the ISR, with records committed and no change pending."""
    return (
        len(model.pending) == 0
        and model.high_watermark > 0
        and all(broker in model.isr and broker in model.controller.isr for broker in model.log_end_offset)
    )


@reachable
def several_changes_are_pending(model: AlterIsr) -> bool:
    """Two requests can quote one partition epoch (KIP-497, comments)."""
    return len(model.pending) > 1


@reachable
def acknowledged_change_is_lost(model: AlterIsr) -> bool:
    """A pending change can have left no trace anywhere, for example after a controller failover (KIP-497)."""
    return (
        leads(model)
        and len(model.pending) > 0
        and len(model.requests) == 0
        and len(model.responses) == 0
        and len(model.acknowledged) == 0
        and model.controller.partition_epoch == model.partition_epoch
    )


@reachable
def shrink_and_expand_are_pending(model: AlterIsr) -> bool:
    """The maximal ISR can be larger than the result of any single pending change."""
    return len(model.pending) > 1 and all(isr < model.maximal_isr() for isr in model.pending)


@reachable
def broker_departs(model: AlterIsr) -> bool:
    """A broker can be about to leave."""
    return any(model.status[broker] == Status.SHUTTING_DOWN for broker in model.status)


@reachable
def nobody_leads(model: AlterIsr) -> bool:
    """The ISR's last member can be fenced."""
    return model.controller.leader is None


@reachable
def broker_is_back(model: AlterIsr) -> bool:
    """A fenced broker can be back before the leader hears that it left the ISR."""
    return (
        leads(model)
        and len(model.pending) == 0
        and model.controller.partition_epoch > model.partition_epoch
        and all(model.status[broker] == Status.ACTIVE for broker in model.status)
    )


@reachable
def leads_again(model: ShippedAlterIsr) -> bool:
    """The leader can learn that it leads in a later epoch, after nobody did."""
    return leads(model) and model.leader_epoch > 1


@reachable
def former_leader_asks(model: PartitionIsr) -> bool:
    """A leader can ask for changes after another one was elected."""
    return any(request.leader_epoch < model.controller.leader_epoch for request in model.requests)


@reachable
def fenced_leader_epoch_is_answered(model: PartitionIsr) -> bool:
    """FENCED_LEADER_EPOCH can be on its way."""
    return any(response.error == Error.FENCED_LEADER_EPOCH for response in model.responses)


@reachable
def invalid_update_version_is_answered(model: PartitionIsr) -> bool:
    """INVALID_UPDATE_VERSION can be on its way."""
    return any(response.error == Error.INVALID_UPDATE_VERSION for response in model.responses)


@reachable
def ineligible_is_answered(model: PartitionIsr) -> bool:
    """INELIGIBLE_REPLICA can be on its way."""
    return any(response.error == Error.INELIGIBLE_REPLICA for response in model.responses)


@reachable
def not_controller_is_answered(model: ZombieController) -> bool:
    """NOT_CONTROLLER can be on its way, from a controller that has stepped down since."""
    return len(model.zombie) == 0 and any(response.error == Error.NOT_CONTROLLER for response in model.responses)
