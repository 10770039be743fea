"""Tests damaged checkpoints: another run writes to the folder, bytes change, disks fill up."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers.search_result import Limits, Options
from floodmark.checkers.spark import partition_count
from floodmark.checkers.spark.checkpoint import Checkpoints, Manifest
from floodmark.checkers.spark.cluster import READINGS, Cluster
from floodmark.checkers.spark.jobs import JobFailed
from floodmark.checkers.spark.session import session
from floodmark.language.errors import SourceError
from tests.spark.test_spark_runs import Sieve, copied, found_by, interrupted, same

pytestmark = pytest.mark.usefixtures("spark")

__all__ = ["interrupted"]


def opened(folder: Path) -> Checkpoints:
    return Checkpoints(session().sparkContext, str(folder))


# Other runs.


@pytest.mark.slow
def test_a_folder_belongs_to_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened(tmp_path)
    first.must_be_empty()
    first.claim()
    with pytest.raises(SourceError, match=r"another run has taken .*: process \d+ on .*over with --spark resume"):
        opened(tmp_path).must_be_empty()
    original = Checkpoints.save
    saved: list[int] = []

    def save(self: Checkpoints, *given: Any) -> None:
        saved.append(0)
        if len(saved) == 3:
            opened(tmp_path).claim()
        original(self, *given)

    monkeypatch.setattr(Checkpoints, "save", save)
    with pytest.raises(SourceError, match=r"another run writes its checkpoints to .*each run needs its own folder"):
        found_by(Sieve(), resume=str(tmp_path))
    assert len(saved) == 3
    monkeypatch.undo()
    same(found_by(Sieve(), resume=str(tmp_path)), Sieve())
    newest = max(tmp_path.glob("claim-*.json"))
    newest.write_text("{")
    (tmp_path / f".{newest.name}.crc").unlink()
    with pytest.raises(SourceError, match="an unknown run"):
        first._must_be_ours()


@pytest.mark.slow
def test_two_runs_never_write_one_file(interrupted: Path, tmp_path: Path) -> None:
    """Both go on from the same checkpoints, one after the other; the second begins where the first one ended."""
    kept = copied(interrupted, tmp_path)
    before = {path.name for path in kept.iterdir()}
    same(found_by(Sieve(), resume=str(kept)), Sieve())
    written = {path: path.stat().st_mtime_ns for path in kept.rglob("*") if path.is_file() and "claim" not in path.name}
    assert {path.name for path in kept.iterdir()} > before
    same(found_by(Sieve(), resume=str(kept)), Sieve())
    assert {path: path.stat().st_mtime_ns for path in written} == written


# Bytes.


def flipped(path: Path, place: int) -> None:
    """Changes a byte, in a file that keeps no checksums of its own."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << place % 8
    path.write_bytes(content)
    (path.parent / f".{path.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize("apart", [17, pytest.param(1, marks=pytest.mark.slow)])
def test_damage_to_any_byte_of_a_manifest_is_noticed(apart: int, interrupted: Path, tmp_path: Path) -> None:
    kept = copied(interrupted, tmp_path)
    newest, before = sorted(kept.glob("level-*.json"), reverse=True)[:2]
    wanted = [chain[-1] for chain in opened(kept).manifests()]
    content = newest.read_bytes()
    for place in range(0, len(content), apart):
        flipped(newest, place)
        with contextlib.suppress(SourceError):
            assert [chain[-1] for chain in opened(kept).manifests()] == wanted[1:]
        newest.write_bytes(content)
    assert [chain[-1] for chain in opened(kept).manifests()] == wanted
    old = before.read_bytes()
    for place in range(0, len(old), 4 * apart):  # of an earlier one: those after it cannot be relied on either
        flipped(before, place)
        with contextlib.suppress(SourceError):
            assert [chain[-1] for chain in opened(kept).manifests()] == wanted[2:]
        before.write_bytes(old)


def resumed_with_another_byte(kept: Path, part: Path, place: int) -> bool:
    """Resumes after a byte was changed, and puts everything back; False when no checkpoint was whole."""
    content, before = part.read_bytes(), set(kept.iterdir())
    flipped(part, place)
    try:
        found = found_by(Sieve(), resume=str(kept))
    except SourceError as error:
        found = None
        said = error.message
    part.write_bytes(content)
    for path in set(kept.iterdir()) - before:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if found is None:
        assert "there is no intact checkpoint" in said
        return False
    same(found, Sieve())
    return True


def parts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("part-*") if path.stat().st_size > 200)


def test_damage_to_a_byte_of_stored_states_is_noticed(interrupted: Path, tmp_path: Path) -> None:
    """The level before is taken."""
    kept = copied(interrupted, tmp_path)
    part = parts(max(kept.glob("states-*")))[0]
    assert resumed_with_another_byte(kept, part, part.stat().st_size - 20)


def test_what_is_damaged_is_named_and_everything_is_read_once(
    interrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the second checkpoint, the first is gone on from; of the first, none is, however many there are."""
    read: list[str] = []
    original = Checkpoints._put

    def put(self: Checkpoints, cluster: Cluster, manifest: Manifest, *given: Any) -> Any:
        read.append(manifest.data)
        return original(self, cluster, manifest, *given)

    monkeypatch.setattr(Checkpoints, "_put", put)
    for number in (1, 0):
        kept = copied(interrupted, tmp_path / str(number))
        data = sorted(path.name for path in kept.glob("states-*"))
        part = max((kept / data[number]).glob("part-*"), key=lambda path: path.stat().st_size)
        flipped(part, part.stat().st_size - 20)
        read.clear()
        if number:
            found = found_by(Sieve(), resume=str(kept))
            same(found, Sieve())
            assert any(data[number] in note and "continues from level" in note for note in found.notes)
        else:
            with pytest.raises(SourceError, match=f"no intact checkpoint in .*: damaged: {data[0]}"):
                found_by(Sieve(), resume=str(kept))
        assert read == [*data[:number], *[data[number]] * READINGS]


@pytest.mark.slow
def test_damage_to_many_bytes_of_stored_states_is_noticed(interrupted: Path, tmp_path: Path) -> None:
    """Of the newest level, and of the first, without which none can be gone on from."""
    kept = copied(interrupted, tmp_path)
    for part in parts(max(kept.glob("states-*"))):
        assert all(resumed_with_another_byte(kept, part, place) for place in range(0, part.stat().st_size, 13))
    for part in parts(min(kept.glob("states-*"))):
        for place in range(0, part.stat().st_size, 29):
            resumed_with_another_byte(kept, part, place)


@pytest.mark.slow
def test_a_search_that_outgrew_its_partitions_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its checkpoints begin anew with the new number; those before are not among what it is continued from."""
    for name, value in (("FOR_EACH_CORE", 1), ("STATES", 8), ("MAX_STATES", 10), ("GROWTH", 1)):
        monkeypatch.setattr(partition_count, name, value)
    most = Options(workers=1, limits=Limits(states=41))
    found = found_by(Sieve(), most, checkpoint=str(tmp_path), partitions=None)
    assert any("partitions instead of 2" in note for note in found.notes), found.notes
    (newest, *_) = opened(tmp_path).manifests()
    assert [manifest.partitions for manifest in newest] == [newest[0].partitions] * len(newest)
    assert newest[0].partitions > 2
    monkeypatch.undo()
    same(found_by(Sieve(), resume=str(tmp_path)), Sieve())


# Full disks.


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    folder.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("no small disk can be mounted here: there is no mount")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_of_checkpoints_is_an_error_that_names_it(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 60) as disk:
        with pytest.raises(SourceError, match=r"cannot be written: .*(No space left on device|ENOSPC)"):
            found_by(Sieve(), checkpoint=str(disk / "kept"))
        levels = [json.loads(path.read_text()) for path in (disk / "kept").glob("level-*.json")]
        assert levels
        shutil.copytree(disk / "kept", tmp_path / "kept")
    same(found_by(Sieve(), resume=str(tmp_path / "kept")), Sieve())


@pytest.mark.slow
def test_a_full_disk_of_a_worker_is_an_error_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_disk(tmp_path / "disk", 400) as disk:
        original = Cluster.__init__

        def init(self: Cluster, *given: Any) -> None:
            original(self, *given)
            object.__setattr__(self.run, "folder", str(disk / "run"))

        monkeypatch.setattr(Cluster, "__init__", init)
        with pytest.raises(JobFailed, match=r"the disk of .* is full; a file of .* MB does not fit"):
            found_by(Sieve(), Options(workers=1))
