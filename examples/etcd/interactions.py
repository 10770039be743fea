"""Reads the logs of etcd's interaction tests (``testdata/*.txt``) as steps of model/etcd_raft/interactive.py:

    floodmark conform etcd_raft/interactive --reader examples/etcd/interactions.py --trace FOLDER

Such a log has commands, and under each what the nodes printed. The tests leave nothing to chance, and they switch the
output off for whole stretches. So each command is carried out here on the model, in the order in which
``rafttest/interaction_env_handler_*.go`` would do it, and what a leader sends is decided as in flow.py; each step that
this takes is a step of the trace. What the log shows is what the step has to show: messages, the state that a Ready
hands out, roles, terms, configurations, logs. Lines of the log that come in another order, are missing, or are about
flow control alone and differ, are refused here, with their number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from examples.etcd.library import CONSTANTS, ELECTION_TICKS, Change, Library, Line, Peer, Sent, Writing
from examples.etcd.printed import Command, Log, PrintedEntry, PrintedMessage, commands, ending_with, node, nodes
from floodmark import Set
from floodmark.conformance import plain
from model.etcd_raft.raft import Kind, Role

SUFFIXES = (".txt",)
_ANSWERS = (Kind.APPEND_RESPONSE, Kind.VOTE_RESPONSE, Kind.HEARTBEAT_RESPONSE, Kind.PRE_VOTE_RESPONSE)
__all__ = ["CONSTANTS", "SUFFIXES", "lines"]


def lines(text: str) -> Iterator[Line]:
    """The steps of a test, each with the line of the log that shows it, or of its command."""
    group = _Test()
    for command in commands(text):
        yield from group.run(command)


class _Test(Library):
    """A test and its network (rafttest.InteractionEnv)."""

    def __init__(self) -> None:
        super().__init__()
        self.network: list[Sent] = []
        self.level = "debug"

    def run(self, command: Command) -> Iterator[Line]:
        self.log = Log(command, command.options.get("log-level", self.level) != "none")
        handler = getattr(self, "do_" + command.name.replace("-", "_"), None)
        if handler is None:
            raise self.log.refuse(f"the command {command.name!r} is not known")
        try:
            handler(command)
            self.log.end()
        except (KeyError, IndexError, ValueError) as error:
            raise self.log.refuse(f"this is not a command of etcd's tests: {error!r}") from None
        yield from self.out
        self.out = []

    def do_log_level(self, command: Command) -> None:
        self.level = command.words[1]

    def do_add_nodes(self, command: Command) -> None:
        options = command.options
        index = int(options.get("index", 0))
        if not self.peers and options.get("disable-conf-change-validation") == "true":
            self.step("validation_is_off")
        voters, learners = (Set(map(self.node, nodes(options.get(key, "")))) for key in ("voters", "learners"))
        for _ in range(int(command.words[1])):
            name = f"n{len(self.peers) + 1}"
            peer = Peer(name, options, index + 1, shown_hard=(0, None, index), offset=index + 1, handed=index + 1,
                         applying=index, kept=index)
            shown: Line = {}
            if self.log.shown:
                config, _ = self.log.config(self.log.take(rf"INFO {peer.number} switched to configuration (.*)")[1])
                self.log.take(rf"INFO {peer.number} became follower at term 0$")
                shown = {"config": {name: config}}
            self.step("node_starts", node=self.node(name), term=0, commit=index, voters=voters, learners=learners,
                      replays=False, state=shown)
            self.peers[name] = peer
            self.reset(peer)

    def do_campaign(self, command: Command) -> None:
        self.stand(self.peers[command.nodes[0]])

    def do_stabilize(self, command: Command) -> None:
        peers = [self.peers[name] for name in command.nodes] or list(self.peers.values())
        busy = True
        while busy:
            busy = False
            for peer in peers:
                if self.is_ready(peer):
                    self.headed(f"> {peer.number} handling Ready")
                    self.ready(peer)
                    busy = True
            for peer in peers:
                if any(sent.to == peer.name for sent in self.network):
                    self.headed(f"> {peer.number} receiving messages")
                    self.deliver(peer.name)
                    busy = True
            for peer in peers:
                if peer.appending:
                    self.headed(f"> {peer.number} processing append thread")
                    while peer.appending:
                        self.append_thread(peer)
                    busy = True
            for peer in peers:
                if peer.to_apply:
                    self.headed(f"> {peer.number} processing apply thread")
                    while peer.to_apply:
                        self.apply_thread(peer)
                    busy = True

    def do_process_ready(self, command: Command) -> None:
        for name in command.nodes:
            if len(command.nodes) > 1:
                self.headed(f"> {name[1:]} handling Ready")
            self.ready(self.peers[name])

    def do_process_append_thread(self, command: Command) -> None:
        for name in command.nodes:
            if len(command.nodes) > 1:
                self.headed(f"> {name[1:]} processing append thread")
            self.append_thread(self.peers[name])

    def do_process_apply_thread(self, command: Command) -> None:
        for name in command.nodes:
            if len(command.nodes) > 1:
                self.headed(f"> {name[1:]} processing apply thread")
            self.apply_thread(self.peers[name])

    def do_deliver_msgs(self, command: Command) -> None:
        kind = command.options.get("type", "")
        for word in command.words[1:]:
            if word.isdecimal():
                self.deliver(f"n{word}", kind)
            elif word.startswith("drop="):
                for name in nodes(word):
                    self.drop(name, kind)
        self.log.has("no messages$")

    def do_propose(self, command: Command) -> None:
        self.propose(self.peers[command.nodes[0]], None)

    def do_propose_conf_change(self, command: Command) -> None:
        changes = " ".join(command.argument).split()
        voters, learners, removed = (
            Set(self.node(f"n{each[1:]}") for each in changes if each[0] == letter) for letter in "vlr"
        )
        how = command.options.get("transition", "auto")
        joint = how != "auto" or len(changes) > 1
        change = Change(voters, learners, removed, joint and bool(changes), joint and how != "explicit")
        self.propose(self.peers[command.nodes[0]], change)

    def do_transfer_leadership(self, command: Command) -> None:
        options = command.options
        peer, to = self.peers[f"n{options['from']}"], f"n{options['to']}"
        peer.elapsed, peer.transferee = 0, to
        if peer.progress[to].match == self.last(peer):
            self.ask_to_take_over(peer, to)
        else:
            self.send_append(peer, to)

    def do_forget_leader(self, command: Command) -> None:
        peer = self.peers[command.nodes[0]]
        is_following = self.role(peer) == Role.FOLLOWER and self.of(peer, "leader") is not None
        if is_following and peer.options.get("read-only") != "lease-based":
            self.step("forgets_leader", node=self.node(peer.name))

    def do_tick_heartbeat(self, command: Command) -> None:
        self.tick(self.peers[command.nodes[0]], 1)

    def do_tick_election(self, command: Command) -> None:
        self.tick(self.peers[command.nodes[0]], ELECTION_TICKS)

    def do_set_randomized_election_timeout(self, command: Command) -> None:
        self.peers[command.nodes[0]].timeout = int(command.options["timeout"])

    def do_compact(self, command: Command) -> None:
        self.peers[command.nodes[0]].first = int(command.words[2]) + 1
        if self.log.shown:
            self.do_raft_log(command)

    def do_report_unreachable(self, command: Command) -> None:
        progress = self.peers[command.nodes[0]].progress[command.nodes[1]]
        if progress.state == "Replicate":
            progress.probe()

    def do_send_snapshot(self, command: Command) -> None:
        peer, to = self.peers[command.nodes[0]], command.nodes[1]
        message = self.now.snapshot_message(self.node(peer.name), self.node(to), peer.kept)
        sent = Sent(peer.name, to, message.kind.value, message)
        self.step("application_sends_snapshot", node=self.node(peer.name), to=self.node(to), index=peer.kept)
        if self.log.shown:
            self.compare(sent, self.message_said(sent))
        self.network.append(sent)

    def do_raft_state(self, command: Command) -> None:
        for name, peer in self.peers.items():
            found = self.log.take(rf"{peer.number}: (State\w+) \((Voter|Non-Voter)\) Term:(\d+) Lead:(\d+)$")
            self.shows(role={name: Role(found[1]).name}, term={name: int(found[3])}, leader={name: node(found[4])})
            if (found[2] == "Voter") != self.now.may_stand(self.node(name)):
                raise self.log.refuse(f"{name} is {found[2]}, which its configuration does not say")

    def do_status(self, command: Command) -> None:
        peer = self.peers[command.nodes[0]]
        for name in sorted(peer.progress):
            found = self.log.take(r"(\d+): (State\w+ match=(\d+) .*)$")
            self.shows(match={peer.name: {f"n{found[1]}": int(found[3])}})
            if (found[1], found[2]) != (name[1:], str(peer.progress[name])):
                raise self.log.refuse(f"{name} is {peer.progress[name]}")

    def do_raft_log(self, command: Command) -> None:
        peer = self.peers[command.nodes[0]]
        if empty := self.log.has(r"log is empty: first index=(\d+), last index=(\d+)$"):
            self.shows(stored_log={peer.name: {"length": int(empty[2])}})
            return
        self.shows(stored_log={peer.name: ending_with(self.log.entries(peer.first))})

    def headed(self, header: str) -> None:
        if self.log.shown:
            self.log.take(re.escape(header) + "$", repr(header))

    def deliver(self, name: str, kind: str = "") -> None:
        arriving = [sent for sent in self.network if sent.to == name and kind in ("", sent.kind)]
        self.network = [sent for sent in self.network if sent not in arriving]
        peer = self.peers[name]
        for sent in arriving:
            given = self.message_said(sent) if self.log.shown else {}
            if sent.message is None:
                self.receive_local(peer, sent)
            elif sent.message.kind in _ANSWERS and sent.source not in peer.progress:
                self.step("network_loses", message=sent.message, given=given)
                if self.log.shown:
                    self.log.take("raft: cannot step as peer not found$")
            else:
                self.receive(peer, sent, given)

    def drop(self, name: str, kind: str) -> None:
        for sent in [sent for sent in self.network if sent.to == name and kind in ("", sent.kind)]:
            if sent.source in (name, "AppendThread", "ApplyThread"):
                continue
            self.network.remove(sent)
            given = {}
            if self.log.shown:
                given = self.message_said(sent, "dropped: ")
            if sent.message is not None:
                self.step("network_loses", message=sent.message, given=given)

    def receive_local(self, peer: Peer, sent: Sent) -> None:
        """A message that the model does not know."""
        if sent.kind == "MsgProp":
            self.propose(peer, sent.change)
        elif sent.kind == "MsgTimeoutNow":
            self.stand(peer, forced=True)
        elif sent.kind == "MsgStorageAppendResp":
            self.stored(peer, sent)
        else:
            self.applied(peer, sent.stored[0])

    def ready(self, peer: Peer) -> None:
        """A Ready, and what the test does with it (InteractionEnv.ProcessReady)."""
        node, last, taken = self.node(peer.name), self.last(peer), peer.applying
        up_to = max(self.appliable(peer), taken)
        changed = peer.handed <= last or self.hard(peer) != peer.shown_hard or bool(peer.snapshot)
        sending = [sent for sent in peer.queue if not sent.waits]
        answers = [sent for sent in peer.queue if sent.waits]
        responses = answers + self.when_stored(peer)
        if peer.option("async-storage-writes"):
            writing = Writing(responses, not (changed or answers), None)
            after = self.ready_said(peer, sending, up_to, writing)
            self.step("ready_to_write", node=node, state=after)
            peer.appending.append(writing)
            self.write_empty(peer)
            self.handed_out(peer, up_to)
            self.network += sending
            if up_to > taken:
                peer.to_apply.append((taken + 1, up_to))
            return
        sending += [sent for sent in answers if sent.to != peer.name]
        self.ready_said(peer, sending, up_to, None)
        reached = Set(self.node(sent.to) for sent in peer.queue if sent.message is not None)
        self.step("ready", node=node, reached=reached)
        self.handed_out(peer, up_to)
        self.keep_snapshot(peer)
        self.apply(peer, taken + 1, up_to)
        self.network += sending
        for sent in responses:  # RawNode.Advance
            if sent.message is None:
                self.stored(peer, sent)
            elif sent.to == peer.name:
                self.receive(peer, sent, {})
        if up_to > taken:
            self.applied(peer, up_to)

    def when_stored(self, peer: Peer) -> list[Sent]:
        """What a node is told when all that it has handed out is stored (newStorageAppendRespMsg), if anything is."""
        last, term = self.last(peer), self.of(peer, "term")
        if peer.offset > last and not peer.snapshot:
            return []
        index = (last, self.now.last_term(self.node(peer.name))) if peer.offset <= last else (0, 0)
        return [Sent("AppendThread", peer.name, "MsgStorageAppendResp", stored=(*index, term, peer.snapshot))]

    def handed_out(self, peer: Peer, up_to: int) -> None:
        """RawNode.acceptReady."""
        peer.queue, peer.handed, peer.applying = [], self.last(peer) + 1, up_to
        peer.shown_soft, peer.shown_hard = self.soft(peer), self.hard(peer)

    def keep_snapshot(self, peer: Peer) -> None:
        """The storage begins after a snapshot that it was given."""
        if peer.snapshot:
            peer.first = peer.snapshot + 1

    def write_empty(self, peer: Peer) -> None:
        while peer.appending and peer.appending[0].is_empty:
            peer.appending.pop(0)
            self.step("append_thread_writes", node=self.node(peer.name))

    def append_thread(self, peer: Peer) -> None:
        """The append thread does what is next (InteractionEnv.ProcessAppendThread)."""
        writing = peer.appending.pop(0)
        if self.log.shown:
            self.log.take("Processing:$")
            said = self.log.message(peer.number, "AppendThread", "MsgStorageAppend")
            if writing.said not in (None, said):
                raise self.log.refuse("this is not what the Ready had")
            self.log.take("Responses:$")
            for sent in writing.responses:
                self.compare(sent, self.message_said(sent))
        self.step("append_thread_writes", node=self.node(peer.name))
        self.keep_snapshot(peer)
        self.network += writing.responses
        self.write_empty(peer)

    def apply_thread(self, peer: Peer) -> None:
        """The apply thread does what is next (InteractionEnv.ProcessApplyThread)."""
        first, last = peer.to_apply.pop(0)
        if self.log.shown:
            self.log.take("Processing:$")
            self.to_apply_said(peer, first, last)
        self.apply(peer, first, last)
        done = Sent("ApplyThread", peer.name, "MsgStorageApplyResp", stored=(last, 0, 0, 0))
        if self.log.shown:
            self.log.take("Responses:$")
            self.message_said(done)
        self.network.append(done)

    def apply(self, peer: Peer, first: int, last: int) -> None:
        """The application applies entries; configuration changes it gives back (processApply)."""
        for index in range(first, last + 1):
            if self.of(peer, "log")[index - 1].change is not None:
                self.apply_change(peer, index)
            peer.kept = index

    # What the log says.

    def message_said(self, sent: Sent, before: str = "") -> Line:
        """What the log says of a message: an argument of a step, but for one that the model does not know."""
        source, to = (each.removeprefix("n") for each in (sent.source, sent.to))
        return self.given(sent, self.log.message(source, to, sent.kind, before))

    def given(self, sent: Sent, said: PrintedMessage) -> Line:
        if sent.message is not None:
            return {"message": said.pattern()}
        held = sent.stored[:3] if sent.kind != "MsgStorageApplyResp" else (0, 0, 0)
        if (said.index, said.log_term, said.term) != held:
            raise self.log.refuse(f"the index is {held[0]}, its term {held[1]}, and the term {held[2]}")
        if sent.kind == "MsgStorageApplyResp" and [entry.index for entry in said.entries][-1:] != [sent.stored[0]]:
            raise self.log.refuse(f"applied is {sent.stored[0]}")
        return {}

    def compare(self, sent: Sent, given: Line) -> None:
        """A message that is printed before a step takes it."""
        for name, value in given.get("message", {}).items():
            held = plain(getattr(sent.message, name))
            if name != "entries" and held != value:
                raise self.log.refuse(f"{name} is {held}, the log has {value}")

    def to_apply_said(self, peer: Peer, first: int, last: int) -> None:
        said = self.log.message(peer.number, "ApplyThread", "MsgStorageApply")
        self.log.consecutive(said.entries, first, last)

    def ready_said(self, peer: Peer, sending: Sequence[Sent], up_to: int, writing: Writing | None) -> Line:
        """The log shows the state before a Ready; what the append thread has to do is shown of the state after it."""
        if not self.log.shown:
            return {}
        if self.log.has("<empty Ready>$"):
            if self.is_ready(peer):
                raise self.log.refuse("there is something to do")
            return {}
        self.log.take("Ready MustSync=(true|false):$", "a Ready")
        name, soft, hard = peer.name, peer.shown_soft, peer.shown_hard
        ready = self.log.number
        if found := self.log.has(r"Lead:(\d+) State:(State\w+)$"):
            soft = (node(found[1]), Role(found[2]).name)
        self.shows(leader={name: soft[0]}, role={name: soft[1]})
        if found := self.log.has(r"HardState Term:(\d+)(?: Vote:(\d+))?(?: Commit:(\d+))$"):
            hard = (int(found[1]), node(found[2] or "0"), int(found[3]))
        self.shows(term={name: hard[0]}, vote={name: hard[1]}, commit={name: hard[2]})
        if self.log.has("Entries:$"):
            self.shows(log={name: ending_with(self.log.entries(peer.handed))})
        elif found := self.log.has(r"Snapshot Index:(\d+) Term:(\d+) ConfState:"):
            last = str(int(found[1]) - 1)
            self.shows(log={name: {"length": int(found[1]), last: {"term": int(found[2])}}})
        else:
            self.shows(log={name: {"length": peer.handed - 1}})
        committed: Sequence[PrintedEntry] = ()
        if self.log.has("CommittedEntries:$"):
            committed = self.log.entries(peer.applying + 1)
            self.shows(log={name: {str(entry.index - 1): entry.pattern() for entry in committed}})
        self.log.consecutive(committed, peer.applying + 1, up_to)
        to_write = writing is not None and not writing.is_empty
        to_apply = writing is not None and up_to > peer.applying
        if sending or to_write or to_apply:
            self.log.take("Messages:$")
        self.sending_said(peer, sending)
        after = {}
        if writing is not None and to_write:
            after = {"writes": {name: {str(len(peer.appending)): self.writing_said(peer, writing, hard)}}}
        if to_apply:
            self.to_apply_said(peer, peer.applying + 1, up_to)
        self.log.number = ready
        return after

    def sending_said(self, peer: Peer, sending: Sequence[Sent]) -> None:
        """The messages that a Ready has, at their places in the outbox. Those to the node itself are not shown."""
        known = [id(sent) for sent in peer.queue if sent.message is not None]
        self.shows(outbox={peer.name: {"length": len(known)}})
        for sent in sending:
            said = self.message_said(sent)
            if sent.message is not None:
                self.shows(outbox={peer.name: {str(known.index(id(sent))): said["message"]}})

    def writing_said(self, peer: Peer, writing: Writing, hard: tuple[int, str | None, int]) -> Line:
        """What the append thread is given. It says the term, the vote and the commit index only if one is new."""
        said = self.log.message(peer.number, "AppendThread", "MsgStorageAppend")
        held = hard if hard != peer.shown_hard else (0, None, 0)
        if (said.term, said.vote, said.commit) != held:
            raise self.log.refuse(f"the state that is stored is {held}")
        given = [self.given(sent, each) for sent, each in zip(writing.responses, said.responses, strict=True)]
        writing.said = replace(said, responses=())
        term, vote, commit = hard
        return {"responses": [each["message"] for each in given if each], "term": term, "vote": vote, "commit": commit}
