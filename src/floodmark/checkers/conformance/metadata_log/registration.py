"""A partition as a KRaft controller knows it, and the effects of the metadata log's records on it.

After ``org.apache.kafka.metadata.PartitionRegistration`` and the schemas ``PartitionRecord.json`` and
``PartitionChangeRecord.json`` of Apache Kafka (trunk of October 2024). A change record has neither of the epochs: every
change record raises the partition epoch by one, and one that names a leader, even the same one, raises the leader epoch
as well (``PartitionRegistration.merge``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

NO_LEADER = -1
NO_LEADER_CHANGE = -2
_NO_RECOVERY_CHANGE = -1
Brokers = tuple[int, ...]


class BadRecord(Exception):  # noqa: N818 - the error is the log's
    """A record that lacks a field, or has a value that its schema does not allow."""


class Registration(NamedTuple):
    """A partition: ``replicas`` in order, the preferred leader first; ``leader`` is -1 when there is none.

    ``recovering`` is whether the leader was elected uncleanly and has not recovered yet; ``elr`` and
    ``last_known_elr`` are those of KIP-966.
    """

    replicas: Brokers
    isr: Brokers
    adding: Brokers
    removing: Brokers
    leader: int
    recovering: bool
    leader_epoch: int
    partition_epoch: int
    elr: Brokers = ()
    last_known_elr: Brokers = ()

    @property
    def is_reassigning(self) -> bool:
        return bool(self.adding or self.removing)


def partition_of_record(data: Mapping[str, Any]) -> Registration:
    """The partition in a PartitionRecord."""
    return Registration(
        _brokers(data, "replicas"),
        _brokers(data, "isr"),
        _brokers(data, "addingReplicas"),
        _brokers(data, "removingReplicas"),
        _number(data, "leader"),
        _number(data, "leaderRecoveryState", 0) == 1,
        _number(data, "leaderEpoch"),
        _number(data, "partitionEpoch"),
        _brokers(data, "eligibleLeaderReplicas", ()),
        _brokers(data, "lastKnownElr", ()),
    )


def apply_change(old: Registration, data: Mapping[str, Any]) -> Registration:
    """The partition after a PartitionChangeRecord: fields that are not in the record stay."""
    leader = _number(data, "leader", NO_LEADER_CHANGE)
    recovery = _number(data, "leaderRecoveryState", _NO_RECOVERY_CHANGE)
    return Registration(
        _brokers(data, "replicas", old.replicas),
        _brokers(data, "isr", old.isr),
        _brokers(data, "addingReplicas", old.adding),
        _brokers(data, "removingReplicas", old.removing),
        old.leader if leader == NO_LEADER_CHANGE else leader,
        old.recovering if recovery == _NO_RECOVERY_CHANGE else recovery == 1,
        old.leader_epoch if leader == NO_LEADER_CHANGE else old.leader_epoch + 1,
        old.partition_epoch + 1,
        _brokers(data, "eligibleLeaderReplicas", old.elr),
        _brokers(data, "lastKnownElr", old.last_known_elr),
    )


def _brokers(data: Mapping[str, Any], name: str, default: Brokers | None = None) -> Brokers:
    value = data.get(name)
    if value is None:
        if default is None:
            raise BadRecord(f"the record has no {name}")
        return default
    if type(value) is not list or any(type(broker) is not int for broker in value):
        raise BadRecord(f"{name} is {value!r}, which is not a list of brokers")
    return tuple(value)


def _number(data: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = data.get(name, default)
    if type(value) is not int:
        raise BadRecord(f"the record has no {name}" if value is None else f"{name} is {value!r}, which is not a number")
    return value
