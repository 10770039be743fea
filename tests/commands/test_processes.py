"""Tests that a job that dies or hangs is reported and affects no other: a check, a gate's, a mutant, a trace."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers import processes
from floodmark.checkers.conformance import behaviour, traces
from floodmark.checkers.mutation import run as mutation
from floodmark.checkers.mutation.mutant import mutants
from floodmark.checkers.mutation.trial import Trial, TrialBudget, stages
from floodmark.checkers.processes import LostJob, OverdueJob, in_order, results, run_each, tell
from floodmark.checkers.project.spec import read
from floodmark.checkers.run import checks as run
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import Check, CheckSettings, EngineName, checks, variant_name
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from tests.commands.test_cli import FLAWED, STOPS
from tests.support import gates
from tests.support.command import COMMAND, IMPORTS
from tests.support.projects import tank_project

THREE = FLAWED + STOPS.format("gets_full")
HEED = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
"""What a shell's background jobs ignore."""
UNMEASURED = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
"""An interrupted process that measures its coverage may take minutes to write it."""


def square(number: int) -> int:
    return number * number


def die(how: int, number: int) -> int:
    """Ends its process for the job 2: by a signal, or with an exit code where that is not positive."""
    if number == 2:
        if how > 0:
            faulthandler.disable()  # it would print where
            os.kill(os.getpid(), how)
        os._exit(-how)
    return square(number)


@pytest.mark.parametrize("count", [1, 3, 20])
def test_every_job_is_done_once(count: int) -> None:
    found = dict(run_each(square, range(10), count))
    assert found == {position: position * position for position in range(10)}
    assert list(in_order(run_each(square, range(10), count))) == [square(number) for number in range(10)]
    assert list(run_each(square, [], count)) == []


def test_jobs_begin_in_their_order_and_are_told_as_they_end() -> None:
    def sleeps(seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    assert [position for position, _ in run_each(sleeps, [1.0, 0.0, 0.05], 2)] == [1, 2, 0]


def test_a_process_goes_on_with_jobs_that_are_kin_to_its_last_one() -> None:
    jobs = ["model a", "model b", "design a", "design b", "another a", "alone"]
    done = [position for position, _ in run_each(str.upper, jobs, 1, kin=lambda job: job[-1])]
    assert done == [0, 2, 4, 1, 3, 5]
    assert [position for position, _ in run_each(str.upper, jobs, 1)] == list(range(6))


def process_of(_: str) -> int:
    return os.getpid()


def test_no_process_has_a_job_before_or_after_one_that_is_alone() -> None:
    jobs = ["check", "check", "claim", "check", "claim", "claim"]
    found = dict(run_each(process_of, jobs, 1, alone=lambda job: job == "claim"))
    assert found[0] == found[1]
    assert len(set(found.values())) == 5


@pytest.mark.slow
def test_a_job_that_is_alone_has_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = ["check", "check", "claim", "claim", "check", "check", "claim"]
    for count in (1, 2):
        found = dict(run_each(process_of, jobs, count, alone=lambda job: job == "claim"))
        claims = [found[position] for position, job in enumerate(jobs) if job == "claim"]
        checks = {found[position] for position, job in enumerate(jobs) if job == "check"}
        assert len(set(claims)) == 3
        assert not checks & set(claims)
    found = dict(run_each(process_of, jobs, 1, alone=lambda job: job == "claim"))
    assert found[0] == found[1] and found[4] == found[5]
    monkeypatch.setattr(processes, "FORKS", False)  # a new process would have to load everything first
    assert len(set(dict(run_each(process_of, jobs, 1, alone=lambda job: job == "claim")).values())) == 1


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (signal.SIGKILL, "its process was killed by SIGKILL, perhaps for lack of memory"),
        (signal.SIGSEGV, "its process was killed by SIGSEGV"),
        (signal.SIGFPE, "its process was killed by SIGFPE"),
        (-3, "its process exited with code 3"),
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_only_the_job_whose_process_dies_is_lost(how: int, said: str, count: int) -> None:
    found = dict(run_each(partial(die, how), range(6), count))
    lost = found.pop(2)
    assert (type(lost), str(lost)) == (LostJob, said)
    assert found == {number: square(number) for number in (0, 1, 3, 4, 5)}


def test_every_job_is_reported_lost_when_all_processes_die() -> None:
    found = dict(run_each(partial(die, signal.SIGKILL), [2] * 5, 2))
    assert sorted(found) == [0, 1, 2, 3, 4]
    assert {type(lost) for lost in found.values()} == {LostJob}


def test_each_job_has_the_limit_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one takes longer than the limit of the others, and the last one longer than its own."""
    monkeypatch.setattr(processes, "GRACE", 0.2)

    def sleeps(seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    limits = {0.6: None, 0.0: 0.1, 30.0: 0.1}
    first, second, third = [found for _, found in sorted(run_each(sleeps, [*limits], 1, limit=limits.get))]
    assert (first, second, type(third)) == (0.6, 0.0, OverdueJob)


class PeculiarError(Exception):
    """Cannot be made of its arguments, as unpickling would."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


def test_what_a_job_raises_is_its_result() -> None:
    def fails(number: int) -> int:
        raise ValueError("no root") if number == 1 else PeculiarError(1, number)

    found = dict(run_each(fails, [1, 2], 1))
    assert isinstance(found[0], ValueError)
    assert "in fails" in "".join(found[0].__notes__)
    assert str(found[1]) == "PeculiarError: 1 and 2"
    with pytest.raises(ValueError, match="no root"):
        results(fails, [1], 2)
    with pytest.raises(RuntimeError, match="2: its process was killed by SIGKILL"):
        results(partial(die, signal.SIGKILL), [1, 2], 2)
    assert results(square, [3, 4], 2) == [9, 16]


def test_a_result_that_cannot_be_pickled_is_an_error() -> None:
    (found,) = (content for _, content in run_each(lambda _: lambda: None, [0], 1))
    assert isinstance(found, Exception)


def hang(number: int) -> int:
    while number == 0:
        time.sleep(0.01)
    return number


def test_a_job_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.3)
    found = dict(run_each(hang, range(4), 2, lambda number: 0.1 if number == 0 else None))
    assert isinstance(found.pop(0), OverdueJob)
    assert found == {1: 1, 2: 2, 3: 3}


def test_what_a_job_tells_is_heard_before_its_result() -> None:
    def tells(number: int) -> int:
        tell(f"half of {number}")
        return number

    heard: list[tuple[int, str]] = []
    assert dict(run_each(tells, [4], 1, on_report=lambda *it: heard.append(it))) == {0: 4}
    assert heard == [(0, "half of 4")]
    assert dict(run_each(tells, [4], 1)) == {0: 4}


def test_progress_is_that_of_the_check_that_makes_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    every = checks(read(tank_project(tmp_path, THREE) / "specs/tank.toml"), CheckSettings())
    seen: list[tuple[Check, object]] = []

    def run_each(*given: Any, **more: Any) -> Any:
        heard = given[4]
        for position in range(len(every)):
            heard(position, f"progress of {position}")
        return iter([])

    monkeypatch.setattr(processes, "run_each", run_each)
    watch: Any = lambda check, progress: seen.append((check, progress))  # noqa: E731
    with pytest.raises(ValueError, match="shorter"):
        list(run._run_parallel(every, every, run._run_and_tell, 1, watch))
    assert len(every) == 3
    assert seen == [(check, f"progress of {position}") for position, check in enumerate(every)]


def own_id(number: int) -> int:
    tell(os.getpid())
    return hang(number)


def is_gone(process: int) -> bool:
    """Whether a process that is no child of this one ends within some seconds."""
    for _ in range(200):
        try:
            os.kill(process, 0)
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_nothing_runs_on_when_nobody_waits_any_more() -> None:
    heard: list[int] = []
    found = run_each(own_id, [0, 1], 2, on_report=lambda _, process: heard.append(process))
    assert next(found) == (1, 1)
    found.close()  # type: ignore[attr-defined]
    assert all(is_gone(process) for process in heard)


def test_what_is_ended_clears_up_where_python_runs(tmp_path: Path) -> None:
    def leaves(number: int) -> None:
        place = tmp_path / str(number)
        try:
            place.touch()
            hang(number)
        finally:
            place.unlink()

    found = run_each(leaves, [0, 1], 2)
    assert next(found) == (1, None)
    while not (tmp_path / "0").exists():
        time.sleep(0.01)
    found.close()  # type: ignore[attr-defined]
    assert list(tmp_path.iterdir()) == []


def test_a_second_signal_does_not_end_the_clearing_up(tmp_path: Path) -> None:
    def leaves(number: int) -> None:
        tell(os.getpid())
        try:
            hang(number)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            (tmp_path / "cleared up").touch()

    found = run_each(leaves, [0, 1], 2, on_report=lambda _, process: os.kill(process, signal.SIGTERM))
    assert isinstance(dict(found)[0], LostJob)
    assert (tmp_path / "cleared up").exists()


def test_an_end_that_python_drops_within_a_finaliser_is_tried_again(tmp_path: Path) -> None:
    class Finalised:
        def __del__(self) -> None:
            tell(os.getpid())
            time.sleep(60)  # SystemExit is raised here, and dropped

    def drops(number: int) -> None:
        Finalised()
        while True:
            (tmp_path / "goes on").touch()

    [(_, lost)] = run_each(drops, [0], 1, on_report=lambda _, process: os.kill(process, signal.SIGTERM))
    assert isinstance(lost, LostJob)
    assert "exited with code 1" in str(lost)
    assert (tmp_path / "goes on").exists()


def test_workers_end_with_whoever_started_them() -> None:
    script = (
        "from tests.commands.test_processes import own_id\nfrom floodmark.checkers.processes import run_each\n"
        "for _ in run_each(own_id, [0], 1, on_report=lambda _, process: print(process, flush=True)): pass\n"
    )
    started = subprocess.Popen([sys.executable, "-c", script], env=UNMEASURED, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    process = int(started.stdout.readline())
    started.kill()
    started.wait()
    started.stdout.close()
    assert is_gone(process)


# What asks for jobs.


def killing(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which ends its process when it is asked for the variant of this name."""

    def kills(check: Check, *more: Any) -> Any:
        if variant_name(check) == name:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(check, *more)

    return kills


def summary(result: CheckResult) -> tuple[str, str | None, ExitCode]:
    return result.verdict, result.variant, result.exit_code


@pytest.mark.parametrize("workers", [1, 2])
def test_a_check_whose_process_dies_is_told_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    spec = read(tank_project(tmp_path, THREE) / "specs/tank.toml")
    every = checks(spec, CheckSettings(workers=workers))
    usual = [summary(result) for _, result in run.run(every)]
    monkeypatch.setattr(run, "_search", killing("Leaks", run._search))
    found = [result for _, result in run.run(every)]
    usual[1] = ("error", "Leaks", ExitCode.INTERNAL_ERROR)
    assert [summary(result) for result in found] == usual
    assert found[1].message == "its process was killed by SIGKILL, perhaps for lack of memory"
    assert found[1].spec.endswith("specs/tank.toml")
    assert "--only-variant Leaks" in found[1].reproduce


def test_the_command_says_which_check_died(tmp_path: Path) -> None:
    root = tank_project(tmp_path, THREE)
    kill = (
        "import os, floodmark.checkers.run.checks as run\nsearch = run._search\n"
        "run._search = lambda check, *more: os.kill(os.getpid(), 9) if check.flawed else search(check, *more)\n"
    )
    script = f"{IMPORTS}{kill}floodmark.checkers.command_line.cli.main()"
    command = [sys.executable, "-P", "-c", script, "check", "--workers", "2"]
    done = subprocess.run(command, cwd=root, text=True, capture_output=True)
    assert done.returncode == 70
    said = done.stdout.splitlines()
    assert said[0].split()[:2] == ["holds", "tank"]
    assert said[1].split()[:2] == ["internal", "Leaks"]
    assert "its process was killed by SIGKILL, perhaps for lack of memory" in said[1]
    assert said[-1] == "3 checks: 2 with an internal error (exit 70: internal error in floodmark)"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_gate_goes_on_without_a_job_whose_process_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    root = gates.repository(tmp_path)
    gates.locked(root)
    monkeypatch.setattr(run, "_search", killing("StopsHalf", run._search))
    ended = gates.run(root, workers=workers)
    assert ended.code == ExitCode.INTERNAL_ERROR
    assert "its process was killed by SIGKILL" in ended.text
    assert ended.drift() == []


def test_a_mutant_whose_process_dies_is_undetermined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = read(tank_project(tmp_path) / "specs/tank.toml")
    every = mutants(spec.model_class())[:4]
    usual = list(mutation.run(every, stages(spec, TrialBudget()), TrialBudget(), workers=2))
    tries = mutation._try

    def kills(task: mutation.MutantTask) -> Trial:
        if task.change == every[1].change:
            os.kill(os.getpid(), signal.SIGUSR1)
        return tries(task)

    monkeypatch.setattr(mutation, "_try", kills)
    found = list(mutation.run(every, stages(spec, TrialBudget()), TrialBudget(), workers=2))
    lost = found.pop(1)
    del usual[1]
    assert found == usual
    assert (lost.fate, lost.by, lost.line) == ("undetermined", "its process was killed by SIGUSR1", every[1].line)


def test_a_trace_whose_process_dies_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = read(tank_project(tmp_path) / "specs/tank.toml")
    work = traces.TraceComparison(Check(spec, None, CheckSettings()))
    texts = [(f"{number}.jsonl", '{"action": "fill"}\n' * number) for number in range(1, 7)]
    judge = behaviour.judge

    def kills(model: Any, trace: Any, *more: Any) -> Any:
        if trace.file == "3.jsonl":
            os.kill(os.getpid(), signal.SIGKILL)
        return judge(model, trace, *more)

    usual = [outcome.verdict for outcome in traces.judge_all(work, texts, 1)]
    assert usual == ["accepted"] * 3 + ["rejected"] * 3
    monkeypatch.setattr(traces, "judge", kills)
    found = list(traces.judge_all(work, texts, 2))
    assert [outcome.verdict for outcome in found] == ["accepted"] * 2 + ["lost"] + ["rejected"] * 3
    assert (found[2].file, found[2].message[:11]) == ("3.jsonl", "its process")


# Long steps.

LONG = '''
from typing import Annotated

from floodmark import Between, Model, action, invariant


class Long(Model):
    """One step is a loop that nobody waits for."""

    turns: Annotated[int, Between(0, 1_099_511_627_776)] = 1_099_511_627_776
    rest: Annotated[int, Between(0, 6)] = 0

    @action
    def turn(self) -> None:
        rest = 0
        for number in range(self.turns):
            rest = (rest * 3 + number) % 7
        self.rest = rest

    @invariant
    def small(self) -> bool:
        return self.rest < 7
'''


def long_project(root: Path) -> Path:
    root.mkdir(exist_ok=True)
    (root / "long.py").write_text(LONG)
    (root / "long.toml").write_text('model = "long.py:Long"\n')
    return root


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_step_that_outlasts_the_limit_is_undetermined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: EngineName
) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.5)
    monkeypatch.setattr(processes, "_SOON", 0.5)
    spec = read(long_project(tmp_path) / "long.toml")
    limits = Limits(seconds=0.1)
    ((_, found),) = run.run(checks(spec, CheckSettings(engine=engine, limits=limits, workers=1)))
    assert summary(found) == ("undetermined", None, ExitCode.UNDETERMINED)
    assert found.message == "the search was still in a single step long after its limit of 0.1 seconds"


def test_a_long_step_does_not_hold_up_other_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE", 1.0)
    monkeypatch.setattr(processes, "_SOON", 0.5)
    small = checks(read(tank_project(tmp_path / "tank", THREE) / "specs/tank.toml"), CheckSettings(workers=2))
    (long,) = checks(read(long_project(tmp_path / "long") / "long.toml"), CheckSettings(workers=2))
    limited = replace(long, settings=replace(long.settings, limits=Limits(seconds=0.1)))
    found = [result for _, result in run.run([limited, *small])]
    assert [result.verdict for result in found] == ["undetermined", "holds", "violated", "violated"]


@pytest.mark.slow
def test_an_interrupt_ends_a_step_in_machine_code(tmp_path: Path) -> None:
    started = subprocess.Popen(
        [*COMMAND, "check", "long.toml", "--engine", "native"], cwd=long_project(tmp_path), env=UNMEASURED, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=HEED,
    )
    while not Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text():
        time.sleep(0.05)  # until the check has a process of its own
    with pytest.raises(subprocess.TimeoutExpired):
        started.wait(2)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert (started.returncode, said.strip()) == (130, "interrupted: 0 of 1 check ended")
