"""Runs tests again and again, each time in a fork of a process that has imported what takes long to import.

There are two such processes. The *cold* one has imported what the tests import from others, and nothing of Floodmark,
so a fork reads all of it from the copy of the repository. The *warm* one has collected the tests, too, so a fork has
only to run them. A fork of the warm one reads a changed file into the functions that are loaded already
(``tools/reloading.py``). It refuses where that is not the same as an import: then the cold one is asked.

A run is limited by the time of the processor, which does not depend on what else the machine does; what the tests
start is part of it. The limit of the clock is generous, for tests that wait for what never comes.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

LEAST, TIMES = 8.0, 3.0
"""A test may take so many seconds of the processor, and so many times what it took when all was well."""
PATIENCE = 10.0
"""The limit of a run's wall-clock time, as a multiple of its limit of processor time."""
_STEP = 0.3
"""Seconds between two looks at what a run has taken."""


@dataclass(frozen=True)
class Answer:
    """The result of a run: ``failed`` names the first failing test, ``overdue`` the one that took too long."""

    code: int
    asked: int
    processor: float
    last: str = ""
    failed: str = ""
    overdue: str = ""
    refused: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)


class ForkedPytest:
    """A process that forks; warm if there are ``files`` of tests, of which it has all ``tests``. It ends with the
    process that made it."""

    def __init__(self, folder: Path, own: Path, files: Sequence[str] = ()) -> None:
        env = {**os.environ, "PYTHONPATH": f"{folder / 'src'}:{folder}", "FLOODMARK_CACHE": f"{own}/cache",
               "TMPDIR": f"{own}/tmp"}
        inputs, outputs = os.pipe(), os.pipe()
        command = [sys.executable, "-P", "-m", "tools.forked_pytest", str(inputs[0]), str(outputs[1]), str(own)]
        self._process = subprocess.Popen([*command, *files], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         pass_fds=(inputs[0], outputs[1]))
        os.close(inputs[0])
        os.close(outputs[1])
        self._orders, self._answers = os.fdopen(inputs[1], "w", buffering=1), os.fdopen(outputs[0])
        self.tests: list[str] = json.loads(self._answers.readline())

    def run(self, tests: Sequence[str], limits: Mapping[str, float], most: float, changed: str = "") -> Answer:
        """Runs tests in turn until one fails, for at most about so many seconds of the processor.

        ``limits`` has the seconds that each test took when all was well; ``changed`` is the file that was changed.
        """
        order = {"tests": list(tests), "limits": dict(limits), "most": most, "changed": changed}
        self._orders.write(json.dumps(order) + "\n")
        text = self._answers.readline()
        if not text:
            raise RuntimeError(f"the process that runs tests ended with {self._process.wait()}")
        return Answer(**json.loads(text))


# What follows runs in the process that forks.


def _arguments(own: str, tests: Sequence[str]) -> list[str]:
    return ["-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", f"--basetemp={own}/pytest", *tests]


class _Runs:
    """Answers orders, each in a fork."""

    def __init__(self, orders: int, answers: int, own: str) -> None:
        self.orders, self.answers, self.own = os.fdopen(orders), os.fdopen(answers, "w", buffering=1), own

    def serve(self, run: Any, tests: Sequence[str] = ()) -> None:
        self.answers.write(json.dumps(list(tests)) + "\n")
        for line in self.orders:
            order = json.loads(line)
            note = Path(self.own) / "note"
            note.write_text("")
            child = os.fork()
            if child == 0:
                os.setsid()
                code = 70
                with suppress(BaseException):
                    code = run(order, _Notes(note, order["most"]))
                os._exit(code)
            self.answers.write(json.dumps(_watched(child, order, note)) + "\n")


class _Notes:
    """A plugin of pytest that notes which test begins, and which fails, and ends a run in time."""

    def __init__(self, note: Path, most: float) -> None:
        self.file = note.open("a", buffering=1)
        self.most = most
        self.taken = 0.0

    def refuse(self) -> int:
        self.file.write("refused\n")
        return 0

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.file.write(f"begins {nodeid}\n")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.file.write(f"fails {report.nodeid}\n")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.file.write(f"fails {report.nodeid}\n")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        taken = sum(os.times()[:4])
        self.file.write(f"took {taken - self.taken:.2f} {nodeid}\n")
        self.taken = taken
        if taken > self.most:
            os._exit(0)  # what tests share and left behind ends with the session of processes


def _watched(child: int, order: Mapping[str, Any], note: Path) -> dict[str, Any]:
    """The result of a child, which is ended, with all its processes, when a test takes too long."""
    limits, begun, at, overdue = order["limits"], "", 0.0, ""
    taken, since = 0.0, monotonic()
    ended = os.pidfd_open(child)
    while not select.select([ended], [], [], _STEP)[0]:
        taken = max(taken, sum(seconds for _, seconds in _session(child)))
        begins = [line[7:] for line in note.read_text().splitlines() if line.startswith("begins ")]
        if begins and begins[-1] != begun:
            begun, at, since = begins[-1], taken, monotonic()
        most = LEAST + TIMES * limits.get(begun.partition("[")[0], 0.0)
        if taken - at > most or monotonic() - since > PATIENCE * most:
            overdue = begun or "collection"
            break
    os.close(ended)
    for process, _ in _session(child):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    lines = note.read_text().splitlines()
    seconds: dict[str, float] = defaultdict(float)
    for line in lines:
        if line.startswith("took "):
            _, each, test = line.split(" ", 2)
            seconds[test.partition("[")[0]] += float(each)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "asked": sum(1 for line in lines if line.startswith("begins ")),
        "processor": round(max(taken, used.ru_utime + used.ru_stime), 2),
        "last": next((line[7:] for line in reversed(lines) if line.startswith("begins ")), ""),
        "failed": next((line[6:] for line in lines if line.startswith("fails ")), ""),
        "overdue": overdue,
        "refused": "refused" in lines,
        "seconds": seconds,
    }


def _session(leader: int) -> Iterator[tuple[int, float]]:
    """The processes of a session, each with the seconds of the processor that it and what it waited for took."""
    tick = os.sysconf("SC_CLK_TCK")
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == leader:
                    yield int(name), sum(int(field) for field in fields[11:15]) / tick


def _cold(runs: _Runs) -> None:
    import click  # noqa: F401
    import hypothesis  # noqa: F401
    import llvmlite.binding  # noqa: F401
    import networkx  # noqa: F401
    import numpy  # noqa: F401
    import pytest
    import rich.console  # noqa: F401
    import z3  # type: ignore[import-untyped,unused-ignore]  # noqa: F401

    assert not any(name.partition(".")[0] == "floodmark" for name in sys.modules)

    def run(order: Mapping[str, Any], notes: _Notes) -> int:
        return int(pytest.main(["-x", *_arguments(runs.own, order["tests"])], plugins=[notes]))

    runs.serve(run)


class _WarmPlugin:
    """A plugin of pytest that answers orders in place of the run of the tests that were collected."""

    def __init__(self, runs: _Runs) -> None:
        import coverage

        self.runs = runs
        self.imports = coverage.Coverage(data_file=None, source=["src"], config_file=False)
        self.imports.start()

    def pytest_runtestloop(self, session: Any) -> bool:
        import gc

        from _pytest.main import pytest_runtestloop

        from tools.reloading import LoadedFunctions

        self.imports.stop()
        data = self.imports.get_data()
        loaded = LoadedFunctions({file: set(data.lines(file) or ()) for file in data.measured_files()})
        items = defaultdict(list)
        for item in session.items:
            items[item.nodeid.partition("[")[0]].append(item)
            items[item.nodeid].append(item)
        gc.collect()
        gc.freeze()

        def run(order: Mapping[str, Any], notes: _Notes) -> int:
            if order["changed"] and not loaded.read_again(Path.cwd() / order["changed"]):
                return notes.refuse()
            session.config.pluginmanager.register(notes)
            wanted = [item for test in order["tests"] for item in items.get(test, ())]
            session.items = list(dict.fromkeys(wanted))
            session.testsfailed, session.config.option.maxfail = 0, 1
            with suppress(session.Failed):
                pytest_runtestloop(session)
            return 1 if session.testsfailed else 0

        self.runs.serve(run, sorted({item.nodeid.partition("[")[0] for item in session.items}))
        os._exit(0)


def main() -> None:
    orders, answers, own, *files = sys.argv[1:]
    runs = _Runs(int(orders), int(answers), own)
    if files:
        import pytest

        pytest.main(["--continue-on-collection-errors", *_arguments(own, files)], plugins=[_WarmPlugin(runs)])
    else:
        _cold(runs)


if __name__ == "__main__":
    main()
