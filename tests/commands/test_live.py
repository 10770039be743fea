"""Tests what a person sees while something runs, and what a terminal shows in colour."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from floodmark.checkers.engine import RunCheck
from floodmark.checkers.gate import schedule as gate_progress
from floodmark.checkers.gate import text
from floodmark.checkers.gate.job import CheckJob
from floodmark.checkers.gate.schedule import GateProgress
from floodmark.checkers.gate.scope import states_expected
from floodmark.checkers.project.spec import ExpectedVerdict, Spec, read
from floodmark.checkers.report import colour, progress_file
from floodmark.checkers.report import progress as search_progress
from floodmark.checkers.report.progress import describe, time_left
from floodmark.checkers.report.progress_file import ProgressFile
from floodmark.checkers.run.checks import run as run_checks
from floodmark.checkers.saved.results_file import read as read_results
from floodmark.checkers.search_result import ClusterProgress, DiskUse, Limits, Progress
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.checkers.verdict.gate_outcome import GateOutcome
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.language.errors import SourceError
from tests.support.command import found_in
from tests.support.gates import locked, repository
from tests.support.json_schemas import require_schema
from tests.support.projects import write

CORE = Check(Spec(Path("specs/alter_isr/core.toml"), "model.alter_isr.core:AlterIsr"), None, CheckSettings())
HALF = Progress(17, 92_105, 600_000, 8_120_551, 60.0, 212_000_000)


def test_a_share_and_the_time_left_where_the_total_is_known() -> None:
    said = describe(CORE, HALF, 1_200_000)
    assert said.startswith(f"{CORE.spec.name} AlterIsr: 50 %, 60 s left, 600,000 states, 10.0 k/s, level 17")
    assert len(said.partition(", level")[0]) < 80
    assert " left" not in describe(CORE, HALF)
    assert "%" not in describe(CORE, HALF, 500_000), "it found more than that already"


CLUSTER = ClusterProgress(
    32, 13, 2, 64, 1.26, 1.4, {"a:/d1": DiskUse(3 * 10**9, 5 * 10**9), "b:/d1": DiskUse(10**9, 4 * 10**9)}
)


def test_a_search_in_a_cluster_shows_its_tasks_partitions_and_disks() -> None:
    said = describe(CORE, replace(HALF, cluster=CLUSTER))
    assert (
        "level 17 of 92,105, 13 of 32 tasks, 2 failed, largest of 64 at 1.3 of the mean, slowest at 1.4, "
        "4.0 GB on 2 disks, of which b:/d1 has 4.0 GB free, 212.0 MB, " in said
    )
    assert "disk" not in describe(CORE, replace(HALF, cluster=ClusterProgress(partitions=2)))


def test_what_was_found_before_a_checkpoint_took_none_of_this_time() -> None:
    said = describe(CORE, replace(HALF, resumed=540_000), 720_000)
    assert said.startswith(f"{CORE.spec.name} AlterIsr: 83 %, 2 min left, 600,000 states, 1.0 k/s")


def test_the_json_file_has_the_progress_until_the_results_replace_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.json"
    file = ProgressFile(path, 3, lambda check: 1_200_000)
    file.done = 1
    file.show(CORE, replace(HALF, cluster=CLUSTER))
    first = path.read_text()
    require_schema(first)
    found = json.loads(first)
    assert (found["schema"], found["done"], found["checks"]) == ("floodmark.progress/1", 1, 3)
    search = found["search"]
    assert (search["variant"], search["level"], search["states"], search["seconds_left"]) == (
        "AlterIsr", 17, 1_200_000, 60.0
    )  # fmt: skip
    assert search["cluster"]["disks"]["b:/d1"] == {"used": 10**9, "free": 4 * 10**9}
    with pytest.raises(SourceError, match=r"has floodmark\.progress/1"):
        read_results(path)
    file.show(CORE, HALF)
    assert path.read_text() == first, "it is not written for each state"
    monkeypatch.setattr(progress_file, "EVERY", 0.0)
    file.show(CORE, HALF)
    assert json.loads(path.read_text())["search"]["cluster"] is None
    ProgressFile(Path("-"), 1, lambda check: None).show(CORE, HALF)
    ProgressFile(Path("/dev/null"), 1, lambda check: None).show(CORE, HALF)
    assert not Path("-").exists()
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("seconds", "done", "total", "said"),
    [(1.0, 50, 100, ""), (10.0, 1, 100, ""), (10.0, 50, 100, "10 s"), (89.0, 50, 100, "89 s"),
     (600.0, 50, 100, "10 min"), (7200.0, 50, 100, "2.0 h"),
     (10.0, 0, 100, ""), (10.0, 101, 100, ""), (10.0, 5, 0, "")],
)  # fmt: skip
def test_the_time_left_is_extrapolated(seconds: float, done: float, total: float, said: str) -> None:
    assert time_left(seconds, done, total) == said


def test_the_total_is_that_of_the_spec_or_of_the_lock(tmp_path: Path) -> None:
    root = repository(tmp_path, files={"specs/small.toml": 'model = "model.tank:Tank"\n[expect]\ndistinct = 4\n'})
    check = Check(read(root / "specs/tank.toml"), None, CheckSettings())
    assert states_expected(check) is None
    assert states_expected(Check(read(root / "specs/small.toml"), None, CheckSettings())) == 4
    other = repository(tmp_path / "locked")
    locked(other)
    check = Check(read(other / "specs/tank.toml"), None, CheckSettings())
    assert states_expected(check) == 4
    assert states_expected(Check(check.spec, None, CheckSettings(constants={"size": 9}))) is None
    assert states_expected(Check(check.spec, None, CheckSettings(symmetry=True))) is None
    assert states_expected(Check(check.spec, check.spec.flawed[0], CheckSettings())) is None


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time that a gate's progress sees."""
    now = SimpleNamespace(value=0.0)
    for module in (gate_progress, search_progress):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now.value))
    return now


def test_a_gate_says_now_and_then_how_far_it_is(
    clock: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = Spec(Path("specs/a.toml"), "model.a:A", expect=ExpectedVerdict(distinct=1_200_000))
    jobs = [CheckJob("a", None, Check(spec, None, CheckSettings()), total=1_200_000) for _ in range(4)]
    shown = GateProgress()
    shown.begin(jobs, [])
    for seconds in range(1, 10):
        clock.value = float(seconds)
        shown.tell()
    assert capsys.readouterr().err == ""
    clock.value = 10.0
    shown.tell()
    shown.ended(jobs[0])
    clock.value = 30.0
    shown.progressed(jobs[1], HALF)
    assert capsys.readouterr().err.splitlines() == [
        "0 of 4 done",
        f"1 of 4 done, 2 min left; {spec.name} A: 50 %, 60 s left, 600,000 states, 10.0 k/s, level 17 of 92,105, "
        "212.0 MB, 8,120,551 generated",
    ]
    shown.progressed(jobs[1], Progress(0, 0, 0, 0, 0.0, 0, note="starts Spark"))
    assert capsys.readouterr().err.endswith("a A: starts Spark\n")


@pytest.mark.slow
def test_a_gate_without_a_terminal_is_not_silent(tmp_path: Path) -> None:
    """A search of some seconds, with a line after each tenth of one."""
    model = """
        from typing import Annotated

        from floodmark import Between, Model, action, invariant, require


        class Slow(Model):
            a: Annotated[int, Between(0, 300)] = 0
            b: Annotated[int, Between(0, 300)] = 0

            @action
            def first(self) -> None:
                require(self.a < 300)
                self.a += 1

            @action
            def second(self) -> None:
                require(self.b < 300)
                self.b += 1

            @invariant
            def small(self) -> bool:
                return self.a + self.b < 601
    """
    root = write(tmp_path, {"model/slow.py": model, "specs/slow.toml": 'model = "model.slow:Slow"\n'})
    script = (
        "from pathlib import Path\n"
        "from floodmark.checkers.report import progress\n"
        "progress.PLAIN_EVERY = 0.1\n"
        "from floodmark.checkers.verdict.check import CheckSettings\n"
        "from floodmark.checkers.commands.gate import GateRequest, gate\n"
        "from floodmark.checkers.report.outputs import Reports\n"
        "from floodmark.checkers.search_result import Limits\n"
        "settings = CheckSettings(engine='reference', limits=Limits(seconds=4))\n"
        "asked = GateRequest(Path('specs'), 'quick', False, False, settings)\n"
        "print(int(gate(asked, Reports(), print)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False,
        env=found_in(),
    )
    assert re.search(r"^0 of 1 done", done.stderr, re.MULTILINE), done.stderr + done.stdout
    assert re.search(r"^0 of 1 done.*; slow Slow: [\d,]+ states, ", done.stderr, re.MULTILINE), done.stderr


def test_the_table_fits_a_terminal() -> None:
    results = [CheckResult("s", f"{'long_' * 20}{number}", "m:M", None, "quick", exit_code=ExitCode.AS_EXPECTED)
               for number in range(3)]  # fmt: skip
    proofs = [ProofResult(f"a/spec induction {'property_' * 15}", "induction", "holds", ExitCode.AS_EXPECTED, "", 1.0)]
    lines = [
        click.unstyle(line) for line in text.table(GateOutcome(results, proofs, [], "quick", 1.0, "", Path("lock")))
    ]
    assert max(map(len, lines)) == text.WIDTH
    assert all("..." in line for line in lines[1:])


# Colour.


@pytest.mark.parametrize(
    ("environment", "said"),
    [({}, None), ({"NO_COLOR": "1"}, False), ({"FORCE_COLOR": "1"}, True), ({"NO_COLOR": "", "FORCE_COLOR": ""}, None),
     ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False), ({"FORCE_COLOR": "0"}, False)],
)  # fmt: skip
def test_environment_variables_decide_about_colour(environment: dict[str, str], said: bool | None) -> None:
    assert colour.colour_setting(environment) is said


def command(root: Path, **more: str) -> str:
    names = {name: value for name, value in found_in().items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    words = [sys.executable, "-P", "-m", "floodmark", "check", "specs/tank.toml", "--traces", "--engine", "reference"]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False, env={**names, **more})
    return done.stdout


@pytest.mark.slow
def test_colour_without_a_terminal_only_when_asked_for(tmp_path: Path) -> None:
    root = repository(tmp_path, (("!= 4", "!= 2"),))
    plain, coloured = command(root), command(root, FORCE_COLOR="1")
    assert "\033" not in plain
    assert "\033" not in command(root, FORCE_COLOR="1", NO_COLOR="1")
    times = re.compile(r"[\d.]+ m?s\b")
    assert times.sub("", click.unstyle(coloured)) == times.sub("", plain)
    assert f"2  {click.style('fill', fg='cyan', bold=True)}()" in coloured
    assert f"level: 0 -> {click.style('1', fg='yellow')}" in coloured
    assert f"  {click.style('false', fg='red')}: " in coloured


@pytest.mark.parametrize(
    ("line", "part", "style"),
    [
        ("12  leader_fails(successor=b2)", "leader_fails", {"fg": "cyan", "bold": True}),
        ("     requests: + AlterIsrRequest(isr={b1})", "+ AlterIsrRequest(isr={b1})", {"fg": "green"}),
        ("     requests: - AlterIsrRequest(isr={b1})", "- AlterIsrRequest(isr={b1})", {"fg": "red"}),
        ("     log[b1]: 0 -> 1", "1", {"fg": "yellow"}),
        ("why p is false:", "why p is false:", {"bold": True}),
    ],
)
def test_each_part_of_a_counterexample_has_its_colour(line: str, part: str, style: dict[str, object]) -> None:
    before, _, after = line.rpartition(part)
    assert colour.coloured_lines([line]) == [f"{before}{click.style(part, **style)}{after}"]  # type: ignore[arg-type]


@pytest.mark.parametrize("line", ["     leader: b1", "reproduce: floodmark check a.toml", "  p: A sentence.", "",
                                  click.style("already", bold=True)])  # fmt: skip
def test_what_has_no_colour_of_its_own(line: str) -> None:
    assert colour.coloured_lines([line]) == [line]


# Spark.


def test_a_deep_run_says_that_it_starts_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from floodmark.checkers.spark import check_run

    said: list[str] = []
    root = repository(tmp_path)
    check = Check(read(root / "specs/tank.toml"), None, CheckSettings(engine="spark", master="local[2]"))

    def started(*_: object) -> SimpleNamespace:
        assert said == ["starts Spark at local[2], which takes a while"], "it is said before, not afterwards"
        return SimpleNamespace()

    def searched(check: Check, watch: object) -> CheckResult:
        return CheckResult("s", "s", "m", None, "deep")

    monkeypatch.setattr(check_run, "session", started)
    monkeypatch.setattr(check_run, "_may_be_a_task", lambda check, every: False)
    run_one: RunCheck = searched
    results = list(run_checks([check], lambda check, at: said.append(describe(check, at).partition(": ")[2]), run_one))
    assert len(results) == 1
    assert Limits() == check.settings.limits
