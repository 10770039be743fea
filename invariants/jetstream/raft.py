"""What must hold of JetStream's Raft (model/jetstream/raft.py)."""

from __future__ import annotations

from floodmark import implies, invariant, transition
from model.jetstream.raft import JetStreamRaft, Role, Server


def leads_newest_term(state: JetStreamRaft, server: Server) -> bool:
    return state.role[server] == Role.LEADER and all(
        state.elected[term] is None or term <= state.term[server] for term in range(state.max_term + 1)
    )


@invariant
def election_safety(state: JetStreamRaft) -> bool:
    """A term has one leader."""
    return all(
        implies(state.role[server] == Role.LEADER, state.elected[state.term[server]] == server) for server in Server
    )


@invariant
def log_matching(state: JetStreamRaft) -> bool:
    """Logs that have an entry of the same index and term are the same up to there."""
    return all(
        implies(
            index < len(state.log[one]) and index < len(state.log[other])
            and state.log[one][index].term == state.log[other][index].term,
            state.log[one][: index + 1] == state.log[other][: index + 1],
        )
        for one in Server
        for other in Server
        if one != other
        for index in range(state.max_log)
    )


@invariant
def leader_has_what_is_committed(state: JetStreamRaft) -> bool:
    """Leader completeness: whoever leads the newest term has every entry that a leader ever committed."""
    return all(
        implies(leads_newest_term(state, server), state.log[server][: len(state.committed)] == state.committed)
        for server in Server
    )


@invariant
def leader_has_what_is_acknowledged(state: JetStreamRaft) -> bool:
    """No write is lost of which a client was told that it succeeded."""
    return all(
        implies(
            write in state.acknowledged and leads_newest_term(state, server),
            any(entry.write == write for entry in state.log[server]),
        )
        for server in Server
        for write in range(1, state.max_writes + 1)
    )


@invariant
def only_committed_entries_are_applied(state: JetStreamRaft) -> bool:
    """State machine safety: what two servers apply at an index is the same."""
    return all(
        state.log[one][: min(state.commit[one], state.commit[other])]
        == state.log[other][: min(state.commit[one], state.commit[other])]
        for one in Server
        for other in Server
        if one != other
    )


@invariant
def majority_has_what_is_committed(state: JetStreamRaft) -> bool:
    """An entry that a leader has committed is in the logs of a majority."""
    return implies(
        len(state.committed) > 0,
        2 * sum(1 for server in Server if state.log[server][: len(state.committed)] == state.committed)
        > state.servers,
    )


@invariant
def majority_has_what_is_acknowledged(state: JetStreamRaft) -> bool:
    """A write of which a client was told that it succeeded is in the logs of a majority."""
    return all(
        implies(
            write in state.acknowledged,
            2 * sum(1 for server in Server if any(entry.write == write for entry in state.log[server]))
            > state.servers,
        )
        for write in range(1, state.max_writes + 1)
    )


@transition
def leader_commits_its_own_term(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """A leader commits entries of earlier terms together with one of its own only (Raft, 5.4.2)."""
    return all(
        implies(
            before.role[server] == Role.LEADER and after.role[server] == Role.LEADER
            and before.commit[server] < after.commit[server],
            after.log[server][after.commit[server] - 1].term == after.term[server],
        )
        for server in Server
    )


@transition
def term_never_decreases(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    return all(before.term[server] <= after.term[server] for server in Server)


@transition
def vote_is_given_once(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """A server keeps its vote as long as it is in the same term."""
    return all(
        implies(
            before.term[server] == after.term[server] and before.vote[server] is not None,
            after.vote[server] == before.vote[server],
        )
        for server in Server
    )


@transition
def committed_entries_stay(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """Nobody replaces in its log what it has applied."""
    return all(
        implies(
            before.restarts == after.restarts,
            after.log[server][: before.commit[server]] == before.log[server][: before.commit[server]],
        )
        for server in Server
    )


@transition
def commit_index_never_decreases(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """But in a restart."""
    return all(
        implies(before.restarts == after.restarts, before.commit[server] <= after.commit[server]) for server in Server
    )
