"""Tests what proof methods take for the beginning of a run: where a model has its constants, CPython's initial states.

So a proof and a search begin alike by construction. Where constants are left open, z3 is told the source of the initial
methods; ``python -m tools.mutants terms`` compares that with CPython.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.translate import transition_system
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.language.reference import Step
from tests.support.projects import write

COUNTER = """\
from typing import Annotated
from floodmark import Between, Model, action, initial, invariant, require

class Counter(Model):
    count: Annotated[int, Between(0, 3)]

    @initial
    def start(self) -> None:
        self.count = 0

    @action
    def counts(self) -> None:
        require(self.count < 1)
        self.count += 1

    @invariant
    def is_low(self) -> bool:
        return self.count < 2
"""

TASKS = [ProofTask("bmc", depth=3, expect="bounded"), ProofTask("induction"), ProofTask("k-induction", depth=2),
         ProofTask("infer")]


@pytest.fixture
def check(tmp_path: Any) -> Check:
    write(tmp_path, {"counter.py": COUNTER, "counter.toml": 'model = "counter.py:Counter"\n'})
    return Check(read(tmp_path / "counter.toml"), None, CheckSettings())


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.method)
def test_methods_begin_in_the_initial_states_of_cpython(
    task: ProofTask, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    def untold(*_: Any) -> Any:
        raise AssertionError("z3 is told the source of an initial method")

    for name in ("read_beginnings", "read_beginning_of"):
        monkeypatch.setattr(transition_system, name, untold)
    assert prove_check(check, task).verdict == "holds"

    def elsewhere(model: Any) -> Iterator[Any]:
        yield Step("start"), (3,)

    monkeypatch.setattr(transition_system, "initial_states", elsewhere)
    if task.method == "infer":  # which compares what z3 says of reachable states with a search
        with pytest.raises(RuntimeError, match="z3 says that a reachable state breaks a property"):
            prove_check(check, task)
    else:
        assert prove_check(check, task).verdict == "violated"
