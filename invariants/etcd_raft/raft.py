"""What must hold of etcd's Raft (Raft, section 5.4.3; begin with model/etcd_raft/raft.py). Start here.

pre_vote.py has what holds only with pre-votes, interactive.py what holds of storage that writes later.
"""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model.etcd_raft.raft import EtcdRaft, Node, Role


@transition
def election_safety(old: EtcdRaft, new: EtcdRaft) -> bool:
    """Each term has one leader, ever."""
    return all(
        old.elected[term] is None or new.elected[term] == old.elected[term] for term in range(new.max_term + 1)
    )


@invariant
def committed_logs_agree(model: EtcdRaft) -> bool:
    """Two nodes have the same entries up to what both have committed (State Machine Safety)."""
    return all(
        model.log[one][: min(model.commit[one], model.commit[other])]
        == model.log[other][: min(model.commit[one], model.commit[other])]
        for one in Node
        for other in Node
    )


@invariant
def leader_has_committed(model: EtcdRaft) -> bool:
    """A leader whose term nobody has passed has all that is committed anywhere (Leader Completeness)."""
    return all(
        implies(
            model.role[leader] == Role.LEADER and all(model.term[node] <= model.term[leader] for node in Node),
            model.log[leader][: model.commit[node]] == model.log[node][: model.commit[node]],
        )
        for leader in Node
        for node in Node
    )


@invariant
def log_matching(model: EtcdRaft) -> bool:
    """Logs that have an entry of the same index and term agree up to it."""
    return all(
        implies(
            index <= len(model.log[one])
            and index <= len(model.log[other])
            and model.term_at(one, index) == model.term_at(other, index),
            model.log[one][:index] == model.log[other][:index],
        )
        for one in Node
        for other in Node
        for index in range(1, model.max_log + 1)
    )


@transition
def votes_go_to_good_logs(old: EtcdRaft, new: EtcdRaft) -> bool:
    """A candidate that gets a vote has at least the voter's log (Raft, section 5.4.1)."""
    return all(
        implies(
            new.vote[voter] == candidate and old.vote[voter] != candidate and new.role[candidate] == Role.CANDIDATE,
            new.last_term(candidate) > new.last_term(voter)
            or (
                new.last_term(candidate) == new.last_term(voter)
                and len(new.log[candidate]) >= len(new.log[voter])
            ),
        )
        for voter in Node
        for candidate in Node
    )


@invariant
def acknowledged_is_held(model: EtcdRaft) -> bool:
    """What a leader counts as copied is in the log of the node that acknowledged it, while that is in its term."""
    return all(
        implies(
            model.role[leader] == Role.LEADER and model.term[node] == model.term[leader],
            model.match[leader][node] <= len(model.log[node])
            and model.log[node][: model.match[leader][node]] == model.log[leader][: model.match[leader][node]],
        )
        for leader in Node
        for node in Node
    )


@transition
def leaders_are_voters(old: EtcdRaft, new: EtcdRaft) -> bool:
    """Only a voter is elected."""
    return all(
        implies(
            new.role[node] == Role.LEADER and old.role[node] != Role.LEADER,
            node in old.config[node].incoming | old.config[node].outgoing,
        )
        for node in Node
    )


@transition
def committed_entries_stay(old: EtcdRaft, new: EtcdRaft) -> bool:
    """A node never replaces an entry that it has committed."""
    return all(new.log[node][: old.stored_commit[node]] == old.log[node][: old.stored_commit[node]] for node in Node)


@transition
def stored_terms_never_fall(old: EtcdRaft, new: EtcdRaft) -> bool:
    """What a node has stored of its term and vote it never takes back."""
    return all(
        old.stored_term[node] < new.stored_term[node]
        or (
            old.stored_term[node] == new.stored_term[node]
            and (old.stored_vote[node] is None or new.stored_vote[node] == old.stored_vote[node])
        )
        for node in Node
    )


@invariant
def nobody_panics(model: EtcdRaft) -> bool:
    """No node is in a state in which etcd panics: it commits an entry that it does not have, or cuts off a committed
    one."""
    return not model.panicked


@invariant
def terms_bound_commits(model: EtcdRaft) -> bool:
    """What is committed is in the log."""
    return all(model.commit[node] <= len(model.log[node]) for node in Node)


@reachable
def second_leader_commits(model: EtcdRaft) -> bool:
    """A leader after the first commits an entry of its own."""
    return any(
        model.role[node] == Role.LEADER
        and model.term[node] == model.max_term
        and model.commit[node] == model.max_log
        for node in Node
    )
