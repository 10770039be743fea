"""What must hold of HashiCorp's Raft (Raft, section 5.4.3; begin with model/hashicorp_raft/raft.py). Start here."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model.hashicorp_raft.raft import HashicorpRaft, Role, Server


@transition
def election_safety(old: HashicorpRaft, new: HashicorpRaft) -> bool:
    """Each term has one leader, ever."""
    return all(
        old.elected[term] is None or new.elected[term] == old.elected[term] for term in range(new.max_term + 1)
    )


@invariant
def committed_logs_agree(model: HashicorpRaft) -> bool:
    """Two servers have the same entries up to what both have committed (State Machine Safety)."""
    return all(
        model.log[one][: min(model.commit[one], model.commit[other])]
        == model.log[other][: min(model.commit[one], model.commit[other])]
        for one in Server
        for other in Server
    )


@invariant
def leader_has_committed(model: HashicorpRaft) -> bool:
    """A leader whose term nobody has passed has all that is committed anywhere (Leader Completeness)."""
    return all(
        implies(
            model.role[leader] == Role.LEADER and all(model.term[server] <= model.term[leader] for server in Server),
            model.log[leader][: model.commit[server]] == model.log[server][: model.commit[server]],
        )
        for leader in Server
        for server in Server
    )


@transition
def committed_entries_stay(old: HashicorpRaft, new: HashicorpRaft) -> bool:
    """A server never replaces an entry that it has committed."""
    return all(new.log[server][: old.commit[server]] == old.log[server][: old.commit[server]] for server in Server)


@reachable
def second_leader_commits(model: HashicorpRaft) -> bool:
    """A leader of the last term commits."""
    return any(
        model.role[server] == Role.LEADER and model.term[server] == model.max_term and model.commit[server] > 1
        for server in Server
    )
