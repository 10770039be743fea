"""A process with one member of a cluster, over TCP and with its own clock. Commands and answers are JSON lines.

    python member.py ADDRESS BIND OTHER,OTHER JOURNAL ELECTION_SECONDS

``{"put": 7, "bytes": 40000}`` is a client's write; ``{"status": true}`` asks what the member knows. The member reports
what clients are told as ``{"write": 7, "reason": 0}``, where 0 means success, an applied write as ``{"applied": 7}``,
and that it leads as ``{"leads": 3}``, with the term.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
from typing import Any

if "PYSYNCOBJ" in os.environ:
    sys.path.insert(0, os.environ["PYSYNCOBJ"])

from pysyncobj import SyncObj, SyncObjConf, replicated
from pysyncobj.version import VERSION

ROLES = ("follower", "candidate", "leader")
_out = threading.Lock()


class Store(SyncObj):  # type: ignore[misc]
    """The list of applied writes."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.taken: list[int] = []
        super().__init__(*given, **named)

    @replicated  # type: ignore[untyped-decorator]
    def put(self, write: int, padding: str) -> None:
        self.taken.append(write)
        say(applied=write)

    def changed(self, _: int, role: int) -> None:
        if ROLES[role] == "leader":
            say(leads=self.raftCurrentTerm)


def say(**what: Any) -> None:
    with _out:
        print(json.dumps(what), flush=True)


def told(write: int, _: Any, reason: int) -> None:
    say(write=write, reason=reason)


def status(store: Store) -> dict[str, Any]:
    found = store.getStatus()
    return {
        "version": VERSION, "role": ROLES[found["state"]], "term": found["raft_term"], "log": found["log_len"],
        "commit": found["commit_idx"], "taken": list(store.taken),
    }


def main() -> None:
    address, bind, others, journal, timeout = sys.argv[1:]
    def changed(old: int, new: int) -> None:
        store.changed(old, new)

    conf = SyncObjConf(
        bindAddress=bind, journalFile=journal, raftMinTimeout=float(timeout), raftMaxTimeout=1.5 * float(timeout),
        connectionTimeout=30.0, connectionRetryTime=0.3, onStateChanged=changed,
    )
    store = Store(address, others.split(","), conf)
    for line in sys.stdin:
        command = json.loads(line)
        if "put" in command:
            write = command["put"]
            store.put(write, "." * command["bytes"], callback=functools.partial(told, write))
        else:
            say(status=status(store))


if __name__ == "__main__":
    main()
