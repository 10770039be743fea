"""Whose a name is, and that there is one copy of each class, whoever imports its file, by which name and when."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from floodmark.checkers.project.loading import observed, observed_dependences
from floodmark.checkers.project.modules import load_file
from floodmark.checkers.project.spec import read
from floodmark.checkers.project.unpacking import unpack
from floodmark.checkers.spark.package import write_zip
from floodmark.language.errors import SourceError
from tests.support.command import found_in
from tests.support.projects import INVARIANTS, TANK, tank_project, write

HEAD = """
import sys
from pathlib import Path
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import read

spec = read(Path("specs/tank.toml"))
def flawed(): return spec.flawed_class(spec.flawed[0])
"""
SPEC = '[[flawed]]\nclass = "flawed:Leaks"\nproperty = "gets_full"\n'
SIZED = TANK.replace("class Tank", "from .size import SIZE\n\nclass Tank")


def python(root: Path, code: str, *path: Path | str) -> None:
    """Runs code in a repository; Python finds modules in the folders of ``path``, and not in the repository."""
    command = [sys.executable, "-P", "-c", HEAD + code]
    done = subprocess.run(command, cwd=root, env=found_in(*path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# One copy.

ORDERS = {
    "a script before its spec": """
        from model.tank import Tank
        import model.tank
        assert spec.model_class() is Tank
        assert issubclass(flawed(), Tank)
        assert model.tank.Tank is Tank
    """,
    "a spec before a script": """
        cls = spec.model_class()
        assert issubclass(flawed(), cls)
        from model.tank import Tank
        import model.tank as module, model
        assert Tank is cls and module.Tank is cls and model.tank is module
    """,
    "known-bad designs and properties": """
        known = spec.properties(spec.model_class())
        bad = flawed()
        import invariants.tank
        from specs.flawed import Leaks
        assert Leaks is bad
        assert invariants.tank.never_two is known["never_two"].function
    """,
    "properties before a spec": """
        from invariants.tank import never_two
        assert spec.properties(spec.model_class())["never_two"].function is never_two
        assert "never_two" in collect(flawed(), [sys.modules["invariants.tank"]])
    """,
    "another folder on the path": """
        sys.path.insert(0, "specs")
        from flawed import Leaks
        assert flawed() is Leaks
        del sys.modules["flawed"]
        import flawed as again
        assert again.Leaks is Leaks
    """,
    "relative imports": """
        import model.size
        model.size.SIZE = "changed"
        assert sys.modules[spec.model_class().__module__].SIZE == "changed"
    """,
    "relative imports of a spec": """
        cls = spec.model_class()
        import model.size, importlib
        assert importlib.import_module(".size", cls.__module__.rpartition(".")[0]) is model.size
    """,
    "pickle": """
        import pickle
        cls = spec.model_class()
        named = f"c{cls.__module__}\\nTank\\n.".encode()
        from model.tank import Tank
        assert pickle.loads(pickle.dumps(cls)) is cls and pickle.loads(named) is cls
        assert pickle.loads(b"cmodel.tank\\nTank\\n.") is cls
    """,
    "pickle, the script first": """
        import pickle
        from model.tank import Tank
        cls = spec.model_class()
        named = f"c{spec.project.name_of(Path('model/tank.py').resolve())}\\nTank\\n.".encode()
        assert pickle.loads(named) is Tank
    """,
}


@pytest.mark.parametrize(("name", "packages"), [
    pytest.param(name, packages, id=f"{name}, {'packages' if packages else 'folders'}",
                 marks=() if packages == (number % 2 == 0) else pytest.mark.slow)
    for number, name in enumerate(ORDERS) for packages in (True, False)
])
def test_a_class_is_there_once(tmp_path: Path, name: str, packages: bool) -> None:
    files = {"model/tank.py": SIZED, "model/size.py": "SIZE = 3\n", "invariants/tank.py": INVARIANTS}
    files |= {f"{folder}/__init__.py": "" for folder in ("model", "invariants", "specs") if packages}
    root = tank_project(tmp_path, SPEC, **files)
    code = ORDERS[name]
    python(root, "if True:" + code, root)
    python(root, "if True:" + code.replace("\n", "\n        sys.path.insert(0, str(Path.cwd()))\n", 1))


def test_a_package_that_imports_its_modules(tmp_path: Path) -> None:
    root = tank_project(tmp_path, SPEC, **{"model/__init__.py": "from model.tank import Tank\n"})
    python(root, "import model\nassert spec.model_class() is model.Tank and issubclass(flawed(), model.Tank)\n", root)
    python(root, "cls = spec.model_class()\nimport model\nassert cls is model.Tank is model.tank.Tank\n", root)


def test_a_script_that_is_run_is_no_second_copy_in_silence(tmp_path: Path) -> None:
    """Its properties would be about a class that nobody checks."""
    script = HEAD + "if __name__ == '__main__':\n    print(list(spec.properties(Tank)))\n"
    root = tank_project(tmp_path, SPEC, **{"invariants/tank.py": INVARIANTS})
    (root / "model/tank.py").write_text(TANK + script.replace("spec = ", "if __name__ == '__main__': spec = "))
    done = subprocess.run(
        [sys.executable, "model/tank.py"], cwd=root, env=found_in(root), capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "there are two copies of Tank" in done.stderr


# Two projects.


def test_two_projects_that_are_both_on_the_path(tmp_path: Path) -> None:
    for packages in (True, False):
        first, second = (tank_project(tmp_path / f"{name}{packages}", SPEC) for name in ("first", "second"))
        write(second, {"model/tank.py": TANK.replace("Constant(3)", "Constant(1)")})
        if packages:
            write(first, {"model/__init__.py": ""})
            write(second, {"model/__init__.py": ""})
        code = f"""
other = read(Path({str(second)!r}) / "specs/tank.toml")
from model.tank import Tank
assert spec.model_class() is Tank
assert [cls().constant_values["size"] for cls in (spec.model_class(), other.model_class())] == [3, 1]
assert other.flawed_class(other.flawed[0]).__mro__[1] is other.model_class()
"""
        python(first, code, first, second)


def test_a_project_is_not_where_the_command_runs(tmp_path: Path) -> None:
    """Another repository on the path does not lend its modules."""
    here = tank_project(tmp_path / "here", SPEC)
    there = tank_project(tmp_path / "there", SPEC, **{"model/tank.py": "raise SystemExit('the wrong file')\n"})
    python(here, "assert issubclass(flawed(), spec.model_class())\n", there)


# Names.


def test_a_model_in_one_file(tmp_path: Path) -> None:
    """``model.py`` in the place of ``model/``; the shipped protocols are there beside it."""
    files = {"model.py": TANK, "specs/bad.py": "from model import Tank\n\nclass Bad(Tank):\n    pass\n"}
    spec = 'model = "{}"\n'
    texts = {"one": "model:Tank", "two": "bad:Bad", "three": "model.alter_isr.core:AlterIsr"}
    root = write(tmp_path, files | {f"specs/{name}.toml": spec.format(text) for name, text in texts.items()})
    one, two, three = (read(root / f"specs/{name}.toml").model_class() for name in texts)
    assert issubclass(two, one)
    assert three.__name__ == "AlterIsr"


def test_names_of_the_standard_library_and_of_installed_packages(tmp_path: Path) -> None:
    """Nothing replaces the standard library, a folder no package; else a repository's own come first, for it alone."""
    import click
    import networkx

    sys.modules.pop("colorsys", None)  # nobody has imported it yet
    text = "import click, colorsys, queue, networkx\nfrom floodmark import Model\n\nclass M(Model):\n    found = {}\n"
    root = write(tmp_path, {
        "colorsys.py": "raise SystemExit\n", "queue.py": "raise SystemExit\n", "click.py": "OWN = 1\n",
        "networkx/data.txt": "",
        "model/m.py": text.format("(click.OWN, queue.Queue, networkx.DiGraph)"),
        "specs/m.toml": 'model = "model.m:M"\n',
    })
    cls = read(root / "specs/m.toml").model_class()
    assert vars(cls)["found"][2] is networkx.DiGraph
    assert sys.modules["click"] is click
    assert not hasattr(click, "OWN")


def test_a_file_may_be_called_as_one_of_the_standard_library(tmp_path: Path) -> None:
    root = write(tmp_path, {"model/queue.py": TANK, "specs/queue.toml": 'model = "model.queue:Tank"\n',
                            "specs/types.py": TANK, "specs/types.toml": 'model = "types:Tank"\n'})
    for name in ("queue", "types"):
        assert read(root / f"specs/{name}.toml").model_class().__name__ == "Tank"


def test_a_package_comes_before_a_module(tmp_path: Path) -> None:
    """As in Python."""
    root = tank_project(tmp_path, "", **{"model/tank/__init__.py": TANK.replace("Constant(3)", "Constant(1)")})
    python(root, "from model.tank import Tank\nassert spec.model_class() is Tank and Tank.size is not None\n", root)
    assert read(root / "specs/tank.toml").model_class()().constant_values["size"] == 1


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    root = write(tmp_path, {f"specs/{name}.{end}": text for name in ("v1.0", "v1_0")
                            for end, text in (("py", TANK), ("toml", f'model = "{name}.py:Tank"\n'))})
    assert read(root / "specs/v1.0.toml").model_class()
    with pytest.raises(SourceError, match=r"this module has the same name as .*/specs/v1\.0\.py; rename one of them"):
        read(root / "specs/v1_0.toml").model_class()


def test_a_protocol_is_one_projects_as_a_whole(tmp_path: Path) -> None:
    """What a repository's own model/kraft lacks is not taken from the shipped one, which may mean something else."""
    spec = 'model = "model.{}"\n'
    root = write(tmp_path, {
        "model/kraft/mine.py": TANK, "specs/mine.toml": spec.format("kraft.mine:Tank"),
        "specs/gone.toml": spec.format("kraft.quorum:Kraft"), "specs/isr.toml": spec.format("alter_isr.core:AlterIsr"),
    })
    assert read(root / "specs/mine.toml").model_class().__name__ == "Tank"
    assert read(root / "specs/isr.toml").model_class().__name__ == "AlterIsr"
    with pytest.raises(SourceError, match=r"there is no module 'model\.kraft\.quorum'"):
        read(root / "specs/gone.toml").model_class()


@pytest.mark.slow
def test_the_shipped_protocols_out_of_a_zip_file(tmp_path: Path) -> None:
    """As workers of a cluster have them; what was unpacked before and is damaged since is not used."""
    package = write_zip(tmp_path / "floodmark.zip")
    root = write(tmp_path / "team", {"specs/tank.toml": 'model = "model.alter_isr.core:AlterIsr"\n'})
    unpacked = tmp_path / "tmp"
    unpacked.mkdir()
    code = f"""
import floodmark, tempfile
assert floodmark.__file__.startswith({str(package)!r})
cls = spec.model_class()
assert Path(sys.modules[cls.__module__].__file__).is_relative_to({str(unpacked)!r})
assert "isr_holds_committed" in spec.properties(cls)
"""
    before = f"import tempfile\ntempfile.tempdir = {str(unpacked)!r}\n"
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-P", "-c", before + HEAD + code], cwd=root, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(package)},
        )
        assert done.returncode == 0, done.stderr
        for file in unpacked.glob("*/floodmark/project/invariants/alter_isr/core.py"):
            file.write_text("")


def test_an_unpacked_folder_is_used_again_as_long_as_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("kept/a.py", "x = 1\n")
        archive.writestr("kept/b.py", "y = 1\n")
        archive.writestr("left/c.py", "z = 1\n")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = unpack(content.getvalue(), "some", "kept/")
    assert sorted(it.relative_to(first).as_posix() for it in first.rglob("*.py")) == ["kept/a.py", "kept/b.py"]
    assert unpack(content.getvalue(), "some", "kept/") == first
    assert [*tmp_path.iterdir()] == [first]
    (first / "kept/a.py").write_text("x = 2\n")
    second = unpack(content.getvalue(), "some", "kept/")
    assert second != first
    assert (second / "kept/a.py").read_text() == "x = 1\n"


def test_a_class_knows_its_module_while_others_have_its_name(tmp_path: Path) -> None:
    """A script imports a model plainly; a spec then loads another that extends it, while plain names are hidden."""
    base = "from floodmark import Model, action\n\n\nclass Base(Model):\n    x: bool = False\n\n"
    base += "    @action\n    def turn(self) -> None:\n        self.x = not self.x\n"
    middle = "from model.base import Base\n\n\nclass Middle(Base):\n    y: bool = False\n"
    more = "from model.middle import Middle\n\n\nclass More(Middle):\n    z: bool = False\n"
    files = {"model/base.py": base, "model/middle.py": middle, "model/more.py": more}
    root = write(tmp_path, {"pyproject.toml": "", **files})
    script = (
        "import model.middle\nfrom floodmark.checkers.project.modules import load_file\n"
        "more = load_file('model/more.py').More\nassert issubclass(more, model.middle.Middle)\n"
    )
    command = [sys.executable, "-P", "-c", script]
    done = subprocess.run(command, cwd=root, env=found_in(root), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_environment_is_no_longer_observed_after_a_file_was_loaded() -> None:
    watched = [(each, name) for each in (os.environ, os.environb) for name in ("encodekey", "decodekey")]
    before = [vars(each)[name] for each, name in watched]
    with observed():
        assert not any(vars(each)[name] in before for each, name in watched)
    assert [vars(each)[name] for each, name in watched] == before


def test_what_python_reads_to_import_a_library_is_not_read_by_who_imports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opens = "import colorsys\nopen(__file__).close()"
    write(tmp_path, {"pyproject.toml": "", "one.py": "import colorsys", "other.py": opens})
    for name, said in (("one.py", None), ("other.py", f"{tmp_path / 'other.py'}:2 opens a file")):
        monkeypatch.delitem(sys.modules, "colorsys", raising=False)
        load_file(tmp_path / name)
        assert observed_dependences(str(tmp_path / name)) == said
