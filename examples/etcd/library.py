"""What the library does in a test, besides what the model says: what a leader sends, and when; clocks; what is stored.

The names of methods are those of ``raft.go``, or stand beside them. What a node does is a step of the model; the log of
the test has to show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from examples.etcd.flow import Progress
from examples.etcd.printed import Command, Log, PrintedMessage
from floodmark import Set
from floodmark.conformance import plain
from floodmark.replay import Step, fire, initial_states
from model.etcd_raft.interactive import InteractiveRaft
from model.etcd_raft.raft import Due, Kind, Message, Role

CONSTANTS = {
    "nodes": 8, "max_term": 100, "max_log": 10_000, "max_outbox": 10_000, "max_messages": 10_000, "max_restarts": 1000,
}
ELECTION_TICKS = 3
_FROM_LEADER = (Kind.APPEND, Kind.HEARTBEAT, Kind.SNAPSHOT)
_WAITS = (Kind.APPEND_RESPONSE, Kind.VOTE_RESPONSE, Kind.PRE_VOTE_RESPONSE)

Line = dict[str, Any]


class Change(NamedTuple):
    """A proposed change of the configuration; ``leaves_itself``: whether its joint configuration is left by itself."""

    voters: Any
    learners: Any
    removed: Any
    joint: bool
    leaves_itself: bool


@dataclass
class Sent:
    """A message on the way: one of the model, or one that the model does not know."""

    source: str
    to: str
    kind: str
    message: Message | None = None
    waits: bool = False
    """Whether it has to wait until the state is stored."""
    forced: bool = False
    """Whether it is of a campaign that the leader asked for."""
    change: Change | None = None
    stored: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Of a message that the model does not know: an index, its term, the node's term, and the index of a snapshot."""


@dataclass
class Writing:
    """What an append thread has to do, and what it is going to send. A Ready that stores nothing gives it nothing, but
    in the model it writes once more what is there."""

    responses: list[Sent]
    is_empty: bool
    said: PrintedMessage | None
    """How the log shows it."""


@dataclass
class Peer:
    """What the library and the test know of a node besides what the model has."""

    name: str
    options: Mapping[str, str]
    first: int
    """The first index in the storage."""
    progress: dict[str, Progress] = field(default_factory=dict)
    queue: list[Sent] = field(default_factory=list)
    shown_soft: tuple[str | None, str] = (None, "FOLLOWER")
    shown_hard: tuple[int, str | None, int] = (0, None, 0)
    offset: int = 1
    """The first index that is not known to be stored (unstable.offset)."""
    handed: int = 1
    """The first index that was not handed out to be stored (offsetInProgress)."""
    applying: int = 0
    snapshot: int = 0
    kept: int = 0
    """The index of the application's newest snapshot."""
    elapsed: int = 0
    timeout: int | None = None
    transferee: str = ""
    leaves: bool = False
    """Whether its configuration is left by itself."""
    appending: list[Writing] = field(default_factory=list)
    to_apply: list[tuple[int, int]] = field(default_factory=list)

    def option(self, name: str) -> bool:
        return self.options.get(name) == "true"

    @property
    def most(self) -> int:
        """How many messages with entries may be on the way to a node (MaxInflightMsgs)."""
        return int(self.options.get("inflight", 1_000_000))

    @property
    def number(self) -> str:
        return self.name[1:]


class Library:
    """The nodes of a test. ``out`` has the steps that they have taken, for the trace."""

    def __init__(self) -> None:
        self.model = InteractiveRaft(**CONSTANTS)
        self.state = next(initial_states(self.model))[1]
        self.peers: dict[str, Peer] = {}
        self.leaving: set[tuple[int, int]] = set()
        """Indices and terms of the changes whose joint configuration is left by itself."""
        self.out: list[Line] = []
        self.log = Log(Command(1, [], [], []), shown=False)

    # Steps of the model, and what the log says of them.

    @property
    def now(self) -> Any:
        return self.model.at(self.state)

    def node(self, name: str) -> Any:
        return next(node for node in self.now.term if repr(node) == name)

    def of(self, peer: Peer, variable: str) -> Any:
        return getattr(self.now, variable)[self.node(peer.name)]

    def role(self, peer: Peer) -> Role:
        found: Role = self.of(peer, "role")
        return found

    def last(self, peer: Peer) -> int:
        return len(self.of(peer, "log"))

    def members(self, peer: Peer) -> list[str]:
        return sorted(repr(node) for node in self.now.members(self.of(peer, "config")))

    def step(self, action: str, *, given: Mapping[str, Any] | None = None, state: Any = None, **arguments: Any) -> None:
        """Takes a step; ``given`` is what the log says of its arguments."""
        after = fire(self.model, self.state, Step(action, arguments))
        if after is None:
            raise self.log.refuse(f"the model does not take {Step(action, arguments)}")
        said = {name: plain(value) for name, value in arguments.items()} | dict(given or {})
        line: Line = {"line": max(1, self.log.number), "action": action, "arguments": said}
        if state:
            line["state"] = state
        self.out.append(line)
        earlier, self.state = self.now, after
        for peer in self.peers.values():
            self.follow(peer, earlier)

    def follow(self, peer: Peer, earlier: Any) -> None:
        """What a step has put into a node's outbox, and which entries it has to store again (truncateAndAppend)."""
        node = self.node(peer.name)
        old, new = earlier.outbox[node], self.now.outbox[node]
        for message in new[len(old):] if len(new) > len(old) else ():
            kind = message.kind
            peer.queue.append(Sent(peer.name, repr(message.destination), kind.value, message, kind in _WAITS))
        before, after = earlier.log[node], self.now.log[node]
        if before != after:
            same = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other),
                        min(len(before), len(after)))
            peer.offset = min(peer.offset, same + 1)
            peer.handed = min(peer.handed, same + 1)

    def newest(self, peer: Peer) -> Message:
        """What a node has put into its outbox last."""
        message: Message = self.of(peer, "outbox")[-1]
        return message

    def shows(self, **state: Any) -> None:
        """What the log shows of the state as it is."""
        self.out.append({"line": self.log.number, "step": False, "state": state})

    def became(self, peer: Peer, role: str) -> None:
        """The log says which role a node has taken, in the step before."""
        if self.log.shown:
            found = self.log.take(rf"INFO {peer.number} became {role} at term (\d+)$", f"{peer.name} became {role}")
            self.shows(role={peer.name: role.upper().replace("-", "_")}, term={peer.name: int(found[1])})

    def switched(self, peer: Peer) -> None:
        """The log says to which configuration a node has switched, in the step before."""
        index = self.of(peer, "configured")
        changes = [(at, entry.term) for at, entry in enumerate(self.of(peer, "log")[:index], 1) if entry.change]
        peer.leaves = bool(changes) and changes[-1] in self.leaving
        if self.log.shown:
            said = self.log.take(rf"INFO {peer.number} switched to configuration (.*)")[1]
            config, leaves = self.log.config(said)
            self.shows(config={peer.name: config})
            if leaves != peer.leaves:
                raise self.log.refuse(f"autoleave is {peer.leaves}")

    # Elections and clocks.

    def reset(self, peer: Peer) -> None:
        """raft.reset: what a leader knows of others is forgotten, and clocks begin anew."""
        learners = {repr(node) for node in self.of(peer, "config").learners}
        peer.progress = {
            name: Progress(self.last(peer) + 1, peer.most, learner=name in learners) for name in self.members(peer)
        }
        if peer.name in peer.progress:
            peer.progress[peer.name].match = self.last(peer)
        peer.elapsed, peer.timeout, peer.transferee = 0, None, ""

    def tick(self, peer: Peer, times: int) -> None:
        for time in range(times):
            peer.elapsed += 1
            if self.role(peer) == Role.LEADER:
                self.tick_leader(peer)
            elif self.now.may_stand(self.node(peer.name)):
                # A timeout that the test has not set is drawn; the log shows whether it is over.
                over = time == times - 1 and self.log.peek().startswith(f"INFO {peer.number} became")
                if peer.elapsed >= peer.timeout if peer.timeout is not None else over:
                    peer.elapsed = 0
                    self.stand(peer)

    def tick_leader(self, peer: Peer) -> None:
        if peer.elapsed >= ELECTION_TICKS:
            peer.elapsed, peer.transferee = 0, ""
            if peer.option("checkquorum"):
                active = {name for name, each in peer.progress.items() if each.active} | {peer.name}
                if not self.now.is_quorum(self.of(peer, "config"), Set(map(self.node, active))):
                    self.step("steps_down", node=self.node(peer.name))
                    self.reset(peer)
                    self.became(peer, "follower")
                for name, progress in peer.progress.items():
                    progress.active = progress.active and name == peer.name
        if self.role(peer) == Role.LEADER:
            for name in self.others(peer):
                self.step("leader_sends_heartbeat", leader=self.node(peer.name), to=self.node(name))
                peer.progress[name].sent_commit = self.newest(peer).commit

    def others(self, peer: Peer) -> list[str]:
        return [name for name in sorted(peer.progress) if name != peer.name]

    def stand(self, peer: Peer, forced: bool = False) -> None:
        """raft.hup."""
        node = self.node(peer.name)
        if self.role(peer) == Role.LEADER:
            return
        if not self.now.may_stand(node):
            if self.log.shown:
                self.log.take(rf"WARN {peer.number} is unpromotable")
        elif not self.now.has_unapplied_change(node):
            if peer.option("prevote") and not forced:
                self.step("pre_campaigns", node=node)
                self.became(peer, "pre-candidate")
            else:
                self.campaign(peer, forced)

    def campaign(self, peer: Peer, forced: bool = False) -> None:
        self.step("campaigns", node=self.node(peer.name))
        self.reset(peer)
        for sent in peer.queue:
            sent.forced = forced
        self.became(peer, "candidate")

    def broadcast(self, peer: Peer) -> None:
        for name in self.others(peer):
            self.send_append(peer, name)

    def send_append(self, peer: Peer, to: str, even_empty: bool = True) -> bool:
        """raft.maybeSendAppend."""
        progress, leader = peer.progress[to], self.node(peer.name)
        if progress.is_paused:
            return False
        start = progress.next - 1
        if start < peer.first - 1:
            if not progress.active:
                return False
            progress.send_snapshot(peer.kept)
            self.step("leader_sends_snapshot", leader=leader, to=self.node(to), index=peer.kept)
            return True
        throttled = progress.state == "Replicate" and progress.is_full
        count = 0 if throttled else self.last(peer) - start
        if count == 0 and not even_empty:
            return False
        self.step("leader_sends_entries", leader=leader, to=self.node(to), start=start, count=count)
        progress.sent(count, self.of(peer, "commit"))
        return True

    def commit(self, peer: Peer) -> bool:
        """raft.maybeCommit: whether the commit index has moved."""
        before = self.of(peer, "commit")
        if self.of(peer, "due") == Due.COMMIT:
            self.step("leader_commits", leader=self.node(peer.name))
        return bool(self.of(peer, "commit") > before)

    def ask_to_take_over(self, peer: Peer, to: str) -> None:
        peer.queue.append(Sent(peer.name, to, "MsgTimeoutNow", stored=(0, 0, self.of(peer, "term"), 0)))

    def propose(self, peer: Peer, change: Change | None) -> None:
        """raft.stepLeader, MsgProp; a follower forwards it."""
        role, leader = self.role(peer), self.of(peer, "leader")
        if role == Role.FOLLOWER and leader is not None:
            peer.queue.append(Sent(peer.name, repr(leader), "MsgProp", change=change))
        elif role != Role.LEADER or peer.name not in peer.progress or peer.transferee:
            if self.log.shown:
                self.log.take("raft proposal dropped$")
        else:
            self.append(peer, change)

    def append(self, peer: Peer, change: Change | None) -> None:
        node = self.node(peer.name)
        leaves = change is not None and not change.voters | change.learners | change.removed
        if change is not None and (not self.now.validating or self.now.may_propose(node, leaves)):
            self.step("leader_proposes", leader=node, voters=change.voters, learners=change.learners,
                      removed=change.removed, joint=change.joint)
            if change.leaves_itself:
                self.leaving.add((self.last(peer), self.of(peer, "term")))
        else:
            self.step("leader_appends", leader=node)
        self.broadcast(peer)

    # Messages.

    def receive(self, peer: Peer, sent: Sent, given: Mapping[str, Any]) -> None:
        """raft.Step."""
        message = sent.message
        assert message is not None
        term, kind = self.of(peer, "term"), message.kind
        asks = kind in (Kind.VOTE, Kind.PRE_VOTE)
        if message.term > term:
            leased = peer.option("checkquorum") and self.of(peer, "leader") is not None
            if asks and leased and not sent.forced and peer.elapsed < ELECTION_TICKS:
                self.step("ignores_candidate", message=message, given=given)
                return
            if kind != Kind.PRE_VOTE and (kind != Kind.PRE_VOTE_RESPONSE or message.reject):
                self.step("learns_term", message=message, given=given)
                self.reset(peer)
                self.became(peer, "follower")
        elif message.term < term:
            is_told = peer.option("checkquorum") or peer.option("prevote")
            stale = is_told and kind in (Kind.APPEND, Kind.HEARTBEAT)
            self.step("answers_stale" if stale else "handles", message=message, given=given)
            return
        role, log = self.role(peer), self.of(peer, "log")
        if kind in _FROM_LEADER:
            if role in (Role.CANDIDATE, Role.PRE_CANDIDATE):
                self.step("concedes", message=message, given=given)
                self.reset(peer)
                self.became(peer, "follower")
            peer.elapsed = 0
        self.step("handles", message=message, given=given)
        if kind == Kind.SNAPSHOT and self.of(peer, "log") != log:
            peer.offset = peer.handed = message.index + 1
            peer.snapshot = message.index
            self.reset(peer)
            self.switched(peer)
        elif kind == Kind.VOTE:
            peer.elapsed = peer.elapsed if self.newest(peer).reject else 0
        elif kind == {Role.CANDIDATE: Kind.VOTE_RESPONSE, Role.PRE_CANDIDATE: Kind.PRE_VOTE_RESPONSE}.get(role):
            self.counted(peer, message)
        elif role == Role.LEADER and repr(message.source) in peer.progress:
            self.answered(peer, message)

    def counted(self, peer: Peer, message: Message) -> None:
        """An answer to a candidate, which decides when there are enough."""
        node = self.node(peer.name)
        if self.log.shown:
            refusal = " rejection" if message.reject else ""
            kind, voter = message.kind.value, repr(message.source)[1:]
            self.log.take(rf"INFO {peer.number} received {kind}{refusal} from {voter} at term")
            found = self.log.take(rf"INFO {peer.number} has received (\d+) {kind} votes and (\d+) vote rejections")
            counts = (len(self.of(peer, "granted")), len(self.of(peer, "refused")))
            if (int(found[1]), int(found[2])) != counts:
                raise self.log.refuse("there are {} votes and {} rejections".format(*counts))
        if self.of(peer, "due") != Due.ELECTION:
            return
        if not self.now.is_quorum(self.of(peer, "config"), self.of(peer, "granted")):
            self.step("gives_up", node=node)
            self.reset(peer)
            self.became(peer, "follower")
        elif self.role(peer) == Role.PRE_CANDIDATE:
            self.campaign(peer)
        else:
            self.step("becomes_leader", node=node)
            self.reset(peer)
            peer.progress[peer.name].replicate()
            peer.progress[peer.name].active = True
            self.step("leader_appends", leader=node)
            self.became(peer, "leader")
            self.broadcast(peer)

    def answered(self, peer: Peer, message: Message) -> None:
        """raft.stepLeader, MsgAppResp and MsgHeartbeatResp."""
        name = repr(message.source)
        progress = peer.progress[name]
        progress.active = True
        if message.kind == Kind.HEARTBEAT_RESPONSE:
            progress.paused = False
            if progress.match < self.last(peer) or progress.state == "Probe":
                self.send_append(peer, name)
        elif message.kind != Kind.APPEND_RESPONSE:
            return
        elif message.reject:
            hint = message.hint
            if message.log_term > 0:
                hint = self.now.conflict_by_term(self.node(peer.name), hint, message.log_term)
            if progress.refused(message.index, hint):
                if progress.state == "Replicate":
                    progress.probe()
                self.send_append(peer, name)
        elif progress.update(message.index) or (progress.match == message.index and progress.state == "Probe"):
            self.acknowledged(peer, name, message.index)

    def acknowledged(self, peer: Peer, name: str, index: int) -> None:
        progress = peer.progress[name]
        if progress.state == "Probe":
            progress.replicate()
        elif progress.state == "Snapshot" and progress.match + 1 >= peer.first:
            progress.probe()
            progress.replicate()
        elif progress.state == "Replicate":
            progress.inflight = [at for at in progress.inflight if at > index]
        if self.commit(peer):
            self.broadcast(peer)
        elif name != peer.name and progress.may_bump_commit(self.of(peer, "commit")):
            self.send_append(peer, name)
        while name != peer.name and self.send_append(peer, name, even_empty=False):
            pass
        if name == peer.transferee and progress.match == self.last(peer):
            self.ask_to_take_over(peer, name)

    def stored(self, peer: Peer, sent: Sent) -> None:
        """The node hears what was stored (MsgStorageAppendResp). Entries of an earlier term may be replaced since."""
        index, term, of_term, snapshot = sent.stored
        log = self.of(peer, "log")
        if of_term == self.of(peer, "term") and peer.offset <= index <= len(log) and log[index - 1].term == term:
            peer.offset, peer.handed = index + 1, max(peer.handed, index + 1)
        if snapshot:
            peer.snapshot = 0 if peer.snapshot == snapshot else peer.snapshot
            self.applied(peer, snapshot)

    def applied(self, peer: Peer, index: int) -> None:
        """raft.appliedTo, which leaves a joint configuration by itself."""
        node = self.node(peer.name)
        peer.applying = max(peer.applying, index)
        if index > self.of(peer, "applied"):
            self.step("applies", node=node, index=index)
        if peer.leaves and index >= self.of(peer, "pending_change") and self.role(peer) == Role.LEADER:
            self.append(peer, Change(Set(), Set(), Set(), False, False))

    def apply_change(self, peer: Peer, index: int) -> None:
        """raft.applyConfChange and switchToConfig."""
        node = self.node(peer.name)
        self.step("applies_change", node=node, index=index)
        peer.leaves = (index, self.of(peer, "log")[index - 1].term) in self.leaving
        self.switched(peer)
        config = self.of(peer, "config")
        learners = {repr(each) for each in config.learners}
        peer.progress = {
            name: peer.progress.get(name) or Progress(max(self.last(peer), 1), peer.most, active=True)
            for name in self.members(peer)
        }
        for name, progress in peer.progress.items():
            progress.learner = name in learners
        if self.role(peer) != Role.LEADER:
            return
        if peer.name not in peer.progress or peer.name in learners:
            if peer.option("step-down-on-removal"):
                self.step("steps_down", node=node)
                self.reset(peer)
                self.became(peer, "follower")
            return
        if self.commit(peer):
            self.broadcast(peer)
        else:
            for name in self.others(peer):
                self.send_append(peer, name, even_empty=False)
        if peer.transferee and self.node(peer.transferee) not in config.incoming | config.outgoing:
            peer.transferee = ""

    # What a Ready has.

    def appliable(self, peer: Peer) -> int:
        """Up to which index the application may be given entries (raftLog.nextCommittedEnts)."""
        if peer.snapshot:
            return 0
        commit = int(self.of(peer, "commit"))
        if peer.options.get("max-committed-size-per-ready") == "1":
            return min(commit, peer.applying + 1)
        return min(commit, peer.offset - 1) if peer.option("async-storage-writes") else commit

    def soft(self, peer: Peer) -> tuple[str | None, str]:
        leader = self.of(peer, "leader")
        return None if leader is None else repr(leader), self.role(peer).name

    def hard(self, peer: Peer) -> tuple[int, str | None, int]:
        vote = self.of(peer, "vote")
        return self.of(peer, "term"), None if vote is None else repr(vote), self.of(peer, "commit")

    def is_ready(self, peer: Peer) -> bool:
        """RawNode.HasReady."""
        return bool(
            self.soft(peer) != peer.shown_soft or self.hard(peer) != peer.shown_hard or peer.queue or peer.snapshot
            or peer.handed <= self.last(peer) or self.appliable(peer) > peer.applying
        )
