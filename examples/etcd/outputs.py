"""Compares a log of an interaction test with the log that etcd's library printed, in plain Python, without the model.

The library's tests are deterministic: the same commands print the same lines. So of all changed logs only those are
right that say the same as the library's own. Nothing is left out but what a log may say differently: reasons that the
logger gives, what clients write, whether a Ready has to be synchronised, and the order of messages that come one after
the other.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

_LOGGED = re.compile(r"(DEBUG|INFO|WARN|ERROR) ")
_STATED = re.compile(r"INFO \d+ (became|switched to configuration) ")
_MESSAGE = re.compile(r"(dropped: )?\w+->\w+ Msg")


def difference(printed: str, changed: str) -> str | None:
    """The first line that the changed log has instead of one that the library printed; None if it says the same."""
    for own, other in itertools.zip_longest(_said(printed), _said(changed)):
        if own != other:
            return f"{own!r} became {other!r}"
    return None


def _said(text: str) -> Iterator[str]:
    messages: list[str] = []
    for row in text.split("\n"):
        line = row.strip()
        if _LOGGED.match(line) and not _STATED.match(line):
            continue
        line = re.sub(r'(EntryNormal) "[^"]*"', r"\1", line.replace("MustSync=true", "").replace("MustSync=false", ""))
        if _MESSAGE.match(line):
            messages.append(line)
            continue
        yield from sorted(messages)
        messages = []
        yield line
    yield from sorted(messages)
