"""What is read of KIP-595's log: at active controllers, and at the observer that a client is connected to.

"This could lead to stale information being served to the observers and clients inside the cluster" (KIP-595, "Leader
Progress Timeout"). A leader does not know that it is a zombie before its fetch timer expires, so its answers may be
stale; a client that remembers the epoch of the last answer refuses those of an earlier one. The clients of an observer
know no epochs, and stay with it. The protocol itself is in model/kraft/quorum.py, where to begin.
"""

from __future__ import annotations

from floodmark import Map, Seq, action, initial, require, rule
from model.kraft.observers import KraftObservers
from model.kraft.quorum import Epoch, Log, Replica


class KraftReads(KraftObservers):
    """A client of whatever replica is an active controller."""

    known_epoch: Epoch
    """The epoch of the last answer that the client took."""
    answered: Log
    """History: that answer. An acknowledged write is one, too: it tells of everything up to what was written."""

    @initial
    def start(self) -> None:
        super().start()
        self.known_epoch = 0
        self.answered = Seq()

    @rule
    def known_records(self, replica: Replica) -> Log:
        """What a controller answers: nothing that may still be lost (KIP-595, "State Machine")."""
        return self.logs[replica][: self.high_watermark[replica]]

    @rule
    def is_late(self, epoch: Epoch) -> bool:
        """Whether the client refuses an answer, since it knows of a later leader."""
        return epoch < self.known_epoch

    @action
    def controller_answers(self, replica: Replica) -> None:
        """KIP-595, "Leader Progress Timeout": a client reads at an active controller
        (``QuorumController.appendReadEvent``).
        """
        epoch = self.quorum_state[replica].epoch
        require(self.is_active_controller(replica) and not self.is_late(epoch))
        self.known_epoch = epoch
        self.answered = self.known_records(replica)


class KraftObserverReads(KraftObservers):
    """The clients of the observers."""

    observed: Map[Replica, Log]
    """History: what each observer answered last, restarts included."""

    @initial
    def start(self) -> None:
        super().start()
        self.observed = Map({replica: Seq() for replica in Replica})

    @rule
    def serves(self, observer: Replica) -> bool:
        """An observer that has restarted waits until it knows again what is committed."""
        return self.high_watermark[observer] > 0

    @action
    def observer_answers(self, observer: Replica) -> None:
        """KIP-595, "Leader Progress Timeout": a client reads at an observer, a broker (``KRaftMetadataCache``)."""
        require(observer not in self.current_voters and self.serves(observer))
        self.observed[observer] = self.logs[observer][: self.high_watermark[observer]]
