"""What a broker needs to lead one partition: Kafka's own ``Partition``, its log and its ``AlterPartitionManager``.

``Partition`` gets what its constructor asks for, as in Kafka's ``PartitionTest``. Its log is a real ``UnifiedLog`` in a
temporary folder, its purgatories are real and have no thread, and ISR changes go through the real
``DefaultAlterPartitionManager``. Interfaces are the caller's: the clock, the channel to the controller, the scheduler,
the metadata cache. The leader of 4.0 asks only a ``KRaftMetadataCache``, so there it has a real one, with an image of
the brokers.

So the caller decides when a request reaches the controller and what is answered, in which order that and the metadata
arrive, what the metadata cache says of a broker, and how much time passes. Followers are the caller's, too: a fetch
says what a follower has.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jpype
from bridge import Classes
from controller import integers

TOPIC = "t"
LAG = 30_000
"""replica.lag.time.max.ms"""
_BEGINNING = 1_000_000
"""The clock at first, so that a time of 0, which Kafka uses for "never", is long ago."""


@dataclass(frozen=True)
class State:
    """A partition's state as the controller has it."""

    leader: int | None
    leader_epoch: int
    isr: tuple[int, ...]
    partition_epoch: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@dataclass(frozen=True)
class Request:
    """An AlterPartition request for the partition: the ISR with the broker epoch of each member."""

    leader_epoch: int
    partition_epoch: int
    isr: tuple[tuple[int, int], ...]

    @property
    def members(self) -> tuple[int, ...]:
        return tuple(broker for broker, _ in self.isr)


@dataclass(frozen=True)
class Follower:
    """What the leader knows of a follower: ``org.apache.kafka.server.replica.Replica``."""

    offset: int
    """Its log end offset, -1 before its first fetch."""
    broker_epoch: int | None
    caught_up_lately: bool
    """Whether it was level with the leader within ``replica.lag.time.max.ms``."""


@dataclass
class Registration:
    """What the metadata cache says of a broker."""

    broker_epoch: int = 0
    fenced: bool = False
    shutting_down: bool = False


class Broker:
    """A broker with a replica of one partition. Errors are names of Kafka's."""

    def __init__(self, kafka: Classes, broker: int, state: State, min_isr: int = 1) -> None:
        self.kafka = kafka
        self.broker = broker
        self.now = _BEGINNING
        self.cache: dict[int, Registration] = {}
        self.sent: list[tuple[Request, Any, Any]] = []
        """Requests that the channel has taken, and their handlers."""
        self.scheduled: list[Any] = []
        self.marks: list[str] = []
        """What ``AlterPartitionListener`` was told: expand, shrink or failed."""
        self.meanwhile: Callable[[], None] = lambda: None
        """What another thread does while the leader reads the broker epochs that it is going to quote."""
        self.folder = Path(tempfile.mkdtemp(prefix="floodmark-kafka-"))
        self.topic = kafka.type("common.Uuid")(jpype.JLong(1000), jpype.JLong(1000))
        self.name = kafka.type("common.TopicPartition")(TOPIC, 0)
        self.clock = kafka.implement("common.utils.Time", {
            "milliseconds": lambda: jpype.JLong(self.now), "nanoseconds": lambda: jpype.JLong(self.now * 1_000_000),
            "hiResClockMs": lambda: jpype.JLong(self.now),
        })
        self.scheduler = kafka.implement("server.util.Scheduler", {
            "schedule": lambda name, task, delay, period: self._schedule(task, int(period)),
        })
        self.asks_real_cache = not kafka.has_type("metadata.MetadataCache")
        self.metadata = self._cache()
        self.log = self._log(min_isr)
        self.partition = self._partition()
        self.partition.setLog(self.log, False)
        self.receive(state)

    def _log(self, min_isr: int, start: int = 0, directory: Path | None = None) -> Any:
        kind = self.kafka.type
        settings = jpype.java.util.HashMap()
        settings.put("min.insync.replicas", jpype.java.lang.Integer(min_isr))
        folder = (self.folder if directory is None else directory) / f"{TOPIC}-0"
        folder.mkdir(exist_ok=True)
        place = "storage.internals.log"
        arguments = (
            jpype.java.io.File(str(folder)), kind(f"{place}.LogConfig")(settings), jpype.JLong(start), jpype.JLong(0),
            self.scheduler, kind("storage.log.metrics.BrokerTopicStats")(False), self.clock, 60_000,
            kind(f"{place}.ProducerStateManagerConfig")(60_000, False), 60_000,
            kind(f"{place}.LogDirFailureChannel")(1), True,
        )
        name = self.kafka.first_of("kafka.log.UnifiedLog", f"{place}.UnifiedLog")
        if name.startswith("kafka."):
            topic, remaining = kind("scala.Option").apply(self.topic), jpype.java.util.concurrent.ConcurrentHashMap()
            listener = kind(f"{place}.LogOffsetsListener").NO_OP_OFFSETS_LISTENER
            return kind(name).apply(*arguments, topic, True, remaining, False, listener)
        return kind(name).create(*arguments, jpype.java.util.Optional.of(self.topic))

    def _partition(self) -> Any:
        kafka, kind = self.kafka, self.kafka.type
        timer = kafka.implement("server.util.timer.Timer", {
            "add": lambda task: None, "advanceClock": lambda waits: False, "size": lambda: 0, "close": lambda: None,
        })
        purgatory = kind("server.purgatory.DelayedOperationPurgatory")
        purgatories = [purgatory(name, timer, self.broker, 1000, False, False) for name in ("p", "f", "d", "s")]
        self.delayed_fetches = purgatories[1]
        topic = kind("scala.Option").apply(self.topic)
        delayed = kind("kafka.cluster.DelayedOperations")(topic, self.name, *purgatories)
        told = kafka.first_of("server.partition.AlterPartitionListener", "kafka.cluster.AlterPartitionListener")
        listener = kafka.implement(told, {
            "markIsrExpand": lambda: self.marks.append("expand"), "markIsrShrink": lambda: self.marks.append("shrink"),
            "markFailed": lambda: self.marks.append("failed"),
        })
        channel = kafka.implement("server.common.NodeToControllerChannelManager", {
            "start": lambda: None, "shutdown": lambda: None, "sendRequest": self._send,
        })
        own = self.cached(self.broker)

        def own_epoch() -> Any:
            self.meanwhile()
            return jpype.JLong(own.broker_epoch)

        epoch = kafka.implement("scala.Function0", {"apply": own_epoch})
        self.manager = kind("kafka.server.DefaultAlterPartitionManager")(
            channel, self.scheduler, self.clock, self.broker, epoch)
        return kind("kafka.cluster.Partition")(
            self.name, jpype.JLong(LAG), self.broker, epoch, self.clock, listener, delayed, self.metadata,
            self.log_manager(), self.manager, topic)

    def log_manager(self) -> Any:
        """A leader needs none, as its log is there from the beginning."""
        return None

    def _cache(self) -> Any:
        """What the leader asks of brokers' registrations."""
        kafka = self.kafka
        if not self.asks_real_cache:
            return kafka.implement("metadata.MetadataCache", {
                "isBrokerFenced": lambda broker: self.cached(int(broker)).fenced,
                "isBrokerShuttingDown": lambda broker: self.cached(int(broker)).shutting_down,
                "getAliveBrokerEpoch": lambda broker: self._alive_epoch(int(broker)),
                "hasAliveBroker": lambda broker: not self.cached(int(broker)).fenced,
            })
        return kafka.type("kafka.server.metadata.KRaftMetadataCache")(self.broker, None)

    def _fill_cache(self) -> None:
        """Gives a real cache an image of what the caller says of the brokers."""
        kind = self.kafka.type
        if not self.asks_real_cache:
            return
        delta = kind("image.MetadataDelta")(kind("image.MetadataImage").EMPTY)
        for broker, found in self.cache.items():
            record = kind("common.metadata.RegisterBrokerRecord")().setBrokerId(broker).setFenced(found.fenced)
            record.setBrokerEpoch(jpype.JLong(found.broker_epoch)).setInControlledShutdown(found.shutting_down)
            delta.replay(record)
        self.metadata.setImage(delta.apply(kind("image.MetadataProvenance").EMPTY))

    def _schedule(self, task: Any, period: int) -> Any:
        """What is to be done once is for the caller to run; the log's periodic task has nothing to do here."""
        if period <= 0:
            self.scheduled.append(task)
        return jpype.JProxy("java.util.concurrent.ScheduledFuture", dict={"cancel": lambda interrupts: True})

    def cached(self, broker: int) -> Registration:
        """What the metadata cache says of a broker, for the caller to change."""
        return self.cache.setdefault(broker, Registration())

    def _alive_epoch(self, broker: int) -> Any:
        """As ``KRaftMetadataCache`` has it: a fenced broker is not alive."""
        found = self.cached(broker)
        if found.fenced:
            return jpype.java.util.Optional.empty()
        return jpype.java.util.Optional.of(jpype.java.lang.Long(found.broker_epoch))

    def _send(self, builder: Any, handler: Any) -> None:
        request = builder.build()
        told = request.data().topics().get(0).partitions().get(0)
        members = sorted((int(each.brokerId()), int(each.brokerEpoch())) for each in told.newIsrWithEpochs())
        shown = Request(int(told.leaderEpoch()), int(told.partitionEpoch()), tuple(members))
        self.sent.append((shown, handler, request.data()))

    def close(self) -> None:
        """Deletes the log, and lets go of what is Java's: it holds what implements its interfaces, and that holds this
        object. No collector sees such a circle as a whole.
        """
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        del self.log, self.partition, self.clock, self.scheduler, self.metadata, self.manager
        self.sent.clear()
        self.scheduled.clear()

    # What the broker is asked to do.

    def receive(self, state: State) -> None:
        """The metadata log has a state of the partition (``ReplicaManager.applyDelta``)."""
        for broker in state.replicas:
            self.cached(broker)
        self._fill_cache()
        kind = self.kafka.type
        topic, none = kind("scala.Option").apply(self.topic), kind("scala.Option").apply(None)
        become = self.partition.makeLeader if state.leader == self.broker else self.partition.makeFollower
        if self.kafka.libraries.number < (4, 2):
            become(self._leader_and_isr(state), None, topic, none)
            return
        builder = self.kafka.new("metadata.PartitionRegistration$Builder")
        registration = (
            builder.setReplicas(_ints(state.replicas)).setIsr(_ints(state.isr)).setAddingReplicas(_ints(state.adding))
            .setRemovingReplicas(_ints(state.removing)).setElr(_ints(())).setLastKnownElr(_ints(()))
            .setLeader(jpype.java.lang.Integer(-1 if state.leader is None else state.leader))
            .setLeaderRecoveryState(kind("metadata.LeaderRecoveryState").RECOVERED)
            .setLeaderEpoch(jpype.java.lang.Integer(state.leader_epoch))
            .setPartitionEpoch(jpype.java.lang.Integer(state.partition_epoch))
            .setDirectories(_array(kind("common.Uuid"), [self.topic] * len(state.replicas)))
            .build()
        )
        become(registration, False, None, topic, none)

    def _leader_and_isr(self, state: State) -> Any:
        """Until 4.1 the leader is told in the words of a request that ended with ZooKeeper."""
        told = self.kafka.type("common.requests.LeaderAndIsrRequest$PartitionState")()
        told.setTopicName(TOPIC).setPartitionIndex(0).setLeader(-1 if state.leader is None else state.leader)
        told.setLeaderEpoch(state.leader_epoch).setPartitionEpoch(state.partition_epoch).setIsr(integers(state.isr))
        told.setReplicas(integers(state.replicas)).setAddingReplicas(integers(state.adding))
        return told.setRemovingReplicas(integers(state.removing))

    def append(self, acks: int = -1) -> str:
        """A producer's record."""
        kind = self.kafka.type
        place = self.kafka.first_of("common.record.internal.SimpleRecord", "common.record.SimpleRecord")
        place = place.removesuffix(".SimpleRecord")
        record = kind(f"{place}.SimpleRecord")(jpype.JLong(self.now), jpype.JArray(jpype.JByte)(b"v"))
        records = kind(f"{place}.MemoryRecords").withRecords(
            kind("common.compress.Compression").NONE, _array(kind(f"{place}.SimpleRecord"), [record]))
        unknown = [jpype.JShort(-1) for _ in self.kafka.flags(self.partition, "appendRecordsToLeader", 5)]
        """Later versions want the version of the transaction (TV_UNKNOWN)."""
        return self._told(lambda: self.partition.appendRecordsToLeader(
            records, kind("storage.internals.log.AppendOrigin").CLIENT, acks,
            kind("server.common.RequestLocal").noCaching(), kind("storage.internals.log.VerificationGuard").SENTINEL,
            *unknown))

    def fetch(
        self, follower: int, offset: int, leader_epoch: int | None = None, broker_epoch: int | None = None,
        last_epoch: int | None = None,
    ) -> str:
        """A follower's fetch, in the leader epoch and the broker epoch that are known here unless others are given. The
        answer has one record, if there is one, or says where the follower has to truncate its log.
        """
        kind = self.kafka.type
        optional, integer = jpype.java.util.Optional, jpype.java.lang.Integer
        known = self.leader_epoch if leader_epoch is None else leader_epoch
        epoch = self.cached(follower).broker_epoch if broker_epoch is None else broker_epoch
        latest = kind("common.protocol.ApiKeys").FETCH.latestVersion()
        version = [latest] if self.kafka.libraries.number < (4, 1) else []
        parameters = kind("server.storage.log.FetchParams")(
            *version, follower, jpype.JLong(epoch), jpype.JLong(0), 0, 1,
            kind("server.storage.log.FetchIsolation").LOG_END, optional.empty())
        asked = kind("common.requests.FetchRequest$PartitionData")(
            self.topic, jpype.JLong(offset), jpype.JLong(0), 1, optional.of(integer(known)),
            optional.empty() if last_epoch is None else optional.of(integer(last_epoch)))
        found: list[Any] = []
        error = self._told(lambda: found.append(self.partition.fetchRecords(
            parameters, asked, jpype.JLong(self.now), 1, True, True)))
        diverging = self.kafka.field(found[0], "divergingEpoch") if found else optional.empty()
        if diverging.isPresent():
            return f"DIVERGES AT {diverging.get().endOffset()}"
        return error

    def shrink(self) -> None:
        """The leader looks for followers that are out of sync, as it does every half of ``LAG``."""
        self._fill_cache()
        self.partition.maybeShrinkIsr()

    def pass_time(self) -> None:
        """So much that whatever was lately is long ago."""
        self.now += LAG + 1

    def _told(self, call: Callable[[], Any]) -> str:
        self._fill_cache()
        try:
            call()
        except jpype.JException as error:
            return str(self.kafka.type("common.protocol.Errors").forException(error).name())
        return "NONE"

    # The channel to the controller.

    def answer(self, state: State) -> None:
        """The controller has accepted the request that is under way, and has this state now."""
        told = self._partition_answer()
        told.setLeaderId(-1 if state.leader is None else state.leader).setLeaderEpoch(state.leader_epoch)
        told.setPartitionEpoch(state.partition_epoch).setLeaderRecoveryState(jpype.JByte(0))
        told.setIsr(integers(state.isr))
        self._complete([told], "NONE")

    def refuse(self, error: str) -> None:
        """The controller has refused the request for the partition."""
        told = self._partition_answer()
        told.setErrorCode(self.kafka.type("common.protocol.Errors").valueOf(error).code())
        self._complete([told], "NONE")

    def fail(self, error: str) -> None:
        """The controller has refused the whole request, which is sent again a little later."""
        self._complete([], error)
        tasks, self.scheduled = self.scheduled, []
        for task in tasks:
            task.run()

    # Several partitions that it leads, of which only the first is a ``Partition``; the manager does not ask.

    def submit(self, partition: int, isr: Sequence[int]) -> Any:
        """A change of another partition's ISR, and its future."""
        kind = self.kafka.type
        name = kind("server.common.TopicIdPartition")(self.topic, partition)
        recovered = kind("metadata.LeaderRecoveryState").RECOVERED
        return self.manager.submit(name, kind("metadata.LeaderAndIsr")(self.broker, 0, integers(isr), recovered, 0))

    @property
    def asked(self) -> list[list[int]]:
        """The partitions of each request that is under way."""
        return [sorted(int(each.partitionIndex()) for each in data.topics().get(0).partitions())
                for _, _, data in self.sent]

    def answer_each(self, errors: Mapping[int, str]) -> None:
        """The answer to a request has an error, or NONE, for these partitions."""
        results = []
        for partition, error in errors.items():
            told = self._partition_answer().setPartitionIndex(partition).setPartitionEpoch(1).setLeaderId(self.broker)
            results.append(told.setErrorCode(self.kafka.type("common.protocol.Errors").valueOf(error).code()))
        self._complete(results, "NONE")

    def _partition_answer(self) -> Any:
        return self.kafka.type("common.message.AlterPartitionResponseData$PartitionData")().setPartitionIndex(0)

    def _complete(self, results: Sequence[Any], error: str) -> None:
        base, kind = "common.message.AlterPartitionResponseData", self.kafka.type
        data = kind(base)().setErrorCode(kind("common.protocol.Errors").valueOf(error).code())
        if results:
            topic = kind(f"{base}$TopicData")().setTopicId(self.topic)
            for each in results:
                topic.partitions().add(each)
            data.topics().add(topic)
        self._fill_cache()
        handler = self.sent.pop(0)[1]
        handler.onComplete(kind("clients.ClientResponse")(
            None, None, "", jpype.JLong(self.now), jpype.JLong(self.now), False, None, None,
            kind("common.requests.AlterPartitionResponse")(data)))

    # What can be seen of it.

    @property
    def requests(self) -> list[Request]:
        """The requests that have not been answered."""
        return [each[0] for each in self.sent]

    @property
    def leads(self) -> bool:
        return bool(self.partition.isLeader())

    @property
    def leader_epoch(self) -> int:
        return int(self.partition.getLeaderEpoch())

    @property
    def partition_epoch(self) -> int:
        return int(self.partition.getPartitionEpoch())

    @property
    def isr(self) -> tuple[int, ...]:
        """What the controller has confirmed, as far as the leader knows."""
        return self._members(self._state().isr())

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        return self._members(self._state().maximalIsr())

    @property
    def in_flight(self) -> bool:
        """Whether the leader waits for a change of the ISR to be settled."""
        return bool(self._state().isInflight())

    @property
    def high_watermark(self) -> int:
        return int(self.log.highWatermark())

    @property
    def end(self) -> int:
        """The log end offset."""
        return int(self.log.logEndOffset())

    @property
    def epoch_start(self) -> int | None:
        """Where the leader epoch began."""
        found = self.kafka.call(self.partition, "leaderEpochStartOffsetOpt")
        return int(str(found.get())) if found.isDefined() else None

    def acknowledged(self, offset: int) -> str:
        """What a producer with acks=all is told of its records below this offset; WAITS if it is told nothing yet."""
        done = self.partition.checkEnoughReplicasReachOffset(jpype.JLong(offset))
        error = str(done._2().name())
        return error if done._1() or error != "NONE" else "WAITS"

    def is_under_min_isr(self) -> bool:
        return bool(self.partition.isUnderMinIsr())

    def is_at_min_isr(self) -> bool:
        return bool(self.partition.isAtMinIsr())

    def is_reassigning(self) -> bool:
        return bool(self.partition.isReassigning())

    def is_under_replicated(self) -> bool:
        return bool(self.partition.isUnderReplicated())

    def follower(self, broker: int) -> Follower | None:
        """None if it is not known as a replica."""
        found = self.partition.getReplica(broker)
        if not found.isDefined():
            return None
        seen = found.get().stateSnapshot()
        epoch = seen.brokerEpoch()
        lately = self.now - int(seen.lastCaughtUpTimeMs()) <= LAG
        known = epoch.isDefined() if hasattr(epoch, "isDefined") else epoch.isPresent()
        return Follower(int(seen.logEndOffset()), int(str(epoch.get())) if known else None, lately)

    def _state(self) -> Any:
        return self.kafka.call(self.partition, "partitionState")

    def _members(self, values: Any) -> tuple[int, ...]:
        """Of a set of Java's or, until 4.1, of Scala's."""
        if not hasattr(values, "__iter__"):
            values = self.kafka.type("scala.jdk.javaapi.CollectionConverters").asJava(values)
        return tuple(sorted(int(value) for value in values))


def _ints(values: Sequence[int]) -> Any:
    return jpype.JArray(jpype.JInt)(list(values))


def _array(kind: Any, values: Sequence[Any]) -> Any:
    """An array of a class that has a loader of its own, which JPype does not find by its name."""
    made = jpype.java.lang.reflect.Array.newInstance(kind.class_, len(values))
    for at, value in enumerate(values):
        jpype.java.lang.reflect.Array.set(made, at, value)
    return made
