"""Kafka's own ``TopicCommand``, whose questions the caller answers: ``Admin`` is an interface, and implemented here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jpype
from bridge import Classes
from controller import Registration

TOPIC = "t"


@dataclass(frozen=True)
class DescribedTopic:
    """The command asks for the topic and for its reassignments with two requests. Each is answered with the state that
    the partition has at its time.
    """

    kafka: Classes
    described: Registration
    listed: Registration

    def is_listed_under_replicated(self) -> bool:
        """Whether ``kafka-topics.sh --describe --under-replicated-partitions`` lists the partition."""
        base = "tools.TopicCommand$TopicCommand"
        options = self.kafka.new(f"{base}Options", jpype.JArray(jpype.JString)([
            "--bootstrap-server", "localhost:9092", "--describe", "--topic", TOPIC, "--under-replicated-partitions"]))
        admin = self.kafka.implement("clients.admin.Admin", {
            "listTopics": lambda *_: self._result("ListTopics", self._done({TOPIC: None})),
            "describeTopics": lambda *_: self._described(),
            "describeConfigs": lambda *_: self._configured(),
            "describeCluster": lambda *_: self._result(
                "DescribeCluster", self._done(jpype.java.util.List.of()), None, None, None),
            "listPartitionReassignments": lambda *_: self._reassignments(),
        })
        system, written = jpype.java.lang.System, jpype.java.io.ByteArrayOutputStream()
        before = system.out
        system.setOut(jpype.java.io.PrintStream(written, True))
        try:
            self.kafka.call(self.kafka.new("tools.TopicCommand$TopicService", admin), "describeTopic", options)
        finally:
            system.setOut(before)
        return f"Topic: {TOPIC}" in str(written.toString())

    def _described(self) -> Any:
        """``Metadata``: the replicas and the ISR, and not which of the replicas are being added or removed."""
        kind, now = self.kafka.type, self.described
        nodes = {each: kind("common.Node")(each, "localhost", 9092) for each in now.replicas}
        leader = None if now.leader is None else nodes[now.leader]
        partition = kind("common.TopicPartitionInfo")(
            0, leader, _list([nodes[each] for each in now.replicas]), _list([nodes[each] for each in now.isr]))
        described = kind("clients.admin.TopicDescription")(TOPIC, False, _list([partition]))
        return self._result("DescribeTopics", None, _map({TOPIC: self._done(described)}))

    def _configured(self) -> Any:
        resource = self.kafka.type("common.config.ConfigResource")(
            self.kafka.type("common.config.ConfigResource$Type").TOPIC, TOPIC)
        settings = self.kafka.type("clients.admin.Config")(jpype.java.util.List.of())
        found = jpype.java.util.HashMap()
        found.put(resource, self._done(settings))
        return self._result("DescribeConfigs", found)

    def _reassignments(self) -> Any:
        """``ListPartitionReassignments``, which lists a partition only while it is reassigned."""
        now, listed = self.listed, jpype.java.util.HashMap()
        if now.adding or now.removing:
            listed.put(self.kafka.type("common.TopicPartition")(TOPIC, 0), self.kafka.type(
                "clients.admin.PartitionReassignment")(*map(_integers, (now.replicas, now.adding, now.removing))))
        return self._result("ListPartitionReassignments", self._done(listed))

    def _done(self, value: Any) -> Any:
        """A future that has its value."""
        value = _map(value) if isinstance(value, Mapping) else value
        return self.kafka.call(self.kafka.type("common.KafkaFuture"), "completedFuture", value)

    def _result(self, name: str, *of: Any) -> Any:
        return self.kafka.new(f"clients.admin.{name}Result", *of)


def _map(values: Mapping[str, Any]) -> Any:
    made = jpype.java.util.HashMap()
    for key, value in values.items():
        made.put(key, value)
    return made


def _list(values: list[Any]) -> Any:
    made = jpype.java.util.ArrayList()
    for value in values:
        made.add(value)
    return made


def _integers(values: tuple[int, ...]) -> Any:
    return _list([jpype.java.lang.Integer(value) for value in values])
