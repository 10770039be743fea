"""A replica's log, as the replication protocol sees it: the leader epoch of each record, by offset.

Offsets start at 0, and the log end offset is the length. Epochs never decrease along a log, so the epoch of the last
record and one offset from the leader are enough to find where two logs diverge. The functions are those of KIP-101, as
corrected by KIP-279; KIP-595 uses the same ones (where no epoch is small enough, a Raft leader answers epoch 0 instead
of the epoch asked for, which truncates to the same offset).
"""

from __future__ import annotations

from floodmark import Seq


def epoch_up_to(log: Seq[int], epoch: int) -> int:
    """The largest epoch in the log that is not above ``epoch``; ``epoch`` itself if the log has none."""
    found = epoch
    for record_epoch in log:
        if record_epoch <= epoch:
            found = record_epoch
    return found


def end_offset_for_epoch(log: Seq[int], epoch: int) -> int:
    """Where the records of ``epoch`` and earlier end: the first offset of a later epoch, or the log end offset.

    Together with ``epoch_up_to`` this is a leader's answer to OffsetsForLeaderEpoch (KIP-279, "Proposed Changes").
    """
    return sum(1 for record_epoch in log if record_epoch <= epoch)


def diverges(leader_log: Seq[int], log: Seq[int]) -> bool:
    """Whether a follower's log cannot be a prefix of the leader's, judged by its last epoch and its log end offset.

    The leader gets these two as the last fetched epoch and the fetch offset of a fetch request (KIP-595, "Fetch"). An
    empty log never diverges.
    """
    if len(log) == 0:
        return False
    last_epoch = log[len(log) - 1]
    return epoch_up_to(leader_log, last_epoch) < last_epoch or end_offset_for_epoch(leader_log, last_epoch) < len(log)


def truncation_offset(leader_log: Seq[int], log: Seq[int]) -> int:
    """Where a follower truncates its log after one answer of the leader (KIP-279, "Proposed Changes").

    The leader answers with its largest epoch up to the follower's last one, and with the offset where that epoch ends.
    A follower that has that epoch keeps what both have of it; one that does not keeps only its earlier epochs. Logs
    that were written by alternating leaders may need several rounds.
    """
    if len(log) == 0:
        return 0
    last_epoch = log[len(log) - 1]
    epoch = epoch_up_to(leader_log, last_epoch)
    own_end = end_offset_for_epoch(log, epoch)
    if epoch_up_to(log, epoch) < epoch:
        return own_end
    return min(own_end, end_offset_for_epoch(leader_log, last_epoch))
