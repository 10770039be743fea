"""Tests specs with rows: one file that checks a model at several sizes, each a spec of its own for all that uses it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.shell_completion import ShellComplete

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.gate import lock
from floodmark.checkers.gate.scope import states_expected
from floodmark.checkers.mutation.trial import TrialBudget, stages
from floodmark.checkers.project.spec import ExpectedVerdict, Spec, find, read, read_all
from floodmark.checkers.project.spec_address import join_address, split_address
from floodmark.checkers.report.outputs import Reports
from floodmark.checkers.search_result import Limits
from floodmark.checkers.spark.check_run import _may_be_a_task
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.checkers.verdict.result import ExitCode
from floodmark.conformance import model_of
from floodmark.language.errors import SourceError
from tests.interface.test_pytest_plugin import outcomes, run_pytest
from tests.support import gates
from tests.support.hostile import Run, put, runs
from tests.support.projects import INVARIANTS, tank_project, write

__all__ = ["runs"]

ROWS = """
title = "a tank of any size"

[constants]
size = 3

[expect]
depth = 4

[limits]
seconds = 100

[[flawed]]
class = "flawed:Leaks"
property = "gets_full"

[[flawed]]
class = "flawed:StopsHalf"
property = "gets_full"
rows = ["small", "large"]

[[row]]
name = "small"
expect = { distinct = 4 }

[[row]]
name = "large"
title = "a large tank"

[row.constants]
size = 9

[row.expect]
distinct = 10
depth = 10

[[row]]
name = "vast"
tier = "deep"
constants = { size = 40 }
expect = { depth = 41 }
limits = { states = 1000 }
"""
SMALL_AND_LARGE = """
[[flawed]]
class = "flawed:Leaks"
property = "gets_full"

[[row]]
name = "small"
constants = { size = 3 }

[[row]]
name = "large"
constants = { size = 5 }
"""


def rows(root: Path, text: str = ROWS) -> dict[str, Spec]:
    return {spec.row or "": spec for spec in read_all(tank_project(root, text) / "specs/tank.toml")}


def test_a_row_is_a_spec_of_its_own(tmp_path: Path) -> None:
    small, large, vast = rows(tmp_path).values()
    assert [spec.name for spec in (small, large, vast)] == ["tank@small", "tank@large", "tank@vast"]
    assert [spec.title for spec in (small, large, vast)] == ["a tank of any size", "a large tank", "a tank of any size"]
    assert [spec.constants for spec in (small, large, vast)] == [{"size": 3}, {"size": 9}, {"size": 40}]
    assert [spec.tier for spec in (small, large, vast)] == ["quick", "quick", "deep"]
    assert small.expect == ExpectedVerdict(depth=4, distinct=4)
    assert large.expect == ExpectedVerdict(depth=10, distinct=10)
    assert (small.limits, vast.limits) == (Limits(seconds=100), Limits(states=1000, seconds=100))
    assert [len(spec.properties(spec.model_class())) for spec in (small, large)] == [2, 2]


def test_known_bad_designs_belong_to_the_first_row_unless_they_name_others(tmp_path: Path) -> None:
    found = {name: [flawed.name for flawed in spec.flawed] for name, spec in rows(tmp_path).items()}
    assert found == {"small": ["Leaks", "StopsHalf"], "large": ["StopsHalf"], "vast": []}


def test_proofs_and_mutants_belong_to_the_first_row_unless_they_name_others(tmp_path: Path) -> None:
    text = f"""
        [mutation]
        rows = "large"
        also = ["@small", "other.toml"]
        [[prove]]
        properties = ["below_size"]
        [[prove]]
        method = "bmc"
        rows = "large"
        {SMALL_AND_LARGE}
    """
    write(tmp_path, {"specs/other.toml": 'model = "model.tank:Tank"\n[[row]]\nname = "a"\n'})
    small, large = rows(tmp_path, text).values()
    assert [[proving.name for proving in spec.prove] for spec in (small, large)] == [["induction below_size"], ["bmc"]]
    assert small.mutation is None
    assert [stage.spec.name for stage in stages(large, TrialBudget())] == ["tank@large", "tank@small", "other@a"]
    large = rows(tmp_path, text.replace('"@small", "other.toml"', '"tank.toml"'))["large"]  # its other rows
    assert [stage.spec.name for stage in stages(large, TrialBudget())] == ["tank@large", "tank@small"]


def test_the_line_of_a_key_is_that_of_the_row_that_has_it(tmp_path: Path) -> None:
    text = ('model = "model.tank:Tank"\n' + ROWS).splitlines()
    small, large, vast = rows(tmp_path).values()
    assert [text[(spec.first_line or 0) + offset - 1] for spec, offset in ((small, 1), (large, 1), (vast, 1))] == [
        'name = "small"', 'name = "large"', 'name = "vast"',
    ]  # fmt: skip
    found = [text[(spec.line("constants.size") or 0) - 1] for spec in (small, large, vast)]
    assert found == ["size = 3", "size = 9", "constants = { size = 40 }"]
    assert text[(large.line("expect.distinct") or 0) - 1] == "distinct = 10"
    assert text[(large.line("expect.depth") or 0) - 1] == "depth = 10"
    assert text[(small.line("expect.depth") or 0) - 1] == "depth = 4"
    assert text[(vast.line("limits.seconds") or 0) - 1] == "seconds = 100"


def test_rows_may_be_written_in_line(tmp_path: Path) -> None:
    first, second = rows(tmp_path, 'row = [{ name = "a" }, { name = "b", constants = { size = 5 } }]\n').values()
    assert (first.constants, second.constants) == ({}, {"size": 5})
    assert (second.first_line, second.line("constants.size")) == (2, 2)


TWO = '[[row]]\nname = "a"\n[[row]]\nname = "b"\n'


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ('[[row]]\nconstants = { size = 2 }\n', 'a row needs name = "..."', 2),
        ('[[row]]\n', 'a row needs name = "..."', 2),
        ('row = []\n', "there is no row: write a table [[row]] for each, or leave the key out", 2),
        ('[row]\nname = "a"\n', "write [[row]], with two brackets: there can be several", 2),
        ('[[row]]\nname = "a b"\n', "'a b' cannot be the name of a row: write letters, digits, - and _", 3),
        ('[[row]]\nname = "a@b"\n', "cannot be the name of a row", 3),
        ('[[row]]\nname = "-a"\n', "cannot be the name of a row", 3),
        (TWO.replace("b", "A"), "there is a row a already, at line 2; rename one", 5),
        (TWO, "the row b is the same search as the row a at line 2: give it other constants, or remove one", 4),
        (f"{TWO}constants = {{ size = 2 }}\n[[row]]\nname = \"c\"\n[row.constants]\nsize = 2\n",
         "the row c is the same search as the row b at line 4", 7),
        ('[[row]]\nname = "a"\n[row.constants]\n', "constants is empty, which changes nothing", 4),
        ('[[row]]\nname = "a"\nsise = 2\n', "unknown key 'sise'", 4),
        ('[[row]]\nname = "a"\nmodel = "model.tank:Tank"\n', "unknown key 'model'", 4),
        ('[[row]]\nname = "a"\n[[row.flawed]]\nclass = "f:F"\n', "unknown key 'flawed'", 4),
        ('[[row]]\nname = "a"\ntier = "slow"\n', "tier must be one of quick, deep, not 'slow'", 4),
        ('[[row]]\nname = "a"\nexpect = { distinct = -1 }\n', "distinct must be", 4),
        ('[expect]\ndistnct = 3\n[[row]]\nname = "a"\n', "unknown key 'distnct'", 3),
        ('[expect]\nproperty = "p"\n[[row]]\nname = "a"\n', 'property needs verdict = "violated"', 3),
        ('constants = 3\n[[row]]\nname = "a"\n[row.constants]\nsize = 2\n', "constants must be a table", 2),
        ('[[flawed]]\nclass = "f:F"\nproperty = "p"\nrows = "c"\n' + TWO, "there is no row 'c'; available: a, b", 5),
        ('[[prove]]\nrows = ["smal"]\n[[row]]\nname = "small"\n', "there is no row 'smal'; did you mean 'small'?", 3),
        ('[mutation]\nrows = "c"\n[[row]]\nname = "a"\n', "there is no row 'c'", 3),
        ('[[flawed]]\nclass = "f:F"\nproperty = "p"\nrows = "a"\n', "rows needs a spec that has rows", 5),
    ],
)
def test_what_is_wrong_with_rows_is_said_with_its_line(tmp_path: Path, text: str, message: str, line: int) -> None:
    path = write(tmp_path, {"specs/bad.toml": f'model = "model.tank:Tank"\n{text}'}) / "specs/bad.toml"
    with pytest.raises(SourceError) as caught:
        read_all(path)
    assert message in caught.value.message
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_an_unknown_constant_is_named_at_its_row(tmp_path: Path) -> None:
    text = SMALL_AND_LARGE.replace("{ size = 5 }", "{ sise = 5 }")
    large = rows(tmp_path, text)["large"]
    with pytest.raises(SourceError, match="Tank has no constant 'sise'; did you mean 'size'") as caught:
        Check(large, None, CheckSettings()).model()
    assert caught.value.line == 1 + text.splitlines().index("constants = { sise = 5 }") + 1


def test_a_design_may_break_the_same_property_at_two_rows_only(tmp_path: Path) -> None:
    entry = '[[flawed]]\nclass = "flawed:Leaks"\nproperty = "gets_full"\n'
    assert rows(tmp_path / "fine", f'{entry}rows = "large"\n{SMALL_AND_LARGE}')["large"].flawed
    with pytest.raises(SourceError, match="Leaks already breaks gets_full at line 2") as caught:
        rows(tmp_path / "twice", f'{entry}rows = "small"\n{SMALL_AND_LARGE}')
    assert caught.value.line == 7


def test_a_row_must_not_have_the_name_of_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"specs/tank@large.toml": 'model = "model.tank:Tank"\n'})
    with pytest.raises(SourceError, match="the row large would have the same name in reports as the file tank@large"):
        rows(tmp_path)


def test_an_address_is_that_of_a_row_or_of_a_file(tmp_path: Path) -> None:
    path = tank_project(tmp_path, ROWS) / "specs/tank.toml"
    assert split_address(join_address(path, "small")) == (path, "small")
    assert split_address(path) == (path, None)
    assert read(join_address(path, "large")).row == "large"
    (tmp_path / "specs/odd.toml@small").write_text('model = "model.tank:Tank"\n')
    assert read(tmp_path / "specs/odd.toml@small").row is None
    with pytest.raises(SourceError, match=r"there is no row 'larg'; did you mean 'large'\?"):
        read(join_address(path, "larg"))
    with pytest.raises(SourceError, match=r"this spec has several rows; name one: .*tank\.toml@small or .*@large or "):
        read(path)
    plain = write(tmp_path, {"specs/plain.toml": 'model = "model.tank:Tank"\n'}) / "specs/plain.toml"
    with pytest.raises(SourceError, match=r"there is no row 'small': the spec has no rows; write plain\.toml"):
        read(join_address(plain, "small"))


def test_a_folder_stands_for_the_rows_of_a_tier_and_a_file_for_all(tmp_path: Path) -> None:
    root = tank_project(tmp_path, ROWS)

    def found(argument: str, tier: str | None = None) -> list[str]:
        return [path.name for path in find([root / argument], tier)]

    assert found("specs") == ["tank.toml@small", "tank.toml@large"]
    assert found("specs", "deep") == ["tank.toml@vast"]
    assert found("specs/tank.toml") == ["tank.toml@small", "tank.toml@large", "tank.toml@vast"]
    assert found("specs/tank.toml", "quick") == ["tank.toml@small", "tank.toml@large"]
    assert found("specs/tank.toml@vast", "quick") == ["tank.toml@vast"]


def verdicts(text: str) -> list[str]:
    return [" ".join(line.split()[:2]) for line in text.splitlines() if line.split()[:1] in (["holds"], ["found"])]


def test_check_takes_a_file_or_a_row(run: Run) -> None:
    spec = put("specs/tank.toml", f'model = "model.tank:Tank"\n{ROWS}')
    every = ["holds tank@small", "found Leaks", "found StopsHalf", "holds tank@large", "found StopsHalf"]
    reference = ("--engine", "reference")
    code, text = run("check", "tank", *reference, lay=spec)
    assert (code, verdicts(text)) == (0, [*every, "holds tank@vast"])
    code, text = run("check", *reference)
    assert (code, verdicts(text)) == (0, every)
    for name in ("tank@large", "specs/tank.toml@large"):
        code, text = run("check", name, *reference)
        assert (code, verdicts(text)) == (0, every[3:])
    code, text = run("check", "tank", "--only-variant", "Leaks", *reference)
    assert (code, verdicts(text)) == (0, ["found Leaks"])
    code, text = run("check", "tank@larg", *reference)
    assert (code, "there is no row 'larg'; did you mean 'large'?" in text) == (2, True)
    code, text = run("check", "specs@small", *reference)
    assert (code, "there is no spec or folder 'specs@small' here" in text) == (2, True)


def test_the_command_that_reproduces_names_the_row(run: Run) -> None:
    spec = put("specs/tank.toml", 'model = "model.tank:Tank"\n[expect]\ndistinct = 6\n' + SMALL_AND_LARGE)
    code, text = run("check", "tank", "--engine", "reference", lay=spec)
    assert (code, "distinct 4, expected 6" in text) == (1, True)
    (said,) = [line.partition("reproduce: ")[2] for line in text.splitlines() if "reproduce: " in line]
    assert said == "floodmark check specs/tank.toml@small --only-variant Tank --engine reference"
    code, again = run(*shlex.split(said)[1:])
    assert (code, "distinct 4, expected 6" in again, "large" in again) == (1, True, False)
    code, text = run("prove", "tank@large", "--property", "below_size")
    assert (code, "tank@large" in text, "tank@small" in text) == (0, True, False)


def test_a_proof_that_fails_names_the_row(tmp_path: Path) -> None:
    text = f'[[prove]]\nmethod = "bmc"\nproperties = ["never_four"]\nrows = "large"\n{SMALL_AND_LARGE}'
    said = gates.run(gates.repository(tmp_path, spec=text)).text
    wanted = f"floodmark prove {tmp_path}/specs/tank.toml@large"
    assert f"reproduce: {wanted}" in said
    assert "tank@large bmc never_four" in said


def test_a_report_is_never_written_over_a_spec_that_is_named_by_a_row(run: Run) -> None:
    spec = put("tank.txt.toml", 'model = "model.tank:Tank"\n' + SMALL_AND_LARGE)
    (Path() / "r.html").symlink_to("tank.txt.toml")
    code, text = run("check", "tank.txt.toml@small", "--json", "r.html", lay=spec)
    assert (code, "r.html: would be overwritten: it is an input of this run" in text) == (2, True)


def test_list_and_show_and_those_that_need_one_row(run: Run) -> None:
    spec = put("specs/tank.toml", f'model = "model.tank:Tank"\n{ROWS}')
    code, text = run("list", lay=spec)
    assert [line.split()[0] for line in text.splitlines() if not line.startswith(" ")] == [
        "tank@small", "tank@large", "tank@vast",
    ]  # fmt: skip
    code, text = run("show", "tank")
    assert re.findall(r"^(tank@\w+): Tank|^  size +(\d+)", text, re.MULTILINE) == [
        ("tank@small", ""), ("", "3"), ("tank@large", ""), ("", "9"), ("tank@vast", ""), ("", "40"),
    ]  # fmt: skip
    code, text = run("show", "tank@large")
    assert "tank@small" not in text
    for words in (["export", "tank", "--as", "tla"], ["explore", "tank"], ["conform", "tank", "--trace", "x.jsonl"]):
        code, text = run(*words)
        assert (code, "this spec has several rows; name one: specs/tank.toml@small or " in text) == (2, True), text
    code, text = run("export", "tank", "--as", "tla", "--only-variant", "Leaks")  # which belongs to one row
    assert (code, Path("Leaks.tla").is_file()) == (0, True)
    code, text = run("export", "tank", "--as", "tla", "--only-variant", "StopsHalf")
    assert (code, "name one: specs/tank.toml@small or specs/tank.toml@large" in text) == (2, True)
    assert "vast" not in text


def test_a_row_chooses_its_constants_and_designs(tmp_path: Path) -> None:
    path = tank_project(tmp_path, ROWS) / "specs/tank.toml"
    assert model_of(f"{path}@large").constant_values == {"size": 9}
    assert type(model_of(path, "Leaks")).__name__ == "Leaks"
    with pytest.raises(SourceError, match="several rows"):
        model_of(path)


def test_every_report_tells_rows_apart(run: Run) -> None:
    failing = SMALL_AND_LARGE.replace("gets_full", "one_step")
    spec = put("specs/tank.toml", f'model = "model.tank:Tank"\ninvariants = ["never_two"]\n{failing}')
    put("invariants/tank.py", INVARIANTS)(Path())
    code, _ = run("check", "tank", "--engine", "reference", "--json", "r.json", lay=spec)
    assert code == 1
    for kind, place in {"junit": "r.xml", "sarif": "r.sarif", "html": "r.html", "itf": "traces"}.items():
        assert run("report", "r.json", "--as", kind, "--into", place) == (0, "")
    found = json.loads(Path("r.json").read_text())["results"]
    assert [(each["spec"], each["name"], each["variant"]) for each in found] == [
        ("specs/tank.toml", "tank@small", None), ("specs/tank.toml", "tank@small", "Leaks"),
        ("specs/tank.toml", "tank@large", None),
    ]  # fmt: skip
    suites = [suite.get("name") for suite in ElementTree.parse("r.xml").iter("testsuite")]
    assert suites == ["tank@large", "tank@small"]
    told = json.loads(Path("r.sarif").read_text())["runs"][0]["results"]
    assert len({each["partialFingerprints"]["check/v1"] for each in told}) == len(told) == 2
    page = Path("r.html").read_text()
    assert all(f'id="tank@{row}"' in page and f'href="#tank@{row}"' in page for row in ("small", "large"))
    traces = sorted(path.name for path in Path("traces").iterdir())
    assert traces == ["tank@large-Tank.itf.json", "tank@small-Leaks.itf.json", "tank@small-Tank.itf.json"]


def test_a_result_without_a_place_of_its_own_is_at_its_row(run: Run) -> None:
    spec = put("specs/tank.toml", f'model = "model.tank:Tank"\n{SMALL_AND_LARGE}expect = {{ distinct = 9 }}\n')
    run("check", "tank", "--engine", "reference", "--json", "r.json", lay=spec)
    run("report", "r.json", "--as", "sarif", "--into", "r.sarif")
    (told,) = json.loads(Path("r.sarif").read_text())["runs"][0]["results"]
    line = told["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert Path("specs/tank.toml").read_text().splitlines()[line] == 'name = "large"'


def test_an_emitted_test_has_the_constants_of_its_row(run: Run) -> None:
    spec = put("specs/tank.toml", f'model = "model.tank:Tank"\ninvariants = ["never_two"]\n{SMALL_AND_LARGE}')
    put("invariants/tank.py", INVARIANTS)(Path())
    run("check", "tank@large", "--engine", "reference", "--json", "r.json", lay=spec)
    _, text = run("report", "r.json", "--as", "test")
    assert "model = Tank(size=5)" in text
    assert "(specs/tank.toml@large)" in text


@pytest.mark.slow
def test_rows_are_collectors_of_pytest(tmp_path: Path) -> None:
    root = tank_project(tmp_path, ROWS + '\n[[prove]]\nproperties = ["below_size"]\nrows = "vast"\n')
    printed = run_pytest(root, "specs")
    assert outcomes(printed) == {
        "specs/tank.toml::small::Tank": "PASSED",
        "specs/tank.toml::small::Leaks": "PASSED",
        "specs/tank.toml::small::StopsHalf": "PASSED",
        "specs/tank.toml::large::Tank": "PASSED",
        "specs/tank.toml::large::StopsHalf": "PASSED",
        "specs/tank.toml::vast::induction below_size": "PASSED",
    }


STEPS = (("!= 4", "< 9"),)
"""An edit after which the property of the gate's tank holds at every size."""


def ended(before: Path, to: Path, text: str, *edits: tuple[str, str]) -> gates.Ended:
    """The gate with another spec, or other files, and the lock of the first."""
    return gates.run(gates.edited(before, to, *edits, spec=text))


def test_the_lock_has_an_entry_for_each_row(tmp_path: Path) -> None:
    found = gates.locked(gates.repository(tmp_path, STEPS, spec=SMALL_AND_LARGE))
    assert {name: (entry["distinct"], list(entry.get("flawed", {}))) for name, entry in found.specs.items()} == {
        "tank@small": (4, ["Leaks"]), "tank@large": (6, []),
    }  # fmt: skip
    again = gates.run(tmp_path)
    assert again.code == 0
    assert [line.split()[1] for line in again.lines if line.split()[:1] == ["holds"]] == ["tank@small", "tank@large"]


def before(root: Path, text: str = SMALL_AND_LARGE) -> Path:
    gates.locked(gates.repository(root, STEPS, spec=text))
    return root


def test_a_row_that_is_removed_is_drift(tmp_path: Path) -> None:
    was = before(tmp_path / "before")
    first = '[[row]]\nname = "small"\nconstants = { size = 3 }\n'
    without = ended(was, tmp_path / "last", SMALL_AND_LARGE.partition('\n[[row]]\nname = "large"')[0], *STEPS)
    assert without.code == ExitCode.DRIFT
    assert without.drift() == ["row: holds | -  the row is gone: no row of the file has its constants"]
    without = ended(was, tmp_path / "first", SMALL_AND_LARGE.replace(first, ""), *STEPS)
    assert "row: holds | -  the row is gone: no row of the file has its constants" in without.drift()
    assert "known-bad design: - | Leaks  a new known-bad design" in without.drift()
    alone = SMALL_AND_LARGE.replace(first, "").replace(SMALL_AND_LARGE.partition("\n[[row]]")[0], "")
    without = ended(was, tmp_path / "alone", alone, *STEPS)
    note = "the row is gone: no row of the file has its constants, nor are the known-bad designs Leaks"
    assert without.drift() == [f"row: holds | -  {note}"]


@pytest.mark.slow
def test_a_row_that_is_new_is_drift_until_it_is_accepted(tmp_path: Path) -> None:
    more = f'{SMALL_AND_LARGE}\n[[row]]\nname = "tiny"\nconstants = {{ size = 1 }}\n'
    after = ended(before(tmp_path / "before"), tmp_path / "after", more, *STEPS)
    assert (after.code, after.drift()) == (ExitCode.DRIFT, ["row: - | holds  the row is not in the lock"])
    assert sorted(gates.locked(tmp_path / "after").specs) == ["tank@large", "tank@small", "tank@tiny"]


def test_a_row_of_another_name_is_drift_that_says_so(tmp_path: Path) -> None:
    was = before(tmp_path / "before", f'{SMALL_AND_LARGE}\n[[prove]]\nrows = "large"\nproperties = ["below_size"]\n')
    kept = lock.read(was / "specs" / lock.NAME)
    assert kept is not None
    tried = lock.Mutants({}, 3, {"a change": "a reason"})
    lock.write(was / "specs" / lock.NAME, kept.with_mutants("tank@large", tried))
    text = SMALL_AND_LARGE.replace("large", "big") + '\n[[prove]]\nrows = "big"\nproperties = ["below_size"]\n'
    after = ended(was, tmp_path / "after", text, *STEPS)
    assert after.code == ExitCode.DRIFT
    assert [row for row in after.drift() if not row.startswith("mutants")] == [
        "name: tank@large | tank@big  it has another name; the rest is compared with its entry",
    ]
    found = gates.locked(tmp_path / "after")
    assert sorted(found.specs) == ["tank@big", "tank@small"]
    assert list(found.proofs) == ["tank@big induction below_size"]
    assert found.mutants == {"tank@big": tried}


@pytest.mark.slow
def test_a_lock_from_before_there_were_rows(tmp_path: Path) -> None:
    """The spec became the row that has its constants; where none has them, it is gone."""
    flawed = SMALL_AND_LARGE.partition("\n[[row]]")[0]
    was = before(tmp_path / "before", f"[constants]\nsize = 3\n{flawed}")
    after = ended(was, tmp_path / "after", SMALL_AND_LARGE, *STEPS)
    assert after.drift() == [
        "name: tank | tank@small  it has another name; the rest is compared with its entry",
        "row: - | holds  the row is not in the lock",
    ]
    other = ended(was, tmp_path / "other", SMALL_AND_LARGE.replace("size = 3", "size = 4"), *STEPS)
    assert "spec: holds | -  the spec is gone: no row of the file has its constants" in other.drift()
    back = before(tmp_path / "rows", SMALL_AND_LARGE)
    after = ended(back, tmp_path / "back", f"[constants]\nsize = 3\n{flawed}", *STEPS)
    assert after.drift() == [
        "name: tank@small | tank  it has another name; the rest is compared with its entry",
        "row: holds | -  the row is gone: no row of the file has its constants",
    ]


def test_a_name_may_mean_a_row_or_a_file(tmp_path: Path) -> None:
    """One spec becomes one other, and rather a row of its own file."""
    plain = 'model = "model.tank:Tank"\n'
    was = tmp_path / "before"
    gates.locked(gates.repository(was, STEPS, spec="", files={"specs/twin.toml": plain}))
    to = tmp_path / "after"
    gates.repository(to, STEPS, spec=SMALL_AND_LARGE, files={"specs/another.toml": plain})
    shutil.copy(was / "specs" / lock.NAME, to / "specs" / lock.NAME)
    assert [row for row in gates.run(to).drift() if row.startswith("name")] == [
        "name: tank | tank@small  it has another name; the rest is compared with its entry",
        "name: twin | another  it has another name; the rest is compared with its entry",
    ]
    (to / "specs/another.toml").unlink()
    found = gates.run(to).drift()
    assert "name: tank | tank@small  it has another name; the rest is compared with its entry" in found
    assert "spec: holds | -  the spec is gone" in found


def test_a_renamed_row_that_is_weakened_is_compared(tmp_path: Path) -> None:
    text = SMALL_AND_LARGE.replace("large", "big").partition("[[row]]")
    weaker = f'invariants = ["below_size"]\n[[row]]{text[2]}'
    after = ended(before(tmp_path / "before"), tmp_path / "after", weaker, *STEPS)
    assert "name: tank@large | tank@big  it has another name; the rest is compared with its entry" in after.drift()
    assert after.drift().count("property: never_four | -  the property is no longer checked") == 2
    assert "known-bad design: Leaks | -  the design is no longer checked" in after.drift()


@pytest.mark.slow
def test_a_renamed_row_of_another_tier_keeps_its_entry(tmp_path: Path) -> None:
    deep = f'{SMALL_AND_LARGE}tier = "deep"\n'
    was = before(tmp_path / "before", SMALL_AND_LARGE)
    found = lock.read(was / "specs" / lock.NAME)
    assert found is not None
    found.specs["tank@large"]["tier"] = "deep"
    lock.write(was / "specs" / lock.NAME, found)
    after = ended(was, tmp_path / "after", deep.replace("large", "big"), *STEPS)
    assert after.drift() == ["name: tank@large | tank@big  it has another name; the rest is compared with its entry"]
    kept = gates.locked(tmp_path / "after")
    assert kept.specs["tank@big"] == found.specs["tank@large"]
    assert gates.run(tmp_path / "after").code == 0


def test_nothing_is_said_of_the_rows_of_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    after = ended(before(tmp_path / "before"), tmp_path / "after", f"{SMALL_AND_LARGE}sise = 1\n", *STEPS)
    assert (after.code, after.drift()) == (ExitCode.USER_ERROR, [])
    assert "unknown key 'sise'" in after.text


@pytest.mark.slow
def test_drift_of_a_row_is_at_its_line(tmp_path: Path) -> None:
    after = ended(before(tmp_path / "before"), tmp_path / "after", SMALL_AND_LARGE.replace("size = 5", "size = 6"),
                  *STEPS)
    line = next(number for number, text in enumerate((tmp_path / "after/specs/tank.toml").read_text().splitlines(), 1)
                if text == 'name = "large"')  # fmt: skip
    assert f"distinct: 6 | 7  the state space grew  ({tmp_path}/after/specs/tank.toml:{line - 1})" in after.text


def test_the_lock_tells_how_many_states_a_row_will_have(tmp_path: Path) -> None:
    gates.locked(gates.repository(tmp_path, STEPS, spec=SMALL_AND_LARGE))
    specs = read_all(tmp_path / "specs/tank.toml")
    assert [states_expected(Check(spec, None, CheckSettings())) for spec in specs] == [4, 6]


def test_the_verdicts_of_rows_are_cached_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "cache"))
    gates.locked(gates.repository(tmp_path / "team", STEPS, spec=SMALL_AND_LARGE), cache=True)
    reports = Reports(json=tmp_path / "gate.json")
    again = gates.run(tmp_path / "team", cache=True, reports=reports)
    assert again.code == 0
    assert "3 of 3 from the cache" in again.text
    found = json.loads((tmp_path / "gate.json").read_text())["results"]
    assert [(each["name"], each["distinct"]) for each in found if each["variant"] is None] == [
        ("tank@small", 4), ("tank@large", 6),
    ]  # fmt: skip


def test_a_cached_verdict_is_at_the_line_that_its_row_has_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "cache"))
    team = gates.repository(tmp_path / "team", STEPS, spec=SMALL_AND_LARGE)
    found = gates.locked(team, cache=True)
    found.specs["tank@large"]["distinct"] = 7
    lock.write(team / "specs" / lock.NAME, found)
    spec = team / "specs/tank.toml"
    spec.write_text(f"# a tank\n# of two sizes\n{spec.read_text()}")
    again = gates.run(team, cache=True)
    assert "3 of 3 from the cache" in again.text
    line = spec.read_text().splitlines().index('name = "large"')
    assert f"distinct: 7 | 6  the state space shrank  ({spec}:{line})" in again.text


def test_mutants_are_tried_at_their_row(run: Run) -> None:
    spec = put("specs/tank.toml", f'model = "model.tank:Tank"\n[mutation]\nrows = "large"\n{SMALL_AND_LARGE}')
    code, text = run("mutate", "tank", "--list", lay=spec)
    assert (code, [line for line in text.splitlines() if "@" in line]) == (0, ["tank@large  12 mutants"])
    code, text = run("mutate", "tank@small", "--list")
    assert (code, text.splitlines()[-1]) == (0, "tank@small  12 mutants")


def test_rows_are_several_specs_to_a_cluster(tmp_path: Path) -> None:
    """Asked for Spark, it distributes the search of a single spec, and runs small searches of several as tasks."""
    tank_project(tmp_path, SMALL_AND_LARGE)
    every = [Check(spec, None, CheckSettings(engine="spark")) for spec in read_all(tmp_path / "specs/tank.toml")]
    assert [_may_be_a_task(check, every) for check in every] == [True, True]
    assert not _may_be_a_task(every[0], every[:1])


def test_a_shell_completes_the_names_of_rows(run: Run) -> None:
    put("specs/tank.toml", f'model = "model.tank:Tank"\n{ROWS}')(Path())
    put("specs/bad.toml", "[")(Path())

    def completed(*words: str) -> list[str]:
        shell = ShellComplete(command, {}, "floodmark", "_FLOODMARK_COMPLETE")
        found = shell.get_completions(list(words[:-1]), words[-1])
        return [item.value for item in found if item.type == "plain"]

    every = ["tank", "tank@small", "tank@large", "tank@vast"]
    for name in ("check", "explore", "show", "mutate", "prove", "export", "conform", "list"):
        assert completed(name, "") == ["bad", *every]
    assert completed("check", "tank@") == every[1:]
    code, text = run("check", "tonk@small")
    assert (code, "did you mean 'tank@small'?" in text) == (2, True)
