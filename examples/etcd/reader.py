"""Reads the state traces of etcd's Raft (``state_trace.go``) as steps of model/etcd_raft/recorded.py:

    floodmark conform etcd_raft/recorded --reader examples/etcd/reader.py --trace FOLDER

An event shows the state of one node, before or after a step, or in the middle of one. The reader decides which step an
event belongs to, and it may decide wrongly: then the model does not fit, and the trace is rejected. It never decides
that a step is right.

- A message that is handled at once is the step of its Receive event, which shows the state before. When the node first
  enters a term or follows a leader, that is a step of its own, BecomeFollower.
- A Send event shows the next message in the node's outbox; Ready empties the outbox. A leader's MsgApp, MsgHeartbeat
  and MsgSnap are steps of their own. A vote is cast at its SendRequestVoteResponse, which shows the state before.
- Replicate and ChangeConf announce an entry, which is appended at the leader's acknowledgement to itself. An
  acknowledgement without an announcement is the entry that leaves a joint configuration, which etcd does not log.
- A message that no event receives is lost. An application applies entries whether or not that is logged.

``rafttest`` writes every call of maybeCommit as a Commit event; the traces with ``applied`` in their states write one
only where the commit index advanced.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from floodmark import SourceError

SUFFIXES = (".ndjson",)
CONSTANTS = {
    "nodes": 12, "max_term": 100, "max_log": 100_000, "max_outbox": 100_000, "max_messages": 100_000,
    "max_restarts": 1000,
}

_KINDS = {
    "MsgVote": "VOTE", "MsgVoteResp": "VOTE_RESPONSE", "MsgApp": "APPEND", "MsgAppResp": "APPEND_RESPONSE",
    "MsgHeartbeat": "HEARTBEAT", "MsgHeartbeatResp": "HEARTBEAT_RESPONSE", "MsgSnap": "SNAPSHOT",
}
_EVENTS = {
    "MsgVote": "RequestVoteRequest", "MsgVoteResp": "RequestVoteResponse", "MsgApp": "AppendEntriesRequest",
    "MsgAppResp": "AppendEntriesResponse", "MsgHeartbeat": "AppendEntriesRequest",
    "MsgHeartbeatResp": "AppendEntriesResponse", "MsgSnap": "AppendEntriesRequest",
}
"""What an event about a message is called, after Send or Receive."""
_ROLES = {
    "StateFollower": "FOLLOWER", "StatePreCandidate": "PRE_CANDIDATE", "StateCandidate": "CANDIDATE",
    "StateLeader": "LEADER",
}
_FROM_LEADER = ("MsgApp", "MsgHeartbeat", "MsgSnap")
_BOOT = ("InitState", "ApplyConfChange", "BecomeFollower")
_SHOWS_STATE_ONLY = (
    "CompactLog", "ReportUnreachable", "ReportSnapshotStatus", "SendReadIndex", "ReceiveReadIndex", "SendReadIndexResp",
    "ReceiveReadIndexResp", "ReadIndexQuorumAck",
)

Line = dict[str, Any]


class _Event:
    """An event of one node; ``earlier`` and ``after`` are those of the same node beside it."""

    def __init__(self, line: int, given: Mapping[str, Any]) -> None:
        self.line = line
        self.name: str = given["name"]
        self.node = f"n{given['nid']}"
        self.given = given
        self.role: str = given["role"]
        self.message: Mapping[str, Any] = given.get("msg") or {}
        self.kind: str = self.message.get("type", "")
        self.details: Mapping[str, Any] = given.get("prop") or {}
        self.earlier: _Event | None = None
        self.after: _Event | None = None

    @property
    def is_sent(self) -> bool:
        return self.name == f"Send{_EVENTS.get(self.kind)}"

    @property
    def is_received(self) -> bool:
        return self.name == f"Receive{_EVENTS.get(self.kind)}"

    @property
    def term(self) -> int:
        return int(self.given["state"]["term"])

    @property
    def is_extended(self) -> bool:
        """Whether the event has what only the recorded scenarios log."""
        return "applied" in self.given["state"]

    def is_followed_by(self, name: str) -> bool:
        return self.after is not None and self.after.name == name

    def variables(self, *, without: str = "") -> dict[str, Any]:
        """What the event shows of its node, as the model's variables."""
        shown, node = self.given["state"], self.node
        config = {"incoming": _nodes(self.given["conf"][0]), "outgoing": _nodes(self.given["conf"][1])}
        seen = {
            "term": {node: shown["term"]},
            "vote": {node: _node(shown["vote"])},
            "commit": {node: shown["commit"]},
            "role": {node: _ROLES[self.role]},
            "log": {node: {"length": self.given["log"]}},
            "config": {node: config},
        }
        if self.is_extended:
            config["learners"] = _nodes(self.given.get("learners", []))
            seen["applied"] = {node: shown["applied"]}
            seen["pending_change"] = {node: shown["pendingConfIndex"]}
        seen.pop(without, None)
        return seen

    def pattern(self) -> dict[str, Any]:
        """The event's message as a message of the model, whose entries are only counted."""
        given = self.message
        snapshot = self.kind == "MsgSnap"
        last = {"index": given["index"] or given["entries"]} if snapshot else {
            "index": given["index"], "log_term": given["logTerm"], "entries": {"length": given["entries"]},
        }
        return {
            "kind": _KINDS[self.kind], "source": _node(given["from"]), "destination": _node(given["to"]),
            "term": given["term"], "commit": given["commit"], "reject": given["reject"], "hint": given["rejectHint"],
            **last,
        }

    def identity(self) -> str:
        """What the message says; its vote is never used (the harness leaves it out once)."""
        return json.dumps({**self.message, "vote": ""}, sort_keys=True)


def _node(number: str) -> str | None:
    return None if number == "0" else f"n{number}"


def _nodes(numbers: list[str]) -> list[str]:
    return [f"n{number}" for number in numbers]


def lines(text: str) -> Iterator[Line]:
    """The steps of a trace, each with the line of its event."""
    events, scenario = [], ""
    for number, row in enumerate(text.split("\n"), 1):
        if row.strip():
            try:
                given = json.loads(row)
                scenario = given.get("scenario", scenario)
                if given.get("tag") == "trace":
                    events.append(_Event(number, given["event"]))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise SourceError(f"this is not an event: {error!r}", line=number) from None
    yield from _Reader(events, "disable_validation" in scenario).lines()


class _Reader:
    def __init__(self, events: list[_Event], unvalidated: bool) -> None:
        self.events = events
        self.unvalidated = unvalidated
        self.changes: set[int] = set()
        """The indices of configuration changes."""
        self.sent: Counter[str] = Counter()
        """How many messages each node has put into its outbox since its last Ready."""
        self.reached: dict[str, set[str]] = {}
        """To whom they are."""
        self.released: dict[str, list[_Event]] = {}
        """Of them those that are going to be lost."""
        self.announced: dict[str, list[_Event]] = {}
        self.unhandled: dict[str, _Event] = {}
        """A message of each node that it handles after its next event."""
        self.configured: Counter[str] = Counter()
        self.booting: dict[str, list[_Event]] = {}
        self.lost: set[int] = set()

    def lines(self) -> Iterator[Line]:
        self.link()
        if self.unvalidated:
            yield {"line": 1, "action": "validation_is_off"}
        for event in self.events:
            try:
                yield from self.steps(event)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise SourceError(f"this is not an event of etcd's Raft: {error!r}", line=event.line) from None

    def link(self) -> None:
        """Finds the next event of each node, and the messages that are never received."""
        last: dict[str, _Event] = {}
        received: Counter[str] = Counter()
        for event in self.events:
            if event.node in last:
                event.earlier = last[event.node]
                event.earlier.after = event
            last[event.node] = event
            if event.is_received:
                received[event.identity()] += 1
        for event in self.events:
            if event.is_sent or event.name == "ManualSendSnapshot":
                identity = event.identity()
                if received[identity] > 0:
                    received[identity] -= 1
                else:
                    self.lost.add(event.line)

    def shown(self, event: _Event, *, without: str = "") -> Line:
        """A line for an event that shows the state as it is."""
        return {"line": event.line, "step": False, "state": event.variables(without=without)}

    def step(self, event: _Event, action: str, *, before: Any = None, state: Any = None, **arguments: Any) -> Line:
        line: Line = {"line": event.line, "action": action, "arguments": arguments}
        if before is not None:
            line["before"] = before
        if state is not None:
            line["state"] = state
        return line

    def steps(self, event: _Event) -> Iterator[Line]:
        if event.name == "InitState":
            self.booting[event.node] = []
        if event.node in self.booting:
            if event.name in _BOOT:
                yield from self.boot(event)
                return
            del self.booting[event.node]
        yield from self.unlogged(event)
        if event.is_received and event.pattern()["destination"] != event.node:
            raise SourceError("a node receives what is sent to it", line=event.line)
        if event.is_received:
            yield from self.receive(event)
        elif event.is_sent:
            yield from self.send(event)
        elif event.name == "ManualSendSnapshot":
            yield self.step(event, "application_sends_snapshot", node=event.node, to=event.pattern()["destination"],
                            index=event.message["index"], state=event.variables())
            if event.line in self.lost:
                yield self.step(event, "network_loses", message=event.pattern())
        elif event.name in _SHOWS_STATE_ONLY:
            yield self.shown(event)
        else:
            handler = {
                "Ready": self.ready, "BecomeCandidate": self.become_candidate, "BecomeLeader": self.become_leader,
                "BecomeFollower": self.become_follower, "Replicate": self.announce, "ChangeConf": self.announce,
                "Commit": self.commit, "ApplyConfChange": self.apply_change, "ApplyEntries": self.apply,
            }.get(event.name)
            if handler is None:
                raise SourceError(f"the event {event.name!r} is not known", line=event.line)
            yield from handler(event)

    # Starting.

    def boot(self, event: _Event) -> Iterator[Line]:
        """The events up to the first other one are the start of a node. Its configuration is the last one that it
        switches to before it becomes a follower, or by which it is bootstrapped."""
        before = self.booting[event.node]
        before.append(event)
        if event.after is not None and event.after.name in _BOOT and event.after.name != "InitState":
            return
        bootstrapped = [each for each in before if each.name == "ApplyConfChange" and "newconf" in each.details["cc"]]
        voters = bootstrapped[-1].details["cc"]["newconf"] if bootstrapped else event.given["conf"][0]
        shown = event.variables()
        for each in before:
            self.check_start(each)
        for earlier, each in itertools.pairwise(before):
            self.check_boot(earlier, each)
        if bootstrapped:
            del shown["config"]
            self.changes |= set(range(1, len(voters) + 1))
        else:
            self.changes.add(event.given["log"])
            self.configured[event.node] = event.given["log"]
        yield self.step(
            event, "node_starts", node=event.node, term=event.term, commit=event.given["state"]["commit"],
            voters=_nodes(voters), learners=_nodes(event.given.get("learners", [])), replays=bool(bootstrapped),
            state=shown,
        )

    def check_start(self, event: _Event) -> None:
        """A node starts as a follower that has voted for nobody, with a log that is committed and applied."""
        state, length = event.given["state"], event.given["log"]
        started = (event.role, state["vote"], state["commit"]) == ("StateFollower", "0", length)
        if event.is_extended:
            started = started and (state["applied"], state["pendingConfIndex"]) == (length, 0)
        if not started:
            raise SourceError("no node starts in this state", line=event.line)

    def check_boot(self, earlier: _Event, event: _Event) -> None:
        """A node that is bootstrapped switches from each configuration to the next."""
        change = earlier.details.get("cc", {}).get("newconf")
        if change is not None and event.given["conf"][0] != change:
            raise SourceError(f"the configuration is {event.given['conf'][0]}, not {change}", line=event.line)

    def unlogged(self, event: _Event) -> Iterator[Line]:
        """An application has applied entries since the node's last event."""
        if event.is_extended and event.name != "ApplyEntries" and event.earlier is not None:
            applied = event.given["state"]["applied"]
            if applied > event.earlier.given["state"]["applied"]:
                earlier = event.earlier
                if earlier.name != "ApplyEntries" or earlier.details["applied"] < applied:
                    yield self.step(event, "applies", node=event.node, index=applied)

    # Messages.

    def receive(self, event: _Event) -> Iterator[Line]:
        node = event.node
        if event.kind == "MsgSnap" and event.after is not None and event.after.given["log"] == event.pattern()["index"]:
            self.configured[node] = max(self.configured[node], event.pattern()["index"])
        if event.is_followed_by("BecomeFollower"):
            if event.kind != "MsgVoteResp" or event.message["term"] > event.term:
                yield self.arrives(event)
                self.unhandled[node] = event
            else:
                yield self.handles(event)
        elif event.kind == "MsgVote" and event.message["term"] > event.term:
            yield self.step(event, "ignores_candidate", message=event.pattern(), before=event.variables())
        elif event.kind == "MsgVote" and event.is_followed_by("SendRequestVoteResponse"):
            yield self.arrives(event)
            self.unhandled[node] = event
        elif event.message["term"] < event.term and event.is_followed_by("SendAppendEntriesResponse"):
            yield self.step(event, "answers_stale", message=event.pattern(), before=event.variables())
        else:
            yield self.handles(event)
            yield from self.silent_commit(event)

    def arrives(self, event: _Event) -> Line:
        return self.step(event, "message_arrives", message=event.pattern(), before=event.variables())

    def handles(self, event: _Event) -> Line:
        return self.step(event, "handles", message=event.pattern(), before=event.variables())

    def silent_commit(self, event: _Event) -> Iterator[Line]:
        """The recorded scenarios do not log that a leader's commit index stays."""
        is_due = event.kind == "MsgAppResp" or event.name == "ApplyConfChange"
        if is_due and event.is_extended and event.role == "StateLeader" and not event.is_followed_by("Commit"):
            yield self.step(event, "leader_looks_at_commit", leader=event.node)

    def become_follower(self, event: _Event) -> Iterator[Line]:
        node = event.node
        received = self.unhandled.get(node)
        if received is None:
            was_leader = event.earlier is not None and event.earlier.role == "StateLeader"
            action = "steps_down" if was_leader else "gives_up"
            yield self.step(event, action, node=node, state=event.variables())
            return
        action = "learns_term" if received.message["term"] > received.term else "concedes"
        yield self.step(event, action, message=received.pattern(), state=event.variables())
        if received.kind != "MsgVote" or not event.is_followed_by("SendRequestVoteResponse"):
            del self.unhandled[node]
            yield self.step(event, "handles", message=received.pattern())

    def send(self, event: _Event) -> Iterator[Line]:
        node, place = event.node, self.sent[event.node]
        self.sent[node] += 1
        self.reached.setdefault(node, set()).add(event.pattern()["destination"])
        if event.line in self.lost:
            self.released.setdefault(node, []).append(event)
        before = None
        state = event.variables()
        message = event.pattern()
        if event.name == "SendRequestVoteResponse" and node in self.unhandled:
            received = self.unhandled.pop(node)
            before, state = state, {}
            yield self.step(event, "handles", message=received.pattern(), before=before, state={
                **state, "outbox": {node: {"length": place + 1, str(place): message}}
            })
            return
        if event.kind in ("MsgApp", "MsgHeartbeat", "MsgSnap") and event.details.get("match") is not None:
            whose = message["destination"] if event.is_extended else node
            state["match"] = {node: {whose: event.details["match"]}}
        state["outbox"] = {node: {str(place): message}}
        to = message["destination"]
        if event.kind == "MsgApp":
            yield self.step(event, "leader_sends_entries", leader=node, to=to, start=event.message["index"],
                            count=event.message["entries"], state=state)
        elif event.kind == "MsgHeartbeat":
            yield self.step(event, "leader_sends_heartbeat", leader=node, to=to, state=state)
        elif event.kind == "MsgSnap":
            yield self.step(event, "leader_sends_snapshot", leader=node, to=to, index=message["index"], state=state)
        elif event.kind == "MsgAppResp" and to == node:
            yield from self.append(event, state)
        else:
            yield {"line": event.line, "step": False, "state": state}

    # A leader's log.

    def announce(self, event: _Event) -> Iterator[Line]:
        """An entry that is going to be appended next. A change is pending before that."""
        if not event.is_followed_by("SendAppendEntriesResponse"):
            raise SourceError("one entry is appended, and acknowledged next", line=event.line)
        self.announced.setdefault(event.node, []).append(event)
        yield self.shown(event, without="pending_change" if event.name == "ChangeConf" else "")

    def append(self, event: _Event, state: dict[str, Any]) -> Iterator[Line]:
        node = event.node
        announced = self.announced.pop(node, [])
        index = event.message["index"]
        self.changes.discard(index)
        if announced and announced[0].name == "Replicate":
            yield self.step(event, "leader_appends", leader=node, state=state)
            return
        self.changes.add(index)
        change: dict[str, list[str]] = {"AddNewServer": [], "AddLearner": [], "RemoveServer": []}
        joint = False
        if announced:
            given = announced[0]
            for each in given.details["cc"]["changes"]:
                change[each["action"]].append(f"n{each['nid']}")
            joint = given.details.get("enterJoint", len(given.details["cc"]["changes"]) > 1)
            if given.is_extended:
                pending = given.given["state"]["pendingConfIndex"]
                if state["pending_change"] != {node: pending}:
                    raise SourceError(f"pendingConfIndex was {pending} before", line=event.line)
        yield self.step(
            event, "leader_proposes", leader=node, voters=change["AddNewServer"], learners=change["AddLearner"],
            removed=change["RemoveServer"], joint=joint, state=state,
        )

    def commit(self, event: _Event) -> Iterator[Line]:
        yield self.step(event, "leader_commits", leader=event.node, state=event.variables())

    # Roles.

    def become_candidate(self, event: _Event) -> Iterator[Line]:
        yield self.step(event, "campaigns", node=event.node, state=event.variables())

    def become_leader(self, event: _Event) -> Iterator[Line]:
        yield self.step(event, "becomes_leader", node=event.node, state=event.variables())

    # The application.

    def ready(self, event: _Event) -> Iterator[Line]:
        node = event.node
        before = {**event.variables(), "outbox": {node: {"length": self.sent[node]}}}
        yield self.step(event, "ready", node=node, reached=sorted(self.reached.pop(node, set())), before=before)
        self.sent[node] = 0
        for sent in self.released.pop(node, []):
            yield self.step(event, "network_loses", message=sent.pattern())

    def apply_change(self, event: _Event) -> Iterator[Line]:
        node = event.node
        index = min((each for each in self.changes if each > self.configured[node]), default=0)
        self.configured[node] = index
        change = event.details["cc"]
        config = {"incoming": _nodes(change.get("newconf", []))}
        if event.is_extended:
            config["learners"] = _nodes(change.get("learners", []))
        yield self.step(event, "applies_change", node=node, index=index, before=event.variables(),
                        state={"config": {node: config}})
        if not event.is_extended:
            yield self.step(event, "applies", node=node, index=index)
        yield from self.silent_commit(event)

    def apply(self, event: _Event) -> Iterator[Line]:
        index = event.details["applied"]
        yield self.step(event, "applies", node=event.node, index=index, state=event.variables())
