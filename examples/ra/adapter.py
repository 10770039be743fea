"""How the model's actions are carried out by servers of Ra, and what is compared with the model after every step."""

from __future__ import annotations

from typing import Any

from cluster import Seen, bridge

from floodmark.conformance import Adapter, observable

Values = dict[str, Any]


class RaAdapter(Adapter):
    """As many servers as the model has, all in the one process of Erlang."""

    def __init__(self, start: Any) -> None:
        self.names = [repr(server) for server in start.role]
        self.writes = 0
        self.steps: list[tuple[Any, ...]] = []
        """What the servers were told to do, in the bridge's words."""
        self.seen = bridge().ask(("start", self.names))

    def take(self, *step: Any) -> None:
        self.steps.append(step)
        self.seen = bridge().ask(("take", step))

    # What servers and their environment do.

    def message_arrives(self, source: Any, destination: Any) -> None:
        self.take("deliver", repr(source), repr(destination))

    def message_is_lost(self, source: Any, destination: Any) -> None:
        self.take("lose", repr(source), repr(destination))

    def election_times_out(self, server: Any) -> None:
        self.take("event", repr(server), "election_timeout")

    def patience_ends(self, server: Any) -> None:
        self.take("event", repr(server), "await_condition_timeout")

    def command_arrives(self, server: Any) -> None:
        self.writes += 1
        self.take("command", repr(server), self.writes)

    def low_priority_command_arrives(self, server: Any) -> None:
        self.writes += 1
        self.take("commands", repr(server), [self.writes])

    def leader_ticks(self, server: Any) -> None:
        self.take("tick", repr(server))

    def link_is_busy(self, server: Any, peer: Any) -> None:
        self.take("status", repr(server), repr(peer), "suspended")

    def link_is_free(self, server: Any, peer: Any) -> None:
        self.take("status", repr(server), repr(peer), "normal")

    def wal_writes(self, server: Any) -> None:
        self.take("flush", repr(server))

    def server_restarts(self, server: Any) -> None:
        self.take("restart", repr(server))

    def server_stops(self, server: Any) -> None:
        self.take("stop", repr(server))

    # What is observed. What only some roles use is compared in these roles; of a crashed server, what
    # is on disk.

    def of_each(self, value: Any) -> Values:
        return {name: value(seen) for name, seen in zip(self.names, self.seen.servers, strict=True)}

    @observable
    def role(self) -> Values:
        return self.of_each(lambda seen: seen.role.upper())

    @observable
    def term(self) -> Values:
        return self.of_each(lambda seen: seen.term)

    @observable
    def voted(self) -> Values:
        return self.alive(lambda seen: seen.voted_for, None)

    @observable
    def stored_vote(self) -> Values:
        return self.of_each(lambda seen: seen.stored_vote)

    @observable
    def votes(self) -> Values:
        return self.of_each(lambda seen: seen.votes if seen.role in ("candidate", "pre_vote") else 0)

    @observable
    def leader(self) -> Values:
        return self.alive(lambda seen: seen.leader, None)

    @observable
    def logs(self) -> Values:
        return self.alive(lambda seen: [entry(*it) for it in seen.entries], [])

    @observable
    def written(self) -> Values:
        return self.alive(lambda seen: position(*seen.written), position(0, 0))

    @observable
    def commit(self) -> Values:
        return self.alive(lambda seen: seen.commit, 0)

    @observable
    def applied(self) -> Values:
        return self.alive(lambda seen: seen.applied, 0)

    @observable(of=lambda model: {
        repr(server): [entry.write for entry in model.machine[server] if entry.write != 0] for server in model.role
    })
    def done(self) -> Values:
        """The writes that the state machine has applied, in their order."""
        return self.alive(lambda seen: seen.done, [])

    @observable
    def waiting(self) -> Values:
        return self.of_each(lambda seen: [
            {"first": batch[0][0], "entries": [entry(*it) for _, it in batch]} for batch in seen.waiting
        ])

    @observable
    def stored(self) -> Values:
        return self.of_each(lambda seen: [entry(*it) for it in seen.stored])

    @observable
    def next_index(self) -> Values:
        return self.of_peers(0)

    @observable
    def match_index(self) -> Values:
        return self.of_peers(1)

    @observable
    def commit_sent(self) -> Values:
        return self.of_peers(2)

    @observable
    def suspended(self) -> Values:
        return {
            name: {other for other, peer in zip(self.names, seen.peers, strict=True)
                   if seen.role == "leader" and peer[3] == "suspended"}
            for name, seen in zip(self.names, self.seen.servers, strict=True)
        }

    @observable
    def links(self) -> Values:
        return {
            name: {other: [message(*it) for it in self.seen.links.get((name, other), ())] for other in self.names}
            for name in self.names
        }

    @observable
    def acknowledged(self) -> set[int]:
        return set(self.seen.replies)

    def alive(self, value: Any, otherwise: Any) -> Values:
        return self.of_each(lambda seen: otherwise if seen.role == "crashed" else value(seen))

    def of_peers(self, place: int) -> Values:
        def indexes(name: str, seen: Seen) -> Values:
            return {
                other: peer[place] if seen.role == "leader" and other != name else 0
                for other, peer in zip(self.names, seen.peers, strict=True)
            }

        return {name: indexes(name, seen) for name, seen in zip(self.names, self.seen.servers, strict=True)}


def entry(term: int, write: int) -> dict[str, int]:
    return {"term": term, "write": write}


def position(index: int, term: int) -> dict[str, int]:
    return {"index": index, "term": term}


def message(kind: str, term: int, *rest: Any) -> dict[str, Any]:
    """A message as the model has it."""
    found: dict[str, Any] = {
        "kind": kind.upper(), "term": term, "index": 0, "log_term": 0, "commit": 0, "entries": [], "next": 0,
        "success": False, "current": False,
    }
    names = {
        "append_entries_rpc": ("index", "log_term", "commit", "entries"),
        "append_entries_reply": ("success", "next", "index", "log_term"),
        "request_vote_rpc": ("index", "log_term"),
        "request_vote_result": ("success",),
        "pre_vote_rpc": ("current", "index", "log_term"),
        "pre_vote_result": ("current", "success"),
    }
    found.update(zip(names[kind], rest, strict=True))
    found["entries"] = [entry(*it) for it in found["entries"]]
    return found
