"""What must hold of Kafka's controller on ZooKeeper (model/zk_controller/controller.py maps the draft's sections).

Start here. topics.py: sections C and F, alternatives.py: other answers, logs.py: records, progress.py: liveness.
"Settled" is a state in which nothing is in progress: whatever must happen eventually has happened by then.
"""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model.zk_controller.controller import Broker, Partition, Phase, Stage, Watch, ZkController


def decides(old: ZkController, new: ZkController, broker: Broker, partition: Partition) -> bool:
    """Whether this step is a write of the controller ``broker``, and not one of the partition's leader."""
    return (
        new.leader_and_isr[partition] != old.leader_and_isr[partition]
        and partition in old.controllers[broker].todo
        and partition not in new.controllers[broker].todo
    )


def is_decided(old: ZkController, new: ZkController, partition: Partition) -> bool:
    """Whether this step is a write of some controller."""
    return any(decides(old, new, broker, partition) for broker in Broker)


@invariant
def one_controller_for_an_epoch(model: ZkController) -> bool:
    """Brokers that believe they are the controller do so in different epochs (draft, section D; KAFKA-1096)."""
    return all(
        model.controllers[one].epoch != model.controllers[other].epoch
        for one in Broker
        if model.controllers[one].phase != Phase.RESIGNED
        for other in Broker
        if other != one and model.controllers[other].phase != Phase.RESIGNED
    )


@invariant
def controller_is_in_office(model: ZkController) -> bool:
    """A broker that is up and owns /controller acts as the controller (KAFKA-13407)."""
    return all(
        model.controllers[broker].phase != Phase.RESIGNED
        for broker in Broker
        if broker == model.controller and model.processes[broker].stage == Stage.UP
    )


@transition
def only_the_current_controller_writes(old: ZkController, new: ZkController) -> bool:
    """Once there is a new controller, no write of an earlier one succeeds (KAFKA-6082)."""
    return all(
        old.controllers[broker].epoch == old.controller_epoch
        for broker in Broker
        for partition in Partition
        if decides(old, new, broker, partition)
    )


@invariant
def leader_is_in_isr(model: ZkController) -> bool:
    """A leader is a member of the ISR. That the ISR is part of the replicas: topics.py, where not all brokers are."""
    return all(
        implies(
            model.leader_and_isr[partition].leader is not None,
            model.leader_and_isr[partition].leader in model.leader_and_isr[partition].isr,
        )
        for partition in Partition
    )


@invariant
def isr_is_never_empty(model: ZkController) -> bool:
    """Some replica is known to have every committed record, even while nobody leads (draft, question A.1)."""
    return all(
        len(model.leader_and_isr[partition].isr) > 0
        for partition in Partition
        if model.leader_and_isr[partition].version != 0
    )


@transition
def change_takes_next_version(old: ZkController, new: ZkController) -> bool:
    """Each change of the znode takes the next version."""
    return all(
        new.leader_and_isr[partition].version == old.leader_and_isr[partition].version + 1
        for partition in Partition
        if new.leader_and_isr[partition] != old.leader_and_isr[partition] and new.leader_and_isr[partition].version != 0
    )


@transition
def brokers_never_go_back(old: ZkController, new: ZkController) -> bool:
    """A broker never follows an older decision than before, as long as it runs (draft, section D)."""
    return all(
        new.processes[broker].known[partition].version >= old.processes[broker].known[partition].version
        for broker in Broker
        for partition in Partition
        if new.processes[broker].known[partition].version != 0
    )


@invariant
def no_decision_is_lost(model: ZkController) -> bool:
    """When all is settled, every broker knows who leads, and the leader knows the version (draft, question A.2).

    Followers are not told of the changes that the leader itself makes to the ISR.
    """
    return implies(
        model.is_settled(),
        all(
            model.processes[broker].known[partition].leader == model.leader_and_isr[partition].leader
            and implies(
                model.leader_and_isr[partition].leader == broker,
                model.processes[broker].known[partition] == model.leader_and_isr[partition],
            )
            for broker in model.ids
            for partition in Partition
            if broker in model.replicas(partition) and model.leader_and_isr[partition].version != 0
        ),
    )


@invariant
def leader_is_live(model: ZkController) -> bool:
    """When all is settled, the leader is live if any replica that may lead is (draft, section A)."""
    return implies(
        model.is_settled(),
        all(
            model.leader_and_isr[partition].leader in model.ids
            for partition in Partition
            if len(model.eligible(partition) & model.ids) > 0
        ),
    )


@transition
def leader_writes_only_while_it_leads(old: ZkController, new: ZkController) -> bool:
    """What a leader writes changes the ISR under its own leadership and never overwrites an election (draft, step
    2.1.2).
    """
    return all(
        new.leader_and_isr[partition].leader == old.leader_and_isr[partition].leader
        for partition in Partition
        if new.leader_and_isr[partition] != old.leader_and_isr[partition] and not is_decided(old, new, partition)
    )


@invariant
def one_leader_for_a_version(model: ZkController) -> bool:
    """No two brokers believe that they lead by the same version: the znode's condition fences one of them."""
    return all(
        model.processes[one].known[partition].version != model.processes[other].known[partition].version
        for partition in Partition
        for one in Broker
        if model.leads(one, partition)
        for other in Broker
        if other != one and model.leads(other, partition)
    )


@transition
def leader_comes_from_isr(old: ZkController, new: ZkController) -> bool:
    """The controller elects a member of the ISR as it is in ZooKeeper (draft, step 3.2).

    Where unclean elections are allowed, another broker leads only if the controller saw no member of the ISR alive.
    """
    return all(
        new.leader_and_isr[partition].leader in old.leader_and_isr[partition].isr
        for broker in Broker
        for partition in Partition
        if decides(old, new, broker, partition)
        and old.leader_and_isr[partition].version != 0
        and new.leader_and_isr[partition].leader is not None
        and not old.is_unclean(broker, partition)
    )


@transition
def controller_adds_nobody(old: ZkController, new: ZkController) -> bool:
    """Only the leader adds to the ISR; the controller cannot know who has every record (draft, step 3.2). An unclean
    election, of a leader from outside the ISR, is not meant.
    """
    return all(
        new.leader_and_isr[partition].isr <= old.leader_and_isr[partition].isr
        for broker in Broker
        for partition in Partition
        if decides(old, new, broker, partition)
        and new.leader_and_isr[partition].leader in old.leader_and_isr[partition].isr
    )


@transition
def controller_evicts_only_the_dead(old: ZkController, new: ZkController) -> bool:
    """The controller removes only brokers from the ISR that were not live when it looked, or are no longer replicas.

    Draft, step 3.2.
    """
    return all(
        old.leader_and_isr[partition].isr & old.available(broker, partition) & new.replicas(partition)
        <= new.leader_and_isr[partition].isr
        for broker in Broker
        for partition in Partition
        if decides(old, new, broker, partition) and new.leader_and_isr[partition].version != 0
    )


@invariant
def queues_hold_what_is_written(model: ZkController) -> bool:
    """A decision is in the partition's znode before it is in a queue (draft, steps 4 and 5)."""
    return all(
        batch.decisions[partition].version <= model.leader_and_isr[partition].version
        for broker in Broker
        for batch in model.queues[broker]
        for partition in Partition
        if model.leader_and_isr[partition].version != 0
    )


@reachable
def failover_is_settled(model: ZkController) -> bool:
    """A second controller can reach a settled state, with a leader that was elected."""
    return (
        model.controller_epoch > 1
        and model.is_settled()
        and all(
            model.leader_and_isr[partition].leader is not None and model.leader_and_isr[partition].leader != Broker(1)
            for partition in Partition
        )
    )


@reachable
def an_earlier_controller_still_acts(model: ZkController) -> bool:
    """A controller can be replaced and not know it yet, about to write an election."""
    return any(
        model.controllers[broker].epoch < model.controller_epoch and model.controllers[broker].phase == Phase.CHANGING
        for broker in Broker
    )


@reachable
def two_brokers_take_themselves_for_the_leader(model: ZkController) -> bool:
    """An earlier leader can still lead while its successor already does."""
    return any(
        model.leads(one, partition) and model.leads(other, partition)
        for partition in Partition
        for one in Broker
        for other in Broker
        if other != one
    )


@reachable
def leader_returns_with_its_session_alive(model: ZkController) -> bool:
    """A broker can start again while the session of its former life still exists."""
    return any(model.processes[broker].stage == Stage.STARTING and broker in model.ids for broker in Broker)


@reachable
def nobody_leads(model: ZkController) -> bool:
    """A partition can be without a leader while there is a controller."""
    return model.controller is not None and any(
        model.leader_and_isr[partition].leader is None for partition in Partition
    )


@invariant
def memory_fits_stage(model: ZkController) -> bool:
    """What a broker remembers fits how far it has come (draft, section E).

    A broker without a session does not watch its queue; one that registers again is not the controller; one that is
    down knows nothing. One whose queue holds something is notified, and one that awaits an answer is a leader.
    """
    return all(process_fits_stage(model, broker) for broker in Broker)


def process_fits_stage(model: ZkController, broker: Broker) -> bool:
    process = model.processes[broker]
    watch = process.queue_watch
    controller = model.controllers[broker]
    return (
        implies(process.stage in (Stage.DOWN, Stage.STARTING), watch == Watch.UNARMED)
        and implies(process.stage not in (Stage.STARTING, Stage.UP), controller.phase == Phase.RESIGNED)
        and implies(process.stage == Stage.DOWN, all(process.known[each].version == 0 for each in Partition))
        and implies(process.stage not in (Stage.DOWN, Stage.STARTING), broker in model.ids)
        and implies(watch != Watch.UNARMED, (watch == Watch.FIRED) == (len(model.queues[broker]) > 0))
        and all(process.known[each].leader == broker for each in process.unanswered)
    )


@invariant
def memory_fits_phase(model: ZkController) -> bool:
    """What a controller remembers fits what it is doing; one that resigned remembers nothing (KAFKA-5310)."""
    return all(controller_fits_phase(model, broker) for broker in Broker)


def controller_fits_phase(model: ZkController, broker: Broker) -> bool:
    controller = model.controllers[broker]
    phase = controller.phase
    return (
        (phase == Phase.CHANGING) == (len(controller.todo) > 0)
        and (phase == Phase.PUBLISHING) == (len(controller.recipients) > 0)
        and implies(phase != Phase.CHANGING, len(controller.live) == 0)
        and implies(
            phase in (Phase.READING, Phase.IDLE), all(controller.decisions[each].version == 0 for each in Partition)
        )
        and implies(phase == Phase.RESIGNED, controller == model.resigned())
    )


@invariant
def controller_knows_leaders(model: ZkController) -> bool:
    """The current controller knows who leads, since nobody else changes that (draft, section A, step 2)."""
    return all(
        model.controllers[broker].leaders[partition] == model.leader_and_isr[partition].leader
        for broker in Broker
        if model.controllers[broker].phase not in (Phase.RESIGNED, Phase.READING)
        and model.controllers[broker].epoch == model.controller_epoch
        for partition in Partition
    )


def after_session(watch: Watch) -> Watch:
    """A watch ends with its session; an event that was delivered stays."""
    return Watch.FIRED if watch == Watch.FIRED else Watch.UNARMED


@transition
def sessions_end_as_a_whole(old: ZkController, new: ZkController) -> bool:
    """/controller, a broker's znode and its watches end with the session, and only then does a broker start over.

    It is registered by its start alone (draft, section E).
    """
    return (
        implies(new.controller != old.controller and old.controller is not None, old.controller not in new.ids)
        and all(
            old.processes[broker].stage == Stage.STARTING and new.processes[broker].stage == Stage.REGISTERED
            for broker in new.ids - old.ids
        )
        and all(
            new.controllers[broker].brokers_watch == after_session(old.controllers[broker].brokers_watch)
            for broker in old.ids - new.ids
        )
        and all(
            broker in old.ids - new.ids
            for broker in Broker
            if new.processes[broker].stage == Stage.STARTING
            and old.processes[broker].stage not in (Stage.DOWN, Stage.STARTING)
        )
    )


@transition
def brokers_follow_what_they_are_told(old: ZkController, new: ZkController) -> bool:
    """A broker's view changes when it starts, by the next batch of its queue, or by what it wrote as the leader.

    Draft, sections B and E.
    """
    return all(
        new.processes[broker].stage != old.processes[broker].stage
        or (
            old.processes[broker].stage == Stage.UP
            and len(old.queues[broker]) > 0
            and new.queues[broker] == old.queues[broker][1:]
        )
        or partition in old.processes[broker].unanswered
        or new.leader_and_isr[partition] != old.leader_and_isr[partition]
        for broker in Broker
        for partition in Partition
        if new.processes[broker].known[partition] != old.processes[broker].known[partition]
        and new.processes[broker].stage != Stage.DOWN
    )


@transition
def leader_adds_its_followers(old: ZkController, new: ZkController) -> bool:
    """A broker that the leader adds to the ISR follows that leader (draft, section B, step 2.1.2)."""
    return all(
        old.processes[member].known[partition].leader == new.leader_and_isr[partition].leader
        for partition in Partition
        if new.leader_and_isr[partition] != old.leader_and_isr[partition] and not is_decided(old, new, partition)
        for member in new.leader_and_isr[partition].isr - old.leader_and_isr[partition].isr
    )


@transition
def elections_are_needed(old: ZkController, new: ZkController) -> bool:
    """A leader that the controller saw alive keeps leading, and no decision repeats the one before.

    Draft, section A, step 2. Partitions that move to other brokers may get another leader for that reason alone.
    """
    return all(
        new.leader_and_isr[partition].replace(version=0) != old.leader_and_isr[partition].replace(version=0)
        and old.leader_and_isr[partition].leader
        not in old.available(broker, partition) - {new.leader_and_isr[partition].leader}
        for broker in Broker
        for partition in Partition
        if decides(old, new, broker, partition)
        and old.leader_and_isr[partition].version != 0
        and new.leader_and_isr[partition].version != 0
        and not old.is_moving(broker, partition)
    )


@transition
def publication_is_due(old: ZkController, new: ZkController) -> bool:
    """What enters a queue says something, to a registered broker that had yet to be told (draft, question A.2)."""
    return all(
        broker in old.ids
        and (
            new.leader_and_isr != old.leader_and_isr
            or any(
                broker in old.controllers[other].recipients and broker not in new.controllers[other].recipients
                for other in Broker
            )
        )
        and (
            len(new.queues[broker][len(old.queues[broker])].stops) > 0
            or any(
                new.queues[broker][len(old.queues[broker])].decisions[partition].version != 0 for partition in Partition
            )
        )
        for broker in Broker
        if len(new.queues[broker]) > len(old.queues[broker])
    )


@transition
def failures_are_counted(old: ZkController, new: ZkController) -> bool:
    """Every crash, expired session and lost answer counts as one of the failures that a spec allows."""
    return all(
        new.faults == old.faults + 1
        for broker in Broker
        if (old.processes[broker].stage != Stage.DOWN and new.processes[broker].stage == Stage.DOWN)
        or (broker in old.ids - new.ids and old.processes[broker].stage not in (Stage.DOWN, Stage.STARTING))
        or len(new.processes[broker].unanswered) > len(old.processes[broker].unanswered)
    )
