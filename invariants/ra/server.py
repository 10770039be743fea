"""What must hold of Ra (model/ra/server.py). Start here. one_stops.py says that a leader is elected."""

from __future__ import annotations

from floodmark import implies, invariant, transition
from model.ra.server import Ra, Role, Server


def leads(state: Ra, server: Server) -> bool:
    return state.role[server] == Role.LEADER


def leads_newest_term(state: Ra, server: Server) -> bool:
    return leads(state, server) and all(
        state.elected[term] is None or term <= state.term[server] for term in range(state.max_term + 1)
    )


@invariant
def election_safety(state: Ra) -> bool:
    """A term has one leader."""
    return all(implies(leads(state, server), state.elected[state.term[server]] == server) for server in Server)


@invariant
def log_matching(state: Ra) -> bool:
    """Logs that have an entry of the same index and term are the same up to there."""
    return all(
        implies(
            index < len(state.logs[one]) and index < len(state.logs[other])
            and state.logs[one][index].term == state.logs[other][index].term,
            state.logs[one][: index + 1] == state.logs[other][: index + 1],
        )
        for one in Server
        for other in Server
        if one != other
        for index in range(state.max_log)
    )


@invariant
def leader_has_what_is_committed(state: Ra) -> bool:
    """Leader completeness: whoever leads the newest term has every entry that a leader ever called committed."""
    return all(
        implies(
            leads_newest_term(state, server), state.logs[server][: len(state.committed)] == state.committed
        )
        for server in Server
    )


@invariant
def leader_has_what_is_acknowledged(state: Ra) -> bool:
    """No write is lost of which a client was told that it succeeded."""
    return all(
        implies(
            write in state.acknowledged and leads_newest_term(state, server),
            any(entry.write == write for entry in state.logs[server]),
        )
        for server in Server
        for write in range(1, state.max_writes + 1)
    )


@invariant
def only_committed_entries_are_applied(state: Ra) -> bool:
    """State machine safety: a server applies what a leader has called committed, in its order."""
    return all(
        state.machine[server] == state.committed[: len(state.machine[server])] for server in Server
    )


@invariant
def majority_has_stored_what_is_committed(state: Ra) -> bool:
    """A leader calls committed what is on the disks of a majority."""
    return implies(
        len(state.committed) > 0,
        2 * sum(1 for server in Server if state.stored[server][: len(state.committed)] == state.committed)
        > state.servers,
    )


@invariant
def match_index_is_on_disk(state: Ra) -> bool:
    """The leader of the newest term counts no entry for a peer that does not have it on disk."""
    return all(
        implies(
            leads_newest_term(state, server) and peer != server,
            len(state.stored[peer]) >= state.match_index[server][peer]
            and state.stored[peer][: state.match_index[server][peer]]
            == state.logs[server][: state.match_index[server][peer]],
        )
        for server in Server
        for peer in Server
    )


@invariant
def last_written_is_on_disk(state: Ra) -> bool:
    """What a server takes for written is on its disk."""
    return all(
        implies(
            state.role[server] != Role.CRASHED,
            state.logs[server][: state.written[server].index] == state.stored[server][: state.written[server].index],
        )
        for server in Server
    )


@invariant
def nobody_crashes(state: Ra) -> bool:
    return all(state.role[server] != Role.CRASHED for server in Server)


@transition
def commit_index_never_decreases(before: Ra, after: Ra) -> bool:
    """But in a restart."""
    return all(implies(before.restarts == after.restarts, before.commit[it] <= after.commit[it]) for it in Server)


@transition
def applied_entries_stay(before: Ra, after: Ra) -> bool:
    """Nobody replaces in its log what it has applied."""
    return all(
        implies(
            before.restarts == after.restarts and after.role[it] != Role.CRASHED,
            after.logs[it][: before.applied[it]] == before.logs[it][: before.applied[it]],
        )
        for it in Server
    )


@transition
def match_index_never_decreases(before: Ra, after: Ra) -> bool:
    """As long as a leader leads its term."""
    return all(
        implies(
            leads(before, server) and leads(after, server) and before.term[server] == after.term[server],
            before.match_index[server][peer] <= after.match_index[server][peer],
        )
        for server in Server
        for peer in Server
    )


@transition
def term_never_decreases(before: Ra, after: Ra) -> bool:
    return all(before.term[server] <= after.term[server] for server in Server)


@transition
def vote_is_given_once(before: Ra, after: Ra) -> bool:
    """Who has voted for another in a term votes for nobody else in it. A server may take its vote back for itself."""
    return all(
        implies(
            before.term[it] == after.term[it] and before.voted[it] is not None and after.voted[it] is not None,
            after.voted[it] == before.voted[it] or after.voted[it] == it,
        )
        for it in Server
    )
