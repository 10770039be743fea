"""Lamport's mutual exclusion (Time, Clocks, and the Ordering of Events in a Distributed System, 1978)."""

from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    boundary,
    initial,
    invariant,
    reachable,
    require,
)

Process = Annotated[int, Between(1, "processes")]
Clock = Annotated[int, Between(0, "last_clock")]


class Request(Record):
    clock: Clock


class Acknowledgement(Record):
    """Its sender has the request."""


class Release(Record):
    """Its sender has left the critical section."""


Message = Request | Acknowledgement | Release


class Mutex(Model):
    """Processes with clocks and a queue of messages from each to each other."""

    processes = Constant(3)
    last_clock = Constant(7)
    clock: Map[Process, Clock]
    requested: Map[Process, Map[Process, Clock]]
    acknowledged: Map[Process, Set[Process]]
    network: Map[Process, Map[Process, Annotated[Seq[Message], Capacity(3)]]]
    critical: Set[Process]

    @initial
    def start(self) -> None:
        everybody = range(1, self.processes + 1)
        self.clock = Map({p: 1 for p in everybody})
        self.requested = Map({p: Map({q: 0 for q in everybody}) for p in everybody})
        self.acknowledged = Map({p: Set() for p in everybody})
        self.network = Map({p: Map({q: Seq() for q in everybody}) for p in everybody})
        self.critical = Set()

    @boundary
    def clocks_are_small(self) -> bool:
        return all(self.clock[p] < self.last_clock for p in range(1, self.processes + 1))

    @action
    def requests(self, process: Process) -> None:
        require(self.requested[process][process] == 0)
        self.requested[process][process] = self.clock[process]
        self.broadcast(process, Request(clock=self.clock[process]))
        self.acknowledged[process] = Set({process})

    def broadcast(self, sender: Process, message: Message) -> None:
        for receiver in range(1, self.processes + 1):
            if receiver != sender:
                self.network[sender][receiver].append(message)

    @action
    def receives_request(self, process: Process, sender: Process) -> None:
        require(len(self.network[sender][process]) > 0)
        message = self.network[sender][process][0]
        require(isinstance(message, Request))
        self.requested[process][sender] = message.clock
        self.clock[process] = max(self.clock[process], message.clock) + 1
        self.network[sender][process] = self.network[sender][process][1:]
        self.network[process][sender].append(Acknowledgement())

    @action
    def receives_acknowledgement(self, process: Process, sender: Process) -> None:
        require(len(self.network[sender][process]) > 0)
        require(isinstance(self.network[sender][process][0], Acknowledgement))
        self.acknowledged[process].add(sender)
        self.network[sender][process] = self.network[sender][process][1:]

    @action
    def receives_release(self, process: Process, sender: Process) -> None:
        require(len(self.network[sender][process]) > 0)
        require(isinstance(self.network[sender][process][0], Release))
        self.requested[process][sender] = 0
        self.network[sender][process] = self.network[sender][process][1:]

    def goes_before(self, process: Process, other: Process) -> bool:
        mine, its = self.requested[process][process], self.requested[process][other]
        return its == 0 or mine < its or (mine == its and process < other)

    @action
    def enters(self, process: Process) -> None:
        require(len(self.acknowledged[process]) == self.processes)
        require(all(self.goes_before(process, q) for q in range(1, self.processes + 1) if q != process))
        self.critical.add(process)

    @action
    def leaves(self, process: Process) -> None:
        require(process in self.critical)
        self.critical.remove(process)
        self.broadcast(process, Release())
        self.requested[process][process] = 0
        self.acknowledged[process] = Set()

    @invariant
    def one_in_the_critical_section(self) -> bool:
        return len(self.critical) <= 1

    @reachable
    def each_can_enter(self) -> bool:
        return 1 in self.critical
