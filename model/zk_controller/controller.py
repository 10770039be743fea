"""Kafka's controller on ZooKeeper, third draft of the design: decisions travel through one queue per broker.

Start here. It refines atomic.py. Where each section of the draft is modelled; the properties of each model are in the
file of the same name in invariants/zk_controller/, its known-bad designs in specs/zk_controller/ (flawed.py,
flawed_topics.py, flawed_logs.py, flawed_progress.py):

    A  on_broker_change, change_leaders                  controller.py, ZkController
       step 3.2 as written (unclean elections)           alternatives.py, UncleanElections
       questions A.1, A.2                                controller.py; the other answer to A.2: WelcomesBrokers
       question A.3                                      alternatives.py, FailingReplicas
       "Ideally we want to use ZK multi"                 alternatives.py, Transactions
    B  Broker acts on leadership change                  controller.py, on_leader_assignment_change
    C  Creating/deleting topics                          topics.py, TopicChanges
    D  Handling controller failure                       controller.py; step 2.3 (init_leaders): topics.py
    E  Broker startup                                    controller.py; in the draft's order: SubscribesLast
    liveness                                             progress.py; flawed_progress.py
    F  Replica reassignment                              topics.py, Reassignments
    what Kafka does besides                              alternatives.py, WatchesFollowers
    what the ISR is for: records (A, step 3.2; B)        logs.py, ReplicatedLogs

One of the brokers is the controller. It watches which brokers are registered, elects leaders, writes each decision to
the partition's znode and then publishes it to the brokers' queues. The actions have the names of the draft's
procedures. A procedure with several reads and writes is several actions, so that a crash, or another process's step,
can come between any two.

What ZooKeeper provides: ephemeral znodes that live as long as a session, and so outlive a crash; watches that fire
once; writes that fail unless the znode still has the version that the writer read; ``multi``, which combines the
draft's conditional write with the condition that the writer is still the controller (KAFKA-6082). ZooKeeper reads and
arms a watch in one step. Records are only in logs.py: elsewhere a decision is about leader and ISR alone.

Where the draft is open or wrong, the model has the repair, and specs/zk_controller shows both.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    initial,
    require,
    rule,
)


class Broker(Identifier, count="brokers", prefix="b"):
    """A broker. Any of them can be the controller."""


class Partition(Identifier, count="partitions", prefix="p"):
    """A partition. Each belongs to a topic of its own."""


Version = Annotated[int, Between(0, "max_version")]
ControllerEpoch = Annotated[int, Between(0, "max_controller_epoch")]
Faults = Annotated[int, Between(0, "max_faults")]


class Watch(Enum):
    """A one-shot watch: it fires once, and is lost with its session."""

    UNARMED = "unarmed"
    ARMED = "armed"
    FIRED = "fired"


class Stage(Enum):
    """How far a broker has come since it started, or since its session expired."""

    DOWN = "down"
    STARTING = "starting"
    REGISTERED = "registered"
    SUBSCRIBED = "subscribed"
    UP = "up"


class Phase(Enum):
    """What a controller is doing. Between two phases it may be replaced without knowing."""

    RESIGNED = "resigned"
    READING = "reading"
    CHANGING = "changing leaders"
    PUBLISHING = "publishing"
    IDLE = "idle"


class LeaderAndIsr(Record):
    """A decision, as the partition's znode holds it. Version 0 means that there is none."""

    leader: Broker | None
    isr: Set[Broker]
    version: Version


class Batch(Record):
    """What one znode of a broker's queue holds: decisions for several partitions, and replicas to stop."""

    decisions: Map[Partition, LeaderAndIsr]
    stops: Set[Partition]


class Process(Record):
    """A broker's memory. ``unanswered`` is a leader's write whose outcome it does not know."""

    stage: Stage
    known: Map[Partition, LeaderAndIsr]
    queue_watch: Watch
    unanswered: Set[Partition]


class Controller(Record):
    """A controller's memory: the leaders that it knows, and what it is about to do.

    ``live`` is the brokers as read; ``todo`` the partitions to decide; ``decisions`` what was read of those, and then
    what was written and is to be published; ``recipients`` the brokers still to be told.
    """

    phase: Phase
    epoch: ControllerEpoch
    brokers_watch: Watch
    leaders: Map[Partition, Broker | None]
    live: Set[Broker]
    todo: Set[Partition]
    decisions: Map[Partition, LeaderAndIsr]
    recipients: Set[Broker]


class ZkController(Model):
    """Sections A, B, D and E of the draft: every broker has a replica of every partition, and the topics exist."""

    brokers = Constant(3)
    partitions = Constant(1)
    max_version = Constant(3)
    max_controller_epoch = Constant(2)
    max_faults = Constant(2)
    queue_length = Constant(2)

    # In ZooKeeper.
    controller: Broker | None
    controller_epoch: ControllerEpoch
    ids: Set[Broker]
    leader_and_isr: Map[Partition, LeaderAndIsr]
    queues: Map[Broker, Annotated[Seq[Batch], Capacity("queue_length")]]

    # In the brokers' memory.
    processes: Map[Broker, Process]
    controllers: Map[Broker, Controller]

    faults: Faults

    @initial
    def start(self) -> None:
        """Every broker is up, the first leads, and nobody is the controller yet."""
        first = LeaderAndIsr(leader=Broker(1), isr=Set(Broker), version=1)
        self.controller = None
        self.controller_epoch = 0
        self.ids = Set(Broker)
        self.leader_and_isr = Map({partition: first for partition in Partition})
        self.queues = Map({broker: Seq() for broker in Broker})
        self.processes = Map(
            {
                broker: Process(
                    stage=Stage.UP,
                    known=Map({partition: first for partition in Partition}),
                    queue_watch=Watch.ARMED,
                    unanswered=Set(),
                )
                for broker in Broker
            }
        )
        self.controllers = Map({broker: self.resigned() for broker in Broker})
        self.faults = 0

    def none(self) -> LeaderAndIsr:
        """No decision."""
        return LeaderAndIsr(leader=None, isr=Set(), version=0)

    def resigned(self) -> Controller:
        """The memory of a broker that is not the controller."""
        return Controller(
            phase=Phase.RESIGNED,
            epoch=0,
            brokers_watch=Watch.UNARMED,
            leaders=Map({partition: None for partition in Partition}),
            live=Set(),
            todo=Set(),
            decisions=Map({partition: self.none() for partition in Partition}),
            recipients=Set(),
        )

    def eligible(self, partition: Partition) -> Set[Broker]:
        """The brokers that may lead when they are live."""
        return self.leader_and_isr[partition].isr

    def is_unclean(self, broker: Broker, partition: Partition) -> bool:
        """Whether this controller may elect a broker that is not in the ISR."""
        return False

    def is_moving(self, broker: Broker, partition: Partition) -> bool:
        """Whether this controller may elect another leader only because the partition is moving to other brokers."""
        return False

    def resign(self, broker: Broker) -> None:
        self.controllers[broker] = self.resigned()

    @rule
    def replicas(self, partition: Partition) -> Set[Broker]:
        """AR, the brokers that the partition is assigned to."""
        return Set(Broker)

    def leads(self, broker: Broker, partition: Partition) -> bool:
        """Whether the broker believes that it is the partition's leader."""
        return self.processes[broker].stage != Stage.DOWN and self.processes[broker].known[partition].leader == broker

    def is_settled(self) -> bool:
        """Nothing is in progress: no session is about to expire, no watch has fired, all decisions are published."""
        return all(self.broker_is_settled(broker) for broker in Broker) and any(
            self.controllers[broker].phase == Phase.IDLE
            and self.controllers[broker].brokers_watch == Watch.ARMED
            and self.controllers[broker].epoch == self.controller_epoch
            for broker in Broker
            if broker == self.controller
        )

    def broker_is_settled(self, broker: Broker) -> bool:
        process = self.processes[broker]
        if broker not in self.ids:
            return process.stage == Stage.DOWN
        return process.stage == Stage.UP and process.queue_watch == Watch.ARMED and len(process.unanswered) == 0

    # Crashes, sessions, and brokers that start (section E, on_broker_startup).

    @action
    def broker_crashes(self, broker: Broker) -> None:
        """The process ends, and with it a controller. Its session stays open until it expires.

        The environment: a broker crashes.
        """
        require(self.processes[broker].stage != Stage.DOWN and self.faults < self.max_faults)
        self.faults += 1
        self.processes[broker] = Process(
            stage=Stage.DOWN,
            known=Map({partition: self.none() for partition in Partition}),
            queue_watch=Watch.UNARMED,
            unanswered=Set(),
        )
        self.resign(broker)

    @action
    def session_expires(self, broker: Broker) -> None:
        """Ephemeral znodes and watches disappear. A process that was only slow keeps its memory and learns of it
        later.

        The environment: ZooKeeper gives a session up.
        """
        require(broker in self.ids)
        require(self.processes[broker].stage in (Stage.DOWN, Stage.STARTING) or self.faults < self.max_faults)
        if self.processes[broker].stage not in (Stage.DOWN, Stage.STARTING):
            self.faults += 1
            self.processes[broker].stage = Stage.STARTING
            self.processes[broker].queue_watch = Watch.UNARMED
            self.lose_watches(broker)
        if self.controller == broker:
            self.controller = None
        self.ids.discard(broker)
        self.brokers_changed()

    def lose_watches(self, broker: Broker) -> None:
        """What happens to a controller's watches when its session ends. An event that was delivered stays in its
        memory.
        """
        if self.controllers[broker].brokers_watch == Watch.ARMED:
            self.controllers[broker].brokers_watch = Watch.UNARMED

    @action
    def broker_starts(self, broker: Broker) -> None:
        """A crashed broker starts again, perhaps while its old session still exists.

        The environment: a broker starts.
        """
        require(self.processes[broker].stage == Stage.DOWN)
        self.processes[broker].stage = Stage.STARTING

    @action
    def broker_registers(self, broker: Broker) -> None:
        """Creates its ephemeral znode, once the old one has been deleted. A broker that lost its session is no longer
        the controller.

        The draft's section E, before step 1 (``KafkaZkClient.registerBroker``).
        """
        require(self.processes[broker].stage == Stage.STARTING and broker not in self.ids)
        self.resign(broker)
        self.processes[broker].stage = Stage.REGISTERED
        self.ids.add(broker)
        self.brokers_changed()

    def brokers_changed(self) -> None:
        """ZooKeeper tells every controller that has a watch on the brokers' znodes, once."""
        for broker in Broker:
            if self.controllers[broker].brokers_watch == Watch.ARMED:
                self.controllers[broker].brokers_watch = Watch.FIRED

    @action
    def broker_subscribes(self, broker: Broker) -> None:
        """Watches its queue before it reads. Where the draft's order is safe, too: ``SubscribesLast``.

        The draft's section E, step 4.
        """
        require(self.processes[broker].stage == Stage.REGISTERED)
        self.processes[broker].stage = Stage.SUBSCRIBED
        self.subscribe(broker)

    def subscribe(self, broker: Broker) -> None:
        self.clear_queue(broker)
        self.processes[broker].queue_watch = Watch.ARMED

    @rule
    def clear_queue(self, broker: Broker) -> None:
        """What is in the queue now was written before it was published, so the broker's next read includes it."""
        self.queues[broker] = Seq()

    @action
    def broker_reads_decisions(self, broker: Broker) -> None:
        """Reads each partition's decision and starts its replicas, as leader or as follower.

        The draft's section E, steps 1 to 3.
        """
        require(self.processes[broker].stage == Stage.SUBSCRIBED)
        self.processes[broker].stage = Stage.UP
        self.read_decisions(broker)

    def read_decisions(self, broker: Broker) -> None:
        for partition in Partition:
            self.follow(broker, partition, self.leader_and_isr[partition])

    # Brokers act on decisions (section B, on_leader_assignment_change).

    @rule
    def is_news(self, broker: Broker, partition: Partition, decision: LeaderAndIsr) -> bool:
        """A broker ignores what it has already followed and everything older, in the order of the versions."""
        return decision.version > self.processes[broker].known[partition].version

    def follow(self, broker: Broker, partition: Partition, decision: LeaderAndIsr) -> None:
        """Becomes the leader, or follows another one: stops the fetcher and starts it again."""
        if decision.version != 0 and broker in self.replicas(partition) and self.is_news(broker, partition, decision):
            self.processes[broker].known[partition] = decision
            self.processes[broker].unanswered.discard(partition)

    @action
    def on_leader_assignment_change(self, broker: Broker) -> None:
        """Takes the first batch off its queue. If it was the last one, the same read arms the watch.

        The draft's section B.
        """
        require(self.processes[broker].stage == Stage.UP and self.processes[broker].queue_watch == Watch.FIRED)
        batch = self.queues[broker][0]
        for partition in Partition:
            self.follow(broker, partition, batch.decisions[partition])
        for partition in batch.stops:
            self.stop_replica(broker, partition, batch.decisions[partition])
        self.queues[broker] = self.queues[broker][1:]
        if len(self.queues[broker]) == 0:
            self.processes[broker].queue_watch = Watch.ARMED

    @rule
    def stop_replica(self, broker: Broker, partition: Partition, decision: LeaderAndIsr) -> None:
        """Nothing stops replicas as long as topics and assignments do not change."""

    # The leader and the ISR (section B, step 2.1.2).

    @rule
    def leader_may_write(self, broker: Broker, partition: Partition) -> bool:
        """The leader updates the ISR only if the controller has not changed it: the write quotes the version."""
        return self.processes[broker].known[partition].version == self.leader_and_isr[partition].version

    @rule
    def may_join(self, broker: Broker, member: Broker, partition: Partition) -> bool:
        """A broker that fetches from the leader joins the ISR when it has caught up."""
        process = self.processes[member]
        return (
            process.stage != Stage.DOWN
            and member in self.replicas(partition)
            and process.known[partition].leader == broker
        )

    @action
    def leader_updates_isr(self, broker: Broker, partition: Partition, member: Broker, answered: bool) -> None:
        """Removes a follower from the ISR or adds one. ZooKeeper's answer can be lost with the connection.

        The draft's section B, step 2.1.2 (``ReplicationUtils.updateLeaderAndIsr``).
        """
        require(self.leads(broker, partition) and member != broker)
        require(partition not in self.processes[broker].unanswered)
        require(self.leader_may_write(broker, partition) and self.leader_and_isr[partition].version < self.max_version)
        require(answered or self.faults < self.max_faults)
        isr = self.processes[broker].known[partition].isr
        require(member in isr or self.may_join(broker, member, partition))
        written = LeaderAndIsr(leader=broker, isr=isr ^ {member}, version=self.leader_and_isr[partition].version + 1)
        self.leader_and_isr[partition] = written
        if answered:
            self.processes[broker].known[partition] = written
        else:
            self.faults += 1
            self.processes[broker].unanswered.add(partition)

    @rule
    def refresh(self, broker: Broker, partition: Partition) -> None:
        """A leader whose write was refused reads the znode: the write that got in first may have been its own
        (KAFKA-1382).
        """
        if self.leader_and_isr[partition].leader == broker:
            self.processes[broker].known[partition] = self.leader_and_isr[partition]

    @action
    def leader_retries(self, broker: Broker, partition: Partition) -> None:
        """Retries the unanswered write. The version has moved on, so the write is refused.

        ``ReplicationUtils.updateLeaderAndIsr``.
        """
        require(partition in self.processes[broker].unanswered)
        self.processes[broker].unanswered.discard(partition)
        self.refresh(broker, partition)

    # A new controller (section D, on_controller_failover).

    @action
    def on_controller_failover(self, broker: Broker) -> None:
        """Creates /controller and increments the controller epoch, in one transaction.

        A broker that finds the znode taken sets its watch with the same request, so the model needs no watch here: a
        broker that is up can try whenever the znode does not exist.

        The draft's section D, step 1 (``KafkaZkClient.registerControllerAndIncrementControllerEpoch``).
        """
        require(self.controller is None and self.processes[broker].stage == Stage.UP)
        require(self.controller_epoch < self.max_controller_epoch)
        self.controller = broker
        self.controller_epoch += 1
        self.take_office(broker)

    @rule
    def take_office(self, broker: Broker) -> None:
        """A broker that finds its own id in /controller has won, too: only the answer was lost (KAFKA-13407)."""
        self.controllers[broker].epoch = self.controller_epoch
        self.controllers[broker].phase = Phase.READING

    @rule
    def repeats_decisions(self) -> bool:
        """Whether the predecessor may have written decisions that it did not publish (step 2.1)."""
        return True

    @rule
    def decision_at_failover(self, broker: Broker, partition: Partition) -> LeaderAndIsr:
        """What a new controller takes as the partition's state: what ZooKeeper holds."""
        return self.leader_and_isr[partition]

    @action
    def controller_reads_decisions(self, broker: Broker) -> None:
        """Reads every decision. All are published again, then the brokers are read (section D,
        steps 2.1 and 2.2).
        """
        require(self.controllers[broker].phase == Phase.READING)
        for partition in Partition:
            decision = self.decision_at_failover(broker, partition)
            self.controllers[broker].leaders[partition] = decision.leader
            if self.repeats_decisions():
                self.controllers[broker].decisions[partition] = decision
        self.controllers[broker].brokers_watch = Watch.FIRED
        self.proceed(broker)

    # Elections (section A, on_broker_change and change_leaders).

    @rule
    def watch_brokers(self, broker: Broker) -> None:
        """Arms the watch and reads, in one step."""
        self.controllers[broker].brokers_watch = Watch.ARMED

    @rule
    def live_brokers(self, broker: Broker) -> Set[Broker]:
        """The brokers registered when the controller looks, not when the watch fired (KAFKA-5502)."""
        return self.ids

    @rule
    def is_affected(self, broker: Broker, partition: Partition) -> bool:
        """The partition's leader is not live (step 2), or it has none and is tried again (question A.1)."""
        leader = self.controllers[broker].leaders[partition]
        return leader is None or leader not in self.controllers[broker].live

    @action
    def on_broker_change(self, broker: Broker) -> None:
        """Reads the live brokers and finds the affected partitions. The draft's section A, steps 1 and 2."""
        require(self.controllers[broker].phase == Phase.IDLE and self.controllers[broker].brokers_watch == Watch.FIRED)
        self.controllers[broker].live = self.live_brokers(broker)
        self.watch_brokers(broker)
        for partition in Partition:
            if self.is_affected(broker, partition):
                self.controllers[broker].todo.add(partition)
        self.controllers[broker].phase = Phase.CHANGING
        self.proceed(broker)

    @action
    def controller_reads_isr(self, broker: Broker, partition: Partition) -> None:
        """Section A, step 3.1: the ISR, and the version that the write will quote."""
        require(self.controllers[broker].phase == Phase.CHANGING and partition in self.controllers[broker].todo)
        require(self.controllers[broker].decisions[partition].version == 0)
        require(self.leader_and_isr[partition].version != 0)
        self.controllers[broker].decisions[partition] = self.leader_and_isr[partition]

    @rule
    def available(self, broker: Broker, partition: Partition) -> Set[Broker]:
        """The replicas that can lead, as far as the controller knows."""
        return self.controllers[broker].live & self.replicas(partition)

    @rule
    def candidates(self, broker: Broker, partition: Partition) -> Set[Broker]:
        """Step 3.2: the live members of the ISR, since the others may lack committed records."""
        return self.controllers[broker].decisions[partition].isr & self.available(broker, partition)

    @rule
    def new_isr(self, broker: Broker, partition: Partition, leader: Broker) -> Set[Broker]:
        """Step 3.2: the live members of the ISR; a leader from outside the ISR is alone in it."""
        isr = self.controllers[broker].decisions[partition].isr
        return isr & self.available(broker, partition) if leader in isr else Set({leader})

    @action
    def controller_elects(self, broker: Broker, partition: Partition, leader: Broker) -> None:
        """Section A, step 4: writes the new leader and ISR."""
        require(self.has_read(broker, partition) and leader in self.candidates(broker, partition))
        require(self.may_decide(partition))
        self.decide(broker, partition, leader, self.new_isr(broker, partition, leader))

    @action
    def controller_finds_nobody(self, broker: Broker, partition: Partition) -> None:
        """Section A, question A.1: nobody leads until a member of the ISR is back, and the ISR stays as it was."""
        require(self.has_read(broker, partition) and len(self.candidates(broker, partition)) == 0)
        if self.controllers[broker].decisions[partition].leader is None:
            self.controllers[broker].todo.discard(partition)
            self.controllers[broker].decisions[partition] = self.none()
            self.controllers[broker].leaders[partition] = None
            self.proceed(broker)
        else:
            require(self.may_decide(partition))
            self.decide(broker, partition, None, self.isr_without_leader(broker, partition))

    @rule
    def isr_without_leader(self, broker: Broker, partition: Partition) -> Set[Broker]:
        """The ISR that waits for a leader: still the replicas that have every committed record."""
        return self.controllers[broker].decisions[partition].isr

    def has_read(self, broker: Broker, partition: Partition) -> bool:
        controller = self.controllers[broker]
        return (
            controller.phase == Phase.CHANGING
            and partition in controller.todo
            and controller.decisions[partition].version != 0
        )

    def may_decide(self, partition: Partition) -> bool:
        return self.leader_and_isr[partition].version < self.max_version

    @rule
    def is_replaced(self, broker: Broker) -> bool:
        """The condition on the controller epoch: a controller that was replaced writes nothing (KAFKA-6082)."""
        return self.controllers[broker].epoch != self.controller_epoch

    @rule
    def is_outdated(self, broker: Broker, partition: Partition) -> bool:
        """The condition on the version: the leader has changed the ISR since the controller read it."""
        return self.controllers[broker].decisions[partition].version != self.leader_and_isr[partition].version

    def decide(self, broker: Broker, partition: Partition, leader: Broker | None, isr: Set[Broker]) -> None:
        """The conditional write. If the version has changed, the controller reads again; if the epoch has, it
        resigns.
        """
        if self.is_replaced(broker):
            self.resign(broker)
        elif self.is_outdated(broker, partition):
            self.controllers[broker].decisions[partition] = self.none()
        else:
            decision = LeaderAndIsr(leader=leader, isr=isr, version=self.leader_and_isr[partition].version + 1)
            self.write(partition, decision)
            self.controllers[broker].decisions[partition] = decision
            self.controllers[broker].leaders[partition] = leader
            self.controllers[broker].todo.discard(partition)
            self.proceed(broker)

    @rule
    def write(self, partition: Partition, decision: LeaderAndIsr) -> None:
        self.leader_and_isr[partition] = decision

    def proceed(self, broker: Broker) -> None:
        """Goes on to publishing once every partition is decided, or becomes idle if there is nothing to publish."""
        if len(self.controllers[broker].todo) == 0:
            self.controllers[broker].live = Set()
            if self.has_news(broker):
                self.controllers[broker].phase = Phase.PUBLISHING
                self.controllers[broker].recipients = Set(Broker)
            else:
                self.rest(broker)

    def has_news(self, broker: Broker) -> bool:
        return any(self.controllers[broker].decisions[partition].version != 0 for partition in Partition)

    def rest(self, broker: Broker) -> None:
        self.controllers[broker].phase = Phase.IDLE
        for partition in Partition:
            self.controllers[broker].decisions[partition] = self.none()

    # Publishing (section A, step 5).

    @rule
    def is_told(self, broker: Broker, recipient: Broker) -> bool:
        """Question A.2: a broker that is not registered now reads the decisions later, when it starts.

        What counts is the present: the broker may have registered and read since the controller looked.
        """
        return recipient in self.ids

    @rule
    def may_publish(self, broker: Broker) -> bool:
        """Whether ZooKeeper accepts the publication. No condition is needed here, since versions order the
        decisions.
        """
        return True

    @action
    def controller_publishes(self, broker: Broker, recipient: Broker) -> None:
        """Writes all new decisions to one broker's queue, as one znode. The draft's section A, step 5."""
        require(self.controllers[broker].phase == Phase.PUBLISHING and recipient in self.controllers[broker].recipients)
        require(not self.is_told(broker, recipient) or len(self.queues[recipient]) < self.queue_length)
        if self.may_publish(broker):
            self.controllers[broker].recipients.discard(recipient)
            if self.is_told(broker, recipient):
                self.publish(recipient, self.news(broker, recipient))
            if len(self.controllers[broker].recipients) == 0:
                self.rest(broker)
        else:
            self.resign(broker)

    def news(self, broker: Broker, recipient: Broker) -> Batch:
        """What a recipient receives."""
        return Batch(decisions=self.controllers[broker].decisions, stops=Set())

    def publish(self, recipient: Broker, batch: Batch) -> None:
        self.queues[recipient].append(batch)
        if self.processes[recipient].queue_watch == Watch.ARMED:
            self.processes[recipient].queue_watch = Watch.FIRED
