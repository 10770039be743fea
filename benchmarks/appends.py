"""Replicas that append on their own: (records + 1) ** replicas states, in records * replicas + 1 levels."""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Identifier, Map, Model, action, initial, invariant, require


class Replica(Identifier, count="replicas", prefix="r"):
    """A replica with a log of its own."""


class Appends(Model):
    """Each replica appends records until its log is full; every combination of log ends can be reached."""

    replicas = Constant(9)
    records = Constant(9)
    log_end: Map[Replica, Annotated[int, Between(0, "records")]]

    @initial
    def start(self) -> None:
        self.log_end = Map({replica: 0 for replica in Replica})

    @action
    def replica_appends(self, replica: Replica) -> None:
        require(self.log_end[replica] < self.records)
        self.log_end[replica] += 1

    @invariant
    def logs_have_room(self) -> bool:
        return all(self.log_end[replica] <= self.records for replica in Replica)
