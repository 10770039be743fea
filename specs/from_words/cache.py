"""Lamport's write-through cache (Specifying Systems, chapter 5): processors read and write a memory through caches."""

from enum import Enum
from typing import Annotated

from floodmark import (
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    action,
    initial,
    invariant,
    refines,
    require,
)


class Processor(Identifier, count="processors", prefix="p"):
    """A processor with a cache of its own."""


class Address(Identifier, count="addresses", prefix="a"):
    """A word of the memory."""


class Value(Identifier, count="values", prefix="v"):
    """What a word can hold."""


class Control(Enum):
    READY = 0
    BUSY = 1
    WAITING = 2
    DONE = 3


class Read(Record):
    address: Address


class Write(Record):
    address: Address
    value: Value


class Answer(Record):
    """The value that a read returns."""

    value: Value


class Queued(Record):
    processor: Processor
    request: Read | Write


class Event(Record):
    """What passed last between the processors and the memory."""

    processor: Processor
    content: Read | Write | Answer | None


class Memory(Model):
    """What the processors see: a memory that carries out each request at once."""

    processors = Constant(2)
    addresses = Constant(1)
    values = Constant(2)
    interface: Event
    memory: Map[Address, Value]
    control: Map[Processor, Control]
    buffer: Map[Processor, Read | Write | Answer | None]

    @initial
    def start(self, memory: Map[Address, Value]) -> None:
        self.memory = memory
        self.interface = Event(processor=Processor(1), content=None)
        self.control = Map({p: Control.READY for p in Processor})
        self.buffer = Map({p: None for p in Processor})

    @action
    def processor_requests(self, processor: Processor, request: Read | Write) -> None:
        require(self.control[processor] == Control.READY)
        self.interface = Event(processor=processor, content=request)
        self.buffer[processor] = request
        self.control[processor] = Control.BUSY

    @action
    def request_is_done(self, processor: Processor) -> None:
        request = self.buffer[processor]
        require(self.control[processor] == Control.BUSY)
        assert isinstance(request, Read | Write)
        if isinstance(request, Write):
            self.memory[request.address] = request.value
            self.buffer[processor] = None
        else:
            self.buffer[processor] = Answer(value=self.memory[request.address])
        self.control[processor] = Control.DONE

    @action
    def memory_responds(self, processor: Processor) -> None:
        require(self.control[processor] == Control.DONE)
        self.interface = Event(processor=processor, content=self.buffer[processor])
        self.control[processor] = Control.READY


class Cache(Model):
    """A memory behind a queue, and a cache for each processor."""

    processors = Constant(2)
    addresses = Constant(1)
    values = Constant(2)
    queue_length = Constant(1)
    interface: Event
    memory: Map[Address, Value]
    control: Map[Processor, Control]
    buffer: Map[Processor, Read | Write | Answer | None]
    cache: Map[Processor, Map[Address, Value | None]]
    queue: Annotated[Seq[Queued], Capacity("queue_length")]

    @initial
    def start(self, memory: Map[Address, Value]) -> None:
        self.memory = memory
        self.interface = Event(processor=Processor(1), content=None)
        self.control = Map({p: Control.READY for p in Processor})
        self.buffer = Map({p: None for p in Processor})
        self.cache = Map({p: Map({a: None for a in Address}) for p in Processor})
        self.queue = Seq()

    @action
    def processor_requests(self, processor: Processor, request: Read | Write) -> None:
        require(self.control[processor] == Control.READY)
        self.interface = Event(processor=processor, content=request)
        self.buffer[processor] = request
        self.control[processor] = Control.BUSY

    @action
    def memory_responds(self, processor: Processor) -> None:
        require(self.control[processor] == Control.DONE)
        self.interface = Event(processor=processor, content=self.buffer[processor])
        self.control[processor] = Control.READY

    @action
    def read_misses(self, processor: Processor) -> None:
        request = self.buffer[processor]
        require(self.control[processor] == Control.BUSY)
        require(isinstance(request, Read))
        assert isinstance(request, Read)
        require(self.cache[processor][request.address] is None)
        require(len(self.queue) < self.queue_length)
        self.queue.append(Queued(processor=processor, request=request))
        self.control[processor] = Control.WAITING

    @action
    def read_is_done(self, processor: Processor) -> None:
        request = self.buffer[processor]
        require(self.control[processor] == Control.BUSY or self.control[processor] == Control.WAITING)
        require(isinstance(request, Read))
        assert isinstance(request, Read)
        found = self.cache[processor][request.address]
        require(found is not None)
        assert found is not None
        self.buffer[processor] = Answer(value=found)
        self.control[processor] = Control.DONE

    @action
    def write_is_done(self, processor: Processor) -> None:
        request = self.buffer[processor]
        require(self.control[processor] == Control.BUSY)
        require(isinstance(request, Write))
        assert isinstance(request, Write)
        require(len(self.queue) < self.queue_length)
        for other in Processor:
            if other == processor or self.cache[other][request.address] is not None:
                self.cache[other][request.address] = request.value
        self.queue.append(Queued(processor=processor, request=request))
        self.buffer[processor] = None
        self.control[processor] = Control.DONE

    @action
    def memory_writes(self) -> None:
        require(len(self.queue) > 0)
        request = self.queue[0].request
        require(isinstance(request, Write))
        assert isinstance(request, Write)
        self.memory[request.address] = request.value
        self.queue = self.queue[1:]

    def current(self, address: Address) -> Value:
        """The memory's value after all writes in the queue."""
        value = self.memory[address]
        for queued in self.queue:
            request = queued.request
            if isinstance(request, Write) and request.address == address:
                value = request.value
        return value

    @action
    def memory_reads(self) -> None:
        require(len(self.queue) > 0)
        first = self.queue[0]
        request = first.request
        require(isinstance(request, Read))
        assert isinstance(request, Read)
        self.cache[first.processor][request.address] = self.current(request.address)
        self.queue = self.queue[1:]

    @action
    def cache_evicts(self, processor: Processor, address: Address) -> None:
        require(not (self.control[processor] == Control.WAITING and self.wants(processor, address)))
        self.cache[processor][address] = None

    def wants(self, processor: Processor, address: Address) -> bool:
        request = self.buffer[processor]
        return isinstance(request, Read) and request.address == address

    @invariant
    def caches_agree(self) -> bool:
        """Two caches that hold an address hold the same value."""
        return all(
            self.cache[one][address] == self.cache[other][address]
            for one in Processor
            for other in Processor
            for address in Address
            if self.cache[one][address] is not None and self.cache[other][address] is not None
        )

    @refines
    def as_memory(self) -> Memory:
        """Nothing can be seen at the interface that a memory without caches would not do."""
        return Memory(
            processors=self.processors,
            addresses=self.addresses,
            values=self.values,
            interface=self.interface,
            memory=Map({address: self.current(address) for address in Address}),
            control=Map({
                p: Control.BUSY if self.control[p] == Control.WAITING else self.control[p] for p in Processor
            }),
            buffer=self.buffer,
        )
