"""Known-bad designs that answer clients with what is stale, or lost later."""

from __future__ import annotations

from model.kraft.quorum import Epoch, Kind, Log, Message, Offset, QuorumState, Replica, Role
from model.kraft.reads import KraftObserverReads, KraftReads


class TakesAnyAnswer(KraftReads):
    """A client takes the answer of any replica that says that it leads (KIP-595, "Leader Progress Timeout": stale
    information).

    The timeout ends this, but not at once: a leader is a zombie for as long as its timer runs.
    """

    def is_late(self, epoch: Epoch) -> bool:
        return False


class AnswersToLogEnd(KraftReads):
    """What is in the log is answered, committed or not."""

    def known_records(self, replica: Replica) -> Log:
        return self.logs[replica]


class ServesAtOnce(KraftObserverReads):
    """An observer that has restarted answers before it knows again what is committed."""

    def serves(self, observer: Replica) -> bool:
        return True


class ObserverForgetsEpoch(KraftObserverReads):
    """An observer, which votes for nobody, has no quorum-state file; after a restart it follows the leader of any
    epoch.

    That may be the zombie that all others have left.
    """

    def resume(self, replica: Replica) -> None:
        if replica in self.current_voters:
            super().resume(replica)
        else:
            self.quorum_state[replica] = QuorumState(epoch=0, leader=None, voted_key=None)


class LeadsWithOldHighWatermark(KraftReads):
    """A new leader answers from the high watermark that it had as a follower (B-M9; Kafka, transitionToLeader)."""

    def forget_high_watermark(self, leader: Replica) -> None:
        pass


class ResignedControllerAnswers(KraftReads):
    """A controller answers whose replica has resigned and forgotten its high watermark (B-M17, KAFKA-17333)."""

    def is_active_controller(self, replica: Replica) -> bool:
        return self.quorum_state[replica].leader == replica


class ControllerAnswersAtOnce(KraftReads):
    """A controller answers as soon as its replica leads, before it has everything committed earlier (B-M17,
    KAFKA-15345).
    """

    def is_active_controller(self, replica: Replica) -> bool:
        return self.role[replica] == Role.LEADER


class LearnsFromAnybody(KraftObserverReads):
    """A replica that does not lead answers a fetch with the high watermark that it knows, and the fetcher adopts it for
    its own log, which may have diverged.
    """

    def handle_response(self, kind: Kind, response: Message) -> None:
        super().handle_response(kind, response)
        if kind == Kind.FETCH and response.kind == Kind.CURRENT_LEADER:
            replica = response.destination
            known: Offset = min(self.high_watermark[response.source], len(self.logs[replica]))
            self.high_watermark[replica] = max(self.high_watermark[replica], known)
