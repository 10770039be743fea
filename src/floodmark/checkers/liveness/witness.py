"""Replays lassos in CPython: the model's class takes each step again, and the run is verified to be fair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from floodmark.checkers.liveness.assumptions import Assumption, Assumptions
from floodmark.checkers.liveness.disabling_guard import why_disabled
from floodmark.checkers.liveness.goals import Goal, ViolationStart
from floodmark.checkers.liveness.mapped_runs import is_taken, mapped_bounds, mapped_run_lines
from floodmark.checkers.search_result import FairReason, Finding, TraceState
from floodmark.checkers.value_text import show
from floodmark.language.bound_dependence import UnboundedModel
from floodmark.language.bounding import UnboundedAction, bounds_of, is_within, mentioned_bounds, widens
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.partial_values import BoundDependence
from floodmark.language.reference import (
    Step,
    choices,
    fire,
    initial_states,
    parameter_types,
    successors,
    within_boundary,
)

RunVerdict = Literal["violated", "undetermined"]

MAX_CHOICES = 8
"""The maximum number of choices of an action that are all explained; with more, only those enabled in the loop are."""


@dataclass
class WitnessRuns:
    """Replays runs of one model."""

    model: Model
    assumptions: Assumptions
    beyond: dict[str, UnboundedAction]
    known: dict[State, list[tuple[Step, State]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.unbounded = UnboundedModel(self.model)

    def lost(self, goal: Goal, way: Sequence[State], certain: bool) -> Finding:
        """A run to a state from which the goal is unreachable; ``certain`` if it is unreachable beyond the bounds, too.

        A goal that mentions a bound may hold in other states there.
        """
        certain = certain and not mentioned_bounds(self.model, goal.goal.function)
        trace = self._replayed(way)
        if goal.goal.holds(self.model, trace[-1].state):
            raise RuntimeError(f"{goal.name}: a state that cannot lead to the goal is one; it is {trace[-1].state}")
        bounds: tuple[str, ...] = ()
        if not certain or not self._outlives_bounds(goal, trace, None):
            bounds = tuple(sorted({it for found in self._beyond(trace[-1].state).values() for it in found}))
            bounds = bounds or self._all_bounds()
        verdict: RunVerdict = "undetermined" if bounds else "violated"
        return Finding(goal.prop.name, goal.name, goal.arguments, verdict, trace, bounds=bounds)

    def lasso(self, goal: Goal, way: Sequence[State], loop: Sequence[State]) -> Finding:
        """A fair run that violates a goal: a violation, unless without the bounds it may be unfair or a different run.
        """
        trace = self._replayed([*way, *loop])
        start = len(way) - 1
        self._confirm(goal, trace, start)
        fair = tuple(self._reasons(trace, start))
        if goal.prop.mapping is not None:
            bounds = (*self._all_bounds(), *mapped_bounds(goal))
        else:
            bounds = self._unfair_beyond(trace, start)
            if not bounds and not self._outlives_bounds(goal, trace, start):
                bounds = self._all_bounds()
        verdict: RunVerdict = "undetermined" if bounds else "violated"
        mapped = tuple(mapped_run_lines(goal, self.model, trace, start))
        return Finding(goal.prop.name, goal.name, goal.arguments, verdict, trace, start, fair, bounds, mapped=mapped)

    # The steps.

    def _replayed(self, states: Sequence[State]) -> tuple[TraceState, ...]:
        first = next((step for step, state in initial_states(self.model) if state == states[0]), None)
        if first is None:
            raise RuntimeError(f"compiled code begins where CPython does not, in {states[0]}")
        trace = [TraceState(first, states[0])]
        for state in states[1:]:
            step = next((step for step, after in self.steps(trace[-1].state) if after == state), None)
            if step is None:
                raise RuntimeError(f"compiled code took a step that CPython does not take, to {state}")
            trace.append(TraceState(step, state))
        return tuple(trace)

    def steps(self, state: State) -> list[tuple[Step, State]]:
        """The steps that change a state and stay within the boundary."""
        if state not in self.known:
            found = [(step, after) for step, after in successors(self.model, state) if after != state]
            self.known[state] = [(step, after) for step, after in found if within_boundary(self.model, after)]
        return self.known[state]

    # The run breaks the goal.

    def _confirm(self, goal: Goal, trace: Sequence[TraceState], start: int) -> None:
        """Raises RuntimeError, which is an internal error, if CPython finds the goal where compiled code does not."""
        missed = [not goal.goal.holds(self.model, entry.state) for entry in trace]
        assert goal.breach is not None
        match goal.breach.begins:
            case ViolationStart.ANYWHERE:
                begun = [start]
            case ViolationStart.INITIALLY:
                begun = [0]
            case ViolationStart.AT_PREMISE:
                assert goal.starts is not None
                before = trace[: start + 1]
                begun = [place for place, it in enumerate(before) if goal.starts.holds(self.model, it.state)]
        if any(is_taken(goal, self.model, before.state, after.state) for before, after in pairwise(trace[start:])):
            raise RuntimeError(f"{goal.name}: compiled code says that no step of a loop is one, CPython that one is")
        misses = any if goal.breach.again_and_again else all
        if not any(misses(missed[place:]) for place in begun):
            raise RuntimeError(f"{goal.name}: compiled code says that a run misses the goal, CPython that it does not")

    # The run is fair.

    def _reasons(self, trace: Sequence[TraceState], start: int) -> Iterator[FairReason]:
        enabled = {label for entry in trace[start:] for label in self.enabled(entry.state)}
        for assumption in self.assumptions.by_action.values():
            own = sorted(label for label in enabled if assumption.has(label))
            every = assumption.all_labels(MAX_CHOICES) or own
            if not assumption.each or not every:
                every = own or [assumption.first]
            for label in every:
                if label in own:
                    yield FairReason(
                        self._fairness_text(assumption, label), self._reason(assumption, label, trace, start)
                    )
                else:
                    meant = label if assumption.each and assumption.all_labels(MAX_CHOICES) else None
                    why = self._why(assumption, meant, trace, start)
                    name = str(assumption) if meant is None else self._fairness_text(assumption, label)
                    yield FairReason(name, f"never enabled: {why}")

    def _reason(self, assumption: Assumption, label: int, trace: Sequence[TraceState], start: int) -> str:
        """Why a loop is fair to a label that is enabled in it. Raises RuntimeError if CPython disagrees."""
        for place in range(start + 1, len(trace)):
            before, after = trace[place - 1].state, trace[place].state
            if label in self.labels(before, after):
                return f"taken at step {place + 1}"
        idle = [place for place in range(start, len(trace)) if label not in self.enabled(trace[place].state)]
        if assumption.strong or not idle:
            raise RuntimeError(f"compiled code calls a loop fair for {assumption}, CPython does not")
        return f"not enabled after step {idle[0] + 1}: {self._why(assumption, label, trace, idle[0])}"

    def enabled(self, state: State) -> set[int]:
        """The labels of the steps that change a state and stay within the boundary."""
        return {self._label(state, step) for step, _ in self.steps(state)}

    def labels(self, before: State, after: State) -> set[int]:
        """The labels of the steps from one state to another."""
        steps = (step for step, to in self.steps(before) if to == after)
        return {self._label(before, step) for step in steps}

    def _label(self, state: State, step: Step) -> int:
        return self.assumptions.label(self.model, state, step)

    def _why(self, assumption: Assumption, label: int | None, trace: Sequence[TraceState], place: int) -> str:
        state = trace[place].state

        def is_meant(step: Step) -> bool:
            return label is None or self._label(state, step) == label

        return why_disabled(self.model, state, assumption.action, is_meant)

    def _fairness_text(self, assumption: Assumption, label: int) -> str:
        """An assumption in words, for one choice of its parameters."""
        text = str(assumption)
        chosen = assumption.chosen(label)
        return f"{text} ({', '.join(f'{name}={show(value)}' for name, value in chosen.items())})" if chosen else text

    # The bounds.

    def _outlives_bounds(self, goal: Goal, trace: Sequence[TraceState], start: int | None) -> bool:
        """Whether a run is also one of the model with larger bounds, and violates the goal there.

        It must begin in the same state, take the same steps and miss the goal in the same states for bounds of which
        only a lower limit is known, their present values. It must also do so in the models with bounds one larger.
        """
        if not bounds_of(type(self.model)):
            return True
        larger = self.unbounded.larger
        try:
            return larger is not None and self._is_certain(goal, trace) and all(
                self._is_taken_by(each, goal, trace, start) for each in larger
            )
        except (SourceError, BoundDependence):
            return False

    def _is_certain(self, goal: Goal, trace: Sequence[TraceState]) -> bool:
        """Whether a run remains the same if only a lower limit of the bounds is known. Raises BoundDependence."""
        if self.unbounded.begins(trace[0].step) != trace[0].state:
            return False
        return all(
            self.unbounded.after(before.state, entry.step) == entry.state for before, entry in pairwise(trace)
        ) and all(
            self.unbounded.holds(condition, entry.state) == condition.holds(self.model, entry.state)
            for entry in trace
            for condition in goal.conditions
        )

    def _is_taken_by(self, larger: Model, goal: Goal, trace: Sequence[TraceState], start: int | None) -> bool:
        """Whether a larger model takes the same steps into the same states, up to map entries that only it has."""
        functions = [*map(self._method, [entry.step for entry in trace]), *(each.function for each in goal.conditions)]
        for function in dict.fromkeys(it for it in functions if it is not None):
            there = parameter_types(larger, function)
            if not all(widens(kind, there[name]) for name, kind in parameter_types(self.model, function).items()):
                return False
        first = [state for step, state in initial_states(larger) if step == trace[0].step]
        states = [state for state in first if is_within(trace[0].state, state)][:1]
        for entry in trace[1:] if states else ():
            after = fire(larger, states[-1], entry.step)
            if after is None or not is_within(entry.state, after):
                return False
            states.append(after)
        if not states or (start is not None and states[-1] != states[start]):
            return False
        return all(
            condition.holds(self.model, entry.state) == condition.holds(larger, state)
            for entry, state in zip(trace, states, strict=True)
            for condition in goal.conditions
        )

    def _method(self, step: Step) -> Callable[..., Any] | None:
        cls = type(self.model)
        return cls.methods("action").get(step.action) or cls.methods("initial").get(step.action)

    def _unfair_beyond(self, trace: Sequence[TraceState], start: int) -> tuple[str, ...]:
        """The bounds without which a loop might be unfair, since a label is enabled only beyond them."""
        pairs = pairwise(entry.state for entry in trace[start:])
        taken = {label for before, after in pairs for label in self.labels(before, after)}
        states = [entry.state for entry in trace[start:]]
        enabled = [self.enabled(state) for state in states]
        beyond = [self._beyond(state) for state in states]
        found: dict[str, None] = {}
        for assumption in self.assumptions.by_action.values():
            own = {label for labels in beyond for label in labels if assumption.has(abs(label))}
            for label in sorted(own - taken):
                pressed = [label in here or label in there for here, there in zip(enabled, beyond, strict=True)]
                if any(pressed) if assumption.strong else all(pressed):
                    found.update({bound: None for there in beyond for bound in sorted(there.get(label, ()))})
        return tuple(found)

    def _beyond(self, state: State) -> dict[int, frozenset[str]]:
        """The labels that may be enabled in a state without some bounds, each with those bounds.

        Where an action is fair for each choice of a parameter that has more choices beyond the bounds, these have no
        label of their own: the negative of the action's first label represents them.
        """
        found: dict[int, frozenset[str]] = {}

        def add(label: int, bounds: frozenset[str]) -> None:
            if bounds:
                found[label] = found.get(label, frozenset()) | bounds

        for step, after in successors(self.model, state):
            if after != state:
                label = self._label(state, step)
                add(label, self._boundaries() if not within_boundary(self.model, after) else frozenset())
        for name, action in self.beyond.items():
            assumption = self.assumptions.by_action.get(name)
            more = 0
            if assumption is not None and any(each.parameter in action.loose for each in assumption.each):
                more = -assumption.first
            for open_step in self._open_steps(name, action, state):
                if more:
                    add(more, action.ruled_out_by)
                if open_step is None:
                    for label in [0] if assumption is None else assumption.labels:
                        add(label, action.ruled_out_by)
                elif not any(open_step == step for step, _ in self.steps(state)):
                    label = self._label(state, open_step)
                    add(label, self._ruling(action, state, open_step))
        for name in type(self.model).methods("action") if bounds_of(type(self.model)) else ():
            for step in choices(self.model, state, name) if name not in self.beyond else ():
                if not self._is_known(state, step):
                    add(self._label(state, step), bounds_of(type(self.model)))
        return found

    def _ruling(self, action: UnboundedAction, state: State, step: Step) -> frozenset[str]:
        """The bounds without which a disabled step might be enabled, or a stuttering one might change something."""
        known = not action.loose and self._is_known(state, step)
        return frozenset() if known else action.ruled_out_by

    def _is_known(self, state: State, step: Step) -> bool:
        """Whether a step is enabled, or changes something, equally for all larger bounds."""
        try:
            self.unbounded.after(state, step)
        except BoundDependence:
            return False
        return True

    def _open_steps(self, name: str, action: UnboundedAction, state: State) -> list[Step | None]:
        """The steps of an action that its guards without bounds allow; None stands for unknown steps."""
        if not action.ruled_out_by:
            return []
        with action.forgotten():
            try:
                return [step for step in choices(self.model, state, name) if fire(self.model, state, step) is not None]
            except SourceError:
                return [None]

    def _boundaries(self) -> frozenset[str]:
        return frozenset(type(self.model).methods("boundary"))

    def _all_bounds(self) -> tuple[str, ...]:
        return *sorted(bounds_of(type(self.model))), *sorted(self._boundaries())
