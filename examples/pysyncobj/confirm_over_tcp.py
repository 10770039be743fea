"""An acknowledged write is lost, over TCP between three processes: ``python examples/pysyncobj/confirm_over_tcp.py``.

The library is as installed, with its own clocks, timers, threads and sockets. The network (``relay.py``) delays
messages and cuts one connection; one process is killed. Every step waits for a stated condition, so the run takes about
twenty seconds and does not depend on races.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from processes import Member, Recording, wait  # noqa: E402
from relay import Relay, brief  # noqa: E402

NAMES = ["n1", "n2", "n3"]
LARGE = 40_000
"""Bytes of a write, so that two make up a batch of 64 KiB, the library's default."""
ELECTION = 4.0
"""Seconds without a leader after which a member stands for election: long enough to hold messages back."""


def was_told(member: Member, write: int) -> bool:
    return {"write": write, "reason": 0} in member.answers


def leader_of(members: list[Member]) -> Member | None:
    return next((member for member in members if member.status()["role"] == "leader"), None)


def say(text: str) -> None:
    print(text, flush=True)


def run(folder: Path, recording: Recording) -> bool:
    """Whether a write was lost that a client was told had succeeded."""
    relay = Relay(NAMES)
    members = [Member(name, relay, folder, recording, ELECTION) for name in NAMES]
    try:
        leader = wait("a leader", lambda: leader_of(members))
        follower, third = (member for member in members if member is not leader)
        say(f"PySyncObj {leader.status()['version']}: {leader.name} leads term {leader.status()['term']}")
        leader.ask(put=1, bytes=10)
        wait("write 1 everywhere", lambda: all(member.status()["taken"] == [1] for member in members))
        say("write 1 is applied by all three")
        third.kill()
        say(f"{third.name} is killed; {leader.name} and {follower.name} are a majority")
        to, back = relay.links[leader.name, follower.name], relay.links[follower.name, leader.name]

        to.hold()
        leader.ask(put=2, bytes=LARGE)
        to.wait("append_entries", prevLogIdx=3)
        to.wait("append_entries", prevLogIdx=4)
        relay.cut(leader.name, follower.name)
        say(f"the connection is lost with the message that carries write 2 to {follower.name}, and is made again")
        to.wait("append_entries", count=2, prevLogIdx=4, entries=[])
        back.hold()
        to.let_before("append_entries", prevLogIdx=4, entries=[])
        asked = to.let(2)
        back.wait("next_node_idx", count=2, reset=True)
        say(f"{follower.name} lacks what {leader.name} believes it sent, and says so twice, since two messages "
            f"came before its first answer could:")
        for message in asked:
            say(f"  {leader.name} -> {follower.name}  {brief(message)}")
        for message in back.messages():
            say(f"  {follower.name} -> {leader.name}  {message}")

        leader.ask(put=3, bytes=LARGE)
        leader.ask(put=4, bytes=LARGE)
        wait("three large writes", lambda: leader.status()["log"] == 6)
        back.let_before("next_node_idx", reset=True)
        back.let(1)
        to.wait("append_entries", prevLogIdx=6)
        to.let_before("append_entries", prevLogIdx=6)
        back.wait("next_node_idx", next_node_idx=7, success=True)
        say(f"after the first of these {leader.name} sends writes 2, 3 and 4, and {follower.name} has them all: "
            f"its journal has {follower.status()['log']} entries")
        back.let_before("next_node_idx", next_node_idx=6, success=True)
        to.wait("append_entries", prevLogIdx=3)
        say(f"after the second one {leader.name} sends them again")
        back.release()
        wait("write 4 acknowledged", lambda: was_told(leader, 4))
        say(f"then {follower.name}'s answer to the first copy arrives: {leader.name} commits, applies "
            f"{leader.status()['taken']}, and tells the client of write 4 that it succeeded")

        to.let_before("append_entries", prevLogIdx=3)
        again = to.let(1)
        wait("the journal is cut", lambda: follower.status()["log"] == 5)
        say(f"the first message of the second copy arrives, {leader.name} -> {follower.name}  {brief(again[0])}: "
            f"{follower.name}'s journal has {follower.status()['log']} entries, and write 4 is gone from it")
        leader.kill()
        relay.cut(leader.name, follower.name)
        to.release()
        third.start()
        say(f"{leader.name} is killed, and messages in transit are lost with its connections; {third.name} starts")

        others = [follower, third]
        new = wait("another leader", lambda: leader_of(others))
        new.ask(put=5, bytes=10)
        wait("write 5", lambda: all(member.status()["taken"][-1:] == [5] for member in others))
        say(f"{new.name} leads term {new.status()['term']}, and write 5 succeeds")
        leader.start()
        wait("the old leader", lambda: leader.status()["taken"][-1:] == [5])
        say(f"{leader.name} starts again, with the journal that had write 4")
        for member in members:
            status = member.status()
            say(f"  {member.name}  {status['role']} of term {status['term']}, has applied {status['taken']}")
        return all(4 not in member.status()["taken"] for member in members)
    finally:
        for member in members:
            member.kill()
        relay.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE", help="writes what was observed, for floodmark conform")
    given = parser.parse_args()
    recording = Recording()
    with tempfile.TemporaryDirectory(prefix="pysyncobj-") as folder:
        lost = run(Path(folder), recording)
    if given.write is not None:
        recording.write(given.write)
    say("write 4 was acknowledged and is lost" if lost else "write 4 is still there")
    return 0 if lost else 1


if __name__ == "__main__":
    sys.exit(main())
