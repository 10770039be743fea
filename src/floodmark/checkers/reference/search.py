"""The reference engine: a breadth-first search in plain Python over the reference meaning of a model.

It is slow and works for every model; the other engines are tested against it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pdb
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from floodmark.checkers.liveness import check
from floodmark.checkers.project.properties import Property
from floodmark.checkers.reference.premises import PremiseTest, premises_of
from floodmark.checkers.resources import CommandMemory
from floodmark.checkers.search.beginning import without_initial_state, wrong_beginnings
from floodmark.checkers.search_result import (
    LimitReached,
    Options,
    Progress,
    SearchResult,
    TraceState,
    Violation,
    ViolationKind,
    Watcher,
)
from floodmark.checkers.symmetry.proof import prove_symmetry
from floodmark.compiler.layout import digest, lay_out
from floodmark.compiler.program import read_program
from floodmark.compiler.renaming import Orbits, renamed
from floodmark.language import reference
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, State, largest_sizes, sized
from floodmark.language.reference import Step
from floodmark.language.types import IdentifierType
from floodmark.language.widths import FIRST_WIDTHS, NO_WIDTHS, Widths, capacities, least_widths, sizes

_WATCH_EVERY = 256
COMPARED, COMPARED_PART = 256, 64
"""With symmetry, the number of compared states (at least this many, or one in ``COMPARED_PART``); a search with at most
``COMPARED`` copies compares them all."""
RENAMINGS = 24
"""The maximum number of renamings that take turns."""


def search_states(
    model: Model, properties: Sequence[Property], options: Options, watch: Watcher | None = None
) -> SearchResult:
    """Searches the reachable states of ``model`` level by level, until a level has a violation or nothing is new."""
    model = sized(model, NO_WIDTHS)  # what this search notes of sizes is its own
    of_states, of_runs = check.split_properties(properties)
    check.refuse_symmetry(of_runs, options)
    search = _ReferenceSearch(model, of_states, options, watch)
    with _breakpoints():
        found = search.run()
    if of_runs and found.complete:
        begin = [state for state, parent in search.parents.items() if parent is None]
        found = search.packed(check.after_reference(model, of_runs, options, list(search.parents), begin, found))
    return found


@contextlib.contextmanager
def _breakpoints() -> Iterator[None]:
    """Lets ``breakpoint()`` in a model reach the terminal: a process of a run has no standard input."""
    before = sys.breakpointhook
    if not sys.stdin.isatty() and before is sys.__breakpointhook__ and "PYTHONBREAKPOINT" not in os.environ:
        sys.breakpointhook = _debugger
    try:
        yield
    finally:
        sys.breakpointhook = before


def _debugger(*_: Any, **__: Any) -> None:
    here = sys._getframe(1)
    try:
        given, shown = open("/dev/tty"), open("/dev/tty", "w")  # noqa: SIM115 - the debugger goes on after this
    except OSError:
        message = "breakpoint() needs a terminal, and there is none"
        raise ModelError(message, here.f_code.co_filename, here.f_lineno) from None
    pdb.Pdb(stdin=given, stdout=shown).set_trace(here)


def reachable_states(model: Model) -> set[State]:
    """The whole reachable set, for comparison with other engines."""
    search = _ReferenceSearch(model, (), Options(), None)
    search.run()
    return set(search.parents)


@dataclass
class _ReferenceSearch:
    model: Model
    properties: Sequence[Property]
    options: Options
    watch: Watcher | None
    parents: dict[State, State | None] = field(default_factory=dict)
    outside: set[State] = field(default_factory=set)
    representatives: dict[State, State] = field(default_factory=dict)
    unmet: dict[str, list[PremiseTest]] = field(default_factory=dict)
    levels: list[int] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    reached: dict[str, tuple[TraceState, ...]] = field(default_factory=dict)
    generated: int = 0
    cut: int = 0

    def run(self) -> SearchResult:
        self.started = time.perf_counter()
        self.memory = CommandMemory()
        for kind in ("initial", "action"):
            for method in type(self.model).methods(kind).values():
                reference.parameter_types(self.model, method)  # refuses types before anything runs
        self._take_widths(FIRST_WIDTHS)
        read = sized(self.model, FIRST_WIDTHS)
        self.unmet = {prop.name: premises_of(read, prop) for prop in self.properties}
        self.values: dict[str, set[Any]] = {name: set() for name in self.model.variable_types}
        self.actions = dict.fromkeys(type(self.model).methods("action"), 0)
        stop, complete = None, False
        try:
            complete = self._all_levels()
        except LimitReached as ended:
            stop = ended.stop
        in_order = sorted(self.properties, key=lambda prop: prop.kind == "transition")
        found = SearchResult(
            "reference",
            complete=complete,
            stopped=stop,
            distinct=len(self.parents),
            generated=self.generated,
            depth=len(self.levels),
            levels=self.levels,
            actions=self.actions,
            violations=sorted(self.violations, key=lambda violation: len(violation.trace)),
            reached=self.reached,
            vacuous=[asked.premise for prop in in_order for asked in self.unmet[prop.name]] if complete else [],
            sizes=self._sizes(),
            cut=self.cut,
        )
        found = self.packed(found)
        values_seen: dict[str, int] = {}
        if self.options.symmetry:
            self._confirm_symmetry()  # at the sizes that the search met
        else:
            values_seen = {name: len(values) for name, values in self.values.items()}
        seconds = time.perf_counter() - self.started
        return replace(found, values_seen=values_seen, seconds=seconds, memory=self.memory.used())

    def packed(self, found: SearchResult) -> SearchResult:
        """Adds the widths that the other engines end with, and what depends on them."""
        states: Iterable[State] = self.parents
        widths = least_widths(largest_sizes(self.model))
        if widths.chosen:
            self._take_widths(widths)
            states = map(self.orbits.canonical, states) if self.options.symmetry else states
        packed = digest(map(self.layout.pack, states))
        return replace(found, widths=dict(widths.chosen), state_bits=self.layout.bits, digest=packed)

    def _take_widths(self, widths: Widths) -> None:
        """Sets the packed layout, which only the digest and the representatives of orbits need. This search itself
        needs no widths, and knows at its end which ones the other engines need."""
        packed = sized(self.model, widths)
        self.layout = lay_out(packed.variable_types)
        self.orbits = Orbits(self.layout, self._renameable(packed))

    def _sizes(self) -> dict[str, int]:
        """The largest size of each container with a capacity or a width."""
        kinds = self.model.variable_types
        largest = {place: 0 for name, kind in kinds.items() for place, _ in capacities(kind, name)}
        bounded = [(index, name) for index, name in enumerate(kinds) if any(capacities(kinds[name], name))]
        for state in self.parents if bounded else ():
            for index, name in bounded:
                for place, size in sizes(kinds[name], state[index], name):
                    largest[place] = max(largest[place], size)
        return largest

    def _all_levels(self) -> bool:
        """Whether all states were found, and no violation."""
        frontier = self._initial_level()
        while frontier:
            self.levels.append(len(frontier))
            if self.violations:
                return False
            self._report(len(frontier))
            frontier = self._next_level(frontier)
        return not self.violations

    def _initial_level(self) -> list[State]:
        level: list[State] = []
        try:
            for step, state in reference.initial_states(self.model):
                first = TraceState(step, state)
                self.violations += wrong_beginnings(self.model, self.properties, first, self.violations)
                self._arrive(None, state, level)
        except SourceError as error:
            self._violate("error", "", (), error)
        if not self.generated and not self.violations:
            raise without_initial_state(self.model)
        return level

    def _next_level(self, frontier: list[State]) -> list[State]:
        level: list[State] = []
        for count, old in enumerate(frontier, 1):
            self._expand(old, level)
            if count % _WATCH_EVERY == 0:
                self._report(len(frontier))
            self._within_limits()
        return level

    def _expand(self, old: State, level: list[State]) -> None:
        enabled = False
        for name, method in type(self.model).methods("action").items():
            for step in self._choices(old, name, method):
                try:
                    new = reference.fire(self.model, old, step)
                except SourceError as error:
                    self._violate("error", "", self._trace(old), error, step)
                    continue
                if new is not None:
                    enabled = True
                    self.actions[name] += 1
                    self._check_step(old, step, new)
                    self._arrive(old, new, level)
        if self.options.deadlock and not enabled:
            self._violate("deadlock", "deadlock", self._trace(old))

    def _choices(self, old: State, name: str, method: Callable[..., Any]) -> list[Step]:
        try:
            return _choices(self.model, old, name, method)
        except SourceError as error:
            self._violate("error", "", self._trace(old), error, Step(name))
            return []

    def _arrive(self, old: State | None, new: State, level: list[State]) -> None:
        """Counts a generated state; a new one is checked and added to the level."""
        self.generated += 1
        state = self.canonical(new)
        if state in self.parents:
            return
        if not self._within_boundary(old, state):
            self.cut += 1
            if state not in self.outside:
                self.outside.add(state)
                self._check_state(old, state, inside=False)
            return
        self.parents[state] = old
        level.append(state)
        for name, value in zip(self.values, state, strict=True):
            self.values[name].add(value)
        self._check_state(old, state, inside=True)

    def _within_boundary(self, old: State | None, state: State) -> bool:
        try:
            return reference.within_boundary(self.model, state)
        except SourceError as error:
            self._violate("error", "", self._trace(state, old), error)
            return False

    def _check_state(self, old: State | None, state: State, inside: bool) -> None:
        """Evaluates all properties of a state, in every state, so that a failure of one does not depend on the others.
        """
        for prop in self.properties:
            if prop.kind == "transition":
                continue
            self._ask_premises(prop, state)
            try:
                true = reference.holds(self.model, prop.function, state)
            except SourceError as error:
                self._violate("error", prop.name, self._trace(state, old), error)
                continue
            if prop.kind == "reachable" and true and inside and prop.name not in self.reached:
                self.reached[prop.name] = self._trace(state, old)
            elif prop.kind == "invariant" and not true:
                self._violate("invariant", prop.name, self._trace(state, old))

    def _check_step(self, old: State, step: Step, new: State) -> None:
        for prop in self.properties:
            if prop.kind == "transition":
                self._ask_premises(prop, old, new)
                try:
                    if not reference.holds(self.model, prop.function, old, new):
                        self._violate("transition", prop.name, self._trace_over(old, step))
                except SourceError as error:
                    self._violate("error", prop.name, self._trace_over(old, step), error)

    def _ask_premises(self, prop: Property, *states: State) -> None:
        if self.unmet[prop.name]:
            self.unmet[prop.name] = [it for it in self.unmet[prop.name] if not it.is_met(self.model, *states)]

    def _violate(
        self,
        kind: ViolationKind,
        name: str,
        trace: tuple[TraceState, ...],
        error: SourceError | None = None,
        step: Step | None = None,
    ) -> None:
        """Records the first violation of each property, and the first state in which evaluating it fails."""
        if any((known.property, known.kind == "error") == (name, kind == "error") for known in self.violations):
            return
        violation = Violation(kind, name, trace) if error is None else Violation.of_error(error, name, trace, step)
        self.violations.append(violation)

    def _trace(self, state: State, parent: State | None = None) -> tuple[TraceState, ...]:
        """A run from an initial state to ``state``; ``parent`` is given for a state that is not recorded yet."""
        path = [state]
        back = parent if parent is not None else self.parents.get(state)
        while back is not None:
            path.append(back)
            back = self.parents[back]
        path.reverse()
        trace = [self._step_to(reference.initial_states(self.model), path[0])]
        for target in path[1:]:
            trace.append(self._step_to(_successors(self.model, trace[-1].state), target))
        return tuple(trace)

    def _trace_over(self, old: State, step: Step) -> tuple[TraceState, ...]:
        """A run to ``old`` and one more step, which need not be the first found to its successor."""
        trace = self._trace(old)
        if trace[-1].state == old:
            after = reference.fire(self.model, old, step)
            if after is not None:
                return (*trace, TraceState(step, after))
        renaming = self.orbits.leading(old, trace[-1].state)
        step = Step(step.action, {name: renamed(value, renaming) for name, value in step.arguments.items()})
        after = reference.fire(self.model, trace[-1].state, step)
        if after is None:
            raise AssertionError(f"{step} is not enabled after renaming: the model is not symmetric")
        return (*trace, TraceState(step, after))

    def _step_to(self, steps: Iterator[tuple[Step, State]], target: State) -> TraceState:
        for step, state in steps:
            if self.canonical(state) == target:
                return TraceState(step, state)
        raise AssertionError("a state was reached that is no successor of its parent")

    def _renameable(self, packed: Model) -> Sequence[IdentifierType]:
        """The identifiers that may be renamed. Raises ModelError if symmetry is requested and not proved."""
        if not self.options.symmetry:
            return ()
        functions = {prop.name: prop.function for prop in self.properties}
        return prove_symmetry(packed, functions, read_program(packed, functions), self.options.symmetry).kinds

    def canonical(self, state: State) -> State:
        """The representative of the orbit of ``state``; without symmetry, the state itself.

        It is chosen when the first state of an orbit is met, and recorded for every renaming of that state.
        """
        if not self.options.symmetry:
            return state
        if state not in self.representatives:
            self.representatives.update(dict.fromkeys(self.orbits.all_of(state), self.orbits.canonical(state)))
        return self.representatives[state]

    def _confirm_symmetry(self) -> None:
        """Compares the successors and the properties of some states with those of their copies under other names.

        Raises RuntimeError, which is an internal error, if they differ: the symmetry proof is then wrong.
        """
        every = list(self.orbits.renamings())
        ways = every[1 :: max(1, -(-len(every) // RENAMINGS))]
        states = list(self.parents)
        some = states[:: max(1, len(states) // max(COMPARED, len(states) // COMPARED_PART))] if ways else []
        is_small = len(states) * len(ways) <= COMPARED
        compared = itertools.product(states, ways) if is_small else zip(some, itertools.cycle(ways))
        for state, way in compared:
            copy = self.orbits.after(state, way)
            expected = Counter(self.orbits.after(after, way) for _, after in _successors(self.model, state))
            found = Counter(after for _, after in _successors(self.model, copy))
            if expected != found or not self._is_judged_alike(state, copy):
                raise RuntimeError(f"a permitted renaming, to {copy}, is not one of the model, in {state}")

    def _is_judged_alike(self, state: State, copy: State) -> bool:
        """Whether the properties of states agree on both, as far as they can be evaluated."""
        for prop in self.properties:
            if prop.kind != "transition":
                with contextlib.suppress(SourceError):
                    one, other = (reference.holds(self.model, prop.function, it) for it in (state, copy))
                    if one != other:
                        return False
        return True

    def _report(self, frontier: int) -> None:
        if self.watch is not None:
            seconds = time.perf_counter() - self.started
            found, memory = len(self.parents), self.memory.used()
            self.watch(Progress(len(self.levels), frontier, found, self.generated, seconds, memory))

    def _within_limits(self) -> None:
        limits = self.options.limits
        memory = 0 if limits.memory is None else self.memory.used()
        stop = limits.reached(len(self.parents), self.generated, time.perf_counter() - self.started, memory)
        if stop is not None:
            raise LimitReached(stop)


def _choices(model: Model, state: State, name: str, method: Callable[..., Any]) -> list[Step]:
    """The ways to take an action in ``state`` that its leading guards allow; all are drawn before one is run."""
    model.load(state)
    return [Step(name, arguments) for arguments in reference._bindings(model, method)]


def _successors(model: Model, state: State) -> Iterator[tuple[Step, State]]:
    for name, method in type(model).methods("action").items():
        for step in _choices(model, state, name, method):
            with contextlib.suppress(SourceError):
                after = reference.fire(model, state, step)
                if after is not None:
                    yield step, after
