"""Tests that compiled code finds in each state of drawn models what CPython does: every step, which action takes it,
what it breaks and which premises it meets. So nothing is lost where code judges a repeated successor once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from floodmark.checkers.codegen.repeats import DISTINCT, STAYED
from floodmark.checkers.kernel.compiled_model import Kernel, build_kernel
from floodmark.checkers.kernel.loops import ALL_ONES, BROKEN, COUNTERS, CUT, FAILED, OUTSIDE, SETTLED
from floodmark.checkers.project.properties import Property
from floodmark.checkers.reference.premises import premises_of
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, State
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
        return result, known.tolist()


def compare(cls: type[Model], chance: random.Random, seen: Counter[str]) -> None:
    """Compares the first states of a model."""
    properties = {prop.name: prop for prop in properties_of(cls) if prop.kind in KINDS}
    code = Compiled(build_kernel(cls(), {prop.name: prop.function for prop in properties.values()}, False))
    interface = code.interface
    of_steps = [properties[name] for name in interface.transition_predicates]
    of_states = [properties[name] for name in interface.state_predicates]
    reachable = sum(1 << place for place, prop in enumerate(of_states) if prop.kind == "reachable")
    model = cls()
    states = list(dict.fromkeys(state for _, state in initial_states(model)))
    for state in states[:STATES]:
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
                compare(cls, chance, seen)
            except ModelError:
                return  # the compiler refuses it
            seen["models"] += 1

    agree()
    assert seen["models"] > MODELS // 2 and all(seen[what] for what in ("failed", "left out", "settled")), seen
