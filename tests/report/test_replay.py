"""The tests that ``report --as test`` prints: they pass on the design that is broken, and fail on one that is not."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floodmark import Bag, Map, Seq, Set
from floodmark.checkers.project.modules import load_file
from floodmark.checkers.report.python_source import PythonCode
from floodmark.checkers.report.replay import test_module as emitted
from floodmark.checkers.verdict.check import CheckSettings
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.language.errors import ActionDisabled, SourceError
from floodmark.language.values import running
from tests.report.test_report import Broker, Cluster, Proposal, Role, b
from tests.support.command import Ended, floodmark, installed
from tests.support.outcomes import check, inside, tank
from tests.support.projects import tank_project, write
from tests.support.shipped import shipped

ROOT = Path(__file__).parents[2]
FAMILY = "two_phase_commit"


def flawed_designs() -> list[Any]:
    """Every known-bad design of one small family, and the first of every other spec of the quick tier."""
    found = []
    for address, spec in shipped().items():
        quick = [flawed for flawed in spec.flawed if spec.tier_of(flawed) == "quick"]
        for flawed in quick if FAMILY in spec.name else quick[:1]:
            soon = spec.name.startswith(("examples/", "alter_isr/core", "under_replicated/"))
            marks = [] if soon else [pytest.mark.slow]
            name = f"{spec.name}-{flawed.name}"
            found.append(pytest.param(address.relative_to(ROOT), flawed.name, id=name, marks=marks))
    return found


def functions(source: str) -> dict[str, Any]:
    """The test functions of a module, defined. The module imports only what is public."""
    assert not re.findall(r"floodmark\.(?:checkers|language|compiler)\b", source)
    names: dict[str, Any] = {"__file__": str(ROOT / "tests" / "test_emitted.py")}
    exec(compile(source, "<emitted>", "exec"), names)
    return {name: value for name, value in names.items() if name.startswith("test_")}


def passes(results: list[CheckResult]) -> int:
    """Runs what is emitted for the results; gives the number of tests."""
    found = functions(emitted(results))
    for function in found.values():
        function()
    return len(found)


@pytest.mark.parametrize(("spec", "name"), flawed_designs())
def test_a_known_bad_design_is_replayed(spec: Path, name: str) -> None:
    with inside(ROOT):
        (result,) = check(spec, CheckSettings(workers=1, only_variant=name))
        if result.violation is None:
            pytest.skip("the design breaks a property by never reaching something, so there is no run to replay")
        assert passes([result]) == 1


def printed() -> str:
    """The test that the command prints; here other tests may have imported the model by its name."""
    spec = "specs/alter_isr/core.toml"
    return in_a_project(ROOT, spec, "--only-variant", "AssumesProposedIsr", run=installed).out


@pytest.mark.slow
def test_an_emitted_test_is_readable_python() -> None:
    assert printed() == '''\
from floodmark import Set
from floodmark.replay import load_file, running

core_file = load_file("invariants/alter_isr/core.py", __file__)
isr_holds_committed = core_file.isr_holds_committed

core_file_2 = load_file("model/alter_isr/core.py", __file__)
Broker = core_file_2.Broker

flawed_file = load_file("specs/alter_isr/flawed.py", __file__)
AssumesProposedIsr = flawed_file.AssumesProposedIsr


def test_assumes_proposed_isr_breaks_isr_holds_committed() -> None:
    """AssumesProposedIsr breaks isr_holds_committed after 4 steps (specs/alter_isr/core.toml)."""
    model = AssumesProposedIsr(
        brokers=3,
        max_offset=2,
        max_partition_epoch=2,
        max_leader_epoch=1,
        min_insync_replicas=1,
        in_flight=2,
        duplicates=False,
    )
    with running(model):
        model.reset()
        model.start()
        model.leader_appends()
        model.leader_proposes_shrink(laggards=Set([Broker(2)]))
        assert isr_holds_committed(model)
        model.leader_advances_high_watermark()
        assert not isr_holds_committed(model)
'''


def test_designs_of_the_same_name_do_not_get_in_each_others_way() -> None:
    specs = ["specs/alter_isr/core.toml", "specs/alter_isr/failover.toml@three_replicas", "specs/alter_isr/core.toml"]
    with inside(ROOT):
        settings = CheckSettings(workers=1, only_variant="AcceptsAnyPartitionEpoch")
        results = [result for spec in specs for result in check(Path(spec), settings)]
        assert len({type(result.subject) for result in results}) == 2
        assert passes(results) == 3


@pytest.mark.slow
def test_it_fails_when_the_design_is_mended() -> None:
    """The step that the rule forbids is not enabled any more."""
    source = printed().replace("AssumesProposedIsr(", "core_file_2.AlterIsr(")
    (function,) = functions(source).values()
    with pytest.raises(ActionDisabled) as error:
        function()
    assert error.traceback[-2].name == "leader_advances_high_watermark"


def test_every_value_can_be_written_down() -> None:
    values = [
        None, True, 3, Role.LEADER, Broker(2), b(1, 2), b(), Proposal(isr=b(1), version=2), Seq([1, 2]), Seq(),
        Bag([1, 1]), Map({Broker(1): Set([b(1)]), Broker(2): Set()}), Set([Proposal(isr=b(), version=1)]),
    ]  # fmt: skip
    code = PythonCode()
    texts = [code.value(value) for value in values]
    names: dict[str, Any] = {}
    for module, used in code.names.items():
        exec(f"from {module} import {', '.join(f'{name} as {alias}' for name, alias in used.items())}", names)
    with running(Cluster()):
        assert [list(it) if isinstance(it, Bag) else it for it in (eval(text, names) for text in texts)] == [
            list(it) if isinstance(it, Bag) else it for it in values
        ]


def in_a_project(root: Path, *arguments: str, run: Callable[..., Ended] = floodmark) -> Ended:
    checked = run("check", *arguments, "--json", "-", at=root)
    return run("report", "-", "--as", "test", at=root, said=checked.out)


def run_pytest(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "test_pasted.py", "-p", "no:cacheprovider"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_it_can_be_pasted_in_a_repository_of_its_own(tmp_path: Path) -> None:
    """Invariants, a property of steps, and a model error, each from files that only this repository has."""
    tank(tmp_path)
    spec = 'model = "flawed:Overflows"\ninvariants = ["below_size"]\n[constants]\nsize = 1\n'
    write(tmp_path, {"specs/overflows.toml": spec})
    printed = in_a_project(tmp_path, "specs")
    assert (printed.code, printed.err) == (0, "")
    (tmp_path / "test_pasted.py").write_text(printed.out)
    ran = run_pytest(tmp_path)
    assert "4 passed" in ran.stdout, printed.out + ran.stdout
    (tmp_path / "invariants/tank.py").write_text(
        (tmp_path / "invariants/tank.py").read_text().replace("tank.level != 2", "True")
    )
    assert "2 failed, 2 passed" in run_pytest(tmp_path).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("emitted_in", "run_in"),
    [("specs", "/"), *(pytest.param(*each, marks=pytest.mark.slow) for each in (("model", "."), (".", "specs")))],
)
def test_it_is_emitted_and_run_in_any_directory(tmp_path: Path, emitted_in: str, run_in: str) -> None:
    root = tank(tmp_path)
    spec = str(root / "specs/tank.toml")
    printed = in_a_project(root / emitted_in, spec, "--only-variant", "StopsHalf", run=installed)
    (root / "tests").mkdir()
    test = root / "tests" / "test_pasted.py"
    test.write_text(printed.out)
    assert str(root) not in printed.out.partition("def ")[0]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    ran = subprocess.run(command, cwd=root / run_in, capture_output=True, text=True, check=False)
    assert "1 passed" in ran.stdout, printed.out + ran.stdout


def test_files_of_the_same_name_in_two_repositories(tmp_path: Path) -> None:
    """Only then does the test name them as they are on this machine."""
    results = [check(tank(tmp_path / name) / "specs/tank.toml")[0] for name in ("one", "two")]
    source = emitted(results)
    assert f'load_file("{tmp_path}/one/model/tank.py", __file__)' in source
    assert passes(results) == 2


def test_a_file_that_a_test_does_not_find(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"none\.py: there is no such file, neither above the test nor"):
        load_file("none.py", tmp_path / "test_x.py")
    shipped = load_file("model/alter_isr/core.py", tmp_path / "test_x.py")
    assert Path(str(shipped.__file__)).samefile(ROOT / "model/alter_isr/core.py")


LIGHT = """
from floodmark import Model, action, eventually, refines


class Light(Model):
    on: bool = False

    @action
    def flips(self) -> None:
        self.on = not self.on

    @eventually
    def gets_bright(self) -> bool:
        return self.on


class Lamp(Model):
    on: bool = False

    @action
    def flips(self) -> None:
        self.on = not self.on

    @refines
    def as_light(self) -> Light:
        return Light(on=self.on)
"""


def test_a_property_of_a_refined_model_is_asked_of_what_that_model_sees(tmp_path: Path) -> None:
    root = write(tmp_path, {"lamp.py": LIGHT, "lamp.toml": 'model = "lamp.py:Lamp"\nrefines.liveness = true\n'})
    with inside(root):
        text = emitted(check(Path("lamp.toml")))
    assert "assert not image(model, Lamp.as_light, model.snapshot()).at().gets_bright()" in text


def test_a_deadlock_is_replayed(tmp_path: Path) -> None:
    root = tank_project(tmp_path, 'deadlock = true\ninvariants = ["below_size"]\n')
    model = (root / "model/tank.py").read_text().replace("require(self.level > 0)", "require(False)")
    (root / "model/tank.py").write_text(model)
    printed = in_a_project(root, "specs/tank.toml")
    (root / "test_pasted.py").write_text(printed.out)
    assert "assert not list(successors(model, model.snapshot()))" in printed.out
    assert "1 passed" in run_pytest(root).stdout


def test_without_a_counterexample_nothing_is_printed(tmp_path: Path) -> None:
    printed = in_a_project(tank_project(tmp_path), "specs/tank.toml")
    assert (printed.code, printed.out) == (ExitCode.AS_EXPECTED, "")
    assert "no counterexample was found" in printed.err
