"""How the model's actions are carried out by a controller process on a real ZooKeeper, and what is compared.

The controller decides for itself whether a step is due, and with what it writes; the model only says whose turn it is.
The operator's part, and that of the brokers, is played here: they write to ZooKeeper what operators and brokers write,
and take the requests that the controller sends. What brokers have in their logs is not simulated: only the model knows.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, ClassVar

from controller import (
    CANCEL,
    CONFIG,
    CONTROLLER,
    EPOCH,
    EVENTS,
    IDS,
    LOST,
    PENDING,
    STEPS,
    THROTTLE,
    TOPIC,
    TOPICS,
    Entry,
    assignment,
    entries,
    entry_of,
    state_path,
)
from controller import batch as as_batch
from controllers import Controllers, Process
from kazoo.exceptions import NoNodeError
from kazoo.protocol.serialization import Create, Delete, GetChildren2, GetData, SetData, Transaction
from kazoo.security import OPEN_ACL_UNSAFE
from server import LONGEST
from session import ANSWERS, EPHEMERAL, SEQUENTIAL, Session

from floodmark.conformance import Adapter, observable

RETRY = 0.01
"""Seconds: a controller that has lost its session tries again until it has another one."""
PARENTS = ("/brokers", IDS, TOPICS, f"{TOPIC}/partitions", "/admin", "/config", "/config/topics")


def of_partition(action: str) -> Callable[[ReassignmentAdapter, Any], None]:
    """The method for a step that the controller takes for a partition."""

    def take(self: ReassignmentAdapter, partition: Any) -> None:
        self.step(action, partition)

    return take


def number(name: Any) -> int:
    """2 for b2, and for p2."""
    return int(repr(name)[1:])


class ReassignmentAdapter(Adapter):
    """A controller of the ``design``, under a root of its own in each run."""

    address: ClassVar[str]
    design: ClassVar[str | None] = None
    observer: ClassVar[Session | None] = None
    controllers: ClassVar[Controllers | None] = None
    environment = ("leader_commits", "follower_catches_up")

    def __init__(self, start: Any) -> None:
        kind = type(self)
        if kind.observer is None:
            kind.observer = Session(self.address, LONGEST)
        if kind.controllers is None:
            kind.controllers = Controllers(self.address, self.design, kind.observer)
        self.zk, self.processes = kind.observer, kind.controllers
        self.root = self.zk.create("/run-", flags=SEQUENTIAL)
        self.partitions = [number(partition) for partition in start.assigned]
        self.brokers: dict[int, Session] = {}
        self.replaced: Process | None = None
        self.set_up(start)
        first = {number(each): {number(it) for it in start.assigned[each]} for each in start.assigned}
        self.known = {each: set(replicas) for each, replicas in first.items()}
        self.disks = {each: set(replicas) for each, replicas in first.items()}
        self.stopping: dict[int, set[int]] = {each: set() for each in self.partitions}
        self.late: dict[int, set[int]] = {each: set() for each in self.partitions}
        self.epoch = 0
        self.take_in(self.processes.begin(self.root))

    def set_up(self, start: Any) -> None:
        first = {number(each): frozenset(number(it) for it in start.assigned[each]) for each in start.assigned}
        config = {"version": 1, "config": {"min.insync.replicas": str(start.min_insync_replicas), THROTTLE: ""}}
        znodes = {path: None for path in PARENTS[:3]} | {EPOCH: 0, TOPIC: assignment(first)}
        znodes |= {path: None for path in PARENTS[3:]} | {CONFIG: config}
        for partition in self.partitions:
            state = start.replication[next(each for each in start.replication if number(each) == partition)]
            leader = {"controller_epoch": 0, "leader": number(state.leader), "version": 1, "leader_epoch": 0,
                      "isr": sorted(number(it) for it in state.isr)}
            path = state_path(partition)
            znodes |= {path.rpartition("/")[0]: None, path: leader}
        parts = [Create(self.root + path, json.dumps(value).encode(), OPEN_ACL_UNSAFE, 0)
                 for path, value in znodes.items()]
        for part in self.zk.call(Transaction(parts)):
            assert not isinstance(part, Exception), part
        for broker in start.live:
            self.broker_starts(broker)

    def close(self) -> None:
        if self.replaced is not None:
            self.replaced.kill()
        for session in self.brokers.values():
            session.close()
        with suppress(NoNodeError):
            self.zk.call(Delete(self.root + CONTROLLER, -1))

    @classmethod
    def end(cls) -> None:
        """Ends the processes, which go from run to run."""
        if cls.controllers is not None:
            cls.controllers.close()
            cls.controllers = None

    # ZooKeeper, as others than the controller see it and write to it.

    def read(self, path: str) -> Any:
        """What a znode has; None if there is none."""
        try:
            return json.loads(self.zk.call(GetData(self.root + path, False))[0])
        except NoNodeError:
            return None

    def write(self, path: str, value: Any) -> None:
        self.zk.call(SetData(self.root + path, json.dumps(value).encode(), -1))

    def pending_entries(self) -> dict[int, Entry]:
        found = self.read(PENDING)
        return {} if found is None else entries(found)

    def throttles(self) -> set[int]:
        return {int(each) for each in self.read(CONFIG)["config"][THROTTLE].split(",") if each}

    def throttle(self, partitions: Iterable[int]) -> None:
        found = self.read(CONFIG)
        found["config"][THROTTLE] = ",".join(str(each) for each in sorted(partitions))
        self.write(CONFIG, found)

    def replicas(self) -> dict[int, frozenset[int]]:
        return {int(each): frozenset(found) for each, found in self.read(TOPIC)["partitions"].items()}

    def states(self) -> dict[int, Any]:
        return {each: self.read(state_path(each)) for each in self.partitions}

    def change_isr(self, partition: Any, change: Any) -> None:
        """The leader writes another ISR."""
        path = state_path(number(partition))
        state = self.read(path)
        self.write(path, {**state, "isr": sorted(change(set(state["isr"])))})

    # The operator.

    def client_submits(self, batch: Any, target: Any, throttle: bool, knows_original: bool) -> None:
        assigned = self.replicas()
        wanted = frozenset(number(it) for it in target)
        pending = {number(each): Entry(wanted, assigned[number(each)] if knows_original else None) for each in batch}
        self.create(PENDING, as_batch(pending))
        if throttle:
            self.throttle(self.throttles() | set(pending))

    def client_cancels(self) -> None:
        self.create(CANCEL, None)

    def create(self, path: str, value: Any, flags: int = 0) -> None:
        self.zk.create(self.root + path, json.dumps(value).encode(), flags)

    def client_verifies(self, partition: Any) -> None:
        self.throttle(self.throttles() - {number(partition)})

    # Brokers.

    def broker_crashes(self, broker: Any) -> None:
        """Its session ends; how long that takes is of no concern here."""
        self.brokers.pop(number(broker)).close()

    def broker_starts(self, broker: Any) -> None:
        session = self.brokers[number(broker)] = Session(self.address, LONGEST)
        session.create(f"{self.root}{IDS}/{number(broker)}", b"{}", EPHEMERAL)

    def follower_joins_isr(self, partition: Any, follower: Any) -> None:
        self.change_isr(partition, lambda isr: isr | {number(follower)})

    def follower_leaves_isr(self, partition: Any, follower: Any) -> None:
        self.change_isr(partition, lambda isr: isr - {number(follower)})

    def broker_deletes_replica(self, partition: Any, broker: Any) -> None:
        self.stopping[number(partition)].discard(number(broker))
        self.disks[number(partition)].discard(number(broker))

    def broker_hears_late_stop(self, partition: Any, broker: Any) -> None:
        """It is older than the replica."""
        self.late[number(partition)].discard(number(broker))

    def receive(self, request: dict[str, Any]) -> None:
        """Brokers take a request, unless a newer controller has sent one."""
        if request["controller_epoch"] < self.epoch:
            return
        self.epoch = request["controller_epoch"]
        partition, to = request["partition"], set(request["to"])
        if request["request"] == "LeaderAndIsr":
            self.known[partition] = set(request["replicas"])
            started = to if request["new"] else to & self.disks[partition]
            self.late[partition] |= self.stopping[partition] & started
            self.stopping[partition] -= started
            self.disks[partition] |= started
        elif request["request"] == "StopReplica" and request["delete"]:
            self.stopping[partition] |= to & self.disks[partition]

    def znodes(self) -> dict[str, Any]:
        """What is in ZooKeeper."""
        paths = [TOPIC, *(state_path(each) for each in self.partitions), PENDING, CANCEL, CONFIG]
        return {path: self.read(path) if self.zk.exists(self.root + path) else "(not there)" for path in paths}

    # The controller.

    def take_in(self, said: dict[str, Any]) -> None:
        self.said = said
        for request in said["sent"]:
            self.receive(request)

    def step(self, action: str, partition: Any = None) -> None:
        assert self.processes.leading is not None
        where = {} if partition is None else {"partition": number(partition)}
        self.take_in(self.processes.leading.ask(do=action, **where))

    def controller_fails_over(self) -> None:
        self.processes.kill()
        self.take_in(self.processes.fail_over())

    def dies_in(self, partition: Any) -> None:
        assert self.processes.leading is not None
        step = self.said["step"][str(number(partition))]
        self.processes.leading.ask_last(do=STEPS.get(step), partition=number(partition))
        self.controller_fails_over()

    def controller_dies_leading(self, partition: Any) -> None:
        self.dies_in(partition)

    def controller_dies_taking_offline(self, partition: Any) -> None:
        self.dies_in(partition)

    def controller_session_expires(self) -> None:
        assert self.processes.leading is not None
        self.replaced = self.processes.leading
        self.replaced.stand_still()
        self.take_in(self.processes.fail_over())

    def replaced_controller_goes_on(self) -> None:
        """It tries whatever it might take for due. Brokers get what it sends."""
        assert self.replaced is not None
        process, self.replaced = self.replaced, None
        process.go_on()
        might = [(action, each) for action in (*STEPS.values(), *EVENTS) for each in self.partitions]
        try:
            for action, partition in [*might, ("controller_drops_cancel", None)]:
                where = {} if partition is None else {"partition": partition}
                for request in self.tried(process, do=action, **where)["sent"]:
                    self.receive(request)
        finally:
            process.kill()

    def tried(self, process: Process, **command: Any) -> dict[str, Any]:
        """What a controller without a session says, once it has another one."""
        end = time.monotonic() + ANSWERS
        while time.monotonic() < end:
            said = process.ask(**command)
            if said["refused"] not in [error.__name__ for error in LOST]:
                return said
            time.sleep(RETRY)
        raise TimeoutError("a controller whose session has expired does not get another one")

    def controller_reads_cancel(self) -> None:
        self.step("controller_reads_cancel")

    def controller_drops_cancel(self) -> None:
        self.step("controller_drops_cancel")

    # What is observed.

    def named(self, brokers: Iterable[int]) -> set[str]:
        return {f"b{broker}" for broker in brokers}

    def of_each(self, found: Any) -> dict[str, Any]:
        return {f"p{each}": self.named(brokers) for each, brokers in found.items()}

    def entry(self, entry: Entry | None) -> dict[str, Any] | None:
        if entry is None:
            return None
        return {"target": self.named(entry.target),
                "original": None if entry.original is None else self.named(entry.original)}

    @observable
    def assigned(self) -> dict[str, Any]:
        return self.of_each(self.replicas())

    @observable
    def pending(self) -> dict[str, Any]:
        found = self.pending_entries()
        return {f"p{each}": self.entry(found.get(each)) for each in self.partitions}

    @observable
    def cancel_requested(self) -> bool:
        return self.zk.exists(self.root + CANCEL) is not None

    @observable
    def throttled(self) -> set[str]:
        return {f"p{each}" for each in self.throttles()}

    @observable
    def live(self) -> set[str]:
        names, _ = self.zk.call(GetChildren2(self.root + IDS, False))
        return {f"b{name}" for name in names}

    @observable(of=lambda model: {repr(each): model.replication[each].leader for each in model.replication})
    def leaders(self) -> dict[str, Any]:
        found = {each: state["leader"] for each, state in self.states().items()}
        return {f"p{each}": None if leader < 0 else f"b{leader}" for each, leader in found.items()}

    @observable(of=lambda model: {repr(each): model.replication[each].isr for each in model.replication})
    def isrs(self) -> dict[str, Any]:
        return {each: sorted(isr) for each, isr in
                self.of_each({each: state["isr"] for each, state in self.states().items()}).items()}

    @observable(of=lambda model: {repr(each): model.replication[each].known for each in model.replication})
    def known_replicas(self) -> dict[str, Any]:
        return {each: sorted(found) for each, found in self.of_each(self.known).items()}

    @observable(of=lambda model: {repr(each): model.replication[each].on_disk for each in model.replication})
    def on_disk(self) -> dict[str, Any]:
        return {each: sorted(found) for each, found in self.of_each(self.disks).items()}

    @observable(of=lambda model: {repr(each): model.replication[each].stops for each in model.replication})
    def stops(self) -> dict[str, Any]:
        return {each: sorted(found) for each, found in self.of_each(self.stopping).items()}

    @observable(of=lambda model: {repr(each): model.replication[each].late_stops for each in model.replication})
    def late_stops(self) -> dict[str, Any]:
        return {each: sorted(found) for each, found in self.of_each(self.late).items()}

    @observable
    def memory(self) -> dict[str, Any]:
        return self.of_each(self.said["memory"])

    @observable
    def context(self) -> dict[str, Any]:
        return {f"p{each}": None if not found else self.entry(entry_of(found))
                for each, found in self.said["context"].items()}

    @observable
    def unspread(self) -> set[str]:
        return {f"p{each}" for each in self.said["unspread"]}

    @observable
    def cancelling(self) -> bool:
        return bool(self.said["cancelling"])

    @observable
    def to_cancel(self) -> set[str]:
        return {f"p{each}" for each in self.said["to_cancel"]}

    @observable(of=lambda model: {repr(each): model.step[each].name for each in model.step})
    def steps(self) -> dict[str, str]:
        return {f"p{each}": step for each, step in self.said["step"].items()}

    @observable(of=lambda model: None)
    def refused(self) -> str | None:
        """What the controller says of a step that it does not take for due."""
        refused: str | None = self.said["refused"]
        return refused


for action in (*STEPS.values(), *EVENTS):
    setattr(ReassignmentAdapter, action, of_partition(action))
