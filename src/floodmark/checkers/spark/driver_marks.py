"""The mark in each scratch folder of a search, by which others learn whether the search's driver has ended.

A mark is a file with one line, which says where the driver is reached, and its checksum. Every process that uses the
folder keeps the file locked (``flock``) until it ends. The system releases a lock when its owner ends, however that
happens, so a lock tells of all processes on the machine, also of those in other containers. No process numbers are
compared.

A driver has ended if one of these is known:

- *It was on this machine and had locked its mark itself* (``local[*]``), and the lock is free. Nothing else ends the
  lock of a process that runs or is stopped. Scratch space is a disk of one machine (``docs/scaling.md``). In case it is
  not, a mark of another boot counts only if it names this host, which was started again.
- *The address at which it took in executors refuses connections.* The system accepts them for a process that is stopped
  or busy; a machine that is asleep or cut off does not answer at all, which says nothing. So a refusal means that
  nobody listens there. It counts only if a process on this machine did get a connection when it made the mark. The host
  is looked up again as well, so a driver whose machine has another address now still answers; a loopback address counts
  only in the network namespace of the mark.

  A firewall or proxy may refuse in the name of a driver that runs. Then the lock is still taken while a process of this
  machine uses the files, which Spark ends when it has been idle for a minute. An executor that starts there could not
  use them: it begins by connecting to the same address.

Another process that listens at the address of an ended driver answers in its place, and the folder is kept. Only the
driver of another application that asks is known not to be the one that ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import ipaddress
import json
import os
import socket
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple

from floodmark.checkers.spark.shard import this_boot

NAME = "driver"
SECONDS = 2.0
"""How long an address may take to answer."""


class Address(NamedTuple):
    """Where the driver of an application, as Spark calls it, accepts executors."""

    host: str
    port: int
    application: str


@dataclass(frozen=True, slots=True)
class DriverMark:
    """``is_locked`` means that the driver locked the mark itself. Otherwise there is its address, and as ``peer`` the
    number of the host that did answer, empty if none did. ``maker`` and ``boot`` tell on which machine the mark was
    made, ``network`` in which network namespace."""

    is_locked: bool
    host: str
    port: int
    application: str
    peer: str
    maker: str
    boot: str
    network: str

    def packed(self) -> bytes:
        content = json.dumps(asdict(self)).encode()
        return b"%08x %s\n" % (zlib.crc32(content), content)


def _unpacked(content: bytes) -> DriverMark:
    """Reads a mark. Raises ValueError if a byte of it has changed."""
    line = content.partition(b"\n")[0]
    mark = DriverMark(**json.loads(line[9:]))
    if mark.packed() != line + b"\n":
        raise ValueError("the mark is damaged")
    return mark


@dataclass(frozen=True, slots=True)
class DriverState:
    """What is known of a driver: whether it runs, None if unknown, and what tells so."""

    runs: bool | None
    why: str


def hold(folder: Path, driver: Address | None, is_driver: bool = False) -> IO[bytes] | None:
    """Marks a search's folder, if nobody has yet, and locks the mark until the returned file is closed. None if the
    disk does not permit it; without a mark, a folder is kept longer. ``driver`` is the driver's address."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = open(folder / NAME, "a+b", buffering=0)  # noqa: SIM115 - closed by the caller
        fcntl.flock(file, fcntl.LOCK_SH)
        if not file.seek(0, os.SEEK_END):
            peer = _peer(driver) if driver else ""
            mark = DriverMark(
                is_driver, *(driver or ("", 0, "")), peer, socket.gethostname(), this_boot(), _network()
            )
            file.write(mark.packed())
    except OSError:
        return None
    return file


def driver_of(folder: Path, own: Address | None) -> DriverState:
    """What is known of the driver of a folder's search. For an application, whose address is ``own``, this process asks
    each driver once."""
    try:
        mark = _unpacked((folder / NAME).read_bytes())
    except (OSError, ValueError, TypeError):
        return DriverState(None, "it does not say where its driver is")
    if not mark.is_locked:
        return _answer_of_driver(mark, own)
    if mark.boot != this_boot() and mark.maker != socket.gethostname():
        return DriverState(None, f"its driver was on {mark.maker}")
    if unless_locked(folder, lambda: None):
        return DriverState(False, "its driver has ended")
    return DriverState(True, "its driver or one of its processes runs on this machine")


@lru_cache(maxsize=1000)
def _answer_of_driver(mark: DriverMark, own: Address | None) -> DriverState:
    where = f"{mark.host}:{mark.port}"
    if not mark.peer:
        return DriverState(None, f"its driver at {where} could not be reached from here")
    try:
        found = socket.getaddrinfo(mark.host, mark.port, type=socket.SOCK_STREAM)
    except OSError:
        return DriverState(None, f"the host of its driver at {where} is not known any more")
    places = {mark.peer, *(str(address[0]) for *_, address in found)}
    if mark.network != _network() and any(map(_is_loopback, places)):
        return DriverState(None, f"its driver at {where} can only be reached where it ran")
    refusals = 0
    for place in sorted(places):
        if own is not None and own.port == mark.port and own.application != mark.application and place == _peer(own):
            refusals += 1
            continue
        try:
            with socket.create_connection((place, mark.port), SECONDS):
                return DriverState(True, f"something answers at {where}, where its driver is or was")
        except ConnectionRefusedError:
            refusals += 1
        except OSError:
            pass
    if refusals == len(places):
        return DriverState(False, f"nobody listens at {where}, where its driver was")
    return DriverState(None, f"nothing answers at {where}, where its driver was")


def unless_locked(folder: Path, then: Callable[[], None]) -> bool:
    """Calls a function while no process holds the lock of a folder; False if one holds it."""
    try:
        with open(folder / NAME, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            then()
    except FileNotFoundError:  # nobody can hold it
        then()
    except OSError:
        return False
    return True


def _peer(driver: Address) -> str:
    """The number of the host that accepts connections at a driver's address; empty if none does."""
    with contextlib.suppress(OSError), socket.create_connection(driver[:2], SECONDS) as connection:
        return str(connection.getpeername()[0])
    return ""


def _network() -> str:
    """Identifies the network namespace of this process."""
    with contextlib.suppress(OSError):
        return f"{this_boot()} {os.readlink('/proc/self/ns/net')}"
    return ""


def _is_loopback(place: str) -> bool:
    return ipaddress.ip_address(place.partition("%")[0]).is_loopback
