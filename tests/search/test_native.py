"""The native search: verdicts, counts, budgets, and the same answer for any number of workers."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Seq,
    Set,
    action,
    boundary,
    implies,
    initial,
    invariant,
    reachable,
    require,
    transition,
)
from floodmark.checkers.kernel import compiled_model, loops
from floodmark.checkers.kernel.compiled_model import Kernel, build_kernel
from floodmark.checkers.native.memory import MemoryStore
from floodmark.checkers.native.search import reachable_set, search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import read
from floodmark.checkers.reference import search
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search.store import Packed
from floodmark.checkers.search.trace import Tracer
from floodmark.checkers.search_result import Limits, Options, SearchResult
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.language.errors import ModelError
from floodmark.language.model import State
from tests.support.agreement import assert_agrees

Digit = Annotated[int, Between(0, 9)]
Many = Annotated[int, Between(0, 4095)]


class Node(Identifier, count="nodes", prefix="n"):
    pass


class Counter(Model):
    """Counts up to a limit, and may start at 0 or 1."""

    limit = Constant(4)
    n: Digit

    @initial
    def start(self, one: bool) -> None:
        self.n = 1 if one else 0

    @action
    def step(self, by: Annotated[int, Between(1, 2)]) -> None:
        require(self.n + by <= self.limit)
        self.n += by

    @action
    def stay(self) -> None:
        require(self.n == 0)

    @action
    def never(self) -> None:
        require(self.n == 9)
        self.n = 0


class Grid(Model):
    """``side`` to the power of five states; every state has one successor for each coordinate that can grow."""

    side = Constant(6)
    top = Constant(99)
    cells: Map[Annotated[int, Between(0, 4)], Annotated[int, Between(0, 40)]]

    @initial
    def start(self) -> None:
        self.cells = Map({index: 0 for index in range(5)})

    @action
    def grow(self, index: Annotated[int, Between(0, 4)]) -> None:
        require(self.cells[index] + 1 < self.side)
        self.cells[index] += 1

    @invariant
    def below(self) -> bool:
        return sum(self.cells.values()) < self.top * 5


class Jumps(Model):
    """Every state leads to every other: levels are as wide as can be, and most successors are known."""

    size = Constant(300)
    here: Annotated[int, Between(0, "size - 1")]
    there: Annotated[int, Between(0, "size - 1")]

    @initial
    def start(self) -> None:
        self.here = 0
        self.there = 0

    @action
    def jump(self, to: Annotated[int, Between(0, "size - 1")]) -> None:
        self.here = to

    @action
    def follow(self, to: Annotated[int, Between(0, "size - 1")]) -> None:
        require(to <= self.here)
        self.there = to


class Wide(Model):
    """States of many words, with variables of more than a word."""

    nodes = Constant(3)
    table: Map[Node, Annotated[Seq[Annotated[int, Between(0, 999)]], Capacity(6)]]
    marks: Set[Annotated[int, Between(0, 199)]]
    far: Annotated[int, Between(-(10**15), 10**15)]

    @initial
    def start(self) -> None:
        self.table = Map({node: Seq() for node in Node})
        self.marks = Set({199})
        self.far = -(10**15)

    @action
    def write(self, node: Node) -> None:
        require(len(self.table[node]) < 3)
        self.table[node].append(999 - 7 * len(self.table[node]))

    @action
    def mark(self, node: Node) -> None:
        require(len(self.marks) < 4 and len(self.table[node]) > 0)
        self.marks.add(self.table[node][-1] % 200)

    @action
    def swing(self) -> None:
        self.far = -self.far


def native(cls: type[Model], options: Options | None = None, **constants: int) -> SearchResult:
    options = options or Options(workers=1)
    return search_states(cls(**constants), list(collect(cls, ()).values()), options)


def both(cls: type[Model], options: Options | None = None, **constants: int) -> SearchResult:
    """What one and two workers find; it has to be what CPython finds."""
    options = options or Options(workers=1)
    wanted = search.search_states(cls(**constants), list(collect(cls, ()).values()), options)
    for workers in (1, 2):
        found = native(cls, replace(options, workers=workers), **constants)
        for name in ("complete", "distinct", "generated", "depth", "levels", "actions", "cut", "digest"):
            assert getattr(found, name) == getattr(wanted, name), name
        assert shapes(found) == shapes(wanted)
        assert set(found.reached) == set(wanted.reached)
    return found


def shapes(found: SearchResult) -> list[tuple[str, str, int]]:
    return [(violation.kind, violation.property, len(violation.trace)) for violation in found.violations]


def steps(found: SearchResult, number: int = 0) -> list[str]:
    return [str(entry.step) for entry in found.violations[number].trace]


# Verdicts.


def test_counts_are_those_found_by_hand() -> None:
    found = both(Counter)
    # Two initial states; from 0: by 1, by 2, stay; from 1: two; from 2: two; from 3: one; from 4: none.
    assert (found.distinct, found.generated, found.levels) == (5, 10, [2, 2, 1])
    assert found.actions == {"step": 7, "stay": 1, "never": 0}
    assert found.values_seen == {"n": 5}
    assert found.state_bits == 4


def test_a_deadlock_is_looked_for_on_request_only() -> None:
    assert both(Counter).violations == []
    found = both(Counter, Options(deadlock=True))
    assert shapes(found) == [("deadlock", "deadlock", 3)]
    assert found.violations[0].trace[-1].state == (4,)


def test_a_step_out_of_the_boundary_is_no_deadlock() -> None:
    class Bounded(Counter):
        @boundary
        def small(self) -> bool:
            return self.n < 4

    assert both(Bounded, Options(deadlock=True)).violations == []


def test_an_invariant_is_violated_after_the_fewest_steps() -> None:
    class Flawed(Counter):
        @invariant
        def below_three(self) -> bool:
            return self.n < 3

        @invariant
        def below_four(self) -> bool:
            return self.n < 4

    found = both(Flawed)
    assert shapes(found) == [("invariant", "below_three", 2)]
    assert steps(found) == ["start(one=True)", "step(by=2)"]


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["lost_partitions", "two_phase_commit", "async_isr"])
@pytest.mark.parametrize("told", [(), {"no such action"}])
def test_what_compiled_code_tells_of_actions_changes_no_trace(
    spec: str, told: Collection[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled code only says where to look first: CPython finds the same steps without it, and if it is
    wrong."""
    every = checks(read(Path(__file__).parents[2] / "specs/examples" / f"{spec}.toml"), CheckSettings(workers=1))
    designs = [check for check in every if check.flawed is not None]
    wanted = [run_check(check).violation for check in designs]
    assert any(violation is not None and len(violation.trace) > 3 for violation in wanted)
    monkeypatch.setattr(Tracer, "_actions_to", lambda self, state, words: told)
    assert [run_check(check).violation for check in designs] == wanted


def test_compiled_code_tells_the_action_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[Container[str]] = []
    tells = Tracer._actions_to

    def noted(self: Tracer, state: State, words: Packed) -> Container[str]:
        steps.append(tells(self, state, words))
        return steps[-1]

    monkeypatch.setattr(Tracer, "_actions_to", noted)
    spec = read(Path(__file__).parents[2] / "specs/examples/lost_partitions.toml")
    for check in checks(spec, CheckSettings(workers=1)):
        violation = run_check(check).violation
        if violation is not None and violation.kind == "invariant":
            taken = [entry.step.action for entry in violation.trace[1:]]
            assert all(action in told for action, told in zip(taken, steps[-len(taken) :], strict=True))
    assert steps


def test_an_invariant_is_violated_at_the_start() -> None:
    class Flawed(Counter):
        @invariant
        def starts_at_nought(self) -> bool:
            return self.n != 1

    assert steps(both(Flawed)) == ["start(one=True)"]


def test_a_transition_property_sees_steps_to_known_states() -> None:
    class Flawed(Counter):
        @transition
        def moves(self, new: Counter) -> bool:
            return self.n != new.n

    assert steps(both(Flawed)) == ["start(one=False)", "stay()"]


def test_a_transition_property_sees_the_last_step_of_all() -> None:
    class Flawed(Counter):
        @transition
        def small(self, new: Counter) -> bool:
            return implies(new.n == 4, self.n == 2)

    found = both(Flawed)
    assert shapes(found) == [("transition", "small", 3)]
    assert steps(found)[-1] == "step(by=1)"


def test_reachability_properties_are_found() -> None:
    class Hopeful(Counter):
        @reachable
        def four(self) -> bool:
            return self.n == 4

        @reachable
        def nine(self) -> bool:
            return self.n == 9

        @reachable
        def one(self) -> bool:
            return self.n == 1

    assert set(both(Hopeful).reached) == {"four", "one"}


def test_states_outside_of_the_boundary_are_checked_but_not_expanded() -> None:
    class Bounded(Counter):
        @boundary
        def small(self) -> bool:
            return self.n < 3

        @boundary
        def not_two(self) -> bool:
            return self.n != 2

        @reachable
        def two(self) -> bool:
            return self.n == 2

        @transition
        def known(self, new: Counter) -> bool:
            return new.n < 4

    found = both(Bounded)
    # 0 -> 1, [2], 0; 1 -> [2], [3].
    assert (found.distinct, found.generated, found.cut, found.complete) == (2, 7, 3, True)
    assert found.reached == {}

    class Broken(Bounded):
        @invariant
        def not_three(self) -> bool:
            return self.n != 3

    assert steps(both(Broken)) == ["start(one=True)", "step(by=2)"]


@pytest.mark.parametrize("wrong", [2, 3, 4])
def test_every_step_out_of_the_boundary_is_checked(wrong: int) -> None:
    class Bounded(Counter):
        @boundary
        def at_first(self) -> bool:
            return self.n == 1

        @action
        def jump(self) -> None:
            self.n = 4

        @invariant
        def right(self) -> bool:
            return self.n != wrong

    class FromOne(Bounded):
        @initial
        def start(self, one: bool) -> None:
            require(one)
            self.n = 1

    # 1 -> [2], [3], [4]: the first, one between, or the last.
    assert shapes(both(FromOne)) == [("invariant", "right", 2)]


def test_an_initial_state_outside_of_the_boundary() -> None:
    class Bounded(Counter):
        @boundary
        def not_one(self) -> bool:
            return self.n != 1

    found = both(Bounded)
    assert (found.levels[0], found.cut) == (1, 2)

    class Broken(Bounded):
        @invariant
        def not_one_either(self) -> bool:
            return self.n != 1

    assert steps(both(Broken)) == ["start(one=True)"]


# Premises that are never true.


class Premises(Counter):
    @invariant
    def implication(self) -> bool:
        return implies(self.n == 9, self.limit == 4)

    @invariant
    def implication_met_once(self) -> bool:
        return implies(self.n == 4, self.limit == 4)

    @invariant
    def quantified(self) -> bool:
        return all(digit < 9 for digit in range(3) if digit == self.n + 3)

    @invariant
    def quantified_met_once(self) -> bool:
        return all(digit < 9 for digit in range(3) if digit == self.n - 2)

    @invariant
    def alternative(self) -> bool:
        return self.n < 9 or self.limit == 4

    @invariant
    def alternative_met_once(self) -> bool:
        return self.n < 4 or self.limit == 4

    @invariant
    def early_return(self) -> bool:
        if self.n < 5:
            return True
        return self.limit == 4

    @invariant
    def early_return_met_once(self) -> bool:
        if self.n < 4:
            return True
        return self.limit == 4

    @invariant
    def choice(self) -> bool:
        return self.limit == 4 if self.n == 9 else True

    @invariant
    def choice_the_other_way(self) -> bool:
        return True if self.n < 9 else self.limit == 4

    @invariant
    def choice_met_once(self) -> bool:
        return True if self.n < 4 else self.n > 3

    def in_range(self, digit: int) -> bool:
        return implies(self.n == digit, self.limit == 4)

    @invariant
    def in_a_method(self) -> bool:
        return self.in_range(9)

    @invariant
    def in_a_conjunction(self) -> bool:
        return self.n < 9 and implies(self.n == 7, self.limit == 4)

    @invariant
    def in_a_conclusion(self) -> bool:
        return implies(self.n == 4, implies(self.limit == 5, self.n == 5))

    def right_at_nine(self) -> bool:
        if self.n == 9:
            return self.limit == 4
        return True

    @invariant
    def in_a_method_of_a_conclusion(self) -> bool:
        return implies(self.n == 4, self.right_at_nine())

    @transition
    def of_a_step(self, new: Counter) -> bool:
        return implies(new.n < self.n, self.limit == 4)

    @transition
    def of_a_step_met_once(self, new: Counter) -> bool:
        return implies(new.n == self.n, self.n == 0)

    @invariant
    def without_a_premise(self) -> bool:
        return self.n != 8


@pytest.mark.parametrize("workers", [1, 3])
def test_premises_that_are_never_true_are_reported(workers: int) -> None:
    found = native(Premises, Options(workers=workers))
    assert found.violations == []
    assert [premise.property for premise in found.vacuous] == [
        "implication", "quantified", "alternative", "early_return", "choice", "choice_the_other_way", "in_a_method",
        "in_a_conjunction", "in_a_conclusion", "in_a_method_of_a_conclusion", "of_a_step",
    ]
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    for premise in found.vacuous:
        assert premise.file == __file__
        assert "return" in lines[premise.line - 1]


def test_vacuity_is_told_of_a_whole_search_only() -> None:
    assert native(Premises, Options(workers=1, limits=Limits(states=3))).vacuous == []


# Budgets.


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize(
    ("limits", "stopped"),
    [
        (Limits(states=20_000), "the limit of 20,000 states"),
        (Limits(generated=20_000), "the limit of 20,000 steps"),
        (Limits(seconds=0.0), "the limit of 0 seconds"),
        (Limits(memory=1 << 20), "the memory limit"),
    ],
)
def test_a_limit_ends_a_native_search_without_a_verdict(limits: Limits, stopped: str, workers: int) -> None:
    found = native(Grid, Options(workers=workers, limits=limits), side=12)
    assert (found.complete, str(found.stopped), found.violations) == (False, stopped, [])
    assert 0 < sum(found.levels) <= found.distinct < 12**5
    assert found.generated == 1 + sum(found.actions.values())
    assert found.generated >= found.distinct
    assert found.depth == len(found.levels)
    assert found.vacuous == []


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    free = native(Grid)
    limits = Limits(states=6**5, seconds=600.0, memory=8 << 30, generated=10**6)
    limited = native(Grid, Options(workers=2, limits=limits))
    assert limited.complete
    assert (limited.digest, limited.levels) == (free.digest, free.levels)


def test_a_violation_before_the_limit_is_told() -> None:
    found = native(Grid, Options(workers=2, limits=Limits(states=30_000)), side=12, top=2)
    assert shapes(found) == [("invariant", "below", 11)]


# Any number of workers, any order.


def compared(found: SearchResult) -> Any:
    return (
        found.digest, found.distinct, found.generated, found.depth, found.levels, found.actions, found.cut,
        found.values_seen, [(v.kind, v.property, v.trace, v.message) for v in found.violations], set(found.reached),
    )


@pytest.mark.parametrize(
    ("cls", "constants"),
    [(Counter, {}), (Grid, {}), (Grid, {"top": 3}), (Grid, {"side": 9, "top": 5}), (Wide, {}), (Jumps, {"size": 40})],
)
def test_the_same_for_any_number_of_workers(cls: type[Model], constants: dict[str, int]) -> None:
    first = compared(native(cls, None, **constants))
    for workers in (1, 2, 2, 3, 4):
        assert compared(native(cls, Options(workers=workers), **constants)) == first


def test_states_of_many_words_agree_with_cpython() -> None:
    found = assert_agrees(Wide, workers=(1, 3), nodes=2)
    assert found.distinct > 50
    assert found.values_seen["far"] == 2
    assert found.state_bits > 300


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_full_table_is_replaced_by_a_larger_one(workers: int) -> None:
    """371,293 states: the table is replaced several times, in the middle of a level."""
    found = native(Grid, Options(workers=workers), side=13)
    assert (found.distinct, found.complete, found.depth) == (13**5, True, 5 * 12 + 1)
    assert found.generated == 1 + 5 * 12 * 13**4
    assert sum(found.levels) == found.distinct
    assert found.levels == found.levels[::-1]
    assert found.digest == "".join(f"{part:016x}" for part in grid_digest(13))


def grid_digest(side: int) -> tuple[int, int]:
    """The digest of the whole grid, computed apart from any search."""
    bits = 6
    words = np.zeros(1, dtype=np.uint64)
    for index in range(5):
        words = (words[:, None] | (np.arange(side, dtype=np.uint64) << np.uint64(bits * index))[None, :]).ravel()
    sums = []
    with np.errstate(over="ignore"):
        for seed in (loops.SEED_1, loops.SEED_2):
            h = (np.uint64(seed) ^ words) * np.uint64(loops.MULTIPLIER_1)
            h = h ^ (h >> np.uint64(32))
            h = h * np.uint64(loops.MULTIPLIER_2)
            sums.append(int((h ^ (h >> np.uint64(29))).sum(dtype=np.uint64)))
    return sums[0], sums[1]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_states_may_have_very_many_successors(workers: int) -> None:
    """90,000 states with up to 600 successors each, 27 million in all, on three levels."""
    found = native(Jumps, Options(workers=workers), size=300)
    assert (found.distinct, found.depth) == (300 * 300, 4)
    assert found.generated == 1 + 300 * 300 * 300 + 300 * sum(range(1, 301))
    assert found.levels[:2] == [1, 299]


class Boundless(Counter):
    """Has some 2**60 ways to take its step."""

    @action
    def choose(self, a: Many, b: Many, c: Many, d: Many, e: Many) -> None:
        require(a == b == c == d == e == 0)
        self.n = 0


def test_more_successors_than_memory_can_be_addressed_are_refused() -> None:
    with pytest.raises(ModelError, match=r"no room for 1,152,921,504,606,846,9\d\d successors"):
        search_states(Boundless(), [], Options(workers=1))


def test_the_reachable_set_is_complete() -> None:
    rows, _ = reachable_set(Grid(side=8), Options(workers=2))
    assert len({tuple(row) for row in rows.tolist()}) == 8**5


# The cache.


def machine_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:

    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled_model, "_KNOWN_LOOPS", {})
    return tmp_path / "cache"


def test_much_code_is_optimised_whether_or_not_anybody_is_told(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_model, "MIN_REPORTED_INSTRUCTIONS", 0)
    told: list[str] = []
    assert compiled_model.build_kernel(Grid(), {}, symmetry=False, good=True).good
    assert compiled_model.build_kernel(Grid(side=5), {}, symmetry=False, good=True, tell=told.append).good
    assert len(told) == 1


def test_code_from_the_cache_finds_the_same(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    first = native(Grid)
    files = machine_files(fresh_cache)
    times = [path.stat().st_mtime_ns for path in files]
    assert files
    monkeypatch.setattr(compiled_model, "_KNOWN_LOOPS", {})
    again = native(Grid)
    assert compared(again) == compared(first)
    assert machine_files(fresh_cache) == files
    assert [path.stat().st_mtime_ns for path in files] == times


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 4096], ids=["empty", "short", "zeros"])
def test_damaged_code_is_compiled_again(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:

    first = native(Counter)
    files = machine_files(fresh_cache)
    kept = [path.read_bytes() for path in files]
    for path in files:
        path.write_bytes(damage)
    monkeypatch.setattr(compiled_model, "_KNOWN_LOOPS", {})
    assert compared(native(Counter)) == compared(first)
    assert machine_files(fresh_cache) == files
    assert all(path.read_bytes() != damage for path in files)
    for path, content in zip(files, kept, strict=True):
        flipped = bytearray(content)
        flipped[len(flipped) // 2] ^= 1
        path.write_bytes(bytes(flipped))
    monkeypatch.setattr(compiled_model, "_KNOWN_LOOPS", {})
    assert compared(native(Counter)) == compared(first)


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(compiled_model, "_KNOWN_LOOPS", {})
    assert native(Counter).complete


def test_a_search_changes_to_good_code_on_its_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path))
    properties = list(collect(Wide, ()).values())
    plain = search_states(Wide(), properties, Options(workers=2))
    monkeypatch.setattr("floodmark.checkers.search.driver.PATIENCE", 0.0)
    kernels: list[Kernel] = []
    improve = Kernel.improve

    def noted(kernel: Kernel) -> None:
        kernels.append(kernel)
        improve(kernel)

    monkeypatch.setattr(Kernel, "improve", noted)
    changed = search_states(Wide(), properties, Options(workers=2))
    assert len(kernels) == 1
    assert kernels[0].good
    again = search_states(Wide(), properties, Options(workers=2))
    assert len(kernels) == 1, "good code that is in the cache is used from the start"
    for found in (changed, again):
        assert (found.digest, found.generated, found.levels) == (plain.digest, plain.generated, plain.levels)


def test_the_loops_have_the_editions_of_the_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path))
    monkeypatch.setattr(compiled_model, "_KNOWN_LOOPS", {})
    first = build_kernel(Wide(), {}, symmetry=False)
    plain = first.loops
    assert build_kernel(Wide(), {}, symmetry=False).loops is plain
    assert build_kernel(Wide(), {}, symmetry=False, threads=2).loops is not plain
    first.improve()
    assert first.loops is not plain
    assert build_kernel(Grid(), {}, symmetry=False).loops is not plain, "a state of another width"
    monkeypatch.setattr(compiled_model, "_KNOWN_LOOPS", {})
    kept = build_kernel(Wide(), {}, symmetry=False)
    kept_loops = kept.loops
    kept.improve()
    assert kept.loops is kept_loops, "good loops that are in the cache are used from the start"


@pytest.mark.parametrize(
    ("likely", "begins", "changes"),
    [(None, False, True), (10**6, True, False), (3, False, True), (10**5, False, False)],
)
def test_what_a_spec_expects_decides_which_code_is_compiled(
    likely: int | None, begins: bool, changes: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    properties = list(collect(Wide, ()).values())
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "plain"))
    plain = search_states(Wide(), properties, Options(workers=1))
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "other"))
    monkeypatch.setattr("floodmark.checkers.search.driver.PATIENCE", 0.0)
    kernels: list[Kernel] = []
    first = Kernel.__init__

    def noted(kernel: Kernel, *given: Any) -> None:
        first(kernel, *given)
        kernels.append(kernel)
        assert kernel.good == begins

    monkeypatch.setattr(Kernel, "__init__", noted)
    found = search_states(Wide(), properties, Options(workers=1, likely=likely))
    assert 3 < found.distinct < 10**5
    assert kernels[0].good == (begins or changes)
    assert compared(found) == compared(plain)


def test_a_known_bad_design_compiles_only_what_it_changes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path))

    class Other(Wide):
        @action
        def mark(self, node: Node) -> None:
            require(len(self.marks) < 3 and len(self.table[node]) > 0)
            self.marks.add(self.table[node][-1] % 200)

    build_kernel(Wide(), {}, symmetry=False)
    before = len(list((tmp_path / "code").iterdir()))
    build_kernel(Other(), {}, symmetry=False)
    assert len(list((tmp_path / "code").iterdir())) == before + 1


def test_a_level_that_is_left_early_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a search that met a part of the states would call itself whole."""
    monkeypatch.setattr(MemoryStore, "expand_level", lambda self, paused: False)
    with pytest.raises(RuntimeError, match="left a level before its end"):
        search_states(Grid(), [], Options(workers=1))
