"""Tests the verdict cache: a verdict is used only while nothing that it depends on has changed."""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path

import pytest

from floodmark.checkers.gate import job
from floodmark.checkers.verdict.result import ExitCode
from tests.support.gates import Ended, forget, locked, repository, run

OTHER = {"specs/other.toml": 'model = "model.tank:Tank"\ninvariants = ["gets_full"]\n'}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache/verdicts"


def known(ended: Ended) -> str:
    """How many verdicts came from the cache."""
    return ended.lines[-2].rpartition(", ")[2].removesuffix(" from the cache)")


def test_nothing_is_found_twice(tmp_path: Path, folder: Path) -> None:
    root = repository(tmp_path / "one", files=OTHER)
    first = run(root, cache=True)
    assert known(first) == "0 of 3"
    assert len(list(folder.iterdir())) == 3
    second = run(root, cache=True)
    assert known(second) == "3 of 3"
    assert [line.split()[:5] for line in second.lines[:-2]] == [line.split()[:5] for line in first.lines[:-2]]


def test_without_it_nothing_is_taken_or_kept(tmp_path: Path, folder: Path) -> None:
    root = repository(tmp_path / "one")
    assert known(run(root)) == "0 of 2"
    assert not folder.exists()
    run(root, cache=True)
    assert known(run(root)) == "0 of 2"


def test_a_damaged_entry_is_found_anew(tmp_path: Path, folder: Path) -> None:
    root = repository(tmp_path / "one")
    locked(root, cache=True)
    whole, cut = sorted(folder.iterdir())
    whole.write_bytes(whole.read_bytes()[:-1] + b"?")
    cut.write_bytes(b"")
    ended = run(root, cache=True)
    assert (ended.code, known(ended)) == (0, "0 of 2")
    assert known(run(root, cache=True)) == "2 of 2"


def test_what_was_written_in_part_or_by_two_counts_as_absent(folder: Path) -> None:
    from floodmark.checkers import disk_cache

    path = folder / "entry"
    disk_cache.write(path, b"a" * 9)
    longer = path.read_bytes()
    disk_cache.write(path, b"b" * 6)
    shorter = path.read_bytes()
    assert disk_cache.read(path) == b"b" * 6
    for content in [*(longer[:length] for length in range(len(longer))), shorter + longer[len(shorter) :]]:
        path.write_bytes(content)
        assert disk_cache.read(path) is None


def test_an_entry_under_the_name_of_another_is_found_anew(tmp_path: Path, folder: Path) -> None:
    root = repository(tmp_path / "one")
    locked(root, cache=True)
    one, other = sorted(folder.iterdir())
    other.write_bytes(one.read_bytes())
    assert known(run(root, cache=True)) == "1 of 2"


def test_what_cannot_be_unpickled_is_found_anew(tmp_path: Path, folder: Path) -> None:
    from floodmark.checkers import disk_cache

    root = repository(tmp_path / "one")
    run(root, cache=True)
    for path in folder.iterdir():
        disk_cache.write(path, b"another version wrote this")
    assert known(run(root, cache=True)) == "0 of 2"


@pytest.mark.parametrize(
    ("edit", "left"),
    [
        (("specs/tank.toml", "model =", "title = 'A tank'\nmodel ="), "1 of 3"),
        (("specs/tank.toml", "[[flawed]]", "[constants]\nsize = 2\n[[flawed]]"), "1 of 3"),
        (("specs/tank.toml", '"gets_full"', '"below_size"'), "2 of 3"),
        (("specs/other.toml", "invariants", "limits.states = 100\ninvariants"), "2 of 3"),
        (("specs/tank.toml", "model =", "# a comment\nmodel ="), "3 of 3"),
    ],
)
def test_a_changed_spec_is_checked_again(tmp_path: Path, edit: tuple[str, str, str], left: str) -> None:
    root = repository(tmp_path / "one", files=OTHER)
    run(root, cache=True)
    path = root / edit[0]
    path.write_text(path.read_text().replace(edit[1], edit[2]))
    assert known(run(root, cache=True)) == left


def test_a_changed_property_is_checked_again(tmp_path: Path) -> None:
    root = repository(tmp_path / "one", files=OTHER)
    run(root, cache=True)
    path = root / "invariants/tank.py"
    path.write_text(path.read_text().replace("!= 4", "!= 9"))
    forget(root)
    assert known(run(root, cache=True)) == "0 of 3"


def test_a_changed_model_is_checked_again(tmp_path: Path) -> None:
    root = repository(tmp_path / "one", files=OTHER)
    run(root, cache=True)
    path = root / "model/tank.py"
    path.write_text(path.read_text().replace("self.level > 0", "self.level > 1"))
    forget(root)
    assert known(run(root, cache=True)) == "0 of 3"


def test_changed_checkers_check_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "one")
    run(root, cache=True)
    monkeypatch.setattr(job, "source_hash", lambda: "another")
    assert known(run(root, cache=True)) == "0 of 2"
    monkeypatch.setattr(job, "versions", lambda: "another")
    assert known(run(root, cache=True)) == "0 of 2"


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ("[limits]\nstates = 2\n", ExitCode.UNDETERMINED),
        ("invariants = ['nothing_like_that']\n", ExitCode.USER_ERROR),
        ("invariants = []\n", ExitCode.NOTHING_CHECKED),
    ],
)
def test_only_verdicts_are_kept(tmp_path: Path, folder: Path, spec: str, code: ExitCode) -> None:
    root = repository(tmp_path / "one", spec=spec)
    (root / "specs/floodmark.lock").write_text("version = 1\n")
    for _ in range(2):
        ended = run(root, cache=True)
        assert ended.code in (code, ExitCode.DRIFT)
        assert known(ended).startswith("0 of")
    assert not folder.exists()


def test_results_name_files_as_the_current_folder_sees_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "one", spec='[[scenario]]\nname = "drains at once"\nsteps = ["drain"]\n')
    monkeypatch.chdir(root)
    assert "(model/tank.py:" in run(root, cache=True).text
    monkeypatch.chdir(root / "model")
    ended = run(root, cache=True)
    assert known(ended) == "0 of 1"
    assert "(tank.py:" in ended.text
    assert known(run(root, cache=True)) == "1 of 1"


def test_nothing_is_kept_or_known_once_floodmarks_sources_have_changed(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from floodmark import language
    from floodmark.checkers import disk_cache, own_sources

    source = tmp_path / "package" / "room" / "loops.py"
    source.parent.mkdir(parents=True)
    source.write_text("LIMIT = 1\n")
    monkeypatch.setattr(own_sources, "_PACKAGE", tmp_path / "package")
    monkeypatch.setattr(own_sources, "_RECENT_SECONDS", -1.0)
    monkeypatch.setattr(language, "loaded_at", time.time_ns() + 10_000_000)
    disk_cache.write(folder / "entry", b"as loaded")
    assert disk_cache.read(folder / "entry") == b"as loaded"
    time.sleep(0.05)
    source.write_text("LIMIT = 2\n")
    os.utime(source, (0, 0))
    disk_cache.write(folder / "another", b"of which version?")
    assert disk_cache.read(folder / "entry") is None
    assert not (folder / "another").exists()


def test_the_text_of_an_installed_module_that_models_may_name_is_part_of_every_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from floodmark.checkers.gate.values import PURE
    from floodmark.checkers.project import versions

    assert {name for name in PURE if name.partition(".")[0] not in sys.stdlib_module_names} == {
        *versions._NAMED_BY_MODELS
    }
    monkeypatch.setattr(versions, "_NAMED_BY_MODELS", ("names_for_models",))
    monkeypatch.syspath_prepend(tmp_path)
    seen = []
    for text in (None, "LIMIT = 1\n", "LIMIT = 2\n"):
        if text is not None:
            (tmp_path / "names_for_models.py").write_text(text)
        importlib.invalidate_caches()
        seen.append(versions.versions.__wrapped__())
    assert len(set(seen)) == 3
