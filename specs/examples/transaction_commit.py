"""Transaction commit, which says what two-phase commit is for, as Gray and Lamport specify it (2006, figure 2)."""

from __future__ import annotations

from floodmark import Constant, Map, Model, action, eventually, fair, initial, refines, require
from specs.examples.two_phase_commit import Manager, ResourceManager, TwoPhaseCommit


class TransactionCommit(Model):
    """Resource managers that know at once what all others have done."""

    managers = Constant(3)

    state: Map[ResourceManager, Manager]

    @initial
    def start(self) -> None:
        self.state = Map({manager: Manager.WORKING for manager in ResourceManager})

    @action
    def prepares(self, manager: ResourceManager) -> None:
        require(self.state[manager] == Manager.WORKING)
        self.state[manager] = Manager.PREPARED

    @fair(each="manager")
    @action
    def commits(self, manager: ResourceManager) -> None:
        """Everybody is prepared, or has committed already."""
        require(self.state[manager] == Manager.PREPARED)
        require(all(self.state[each] in (Manager.PREPARED, Manager.COMMITTED) for each in ResourceManager))
        self.state[manager] = Manager.COMMITTED

    @fair(each="manager")
    @action
    def aborts(self, manager: ResourceManager) -> None:
        """Nobody has committed."""
        require(self.state[manager] in (Manager.WORKING, Manager.PREPARED))
        require(all(self.state[each] != Manager.COMMITTED for each in ResourceManager))
        self.state[manager] = Manager.ABORTED

    @eventually
    def everybody_decides(self) -> bool:
        return all(self.state[manager] in (Manager.COMMITTED, Manager.ABORTED) for manager in ResourceManager)


@refines
def as_transaction_commit(model: TwoPhaseCommit) -> TransactionCommit:
    """Two-phase commit does nothing that transaction commit would not do: messages and the coordinator do not count."""
    return TransactionCommit(managers=model.managers, state=model.managers_state)
