"""A controller that reassigns partitions and cancels reassignments as KIP-236 says, on a real ZooKeeper.

    python examples/zookeeper/controller.py --address 127.0.0.1:2181 --root /kafka

waits until it can create ``/controller``, reads everything, and then handles what it finds, one event at a time, until
it loses its session. It ends then: whoever takes over reads everything again. With ``--driven`` it does nothing by
itself, but takes the steps that come on its standard input, each if it finds for itself that it is due.

The steps have the names and the numbers of model/reassignment/kip236.py, where their order and the repairs of the text
are explained. The znodes are Kafka's. Every write is a transaction with two conditions: that ``/controller_epoch`` has
the version with which this controller began, and that what is written has the version that was read. Requests to
brokers are printed, since there are no brokers here.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionClosedError, ConnectionLoss, NodeExistsError, NoNodeError, SessionExpiredError

sys.path.append(str(Path(__file__).parent))

CONTROLLER = "/controller"
EPOCH = "/controller_epoch"
IDS = "/brokers/ids"
TOPICS = "/brokers/topics"
TOPIC = f"{TOPICS}/t"
PENDING = "/admin/reassign_partitions"
CANCEL = "/admin/cancel_reassignment_in_progress"
CONFIG = "/config/topics/t"
THROTTLE = "leader.replication.throttled.replicas"
SESSION = 3600.0
"""Seconds: whoever drives a controller decides when its session ends."""

_PARENT_DEATH_SIGNAL = 1

LOST = (ConnectionLoss, ConnectionClosedError, SessionExpiredError)


def state_path(partition: int) -> str:
    return f"{TOPIC}/partitions/{partition}/state"


class NotDue(Exception):  # noqa: N818 - nothing has gone wrong
    """A step is not the one that this controller takes next."""


class Replaced(Exception):  # noqa: N818 - nothing has gone wrong
    """Another controller has begun, so this one writes nothing."""


class Outrun(Exception):  # noqa: N818 - nothing has gone wrong
    """Somebody else wrote what was to be written, after it was read."""


@dataclass(frozen=True)
class Entry:
    """What ``/admin/reassign_partitions`` says of a partition; an old client leaves out the original replicas."""

    target: frozenset[int]
    original: frozenset[int] | None


@dataclass(frozen=True)
class State:
    """A partition's leader and ISR, and the version of the znode that has them."""

    leader: int | None
    isr: frozenset[int]
    leader_epoch: int
    version: int


@dataclass
class Work:
    """What the controller remembers of a partition."""

    memory: frozenset[int]
    context: Entry | None = None
    step: str = "IDLE"


@dataclass
class Writes:
    """A transaction that is being put together."""

    operations: list[Callable[[Any], Any]] = field(default_factory=list)

    def set(self, path: str, value: Any, version: int) -> None:
        data = json.dumps(value).encode()
        self.operations.append(lambda transaction: transaction.set_data(path, data, version))

    def create(self, path: str, value: Any, ephemeral: bool = False) -> None:
        data = json.dumps(value).encode()
        self.operations.append(lambda transaction: transaction.create(path, data, ephemeral=ephemeral))

    def delete(self, path: str, version: int) -> None:
        self.operations.append(lambda transaction: transaction.delete(path, version))

    def check(self, path: str, version: int) -> None:
        self.operations.append(lambda transaction: transaction.check(path, version))


class Controller:
    """One controller, from its election until it is replaced. ``send`` takes what it says to the brokers."""

    def __init__(self, client: KazooClient, root: str, name: str, send: Callable[[dict[str, Any]], None]) -> None:
        self.client, self.root, self.name, self._send = client, root, name, send
        self.dies_after_writing = False
        self.epoch = 0
        self.epoch_version = 0
        self.work: dict[int, Work] = {}
        self.unspread: set[int] = set()
        self.cancelling = False
        self.to_cancel: set[int] = set()

    # ZooKeeper.

    def read(self, path: str, watch: Callable[[Any], None] | None = None) -> tuple[Any, int]:
        """What a znode has, and its version; None and -1 if there is none."""
        try:
            data, stat = self.client.get(self.root + path, watch=watch)
        except NoNodeError:
            if watch is not None and self.client.exists(self.root + path, watch=watch) is not None:
                return self.read(path, watch)
            return None, -1
        return json.loads(data), stat.version

    def condition(self) -> Callable[[Any], Any]:
        """The condition that nobody else has become the controller."""
        return lambda transaction: transaction.check(self.root + EPOCH, self.epoch_version)

    def commit(self, writes: Writes) -> None:
        """All of it, or nothing. Raises Replaced and Outrun."""
        writes.operations.insert(0, self.condition())
        self.carry_out(writes)
        if self.dies_after_writing:
            os.kill(os.getpid(), signal.SIGKILL)

    def carry_out(self, writes: Writes) -> None:
        transaction = self.client.transaction()
        for operation in writes.operations:
            operation(transaction)
        results = transaction.commit()
        failed = [index for index, result in enumerate(results) if isinstance(result, Exception)]
        if failed:
            first = next(index for index in failed if type(results[index]).__name__ != "RolledBackError")
            raise Replaced if first == 0 else Outrun

    def live(self) -> frozenset[int]:
        return frozenset(int(name) for name in self.client.get_children(self.root + IDS))

    def state(self, partition: int) -> State:
        found, version = self.read(state_path(partition))
        leader = None if found["leader"] < 0 else found["leader"]
        return State(leader, frozenset(found["isr"]), found["leader_epoch"], version)

    def assigned(self) -> tuple[dict[int, frozenset[int]], int]:
        found, version = self.read(TOPIC)
        return {int(partition): frozenset(replicas) for partition, replicas in found["partitions"].items()}, version

    def pending(self) -> tuple[dict[int, Entry], int]:
        found, version = self.read(PENDING)
        return {} if found is None else entries(found), version

    def throttled(self) -> tuple[set[int], int]:
        found, version = self.read(CONFIG)
        named = found["config"].get(THROTTLE, "")
        return {int(partition) for partition in named.split(",") if partition}, version

    def write_state(self, partition: int, leader: int | None, isr: frozenset[int], now: State, epochs: int = 1) -> int:
        """Leader and ISR, if nobody has changed them since; returns the leader epoch."""
        epoch = now.leader_epoch + epochs
        value = {
            "controller_epoch": self.epoch, "leader": -1 if leader is None else leader, "version": 1,
            "leader_epoch": epoch, "isr": sorted(isr),
        }
        writes = Writes()
        writes.set(self.root + state_path(partition), value, now.version)
        self.commit(writes)
        return epoch

    def write_assigned(self, partition: int, replicas: frozenset[int]) -> None:
        assigned, version = self.assigned()
        assigned[partition] = replicas
        writes = Writes()
        writes.set(self.root + TOPIC, assignment(assigned), version)
        self.commit(writes)

    def drop_entries(self, partitions: Iterable[int]) -> None:
        """The znode goes with its last entry."""
        pending, version = self.pending()
        left = {partition: entry for partition, entry in pending.items() if partition not in partitions}
        writes = Writes()
        if left:
            writes.set(self.root + PENDING, batch(left), version)
        else:
            writes.delete(self.root + PENDING, version)
        self.commit(writes)

    # Requests to brokers. Those of a controller that has been replaced have an epoch that brokers know to be old.

    def send(self, request: str, partition: int, to: Iterable[int], **what: Any) -> None:
        self._send({"request": request, "controller_epoch": self.epoch, "partition": partition, "to": sorted(to),
                    **what})

    def tell(self, partition: int, replicas: frozenset[int], to: Iterable[int], new: bool) -> None:
        self.send("LeaderAndIsr", partition, to, replicas=sorted(replicas), new=new)

    def stop(self, partition: int, brokers: frozenset[int], delete: bool) -> None:
        self.send("StopReplica", partition, brokers, delete=delete)

    # Becoming the controller.

    def controller_fails_over(self) -> None:
        """Creates ``/controller`` and takes the next epoch in one transaction, then reads everything.

        Raises Outrun as long as there is another controller.
        """
        epoch, version = self.read(EPOCH)
        writes = Writes()
        writes.check(self.root + EPOCH, version)
        writes.create(self.root + CONTROLLER, {"version": 1, "brokerid": self.name}, ephemeral=True)
        writes.set(self.root + EPOCH, epoch + 1, version)
        self.carry_out(writes)
        self.epoch, self.epoch_version = epoch + 1, version + 1
        assigned, _ = self.assigned()
        self.work = {partition: Work(replicas) for partition, replicas in assigned.items()}
        self.unspread, self.cancelling, self.to_cancel = set(), False, set()
        for partition, replicas in assigned.items():
            self.tell(partition, replicas, replicas, new=True)
        self.look_for_cancel()

    def look_for_cancel(self) -> None:
        """Before anything is started: a watch would not fire for what is already there."""
        if self.read(CANCEL)[1] >= 0:
            self.read_cancel()

    def read_cancel(self) -> None:
        self.cancelling = True
        pending, _ = self.pending()
        for partition, entry in pending.items():
            self.to_cancel.add(partition)
            self.work[partition].context = entry

    # Events, one at a time.

    def is_free(self) -> bool:
        return all(work.step in ("IDLE", "WAITING") for work in self.work.values())

    def electable(self, partition: int, wanted: frozenset[int]) -> frozenset[int]:
        return wanted & self.state(partition).isr & self.live()

    def elected(self, partition: int, wanted: frozenset[int], state: State) -> int | None:
        """The leader stays if it can; otherwise the first who can leads; if nobody can, nothing changes."""
        able = wanted & state.isr & self.live()
        return state.leader if state.leader in able or not able else min(able)

    def context(self, partition: int) -> Entry:
        found = self.work[partition].context
        assert found is not None
        return found

    def original(self, partition: int) -> frozenset[int]:
        found = self.context(partition).original
        assert found is not None
        return found

    def controller_elects(self, partition: int) -> None:
        due(self.is_free())
        state, memory = self.state(partition), self.work[partition].memory
        due(state.leader is None or state.leader not in self.live())
        due(bool(self.electable(partition, memory)))
        leader = self.elected(partition, memory, state)
        self.write_state(partition, leader, state.isr, state)
        self.tell(partition, memory, () if leader is None else (leader,), new=False)

    def controller_begins(self, partition: int) -> None:
        work, pending = self.work[partition], self.pending()[0]
        due(self.is_free() and not self.cancelling and work.step == "IDLE" and partition in pending)
        work.context = pending[partition]
        work.step = "PERSIST_BOTH"

    def step_1_persists_both(self, partition: int) -> None:
        self.at(partition, "PERSIST_BOTH")
        both = self.assigned()[0][partition] | self.context(partition).target
        self.write_assigned(partition, both)
        self.work[partition].memory = both
        self.work[partition].step = "TELL_BOTH"

    def step_2_tells_both(self, partition: int) -> None:
        self.at(partition, "TELL_BOTH")
        state, memory = self.state(partition), self.work[partition].memory
        self.write_state(partition, state.leader, state.isr, state)
        self.tell(partition, memory, memory, new=False)
        self.work[partition].step = "START_ADDED"

    def step_3_starts_added(self, partition: int) -> None:
        self.at(partition, "START_ADDED")
        self.tell(partition, self.work[partition].memory, self.work[partition].memory, new=True)
        self.work[partition].step = "WAITING"

    def may_complete(self, partition: int) -> bool:
        target = self.context(partition).target
        return target <= self.state(partition).isr and bool(self.electable(partition, target))

    def step_4_sees_target_in_sync(self, partition: int) -> None:
        self.at(partition, "WAITING")
        due(self.is_free() and not self.cancelling and self.may_complete(partition))
        self.work[partition].step = "RETARGET"

    def step_6_retargets(self, partition: int) -> None:
        self.at(partition, "RETARGET")
        self.work[partition].memory = self.context(partition).target
        self.work[partition].step = "LEAD_FROM_TARGET"

    def isr_led_by(self, isr: frozenset[int], wanted: frozenset[int]) -> frozenset[int]:
        """The ISR that is written together with the leader: without the replicas that are to go."""
        return isr & wanted

    def lead_from(self, partition: int, wanted: frozenset[int]) -> None:
        state = self.state(partition)
        leader = self.elected(partition, wanted, state)
        self.write_state(partition, leader, self.isr_led_by(state.isr, wanted), state)
        self.tell(partition, self.work[partition].memory, wanted, new=True)
        self.unspread.add(partition)

    def step_7_leads_from_target(self, partition: int) -> None:
        self.at(partition, "LEAD_FROM_TARGET")
        if self.may_complete(partition):
            self.lead_from(partition, self.context(partition).target)
            self.work[partition].step = "TAKE_OLD_OFFLINE"
        else:
            self.work[partition].memory = self.assigned()[0][partition]
            self.work[partition].step = "WAITING"

    def old(self, partition: int) -> frozenset[int]:
        """Known only as long as ZooKeeper still has them assigned."""
        return self.assigned()[0][partition] - self.context(partition).target

    def take_offline(self, partition: int, brokers: frozenset[int]) -> None:
        """Out of the ISR, but for its last member, and none of them leads."""
        state = self.state(partition)
        leader = None if state.leader in brokers else state.leader
        isr = state.isr if state.isr <= brokers else state.isr - brokers
        if (leader, isr) != (state.leader, state.isr):
            self.write_state(partition, leader, isr, state)
        self.stop(partition, brokers, delete=False)

    def step_8_takes_old_offline(self, partition: int) -> None:
        self.at(partition, "TAKE_OLD_OFFLINE")
        self.take_offline(partition, self.old(partition))
        self.work[partition].step = "DELETE_OLD"

    def step_9_deletes_old(self, partition: int) -> None:
        self.at(partition, "DELETE_OLD")
        self.stop(partition, self.old(partition), delete=True)
        self.work[partition].step = "PERSIST_TARGET"

    def step_10_persists_target(self, partition: int) -> None:
        """Last, because nothing else in ZooKeeper says which replicas are to go."""
        self.at(partition, "PERSIST_TARGET")
        self.write_assigned(partition, self.context(partition).target)
        self.work[partition].step = "DROP_ENTRY"

    def dropped_with(self, partition: int) -> Iterable[int]:
        """The entries that go with a partition's own."""
        return (partition,)

    def step_11_drops_entry(self, partition: int) -> None:
        self.at(partition, "DROP_ENTRY")
        self.drop_entries(self.dropped_with(partition))
        self.work[partition].context = None
        self.work[partition].step = "SPREAD"

    def step_12_spreads_metadata(self, partition: int) -> None:
        self.at(partition, "SPREAD")
        self.spread(partition)

    def spread(self, partition: int) -> None:
        self.send("UpdateMetadata", partition, self.live(), replicas=sorted(self.work[partition].memory))
        self.unspread.discard(partition)
        self.work[partition].step = "IDLE"

    # Cancelling.

    def controller_reads_cancel(self) -> None:
        due(self.is_free() and not self.cancelling and self.read(CANCEL)[1] >= 0)
        self.read_cancel()

    def is_undone(self, partition: int) -> bool:
        """The original replicas are still assigned: the reassignment has not reached its target."""
        return self.original(partition) <= self.assigned()[0][partition]

    def may_cancel(self, partition: int) -> bool:
        entry = self.work[partition].context
        if entry is None or entry.original is None or not self.is_undone(partition):
            return False
        isr = self.state(partition).isr
        if isr <= entry.original:
            return True
        return bool(self.electable(partition, entry.original)) and self.enough_stay(isr, entry.original)

    def enough_stay(self, isr: frozenset[int], original: frozenset[int]) -> bool:
        """At least ``min.insync.replicas``, or as many as there are."""
        found, _ = self.read(CONFIG)
        return len(isr & original) >= min(int(found["config"]["min.insync.replicas"]), len(isr))

    def controller_skips(self, partition: int) -> None:
        due(self.is_free() and partition in self.to_cancel and not self.may_cancel(partition))
        self.to_cancel.discard(partition)

    def controller_begins_cancel(self, partition: int) -> None:
        due(self.is_free() and partition in self.to_cancel and self.may_cancel(partition))
        self.work[partition].step = "CANCEL_IN_MEMORY"

    def leaving(self, partition: int) -> frozenset[int]:
        return self.context(partition).target - self.original(partition)

    def cancel_1_in_memory(self, partition: int) -> None:
        self.at(partition, "CANCEL_IN_MEMORY")
        self.work[partition].memory = self.original(partition)
        self.work[partition].step = "LEAD_FROM_ORIGINAL"

    def cancel_2_leads_from_original(self, partition: int) -> None:
        self.at(partition, "LEAD_FROM_ORIGINAL")
        if self.may_cancel(partition):
            self.lead_from(partition, self.original(partition))
            self.work[partition].step = "TAKE_ADDED_OFFLINE"
        else:
            self.work[partition].memory = self.assigned()[0][partition]
            self.to_cancel.discard(partition)
            self.work[partition].step = "IDLE"

    def cancel_3_takes_added_offline(self, partition: int) -> None:
        self.at(partition, "TAKE_ADDED_OFFLINE")
        self.take_offline(partition, self.leaving(partition))
        self.work[partition].step = "DELETE_ADDED"

    def cancel_4_deletes_added(self, partition: int) -> None:
        self.at(partition, "DELETE_ADDED")
        self.stop(partition, self.leaving(partition), delete=True)
        self.work[partition].step = "PERSIST_ORIGINAL"

    def cancel_5_persists_original(self, partition: int) -> None:
        self.at(partition, "PERSIST_ORIGINAL")
        self.write_assigned(partition, self.original(partition))
        self.work[partition].step = "UNTHROTTLE" if partition in self.throttled()[0] else "DROP_CANCELLED"

    def cancelled_is_unthrottled(self, partition: int) -> None:
        self.at(partition, "UNTHROTTLE")
        self.unthrottle(partition)
        self.work[partition].step = "DROP_CANCELLED"

    def unthrottle(self, partition: int) -> None:
        found, version = self.read(CONFIG)
        left = self.throttled()[0] - {partition}
        found["config"][THROTTLE] = ",".join(str(each) for each in sorted(left))
        writes = Writes()
        writes.set(self.root + CONFIG, found, version)
        self.commit(writes)

    def cancel_6_drops_entry(self, partition: int) -> None:
        self.at(partition, "DROP_CANCELLED")
        self.drop_entries(self.dropped_with(partition))
        self.to_cancel.discard(partition)
        self.work[partition].context = None
        self.work[partition].step = "SPREAD_CANCELLED"

    def cancel_7_spreads_metadata(self, partition: int) -> None:
        self.at(partition, "SPREAD_CANCELLED")
        self.spread(partition)

    def may_drop_cancel(self) -> bool:
        """The cancel znode outlives the last entry that it is about."""
        return self.is_free() and not self.to_cancel

    def controller_drops_cancel(self) -> None:
        due(self.cancelling and self.may_drop_cancel())
        writes = Writes()
        writes.delete(self.root + CANCEL, self.read(CANCEL)[1])
        self.commit(writes)
        self.cancelling = False

    # Taking steps.

    def at(self, partition: int, step: str) -> None:
        due(self.work[partition].step == step)

    def take(self, action: str, partition: int | None) -> None:
        """Raises NotDue, and what ``commit`` raises."""
        step = getattr(self, action)
        if partition is None:
            step()
        else:
            step(partition)

    def possible(self) -> Iterator[tuple[str, int | None]]:
        """What might be due, in the order in which a controller that is not driven tries it."""
        for partition, work in self.work.items():
            if work.step not in ("IDLE", "WAITING"):
                yield STEPS[work.step], partition
                return
        yield "controller_reads_cancel", None
        for partition in self.work:
            for action in EVENTS:
                yield action, partition
        yield "controller_drops_cancel", None

    def run(self) -> None:
        """Handles what there is to do until it is replaced."""
        while True:
            changed = threading.Event()
            self.watch(changed)
            if not any(self.tries(action, partition) for action, partition in self.possible()):
                changed.wait()

    def tries(self, action: str, partition: int | None) -> bool:
        try:
            self.take(action, partition)
        except NotDue:
            return False
        except Outrun:
            return True
        self._send({"took": action, "partition": partition})
        return True

    def watch(self, changed: threading.Event) -> None:
        """One-shot watches on everything that can give it something to do; they come before the reads."""

        def told(_: Any) -> None:
            changed.set()

        for path in [PENDING, CANCEL, TOPIC, *(state_path(partition) for partition in self.work)]:
            self.read(path, told)
        self.client.get_children(self.root + IDS, watch=told)

    def memory(self) -> dict[str, Any]:
        """What it remembers, for whoever drives it."""
        return {
            "memory": {partition: sorted(work.memory) for partition, work in self.work.items()},
            "context": {partition: shown(work.context) for partition, work in self.work.items()},
            "step": {partition: work.step for partition, work in self.work.items()},
            "unspread": sorted(self.unspread), "cancelling": self.cancelling, "to_cancel": sorted(self.to_cancel),
        }


EVENTS = (
    "controller_elects", "controller_begins_cancel", "controller_skips", "step_4_sees_target_in_sync",
    "controller_begins",
)
STEPS = {
    "PERSIST_BOTH": "step_1_persists_both", "TELL_BOTH": "step_2_tells_both", "START_ADDED": "step_3_starts_added",
    "RETARGET": "step_6_retargets", "LEAD_FROM_TARGET": "step_7_leads_from_target",
    "TAKE_OLD_OFFLINE": "step_8_takes_old_offline", "DELETE_OLD": "step_9_deletes_old",
    "PERSIST_TARGET": "step_10_persists_target", "DROP_ENTRY": "step_11_drops_entry",
    "SPREAD": "step_12_spreads_metadata", "CANCEL_IN_MEMORY": "cancel_1_in_memory",
    "LEAD_FROM_ORIGINAL": "cancel_2_leads_from_original", "TAKE_ADDED_OFFLINE": "cancel_3_takes_added_offline",
    "DELETE_ADDED": "cancel_4_deletes_added", "PERSIST_ORIGINAL": "cancel_5_persists_original",
    "UNTHROTTLE": "cancelled_is_unthrottled", "DROP_CANCELLED": "cancel_6_drops_entry",
    "SPREAD_CANCELLED": "cancel_7_spreads_metadata",
}


def due(condition: bool) -> None:
    if not condition:
        raise NotDue


def assignment(assigned: dict[int, frozenset[int]]) -> dict[str, Any]:
    """As the topic's znode has it."""
    return {"version": 1, "partitions": {str(each): sorted(replicas) for each, replicas in assigned.items()}}


def batch(pending: dict[int, Entry]) -> dict[str, Any]:
    """As ``/admin/reassign_partitions`` has it."""
    return {"version": 1, "partitions": [{"topic": "t", "partition": each, **shown(pending[each])}
                                         for each in sorted(pending)]}


def shown(entry: Entry | None) -> dict[str, Any]:
    if entry is None:
        return {}
    found: dict[str, Any] = {"replicas": sorted(entry.target)}
    return found if entry.original is None else {**found, "original_replicas": sorted(entry.original)}


def entries(found: dict[str, Any]) -> dict[int, Entry]:
    return {each["partition"]: entry_of(each) for each in found["partitions"]}


def entry_of(found: dict[str, Any]) -> Entry:
    original = found.get("original_replicas")
    return Entry(frozenset(found["replicas"]), None if original is None else frozenset(original))


def say(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


def end_with_parent() -> None:
    """Has the kernel kill this process when the one that started it ends, even while it stands still (Linux only).

    Otherwise the end of its standard input ends it, once it goes on.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def driven(client: KazooClient, name: str, kind: type[Controller]) -> None:
    """Takes the steps that come on the standard input. ``controller_fails_over`` begins under another root."""
    controller: Controller | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        sent: list[dict[str, Any]] = []
        if asked["do"] == "controller_fails_over":
            controller = kind(client, asked["root"], name, sent.append)
        assert controller is not None
        controller._send = sent.append
        controller.dies_after_writing = asked.get("dies", False)
        refused = None
        try:
            controller.take(asked["do"], asked.get("partition"))
        except (NotDue, Replaced, Outrun, *LOST) as error:
            refused = type(error).__name__
        if asked.get("dies", False):
            os.kill(os.getpid(), signal.SIGKILL)
        say({"refused": refused, "sent": sent, **controller.memory()})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", required=True)
    parser.add_argument("--root", default="")
    parser.add_argument("--name", default="1")
    parser.add_argument("--session", type=float, default=SESSION, help="the session's timeout in seconds")
    parser.add_argument("--design", help="a known-bad design from flawed_controllers.py")
    parser.add_argument("--driven", action="store_true")
    given = parser.parse_args()
    kind = Controller if given.design is None else getattr(importlib.import_module("flawed_controllers"), given.design)
    client = KazooClient(given.address, timeout=given.session)
    client.start()
    number, password = client.client_id
    say({"session": number, "password": password.hex()})
    if given.driven:
        end_with_parent()
        driven(client, given.name, kind)
        return 0
    try:
        while True:
            gone = threading.Event()
            if client.exists(given.root + CONTROLLER, watch=lambda _, gone=gone: gone.set()) is not None:
                gone.wait()
                continue
            controller = kind(client, given.root, given.name, say)
            try:
                controller.controller_fails_over()
            except (Outrun, Replaced, NodeExistsError):
                continue
            controller.run()
    except (Replaced, *LOST) as error:
        say({"ends": type(error).__name__})
        return 1


if __name__ == "__main__":
    # A flawed controller imports this module by its name, and it is to be the same one.
    sys.modules["controller"] = sys.modules["__main__"]
    sys.exit(main())
