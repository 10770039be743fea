"""Ends a process soon after a signal, whatever it is doing.

Python turns a signal into an exception in the main thread, which may come late or never: machine code and solvers have
to return to Python first, and Python drops an exception within a finaliser or a callback from C. This module therefore
raises a dropped exception again, and a thread, which the system's signal handler wakes without Python's help, ends the
process if it has not ended by itself some time later.
"""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

GRACE, OTHERS_GRACE = 1.0, 0.3
"""Seconds that the command and the processes that it started get to clean up. Then they are ended, and leave behind
what the system does not clean up."""
_TO_BE_GONE = 0.3
"""Seconds that other processes get after this one has cleaned up."""
_AGAIN = 0.05
"""Seconds after which an exception that Python dropped is raised again."""


Process = tuple[int, str]
"""A process by its number and the time of its start, as numbers are reused."""
_is_announced = False
_TELLING = threading.Lock()
"""Is held while the line is printed: the last printer waits until the command itself has printed it."""


def end_soon(
    on: signal.Signals, error: BaseException, grace: float, at_last: Callable[[], None],
    at_once: Callable[[], None] = lambda: None,
) -> None:
    """Makes a signal raise ``error``, once, and ``at_last`` be called ``grace`` seconds later, which ends the process;
    ``at_once`` is called as soon as the signal is there, perhaps more than once and in any thread.

    The signal is ignored from then on: a second one would end the clearing up. Call this in the main thread.
    """
    report = sys.unraisablehook

    def leave(*_: object) -> None:
        signal.signal(on, signal.SIG_IGN)
        at_once()
        raise error

    def again(dropped: sys.UnraisableHookArgs) -> None:
        if dropped.exc_value is error:
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        elif not _is_late(dropped.exc_value):
            report(dropped)

    signal.signal(on, leave)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, leave)
        sys.unraisablehook = again
    _watch(on, grace, at_once, at_last)


def _is_late(error: BaseException | None) -> bool:
    """Whether CPython reports that a signal came while it was being ignored (``_PyErr_CheckSignalsTstate``): that
    second signal is one to ignore."""
    return isinstance(error, OSError) and "ignored due to race condition" in str(error)


def end_command(code: int) -> None:
    """Makes Ctrl-C raise KeyboardInterrupt, and end this process and all that it has started, whatever they do."""
    noted: list[Process] = []
    interrupted = threading.Event()

    def at_once() -> None:
        interrupted.set()
        noted.extend(_descendants())

    def end_others() -> None:
        """Ends the remaining processes: those of Java outlive this one, and one may just have been started."""
        for process in noted:
            _kill(process)
        while below := _descendants():
            for process in below:
                _kill(process)
            time.sleep(0.01)

    def rest() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command has said everything: its own exit code is the last
        if interrupted.is_set():
            until = time.monotonic() + _TO_BE_GONE
            while any(map(_is_there, noted)) and time.monotonic() < until:
                time.sleep(0.02)
            end_others()

    def at_last() -> None:
        end_others()
        with suppress(OSError):
            tell("interrupted", at_last=True)
        os._exit(code)

    atexit.register(rest)  # the first registered is called last
    end_soon(signal.SIGINT, KeyboardInterrupt(), GRACE, at_last, at_once)


def is_behind(error: BaseException) -> bool:
    """Whether an error was raised while a KeyboardInterrupt was handled."""
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, KeyboardInterrupt):
        behind = behind.__context__
    return behind is not None


def tell(text: str, at_last: bool = False) -> None:
    """Prints the one line about the interruption of the command. With ``at_last``, it is omitted if it was printed
    already; it replaces the progress that another thread shows, and nothing follows it."""
    global _is_announced
    if not _TELLING.acquire(timeout=_TO_BE_GONE):  # a terminal that takes no more lines
        return
    try:
        if not (at_last and _is_announced):
            _is_announced = True
            where: Any = sys.stderr
            if at_last:
                where, sys.stderr = getattr(where, "rich_proxied_file", where), io.StringIO()  # where progress is shown
                text = f"\r\x1b[2K{text}" if where.isatty() else text
            print(text, file=where, flush=True)
    finally:
        _TELLING.release()


def _watch(on: signal.Signals, grace: float, at_once: Callable[[], None], at_last: Callable[[], None]) -> None:
    here, there = os.pipe()
    os.set_blocking(there, False)
    signal.set_wakeup_fd(there, warn_on_full_buffer=False)

    def wait() -> None:
        while on not in os.read(here, 64):
            pass
        until = time.monotonic() + grace
        at_once()
        time.sleep(max(0.0, until - time.monotonic()))
        at_last()

    threading.Thread(target=wait, name="interrupts", daemon=True).start()


def _descendants() -> list[Process]:
    """The processes that this one has started, and their descendants, where the system lists them."""
    parents: dict[int, list[Process]] = {}
    with suppress(OSError):
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and (found := _status(int(entry.name))) is not None:
                parents.setdefault(found[0], []).append((int(entry.name), found[1]))
    below = list(parents.get(os.getpid(), []))
    for process, _ in below:
        below += parents.get(process, [])
    return below


def _status(process: int) -> tuple[int, str] | None:
    """The parent of a process and the time of its start; None if it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else (int(fields[1]), fields[19])


def _is_there(process: Process) -> bool:
    found = _status(process[0])
    return found is not None and found[1] == process[1]


def _kill(process: Process) -> None:
    if _is_there(process):
        with suppress(OSError):
            os.kill(process[0], signal.SIGKILL)
