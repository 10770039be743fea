"""A real server of NATS JetStream: where the model of its release is, after every step; the model is the other members.

``nats-server`` is found beside Python, on the PATH, or ``FLOODMARK_NATS_SERVER`` names it; ``FLOODMARK_NATS_RELEASES``
names a folder with several releases for the slow tests.
"""

from __future__ import annotations

import importlib
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from floodmark.checkers.conformance.adapter import Contract
from floodmark.checkers.conformance.lockstep import Lockstep
from floodmark.checkers.conformance.shrinking import breaking
from floodmark.checkers.interface.subject import class_spec
from floodmark.checkers.project.spec import read
from floodmark.conformance import Mismatch, first_difference, steps_of
from floodmark.language.reference import initial_states

EXAMPLE = Path(__file__).parents[2] / "examples" / "jetstream"
PAGE = EXAMPLE.parents[1] / "docs" / "jetstream.md"
RESULTS = EXAMPLE.parents[1] / "benchmarks" / "RESULTS.md"
MODULES = ("adapter", "driven", "hunt", "library", "lost", "releases", "schedules", "server", "wire")
SIZE = {
    "servers": 3, "max_term": 5, "max_log": 6, "max_writes": 2, "in_flight": 12, "max_losses": 4, "max_restarts": 1,
    "max_timeouts": 5, "max_heartbeats": 2, "max_transfers": 2,
}
MOST = 60
"""Schedules in which a server may contradict a model; the benchmark has as many."""
Pick = tuple[str, ...]


@pytest.fixture(scope="module")
def example() -> Iterator[dict[str, ModuleType]]:
    """The example's modules, which are found by their own names only here."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield {name: importlib.import_module(name) for name in ("library", "wire")}
    finally:
        sys.path.remove(str(EXAMPLE))
        for name in MODULES:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def server(example: dict[str, ModuleType]) -> Any:
    """The release that is here; skips where there is none."""
    library = example["library"]
    try:
        found = library.program()
        importlib.import_module("releases").known_model(found.version)
    except library.NoServer as missing:
        pytest.skip(str(missing))
    return found


def adapter_of(program: Any) -> type[Any]:
    found: type[Any] = importlib.import_module("schedules").driven(program)
    return found


def model_of_release(program: Any) -> Any:
    releases = importlib.import_module("releases")
    return releases.RELEASES[program.version]


def taken(design: Any, adapter: type[Any], picks: list[Pick]) -> Lockstep:
    """The run after the steps that are picked by who takes them: ``("arrives", "APPEND_ENTRY", "n2", "n1")``."""
    model = design(**SIZE)
    run = Lockstep(Contract(model, adapter), *next(iter(initial_states(model))))
    try:
        run.begin()
        for pick in picks:
            run.take(*next(each for each in offered(run, pick[0]) if fits(each[0], pick)))
    except BaseException:
        run.implementation.close()
        raise
    return run


def offered(run: Lockstep, action: str) -> list[Any]:
    return run.enabled().get("message_arrives" if action == "arrives" else action, [])


def fits(step: Any, pick: Pick) -> bool:
    message = step.arguments.get("message")
    if message is not None:
        return (message.kind.name, repr(message.source), repr(message.destination)) == pick[1:]
    return tuple(map(repr, step.arguments.values())) == pick[1:]


ELECTED: list[Pick] = [
    ("election_times_out", "n2"), ("arrives", "VOTE_REQUEST", "n2", "n1"), ("arrives", "VOTE_RESPONSE", "n1", "n2"),
    ("arrives", "APPEND_ENTRY", "n2", "n1"), ("arrives", "APPEND_ENTRY_RESPONSE", "n1", "n2"),
    ("arrives", "APPEND_ENTRY", "n2", "n1"),
]
"""The real server votes for n2, and has its first entry and its commit index."""
TAKES_OVER: list[Pick] = [
    *ELECTED, ("leader_hands_over", "n2", "n1"), ("arrives", "APPEND_ENTRY", "n2", "n1"),
    ("arrives", "VOTE_REQUEST", "n1", "n2"), ("arrives", "VOTE_RESPONSE", "n2", "n1"),
]
"""The real server is asked to take over, and does."""


def test_messages_survive_both_ways(example: dict[str, ModuleType]) -> None:
    wire = example["wire"]
    entry = wire.stream_message("subject", b"payload", 300, 7)
    for message in (
        wire.VoteRequest(3, 2, 1 << 40, "ABCDEFGH"), wire.VoteResponse(3, "ABCDEFGH", True),
        wire.VoteResponse(3, "ABCDEFGH", False, True), wire.AppendEntryResponse(3, 4, "ABCDEFGH", True),
        wire.AppendEntry("ABCDEFGH", 1, 2, 3, 4),
        wire.AppendEntry("ABCDEFGH", 1, 2, 3, 4, ((wire.NORMAL, entry), (wire.PEER_STATE, b"")), 300),
    ):
        assert type(message).decode(message.encode()) == message
    assert wire.payload_of(entry) == b"payload"


def test_what_is_missing_is_said(example: dict[str, ModuleType], tmp_path: Path) -> None:
    library = example["library"]
    named = tmp_path / "nats-server"
    with pytest.raises(library.NoServer, match="set FLOODMARK_NATS_RELEASES"):
        library.release("0.0.1", {"FLOODMARK_NATS_RELEASES": str(tmp_path)})
    with pytest.raises(library.NoServer, match="cannot be run"):
        library.program({"FLOODMARK_NATS_SERVER": str(named)})
    for said, told in (("another", "does not say its version"), ("nats-server: v2.10.25", "the oldest release")):
        named.write_text(f"#!/bin/sh\necho {said}\n", encoding="utf-8")
        named.chmod(0o755)
        with pytest.raises(library.NoServer, match=told):
            library.program({"FLOODMARK_NATS_SERVER": str(named)})


@pytest.mark.parametrize("version", ["2.12.2", "2.12.8", "2.16.0"])
def test_a_release_whose_rules_are_not_known_is_not_accused(example: dict[str, ModuleType], version: str) -> None:
    with pytest.raises(example["library"].NoServer, match="its rules are not known here"):
        importlib.import_module("releases").known_model(version)


def test_a_server_listens_on_the_loopback_address_only_and_leaves_nothing(server: Any) -> None:
    running = importlib.import_module("server")
    member = running.Member(server, running.template(server, 3))
    process, folder = Path("/proc") / str(member.process.pid), member.folder
    try:
        sockets = {link.readlink().name for link in (process / "fd").iterdir()}
        listening = [
            row.split()[1].rpartition(":")[0]
            for table in ("tcp", "tcp6")
            for row in (process / "net" / table).read_text(encoding="ascii").splitlines()[1:]
            if row.split()[3] == "0A" and f"socket:[{row.split()[9]}]" in sockets
        ]
    finally:
        member.close()
    assert listening == ["0100007F"] * 3  # for clients, for monitoring, for the cluster
    assert not process.exists() and not folder.exists()


def test_a_server_ends_with_the_process_that_started_it(server: Any, tmp_path: Path) -> None:
    code = (
        f"import os, sys; from pathlib import Path; sys.path[:0] = [{str(EXAMPLE)!r}, {str(EXAMPLE.parents[1])!r}]\n"
        "import library, server\n"
        f"running = server.Process(library.program(), 'n1', Path({str(tmp_path)!r}), [1])\n"
        "print(running.pid, flush=True); os.kill(os.getpid(), 9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == -9, ended.stderr
    process = Path("/proc") / ended.stdout.strip()
    end = time.monotonic() + 30
    while process.exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert not process.exists()


@pytest.mark.slow
def test_the_server_follows_and_takes_over_as_the_model_does(server: Any) -> None:
    picks: list[Pick] = [
        *TAKES_OVER, ("arrives", "APPEND_ENTRY", "n1", "n2"), ("arrives", "APPEND_ENTRY_RESPONSE", "n2", "n1"),
        ("client_writes", "n1"), ("server_restarts", "n1"),
    ]
    run = taken(model_of_release(server), adapter_of(server), picks)
    run.implementation.close()
    assert [entry["write"] for entry in run.implementation.log()] == [0, 0, 0, 1]  # type: ignore[attr-defined]


def test_a_server_with_another_rule_is_noticed(server: Any) -> None:
    """The model changes what the server does with its vote when the leadership goes to another (bf8ebe7dd)."""
    releases = importlib.import_module("releases")
    version = server.version
    with pytest.raises(Mismatch) as found:
        taken(releases.CHANGED[version, "bf8ebe7dd"], adapter_of(server), [
            *ELECTED, ("leader_hands_over", "n2", "n3"), ("arrives", "APPEND_ENTRY", "n2", "n1"),
        ]).implementation.close()
    assert {name for name, _, _ in found.value.differences} == {"vote", "stored"}


def lost_write(version: str) -> tuple[Any, tuple[Any, ...]]:
    """The model of a release among five, and its run that loses an acknowledged write."""
    importlib.import_module("schedules")
    hunt, lost = importlib.import_module("hunt"), importlib.import_module("lost")
    model = lost.RELEASES[version](**hunt.SIZES[version])
    text = (EXAMPLE / f"lost_write_{version}.jsonl").read_text(encoding="utf-8")
    return model, tuple(steps_of(model, [json.loads(line) for line in text.splitlines()]))


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.12.1", "2.12.5"])
def test_no_step_of_the_lost_write_can_be_left_out(server: Any, version: str) -> None:
    model, steps = lost_write(version)
    prop = class_spec(model, None, {}, ()).properties(type(model))["real_server_keeps_what_it_acknowledged"]
    assert breaking(model, prop)(steps) == steps
    assert all(breaking(model, prop)(steps[:place] + steps[place + 1 :]) is None for place in range(1, len(steps)))


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.12.1", "2.12.5"])
def test_an_acknowledged_write_is_lost(example: dict[str, ModuleType], version: str) -> None:
    """#7955: a client is told that its write succeeded, and the server's log has it no longer."""
    model, steps = lost_write(version)
    program = released(example, version)
    hunt, lost = importlib.import_module("hunt"), importlib.import_module("lost")
    end = hunt.taken_by(type(model), hunt.SIZES[version], program, steps)
    end.close()
    [(write, answer)] = end.told.items()
    assert json.loads(answer) == {"stream": "writes", "seq": 2}
    assert write not in [entry["write"] for entry in end.log()]
    difference = hunt.in_time(
        lambda: first_difference(
            lost.REPAIRED[version](**hunt.SIZES[version]), hunt.driven(program), steps
        ), hunt.ATTEMPTS,
    )
    assert {name for name, _, _ in difference.differences} == {"commit", "applied", "sent"}


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.12.1", "2.12.5"])
def test_the_repaired_release_acknowledges_nothing_in_that_run(example: dict[str, ModuleType], version: str) -> None:
    _, steps = lost_write(version)
    hunt, lost = importlib.import_module("hunt"), importlib.import_module("lost")
    program = released(example, hunt.REPAIRED_IN)
    end = hunt.taken_by(lost.RELEASES[hunt.REPAIRED_IN], hunt.SIZES[version], program, steps)
    end.close()
    assert end.told == {}


def test_the_page_shows_the_run_and_the_bounds(server: Any) -> None:
    page = PAGE.read_text(encoding="utf-8")
    lengths = []
    for version in ("2.12.1", "2.12.5"):
        _, steps = lost_write(version)
        lengths.append(len(steps))
        if version == "2.12.1":
            shown = [f"  {number:2}  {importlib.import_module('schedules').short(step)}"
                     for number, step in enumerate(steps, 1)]
            assert "\n".join(shown[34:]) in page
    assert "of {} steps for 2.12.1 and one of {} for 2.12.5".format(*lengths) in page
    expected = read(PAGE.parents[1] / "specs" / "jetstream" / "three_members.toml").expect.distinct
    assert f"{expected:,} states" in page


def test_the_page_has_the_figures_of_the_benchmark() -> None:
    page, results = PAGE.read_text(encoding="utf-8"), RESULTS.read_text(encoding="utf-8")
    bugs = [row for row in rows(results, "JetStream, bugs") if row.startswith("| 2.")]
    assert len(bugs) == 6
    for row in bugs:
        assert row.rpartition("| ")[0].rpartition("| ")[0] in page, row
    taken = [row for row in rows(results, "JetStream, schedules") if row.startswith("| 2.")]
    assert len(taken) == 3
    for row in taken:
        assert row in page, row


def rows(results: str, name: str) -> list[str]:
    """The lines of a benchmark's section."""
    return results.partition(f"<!-- {name} -->")[2].partition(f"<!-- end of {name} -->")[0].splitlines()


def released(example: dict[str, ModuleType], version: str) -> Any:
    library = example["library"]
    try:
        return library.release(version)
    except library.NoServer as missing:
        pytest.skip(str(missing))


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.12.1", "2.12.5", "2.15.1"])
def test_a_server_takes_the_schedules_of_its_release(example: dict[str, ModuleType], version: str) -> None:
    program = released(example, version)
    found = outcomes(program, importlib.import_module("releases").RELEASES[version], 20)
    assert [each.difference for each in found] == [None] * 20
    assert sum(each.in_time for each in found) > 15


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["7955", "bf8ebe7dd"])
@pytest.mark.parametrize("version", ["2.12.1", "2.12.5", "2.15.1"])
def test_a_server_contradicts_the_model_that_changes_a_bug(
    example: dict[str, ModuleType], version: str, bug: str
) -> None:
    """In the schedule that the page and the benchmark say: they are drawn in the same order again."""
    program = released(example, version)
    releases = importlib.import_module("releases")
    found = outcomes(program, releases.CHANGED[version, bug], MOST)
    place = f"{len(found)}" if found[-1].difference is not None else f"none of {MOST}"
    assert (place == f"none of {MOST}") == ((version, bug) == ("2.15.1", "7955"))
    has = "yes" if releases.HAS[bug][version] else "no"
    row = f"| {version} | {bug} | {has} | {place} | {sum(each.steps for each in found if each.in_time):,} |"
    assert row in PAGE.read_text(encoding="utf-8")
    assert row in RESULTS.read_text(encoding="utf-8")


def outcomes(program: Any, design: Any, most: int) -> list[Any]:
    schedules = importlib.import_module("schedules")
    drawn = schedules.drawn(design(**schedules.SIZE), 1, schedules.EXPLORED)
    traces = [schedules.trace_of(steps) for steps in itertools.islice(drawn, most)]
    found: list[Any] = schedules.outcomes(design, schedules.SIZE, program, traces, at_once=8)
    return found
