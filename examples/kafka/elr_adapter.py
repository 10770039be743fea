"""How Kafka's controller takes the steps of ``model/elr/partition.py``, and what is compared after each.

Which replicas have everything committed, and which brokers run, is the model's own affair. The adapter writes the clean
shutdown file as a broker does: it has the broker epoch, which the next registration quotes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from bridge import Classes
from controller import Controller
from partition_adapter import names, number

from floodmark.conformance import Adapter, observable


class ElrAdapter(Adapter):
    """A cluster with the classes of ``kafka``, and the ELR on."""

    kafka: ClassVar[Classes]
    environment = ("broker_crashes", "leader_commits", "follower_follows")

    def __init__(self, start: Any) -> None:
        replicas = [number(broker) for broker in start.replicas]
        self.controller = Controller(
            self.kafka, sorted(replicas), replicas, elr=True, min_isr=start.min_insync_replicas, unclean=False)
        self.clean_file: dict[int, int] = {}
        self.answered = "NONE"

    def close(self) -> None:
        self.controller.close()

    def controller_fences(self, broker: Any, successor: Any) -> None:
        self.answered = self.controller.fence(number(broker))

    def controller_unfences(self, broker: Any, successor: Any) -> None:
        self.answered = self.controller.unfence(number(broker))

    def controller_starts_shutdown(self, broker: Any, successor: Any) -> None:
        self.answered = self.controller.shut_down(number(broker))

    def controller_moves_leader(self, successor: Any) -> None:
        self.answered = self.controller.elect(False)

    def broker_stops(self, broker: Any) -> None:
        self.clean_file[number(broker)] = self.controller.epoch(number(broker))

    def broker_registers(self, broker: Any, successor: Any) -> None:
        found = self.clean_file.pop(number(broker), None)
        clean = found is not None and found == self.controller.epoch(number(broker))
        self.answered = self.controller.register_anew(number(broker), clean)

    def leader_alters_isr(self, isr: Any, successor: Any) -> None:
        self.answered = self.controller.leader_alters_isr(sorted(map(number, isr)))

    @observable
    def isr(self) -> set[str]:
        return set(names(self.controller.partition().isr))

    @observable
    def elr(self) -> set[str]:
        return set(names(self.controller.partition().elr))

    @observable
    def leader(self) -> str | None:
        leader = self.controller.partition().leader
        return None if leader is None else f"b{leader}"

    @observable
    def last_known_leader(self) -> str | None:
        found = self.controller.partition().last_known_elr
        return f"b{found[0]}" if found else None

    @observable(of=lambda model: {
        repr(each): model.registration[each].name.lower().replace("_", " ") for each in model.registration})
    def registrations(self) -> dict[str, str]:
        return {f"b{broker}": self.controller.state(broker) for broker in self.controller.incarnations}

    @observable(of=lambda model: "NONE")
    def error(self) -> str:
        return self.answered
