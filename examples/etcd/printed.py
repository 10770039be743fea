"""What etcd's interaction tests print: the formats of ``util.go`` (DescribeReady, DescribeMessage, DescribeEntry)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from floodmark import SourceError
from model.etcd_raft.raft import Kind

_MESSAGE = re.compile(
    r"(\w+)->(\w+) (Msg\w+) Term:(\d+) Log:(\d+)/(\d+)(?: Rejected \(Hint: (\d+)\))?(?: Commit:(\d+))?(?: Vote:(\d+))?"
    r"(?: Entries:\[(.*?)(\]|$))?( Responses:\[)?$"
)
_ENTRY = re.compile(r"(\d+)/(\d+) Entry(Normal|ConfChange|ConfChangeV2)(?: (.*))?$")
_CONFIG = re.compile(
    r"voters=\(([\d ]*)\)(?:&&\(([\d ]*)\))?(?: learners=\(([\d ]*)\))?(?: learners_next=\(([\d ]*)\))?( autoleave)?$"
)
_COMPARED = re.compile(r"(?:INFO|WARN) \d+ (?:became|switched|received Msg|has received|is unpromotable)")
_SKIPPED = re.compile(r"(?:DEBUG|INFO|WARN|ERROR) ")
_KINDS = {kind.value: kind.name for kind in Kind}


@dataclass(frozen=True)
class Command:
    """A command of a test, the lines below it, and what was printed, with the number of each line."""

    number: int
    words: Sequence[str]
    argument: Sequence[str]
    printed: Sequence[tuple[int, str]]

    @property
    def name(self) -> str:
        return self.words[0]

    @property
    def nodes(self) -> list[str]:
        return [f"n{word}" for word in self.words[1:] if word.isdecimal()]

    @property
    def options(self) -> dict[str, str]:
        return dict(word.split("=", 1) for word in self.words if "=" in word)


def commands(text: str) -> Iterator[Command]:
    """The commands of a test (``cockroachdb/datadriven``)."""
    rows = text.split("\n")
    at = 0
    while at < len(rows):
        if not rows[at].strip() or rows[at].startswith("#"):
            at += 1
            continue
        start = at
        while at < len(rows) and rows[at] != "----":
            at += 1
        if at == len(rows):
            raise SourceError("a command ends with ----", line=start + 1)
        given = [row for row in rows[start:at] if not row.startswith("#")]
        at += 1
        fenced = at < len(rows) and rows[at] == "----"
        at += fenced
        printed = []
        while at < len(rows) and rows[at] != ("----" if fenced else ""):
            printed.append((at + 1, rows[at].strip()))
            at += 1
        at += 2 if fenced else 0
        yield Command(start + 1, given[0].split(), given[1:], printed)


def node(number: str) -> str | None:
    return None if number == "0" else f"n{number}"


def nodes(text: str) -> list[str]:
    return [f"n{number}" for number in re.findall(r"\d+", text)]


@dataclass(frozen=True)
class PrintedEntry:
    term: int
    index: int
    kind: str
    text: str

    def pattern(self) -> dict[str, Any]:
        """The entry as one of the model. What clients write is not compared."""
        if self.kind == "Normal":
            return {"term": self.term, "change": None}
        words = self.text.split()
        letters = (("voters", "v"), ("learners", "l"), ("removed", "r"))
        sets = {name: [f"n{word[1:]}" for word in words if word[0] == letter] for name, letter in letters}
        return {"term": self.term, "change": sets}


def ending_with(entries: Sequence[PrintedEntry]) -> dict[str, Any]:
    """A log that ends with these entries."""
    return {"length": entries[-1].index, **{str(entry.index - 1): entry.pattern() for entry in entries}}


@dataclass(frozen=True)
class PrintedMessage:
    source: str
    to: str
    kind: str
    term: int
    log_term: int
    index: int
    hint: str | None
    commit: int
    vote: str | None
    entries: Sequence[PrintedEntry]
    responses: Sequence[PrintedMessage] = ()

    def pattern(self) -> dict[str, Any]:
        """The message as one of the model. A snapshot stands for a log up to its index."""
        entries: Any = [entry.pattern() for entry in self.entries]
        if self.kind == "MsgSnap":
            entries = {"length": self.index}
        return {
            "kind": _KINDS[self.kind], "source": node(self.source), "destination": node(self.to), "term": self.term,
            "log_term": self.log_term, "index": self.index, "reject": self.hint is not None,
            "hint": int(self.hint or 0), "commit": self.commit, "entries": entries,
        }


class Log:
    """The lines that a command printed, which are read in order; nothing is compared while the output is off."""

    def __init__(self, command: Command, shown: bool) -> None:
        self.lines = [] if [text for _, text in command.printed] == ["ok"] else command.printed
        self.at, self.number, self.shown = 0, command.number, shown

    def refuse(self, message: str) -> SourceError:
        return SourceError(message, line=self.number)

    def peek(self) -> str:
        """The next line that is compared; empty at the end."""
        while self.at < len(self.lines):
            text = self.lines[self.at][1]
            if text and (_COMPARED.match(text) or not _SKIPPED.match(text)):
                return text
            self.at += 1
        return ""

    def has(self, pattern: str | re.Pattern[str]) -> re.Match[str] | None:
        """The next line, if it is this one."""
        found = re.match(pattern, self.peek())
        if found is not None:
            self.number = self.lines[self.at][0]
            self.at += 1
        return found

    def take(self, pattern: str | re.Pattern[str], what: str = "") -> re.Match[str]:
        """The next line, which has to be this one."""
        found = self.has(pattern)
        if found is None:
            raise self.unexpected(f"where the model has {what or pattern}")
        return found

    def unexpected(self, where: str) -> SourceError:
        text = self.peek()
        if not text:
            return self.refuse(f"the output ends, {where}")
        self.number = self.lines[self.at][0]
        return self.refuse(f"the log has {text!r}, {where}")

    def end(self) -> None:
        if self.shown and self.peek():
            raise self.unexpected("where the model has nothing")

    def config(self, text: str) -> tuple[dict[str, Any], bool]:
        """A configuration, and whether it is left by itself."""
        found = _CONFIG.match(text)
        if found is None:
            raise self.refuse(f"this is not a configuration: {text}")
        names = ("incoming", "outgoing", "learners", "learners_next")
        return {name: nodes(found[at] or "") for at, name in enumerate(names, 1)}, found[5] is not None

    def entries(self, first: int, last: int | None = None) -> list[PrintedEntry]:
        """Entries with the indices from ``first`` on."""
        entries = []
        while self.has(_ENTRY):
            entries.append(self.entry(self.lines[self.at - 1][1]))
        self.consecutive(entries, first, last)
        return entries

    def consecutive(self, entries: Sequence[PrintedEntry], first: int, last: int | None = None) -> None:
        wanted = list(range(first, (first + len(entries) - 1 if last is None else last) + 1))
        if [entry.index for entry in entries] != wanted:
            raise self.refuse(f"the entries are {[entry.index for entry in entries]}, and not {wanted}")

    def message(self, source: str, to: str, kind: str, before: str = "") -> PrintedMessage:
        """A message, in several lines if it has several entries, or answers."""
        begin = f"{before}{source}->{to} {kind}"
        read = self._message(_MESSAGE.match(self.take(re.escape(begin) + " ", begin).string.removeprefix(before)))
        if kind == "MsgSnap":
            if (read.log_term, read.index) != (0, 0):
                raise self.refuse("a snapshot says below it what it has")
            snapshot = self.take(r"Snapshot: Index:(\d+) Term:(\d+) ")
            return PrintedMessage(source, to, kind, read.term, int(snapshot[2]), int(snapshot[1]), None, 0, None, ())
        return read

    def _message(self, found: re.Match[str] | None) -> PrintedMessage:
        if found is None:
            raise self.refuse("this is not a message")
        index, entries, more = int(found[6]), [], found[12]
        if found[10]:
            entries = [self.entry(found[10])]
        elif found[10] is not None and not found[11]:
            first = _ENTRY.match(self.peek())
            entries = self.entries(int(first[2]) if first else 0)
            more = self.take(r"\](.*)$")[1]
        responses = []
        while more and not self.has(r"\]$"):
            responses.append(self._message(self.take(_MESSAGE, "a message")))
        if found[3] == "MsgApp":
            self.consecutive(entries, index + 1)
        return PrintedMessage(
            found[1], found[2], found[3], int(found[4]), int(found[5]), index, found[7], int(found[8] or 0),
            node(found[9] or "0"), entries, tuple(responses),
        )

    def entry(self, text: str) -> PrintedEntry:
        found = _ENTRY.match(text)
        if found is None:
            raise self.refuse(f"this is not an entry: {text}")
        return PrintedEntry(int(found[1]), int(found[2]), found[3], found[4] or "")
