"""Compares the native search of a model with CPython, level by level and state by state, as far as CPython gets.

Every state that CPython expands is expanded by compiled code as well: the same successors, as often each, the same
actions fired, the same truth of every property, boundary and step, and a failure where CPython fails. So are states
from the end of what the native search found. What a search finds is compared as a whole: each level as a set, and where
CPython has finished, the violations and the lengths of their traces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.kernel.stepper import Stepper
from floodmark.checkers.native import search
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Limits, Options, SearchResult
from floodmark.compiler.layout import digest
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.members import REFINES, kind_of
from floodmark.language.model import Model, State
from floodmark.language.reference import choices, fire, holds, initial_states, within_boundary
from floodmark.language.widths import WidthExceeded

Words = tuple[int, ...]


class DisagreementError(AssertionError):
    """Compiled code and CPython differ about a model."""


class RefusedError(Exception):
    """The compiler refuses a model."""


@dataclass(frozen=True)
class Budget:
    """The limits of a comparison: states that the native search finds, steps that CPython takes, and states from the
    end of the native result that both expand."""

    states: int = 3000
    steps: int = 400
    late: int = 6


@dataclass
class Found:
    """The common result of both engines. ``verdict`` is that of the native search within its limit, ``levels`` are the
    sizes of the levels that it completed and ``digest`` is that of their states, ``shortest`` the number of states of
    its shortest trace; ``whole`` is whether CPython has seen every state as well, ``compared`` the number that it
    expanded.

    Equivalent models have equal results except for the last two, which depend on CPython's limits.
    """

    verdict: str
    broken: frozenset[tuple[str, str]] = frozenset()
    shortest: int | None = None
    levels: tuple[int, ...] = ()
    digest: str = ""
    generated: int | None = None
    actions: dict[str, int] = field(default_factory=dict)
    whole: bool = field(default=False, compare=False)
    compared: int = field(default=0, compare=False)


@dataclass
class _Expansion:
    """CPython's expansion of a state: its successors within the boundary with their multiplicities, the actions that
    fired, the violated step properties, the state properties that are false in some successor outside, the number of
    those successors, and whether anything fails."""

    after: Counter[Words] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    broken: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    cut: int = 0
    failed: bool = False
    steps: int = 0


def agreement(model: Model, properties: Sequence[Property], budget: Budget, deadlock: bool = False) -> Found:
    """The common result of the native search and CPython. Raises DisagreementError if they differ, RefusedError if the
    compiler refuses the model."""
    return at_widths(model, lambda sized: _Both(sized, properties, budget, deadlock).found())


class _Both:
    def __init__(self, model: Model, properties: Sequence[Property], budget: Budget, deadlock: bool) -> None:
        self.model = model
        self.budget = budget
        self.deadlock = deadlock
        self.of_steps = [prop for prop in properties if prop.kind == "transition"]
        self.mappings = [prop for prop in self.of_steps if kind_of(prop.function) == REFINES]
        self.of_states = [prop for prop in properties if prop.kind != "transition" and not prop.is_liveness]
        self.steps = 0
        self.states: dict[Words, State] = {}
        self.compared: set[Words] = set()

    def found(self) -> Found:
        options = Options(workers=1, deadlock=self.deadlock, limits=Limits(states=self.budget.states))
        properties = [*self.of_states, *self.of_steps]
        try:
            starts = [state for _, state in initial_states(self.model)]
        except WidthExceeded:
            raise
        except SourceError:
            starts = []
        try:
            self.search = search.begin(self.model, properties, options)
        except WidthExceeded:
            raise
        except SourceError as error:
            raise RefusedError(error.message) from error
        interface = self.search.interface
        self.layout = interface.layout
        self.stepper = Stepper(self.search.kernel.model, interface)
        try:
            natively = self.search.run()
        except WidthExceeded:
            raise
        except ModelError as error:
            if not starts:
                return Found("error")
            raise DisagreementError(f"the native search ends with {error.message}") from error
        except RuntimeError as error:
            raise DisagreementError(f"the native search ends with {error}") from error
        rows = [tuple(row) for piece in self.search.pieces() for row in piece.tolist()]
        levels = [width for width in natively.levels if width]
        result = self._seen(natively, rows[: sum(levels)], tuple(levels))
        whole = self._levels(starts, rows, levels, result)
        late = rows[:: max(1, len(rows) // self.budget.late)] if self.budget.late and rows else []
        for words in late:
            if words not in self.compared:
                self._expansion(words, self.layout.unpack(words))
        result.whole, result.compared = whole, len(self.compared)
        return result

    def _seen(self, natively: SearchResult, rows: list[Words], levels: tuple[int, ...]) -> Found:
        violations = natively.violations
        failed = any(each.kind == "error" for each in violations)
        verdict = "error" if failed else "violated" if violations else "holds" if natively.complete else "open"
        broken = frozenset({("error", "")} if failed else {(each.kind, each.property) for each in violations})
        shortest = None if failed or not violations else min(len(each.trace) for each in violations)
        counted = verdict != "open"
        return Found(verdict, broken, shortest, levels, digest(rows), natively.generated if counted else None,
                     dict(natively.actions) if counted else {})

    def _levels(self, starts: list[State], rows: list[Words], levels: list[int], result: Found) -> bool:
        """Goes through the levels as CPython finds them; whether it came to the end of the native search."""
        begin, number = 0, 1
        broken: dict[tuple[str, str], int] = {}
        frontier: list[Words] = []
        for state in starts:
            try:
                inside = within_boundary(self.model, state)
                false = {prop.name for prop in self.of_states
                         if not inside and prop.kind == "invariant" and not self._true(prop, state)}
                unlike = {prop.name for prop in self.mappings if not self._true(prop, state)}
            except SourceError:
                broken["error", ""] = 1
                continue
            broken.update({("invariant", name): 1 for name in false})
            broken.update({("transition", name): 1 for name in unlike})
            words = self.layout.pack(state)
            if inside and words not in self.states:
                self.states[words] = state
                frontier.append(words)
        if not starts:
            broken["error", ""] = 0
        while frontier:
            natively = set(rows[begin : begin + levels[number - 1]]) if number <= len(levels) else set()
            if number <= len(levels) or result.verdict != "open":
                self._same(set(frontier), natively, number)
            begin += len(natively)
            for words in frontier:
                for kind, name in self._checked(words, self.states[words]):
                    broken.setdefault((kind, name), number)
            if broken:
                break
            following: list[Words] = []
            for words in frontier:
                if self.steps > self.budget.steps:
                    return False
                made = self._expansion(words, self.states[words])
                if made.failed:
                    broken.setdefault(("error", ""), number)
                for name in made.broken:
                    broken.setdefault(("transition", name), number + 1)
                for name in made.outside:
                    broken.setdefault(("invariant", name), number + 1)
                if self.deadlock and not made.fired:
                    broken.setdefault(("deadlock", "deadlock"), number)
                for after in made.after:
                    if after not in self.states:
                        self.states[after] = self.layout.unpack(after)
                        following.append(after)
            if broken:
                self._note_last_level(following, broken, number + 1)
                break
            frontier, number = following, number + 1
        self._same_end(broken, result, number)
        return True

    def _note_last_level(self, following: list[Words], broken: dict[tuple[str, str], int], number: int) -> None:
        """The native search completes the level in which a step is bad, and looks at the states that it leads to."""
        for words in following:
            for known in self._checked(words, self.states[words]):
                broken.setdefault(known, number)

    def _same_end(self, broken: dict[tuple[str, str], int], result: Found, number: int) -> None:
        failed = any(kind == "error" for kind, _ in broken)
        verdict = "error" if failed else "violated" if broken else "holds"
        wanted = frozenset({("error", "")} if failed else broken)
        shortest = None if failed or not broken else min(broken.values())
        if result.verdict == "open":
            if broken and number < len(result.levels):
                raise DisagreementError(f"CPython: {sorted(broken)} in level {number}; the native search went on")
            return
        if (result.verdict, result.broken, result.shortest) != (verdict, wanted, shortest):
            natively = (result.verdict, sorted(result.broken), result.shortest)
            raise DisagreementError(f"natively {natively}, by CPython {(verdict, sorted(wanted), shortest)}")

    def _same(self, real: set[Words], natively: set[Words], number: int) -> None:
        missing, invented = real - natively, natively - real
        if missing:
            raise DisagreementError(f"level {number} lacks {self.layout.unpack(min(missing))}")
        if invented:
            raise DisagreementError(f"level {number} has {self.layout.unpack(min(invented))}, not by CPython")

    def _true(self, prop: Property, *states: State) -> bool:
        return holds(self.model, prop.function, *states)

    def _checked(self, words: Words, state: State) -> list[tuple[str, str]]:
        """The invariants that are false of a state, as both say."""
        if self.layout.pack(state) != words or self.layout.unpack(words) != state:
            raise DisagreementError(f"packing changes {state}")
        mask, failed = self.stepper.check(words)
        try:
            true = {prop.name: self._true(prop, state) for prop in self.of_states}
        except WidthExceeded:
            raise
        except SourceError as error:
            if not failed:
                raise DisagreementError(f"{error.message}; compiled code says nothing of it: {state}") from error
            return [("error", "")]
        natively = {name: bool(mask >> bit & 1) for bit, name in enumerate(self.search.interface.state_predicates)}
        if failed or natively != true:
            raise DisagreementError(f"in {state}: natively {natively}{' and a failure' * failed}, by CPython {true}")
        return [("invariant", prop.name) for prop in self.of_states if prop.kind == "invariant" and not true[prop.name]]

    def _expansion(self, words: Words, state: State) -> _Expansion:
        """CPython's expansion of a state, which that of compiled code has to equal."""
        real = self._by_cpython(state)
        self.compared.add(words)
        made = self.stepper.expand(words)
        if made.failed != real.failed:
            raise DisagreementError(f"{'CPython' if real.failed else 'only compiled code'} fails in {state}")
        if real.failed:
            return real
        after = Counter(map(tuple, made.after))
        for which, (one, other) in {"lacks": (real.after, after), "invents": (after, real.after)}.items():
            if one - other:
                example = self.layout.unpack(next(iter(one - other)))
                raise DisagreementError(f"compiled code {which} {example} after {state}")
        interface = self.search.interface
        fired = dict(zip(interface.actions, made.fired, strict=True))
        if fired != {action: real.fired[action] for action in interface.actions}:
            raise DisagreementError(f"in {state} these fire: {fired}, by CPython {dict(real.fired)}")
        broken = {name for bit, name in enumerate(interface.transition_predicates) if made.broken >> bit & 1}
        invariants = {prop.name for prop in self.of_states if prop.kind == "invariant"}
        outside = {name for bit, name in enumerate(interface.state_predicates)
                   if not made.inside >> bit & 1 and name in invariants}
        if (broken, outside, made.cut) != (real.broken, real.outside, real.cut):
            raise DisagreementError(f"in {state}: natively {broken, outside, made.cut}, by CPython "
                                    f"{real.broken, real.outside, real.cut}")
        return real

    def _by_cpython(self, state: State) -> _Expansion:
        found = _Expansion()
        for name in type(self.model).methods("action"):
            try:
                steps = choices(self.model, state, name)
            except WidthExceeded:
                raise
            except SourceError as error:
                if "possible values; draw it" in error.message:  # what compiled code does not mind
                    raise RefusedError(error.message) from error
                found.failed = True
                continue
            for step in steps:
                self.steps += 1
                try:
                    after = fire(self.model, state, step)
                    if after is None:
                        continue
                    found.fired[step.action] += 1
                    found.broken |= {prop.name for prop in self.of_steps if not self._true(prop, state, after)}
                    if within_boundary(self.model, after):
                        found.after[self.layout.pack(after)] += 1
                    else:
                        found.cut += 1
                        false = {prop for prop in self.of_states if not self._true(prop, after)}
                        found.outside |= {prop.name for prop in false if prop.kind == "invariant"}
                except WidthExceeded:
                    raise
                except SourceError:
                    found.failed = True
        return found
