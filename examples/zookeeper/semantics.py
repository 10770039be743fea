"""What ZooKeeper promises its clients, as far as the protocols in model/zk_controller and model/reassignment use it.

Clients write, read and watch the children of one znode, the parent: znodes with names, and items with sequence numbers.
Transactions are counted, so that ``created`` (czxid), ``modified`` (mzxid) and ``children_modified`` (pzxid) are the
number of a transaction. Where a client cannot know whether its request was carried out, because the connection is lost
with the answer, it was.

Watches are kept twice: ``armed`` by the server, ``registered`` by the client, until it hears that they have fired. An
event that has been sent is read together with the answer to the client's next request, before that answer.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    implies,
    initial,
    invariant,
    require,
    rule,
    transition,
)


class Client(Identifier, count="clients", prefix="c"):
    """A client, and its session. Once a session has ended the client begins another one."""


class Node(Identifier, count="nodes", prefix="n"):
    """A znode with a name of its own."""


Number = Annotated[int, Between(0, "max_writes")]
"""How many transactions have changed something, or the number of one of them."""
Count = Annotated[int, Between(0, "2 * max_writes")]
"""A transaction has at most two operations."""


class Znode(Record):
    """A znode's stat. ``owner`` is whose session an ephemeral one belongs to."""

    created: Number
    modified: Number
    version: Count
    owner: Client | None


class Item(Record):
    """A sequential znode, with the number in its name."""

    number: Count
    owner: Client | None


class Kind(Enum):
    """What an operation does."""

    CREATE = "create"
    CREATE_EPHEMERAL = "create, ephemeral"
    SET = "set"
    DELETE = "delete"
    CHECK = "check"


class Condition(Enum):
    """The version that a client quotes when it prepares an operation. A create quotes none."""

    ANY = "any"
    CURRENT = "the present one"
    NEXT = "one higher"


class Operation(Record):
    """A request to write, or a part of one. ``version`` is the one it quotes, None where any will do."""

    kind: Kind
    node: Node
    version: Annotated[int, Between(0, "2 * max_writes + 1")] | None


class Result(Enum):
    """What a client is told. ``NOTHING``: it has asked nothing, or its answer was lost."""

    NOTHING = "nothing"
    OK = "ok"
    NO_NODE = "there is no such znode"
    NODE_EXISTS = "there is such a znode"
    BAD_VERSION = "it has another version"
    EXPIRED = "the session has expired"


class Answer(Record):
    """The answer to a request.

    ``at`` is the number of the last transaction before it, or of its own. ``failed`` is which operation of a
    transaction failed, ``znode`` what was read or written, ``item`` the number of the item that was added.
    """

    result: Result
    at: Number
    failed: Annotated[int, Between(0, 2)]
    znode: Znode | None
    item: Count | None
    children: Set[Node]


class Connection(Enum):
    """A client's session, as the server has it."""

    CONNECTED = "connected"
    DISCONNECTED = "not connected, alive"
    ENDED = "expired or closed"


class Watch(Enum):
    """A watch on a znode. ``EXISTENCE`` is one on a znode that was not there."""

    NONE = "none"
    DATA = "data"
    EXISTENCE = "existence"


class Change(Enum):
    """What a client hears of when a watch fires."""

    CREATED = "created"
    DELETED = "deleted"
    CHANGED = "changed"
    CHILDREN = "children"


class Event(Record):
    """A watch has fired. ``node`` is None for the parent."""

    change: Change
    node: Node | None


class Znodes(Model):
    """Clients of one server."""

    clients = Constant(2)
    nodes = Constant(2)
    operations = Constant(2)
    max_writes = Constant(3)
    max_faults = Constant(2)

    # What the server has.
    znodes: Map[Node, Znode | None]
    items: Annotated[Seq[Item], Capacity("2 * max_writes")] = Seq[Item]()
    creates: Count = 0
    deletes: Annotated[int, Between(0, "2 * max_writes")] = 0
    children_modified: Number = 0
    written: Number = 0

    connections: Map[Client, Connection]
    armed: Map[Client, Map[Node, Watch]]
    children_armed: Set[Client] = Set()
    unread: Map[Client, Annotated[Seq[Event], Capacity("nodes + 1")]]

    # What the clients have.
    prepared: Map[Client, Annotated[Seq[Operation], Capacity("operations")]]
    registered: Map[Client, Map[Node, Watch]]
    children_registered: Set[Client] = Set()
    seen: Map[Client, Number]

    # What the last step told the client that took it.
    answer: Answer
    heard: Annotated[Seq[Event], Capacity("nodes + 1")] = Seq[Event]()

    faults: Annotated[int, Between(0, "max_faults")] = 0

    @initial
    def start(self) -> None:
        """There are no znodes, and every client is connected."""
        self.znodes = Map({node: None for node in Node})
        self.connections = Map({client: Connection.CONNECTED for client in Client})
        self.armed = Map({client: self.no_watches() for client in Client})
        self.unread = Map({client: Seq() for client in Client})
        self.prepared = Map({client: Seq() for client in Client})
        self.registered = Map({client: self.no_watches() for client in Client})
        self.seen = Map({client: 0 for client in Client})
        self.answer = self.silence()

    def no_watches(self) -> Map[Node, Watch]:
        return Map({node: Watch.NONE for node in Node})

    def silence(self) -> Answer:
        return Answer(result=Result.NOTHING, at=0, failed=0, znode=None, item=None, children=Set())

    # Watches fire once, in the transaction that changes what they are on.

    def tell(self, client: Client, event: Event) -> None:
        self.unread[client].append(event)

    @rule
    def fires(self, node: Node, change: Change) -> None:
        """Every watch on a znode fires, and is gone."""
        for client in Client:
            if self.armed[client][node] != Watch.NONE:
                self.armed[client][node] = Watch.NONE
                self.tell(client, Event(change=change, node=node))

    @rule
    def children_fire(self) -> None:
        """A child was created or deleted. What its data are is not the parent's affair."""
        for client in Client:
            if client in self.children_armed:
                self.children_armed.discard(client)
                self.tell(client, Event(change=Change.CHILDREN, node=None))

    # A request is answered, after everything that was sent before.

    def hear(self, client: Client) -> None:
        """The client reads the events that have been sent to it."""
        self.heard = self.unread[client]
        for event in self.unread[client]:
            if event.node is None:
                self.children_registered.discard(client)
            else:
                self.registered[client][event.node] = Watch.NONE
        self.unread[client] = Seq()
        self.seen[client] = self.written

    def say(self, client: Client, result: Result, failed: int = 0, znode: Znode | None = None,
            item: int | None = None) -> None:
        self.hear(client)
        self.answer = Answer(
            result=result, at=self.written, failed=failed, znode=znode, item=item, children=Set()
        )

    def say_nothing(self) -> None:
        """Nobody is told anything in this step."""
        self.heard = Seq()
        self.answer = self.silence()

    # Operations.

    def is_create(self, operation: Operation) -> bool:
        return operation.kind in (Kind.CREATE, Kind.CREATE_EPHEMERAL)

    @rule
    def outcome(self, znode: Znode | None, operation: Operation) -> Result:
        """How an operation ends, given the znode that is there when its turn comes."""
        if self.is_create(operation):
            return Result.OK if znode is None else Result.NODE_EXISTS
        if znode is None:
            return Result.NO_NODE
        if operation.version is not None and znode.version != operation.version:
            return Result.BAD_VERSION
        return Result.OK

    @rule
    def written_by(self, client: Client, znode: Znode | None, operation: Operation) -> Znode | None:
        """The znode after an operation that succeeds, in the next transaction."""
        number = self.written + 1
        if self.is_create(operation):
            owner = client if operation.kind == Kind.CREATE_EPHEMERAL else None
            return Znode(created=number, modified=number, version=0, owner=owner)
        if operation.kind == Kind.DELETE or znode is None:
            return None
        if operation.kind == Kind.SET:
            return Znode(created=znode.created, modified=number, version=znode.version + 1, owner=znode.owner)
        return znode

    def count(self, operation: Operation) -> None:
        """A create or a delete changes the parent's list of children."""
        if self.is_create(operation):
            self.creates += 1
            self.children_modified = self.written + 1
        elif operation.kind == Kind.DELETE:
            self.deletes += 1
            self.children_modified = self.written + 1

    @rule
    def notify(self, operation: Operation) -> None:
        """The watches on the znode fire before those on its parent."""
        if self.is_create(operation):
            self.fires(operation.node, Change.CREATED)
            self.children_fire()
        elif operation.kind == Kind.DELETE:
            self.fires(operation.node, Change.DELETED)
            self.children_fire()
        elif operation.kind == Kind.SET:
            self.fires(operation.node, Change.CHANGED)

    def carry_out(self, client: Client, operation: Operation) -> None:
        self.znodes[operation.node] = self.written_by(client, self.znodes[operation.node], operation)
        self.count(operation)
        self.notify(operation)

    # Requests.

    def may_ask(self, client: Client) -> bool:
        return self.connections[client] == Connection.CONNECTED and self.written < self.max_writes

    @action
    def client_prepares(self, client: Client, kind: Kind, node: Node, condition: Condition) -> None:
        """Chooses an operation, and the version that it will quote. Others can write before it is sent."""
        require(self.connections[client] == Connection.CONNECTED and len(self.prepared[client]) < self.operations)
        require(condition == Condition.ANY or kind not in (Kind.CREATE, Kind.CREATE_EPHEMERAL))
        require(condition == Condition.ANY or self.znodes[node] is not None)
        self.say_nothing()
        znode = self.znodes[node]
        version = None
        if znode is not None and condition != Condition.ANY:
            version = znode.version if condition == Condition.CURRENT else znode.version + 1
        self.prepared[client].append(Operation(kind=kind, node=node, version=version))

    @rule
    def refuse_second(self, client: Client, first: Operation) -> None:
        """What a transaction leaves behind whose second operation is refused: nothing."""

    def is_transaction(self, client: Client) -> bool:
        return len(self.prepared[client]) == 2

    def second_outcome(self, client: Client) -> Result:
        """How the second operation ends, which finds what the first one has done."""
        first = self.prepared[client][0]
        second = self.prepared[client][1]
        found = self.znodes[second.node]
        if second.node == first.node:
            found = self.written_by(client, found, first)
        return self.outcome(found, second)

    def carry_out_all(self, client: Client) -> None:
        """All operations are, in one transaction; a check alone changes nothing."""
        for operation in self.prepared[client]:
            self.carry_out(client, operation)
        if any(operation.kind != Kind.CHECK for operation in self.prepared[client]):
            self.written += 1

    @action
    def client_writes(self, client: Client, answered: bool) -> None:
        """Sends what it has prepared, two operations as one ``multi``: both are carried out, or none.

        The answer can be lost with the connection; then the client does not know whether it has written.
        """
        require(self.may_ask(client) and len(self.prepared[client]) > 0)
        require(self.is_transaction(client) or self.prepared[client][0].kind != Kind.CHECK)
        require(answered or self.faults < self.max_faults)
        first = self.prepared[client][0]
        result = self.outcome(self.znodes[first.node], first)
        failed = 1 if self.is_transaction(client) and result != Result.OK else 0
        if self.is_transaction(client) and result == Result.OK:
            result = self.second_outcome(client)
            if result != Result.OK:
                failed = 2
                self.refuse_second(client, first)
        if result == Result.OK:
            self.carry_out_all(client)
        alone = result == Result.OK and first.kind == Kind.SET and not self.is_transaction(client)
        self.prepared[client] = Seq()
        if answered:
            self.say(client, result, failed, self.znodes[first.node] if alone else None)
        else:
            self.say_nothing()
            self.break_connection(client)

    @rule
    def next_item(self) -> int:
        """How many children the parent has ever been given, those with names included."""
        return self.creates

    @action
    def client_adds_item(self, client: Client, ephemeral: bool) -> None:
        """Creates a sequential znode."""
        require(self.may_ask(client))
        number = self.next_item()
        self.items.append(Item(number=number, owner=client if ephemeral else None))
        self.creates += 1
        self.written += 1
        self.children_modified = self.written
        self.children_fire()
        self.say(client, Result.OK, 0, None, number)

    @action
    def client_removes_item(self, client: Client) -> None:
        """Deletes the first item."""
        require(self.may_ask(client) and len(self.items) > 0)
        self.items = self.items[1:]
        self.deletes += 1
        self.written += 1
        self.children_modified = self.written
        self.children_fire()
        self.say(client, Result.OK)

    @rule
    def leaves_watch(self, znode: Znode | None, data: bool) -> bool:
        """On a znode that is not there only ``exists`` leaves a watch."""
        return znode is not None or not data

    @action
    def client_reads(self, client: Client, node: Node, data: bool, watch: bool) -> None:
        """``exists``, or ``getData``. One request reads and leaves the watch."""
        require(self.connections[client] == Connection.CONNECTED)
        znode = self.znodes[node]
        self.say(client, Result.NO_NODE if znode is None else Result.OK, 0, znode)
        if watch and self.leaves_watch(znode, data):
            kind = Watch.EXISTENCE if znode is None else Watch.DATA
            self.armed[client][node] = kind
            self.registered[client][node] = kind

    @action
    def client_lists(self, client: Client, watch: bool) -> None:
        """``getChildren``."""
        require(self.connections[client] == Connection.CONNECTED)
        self.say(client, Result.OK)
        self.answer.children = Set(node for node in Node if self.znodes[node] is not None)
        if watch:
            self.children_armed.add(client)
            self.children_registered.add(client)

    # Connections and sessions.

    @rule
    def break_connection(self, client: Client) -> None:
        """The server forgets the connection's watches; what it has sent is lost."""
        self.faults += 1
        self.connections[client] = Connection.DISCONNECTED
        self.armed[client] = self.no_watches()
        self.children_armed.discard(client)
        self.unread[client] = Seq()

    @action
    def connection_breaks(self, client: Client) -> None:
        require(self.connections[client] == Connection.CONNECTED and self.faults < self.max_faults)
        self.say_nothing()
        self.break_connection(client)

    @action
    def client_reconnects(self, client: Client, resumes: bool) -> None:
        """Goes on with the session. ZooKeeper's client then sets its watches again, kazoo's does not."""
        require(self.connections[client] != Connection.CONNECTED)
        require(self.connections[client] == Connection.DISCONNECTED or not resumes)
        if self.connections[client] == Connection.DISCONNECTED:
            self.connections[client] = Connection.CONNECTED
            if resumes:
                self.resume(client)
                self.say(client, Result.OK)
            else:
                self.begin_again(client)
                self.say_nothing()
        else:
            self.connections[client] = Connection.CONNECTED
            self.forget(client)
            self.seen[client] = 0
            self.say_nothing()
            self.answer = self.silence().replace(result=Result.EXPIRED)

    def forget(self, client: Client) -> None:
        """The client has no watches."""
        self.registered[client] = self.no_watches()
        self.children_registered.discard(client)

    @rule
    def begin_again(self, client: Client) -> None:
        """What happens to the watches of a client that does not set them again."""
        self.forget(client)

    @rule
    def resume(self, client: Client) -> None:
        """What changed since the client has last seen something fires at once; the other watches are armed again.

        A znode that was created and deleted again in the meantime goes unnoticed by a watch on its existence, and one
        that was deleted and created again is reported as changed.
        """
        for node in Node:
            znode = self.znodes[node]
            if self.registered[client][node] == Watch.DATA:
                if znode is None:
                    self.tell(client, Event(change=Change.DELETED, node=node))
                elif znode.modified > self.seen[client]:
                    self.tell(client, Event(change=Change.CHANGED, node=node))
                else:
                    self.armed[client][node] = Watch.DATA
        for node in Node:
            if self.registered[client][node] == Watch.EXISTENCE:
                if self.znodes[node] is not None:
                    self.tell(client, Event(change=Change.CREATED, node=node))
                else:
                    self.armed[client][node] = Watch.EXISTENCE
        if client in self.children_registered:
            if self.children_modified > self.seen[client]:
                self.tell(client, Event(change=Change.CHILDREN, node=None))
            else:
                self.children_armed.add(client)

    def end(self, client: Client) -> None:
        """The session's ephemeral znodes go, all in one transaction. The server deletes them in any order.

        Here the events are in the order of the znodes, with the parent's last, and so are those that are compared.
        """
        before = self.deletes
        for node in Node:
            znode = self.znodes[node]
            if znode is not None and znode.owner == client:
                self.znodes[node] = None
                self.deletes += 1
                self.fires(node, Change.DELETED)
        for item in self.items:
            if item.owner == client:
                self.deletes += 1
        self.items = Seq(item for item in self.items if item.owner != client)
        if self.deletes > before:
            self.children_fire()
            self.written += 1
            self.children_modified = self.written

    @action
    def session_expires(self, client: Client) -> None:
        """The server has heard nothing for too long. The client learns of it when it comes back."""
        require(self.connections[client] == Connection.DISCONNECTED and self.written < self.max_writes)
        self.say_nothing()
        self.end(client)
        self.connections[client] = Connection.ENDED

    @action
    def session_is_closed(self, client: Client) -> None:
        """The client ends its session itself."""
        require(self.may_ask(client))
        self.say_nothing()
        self.armed[client] = self.no_watches()
        self.children_armed.discard(client)
        self.unread[client] = Seq()
        self.end(client)
        self.connections[client] = Connection.ENDED

    # What follows for whoever relies on it.

    @invariant
    def watches_are_complete(self) -> bool:
        """Who watches a znode and has heard nothing knows its present state: nothing that fires is left unsaid."""
        return all(
            implies(
                self.connections[client] == Connection.CONNECTED and self.registered[client][node] != Watch.NONE,
                (self.armed[client][node] == self.registered[client][node]
                and self.is_as_seen(client, node))
                or self.is_told(client, node),
            )
            for client in Client
            for node in Node
        )

    def is_as_seen(self, client: Client, node: Node) -> bool:
        znode = self.znodes[node]
        if znode is None:
            return self.registered[client][node] == Watch.EXISTENCE
        return self.registered[client][node] == Watch.DATA and znode.modified <= self.seen[client]

    def is_told(self, client: Client, node: Node) -> bool:
        return any(event.node == node for event in self.unread[client])

    @invariant
    def watches_fire_once(self) -> bool:
        """Nobody is told twice of the same znode without asking again."""
        return all(
            self.unread[client][one] != self.unread[client][other]
            for client in Client
            for one in range(len(self.unread[client]))
            for other in range(one)
        )

    @invariant
    def ephemeral_znodes_have_sessions(self) -> bool:
        """They are there as long as their session is, and so longer than a connection or a process."""
        return all(self.has_session(self.znodes[node]) for node in Node) and all(
            implies(item.owner is not None, self.lives(item.owner)) for item in self.items
        )

    def has_session(self, znode: Znode | None) -> bool:
        return znode is None or self.lives(znode.owner)

    def lives(self, owner: Client | None) -> bool:
        return owner is None or self.connections[owner] != Connection.ENDED

    @invariant
    def items_are_in_order(self) -> bool:
        """No sequence number is given twice, or after a higher one."""
        return all(
            self.items[one].number > self.items[other].number
            for one in range(len(self.items))
            for other in range(one)
        )

    @transition
    def versions_tell_writes_apart(self, new: Znodes) -> bool:
        """A znode with the same czxid and the same version is unchanged, so a conditional write succeeds once."""
        return all(
            implies(self.is_written(new, node), self.znodes[node] == new.znodes[node]) for node in Node
        )

    def is_written(self, new: Znodes, node: Node) -> bool:
        """Whether two states have the same znode in the same version."""
        one = self.znodes[node]
        other = new.znodes[node]
        if one is None or other is None:
            return False
        return one.created == other.created and one.version == other.version
