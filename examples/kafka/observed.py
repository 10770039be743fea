"""What a run beside Kafka's controller compares: also epochs, errors, and requests that are late or wrong."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kafka_partition import KafkaPartition
from partition import Broker, Error, Field, Status, Written

from floodmark import Between, Constant, Map, Set, action, initial, require


class Wrong(Enum):
    """What is wrong with a request of a leader."""

    NOTHING = "nothing"
    OLDER_LEADER_EPOCH = "its leader epoch is an older one"
    NEWER_LEADER_EPOCH = "its leader epoch is a newer one"
    OLDER_PARTITION_EPOCH = "its partition epoch is an older one"
    NEWER_PARTITION_EPOCH = "its partition epoch is a newer one"
    OUTDATED_MEMBER = "its sender, as a member of the ISR, has another broker epoch"
    RECOVERING = "its recovery state"


class ObservedPartition(KafkaPartition):
    """With what the controller answers, its epochs, and requests of a leader that is late or wrong.

    ``listed`` counts how often ``BrokersToElrs`` has the partition under a broker.
    """

    requests = Constant(1)
    failures = Constant(1)
    max_epoch = Constant(1000)
    most_listed = Constant(20)
    most_records = Constant(4000)

    leader_epoch: Annotated[int, Between(0, "max_epoch")] = 0
    partition_epoch: Annotated[int, Between(0, "max_epoch")] = 0
    listed: Map[Broker, Annotated[int, Between(0, "most_listed")]]
    error: Error = Error.NONE
    records: Annotated[int, Between(0, "most_records")] = 0
    last_record: Written | None = None
    last_change: Set[Field]
    """What the last PartitionChangeRecord says something of."""


    @initial
    def start(self) -> None:
        super().start()
        self.listed = Map({broker: 0 for broker in Broker})
        self.last_change = Set()

    def ask(self) -> None:
        """Any number of times."""

    def fail(self) -> None:
        """Any number of times."""

    def switch(self) -> None:
        """Any number of times."""

    def answer(self, error: Error) -> None:
        self.error = error

    def write_change(self, fields: Set[Field], copies: int) -> None:
        self.leader_epoch += copies if Field.LEADER in fields else 0
        self.partition_epoch += copies
        self.records += copies
        self.last_record = Written.PARTITION_CHANGE
        self.last_change = fields

    def write(self, record: Written) -> None:
        self.records += 1
        self.last_record = record

    def write_before_change(self, record: Written) -> None:
        self.records += 1

    def write_cleared(self) -> None:
        self.partition_epoch += 1

    def list_elr(self, elr: Set[Broker]) -> None:
        for broker in Broker:
            if broker in elr - self.elr:
                self.listed[broker] += 1
            if broker in self.elr - elr:
                self.listed[broker] -= 1

    def times_listed(self, broker: Broker) -> int:
        return self.listed[broker]

    @action
    def controller_fails_over(self) -> None:
        """A new controller replays the log."""

    @action
    def another_registers_as(self, broker: Broker) -> None:
        """``registerBroker`` of another process with the id of a broker that is alive."""
        require(self.status[broker] == Status.ACTIVE)
        self.answer(Error.DUPLICATE_BROKER_REGISTRATION)

    @action
    def somebody_alters_isr(self, sender: Broker, isr: Set[Broker], wrong: Wrong) -> None:
        """``alterPartition`` with anything in it; ``validateAlterPartitionData``."""
        require(len(isr) > 0 and self.status[sender] != Status.UNREGISTERED)
        require(wrong == Wrong.NOTHING or isr == self.isr or isr == Set({sender}))
        require(wrong != Wrong.OUTDATED_MEMBER or sender in isr)
        self.answer(self.alter(sender, isr, wrong))

    def alter(self, sender: Broker, isr: Set[Broker], wrong: Wrong) -> Error:
        error = self.fault_in(sender, isr, wrong)
        if error == Error.NONE:
            self.change(
                self.replicas, self.adding, self.removing, isr, self.active(), Set[Broker](), self.default_election(),
                self.elr_is_on, wrong == Wrong.RECOVERING, 1,
            )
            if self.leader != sender:
                error = Error.NEW_LEADER_ELECTED
        return error

    def fault_in(self, sender: Broker, isr: Set[Broker], wrong: Wrong) -> Error:
        error = Error.NONE
        if wrong in (Wrong.NEWER_LEADER_EPOCH, Wrong.NEWER_PARTITION_EPOCH):
            error = Error.NOT_CONTROLLER
        elif wrong == Wrong.OLDER_LEADER_EPOCH:
            error = Error.FENCED_LEADER_EPOCH
        elif self.leader is None or self.leader != sender:
            error = Error.INVALID_REQUEST
        elif wrong == Wrong.OLDER_PARTITION_EPOCH:
            error = Error.INVALID_UPDATE_VERSION
        elif not isr <= Set(self.replicas) or sender not in isr or self.recovers_wrongly(isr, wrong):
            error = Error.INVALID_REQUEST
        elif wrong == Wrong.OUTDATED_MEMBER or not isr <= self.active():
            error = Error.INELIGIBLE_REPLICA
        return error

    def recovers_wrongly(self, isr: Set[Broker], wrong: Wrong) -> bool:
        return wrong == Wrong.RECOVERING and (len(isr) > 1 or not self.recovering)
