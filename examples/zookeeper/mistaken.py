"""What one might believe of ZooKeeper, and what is not so: each differs from semantics.py in one rule.

That a real server contradicts every one of them shows what the comparison would notice.
"""

from __future__ import annotations

from semantics import Change, Client, Event, Kind, Node, Operation, Result, Watch, Znode, Znodes

from floodmark import Seq


class WatchesStay(Znodes):
    """A watch fires whenever the znode changes, until it is taken off."""

    def fires(self, node: Node, change: Change) -> None:
        for client in Client:
            if self.armed[client][node] != Watch.NONE and len(self.unread[client]) <= self.nodes:
                self.tell(client, Event(change=change, node=node))


class ParentHearsOfData(Znodes):
    """A watch on the children also fires when a child's data change."""

    def notify(self, operation: Operation) -> None:
        super().notify(operation)
        if operation.kind == Kind.SET:
            self.children_fire()


class AbsentCannotBeWatched(Znodes):
    """Nobody can watch a znode that is not there."""

    def leaves_watch(self, znode: Znode | None, data: bool) -> bool:
        return znode is not None


class WatchesOutliveConnections(Znodes):
    """The server keeps a session's watches until the client is back."""

    def begin_again(self, client: Client) -> None:
        self.resume(client)
        self.unread[client] = Seq()


class ResumingFiresAll(Znodes):
    """A client that comes back is told of each znode that it watched, changed or not."""

    def resume(self, client: Client) -> None:
        self.seen[client] = 0
        super().resume(client)


class EphemeralsNeedConnections(Znodes):
    """An ephemeral znode goes with the connection, not with the session."""

    def break_connection(self, client: Client) -> None:
        super().break_connection(client)
        if self.written < self.max_writes:
            self.end(client)


class VersionsAreAdvice(Znodes):
    """A write succeeds whichever version it quotes."""

    def outcome(self, znode: Znode | None, operation: Operation) -> Result:
        found = super().outcome(znode, operation)
        return Result.OK if found == Result.BAD_VERSION else found


class TransactionsFailHalfway(Znodes):
    """What comes in a transaction before the operation that is refused stays."""

    def refuse_second(self, client: Client, first: Operation) -> None:
        self.carry_out(client, first)
        if first.kind != Kind.CHECK:
            self.written += 1


class WritesRenewCzxid(Znodes):
    """A znode's czxid is that of its last write."""

    def written_by(self, client: Client, znode: Znode | None, operation: Operation) -> Znode | None:
        written = super().written_by(client, znode, operation)
        return None if written is None else written.replace(created=written.modified)


class ItemsAreNumberedApart(Znodes):
    """A sequential znode gets the number of the items that are there."""

    def next_item(self) -> int:
        return len(self.items)


BELIEFS = [
    WatchesStay, ParentHearsOfData, AbsentCannotBeWatched, WatchesOutliveConnections, ResumingFiresAll,
    EphemeralsNeedConnections, VersionsAreAdvice, TransactionsFailHalfway, WritesRenewCzxid, ItemsAreNumberedApart,
]
