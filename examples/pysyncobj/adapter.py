"""How the model's actions are carried out in a cluster of real nodes, and what is compared with the model."""

from __future__ import annotations

import pickle
from typing import Any, ClassVar

from cluster import ELECTION, HEARTBEAT, STEP_DOWN, Cluster
from library import library

from floodmark.conformance import Adapter, observable

ROLES = ("FOLLOWER", "CANDIDATE", "LEADER")


class ClusterAdapter(Adapter):
    """Three nodes, or as many as the model has, of the release in ``folder``."""

    folder: ClassVar[str | None] = None

    def __init__(self, start: Any) -> None:
        self.names = [repr(node) for node in start.role]
        self.cluster = Cluster(library(self.folder), self.names, start.batch_size, start.write_size)
        self.writes = 0

    def close(self) -> None:
        self.cluster.close()

    # What nodes and their environment do.

    def message_arrives(self, source: Any, destination: Any) -> None:
        self.cluster.deliver(repr(source), repr(destination))

    def election_times_out(self, node: Any) -> None:
        self.cluster.tick(repr(node), 3 * ELECTION)

    def leader_ticks(self, leader: Any, writes: bool, sends: bool) -> None:
        if writes:
            self.writes += 1
            self.cluster.put(repr(leader), self.writes)
        self.cluster.tick(repr(leader), 2 * HEARTBEAT if sends else 0.0)

    def leader_steps_down(self, leader: Any) -> None:
        self.cluster.tick(repr(leader), 2 * STEP_DOWN)

    def connection_breaks(self, ends: Any) -> None:
        self.cluster.disconnect(*(repr(end) for end in ends))

    def connection_returns(self, ends: Any) -> None:
        self.cluster.connect(*(repr(end) for end in ends))

    def node_restarts(self, node: Any) -> None:
        self.cluster.restart(repr(node))

    # What is observed.

    def of_each(self, attribute: str) -> dict[str, Any]:
        return {name: self.cluster.private(name, attribute) for name in self.names}

    @observable
    def role(self) -> dict[str, str]:
        return {name: ROLES[state] for name, state in self.of_each("raftState").items()}

    @observable
    def term(self) -> dict[str, int]:
        return self.of_each("raftCurrentTerm")

    @observable
    def voted(self) -> dict[str, str | None]:
        return self.of_each("votedForNodeId")

    @observable
    def votes(self) -> dict[str, int]:
        role = self.role()
        return {name: count if role[name] == "CANDIDATE" else 0 for name, count in self.of_each("votesCount").items()}

    @observable
    def logs(self) -> dict[str, list[dict[str, int]]]:
        return {name: [entry(*it) for it in log[:]] for name, log in self.of_each("raftLog").items()}

    @observable
    def commit(self) -> dict[str, int]:
        return self.of_each("raftCommitIndex")

    @observable
    def applied(self) -> dict[str, int]:
        return self.of_each("raftLastApplied")

    @observable
    def stored_commit(self) -> dict[str, int]:
        stored = {name: log._FileJournal__metaStorer.getMeta() for name, log in self.of_each("raftLog").items()}
        return {name: meta.get("raftCommitIndex", 1) for name, meta in stored.items()}

    def indexes(self, attribute: str) -> dict[str, dict[str, int]]:
        role = self.role()
        return {
            name: {
                other: known.get(self.cluster.library.node.Node(other), 0) if role[name] == "LEADER" else 0
                for other in self.names
            }
            for name, known in self.of_each(attribute).items()
        }

    @observable
    def next_index(self) -> dict[str, dict[str, int]]:
        return self.indexes("raftNextIndex")

    @observable
    def match_index(self) -> dict[str, dict[str, int]]:
        return self.indexes("raftMatchIndex")

    @observable
    def waiting(self) -> dict[str, set[int]]:
        return self.cluster.waiting

    @observable
    def acknowledged(self) -> set[int]:
        return {write for _, write, reason in self.cluster.answers if reason == 0}

    @observable
    def connected(self) -> dict[str, set[str]]:
        seen = self.of_each("connectedNodes")
        return {name: {other.id for other in others} for name, others in seen.items()}

    @observable
    def links(self) -> dict[str, dict[str, list[dict[str, Any]]]]:
        return {
            name: {
                other: [as_message(pickle.loads(it)) for it in self.cluster.links.get((name, other), ())]
                for other in self.names
            }
            for name in self.names
        }


def entry(command: bytes, index: int, term: int) -> dict[str, int]:
    """An entry as the model represents it: the number of the write, 0 for a no-op."""
    return {"term": term, "write": 0 if command[0] == 1 else pickle.loads(command[1:])[1][0]}


def as_message(sent: dict[str, Any]) -> dict[str, Any]:
    """A message as the model represents it."""
    index = sent.get("prevLogIdx", sent.get("next_node_idx", sent.get("last_log_index")))
    return {
        "kind": sent["type"].upper(),
        "term": sent.get("term", 0),
        "index": index or 0,
        "log_term": sent.get("prevLogTerm", sent.get("last_log_term")) or 0,
        "commit": sent.get("commit_index", 0),
        "entries": [entry(*it) for it in sent.get("entries", ())],
        "reset": sent.get("reset", False),
        "success": sent.get("success", False),
    }
