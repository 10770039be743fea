"""Which properties belong to a model, and which of them a spec chooses."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.project.modules import Project, is_copy, load_file, names_looked_up_once
from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import read
from floodmark.language.errors import SourceError
from tests.support.projects import INVARIANTS, TANK, tank_project, write


def collected(root: Path, *files: Path) -> dict[str, Property]:
    spec = read(root / "specs/tank.toml")
    return spec.properties(spec.model_class(), files)


def test_methods_and_the_invariants_of_the_same_name(tmp_path: Path) -> None:
    root = tank_project(tmp_path, **{"invariants/tank.py": INVARIANTS})
    found = collected(root)
    assert {name: prop.kind for name, prop in found.items()} == {
        "below_size": "invariant",
        "gets_full": "reachable",
        "never_two": "invariant",
        "one_step": "transition",
    }
    never_two = found["never_two"]
    assert never_two.doc == "The level is never two."
    assert never_two.file == str(root / "invariants/tank.py")
    assert "def never_two" in Path(never_two.file).read_text(encoding="utf-8").splitlines()[never_two.line - 1]


def test_what_a_module_has_got_since_it_was_asked_is_collected(tmp_path: Path) -> None:
    root = tank_project(tmp_path, **{"invariants/tank.py": INVARIANTS})
    before = collected(root)
    module = sys.modules[before["never_two"].function.__module__]
    outside = write(tmp_path / "outside", {"more.py": INVARIANTS.replace("never_two", "never_three")}) / "more.py"
    vars(module)["never_three"] = vars(load_file(outside))["never_three"]
    del vars(module)["never_two"]
    assert collected(root).keys() == before.keys() - {"never_two"} | {"never_three"}


def test_a_new_file_is_found_unless_names_are_looked_up_once(tmp_path: Path) -> None:
    project = Project.of(tank_project(tmp_path) / "specs/tank.toml")
    with names_looked_up_once():
        assert project.find("invariants.late") is None
        write(project.root, {"invariants/late.py": ""})
        with names_looked_up_once():
            assert project.find("invariants.late") is None
        assert project.find("invariants.late") is None
    assert project.find("invariants.late") == project.root / "invariants/late.py"


def test_files_of_the_spec_and_of_the_command(tmp_path: Path) -> None:
    extra = INVARIANTS.replace("never_two", "never_three").replace("one_step", "one_step_again")
    root = tank_project(tmp_path, 'invariant_files = ["extra.py"]\n', **{"specs/extra.py": INVARIANTS})
    outside = write(tmp_path / "outside", {"more.py": extra}) / "more.py"
    assert list(collected(root, outside))[2:] == ["never_two", "one_step", "never_three", "one_step_again"]


def test_functions_in_the_file_of_the_model_or_of_a_base(tmp_path: Path) -> None:
    beside = """
        @invariant
        def beside_it(tank: Tank) -> bool:
            return tank.level >= 0


        class Other(Model):
            on: bool = False


        @invariant
        def about_another(other: Other) -> bool:
            return not other.on
    """
    flawed = "from model.tank import Tank\n\n\nclass Leaks(Tank):\n    pass\n"
    root = tank_project(tmp_path, **{"model/tank.py": f"{dedent(TANK)}\n\n{dedent(beside)}", "specs/leaks.py": flawed})
    assert list(collected(root)) == ["below_size", "gets_full", "beside_it"]
    spec = read(root / "specs/tank.toml")
    assert "beside_it" in spec.properties(vars(load_file(root / "specs/leaks.py"))["Leaks"])


def test_only_properties_of_the_model_are_collected(tmp_path: Path) -> None:
    invariants = """
        from __future__ import annotations
        from floodmark import Model, invariant
        from model.tank import Tank
        from model.other import Other

        @invariant
        def of_tank(tank: Tank) -> bool:
            return True

        @invariant
        def of_every_model(model: Model) -> bool:
            return True

        @invariant
        def of_another(other: Other) -> bool:
            return True

        @invariant
        def quoted(tank: "Tank") -> bool:
            return True

        def no_property(tank: Tank) -> bool:
            return True
        """
    other = TANK.replace("class Tank", "class Other")
    root = tank_project(tmp_path, **{"invariants/tank.py": invariants, "model/other.py": other})
    assert list(collected(root))[2:] == ["of_tank", "of_every_model", "quoted"]


def test_a_subclass_keeps_the_properties_of_its_base(tmp_path: Path) -> None:
    barrel = "from model.tank import Tank\nclass Barrel(Tank): ...\n"
    files = {"invariants/tank.py": INVARIANTS, "model/barrel.py": barrel}
    root = tank_project(tmp_path, **files, **{"specs/barrel.toml": 'model = "model.barrel:Barrel"\n'})
    spec = read(root / "specs/barrel.toml")
    assert {"below_size", "never_two"} <= set(spec.properties(spec.model_class()))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("def broken(tank) -> bool: ...", "annotate the first parameter of broken"),
        ("def broken(tank: Tnak) -> bool: ...", "the annotation Tnak cannot be read"),
        ("def broken() -> bool: ...", r"broken must take \(model\)"),
        ("def broken(old: Tank, new: Tank) -> bool: ...", r"broken must take \(model\)"),
        ("def below_size(tank: Tank) -> bool: ...", "property 'below_size' is already defined at .*tank.py"),
    ],
)
def test_an_invalid_property_is_an_error_with_its_line(tmp_path: Path, function: str, message: str) -> None:
    head = "from __future__ import annotations\nfrom floodmark import invariant\nfrom model.tank import Tank\n"
    root = tank_project(tmp_path, **{"invariants/tank.py": f"{head}\n@invariant\n{function}\n"})
    with pytest.raises(SourceError, match=message) as caught:
        collected(root)
    assert (caught.value.file, caught.value.line) == (str(root / "invariants/tank.py"), 6)


def test_a_spec_chooses_by_name(tmp_path: Path) -> None:
    root = tank_project(tmp_path, 'invariants = ["gets_full", "below_size"]\n')
    spec = read(root / "specs/tank.toml")
    assert [prop.name for prop in spec.chosen(collected(root))] == ["gets_full", "below_size"]


def test_an_unknown_name_is_placed_and_answered(tmp_path: Path) -> None:
    root = tank_project(tmp_path, 'title = "x"\ninvariants = ["belowsize"]\n')
    spec = read(root / "specs/tank.toml")
    with pytest.raises(SourceError, match=r"there is no property 'belowsize'; did you mean 'below_size'\?") as caught:
        spec.chosen(collected(root))
    assert (caught.value.file, caught.value.line) == (str(root / "specs/tank.toml"), 3)


def test_a_file_whose_properties_are_about_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "from floodmark import *\nclass M(Model):\n    x: bool = False\n"
        "    @invariant\n    def fine(self) -> bool:\n        return not self.x\n"
    )
    (tmp_path / "spec.toml").write_text('model = "m.py:M"\n')
    (tmp_path / "mine.py").write_text(
        "from model.alter_isr.core import AlterIsr\nfrom floodmark import invariant\n"
        "@invariant\ndef other(model: AlterIsr) -> bool:\n    return False\n"
    )
    result = CliRunner().invoke(
        command, ["check", str(tmp_path / "spec.toml"), "--invariants", str(tmp_path / "mine.py")]
    )
    assert "no property in this file is about M" in str(result.exception)


def made() -> type:
    class Made:
        """One of several that one text makes."""

    return Made


def test_classes_that_a_function_makes_are_not_copies_of_each_other() -> None:
    assert not is_copy(made(), made())
