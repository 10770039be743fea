"""What must hold of JetStream's Raft (model/jetstream/raft.py)."""

from __future__ import annotations

from floodmark import implies, invariant, transition
from model.jetstream.raft import Inbox, JetStreamRaft, Kind, Message, Role, Server


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


# What servers and the network remember.


ENTRIES = (Kind.APPEND_ENTRY, Kind.CATCHUP_ENTRY)


def wait_together(one: Message, other: Message) -> bool:
    """On one connection, in one queue of its receiver."""
    return (
        one.source == other.source and one.destination == other.destination
        and (one.kind == other.kind or (one.kind in ENTRIES and other.kind in ENTRIES))
    )


@invariant
def queues_have_no_gaps(state: JetStreamRaft) -> bool:
    """The messages of a queue are numbered from 0."""
    return all(
        sum(1 for other in state.network if wait_together(other, message) and other.order <= message.order)
        == message.order + 1
        for message in state.network
    )


@invariant
def messages_are_of_their_senders(state: JetStreamRaft) -> bool:
    """Who asks for votes has stood in that term, who grants one has stored it, entries are the leader's of a term, and
    only who refuses entries asks for others. Nobody sends to itself."""
    return all(
        message.source != message.destination
        and implies(message.kind == Kind.VOTE_REQUEST, message.term <= state.term[message.source])
        and implies(
            message.kind == Kind.VOTE_RESPONSE and message.success,
            state.term[message.source] > message.term
            or (state.term[message.source] == message.term and state.vote[message.source] == message.destination),
        )
        and implies(
            message.kind in ENTRIES, state.elected[message.term] == message.source
        )
        and implies(
            message.inbox != Inbox.NONE, message.kind == Kind.APPEND_ENTRY_RESPONSE and not message.success
        )
        for message in state.network
    )


@invariant
def only_who_catches_up_has_an_inbox(state: JetStreamRaft) -> bool:
    """Nothing is on its way to the inbox of a server that does not ask for entries, or listens no more."""
    return all(
        implies(message.kind == Kind.CATCHUP_ENTRY, state.catchup[message.destination] is not None)
        and implies(message.inbox == Inbox.OPEN, state.catchup[message.source] is not None)
        for message in state.network
    )


@invariant
def only_followers_catch_up(state: JetStreamRaft) -> bool:
    return all(implies(state.catchup[server] is not None, state.role[server] == Role.FOLLOWER) for server in Server)


@invariant
def who_stands_votes_for_itself(state: JetStreamRaft) -> bool:
    """Also a leader; it knows itself, and a candidate knows no leader."""
    return all(
        implies(
            state.role[server] != Role.FOLLOWER,
            state.vote[server] == server
            and state.leader[server] == (server if state.role[server] == Role.LEADER else None),
        )
        for server in Server
    )


@invariant
def terms_begin_when_timers_end(state: JetStreamRaft) -> bool:
    return all(state.term[server] <= state.timeouts + 1 for server in Server)


def has_vote_of(state: JetStreamRaft, server: Server, voter: Server) -> bool:
    """The voter has voted for the server in its term, unless it is in a later one."""
    return state.term[voter] > state.term[server] or (
        state.term[voter] == state.term[server] and state.vote[voter] == server
    )


@invariant
def votes_are_for_who_stood(state: JetStreamRaft) -> bool:
    """Whom a server has voted for in its term has voted for itself in that term."""
    return all(
        implies(
            state.vote[voter] == server,
            state.term[server] > state.term[voter]
            or (state.term[server] == state.term[voter] and state.vote[server] == server),
        )
        for server in Server
        for voter in Server
    )


@invariant
def votes_were_given(state: JetStreamRaft) -> bool:
    """A candidate counts itself and others that have voted for it, and leads as soon as they are a majority."""
    return all(
        (
            server in state.votes[server]
            and 2 * len(state.votes[server]) <= state.servers
            and all(has_vote_of(state, server, voter) for voter in state.votes[server])
            if state.role[server] == Role.CANDIDATE
            else len(state.votes[server]) == 0
        )
        for server in Server
    )


@invariant
def leader_has_votes_of_a_majority(state: JetStreamRaft) -> bool:
    return all(
        implies(
            state.role[server] == Role.LEADER,
            2 * sum(1 for voter in Server if has_vote_of(state, server, voter)) > state.servers,
        )
        for server in Server
    )


@invariant
def what_is_confirmed_is_there(state: JetStreamRaft) -> bool:
    """A leader counts, for what is not committed, who has its entry of this index and has not entered a later term
    since. Nobody else counts."""
    return all(
        implies(
            peer in state.acks[server][index],
            state.role[server] == Role.LEADER and peer != server and index > state.commit[server]
            and (
                state.term[peer] > state.term[server]
                or state.log[peer][:index] == state.log[server][:index]
            ),
        )
        for server in Server
        for peer in Server
        for index in range(state.max_log + 1)
    )


@invariant
def only_leaders_wait_to_serve(state: JetStreamRaft) -> bool:
    return all(implies(state.role[server] != Role.LEADER, state.floor[server] == 0) for server in Server)


@invariant
def what_is_committed_was_by_a_leader(state: JetStreamRaft) -> bool:
    """A server takes for committed what it has in its log and what a leader has committed."""
    return all(
        0 < state.commit[server] <= len(state.log[server])
        and state.log[server][: state.commit[server]] == state.committed[: state.commit[server]]
        for server in Server
    )


@invariant
def what_is_acknowledged_is_committed(state: JetStreamRaft) -> bool:
    """And 0 is no write."""
    return 0 not in state.acknowledged and all(
        implies(write in state.acknowledged, any(entry.write == write for entry in state.committed))
        for write in range(1, state.max_writes + 1)
    )


@invariant
def entries_are_of_terms_so_far(state: JetStreamRaft) -> bool:
    """Terms of a log do not decrease, and its server has entered the last of them."""
    return all(
        index >= len(state.log[server])
        or state.log[server][index].term <= (
            state.log[server][index + 1].term if index + 1 < len(state.log[server]) else state.term[server]
        )
        for server in Server
        for index in range(state.max_log)
    )


@invariant
def known_leader_was_elected(state: JetStreamRaft) -> bool:
    return all(
        implies(
            state.leader[server] is not None,
            any(state.elected[term] == state.leader[server] and term <= state.term[server]
                for term in range(state.max_term + 1)),
        )
        for server in Server
    )


@invariant
def entries_tell_what_was_committed_before(state: JetStreamRaft) -> bool:
    """The commit index that an entry carries is that of an entry before it, but for the snapshot's."""
    return all(
        index >= len(state.log[server]) or state.log[server][index].commit <= index
        for server in Server
        for index in range(1, state.max_log)
    )


# What steps change.


@transition
def timers_end_as_the_role_says(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """A leader has no election timer; a server stands unless it catches up, and gives that up without progress."""
    return before.timeouts == after.timeouts or any(
        before.role[server] != Role.LEADER
        and all(other == server or before.term[other] == after.term[other] for other in Server)
        and stands_or_looks_at_progress(before, after, server)
        for server in Server
    )


def stands_or_looks_at_progress(before: JetStreamRaft, after: JetStreamRaft, server: Server) -> bool:
    catchup, later = before.catchup[server], after.catchup[server]
    if catchup is None:
        return after.role[server] == Role.CANDIDATE and after.term[server] == before.term[server] + 1
    if catchup.seen == len(before.log[server]):
        return later is None
    return later is not None and later.seen == len(before.log[server])


@transition
def one_message_is_lost(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    return before.losses == after.losses or len(after.network) + 1 == len(before.network)


@transition
def only_inboxes_are_emptied(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """Of all else a step takes one message, unless a server restarts."""
    return before.restarts != after.restarts or (
        sum(1 for message in before.network if message.kind != Kind.CATCHUP_ENTRY)
        <= sum(1 for message in after.network if message.kind != Kind.CATCHUP_ENTRY) + 1
    )


@transition
def heartbeats_are_sent(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """Unless the network is full."""
    return (
        before.heartbeats == after.heartbeats or len(before.network) == before.in_flight
        or len(after.network) > len(before.network)
    )


@transition
def clients_are_served_after_the_first_entry(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """A leader takes a write once it has committed an entry of its term."""
    return before.writes == after.writes or any(
        before.role[server] == Role.LEADER and len(after.log[server]) == len(before.log[server]) + 1
        and before.log[server][before.commit[server] - 1].term == before.term[server]
        and after.log[server][len(before.log[server])].write == after.writes
        for server in Server
    )


@transition
def leader_that_hands_over_follows(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """Its last entry names another server."""
    return before.transfers == after.transfers or any(
        before.role[server] == Role.LEADER and after.role[server] == Role.FOLLOWER and after.leader[server] is None
        and len(after.log[server]) == len(before.log[server]) + 1
        and after.log[server][len(before.log[server])].successor not in (None, server)
        for server in Server
    )


@transition
def restarted_server_has_what_is_on_disk(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """Term, vote and log, and of the commit index what the entries say. What was sent to it is lost."""
    return before.restarts == after.restarts or any(
        after.role[server] == Role.FOLLOWER and after.leader[server] is None and after.catchup[server] is None
        and after.term[server] == before.term[server] and after.vote[server] == before.vote[server]
        and after.log[server] == before.log[server]
        and after.commit[server] == max((entry.commit for entry in after.log[server]), default=0)
        and all(message.destination != server for message in after.network)
        and all(
            message in after.network
            for message in before.network
            if message.destination != server and message.source != server
        )
        for server in Server
    )


@transition
def who_takes_new_entries_knows_the_leader(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """A server that does not catch up takes entries from the leader, or is the leader."""
    return all(
        implies(
            before.catchup[server] is None and len(after.log[server]) > len(before.log[server])
            and before.transfers == after.transfers,
            after.leader[server] is not None,
        )
        for server in Server
    )


def has_caught_up(state: JetStreamRaft, server: Server) -> bool:
    catchup, log = state.catchup[server], state.log[server]
    return catchup is not None and len(log) >= catchup.index and log[len(log) - 1].term >= catchup.term


@transition
def catching_up_takes_from_the_inbox(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """It goes on as long as what was asked for is not there; new entries wait until then."""
    return all(
        implies(
            before.catchup[server] is not None and len(after.log[server]) > len(before.log[server]),
            has_caught_up(before, server)
            if after.catchup[server] is None
            else after.catchup[server] == before.catchup[server] and not has_caught_up(before, server)
            and any(
                message.kind == Kind.CATCHUP_ENTRY and message.destination == server and message.order == 0
                for message in before.network
            ),
        )
        for server in Server
    )


@transition
def new_entries_do_not_end_catching_up(before: JetStreamRaft, after: JetStreamRaft) -> bool:
    """Only its end, a timer, a later term, a restart, or what comes on the inbox does."""
    return all(
        implies(
            before.catchup[server] is not None and after.catchup[server] is None,
            has_caught_up(before, server) or before.term[server] < after.term[server]
            or before.timeouts < after.timeouts or before.restarts < after.restarts
            or any(
                message.kind == Kind.CATCHUP_ENTRY and message.destination == server and message.order == 0
                for message in before.network
            ),
        )
        for server in Server
    )
