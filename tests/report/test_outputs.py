"""Tests reports: which files are written, when, what happens when that fails, and that those that are made of the JSON
are those of the results themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.commands.report import ReportKind, report
from floodmark.checkers.report import atomic_file, replay, state_graph, text
from floodmark.checkers.report.html.document import html
from floodmark.checkers.report.itf import itf
from floodmark.checkers.report.json import document
from floodmark.checkers.report.junit import junit
from floodmark.checkers.report.outputs import Reports, write_edits_page, write_reports
from floodmark.checkers.report.replay import test_module as emitted
from floodmark.checkers.report.sarif import sarif
from floodmark.checkers.report.verdict_summary import cases
from floodmark.checkers.saved.results_file import read
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import CheckSettings
from floodmark.checkers.verdict.gate_outcome import Drift
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError
from tests.support.command import floodmark as in_this_process
from tests.support.outcomes import check, inside, tank, write_all
from tests.support.shipped import SPECS, quick


def floodmark(root: Path, *arguments: str, said: str = "", **names: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "floodmark", *arguments]
    known = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
    return subprocess.run(
        command, cwd=root, env={**known, **names}, input=said, capture_output=True, text=True, check=False
    )


CHECK = ("check", "specs/tank.toml")
BEGINNINGS = {"json": '{"schema": "floodmark.results/1",', "junit": "<?xml", "sarif": "{", "html": "<!doctype html>"}


@pytest.mark.slow
def test_one_run_of_the_gate_writes_every_report_that_ci_needs(tmp_path: Path) -> None:
    root = tank(tmp_path)
    ran = floodmark(root, "gate", *(word for name in BEGINNINGS for word in (f"--{name}", f"a.{name}")))
    assert ran.returncode == ExitCode.NOT_AS_EXPECTED
    for name, beginning in BEGINNINGS.items():
        text = (root / f"a.{name}").read_text()
        assert text.replace("{\n ", "{").startswith(beginning)
        assert text.endswith("\n")
    whole = json.loads((root / "a.json").read_text())
    assert len(whole["results"]) == 3
    assert whole["drift"]
    assert "::error" not in ran.stdout
    assert not [path for path in root.iterdir() if path.name.startswith(".a.")]
    for name in ("junit", "sarif", "html"):
        with inside(root):
            again = CliRunner().invoke(command, ["report", "a.json", "--as", name])
        assert (again.exit_code, again.stdout) == (0, (root / f"a.{name}").read_text())


@pytest.mark.slow
def test_with_json_on_standard_output_there_is_nothing_else(tmp_path: Path) -> None:
    """What the run says goes to standard error, whichever process says it."""
    root = tank(tmp_path)
    with (root / "model/tank.py").open("a") as file:
        file.write('import os\n\nprint("loaded")\nos.system("echo loading")\n')
    ran = floodmark(root, *CHECK, "--json", "-")
    assert ran.returncode == ExitCode.NOT_AS_EXPECTED
    assert len(json.loads(ran.stdout)["results"]) == 3
    assert all(said in ran.stderr for said in ("Tank violates never_two", "loaded", "loading"))
    proved = floodmark(root, "prove", "specs/tank.toml", "--json", "-")
    assert json.loads(proved.stdout)["results"][0]["method"] == "induction"


MADE = {"html": "<!doctype html>", "sarif": "{", "junit": "<?xml", "graph": "digraph", "test": "from "}


def test_a_report_is_made_of_results_that_come_through_a_pipe(tmp_path: Path) -> None:
    root = tank(tmp_path)
    with inside(root):
        said = CliRunner().invoke(command, [*CHECK, "--json", "-"]).stdout

        def made(*options: str) -> str:
            ran = CliRunner().invoke(command, ["report", "-", "--as", *options], input=said)
            assert (ran.exit_code, ran.stderr) == (0, "")
            return ran.stdout

        for kind, beginning in MADE.items():
            text = made(kind)
            assert text.startswith(beginning)
            assert text.endswith("\n")
        assert made("itf", "--into", "traces/of/today") == ""
        assert sorted(path.name for path in Path("traces/of/today").iterdir()) == [
            "tank-Leaks.itf.json",
            "tank-StopsHalf.itf.json",
            "tank-Tank.itf.json",
        ]
        assert made("graph", "--into", "a.graphml") == ""
        assert Path("a.graphml").read_text().startswith("<?xml")
        assert made("test", "--into", "test_tank.py") == ""
        assert "def test_tank_breaks_never_two" in Path("test_tank.py").read_text()


def spoil(root: Path, change: str) -> None:
    """Changes the results in ``a.json``, or what they are of."""
    file = root / "a.json"
    whole = json.loads(file.read_text())
    shown = whole["results"][0]
    match change:
        case "source":
            (root / "model/tank.py").write_text((root / "model/tank.py").read_text() + "# mended\n")
        case "spec":
            (root / "specs/tank.toml").write_text("# mended\n" + (root / "specs/tank.toml").read_text())
        case "folder":
            whole["sources"] = {f"elsewhere/{name}": text for name, text in whole["sources"].items()}
        case "schema":
            whole["schema"] = "floodmark.results/2"
        case "state":
            shown["trace"][1]["state"]["level"] = 2
        case "first state":
            shown["trace"][0]["state"]["level"] = 1
        case "step":
            shown["trace"][1]["action"] = "drain"
        case "action":
            shown["trace"][1]["action"] = "fil"
        case "argument":
            shown["trace"][1]["arguments"] = {"by": 1}
        case "property":
            shown["property"] = shown["violation"]["property"] = "below_size"
        case "short":
            del shown["trace"][-1]
        case "constants":
            shown["constants"] = {"size": 2, "other": 1}
        case "checked":
            shown["checked"] = ["below_size", "never_three"]
        case "missing":
            del shown["levels"]
        case "kind":
            whole["results"] = {"a": 1}
        case "text":
            file.write_text("results")
            return
    file.write_text(json.dumps(whole))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("source", "model/tank.py: has changed since the results were found; check it again"),
        ("spec", "specs/tank.toml: has changed since the results were found; check it again"),
        ("folder", "there is no such file here; make reports in the folder in which it was checked"),
        ("schema", "a.json: has floodmark.results/2, and reports are made of floodmark.results/1"),
        ("state", "Tank disagrees with the results: fill() leads to another state than the results say; check it"),
        ("first state", "Tank disagrees with the results: start() is no initial state"),
        ("step", "Tank disagrees with the results: drain() is not enabled"),
        ("action", "Tank disagrees with the results: Tank has no action fil"),
        ("argument", "Tank disagrees with the results: fill takes other parameters: none"),
        ("property", "Tank disagrees with the results: below_size is true at the end of the steps"),
        ("short", "Tank disagrees with the results: never_two is true at the end of the steps"),
        ("constants", "--set other: Tank has no constant 'other'"),
        ("checked", "specs/tank.toml: the spec has other properties than the results say; check it again"),
        ("missing", "a.json: was changed since floodmark wrote it (KeyError: 'levels')"),
        ("kind", "a.json: was changed since floodmark wrote it (TypeError: "),
        ("text", "a.json: is not what --json of floodmark check, gate or prove writes"),
    ],
)
def test_results_that_are_not_those_of_the_spec_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], change: str, why: str
) -> None:
    monkeypatch.chdir(tank(tmp_path))
    results = check(Path("specs/tank.toml"))
    assert write_all(Path(), {}, results) == 0
    report(Path("a.json"), "html", None)
    spoil(Path(), change)
    with pytest.raises(SourceError) as error:
        report(Path("a.json"), "html", None)
    assert why in str(error.value)
    assert capsys.readouterr().out.count("<!doctype html>") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*CHECK, "--json", "no/such/folder.json"), "no/such/folder.json: cannot be written: there is no folder no/su"),
        (("report", "a.json", "--as", "test", "--into", "no/test_a.py"), "there is no folder no"),
        (("gate", "--junit", "specs"), "specs: cannot be written: it is a folder"),
        (("gate", "--json", "a", "--html", "./a"), "--json and --html name the same file; each report needs its own"),
        (("report", "a.json", "--as", "html", "--into", "a.json"), "a.json: would be overwritten: it is an input"),
        (("report", "a.json", "--as", "html", "--into", "b.toml"), "would be overwritten: a .toml file is a source"),
        (("report", "a.json", "--as", "test", "--into", "model/tank.py"), "be overwritten: a .py file is a source"),
        (("report", "a.json", "--as", "itf", "--into", "specs/tank.toml"), "tank.toml: cannot be written: File exists"),
        (("report", "a.json", "--as", "itf"), "traces are a file for each counterexample; say --into FOLDER"),
        (("report", "a.json", "--as", "graph", "--into", "a.svg"), "a.svg ends neither in .dot nor in .graphml"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    with inside(tank(tmp_path)):
        Path("a.json").write_text("{}")
        ran = CliRunner().invoke(command, arguments)
    assert isinstance(ran.exception, SourceError)
    assert message in str(ran.exception)
    assert ran.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "specs/tank.toml", "--json", "specs/tank.toml"], "would be overwritten: it is an input"),
        (["check", "specs/tank.toml", "--json", "model/tank.py"], "would be overwritten: a .py file is a source"),
        (["gate", "--update-lock", "--json", "specs/floodmark.lock"], "would be overwritten: a .lock file is a source"),
        (["plan", "a.json", "--current", "b.json", "--json", "a.json"], "a.json: would be overwritten: it is"),
        (["plan", "a.json", "--current", "b.json", "--json", "c.json"], "c.json: would be overwritten: it is"),
        (["prove", "specs/tank.toml", "--json", "specs/tank.toml"], "would be overwritten: it is an input"),
        (["conform", "specs/tank.toml", "--trace", "a.json", "--json", "a.json"], "would be overwritten: it is an in"),
        (["mutate", "specs/tank.toml", "--json", "specs/tank.toml"], "would be overwritten: it is an input"),
    ],
)
def test_neither_inputs_nor_sources_are_overwritten(tmp_path: Path, arguments: list[str], message: str) -> None:
    root = tank(tmp_path)
    for name in ("a.json", "b.json"):
        (root / name).write_text("{}")
    (root / "c.json").symlink_to("b.json")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    ran = in_this_process(*arguments, at=root)
    assert ran.code == ExitCode.USER_ERROR
    assert message in ran.err
    assert ran.out == ""
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_what_keeps_a_report_from_being_written_is_no_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> str:
        raise SourceError("there is no room")

    monkeypatch.setattr("floodmark.checkers.report.html.document.edits_page", full)
    assert write_edits_page(tmp_path / "a.html", {}) == ExitCode.USER_ERROR
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "error: the HTML report: there is no room\n")


def test_a_report_that_fails_costs_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> str:
        raise TypeError("'NoneType' object is not iterable")

    monkeypatch.setattr("floodmark.checkers.report.html.document.html", broken)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    with inside(tank(tmp_path)):
        Path("a.html").write_text("of an earlier run")
        options = ["--html", "a.html", "--junit", "a.xml", "--json", "a.json"]
        code = command.main(["gate", *options], standalone_mode=False)
        said = capsys.readouterr()
        assert code == ExitCode.INTERNAL_ERROR
        assert "never_two" in said.out
        assert "(exit 1: a property is violated, or an expected violation did not happen) (" in said.out
        assert "internal error in floodmark, in the HTML report: TypeError: 'NoneType' object is not iter" in said.err
        assert not Path("a.html").exists()
        assert Path("a.xml").exists()
        assert len(json.loads(Path("a.json").read_text())["results"]) == 3


REPOSITORY = Path(__file__).parents[2]
QUICK = [address.relative_to(SPECS).as_posix() for address in quick()]
ALWAYS = ("alter_isr/batch.toml", "zk_controller/topics.toml")
"""Specs whose traces have optional sets in maps, maps that are keyed by other identifiers than who acts, and queues."""
FEW = Limits(states=5_000)
"""Searches that end here are undetermined; known-bad designs mostly break before."""


@pytest.mark.parametrize(
    "spec", [pytest.param(each, marks=() if each in ALWAYS else pytest.mark.slow) for each in QUICK]
)
def test_every_report_of_every_spec_is_the_same_when_it_is_made_of_the_json(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.chdir(REPOSITORY)
    results = check(REPOSITORY / "specs" / spec, CheckSettings(engine="native", workers=1, limits=FEW))
    seconds = 0.0064999999  # printed as 6 ms; as 7 ms once it is rounded to microseconds
    results = [
        replace(each, search_result=replace(each.search_result, seconds=seconds))
        for each in results
        if each.search_result is not None
    ]
    files = {name: tmp_path / f"a.{name}" for name in BEGINNINGS}
    assert write_reports(Reports(**files), results) == 0
    again = read(files["json"]).results
    assert document(again) == document(results) == files["json"].read_text()
    bare: dict[str, Any] = {
        "subject": None, "search_result": None, "violation": None, "properties": (), "unreached": ()
    }
    for one, other in zip(again, results, strict=True):
        assert replace(one, **bare) == replace(other, **bare)
        assert text.lines(one, traces=True) == text.lines(other, traces=True)
        assert one.violation is None or itf(one) == itf(other)
    assert files["html"].read_text() == html(cases(again))
    assert files["sarif"].read_text() == sarif(cases(again))
    assert files["junit"].read_text() == junit(cases(again))
    assert replay.test_module(results) == replay.test_module(again)
    drawn = state_graph.check_to_draw(again)
    assert drawn is not None
    assert state_graph.graphml(state_graph.state_graph(drawn)).startswith("<?xml")


def test_proofs_and_drift_come_back(tmp_path: Path) -> None:
    seconds = 0.0499999
    no = ExitCode.NOT_AS_EXPECTED
    facts = {"source": "KIP-1", "obligations": 3}
    proved = ProofResult("kip.c", "claim", "violated", no, "no", seconds, "specs/kip.py", 7, lines=["x"], facts=facts)
    other = ProofResult("core", "bmc", "undetermined", ExitCode.AS_EXPECTED, "", 1.0, variant="V", constants={"n": 3})
    drift = [Drift("a", "distinct", "2", "1", "shrank", "a.toml", 1, "a", "b"), Drift("a", "b", "-", "1", "", "a.toml")]
    (tmp_path / "a.json").write_text(document([], [proved, other], drift))
    saved = read(tmp_path / "a.json")
    assert (saved.results, saved.proofs, saved.drift) == ([], [proved, other], drift)


LASSO = """
from floodmark import Model, action, always_eventually


class Lamp(Model):
    on: bool = False
    flashes: bool = False

    @action
    def flash(self) -> None:
        self.flashes = not self.flashes

    @always_eventually
    def is_on(self) -> bool:
        return self.on
"""


FAILING = """
from __future__ import annotations
from floodmark import Between, Model, action, invariant, require, transition
from typing import Annotated


class Pump(Model):
    height: Annotated[int, Between(0, 5)] = 0

    @action
    def rises(self, by: Annotated[int, Between(1, 2)]) -> None:
        require(self.height + by < 5)
        self.height += by

    @invariant
    def has_a_third(self) -> bool:
        steps = (1, 2)
        return steps[self.height // 2] > 0

    @transition
    def changes_little(self, new: Pump) -> bool:
        steps = (1, 2, 3, 4)
        return steps[new.height] > 0
"""


@pytest.mark.parametrize("name", ["has_a_third", "changes_little"])
def test_a_property_that_fails_is_asked_of_the_states_that_it_is_about(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step has two of them; it failed only in the last ones, and where it does not, the results are refused."""
    monkeypatch.chdir(tmp_path)
    Path("pump.py").write_text(FAILING)
    Path("pump.toml").write_text('model = "pump.py:Pump"\n')
    results = check(Path("pump.toml"), CheckSettings(engine="reference", properties=(name,)))
    text = document(results)
    whole = json.loads(text)
    (entry,) = whole["results"]
    assert (entry["verdict"], len(entry["trace"])) == ("error", 3)
    Path("a.json").write_text(text)
    assert document(read(Path("a.json")).results) == text
    assert "with pytest.raises(IndexError):" in emitted(results)
    del entry["trace"][-1]
    Path("a.json").write_text(json.dumps(whole))
    with pytest.raises(SourceError, match=f"Pump disagrees with the results: {name} does not fail"):
        read(Path("a.json"))


def test_a_lasso_that_does_not_close_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamp.py").write_text(LASSO)
    Path("lamp.toml").write_text('model = "lamp.py:Lamp"\n')
    results = check(Path("lamp.toml"), CheckSettings(engine="reference"))
    text = document(results)
    Path("a.json").write_text(text)
    assert document(read(Path("a.json")).results) == text
    whole = json.loads(text)
    (entry,) = whole["results"]
    assert len(entry["trace"]) == 1
    entry["trace"].append({"action": "flash", "arguments": {}, "state": {"on": False, "flashes": True}})
    Path("a.json").write_text(json.dumps(whole))
    with pytest.raises(SourceError, match="the steps do not lead back to the state after step 1"):
        read(Path("a.json"))


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(SourceError, match="cannot be written: No space left on device"):
        atomic_file.write(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    atomic_file.write(tmp_path / "written", "")
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_report_may_go_to_a_device(tmp_path: Path) -> None:
    ran = floodmark(tank(tmp_path), *CHECK, "--json", "/dev/stdout")
    assert '"results": [' in ran.stdout
    assert ran.returncode == ExitCode.NOT_AS_EXPECTED


@pytest.mark.slow
def test_github_is_told_without_being_asked(tmp_path: Path) -> None:
    root = tank(tmp_path)
    (root / "summary.md").write_text("before\n")
    ran = floodmark(root, *CHECK, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(root / "summary.md"))
    assert "::error file=invariants/tank.py,line=8,title=tank Tank::violated: never_two" in ran.stdout
    assert (root / "summary.md").read_text().startswith("before\n## Floodmark: a property is violated")
    ran = floodmark(root, *CHECK, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(root / "no/such/file"))
    assert ran.returncode == ExitCode.USER_ERROR


def test_elsewhere_it_is_silent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with inside(tmp_path), pytest.MonkeyPatch.context() as patch:
        patch.delenv("GITHUB_ACTIONS", raising=False)
        patch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
        write_reports(Reports(), check(tank(tmp_path) / "specs/tank.toml"))
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "summary.md").exists()


def test_drift_from_the_lock_is_a_failure_in_every_report(tmp_path: Path) -> None:
    drift = Drift("alter_isr/core", "distinct", "663,218", "12", "the state space shrank", "specs/tank.toml", 1)
    names: dict[ReportKind, str] = {"junit": "a.xml", "sarif": "a.sarif", "html": "a.html"}
    with inside(tmp_path):
        results = check(tank(tmp_path, 'invariants = ["below_size"]\n') / "specs/tank.toml")
        write_all(tmp_path, names, results, [drift])
    assert json.loads((tmp_path / "a.json").read_text())["drift"][0]["note"] == "the state space shrank"
    (failure,) = ElementTree.parse(tmp_path / "a.xml").getroot().iter("failure")
    assert failure.get("message") == "drift: distinct: was 663,218 | now 12"
    (run,) = json.loads((tmp_path / "a.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["floodmark.lock"]
    assert run["invocations"][0]["exitCode"] == ExitCode.DRIFT
    page = (tmp_path / "a.html").read_text()
    assert "1 of 2 outcomes is as expected" in page
    assert "the state space shrank" in page
