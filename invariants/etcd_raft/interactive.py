"""What must hold of storage that writes later. Begin with raft.py."""

from __future__ import annotations

from floodmark import Set, implies, invariant
from model.etcd_raft.interactive import InteractiveRaft
from model.etcd_raft.raft import Node, Role


@invariant
def committed_is_stored(model: InteractiveRaft) -> bool:
    """What a leader commits in its term is on the disks of a quorum, so that a crash of all nodes does not lose it."""
    return all(
        implies(
            model.role[leader] == Role.LEADER and model.term_at(leader, model.commit[leader]) == model.term[leader],
            model.is_quorum(model.config[leader], Set([
                node for node in Node
                if model.stored_log[node][: model.commit[leader]] == model.log[leader][: model.commit[leader]]
            ])),
        )
        for leader in Node
    )
