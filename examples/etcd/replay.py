"""Plays a state trace of etcd's Raft again, in plain Python: what the nodes of ``raft.go`` would log.

Nothing here is searched, and no model is used. After an event that begins a call of ``Step``, a node's next events are
known, with the state and the message of each; whatever else comes is refused. When a leader sends, when anybody
campaigns, and which messages are lost is up to the trace.

    python examples/etcd/replay.py TRACE.ndjson ...
"""

from __future__ import annotations

import json
import sys
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

FIELDS = ("term", "from", "to", "entries", "logTerm", "index", "commit", "reject", "rejectHint")
"""What is compared of a message; its vote is never used."""

Entry = tuple[int, Any]
"""The term of an entry, and its configuration change: None, or (added, learners, removed, joint)."""


class RefusedError(Exception):
    """The trace is not what etcd's nodes would log."""


def refuse_unless(holds: bool, message: str) -> None:
    if not holds:
        raise RefusedError(message)


@dataclass
class Member:
    """One node."""

    term: int = 0
    vote: str = "0"
    role: str = "StateFollower"
    lead: str = "0"
    log: list[Entry] = field(default_factory=list)
    commit: int = 0
    voters: set[str] = field(default_factory=set)
    outgoing: set[str] = field(default_factory=set)
    learners: set[str] = field(default_factory=set)
    learners_next: set[str] = field(default_factory=set)
    applied: int = 0
    configured: int = 0
    pending: int = 0
    votes: dict[str, bool] = field(default_factory=dict)
    match: dict[str, int] = field(default_factory=dict)
    given: int = 0
    """The commit index at the last Ready, up to which the application may apply."""
    unsent: list[tuple[tuple[Any, ...], tuple[Entry, ...]]] = field(default_factory=list)
    expected: deque[Callable[[Mapping[str, Any]], None]] = field(default_factory=deque)
    """What the next events of the node have to be."""
    optional_commit: bool = False

    @property
    def last(self) -> int:
        return len(self.log)

    def term_of(self, index: int) -> int:
        return self.log[index - 1][0] if 0 < index <= len(self.log) else 0

    def progress(self) -> set[str]:
        return self.voters | self.outgoing | self.learners

    def agreed(self, test: Callable[[str], bool]) -> bool:
        halves = [half for half in (self.voters, self.outgoing) if half]
        return all(2 * sum(map(test, half)) > len(half) for half in halves)

    def reset(self, term: int, role: str, lead: str) -> None:
        if term != self.term:
            self.term, self.vote = term, "0"
        self.role, self.lead, self.votes, self.match, self.pending = role, lead, {}, {}, 0


class Replay:
    def __init__(self, unvalidated: bool) -> None:
        self.unvalidated = unvalidated
        self.members: dict[str, Member] = {}
        self.network: Counter[tuple[tuple[Any, ...], tuple[Entry, ...]]] = Counter()
        self.boot: dict[str, list[Mapping[str, Any]]] = {}

    # Comparing.

    def same(self, event: Mapping[str, Any], **differing: Any) -> None:
        """The event shows the state of its node, but for what is ``differing``."""
        node = self.members[event["nid"]]
        shown = event["state"]
        held = {"term": node.term, "vote": node.vote, "commit": node.commit, "role": node.role, "log": node.last,
                "voters": node.voters, "outgoing": node.outgoing}
        seen = {"term": shown["term"], "vote": shown["vote"], "commit": shown["commit"], "role": event["role"],
                "log": event["log"], "voters": set(event["conf"][0]), "outgoing": set(event["conf"][1])}
        if "applied" in shown:
            held |= {"applied": node.applied, "pending": node.pending, "learners": node.learners}
            seen |= {"applied": shown["applied"], "pending": shown["pendingConfIndex"],
                     "learners": set(event.get("learners", []))}
        for name, value in {**held, **differing}.items():
            refuse_unless(seen.get(name, value) == value, f"{name} is {value}, the event has {seen.get(name)}")

    def message(self, node: str, kind: str, to: str, carried: tuple[Entry, ...] = (), **given: Any) -> None:
        """A node puts a message into its outbox, and logs it next."""
        said = {"entries": len(carried), "logTerm": 0, "index": 0, "commit": 0, "reject": False, "rejectHint": 0,
                "term": self.members[node].term, **given, "from": node, "to": to}
        content = (kind, *(said[name] for name in FIELDS))
        member = self.members[node]

        def sent(event: Mapping[str, Any]) -> None:
            name = "SendRequestVote" if "Vote" in kind else "SendAppendEntries"
            refuse_unless(event["name"] == name + ("Response" if kind.endswith("Resp") else "Request"), "another event")
            self.same(event, **({"vote": member.vote} if kind != "MsgVoteResp" or to == node else {"vote": before}))
            refuse_unless(content == self.content(event["msg"]), f"the message is {content}")
            member.unsent.append((content, carried))

        before = member.vote
        member.expected.append(sent)

    @staticmethod
    def content(message: Mapping[str, Any]) -> tuple[Any, ...]:
        return (message["type"], *(message[name] for name in FIELDS))

    def expect(self, node: str, name: str, then: Callable[[], None] = lambda: None, **differing: Any) -> None:
        """The next event of a node, which shows its state as it is after ``then``."""

        def comes(event: Mapping[str, Any]) -> None:
            refuse_unless(event["name"] == name, f"{name} has to come")
            then()
            self.same(event, **differing)

        self.members[node].expected.append(comes)

    # Events.

    def play(self, event: Mapping[str, Any]) -> None:
        name, who = event["name"], event["nid"]
        if self.boots(event):
            return
        node = self.members.get(who)
        refuse_unless(node is not None, "the node has not started")
        assert node is not None
        self.apply_unlogged(event, node)
        if node.expected:
            node.expected.popleft()(event)
            return
        getattr(self, f"on_{name}", self.on_other)(event, who, node)

    def on_other(self, event: Mapping[str, Any], who: str, node: Member) -> None:
        known = ("CompactLog", "ReportUnreachable", "ReportSnapshotStatus", "SendReadIndex", "ReceiveReadIndex",
                 "SendReadIndexResp", "ReceiveReadIndexResp", "ReadIndexQuorumAck")
        refuse_unless(event["name"] in known, f"{event['name']} cannot come here")
        self.same(event)

    def boots(self, event: Mapping[str, Any]) -> bool:
        """A node starts with InitState, and whatever configurations it switches to until it does something else."""
        who = event["nid"]
        if event["name"] == "InitState":
            refuse_unless(who not in self.members, "the node has started before")
            self.members[who], self.boot[who] = Member(), []
        if who not in self.boot or event["name"] not in ("InitState", "BecomeFollower", "ApplyConfChange"):
            self.boot.pop(who, None)
            return False
        self.boot[who].append(event)
        node = self.members[who]
        added = (event.get("prop") or {}).get("cc", {}).get("newconf")
        earlier = self.boot[who][-2] if len(self.boot[who]) > 1 else event
        change = (earlier.get("prop") or {}).get("cc", {}).get("newconf")
        refuse_unless(change is None or event["conf"][0] == change, "the configuration is not the one of before")
        node.term, node.vote, node.commit = (event["state"][name] for name in ("term", "vote", "commit"))
        node.role = event["role"]
        refuse_unless(node.role == "StateFollower" and node.vote == "0", "a node starts as a follower")
        refuse_unless(event["log"] == node.commit, "a node starts with a log that is committed")
        if added is not None:
            node.voters = set(added)
            order = [each for each in self.boot[who] if "newconf" in (each.get("prop") or {}).get("cc", {})]
            sets = [set(), *(set(each["prop"]["cc"]["newconf"]) for each in order)]
            node.log = [(1, (frozenset(b - a), frozenset(), frozenset(), False)) for a, b in pairwise(sets)]
        else:
            node.voters, node.outgoing = set(event["conf"][0]), set(event["conf"][1])
            node.learners = set(event.get("learners", []))
            change_now = (frozenset(node.voters), frozenset(node.learners), frozenset(), False)
            node.log = [(1, change_now if index == event["log"] else None) for index in range(1, event["log"] + 1)]
            node.applied = node.configured = event["log"]
            if "applied" in event["state"]:
                refuse_unless(event["state"]["applied"] == event["log"], "a node starts with all applied")
                refuse_unless(event["state"]["pendingConfIndex"] == 0, "a follower has no pending change")
        refuse_unless(added is None or not event["conf"][1], "a bootstrapped configuration is not joint")
        node.given = node.commit
        return True

    def apply_unlogged(self, event: Mapping[str, Any], node: Member) -> None:
        """Not every application logs what it applies."""
        applied = event["state"].get("applied", node.applied)
        if event["name"] != "ApplyEntries" and applied > node.applied:
            self.apply(node, applied)

    def apply(self, node: Member, applied: int) -> None:
        refuse_unless(applied <= node.given, "more is applied than was handed out")
        refuse_unless(all(change is None for _, change in node.log[node.configured:applied]), "a change was left out")
        node.applied, node.configured = applied, max(node.configured, applied)

    def on_ApplyEntries(self, event: Mapping[str, Any], who: str, node: Member) -> None:  # noqa: N802
        applied = event["prop"]["applied"]
        refuse_unless(applied > node.applied, "nothing is applied")
        self.apply(node, applied)
        self.same(event)

    def on_Ready(self, event: Mapping[str, Any], who: str, node: Member) -> None:  # noqa: N802
        self.same(event)
        node.given = node.commit
        self.network.update(node.unsent)
        node.unsent.clear()

    def on_BecomeCandidate(self, event: Mapping[str, Any], who: str, node: Member) -> None:  # noqa: N802
        refuse_unless(node.role != "StateLeader" and who in node.voters | node.outgoing, "it may not campaign")
        refuse_unless(all(change is None for _, change in node.log[node.configured:node.commit]), "a change is due")
        node.reset(node.term + 1, "StateCandidate", "0")
        node.vote = who
        self.same(event)
        for voter in sorted(node.voters | node.outgoing, key=int):
            if voter == who:
                self.message(who, "MsgVoteResp", who)
            else:
                self.message(who, "MsgVote", voter, index=node.last, logTerm=node.term_of(node.last))

    def on_BecomeFollower(self, event: Mapping[str, Any], who: str, node: Member) -> None:  # noqa: N802
        """A leader steps down by itself."""
        refuse_unless(node.role == "StateLeader", "only a leader steps down by itself")
        node.reset(node.term, "StateFollower", "0")
        self.same(event)

    def on_Replicate(self, event: Mapping[str, Any], who: str, node: Member) -> None:  # noqa: N802
        refuse_unless(node.role == "StateLeader" and who in node.progress(), "only a leader appends")
        self.same(event)
        self.append(who, node, None)

    def append(self, who: str, node: Member, change: Any) -> None:
        node.log.append((node.term, change))
        self.message(who, "MsgAppResp", who, index=node.last)

    def on_ChangeConf(self, event: Mapping[str, Any], who: str, node: Member) -> None:  # noqa: N802
        refuse_unless(node.role == "StateLeader" and who in node.progress(), "only a leader proposes")
        refuse_unless(self.unvalidated or (node.pending <= node.applied and not node.outgoing), "a change is pending")
        changes = event["prop"]["cc"]["changes"]
        change = tuple(
            frozenset(each["nid"] for each in changes if each["action"] == action)
            for action in ("AddNewServer", "AddLearner", "RemoveServer")
        )
        refuse_unless(sum(map(len, change)) == len(changes) > 0, "a change is not known, or twice")
        joint = event["prop"].get("enterJoint", len(changes) > 1)
        refuse_unless(joint or len(changes) == 1, "a simple change is of one node")
        node.pending = node.last + 1
        self.same(event)
        self.append(who, node, (*change, joint))

    def on_ApplyConfChange(self, event: Mapping[str, Any], who: str, node: Member) -> None:  # noqa: N802
        self.same(event)
        index = next((at for at in range(node.configured + 1, node.given + 1) if node.log[at - 1][1] is not None), None)
        refuse_unless(index is not None, "no change is committed")
        assert index is not None
        self.take(node, node.log[index - 1][1])
        node.configured = index
        said = event["prop"]["cc"]
        refuse_unless(set(said.get("newconf", [])) == node.voters, f"the voters are {sorted(node.voters)}")
        if "applied" in event["state"]:
            refuse_unless(set(said.get("learners", [])) == node.learners, f"the learners are {sorted(node.learners)}")
        else:
            node.applied = index
        node.match = {other: at for other, at in node.match.items() if other in node.progress()}
        if node.role == "StateLeader" and who in node.voters | node.outgoing:
            self.consider_commit(event, who, node)

    @staticmethod
    def take(node: Member, change: Any) -> None:
        """A configuration change; one without nodes leaves a joint configuration."""
        added, learners, removed, joint = change
        if not added and not learners and not removed:
            node.outgoing = set()
            node.learners |= node.learners_next
            node.learners_next = set()
            return
        if joint:
            node.outgoing = set(node.voters)
        for each in added:
            node.voters.add(each)
            node.learners.discard(each)
            node.learners_next.discard(each)
        for each in learners | removed:
            node.voters.discard(each)
            node.learners.discard(each)
            node.learners_next.discard(each)
        for each in learners:
            (node.learners_next if each in node.outgoing else node.learners).add(each)

    # A leader.

    def consider_commit(self, event: Mapping[str, Any], who: str, node: Member) -> None:
        """maybeCommit. The scenarios log only that the commit index moves, etcd's own tests every call."""
        reached = [at for at in node.match.values() if node.voters and node.agreed(
            lambda voter, at=at: node.match.get(voter, 0) >= at  # type: ignore[misc]
        )]
        index = max(reached, default=0)
        moves = index > node.commit and node.term_of(index) == node.term
        if moves:
            node.commit = index
        if moves or "applied" not in event["state"]:
            self.expect(who, "Commit")

    def on_Commit(self, event: Mapping[str, Any], who: str, node: Member) -> None:  # noqa: N802
        """An acknowledgement of what was acknowledged before makes a probing leader look again."""
        refuse_unless(node.role == "StateLeader" and node.optional_commit, "nothing is committed")
        self.same(event)

    def on_SendAppendEntriesResponse(self, event: Mapping[str, Any], who: str, node: Member) -> None:  # noqa: N802
        """An acknowledgement to itself out of nowhere: it leaves a joint configuration."""
        refuse_unless(event["msg"]["to"] == who and node.role == "StateLeader", "nothing was asked")
        refuse_unless(self.unvalidated or (node.pending <= node.applied and bool(node.outgoing)), "it is not joint")
        node.pending = node.last + 1
        self.append(who, node, (frozenset(), frozenset(), frozenset(), False))
        node.expected.popleft()(event)

    def on_SendAppendEntriesRequest(self, event: Mapping[str, Any], who: str, node: Member) -> None:  # noqa: N802
        message = event["msg"]
        to, count, previous = message["to"], message["entries"], message["index"]
        refuse_unless(node.role == "StateLeader" and to in node.progress() - {who}, "it may not send that")
        match = node.match.get(to, 0)
        if "match" in (event.get("prop") or {}):
            held = match if "applied" in event["state"] else node.match.get(who, 0)
            refuse_unless(event["prop"]["match"] == held, f"match is {held}")
        if message["type"] == "MsgHeartbeat":
            self.message(who, "MsgHeartbeat", to, commit=min(match, node.commit))
        elif message["type"] == "MsgApp":
            refuse_unless(match <= previous and previous + count <= node.last, "it does not have these entries")
            self.message(who, "MsgApp", to, tuple(node.log[previous:previous + count]), index=previous,
                         logTerm=node.term_of(previous), commit=node.commit)
        else:
            refuse_unless(0 < previous <= node.applied, "it has no such snapshot")
            self.message(who, "MsgSnap", to, tuple(node.log[:previous]), index=previous, entries=0,
                         logTerm=node.term_of(previous))
        node.expected.popleft()(event)

    def on_ManualSendSnapshot(self, event: Mapping[str, Any], who: str, node: Member) -> None:  # noqa: N802
        message = event["msg"]
        refuse_unless(0 < message["index"] <= node.applied and message["to"] != who, "it has no such snapshot")
        said = {**dict.fromkeys(FIELDS, 0), "term": node.term, "from": who, "to": message["to"], "reject": False,
                "index": message["index"], "logTerm": node.term_of(message["index"])}
        content = ("MsgSnap", *(said[name] for name in FIELDS))
        refuse_unless(content == self.content(message), f"the message is {content}")
        self.same(event)
        self.network[content, tuple(node.log[:message["index"]])] += 1

    # Messages.

    def receive(self, event: Mapping[str, Any], who: str, node: Member) -> None:
        message = event["msg"]
        self.same(event)
        content = self.content(message)
        arrived = next((each for each, count in self.network.items() if count and each[0] == content), None)
        refuse_unless(arrived is not None and message["to"] == who, "nobody sent this")
        assert arrived is not None
        self.network[arrived] -= 1
        if not self.network[arrived]:
            del self.network[arrived]
        node.optional_commit = False
        kind, term, source = message["type"], message["term"], message["from"]
        leading = kind in ("MsgApp", "MsgHeartbeat", "MsgSnap")
        if term > node.term:
            node.reset(term, "StateFollower", source if leading else "0")
            self.expect(who, "BecomeFollower")
        elif term < node.term:
            if kind in ("MsgApp", "MsgHeartbeat"):
                node.expected.append(self.answer_or_anything(who))
            return
        elif leading and node.role == "StateCandidate":
            node.reset(term, "StateFollower", source)
            self.expect(who, "BecomeFollower")
        later = [lambda: getattr(self, f"step_{kind}")(event, who, node, arrived[1])]
        if node.expected:
            first = node.expected.pop()
            node.expected.append(lambda following: (first(following), later[0]())[0])
        else:
            later[0]()

    on_ReceiveAppendEntriesRequest = on_ReceiveAppendEntriesResponse = receive  # noqa: N815
    on_ReceiveRequestVoteRequest = on_ReceiveRequestVoteResponse = receive  # noqa: N815

    def answer_or_anything(self, who: str) -> Callable[[Mapping[str, Any]], None]:
        """With CheckQuorum or PreVote, a late leader gets an answer."""

        def comes(event: Mapping[str, Any]) -> None:
            said = event.get("msg") or {}
            if event["name"] == "SendAppendEntriesResponse" and said.get("to") != who:
                self.message(who, "MsgAppResp", said["to"])
                self.members[who].expected.popleft()(event)
            else:
                self.play(event)

        return comes

    def step_MsgVote(self, event: Mapping[str, Any], who: str, node: Member, entries: Any) -> None:  # noqa: N802
        message = event["msg"]
        free = node.vote == message["from"] or (node.vote == "0" and node.lead == "0")
        good = (message["logTerm"], message["index"]) >= (node.term_of(node.last), node.last)
        self.message(who, "MsgVoteResp", message["from"], reject=not (free and good))
        if free and good:
            node.vote = message["from"]

    def step_MsgVoteResp(self, event: Mapping[str, Any], who: str, node: Member, entries: Any) -> None:  # noqa: N802
        message = event["msg"]
        if node.role != "StateCandidate":
            return
        node.votes.setdefault(message["from"], not message["reject"])
        if node.agreed(lambda voter: node.votes.get(voter, False)):
            node.reset(node.term, "StateLeader", who)
            node.match[who] = node.pending = node.last
            self.expect(who, "BecomeLeader")
            self.expect(who, "Replicate", lambda: self.append(who, node, None), log=node.last)
        elif not node.agreed(lambda voter: node.votes.get(voter, True)):
            node.reset(node.term, "StateFollower", "0")
            self.expect(who, "BecomeFollower")

    def step_MsgApp(self, event: Mapping[str, Any], who: str, node: Member, entries: Any) -> None:  # noqa: N802
        message = event["msg"]
        previous, source = message["index"], message["from"]
        node.lead = source
        if previous < node.commit:
            self.message(who, "MsgAppResp", source, index=node.commit)
        elif previous == 0 or (previous <= node.last and node.term_of(previous) == message["logTerm"]):
            for at, entry in enumerate(entries, previous + 1):
                if at > node.last or node.term_of(at) != entry[0]:
                    refuse_unless(at > node.commit, "a committed entry is replaced")
                    node.log[at - 1:] = entries[at - previous - 1:]
                    break
            last = previous + len(entries)
            node.commit = max(node.commit, min(message["commit"], last))
            self.message(who, "MsgAppResp", source, index=last)
        else:
            hint = min(previous, node.last)
            while hint > 0 and node.term_of(hint) > message["logTerm"]:
                hint -= 1
            self.message(who, "MsgAppResp", source, index=previous, reject=True, rejectHint=hint,
                         logTerm=node.term_of(hint))

    def step_MsgHeartbeat(self, event: Mapping[str, Any], who: str, node: Member, entries: Any) -> None:  # noqa: N802
        refuse_unless(event["msg"]["commit"] <= node.last, "it commits what it does not have")
        node.lead = event["msg"]["from"]
        node.commit = max(node.commit, event["msg"]["commit"])
        self.message(who, "MsgHeartbeatResp", event["msg"]["from"])

    def step_MsgSnap(self, event: Mapping[str, Any], who: str, node: Member, entries: Any) -> None:  # noqa: N802
        message = event["msg"]
        index, node.lead = message["index"], message["from"]
        if index > node.commit:
            if node.term_of(index) == message["logTerm"]:
                node.commit = index
            else:
                copy = Member()
                for _, change in entries:
                    if change is not None:
                        self.take(copy, change)
                if who in copy.progress():
                    node.log, node.commit, node.configured = list(entries), index, index
                    node.voters, node.outgoing = copy.voters, copy.outgoing
                    node.learners, node.learners_next = copy.learners, copy.learners_next
        self.message(who, "MsgAppResp", message["from"], index=node.commit)

    def step_MsgAppResp(self, event: Mapping[str, Any], who: str, node: Member, entries: Any) -> None:  # noqa: N802
        message = event["msg"]
        if node.role != "StateLeader" or message["from"] not in node.progress() or message["reject"]:
            return
        if message["index"] > node.match.get(message["from"], 0):
            node.match[message["from"]] = message["index"]
            self.consider_commit(event, who, node)
        else:
            node.optional_commit = message["index"] == node.match.get(message["from"], 0)

    def step_MsgHeartbeatResp(self, event: Mapping[str, Any], who: str, node: Member, entries: Any) -> None:  # noqa: N802
        """It only lets the leader send again."""


def replay(text: str) -> str | None:
    """Why a trace is refused, with the line; None for one that is not."""
    rows = [(number, row) for number, row in enumerate(text.split("\n"), 1) if row.strip()]
    player = Replay("disable_validation" in text[:300])
    for number, row in rows:
        given = json.loads(row)
        if given.get("tag") == "trace":
            try:
                player.play(given["event"])
            except (RefusedError, KeyError, TypeError, ValueError, IndexError) as error:
                return f"line {number}: {error}"
    return None


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, replay(Path(name).read_text()) or "fits")
