"""Rankings of a liveness property, and CPython's evaluation of the steps that they have to explain.

``floodmark/language/rankings.py`` has the rule in words. Precisely, a state is *pending* if the goal is false and, for
a ``leads_to``, the premise true. A level explains a step between pending states if the levels above are unchanged, and
either its own ranking decreases, or it is unchanged and one of its helpers is enabled before the step. A level is
unchanged by a step if its ranking is the same, each helper has the same choice in its fairness (or none in both
states), no helper is taken, and each weakly fair helper that was enabled still is.

Soundness: take a run that is pending forever, and the first level that explains infinitely many of its steps. From some
point on the levels above explain no step. All later steps leave them unchanged, and this level as well unless its
ranking decreases, which happens finitely often. From then on the level is unchanged, none of its helpers is taken, and
at infinitely many steps one of them is enabled. As they are finitely many, one of them is enabled infinitely often. If
it is strongly fair, the run is unfair. If it is weakly fair, it stays enabled once it is, and the run is unfair, too.
Stuttering is a step like others; it follows that every pending state has a level with an enabled helper.

A helper is enabled if it changes the state and the boundary permits the new state; any step with the same successor
takes it. Nothing here depends on the number of states, or on the values of constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from floodmark.checkers.liveness.assumptions import Assumption, Assumptions
from floodmark.checkers.liveness.goals import Goal
from floodmark.checkers.project.properties import Property, _belongs, _property, known
from floodmark.checkers.project.spec import Spec
from floodmark.language.errors import SourceError
from floodmark.language.members import kind_of
from floodmark.language.model import Model, State
from floodmark.language.rankings import Ranks, ranks_of
from floodmark.language.reference import computing, parameter_types, successors, within_boundary

PROVABLE = ("leads_to", "always_eventually", "eventually")
"""The kinds that a ranking can prove. For an ``eventually``, it proves the goal from every reachable state."""


@dataclass(frozen=True, slots=True)
class FairHelper:
    """A helper with its fairness."""

    assumption: Assumption
    chosen: Mapping[str, Callable[..., Any]]

    @property
    def action(self) -> str:
        return self.assumption.action


@dataclass(frozen=True, slots=True)
class BoundRanking:
    """A ranking and its helpers, for one choice of the property's parameters."""

    prop: Property
    arguments: Mapping[str, Any]
    helpers: tuple[FairHelper, ...]

    @property
    def name(self) -> str:
        return self.prop.name


def rankings_of(spec: Spec, cls: type[Model], files: Sequence[Any] = ()) -> dict[str, list[Property]]:
    """The rankings about a class, by their property, each in the order of its file.

    Raises SourceError for one whose property does not exist, or is of a kind that no ranking proves.
    """
    properties = spec.properties(cls, tuple(files))
    provable = [name for name, prop in properties.items() if prop.kind in PROVABLE]
    found: dict[str, list[Property]] = {}
    own = [spec.project.load(file) for file in (*spec.invariant_files, *files)]
    for module in [*spec.invariant_modules(cls, "lemmas"), *own]:
        for name, function in vars(module).items():
            if not (callable(function) and kind_of(function) == "ranking" and _belongs(function, cls)):
                continue
            prop = _property(name, "ranking", function)
            for of in ranks_of(function).of:
                if of in properties and of not in provable:
                    message = f"{of} is @{properties[of].kind}, and a ranking proves only @{', @'.join(PROVABLE)}"
                    raise SourceError(message, prop.file, prop.line)
                found.setdefault(known(of, provable, "property of runs", prop.file, prop.line), []).append(prop)
    return found


def ranking_roots(spec: Spec, cls: type[Model]) -> list[Callable[..., Any]]:
    """Every function that a proof by rankings relies on, besides the model, its properties and lemmas."""
    found = [prop.function for rankings in rankings_of(spec, cls).values() for prop in rankings]
    chosen = [function for one in found for it in ranks_of(one).helpers for function in it.chosen.values()]
    return list(dict.fromkeys([*found, *chosen]))


def levels_of(model: Model, goal: Goal, rankings: Sequence[Property], assumptions: Assumptions) -> list[BoundRanking]:
    """The levels for a goal. Raises SourceError for a helper that is not fair, or not fully chosen."""
    found = []
    for prop in rankings:
        _require_parameters(model, goal, prop)
        helpers = _helpers(model, prop, ranks_of(prop.function), assumptions)
        found.append(BoundRanking(prop, goal.arguments, tuple(helpers)))
    return found


def _require_parameters(model: Model, goal: Goal, prop: Property) -> None:
    if list(parameter_types(model, prop.function)) != list(goal.arguments):
        takes = ", ".join(goal.arguments) or "none"
        message = f"{prop.name} must have the parameters of {goal.prop.name} behind the model: {takes}"
        raise SourceError(message, prop.file, prop.line)


def _helpers(model: Model, prop: Property, ranks: Ranks, assumptions: Assumptions) -> list[FairHelper]:
    actions = type(model).methods("action")
    found = []
    for it in ranks.helpers:
        known(it.action, actions, "action", prop.file, prop.line)
        assumption = assumptions.by_action.get(it.action)
        if assumption is None:
            message = f"{it.action} is not fair, so it helps nothing; declare it @fair, or under [fairness] in the spec"
            raise SourceError(message, prop.file, prop.line)
        for name in it.chosen:
            known(name, parameter_types(model, actions[it.action]), "parameter", prop.file, prop.line)
        for each in assumption.each:
            name = each.name
            if name != each.parameter:
                message = f"{it.action} is fair for each {name}, and a ranking is helped only for each parameter"
                instead = f": {each.parameter}" if each.parameter else ""
                raise SourceError(f"{message}{instead}", prop.file, prop.line)
            if name not in it.chosen:
                message = f"{it.action} is fair for each {name}; say which one helps: "
                message += f'helper("{it.action}", {name}=...), with a function of the model'
                raise SourceError(message, prop.file, prop.line)
        found.append(FairHelper(assumption, it.chosen))
    return found


@dataclass
class Explanations:
    """The rule above, evaluated by CPython from the model's class."""

    model: Model
    goal: Goal
    levels: Sequence[BoundRanking]
    assumptions: Assumptions
    _known: dict[State, list[tuple[int, State]]] = field(default_factory=dict)
    """The fair steps from a state, as pairs of a label and a successor."""

    def pending(self, state: State) -> bool:
        """Whether a state is pending."""
        starts = self.goal.starts
        begun = starts is None or starts.holds(self.model, state)
        return begun and not self.goal_holds(state)

    def goal_holds(self, state: State) -> bool:
        return self.goal.goal.holds(self.model, state)

    def helped(self, state: State) -> bool:
        """Whether a helper of some level is enabled."""
        return any(self._is_enabled(level, it, state) for level in self.levels for it in level.helpers)

    def rank(self, level: BoundRanking, state: State) -> int:
        found = self._value(level.prop.function, level, state)
        assert isinstance(found, int)
        return found

    def explained(self, before: State, after: State) -> bool:
        """Whether some level explains a step between two pending states, which may be the same."""
        for level in self.levels:
            kept = self._stays(level, before, after)
            if self.rank(level, after) < self.rank(level, before):
                return True
            if kept and any(self._is_enabled(level, it, before) for it in level.helpers):
                return True
            if not kept:
                return False
        return False

    def described(self, before: State, after: State | None) -> list[str]:
        """The rankings before and after a step, and the state of their helpers, as text."""
        return [self._level_text(level, before, after) for level in self.levels]

    def _level_text(self, level: BoundRanking, before: State, after: State | None) -> str:
        text = f"{level.name}: {self.rank(level, before)}"
        if after is not None:
            text += f" -> {self.rank(level, after)}" if self.pending(after) else " -> not pending"
        for it in level.helpers:
            enabled = self._is_enabled(level, it, before)
            how = "enabled" if enabled else "not enabled"
            if enabled and after in self._led_to(level, it, before):
                how = "taken"
            elif after is not None and enabled and not it.assumption.strong and not self._is_enabled(level, it, after):
                how = "enabled before the step only"
            text += f"; {it.assumption} {how}"
        return text

    def _stays(self, level: BoundRanking, before: State, after: State) -> bool:
        return self.rank(level, before) == self.rank(level, after) and all(
            self._label(level, it, before) == self._label(level, it, after)
            and after not in self._led_to(level, it, before)
            and (it.assumption.strong or not self._is_enabled(level, it, before) or self._is_enabled(level, it, after))
            for it in level.helpers
        )

    def _is_enabled(self, level: BoundRanking, it: FairHelper, state: State) -> bool:
        return bool(self._led_to(level, it, state))

    def _led_to(self, level: BoundRanking, it: FairHelper, state: State) -> set[State]:
        """The states to which a helper leads from a state, with the arguments for which it is fair."""
        label = self._label(level, it, state)
        if state not in self._known:
            self._known[state] = [
                (self.assumptions.label(self.model, state, step), after)
                for step, after in successors(self.model, state)
                if step.action in self.assumptions.by_action
                and after != state and within_boundary(self.model, after)
            ]  # fmt: skip
        return {after for by, after in self._known[state] if by == label}

    def _label(self, level: BoundRanking, it: FairHelper, state: State) -> int | None:
        """The label of the choice for which a helper helps; None if it does not help."""
        chosen = {name: self._value(function, level, state) for name, function in it.chosen.items()}
        if any(value is None for value in chosen.values()):
            return None
        return it.assumption.label_of([chosen[each.name] for each in it.assumption.each])

    def _value(self, function: Callable[..., Any], level: BoundRanking, state: State) -> Any:
        with computing(self.model, "a ranking returns a number, and what chooses for a helper a value"):
            return function(self.model.at(state), **level.arguments)
