"""How followers fetch: Kafka's own ``ReplicaFetcherThread`` for one partition, without its thread.

Its interface to the leader (``LeaderEndPoint``) is the caller's, and asks the leader's ``Partition``; so a fetch and
its answer are one call, ``fetch``. The fetcher looks its partition up in a ``ReplicaManager``, of which nothing else is
needed: that object has a table with this partition, and no constructor has run.

A replica that changes its log directory is copied by Kafka's ``ReplicaAlterLogDirsThread`` in the same way: its leader
is the replica itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jpype
from bridge import Classes
from partition_broker import Broker, State

_SETTINGS = {
    "process.roles": "broker", "node.id": "1", "controller.quorum.voters": "9@localhost:9999",
    "controller.listener.names": "CONTROLLER", "listeners": "PLAINTEXT://localhost:9092",
}
_FUTURE_REPLICA = -3
"""``FetchRequest.FUTURE_LOCAL_REPLICA_ID``"""


class Replica(Broker):
    """A broker that leads the partition, or follows: with the ``LogManager`` by which a follower's log is truncated,
    and which has two log directories.
    """

    _logs: Any = None

    @property
    def directories(self) -> list[Path]:
        return [self.folder, self.folder / "other"]

    def log_manager(self) -> Any:
        kind, place = self.kafka.type, "storage.internals.log"
        if self._logs is None:
            of_scala = kind("scala.jdk.javaapi.CollectionConverters")
            folders = jpype.java.util.ArrayList()
            for directory in self.directories:
                folders.add(jpype.java.io.File(str(directory)))
            seldom = jpype.JLong(60_000)
            self._logs = self.kafka.new(
                "kafka.log.LogManager", of_scala.asScala(folders).toSeq(),
                of_scala.asScala(jpype.java.util.List.of()).toSeq(),
                self.kafka.implement("metadata.ConfigRepository", {
                    "topicConfig": lambda topic: jpype.java.util.Properties()}),
                kind(f"{place}.LogConfig")(jpype.java.util.Map.of()), kind(f"{place}.CleanerConfig")(False), 1,
                seldom, seldom, seldom, seldom, 60_000, kind(f"{place}.ProducerStateManagerConfig")(60_000, False),
                60_000, self.scheduler, kind("storage.log.metrics.BrokerTopicStats")(False),
                kind(f"{place}.LogDirFailureChannel")(1), self.clock, False, seldom, *self._cleaner())
        self.kafka.field(self._logs, "currentLogs").put(self.name, self.log)
        return self._logs

    def _cleaner(self) -> list[Any]:
        """Since 4.2 a log manager is told how cleaners are made."""
        default, kind = "$lessinit$greater$default$20", "kafka.log.LogManager"
        return [self.kafka.call(self.kafka.type(kind), default)] if self.kafka.has(kind, default) else []

    def answer_fetch(self, follower: int | None, asked: Any) -> Any:
        """The answer to a fetch of a follower, or of the replica in the other directory, as it is sent:
        ``FetchResponseData.PartitionData``.
        """
        kind = self.kafka.type
        told = kind("common.message.FetchResponseData$PartitionData")().setPartitionIndex(0)
        epoch = -1 if follower is None else self.cached(follower).broker_epoch
        parameters = kind("server.storage.log.FetchParams")(
            _FUTURE_REPLICA if follower is None else follower, jpype.JLong(epoch), jpype.JLong(0), 0, 1,
            kind("server.storage.log.FetchIsolation").LOG_END, jpype.java.util.Optional.empty())
        found: list[Any] = []
        error = self._told(lambda: found.append(self.partition.fetchRecords(
            parameters, asked, jpype.JLong(self.now), 1, True, follower is not None)))
        told.setErrorCode(kind("common.protocol.Errors").valueOf(error).code())
        for read in found:
            of = functools.partial(self.kafka.field, read)
            told.setHighWatermark(jpype.JLong(int(of("highWatermark"))))
            told.setLogStartOffset(jpype.JLong(int(of("logStartOffset"))))
            told.setRecords(self.kafka.field(of("fetchedData"), "records"))
            if of("divergingEpoch").isPresent():
                told.setDivergingEpoch(of("divergingEpoch").get())
        return told

    def delete_records(self, offset: int) -> None:
        """The records below an offset go: by a request if it leads, by retention if not."""
        if self.leads:
            self.partition.deleteRecordsOnLeader(jpype.JLong(offset))
        else:
            reason = self.kafka.type("storage.internals.log.LogStartOffsetIncrementReason").SegmentDeletion
            self.log.maybeIncrementLogStartOffset(jpype.JLong(offset), reason)

    def run_scheduled(self) -> None:
        """The cache is flushed by a task of its own after what is truncated or deleted."""
        tasks, self.scheduled = self.scheduled, []
        for task in tasks:
            task.run()

    def move(self) -> None:
        """The replica in the other directory, into which every record is copied, takes the place of this one."""
        logs = self.log_manager()
        (other,) = [each for each in self.directories if str(each) != str(self.log.parentDir())]
        logs.maybeUpdatePreferredLogDir(self.name, str(other))
        future = self.kafka.call(
            logs, "getOrCreateLog", self.name, False, True, jpype.java.util.Optional.of(self.topic),
            self.kafka.type("scala.Option").apply(None))
        self.partition.setLog(future, True)
        copying = Copying(self)
        while self.partition.futureLog().isDefined():
            copying.fetch()
        self.log = future
        self.run_scheduled()

    def coordinate(self) -> list[int]:
        """The high watermarks that the group coordinator of this partition hears of, by its ``ListenerAdapter``."""
        heard: list[int] = []
        listener = self.kafka.implement("coordinator.common.runtime.PartitionWriter$Listener", {
            "onHighWatermarkUpdated": lambda partition, offset: heard.append(int(offset)),
        })
        self.partition.maybeAddListener(self.kafka.new("kafka.coordinator.group.ListenerAdapter", listener))
        return heard

    def restart(self, state: State) -> None:
        """It starts again with its log, and knows of no high watermark."""
        self.run_scheduled()
        start = self.start
        self.log.close()
        self.log = self._log(1, start, Path(str(self.log.parentDir())))
        self.partition = self._partition()
        self.partition.setLog(self.log, False)
        self.receive(state)

    # What can be seen of it.

    @property
    def start(self) -> int:
        """The log start offset."""
        return int(self.log.logStartOffset())

    def epochs(self) -> list[int]:
        """The epoch of each record; 0 at the offset of one that is not stored any more."""
        found = [0] * self.end
        isolation = self.kafka.type("server.storage.log.FetchIsolation").LOG_END
        at = self.start
        while at < self.end:
            for batch in self.kafka.field(self.log.read(jpype.JLong(at), 1, isolation, True), "records").batches():
                found[int(batch.baseOffset())] = int(batch.partitionLeaderEpoch())
                at = int(batch.nextOffset())
        return found

    def cached_epochs(self) -> dict[int, int]:
        """The start offset of each epoch in the leader epoch cache."""
        of = self.kafka.field
        return {int(of(each, "epoch")): int(of(each, "startOffset"))
                for each in self.log.leaderEpochCache().epochEntries()}


class Fetcher:
    """A follower's fetcher, from the time at which it hears of a leader to the next."""

    def __init__(self, follower: Replica, leader: Replica) -> None:
        self.kafka = follower.kafka
        manager = _manager(follower)
        self.failures: list[Exception] = []
        endpoint = _endpoint(leader, follower.broker, self.failures, {
            "isTruncationOnFetchSupported": lambda: True,
            "buildFetch": lambda states: _request(
                follower, states.get(follower.name), follower.start, states.get(follower.name).lastFetchedEpoch()),
        })
        quota = self.kafka.implement("kafka.server.ReplicaQuota", {
            "isThrottled": lambda *_: False, "isQuotaExceeded": lambda: False, "record": lambda *_: None,
        })
        failed = self.kafka.type("kafka.server.FailedPartitions")()
        self.thread = self.kafka.type("kafka.server.ReplicaFetcherThread")(
            "fetcher", endpoint, _configuration(self.kafka), failed, manager, quota, "")
        _fetch_from(self.thread, leader, self.kafka.call(manager, "initialFetchOffset", follower.log))

    def fetch(self) -> None:
        """One fetch, its answer, and what the follower does then."""
        _work(self.kafka, self.thread, self.failures)


class Copying:
    """How a replica in the other log directory keeps step with the current one, which is its leader."""

    def __init__(self, replica: Replica) -> None:
        self.kafka = replica.kafka
        kind = self.kafka.type
        future = replica.partition.futureLog().get()
        self.failures: list[Exception] = []
        endpoint = _endpoint(replica, None, self.failures, {
            "isTruncationOnFetchSupported": lambda: False,
            "buildFetch": lambda states: _request(
                replica, states.get(replica.name), int(future.logStartOffset()), jpype.java.util.Optional.empty()),
            "fetchEpochEndOffsets": lambda asked: _end_offsets(replica, asked),
        })
        quota = self.kafka.new(
            "kafka.server.ReplicationQuotaManager", kind("server.config.ReplicationQuotaManagerConfig")(),
            kind("common.metrics.Metrics")(), kind("server.quota.QuotaType").ALTER_LOG_DIRS_REPLICATION, replica.clock)
        self.thread = self.kafka.new(
            "kafka.server.ReplicaAlterLogDirsThread", "copying", endpoint, kind("kafka.server.FailedPartitions")(),
            _manager(replica), quota, kind("storage.log.metrics.BrokerTopicStats")(False), 0,
            kind("server.common.DirectoryEventHandler").NOOP)
        _fetch_from(self.thread, replica, jpype.JLong(0))

    def fetch(self) -> None:
        """One fetch; the one that has caught up makes the copy the replica."""
        _work(self.kafka, self.thread, self.failures)


def _work(kafka: Classes, thread: Any, failures: list[Exception]) -> None:
    kafka.call(thread, "doWork")
    if failures:
        raise failures.pop()


def _endpoint(
    leader: Replica, follower: int | None, failures: list[Exception], methods: dict[str, Callable[..., Any]]
) -> Any:
    """A fetcher's leader. The follower is None if it is the replica in the other directory. A fetcher that has no
    answer tries again later and says nothing, so what fails here is kept.
    """
    kind = leader.kafka.type
    place = kind("server.network.BrokerEndPoint")(leader.broker, "localhost", 9092)

    def at(offset: int) -> Any:
        return kind("server.common.OffsetAndEpoch")(jpype.JLong(offset), leader.leader_epoch)

    def fetched(request: Any) -> Any:
        answers = jpype.java.util.HashMap()
        try:
            answers.put(leader.name, leader.answer_fetch(follower, request.fetchData().get(leader.name)))
        except Exception as error:
            failures.append(error)
            raise
        return answers

    return leader.kafka.implement("server.LeaderEndPoint", {
        "brokerEndPoint": lambda: place, "initiateClose": lambda: None, "close": lambda: None, "fetch": fetched,
        "fetchLatestOffset": lambda *_: at(leader.end), "fetchEarliestOffset": lambda *_: at(leader.start), **methods,
    })


def _fetch_from(thread: Any, leader: Replica, offset: Any) -> None:
    kind = leader.kafka.type
    place = kind("server.network.BrokerEndPoint")(leader.broker, "localhost", 9092)
    topic = kind("scala.Option").apply(leader.topic)
    begun = jpype.java.util.HashMap()
    begun.put(leader.name, kind("kafka.server.InitialFetchState")(topic, place, leader.leader_epoch, offset))
    thread.addPartitions(kind("scala.jdk.javaapi.CollectionConverters").asScala(begun))


def _request(replica: Replica, state: Any, start: int, last_epoch: Any) -> Any:
    """``LeaderEndPoint.buildFetch``, of a session with one partition."""
    kind = replica.kafka.type
    asked = jpype.java.util.LinkedHashMap()
    asked.put(replica.name, kind("common.requests.FetchRequest$PartitionData")(
        replica.topic, state.fetchOffset(), jpype.JLong(start), 1,
        jpype.java.util.Optional.of(jpype.java.lang.Integer(state.currentLeaderEpoch())), last_epoch))
    version = kind("common.protocol.ApiKeys").FETCH.latestVersion()
    request = kind("common.requests.FetchRequest$Builder").forReplica(
        jpype.JShort(version), replica.broker, jpype.JLong(0), 0, 1, asked)
    fetch = jpype.java.util.Optional.of(kind("server.ReplicaFetch")(asked, request))
    return kind("server.ResultWithPartitions")(fetch, jpype.java.util.Set.of())


def _end_offsets(replica: Replica, asked: Any) -> Any:
    """``LocalLeaderEndPoint.fetchEpochEndOffsets``."""
    told, question = jpype.java.util.HashMap(), asked.get(replica.name)
    known = jpype.java.util.Optional.of(jpype.java.lang.Integer(question.currentLeaderEpoch()))
    told.put(replica.name, replica.partition.lastOffsetForLeaderEpoch(known, question.leaderEpoch(), False))
    return told


def _manager(replica: Replica) -> Any:
    kind = replica.kafka.type
    made = _without_constructor(kind("kafka.server.ReplicaManager"))
    table = jpype.java.util.concurrent.ConcurrentHashMap()
    hosted = replica.kafka.first_of("server.HostedPartition$Online", "kafka.server.HostedPartition$Online")
    table.put(replica.name, kind(hosted)(replica.partition))
    statistics = kind("storage.log.metrics.BrokerTopicStats")(False)
    replica.kafka.set_field(made, "allPartitions", table)
    replica.kafka.set_field(made, "brokerTopicStats", statistics)
    replica.kafka.set_field(made, "delayedFetchPurgatory", replica.delayed_fetches)
    replica.kafka.set_field(made, "replicaAlterLogDirsManager", replica.kafka.new(
        "kafka.server.ReplicaAlterLogDirsManager", _configuration(replica.kafka), made, None, statistics,
        kind("server.common.DirectoryEventHandler").NOOP))
    return made


class Replicas:
    """The replicas of a partition. The controller and the metadata are here: what the leader asks for is granted at
    once, and an election reaches every broker at once.

    Time passes before each step, so that no follower outside the ISR has caught up lately.
    """

    def __init__(self, kafka: Classes, brokers: Sequence[int]) -> None:
        first, *others = brokers
        self.state = State(first, 1, tuple(brokers), 0, tuple(brokers))
        self.all = {broker: Replica(kafka, broker, self.state) for broker in brokers}
        self.fetchers = {broker: Fetcher(self.all[broker], self.all[first]) for broker in others}

    def close(self) -> None:
        self.fetchers.clear()
        for replica in self.all.values():
            replica.close()

    @property
    def leader(self) -> Replica:
        assert self.state.leader is not None
        return self.all[self.state.leader]

    def append(self) -> None:
        self._begin()
        self.leader.append()
        self._settle()

    def shrink(self, follower: int) -> None:
        """The metadata says that the follower is not in sync any more."""
        self._begin()
        self._change(tuple(member for member in self.state.isr if member != follower))
        self.leader.receive(self.state)

    def delete(self, broker: int, offset: int) -> None:
        self._begin()
        self.all[broker].delete_records(offset)

    def elect(self, successor: int, stays: bool) -> None:
        """The former leader stays in the ISR, or leaves it."""
        self._begin()
        before = self.state
        self._change(tuple(member for member in before.isr if stays or member != before.leader))
        self.state = replace(self.state, leader=successor, leader_epoch=before.leader_epoch + 1)
        for replica in self.all.values():
            replica.receive(self.state)
        self.fetchers = {each: Fetcher(replica, self.leader) for each, replica in self.all.items() if each != successor}

    def fetch(self, follower: int) -> None:
        self._begin()
        self.fetchers[follower].fetch()
        self._settle()

    def move(self, broker: int) -> None:
        """The replica in the broker's other log directory takes the place of the current one."""
        self._begin()
        self.all[broker].move()

    def restart(self, broker: int) -> None:
        self._begin()
        self.all[broker].restart(self.state)
        self.fetchers[broker] = Fetcher(self.all[broker], self.leader)

    def _begin(self) -> None:
        for replica in self.all.values():
            replica.pass_time()

    def _settle(self) -> None:
        while self.leader.sent:
            self._change(self.leader.requests[0].members)
            self.leader.answer(self.state)

    def _change(self, isr: tuple[int, ...]) -> None:
        self.state = replace(self.state, isr=isr, partition_epoch=self.state.partition_epoch + 1)


def _configuration(kafka: Classes) -> Any:
    kafka.look_up_here()
    settings = jpype.java.util.Properties()
    for name, value in _SETTINGS.items():
        settings.put(name, value)
    return kafka.type("kafka.server.KafkaConfig").fromProps(settings)


def _without_constructor(kind: Any) -> Any:
    unsafe = jpype.JClass("sun.misc.Unsafe").class_.getDeclaredField("theUnsafe")
    unsafe.setAccessible(True)
    return unsafe.get(None).allocateInstance(kind.class_)
