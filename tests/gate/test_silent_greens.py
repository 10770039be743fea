"""Tests that what would weaken a check unnoticed is an error with its place, from ``check`` and from the gate alike."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError
from floodmark.language.unread_locals import unread_values
from tests.support.gates import STEPS, locked, repository, run
from tests.support.outcomes import inside
from tests.support.projects import INVARIANTS, TANK, tank_project, write

SAFETY = INVARIANTS.replace("never_two", "stays_low").replace("one_step", "moves_on")
GOOD = {"invariants/tank.py": STEPS}


def checked(root: Path, *arguments: str) -> tuple[int, str]:
    with inside(root):
        try:
            ended = CliRunner().invoke(command, ["check", "--engine", "reference", *arguments], standalone_mode=False)
        except SourceError as error:
            return ExitCode.USER_ERROR, str(error)
    assert ended.exception is None or isinstance(ended.exception, SourceError), ended.exception
    code = ended.return_value if ended.exception is None else ExitCode.USER_ERROR
    return int(code), ended.output + str(ended.exception or "")


def refused(root: Path, said: str, place: str) -> None:
    """Both commands end with an error that says this, at this place."""
    code, text = checked(root)
    assert code == ExitCode.USER_ERROR, text
    assert said in text, text
    assert place in text, text
    ended = run(root)
    assert ended.code == ExitCode.USER_ERROR, ended.text
    assert said in ended.text
    assert place in ended.text


# Properties that no spec finds.


@pytest.mark.parametrize("name", ["safety.py", "tank/safety.py", "lost/tank_safety.py", "tank/__init__.py/p.py"])
def test_a_file_that_no_model_is_called_like(tmp_path: Path, name: str) -> None:
    root = tank_project(tmp_path, **{**GOOD, f"invariants/{name}": SAFETY})
    line = SAFETY.lstrip("\n").splitlines().index("def stays_low(tank: Tank) -> bool:") + 1
    refused(root, "no spec finds stays_low, a property of Tank, in this file; move it to invariants/tank.py",
            f"invariants/{name}:{line}")  # fmt: skip


def test_a_directory_in_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    root = tank_project(tmp_path)
    (root / "invariants/tank.py").mkdir(parents=True)
    refused(root, "tank.py is not a file here, so no spec finds properties in it", "invariants/")


def test_a_dangling_link_is_an_error(tmp_path: Path) -> None:
    root = tank_project(tmp_path)
    (root / "invariants").mkdir()
    (root / "invariants/tank.py").symlink_to("gone.py")
    refused(root, "tank.py is not a file here, so no spec finds properties in it", "invariants/")


def test_a_spec_that_is_checked_alone_leaves_to_others_what_they_list(tmp_path: Path) -> None:
    listed = 'model = "model.tank:Tank"\ninvariant_files = ["../invariants/safety.py"]\n'
    root = tank_project(tmp_path, **{**GOOD, "invariants/safety.py": SAFETY, "specs/safety.toml": listed})
    code, text = checked(root, "specs/tank.toml")
    assert code == ExitCode.AS_EXPECTED, text


def test_what_a_spec_lists_or_imports_is_found(tmp_path: Path) -> None:
    imported = STEPS + "\nfrom invariants.shared import low\n"
    shared = SAFETY.replace("stays_low", "low").replace("!= 2", "!= 4").replace("@transition", "")
    listed = STEPS.replace("never_four", "never_five").replace("one_step", "one_more").replace("!= 4", "!= 5")
    root = tank_project(tmp_path, 'invariant_files = ["../invariants/listed.py"]\n', **{
        "invariants/tank.py": imported, "invariants/shared.py": shared, "invariants/listed.py": listed,
        "invariants/helpers.py": "def helper() -> int:\n    return 1\n",
    })  # fmt: skip
    assert checked(root)[0] == 0, checked(root)[1]
    locked(root)
    assert run(root).code == 0


def test_a_property_of_a_model_that_no_spec_has(tmp_path: Path) -> None:
    """Another spec may have it, so only the gate, which sees all specs, can say so."""
    other = {"model/other.py": TANK.replace("class Tank", "class Other"),
             "invariants/other.py": STEPS.replace("model.tank", "model.other").replace("Tank", "Other")}  # fmt: skip
    root = tank_project(tmp_path, **{**GOOD, **other})
    assert checked(root)[0] == 0
    ended = run(root)
    assert ended.code == ExitCode.USER_ERROR
    assert "no spec has a model that never_four is about, so nothing checks it" in ended.text
    write(root, {"specs/other.toml": 'model = "model.other:Other"\ntier = "deep"\n'})
    locked(root)
    assert run(root).code == 0


def test_a_part_of_the_specs_says_nothing_of_the_others(tmp_path: Path) -> None:
    other = {"specs/part/other.py": TANK.replace("class Tank", "class Other"),
             "specs/part/other.toml": 'model = "other:Other"\n',
             "invariants/other.py": STEPS.replace("model.tank", "specs.part.other").replace("Tank", "Other")}
    root = tank_project(tmp_path, **{**GOOD, **other})
    assert checked(root)[0] == 0, checked(root)[1]
    assert checked(root, "specs/tank.toml")[0] == 0
    locked(root)
    assert run(root / "specs/part").code == 0


@pytest.mark.parametrize("annotation", ["Tank | None", "Optional[Tank]", "int", "Any", "Annotated[Tank, 1]", "Bound"])
def test_a_property_whose_parameter_is_no_model_is_an_error(tmp_path: Path, annotation: str) -> None:
    text = f"""
        from typing import Annotated, Any, Optional, TypeVar

        from floodmark import invariant
        from model.tank import Tank

        Bound = TypeVar("Bound", bound=Tank)


        @invariant
        def never_one(tank: {annotation}) -> bool:
            return tank.level != 1
    """
    root = tank_project(tmp_path, **{"invariants/tank.py": text})
    refused(root, f"{annotation} is not a model, so never_one would never be checked", "invariants/tank.py:10")


def test_a_property_in_a_class_that_is_no_model(tmp_path: Path) -> None:
    text = """
        from floodmark import invariant
        from model.tank import Tank


        class Safety:
            @invariant
            def never_one(tank: Tank) -> bool:
                return tank.level != 1
    """
    root = tank_project(tmp_path, **{"invariants/tank.py": text})
    refused(root, "never_one is decorated as invariant, but Safety is no model", "invariants/tank.py:7")


# What Python keeps of two of one name.


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("model/tank.py", "    @action\n    def drain(self) -> None:\n        self.level = 0\n"),
        ("model/tank.py", "    @invariant\n    def below_size(self) -> bool:\n        return True\n"),
        ("model/tank.py", "\n\nclass Tank(Model):\n    level: bool = True\n"),
        ("invariants/tank.py", "\n\n@invariant\ndef never_four(tank: Tank) -> bool:\n    return True\n"),
        ("specs/flawed.py", "\n\nclass StopsHalf(Tank):\n    pass\n"),
    ],
)
def test_two_properties_of_one_name_are_refused(tmp_path: Path, file: str, text: str) -> None:
    root = repository(tmp_path)
    path = root / file
    path.write_text(path.read_text() + text)
    refused(root, "is already defined at", file)


# Locals that nobody reads.

UNREAD = {
    "a local for a variable": ("level = 1  #!", "write self.level for a variable of the model, or leave it out"),
    "one that is read before": ("level = self.level\nself.level = level\nlevel = 0  #!", "write self.level"),
    "one that only feeds itself": ("n = 0  #!\nfor i in range(3):\n    n = n + i  #!", "nobody reads"),
    "one that is added to": ("n = 0  #!\nfor i in range(3):\n    n += i  #!", "nobody reads"),
    "one in a branch": ("if self.level > 0:\n    level = 0  #!\nself.level = 1", "nobody reads"),
    "one at the end of a loop": ("for i in range(3):\n    self.level = i\n    last = i  #!", "nobody reads"),
    "one before a return": ("last = 1\nif self.level > 0:\n    last = 2  #!\n    return\nself.level = last", "nobody"),
}
READ = {
    "assigned again on every path": "n = 0\nif self.level > 0:\n    n = 1\nelse:\n    n = 2\nself.level = n",
    "read in the next round": "last = 0\nfor i in range(3):\n    self.level = last\n    last = i",
    "read after a break": "n = 0\nfor i in range(3):\n    if i > 1:\n        n = i\n        break\nself.level = n",
    "read after a continue": "n = 0\nfor i in range(3):\n    if n > 1:\n        continue\n    n = i",
    "read in a comprehension": "low = 1\nself.level = sum(1 for i in range(3) if i > low)",
    "loop variables": "for i in range(2):\n    self.level = 0",
    "named as unread": "_ = self.level\nself.level = 0",
    "an annotated one": "low: int = 1\nself.level = low",
}


def marked(statements: str) -> tuple[ast.FunctionDef, list[int]]:
    text = "def step(self):\n" + "".join(f"    {line}\n" for line in statements.splitlines())
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    return tree, [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("#!")]


@pytest.mark.parametrize("name", UNREAD)
def test_unused_values_are_errors(name: str) -> None:
    tree, lines = marked(UNREAD[name][0])
    assert [found.lineno for found in unread_values(tree)] == lines


@pytest.mark.parametrize("name", READ)
def test_used_values_are_no_errors(name: str) -> None:
    assert unread_values(marked(READ[name])[0]) == []


def test_an_unread_value_is_an_error_wherever_it_is(tmp_path: Path) -> None:
    step = ("self.level += 1", "level = self.level + 1")
    refused(repository(tmp_path / "action", (step,)), "level is a local name here", "model/tank.py:")
    root = repository(tmp_path / "helper", (("return self.level == self.size", "low = self.level; return True"),))
    refused(root, "low is a local name here", "model/tank.py:")
    root = repository(tmp_path / "property", (("return tank.level != 4", "low = tank.level != 4; return True"),))
    refused(root, "assigned but never used; leave it out", "invariants/tank.py:")
    function = "from model.lows import low\n\n\nclass Tank"
    lows = {"model/lows.py": "def low(level: int) -> int:\n    most = 3\n    return level\n"}
    root = repository(tmp_path / "function", (("class Tank", function), ("self.level += 1", "self.level = low(1)")),
                      files=lows)  # fmt: skip
    refused(root, "most is a local name here", "model/lows.py:2")


# Models and designs.


FORGOTTEN = {
    "an action": ("def empties(self) -> None:\n        self.level = 0", "no step and no property calls empties, which"),
    "an action that changes a part": (
        "def empties(self) -> None:\n        for at in range(1):\n            self.level -= 1",
        "no step and no property calls empties, which assigns variables; write @action above it",
    ),
    "a fair action": ("@fair\n    def empties(self) -> None:\n        self.level = 0", "empties is no action"),
    "a rule": ("@rule\n    def limit(self) -> int:\n        return 3", "no step and no property calls the rule limit"),
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_a_method_that_nothing_calls_is_an_error_in_every_command(tmp_path: Path, name: str) -> None:
    text, said = FORGOTTEN[name]
    model = f"{TANK.rstrip()}\n\n    {text}\n".replace("import Between", "import fair, Between")
    root = tank_project(tmp_path, **{**GOOD, "model/tank.py": model})
    refused(root, said, "model/tank.py:")
    with inside(root):
        ended = CliRunner().invoke(command, ["show", "tank"], standalone_mode=False)
    assert said in str(ended.exception)


@pytest.mark.parametrize(
    "text",
    [
        "def level_is(self) -> int:\n        return self.level",
        "@action\n    def leaks(self) -> None:\n        self.empties()\n\n"
        "    def empties(self) -> None:\n        self.level = 0",
    ],
)
def test_helpers_are_no_forgotten_actions(tmp_path: Path, text: str) -> None:
    root = tank_project(tmp_path, **{**GOOD, "model/tank.py": f"{TANK.rstrip()}\n\n    {text}\n"})
    assert "calls" not in checked(root)[1]


def test_a_model_without_an_action_is_an_error(tmp_path: Path) -> None:
    root = tank_project(tmp_path)
    path = root / "model/tank.py"
    path.write_text(path.read_text().replace("@action", "@rule"))
    refused(root, "Tank has no action, so nothing ever happens in it", "model/tank.py:")


DESIGNS = {
    "a misspelled rule": ("def ful(self) -> bool:\n    return self.level == 2",
                          "the method ful overrides nothing, and nothing in Design uses it; did you mean 'full'?"),
    "a misspelled action": ("@action\ndef fil(self) -> None:\n    self.level = 0",
                            "fil is a new action next to 'fill', and does not replace it; did you mean 'fill'?"),
    "a misspelled constant": ("sizes = Constant(9)", "the constant sizes overrides nothing"),
    "a misspelled variable": ("levle: bool = True", "the variable levle overrides nothing"),
    "a method that is called nowhere": ("def leaks(self) -> bool:\n    return True", "overrides nothing"),
    "nothing": ('"""It says that it leaks."""', "Design changes nothing of Tank; override the rule that it breaks"),
}  # fmt: skip
DIFFERENT = {
    "a rule": "def full(self) -> bool:\n    return self.level == 2",
    "an action of its own": "@action\ndef leaks(self) -> None:\n    self.level = 0",
    "a helper of an override": "def full(self) -> bool:\n    return self.half()\n\n"
                               "def half(self) -> bool:\n    return self.level == 2",
    "a property of its own": "@invariant\ndef p(self) -> bool:\n    return self.level < 2",
    "another start": "def start(self) -> None:\n    self.level = 2",
}  # fmt: skip


def design(root: Path, body: str, spec: str = "") -> Path:
    text = "from floodmark import *\nfrom model.tank import Tank\n\n\nclass Design(Tank):\n"
    text += "".join(f"    {line}\n" if line else "\n" for line in dedent(body).splitlines())
    flawed = f'[[flawed]]\nclass = "flawed:Design"\nproperty = "gets_full"\n{spec}'
    return tank_project(root, flawed, **{**GOOD, "specs/flawed.py": text})


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_that_does_not_differ_where_it_seems_to(tmp_path: Path, name: str) -> None:
    refused(design(tmp_path, DESIGNS[name][0]), DESIGNS[name][1], "specs/flawed.py:")


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_design_that_differs_from_its_good_one_is_accepted(tmp_path: Path, name: str) -> None:
    code, text = checked(design(tmp_path, DIFFERENT[name]))
    assert code != ExitCode.USER_ERROR, text


def test_a_design_may_leave_a_helper_to_the_design_that_it_extends(tmp_path: Path) -> None:
    root = design(tmp_path, "def start(self) -> None:\n    self.level = 1")
    path = root / "specs/flawed.py"
    between = "\n".join([
        "class Half(Tank):", "    def full(self) -> bool:", "        return self.half()", "",
        "    def half(self) -> bool:", "        return self.level == 2", "", "", "class Design(Half):",
    ])
    path.write_text(path.read_text().replace("class Design(Tank):", between))
    code, text = checked(root)
    assert code != ExitCode.USER_ERROR, text


def test_a_design_may_differ_in_constants_alone(tmp_path: Path) -> None:
    code, text = checked(design(tmp_path, "pass", "constants = { size = 2 }\n"))
    assert code == ExitCode.NOT_AS_EXPECTED, text


# What a lock does not accept.

OUTSIDE = "    @boundary\n    def inside(self) -> bool:\n        return self.level > 7\n\n"


@pytest.mark.parametrize(
    ("edits", "said", "allowed"),
    [
        ((("require(self.level > 0)", "require(self.level > 8)"),), "tank: never fired: drain", 'idle = ["drain"]\n'),
        ((("    @reachable", OUTSIDE.rstrip(" ")), ("reachable,", "boundary,")),
         "tank: no state is within the boundary",
         'idle = ["fill", "drain"]\n[expect]\ndistinct = 0\n'),
    ],
)
def test_the_lock_accepts_no_silent_green(
    tmp_path: Path, edits: tuple[tuple[str, str], ...], said: str, allowed: str
) -> None:
    root = repository(tmp_path / "one", edits, spec="")
    ended = run(root, update=True)
    assert ended.code == ExitCode.DRIFT, ended.text
    assert "the lock was not written: these checks are weaker than they look" in ended.text
    assert said in ended.text
    assert "warning" in ended.lines[-6] + ended.lines[-5] + ended.lines[-4]
    assert not (root / "specs/floodmark.lock").exists()
    locked(repository(tmp_path / "two", edits, spec=allowed))


def test_a_lock_records_no_premise_that_is_never_true(tmp_path: Path) -> None:
    implication = STEPS.replace("tank.level != 4", "tank.level < 9 or tank.level != 4")
    root = repository(tmp_path / "one", spec="", files={"invariants/tank.py": implication})
    ended = run(root, update=True, engine="native")
    assert "tank: never_four: its premise not tank.level < 9 is never true" in ended.text
    assert not (root / "specs/floodmark.lock").exists()
    root = repository(tmp_path / "two", spec='vacuous = ["never_four"]\n', files={"invariants/tank.py": implication})
    assert run(root, update=True, engine="native").code == 0
