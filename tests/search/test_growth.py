"""Containers without a capacity: whatever engine searches, nothing is cut, and the widths are the model's alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from floodmark import (
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    eventually,
    fair,
    initial,
    invariant,
    leads_to,
    require,
)
from floodmark.checkers.adaptive_capacity import at_widths, search_growing
from floodmark.checkers.codegen.model_module import parts
from floodmark.checkers.conformance.adapter import Adapter
from floodmark.checkers.conformance.tours import tour
from floodmark.checkers.conformance.walks import walk
from floodmark.checkers.native.search import reachable_set, search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import read
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Limit, Limits, Options, Progress, SearchResult, Stop
from floodmark.checkers.symbolic.methods import bmc
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.symmetry.proof import AsymmetryError
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.compiler.program import read_program
from floodmark.language.errors import ModelError
from floodmark.language.model import sized
from floodmark.language.reference import initial_states
from floodmark.language.types import growing, is_unlimited
from floodmark.language.widths import FIRST_WIDTHS, WidthExceeded, Widths, least_widths
from tests.search.test_memory import SetLimit, small
from tests.support.engines import ENGINES, outcome, plain_search
from tests.support.growing_models import FIGURES, MODELS, WIDTHS, Aside, Broken, Endless, Flag, Late, Post, Through
from tests.support.symbolic_agreement import assert_bounded_search_agrees, levels_by_cpython

__all__ = ["small"]

ROOT = Path(__file__).parents[2]

def searched(model: Model, options: Options) -> SearchResult:
    return search_states(model, list(collect(type(model), ()).values()), options)


def figures(found: SearchResult) -> list[Any]:
    shown = [(it.kind, it.property, len(it.trace), it.message, it.failed_step) for it in found.violations]
    return [*(getattr(found, name) for name in FIGURES), shown, sorted(found.reached)]


@pytest.mark.parametrize("name", MODELS)
def test_every_engine_finds_what_cpython_finds(name: str) -> None:
    model = MODELS[name]
    properties = list(collect(type(model), ()).values())
    wanted, states = plain_search(type(model)(**model.constant_values), properties)
    for engine in ENGINES.values():
        assert outcome(engine, type(model)(**model.constant_values), properties) == wanted
    if not wanted.broken:
        rows, _ = reachable_set(model, Options(workers=2))
        assert len(rows) == len(states)
        assert searched(model, Options(workers=1)).widths == WIDTHS[name]


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow] if name in ("post", "through") else []) for name in MODELS
])
def test_a_search_through_files_finds_the_same(name: str, small: SetLimit) -> None:
    model = MODELS[name]
    small(1 << 30)
    wanted = figures(searched(model, Options(workers=1)))
    for room in (0, 900):
        small(room)
        assert figures(searched(model, Options(workers=2))) == wanted


def test_orbits_grow_like_states() -> None:
    for model in (Post(), Late()):
        options = Options(workers=1, symmetry=True)
        properties = list(collect(type(model), ()).values())
        plain = reference.search_states(type(model)(), properties, options)
        found = search_states(model, properties, options)
        assert (found.distinct, found.digest, found.widths) == (plain.distinct, plain.digest, plain.widths)
        assert found.distinct < searched(model, Options(workers=1)).distinct or found.violations


@pytest.mark.slow
def test_z3_grows_as_far_as_its_runs_need(tmp_path: Path) -> None:
    for model, depth in ((Late(), 6), (Through(), 4), (Aside(), 5)):
        properties = list(collect(type(model), ()).values())
        wanted, _ = plain_search(type(model)(), properties)
        assert at_widths(model, lambda it: assert_bounded_search_agrees(it, properties, wanted, depth, 30))  # noqa: B023


def test_cpython_says_which_container_is_too_narrow() -> None:
    with pytest.raises(WidthExceeded, match="sent would hold 3 elements, more than its width of 2") as caught:
        levels_by_cpython(sized(Post(), Widths({**WIDTHS["post"], "sent": 2})), 8)
    assert (caught.value.place, caught.value.width) == ("sent", 2)
    assert levels_by_cpython(sized(Post(), Widths(WIDTHS["post"])), 8) == levels_by_cpython(Post(), 8)


class NoCapacity:
    """What no annotation has."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "grown"),
    [
        ("kraft/sizes.toml@two_voters", {"logs[...]": 2, "committed": 2}),
        pytest.param("reassignment/kip455_two_partitions.toml", {"the field replicas": 2}, marks=pytest.mark.slow),
        pytest.param("alter_isr/progress_zookeeper.toml", {"updates": 2}, marks=pytest.mark.slow),
        ("zk_controller/transactions.toml", {"queues[...]": 2}),
    ],
)
def test_protocols_are_the_same_without_their_capacities(
    name: str, grown: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As small as containers are here, they grow from a width of 1, and sets are in slots rather than masks."""
    check = Check(read(ROOT / "specs" / name), None, CheckSettings())
    properties = [prop for prop in check.properties() if not prop.is_liveness]
    options = replace(check.options, workers=2)
    wanted = search_states(check.model(), properties, options)
    monkeypatch.setattr("floodmark.language.annotations.Capacity", NoCapacity)
    monkeypatch.setattr("floodmark.language.annotations.MAX_MASK_BITS", 8)
    monkeypatch.setattr("floodmark.language.widths.START", 1)
    found = search_states(check.model(), properties, options)
    assert found.widths == grown
    for figure in ("complete", "distinct", "generated", "levels", "actions", "cut", "vacuous"):
        assert getattr(found, figure) == getattr(wanted, figure), figure
    assert set(found.reached) == set(wanted.reached)


# What the widths are.


def test_widths_do_not_depend_on_the_order_in_which_they_were_outgrown() -> None:
    one = FIRST_WIDTHS.grown("a").grown("b").grown("a")
    other = FIRST_WIDTHS.grown("b").grown("a").grown("a")
    assert one == other == least_widths({"a": 5, "b": 3, "c": 2})
    assert one.doublings == 3
    assert one.of("c") == 2


def test_the_code_of_one_width_is_not_that_of_another() -> None:
    keys = []
    for widths in (FIRST_WIDTHS, FIRST_WIDTHS.grown("logs[...]"), FIRST_WIDTHS.grown("the field entries")):
        made, _ = parts(read_program(sized(Post(), widths), {}), None)
        keys.append({part.name: part.key for part in made})
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert all(keys[one][name] != keys[other][name] for name in keys[one] if name.startswith("action"))


def test_a_model_is_read_only_when_its_containers_have_widths() -> None:
    assert all(is_unlimited(kind) for kind in Post().variable_types.values())
    assert {kind.grows for kind in growing(Post().variable_types["sent"])} == {"sent", "the field entries"}
    with pytest.raises(AssertionError, match="before its containers have widths"):
        read_program(Post(), {})
    with pytest.raises(AssertionError, match="before its containers have widths"):
        read_program(sized(Aside(), Widths(limited=False)), {})


# Limits.


def test_each_restart_is_told() -> None:
    told: list[Progress] = []
    found = search_states(Through(), [], Options(workers=1), told.append)
    assert [at.note for at in told if at.level == 0 and "grew" in at.note] == [
        "bag grew from 2 to 4: the search restarts", "wide grew from 2 to 4: the search restarts",
    ]
    assert found.notes == [
        "the search restarted 2 times, as containers without a capacity grew: bag to 4, wide to 4"
    ]


def test_a_search_without_an_end_is_undetermined() -> None:
    found = searched(Endless(), Options(workers=1, limits=Limits(states=50)))
    assert (found.complete, str(found.stopped), found.widths) == (False, "the limit of 50 states", {"queue": 64})
    wide = searched(Endless(), Options(workers=1))
    assert not wide.complete
    assert not wide.violations
    assert str(wide.stopped) == (
        "queue, which would have to hold more than 64 elements: variable queue: it takes 7816 bits, more than 4096; "
        "make its type smaller"
    )


def test_all_attempts_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100, 2))
    ticking = SimpleNamespace(perf_counter=lambda: float(next(clock)))
    monkeypatch.setattr("floodmark.checkers.adaptive_capacity.time", ticking)
    left: list[float | None] = []

    def prepare(model: Model, options: Options, widths: Widths) -> Callable[[], SearchResult]:
        left.append(options.limits.seconds)
        raise WidthExceeded("queue", "queue", 0, 0)

    found = search_growing(Endless(), Options(limits=Limits(seconds=5.0)), None, prepare)
    assert left == [5.0, 3.0, 1.0]
    assert (found.complete, str(found.stopped), found.widths) == (False, "the limit of 5 seconds", {"queue": 16})


def test_the_limit_that_ended_a_search_is_the_one_that_was_given() -> None:
    def prepare(model: Model, options: Options, widths: Widths) -> Callable[[], SearchResult]:
        if widths == FIRST_WIDTHS:
            raise WidthExceeded("queue", "queue", 0, 0)
        assert options.limits.seconds is not None
        assert options.limits.seconds < 80
        rest = options.limits.seconds
        return lambda: SearchResult("native", stopped=Stop(Limit.SECONDS, rest))

    found = search_growing(Endless(), Options(limits=Limits(seconds=80.0)), None, prepare)
    assert str(found.stopped) == "the limit of 80 seconds"


def test_a_capacity_stays_a_bound() -> None:
    for engine in (search_states, reference.search_states):
        found = engine(Broken(), [], Options(workers=1, limits=Limits(states=50)))
        (violation,) = found.violations
        assert violation.message == "other would hold 4 elements, more than its capacity of 3"
        assert (violation.kind, len(violation.trace), found.widths) == ("error", 6, {"queue": 8})


# Parameters.


class Draws(Model):
    held: Set[Seq[Flag]]
    other: Map[Flag, Set[Seq[Flag]]]

    @initial
    def start(self) -> None:
        self.held = Set({Seq((1,) * size) for size in (0, 1, 5)})
        self.other = Map({flag: Set[Seq[int]]() for flag in range(2)})

    @action
    def takes(self, one: Seq[Flag]) -> None:
        require(one in self.held)
        self.held.remove(one)

    @action
    def moves(self, flag: Flag, one: Seq[Flag]) -> None:
        require(one in self.held)
        self.held.remove(one)
        self.other[flag] = Set({one})

    @action
    def drops(self, now: bool, flag: Flag, one: Seq[Flag]) -> None:
        require(one in self.other[flag])
        require(now)
        self.other[flag].remove(one)

    @invariant
    def is_not_empty(self) -> bool:
        return len(self.held) > 0


def test_a_parameter_is_whatever_a_container_offers() -> None:
    """The longest one, too, although a parameter has no width of its own."""
    properties = list(collect(Draws, ()).values())
    wanted, _ = plain_search(Draws(), properties)
    for engine in ENGINES.values():
        assert outcome(engine, Draws(), properties) == wanted
    found = search_states(Draws(), [], Options(workers=1))
    assert found.widths == {"held": 4, "an element of held": 8, "an element of other[...]": 8}


def test_a_parameter_without_a_capacity_has_to_be_drawn() -> None:
    class Guesses(Endless):
        @action
        def guesses(self, some: Seq[Flag]) -> None:
            require(len(some) == len(self.queue))
            self.queue = some

    message = "the parameter some has no capacity"
    with pytest.raises(ModelError, match=f"{message}, so it is drawn from .*require") as caught:
        search_states(Guesses(), [], Options(workers=1))
    assert caught.value.file == __file__
    found = reference.search_states(Guesses(), [], Options(limits=Limits(states=20)))
    assert message in found.violations[0].message


class Broker(Identifier, count=2, prefix="b"):
    pass


class Pack(Record):
    flags: Seq[Flag]


class Packs(Model):
    """Has a width for a field of records, wherever such a record is."""

    of: Map[Flag, Pack]

    @initial
    def start(self) -> None:
        self.of = Map({flag: Pack(flags=Seq()) for flag in range(2)})

    @invariant
    def is_short(self) -> bool:
        return all(len(pack.flags) < 3 for pack in self.of.values())


class TakesAny(Packs):
    @action
    def takes(self, packs: Map[Flag, Pack]) -> None:
        self.of = packs


class BeginsWithAny(Packs):
    @initial
    def begin(self, packs: Map[Flag, Pack]) -> None:
        self.of = packs


class WaitsForAny(Packs):
    @eventually
    def becomes(self, packs: Map[Flag, Pack]) -> bool:
        return self.of == packs


@pytest.mark.parametrize("cls", [TakesAny, BeginsWithAny, WaitsForAny])
def test_a_parameter_does_not_take_the_width_of_a_field(cls: type[Packs]) -> None:
    """It would take every value up to a width, where CPython knows none: a longer pack would not be looked at."""
    properties = list(collect(cls, ()).values())
    safety = [prop for prop in properties if not prop.is_liveness]
    searches: list[Callable[[], object]] = [
        lambda: search_states(cls(), properties, Options(workers=1)),
        lambda: at_widths(cls(), lambda model: list(initial_states(model)) and read_program(model, {})),
        lambda: at_widths(cls(), lambda model: bmc.search(system_of(model, safety), safety, 2)),
    ]
    for search in searches if cls is not WaitsForAny else searches[:1]:
        with pytest.raises(ModelError, match=r"the parameter packs has no capacity") as caught:
            search()
        assert caught.value.file == __file__
    assert "the parameter packs has no capacity" in refusal(reference.search_states, cls)


def refusal(engine: Callable[..., SearchResult], cls: type[Packs]) -> str:
    """What an engine says before it takes a step, or of its first one."""
    try:
        found = engine(cls(), list(collect(cls, ()).values()), Options())
    except ModelError as error:
        return error.message
    return found.violations[0].message


class Favours(Model):
    """Names an identifier in a step that needs more room than a width of 1 or 2."""

    lead: Broker
    log: Seq[Flag]

    @initial
    def start(self, lead: Broker) -> None:
        self.lead = lead
        self.log = Seq()

    @action
    def appends(self) -> None:
        require(len(self.log) < 3)
        self.log = Seq((1, 1, 1))
        self.lead = Broker(1)


def test_symmetry_is_proved_anew_for_each_width() -> None:
    """At the first width, the step that favours a broker cannot be taken."""
    for engine in (search_states, reference.search_states):
        with pytest.raises(AsymmetryError, match=r"Broker\(1\) is named here") as caught:
            engine(Favours(), [], Options(workers=1, symmetry=True))
        assert caught.value.file == __file__


# Runs forever.


class Queue(Model):
    """The queue is emptied only if that is fair; its bound keeps it from growing forever."""

    most = Constant(5, bound=True)
    queue: Seq[Flag]
    full: bool = False

    @initial
    def start(self) -> None:
        self.queue = Seq()

    @action
    def adds(self) -> None:
        require(len(self.queue) < self.most)
        self.queue.append(len(self.queue) % 2)

    @fair
    @action
    def empties(self) -> None:
        require(len(self.queue) > 3)
        self.queue = Seq()
        self.full = True

    @eventually
    def was_full(self) -> bool:
        return self.full

    @leads_to
    def becomes_empty(self) -> tuple[bool, bool]:
        return len(self.queue) > 3, len(self.queue) == 0


def test_liveness_is_judged_over_the_last_attempt() -> None:
    properties = list(collect(Queue, ()).values())
    ours = search_states(Queue(), properties, Options(workers=2))
    plain = reference.search_states(Queue(), properties, Options())
    for found in (ours, plain):
        assert {it.property: it.verdict for it in found.liveness} == {"was_full": "violated", "becomes_empty": "holds"}
        assert found.widths == {"queue": 8}
    assert ours.digest == plain.digest
    assert [it.trace for it in ours.liveness] == [it.trace for it in plain.liveness]


# An implementation.


class Kept(Adapter):
    def __init__(self, start: Endless) -> None:
        self.length = len(start.queue)

    def adds(self) -> None:
        self.length += 1

    def lags(self) -> bool:
        return False


class Forgetful(Kept):
    def adds(self) -> None:
        self.length += self.length < 9


def observing(adapter: type[Kept]) -> type[Kept]:
    from floodmark.conformance import observable

    class Observed(adapter):  # type: ignore[misc, valid-type]
        @observable
        def queue(self) -> list[int]:
            return [1] * self.length

    return Observed


@pytest.mark.parametrize("drive", [walk, tour])
def test_an_implementation_is_driven_as_far_as_the_model_grows(drive: Callable[..., Any]) -> None:
    assert drive(Endless(), observing(Kept), seed=1, most=60, **({"explored": 60} if drive is tour else {})) is None
    found = drive(Endless(), observing(Forgetful), seed=1, most=200, **({"explored": 200} if drive is tour else {}))
    assert found is not None
    assert found.mismatch is not None
    assert len(found.steps) == 11
