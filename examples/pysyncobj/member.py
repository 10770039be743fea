"""A process with one member of a cluster, over TCP, its own clock and all; commands come in as JSON lines, answers go out.

    python member.py ADDRESS BIND OTHER,OTHER JOURNAL

``{"put": 7, "bytes": 40000}`` is a client's write, ``{"status": true}`` asks what the member knows. What clients are told
goes out as ``{"write": 7, "reason": 0}``; 0 is success.
"""

from __future__ import annotations

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
    """The list of the writes that were applied."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.taken: list[int] = []
        super().__init__(*given, **named)

    @replicated  # type: ignore[untyped-decorator]
    def put(self, write: int, padding: str) -> None:
        self.taken.append(write)


def say(**what: Any) -> None:
    with _out:
        print(json.dumps(what), flush=True)


def status(store: Store) -> dict[str, Any]:
    found = store.getStatus()
    return {
        "version": VERSION, "role": ROLES[found["state"]], "term": found["raft_term"], "log": found["log_len"],
        "commit": found["commit_idx"], "taken": list(store.taken),
    }


def main() -> None:
    address, bind, others, journal = sys.argv[1:]
    conf = SyncObjConf(
        bindAddress=bind, journalFile=journal, raftMinTimeout=4.0, raftMaxTimeout=6.0, connectionTimeout=30.0,
        connectionRetryTime=0.3,
    )
    store = Store(address, others.split(","), conf)
    for line in sys.stdin:
        command = json.loads(line)
        if "put" in command:
            write = command["put"]
            store.put(write, "." * command["bytes"], callback=lambda _, why, write=write: say(write=write, reason=why))
        else:
            say(status=status(store))


if __name__ == "__main__":
    main()
