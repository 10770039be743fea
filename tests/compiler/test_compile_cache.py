"""A process reuses an expression graph for another model only if compiling that one would give the same graph."""

from __future__ import annotations

import enum
import pickle
import random
from pathlib import Path
from typing import Annotated

import pytest

from floodmark import Between, Constant, Model, Record, Seq, Set, action, require
from floodmark.checkers.project.spec import read, selected_specs
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.compiler import program
from floodmark.compiler.compile_cache import ABSENT, CompileCache, CompilerInputs, name_around
from floodmark.compiler.fingerprint import fingerprint
from floodmark.compiler.ir import Action
from floodmark.compiler.program import read_action, read_program
from floodmark.language.errors import ModelError
from floodmark.language.model import opened, sized
from floodmark.language.reference import parameter_types
from floodmark.language.source import rewritten, source_of
from floodmark.language.widths import FIRST_WIDTHS

ROOT = Path(__file__).parents[2]

STEP = 1
STEPS = [1, 2]


class Unhashed(type):
    """Its classes have no hash, so none of them can be the key of an answer."""

    __hash__ = None  # type: ignore[assignment]


class Knobs(metaclass=Unhashed):
    most = 3


def by_how_much(value: int) -> int:
    return value + STEP


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Counter(Model):
    most = Constant(5)
    quick = Constant(False)
    value: Annotated[int, Between(0, 9)] = 0
    other: Annotated[int, Between(0, 9)] = 0

    def step(self) -> int:
        return 1

    def allowed(self) -> bool:
        return self.value < self.most

    @action
    def count(self) -> None:
        require(self.allowed())
        self.value += self.step()

    @action
    def back(self) -> None:
        require(self.value > 0)
        self.value -= 1

    @action
    def more(self) -> None:
        require(self.value < 3)
        self.value = by_how_much(self.value)

    @action
    def listed(self) -> None:
        require(self.value in STEPS)
        self.value = 0

    @action
    def paint(self) -> None:
        require(any(colour == Colour.RED for colour in Colour))
        self.other = 0


class Between2(Counter):
    def step(self) -> int:
        return super().step() + 1


class Twice(Between2):
    def step(self) -> int:
        return super().step() * 2


class Base2(Counter):
    def step(self) -> int:
        return 3


class Mixed(Between2, Base2):
    """``super()`` in Between2 means Base2 here."""


def action_of(model: Model, name: str) -> Action:
    return read_action(model, name, type(model).methods("action")[name])


def test_design_shares_what_it_does_not_change() -> None:
    good, bad = Counter(), Between2()
    assert action_of(bad, "back") is action_of(good, "back")
    assert action_of(Counter(), "count") is action_of(good, "count")


@pytest.mark.parametrize("cls", [Between2, Twice, Base2, Mixed])
def test_an_overridden_rule_invalidates_the_compile_cache(cls: type[Model]) -> None:
    one = fingerprint(action_of(Counter(), "count"))
    assert fingerprint(action_of(cls(), "count")) != one
    assert fingerprint(action_of(Counter(), "count")) == one


def test_super_means_the_next_class_of_each() -> None:
    assert fingerprint(action_of(Between2(), "count")) != fingerprint(action_of(Mixed(), "count"))


def test_other_constants_invalidate_the_compile_cache() -> None:
    one, other = (action_of(Counter(most=most), "count") for most in (4, 3))
    assert fingerprint(one) != fingerprint(other)


def test_name_of_the_file_that_means_something_else_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = action_of(Counter(), "more")
    monkeypatch.setitem(globals(), "STEP", 2)
    after = action_of(Counter(), "more")
    assert fingerprint(before) != fingerprint(after)
    monkeypatch.undo()
    assert action_of(Counter(), "more") is before


def test_what_is_in_a_list_is_read_each_time() -> None:
    before = fingerprint(action_of(Counter(), "listed"))
    STEPS.append(3)
    try:
        assert fingerprint(action_of(Counter(), "listed")) != before
    finally:
        STEPS.pop()


class Tuned(Counter):
    def allowed(self) -> bool:
        return self.value < Knobs.most


def test_what_has_no_hash_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(action_of(Tuned(), "count"))
    monkeypatch.setattr(Knobs, "most", 4)
    assert fingerprint(action_of(Tuned(), "count")) != before


class Dial:
    most = 3


DIAL = Dial()


class Dialled(Counter):
    def allowed(self) -> bool:
        return self.value < DIAL.most


def test_what_an_object_has_may_change_so_it_is_refused() -> None:
    with pytest.raises(ModelError, match=r"DIAL\.most is not part of the modelling language"):
        action_of(Dialled(), "count")


def test_rewritten_function_is_read_as_it_is() -> None:
    before = action_of(Counter(), "count")
    tree = source_of(Base2.step).tree
    with rewritten(Counter.step, tree):
        within = action_of(Counter(), "count")
        assert fingerprint(within) == fingerprint(action_of(Base2(), "count"))
        assert action_of(Counter(), "back") is action_of(Counter(), "back")
    assert action_of(Counter(), "count") is before


class Other:
    class Colour(enum.Enum):
        RED = 1
        GREEN = 2


class Painted(Counter):
    """Uses another class of the same name, which reports could not tell from the first."""

    @action
    def repaint(self) -> None:
        require(any(colour == Other.Colour.RED for colour in Other.Colour))
        self.other = 1


def test_classes_with_one_name_are_refused_whoever_was_read_before() -> None:
    action_of(Counter(), "paint")
    with pytest.raises(ModelError, match="another Colour"):
        read_program(Painted(), {})


@pytest.mark.parametrize("spec", ["alter_isr/core", pytest.param("reassignment/requests", marks=pytest.mark.slow)])
def test_designs_are_read_as_if_each_were_alone(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    models = [
        sized(check.model(), FIRST_WIDTHS) for check in checks(read(ROOT / f"specs/{spec}.toml"), CheckSettings())
    ]
    together = [fingerprint(*read_program(model, {}).actions) for model in models]
    for model, found in zip(models, together, strict=True):
        monkeypatch.setattr(program, "_READINGS", CompileCache())
        assert fingerprint(*read_program(model, {}).actions) == found


@pytest.mark.slow
def test_all_models_are_read_as_if_each_were_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """In random order, with all their properties: what a process reads depends on what it read before in no spec."""
    specs = [each.spec for each in selected_specs([ROOT / "specs"]) if each.is_there and each.spec is not None]
    found = [check for spec in specs for check in checks(spec, CheckSettings())]
    random.Random(1).shuffle(found)
    together = program._READINGS
    for check in found:
        monkeypatch.setattr(program, "_READINGS", together)
        one = fingerprint_of(check)
        monkeypatch.setattr(program, "_READINGS", CompileCache())
        assert fingerprint_of(check) == one, check


def fingerprint_of(check: Check) -> str:
    properties = {prop.name: prop.function for prop in check.properties() if not prop.is_liveness}
    made = read_program(sized(check.model(), FIRST_WIDTHS), properties)
    return fingerprint(*made.actions, *made.predicates, *made.boundaries)


class Letter(Record):
    words: Seq[Annotated[int, Between(0, "most")]]


class Post(Model):
    most = Constant(3)
    sent: Set[Letter]

    @action
    def deliver(self, letter: Letter, word: Annotated[int, Between(0, "most")]) -> None:
        require(letter in self.sent)
        require(word in letter.words)
        self.sent = self.sent - {letter}


def test_parameters_are_those_of_the_widths_and_constants() -> None:
    model = Post()
    first = sized(model, FIRST_WIDTHS)
    wider = sized(first, FIRST_WIDTHS.grown("the field words"))
    left_open = opened(first, ["most"])
    kinds = [parameter_types(each, Post.deliver) for each in (model, first, wider, left_open)]
    assert kinds[0]["letter"] != kinds[1]["letter"] != kinds[2]["letter"]
    assert kinds[3]["word"] != kinds[1]["word"]
    assert kinds == [parameter_types(each, Post.deliver) for each in (model, first, wider, left_open)]


def test_a_reading_for_other_widths_is_another() -> None:
    """No variable of this model has a width; a container within a function may have one."""
    one = sized(Counter(), FIRST_WIDTHS)
    assert CompilerInputs(one).is_of(sized(Counter(), FIRST_WIDTHS))
    assert not CompilerInputs(one).is_of(sized(Counter(), FIRST_WIDTHS.grown("a place")))


def test_a_reading_rests_on_the_names_around_a_function() -> None:
    size, unit = 5, 2

    def limit() -> int:
        return size * unit

    def grow() -> None:
        nonlocal size, unit
        size, unit = unit, size

    assert [name_around(Counter(), limit, name) for name in ("size", "unit", "other")] == [5, 2, ABSENT]
    reading = CompilerInputs(Counter())
    reading.rests_on(name_around, limit, "size")
    assert reading.is_of(Counter())
    grow()
    assert not reading.is_of(Counter())


def test_the_compile_cache_has_a_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("floodmark.compiler.compile_cache.MAX_KEPT", 20)
    monkeypatch.setattr(program, "_READINGS", CompileCache())
    first = action_of(Counter(), "back")
    assert action_of(Counter(), "back") is first
    action_of(Counter(), "count"), action_of(Counter(), "more")
    assert action_of(Counter(), "back") is not first


def test_another_process_finds_the_types_of_parameters_itself() -> None:
    spec = read(ROOT / "specs/alter_isr/core.toml")
    model = Check(spec, None, CheckSettings()).model()
    methods = list(type(model).methods("action").values())
    types = [parameter_types(model, method) for method in methods]
    assert any(types)
    sent = pickle.dumps(model)
    assert len(sent) == len(pickle.dumps(Check(spec, None, CheckSettings()).model()))
    received = pickle.loads(sent)
    assert [parameter_types(received, method) for method in methods] == types
    assert received.variable_types == model.variable_types


def test_a_width_leaves_types_without_such_containers_as_they_are() -> None:
    model = Check(read(ROOT / "specs/alter_isr/core.toml"), None, CheckSettings()).model()
    assert sized(model, FIRST_WIDTHS).variable_types == model.variable_types
