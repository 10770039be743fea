"""Liveness of a distributed search, judged by the workers.

The partitions decide each goal, by elimination (``elimination.py``) or, for recoverability, by querying successors
(``recoverability.py``). Where a goal holds, sets of assumptions are tried in the native engine's order, smallest first,
so the first that suffices is the one that the native engine reports. Where it does not hold, the partitions build the
counterexample (``lasso.py``).

One case is left to the driver, which builds the whole graph as the native engine does: the run that was found may owe
its existence to a bound. Then others have to be tried, among those that are fair whatever may be enabled beyond it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import partial

from floodmark.checkers.liveness.assumptions import Assumption, Assumptions
from floodmark.checkers.liveness.components import FairnessLabels
from floodmark.checkers.liveness.goals import Goal, ViolationStart
from floodmark.checkers.liveness.minimal_fairness import Need, demands_of, satisfied_needs, smallest_need
from floodmark.checkers.liveness.witness import WitnessRuns
from floodmark.checkers.search_result import Finding
from floodmark.checkers.spark.cluster import Cluster
from floodmark.checkers.spark.elimination import Elimination
from floodmark.checkers.spark.elimination_loops import INITIAL
from floodmark.checkers.spark.elimination_tasks import FairRunQuery, StateSelection
from floodmark.checkers.spark.lasso import LassoSearch, way_to_unmarked
from floodmark.checkers.spark.reader import Packed
from floodmark.checkers.spark.recoverability import all_lead_to_goals
from floodmark.checkers.spark.rounds import ConditionFailure, EliminationRounds
from floodmark.checkers.spark.step_code import WORD, build_steps, words_of
from floodmark.language.bounding import beyond_bounds
from floodmark.language.conditions import Condition
from floodmark.language.model import Model, State


class LivenessCheck:
    """Judges goals of one model on a cluster."""

    def __init__(
        self, cluster: Cluster, model: Model, conditions: Sequence[Condition], assumptions: Assumptions,
        paused: Callable[[], None],
    ) -> None:  # fmt: skip
        self.model = model
        self.layout = cluster.interface.layout
        self.conditions = list(conditions)
        self.assumptions = list(assumptions.by_action.values())
        self.label_words = -(-assumptions.labels // WORD)
        beyond = beyond_bounds(model)
        self.bounded = bool(beyond or type(model).methods("boundary"))
        self.witness = WitnessRuns(model, assumptions, beyond)
        self.rounds = EliminationRounds(cluster, build_steps(model, conditions, assumptions), paused)

    def finding(self, goal: Goal) -> Finding | None:
        """The finding on a goal; None if it requires the whole graph."""
        try:
            found = self.rounds.answered(partial(self._finding, goal))
        except ConditionFailure as failing:
            state = self.layout.unpack(failing.state)
            for condition in self.conditions:
                condition.holds(self.model, state)
            raise RuntimeError(f"a condition fails in compiled code and not in CPython, in {state}") from None
        except RuntimeError:  # CPython takes other steps, perhaps since a byte of a state has changed
            self.confirm()
            raise
        if isinstance(found, Elimination):
            return _holds(goal, self._needs(goal, found.enabled))
        return None if found.verdict == "undetermined" else found

    def _finding(self, goal: Goal) -> Finding | Elimination:
        """The finding; where it holds by fairness, the elimination that left nothing."""
        if goal.breach is None:
            missed = StateSelection(self._bit(goal.goal), 0)
            if all_lead_to_goals(self.rounds, missed):
                return _holds(goal, ())
            return self.witness.lost(goal, self._unpacked(way_to_unmarked(self.rounds)), certain=not self.bounded)
        whole = self._elimination(goal, self.assumptions)
        if whole.leaves_nothing(noting=True):
            return whole
        recurring = partial(self._is_chosen, whole.question.chosen)
        way, loop = LassoSearch(whole, self.witness, demands_of(self.assumptions), recurring).run()
        return self.witness.lasso(goal, self._unpacked(way), self._unpacked(loop))

    def _unpacked(self, states: Sequence[Packed]) -> list[State]:
        return [self.layout.unpack(state) for state in states]

    def _is_chosen(self, chosen: StateSelection, state: State) -> bool:
        asked = [it for it in self.conditions if self._bit(it) & chosen.care]
        return sum(self._bit(it) for it in asked if it.holds(self.model, state)) == chosen.want

    def is_ever(self, condition: Condition) -> bool:
        """Whether a condition holds in some state; known once a goal was judged."""
        return bool(self.rounds.ever & self._bit(condition))

    def confirm(self) -> None:
        """Reads all states and tables again, as at the end of the search. Raises JobFailed."""
        self.rounds.cluster.verify()

    def close(self) -> None:
        """Removes the workers' files."""
        self.rounds.close()

    # Whether a goal holds under some assumptions.

    def _elimination(self, goal: Goal, assumptions: Sequence[Assumption]) -> Elimination:
        demands = demands_of(assumptions)
        missed = StateSelection(self._bit(goal.goal), 0)
        everywhere = StateSelection()
        assert goal.breach is not None
        inside, chosen = (everywhere, missed) if goal.breach.again_and_again else (missed, everywhere)
        match goal.breach.begins:
            case ViolationStart.ANYWHERE:
                roots = None
            case ViolationStart.INITIALLY:
                roots = StateSelection(INITIAL, INITIAL)
            case ViolationStart.AT_PREMISE:
                assert goal.starts is not None
                begun = self._bit(goal.starts)
                roots = StateSelection(begun, begun)
        return Elimination(self.rounds, self._question(inside, chosen, demands), roots)

    def _question(self, inside: StateSelection, chosen: StateSelection, demands: FairnessLabels) -> FairRunQuery:
        weak, strong = (words_of(labels, self.label_words) for labels in (demands.weak, demands.strong))
        return FairRunQuery(inside, chosen, weak, strong)

    def _bit(self, condition: Condition) -> int:
        return 1 << self.conditions.index(condition)

    # Which assumptions it needs.

    def _needs(self, goal: Goal, enabled: Set[tuple[int, ...]]) -> tuple[str, ...]:
        """The smallest set of assumptions that suffices.

        If a run could break the goal by staying in a state, one of the assumptions is needed of which a label is
        ``enabled`` there; that is known at once of all states. Of a set that does not suffice, no subset does either.
        """
        groups = {self._unmet_needs(words) for words in enabled}

        def breaks(chosen: list[Assumption]) -> list[frozenset[Need]] | None:
            if chosen == self.assumptions:
                return None
            if self.rounds.answered(self._elimination(goal, chosen).leaves_nothing):
                return None
            given = {need for it in chosen for need in satisfied_needs(it)}
            return [frozenset(need for it in self.assumptions for need in satisfied_needs(it)) - given]

        known = [group for group in groups if not any(other < group for other in groups)]
        chosen = smallest_need(self.assumptions, breaks, known)
        return tuple(str(assumption) for assumption in chosen)

    def _unmet_needs(self, words: tuple[int, ...]) -> frozenset[Need]:
        """The assumptions to which a run that stays in a state with these labels enabled is unfair."""
        enabled = sum(word << WORD * place for place, word in enumerate(words))
        return frozenset(
            need
            for it in self.assumptions if any(enabled >> label & 1 for label in it.labels)
            for need in satisfied_needs(it)
        )


def _holds(goal: Goal, needs: tuple[str, ...]) -> Finding:
    return Finding(goal.prop.name, goal.name, goal.arguments, "holds", needs=needs)
