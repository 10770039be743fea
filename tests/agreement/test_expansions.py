"""Tests that compiled code finds in each state of drawn models what CPython does: every step, which action takes it,
what it breaks and which premises it meets. So nothing is lost where code judges a repeated successor once, or leaves
out what it asked before of another step from the same state."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from floodmark import Between, Identifier, Map, Model, Record, action, implies, initial, require, transition
from floodmark.checkers.codegen.repeats import BEFORE, DISTINCT, STAYED
from floodmark.checkers.codegen.unchanged import SHARED, STILL, TODO, clauses_of
from floodmark.checkers.kernel.compiled_model import Kernel, build_kernel
from floodmark.checkers.kernel.loops import ALL_ONES, BROKEN, COUNTERS, CUT, FAILED, OUTSIDE, SETTLED
from floodmark.checkers.project.properties import Property
from floodmark.checkers.reference.premises import premises_of
from floodmark.compiler.layout import lay_out
from floodmark.compiler.program import read_program
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import State
from floodmark.language.reference import choices, fire, holds, initial_states, within_boundary
from tests.support.engines import imported, properties_of
from tests.support.model_strategy import GeneratedModel, models

KINDS = ("invariant", "reachable", "transition")
MODELS = 30
STATES = 12
"""The first states of each model are compared."""


class Expansion:
    """What a state has, by CPython. Of a state in which something fails, only that and what is broken is compared."""

    def __init__(self, model: Model, state: State, of_steps: Sequence[Property], of_states: Sequence[Property]) -> None:
        self.fired: Counter[str] = Counter()
        self.after: list[State] = []
        self.failed = False
        self.broken = self.cut = 0
        self.inside = (1 << len(of_states)) - 1
        self.met: set[tuple[str, int]] = set()
        self._model, self._state, self._of_steps, self._of_states = model, state, of_steps, of_states
        self._asked = [premises_of(model, prop) for prop in of_steps]
        for name in type(model).methods("action"):
            try:
                steps = choices(model, state, name)
            except SourceError:
                self.failed = True
                continue
            for step in steps:
                try:
                    new = fire(model, state, step)
                except SourceError:
                    self.failed = True
                    continue
                if new is not None:
                    self.fired[name] += 1
                    self._judge(new)

    def _judge(self, new: State) -> None:
        for place, (prop, asked) in enumerate(zip(self._of_steps, self._asked, strict=True)):
            self.met |= {(prop.name, i) for i, it in enumerate(asked) if it.is_met(self._model, self._state, new)}
            self.broken |= (not self._holds(prop, self._state, new)) << place
        try:
            within = within_boundary(self._model, new)
        except SourceError:
            self.failed = True
            return
        if within:
            self.after.append(new)
        else:
            self.cut += 1
            self.inside &= sum(self._holds(prop, new) << place for place, prop in enumerate(self._of_states))

    def _holds(self, prop: Property, *states: State) -> bool:
        try:
            return holds(self._model, prop.function, *states)
        except SourceError:
            self.failed = True
            return True


class Compiled:
    """The code of a model, with one context for all its states, as a search has it."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.interface = kernel.interface
        self.words = self.interface.layout.words
        self.out = np.zeros((self.interface.most_successors + 1, self.words), dtype=np.uint64)
        self.context = kernel.new_context()

    def call(self, name: str, state: State, places: Mapping[int, int]) -> tuple[int, list[int]]:
        """What a function returns, and what it leaves in the ``places`` of the context before the memory."""
        known = self.context[: self.interface.first_memory]
        known[:] = 0
        known[[OUTSIDE, *places]] = ALL_ONES, *places.values()
        packed = np.array(self.interface.layout.pack(state), dtype=np.uint64)
        rows = [self.out.ctypes.data] if name == "expand" else []
        self.out[:] = packed  # as if the state itself had been delivered before
        result = self.kernel.model.function(name, 2 + len(rows))(packed.ctypes.data, *rows, self.context.ctypes.data)
        assert not known[[BEFORE, STAYED, STILL, SHARED, TODO]].any(), "a renamed state would seem to differ"
        return result, known.tolist()


    def call_alone(self, state: State) -> tuple[int, bool]:
        """What a walk sees, which calls each action by itself: what is broken, and whether something fails. What the
        context has of earlier states stays there, but for this."""
        self.context[[BROKEN, FAILED]] = 0
        packed = np.array(self.interface.layout.pack(state), dtype=np.uint64)
        for name in self.interface.actions:
            taken = self.kernel.model.function(f"action.0.{name}", 3)
            taken(packed.ctypes.data, self.out.ctypes.data, self.context.ctypes.data)
        return int(self.context[BROKEN]), bool(self.context[FAILED])


def compare(
    cls: type[Model], judged: Sequence[Property], most: int, chance: random.Random, seen: Counter[str]
) -> None:
    """Compares the first states of a model.

    Of a property that is broken, compiled code meets the premises that it comes to before the value that breaks it;
    CPython's are asked of every value. The properties here are such that the two are the same.
    """
    properties = {prop.name: prop for prop in judged}
    kernel = build_kernel(cls(), {prop.name: prop.function for prop in properties.values()}, False)
    code = Compiled(kernel)
    interface = code.interface
    of_steps = [properties[name] for name in interface.transition_predicates]
    of_states = [properties[name] for name in interface.state_predicates]
    reachable = sum(1 << place for place, prop in enumerate(of_states) if prop.kind == "reachable")
    model = cls()
    states = list(dict.fromkeys(state for _, state in initial_states(model)))
    for state in islice(states, most):
        expected = Expansion(model, state, of_steps, of_states)
        wanted = Counter(interface.layout.pack(after) for after in expected.after)
        for once in (0, 1):
            hint = chance.choice((0, 1, 3, 1 << 63, ALL_ONES))
            made, context = code.call("expand", state, {STAYED: hint, DISTINCT: once})
            assert (bool(context[FAILED]), context[BROKEN]) == (expected.failed, expected.broken), state
            seen["failed"] += expected.failed
            if not expected.failed:
                rows = Counter(tuple(row) for row in code.out[:made].tolist())
                assert set(rows) == set(wanted) and rows <= wanted if once else rows == wanted, state
                assert context[CUT] == expected.cut
                assert context[OUTSIDE] & ((1 << len(of_states)) - 1) == expected.inside, state
                fired = dict(zip(interface.actions, context[COUNTERS:], strict=False))
                assert fired == {name: expected.fired[name] for name in fired}, state
                assert _met(code, context, of_steps) == expected.met, state
                seen["left out"] += wanted.total() - made
        if not kernel.good:
            code.call_alone(states[0])
            broken, failed = code.call_alone(state)
            assert (failed, broken) == (expected.failed, expected.broken), state
        settled = chance.getrandbits(64)
        whole, context = code.call("check", state, {})
        some, less = code.call("check", state, {SETTLED: settled})
        less[SETTLED] = 0
        assert less == context and not (whole ^ some) & ~(settled & reachable), state
        seen["settled"] += whole != some
        states += [after for after in dict.fromkeys(expected.after) if after not in states]


def _met(code: Compiled, context: list[Any], of_steps: Sequence[Property]) -> set[tuple[str, int]]:
    names = {prop.name for prop in of_steps}
    places: Counter[str] = Counter()
    met = set()
    for (name, _), flag in zip(code.interface.premises, context[code.interface.first_premise :], strict=True):
        if name in names and flag:
            met.add((name, places[name]))
        places[name] += 1
    return met


class Node(Identifier, count=3):
    pass


Level = Annotated[int, Between(0, 3)]


class Cell(Record):
    level: Level = 0
    on: bool = False


class Cells(Model):
    """Steps change one cell, two, or none."""

    cells: Map[Node, Cell]
    marks: Map[Level, bool]
    steps: Annotated[int, Between(0, 2)] = 0

    @initial
    def starts(self) -> None:
        self.cells = Map({node: Cell() for node in Node})
        self.marks = Map({level: False for level in range(4)})

    @action
    def rises(self, node: Node) -> None:
        self.cells[node] = self.cells[node].replace(level=min(self.cells[node].level + 1, 3))

    @action
    def falls(self, node: Node) -> None:
        self.cells[node] = self.cells[node].replace(level=0)

    @action
    def turns(self, node: Node, on: bool) -> None:
        self.cells[node] = self.cells[node].replace(on=on)

    @action
    def swaps(self, one: Node, other: Node) -> None:
        self.cells[one], self.cells[other] = self.cells[other], self.cells[one]

    @action
    def counts(self) -> None:
        self.steps = (self.steps + 1) % 3

    @action
    def marks_level(self, level: Level) -> None:
        require(level == 1)
        self.marks[level] = not self.marks[level]


class HighCells(Cells):
    """The last cell is high soon."""

    @initial
    def starts(self) -> None:
        super().starts()
        self.cells[Node(3)] = Cell(level=2)


@transition
def never_falls(old: Cells, new: Cells) -> bool:
    return all(new.cells[node].level >= old.cells[node].level for node in Node)


@transition
def only_what_is_on_rests(old: Cells, new: Cells) -> bool:
    return all(old.cells[node].on or new.cells[node].level != old.cells[node].level for node in Node)


@transition
def is_high_when_it_turns_off(old: Cells, new: Cells) -> bool:
    return all(implies(old.cells[node].on and not new.cells[node].on, new.cells[node].level > 1) for node in Node)


@transition
def others_are_not_far_away(old: Cells, new: Cells) -> bool:
    return all(new.cells[node].level <= old.cells[other].level + 2 for node in Node for other in Node)


@transition
def some_order_is_kept(old: Cells, new: Cells) -> bool:
    return all(new.cells[one].level <= new.cells[other].level + 2 for one in Node for other in Node)


@transition
def can_be_evaluated(old: Cells, new: Cells) -> bool:
    return all(6 // (3 - new.cells[node].level) > old.cells[node].level - 3 for node in Node)


@transition
def can_be_evaluated_where_none_rises(old: Cells, new: Cells) -> bool:
    return all(new.cells[node].level <= old.cells[node].level and 6 // (3 - new.cells[node].level) > 0 for node in Node)


@transition
def what_is_high_moves(old: Cells, new: Cells) -> bool:
    return all(old.cells[node].level < 2 or new.cells[node].level != old.cells[node].level for node in Node)


@transition
def keeps_the_mark_of_its_level(old: Cells, new: Cells) -> bool:
    return all(new.marks[new.cells[node].level] or not old.marks[old.cells[node].level] for node in Node)


@transition
def is_marked_as_it_rises(old: Cells, new: Cells) -> bool:
    """A conjunction with an ``all``, which is divided."""
    return new.steps <= 2 and all(
        implies(new.cells[node].level > old.cells[node].level, not new.marks[new.cells[node].level]) for node in Node
    ) and 6 // (3 - new.steps) > old.steps


@transition
def steps_are_counted(old: Cells, new: Cells) -> bool:
    return new.steps == old.steps or new.steps == old.steps + 1


class Place(Record):
    """Some of its codes are no values: a level has three values in two bits."""

    on: bool
    level: Annotated[int, Between(0, 2)]


class Places(Model):
    """A map whose keys are records."""

    marks: Map[Place, bool]

    @initial
    def starts(self) -> None:
        self.marks = Map({Place(on=on, level=level): False for on in (False, True) for level in range(3)})

    @action
    def turns(self, on: bool, level: Annotated[int, Between(0, 2)]) -> None:
        place = Place(on=on, level=level)
        self.marks[place] = not self.marks[place]


@transition
def marks_stay(old: Places, new: Places) -> bool:
    return all(new.marks[place] or not old.marks[place] for place in new.marks)


def test_a_property_of_the_keys_of_a_map_is_asked_of_each_record() -> None:
    prop = Property("marks_stay", "transition", marks_stay, __file__, 1, "")
    program = read_program(Places(), {"marks_stay": marks_stay})
    (divided,) = clauses_of(program.predicates, lay_out(program.variables)).divided
    assert divided is not None
    compare(Places, [prop], 40, random.Random(1), Counter())


def test_what_a_step_leaves_is_asked_of_each_state_anew() -> None:
    asked = (never_falls, only_what_is_on_rests, is_high_when_it_turns_off, others_are_not_far_away,
             some_order_is_kept, can_be_evaluated, steps_are_counted, can_be_evaluated_where_none_rises,
             what_is_high_moves, keeps_the_mark_of_its_level, is_marked_as_it_rises)
    program = read_program(Cells(), {each.__name__: each for each in asked})
    clauses = clauses_of(program.predicates, lay_out(program.variables))
    divided = [prop.name for prop, it in zip(program.predicates, clauses.divided, strict=True) if it is not None]
    assert divided == ["never_falls", "only_what_is_on_rests", "is_high_when_it_turns_off", "others_are_not_far_away",
                       "can_be_evaluated", "can_be_evaluated_where_none_rises", "what_is_high_moves",
                       "keeps_the_mark_of_its_level", "is_marked_as_it_rises"]
    assert any(extent.entries for extent in clauses.extents) and clauses.trivial
    seen: Counter[str] = Counter()
    judged = [Property(each.__name__, "transition", each, __file__, 1, "") for each in asked]
    for some in (judged, judged[1:3], *([each] for each in judged)):
        compare(Cells, some, 60, random.Random(1), seen)
    compare(HighCells, [prop for prop in judged if prop.function is can_be_evaluated_where_none_rises], 60,
            random.Random(1), seen)
    assert seen["failed"] and seen["left out"]


def test_each_state_of_drawn_models_has_the_steps_that_cpython_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path))
    chance = random.Random(1)
    seen: Counter[str] = Counter()

    @settings(max_examples=MODELS, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(models())
    def agree(model: GeneratedModel) -> None:
        with imported(model.source(), model.name, tmp_path) as cls:
            try:
                compare(cls, [prop for prop in properties_of(cls) if prop.kind in KINDS], STATES, chance, seen)
            except ModelError:
                return  # the compiler refuses it
            seen["models"] += 1

    agree()
    assert seen["models"] > MODELS // 2 and all(seen[what] for what in ("failed", "left out", "settled")), seen
