"""Three processes of a cluster, and a recording of what is observed of them."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from relay import WAIT, Relay

HERE = Path(__file__).parent


class Recording:
    """What is observed of all members, in order of arrival, which keeps each member's own order."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._lock = threading.Lock()

    def step(self, action: str, **arguments: Any) -> None:
        with self._lock:
            self.lines.append(json.dumps({"action": action, "arguments": arguments}))

    def saw(self, node: str, said: dict[str, Any]) -> None:
        if "applied" in said:
            self.step("applies", node=node, write=said["applied"])
        elif "leads" in said:
            self.step("leads", node=node, term=said["leads"])
        elif said["reason"] == 0:
            self.step("acknowledges", node=node, write=said["write"])

    def write(self, file: Path) -> None:
        start = json.dumps({"action": "start"})
        file.write_text("\n".join([start, *self.lines]) + "\n", encoding="utf-8")


class Member:
    """One process, identified by its name."""

    def __init__(self, name: str, relay: Relay, folder: Path, recording: Recording, election: float) -> None:
        self.name, self.relay, self.folder = name, relay, folder
        self.recording, self.election = recording, election
        self.told: queue.Queue[dict[str, Any]] = queue.Queue()
        self.answers: list[dict[str, Any]] = []
        self.begin()

    def start(self) -> None:
        """A start with the existing journal."""
        self.recording.step("restarts", node=self.name)
        self.begin()

    def begin(self) -> None:
        others = ",".join(address for name, address in self.relay.addresses.items() if name != self.name)
        command = [
            sys.executable, str(HERE / "member.py"), self.relay.addresses[self.name], self.relay.binds[self.name],
            others, str(self.folder / self.name), str(self.election),
        ]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.listener = threading.Thread(target=self._listen, args=(self.process,), daemon=True)
        self.listener.start()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            said = json.loads(line)
            if "status" in said:
                self.told.put(said["status"])
                continue
            if "write" in said:
                self.answers.append(said)
            self.recording.saw(self.name, said)

    def ask(self, **command: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def status(self) -> dict[str, Any]:
        self.ask(status=True)
        return self.told.get(timeout=WAIT)

    def kill(self) -> None:
        """kill -9. What the process reported before is still read."""
        self.process.kill()
        self.process.wait()
        self.listener.join()


def wait(what: str, condition: Any, seconds: float = 2 * WAIT) -> Any:
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise TimeoutError(what)
