"""How a real server takes the steps of its member of the group, and what is compared with the model after each.

The other members are the model's: their messages are those that the model delivers, with terms and indexes as the model
has them, counted from where the template ends. What the server sends is heard by a client of the system account, which
also sends for the others.

A step is over when the server has answered a vote request of an earlier term, which changes nothing and is handled
after all that came before. The server's timers cannot be stopped: a run that was too slow for them ends with ``Late``,
and says nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

import wire
from library import Program
from server import REAL, SUBJECT, Member, template

from floodmark.conformance import Adapter, observable

PATIENCE = 12.0
"""Seconds: longer than the longest election timeout, which is nine."""
SOON = 3.0
"""Seconds: longer than what the server does by itself within a second."""
SHORTEST_TIMEOUT = 3.9
"""Seconds after which an election timeout is no surprise; the shortest is four."""
LOST_QUORUM = 9.5
"""Seconds after which a leader that hears nothing may step down; it does after ten."""

Heard = tuple[str, str, bytes]
Fields = dict[str, Any]


class Late(Exception):  # noqa: N818 - it is no error of anybody
    """The run took so long that a timer of the server ended before its step; try it again."""


def of_real(name: str) -> Callable[[Any], Any]:
    """What a map of the model has for the real server."""
    return lambda model: next(iter(getattr(model, name).values()))


class JetStreamAdapter(Adapter):
    """One real server; subclasses say which release."""

    program: ClassVar[Program]

    def __init__(self, start: Any) -> None:
        self.template = template(self.program, start.servers)
        self.others = [name for name in self.template.peers if name != REAL]
        self.beyond = False
        self.names = {identifier: name for name, identifier in self.template.peers.items()}
        self.changed = threading.Condition()
        self.heard: list[Heard] = []
        self.inbox = self.vote_reply = self.append_reply = ""
        self.known: dict[int, wire.AppendEntry] = {}
        self.data: dict[tuple[int, int], tuple[tuple[int, bytes], ...]] = {}
        """The entries that the server's log has ever had, by term and index."""
        self.writes = 0
        self.told: dict[int, str] = {}
        """What clients were told of their writes."""
        self.answers: set[int] = set()
        self.probes = 0
        self.sent_now: list[Fields] = []
        self.wrong_heartbeats: list[Fields] = []
        self.member = Member(self.program, self.template)
        try:
            self._connect()
            self._settle(became_leader=False)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.member.close()

    # Numbers of the model and of the server.

    def _term(self, term: int) -> int:
        return term + self.template.term - 1

    def _index(self, index: int) -> int:
        return index + self.template.index - 1

    def _model_term(self, term: int) -> int:
        return term - self.template.term + 1

    def _model_index(self, index: int) -> int:
        return index - self.template.index + 1

    # Hearing and sending.

    def _connect(self) -> None:
        self.member.system.subscribe("$NRG.>", self._hear)
        self.member.app.subscribe("_INBOX.>", self._hear_answer)
        self.seen: Fields = {}
        end = time.monotonic() + 30
        while not self.seen:
            self.seen = self.member.state() or {}
            if time.monotonic() > end:
                raise TimeoutError("the server does not take part in the group")
            time.sleep(0.005)
        self.timer = self.contact = time.monotonic()

    def _hear(self, subject: str, reply: str, data: bytes) -> None:
        with self.changed:
            self.heard.append((subject, reply, data))
            self.changed.notify_all()

    def _hear_answer(self, subject: str, _: str, data: bytes) -> None:
        with self.changed:
            write = int(subject.rsplit(".", 1)[1])
            self.answers.add(write)
            if data:
                self.told[write] = data.decode()
            self.changed.notify_all()

    def _wait(self, ready: Callable[[], Any], seconds: float) -> bool:
        with self.changed:
            return bool(self.changed.wait_for(ready, seconds))

    def _subject(self, kind: str) -> str:
        return f"$NRG.{kind}.{self.template.group}"

    def _asks_for_votes(self) -> bool:
        return any(subject == self._subject("V") for subject, _, _ in self.heard)

    def _begin(self) -> None:
        """Before a step. Heartbeats come by themselves between two steps."""
        self._look()
        with self.changed:
            self.heard_before = self.heard
            self.heard = []
        if any(subject == self._subject("V") for subject, _, _ in self.heard_before):
            self._surprised(self.timer, SHORTEST_TIMEOUT, "the server stood for election between two steps")
        self._check_heartbeats(self.heard_before, self.seen, self.seen)

    def _surprised(self, since: float, least: float, what: str) -> None:
        """Late if what happened is explained by a timer; otherwise the server did it, and it will show."""
        if time.monotonic() - since > least:
            raise Late(what)

    def _look(self) -> None:
        now = self.member.state()
        if now is None:
            raise TimeoutError("the server has left the group")
        if self.seen and self.seen["state"] == "LEADER" and now["state"] != "LEADER":
            self._surprised(self.contact, LOST_QUORUM, "the leader has heard from nobody for too long")
        self.now = now

    # After a step.

    def _settle(self, became_leader: bool | None = None, elections: int = 0, heartbeat: bool = False) -> None:
        """Waits until the server has handled everything, and takes what it sent.

        ``elections`` is how many times it should have asked for votes; ``heartbeat`` whether one was waited for.
        """
        self._probe()
        self._applied()
        before, now = self.seen, self.now
        self._read_log(now)
        with self.changed:
            heard, self.heard = self.heard, []
        asked = sum(1 for subject, _, _ in heard if subject == self._subject("V"))
        if asked > elections:
            self._surprised(self.timer, SHORTEST_TIMEOUT, "the server stood for election in another step")
        if became_leader is None:
            became_leader = before.get("state") != "LEADER" and now["state"] == "LEADER"
        if before.get("state") != now["state"]:
            self.timer = time.monotonic()
        self.sent_now = self._messages(heard, before or now, now, became_leader, heartbeat)
        self.seen = now

    def _probe(self) -> None:
        end = time.monotonic() + SOON
        self._look()
        while (self.now["ipq_entry_len"] or self.now["ipq_resp_len"]) and time.monotonic() < end:
            time.sleep(0.002)
            self._look()
        self.probes += 1
        reply = f"$NRG.R.probe{self.probes}"
        nobody = self.template.peers[self.others[-1]]
        self.member.system.publish(self._subject("V"), wire.VoteRequest(0, 0, 0, nobody).encode(), reply)
        if not self._wait(lambda: any(subject == reply for subject, _, _ in self.heard), PATIENCE):
            raise TimeoutError("the server does not answer a vote request of term 0")
        with self.changed:
            self.heard = [each for each in self.heard if each[0] != reply]
        self._look()

    def _applied(self) -> None:
        """What is committed is applied by others, who also tell the clients."""
        end = time.monotonic() + SOON
        while self.now["applied"] != self.now["committed"] and time.monotonic() < end:
            time.sleep(0.002)
            self._look()

    def _read_log(self, now: Fields) -> None:
        last = (now["pindex"], now["pterm"])
        end = time.monotonic() + SOON
        while True:
            found = dict(self.member.records())
            found = {index: entry for index, entry in found.items() if index <= last[0]}
            compacted = now["wal"]["first_seq"]
            known = {**{index: entry for index, entry in self.known.items() if index < compacted}, **found}
            place = last[0]
            if place <= self.template.index or (place in known and known[place].term == last[1]):
                break
            if time.monotonic() > end:
                break
            time.sleep(0.002)
        self.known = {index: entry for index, entry in known.items() if self.template.index < index <= last[0]}
        for index, entry in self.known.items():
            self.data[entry.term, index] = entry.entries

    def _messages(self, heard: list[Heard], before: Fields, now: Fields, leads: bool, heartbeat: bool) -> list[Fields]:
        rose = now["state"] == "LEADER" and now["committed"] > before["committed"]
        found: list[Fields] = []
        for subject, reply, data in heard:
            if subject == self._subject("V"):
                self.vote_reply = reply
                found += self._vote_request(wire.VoteRequest.decode(data))
            elif subject == self._subject("AE"):
                self.append_reply = reply
                entry = wire.AppendEntry.decode(data)
                counts = leads or heartbeat or (rose and entry.commit == now["committed"]) or self.beyond
                if entry.entries or counts:
                    told = [self._append_entry(entry, "APPEND_ENTRY", name) for name in self.others]
                    if entry.entries or found[-len(told):] != told:
                        found += told
                else:
                    self._check_heartbeats([(subject, reply, data)], before, now)
            elif subject.startswith("$NRG.R.vote."):
                response = wire.VoteResponse.decode(data)
                if response.granted:
                    self.timer = time.monotonic()
                found.append(self._fields(
                    "VOTE_RESPONSE", subject.rsplit(".", 1)[1], response.term, success=response.granted
                ))
            elif subject.startswith("$NRG.R.append."):
                found.append(self._response(subject.rsplit(".", 1)[1], reply, wire.AppendEntryResponse.decode(data)))
            elif subject.startswith("$NRG.CR.open."):
                found.append(
                    self._append_entry(wire.AppendEntry.decode(data), "CATCHUP_ENTRY", subject.rsplit(".", 1)[1])
                )
        return found

    def _check_heartbeats(self, heard: list[Heard], before: Fields, now: Fields) -> None:
        """One that a leader sends every second says what it has said, or could have."""
        for subject, _, data in heard:
            if subject == self._subject("AE"):
                entry = wire.AppendEntry.decode(data)
                said = (entry.term, entry.commit, entry.last_term, entry.last_index, entry.entries)
                right = [(it["term"], it["committed"], it["pterm"], it["pindex"], ()) for it in (before, now)]
                if said not in right:
                    self.wrong_heartbeats.append(self._append_entry(entry, "APPEND_ENTRY", self.others[0]))

    def _fields(self, kind: str, destination: str, term: int, **others: Any) -> Fields:
        return {
            "kind": kind, "source": REAL, "destination": destination, "order": 0, "term": self._model_term(term),
            "index": 0, "log_term": 0, "commit": 0, "entry": None, "success": False, "inbox": "NONE", **others,
        }

    def _vote_request(self, request: wire.VoteRequest) -> list[Fields]:
        return [
            self._fields(
                "VOTE_REQUEST", name, request.term, index=self._model_index(request.last_index),
                log_term=self._model_term(request.last_term),
            )
            for name in self.others
        ]

    def _append_entry(self, entry: wire.AppendEntry, kind: str, destination: str) -> Fields:
        new = kind == "APPEND_ENTRY"
        return self._fields(
            kind, destination, entry.term if new else entry.leader_term, index=self._model_index(entry.last_index),
            log_term=self._model_term(entry.last_term), commit=self._model_index(entry.commit),
            entry=self._entry(entry) if entry.entries else None,
        )

    def _entry(self, entry: wire.AppendEntry) -> Fields:
        [(kind, data)] = entry.entries
        return {
            "term": self._model_term(entry.term), "commit": self._model_index(entry.commit),
            "write": int(wire.payload_of(data)) if kind == wire.NORMAL else 0,
            "successor": self.names[data.decode()] if kind == wire.LEADER_TRANSFER else None,
        }

    def _response(self, destination: str, reply: str, response: wire.AppendEntryResponse) -> Fields:
        if reply:
            self.inbox = reply
        return self._fields(
            "APPEND_ENTRY_RESPONSE", destination, response.term, index=self._model_index(response.index),
            success=response.success, inbox="OPEN" if reply else "NONE",
        )

    # Steps.

    def message_arrives(self, message: Any) -> None:
        source, destination = repr(message.source), repr(message.destination)
        self.beyond = False
        if destination != REAL:
            self.sent_now = []
            return
        self._begin()
        self.contact = time.monotonic()
        kind = message.kind.name
        if kind == "VOTE_REQUEST":
            self._request_vote(message, source)
        elif kind == "VOTE_RESPONSE":
            response = wire.VoteResponse(self._term(message.term), self.template.peers[source], message.success)
            self.member.system.publish(self.vote_reply, response.encode())
            self._settle()
        elif kind == "APPEND_ENTRY_RESPONSE":
            self._respond(message, source)
        else:
            self._append(message, source, kind == "APPEND_ENTRY")

    def _request_vote(self, message: Any, source: str) -> None:
        request = wire.VoteRequest(
            self._term(message.term), self._term(message.log_term), self._index(message.index),
            self.template.peers[source],
        )
        self.member.system.publish(self._subject("V"), request.encode(), f"$NRG.R.vote.{source}")
        self._probe()
        now = self.now
        hurries = now["state"] == "FOLLOWER" and not now.get("voted_for") and now["term"] == request.term
        stands = hurries and self._wait(self._asks_for_votes, SOON)
        self._settle(elections=int(hurries))
        if hurries and not stands:  # 2.15.1 may: it stands after some seconds, and nobody knows when
            self.timer = time.monotonic() - PATIENCE

    def _respond(self, message: Any, source: str) -> None:
        response = wire.AppendEntryResponse(
            self._term(message.term), self._index(message.index), self.template.peers[source], message.success
        )
        inbox = message.inbox.name
        reply = "" if inbox == "NONE" else f"$NRG.CR.{inbox.lower()}.{source}"
        self.beyond = message.success and response.index > self.seen["pindex"]
        last, leads = self.seen["pindex"], self.seen["state"] == "LEADER"
        self.member.system.publish(self.append_reply, response.encode(), reply)
        if leads and inbox == "OPEN" and response.index < last:
            self._wait(lambda: self._has_caught_up(reply, last), SOON)
        self._settle()

    def _has_caught_up(self, inbox: str, last: int) -> bool:
        """A process of its own sends the entries, up to the last."""
        return any(
            subject == inbox and wire.AppendEntry.decode(data).last_index + 1 == last for subject, _, data in self.heard
        )

    def _append(self, message: Any, source: str, is_new: bool) -> None:
        entry = message.entry
        index = self._index(message.index)
        request = wire.AppendEntry(
            self.template.peers[source],
            self._term(message.term if is_new or entry is None else entry.term),
            self._index(message.commit), self._term(message.log_term), index,
            () if entry is None else self._entries(entry, index + 1), 0 if is_new else self._term(message.term),
        )
        subject = self._subject("AE") if is_new else self.inbox
        self.timer = time.monotonic()
        self.member.system.publish(subject, request.encode(), f"$NRG.R.append.{source}")
        self._probe()
        takes_over = entry is not None and repr(entry.successor) == REAL and is_new and self.now["pindex"] == index + 1
        if takes_over:
            self._wait(self._asks_for_votes, SOON)
        self._settle(elections=int(takes_over))

    def _entries(self, entry: Any, index: int) -> tuple[tuple[int, bytes], ...]:
        """An entry of a log as its leader made it. One that the server itself wrote is the same again."""
        known = self.data.get((self._term(entry.term), index))
        if known is not None:
            return known
        peers = self.template.peers
        if entry.write:
            earlier = sum(1 for place, it in self.known.items() if place < index and it.entries[0][0] == wire.NORMAL)
            sequence = self.template.sequence + earlier
            return ((wire.NORMAL, wire.stream_message(SUBJECT, str(entry.write).encode(), sequence, time.time_ns())),)
        if entry.successor is not None:
            return ((wire.LEADER_TRANSFER, peers[repr(entry.successor)].encode()),)
        return ((wire.PEER_STATE, wire.peer_state(list(peers.values()))),)

    def message_is_lost(self, message: Any) -> None:
        self.sent_now = []

    def election_times_out(self, server: Any) -> None:
        self.sent_now = []
        self.beyond = False
        if repr(server) != REAL:
            return
        self._begin()
        if self.seen.get("catching_up"):
            end = time.monotonic() + PATIENCE
            self._look()
            while self.now.get("catching_up") and time.monotonic() < end:
                time.sleep(0.01)
                self._look()
            self.timer = time.monotonic()
            self._settle()
        else:
            self._wait(self._asks_for_votes, PATIENCE)
            self.timer = time.monotonic()
            self._settle(elections=1)

    def leader_sends_heartbeat(self, leader: Any) -> None:
        self.sent_now = []
        self.beyond = False
        if repr(leader) == REAL:
            self._begin()
            self._wait(lambda: any(subject == self._subject("AE") for subject, _, _ in self.heard), SOON)
            self._settle(heartbeat=True)

    def client_writes(self, leader: Any) -> None:
        self.writes += 1
        self.sent_now = []
        self.beyond = False
        if repr(leader) == REAL:
            self._begin()
            write = self.writes
            end = time.monotonic() + SOON
            while True:  # a client is told when nobody serves it, and tries again
                self.answers.discard(write)
                self.member.app.publish(SUBJECT, str(write).encode(), f"_INBOX.{write}")
                self._wait(lambda: write in self.answers or self._has_sent_entry(), SOON)
                if self._has_sent_entry() or time.monotonic() > end:
                    break
            self._settle()

    def _has_sent_entry(self) -> bool:
        return any(
            subject == self._subject("AE") and wire.AppendEntry.decode(data).entries for subject, _, data in self.heard
        )

    def leader_hands_over(self, leader: Any, successor: Any) -> None:
        self.sent_now = []

    def server_restarts(self, server: Any) -> None:
        self.sent_now = []
        self.beyond = False
        if repr(server) == REAL:
            self._begin()
            self.member.kill()
            with self.changed:
                self.heard = []
            self.member.start()
            self._connect()
            self._settle(became_leader=False)

    # What is observed.

    @observable(of=lambda model: next(iter(model.role.values())).name)
    def role(self) -> str:
        return str(self.seen["state"])

    @observable(of=of_real("term"))
    def term(self) -> int:
        return self._model_term(self.seen["term"])

    @observable(of=lambda model: name_of(next(iter(model.vote.values()))))
    def vote(self) -> str | None:
        return self._voted(self.seen["term"], self.seen.get("voted_for", ""))

    @observable(of=lambda model: (next(iter(model.term.values())), name_of(next(iter(model.vote.values())))))
    def stored(self) -> tuple[int, str | None]:
        """What a restart would find of term and vote."""
        data = (self.member.folder / self.template.log_folder / "tav.idx").read_bytes()
        term = int.from_bytes(data[:8], "little")
        return self._model_term(term), self._voted(term, data[8:16].decode())

    def _voted(self, term: int, identifier: str) -> str | None:
        """The vote of the template's term is not in the model."""
        return None if term == self.template.term else self.names.get(identifier)

    @observable(of=lambda model: name_of(next(iter(model.leader.values()))))
    def leader(self) -> str | None:
        return self.names.get(self.seen.get("leader", ""))

    @observable(of=of_real("commit"))
    def commit(self) -> int:
        return self._model_index(self.seen["committed"])

    @observable(of=of_real("commit"))
    def applied(self) -> int:
        return self._model_index(self.seen["applied"])

    @observable(of=lambda model: [shown(entry) for entry in next(iter(model.log.values()))][1:])
    def log(self) -> list[Fields]:
        return [self._entry(entry) for _, entry in sorted(self.known.items())]

    @observable(of=lambda model: next(iter(model.catchup.values())) is not None)
    def catching_up(self) -> bool:
        return bool(self.seen.get("catching_up"))

    @observable
    def sent(self) -> list[Fields]:
        return self.sent_now

    @observable(of=lambda model: [])
    def strange_heartbeats(self) -> list[Fields]:
        return self.wrong_heartbeats


def name_of(server: Any) -> str | None:
    return None if server is None else repr(server)


def shown(entry: Any) -> Fields:
    return {
        "term": entry.term, "commit": entry.commit, "write": entry.write, "successor": name_of(entry.successor),
    }
