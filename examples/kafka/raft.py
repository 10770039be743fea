"""Kafka's quorum in one process: real ``KafkaRaftClient``s, whose surroundings are the caller's.

The log, the network, the stored election state, the queue of messages, the clock and the random numbers are
implemented here, behind Kafka's own interfaces. No thread runs: a client does something only in ``Member.settle``. Its
clock stands still, and the caller decides which timer has run out and which request has timed out. So the same calls
give the same run.

A request that a client has sent stays in ``Member.sent`` until the caller delivers it, or never. The log is flushed
when the client flushes it; a member that stops loses the rest (``Member.restart``).
"""

from __future__ import annotations

import functools
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import jpype
from bridge import Classes

TIMEOUT = 100_000_000
"""Milliseconds of every timer: more than the clock ever moves in a run."""
REQUEST_TIMEOUT = 1_000
START = 10 * TIMEOUT
LISTENER = "CONTROLLER"
CLUSTER = "c"
SETTLED_AFTER = 20
"""More polls than a client needs until it has nothing to do."""


@dataclass
class Log:
    """The records of one member, each a batch of its own, and how many of them are on disk."""

    kinds: Kinds
    epochs: list[int] = field(default_factory=list)
    batches: list[Any] = field(default_factory=list)
    flushed: int = 0
    high_watermark: int = 0
    stops_before_flush: bool = False

    def __len__(self) -> int:
        return len(self.epochs)

    def append(self, records: Any, _epoch: Any = None) -> Any:
        first = len(self)
        for batch in records.batches():
            self.epochs.append(int(batch.partitionLeaderEpoch()))
            if int(batch.baseOffset()) != first or int(batch.lastOffset()) != first:
                raise AssertionError(f"a batch at {batch.baseOffset()} of a log that ends at {first}")
        self.batches.append(self.kinds.copy(records))
        return self.kinds.append_info(jpype.JLong(first), jpype.JLong(len(self) - 1))

    def read(self, start: Any, *_how: Any) -> Any:
        """One batch at a time, as RaftLog allows, so that a fetch brings one record."""
        offset = int(start)
        records = self.batches[offset] if offset < len(self) else self.kinds.empty
        return self.kinds.fetch_info(records, self.kinds.offset(offset))

    def end_of(self, epoch: Any) -> Any:
        """Of the largest epoch up to one; where there is none, of that one itself, at the start."""
        upto = [each for each in self.epochs if each <= int(epoch)]
        later = len(upto) == len(self)
        return self.kinds.offset_and_epoch(len(upto), upto[-1] if upto else (0 if later else int(epoch)))

    def truncate(self, offset: Any) -> None:
        """Refuses what is below the high watermark, as KafkaRaftLog does."""
        if int(offset) < self.high_watermark:
            raise jpype.java.lang.IllegalArgumentException(
                f"Attempt to truncate to {offset}, which is below the high watermark {self.high_watermark}")
        self.keep(int(offset))

    def keep(self, number: int) -> None:
        del self.epochs[number:], self.batches[number:]
        self.flushed = min(self.flushed, number)

    def flush(self, _force: Any = None) -> None:
        if not self.stops_before_flush:
            self.flushed = len(self)

    def implementation(self) -> Any:
        kinds = self.kinds
        none = jpype.java.util.Optional.empty()

        def updated(metadata: Any) -> None:
            self.high_watermark = int(metadata.offset())

        return kinds.kafka.implement(kinds.log_interface, {
            "appendAsLeader": self.append, "appendAsFollower": self.append, "read": self.read, "flush": self.flush,
            "lastFetchedEpoch": lambda: self.epochs[-1] if self.epochs else 0, "endOffsetForEpoch": self.end_of,
            "endOffset": lambda: kinds.offset(len(self)), "highWatermark": lambda: kinds.offset(self.high_watermark),
            "startOffset": lambda: jpype.JLong(0), "initializeLeaderEpoch": lambda _epoch: None,
            "truncateTo": self.truncate, "updateHighWatermark": updated, "maybeClean": lambda: False,
            "topicPartition": lambda: kinds.partition, "topicId": lambda: kinds.topic, "latestSnapshot": lambda: none,
            "latestSnapshotId": lambda: none, "earliestSnapshotId": lambda: none,
        })


class Kinds:
    """Classes and objects of a version that every member uses.

    With ``first``, every log begins with the records of KIP-853 that make those the voters, and the voters may change;
    otherwise all members are. With ``joins``, a controller that is no voter asks to be one; with ``fresh``, the log of
    whoever is no voter is empty.
    """

    def __init__(
        self, kafka: Classes, voters: int, first: tuple[int, ...] = (), joins: bool = False, fresh: bool = False,
    ) -> None:
        self.kafka = kafka
        kind = kafka.type
        java = jpype.java
        self.log_interface = kafka.first_of("raft.RaftLog", "raft.ReplicatedLog")
        memory = kind(kafka.first_of("common.record.internal.MemoryRecords", "common.record.MemoryRecords"))
        self.memory = memory
        self.empty = memory.EMPTY
        self.readable = memory.readableRecords
        self.append_info = kind("raft.LogAppendInfo")
        self.fetch_info = kind("raft.LogFetchInfo")
        self.offset_metadata = kind("raft.LogOffsetMetadata")
        self.offset_and_epoch = kind(kafka.first_of("raft.OffsetAndEpoch", "server.common.OffsetAndEpoch"))
        self.topic = kind("common.Uuid").METADATA_TOPIC_ID
        self.partition = kind("common.TopicPartition")("__cluster_metadata", 0)
        self.listener = kind("common.network.ListenerName").normalised(LISTENER)
        self.inbound_request = kind("raft.RaftRequest$Inbound")
        self.inbound_response = kind("raft.RaftResponse$Inbound")
        self.api = kind("common.protocol.ApiKeys")
        self.election = kind("raft.ElectionState")
        self.addresses = java.util.TreeMap()
        for voter in range(1, voters + 1):
            address = java.net.InetSocketAddress.createUnresolved(f"r{voter}", 9000)
            self.addresses.put(java.lang.Integer(voter), address)
        configuration = java.util.HashMap()
        for name, value in (
            ("election.timeout.ms", TIMEOUT), ("fetch.timeout.ms", TIMEOUT), ("election.backoff.max.ms", TIMEOUT),
            ("request.timeout.ms", REQUEST_TIMEOUT), ("retry.backoff.ms", 0), ("append.linger.ms", 0),
        ):
            configuration.put(f"controller.quorum.{name}", java.lang.Integer(value))
        configuration.put("controller.quorum.auto.join.enable", joins)
        quorum_config = kind("raft.QuorumConfig")
        self.config = quorum_config(kind("common.config.AbstractConfig")(quorum_config.CONFIG_DEF, configuration))
        self.versions = kind("server.common.Feature").KRAFT_VERSION.supportedVersionRange()
        self.pool = kind("raft.internals.BatchMemoryPool")(5, kind("raft.KafkaRaftClient").MAX_BATCH_SIZE_BYTES)
        self.seeds = [self._seed(voters, voter) for voter in range(voters)]
        self.begins_with = self._founding(first) if first else []
        self.without_log = set(range(1, voters + 1)) - set(first) if fresh else set()
        self.static = java.util.TreeMap() if first else self.addresses
        self.bootstrap = java.util.ArrayList(self.addresses.values()) if first else java.util.ArrayList()

    def _seed(self, voters: int, wanted: int) -> int:
        return next(seed for seed in range(10_000) if jpype.java.util.Random(seed).nextInt(voters) == wanted)

    def directory(self, member: int) -> Any:
        return self.kafka.type("common.Uuid")(1, member)

    def _founding(self, first: tuple[int, ...]) -> list[Any]:
        """The batches that a log begins with: kraft.version 1, and the voters."""
        kind, java = self.kafka.type, jpype.java
        nodes = java.util.HashMap()
        for number in first:
            listeners = java.util.HashMap()
            listeners.put(self.listener, self.addresses.get(java.lang.Integer(number)))
            nodes.put(java.lang.Integer(number), kind("raft.VoterSet$VoterNode").of(
                kind("raft.ReplicaKey").of(number, self.directory(number)),
                kind("raft.Endpoints").fromInetSocketAddresses(listeners), self.versions))
        version = kind("common.message.KRaftVersionRecord")().setKRaftVersion(jpype.JShort(1))
        voters = kind("raft.VoterSet").fromMap(nodes).toVotersRecord(jpype.JShort(0))
        return [
            self.copy(made(jpype.JLong(offset), jpype.JLong(0), 0, java.nio.ByteBuffer.allocate(10_000), record))
            for offset, (made, record) in enumerate(
                [(self.memory.withKRaftVersionRecord, version), (self.memory.withVotersRecord, voters)])
        ]

    def offset(self, number: int) -> Any:
        return self.offset_metadata(number)

    def copy(self, records: Any) -> Any:
        """The client uses its buffers again."""
        buffer = records.buffer()
        return self.readable(jpype.java.nio.ByteBuffer.allocate(buffer.remaining()).put(buffer.duplicate()).flip())


class Member:
    """A voter: its client, and what outlives it, which is its log and its stored election state."""

    def __init__(self, kinds: Kinds, number: int) -> None:
        self.kinds = kinds
        self.number = number
        begins_with = [] if number in kinds.without_log else list(kinds.begins_with)
        self.log = Log(kinds, [0] * len(begins_with), begins_with, len(begins_with))
        self.stored: Any = None
        self.correlation = 0
        self.start()

    def start(self) -> None:
        kinds, kind = self.kinds, self.kinds.kafka.type
        implement = kinds.kafka.implement
        java = jpype.java
        self.now = START
        self.inbox: deque[Any] = deque()
        self.sent: dict[int, Any] = {}
        self.random = java.util.Random(self.number)
        self.log.high_watermark = 0
        listeners = java.util.HashMap()
        listeners.put(kinds.listener, kinds.addresses.get(java.lang.Integer(self.number)))
        endpoints = kind("raft.Endpoints").fromInetSocketAddresses(listeners)
        channel = implement("raft.NetworkChannel", {
            "newCorrelationId": self._next_correlation, "send": self._send, "listenerName": lambda: kinds.listener})
        queue = implement("raft.RaftMessageQueue", {
            "poll": lambda _timeout: self.inbox.popleft() if self.inbox else None, "add": self.inbox.append,
            "isEmpty": lambda: not self.inbox, "wakeup": lambda: None})
        self.time = implement("common.utils.Time", {
            "milliseconds": lambda: jpype.JLong(self.now), "nanoseconds": lambda: jpype.JLong(self.now * 1_000_000),
            "hiResClockMs": lambda: jpype.JLong(self.now)})
        expiration = implement("raft.ExpirationService", {
            "failAfter": lambda _timeout: java.util.concurrent.CompletableFuture()})
        self.client = kinds.kafka.new(
            "raft.KafkaRaftClient", java.util.OptionalInt.of(self.number), kinds.directory(self.number),
            kind("raft.internals.StringSerde")(), channel, queue, self.log.implementation(), kinds.pool, self.time,
            expiration, 0, True, CLUSTER, kinds.bootstrap, endpoints, kinds.versions,
            kind("common.utils.LogContext")(""), self.random, kinds.config)
        store = implement("raft.QuorumStateStore", {
            "readElectionState": self._read, "writeElectionState": self._write, "clear": self._clear,
            "path": lambda: java.nio.file.Path.of("quorum-state")})
        metrics = implement("raft.ExternalKRaftMetrics", {"setIgnoredStaticVoters": lambda _ignored: None})
        self.client.initialize(kinds.static, store, kind("common.metrics.Metrics")(), metrics)
        self.quorum = kinds.kafka.call(self.client, "quorum")
        self.requests = kinds.kafka.field(self.client, "requestManager")
        self.settle()

    def _next_correlation(self) -> int:
        self.correlation += 1
        return self.correlation

    def _send(self, request: Any) -> None:
        """A bootstrap server has an id of its own: -2 for the first, -3 for the second."""
        destination = int(request.destination().id())
        self.sent[destination if destination > 0 else -1 - destination] = request

    def _read(self) -> Any:
        optional = jpype.java.util.Optional
        return optional.empty() if self.stored is None else optional.of(
            self.kinds.election.fromQuorumStateData(self.stored))

    def _write(self, state: Any, version: Any) -> None:
        self.stored = state.toQuorumStateData(version.quorumStateVersion())

    def _clear(self) -> None:
        self.stored = None

    # What makes it act.

    @property
    def state(self) -> Any:
        """LeaderState, FollowerState and so on."""
        return self.kinds.kafka.field(self.quorum, "state")

    @property
    def role(self) -> str:
        return str(self.state.name())

    def settle(self) -> None:
        """Polls until there is nothing to do: until a poll takes no message, sends nothing, and changes nothing."""
        for _ in range(SETTLED_AFTER):
            before = (self.correlation, len(self.log), self.state, len(self.inbox))
            self.client.poll()
            now = (self.correlation, len(self.log), self.state, len(self.inbox))
            if before[3] == 0 and now[:2] == before[:2] and now[2].equals(before[2]) and now[3] == 0:
                return
        raise AssertionError(f"{self.number} does not come to rest as {self.role}")

    def expire(self) -> None:
        """The timer of its state runs out: the leader's check of its quorum, a follower's fetch timer, or the
        election timer. Whoever becomes unattached then has nothing left of it, and would stand at its next poll; it
        gets time, so that messages may come in between.
        """
        timer = {"Leader": "checkQuorumTimer", "Follower": "fetchTimer"}.get(self.role, "electionTimer")
        self.kinds.kafka.field(self.state, timer).reset(0)
        self.client.poll()
        if self.role == "Unattached":
            self.kinds.kafka.field(self.state, "electionTimer").reset(TIMEOUT)
        self.settle()

    def write(self) -> None:
        """A record of the state machine's."""
        epoch = int(self.quorum.epoch())
        self.client.prepareAppend(epoch, jpype.java.util.List.of("record"))
        self.client.schedulePreparedAppend()
        self.settle()

    def resign(self) -> None:
        self.client.resign(self.quorum.epoch())
        self.settle()

    def restart(self, kept: int) -> None:
        """Stops without a word. It finds so much of its log when it starts again."""
        self.log.stops_before_flush = False
        self.log.keep(kept)
        self.log.flushed = kept
        self.start()

    # Requests.

    def request_to(self, destination: int) -> Any:
        """The request that it has for another member: one that nobody has taken yet, or it is made to send one."""
        request = self.sent.pop(destination, None)
        if request is None or not self.waits_for(request):
            self.ask(destination)
            request = self.sent.pop(destination)
        return request

    def waits_for(self, request: Any) -> bool:
        return bool(self.requests.isResponseExpected(request.destination(), jpype.JLong(int(request.correlationId()))))

    def ask(self, destination: int) -> None:
        """Makes it send a request, as the one before has timed out."""
        role = self.role
        if role in ("Follower", "Unattached"):
            self._fetch_from(destination)
            return
        if role == "Leader":
            self._announce(destination)
            return
        self.free(destination)
        self.client.poll()

    def free(self, destination: int) -> None:
        """The request that is under way to another member has timed out."""
        for number in (destination, -1 - destination):
            self.requests.reset(self.kinds.kafka.type("common.Node")(number, f"r{destination}", 9000))

    def _announce(self, destination: int) -> None:
        """BeginQuorumEpoch goes to voters that have not fetched for half a fetch timeout."""
        kafka = self.kinds.kafka
        voter = kafka.field(self.state, "voterStates").get(jpype.java.lang.Integer(destination))
        fetched = kafka.field(voter, "lastFetchTimestamp")
        kafka.set_field(voter, "lastFetchTimestamp", jpype.JLong(0))
        kafka.field(self.state, "beginQuorumEpochTimer").reset(0)
        self.free(destination)
        self.client.poll()
        kafka.set_field(voter, "lastFetchTimestamp", jpype.JLong(int(fetched)))

    def _fetch_from(self, destination: int) -> None:
        """It fetches from its leader, and once that has timed out, from a voter that it draws at random."""
        for _ in range(4):
            self.now += REQUEST_TIMEOUT
            self.sent.clear()
            self.random.setSeed(self.kinds.seeds[destination - 1])
            self.client.poll()
            if destination in self.sent:
                return
        raise AssertionError(f"{self.number} does not fetch from {destination}")

    def take(self, request: Any) -> Any:
        """Takes a request, and gives its answer, or None."""
        return self.take_with(request, request.data())

    def take_with(self, request: Any, data: Any) -> Any:
        """As ``take``, with other contents."""
        return self.asked(data, request.correlationId())

    def asked(self, data: Any, correlation: int = 0) -> Any:
        """The answer to a request of anybody's, or None."""
        api = self.kinds.api.forId(data.apiKey())
        inbound = self.kinds.inbound_request(
            self.kinds.listener, correlation, api.latestVersion(), data, jpype.JLong(self.now))
        self.client.handle(inbound)
        self.client.poll()
        answer = inbound.completion.getNow(None)
        self.settle()
        return None if answer is None else answer.data()

    # Changes of the voters (KIP-853), which a leader is asked for. The answer comes when the record is committed.

    def voters(self) -> set[int]:
        """The voters that it knows of, by its log."""
        kafka = self.kinds.kafka
        state = kafka.field(self.client, "partitionState")
        return {int(each) for each in kafka.call(state, "lastVoterSet").voterIds()}

    def remove_voter(self, voter: int) -> None:
        request = self.kinds.kafka.type("common.message.RemoveRaftVoterRequestData")().setClusterId(CLUSTER)
        self.asked(request.setVoterId(voter).setVoterDirectoryId(self.kinds.directory(voter)))

    def add_voter(self, voter: int) -> None:
        """It asks the new voter which versions that one supports."""
        kind = self.kinds.kafka.type
        base = "common.message.AddRaftVoterRequestData"
        request = kind(base)().setClusterId(CLUSTER).setTimeoutMs(REQUEST_TIMEOUT).setVoterId(voter)
        request.setVoterDirectoryId(self.kinds.directory(voter)).listeners().add(self._listener(base, voter))
        self.asked(request)
        versions = "common.message.ApiVersionsResponseData"
        feature = kind(f"{versions}$SupportedFeatureKey")().setName("kraft.version")
        answer = kind(versions)()
        answer.supportedFeatures().add(feature.setMinVersion(jpype.JShort(0)).setMaxVersion(jpype.JShort(1)))
        self.hear(self.sent.pop(voter), answer)

    def update_voter(self, voter: int) -> None:
        """To the addresses and versions that the voter has."""
        kind = self.kinds.kafka.type
        base = "common.message.UpdateRaftVoterRequestData"
        versions = kind(f"{base}$KRaftVersionFeature")()
        request = kind(base)().setClusterId(CLUSTER).setVoterId(voter).setCurrentLeaderEpoch(self.quorum.epoch())
        request.setVoterDirectoryId(self.kinds.directory(voter)).listeners().add(self._listener(base, voter))
        self.asked(request.setKRaftVersionFeature(
            versions.setMinSupportedVersion(jpype.JShort(0)).setMaxSupportedVersion(jpype.JShort(1))))

    def _listener(self, request: str, voter: int) -> Any:
        return self.kinds.kafka.type(f"{request}$Listener")().setName(LISTENER).setHost(f"r{voter}").setPort(9000)

    def hear(self, request: Any, answer: Any) -> None:
        """Takes the answer to a request of its own."""
        self.inbox.append(self.kinds.inbound_response(request.correlationId(), answer, request.destination()))
        self.settle()


@functools.lru_cache
def kinds_of(kafka: Classes, voters: int, first: tuple[int, ...], joins: bool, fresh: bool) -> Kinds:
    return Kinds(kafka, voters, first, joins, fresh)


class Quorum:
    """So many members, none of which has ever run."""

    def __init__(
        self, kafka: Classes, members: int, first: tuple[int, ...] = (), joins: bool = False, fresh: bool = False,
    ) -> None:
        kinds = kinds_of(kafka, members, first, joins, fresh)
        self.members = {number: Member(kinds, number) for number in range(1, members + 1)}

    def close(self) -> None:
        """Lets go of the clients. Neither Python nor Java frees what the two hold of each other."""
        for member in self.members.values():
            vars(member).clear()
