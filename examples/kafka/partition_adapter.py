"""How the steps of ``ObservedPartition`` are taken by Kafka's controller, and what is compared after each.

Nothing of the controller's is left to the model: everything in its registration of the partition, the brokers' states
and the error is observed. Only the logs are the model's (``environment``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from bridge import Classes
from controller import Controller, Registration

from floodmark.conformance import Adapter, observable


def number(broker: Any) -> int:
    """2 for b2."""
    return int(repr(broker)[1:])


def names(brokers: Iterable[int]) -> list[str]:
    return [f"b{broker}" for broker in brokers]


class PartitionAdapter(Adapter):
    """A cluster with the classes of ``kafka``."""

    kafka: ClassVar[Classes]
    environment = ("leader_commits", "follower_catches_up", "broker_deletes_replica")

    def __init__(self, start: Any) -> None:
        self.controller = Controller(
            self.kafka, brokers=[number(broker) for broker in start.status],
            replicas=[number(broker) for broker in start.replicas], elr=start.elr_enabled, min_isr=start.min_isr,
            unclean=start.unclean_elections,
        )
        self.before = len(self.controller.log)
        self.answered = "NONE"
        self.asked_to_stop: set[int] = set()
        self.seen: Registration | None = None

    def close(self) -> None:
        self.controller.close()

    def do(self, answered: str) -> None:
        self.answered, self.seen = answered, None

    def registration(self) -> Registration:
        if self.seen is None:
            self.seen = self.controller.partition()
        return self.seen

    # Brokers.

    def broker_is_fenced(self, broker: Any) -> None:
        self.do(self.controller.fence(number(broker)))

    def broker_is_unfenced(self, broker: Any) -> None:
        self.do(self.controller.unfence(number(broker)))

    def broker_shuts_down(self, broker: Any) -> None:
        self.do(self.controller.shut_down(number(broker)))

    def broker_registers(self, broker: Any, clean: bool) -> None:
        self.do(self.controller.register_anew(number(broker), clean))

    def broker_is_unregistered(self, broker: Any) -> None:
        self.do(self.controller.unregister(number(broker)))

    def broker_assigns_directory(self, broker: Any) -> None:
        self.do(self.controller.assign_directory(number(broker)))

    def another_registers_as(self, broker: Any) -> None:
        self.do(self.controller.register(number(broker), clean=False))

    # The operator.

    def operator_reassigns(self, preferred: Any, others: Any) -> None:
        self.do(self.controller.reassign([number(preferred), *sorted(map(number, others))]))

    def operator_cancels(self) -> None:
        self.do(self.controller.reassign(None))

    def operator_elects(self, unclean: bool) -> None:
        self.do(self.controller.elect(unclean))

    def operator_sets_min_isr(self, number: int) -> None:
        self.do(self.controller.set_min_isr(number))

    def operator_switches_elr(self) -> None:
        self.do(self.controller.switch_elr())

    # The leader.

    def leader_alters_isr(self, isr: Any) -> None:
        leader = self.registration().leader
        assert leader is not None
        self.alter(leader, isr)

    def somebody_alters_isr(self, sender: Any, isr: Any, wrong: Any) -> None:
        self.alter(number(sender), isr, wrong.name)

    def alter(self, sender: int, isr: Any, wrong: str = "NOTHING") -> None:
        seen = self.registration()
        members = {each: self.controller.epoch(each) for each in sorted(map(number, isr))}
        if wrong == "OUTDATED_MEMBER":
            members[sender] += 1_000_000
        off = 1 if wrong.startswith("NEWER") else -1
        self.do(self.controller.alter_partition(
            sender, members, seen.leader_epoch + (off if wrong.endswith("LEADER_EPOCH") else 0),
            seen.partition_epoch + (off if wrong.endswith("PARTITION_EPOCH") else 0), wrong == "RECOVERING"))

    def controller_fails_over(self) -> None:
        """It answers nothing: the last answer stays."""
        self.controller.fail_over()
        self.seen = None

    # What is observed.

    @observable
    def replicas(self) -> list[str]:
        return names(self.registration().replicas)

    @observable
    def adding(self) -> set[str]:
        return set(names(self.registration().adding))

    @observable
    def removing(self) -> set[str]:
        return set(names(self.registration().removing))

    @observable
    def isr(self) -> set[str]:
        return set(names(self.registration().isr))

    @observable
    def elr(self) -> set[str]:
        return set(names(self.registration().elr))

    @observable
    def last_known(self) -> set[str]:
        return set(names(broker for broker in self.registration().last_known_elr if broker >= 0))

    @observable
    def last_known_is_nobody(self) -> bool:
        return -1 in self.registration().last_known_elr

    @observable
    def leader(self) -> str | None:
        leader = self.registration().leader
        return None if leader is None else f"b{leader}"

    @observable
    def recovering(self) -> bool:
        return self.registration().recovering

    @observable
    def leader_epoch(self) -> int:
        return self.registration().leader_epoch

    @observable
    def partition_epoch(self) -> int:
        return self.registration().partition_epoch

    @observable
    def records(self) -> int:
        return len(self.controller.log) - self.before

    @observable(of=lambda model: model.last_record and model.last_record.value)
    def last_record(self) -> str | None:
        return self.controller.kind_of(self.controller.log[-1]) if self.records() > 0 else None

    @observable(of=lambda model: {field.value for field in model.last_change})
    def last_change(self) -> set[str]:
        return self.controller.last_change()

    @observable
    def error(self) -> str:
        return self.answered

    @observable(of=lambda model: {repr(each): STATES[model.status[each].name] for each in model.status})
    def registrations(self) -> dict[str, str]:
        return {f"b{broker}": self.controller.state(broker) for broker in self.controller.incarnations}


STATES = {"ACTIVE": "active", "FENCED": "fenced", "SHUTTING_DOWN": "shutting down", "SHUT_DOWN": "fenced",
          "UNREGISTERED": "unregistered"}
"""What the controller's registration says of a broker. That a fenced one was shut down is known to the broker alone."""


def of_version(kafka: Classes) -> dict[str, bool]:
    """The constants of the model in which versions differ."""
    early = kafka.libraries.number < (4, 1)
    return {"forgets_last_known_early": early, "elects_dead_last_known": early,
            "assignment_forgets_elr": kafka.libraries.number < (4, 3),
            "awaits_adding_only": kafka.libraries.number >= (4, 3)}
