"""Tests reading specs: what they may contain, and the errors for those that are wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from floodmark.checkers.project import input_limits
from floodmark.checkers.project.spec import ExpectedVerdict, find, key_lines, read
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from tests.support.projects import INVARIANTS, LEAKY, TANK, tank_project, write

FULL = """
model = "model.tank:Tank"
title = "a tank"
invariants = ["below_size"]
symmetry = true
deadlock = true
tier = "deep"
idle = ["drain"]
vacuous = ["below_size"]

[constants]
size = 4

[expect]
verdict = "violated"
property = "below_size"
depth = 5

[limits]
states = 100
seconds = 1.5
memory = "2G"

[[flawed]]
class = "flawed:Leaks"
property = "gets_full"

[[flawed]]
class = "flawed:Overflows"
property = "below_size"
depth = 6
invariants = ["gets_full"]

[flawed.constants]
size = 2
"""


def spec_error(tmp_path: Path, text: str) -> tuple[str, int | None]:
    path = write(tmp_path, {"specs/bad.toml": text}) / "specs/bad.toml"
    with pytest.raises(SourceError) as caught:
        read(path)
    assert caught.value.file == str(path)
    return caught.value.message, caught.value.line


def test_every_key_is_read(tmp_path: Path) -> None:
    spec = read(write(tmp_path, {"specs/full.toml": FULL}) / "specs/full.toml")
    assert spec.name == "full"
    assert (spec.title, spec.tier, spec.symmetry, spec.deadlock) == ("a tank", "deep", True, True)
    assert spec.invariants == ("below_size",)
    assert spec.constants == {"size": 4}
    assert spec.expect == ExpectedVerdict("violated", "below_size", 5)
    assert spec.limits == Limits(100, 1.5, 2 << 30)
    assert (spec.idle, spec.vacuous) == (("drain",), ("below_size",))
    leaks, overflows = spec.flawed
    assert (leaks.name, leaks.property, leaks.depth, leaks.constants) == ("Leaks", "gets_full", None, {})
    assert (overflows.name, overflows.depth, overflows.constants) == ("Overflows", 6, {"size": 2})
    assert overflows.invariants == ("gets_full",)
    assert overflows.line == FULL.splitlines().index("[[flawed]]", 25)


def test_a_spec_has_the_defaults_of_its_keys() -> None:
    spec = read(Path(__file__).parents[2] / "specs/examples/two_phase_commit.toml")
    assert (spec.name, spec.tier, spec.invariants) == ("examples/two_phase_commit", "quick", None)
    assert not spec.symmetry
    assert not spec.deadlock


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ('model = "m:M"\nsymetry = true\n', "unknown key 'symetry'; did you mean 'symmetry'?", 2),
        ('model = "m:M"\n[expect]\nverdict = "hold"\n', "verdict must be one of holds, violated, not 'hold'", 3),
        ('model = "m:M"\n[expect]\nverdct = "holds"\n', "unknown key 'verdct'; did you mean 'verdict'?", 3),
        ('model = "m:M"\n\n[limits]\nseconds = "1"\n', "seconds must be a number, 0 or more, not '1'", 4),
        ('model = "m:M"\n[limits]\nmemory = "much"\n', "'much' is not an amount of memory; write 8G or 500M", 3),
        ('model = "m:M"\n[constants]\nbrokers = "3"\n', "the constant brokers must be a whole number", 3),
        ('model = "m:M"\nsymmetry = 1\n', "symmetry must be true, false or a list of names", 2),
        ('model = "m:M"\ninvariants = "some"\n', 'invariants must be "all" or a list of names', 2),
        ('model = "m:M"\ninvariant_files = ["no.py"]\n', "no.py cannot be read: there is no such file", 2),
        ('model = "m:M"\n[[flawed]]\nclass = "f:F"\n', "a flawed design needs property", 2),
        ('model = "m:M"\n[flawed]\nclass = "f:F"\n', "write [[flawed]]", 2),
        ('model = "m:M"\n[prove]\nmethod = "bmc"\n', "write [[prove]]", 2),
        ('model = "m:M"\n[[prove]]\nmethod = "luck"\n', "method must be one of induction, bmc", 3),
        ('model = "m:M"\n[[prove]]\nmethod = "infer"\nunbounded = true\n', "unbounded needs", 4),
        ('model = "m:M"\n[[prove]]\n\n[[prove]]\nmethod = "induction"\n', "already lists this proof", 4),
        ('model = "m:M"\n[expect]\nverdict = "violated"\n', "names the property", 2),
        ('model = "m:M"\n[expect]\nproperty = "p"\n', 'needs verdict = "violated"', 3),
        ("title = 'no model'\n", "a spec needs model", 1),
        ('model = "m:M"\n[constants\nbrokers = 3\n', "this is not valid TOML", 2),
        ('model = "m:M', "this is not valid TOML", 1),
        ('model = "m:M"\nmodel = "m:N"\n', "this is not valid TOML", 2),
        ("constants = 3\n", "constants must be a table", 1),
        ('model = "m:M"\nidle = "start"\n', "idle must be a list of names, not 'start'", 2),
        ('model = "m:M"\nvacuous = [1]\n', "vacuous must be a list of names", 2),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, message: str, line: int) -> None:
    said, at = spec_error(tmp_path, text)
    assert message in said
    assert at == line


def test_a_known_bad_design_is_told_from_each_earlier_one_of_its_name(tmp_path: Path) -> None:
    entry = '[[flawed]]\nclass = "f:F"\nproperty = "{}"\n'
    assert len(read(write(tmp_path, {"good.toml": 'model = "m:M"\n' + entry.format("p") + entry.format("q")})
                    / "good.toml").flawed) == 2
    message, line = spec_error(tmp_path, 'model = "m:M"\n' + "".join(map(entry.format, "pqq")))
    assert message.startswith("F already breaks q at line 5")
    assert line == 8


def test_missing_and_binary_specs_are_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SourceError, match="UTF-8"):
        read(tmp_path / "binary.toml")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("model.tank:Tnak", "Tnak is not defined in .*; did you mean 'Tank'?"),
        ("model.tonk:Tank", "there is no module 'model.tonk'"),
        ("model.tank", "does not name a class"),
        ("model.tank:action", "action is not a Model"),
        ("tonk.py:Tank", "there is no module 'tonk.py'"),
    ],
)
def test_a_missing_model_is_an_error_of_the_spec(tmp_path: Path, reference: str, message: str) -> None:
    root = tank_project(tmp_path)
    write(root, {"specs/other.toml": f'title = "x"\nmodel = "{reference}"\n'})
    with pytest.raises(SourceError, match=message) as caught:
        read(root / "specs/other.toml").model_class()
    assert caught.value.file == str(root / "specs/other.toml")
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("x = (\n", "this is not valid Python", 1),
        ("import nowhere_to_be_found\n", "ModuleNotFoundError", 1),
        ("\n\nx = 1 / 0\n", "ZeroDivisionError", 3),
        ("from floodmark.language import nothing\n", "there is no nothing in language", 1),
        (
            "from floodmark import Enum\n",
            "there is no Enum in floodmark; it is Python's: from enum import Enum",
            1,
        ),
        ("from floodmark import Annotated\n", "there is no Annotated in floodmark; it is Python's: from typing", 1),
    ],
)
def test_an_exception_in_a_model_file_is_reported_at_its_line(
    tmp_path: Path, text: str, message: str, line: int
) -> None:
    (tmp_path / "broken.py").write_text(text, encoding="utf-8")
    (tmp_path / "broken.toml").write_text('model = "broken.py:Broken"\n', encoding="utf-8")
    with pytest.raises(SourceError, match=message) as caught:
        read(tmp_path / "broken.toml").model_class()
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "broken.py"), line)


def test_a_flawed_class_must_be_a_subclass(tmp_path: Path) -> None:
    entry = '[[flawed]]\nclass = "other.py:Other"\nproperty = "p"\n'
    other = TANK.replace("class Tank", "class Other")
    spec = read(tank_project(tmp_path, entry, **{"specs/other.py": other}) / "specs/tank.toml")
    with pytest.raises(SourceError, match=r"Other is not a subclass of model\.tank:Tank") as caught:
        spec.flawed_class(spec.flawed[0])
    assert caught.value.line == 2


def test_a_team_keeps_its_own_folders(tmp_path: Path) -> None:
    """Their model.tank and invariants.tank, and Floodmark's language, in two repositories with the same names."""
    first = tank_project(tmp_path / "first", '[[flawed]]\nclass = "flawed:Leaks"\nproperty = "gets_full"\n',
                         **{"invariants/tank.py": INVARIANTS})
    small = TANK.replace("Constant(3)", "Constant(1)")
    second = tank_project(tmp_path / "second", **{"model/tank.py": small})
    specs = [read(root / "specs/tank.toml") for root in (first, second)]
    classes = [spec.model_class() for spec in specs]
    assert [cls().constant_values["size"] for cls in classes] == [3, 1]
    assert all(issubclass(cls, Model) for cls in classes)
    assert list(specs[0].properties(classes[0])) == ["below_size", "gets_full", "never_two", "one_step"]
    assert list(specs[1].properties(classes[1])) == ["below_size", "gets_full"]
    assert issubclass(specs[0].flawed_class(specs[0].flawed[0]), classes[0])
    assert "model.tank" not in sys.modules
    assert "flawed" not in sys.modules


def test_scenarios_may_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    scenarios = INVARIANTS.replace("never_two", "ever_two")
    files = {"invariants/tank_scenarios.py": scenarios, "invariants/tank_others.py": INVARIANTS}
    root = tank_project(tmp_path, **files)
    spec = read(root / "specs/tank.toml")
    assert "ever_two" in spec.properties(spec.model_class())
    assert "never_two" not in spec.properties(spec.model_class())


def test_a_team_may_have_a_model_of_the_same_name_as_ours(tmp_path: Path) -> None:
    ours = __import__("floodmark.language.types").language.types
    root = write(
        tmp_path,
        {
            "floodmark/language/__init__.py": "raise SystemExit",
            "model/sub/__init__.py": "",
            "model/sub/tank.py": TANK.replace("class Tank", "from .size import SIZE\n\nclass Tank"),
            "model/sub/size.py": "SIZE = 3\n",
            "invariants/tank.py": INVARIANTS.replace("model.tank", "model.sub.tank"),
            "helpers/limits.py": "LIMIT = 4\n",
            "specs/tank.toml": 'model = "model.sub.tank:Tank"\n',
            "specs/big.py": "from helpers.limits import LIMIT\nfrom model.sub.size import SIZE\n"
            "from model.sub.tank import Tank\nclass Big(Tank):\n    limit = LIMIT + SIZE\n",
            "specs/big.toml": 'model = "big.py:Big"\n',
        },
    )
    spec = read(root / "specs/tank.toml")
    cls = spec.model_class()
    assert "never_two" in spec.properties(cls)
    big = read(root / "specs/big.toml").model_class()
    assert issubclass(big, cls)
    assert vars(big)["limit"] == 7
    assert __import__("floodmark.language.types").language.types is ours
    assert "helpers" not in sys.modules


def test_flawed_designs_beside_the_spec_may_import_each_other(tmp_path: Path) -> None:
    worse = "from flawed import Leaks\n\nclass LeaksMore(Leaks):\n    pass\n"
    entry = '[[flawed]]\nclass = "{}"\nproperty = "p"\n'
    entries = entry.format("worse:LeaksMore") + entry.format("flawed:Leaks")
    spec = read(tank_project(tmp_path, entries, **{"specs/worse.py": worse}) / "specs/tank.toml")
    more, leaks = (spec.flawed_class(flawed) for flawed in spec.flawed)
    assert issubclass(more, leaks)


def test_a_spec_outside_a_repository_is_read(tmp_path: Path) -> None:
    flawed = LEAKY.replace("model.tank", "tank")
    write(tmp_path, {"tank.py": TANK, "flawed.py": flawed, "tank.toml": 'model = "tank.py:Tank"\n'})
    spec = read(tmp_path / "tank.toml")
    assert spec.name == "tank"
    assert spec.model_class().__name__ == "Tank"


def test_find_returns_the_specs_of_a_tier(tmp_path: Path) -> None:
    files = {"a/quick.toml": 'model = "m:M"\n', "b/deep.toml": 'model = "m:M"\ntier = "deep"\n', "c/bad.toml": "x"}
    root = write(tmp_path, files)
    names = {tier: [path.stem for path in find([root], tier)] for tier in (None, "quick", "deep", "all")}
    quick = ["quick", "bad"]
    assert names == {None: quick, "quick": quick, "deep": ["deep", "bad"], "all": ["quick", "deep", "bad"]}
    assert find([root / "b/deep.toml"], "quick") == [root / "b/deep.toml"]


def test_the_lines_of_keys_are_those_of_the_file() -> None:
    lines = key_lines(FULL.lstrip("\n"))
    assert lines["model"] == 1
    assert lines["constants.size"] == 11
    assert lines["flawed.0.class"] == 24
    assert lines["flawed.1.constants.size"] == 34


@pytest.mark.parametrize(("text", "size"), [("8G", 8 << 30), ("500M", 500 << 20), ("1.5k", 1536), ("77", 77)])
def test_amounts_of_memory_are_read_with_their_units(text: str, size: int) -> None:
    assert input_limits.memory(text) == size


MADE = """
from typing import Annotated
from floodmark import Between, Identifier, Model, Set, action, invariant

class Fine(Model):
    x: Annotated[int, Between(0, 3)] = 0
    @action
    def steps(self) -> None:
        self.x = 1
    @invariant
    def small(self) -> bool:
        return self.x < 2

def design(to: int) -> type[Fine]:
    class Jumps(Fine):
        "A known-bad design."
        def steps(self) -> None:
            self.x = 3
    return Jumps

def names(n: int) -> type[Identifier]:
    class Node(Identifier, count=n):
        "An identifier."
    return Node

Worse = design(3)
Node = names(2)

class Holds(Model):
    held: Set[Node] = Set()
    @action
    def takes(self, node: Node) -> None:
        self.held.add(node)
"""


@pytest.mark.parametrize(
    ("spec", "line", "said"),
    [
        (
            'model = "m.py:Fine"\n[[flawed]]\nclass = "m.py:Worse"\nproperty = "small"\n', 14,
            "Jumps is made inside design",
        ),
        ('model = "m.py:Holds"\n', 21, "Node is made inside names"),
    ],
)
def test_a_class_that_no_process_finds_by_its_name_is_refused(tmp_path: Path, spec: str, line: int, said: str) -> None:
    write(tmp_path, {"pyproject.toml": "", "m.py": MADE, "it.toml": spec})
    result = run_check(checks(read(tmp_path / "it.toml"), CheckSettings(workers=1))[-1])
    assert (result.exit_code, result.line) == (ExitCode.USER_ERROR, line)
    assert result.message.startswith(said) and "at the top of the file" in result.message
