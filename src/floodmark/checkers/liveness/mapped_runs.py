"""Goals about the runs of a refined model to which the runs of a model are mapped.

Each state of the graph has an image: the state of the other model to which it is mapped. Images are few, so CPython
evaluates each image once, and each pair of images that some step connects: the conditions and the enabled fair actions
of an image, and the fair actions from one image to another. Nothing here is compiled. States that agree on the
variables which the mapping reads are mapped once.

A goal of fairness to an action of the other model is violated by a run that is fair in its own model and, from some
point on, takes no step that maps to the action, though every image enables the action (weak fairness) or infinitely
many do (strong fairness). For such a goal the steps that map to the action are barred; otherwise it is judged like any
other goal. An image enables an action, and a step takes it, only if it changes the image: in TLA+, fairness is about
<<A>>_vars. Two steps between the same images are the same action, so parallel edges are barred together.

Where a step may be several steps of the other model, a run of images is a run of that model for some choice of
intermediate states. A step serves a goal if some choice between its images takes the action, passes a state that does
not enable it, or, for a condition that must hold infinitely often, passes a state in which it holds. Such steps are
barred. This is exact for all weakly fair actions together with all conditions that must hold infinitely often. A run
that violates none of these goals has, for each of them, infinitely many images that satisfy it or steps that can serve
it. If each step is chosen for the goal that has waited longest of those that it can serve, each goal is served
infinitely often. The method would not be exact for a state or step that must be avoided between the images, as with a
premise or a strongly fair action that is not taken. ``mapped_properties`` therefore refuses these. A step that leaves
the image unchanged remains a stutter, as in a refinement.

Bounds of either model may end a run. A goal that holds is said to hold for runs within them, as other properties are; a
run that violates a goal decides nothing if there are bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from floodmark.checkers.liveness.assumptions import MAX_LABELS, assumptions_of
from floodmark.checkers.liveness.goals import Goal
from floodmark.checkers.liveness.graph import Flags, Graph, Numbers
from floodmark.checkers.liveness.loops import BARRED, NOWHERE
from floodmark.checkers.project.properties import FAIRNESS, Property
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.value_text import show, show_step
from floodmark.compiler.ir import StateVar, walk
from floodmark.compiler.layout import Layout
from floodmark.compiler.program import read_predicate
from floodmark.language.bounding import bounds_of
from floodmark.language.conditions import Condition, choices_of
from floodmark.language.errors import ModelError
from floodmark.language.members import abstract_steps
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, abstract_class, image, initial_states, successors
from floodmark.language.types import WORD


@dataclass(frozen=True)
class MappedCondition(Condition):
    """A predicate over states of the refined model, as a condition on states of the model."""

    mapping: Any = None
    label: int | None = None
    """If set, the condition replaces the function: the fair action with this label is disabled."""

    def holds(self, model: Model, state: State) -> bool:
        found = image(model, self.mapping, state)
        return self.holds_in(found.abstract.model, found.state)

    def holds_in(self, other: Model, state: State) -> bool:
        """Whether it holds in a state of the refined model."""
        if self.label is not None:
            return all(label != self.label for label, _ in labelled_steps(other, state))
        return super().holds(other, state)


def labelled_steps(other: Model, state: State) -> list[tuple[int, State]]:
    """The steps that change a state of the refined model, each with the label of its fairness."""
    assumptions = assumptions_of(other)
    return [
        (assumptions.label(other, state, step), after)
        for step, after in successors(other, state)
        if after != state
    ]


def mapped_goals(model: Model, properties: Sequence[Property]) -> list[Goal]:
    """The goals of the properties that concern mapped runs."""
    return [goal for prop in properties if prop.mapping is not None for goal in _goals(model, prop)]


def _goals(model: Model, prop: Property) -> Iterator[Goal]:
    first = next((state for _, state in initial_states(model)), None)
    if first is None:
        return
    other = image(model, prop.mapping, first).abstract.model  # type: ignore[arg-type]
    if prop.kind == FAIRNESS:
        assumption = assumptions_of(other).by_action[prop.function.__name__]
        for label in assumption.all_labels(MAX_LABELS):
            name = f"{prop.name}.{label}"
            goal = MappedCondition(name, prop.function, mapping=prop.mapping, label=label)
            yield Goal(prop, assumption.chosen(label), goal, bars=label, strong=assumption.strong)
        return
    for number, arguments in enumerate(choices_of(other, prop.function)):
        name = f"{prop.name}.{number}"
        if prop.kind == "leads_to":
            starts = MappedCondition(f"{name}.premise", prop.function, arguments, 0, mapping=prop.mapping)
            yield Goal(prop, arguments, MappedCondition(name, prop.function, arguments, 1, prop.mapping), starts)
        else:
            yield Goal(prop, arguments, MappedCondition(name, prop.function, arguments, mapping=prop.mapping))


def mapped_bounds(goal: Goal) -> tuple[str, ...]:
    """The bounds of the refined model that a goal mentions."""
    owner = goal.prop.mapping
    assert owner is not None
    cls = abstract_class(owner)
    return tuple(f"{cls.__name__}.{name}" for name in sorted(bounds_of(cls)))


def is_taken(goal: Goal, model: Model, before: State, after: State) -> bool:
    """Whether CPython maps a step to the action to which the goal demands fairness."""
    if goal.prop.mapping is None:
        return False
    old, new = (image(model, goal.prop.mapping, state) for state in (before, after))
    other = old.abstract.model
    return serves(goal, other, old.state, new.state, lambda state: labelled_steps(other, state))


def serves(
    goal: Goal, other: Model, before: State, after: State, steps_of: Callable[[State], list[tuple[int, State]]]
) -> bool:
    """Whether a step from one image to another may do what a run that violates a goal never does from some point on."""
    assert goal.prop.mapping is not None and isinstance(goal.goal, MappedCondition)
    condition = goal.goal

    def leads(state: State, left: int, served: bool) -> bool:
        for label, to in steps_of(state):
            taken = served or label == goal.bars
            if taken and to == after:
                return True
            if left > 1 and leads(to, left - 1, taken or condition.holds_in(other, to)):
                return True
        return False

    return before != after and leads(before, abstract_steps(goal.prop.mapping), False)


def mapped_run_lines(goal: Goal, model: Model, trace: Sequence[TraceState], start: int) -> Iterator[str]:
    """The refined model's view of a run that violates a goal: its states, and the goal that it waits for."""
    mapping = goal.prop.mapping
    if mapping is None:
        return
    last = None
    for number, entry in enumerate(trace, 1):
        found = image(model, mapping, entry.state)
        names = found.abstract.model.variable_types
        if found.state != last:
            values = ", ".join(f"{name}={show(value)}" for name, value in zip(names, found.state, strict=True))
            yield f"after step {number}: {values}"
        last = found.state
    if goal.bars is not None:
        step = show_step(Step(goal.prop.function.__name__, goal.arguments))
        when = "again and again" if goal.strong else "always"
        yield f"from step {start + 1} on: {step} is {when} enabled, and no step takes it"


class MappedRuns:
    """The images of the states of a graph under one mapping."""

    def __init__(self, model: Model, mapping: Any, graph: Graph) -> None:
        self.graph = graph
        self.images: list[State] = []
        self._numbers: dict[State, int] = {}
        self._other: Model | None = None
        self._steps: dict[State, list[tuple[int, State]]] = {}
        self._pairs: tuple[Numbers, Numbers] | None = None
        self._model, self._mapping = model, mapping
        if graph.packed is None:
            places = [self._number(graph.state(place)) for place in range(graph.states)]
            self.image_of: Numbers = np.array(places, dtype=np.int64)
        else:
            first, group = _grouped(model, mapping, *graph.packed)
            numbers = np.array([self._number(graph.state(int(place))) for place in first], dtype=np.int64)
            self.image_of = numbers[group]

    def _number(self, state: State) -> int:
        found = image(self._model, self._mapping, state)
        if self._other is None:
            self._other = found.abstract.model
        elif self._other is not found.abstract.model:
            code = self._mapping.__code__
            message = f"{code.co_name} gives the other model different constants in different states"
            raise ModelError(message, code.co_filename, code.co_firstlineno)
        if found.state not in self._numbers:
            self._numbers[found.state] = len(self.images)
            self.images.append(found.state)
        return self._numbers[found.state]

    def where(self, condition: Condition) -> Flags:
        """The states whose images satisfy a condition."""
        assert isinstance(condition, MappedCondition)
        if condition.label is not None:
            true = [all(label != condition.label for label, _ in self._steps_of(state)) for state in self.images]
        else:
            assert self._other is not None
            true = [condition.holds_in(self._other, state) for state in self.images]
        found: Flags = np.array(true, dtype=np.bool_)[self.image_of]
        return found

    def barring(self, goal: Goal) -> Graph:
        """The graph with the steps barred that a run which violates a goal does not take."""
        if goal.bars is None and abstract_steps(self._mapping) == 1:
            return self.graph
        assert self._other is not None
        pairs, place = self._led()
        count = len(self.images)
        barred = np.zeros(len(pairs), dtype=np.bool_)
        for index, pair in enumerate(pairs.tolist()):
            before, after = divmod(pair, count)
            barred[index] = serves(goal, self._other, self.images[before], self.images[after], self._steps_of)
        edges = self.graph.edges.copy()
        inside = np.flatnonzero(edges & np.uint64(NOWHERE) != np.uint64(NOWHERE))
        edges[inside[barred[place]]] |= np.uint64(BARRED)
        return replace(self.graph, edges=edges)

    def _led(self) -> tuple[Numbers, Numbers]:
        """The pairs of images that some step connects, and the pair of each step within the bounds."""
        if self._pairs is None:
            origin, edges = self.graph.edges_of(np.arange(self.graph.states, dtype=np.int64))
            target = (edges & np.uint64(NOWHERE)).astype(np.int64)
            kept = target != NOWHERE
            led = self.image_of[origin[kept]] * len(self.images) + self.image_of[target[kept]]
            pairs, place = np.unique(led, return_inverse=True)
            self._pairs = pairs, place
        return self._pairs

    def _steps_of(self, state: State) -> list[tuple[int, State]]:
        if state not in self._steps:
            assert self._other is not None
            self._steps[state] = labelled_steps(self._other, state)
        return self._steps[state]


def _grouped(model: Model, mapping: Any, states: Any, layout: Layout) -> tuple[Numbers, Numbers]:
    """A representative of each group of states that agree on the variables that the mapping reads, and each state's
    group."""
    predicate = read_predicate(model, mapping.__name__, mapping)
    read = {node.name for node in walk(predicate.value) if isinstance(node, StateVar)}
    mask = 0
    for name in read:
        slot = layout.slots[name]
        mask |= (1 << slot.bits) - 1 << slot.word * WORD + slot.offset
    words = [mask >> WORD * place & (1 << WORD) - 1 for place in range(layout.words)]
    kept = states & np.array(words, dtype=np.uint64)
    _, first, group = np.unique(kept, axis=0, return_index=True, return_inverse=True)
    return first, group.reshape(-1)
