"""Tests the options that mean the same for every command, and the command that reproduces a result."""

from __future__ import annotations

import errno
import shlex
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click
import pytest

from floodmark.checkers.command_line.check import _settings
from floodmark.checkers.command_line.check import check as check_options
from floodmark.checkers.command_line.cli import _of_other_error, command
from floodmark.checkers.command_line.engine import ENGINES, _Setting
from floodmark.checkers.command_line.parameters import Assignment
from floodmark.checkers.commands import gate as gate_command
from floodmark.checkers.commands.gate import GateRequest
from floodmark.checkers.project.spec import read
from floodmark.checkers.run.engines import engine_of
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.checkers.verdict.result import ExitCode
from tests.support.hostile import Run, put, runs
from tests.support.projects import INVARIANTS, TANK, tank_project

__all__ = ["runs"]

FLAWED = """
[[flawed]]
class = "flawed:Leaks"
property = "gets_full"

[[flawed]]
class = "flawed:StopsHalf"
property = "never_two"
"""
GIVEN = CheckSettings(
    engine="spark",
    constants={"size": 4, "on": True},
    invariant_files=(Path("mine.py"),),
    limits=Limits(10, 1.5, 1 << 30),
    workers=3,
    symmetry=False,
    deadlock=True,
    properties=("below_size", "gets_full"),
    only_variant="Tank",
    compare=False,
    coverage=True,
    master="local[2]",
    distribute="always",
    partitions=5,
    checkpoint="a",
    resume="b",
    keep_states="c",
    keep_results="d",
)
NOT_REPEATED = {"only_variant", "compare", "coverage", "checkpoint", "resume", "keep_states", "keep_results"}
"""Settings that do not matter to what is found: what else is written, and which of several checks it is."""


def test_the_command_that_reproduces_has_every_setting_that_matters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tank_project(tmp_path, **{"mine.py": INVARIANTS}))
    searches = [each.name for each in fields(CheckSettings) if each.name != "walks"]  # which is another command
    assert all(getattr(GIVEN, name) != getattr(CheckSettings(), name) for name in searches)
    said = Check(read(Path("specs/tank.toml")), None, GIVEN).reproduce()
    taken: dict[str, Any] = {}
    monkeypatch.setattr(check_options, "callback", lambda **given: taken.update(given))
    command.main(shlex.split(said)[1:], standalone_mode=False)
    assert taken["specs"] == ("specs/tank.toml",)
    again = _settings(taken)
    assert again == replace(GIVEN, **{name: getattr(CheckSettings(), name) for name in NOT_REPEATED})


def test_the_command_that_reproduces_a_run_of_the_gate(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has every setting but those that say how fast, and what else is written."""
    asked: list[GateRequest] = []

    def took(it: GateRequest, *_: object) -> ExitCode:
        asked.append(it)
        return ExitCode.AS_EXPECTED

    monkeypatch.setattr(gate_command, "gate", took)
    limits = ["--max-seconds", "9.5", "--max-memory", "2G"]
    where = ["--tier", "deep", "--engine", "spark", "--spark", "master=local[2]"]
    run("gate", ".", *where, *limits, "--workers", "3", "--no-cache")
    run(*shlex.split(asked[0].command)[1:])
    one, other = asked
    assert one.settings.limits == Limits(seconds=9.5, memory=2 << 30)
    assert other == replace(one, use_cache=True, settings=replace(one.settings, workers=0))


@pytest.mark.parametrize("limit", [["--max-states", "1"], ["--max-seconds", "0"], ["--max-memory", "1k"]])
def test_a_limit_is_reproduced(run: Run, limit: list[str]) -> None:
    _, text = run("check", "--engine", "reference", *limit)
    (said,) = [line.partition("reproduce: ")[2] for line in text.splitlines() if "reproduce: " in line]
    code, again = run(*shlex.split(said)[1:])
    assert (code, "undetermined" in again) == (3, True)


def spec(more: str = FLAWED) -> Any:
    return put("specs/tank.toml", f'model = "model.tank:Tank"\n{more}')


def checked(run: Run, *arguments: str, more: str = FLAWED) -> tuple[int, list[str]]:
    """The exit code, and the first words of each verdict."""
    put("invariants/tank.py", INVARIANTS)(Path())
    code, text = run("check", "--engine", "reference", *arguments, lay=spec(more))
    lines = [" ".join(line.split()[:4]) for line in text.splitlines()]
    return code, [line for line in lines if line.split()[:1] and line.split()[0] in ("holds", "found", "violated")]


def test_property_checks_only_the_one_it_names(run: Run) -> None:
    """And the known-bad designs that are there to violate it."""
    assert checked(run)[0] == 1
    assert checked(run, "--property", "below_size") == (0, ["holds tank 4 states,"])
    assert checked(run, "--property", "gets_full") == (0, ["holds tank 4 states,", "found Leaks never reaches"])
    assert checked(run, "--property", "never_two")[0] == 1
    both = checked(run, "--property", "below_size", "--property", "gets_full")
    assert both == (0, ["holds tank 4 states,", "found Leaks never reaches"])


def test_another_property_of_a_known_bad_design(run: Run) -> None:
    """It is asked whether it holds: nobody said that the design violates this one."""
    assert checked(run, "--only-variant", "Leaks", "--property", "below_size") == (0, ["holds Leaks 1 state,"])
    assert checked(run, "--only-variant", "StopsHalf", "--property", "gets_full")[0] == 1


def test_a_property_that_the_spec_leaves_out(run: Run) -> None:
    more = 'invariants = ["gets_full"]\nvacuous = ["gets_full"]\n'
    assert checked(run, "--property", "never_two", more=more)[0] == 1
    assert checked(run, "--property", "below_size", more=more)[0] == 0


def test_another_property_than_the_one_that_a_spec_expects_to_be_violated(run: Run) -> None:
    more = '[expect]\nverdict = "violated"\nproperty = "never_two"\ndepth = 3\ndistinct = 3\n'
    assert checked(run, more=more)[0] == 0
    assert checked(run, "--property", "below_size", more=more) == (0, ["holds tank 4 states,"])
    assert checked(run, "--property", "never_two", more=more)[0] == 0


def test_deadlock_is_a_property(run: Run) -> None:
    drained = put("model/tank.py", TANK.replace("require(self.level > 0)", "require(self.level < 0)"))
    assert run("check", "--engine", "reference", "--property", "deadlock", lay=drained)[0] == 1
    assert run("check", "--engine", "reference", "--property", "below_size")[0] == 0


def test_an_unknown_property_is_an_error_with_a_suggestion(run: Run) -> None:
    code, text = run("check", "--engine", "reference", "--property", "below_sise")
    assert code == 2
    assert "no model being checked has a property 'below_sise'; did you mean 'below_size'?" in text


def test_specs_without_the_property_are_left_out(run: Run) -> None:
    put("specs/other.toml", 'model = "other:Other"\n')(Path())
    put("specs/other.py", TANK.replace("Tank", "Other").replace("below_size", "small"))(Path())
    code, text = run("check", "--engine", "reference", "--property", "small")
    assert (code, "1 check, each as expected" in text) == (0, True)


COMMANDS = ("check", "gate", "mutate", "conform", "plan")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_same_engines(name: str) -> None:
    options = {each.name: each for each in command.commands[name].params if isinstance(each, click.Option)}
    assert isinstance(options["engine"].type, click.Choice)
    assert tuple(options["engine"].type.choices) == ENGINES
    assert (options["engine"].default, options["engine"].help) == ("auto", _help("check", "engine"))
    assert isinstance(options["spark"], click.Option)


def _help(name: str, option: str) -> str | None:
    (found,) = [each for each in command.commands[name].params if each.name == option]
    assert isinstance(found, click.Option)
    return found.help


def lay(root: Path) -> None:
    entry = '{"version":1,"partitions":[{"topic":"foo","partition":0,"replicas":[%s]}]}'
    put("p.json", entry % "1,2")(root)
    put("c.json", entry % "1,3")(root)
    put("t.jsonl", '{"action": "start"}\n')(root)


ARGUMENTS = {
    "check": (),
    "gate": (),
    "mutate": ("tank", "--only", "fill"),
    "conform": ("tank", "--trace", "t.jsonl"),
    "plan": ("p.json", "--current", "c.json"),
}
REFUSED = {
    ("gate", "reference"): "it would take hours for what a gate checks; use floodmark check",
    ("mutate", "reference"): "mutants are distinguished by the digests of compiled searches",
    ("conform", "native"): "recorded runs and logs are judged by CPython",
}


@pytest.mark.parametrize("engine", ["auto", "native", "reference"])
@pytest.mark.parametrize("name", COMMANDS)
def test_an_engine_is_used_or_refused_with_the_reason(run: Run, name: str, engine: str) -> None:
    wanted = {"gate": 4, "plan": 1}.get(name, 0)
    code, text = run(name, *ARGUMENTS[name], "--engine", engine, lay=lay)
    why = REFUSED.get((name, engine))
    assert code == (2 if why else wanted), text
    assert why is None or f"{engine}: {why}" in text


def test_a_plan_has_the_same_verdict_in_cpython(run: Run) -> None:
    said = [run("plan", *ARGUMENTS["plan"], "--engine", engine, lay=lay)[1] for engine in ("native", "reference")]
    one, other = (text.splitlines() for text in said)
    assert (one[0], one[-1], len(one)) == (other[0], other[-1], len(other))


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--engine", "native", "--spark", "checkpoint=d"),
        ("check", "--engine", "reference", "--spark", "distribute=always"),
        ("gate", "--engine", "native", "--spark", "master=local"),
        ("mutate", "tank", "--engine", "native", "--spark", "master=local"),
        ("plan", "p.json", "--current", "c.json", "--engine", "reference", "--spark", "master=local"),
        ("conform", "tank", "--trace", "t.jsonl", "--engine", "reference", "--spark", "keep_results=d"),
    ],
)
def test_a_setting_of_spark_that_another_engine_would_ignore_is_refused(run: Run, arguments: tuple[str, ...]) -> None:
    code, text = run(*arguments, lay=lay)
    assert code == 2
    assert "--spark is for Spark; leave out --engine" in text


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("partitions=0", "partitions must be a whole number, 1 or more, not 0"),
        ("partitions=few", "partitions must be a whole number, 1 or more, not 'few'"),
        ("distribute=never", 'distribute must be one of auto, always, not \'never\''),
        ("mster=local", "there is no setting 'mster'; did you mean 'master'?"),
        ("master", "'master' is not NAME=VALUE"),
        ("master=", "'master=' is not NAME=VALUE"),
    ],
)
def test_a_setting_of_spark_that_makes_no_sense_is_refused(run: Run, setting: str, why: str) -> None:
    code, text = run("check", "--spark", setting, lay=lay)
    assert (code, why in text) == (2, True), text


TABLE = """
[tool.floodmark.spark]
master = "local[3]"
partitions = 7
keep_results = "kept"
"""


def taken(monkeypatch: pytest.MonkeyPatch, *words: str) -> CheckSettings:
    given: dict[str, Any] = {}
    monkeypatch.setattr(check_options, "callback", lambda **all_of_them: given.update(all_of_them))
    command.main(["check", *words], standalone_mode=False)
    return _settings(given)


def test_settings_of_spark_may_be_the_projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They ask for no engine; the command line's come first, and imply Spark."""
    monkeypatch.chdir(tank_project(tmp_path, **{"pyproject.toml": TABLE}))
    own = CheckSettings(master="local[3]", partitions=7, keep_results="kept")
    assert taken(monkeypatch) == own
    assert taken(monkeypatch, "--engine", "native") == CheckSettings(engine="native")
    given = taken(monkeypatch, "--spark", "partitions=2", "--spark", "keep-states=here", "--spark", "resume=there")
    assert given == replace(own, engine="spark", partitions=2, keep_states="here", resume="there")
    check = Check(read(Path("specs/tank.toml")), None, own)
    assert "spark" not in check.reproduce()
    assert type(engine_of(check)).__name__ == "NativeEngine"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('resume = "kept"', "pyproject.toml:5: unknown key 'resume'"),
        ("partitions = 0", "pyproject.toml:5: partitions must be a whole number, 1 or more, not 0"),
    ],
)
def test_a_wrong_setting_of_a_project_is_refused_at_its_line(run: Run, line: str, why: str) -> None:
    table = TABLE.replace("partitions = 7\n", "") + line
    code, text = run("check", lay=put("pyproject.toml", table))
    assert (code, why in text) == (2, True), text


def test_a_setting_of_spark_is_a_text_or_a_number() -> None:
    setting = _Setting(["master", "partitions", "keep_states"])
    given = ["master=local[2]", "partitions=8", "keep-states=12"]
    assert [setting.convert(each, None, None) for each in given] == [
        ("master", "local[2]"), ("partitions", 8), ("keep_states", "12"),
    ]  # fmt: skip
    with pytest.raises(click.BadParameter, match="partitions must be"):
        setting.convert("partitions=eight", None, None)


def test_what_click_asks_to_convert_once_more_stays_as_it_is() -> None:
    assert Assignment().convert(("size", 3), None, None) == ("size", 3)
    assert Assignment().convert("size=3", None, None) == ("size", 3)


@pytest.mark.parametrize(("error", "code", "said"), [
    (RecursionError("maximum depth"), ExitCode.USER_ERROR, "error: this is nested too deeply"),
    (FileNotFoundError(errno.ENOENT, "No such file", "a.toml"), ExitCode.USER_ERROR, "error: a.toml: No such file"),
    (KeyError("nothing"), ExitCode.INTERNAL_ERROR, "internal error in floodmark: KeyError: 'nothing'"),
    (OSError(errno.EPROTO, "Protocol error"), ExitCode.INTERNAL_ERROR, "internal error in floodmark: OSError: "),
])  # fmt: skip
def test_an_error_is_the_users_or_one_of_the_program(
    error: Exception, code: ExitCode, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _of_other_error(error) == code
    assert capsys.readouterr().err.startswith(said)


def test_the_help_of_check_fits_on_a_screen(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("check", "--help")[1].splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_the_help_of_check_fits_on_a_screen_and_options_are_few() -> None:
    """A screen has 24 lines of 80 characters. An option that commands share counts once."""
    context = click.Context(command.commands["check"], info_name="floodmark check", terminal_width=80)
    lines = context.command.get_help(context).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    options = [
        option for each in command.commands.values() for option in each.params if isinstance(option, click.Option)
    ]
    assert len({option.opts[-1] for option in options}) <= 55
    choices = [option.type.choices for option in options if isinstance(option.type, click.Choice)]
    assert choices
    assert all(len(each) > 1 for each in choices)
