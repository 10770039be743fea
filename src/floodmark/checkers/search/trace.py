"""Builds counterexamples: finds the way back from a state by expanding the levels before it again.

Parents are not stored: they would cost bytes for every state of every search, and a trace is needed only once. The way
back takes at most as many expansions as the search itself. CPython then takes the steps, so a counterexample never
relies on compiled code alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Protocol

import numpy as np

from floodmark.checkers.kernel.compiled_model import Kernel
from floodmark.checkers.kernel.stepper import Stepper
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search.store import Packed
from floodmark.checkers.search_result import TraceState, Violation
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, choices, fire, holds, successors, within_boundary

MAX_SUCCESSORS = 1 << 16
"""The maximum number of successors of a state among which compiled code finds a step; beyond it, CPython searches."""


class Parents(Protocol):
    """The source of the predecessors of a state: a store, or a walk."""

    def parent_in(self, level: int, target: Packed) -> Packed | None:
        """The smallest state of a level (counted from 0) that has ``target`` as a successor."""


class Tracer:
    """Rebuilds paths from the levels of a store, which give shortest ones, or from a walk."""

    def __init__(self, model: Model, kernel: Kernel, store: Parents) -> None:
        self.model = model
        self.kernel = kernel
        self.layout = kernel.interface.layout
        self.store = store
        self.initial: list[tuple[Step, State]] = []
        self._stepper: Stepper | None = None
        self._canonical = kernel.model.function("canonical", 2) if kernel.symmetry else None

    def canonical(self, words: Packed) -> Packed:
        """The representative of a state under symmetry; without symmetry, the state itself."""
        if self._canonical is None:
            return words
        array = np.array(words, dtype=np.uint64)
        self._canonical(array.ctypes.data, 1)
        return tuple(int(word) for word in array)

    def to_state(self, target: Packed, level: int) -> tuple[TraceState, ...]:
        """A shortest trace to a state in level ``level`` (the initial states are level 0)."""
        path = [target]
        for before in range(level - 1, -1, -1):
            parent = self.store.parent_in(before, path[0])
            if parent is None:
                raise RuntimeError(f"no state of level {before} leads to {path[0]}")
            path.insert(0, parent)
        return self._replay(path)

    def _replay(self, path: list[Packed]) -> tuple[TraceState, ...]:
        trace = [TraceState(*self._pick(self.initial, path[0]))]
        for words in path[1:]:
            before = trace[-1].state
            steps = chain(self._completed(before, self._actions_to(before, words)), self._completed(before))
            trace.append(TraceState(*self._pick(steps, words)))
        return tuple(trace)

    def _actions_to(self, state: State, words: Packed) -> Container[str]:
        """The actions by which compiled code goes from a state to another, so that CPython need not take all steps to
        find that one; empty if the code cannot tell, because a step fails or leaves the boundary."""
        interface = self.kernel.interface
        if interface.most_successors > MAX_SUCCESSORS:
            return ()
        if self._stepper is None:
            self._stepper = Stepper(self.kernel.model, interface)
        made = self._stepper.expand(self.layout.pack(state))
        if made.failed or made.cut or sum(made.fired) != len(made.after):
            return ()
        names = [name for name, times in zip(interface.actions, made.fired, strict=True) for _ in range(times)]
        return {name for name, row in zip(names, made.after, strict=True) if self.canonical(tuple(row)) == words}

    def _pick(self, candidates: Iterable[tuple[Step, State]], words: Packed) -> tuple[Step, State]:
        wanted = self.layout.unpack(words)
        for step, state in candidates:
            if state == wanted or (self._canonical and self.canonical(self.layout.pack(state)) == words):
                return step, state
        raise RuntimeError(f"compiled code took a step that CPython does not take, to {wanted}")

    def _completed(self, state: State, actions: Container[str] | None = None) -> Iterator[tuple[Step, State]]:
        """The steps from a state that do not fail, of all or of some actions; a failing step of the same state is a
        violation of its own."""
        for name in type(self.model).methods("action"):
            if actions is not None and name not in actions:
                continue
            for step in choices(self.model, state, name):
                with suppress(SourceError):
                    after = fire(self.model, state, step)
                    if after is not None:
                        yield step, after

    def broken_step(self, state: Packed, level: int, prop: Callable[..., bool]) -> tuple[TraceState, ...]:
        """A trace whose last step violates a transition property."""
        trace = self.to_state(state, level)
        for step, after in self._completed(trace[-1].state):
            with suppress(SourceError):
                if not holds(self.model, prop, trace[-1].state, after):
                    return (*trace, TraceState(step, after))
        raise RuntimeError("compiled code says that a step breaks a property, but CPython finds none that does")

    def step_outside(self, state: Packed, level: int, prop: Callable[..., bool]) -> tuple[TraceState, ...]:
        """A trace whose last state is outside the boundary and violates an invariant."""
        trace = self.to_state(state, level)
        for step, after in self._completed(trace[-1].state):
            with suppress(SourceError):
                if not within_boundary(self.model, after) and not holds(self.model, prop, after):
                    return (*trace, TraceState(step, after))
        raise RuntimeError(
            "compiled code says that a state outside the boundary breaks a property, but CPython finds none that does"
        )

    def failing_check(self, trace: tuple[TraceState, ...], of_states: Sequence[Property]) -> Violation:
        """The failure of a property of states in the last state of a trace."""
        state = trace[-1].state
        for prop in of_states:
            try:
                holds(self.model, prop.function, state)
            except SourceError as error:
                return Violation.of_error(error, prop.name, trace)
        raise self.unexplained(f"a property fails where CPython evaluates it, in {state}")

    def failing_step(
        self, trace: tuple[TraceState, ...], transitions: Sequence[Property], of_states: Sequence[Property]
    ) -> Violation:
        """The failure of the model, or of a property of a step, after the last state of a trace."""
        state = trace[-1].state
        steps = successors(self.model, state)
        while True:
            try:
                step, after = next(steps)
            except StopIteration:
                break
            except SourceError as error:
                failed = error.step if isinstance(error.step, Step) else None
                return Violation.of_error(error, "", trace, failed)
            further, name = (*trace, TraceState(step, after)), ""
            try:
                for prop in transitions:
                    name = prop.name
                    holds(self.model, prop.function, state, after)
                name = ""
                if not within_boundary(self.model, after):
                    for prop in of_states:
                        name = prop.name
                        holds(self.model, prop.function, after)
            except SourceError as error:
                return Violation.of_error(error, name, further)
        raise self.unexplained(f"a step fails, but CPython takes it, in {state}")

    def unexplained(self, what: str) -> Exception:
        """The error for a failure in compiled code alone: an integer outgrew its register, or the compiler is wrong."""
        unbounded = self.kernel.interface.unbounded()
        if not unbounded:
            return RuntimeError(f"compiled code says that {what}")
        place, *others = unbounded
        lines = [str(it.line) if it.file == place.file else f"{it.file}:{it.line}" for it in others]
        where = f"here, or in line {' or '.join(dict.fromkeys(lines))}" if lines else "here"
        message = f"an integer grows beyond 64 bits {where}; keep intermediate results small, with min or %"
        return ModelError(message, place.file, place.line)
