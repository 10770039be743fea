"""HashiCorp's Raft: the library github.com/hashicorp/raft, as its recorded runs log it.

Start here. The names of methods are those of ``raft.go``, ``replication.go`` and ``commitment.go``. What runs beside
the main loop of a server, in goroutines of their own, are steps of their own: a candidate asks others before it has
stored its own vote, an answer counts before the leader's main loop looks at its commit index, and a heartbeat carries
neither entries nor a commit index. The network loses messages and delivers them in any order. Nothing has a clock.
``specs/hashicorp_raft/flawed.py`` has the known-bad designs.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import Bag, Between, Constant, Identifier, Map, Model, Record, Seq, Set, action, initial, require, rule


class Server(Identifier, count="servers", prefix="s"):
    """A voter of the first configuration."""


Term = Annotated[int, Between(0, "max_term")]
Index = Annotated[int, Between(0, "max_log")]
"""A position in the log; the first entry has index 1, and 0 is before it."""


class Entry(Record):
    """An entry of the log. What clients write is left out: a leader writes an index once in its term."""

    term: Term
    removed: Server | None
    """The server that a new configuration leaves out."""


Log = Seq[Entry]


class Role(Enum):
    """RaftState."""

    FOLLOWER = "Follower"
    CANDIDATE = "Candidate"
    LEADER = "Leader"


class Kind(Enum):
    """The requests of ``commands.go``, and their responses."""

    VOTE = "RequestVoteRequest"
    VOTE_RESPONSE = "RequestVoteResponse"
    APPEND = "AppendEntriesRequest"
    APPEND_RESPONSE = "AppendEntriesResponse"


class Message(Record):
    """A request or a response. Fields that its kind does not use are 0, empty or False."""

    kind: Kind
    source: Server
    destination: Server
    term: Term
    heartbeat: bool = False
    index: Index = 0
    """VOTE: the candidate's last index. APPEND: the index before the entries. Its response: the last index that it
    confirms."""
    log_term: Term = 0
    """The term of the entry at the index of a request."""
    entries: Log
    commit: Index = 0
    success: bool = False
    """Whether the vote is given, or the entries are appended."""


class HashicorpRaft(Model):
    """One group, and the messages between its servers."""

    servers = Constant(3)
    max_term = Constant(3)
    max_log = Constant(3)
    max_messages = Constant(3)
    max_restarts = Constant(0)
    removals = Constant(True)

    term: Map[Server, Term]
    vote: Map[Server, Server | None]
    """Whom a server has voted for in its term, on its disk (lastVoteTerm, lastVoteCand)."""
    role: Map[Server, Role]
    leader: Map[Server, Server | None]
    """The leader that a server knows."""
    log: Map[Server, Log]
    commit: Map[Server, Index]
    granted: Map[Server, Set[Server]]
    match: Map[Server, Map[Server, Index]]
    """How far a leader knows that each server has its log (commitment.matchIndexes)."""
    network: Bag[Message]
    restarts: Annotated[int, Between(0, "max_restarts")]

    elected: Map[Term, Server | None]
    """History: who became the leader of each term."""

    @initial
    def start(self) -> None:
        """BootstrapCluster: term 1, and one entry, which has the configuration."""
        self.term = Map({server: 1 for server in Server})
        self.vote = Map({server: None for server in Server})
        self.role = Map({server: Role.FOLLOWER for server in Server})
        self.leader = Map({server: None for server in Server})
        self.log = Map({server: Seq([Entry(term=1, removed=None)]) for server in Server})
        self.commit = Map({server: 0 for server in Server})
        self.granted = Map({server: Set() for server in Server})
        self.match = Map({server: Map({other: 0 for other in Server}) for server in Server})
        self.network = Bag()
        self.restarts = 0
        self.elected = Map({term: None for term in range(self.max_term + 1)})

    # The log and the configuration.

    def last_index(self, server: Server) -> Index:
        return len(self.log[server])

    def term_at(self, server: Server, index: Index) -> Term:
        """The term of an entry; 0 before the first and after the last."""
        return self.log[server][index - 1].term if index > 0 and index <= len(self.log[server]) else 0

    def last_term(self, server: Server) -> Term:
        return self.term_at(server, len(self.log[server]))

    def members(self, server: Server) -> Set[Server]:
        """The configuration that a server follows: the newest in its log (configurations.latest)."""
        return Set([other for other in Server if all(entry.removed != other for entry in self.log[server])])

    def is_quorum(self, server: Server, others: Set[Server]) -> bool:
        members = self.members(server)
        return 2 * len(others & members) > len(members)

    def send(self, message: Message) -> None:
        require(len(self.network) < self.max_messages)
        self.network.add(message)

    def follow(self, server: Server, leader: Server | None) -> None:
        self.role[server] = Role.FOLLOWER
        self.leader[server] = leader
        self.granted[server] = Set()
        self.match[server] = Map({other: 0 for other in Server})

    def enter_term(self, server: Server, term: Term) -> None:
        """setCurrentTerm; a vote of an earlier term does not count."""
        if term > self.term[server]:
            self.term[server] = term
            self.vote[server] = None

    # Elections.

    @action
    def stands(self, server: Server) -> None:
        """A timeout: begins a term and asks the others (electSelf, without its own vote)."""
        require(self.role[server] != Role.LEADER and self.term[server] < self.max_term)
        require(server in self.members(server))
        self.follow(server, None)
        self.role[server] = Role.CANDIDATE
        self.enter_term(server, self.term[server] + 1)
        for other in Server:
            if other != server and other in self.members(server):
                self.send(Message(
                    kind=Kind.VOTE, source=server, destination=other, term=self.term[server],
                    index=self.last_index(server), log_term=self.last_term(server), entries=Seq(),
                ))

    @action
    def votes_for_itself(self, server: Server) -> None:
        """electSelf stores the candidate's own vote (persistVote)."""
        require(self.role[server] == Role.CANDIDATE and self.vote[server] is None)
        self.vote[server] = server

    @action
    def counts_own_vote(self, server: Server) -> None:
        """runCandidate takes the candidate's own vote like those of others."""
        require(self.role[server] == Role.CANDIDATE and self.vote[server] == server)
        require(server not in self.granted[server])
        self.granted[server].add(server)

    @rule
    def can_vote(self, server: Server, candidate: Server) -> bool:
        return self.vote[server] is None or self.vote[server] == candidate

    @rule
    def is_up_to_date(self, voter: Server, index: Index, term: Term) -> bool:
        """A log that ends with this entry has at least what the voter's has."""
        return term > self.last_term(voter) or (term == self.last_term(voter) and index >= self.last_index(voter))

    @action
    def handles_vote_request(self, message: Message) -> None:
        """requestVote. A server that knows a leader refuses, and does not enter the term."""
        require(message in self.network and message.kind == Kind.VOTE)
        server = message.destination
        self.network.remove(message)
        granted = False
        if self.leader[server] is None or self.leader[server] == message.source:
            if message.term > self.term[server]:
                self.follow(server, self.leader[server])
                self.enter_term(server, message.term)
            granted = (
                message.term == self.term[server]
                and self.can_vote(server, message.source)
                and (
                    self.vote[server] == message.source
                    or self.is_up_to_date(server, message.index, message.log_term)
                )
            )
            if granted:
                self.vote[server] = message.source
        self.send(Message(
            kind=Kind.VOTE_RESPONSE, source=server, destination=message.source, term=self.term[server], entries=Seq(),
            success=granted,
        ))

    @action
    def handles_vote_response(self, message: Message) -> None:
        """runCandidate. A candidate that has lost waits for its timeout."""
        require(message in self.network and message.kind == Kind.VOTE_RESPONSE)
        server = message.destination
        self.network.remove(message)
        if self.role[server] == Role.CANDIDATE:
            if message.term > self.term[server]:
                self.follow(server, None)
                self.enter_term(server, message.term)
            elif message.success and message.term == self.term[server]:
                self.granted[server].add(message.source)

    @action
    def becomes_leader(self, server: Server) -> None:
        """runCandidate has a quorum of votes; runLeader begins."""
        require(self.role[server] == Role.CANDIDATE and self.is_quorum(server, self.granted[server]))
        self.follow(server, server)
        self.role[server] = Role.LEADER
        self.elected[self.term[server]] = server

    @action
    def steps_down(self, server: Server) -> None:
        """A leader has not reached a quorum in time (checkLeaderLease)."""
        require(self.role[server] == Role.LEADER)
        self.follow(server, None)

    # What a leader does.

    @action
    def leader_appends(self, leader: Server) -> None:
        """The first entry of a term, or a client's; it is stored at once (dispatchLogs)."""
        require(self.role[leader] == Role.LEADER)
        self.append(leader, None)

    @action
    def leader_removes(self, leader: Server, removed: Server) -> None:
        """A new configuration, which the leader follows at once (appendConfigurationEntry). It waits until the one
        before it, and an entry of the leader's own term, are committed (configurationChangeChIfStable)."""
        require(self.removals and self.role[leader] == Role.LEADER and removed in self.members(leader))
        require(self.term_at(leader, self.commit[leader]) == self.term[leader])
        require(all(entry.removed is None for entry in self.log[leader][self.commit[leader] :]))
        require(removed != leader)
        self.append(leader, removed)

    def append(self, leader: Server, removed: Server | None) -> None:
        require(self.last_index(leader) < self.max_log)
        self.log[leader].append(Entry(term=self.term[leader], removed=removed))
        self.match[leader][leader] = self.last_index(leader)

    @action
    def leader_replicates(self, leader: Server, to: Server, start: Index, count: Index, commit: Index) -> None:
        """Sends entries, or none (replicateTo, pipelineSend). The commit index may be one that has moved since."""
        require(self.role[leader] == Role.LEADER and to != leader)
        require(self.match[leader][to] <= start and start + count <= self.last_index(leader))
        require(commit <= self.commit[leader])
        self.send(Message(
            kind=Kind.APPEND, source=leader, destination=to, term=self.term[leader], index=start,
            log_term=self.term_at(leader, start), entries=self.log[leader][start : start + count], commit=commit,
        ))

    @action
    def leader_sends_heartbeat(self, leader: Server, to: Server) -> None:
        """A message without any index (heartbeat)."""
        require(self.role[leader] == Role.LEADER and to != leader)
        self.send(Message(
            kind=Kind.APPEND, source=leader, destination=to, term=self.term[leader], heartbeat=True, entries=Seq(),
        ))

    @action
    def leader_commits(self, leader: Server) -> None:
        """leaderLoop takes the commit index of the commitment, which has moved."""
        require(self.role[leader] == Role.LEADER)
        index = max(
            (self.match[leader][server] for server in Server if self.has_up_to(leader, self.match[leader][server])),
            default=0,
        )
        require(index > self.commit[leader] and self.may_commit(leader, index))
        self.commit[leader] = index

    def has_up_to(self, leader: Server, index: Index) -> bool:
        return self.is_quorum(leader, Set([server for server in Server if self.match[leader][server] >= index]))

    @rule
    def may_commit(self, leader: Server, index: Index) -> bool:
        """commitment.startIndex: only from the first entry of the leader's term on."""
        return self.term_at(leader, index) == self.term[leader]

    # Requests of a leader.

    @action
    def handles_append(self, message: Message) -> None:
        """appendEntries."""
        require(message in self.network and message.kind == Kind.APPEND)
        server = message.destination
        self.network.remove(message)
        success = False
        if message.term >= self.term[server]:
            if message.term > self.term[server] or self.role[server] != Role.FOLLOWER:
                self.follow(server, message.source)
                self.enter_term(server, message.term)
            self.leader[server] = message.source
            success = self.matches(server, message.index, message.log_term)
            if success:
                self.overwrite(server, message.index, message.entries)
                last = self.follower_commit(server, message)
                if last > self.commit[server]:
                    self.commit[server] = last
        self.send(Message(
            kind=Kind.APPEND_RESPONSE, source=server, destination=message.source, term=self.term[server],
            heartbeat=message.heartbeat, index=message.index + len(message.entries) if success else 0, entries=Seq(),
            success=success,
        ))

    @rule
    def follower_commit(self, server: Server, message: Message) -> Index:
        """What a request commits: no more than it has shown to match."""
        return min(message.commit, message.index + len(message.entries))

    def matches(self, server: Server, index: Index, term: Term) -> bool:
        return index == 0 or (index <= self.last_index(server) and self.term_at(server, index) == term)

    @rule
    def overwrite(self, server: Server, index: Index, entries: Log) -> None:
        """What conflicts with the entries is cut off; what is there already stays."""
        kept = 0
        for number, entry in enumerate(entries, 1):
            if not self.matches(server, index + number, entry.term):
                break
            kept = number
        if kept < len(entries):
            self.log[server] = self.log[server][: index + kept] + entries[kept:]

    @action
    def handles_append_response(self, message: Message) -> None:
        """updateLastAppended, or handleStaleTerm. A heartbeat's response changes nothing, whatever its term."""
        require(message in self.network and message.kind == Kind.APPEND_RESPONSE)
        leader = message.destination
        self.network.remove(message)
        if self.role[leader] == Role.LEADER and not message.heartbeat:
            if message.term > self.term[leader]:
                self.follow(leader, None)
                self.enter_term(leader, message.term)
            elif message.success and message.term == self.term[leader]:
                self.match[leader][message.source] = max(self.match[leader][message.source], message.index)

    @action
    def network_loses(self, message: Message) -> None:
        require(message in self.network)
        self.network.remove(message)

    @action
    def restarts_from_disk(self, server: Server) -> None:
        """A server crashes. Its term, its vote and its log are on its disk."""
        require(self.restarts < self.max_restarts)
        self.restarts += 1
        self.follow(server, None)
        self.commit[server] = 0
        self.forget_vote(server)

    @rule
    def forget_vote(self, server: Server) -> None:
        """Nothing is forgotten."""
