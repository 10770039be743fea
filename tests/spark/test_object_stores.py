"""Tests checkpoints in object stores, with fsspec's in memory; `tests/systems/test_s3.py` has a server."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers.project.properties import collect
from floodmark.checkers.search_result import Limits, Options, SearchResult
from floodmark.checkers.spark import folders, object_tasks, search
from floodmark.checkers.spark.checkpoint import Checkpoints
from floodmark.checkers.spark.folders import ObjectFolder, is_object_store
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from specs.examples.philosophers import Philosophers
from tests.spark.test_corruption import COUNTERS
from tests.support.losses import Machines, search_states

URL = "memory://bucket/kept"
FIGURES = ("complete", "distinct", "generated", "depth", "digest", "levels", "actions", "violations", "values_seen")
MANY = range(8, 60)


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An empty store that is in this process."""
    store = pytest.importorskip("fsspec").filesystem("memory")
    monkeypatch.setitem(folders.OBJECT_STORES, "memory", "fsspec")
    store.store.clear()
    yield store
    store.store.clear()
    del store.pseudo_dirs[1:]


def searched(model: Model, root: Path, seed: int, states: int | None = None, often: float = 0.0, **how: Any) -> Any:
    machines = Machines(root / str(seed), random.Random(seed), often=often)
    options = Options(workers=1, limits=Limits(states=states))
    return search_states(model, list(collect(type(model), []).values()), machines, options=options, **how)[0]


def same(found: SearchResult, wanted: SearchResult) -> None:
    for name in FIGURES:
        assert getattr(found, name) == getattr(wanted, name), name


def test_object_stores_are_known_by_their_schemes() -> None:
    assert is_object_store("s3://bucket/a")
    assert is_object_store("gs://bucket/a")
    assert not is_object_store("s3a://bucket/a")
    assert not is_object_store("hdfs://host/a")
    assert not is_object_store("/a")
    assert not is_object_store("s3")


@pytest.mark.parametrize("size", [1, 100, 1 << 20])
def test_a_search_is_resumed_from_objects(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects may hold one state, some of a level, or several levels."""
    monkeypatch.setattr(object_tasks, "OBJECT_BYTES", size)
    model = Philosophers(last=2)
    wanted = searched(model, tmp_path, 0)
    ended = searched(model, tmp_path, 1, states=100, wide=20, checkpoint=URL)
    assert not ended.complete
    same(searched(model, tmp_path, 2, resume=URL), wanted)
    manifests = [name for name in ObjectFolder(URL).names() if name.startswith("level-")]
    assert len(manifests) == wanted.depth - next(at for at, width in enumerate(wanted.levels) if width >= 20) + 1
    same(searched(model, tmp_path, 3, resume=URL), wanted)


def test_states_of_several_words_come_back_from_objects(tmp_path: Path) -> None:
    model, _ = COUNTERS.of()
    searched(model, tmp_path, 1, states=20, checkpoint=URL)
    same(searched(model, tmp_path, 2, resume=URL), searched(model, tmp_path, 3))


def test_the_first_checkpoint_is_enough_and_without_its_states_there_is_none(tmp_path: Path) -> None:
    model = Philosophers(last=2)
    searched(model, tmp_path, 1, states=100, checkpoint=URL)
    folder = ObjectFolder(URL)
    first, *later = (name for name in folder.names() if name.startswith("level-"))
    for name in later:
        folder.remove(name)
    same(searched(model, tmp_path, 2, resume=URL), searched(model, tmp_path, 3))
    for name in folder.names():
        if name.startswith("level-") and name != first:
            folder.remove(name)
    states = first.replace("level-", "states-").removesuffix(".json")
    folder.remove(states)
    with pytest.raises(SourceError, match=f"there is no intact checkpoint in {URL}: damaged: {states}"):
        searched(model, tmp_path, 4, resume=URL)


def test_a_search_that_ends_while_it_waits_for_a_worker_is_not_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Philosophers(last=2)
    searched(model, tmp_path, 1, states=100, checkpoint=URL)
    before = ObjectFolder(URL).names()
    monkeypatch.setattr(search, "wait_for_workers", lambda *given: False)
    monkeypatch.setattr(Checkpoints, "resume", lambda *given: pytest.fail("there is no worker to resume it"))
    searched(model, tmp_path, 2, resume=URL)
    assert [name for name in ObjectFolder(URL).names() if "level-" in name] == [
        name for name in before if "level-" in name
    ]


@pytest.mark.parametrize("seed", [*range(MANY.start), *(pytest.param(seed, marks=pytest.mark.slow) for seed in MANY)])
def test_a_driver_that_is_killed_at_any_write_is_resumed(
    seed: int, tmp_path: Path, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partitions are lost meanwhile, and what attempts have written that were not accepted stays there."""

    class KilledError(BaseException):
        pass

    draw = random.Random(seed)
    model = Philosophers(last=2)
    last = draw.randrange(1, 60)
    original, written = ObjectFolder.write, [0]

    def write(self: ObjectFolder, name: str, content: bytes) -> None:
        written[0] += 1
        if written[0] == last:
            raise KilledError
        original(self, name, content)

    monkeypatch.setattr(ObjectFolder, "write", write)
    for attempt in range(3):
        how = "resume" if attempt else "checkpoint"
        try:
            found = searched(model, tmp_path, 10 * seed + attempt, often=0.002, **{how: URL})  # type: ignore[arg-type]
        except KilledError:
            last, written[0] = draw.randrange(1, 60), 0
        else:
            break
    else:
        monkeypatch.setattr(ObjectFolder, "write", original)
        found = searched(model, tmp_path, 10 * seed + 9, often=0.002, resume=URL)
    same(found, searched(model, tmp_path, 10 * seed + 8))


def test_damage_to_an_object_is_named_and_the_level_before_is_used(tmp_path: Path, memory: Any) -> None:
    model = Philosophers(last=2)
    wanted = searched(model, tmp_path, 0)
    searched(model, tmp_path, 1, states=100, checkpoint=URL)
    newest = max(name for name in ObjectFolder(URL).names() if name.startswith("states-"))
    folder = ObjectFolder(f"{URL}/{newest}")
    (name, *_) = folder.names()
    content = folder.read(name)
    changed = bytes([content[0] ^ 1]) + content[1:]
    for other in (changed, content[:-8], content[:-1], content + content[:8], b"", content[8:] + content[:8], None):
        if other is None:
            folder.remove(name)
        else:
            folder.write(name, other)
        before = set(ObjectFolder(URL).names())
        found = searched(model, tmp_path, 2, resume=URL)
        same(found, wanted)
        assert other == content[8:] + content[:8] or any(newest in note for note in found.notes)
        for more in set(ObjectFolder(URL).names()) - before:
            ObjectFolder(URL).remove(more)


def test_of_runs_that_claim_a_folder_at_once_one_succeeds() -> None:
    runs = [Checkpoints(None, URL) for _ in range(8)]  # type: ignore[arg-type]
    won: list[Checkpoints] = []
    said: list[str] = []

    def claim(run: Checkpoints) -> None:
        try:
            run.claim()
            won.append(run)
        except SourceError as error:
            said.append(error.message)

    threads = [threading.Thread(target=claim, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(said)) == (1, 7)
    assert all("another run has just taken" in each for each in said)
    won[0]._must_be_ours()
    with pytest.raises(SourceError, match="another run has taken"):
        Checkpoints(None, URL).must_be_empty()  # type: ignore[arg-type]
    Checkpoints(None, URL).claim()  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="another run writes its checkpoints"):
        won[0]._must_be_ours()


def test_drivers_that_had_the_folder_before_are_known() -> None:
    """Also those of other machines, whose end nobody sees. This process may have had it, and still uses its files."""
    assert Checkpoints(None, URL).replaced() == set()  # type: ignore[arg-type]
    folder = ObjectFolder(URL)
    folder.write("claim-000001.json", b'{"run": "a", "host": "search-x7", "process": 8}')
    folder.write("claim-000002.json", b"{")
    Checkpoints(None, URL).claim()  # type: ignore[arg-type]
    assert Checkpoints(None, URL).replaced() == {("search-x7", "8")}  # type: ignore[arg-type]


def test_a_request_whose_answer_was_lost_is_not_another_run(memory: Any) -> None:
    folder = ObjectFolder(URL)
    folder.write("claim", b"ours")
    assert folder.create("claim", b"ours")
    assert not folder.create("claim", b"theirs")
    assert folder.read("claim") == b"ours"


def test_a_store_without_conditional_writes_is_refused(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    original = type(memory).pipe_file
    monkeypatch.setattr(type(memory), "pipe_file", lambda self, path, value, mode="": original(self, path, value))
    with pytest.raises(OSError, match="has no conditional writes"):
        ObjectFolder(URL).create("claim", b"ours")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec.core

    def missing(url: str) -> Any:
        raise ImportError

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(SourceError, match=r"gs:// needs gcsfs, here and on the workers: pip install gcsfs"):
        ObjectFolder("gs://bucket/a")
