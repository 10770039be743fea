"""Tests conformance of an implementation: a correct one passes, and each bug is found and shrunk."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from floodmark import SourceError
from floodmark.conformance import Adapter, Mismatch, model_of, observable, replay, state_machine
from tests.support.command import found_in
from tests.support.projects import tank_project

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "conformance"
QUICK = settings(
    max_examples=20, stateful_step_count=15, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck),
)


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def example() -> ModuleType:
    loaded("broker")
    return loaded("test_broker")


@pytest.mark.slow
def test_the_good_broker_is_where_the_model_is(example: ModuleType) -> None:
    run_state_machine_as_test(state_machine(example.MODEL, example.PartitionAdapter), settings=QUICK)


@pytest.mark.parametrize(("bug", "adapter", "most"), [
    ("COUNTS_PROPOSED_ISR", "PartitionAdapter", 1),
    pytest.param("TAKES_EQUAL_PARTITION_EPOCH", "UndisturbedAdapter", 5, marks=pytest.mark.slow),
])
def test_each_bug_is_found_with_a_short_run(example: ModuleType, bug: str, adapter: str, most: int) -> None:
    class Buggy(getattr(example, adapter)):  # type: ignore[misc]
        bug = None

    Buggy.bug = example.Bug[bug]
    thorough = settings(QUICK, max_examples=300, phases=(Phase.generate,))  # `shortened` does what shrinking is for
    with pytest.raises(Mismatch) as found:
        run_state_machine_as_test(state_machine(example.MODEL, Buggy), settings=thorough)
    assert len(found.value.steps) - 1 <= most
    assert "the model has" in str(found.value)
    trace = [{"action": step.action, "arguments": step.arguments} for step in found.value.steps]
    with pytest.raises(Mismatch):
        replay(example.MODEL, Buggy, trace)
    replay(example.MODEL, getattr(example, adapter), trace)


@pytest.mark.slow
def test_the_example_runs_as_it_says(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", str(EXAMPLE)]
    environment = {"PYTHONPATH": found_in(ROOT)["PYTHONPATH"], "BUG": "COUNTS_PROPOSED_ISR", "HOME": str(tmp_path)}
    failed = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert failed.returncode == 1, failed.stdout
    assert "2  leader_proposes_shrink(laggards={b2})" in failed.stdout


def tank(root: Path) -> Path:
    return tank_project(root) / "specs" / "tank.toml"


class TankAdapter(Adapter):
    """A tank as somebody might program it."""

    def __init__(self, start: Any) -> None:
        self.size = start.size
        self.content = start.level

    def fill(self) -> None:
        self.content += 1

    def drain(self) -> None:
        self.content -= 1

    @observable
    def level(self) -> int:
        return int(self.content)

    @observable
    def full(self) -> bool:
        return bool(self.content >= self.size)


def test_a_repository_of_its_own_is_enough(tmp_path: Path) -> None:
    model = model_of(tank(tmp_path))
    run_state_machine_as_test(state_machine(model, TankAdapter), settings=QUICK)


class Leaks(TankAdapter):
    def drain(self) -> None:
        self.content = 0


@pytest.mark.slow
def test_both_values_and_the_steps_are_said(tmp_path: Path) -> None:
    with pytest.raises(Mismatch) as found:
        run_state_machine_as_test(state_machine(model_of(tank(tmp_path)), Leaks), settings=QUICK)
    assert str(found.value).splitlines()[:6] == [
        "after 4 steps the implementation differs from the model",
        "  1  start()",
        "  2  fill()",
        "  3  fill()",
        "  4  drain()",
        "level: the model has 1, the implementation 0",
    ]


class Marks(TankAdapter):
    """Shows the marks under water, which are text, and misses the third."""

    @observable(of=lambda tank: {f"mark {number}" for number in range(tank.level)})
    def marks(self) -> set[str]:
        return {f"mark {number}" for number in range(min(self.content, 2))}


def test_sets_of_text_are_compared_and_shown(tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = [{"action": name, "arguments": {}} for name in ("start", "fill", "fill")]
    replay(model_of(tank(tmp_path)), Marks, steps)
    with pytest.raises(Mismatch) as found:
        replay(model_of(tank(tmp_path)), Marks, [*steps, {"action": "fill", "arguments": {}}])
    assert str(found.value).splitlines()[-1] == (
        "marks: the model has {'mark 0', 'mark 1', 'mark 2'}, the implementation {'mark 0', 'mark 1'}")


class Bursts(TankAdapter):
    def fill(self) -> None:
        if self.content == 1:
            raise RuntimeError("burst")
        self.content += 1


def test_an_implementation_that_fails_says_in_which_step(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="burst") as found:
        run_state_machine_as_test(state_machine(model_of(tank(tmp_path)), Bursts), settings=QUICK)
    assert any("  3  fill()" in note for note in found.value.__notes__)


class Eager(TankAdapter):
    """Fills up by itself."""

    eager = ("fill",)

    def __init__(self, start: Any) -> None:
        super().__init__(start)
        self.content = self.size

    fill = None  # type: ignore[assignment]

    def drain(self) -> None:
        """Is full again at once."""


def test_what_is_eager_is_taken_by_the_model_alone(tmp_path: Path) -> None:
    run_state_machine_as_test(state_machine(model_of(tank(tmp_path)), Eager), settings=QUICK)


COUNTDOWN = """
from typing import Annotated

from floodmark import Between, Model, action, initial, require

Count = Annotated[int, Between(0, 5)]


class Countdown(Model):
    left: Count

    @initial
    def begin(self, count: Count) -> None:
        self.left = count

    @action
    def tick(self, by: Count) -> None:
        require(0 < by and by <= self.left)
        self.left -= by
"""


class CountdownAdapter(Adapter):
    """Cannot go from four to one."""

    def __init__(self, start: Any) -> None:
        self.count = start.left

    def tick(self, by: int) -> None:
        self.count = 0 if (self.count, by) == (4, 3) else self.count - by

    @observable(of=lambda model: [model.left, model.left == 0])
    def left_and_done(self) -> list[int]:
        return [self.count, self.count == 0]


@pytest.mark.slow
def test_the_beginning_and_arguments_are_chosen_and_a_run_may_end(tmp_path: Path) -> None:
    (tmp_path / "countdown.py").write_text(COUNTDOWN)
    (tmp_path / "countdown.toml").write_text('model = "countdown.py:Countdown"')
    with pytest.raises(Mismatch) as found:
        run_state_machine_as_test(
            state_machine(model_of(tmp_path / "countdown.toml"), CountdownAdapter), settings=settings(
                QUICK, max_examples=60
            )
        )
    assert str(found.value).splitlines()[1:] == [
        "  1  begin(count=4)", "  2  tick(by=3)", "left_and_done: the model has [1,False], the implementation [0,True]",
    ]


class Forgets(Adapter):
    def fill(self) -> None: ...

    @observable
    def level(self) -> int:
        return 0


class Misspells(TankAdapter):
    unsupported = ("drian",)


class MisspellsLater(TankAdapter):
    unsupported = ("drain", "drian")


class Blind(Adapter):
    environment = ("fill", "drain")


class ObservesNothingThere(TankAdapter):
    @observable
    def levle(self) -> int:
        return 0


class TakesMore(TankAdapter):
    def fill(self, amount: int) -> None: ...  # type: ignore[override]


class Twice(TankAdapter):
    environment = ("fill",)


@pytest.mark.parametrize(("adapter", "said"), [
    (Forgets, "says nothing about drain"),
    (Misspells, "did you mean 'drain'"),
    (MisspellsLater, "has no action 'drian', named in unsupported"),
    (Blind, "observes nothing"),
    (ObservesNothingThere, "did you mean 'level'"),
    (TakesMore, r"fill has to take \(self\)"),
    (Twice, "fill is listed twice"),
])
def test_an_adapter_that_does_not_fit_is_refused(tmp_path: Path, adapter: type[Adapter], said: str) -> None:
    with pytest.raises(SourceError, match=said) as found:
        state_machine(model_of(tank(tmp_path)), adapter)
    assert found.value.file == __file__


@pytest.mark.slow
def test_without_hypothesis_the_error_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from floodmark.conformance import state_machine, Adapter, observable\n"
        "from model.alter_isr.core import AlterIsr\n"
        "class A(Adapter):\n"
        "    environment = list(AlterIsr.methods('action'))\n"
        "    @observable\n"
        "    def partition_epoch(self): return 0\n"
        "try: state_machine(AlterIsr, A)\n"
        "except Exception as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "pip install" in run.stdout


def test_a_trace_that_the_model_does_not_have_is_refused(tmp_path: Path) -> None:
    model = model_of(tank(tmp_path))
    with pytest.raises(SourceError, match="step 2: drain"):
        replay(model, TankAdapter, [{"action": "start"}, {"action": "drain", "arguments": {}}])
    with pytest.raises(SourceError, match="did you mean 'drain'"):
        replay(model, TankAdapter, [{"action": "start"}, {"action": "drian"}])
    with pytest.raises(SourceError, match="begin with an initial step"):
        replay(model, TankAdapter, [{"action": "fill"}])
