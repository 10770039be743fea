"""``floodmark.check``, ``floodmark.prove`` and ``floodmark.states``, as programs and notebooks use them."""

from __future__ import annotations

import ast
import linecache
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest

import floodmark
from floodmark import (
    Between,
    Constant,
    Identifier,
    Model,
    ModelError,
    SourceError,
    Undetermined,
    action,
    boundary,
    invariant,
    reachable,
    require,
)
from floodmark.checkers import processes
from floodmark.checkers.gate.cacheable_names import foreign
from floodmark.checkers.interface.notebook import result_html
from floodmark.checkers.reference.search import reachable_states
from floodmark.conformance import (
    Adapter,
    drive,
    first_difference,
    hunt,
    model_of,
    observable,
    steps_of,
    trace_of,
)
from floodmark.replay import load_file
from tests.repository.test_readme import ROOT, block
from tests.support.projects import INVARIANTS, tank_project, write


class Hand(Identifier, count="hands"):
    """Whoever counts."""


class Counter(Model):
    """Counts to a limit."""

    limit = Constant(3)
    hands = Constant(2)
    value: Annotated[int, Between(0, "limit")] = 0

    @action
    def count(self, hand: Hand) -> None:
        require(self.value < self.limit)
        self.value += 1

    @invariant
    def within(self) -> bool:
        return self.value <= 3

    @reachable
    def gets_there(self) -> bool:
        return self.value == self.limit


class Skips(Counter):
    """Counts on beyond its type."""

    def count(self, hand: Hand) -> None:
        self.value += 2


class Cut(Counter):
    """Is searched up to its boundary only."""

    @boundary
    def small(self) -> bool:
        return self.value < 5


class Pool(Counter):
    """Has a constant that is called like a setting."""

    workers = Constant(1)


class Silent(Model):
    """Has no property."""

    on: bool = False

    @action
    def switch(self) -> None:
        self.on = not self.on


class Other(Model):
    """Is no counter."""

    value: bool = False

    @action
    def turn(self) -> None:
        self.value = not self.value

    @invariant
    def either(self) -> bool:
        return self.value or not self.value


@invariant
def at_most_three(model: Counter) -> bool:
    return model.value <= 3


def undecorated(model: Counter) -> bool:
    return model.value <= 3


@invariant
def about_another(model: Other) -> bool:
    return not model.value or model.value


def test_a_result_has_the_figures_of_the_search() -> None:
    found = floodmark.check(Counter, limit=3, hands=1)
    assert (found.verdict, found.holds, bool(found)) == ("holds", True, True)
    assert (found.states, found.generated, found.depth, found.complete) == (4, 4, 4, True)
    assert found.properties == ["within", "gets_there", "at_most_three"]  # the last from the class's own module
    assert (found.constants, found.actions) == ({"limit": 3, "hands": 1}, {"count": 3})
    assert (found.counterexample, found.warnings, found.broken, found.message) == (None, [], None, "")
    assert str(found).startswith("holds         Counter  4 states, 4 generated, depth 4")
    assert found.as_json()["distinct"] == 4
    assert "reproduce" not in str(found)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_counterexample_has_the_steps_and_the_states(engine: Any) -> None:
    found = floodmark.check(Counter, limit=5, hands=1, engine=engine)
    assert (found.holds, bool(found), found.broken) == (False, False, "within")
    run = found.counterexample
    assert run is not None
    assert [step.action for step in run.steps] == ["initial", "count", "count", "count", "count"]
    assert [state["value"] for state in run.states] == [0, 1, 2, 3, 4]
    assert (len(run), run.loop, run.broken) == (5, None, "within")
    assert str(run).startswith("Counter violates within (tests/interface/test_python.py:")
    assert str(run) in str(found)
    names: dict[str, Any] = {"__file__": __file__}
    exec(compile(run.as_test(), "<emitted>", "exec"), names)
    names["test_counter_breaks_within"]()


def test_what_no_state_satisfies_is_violated_without_a_run() -> None:
    found = floodmark.check(Pool, properties=["gets_there"], constants={"workers": 1}, limit=3)
    assert found
    never = floodmark.check(load_file(ROOT / "tests/interface/test_python.py").Counter, properties=["gets_there"])
    assert never.holds


def test_a_limit_leaves_the_answer_open_and_the_answer_is_no_truth_value() -> None:
    found = floodmark.check(Counter, limit=900, states=10, properties=["gets_there"])
    assert (found.verdict, found.holds, found.complete) == ("undetermined", None, False)
    with pytest.raises(Undetermined, match=r"Counter: the search ended .* the limit of 10 states"):
        bool(found)
    with pytest.raises(Undetermined):
        assert not found


def test_a_check_of_nothing_is_no_truth_value() -> None:
    found = floodmark.check(Silent)
    assert (found.holds, found.states) == (None, 2)
    with pytest.raises(Undetermined, match="nothing was checked"):
        bool(found)


def test_a_model_that_leaves_its_types_is_an_exception_with_the_run() -> None:
    with pytest.raises(floodmark.ModelFailed, match=r"tests/interface/test_python\.py") as caught:
        floodmark.check(Skips, good=Counter)
    assert [step.action for step in caught.value.counterexample.steps] == ["initial", "count"]
    assert "Skips has an error after 2 steps" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"limits": 3}, SourceError, r"Counter has no constant 'limits'; did you mean 'limit'\?"),
        ({"limit": "3"}, SourceError, "the constant limit is '3', but needs int"),
        ({"properties": ["withn"]}, SourceError, r"there is no property 'withn'; did you mean 'within'\?"),
        ({"properties": "within"}, TypeError, r"properties is a list: write properties=\['within'\]"),
        ({"properties": [3]}, TypeError, "a property is a name or a function, not 3"),
        ({"properties": [undecorated]}, SourceError, "undecorated is no property; decorate it"),
        ({"properties": [about_another]}, SourceError, "about_another is a property of Other, from which Counter"),
        ({"engine": "spark"}, ValueError, "engine is one of native, reference, not 'spark'"),
        ({"symmetry": "Hand"}, TypeError, r"write symmetry=\['Hand'\]"),
        ({"symmetry": ["Hnd"]}, SourceError, "no variable of Counter holds identifiers of a class 'Hnd'"),
        ({"memory": "much"}, ValueError, "much"),
        ({"workers": -1}, ValueError, "workers must be a whole number, 0 or more, not -1"),
        ({"workers": 5000}, ValueError, "workers must be at most 1,024, not 5000"),
        ({"seconds": float("nan")}, ValueError, "seconds must be a number, 0 or more, not nan"),
        ({"states": -1}, ValueError, "states must be a whole number, 0 or more, not -1"),
        ({"constants": {"limit": 3}, "limit": 3}, TypeError, "the constant limit is given twice"),
        ({"good": Other}, TypeError, "Counter is not a subclass of Other"),
    ],
)
def test_what_is_wrong_is_an_exception_that_says_it(arguments: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        floodmark.check(Counter, **arguments)


@pytest.mark.parametrize("design", ["lease.toml", int, Model, None])
def test_only_models_are_checked(design: Any) -> None:
    with pytest.raises(TypeError, match="a model's class is needed"):
        floodmark.check(design)


def test_a_constant_that_is_called_like_a_setting_has_to_be_named_as_a_constant() -> None:
    with pytest.raises(TypeError, match=r"workers is a setting, and also a constant of Pool; write constants="):
        floodmark.check(Pool, workers=4)
    assert floodmark.check(Pool, constants={"workers": 2}, workers=1).constants["workers"] == 2
    assert floodmark.prove(Pool, method="k-induction", workers=2).constants["workers"] == 2  # no setting of a proof


def test_properties_are_found_in_the_project_of_the_class_wherever_python_runs(tmp_path: Path) -> None:
    root = tank_project(tmp_path, **{"invariants/tank.py": INVARIANTS})
    tank = load_file("model/tank.py", root / "here.py").Tank
    assert floodmark.check(tank).properties == ["below_size", "gets_full", "never_two", "one_step"]


def test_properties_are_functions_or_names() -> None:
    assert floodmark.check(Counter, properties=[at_most_three]).properties == ["at_most_three"]
    assert floodmark.check(Counter, properties=[Counter.within, "gets_there"]).properties == ["within", "gets_there"]


def test_a_model_with_constants_keeps_them() -> None:
    found = floodmark.check(Counter(limit=2), hands=1)
    assert found.constants == {"limit": 2, "hands": 1}
    spec = model_of(ROOT / "specs/examples/peterson.toml")
    assert floodmark.check(spec).holds


def test_a_class_that_other_processes_do_not_find_is_refused() -> None:
    class Inner(Counter):
        pass

    with pytest.raises(SourceError, match="Inner is made inside test_a_class_that"):
        floodmark.check(Inner)


def test_where_no_process_can_be_made_this_one_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "FORKS", False)
    monkeypatch.setattr(processes, "run_each", None)
    assert floodmark.check(Counter).holds


def test_the_states_are_those_of_a_search() -> None:
    model = Counter(limit=7)
    found = list(floodmark.states(model))
    assert {tuple(state.values()) for state in found} == reachable_states(model)
    assert [state["value"] for state in floodmark.states(Counter)] == [0, 1, 2, 3]
    assert len(list(floodmark.states(Cut, limit=9))) == floodmark.check(Cut, limit=9, properties=[]).states == 5


class Further(Counter):
    """Counts one further than it may."""

    @action
    def count(self, hand: Hand) -> None:
        require(self.value < self.limit - 1)
        self.value += 1


def test_two_versions_of_a_model_are_compared() -> None:
    same = floodmark.diff(Counter, Counter, limit=2)
    assert (same.added, same.removed, same.is_same) == ("none", "none", True)
    edit = floodmark.diff(Counter, Further, hands=1)
    assert (edit.added, edit.removed) == ("none", "some")
    assert [len(run.trace) for run in edit.runs] == [4]
    assert "the new version does not take it" in str(edit)
    assert "in 4 steps" in repr(edit)
    assert floodmark.diff(Counter, Further, max_states=1).added == "undetermined"
    with pytest.raises(TypeError, match="neither version has a constant legs"):
        floodmark.diff(Counter, Further, legs=1)


def test_states_become_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    table = floodmark.states(Counter, limit=2).to_pandas()
    pandas.testing.assert_frame_equal(table, pandas.DataFrame({"value": [0, 1, 2]}))


def test_a_proof_says_what_the_command_says() -> None:
    proof = floodmark.prove(Counter, limit=3, method="k-induction")
    assert (proof.verdict, proof.holds, bool(proof)) == ("holds", True, True)
    assert proof.properties == ["within", "at_most_three"]
    assert str(proof).startswith("holds         Counter  k-induction: ")
    open_question = floodmark.prove(Counter, limit=9, method="bmc", depth=2, properties=["within"])
    assert (open_question.holds, open_question.properties) == (None, ["within"])
    with pytest.raises(Undetermined, match="Counter: no violation within 2 states"):
        bool(open_question)
    refuted = floodmark.prove(Counter, limit=9, method="bmc", properties=[Counter.within])
    assert (refuted.holds, refuted.broken) == (False, "within")
    assert "1  initial()" in "\n".join(refuted.lines)
    with pytest.raises(ValueError, match="method is one of induction, bmc"):
        floodmark.prove(Counter, method="guess")  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="gets_there says that a state can be reached"):
        floodmark.prove(Counter, properties=["gets_there"])


def test_a_notebook_shows_a_table_and_the_chart() -> None:
    page = floodmark.check(Counter, limit=5)._repr_html_()
    assert page.startswith('<div class="floodmark"')
    parts = ("<style>.floodmark {", "<table", 'class="chip bad">violated', "Why within is false", "<svg", "limit = 5")
    assert [part for part in parts if part not in page] == []
    run = floodmark.check(Counter, limit=5).counterexample
    assert run is not None
    assert "<svg" in run._repr_html_()
    assert "<svg" not in floodmark.check(Counter)._repr_html_()
    assert "k-induction" in floodmark.prove(Counter, method="k-induction")._repr_html_()
    ids = [word for word in page.split() if word.startswith("id=")]
    assert len(ids) == len(set(ids)) > 5


def test_a_notebook_says_why_an_answer_is_open_and_shows_a_result_without_a_search() -> None:
    found = floodmark.check(Counter, states=2)._found
    assert "at the limit of 2 states" in found.message
    assert found.message in result_html(found)
    assert "<td>0</td>" in result_html(replace(found, search_result=None))


CELL = """
from floodmark import Model, action, invariant, require


class Lamp(Model):
    on: bool = False

    @action
    def switch(self) -> None:
        self.on = not self.on
"""
DARK = """
@invariant
def dark(model: Lamp) -> bool:
    return not model.on
"""


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Runs cells as a notebook does: in the module ``__main__``, without a file, with the text where Python looks."""
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    cells = 0

    def run(text: str) -> ModuleType:
        nonlocal cells
        cells += 1
        name = f"/notebook/cell_{cells}.py"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), vars(main))
        return main

    yield run
    for name in [each for each in linecache.cache if each.startswith("/notebook/")]:
        del linecache.cache[name]


def test_cells_of_a_notebook_are_checked(notebook: Any) -> None:
    assert floodmark.check(notebook(CELL).Lamp).states == 2
    main = notebook(DARK)
    found = floodmark.check(main.Lamp)
    assert (found.holds, found.broken) == (False, "dark")
    assert found.counterexample is not None
    with pytest.raises(SourceError, match="a test imports its model from a file"):
        found.counterexample.as_test()


def test_a_property_of_a_class_that_a_cell_defined_anew_is_not_left_out(notebook: Any) -> None:
    notebook(CELL)
    assert not floodmark.check(notebook(DARK).Lamp)
    with pytest.raises(SourceError, match="dark is about a class Lamp that has been defined anew"):
        floodmark.check(notebook(CELL).Lamp)


def test_a_cell_that_defines_a_member_twice_is_refused(notebook: Any) -> None:
    twice = f"{CELL}\n    @invariant\n    def dark(self) -> bool:\n        return not self.on\n"
    with pytest.raises(ModelError, match="dark is already defined at"):
        notebook(f"{twice}\n    @invariant\n    def dark(self) -> bool:\n        return True\n")


def test_a_property_that_no_check_would_find_is_an_error(tmp_path: Path) -> None:
    dark = f"from floodmark import invariant\nfrom model.lamp import Lamp\n{DARK}"
    write(tmp_path, {"pyproject.toml": "", "model/lamp.py": CELL, "invariants/dark.py": dark})
    lamp = load_file(tmp_path / "model/lamp.py").Lamp
    with pytest.raises(SourceError, match="no spec finds dark, a property of Lamp, in this file"):
        floodmark.check(lamp)
    (tmp_path / "invariants/dark.py").rename(tmp_path / "invariants/lamp.py")
    assert floodmark.check(lamp).broken == "dark"


def test_a_file_that_is_being_loaded_for_a_check_runs_none(tmp_path: Path) -> None:
    (tmp_path / "lamp.py").write_text(f"import floodmark\n{CELL}\nfloodmark.check(Lamp)\n")
    with pytest.raises(SourceError, match=r"lamp.py:\d+: a file that is being loaded for a check cannot run one"):
        load_file(tmp_path / "lamp.py")


PROGRAMS = ("Counterexample", "ModelFailed", "Proof", "Result", "States", "Undetermined", "check", "prove", "states")


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_programs_use_is_no_part_of_the_language(name: str) -> None:
    """A model may not depend on what a check finds: a verdict on a file that imports it is not cached."""
    assert name not in floodmark.__all__
    assert name in dir(floodmark)
    assert getattr(floodmark, name)
    (statement,) = ast.parse(f"from floodmark import {name}").body
    assert isinstance(statement, ast.ImportFrom)
    assert list(foreign(statement)) == [("floodmark", f"floodmark.{name}")]


def test_models_import_the_language_alone() -> None:
    """Whoever imports ``floodmark`` does not wait for a checker to be imported; an unknown name is an error."""
    text = (
        "import sys, floodmark\n"
        "from floodmark import *\n"
        "loaded = [name for name in sys.modules if name.startswith(('floodmark.checkers', 'numpy', 'z3', 'click'))]\n"
        "assert not loaded, loaded\n"
        "assert 'check' not in globals()\n"
        "try:\n    floodmark.chek\nexcept AttributeError as error:\n    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert run.stdout == "module 'floodmark' has no attribute 'chek'\n"


def test_the_guide_is_true(tmp_path: Path) -> None:
    names = ("check", "flawed", "known bad", "undetermined", "prove", "states", "protocols")
    spec = f'{block("model spec")}\n[[flawed]]\nclass = "hasty.py:GrantsAgain"\nproperty = "one_holder"\n'
    files = {"lease.py": block("model"), "hasty.py": block("python flawed model"), "lease.toml": spec}
    write(tmp_path, {**files, "guide.py": "\n".join(block(f"python {name}") for name in names)})
    command = [sys.executable, "guide.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert block("python flawed output") in run.stdout
    assert "Lease: the search ended before it was complete" in run.stdout


def test_the_known_bad_designs_of_a_spec_are_those_of_its_rows(tmp_path: Path) -> None:
    spec = """
model = "counter.py:Counter"
deadlock = false
[[row]]
name = "small"
constants = {limit = 2}
[[row]]
name = "large"
constants = {limit = 3}
[[flawed]]
class = "counter.py:Skips"
property = "below"
rows = ["small", "large"]
[[flawed]]
class = "counter.py:Stops"
property = "deadlock"
constants = {limit = 5}
rows = ["large"]
"""
    write(tmp_path, {"counter.py": COUNTER, "counter.toml": spec})
    found = floodmark.known_bad_designs(tmp_path / "counter.toml")
    told = [(each.name, each.breaks, each.model.constant_values["limit"]) for each in found]
    assert told == [("Skips", "below", 2), ("Skips", "below", 3), ("Stops", "deadlock", 5)]
    results = [each.check() for each in found]
    runs = [result.counterexample for result in results]
    assert [(run.broken, len(run)) for run in runs if run is not None] == [("below", 3), ("below", 4), ("deadlock", 6)]
    assert [result.constants["limit"] for result in results] == [2, 3, 5]
    [alone] = floodmark.known_bad_designs(f"{tmp_path / 'counter.toml'}@small")
    assert alone.model.constant_values == found[0].model.constant_values
    with pytest.raises(SourceError, match="there is no row 'tiny'"):
        floodmark.known_bad_designs(tmp_path / "counter.toml@tiny")


COUNTER = '''
from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Model, action, invariant, require


class Counter(Model):
    limit = Constant(2)
    value: Annotated[int, Between(0, "limit")] = 0

    @action
    def count(self) -> None:
        self.value = 0 if self.value == self.limit - 1 else self.value + 1

    @invariant
    def below(self) -> bool:
        return self.value < self.limit


class Skips(Counter):
    def count(self) -> None:
        self.value = 0 if self.value == self.limit else self.value + 1


class Stops(Counter):
    def count(self) -> None:
        require(self.value < self.limit)
        self.value += 1
'''


def test_shipped_protocols_are_the_ones_that_specs_see(tmp_path: Path) -> None:
    from floodmark.protocols.kraft.quorum import Kraft  # type: ignore[import-not-found]

    assert load_file("model/kraft/quorum.py", tmp_path / "x.py").Kraft is Kraft
    with pytest.raises(ModuleNotFoundError, match=r"floodmark\.protocols\.kraft\.quorums"):
        import floodmark.protocols.kraft.quorums  # type: ignore[import-not-found]  # noqa: F401


def test_a_hunt_finds_a_shortest_run_which_a_trace_keeps() -> None:
    model = Counter(limit=9, hands=1)
    assert hunt(Counter(limit=3), "within", most=50) is None
    found = hunt(model, "within", "uniform", most=1000)
    assert found is not None
    assert [step.action for step in found.steps] == ["initial", *["count"] * 4]
    assert found.why[1].strip() == "false: self.value <= 3, that is 4 <= 3"
    assert steps_of(model, trace_of(found.steps)) == list(found.steps)
    with pytest.raises(SourceError, match=r"step 2: count\(\{'hand': 'h9'\}\) is not enabled"):
        steps_of(model, [{"action": "initial"}, {"action": "count", "arguments": {"hand": "h9"}}])
    with pytest.raises(SourceError, match="there is no property 'witin'"):
        hunt(model, "witin")
    further = hunt(model, "at_most_three", after=found.steps[:3])
    assert further is not None
    assert len(further.steps) == 5


class Counting(Adapter):
    """Counts, and stays at three."""

    def __init__(self, start: Any) -> None:
        self.number: int = start.value

    def count(self, hand: Any) -> None:
        self.number = min(3, self.number + 1)

    @observable
    def value(self) -> int:
        return self.number


def test_an_implementation_takes_a_run_and_parts_from_another_model() -> None:
    run = floodmark.check(Counter, limit=5, hands=1).counterexample
    assert run is not None
    took = drive(Counter(limit=3, hands=1), Counting, run.steps)  # the step that is not enabled is left out
    assert isinstance(took, Counting)
    assert took.number == 3
    found = first_difference(Counter(limit=5, hands=1), Counting, run.steps)
    assert found is not None
    assert [(name, model, real) for name, model, real in found.differences] == [("value", 4, 3)]
    assert first_difference(Counter(limit=3, hands=1), Counting, run.steps) is None


IMPORTING = [*(ROOT / "examples").rglob("*.py"), *(ROOT / "docs" / "guide").glob("*.md"), ROOT / "README.md"]


@pytest.mark.parametrize("file", IMPORTING, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_examples_import_no_internals(file: Path) -> None:
    assert not re.findall(r"floodmark\.(?:checkers|language|compiler)\b.*import", file.read_text(encoding="utf-8"))
    assert not re.findall(r"import floodmark\.(?:checkers|language|compiler)", file.read_text(encoding="utf-8"))
