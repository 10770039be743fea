"""What pre-votes are for (Raft, section 9.6; begin with model/etcd_raft/raft.py)."""

from __future__ import annotations

from floodmark import implies, transition
from model.etcd_raft.raft import EtcdRaft, Node, Role


@transition
def candidates_won_pre_votes(old: EtcdRaft, new: EtcdRaft) -> bool:
    """Only a node that a quorum would elect begins a term, so one that is cut off disturbs nobody."""
    return all(
        implies(
            new.role[node] == Role.CANDIDATE and new.term[node] > old.term[node],
            old.role[node] == Role.PRE_CANDIDATE and new.is_quorum(old.config[node], old.granted[node]),
        )
        for node in Node
    )
