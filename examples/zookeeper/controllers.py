"""Controller processes: one that leads, and one that stands by, started ahead of the time when it is needed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from session import Session, expire

HERE = Path(__file__).parent


class Process:
    """A controller that takes the steps that it is told to take."""

    def __init__(self, address: str, design: str | None) -> None:
        command = [sys.executable, str(HERE / "controller.py"), "--address", address, "--driven"]
        if design is not None:
            command += ["--design", design]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._session: tuple[int, bytes] | None = None
        self.stopped = False

    @property
    def session(self) -> tuple[int, bytes]:
        """Its session's number and password; waits until it has one."""
        if self._session is None:
            said = self._hear()
            self._session = said["session"], bytes.fromhex(said["password"])
        return self._session

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a controller has ended by itself: {self._process.wait()}")
        said: dict[str, Any] = json.loads(line)
        return said

    def ask(self, **command: Any) -> dict[str, Any]:
        """What it did, remembers, and sent."""
        assert self.session
        self._tell(command)
        return self._hear()

    def _tell(self, command: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        self._process.stdin.flush()

    def ask_last(self, **command: Any) -> None:
        """Has it take a step in which it kills itself, and waits until it is dead."""
        assert self.session
        self._tell({**command, "dies": True})
        self._process.wait()

    def stand_still(self) -> None:
        """It neither acts nor gives a sign of life, as in a long pause of its garbage collector."""
        assert self.session
        os.kill(self._process.pid, signal.SIGSTOP)
        self.stopped = True

    def go_on(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)
        self.stopped = False

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


class Controllers:
    """The processes of one design: ``leading`` has ``/controller``, under one root after the other."""

    def __init__(self, address: str, design: str | None, observer: Session) -> None:
        self.address, self.design, self.observer = address, design, observer
        self.root = ""
        self.leading: Process | None = None
        self.standing_by = Process(address, design)

    def begin(self, root: str) -> dict[str, Any]:
        """The one that leads, or a new one, begins under another root."""
        self.root = root
        if self.leading is None:
            self._promote()
        assert self.leading is not None
        return self.leading.ask(do="controller_fails_over", root=root)

    def _promote(self) -> None:
        self.leading = self.standing_by
        self.standing_by = Process(self.address, self.design)

    def fail_over(self) -> dict[str, Any]:
        """The session of the one that leads expires, and the one that stands by takes over."""
        assert self.leading is not None
        expire(self.address, *self.leading.session, self.observer, f"{self.root}/controller")
        self._promote()
        return self.begin(self.root)

    def kill(self) -> None:
        """kill -9 of the one that leads."""
        assert self.leading is not None
        self.leading.kill()

    def close(self) -> None:
        for process in (self.leading, self.standing_by):
            if process is not None:
                process.kill()
