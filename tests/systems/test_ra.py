"""Servers of Ra, RabbitMQ's Raft: where the model of their release is, after every step.

``FLOODMARK_RA_LIBS`` names the plugins folder of RabbitMQ 3.10, which has Ra 2.2.0; ``erl`` is on the PATH, or
``FLOODMARK_ERLANG`` names its folder.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from floodmark.checkers.conformance.adapter import Contract
from floodmark.checkers.conformance.shrinking import breaking, shrunk
from floodmark.checkers.conformance.walks import Walks
from floodmark.checkers.interface.subject import class_spec
from floodmark.conformance import Mismatch, replay, side_by_side, steps_of
from floodmark.language.reference import initial_states, successors
from model.ra.one_stops import OneStops
from model.ra.server import Ra
from specs.ra import flawed

EXAMPLE = Path(__file__).parents[2] / "examples" / "ra"
MODULES = ("adapter", "cluster", "hunt", "hunted", "library", "search", "terms")
SIZE = {
    "max_term": 3, "max_log": 4, "max_writes": 2, "in_flight": 4, "unwritten": 3, "max_losses": 3, "max_restarts": 2,
    "max_timeouts": 8, "max_ticks": 3, "max_suspensions": 2,
}


@pytest.fixture(scope="module")
def example() -> Iterator[dict[str, ModuleType]]:
    """The example's modules, which are found by their own names only here."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield {name: importlib.import_module(name) for name in ("adapter", "cluster", "library", "terms")}
    finally:
        sys.path.remove(str(EXAMPLE))
        for name in MODULES:
            sys.modules.pop(name, None)


@pytest.fixture
def servers(example: dict[str, ModuleType]) -> type[Any]:
    """The adapter; skips where there is no Ra."""
    missing = example["library"].missing()
    if missing is not None:
        pytest.skip(missing)
    adapter: type[Any] = example["adapter"].RaAdapter
    return adapter


def leaves(*steps: tuple[str, dict[str, str]]) -> list[dict[str, Any]]:
    """A trace from the steps after the start."""
    return [{"action": "start"}, *({"action": name, "arguments": arguments} for name, arguments in steps)]


def arrives(source: str, destination: str) -> tuple[str, dict[str, str]]:
    return "message_arrives", {"source": source, "destination": destination}


def test_terms_survive_both_ways(example: dict[str, ModuleType]) -> None:
    terms = example["terms"]
    term = ("run", ["n1", "n2"], [("take", 0, 255, 256, -7, True, False, None), []], ("x",) * 20)
    assert terms.decoded(terms.encoded(term)) == term


def test_a_list_of_bytes_is_a_list_of_integers(example: dict[str, ModuleType]) -> None:
    assert example["terms"].decoded(b"\x83k\x00\x03\x01\x02\xff") == [1, 2, 255]


def test_what_is_missing_is_said(example: dict[str, ModuleType], tmp_path: Path) -> None:
    library = example["library"]
    assert "set FLOODMARK_RA_LIBS" in library.missing({})
    assert "has no ra-" in library.missing({"FLOODMARK_RA_LIBS": str(tmp_path)})
    release = tmp_path / "ra-2.2.0" / "ebin"
    release.mkdir(parents=True)
    (release / "ra_server.beam").touch()
    named = {"FLOODMARK_RA_LIBS": str(tmp_path), "PATH": str(tmp_path)}
    assert "put erl on the PATH" in library.missing(named)
    assert "has no erts-" in library.missing({**named, "FLOODMARK_ERLANG": str(tmp_path)})
    program = tmp_path / "erts-13" / "bin" / "erlexec"
    program.parent.mkdir(parents=True)
    program.touch()
    found = library.library({**named, "FLOODMARK_ERLANG": str(tmp_path)})
    assert (found.version, found.erlang) == ("2.2.0", str(program))


def test_the_servers_are_where_the_model_is(servers: type[Any]) -> None:
    model = flawed.Release220(**SIZE)
    walks = Walks(model, [], "uniform", seed=3, contract=Contract(model, servers))
    assert walks.search(60) is None
    assert walks.steps >= 60


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_the_servers_are_where_the_model_is_for_long(servers: type[Any], choice: Any) -> None:
    model = flawed.Release220(**SIZE)
    assert Walks(model, [], choice, seed=5, contract=Contract(model, servers)).search(20_000) is None


def test_the_same_steps_have_the_same_result(servers: type[Any], example: dict[str, ModuleType]) -> None:
    steps = [("event", "n1", "election_timeout"), ("deliver", "n1", "n2"), ("deliver", "n2", "n1")]
    ask = example["cluster"].bridge().ask
    names = ["n1", "n2", "n3"]
    once, again = ask(("run", names, steps)), ask(("run", names, steps))
    assert once == again
    assert [seen.role for seen in once.servers] == ["candidate", "follower", "follower"]
    ask(("start", names))
    for step in steps:
        seen = ask(("take", step))
    assert seen == once


def test_a_pre_vote_takes_the_vote_of_the_servers(servers: type[Any]) -> None:
    """#608: n3 has voted for itself, grants n2 a pre-vote in the same term, and remembers n2."""
    trace = leaves(
        ("election_times_out", {"server": "n3"}), ("election_times_out", {"server": "n2"}), arrives("n2", "n3")
    )
    replay(flawed.Release220(**SIZE), servers, trace)
    with pytest.raises(Mismatch) as found:
        replay(Ra(**SIZE), servers, trace)
    assert {name for name, _, _ in found.value.differences} == {"voted"}
    assert "voted[n3]" in "\n".join(side_by_side(found.value))


def test_an_uncommitted_entry_is_applied_by_the_servers(servers: type[Any]) -> None:
    """#508: the last step makes n3 apply a write that no leader has committed, but not with that rule repaired."""
    hunt = importlib.import_module("hunt")
    text = (EXAMPLE / "uncommitted_entry.jsonl").read_text(encoding="utf-8")
    model = hunt.Hunted(**hunt.LATER)
    steps = tuple(steps_of(model, [json.loads(line) for line in text.splitlines()]))
    end = hunt.drive(model, servers, steps)
    assert end.done() == {"n1": [], "n2": [], "n3": [1]}
    assert [entry["write"] for entry in end.logs()["n2"]] == [0, 0, 2, 3]
    difference = hunt.first_difference(hunt.Without508(**hunt.LATER), servers, steps)
    assert len(difference.steps) == len(steps)
    assert {name for name, _, _ in difference.differences} == {"commit", "applied", "done", "links"}


def test_an_acknowledged_write_is_lost_by_the_servers(servers: type[Any]) -> None:
    """n1 tells a client of write 3, because n3 has written other entries, and n3 is elected without it."""
    hunt = importlib.import_module("hunt")
    text = (EXAMPLE / "lost_write.jsonl").read_text(encoding="utf-8")
    trace = [json.loads(line) for line in text.splitlines()]
    model = flawed.Release220(**hunt.LOST)
    steps = tuple(steps_of(model, trace))
    end = hunt.drive(model, servers, steps)
    assert end.acknowledged() == {3}
    assert (end.role()["n3"], end.term()["n3"]) == ("LEADER", max(end.term().values()))
    assert [entry["write"] for entry in end.logs()["n3"]] == [0, 1, 2, 0]
    assert [entry["write"] for entry in end.stored()["n1"]] == [0, 0, 3]
    assert [entry["write"] for entry in end.logs()["n2"]] == [0]
    difference = hunt.first_difference(hunt.WithoutLostWrite(**hunt.LOST), servers, steps)
    assert {name for name, _, _ in difference.differences} >= {"match_index"}


def test_a_follower_that_goes_back_to_an_earlier_cluster_fails(servers: type[Any], example: Any) -> None:
    """#600: the servers come to where the search of specs/ra/replaced_change.toml begins, and take its run."""
    search = importlib.import_module("search")
    seen = search.begun([search_step(each) for each in CHANGE_IS_LOST])
    held = {name: (server.role, server.term, server.entries) for name, server in search.by_name(seen).items()}
    assert held == {
        "n1": ("follower", 1, [(1, 0)]), "n2": ("follower", 1, [(1, 0)]), "n3": ("follower", 1, [(1, 0), (1, -1)])
    }
    reasons = []
    for each in CHANGE_IS_REPLACED:
        seen = example["cluster"].bridge().ask(("take", search_step(each)))
        reasons.append([server.reason for server in seen.servers])
    assert reasons[-1] == [None, None, "{badkey,previous_cluster}"]
    assert reasons[:-1] == [[None] * 3] * (len(reasons) - 1)


CHANGE_IS_LOST = (
    "event n1", "deliver n1 n2", "deliver n2 n1", "deliver n1 n2", "deliver n2 n1", "deliver n1 n2", "deliver n1 n3",
    "flush n1", "deliver n2 n1", "deliver n1 n2", "flush n2", "deliver n2 n1", "join n1 n4", "deliver n1 n3",
    "deliver n1 n2", "restart n1", "deliver n1 n2", "deliver n1 n3", "restart n2", "deliver n1 n3", "deliver n1 n3",
    "deliver n1 n3",
)
"""Found by examples/ra/search.py."""
CHANGE_IS_REPLACED = (
    "event n2", "deliver n2 n3", "deliver n2 n1", "deliver n1 n2", "deliver n2 n1", "deliver n1 n2", "deliver n2 n3",
    "deliver n2 n3", "deliver n2 n3",
)


def search_step(text: str) -> tuple[str, ...]:
    kind, *names = text.split()
    return (kind, *names, "election_timeout") if kind == "event" else (kind, *names)


@pytest.mark.slow
@pytest.mark.parametrize(("run", "number", "name"), [
    ("uncommitted_entry", "508", "only_committed_entries_are_applied"),
    ("lost_write", "lost-write", "leader_has_what_is_acknowledged"),
])
def test_no_step_of_a_run_can_be_left_out(example: dict[str, ModuleType], run: str, number: str, name: str) -> None:
    hunt = importlib.import_module("hunt")
    text = (EXAMPLE / f"{run}.jsonl").read_text(encoding="utf-8")
    model = hunt.Hunted(**hunt.HUNTS[number].later)
    steps = tuple(steps_of(model, [json.loads(line) for line in text.splitlines()]))
    prop = class_spec(model, None, {}, ()).properties(type(model))[name]
    assert breaking(model, prop)(steps) == steps
    assert shrunk(steps, breaking(model, prop)) == steps


NO_LEADER = (
    "event n2", "deliver n2 n3", "event n1", "deliver n1 n3", "deliver n3 n2", "deliver n3 n1", "deliver n2 n3",
    "event n1", "deliver n3 n2",
)
"""After it n3 stops; found by examples/ra/search.py."""


def test_two_servers_of_three_elect_nobody(servers: type[Any]) -> None:
    """#439."""
    search = importlib.import_module("search")
    steps = [search_step(each) for each in NO_LEADER]
    assert not search.elects(steps, "n3")
    assert search.elects(steps[:-1], "n3")
    assert search.elects(steps, "n1")


class Release220Stops(flawed.Release220, OneStops):
    """2.2.0, of which a server stops."""


class CandidateIgnoresStops(flawed.CandidateIgnoresPreVotes, OneStops):
    pass


def left_alone(design: type[OneStops]) -> tuple[OneStops, list[dict[str, Any]], Any]:
    """The model, a run of it in which n3 stops after ``NO_LEADER`` and the others are treated fairly, and its end."""
    model = design(**{**SIZE, "max_term": 12, "max_timeouts": 15, "in_flight": 7})
    state = next(after for _, after in initial_states(model))
    steps = []
    for each in NO_LEADER:
        kind, *names = each.split()
        steps.append(arrives(*names) if kind == "deliver" else ("election_times_out", {"server": names[0]}))
    steps.append(("server_stops", {"server": "n3"}))
    for action, arguments in steps:
        state = next(
            after for step, after in successors(model, state)
            if step.action == action and [repr(value) for value in step.arguments.values()] == list(arguments.values())
        )
    while (found := by_itself(model, state)) is not None:
        step, state = found
        steps.append((step.action, {name: repr(value) for name, value in step.arguments.items()}))
    return model, leaves(*steps), model.at(state)


def by_itself(model: OneStops, state: Any) -> tuple[Any, Any] | None:
    """A next step, and the state after it; a timer ends only if there is nothing else."""
    offered = list(successors(model, state))
    for action in ("message_arrives", "wal_writes", "patience_ends", "election_times_out"):
        for step, after in offered:
            if step.action == action:
                return step, after
    return None


@pytest.mark.parametrize(("design", "elected"), [(CandidateIgnoresStops, False), (OneStops, True)])
def test_two_servers_of_three_elect_a_leader_if_candidates_answer(design: type[OneStops], elected: bool) -> None:
    """The same in the model, with the rule of 2.2.0 and without it."""
    _, _, end = left_alone(design)
    assert ("LEADER" in [role.name for role in end.role.values()]) == elected


def test_the_servers_elect_nobody_in_step_with_the_model(servers: type[Any]) -> None:
    """#439: the counterexample of specs/ra/no_leader.toml, from the start of a cluster, taken by the servers."""
    model, trace, end = left_alone(Release220Stops)
    assert end.turns == model.max_turns
    taken = importlib.import_module("hunt").drive(model, servers, tuple(steps_of(model, trace)))
    assert "LEADER" not in taken.role().values()
    assert max(taken.term().values()) > 4
