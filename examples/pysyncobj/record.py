"""Records a cluster of three processes under load and kills, for ``floodmark conform``:

    python examples/pysyncobj/record.py --seconds 30 --write run.jsonl
    floodmark conform examples/pysyncobj/history.toml --set max_writes=200 --set max_term=100 --trace run.jsonl

Clients write to whichever member comes next; a member is killed with kill -9 now and then, and connections are cut.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from processes import Member, Recording, wait  # noqa: E402
from relay import Relay  # noqa: E402

NAMES = ["n1", "n2", "n3"]
ELECTION = 0.5


def load(members: list[Member], relay: Relay, chance: random.Random, seconds: float, most: int) -> int:
    """Writes, kills and cuts for a while; returns the number of writes."""
    end, write = time.monotonic() + seconds, 0
    while time.monotonic() < end and write < most:
        happens = chance.random()
        if happens < 0.04:
            member = chance.choice(members)
            member.kill()
            time.sleep(chance.uniform(0, 1))
            member.start()
        elif happens < 0.1:
            relay.cut(*chance.sample(NAMES, 2))
        else:
            write += 1
            with suppress(BrokenPipeError):
                chance.choice(members).ask(put=write, bytes=chance.choice([10, 40_000]))
        time.sleep(chance.uniform(0, 0.3))
    return write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=200, help="writes")
    parser.add_argument("--write", type=Path, required=True, metavar="FILE")
    given = parser.parse_args()
    recording, relay = Recording(), Relay(NAMES)
    with tempfile.TemporaryDirectory(prefix="pysyncobj-") as folder:
        members = [Member(name, relay, Path(folder), recording, ELECTION) for name in NAMES]
        try:
            writes = load(members, relay, random.Random(given.seed), given.seconds, given.most)
            with suppress(TimeoutError):
                wait("the same everywhere", lambda: len({str(member.status()["taken"]) for member in members}) == 1)
        finally:
            for member in members:
                member.kill()
            relay.close()
    recording.write(given.write)
    print(f"{writes} writes, {len(recording.lines)} observations, in {given.write}")


if __name__ == "__main__":
    main()
