"""Tests which folders of other searches are removed. Drivers and workers are processes that are stopped and killed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from floodmark.checkers.spark import driver_marks, leftovers, tasks
from floodmark.checkers.spark.driver_marks import Address, hold
from floodmark.checkers.spark.shard import this_boot
from floodmark.checkers.spark.tasks import SearchContext, scratch_folders
from tests.support.command import floodmark

OWN = "here+1+own"
MONTH = 30 * 24 * 3600


def address_of(server: socket.socket) -> Address:
    host, port = server.getsockname()
    return Address(host, port, "app")


class Other:
    """A process that runs a function and then does nothing."""

    def __init__(self, begin: Callable[[], Any]) -> None:
        context = get_context("fork")
        receiver, sender = context.Pipe()

        def run() -> None:
            kept = begin()
            sender.send(address_of(kept) if isinstance(kept, socket.socket) else None)
            time.sleep(600)

        self.process = context.Process(target=run, daemon=True)
        self.process.start()
        sender.close()
        self.answer: Any = receiver.recv()

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def stop(self) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGSTOP)


@pytest.fixture
def begun() -> Iterator[Callable[[Callable[[], Any]], Other]]:
    every: list[Other] = []

    def begin(function: Callable[[], Any]) -> Other:
        every.append(Other(function))
        return every[-1]

    yield begin
    for each in every:
        each.kill()


@pytest.fixture(autouse=True)
def _nothing_is_known() -> None:
    driver_marks._answer_of_driver.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "far+7+other"


def listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def left(folder: Path, replaced: tuple[tuple[str, str], ...] = (), own: Address | None = None) -> str:
    """Why a folder was left, as a new search sees it; empty if it was removed."""
    driver_marks._answer_of_driver.cache_clear()
    ((found, why),) = leftovers.cleared([folder.parent], OWN, own, replaced)
    assert found == folder
    assert folder.exists() == bool(why)
    return why


def age(folder: Path, seconds: float = MONTH) -> None:
    for path in [*folder.glob("*"), folder]:
        os.utime(path, (time.time() - seconds,) * 2)


def used(folder: Path, driver: Address | None) -> None:
    """A worker has used the folder, and has ended."""
    file = hold(folder, driver)
    assert file is not None
    file.close()


def changed(folder: Path, **changes: Any) -> None:
    path = folder / driver_marks.NAME
    path.write_bytes(replace(driver_marks._unpacked(path.read_bytes()), **changes).packed())


# Drivers elsewhere, whose address is asked.


def test_what_a_killed_driver_left_is_removed_at_once(folder: Path, begun: Any) -> None:
    driver = begun(listening)
    used(folder, driver.answer)
    assert "something answers at 127.0.0.1:" in left(folder)
    driver.kill()
    assert left(folder) == ""


def test_a_driver_that_is_stopped_for_long_keeps_its_folder(folder: Path, begun: Any) -> None:
    """Its executors have ended, as with dynamic allocation, and another may use the files."""
    driver = begun(listening)
    used(folder, driver.answer)
    age(folder)
    driver.stop()
    for _ in range(3):
        assert "something answers" in left(folder, replaced=(("far", "7"),))


def test_whoever_took_the_port_of_a_driver_answers_for_it(folder: Path, begun: Any) -> None:
    driver = begun(listening)
    used(folder, driver.answer)
    driver.kill()
    begun(lambda: socket.create_server(driver.answer[:2]))
    assert "something answers" in left(folder)


def test_a_driver_knows_that_it_is_not_the_one_that_had_its_address_before(folder: Path, begun: Any) -> None:
    """As where the port is set. Two processes may share an application, and two namespaces a loopback address."""
    first = begun(listening)
    used(folder, first.answer)
    first.kill()
    second = begun(lambda: socket.create_server(first.answer[:2]))
    assert second.answer == first.answer
    assert "something answers" in left(folder, own=second.answer)
    other = second.answer._replace(application="other")
    assert "something answers" in left(folder, own=other._replace(host="127.0.0.9"))
    changed(folder, network="another")
    assert "can only be reached where it ran" in left(folder, own=other)
    changed(folder, network=driver_marks._network())
    assert left(folder, own=other) == ""


def test_a_worker_that_runs_keeps_the_folder_of_a_driver_that_refuses(folder: Path, begun: Any) -> None:
    """As with a firewall that was set up meanwhile. Its clock may also have been set by years."""
    driver = begun(listening)
    used(folder, driver.answer)
    worker = begun(lambda: hold(folder, driver.answer))
    driver.kill()
    age(folder)
    assert left(folder) == "a process of this machine uses it"
    worker.stop()
    assert left(folder) == "a process of this machine uses it"
    worker.kill()
    assert left(folder) == ""


def test_an_address_that_never_answered_proves_nothing(folder: Path) -> None:
    with listening() as server:
        address = address_of(server)
    used(folder, address)
    assert "could not be reached from here" in left(folder)
    used(folder, None)
    assert left(folder)
    age(folder)
    assert left(folder) == ""


def test_a_loopback_address_means_another_machine_in_another_network_namespace(folder: Path, begun: Any) -> None:
    driver = begun(listening)
    used(folder, driver.answer)
    driver.kill()
    changed(folder, network="another")
    assert "can only be reached where it ran" in left(folder)


@pytest.mark.parametrize(
    ("places", "why"),
    [
        (["127.0.0.1"], ""),
        (["127.0.0.1", "127.0.0.9"], "something answers"),
        (["127.0.0.1", "192.0.2.1"], "nothing answers"),
        ([], "is not known any more"),
    ],
)
def test_every_address_of_a_driver_has_to_refuse(
    places: list[str], why: str, folder: Path, begun: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its machine may have another address by now, which its executors find by its name."""
    driver = begun(listening)
    used(folder, driver.answer)
    driver.kill()

    def looked_up(host: str, port: int, type: int) -> Any:
        if not places:
            raise socket.gaierror
        return [(0, 0, 0, "", (place, port)) for place in places]

    def connection(address: tuple[str, int], *given: Any) -> socket.socket:
        if address[0] == "192.0.2.1":
            raise TimeoutError
        return socket.create_connection(address, *given)

    names = {**vars(socket), "getaddrinfo": looked_up, "create_connection": connection}
    monkeypatch.setattr(driver_marks, "socket", SimpleNamespace(**names))
    with socket.create_server(("127.0.0.9", driver.answer.port)):
        found = left(folder)
    assert why in found
    assert bool(why) == bool(found)


# Drivers on this machine, which lock their marks.


def test_a_driver_on_this_machine_keeps_its_folder_as_long_as_it_runs(folder: Path, begun: Any) -> None:
    driver = begun(lambda: hold(folder, None, is_driver=True))
    age(folder)
    for replaced in ((), (("far", "7"),)):
        assert "runs on this machine" in left(folder, replaced)
    driver.stop()
    assert "runs on this machine" in left(folder)
    driver.kill()
    assert left(folder) == ""


def test_a_driver_in_a_pid_namespace_of_its_own_is_seen(folder: Path) -> None:
    """Also where it has the number of a process that runs no more in the namespace that asks."""
    hold(folder, None, is_driver=True)
    alone = ["unshare", "--pid", "--fork", "--kill-child"]
    if any(shutil.which(tool) is None for tool in ("unshare", "flock")) or subprocess.call([*alone, "true"]):
        pytest.skip("no namespaces can be made here")
    command = [*alone, "flock", "-s", str(folder / driver_marks.NAME), "cat"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"-")
    process.stdin.flush()
    assert process.stdout.read(1) == b"-"
    assert "runs on this machine" in left(folder)
    process.kill()
    process.communicate()
    assert left(folder) == ""


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"boot": "earlier"}, ""),
        ({"maker": "another"}, ""),
        ({"boot": "earlier", "maker": "another"}, "its driver was on another"),
    ],
)
def test_a_free_lock_counts_where_it_was_taken(changes: dict[str, str], why: str, folder: Path) -> None:
    """After a restart, or in another container; a disk of several machines is no scratch space."""
    hold(folder, None, is_driver=True)
    changed(folder, **changes)
    assert left(folder) == why


# Folders without a mark, and the rest.


@pytest.mark.parametrize("content", [b"", b"{", b"{}\n", b"00000000 []\n", b"\xff\n", b'00000000 {"host": "far"}\n'])
def test_a_folder_whose_mark_says_nothing_is_left_for_a_week(content: bytes, folder: Path) -> None:
    folder.mkdir()
    (folder / driver_marks.NAME).write_bytes(content)
    (folder / "00000").mkdir()
    assert left(folder) == "it does not say where its driver is"
    age(folder)
    (folder / "00000" / "states").touch()
    os.utime(folder / "00000")
    assert left(folder)
    age(folder)
    assert left(folder) == ""


def test_a_mark_in_which_a_byte_has_changed_says_nothing(folder: Path, begun: Any) -> None:
    """Nobody may listen at the address that it seems to have."""
    driver = begun(listening)
    used(folder, driver.answer)
    path = folder / driver_marks.NAME
    content = path.read_bytes()
    for place in range(len(content) - 1):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert left(folder) == "it does not say where its driver is", content[place:]
    path.write_bytes(content + content)  # two processes have begun at the same time
    assert "something answers" in left(folder)


def test_a_disk_that_takes_no_mark_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    assert hold(tmp_path / "broken" / "far+7+other", Address("127.0.0.1", 1, "app")) is None


def test_drivers_whose_checkpoints_were_taken_over_leave_nothing(folder: Path, begun: Any) -> None:
    """Their executors may not have ended yet."""
    driver = begun(listening)
    used(folder, driver.answer)
    begun(lambda: hold(folder, driver.answer))
    driver.kill()
    assert left(folder, replaced=(("far", "8"), ("other", "7")))
    assert left(folder, replaced=(("far", "7"),)) == ""


def test_a_task_marks_what_it_uses_and_removes_what_others_left(
    tmp_path: Path, begun: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOODMARK_LOCAL_DIR", f"{tmp_path / 'a'},{tmp_path / 'b'}")
    monkeypatch.setattr(tasks, "Shard", lambda folder, code: None)
    driver = begun(listening)

    def run(name: str) -> SearchContext:
        code: Any = type("Code", (), {"value": type("Value", (), {"load": staticmethod(lambda: None)})})
        return SearchContext(name, None, 4, code, 0, 0, driver.answer)

    first, second = run("far+7+first"), run("far+8+second")
    worker = begun(lambda: [tasks.shard_of(first, partition) for partition in range(4)] and None)
    for partition in range(2):
        tasks.shard_of(second, partition)
    disks = scratch_folders(first)
    names = {first.folder, second.folder}
    assert [{path.name for path in disk.iterdir()} for disk in disks] == [names, names]
    mark = driver_marks._unpacked((disks[1] / first.folder / driver_marks.NAME).read_bytes())
    assert (mark.host, mark.port, mark.application, mark.peer) == (*driver.answer, "127.0.0.1")
    assert mark.boot == this_boot()
    worker.kill()
    driver.kill()
    assert list(leftovers.remove(run("here+1+third"), (), 3)) == [3]
    assert [{path.name for path in disk.iterdir()} for disk in disks] == [{second.folder}] * 2
    assert list(tasks.clean(second, 2)) == [2]
    assert not any((disk / second.folder).exists() for disk in disks)


def test_the_command_says_what_it_leaves_and_why(tmp_path: Path, begun: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOODMARK_LOCAL_DIR", str(tmp_path))
    (disk,) = tasks.local_folders(None)
    assert floodmark("clean", at=tmp_path).out == f"Nothing was left in {disk}.\n"
    running, killed = begun(listening), begun(listening)
    used(disk / "far+7+killed", killed.answer)
    used(disk / "far+8+running", running.answer)
    killed.kill()
    run = floodmark("clean", at=tmp_path)
    host, port, _ = running.answer
    assert run.code == 0
    assert run.out.splitlines() == [
        f"removed {disk / 'far+7+killed'}",
        f"left {disk / 'far+8+running'}: something answers at {host}:{port}, where its driver is or was",
        "Remove a folder by hand if you know that its search has ended.",
    ]
    assert floodmark("clean", tmp_path / "other", at=tmp_path).out.startswith(f"Nothing was left in {tmp_path}/other/")
