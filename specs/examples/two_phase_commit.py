"""Two-phase commit as Gray and Lamport specify it in "Consensus on Transaction Commit" (2006), figure 3 and appendix.

The message pool only grows, as in their TLA+ text, so the counts can be compared with TLC's and Stateright's.
"""

from __future__ import annotations

from enum import Enum

from floodmark import (
    Constant,
    Identifier,
    Map,
    Model,
    Set,
    action,
    initial,
    invariant,
    reachable,
    require,
    transition,
)


class ResourceManager(Identifier, count="managers", prefix="rm"):
    """One participant of the transaction."""


class Manager(Enum):
    """What a resource manager has done."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Coordinator(Enum):
    """What the transaction manager has decided."""

    INIT = "init"
    COMMITTED = "committed"
    ABORTED = "aborted"


class TwoPhaseCommit(Model):
    """A transaction manager and ``managers`` resource managers that decide together."""

    managers = Constant(3)

    managers_state: Map[ResourceManager, Manager]
    coordinator: Coordinator
    prepared: Set[ResourceManager]
    prepared_messages: Set[ResourceManager]
    commit_message: bool
    abort_message: bool

    @initial
    def start(self) -> None:
        self.managers_state = Map({manager: Manager.WORKING for manager in ResourceManager})
        self.coordinator = Coordinator.INIT
        self.prepared = Set()
        self.prepared_messages = Set()
        self.commit_message = False
        self.abort_message = False

    @action
    def coordinator_receives_prepared(self, manager: ResourceManager) -> None:
        require(self.coordinator == Coordinator.INIT and manager in self.prepared_messages)
        self.prepared.add(manager)

    @action
    def coordinator_commits(self) -> None:
        require(self.coordinator == Coordinator.INIT and len(self.prepared) == self.managers)
        self.coordinator = Coordinator.COMMITTED
        self.commit_message = True

    @action
    def coordinator_aborts(self) -> None:
        require(self.coordinator == Coordinator.INIT)
        self.coordinator = Coordinator.ABORTED
        self.abort_message = True

    @action
    def manager_prepares(self, manager: ResourceManager) -> None:
        require(self.managers_state[manager] == Manager.WORKING)
        self.managers_state[manager] = Manager.PREPARED
        self.prepared_messages.add(manager)

    @action
    def manager_chooses_to_abort(self, manager: ResourceManager) -> None:
        require(self.managers_state[manager] == Manager.WORKING)
        self.managers_state[manager] = Manager.ABORTED

    @action
    def manager_learns_of_commit(self, manager: ResourceManager) -> None:
        require(self.commit_message)
        self.managers_state[manager] = Manager.COMMITTED

    @action
    def manager_learns_of_abort(self, manager: ResourceManager) -> None:
        require(self.abort_message)
        self.managers_state[manager] = Manager.ABORTED

    @invariant
    def consistent(self) -> bool:
        """No resource manager has committed while another has aborted (TCConsistent)."""
        return not (
            any(self.managers_state[manager] == Manager.COMMITTED for manager in ResourceManager)
            and any(self.managers_state[manager] == Manager.ABORTED for manager in ResourceManager)
        )

    @transition
    def stable(self, new: TwoPhaseCommit) -> bool:
        """A manager that has committed or aborted never does anything else (section 2, "Stability")."""
        return all(
            new.managers_state[manager] == self.managers_state[manager]
            for manager in ResourceManager
            if self.managers_state[manager] in (Manager.COMMITTED, Manager.ABORTED)
        )

    @reachable
    def all_committed(self) -> bool:
        """A transaction can commit."""
        return all(self.managers_state[manager] == Manager.COMMITTED for manager in ResourceManager)

    @reachable
    def prepared_managers_abort(self) -> bool:
        """A transaction can abort although every resource manager has said that it is prepared."""
        return len(self.prepared_messages) == self.managers and all(
            self.managers_state[manager] == Manager.ABORTED for manager in ResourceManager
        )
