"""Kafka's controller for one topic: the real ``ReplicationControlManager`` and the managers that it needs.

``ReplicationControlManager`` and not the whole ``QuorumController``: that one is a thread with a queue in front of
these very methods, and a quorum behind them. Here the caller is the queue, each call is an event, and the records of
its result are replayed at once, as the quorum does when it has committed them. The clock is the caller's, topics and
directories have fixed ids, and nothing is drawn at random, so that the same calls give the same states.

A new controller replays the log of its predecessors (``fail_over``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jpype
from bridge import Classes

TOPIC = "t"
CLUSTER = "c"
SESSION = 1000
"""Milliseconds without a heartbeat after which a broker is fenced."""
_METADATA_VERSION = "metadata.version"
_ELR = "eligible.leader.replicas.version"
_MIN_ISR = "min.insync.replicas"
_UNCLEAN = "unclean.leader.election.enable"
HANDLER = "controller.ClusterControlManager$BrokerShutdownHandler"
_CHANGED = ("isr", "leader", "replicas", "directories", "addingReplicas", "removingReplicas", "leaderRecoveryState",
            "eligibleLeaderReplicas", "lastKnownElr")
_REPLAYED_BY = {
    "FeatureLevelRecord": "features",
    "ConfigRecord": "configuration",
    "RegisterBrokerRecord": "cluster",
    "UnregisterBrokerRecord": "cluster",
    "BrokerRegistrationChangeRecord": "cluster",
    "TopicRecord": "replication",
    "PartitionRecord": "replication",
    "PartitionChangeRecord": "replication",
    "ClearElrRecord": "replication",
    "RemoveTopicRecord": "replication",
}


@dataclass(frozen=True)
class Registration:
    """A partition as the controller has it: ``org.apache.kafka.metadata.PartitionRegistration``."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    leader: int | None
    recovering: bool
    leader_epoch: int
    partition_epoch: int


@dataclass(frozen=True)
class Change:
    """What an AlterPartition request asks of one partition: an ISR, with the broker epoch of each member."""

    partition: int
    isr: Mapping[int, int]
    leader_epoch: int
    partition_epoch: int
    recovering: bool = False


class Managers:
    """The managers of one controller, without the log that they have replayed."""

    def __init__(self, kafka: Classes, clock: Any) -> None:
        self.kafka = kafka
        call, new, kind = kafka.call, kafka.new, kafka.type
        registry = new("timeline.SnapshotRegistry", kind("common.utils.LogContext")())
        features = call(kind("controller.QuorumFeatures"), "defaultSupportedFeatureMap", True)
        quorum = kind("controller.QuorumFeatures")(0, features, jpype.java.util.List.of(jpype.java.lang.Integer(0)))
        self.features = self.built("controller.FeatureControlManager", SnapshotRegistry=registry, QuorumFeatures=quorum)
        stopped = kafka.implement(HANDLER, {"addRecordsForShutdown": self.stops})
        self.cluster = self.built(
            "controller.ClusterControlManager", Time=clock, SnapshotRegistry=registry, ClusterId=CLUSTER,
            SessionTimeoutNs=jpype.JLong(SESSION * 1_000_000), FeatureControlManager=self.features,
            BrokerShutdownHandler=stopped,
        )
        self.configuration = self.built(
            "controller.ConfigurationControlManager", SnapshotRegistry=registry, FeatureControl=self.features,
            KafkaConfigSchema=self.schema(), StaticConfig=jpype.java.util.HashMap(),
        )
        self.replication = self.built(
            "controller.ReplicationControlManager", SnapshotRegistry=registry, FeatureControl=self.features,
            ConfigurationControl=self.configuration, ClusterControl=self.cluster,
        )

    def built(self, name: str, **settings: Any) -> Any:
        """An object of a class that has a Builder."""
        builder = self.kafka.new(f"{name}$Builder")
        for setting, value in settings.items():
            self.kafka.call(builder, f"set{setting}", value)
        return self.kafka.call(builder, "build")

    def schema(self) -> Any:
        """The two settings that the controller looks at, of a topic and of the cluster."""
        kind = self.kafka.type
        definitions, synonyms = jpype.java.util.HashMap(), jpype.java.util.HashMap()
        of, importance = kind("common.config.ConfigDef$Type"), kind("common.config.ConfigDef$Importance")
        for where in ("BROKER", "TOPIC"):
            definition = kind("common.config.ConfigDef")()
            definition.define(_UNCLEAN, of.BOOLEAN, "false", importance.HIGH, "")
            definition.define(_MIN_ISR, of.INT, "1", importance.HIGH, "")
            definitions.put(kind("common.config.ConfigResource$Type").valueOf(where), definition)
        for name in (_UNCLEAN, _MIN_ISR):
            synonyms.put(name, jpype.java.util.List.of(kind("server.config.ConfigSynonym")(name)))
        return kind("metadata.KafkaConfigSchema")(definitions, synonyms)

    def stops(self, broker: int, clean: bool, records: Any) -> None:
        """A broker registers again: its replicas leave what they were in."""
        self.kafka.call(self.replication, "handleBrokerShutdown", int(broker), bool(clean), records)

    def replay(self, record: Any, offset: int) -> None:
        name = str(record.getClass().getSimpleName())
        manager = getattr(self, _REPLAYED_BY[name])
        if name == "RegisterBrokerRecord":
            manager.replay(record, jpype.JLong(offset))
        else:
            self.kafka.call(manager, "replay", record)


class Controller:
    """A cluster of brokers with one partition, and the controller that has it. Errors are names of Kafka's."""

    def __init__(
        self, kafka: Classes, brokers: Sequence[int], replicas: Sequence[int], elr: bool, min_isr: int, unclean: bool,
        partitions: int = 1,
    ) -> None:
        self.kafka = kafka
        self.now = 0
        self.clock = kafka.implement("common.utils.Time", {
            "milliseconds": lambda: jpype.JLong(self.now), "nanoseconds": lambda: jpype.JLong(self.now * 1_000_000),
        })
        self.log: list[Any] = []
        self.written: list[str] = []
        self.incarnations: dict[int, int] = dict.fromkeys(brokers, 0)
        self.managers = Managers(kafka, self.clock)
        level = kafka.call(kafka.type("server.common.MetadataVersion"), "latestProduction").featureLevel()
        self.set_feature(_METADATA_VERSION, level)
        self.set_in_cluster(_MIN_ISR, "1")
        if elr:
            self.set_feature(_ELR, 1)
        self.managers.cluster.activate()
        for broker in brokers:
            self.register(broker, clean=True)
            self.unfence(broker)
        self.topic = self.uuid(0, 0)
        self.create_topic(replicas, partitions)
        self.configure(_MIN_ISR, str(min_isr))
        if unclean:
            self.configure(_UNCLEAN, "true")

    def close(self) -> None:
        """Lets go of what is Java's: it holds what implements its interfaces, and that holds this object. No collector
        sees such a circle as a whole.
        """
        vars(self.managers).clear()
        vars(self).clear()

    # The log.

    def commit(self, result: Any) -> Any:
        """Replays the records of a result, and returns its response."""
        self.append([each.message() for each in result.records()])
        return result.response()

    def append(self, records: Sequence[Any]) -> None:
        for record in records:
            self.managers.replay(record, len(self.log))
            self.log.append(record)
        self.written += [str(each) for each in records]

    def kind_of(self, record: Any) -> str:
        return str(record.getClass().getSimpleName())

    def last_change(self) -> set[str]:
        """The fields that the last PartitionChangeRecord says something of."""
        for record in reversed(self.log):
            if self.kind_of(record) == "PartitionChangeRecord":
                unsaid = {"leader": -2, "leaderRecoveryState": -1}
                return {name for name in _CHANGED if getattr(record, name)() != unsaid.get(name)}
        return set()

    def fail_over(self) -> str:
        """A new controller replays the log. It takes the brokers for alive, and one that shuts down asks again: until
        then it counts as a broker that has read nothing, and no other may shut down.
        """
        self.managers = Managers(self.kafka, self.clock)
        for offset, record in enumerate(self.log):
            self.managers.replay(record, offset)
        self.managers.cluster.activate()
        for broker in self.incarnations:
            if self.state(broker) == "shutting down":
                self._note_shutdown(broker)
        return "NONE"

    def _note_shutdown(self, broker: int) -> None:
        """It may go once the others have read what is written now."""
        manager = self.kafka.call(self.managers.cluster, "heartbeatManager")
        self.kafka.call(manager, "maybeUpdateControlledShutdownOffset", broker, jpype.JLong(len(self.log) - 1))

    def set_feature(self, name: str, level: int) -> None:
        """As the cluster is formatted: the record is written without a request."""
        record = self.kafka.type("common.metadata.FeatureLevelRecord")()
        self.append([record.setName(name).setFeatureLevel(jpype.JShort(level))])

    def set_in_cluster(self, name: str, value: str) -> None:
        """A setting of the whole cluster, without which the ELR is not switched on."""
        kind = self.kafka.type
        brokers = kind("common.config.ConfigResource$Type").BROKER.id()
        record = kind("common.metadata.ConfigRecord")().setResourceType(jpype.JByte(brokers)).setResourceName("")
        self.append([record.setName(name).setValue(value)])

    def switch_elr(self) -> str:
        """As ``kafka-features`` upgrades or downgrades the feature, of a cluster that runs."""
        kind, configuration = self.kafka.type, self.managers.configuration
        is_on = self.kafka.call(self.managers.features, "isElrFeatureEnabled")
        updates, types = jpype.java.util.HashMap(), jpype.java.util.HashMap()
        updates.put(_ELR, jpype.java.lang.Short(0 if is_on else 1))
        how = "SAFE_DOWNGRADE" if is_on else "UPGRADE"
        types.put(_ELR, kind("clients.admin.FeatureUpdate$UpgradeType").valueOf(how))
        epoch = [0] if self.kafka.libraries.number >= (4, 1) else []
        return str(self.commit(self.kafka.call(
            configuration, "updateFeatures", updates, types, False, *epoch)).error().name())

    def uuid(self, kind: int, number: int) -> Any:
        return self.kafka.type("common.Uuid")(jpype.JLong(1000 + kind), jpype.JLong(1000 + number))

    # Brokers.

    def epoch(self, broker: int) -> int:
        found = self.registration(broker)
        return -1 if found is None else int(found.epoch())

    def registration(self, broker: int) -> Any:
        return self.managers.cluster.registration(jpype.JInt(broker))

    def state(self, broker: int) -> str:
        found = self.registration(broker)
        if found is None:
            return "unregistered"
        if found.fenced():
            return "fenced"
        return "shutting down" if found.inControlledShutdown() else "active"

    def register(self, broker: int, clean: bool) -> str:
        """A new incarnation, after a clean shutdown or not. It is fenced until its first heartbeat."""
        kind = self.kafka.type
        before = self.epoch(broker)
        self.incarnations[broker] += 1
        base = "common.message.BrokerRegistrationRequestData"
        features = kind(f"{base}$FeatureCollection")()
        supported = self.kafka.call(kind("controller.QuorumFeatures"), "defaultSupportedFeatureMap", True)
        for entry in supported.entrySet():
            feature = kind(f"{base}$Feature")().setName(entry.getKey())
            features.add(feature.setMinSupportedVersion(jpype.JShort(int(entry.getValue().min())))
                         .setMaxSupportedVersion(jpype.JShort(int(entry.getValue().max()))))
        request = (
            kind(base)().setBrokerId(broker).setClusterId(CLUSTER).setFeatures(features)
            .setIncarnationId(self.uuid(1 + broker, self.incarnations[broker]))
            .setLogDirs(jpype.java.util.List.of(self.uuid(1 + broker, 0)))
            .setPreviousBrokerEpoch(jpype.JLong(before if clean else -1))
        )
        finalized = kind("metadata.FinalizedControllerFeatures")(self.finalized(), jpype.JLong(0))
        return self.told(lambda: self.managers.cluster.registerBroker(
            request, jpype.JLong(len(self.log)), finalized, True))

    def finalized(self) -> Any:
        """The features of the cluster, in a map that may be changed."""
        found = self.kafka.call(self.managers.features, "finalizedFeatures", jpype.JLong(0x7FFFFFFFFFFFFFFF))
        return jpype.java.util.HashMap(found.featureMap())

    def told(self, call: Any) -> str:
        """The error that a call throws, or NONE once what it returns is committed."""
        try:
            result = call()
        except jpype.JException as error:
            return self.name_of(error)
        self.commit(result)
        return "NONE"

    def heartbeat(self, broker: int, fence: bool = False, shut_down: bool = False) -> str:
        request = (
            self.kafka.type("common.message.BrokerHeartbeatRequestData")().setBrokerId(broker)
            .setBrokerEpoch(jpype.JLong(self.epoch(broker))).setCurrentMetadataOffset(jpype.JLong(len(self.log)))
            .setWantFence(fence).setWantShutDown(shut_down)
        )
        self.kafka.call(self.managers.cluster, "trackBrokerHeartbeat", broker, jpype.JLong(self.epoch(broker)))
        offset = self.managers.cluster.registerBrokerRecordOffset(jpype.JInt(broker))
        if offset.isEmpty():
            return "STALE_BROKER_EPOCH"
        return self.told(lambda: self.kafka.call(
            self.managers.replication, "processBrokerHeartbeat", request, jpype.JLong(offset.getAsLong())))

    def unfence(self, broker: int) -> str:
        return self.heartbeat(broker)

    def fence(self, broker: int) -> str:
        """Its heartbeats stop, and the controller notices."""
        self.let_expire(broker)
        while True:
            try:
                result = self.kafka.call(self.managers.replication, "maybeFenceOneStaleBroker")
            except jpype.JException as error:
                return self.name_of(error)
            if not self.commit(result):
                return "NONE"

    def let_expire(self, broker: int) -> None:
        """Its session expires, and those of the others do not."""
        self.now += SESSION + 1
        for other in self.incarnations:
            if other != broker and self.registration(other) is not None:
                self.kafka.call(self.managers.cluster, "trackBrokerHeartbeat", other, jpype.JLong(self.epoch(other)))

    def shut_down(self, broker: int) -> str:
        """It asks for a controlled shutdown; or it asks again, once the others have read all that was written."""
        for other in self.incarnations:
            if self.state(other) == "active" and other != broker:
                self.heartbeat(other)
        answered = self.heartbeat(broker, shut_down=True)
        if self.state(broker) == "shutting down":
            self._note_shutdown(broker)
        return answered

    def register_anew(self, broker: int, clean: bool) -> str:
        """As ``register``, once the session of the last incarnation is over; it may not have been fenced yet."""
        self.let_expire(broker)
        return self.register(broker, clean)

    def unregister(self, broker: int) -> str:
        return self.told(lambda: self.managers.replication.unregisterBroker(jpype.JInt(broker)))

    # The topic.

    def context(self, api: str) -> Any:
        kind = self.kafka.type
        key = kind("common.protocol.ApiKeys").valueOf(api)
        header = kind("common.message.RequestHeaderData")().setRequestApiKey(key.id)
        header.setRequestApiVersion(key.latestVersion())
        principal = kind("common.security.auth.KafkaPrincipal").ANONYMOUS
        return kind("controller.ControllerRequestContext")(header, principal, jpype.java.util.OptionalLong.empty())

    def create_topic(self, replicas: Sequence[int], partitions: int) -> None:
        """The id of the topic, which Kafka draws at random, is replaced by one that is always the same."""
        base = "common.message.CreateTopicsRequestData"
        kind = self.kafka.type
        topic = kind(f"{base}$CreatableTopic")().setName(TOPIC).setNumPartitions(-1)
        for index in range(partitions):
            assignment = kind(f"{base}$CreatableReplicaAssignment")().setPartitionIndex(index)
            topic.setReplicationFactor(jpype.JShort(-1)).assignments().add(assignment.setBrokerIds(integers(replicas)))
        request = kind(base)()
        request.topics().add(topic)
        replication = self.managers.replication
        result = self.kafka.call(
            replication, "createTopics", self.context("CREATE_TOPICS"), request, jpype.java.util.Set.of(TOPIC),
            *self.kafka.flags(replication, "createTopics", 3))
        records = [each.message() for each in result.records()]
        for record in records:
            if hasattr(record, "setTopicId"):
                record.setTopicId(self.topic)
        self.append(records)

    def configure(self, name: str, value: str, broker: int | None = None) -> str:
        """Sets a setting of the topic, or of a broker, as an operator does."""
        kind = self.kafka.type
        of = kind("common.config.ConfigResource$Type")
        whose = (of.TOPIC, TOPIC) if broker is None else (of.BROKER, str(broker))
        where = kind("common.config.ConfigResource")(*whose)
        operation = kind("clients.admin.AlterConfigOp$OpType").SET
        changes = jpype.java.util.HashMap()
        changes.put(name, jpype.java.util.AbstractMap.SimpleImmutableEntry(operation, value))
        configuration = self.managers.configuration
        result = self.kafka.call(
            configuration, "incrementalAlterConfig", where, changes,
            *self.kafka.flags(configuration, "incrementalAlterConfig", 2))
        return str(self.commit(result).error().name())

    def set_min_isr(self, number: int) -> str:
        return self.configure(_MIN_ISR, str(number))

    def set_min_isr_of_broker(self, broker: int, number: int) -> str:
        return self.configure(_MIN_ISR, str(number), broker)

    def counted_elections(self, since: int) -> tuple[int, int]:
        """How many elections the metrics of the controllers count as unclean, and how many as from the ELR: of the
        partition's records from an offset of the log on.
        """
        kind = self.kafka.type
        partition, image = None, None
        for offset, record in enumerate(self.log):
            if offset == since:
                image = kind("image.TopicDelta")(kind("image.TopicImage")(
                    TOPIC, self.topic, jpype.java.util.Map.of(jpype.java.lang.Integer(0), partition)))
            if self.kind_of(record) == "PartitionRecord":
                partition = kind("metadata.PartitionRegistration")(record)
            elif self.kind_of(record) == "PartitionChangeRecord":
                partition = partition.merge(record)
                if image is not None:
                    image.replay(record)
        if image is None:
            return 0, 0
        unclean = image.partitionToUncleanLeaderElectionCount().values()
        return sum(map(int, unclean)), sum(map(int, image.partitionToElrElectionCount().values()))

    def is_there(self) -> bool:
        """Whether the topic has not been deleted."""
        return self.kafka.call(self.managers.replication, "getPartition", self.topic, 0) is not None

    def delete_topic(self) -> str:
        response = self.commit(self.kafka.call(
            self.managers.replication, "deleteTopics", self.context("DELETE_TOPICS"),
            jpype.java.util.List.of(self.topic)))
        return str(response.get(self.topic).error().name())

    def partition(self, index: int = 0) -> Registration:
        found = self.kafka.call(self.managers.replication, "getPartition", self.topic, index)
        leader = int(found.leader)
        return Registration(
            replicas=numbers(found.replicas), adding=numbers(found.addingReplicas),
            removing=numbers(found.removingReplicas), isr=numbers(found.isr), elr=numbers(found.elr),
            last_known_elr=numbers(found.lastKnownElr), leader=None if leader < 0 else leader,
            recovering=int(found.leaderRecoveryState.value()) == 1, leader_epoch=int(found.leaderEpoch),
            partition_epoch=int(found.partitionEpoch),
        )

    def name_of(self, exception: Any) -> str:
        return str(self.kafka.type("common.protocol.Errors").forException(exception).name())

    def error(self, code: int) -> str:
        return str(self.kafka.type("common.protocol.Errors").forCode(jpype.JShort(code)).name())

    def alter_partition(
        self, broker: int, isr: Mapping[int, int], leader_epoch: int, partition_epoch: int,
        recovering: bool = False, broker_epoch: int | None = None,
    ) -> str:
        """A leader asks for an ISR, whose members have these broker epochs."""
        change = Change(0, isr, leader_epoch, partition_epoch, recovering)
        return self.alter_partitions(broker, [change], broker_epoch)[0]

    def alter_partitions(
        self, broker: int, changes: Sequence[Change], broker_epoch: int | None = None
    ) -> list[str]:
        """One request of a leader, and the error of each change in it; a single one, if the request is refused."""
        base = "common.message.AlterPartitionRequestData"
        kind = self.kafka.type
        topic = kind(f"{base}$TopicData")().setTopicId(self.topic)
        for change in changes:
            members = jpype.java.util.ArrayList()
            for member, epoch in change.isr.items():
                members.add(kind(f"{base}$BrokerState")().setBrokerId(member).setBrokerEpoch(jpype.JLong(epoch)))
            topic.partitions().add(
                kind(f"{base}$PartitionData")().setPartitionIndex(change.partition)
                .setLeaderEpoch(change.leader_epoch).setPartitionEpoch(change.partition_epoch)
                .setNewIsrWithEpochs(members).setLeaderRecoveryState(jpype.JByte(int(change.recovering))))
        epoch = self.epoch(broker) if broker_epoch is None else broker_epoch
        request = kind(base)().setBrokerId(broker).setBrokerEpoch(jpype.JLong(epoch))
        request.topics().add(topic)
        try:
            response = self.commit(self.kafka.call(
                self.managers.replication, "alterPartition", self.context("ALTER_PARTITION"), request))
        except jpype.JException as error:
            return [self.name_of(error)]
        return [self.error(each.errorCode()) for each in response.topics().get(0).partitions()]

    def leader_alters_isr(self, isr: Sequence[int]) -> str:
        """``alter_partition`` of the leader, who knows the present state."""
        now = self.partition()
        assert now.leader is not None
        members = {broker: self.epoch(broker) for broker in isr}
        return self.alter_partition(now.leader, members, now.leader_epoch, now.partition_epoch)

    def reassign(self, target: Sequence[int] | None) -> str:
        """A new target, or None, which cancels what is under way."""
        base = "common.message.AlterPartitionReassignmentsRequestData"
        kind = self.kafka.type
        partition = kind(f"{base}$ReassignablePartition")().setPartitionIndex(0)
        partition.setReplicas(None if target is None else integers(target))
        topic = kind(f"{base}$ReassignableTopic")().setName(TOPIC)
        topic.partitions().add(partition)
        request = kind(base)()
        request.topics().add(topic)
        response = self.commit(self.kafka.call(self.managers.replication, "alterPartitionReassignments", request))
        return self.error(response.responses().get(0).partitions().get(0).errorCode())

    def elect(self, unclean: bool) -> str:
        """The preferred leader, or any replica."""
        base = "common.message.ElectLeadersRequestData"
        kind = self.kafka.type
        topic = kind(f"{base}$TopicPartitions")().setTopic(TOPIC).setPartitions(integers([0]))
        request = kind(base)().setElectionType(jpype.JByte(int(unclean)))
        found = kind(f"{base}$TopicPartitionsCollection")()
        found.add(topic)
        request.setTopicPartitions(found)
        try:
            response = self.commit(self.kafka.call(self.managers.replication, "electLeaders", request))
        except jpype.JException as error:
            return self.name_of(error)
        return self.error(response.replicaElectionResults().get(0).partitionResult().get(0).errorCode())

    def assign_directory(self, broker: int) -> str:
        """AssignReplicasToDirs: the replica is in the broker's only directory."""
        base = "common.message.AssignReplicasToDirsRequestData"
        kind = self.kafka.type
        topic = kind(f"{base}$TopicData")().setTopicId(self.topic)
        topic.partitions().add(kind(f"{base}$PartitionData")().setPartitionIndex(0))
        directory = kind(f"{base}$DirectoryData")().setId(self.uuid(1 + broker, 0))
        directory.topics().add(topic)
        request = kind(base)().setBrokerId(broker).setBrokerEpoch(jpype.JLong(self.epoch(broker)))
        request.directories().add(directory)
        try:
            response = self.commit(
                self.kafka.call(self.managers.replication, "handleAssignReplicasToDirs", request))
        except jpype.JException as error:
            return self.name_of(error)
        return self.error(response.directories().get(0).topics().get(0).partitions().get(0).errorCode())


def integers(values: Sequence[int]) -> Any:
    """A list of Kafka's, which may be changed."""
    found = jpype.java.util.ArrayList()
    for value in values:
        found.add(jpype.java.lang.Integer(value))
    return found


def numbers(values: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in values)
