"""Tests scenarios: runs of a spec that must be possible, or must not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from floodmark.checkers.project.spec import read
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from tests.support.command import Ended, floodmark

MODEL = '''
from floodmark import Constant, Identifier, Model, Set, action, invariant, require


class Client(Identifier, count="clients", prefix="c"):
    """A client."""


class Lease(Model):
    """One lease."""

    clients = Constant(2)
    holder: Client | None = None
    asked: Set[Client] = Set()

    @action
    def asks(self, client: Client) -> None:
        require(client not in self.asked)
        self.asked = self.asked | {client}

    @action
    def grants(self, client: Client) -> None:
        require(client in self.asked)
        require(self.holder is None)
        self.holder = client

    @action
    def expires(self) -> None:
        require(self.holder is not None)
        self.holder = None

    @invariant
    def holder_asked(self) -> bool:
        return self.holder is None or self.holder in self.asked
'''
"""The first guard of ``grants`` draws its parameter from a set."""


WHOLE = CheckSettings()


def checked(folder: Path, scenario: str, settings: CheckSettings = WHOLE) -> CheckResult:
    (folder / "lease.py").write_text(MODEL)
    spec = folder / "lease.toml"
    spec.write_text(f'model = "lease.py:Lease"\n{scenario}')
    return run_check(Check(read(spec), None, settings))


def entry(steps: list[str], possible: bool = True) -> str:
    said = json.dumps(steps)
    return f'[[scenario]]\nname = "a run"\nsteps = {said}\npossible = {str(possible).lower()}\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "possible"),
    [
        (["initial()", "asks(client=c1)", "grants(client=c1)", "expires()"], True),
        (["asks(client=c2)", "grants", "expires", "grants"], True),
        (["asks(client=c1)", "grants", "grants(client=c1)"], False),
        (["asks(client=c1)", "asks(client=c1)"], False),
        (["asks(client=c1)", "grants", "grants"], False),
        (["asks(client=c1)", "expires"], False),
    ],
)
def test_a_scenario_that_is_as_it_must_be_says_nothing(tmp_path: Path, steps: list[str], possible: bool) -> None:
    result = checked(tmp_path, entry(steps, possible))
    assert [each.problem for each in result.scenarios] == [""]
    assert result.exit_code == ExitCode.AS_EXPECTED


@pytest.mark.parametrize(
    ("steps", "possible", "problem"),
    [
        (["asks(client=c1)", "grants", "grants(client=c1)"], True,
         "step 3: grants(client=c1) is not enabled: it requires self.holder is None, that is c1 is None"),
        (["asks(client=c1)", "expires"], True, "step 2: expires is not enabled: it requires self.holder is not None"),
        (["asks", "grants"], True, "step 1: asks has 2 steps here, write one of them: asks(client=c1), a"),
        (["asks(client=c1)", "begs()"], True, "step 2: Lease has no action begs"),
        (["asks(client=c1)", "grants"], False, "its last step, grants(client=c1), is possible, and must not be"),
        (["asks(client=c1)", "grants(client=c9)"], False, "its last step, grants(client=c9), is none that grants can"),
        (["expires()", "asks(client=c1)"], False,
         "so its last step, asks(client=c1), is never tried"),
        (["asks(client=c1)", "begs"], False, "Lease has no action begs"),
    ],
)  # fmt: skip
def test_a_scenario_that_is_not_as_it_must_be_names_the_step_and_the_guard(
    tmp_path: Path, steps: list[str], possible: bool, problem: str
) -> None:
    result = checked(tmp_path, entry(steps, possible))
    assert problem in result.scenarios[0].problem
    assert (result.verdict, result.expected, result.exit_code) == ("holds", False, ExitCode.NOT_AS_EXPECTED)
    assert result.message == "1 of 1 scenario not as expected"


def test_scenarios_are_about_the_spec_s_own_constants_and_whole_checks(tmp_path: Path) -> None:
    wrong = entry(["expires"])
    assert checked(tmp_path, wrong, CheckSettings(constants={"clients": 1})).scenarios == ()
    assert checked(tmp_path, wrong, CheckSettings(properties=("holder_asked",))).scenarios == ()
    assert checked(tmp_path, wrong).scenarios[0].taken == 0


def test_the_gate_locks_scenarios_and_notices_one_that_is_gone(tmp_path: Path) -> None:
    checked(tmp_path, entry(["asks(client=c1)"]))

    def gate(*words: str) -> Ended:
        return floodmark("gate", "lease.toml", "--no-cache", *words, at=tmp_path)

    assert gate("--update-lock").code == 0
    assert 'scenarios = { "a run" = "' in (tmp_path / "floodmark.lock").read_text()
    (tmp_path / "lease.toml").write_text('model = "lease.py:Lease"\n')
    ended = gate()
    assert ended.code == ExitCode.DRIFT
    assert "scenario: a run | -  the scenario is no longer tried" in ended.out


def test_a_scenario_notices_a_mutant_that_no_property_does(tmp_path: Path) -> None:
    """Without the guard a lease is granted again; the only property does not forbid that."""
    checked(tmp_path, entry(["asks(client=c1)", "grants", "grants"], possible=False))
    guard = "require(self.holder is None)"
    ended = floodmark("mutate", "lease.toml", "--only", f"{guard}  + (dropped)", "--json", "-", at=tmp_path)
    (mutant,) = json.loads(ended.out)["mutation"][0]["mutants"]
    assert mutant["fate"] == "killed"
    assert mutant["by"].startswith("the scenario 'a run': its last step, grants(client=c1), is possible")


POST = """
from typing import Annotated
from floodmark import Between, Model, Record, action, require


class Letter(Record):
    term: Annotated[int, Between(0, 1)]
    to: Annotated[int, Between(0, 1)]

    def __str__(self) -> str:
        return f"letter to {self.to}"


class Post(Model):
    sent: Letter | None = None
    read: bool = False

    @action
    def sends(self, letter: Letter) -> None:
        require(self.sent is None)
        self.sent = letter

    @action
    def reads(self) -> None:
        require(self.sent is not None and self.sent.term == 1)
        self.read = True
"""


def post(folder: Path, sent: str, possible: bool) -> str:
    """What is wrong with a scenario in which a letter is sent and read."""
    (folder / "post.py").write_text(POST)
    spec = folder / "post.toml"
    scenario = f'name = "s"\nsteps = ["sends(letter={sent})", "reads"]\npossible = {str(possible).lower()}'
    spec.write_text(f'model = "post.py:Post"\n[expect]\ndistinct = 7\n[[scenario]]\n{scenario}\n')
    (result,) = run_check(Check(read(spec), None, WHOLE)).scenarios
    return result.problem


@pytest.mark.parametrize("possible", [True, False])
def test_a_text_of_several_steps_is_refused(tmp_path: Path, possible: bool) -> None:
    """A record may print without some fields, and only one of the two letters can be read."""
    said = post(tmp_path, "letter to 1", possible)
    assert "sends(letter=letter to 1) is 2 steps here" in said
    assert "sends(letter=Letter(term=0, to=1)), sends(letter=Letter(term=1, to=1))" in said


def test_steps_that_print_alike_are_told_apart_as_the_model_writes_them(tmp_path: Path) -> None:
    assert not post(tmp_path, "Letter(term=1, to=1)", possible=True)
    assert not post(tmp_path, "Letter(term=0, to=1)", possible=False)
    assert "is possible, and must not be" in post(tmp_path, "Letter(term=1, to=1)", possible=False)
