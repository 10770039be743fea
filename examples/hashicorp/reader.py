"""Reads recorded runs of HashiCorp's Raft as steps of model/hashicorp_raft/raft.py:

    floodmark conform hashicorp_raft/raft --reader examples/hashicorp/reader.py --trace FOLDER

The runs are those of a harness (``traceEvent`` in its patch of the library). An event is logged by the goroutine that
takes a step, some time after it, with the state that this goroutine then sees. So events come in another order than
what they show, and the reader decides which step comes when:

- A candidate asks others before it logs ``BecomeCandidate``. Who handles such a request shows that it was asked.
- A leader's own entries are not logged: what it sends, and its last index, show them.
- An answer to a leader counts before it is logged, if the commit index needs it; and the commit index moves before
  ``AdvanceCommitIndex`` if another goroutine has seen it. A goroutine may also see the one of before.
- A request to a server that is gone fails: an answer is logged, with the candidate's term, that nobody gave.

The recorder keeps its own copy of the vote, and clears it whenever a candidate hears from a leader, also one of its
own term, in which the vote stays. From then on the vote is not compared, until it is shown again or the term is over.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from floodmark import SourceError

SUFFIXES = (".ndjson",)
CONSTANTS = {"servers": 3, "max_term": 100, "max_log": 10_000, "max_messages": 100_000, "max_restarts": 0}

_BESIDE = ("SendReplicateEntries", "HandleReplicateResponse", "SendHeartbeat", "HandleHeartbeatResponse")
"""Events of goroutines beside a leader's main loop."""
_MESSAGES = {
    "SendReplicateEntries": ("AppendEntriesRequest", "replicate", "from"),
    "HandleReplicateResponse": ("AppendEntriesResponse", "replicate", "to"),
    "SendHeartbeat": ("AppendEntriesRequest", "heartbeat", "from"),
    "HandleHeartbeatResponse": ("AppendEntriesResponse", "heartbeat", "to"),
    "HandleAppendEntriesRequest": ("AppendEntriesRequest", None, "to"),
    "HandleRequestVoteRequest": ("RequestVoteRequest", None, "to"),
    "HandleRequestVoteResponse": ("RequestVoteResponse", None, "to"),
}
"""The type of each event's message, its subtype, and which of its ends is the server."""

Line = dict[str, Any]


class _Event:
    def __init__(self, line: int, given: Mapping[str, Any]) -> None:
        self.line = line
        self.name: str = given["name"]
        self.server: str = given["nid"]
        self.state: Mapping[str, Any] = given["state"]
        self.message: Mapping[str, Any] = given.get("msg") or {}
        self.term, self.last, self.commit = (self.state[key] for key in ("term", "lastLogIndex", "commitIndex"))

    @property
    def source(self) -> str:
        return str(self.message["from"])

    @property
    def to(self) -> str:
        return str(self.message["to"])

    def content(self, kind: str, source: str, destination: str, **more: Any) -> Line:
        return {"kind": kind, "source": source, "destination": destination, "term": self.message["term"], **more}


def lines(text: str) -> Iterator[Line]:
    """The steps of a trace, each with the line of its event."""
    events = []
    for number, row in enumerate(text.split("\n"), 1):
        if row.strip():
            try:
                given = json.loads(row)
                if given.get("tag") == "trace":
                    events.append(_Event(number, given["event"]))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise SourceError(f"this is not an event: {error!r}", line=number) from None
    yield from _Reader(events).lines()


class _Reader:
    def __init__(self, events: Sequence[_Event]) -> None:
        self.events = events
        self.at = 0
        self.stood: dict[str, int] = {}
        """The last term in which each server was a candidate."""
        self.last: dict[str, int] = defaultdict(lambda: 1)
        self.commit: dict[str, int] = defaultdict(int)
        self.handled: dict[tuple[str, str], deque[int]] = defaultdict(deque)
        """For a leader and a server: the last indices that it has confirmed, in order, until their answers are logged.
        """
        self.counted: dict[tuple[str, str], int] = defaultdict(int)
        """How many of these answers count already."""
        self.match: dict[str, dict[str, int]] = defaultdict(dict)
        self.beats: dict[tuple[str, str], list[bool]] = defaultdict(list)
        """The same for heartbeats: whether each was a success."""
        self.seen: dict[tuple[str, str, str], int] = defaultdict(int)
        """The last commit index that each goroutine beside a main loop has seen."""
        self.unlogged: dict[str, int] = {}
        """A commit index of a leader that others have seen, and AdvanceCommitIndex has not logged yet."""
        self.members = {f"s{number}" for number in range(1, CONSTANTS["servers"] + 1)}
        self.cleared: dict[str, int] = {}
        """The term in which the recorder has cleared a server's vote."""

    def lines(self) -> Iterator[Line]:
        for at, event in enumerate(self.events):
            self.at = at
            handler = getattr(self, f"on_{event.name}", None)
            if handler is None:
                raise SourceError(f"the event {event.name!r} is not known", line=event.line)
            try:
                self.check(event)
                if event.name in _BESIDE or event.name == "AdvanceCommitIndex":
                    yield from self.appended(event)
                    yield from self.committed(event)
                yield from handler(event)
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise SourceError(f"this is not an event of HashiCorp's Raft: {error!r}", line=event.line) from None
        if self.unlogged:
            raise SourceError(f"AdvanceCommitIndex has not logged {self.unlogged}", line=self.events[-1].line)

    def check(self, event: _Event) -> None:
        """The message is of the event's kind, and of its server."""
        if event.name in _MESSAGES:
            kind, subtype, end = _MESSAGES[event.name]
            given = event.message
            if (given["type"], given.get("subtype"), given[end]) != (kind, subtype, event.server):
                raise SourceError(f"this is no message of {event.name} at {event.server}", line=event.line)

    def step(self, event: _Event, action: str, *, state: Line | None = None, **arguments: Any) -> Line:
        line: Line = {"line": event.line, "action": action, "arguments": arguments}
        return line if state is None else {**line, "state": state}

    def shown(self, event: _Event) -> Line:
        return {"line": event.line, "step": False, "state": self.variables(event)}

    def variables(self, event: _Event) -> Line:
        """What an event shows of its server. Beside the main loop, the commit index may be one of before."""
        server, vote = event.server, event.state["votedFor"]
        log: Line = {"length": event.last, str(event.last - 1): {"term": event.state["lastLogTerm"]}}
        seen: Line = {
            "term": {server: event.term}, "role": {server: event.state["role"].upper()}, "log": {server: log},
        }
        if vote or self.cleared.get(server) != event.term:
            seen["vote"] = {server: vote or None}
        if event.name not in _BESIDE:
            seen["commit"] = {server: event.commit}
        else:
            goroutine = (event.name, event.source, event.to)
            if not self.seen[goroutine] <= event.commit <= self.commit[server]:
                message = f"the commit index is {self.commit[server]}, and was {self.seen[goroutine]} before"
                raise SourceError(message, line=event.line)
            self.seen[goroutine] = event.commit
        return seen

    # What is not logged, or later.

    def appended(self, event: _Event) -> Iterator[Line]:
        """A leader has appended entries."""
        while event.state["role"] == "Leader" and self.last[event.server] < event.last:
            yield self.step(event, "leader_appends", leader=event.server)
            self.last[event.server] += 1
            self.match[event.server][event.server] = self.last[event.server]

    def committed(self, event: _Event) -> Iterator[Line]:
        """A leader's commit index has moved, by answers some of which are logged later."""
        leader = event.server
        if event.commit <= self.commit[leader]:
            return
        for server in sorted(self.members):
            waiting = self.handled[leader, server]
            while self.counted[leader, server] < len(waiting) and not self.is_quorum(leader, event.commit):
                index = waiting[self.counted[leader, server]]
                self.counted[leader, server] += 1
                yield self.answer(event, server, index)
        yield self.step(event, "leader_commits", leader=leader, state={"commit": {leader: event.commit}})
        if leader in self.unlogged:
            raise SourceError(f"AdvanceCommitIndex has not logged {self.unlogged[leader]}", line=event.line)
        self.commit[leader] = self.unlogged[leader] = event.commit

    def is_quorum(self, leader: str, index: int) -> bool:
        reached = {server for server, match in self.match[leader].items() if match >= index}
        return 2 * len(reached & self.members) > len(self.members)

    def answer(self, event: _Event, server: str, index: int) -> Line:
        leader = event.server
        self.match[leader][server] = max(self.match[leader].get(server, 0), index)
        message = {"kind": "APPEND_RESPONSE", "source": server, "destination": leader, "heartbeat": False,
                   "index": index, "success": True}
        return self.step(event, "handles_append_response", message=message)

    # Elections.

    def stands(self, event: _Event, server: str, term: int) -> Iterator[Line]:
        if self.stood.get(server) != term:
            self.stood[server] = term
            yield self.step(event, "stands", server=server, state={"term": {server: term}})

    def on_BecomeCandidate(self, event: _Event) -> Iterator[Line]:  # noqa: N802
        yield from self.stands(event, event.server, event.term)
        yield self.step(event, "votes_for_itself", server=event.server, state=self.variables(event))

    def on_HandleRequestVoteRequest(self, event: _Event) -> Iterator[Line]:  # noqa: N802
        yield from self.stands(event, event.source, event.message["term"])
        message = event.content("VOTE", event.source, event.server, index=event.message["lastLogIndex"],
                                log_term=event.message["lastLogTerm"])
        if event.message.get("voteGranted", False) != (event.state["votedFor"] == event.source):
            raise SourceError("a vote is given if it is stored", line=event.line)
        yield self.step(event, "handles_vote_request", message=message, state=self.variables(event))

    def on_HandleRequestVoteResponse(self, event: _Event) -> Iterator[Line]:  # noqa: N802
        given = event.message.get("voteGranted", False)
        if event.source == event.server:
            yield self.step(event, "counts_own_vote", server=event.server, state=self.variables(event))
        elif given or self.was_asked(event):
            message = event.content("VOTE_RESPONSE", event.source, event.server, success=given)
            yield self.step(event, "handles_vote_response", message=message, state=self.variables(event))
        else:
            lost = event.content("VOTE", event.server, event.source)
            yield self.step(event, "network_loses", message=lost, state=self.variables(event))

    def was_asked(self, event: _Event) -> bool:
        """The server whose answer this is has handled the request."""
        return any(
            each.name == "HandleRequestVoteRequest" and (each.server, each.source) == (event.source, event.server)
            and each.message["term"] == self.stood[event.server]
            for each in self.events[: self.at]
        )

    def on_BecomeLeader(self, event: _Event) -> Iterator[Line]:  # noqa: N802
        self.match[event.server] = {}
        self.last[event.server], self.commit[event.server] = event.last, event.commit
        yield self.step(event, "becomes_leader", server=event.server, state=self.variables(event))

    # Replication.

    def on_SendReplicateEntries(self, event: _Event) -> Iterator[Line]:  # noqa: N802
        message = event.message
        state = self.variables(event)
        yield self.step(
            event, "leader_replicates", leader=event.server, to=event.to, start=message["prevLogIndex"],
            count=message["entries"], commit=message.get("commitIndex", 0), state=state,
        )

    def on_SendHeartbeat(self, event: _Event) -> Iterator[Line]:  # noqa: N802
        yield self.step(event, "leader_sends_heartbeat", leader=event.server, to=event.to, state=self.variables(event))

    def on_HandleAppendEntriesRequest(self, event: _Event) -> Iterator[Line]:  # noqa: N802
        given = event.message
        start, count = given.get("prevLogIndex", 0), given["entries"]
        heartbeat = start == 0
        message = event.content(
            "APPEND", event.source, event.server, heartbeat=heartbeat, index=start,
            log_term=given.get("prevLogTerm", 0), commit=given.get("commitIndex", 0), entries={"length": count},
        )
        if not event.state["votedFor"]:
            self.cleared[event.server] = event.term
        if heartbeat:
            self.beats[event.source, event.server].append(given.get("success", False))
        elif given.get("success", False):
            self.handled[event.source, event.server].append(start + count)
        yield self.step(event, "handles_append", message=message, state=self.variables(event))

    def on_HandleReplicateResponse(self, event: _Event) -> Iterator[Line]:  # noqa: N802
        pair = (event.server, event.source)
        if not event.message.get("success", False):
            message = event.content("APPEND_RESPONSE", event.source, event.server, heartbeat=False, success=False)
            yield self.step(event, "handles_append_response", message=message, state=self.variables(event))
            return
        index = self.handled[pair].popleft()
        if self.counted[pair] > 0:
            self.counted[pair] -= 1
        else:
            yield self.answer(event, event.source, index)
        # The event shows the index before the next one to send, which an answer moves only if it had entries.
        yield {**self.shown(event), "state": {
            **self.variables(event), "match": {event.server: {event.source: event.message["matchIndex"]}}
        }}

    def on_HandleHeartbeatResponse(self, event: _Event) -> Iterator[Line]:  # noqa: N802
        success = event.message.get("success", False)
        self.beats[event.server, event.source].remove(success)
        message = event.content("APPEND_RESPONSE", event.source, event.server, heartbeat=True, success=success)
        yield self.step(event, "handles_append_response", message=message, state=self.variables(event))

    def on_AdvanceCommitIndex(self, event: _Event) -> Iterator[Line]:  # noqa: N802
        if self.unlogged.pop(event.server, None) != event.commit:
            raise SourceError("the commit index has not moved", line=event.line)
        yield self.shown(event)

    def on_ProposeConfigChange(self, event: _Event) -> Iterator[Line]:  # noqa: N802
        self.members = self.members - {event.to}
        self.last[event.server] += 1
        self.match[event.server][event.server] = self.last[event.server]
        yield self.step(event, "leader_removes", leader=event.server, removed=event.to, state=self.variables(event))
