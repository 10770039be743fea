"""Real nodes of PySyncObj: where its model is, and in the runs that lose what it acknowledged.

The installed release is held, or the one in the folder that ``PYSYNCOBJ`` names. ``PYSYNCOBJ_RELEASES`` names a folder
with other releases, each in a folder of its own as ``pip install --target`` fills it: 0.3.10, 0.3.11, 0.3.12, 0.3.15.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from floodmark.checkers.conformance.adapter import Contract
from floodmark.checkers.conformance.lockstep import Mismatch, shortened, side_by_side
from floodmark.checkers.conformance.shrinking import breaking, enabled_steps, shrunk
from floodmark.checkers.conformance.walks import Walks
from floodmark.checkers.project.properties import Property, collect
from floodmark.conformance import model_of, replay, steps_of
from floodmark.language.model import Model
from floodmark.language.reference import Step

EXAMPLE = Path(__file__).parents[2] / "examples" / "pysyncobj"
MODULES = ("adapter", "cluster", "connection_adapter", "hunt", "library")
RELEASES = os.environ.get("PYSYNCOBJ_RELEASES")

installed = pytest.mark.skipif(
    "PYSYNCOBJ" not in os.environ and importlib.util.find_spec("pysyncobj") is None,
    reason="PySyncObj is not installed, and PYSYNCOBJ names no folder with it",
)


@pytest.fixture
def hunt(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The example's modules, which are found by their own names only here."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    yield importlib.import_module("hunt")
    for name in MODULES:
        sys.modules.pop(name, None)


def folder(release: str) -> str:
    """The folder of another release; the test is skipped where there is none."""
    found = None if RELEASES is None else Path(RELEASES, release)
    if found is None or not (found / "pysyncobj").is_dir():
        pytest.skip(f"PYSYNCOBJ_RELEASES names no folder with PySyncObj {release}")
    return str(found)


def of_release(hunt: ModuleType, folder: str | None) -> type[Any]:
    adapter: type[Any] = type("Release", (hunt.ClusterAdapter,), {"folder": folder})
    return adapter


def properties_of(model: Model) -> dict[str, Property]:
    return collect(type(model), [])


def lost_write(hunt: ModuleType) -> tuple[Any, list[dict[str, Any]], tuple[Step, ...]]:
    """The model with room for the run that is kept, the run, and its steps."""
    model = hunt.model_of_release((0, 3, 17), **{name: count + 1 for name, count in hunt.SIZE.items()})
    trace = [json.loads(line) for line in (EXAMPLE / "lost_write.jsonl").read_text(encoding="utf-8").splitlines()]
    return model, trace, tuple(steps_of(model, trace))


@pytest.mark.slow
@installed
@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_the_nodes_are_where_the_model_is(hunt: ModuleType, choice: Any) -> None:
    release = hunt.library().release
    model = hunt.model_of_release(release)
    walks = Walks(model, [], choice, seed=3, contract=Contract(model, of_release(hunt, None)))
    assert walks.search(60) is None
    assert walks.steps >= 60


@installed
def test_an_acknowledged_write_is_lost_by_the_nodes(hunt: ModuleType) -> None:
    model, _, steps = lost_write(hunt)
    assert hunt.library().release == (0, 3, 17)
    prop = properties_of(model)["leader_has_what_is_acknowledged"]
    assert breaking(model, prop)(steps) == steps
    nodes = hunt.drive(model, of_release(hunt, None), steps)
    try:
        lost = {write for _, write, reason in nodes.cluster.answers if reason == 0}
        roles, logs, terms = nodes.role(), nodes.logs(), nodes.term()
        newest = max(terms[name] for name in roles if roles[name] == "LEADER")
        leader = next(name for name in roles if roles[name] == "LEADER" and terms[name] == newest)
        lost -= {entry["write"] for entry in logs[leader]}
        assert lost == {2}
    finally:
        nodes.close()


@installed
def test_the_repaired_model_parts_from_the_nodes_where_they_truncate(hunt: ModuleType) -> None:
    model = model_of(EXAMPLE / "raft.toml")
    _, trace, _ = lost_write(hunt)
    repaired = type(model)(**{name: count + 1 for name, count in hunt.SIZE.items()})
    with pytest.raises(Mismatch) as found:
        replay(repaired, of_release(hunt, None), trace)
    assert "links" in {name for name, _, _ in found.value.differences}
    assert side_by_side(found.value)[0].split() == ["model", "implementation"]


def test_no_step_of_the_lost_write_can_be_left_out(hunt: ModuleType) -> None:
    model, _, steps = lost_write(hunt)
    prop = properties_of(model)["leader_has_what_is_acknowledged"]
    assert [step for step, _ in enabled_steps(model, steps)] == list(steps)
    assert shrunk(steps, breaking(model, prop)) == steps


@installed
@pytest.mark.slow
def test_the_lost_write_is_found_without_knowing_it(hunt: ModuleType) -> None:
    command = [
        sys.executable, str(EXAMPLE / "hunt.py"), "--after", "majority_has_what_is_acknowledged",
        "--property", "leader_has_what_is_acknowledged",
    ]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "took these steps and were where the model is after each" in found.stdout
    assert "told the client of write 2: success" in found.stdout


@installed
@pytest.mark.slow
def test_the_lost_write_is_lost_over_tcp() -> None:
    command = [sys.executable, str(EXAMPLE / "confirm_over_tcp.py")]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert found.stdout.endswith("write 4 was acknowledged and is lost\n"), found.stdout + found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("spec", [
    "connection.toml",
    "history.toml",
    pytest.param("raft.toml", marks=pytest.mark.slow),
    pytest.param("raft_deep.toml", marks=pytest.mark.slow),
    pytest.param("releases.toml", marks=pytest.mark.slow),
])
def test_the_specs_are_as_they_say(spec: str) -> None:
    command = [sys.executable, "-m", "floodmark", "check", str(EXAMPLE / spec)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def walked(hunt: ModuleType, folder: str | None) -> Any:
    """What a walk with a connection of a release finds, with its contract."""
    model = model_of(EXAMPLE / "connection.toml")
    module = importlib.import_module("connection_adapter")
    contract = Contract(model, type("Release", (module.ConnectionAdapter,), {"folder": folder}))
    return contract, Walks(model, [], "uniform", seed=1, contract=contract).search(200)


@installed
def test_a_connection_is_where_its_model_is(hunt: ModuleType) -> None:
    assert walked(hunt, None)[1] is None


def test_a_connection_that_is_lost_at_once_is_taken_for_made(hunt: ModuleType) -> None:
    contract, found = walked(hunt, folder("0.3.10"))  # 161
    steps = shortened(contract, found.mismatch).steps
    assert [step.action for step in steps] == ["start", "connects", "becomes_writable"]
    assert walked(hunt, folder("0.3.11"))[1] is None


KNOWN = [
    ("commit_index_never_decreases", "0.3.11", "0.3.12"),  # 166
    ("match_index_never_decreases", "0.3.11", "0.3.12"),  # 167
    ("next_index_is_above_match_index", "0.3.11", "0.3.12"),  # 167
    ("leader_commits_its_own_term", "0.3.11", "0.3.12"),  # 169
    ("term_never_decreases", "0.3.15", "0.3.17"),  # 202
]
"""The property that a bug of the tracker breaks, the last release with it, and the first one without."""
MOST = 100_000


@pytest.mark.slow
@pytest.mark.parametrize(("name", "with_bug", "without"), KNOWN)
def test_known_bugs_are_found_where_they_are(hunt: ModuleType, name: str, with_bug: str, without: str) -> None:
    model = hunt.model_of_release(tuple(int(part) for part in with_bug.split(".")))
    prop = properties_of(model)[name]
    found = Walks(model, [prop], "guided", seed=1).search(MOST)
    assert found is not None
    steps = shrunk(found.steps, breaking(model, prop))
    hunt.drive(model, of_release(hunt, folder(with_bug)), steps).close()
    fixed = hunt.model_of_release(tuple(int(part) for part in without.split(".")))
    assert breaking(fixed, properties_of(fixed)[name])(steps) is None
    assert Walks(fixed, [properties_of(fixed)[name]], "guided", seed=1).search(MOST) is None


@pytest.mark.slow
@pytest.mark.parametrize(("held", "model_of"), [("0.3.15", (0, 3, 17)), ("0.3.11", (0, 3, 15))])
def test_an_older_release_is_not_where_the_newer_model_is(
    hunt: ModuleType, held: str, model_of: tuple[int, ...]
) -> None:
    model = hunt.model_of_release(model_of)
    contract = Contract(model, of_release(hunt, folder(held)))
    found = Walks(model, [], "guided", seed=1, contract=contract).search(3_000)
    assert found is not None
    assert found.mismatch is not None
    assert len(shortened(contract, found.mismatch).steps) <= 12
