"""Controllers with one mistake each, as in specs/reassignment/flawed.py, and mistakes that only a real one can make.

``python examples/zookeeper/hunt.py`` finds them out: the first fault that a walk meets is shortened and shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from controller import CANCEL, EPOCH, Controller, Writes, due


class SkipsAsWritten(Controller):
    """KIP-236's second rule: skip if no original replica is in the ISR and some new one is alive."""

    def may_cancel(self, partition: int) -> bool:
        entry = self.work[partition].context
        if entry is None or entry.original is None:
            return False
        return bool(entry.original & self.state(partition).isr) or not entry.target & self.live()


class CancelsFinished(Controller):
    """An entry that a crash has left after step 10 is cancelled, though its target has been reached."""

    def is_undone(self, partition: int) -> bool:
        return True


class ShrinksIsrLater(Controller):
    """KIP-236, steps 2 and 3: the leader hears of the smaller replica set first, and the ISR shrinks a step later."""

    def isr_led_by(self, isr: frozenset[int], wanted: frozenset[int]) -> frozenset[int]:
        return isr


class StopsWrongSet(Controller):
    """Steps 3 and 4 on the set that KIP-236 names in step 2: the original replicas without the target."""

    def leaving(self, partition: int) -> frozenset[int]:
        return self.original(partition) - self.context(partition).target


class DropsCancelEarly(Controller):
    """The cancel znode goes too early: when the original replicas are persisted, before the entry goes."""

    def may_drop_cancel(self) -> bool:
        return all(self.work[partition].step == "DROP_CANCELLED" for partition in self.to_cancel)


class DropsEntryFirst(Controller):
    """Steps 5 and 6 the other way around: a crash between them leaves both replica sets assigned, and no entry."""

    def cancel_4_deletes_added(self, partition: int) -> None:
        super().cancel_4_deletes_added(partition)
        self.work[partition].step = "DROP_CANCELLED"

    def cancel_6_drops_entry(self, partition: int) -> None:
        context = self.work[partition].context
        super().cancel_6_drops_entry(partition)
        self.work[partition].context = context
        self.work[partition].step = "PERSIST_ORIGINAL"

    def cancel_5_persists_original(self, partition: int) -> None:
        super().cancel_5_persists_original(partition)
        self.work[partition].context = None
        self.work[partition].step = "SPREAD_CANCELLED"


class PersistsTargetFirst(Controller):
    """The target is persisted before the old replicas are stopped, and nobody knows any more which those are."""

    def step_7_leads_from_target(self, partition: int) -> None:
        super().step_7_leads_from_target(partition)
        if self.work[partition].step == "TAKE_OLD_OFFLINE":
            self.write_assigned(partition, self.context(partition).target)


class UnthrottlesLast(Controller):
    """The throttle goes after the entry; after a crash in between nobody takes it off."""

    def cancel_5_persists_original(self, partition: int) -> None:
        super().cancel_5_persists_original(partition)
        self.work[partition].step = "DROP_CANCELLED"

    def cancel_6_drops_entry(self, partition: int) -> None:
        super().cancel_6_drops_entry(partition)
        if partition in self.throttled()[0]:
            self.work[partition].step = "UNTHROTTLE"

    def cancelled_is_unthrottled(self, partition: int) -> None:
        super().cancelled_is_unthrottled(partition)
        self.work[partition].step = "SPREAD_CANCELLED"


class DropsWholeZnode(Controller):
    """``/admin/reassign_partitions`` is deleted when one partition is done, although another is pending."""

    def dropped_with(self, partition: int) -> Iterable[int]:
        return self.work


# What only a real controller can get wrong.


class WatchesCancelOnly(Controller):
    """A new controller sets a watch on the cancel znode, and does not look whether it is there already."""

    overlooked = False

    def look_for_cancel(self) -> None:
        self.overlooked = self.client.exists(self.root + CANCEL, watch=lambda _: None) is not None

    def controller_reads_cancel(self) -> None:
        due(not self.overlooked)
        super().controller_reads_cancel()


class WritesWhenReplaced(Controller):
    """Nothing makes sure that this controller has not been replaced in the meantime."""

    def condition(self) -> Callable[[Any], Any]:
        """The epoch is there, whichever it is."""
        return lambda transaction: transaction.check(self.root + EPOCH, -1)


class DropsCancelWhenRead(Controller):
    """The cancel znode is deleted as soon as it is read. After a crash nothing says that it was there."""

    def read_cancel(self) -> None:
        super().read_cancel()
        writes = Writes()
        writes.delete(self.root + CANCEL, -1)
        self.commit(writes)

    def controller_drops_cancel(self) -> None:
        due(self.cancelling and self.may_drop_cancel())
        self.cancelling = False


DESIGNS = [
    SkipsAsWritten, CancelsFinished, ShrinksIsrLater, StopsWrongSet, DropsCancelEarly, DropsEntryFirst,
    PersistsTargetFirst, UnthrottlesLast, DropsWholeZnode, WatchesCancelOnly, WritesWhenReplaced, DropsCancelWhenRead,
]
