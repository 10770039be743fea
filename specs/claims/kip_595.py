"""KIP-595: majorities of voters, who counts itself, who can win an election, and when a successor starts one."""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Capacity, Identifier, Seq, Set, implies, require
from floodmark.claims import fails, holds


class Voter(Identifier, count=8, prefix=""):
    """One of up to eight voters."""


def majority(voters: int) -> int:
    return voters // 2 + 1


# Majorities, for every number of voters.


@holds("KIP-595, Quorum")
def majorities_meet(voters: int, first: int, second: int) -> bool:
    """Any two majorities have a voter in common, for every number of voters: together they are more than all."""
    require(voters > 0 and first >= majority(voters) and second >= majority(voters))
    return first + second > voters


@holds("KIP-595, Quorum")
def majorities_share_a_voter(voters: Set[Voter], first: Set[Voter], second: Set[Voter]) -> bool:
    """The same for sets."""
    require(first <= voters and second <= voters)
    require(len(first) >= majority(len(voters)) and len(second) >= majority(len(voters)))
    return len(first & second) > 0


@fails("KIP-595, Quorum: half of the voters, for an even number")
def halves_meet(voters: int, first: int, second: int) -> bool:
    require(voters > 0 and 2 * first >= voters and 2 * second >= voters)
    return first + second > voters


@holds("KIP-595, High watermark")
def index_is_the_largest_majority_offset(offsets: Annotated[Seq[int], Capacity(7)]) -> bool:
    """Of 1 to 7 end offsets in descending order, the one at N // 2 is the largest that a majority has reached."""
    require(len(offsets) > 0)
    high_watermark = sorted(offsets, reverse=True)[len(offsets) // 2]
    return sum(1 for offset in offsets if offset >= high_watermark) >= majority(len(offsets)) and all(
        sum(1 for other in offsets if other >= offset) < majority(len(offsets))
        for offset in offsets
        if offset > high_watermark
    )


# How many fetches the leader needs to stay (KIP-595, Leader Progress Timeout).


@holds("KIP-595, Leader Progress Timeout")
def leader_needs_half_of_the_voters(voters: int) -> bool:
    """Besides itself, a leader that is a voter needs N // 2 others, for odd and even N."""
    require(voters > 0)
    return majority(voters) - 1 == voters // 2


@holds("KIP-595, Leader Progress Timeout")
def leader_survives_a_minority(voters: int, failed: int) -> bool:
    """A leader that counts itself stays while a minority of the voters is away."""
    require(voters > 0 and failed >= 0 and failed < majority(voters) and voters - failed >= majority(voters))
    return voters - 1 - failed >= majority(voters) - 1


@fails("KIP-595, Leader Progress Timeout: a majority of fetches from others")
def leader_that_does_not_count_itself_survives(voters: int, failed: int) -> bool:
    """A leader that needs a majority of others stays while a minority of the voters is away."""
    require(voters >= 3 and failed >= 0 and voters - failed >= majority(voters))
    return voters - 1 - failed >= majority(voters)


# Elections.


@fails("KIP-595, Leader Progress Timeout: a zombie may win with its large epoch")
def partitioned_leader_cannot_win(voters: Set[Voter], ahead: Set[Voter], votes: Set[Voter]) -> bool:
    """A candidate whose log lacks what some voters have gets no majority."""
    require(ahead <= voters and votes <= voters - ahead and len(ahead) > 0)
    return len(votes) < majority(len(voters))


@holds("KIP-595, Vote: a voter refuses a candidate whose log is behind its own")
def partitioned_leader_cannot_win_after_commit(voters: Set[Voter], ahead: Set[Voter], votes: Set[Voter]) -> bool:
    """When a record of a later epoch is committed, a majority is ahead, and the zombie cannot win."""
    require(ahead <= voters and votes <= voters - ahead and len(ahead) >= majority(len(voters)))
    return len(votes) < majority(len(voters))


@holds("KIP-595, Vote: one vote for each epoch")
def epoch_has_one_leader(voters: Set[Voter], first: Set[Voter], second: Set[Voter]) -> bool:
    require(first <= voters and second <= voters and len(first & second) == 0)
    return len(first) < majority(len(voters)) or len(second) < majority(len(voters))


# Successors wait in order (KafkaRaftClient.strictExponentialElectionBackoffMs): the first not at all, the next the
# maximum shifted right by all but one of them, and each other twice as long as the one before it.

POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
BACKOFF_MAX_MS = 1000


def delay(position: int, successors: int) -> int:
    """The back-off of a preferred successor, in milliseconds."""
    if position == 0:
        return 0
    base = BACKOFF_MAX_MS // Seq(POWERS)[successors - 1]
    return min(BACKOFF_MAX_MS, base * Seq(POWERS)[position - 1])


@fails("KIP-595, EndQuorumEpoch: preferred successors")
def successors_start_one_after_the_other(
    successors: Annotated[int, Between(1, 15)], earlier: Annotated[int, Between(0, 14)]
) -> bool:
    """Of any number of successors, each waits longer than those before it."""
    require(earlier + 1 < successors)
    return delay(earlier, successors) < delay(earlier + 1, successors)


@holds("KIP-595, EndQuorumEpoch: preferred successors")
def ten_successors_start_one_after_the_other(
    successors: Annotated[int, Between(1, 10)], earlier: Annotated[int, Between(0, 9)]
) -> bool:
    """Up to ten successors keep their order if the maximum is a second."""
    require(earlier + 1 < successors)
    return delay(earlier, successors) < delay(earlier + 1, successors)


@holds("KIP-595, EndQuorumEpoch: preferred successors")
def eleven_successors_collapse(backoff_max_ms: int) -> bool:
    """Halved ten times, less than 1024 milliseconds are none, and so are their multiples: all eleven start at once."""
    require(backoff_max_ms > 0)
    return implies(backoff_max_ms < 1024, backoff_max_ms // 1024 == 0)
