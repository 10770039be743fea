"""Tests every spec and known-bad design in ``specs/``: compiled code does what CPython does with the same source.

Where the whole reachable set is small it is compared as a set. Everywhere, states that the native search reached, the
earliest and an even sample of all, are expanded again by CPython: the same successors, the same actions fired, the same
truth of every property and of every step.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.kernel.stepper import Stepper
from floodmark.checkers.native.search import begin
from floodmark.checkers.search.driver import Search
from floodmark.checkers.search.store import LocalStore
from floodmark.checkers.search.symmetry import sample
from floodmark.checkers.search_result import Limits, Options, SearchResult
from floodmark.checkers.verdict.check import Check, CheckSettings, checks, variant_name
from floodmark.compiler.layout import digest
from floodmark.language.model import Model, State
from floodmark.language.reference import holds, successors, within_boundary
from tests.support.agreement import reference_set
from tests.support.shipped import shipped

SPECS = list(shipped())
MAX_STATES = 6000
MAX_GENERATED = 12_000
"""What CPython is asked to explore whole of one known-bad design."""
FEW_GENERATED = 1200
"""What CPython explores whole in the quick part of these tests."""
SEARCHED = 30_000
"""States that are searched natively before a sample is taken."""
SHRUNK: dict[str, dict[str, int]] = {
    "alter_isr/acknowledgement@min_isr": {"brokers": 2, "min_insync_replicas": 1, "max_leader_epoch": 0},
    "alter_isr/batch": {"partitions": 1},
    "alter_isr/core": {"brokers": 2},
    "alter_isr/duplicates": {"brokers": 2},
    "alter_isr/duplicates_as_written": {"brokers": 2},
    "alter_isr/duplicates_remedy": {"brokers": 2},
    "alter_isr/failover@three_replicas": {"brokers": 2, "max_partition_epoch": 2},
    "alter_isr/failover_late@two_replicas": {"max_leader_epoch": 0, "max_partition_epoch": 1},
    "alter_isr/failover_reconcile_once@three_replicas": {"brokers": 2},
    "alter_isr/failover_restarts@three_replicas": {"brokers": 2},
    "alter_isr/failover_same_epoch@two_epochs": {"brokers": 2},
    "alter_isr/progress": {"brokers": 2},
    "alter_isr/progress_as_written": {"brokers": 2},
    "alter_isr/reassignment@three_brokers": {
        "brokers": 2, "replication_factor": 1, "max_leader_epoch": 1, "max_partition_epoch": 2,
    },
    "alter_isr/replicated@two_epochs": {"brokers": 2},
    "alter_isr/takeover": {"brokers": 2},
    "alter_isr/zombie_controller": {"brokers": 2, "max_partition_epoch": 2},
    "examples/paxos_commit": {"managers": 1, "acceptors": 2},
    "examples/lost_partitions": {"machines": 1},
    "examples/lost_partitions_deep": {"machines": 1, "levels": 2},
    "examples/philosophers": {"last": 3},
    "kraft/batch": {"voters": 2},
    "kraft/clusters": {"voters": 2},
    "kraft/cut_off@three_epochs": {"voters": 2},
    "kraft/disruptive_voter": {"voters": 2},
    "kraft/pre_vote@lossless_restart": {"voters": 2},
    "reassignment/kip236": {"brokers": 1, "replication_factor": 1, "largest_target": 1},
    "reassignment/kip236_queue": {"brokers": 1, "replication_factor": 1, "submissions": 1, "largest_target": 1},
    "reassignment/kip236_queue_progress": {"brokers": 1},
    "reassignment/kip236_queue_redirects": {"brokers": 1},
    "reassignment/kip455_old_clients": {"brokers": 2, "submissions": 1},
    "reassignment/kraft": {"brokers": 2},
    "reassignment/requests": {"brokers": 2, "submissions": 1},
    "under_replicated/command": {"brokers": 2},
    "under_replicated/two_partitions": {"max_version": 2},
    "zk_controller/core": {"max_version": 1, "queue_length": 1},
    "zk_controller/followers": {"max_version": 1, "max_faults": 1, "queue_length": 1},
    "zk_controller/question_a1_empty_isr": {"max_version": 1, "queue_length": 1},
    "zk_controller/question_a1_given_up": {"max_version": 1, "queue_length": 1},
    "zk_controller/question_a2_registered_before": {"max_version": 1, "queue_length": 1},
    "zk_controller/question_a2_welcomed": {"max_version": 1, "max_faults": 1, "queue_length": 1},
    "zk_controller/question_a3_failures_reported": {"max_version": 1, "max_faults": 1, "queue_length": 1},
    "zk_controller/reassignments": {"brokers": 1, "max_version": 1, "max_controller_epoch": 1},
    "zk_controller/subscribes_last": {"max_version": 1, "max_faults": 1, "queue_length": 1},
    "zk_controller/topics": {"brokers": 1, "max_version": 1, "max_controller_epoch": 1, "queue_length": 1},
    "zk_controller/transactions": {"max_version": 2},
    "zk_controller/unclean": {"max_version": 1, "queue_length": 1},
}
"""Constants with which a spec's whole reachable set is small enough for CPython."""


def name_of(path: Path) -> str:
    return shipped()[path].name


@cache
def checks_of(path: Path) -> tuple[Check, ...]:
    return tuple(checks(shipped()[path], CheckSettings()))


def run(
    check: Check, constants: dict[str, int], limit: int, checked: bool = True, compared: int = 0
) -> tuple[Search, SearchResult]:
    """The native search up to so many states, and what it found; without properties none can end it early. With
    CPython the steps from so many states are ``compared``."""
    options = Options(workers=1, limits=Limits(states=limit))
    of_states = [prop for prop in check.properties() if not prop.is_liveness]

    def searched(model: Model) -> tuple[Search, SearchResult]:
        started = begin(model, of_states if checked else [], options)
        found = started.run()
        if compared:
            assert_sample_agrees(started, compared)
        return started, found

    return at_widths(check.cls()(**constants), searched)


def assert_sample_agrees(started: Search, size: int) -> None:
    """Fails unless CPython takes the steps that compiled code takes from a sample of the states it reached."""
    interface, kernel, model = started.interface, started.kernel, started.model
    layout = interface.layout
    stepper = Stepper(kernel.model, interface)
    assert isinstance(started.store, LocalStore)
    rows = sample(started.store.parts, layout.words)
    for row in rows[:: max(1, len(rows) // size)]:
        state = layout.unpack(row)
        assert layout.pack(state) == tuple(row.tolist()), state
        made = stepper.expand(row.tolist())
        native = Counter(map(tuple, made.after))
        reached: Counter[tuple[int, ...]] = Counter()
        fired: Counter[str] = Counter()
        broken = cut = 0
        for step, after in successors(model, state):
            fired[step.action] += 1
            broken |= false_of(started, interface.transition_predicates, state, after)
            if within_boundary(model, after):
                reached[layout.pack(after)] += 1
            else:
                cut += 1
        assert not made.failed, state
        assert native == reached, state
        assert dict(zip(interface.actions, made.fired, strict=True)) == {
            action: fired[action] for action in interface.actions
        }, state
        assert (made.broken, made.cut) == (broken, cut), state
        true, failed = stepper.check(row.tolist())
        assert not failed, state
        wrong = false_of(started, interface.state_predicates, state)
        assert ~true & ((1 << len(interface.state_predicates)) - 1) == wrong, state


def false_of(started: Search, names: tuple[str, ...], *states: State) -> int:
    """The mask of the properties that CPython finds false."""
    functions = (started.by_name[name].function for name in names)
    return sum(1 << bit for bit, function in enumerate(functions) if not holds(started.model, function, *states))


def assert_whole_set_agrees(started: Search, found: SearchResult) -> None:
    states, generated, depth = reference_set(started.model)
    layout = started.interface.layout
    packed = {layout.pack(state) for state in states}
    native = {tuple(row) for piece in started.pieces() for row in piece.tolist()}
    missing = [layout.unpack(words) for words in sorted(packed - native)[:3]]
    invented = [layout.unpack(words) for words in sorted(native - packed)[:3]]
    assert not missing, f"CPython reaches {missing}"
    assert not invented, f"native code reaches {invented}"
    assert (found.distinct, found.generated, found.depth, found.digest) == (
        len(states), generated, depth, digest(packed),
    )


def one_spec_of_each_model() -> list[Path]:
    """The spec with the fewest expected states of every model; where none says so, one that is not deep."""
    chosen: dict[str, Path] = {}
    specs = shipped().values()
    for spec in sorted(specs, key=lambda it: (it.expect.distinct or 10**9, it.tier == "deep", it.name)):
        chosen.setdefault(spec.model, spec.address)
    return sorted(chosen.values())


def some_quick() -> list[object]:
    """Every thirty-second model for the quick tests, the rest for the slow ones: the gate compares the counts and the
    digest of all of them with its lock, so a compiler that changes what any of them means does not pass."""
    chosen = one_spec_of_each_model()
    return [pytest.param(path, marks=[pytest.mark.slow] if place % 32 else []) for place, path in enumerate(chosen)]


@pytest.mark.parametrize("path", some_quick(), ids=name_of)
def test_engines_agree_on_every_shipped_model(path: Path) -> None:
    check = checks_of(path)[0]
    started, found = run(check, {**check.constants, **SHRUNK.get(name_of(path), {})}, MAX_STATES, compared=4)
    if found.complete and found.generated <= FEW_GENERATED:
        assert_whole_set_agrees(started, found)


@pytest.mark.slow
@pytest.mark.parametrize("path", SPECS, ids=name_of)
def test_engines_agree_on_every_spec(path: Path) -> None:
    check = checks_of(path)[0]
    started, found = run(check, check.constants, SEARCHED, compared=40)
    if name_of(path) in SHRUNK:
        started, found = run(check, {**check.constants, **SHRUNK[name_of(path)]}, MAX_STATES)
    if found.complete and found.distinct <= MAX_STATES:
        assert_whole_set_agrees(started, found)
    else:
        assert name_of(path) not in SHRUNK


@pytest.mark.slow
@pytest.mark.parametrize(
    "check", [check for path in SPECS for check in checks_of(path)[1:]],
    ids=lambda check: f"{check.spec.name}-{variant_name(check)}",
)
def test_engines_agree_on_every_known_bad_design(check: Check) -> None:
    constants = {**check.constants, **SHRUNK.get(check.spec.name, {})}
    started, _ = run(check, check.constants, SEARCHED, compared=8)
    started, found = run(check, constants, MAX_STATES, checked=False)
    if found.complete and found.generated <= MAX_GENERATED:
        assert_whole_set_agrees(started, found)
