"""Tests the command line: exit codes, messages and JSON."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers.project.input_limits import memory, memory_text
from floodmark.checkers.verdict.result import MEANINGS, ExitCode, worst
from tests.support.command import COMMAND, IMPORTS, REPOSITORY, Ended, floodmark, installed
from tests.support.projects import INVARIANTS, TANK, tank_project, write

FLAWED = '[[flawed]]\nclass = "flawed:Leaks"\nproperty = "gets_full"\n'
STOPS = '[[flawed]]\nclass = "flawed:StopsHalf"\nproperty = "{}"\n'


def check(root: Path, *arguments: str | Path) -> Ended:
    return floodmark("check", *arguments, "--engine", "reference", at=root)


def test_expected_verdicts_exit_with_zero(tmp_path: Path) -> None:
    root = tank_project(tmp_path, f"[expect]\ndistinct = 4\ngenerated = 7\ndepth = 4\n{FLAWED}")
    ended = installed("check", "--engine", "reference", at=root)
    assert ended.code == 0
    assert "4 states, 7 generated, depth 4" in ended.out
    assert ended.out.rstrip().endswith("2 checks, each as expected")
    assert "\x1b" not in ended.out


def test_a_violated_property_is_shown_with_its_counterexample(tmp_path: Path) -> None:
    ended = check(tank_project(tmp_path, **{"invariants/tank.py": INVARIANTS}))
    assert ended.code == 1
    assert "Tank violates never_two (invariants/tank.py:8) after 3 steps" in ended.out
    assert "reproduce: floodmark check specs/tank.toml" in ended.out


def test_an_expected_violation_is_found_and_another_depth_fails(tmp_path: Path) -> None:
    spec = '[expect]\nverdict = "violated"\nproperty = "never_two"\ndepth = {}\n'
    files = {"invariants/tank.py": INVARIANTS}
    right = check(tank_project(tmp_path / "right", spec.format(3), **files))
    assert right.code == 0
    assert "found         tank  breaks never_two in 3 steps" in right.out
    assert "1  start()" not in right.out
    assert "1  start()" in check(tmp_path / "right", "--traces").out
    wrong = check(tank_project(tmp_path / "wrong", spec.format(4), **files))
    assert wrong.code == 1
    assert "depth 3, expected 4" in wrong.out


def test_an_expected_violation_that_does_not_happen(tmp_path: Path) -> None:
    ended = check(tank_project(tmp_path, STOPS.format("below_size")))
    assert ended.code == 1
    assert "expected below_size to be violated" in ended.out
    assert "--only-variant StopsHalf" in ended.out


@pytest.mark.parametrize("figure", ["distinct = 5", "generated = 8", "depth = 3"])
def test_unexpected_figures_exit_with_one(tmp_path: Path, figure: str) -> None:
    ended = check(tank_project(tmp_path, f"[expect]\n{figure}\n"))
    assert ended.code == 1
    assert f"expected {figure[-1]}" in ended.out


QUIET = TANK + '''
    @action
    def freeze(self) -> None:
        require(self.level > self.size)

    @invariant
    def overflowing_is_told(self) -> bool:
        return implies(self.level > self.size, self.full())
'''


@pytest.mark.parametrize(
    ("keys", "code", "said"),
    [
        ("", 0, "warning  never fired: freeze"),
        ("", 0, "warning  overflowing_is_told: its premise self.level > self.size is never true"),
        ('idle = ["freeze"]\nvacuous = ["overflowing_is_told"]\n', 0, "1 check, each as expected"),
        ('idle = ["freeze", "drain"]\n', 1, "drain fires, although the spec lists it as idle"),
        ('vacuous = ["below_size"]\n', 1, "the premise of below_size is met, although the spec lists it as vacuous"),
        ('idle = ["frezee"]\n', 2, "specs/tank.toml:2: there is no action 'frezee'; did you mean 'freeze'?"),
        ('vacuous = ["overflow"]\n', 2, "specs/tank.toml:2: there is no property 'overflow'"),
    ],
)
def test_what_a_spec_lists_as_idle_or_vacuous(tmp_path: Path, keys: str, code: int, said: str) -> None:
    text = QUIET.replace("import Between,", "import Between, implies,")
    ended = floodmark("check", at=tank_project(tmp_path, keys, **{"model/tank.py": text}))
    assert ended.code == code
    assert said in ended.out
    assert ("warning" in ended.out) == ("warning" in said or code == 1)


def test_what_cannot_be_reached_is_a_failure(tmp_path: Path) -> None:
    unreachable = TANK.replace("return self.level == self.size\n\n    @action", "return self.level == 3\n\n    @action")
    unreachable = unreachable.replace("return self.level == self.size\n", "return self.level == 9\n")
    ended = check(tank_project(tmp_path, **{"model/tank.py": unreachable}))
    assert ended.code == 1
    assert "never reached: gets_full (model/tank.py:" in ended.out


def test_each_spec_that_is_named_is_proved(tmp_path: Path) -> None:
    more = {"specs/small.toml": 'model = "model.tank:Tank"\nconstants = { size = 2 }\n'}
    ended = floodmark("prove", "tank", "small", "--method", "k-induction", "--property", "below_size",
                      at=tank_project(tmp_path, **more))
    assert [line.split()[:2] for line in ended.out.splitlines() if line.startswith("holds")] == [
        ["holds", "tank"], ["holds", "small"],
    ]  # fmt: skip


def test_what_holds_and_is_not_as_expected_is_unexpected(tmp_path: Path) -> None:
    ended = check(tank_project(tmp_path, "[expect]\ndistinct = 5\n"))
    assert (ended.code, ended.out.split()[:2]) == (1, ["unexpected", "tank"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--engine", "fast"], "'fast' is not one of"),
        (["--no-such-option"], "No such option"),
        (["nowhere"], "there is no spec or folder 'nowhere' here"),
        (["tnak"], "did you mean 'tank'?"),
        (["--set", "size"], "is not NAME=VALUE"),
        (["--set", "sizes=2"], "Tank has no constant 'sizes'; did you mean 'size'?"),
        (["--max-memory", "much"], "is not an amount of memory"),
        (["--invariants", "none.py"], "none.py: cannot be read: there is no such file"),
        (["--only-variant", "Leak"], "no spec has a variant 'Leak'; did you mean 'Leaks'?"),
        (["--json", "no/such/folder.json"], "cannot be written"),
    ],
)
def test_usage_errors_exit_with_2_and_say_why(tmp_path: Path, arguments: list[str], said: str) -> None:
    ended = floodmark("check", *arguments, at=tank_project(tmp_path, FLAWED))
    assert ended.code == 2
    assert said in ended.out + ended.err


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"specs/tank.toml": "model = \n"}, "specs/tank.toml:1: this is not valid TOML"),
        ({"specs/tank.toml": 'model = "model.tank:Tnak"\n'}, "specs/tank.toml:1: Tnak is not defined"),
        ({"specs/tank.toml": 'model = "model.tank:Tank"\n[constants]\nsiez = 1\n'}, "specs/tank.toml:3: Tank has no"),
        ({"model/tank.py": TANK.replace("Constant(3)", "Constant()")}, "the constant 'size' of Tank has no value"),
        ({"model/tank.py": TANK + "x = (\n"}, "model/tank.py:40: this is not valid Python"),
        (
            {"model/tank.py": TANK.replace('Annotated[int, Between(0, "size")]', "int")},
            "model/tank.py:12: variable level: an integer needs bounds",
        ),
        ({"specs/tank.toml": 'model = "model.tank:Tank"\ninvariants = ["x"]\n'}, "specs/tank.toml:2: there is no pro"),
        ({"invariants/tank.py": "1 / 0\n"}, "invariants/tank.py:1: ZeroDivisionError"),
    ],
)
def test_errors_in_specs_and_models_exit_with_two(tmp_path: Path, files: dict[str, str], said: str) -> None:
    ended = check(tank_project(tmp_path, **files))
    assert ended.code == 2
    assert said in ended.out


def test_a_broken_spec_does_not_hide_the_others(tmp_path: Path) -> None:
    root = write(tank_project(tmp_path), {"specs/broken.toml": "model = 1\n"})
    ended = check(root)
    assert ended.code == 2
    assert "holds         tank" in ended.out
    assert "specs/broken.toml:1: model must be a string" in ended.out


def test_leaving_the_declared_types_is_a_model_error(tmp_path: Path) -> None:
    ended = check(tank_project(tmp_path), "--only-variant", "Tank")
    assert ended.code == 0
    entry = '[[flawed]]\nclass = "flawed:Overflows"\nproperty = "below_size"\n'
    ended = check(tank_project(tmp_path / "overflows", entry), "--only-variant", "Overflows")
    assert ended.code == 2
    assert "Overflows has an error after 4 steps: model/tank.py:" in ended.out
    assert "level would become 4, outside of 0..3" in ended.out
    assert "5  fill()" in ended.out


@pytest.mark.parametrize(
    "limit", [["--max-states", "1"], ["--max-seconds", "0"], ["--max-memory", "1k", "--engine", "native"]]
)
def test_a_limit_of_the_command_makes_a_check_undetermined(tmp_path: Path, limit: list[str]) -> None:
    ended = check(tank_project(tmp_path), *limit)
    assert ended.code == 3
    assert "undetermined" in ended.out
    assert "the search ended before it was complete, at the " in ended.out
    assert "holds" not in ended.out


def test_a_limit_of_the_spec_makes_a_check_undetermined(tmp_path: Path) -> None:
    assert check(tank_project(tmp_path, "[limits]\nstates = 1\n")).code == 3


def test_a_run_that_checks_nothing_is_not_green(tmp_path: Path) -> None:
    assert check(tank_project(tmp_path / "no_property", "invariants = []\n")).code == 5
    deep = check(tank_project(tmp_path / "only_deep", 'tier = "deep"\n'))
    assert deep.code == 5
    assert "there is no quick spec here" in deep.out


def test_an_internal_error_exits_with_70_and_a_traceback(tmp_path: Path) -> None:
    root = tank_project(tmp_path)
    broken = "def broken(*_): raise KeyError('lost')\nfloodmark.checkers.reference.search.search_states = broken\n"
    script = f"{IMPORTS}{broken}floodmark.checkers.command_line.cli.main()"
    command = [sys.executable, "-P", "-c", script, "check", "--engine", "reference"]
    done = subprocess.run(command, cwd=root, text=True, capture_output=True)
    assert done.returncode == 70
    assert "KeyError: 'lost'" in done.stdout
    assert "Traceback" in done.stderr


HEED = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
"""What a process does first that is to hear of an interrupt, which a shell's background jobs ignore."""


def unmeasured() -> dict[str, str]:
    """The environment of a process that is to be interrupted; measuring coverage may keep one alive for minutes."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


@pytest.mark.parametrize("arguments", [(), ("--only-variant", "Tank")])
def test_an_interrupt_ends_the_command_and_its_workers(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    root = tank_project(tmp_path, FLAWED.replace("Leaks", "StopsHalf").replace("gets_full", "below_size"))
    command = [*COMMAND, "check", "--engine", "reference", "--set", "size=10000000", *arguments]
    started = subprocess.Popen(
        command, cwd=root, env=unmeasured(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=HEED
    )
    while not Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text():
        time.sleep(0.05)  # on a machine that is busy its imports take a while
    with pytest.raises(subprocess.TimeoutExpired):
        started.wait(1)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode == ExitCode.INTERRUPTED
    ended = f"interrupted: 0 of {'1 check' if arguments else '2 checks'} ended"
    figures = r"; a search that did not end: tank Tank: [\d,]+ states, [^\n]*" if arguments else ""
    assert re.fullmatch(ended + figures, said.strip())


def test_the_cursor_is_back_after_an_interrupt(tmp_path: Path) -> None:
    """On a terminal the line in place hides the cursor; whoever interrupts wants to go on typing."""
    root = tank_project(tmp_path)
    command = [*COMMAND, "check", "--engine", "reference", "--set", "size=10000000"]
    terminal, ours = pty.openpty()
    started = subprocess.Popen(
        command, cwd=root, env={**unmeasured(), "TERM": "xterm"}, stdout=ours, stderr=ours, preexec_fn=HEED
    )
    os.close(ours)
    said = b""
    while b" states, " not in said:
        said += os.read(terminal, 1024)
    started.send_signal(signal.SIGINT)
    with suppress(OSError):  # the terminal of a process that has ended cannot be read
        while part := os.read(terminal, 1024):
            said += part
    assert started.wait(60) == ExitCode.INTERRUPTED
    assert said.rindex(b"\x1b[?25h") > said.rindex(b"\x1b[?25l")
    os.close(terminal)


def test_a_reader_that_goes_away_means_nothing(tmp_path: Path) -> None:
    root = tank_project(tmp_path)
    started = subprocess.Popen(
        [*COMMAND, "check"], cwd=root, env=unmeasured(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    started.stdout.close()
    _, said = started.communicate(timeout=60)
    assert (started.returncode, said) == (ExitCode.BROKEN_PIPE, "")


def test_the_worst_exit_code_wins() -> None:
    order = [70, 2, 1, 4, 3, 5, 0]
    for index, code in enumerate(order):
        assert worst(ExitCode(other) for other in order[index:]) == code
    assert worst([]) == ExitCode.NOTHING_CHECKED


def test_help_lists_every_exit_code(tmp_path: Path) -> None:
    ended = floodmark("--help", at=tmp_path)
    assert ended.code == 0
    for code, meaning in MEANINGS.items():
        assert f"{int(code):<3} {meaning}" in ended.out


def test_help_starts_without_what_it_does_not_need() -> None:
    needed_later = {"rich", "numpy", "llvmlite", "floodmark.checkers.run.checks"}
    script = f"import sys, floodmark.checkers.command_line.cli; print({needed_later} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, text=True, capture_output=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_check_starts_without_solver_and_cluster() -> None:
    needed_later = {"z3", "networkx", "pyspark", "pandas"}
    script = f"import sys, floodmark.checkers.commands.check; print({needed_later} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, text=True, capture_output=True, check=True)
    assert done.stdout.strip() == "set()"


def test_set_overrides_the_constants_of_a_spec(tmp_path: Path) -> None:
    root = tank_project(tmp_path, "[constants]\nsize = 2\n[expect]\ndistinct = 3\n")
    assert check(root).code == 0
    ended = check(root, "--set", "size=5")
    assert ended.code == 0
    assert "6 states" in ended.out


def test_invariants_adds_properties_to_a_check(tmp_path: Path) -> None:
    root = tank_project(tmp_path, 'invariants = ["below_size"]\n', **{"mine.py": INVARIANTS})
    ended = check(root, "--invariants", "mine.py")
    assert ended.code == 1
    assert "violates never_two (mine.py:8)" in ended.out
    assert "reproduce: floodmark check specs/tank.toml --invariants mine.py" in ended.out


def test_the_reproduce_command_has_memory_and_workers_as_they_were_written(tmp_path: Path) -> None:
    root = tank_project(tmp_path)
    ended = check(root, "--max-memory", "1536M", "--workers", "1", "--max-states", "2")
    assert "--max-states 2 --max-memory 1536M --workers 1" in ended.out
    assert [memory_text(memory(text)) for text in ("4G", "500M", "1T", "1.5G", "77")] == [
        "4G", "500M", "1T", "1536M", "77",
    ]


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_output_costs_no_verdict(tmp_path: Path, closed: int) -> None:
    words = [sys.executable, "-m", "floodmark", "check"]
    done = subprocess.run(words, cwd=tank_project(tmp_path), capture_output=True, text=True,
                          preexec_fn=lambda: os.close(closed))
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


@pytest.mark.parametrize("command", [("check",), ("prove", "tank"), ("mutate", "tank"), ("show", "tank"),
                                     ("export", "tank", "--as", "tla", "--into", "made"), ("gate", "--update-lock")])
def test_a_forgotten_action_is_an_error_in_every_command(tmp_path: Path, command: tuple[str, ...]) -> None:
    fill = TANK.index("    @action\n")
    root = tank_project(tmp_path, **{"model/tank.py": TANK[:fill] + TANK[fill:].replace("    @action\n", "", 1)})
    ended = floodmark(*command, at=root)
    assert ended.code == 2
    assert "which assigns variables; write @action above it" in ended.out + ended.err


def test_the_reproduce_command_reproduces(tmp_path: Path) -> None:
    root = tank_project(tmp_path, STOPS.format("gets_full"))
    first = check(root, "--traces", "--set", "size=4")
    found = json_results(root, "--set", "size=4")[1]
    words = found["reproduce"].split()
    assert words[:2] == ["floodmark", "check"]
    again = floodmark(*words[1:], at=root)
    assert (first.code, again.code) == (0, 0)
    assert "StopsHalf" in again.out


def test_a_deadlock_is_a_violation_only_on_request(tmp_path: Path) -> None:
    drained = TANK.replace("        require(self.level > 0)\n", "        require(self.level < 0)\n")
    root = tank_project(tmp_path, **{"model/tank.py": drained})
    assert check(root).code == 0
    ended = check(root, "--deadlock")
    assert ended.code == 1
    assert "Tank has a deadlock after 4 steps" in ended.out
    wanted = '[expect]\nverdict = "violated"\nproperty = "deadlock"\n'
    assert check(tank_project(tmp_path / "expected", wanted, **{"model/tank.py": drained})).code == 0


def test_several_checks_in_parallel_are_told_in_order(tmp_path: Path) -> None:
    root = tank_project(tmp_path, FLAWED + STOPS.format("gets_full"))
    for name in ("another", "zebra"):
        write(root, {f"specs/{name}.toml": (root / "specs/tank.toml").read_text(encoding="utf-8")})
    serial = json_results(root, "--workers", "1")
    parallel = json_results(root, "--workers", "2")
    differing = {"seconds", "compile_seconds", "memory", "workers", "reproduce"}
    assert len(serial) == len(parallel) == 9
    for one, other in zip(serial, parallel, strict=True):
        for key in one.keys() - differing:
            assert one[key] == other[key], key
    assert [one["spec"] for one in parallel[::3]] == ["specs/another.toml", "specs/tank.toml", "specs/zebra.toml"]


def json_results(root: Path, *arguments: str) -> list[dict[str, Any]]:
    check(root, "--json", "out.json", *arguments)
    results: list[dict[str, Any]] = json.loads((root / "out.json").read_text(encoding="utf-8"))["results"]
    return results


def test_json_has_the_verdicts_and_the_traces(tmp_path: Path) -> None:
    root = tank_project(tmp_path, FLAWED, **{"invariants/tank.py": INVARIANTS})
    tank, leaks = json_results(root)
    assert {key: tank[key] for key in ("spec", "model", "variant", "constants", "engine", "verdict", "expected")} == {
        "spec": "specs/tank.toml",
        "model": "model.tank:Tank",
        "variant": None,
        "constants": {"size": 3},
        "engine": "reference",
        "verdict": "violated",
        "expected": False,
    }
    assert tank["property"] == "never_two"
    assert tank["trace"] == [
        {"action": "start", "arguments": {}, "state": {"level": 0}},
        {"action": "fill", "arguments": {}, "state": {"level": 1}},
        {"action": "fill", "arguments": {}, "state": {"level": 2}},
    ]
    assert tank["actions"] == {"fill": 2, "drain": 1}
    assert tank["levels"] == [1, 1, 1]
    assert (leaks["variant"], leaks["verdict"], leaks["expected"]) == ("Leaks", "violated", True)
    assert (leaks["property"], leaks["distinct"], leaks["trace"]) == ("gets_full", 1, [])
    wanted = {"digest", "generated", "depth", "seconds", "compile_seconds", "cut", "vacuous", "values_seen", "memory"}
    wanted |= {"workers", "state_bits", "tier", "message", "reproduce"}
    assert wanted <= set(tank)


def test_list_and_show_print_specs_and_models(tmp_path: Path) -> None:
    root = tank_project(tmp_path, f'title = "A tank"\n{FLAWED}')
    listed = floodmark("list", at=root)
    assert listed.code == 0
    assert "tank  model.tank:Tank  quick  A tank" in listed.out
    assert "Leaks  breaks gets_full" in listed.out
    shown = floodmark("show", "tank", "--set", "size=9", at=root)
    assert shown.code == 0
    for text in ("variables (4 bits)", "level  0..9  4 bits", "fill()", "full()", "below_size (invariant)"):
        assert text in shown.out
    assert floodmark("show", "nothing", at=root).code == 2


def test_a_model_without_a_spec_is_checked_with_its_defaults(tmp_path: Path) -> None:
    root = tank_project(tmp_path)
    ran = check(root, "model/tank.py")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "1 check, each as expected")
    assert "holds         tank  4 states" in ran.out
    (root / "model/tank.py").write_text(TANK + "\n\nclass Other(Tank):\n    pass\n")
    assert 'has the models Tank, Other; write a spec that names one: model = "tank.py:Class"' in check(
        root, "model/tank.py"
    ).out
    (root / "model/tank.py").write_text("x = 1\n")
    assert "has no model with an action" in check(root, "model/tank.py").out


def test_a_list_of_no_specs_says_so(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    assert "There is no spec in specs; floodmark init writes a small project." in floodmark("list", at=tmp_path).out


def test_our_own_specs_from_our_own_folder() -> None:
    ended = check(REPOSITORY, "specs/examples/two_phase_commit.toml")
    assert ended.code == 0
    assert "288 states, 1,146 generated, depth 11" in ended.out


def test_specs_that_come_with_floodmark_where_there_is_no_project(tmp_path: Path) -> None:
    listed = floodmark("list", at=tmp_path)
    assert listed.code == 0
    for name in ("examples/two_phase_commit  ", "alter_isr/core  model.alter_isr.core:AlterIsr  quick"):
        assert name in listed.out
    assert listed.out.startswith("There is no folder specs here. These come with Floodmark; ")
    ended = floodmark("check", "examples/two_phase_commit", at=tmp_path)
    assert (ended.code, "288 states" in ended.out) == (0, True)
    nothing = floodmark("check", at=tmp_path)
    assert nothing.code == 2
    assert "floodmark list shows those that come with Floodmark, floodmark init begins a project" in nothing.err


def test_specs_of_the_project_precede_shipped_ones(tmp_path: Path) -> None:
    text = 'title = "mine"\nmodel = "model.tank:Tank"\n'
    root = tank_project(tmp_path, **{"specs/examples/two_phase_commit.toml": text})
    assert "mine" in floodmark("list", "examples/two_phase_commit", at=root).out
    assert "two_phase_commit" not in floodmark("list", "tank", at=root).out
    assert "There is no folder" not in floodmark("list", at=root).out
