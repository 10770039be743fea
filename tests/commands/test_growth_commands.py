"""Containers without a capacity as the commands show them: figures, lock, emitted tests, proofs, exports, explorer."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.explorer.session import PageAddress, Session
from floodmark.checkers.project.spec import read
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.language.errors import SourceError
from tests.support.growing_models import FIGURES
from tests.support.projects import write

SOURCE = """\
from typing import Annotated

from floodmark import Between, Constant, Model, Seq, Set, action, initial, invariant, require

Flag = Annotated[int, Between(0, 1)]


class Logs(Model):
    most = Constant(5)
    log: Seq[Flag]
    seen: Set[Seq[Flag]]

    @initial
    def start(self) -> None:
        self.log = Seq()
        self.seen = Set()

    @action
    def appends(self, flag: Flag) -> None:
        require(len(self.log) < self.most)
        self.log.append(flag)

    @action
    def notes(self) -> None:
        require(len(self.seen) < 2)
        self.seen.add(self.log)

    @action
    def forgets(self, entries: Seq[Flag]) -> None:
        require(entries in self.seen)
        self.seen.remove(entries)

    @invariant
    def short(self) -> bool:
        return len(self.log) <= self.limit()

    def limit(self) -> int:
        return self.most


class Leaks(Logs):
    def limit(self) -> int:
        return 4
"""
SPEC = """\
model = "logs.py:Logs"

[constants]
most = 4

[[flawed]]
class = "logs.py:Leaks"
property = "short"
constants = { most = 6 }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "logs.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "logs.toml").write_text(SPEC, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*words: str) -> str:
    done = CliRunner().invoke(command, list(words), standalone_mode=False)
    assert not done.return_value, done.output
    assert done.exception is None
    return done.stdout


def refused(*words: str) -> str:
    done = CliRunner().invoke(command, list(words))
    assert isinstance(done.exception, SourceError), done.output
    return str(done.exception)


def test_a_check_tells_what_grew(project: Path) -> None:
    said = ran("check", "logs.toml", "--json", "found.json")
    assert "largest sizes: log 4 of 4, seen 2 of 2" in said
    grew = "the search restarted 2 times, as containers without a capacity grew: an element of seen to 4, log to 4"
    assert f"note: {grew}" in said
    good, flawed = json.loads((project / "found.json").read_text())["results"]
    assert good["widths"] == {"log": 4, "an element of seen": 4}
    assert flawed["widths"] == {"log": 8, "an element of seen": 4}
    other = ran("check", "logs.toml", "--engine", "reference", "--json", "again.json")
    assert "largest sizes: log 4 of 4, seen 2 of 2" in other
    for one, two in zip((good, flawed), json.loads((project / "again.json").read_text())["results"], strict=True):
        assert {key: one[key] for key in FIGURES} == {key: two[key] for key in FIGURES}


def test_a_model_is_shown_with_the_bits_that_it_takes_at_least(project: Path) -> None:
    said = ran("show", "logs.toml")
    assert "variables (14 bits or more)" in said
    assert "log   Seq[0..1]       4 bits or more" in said


def test_a_lock_is_the_same_for_each_run(project: Path) -> None:
    """And kept verdicts are those of a fresh run."""
    write(project, {"pyproject.toml": "", "specs/logs.toml": SPEC.replace("logs.py", "../logs.py")})
    locks = []
    for workers in ("1", "2"):
        ran("gate", "--update-lock", "--no-cache", "--workers", workers)
        locks.append((project / "specs/floodmark.lock").read_text(encoding="utf-8"))
    for kept in ((), ()):
        assert "floodmark.lock is unchanged" in ran("gate", *kept)
    assert locks[0] == locks[1]


def test_an_emitted_test_replays_a_counterexample(project: Path) -> None:
    ran("check", "logs.toml", "--only-variant", "Leaks", "--json", "found.json")
    text = ran("report", "found.json", "--as", "test")
    names: dict[str, Any] = {"__file__": str(project / "test_logs.py")}
    exec(compile(text, "emitted", "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert tests
    for test in tests:
        test()


def test_a_recorded_run_may_hold_any_number(project: Path) -> None:
    lines = [{"action": "appends", "arguments": {"flag": 1}}] * 6
    lines.append({"state": {"log": [1] * 6}})
    (project / "run.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert "accepted" in ran("conform", "logs.toml", "--trace", "run.jsonl", "--set", "most=6")


def test_a_bounded_search_grows_and_a_proof_asks_for_a_capacity(project: Path) -> None:
    said = ran("prove", "logs.toml", "--method", "bmc", "--depth", "6", "--only-variant", "Leaks")
    assert "violates short in 6 states; there is no shorter run" in said
    for options in (("--method", "induction"), ("--method", "k-induction"), ("--method", "infer"), ("--unbounded",)):
        said = refused("prove", "logs.toml", *options)
        assert "logs.py:10: log has no capacity, and a proof begins in any state of the declared types" in said


LOG = "Annotated[Seq[Flag], Capacity(4)]"
BOUNDED = SOURCE.replace("Between, ", "Between, Capacity, ").replace("Seq[Flag]", LOG).replace(
    f"Set[{LOG}]", f"Annotated[Set[{LOG}], Capacity(2)]")


def test_a_record_that_no_variable_holds_needs_a_capacity_too(project: Path) -> None:
    text = BOUNDED.replace("class Logs(", "class Box(Record):\n    held: Seq[Flag]\n\n\nclass Logs(")
    text = text.replace("Model, Seq", "Model, Record, Seq")
    text = text.replace("len(self.log) <= self.limit()", "len(Box(held=self.log).held) <= self.limit()")
    (project / "logs.py").write_text(text, encoding="utf-8")
    assert "the field held has no capacity" in refused("prove", "logs.toml")
    assert "the field held to 4" in ran("check", "logs.toml", "--only-variant", "Logs")


TEXT = """\
from typing import Annotated

from floodmark import Bag, Between, Capacity, Model, Seq, Set, action, initial, require

Flag = Annotated[int, Between(0, 1)]
Wide = Annotated[int, Between(0, 5000)]


class Logs(Model):
    log: {log}
    bag: {bag}
    far: {far}

    @initial
    def start(self) -> None:
        self.log = Seq()
        self.bag = Bag()
        self.far = Set()

    @action
    def appends(self, flag: Flag) -> None:
        require(len(self.log) < 3)
        self.log.append(flag)
        self.bag.add(flag)
        self.far.add(1000 * len(self.log))

    @action
    def takes(self, far: Wide) -> None:
        require(far in self.far and len(self.log) > 1)
        self.far.remove(far)
        self.bag.remove(self.log[0])
        self.log = self.log[1:]


class Leaks(Logs):
    pass
"""


@pytest.mark.parametrize("language", ["tla", "promela"])
def test_an_export_has_the_widths_that_a_search_found(project: Path, language: str) -> None:
    kinds = {"log": "Seq[Flag]", "bag": "Bag[Flag]", "far": "Set[Wide]"}
    texts = []
    for number, widths in enumerate(({}, {"log": 4, "bag": 4, "far": 4}, {"log": 2, "bag": 4, "far": 4})):
        given = {name: f"Annotated[{kinds[name]}, Capacity({width})]" for name, width in widths.items()}
        (project / f"logs{number}.py").write_text(TEXT.format(**{**kinds, **given}), encoding="utf-8")
        (project / "logs.toml").write_text(f'model = "logs{number}.py:Logs"\n', encoding="utf-8")
        ran("export", "logs.toml", "--as", language, "--into", f"out{number}")
        (file,) = (path for path in (project / f"out{number}").iterdir() if path.suffix in (".tla", ".pml"))
        texts.append(file.read_text(encoding="utf-8").replace(f"logs{number}", "logs"))
    assert texts[0] == texts[1] != texts[2]


def test_an_export_without_widths_is_refused(project: Path) -> None:
    (project / "logs.toml").write_text(SPEC + "\n[limits]\nstates = 3\n", encoding="utf-8")
    said = refused("export", "logs.toml", "--as", "tla", "--into", "out")
    assert "the widths of containers without a capacity are unknown" in said
    assert "the limit of 3 states" in said


def test_the_explorer_walks_as_far_as_one_likes(project: Path) -> None:
    check = Check(read(project / "logs.toml"), None, CheckSettings())
    page = Session(check.spec, check)
    path: tuple[str, ...] = ("start()", *["appends(flag=1)"] * 4, "notes()")
    answer = page.answer(PageAddress("Logs", "Leaks", path, len(path) - 1))
    assert answer["stop"] == ""
    assert answer["path"] == list(path)
    assert "forgets(entries=[1,1,1,1])" in unescape(answer["parts"]["actions"])
