"""Tests the pieces of terms one by one: numbers, conversions, sets without an order, records of a union, and what a
proof counts as found."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
import z3

from floodmark import (
    Bag,
    Between,
    Capacity,
    Identifier,
    Model,
    ModelError,
    Record,
    Seq,
    SourceError,
    action,
    initial,
    require,
)
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import TraceState, Violation
from floodmark.checkers.symbolic.attempts.attempt import _run_lines
from floodmark.checkers.symbolic.attempts.inductive import induction_failed
from floodmark.checkers.symbolic.attempts.obligation_text import _differences
from floodmark.checkers.symbolic.methods.ic3 import CHECKS, InferenceResult, _for_every, _identifiers
from floodmark.checkers.symbolic.methods.induction import (
    InductionProgress,
    InductionProof,
    Obligation,
    check_obligations,
    induction,
)
from floodmark.checkers.symbolic.methods.k_induction import k_induction
from floodmark.checkers.symbolic.methods.runs import Runs
from floodmark.checkers.symbolic.methods.smtlib import SmtScripts
from floodmark.checkers.symbolic.records.answer_file import _read
from floodmark.checkers.symbolic.tactics.budget import Deadline, _units
from floodmark.checkers.symbolic.tactics.case_split import _says_something_exists
from floodmark.checkers.symbolic.tactics.path_split import _replaced
from floodmark.checkers.symbolic.tactics.simplification import _total
from floodmark.checkers.symbolic.terms.booleans import CONTEXT, _nested, as_term, conj, negation
from floodmark.checkers.symbolic.terms.integers import width_of
from floodmark.checkers.symbolic.translate.obligations import INITIAL
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.symbolic.values import unordered_slots
from floodmark.checkers.symbolic.values.components import Relation, UnboundedMap
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.checkers.symbolic.values.value import Values
from floodmark.language.reference import Step
from floodmark.language.types import (
    INTEGER_LIMIT,
    BagType,
    BoolType,
    IdentifierType,
    IntType,
    MapType,
    OpenIntType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
)

SMALL, DIGIT = IntType(0, 3), IntType(0, 9)


def models_of(*terms: Any) -> int:
    """Whether terms can be true together: 1, or 0."""
    solver = z3.Solver(ctx=CONTEXT)
    solver.add(*map(as_term, terms))
    return int(solver.check() == z3.sat)


# Numbers.


def test_a_width_holds_every_number_of_its_range_and_no_bit_more() -> None:
    for low, high in itertools.combinations_with_replacement(range(-20, 21), 2):
        width = width_of(low, high)
        assert -(1 << width - 1) <= low and high < 1 << width - 1
        if width > 1:
            assert low < -(1 << width - 2) or high >= 1 << width - 2


@pytest.mark.parametrize("integers", [True, False])
@pytest.mark.parametrize(("source", "target"), [(DIGIT, SMALL), (SMALL, DIGIT), (IntType(-5, 5), IntType(-2, 9)),
                                                (IntType(-5, 5), IntType(-9, 2))])
def test_a_number_fits_another_type_where_it_is_in_its_range(
    integers: bool, source: IntType, target: IntType
) -> None:
    for number in range(source.low, source.high + 1):
        values = Values(integers=integers)
        known = values.fresh(source, "known")
        is_it = values.numbers.equal(known, number)
        fits, held = values.cast(source, target, known)
        inside = target.low <= number <= target.high
        assert (models_of(is_it, fits), models_of(is_it, negation(fits))) == (inside, not inside), number
        if inside:
            assert not models_of(is_it, negation(values.numbers.equal(held, number)))


def test_a_list_becomes_a_bag_where_its_elements_are_of_its_type_and_have_room() -> None:
    values = Values()
    listed = SeqType(DIGIT, 3)
    for items in itertools.chain.from_iterable(itertools.product((1, 3, 7), repeat=size) for size in range(4)):
        fits, bag = values.cast(listed, BagType(SMALL, 2), values.constant(listed, Seq(items)))
        right = len(items) <= 2 and 7 not in items
        assert models_of(fits) == right and models_of(negation(fits)) == (not right), items
        if right:
            again = values.constant(BagType(SMALL, 2), Bag(items))
            assert not models_of(negation(values.equal(BagType(SMALL, 2), bag, again)))


def test_the_bound_of_a_sum_is_open_where_that_of_a_part_is() -> None:
    assert _total([(0, None), (1, 2)]) == (1, None)
    assert _total([(None, 1), (1, 2)]) == (None, 3)
    assert _total([(0, None), (None, 2), (3, 4)]) == (None, None)
    assert _total([(-1, 5), (2, 7)]) == (1, 12)


# Sets without an order.


def test_a_set_fits_fewer_slots_where_that_many_are_in_use() -> None:
    for used in itertools.product((False, True), repeat=4):
        slots = tuple((each, number) for number, each in enumerate(used))
        for capacity in range(6):
            fits, kept = unordered_slots.within(slots, capacity, -1, lambda is_so, one, other: one if is_so else other)
            assert fits == (sum(used) <= capacity), (used, capacity)
            assert len(kept) == capacity
            if fits:
                assert sorted(item for there, item in kept if there) == [it for it in range(4) if used[it]]


# Values without a capacity, records and unions.


class Node(Identifier, count=2, prefix="n"):
    """One of two."""


class Node3(Identifier, count=3, prefix="m"):
    """One of three."""


class Ask(Record):
    to: Node


class Answer(Record):
    to: Node
    urgent: bool
    count: Annotated[int, Between(0, 2)]


class Post(Model):
    last: Answer | Ask | None = None
    first: Ask | Answer | None = None
    asked: Ask | None = None
    log: Annotated[Seq[Ask], Capacity(2)] = Seq()

    @action
    def stays(self) -> None:
        self.last = None


TYPES = Post().variable_types


def truth(name: str) -> Any:
    return z3.Bool(name, CONTEXT)


def test_a_map_that_many_branches_change_is_asked_once_by_each() -> None:
    """A chain of twelve branches, each of which has the map before it on both sides. Without remembering, the first map
    would be asked 4,096 times.
    """
    kind = MapType(OpenIntType(0, 4, 0, 4), BoolType())
    asked: list[Any] = []

    def first(key: Any) -> Any:
        asked.append(key)
        return truth(f"at {key}")

    def and_so(was: UnboundedMap, so: str) -> UnboundedMap:
        return UnboundedMap(lambda key: conj((was.at(key), truth(so))))

    changed, values = UnboundedMap(first), Values({"nodes"}, any_size=True)
    for at in range(12):
        changed = values.either(kind, truth(f"branch {at}"), and_so(changed, f"then {at}"), and_so(changed, "else"))
    three = changed.at(3)
    assert changed.at(3).eq(three)
    assert asked == [3, 3], "by both sides of the first branch"
    numbers = [z3.IntVal(number, CONTEXT) for number in (2, 3)]
    assert not changed.at(numbers[0]).eq(changed.at(numbers[1]))
    assert len(asked) == 6


def test_a_set_that_many_branches_change_is_asked_once_by_each() -> None:
    asked: list[Any] = []

    def first(item: Any) -> Any:
        asked.append(item)
        return truth(f"has {item}")

    def others(was: Relation) -> Relation:
        return Relation(lambda item: negation(was.holds(item)), None)

    changed, values = Relation(first, None), Values({"nodes"}, any_size=True)
    for at in range(12):
        changed = values.either(SetType(DIGIT, None), truth(f"branch {at}"), others(changed), changed)
    assert changed.holds(3).eq(changed.holds(3))
    assert asked == [3, 3], "by both sides of the first branch"


def test_a_list_of_any_length_is_no_list_of_components() -> None:
    with pytest.raises(UnsupportedError, match="has no symbolic form"):
        Values().default(SeqType(SMALL, INTEGER_LIMIT))
    assert Values().default(SeqType(SMALL, 2)) == (0, (0, 0))


@pytest.mark.parametrize("name", ["last", "first"])
def test_records_of_a_union_are_those_of_its_classes(name: str) -> None:
    kind = TYPES[name]
    assert isinstance(kind, OptionalType)
    union, values = kind.inner, Values()
    fresh = values.fresh(union, "any")
    formed = values.well_formed(union, fresh)
    members = values.types.members(union)
    assert len(members) == 2 + 2 * 2 * 3
    is_one = [values.equal(union, fresh, values.constant(union, member)) for member in members]
    assert not models_of(formed, *map(negation, is_one))
    assert all(models_of(formed, each) for each in is_one)
    assert models_of(values.well_formed(kind, values.default(kind)))


def test_a_record_is_within_open_bounds_where_all_its_parts_are() -> None:
    kind = TYPES["asked"]
    assert isinstance(kind, OptionalType) and isinstance(kind.inner, RecordType)
    assert Values().admits(kind, Ask(to=Node(1))) is True
    assert Values().admits(kind, None) is True
    assert Values().admits(TYPES["log"], Seq([Ask(to=Node(2))])) is True


# What is asked and found.


class Never(Model):
    """It cannot begin."""

    n: Annotated[int, Between(0, 3)]

    @initial
    def start(self, first: Annotated[int, Between(0, 3)]) -> None:
        require(first > 5)
        self.n = first

    @action
    def stays(self) -> None:
        self.n = 1


def test_nothing_is_proved_of_a_model_that_cannot_begin() -> None:
    with pytest.raises(ModelError, match="the model has no initial state"):
        system_of(Never(), [], []).initial_states()
    with pytest.raises(ModelError, match="the model has no initial state"):
        induction(system_of(Never(), [], []), [])


def test_clauses_are_found_where_nothing_refutes_them() -> None:
    every = dict.fromkeys(CHECKS, True)
    assert InferenceResult(checks=every).found
    assert not InferenceResult(checks=every, refuted=True).found
    assert not InferenceResult(checks={**every, CHECKS[0]: False}).found
    assert not InferenceResult().found


def test_clauses_that_differ_in_names_alone_are_said_once_for_every_name() -> None:
    names = _identifiers([MapType(IdentifierType(Node, 2), OptionalType(IdentifierType(Node, 2)))])
    assert names == {Node: ["n1", "n2"]}
    said = _for_every("n1 in votes or n2 = m1", ["n1", "n2", "m1"], {Node: ["n1", "n2"], Ask: ["m1"]},
                      {"Node": 2, "Ask": 1})  # fmt: skip
    assert said == "for every different Node x, y and Ask z:  x in votes or y = z"


def test_only_what_differs_from_the_beginning_is_shown() -> None:
    assert _differences(["a", "b", "c"], (1, 2, 3), (1, 4, 3)) == ["b: 4"]
    assert _differences(["a", "b"], None, (1, 4)) == ["a: 1", "b: 4"]


# Budgets and strategies.


def test_a_budget_of_seconds_ends_with_them_and_one_of_units_with_those() -> None:
    assert not Deadline(seconds=1000.0).ended
    assert Deadline(seconds=0.0).ended
    assert not Deadline().ended
    a, b = z3.Ints("a b")
    deadline = Deadline(effort=1_000_000)
    for _ in range(2):
        before, solver = deadline.spent, z3.Solver()
        solver.add(a * b == 391, a > 1, b > 1)
        assert deadline.check(solver) == z3.sat
        assert 0 < deadline.spent - before < 1_000_000
    assert not deadline.ended
    busy, later = z3.Solver(), Deadline(effort=1_000_000)
    busy.add(z3.PbEq([(it, 1) for it in z3.Bools([f"b{place}" for place in range(200)])], 100))
    assert busy.check() == z3.sat
    later.check(z3.Solver())
    assert later.spent < _units(busy) // 2  # what was used before it counts for nobody
    idle = Deadline()
    idle.check(z3.Solver())
    assert idle.spent == 0


def test_a_case_says_that_something_exists_where_its_quantifier_does() -> None:
    a = z3.Int("a")
    exists, every = z3.Exists([a], a > 0), z3.ForAll([a], a > 0)
    told = [_says_something_exists(it) for it in (exists, z3.Not(exists), every, z3.Not(every), a > 0)]
    assert told == [True, False, False, True, False]


def test_a_value_takes_the_place_of_what_equals_it_and_nothing_takes_that_of_a_value() -> None:
    a, b, one, two = z3.Int("a"), z3.Int("b"), z3.IntVal(1), z3.IntVal(2)
    assert [[(str(x), str(y)) for x, y in _replaced(it)] for it in (a == one, one == a, a == b, one == two)] == [
        [("a", "1")], [("a", "1")], [], [],
    ]
    assert _replaced(a > one) == []


def test_the_depth_of_quantifiers_is_counted() -> None:
    a, b = z3.Int("a"), z3.Int("b")
    inner = z3.Exists([b], b > a)
    assert [_nested(it) for it in (a > 0, inner, z3.ForAll([a], inner), z3.And(inner, a > 0))] == [0, 1, 2, 1]


class Steps(Model):
    """It goes from 0 to 3, and no further; 4 is in no run."""

    n: Annotated[int, Between(0, 5)] = 0

    @action
    def up(self) -> None:
        require(self.n < 3 or self.n == 4)
        self.n += 1

    @action
    def down(self) -> None:
        require(0 < self.n < 4)
        self.n -= 1


def prop(name: str, function: Any, kind: Any = "invariant") -> Any:
    return Property(name, kind, function, __file__, 1, "")


def below_five(model: Steps) -> bool:
    return model.n < 5


def below_four(model: Steps) -> bool:
    return model.n < 4


def not_zero(model: Steps) -> bool:
    return model.n > 0


FIVE, FOUR, ZERO = prop("below_five", below_five), prop("below_four", below_four), prop("not_zero", not_zero)


def test_those_obligations_are_answered_that_are_asked_for() -> None:
    system = system_of(Steps(), [FIVE, FOUR, ZERO], [])
    whole = {(it.action, it.property): it.outcome for it in induction(system, [FIVE, FOUR, ZERO]).obligations}
    assert whole[INITIAL, "not_zero"] == "fails" and whole[INITIAL, "below_four"] == "proved"
    wanted = [(INITIAL, "not_zero"), (INITIAL, "below_four"), ("up", "below_five"), ("down", "not_zero")]
    found = {(it.action, it.property): it.outcome for it in check_obligations(system, [FIVE, FOUR, ZERO], wanted)}
    assert found == {key: whole[key] for key in wanted}


def test_progress_names_each_obligation() -> None:
    told: list[InductionProgress] = []
    system = system_of(Steps(), [FIVE], [])
    induction(system, [FIVE], watch=told.append)
    assert {it.current for it in told} >= {("up", "below_five")} and all(len(it.current) == 2 for it in told)
    assert [it.done for it in told] == sorted(it.done for it in told)


def test_k_induction_takes_as_many_states_as_it_needs() -> None:
    system = system_of(Steps(), [FOUR, FIVE], [])
    assert k_induction(system, [FOUR], 3).outcome == "proved"
    alone = k_induction(system_of(Steps(), [FIVE], []), [FIVE], 3)
    assert (alone.outcome, alone.depth) == ("proved", 2)


class Pairs(Model):
    """It remembers the arguments of its first two steps."""

    taken: Annotated[int, Between(0, 2)] = 0
    first: Node3 | None = None
    second: Node3 | None = None
    one: Node | None = None
    other: Node | None = None

    @action
    def takes(self, flag: bool, what: Node3, who: Node) -> None:
        require(self.taken < 2 and not flag)
        if self.taken == 0:
            self.first, self.one = what, who
        else:
            self.second, self.other = what, who
        self.taken += 1

    @action
    def gives(self, who: Node) -> None:
        require(self.taken < 2)
        if self.taken == 0:
            self.one = who
        else:
            self.other = who
        self.taken += 1


def in_order(mentioned: Sequence[Any]) -> bool:
    """Whether each identifier is mentioned for the first time after those of smaller numbers."""
    firsts = list(dict.fromkeys(each.number for each in mentioned))
    return firsts == list(range(1, len(firsts) + 1))


def test_runs_that_differ_in_names_alone_are_one_run() -> None:
    """With an order of identifiers, those runs remain that mention them in it, and no others."""
    system = system_of(Pairs(), [], [])
    runs, alone = Runs(system, []), Runs(system, [])
    nodes, whos = [Node3(number) for number in (1, 2, 3)], [Node(1), Node(2)]
    runs.order([tuple(nodes), tuple(whos)])
    for each in (runs, alone):
        each.extend()
        each.extend()
    for what in itertools.product([None, *nodes], repeat=2):
        for who in itertools.product(whos, repeat=2):
            state = system.constant((2, *what, *who))
            ordered = in_order([each for each in what if each is not None]) and in_order(who)
            for each, wanted in ((alone, True), (runs, ordered)):
                found = each.ask(each.at(as_term(system.equal(system.now.state, state)), 2), Deadline())
                assert (found is not None) == wanted, (what, who)


@pytest.mark.parametrize("failing", [("below_four",), ("below_four", "not_zero")])
def test_every_counterexample_is_taken_by_cpython_too(
    failing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    confirmed: list[Obligation] = []
    monkeypatch.setattr("floodmark.checkers.symbolic.attempts.inductive.confirm",
                        lambda model, every, it: confirmed.append(it))
    monkeypatch.setattr("floodmark.checkers.symbolic.attempts.inductive._show_what_fails", lambda *_: None)
    every = {"below_four": FOUR, "not_zero": ZERO}
    proof = InductionProof([Obligation("up", name, "fails") for name in every if name in failing])
    attempt: Any = SimpleNamespace(model=Steps(), draft=SimpleNamespace(), not_assumed=())
    induction_failed(attempt, system_of(Steps(), [], []), list(every.values()), proof)
    assert [it.property for it in confirmed] == list(failing)


def test_what_fails_in_an_error_is_not_explained() -> None:
    """A property that fails where it is evaluated has no value to be explained."""
    trace = (TraceState(Step(""), (0,)),)
    shown = _run_lines(Steps(), Violation("error", "divides", trace, "division by zero"), [prop("divides", divides)])
    assert not any("divides" in line for line in shown)
    shown = _run_lines(Steps(), Violation("invariant", "not_zero", trace), [ZERO])
    assert any("not_zero" in line for line in shown)


def divides(model: Steps) -> bool:
    return 10 // model.n > 1


def test_obligations_are_handed_on_where_they_are_recorded() -> None:
    told: dict[str, str] = {}
    induction(system_of(Steps(), [FIVE, ZERO], []), [FIVE, ZERO],
              record=lambda name, about, terms, status: told.update({name: status}))  # fmt: skip
    assert told == {"initial-below_five": "unsat", "initial-not_zero": "sat", "up-below_five": "sat",
                    "up-not_zero": "unsat", "down-below_five": "unsat", "down-not_zero": "sat",
                    "up-declared types": "unsat", "down-declared types": "unsat"}


def test_a_folder_of_scripts_is_made_with_those_above_it(tmp_path: Path) -> None:
    for _ in range(2):
        assert SmtScripts(tmp_path / "of" / "scripts").folder.is_dir()
    (tmp_path / "of" / "scripts" / "one").write_text("")
    with pytest.raises(SourceError, match="the folder is not empty"):
        SmtScripts(tmp_path / "of" / "scripts")


@pytest.mark.parametrize("text", ["[other]\nz3 = 1\n", "proof = 1\n", 'more = 1\n[[proof]]\nname = "a"\n'])
def test_a_file_of_answers_has_nothing_else(text: str, tmp_path: Path) -> None:
    path = tmp_path / "it.answers"
    path.write_text(text)
    with pytest.raises(SourceError, match=r"a file of answers has \[\[proof\]\] tables and nothing else"):
        _read(path)
