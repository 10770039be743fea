"""Tests symmetry in bounded search: identifiers proved interchangeable are, and ordered runs miss nothing."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import z3

from floodmark import Model
from floodmark.checkers.project.arguments import spec_path
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import read
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.symbolic.methods import runs
from floodmark.checkers.symbolic.methods.bmc import search
from floodmark.checkers.symbolic.methods.runs import Runs
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.checkers.symmetry import obligations
from floodmark.checkers.symmetry.obligations import interchangeable, swapped
from floodmark.checkers.verdict.check import Check, CheckSettings, checks, variant_name
from floodmark.compiler.renaming import symmetric_types
from floodmark.language.model import State
from floodmark.language.reference import initial_states, successors
from floodmark.language.values import Identifier
from specs.examples.two_phase_commit import ResourceManager, TwoPhaseCommit
from tests.support.broken import action_text, load, model_text, property_text
from tests.support.symbolic_agreement import every_model, levels_by_cpython
from tests.symmetry.test_symmetry import (
    CASES,
    CHOOSE,
    JOIN,
    ORDERED,
    Chosen,
    Elects,
    Flawed,
    FlawedStep,
    Item,
    Maps,
    Node,
    TwoKinds,
    renamed,
)

SPECS = Path(__file__).resolve().parents[2] / "specs"

Classes = list[tuple[Identifier, ...]]


def proved(model: Model) -> Classes:
    properties = list(collect(type(model), ()).values())
    return interchangeable(system_of(model, properties), properties, Deadline())


def all_of(cls: type[Identifier], count: int) -> tuple[Identifier, ...]:
    return tuple(cls(number) for number in range(1, count + 1))


# What is proved.


@pytest.mark.parametrize(("cls", "constants", "counts"), CASES, ids=lambda value: getattr(value, "__name__", None))
def test_symmetric_models_are_proved_symmetric(
    cls: type[Model], constants: dict[str, int], counts: dict[type[Identifier], int]
) -> None:
    wanted = [all_of(kind, count) for kind, count in counts.items() if count > 1]
    if cls is Chosen:  # whose first state names the first
        wanted = [all_of(Node, 4)[1:]]
    assert sorted(proved(cls(**constants)), key=str) == sorted(wanted, key=str)


@pytest.mark.parametrize("managers", [2, 3, 4])
def test_resource_managers_are_interchangeable(managers: int) -> None:
    assert proved(TwoPhaseCommit(managers=managers)) == [all_of(ResourceManager, managers)]


@pytest.mark.parametrize("name", ORDERED)
def test_an_order_is_noticed(tmp_path: Path, name: str) -> None:
    module = load(tmp_path, model_text(ORDERED[name] + JOIN + CHOOSE))
    assert proved(module.M(nodes=3)) == []


FIRST = "if len(self.some) < 2:\n    return True\nfor n in self.some:\n    return n != self.node\nreturn True"
NAMED = {
    "an action": action_text("require(self.node != Node(3))\nself.x = 1"),
    "a property": property_text("return self.node != Node(3)"),
    "a step's property": property_text("return new.node != Node(3)", "transition", "self, new"),
    "a boundary": property_text("return self.node != Node(3)", "boundary"),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_name_is_noticed_and_the_others_are_interchangeable(tmp_path: Path, name: str) -> None:
    module = load(tmp_path, model_text(NAMED[name] + JOIN + CHOOSE))
    assert proved(module.M(nodes=3)) == [all_of(module.Node, 2)]


def test_a_property_that_depends_on_the_order_is_noticed(tmp_path: Path) -> None:
    text = model_text(JOIN.strip() + "\n\n" + CHOOSE + "\n\n" + property_text(FIRST))
    assert proved(load(tmp_path, text).M(nodes=3)) == []


def test_without_an_answer_there_is_no_symmetry() -> None:
    """Twelve pigeons do not fit into eleven holes, but z3 cannot say so in a twentieth of a second."""
    nests = [[z3.Bool(f"{pigeon} in {hole}") for hole in range(11)] for pigeon in range(12)]
    housed = [z3.Or(own) for own in nests]
    alone = [z3.Not(z3.And(a, b)) for hole in zip(*nests, strict=True) for a, b in itertools.combinations(hole, 2)]
    system = System(TwoPhaseCommit(managers=2), {})
    swap = obligations.Swap(system, {ResourceManager: (2, 1)}, Deadline(0.05))
    assert not swap._is_proved(z3.Not(z3.And(*housed, *alone)))
    assert swap._is_proved(z3.Or(nests[0][0], z3.Not(nests[0][0])))


@pytest.mark.parametrize(("cls", "constants", "counts"), CASES, ids=lambda value: getattr(value, "__name__", None))
def test_swapping_components_is_renaming(
    cls: type[Model], constants: dict[str, int], counts: dict[type[Identifier], int]
) -> None:
    model = cls(**constants)
    system = System(model, {})
    states = sorted(set().union(*levels_by_cpython(model, 5, most=4000)), key=str)[::7]
    assert states
    for kind in symmetric_types(system.variables.values()):
        for number in range(2, kind.count + 1):
            swap = obligations.neighbours(kind, number)
            names = {cls(n): cls(n) for cls, count in counts.items() for n in range(1, count + 1)}
            names[kind.cls(number)], names[kind.cls(number - 1)] = kind.cls(number - 1), kind.cls(number)
            for state in states:
                for (variable, of), value in zip(system.variables.items(), state, strict=True):
                    other = swapped(system.values, of, system.values.constant(of, value), swap)
                    assert system.values.decode(of, other, None) == renamed(value, names), variable


# What is searched.


def orbits(states: set[State], classes: Classes, everyone: list[Identifier]) -> set[frozenset[State]]:
    """States, each with all that it becomes when the members of classes are renamed."""
    found = set()
    for orders in itertools.product(*(itertools.permutations(members) for members in classes)):
        names = {member: member for member in everyone}
        for members, order in zip(classes, orders, strict=True):
            names.update(zip(members, order, strict=True))
        found.add(tuple(names.items()))
    return {
        frozenset(tuple(renamed(value, dict(names)) for value in state) for names in found) for state in states
    }


@pytest.mark.parametrize(
    ("model", "depth", "everyone"),
    [
        pytest.param(lambda: TwoPhaseCommit(managers=3), 5, all_of(ResourceManager, 3), marks=pytest.mark.slow),
        pytest.param(lambda: Maps(nodes=3), 4, all_of(Node, 3), marks=pytest.mark.slow),
        pytest.param(lambda: TwoKinds(nodes=2, items=2), 4, (*all_of(Node, 2), *all_of(Item, 2)),
                     marks=pytest.mark.slow),
        (lambda: Chosen(nodes=4), 4, all_of(Node, 4)),
    ],
    ids=["TwoPhaseCommit", "Maps", "TwoKinds", "Chosen"],
)  # fmt: skip
@pytest.mark.parametrize("ordered_from", [1, 3])
def test_ordered_runs_reach_every_orbit(
    model: Callable[[], Model], depth: int, everyone: tuple[Identifier, ...], ordered_from: int
) -> None:
    system = System(model(), {})
    classes = interchangeable(system, [], Deadline())
    unrolled = Runs(system, [])
    fewer = False
    for length, wanted in enumerate(levels_by_cpython(model(), depth), 1):
        if length > 1:
            unrolled.extend()
        if length == ordered_from:
            unrolled.order(classes)
        unrolled.solver.push()
        last = unrolled.states[-1]
        found = {system.decode(last.state, m) for m in every_model(unrolled.solver, last.terms)}
        unrolled.solver.pop()
        assert found <= wanted
        assert orbits(found, classes, list(everyone)) == orbits(wanted, classes, list(everyone))
        fewer = fewer or len(found) < len(wanted)
    assert fewer


def in_order(members: tuple[Identifier, ...], mentioned: frozenset[Identifier], arguments: list[Identifier]) -> bool:
    """Whether each member that a step mentions comes after a mention of the one before it."""
    pairs = dict(zip(members[1:], members, strict=False))
    known = ({*mentioned, *arguments[:place]} for place in range(len(arguments)))
    return all(it == members[0] or pairs[it] in before for it, before in zip(arguments, known, strict=True))


def test_ordered_runs_are_those_of_cpython_that_mention_in_order() -> None:
    """Actions with one and with two arguments follow each other, and some have arguments of an earlier step."""
    model = Elects(nodes=3)
    system = System(model, {})
    (members,) = interchangeable(system, [], Deadline())
    unrolled = Runs(system, [])
    unrolled.order([members])
    now = {(state, frozenset[Identifier]()) for _, state in initial_states(model)}
    for _ in range(4):
        unrolled.solver.push()
        last = unrolled.states[-1]
        found = {system.decode(last.state, m) for m in every_model(unrolled.solver, last.terms)}
        unrolled.solver.pop()
        assert found == {state for state, _ in now}
        now = {
            (after, mentioned | {*step.arguments.values()})
            for state, mentioned in now
            for step, after in successors(model, state)
            if in_order(members, mentioned, list(step.arguments.values()))
        }
        unrolled.extend()


@pytest.fixture
def everything_is_hard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MAX_CONFLICTS", 0)


@pytest.mark.usefixtures("everything_is_hard")
@pytest.mark.parametrize("cls", [Flawed, FlawedStep])
def test_hard_queries_have_confirmed_violations(cls: type[Model]) -> None:
    model = cls(nodes=3)
    properties = [prop for prop in collect(cls, ()).values() if prop.kind != "reachable"]
    found = search(system_of(model, properties), properties, 9)
    assert found.interchangeable == [all_of(Node, 3)]
    assert found.violation is not None
    assert len(found.violation.trace) == 5


DEPTHS = {
    "kraft/quorum": 6, "kraft/batch": 5, "kraft/pre_vote@lossless_restart": 5, "under_replicated/draft": 4,
    "alter_isr/core": 5, "reassignment/kip236": 10, "zk_controller/core": 7,
}
"""The specs whose known-bad designs are asked about, and up to which depth."""
SLOW_SPECS = {"kraft/quorum", "kraft/pre_vote@lossless_restart"}
"""Of the others the first of the shallowest designs is quick."""


def _designs() -> Iterator[object]:
    for name, depth in DEPTHS.items():
        every = [check for check in checks(read(spec_path(name)), CheckSettings()) if check.flawed is not None]
        near = [check for check in every if (check.wanted_depth or 99) <= depth]
        first = min(near, key=lambda check: check.wanted_depth or 0)
        for check in near:
            marks = [] if check is first and name not in SLOW_SPECS else [pytest.mark.slow]
            yield pytest.param(check, id=f"{name}-{variant_name(check)}", marks=marks)


@pytest.mark.slow
@pytest.mark.usefixtures("everything_is_hard")
@pytest.mark.parametrize("check", list(_designs()))
def test_hard_queries_have_the_same_answers_without_symmetry(check: Check) -> None:
    native = run_check(check)
    assert native.subject is not None
    assert native.search_result is not None
    assert native.violation is not None
    wanted = [prop for prop in native.properties if prop.kind != "reachable"]
    found = search(system_of(native.subject, wanted), wanted, len(native.violation.trace))
    shortest = [(violation.property, len(violation.trace)) for violation in native.search_result.violations]
    assert found.violation is not None
    assert (found.violation.property, len(found.violation.trace)) in shortest


@pytest.mark.usefixtures("everything_is_hard")
def test_bounded_search_reports_the_proved_symmetry() -> None:
    designs = checks(read(SPECS / "kraft" / "quorum.toml"), CheckSettings(only_variant="VotesTwice"))
    told = prove_check(next(iter(designs)), ProofTask(method="bmc", depth=3))
    assert told.lines == [
        "z3 proved that no action, property or boundary distinguishes r1, r2, r3: runs mention them in this order"
    ]
