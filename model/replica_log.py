"""What a replica's log is to the replication protocols: the leader epoch of each record, by offset.

Offsets count from 0 and the log end offset is the length. Epochs never decrease along a log, so the epoch of the last
record and a single number of the leader's answer are enough to find where two logs part. The functions are those of
KIP-101, as KIP-279 corrected them; KIP-595 uses the same ones (where no epoch is small enough, a Raft leader names
epoch 0 and not the epoch that was asked for, which truncates to the same offset).
"""

from __future__ import annotations

from floodmark import Seq


def epoch_up_to(log: Seq[int], epoch: int) -> int:
    """The largest epoch in the log that is not above ``epoch``; ``epoch`` itself when the log has none."""
    found = epoch
    for record_epoch in log:
        if record_epoch <= epoch:
            found = record_epoch
    return found


def end_offset_for_epoch(log: Seq[int], epoch: int) -> int:
    """Where the records of ``epoch`` and of all before it end: the first offset of a later epoch, or the log end.

    Together with ``epoch_up_to`` this is a leader's answer to OffsetsForLeaderEpoch (KIP-279, "Proposed Changes").
    """
    return sum(1 for record_epoch in log if record_epoch <= epoch)


def diverges(leader_log: Seq[int], log: Seq[int]) -> bool:
    """Whether a follower's log cannot be a prefix of the leader's, judged by its last epoch and its log end offset.

    The leader judges so from the last fetched epoch and the fetch offset of a fetch request (KIP-595, "Fetch").
    An empty log never diverges.
    """
    if len(log) == 0:
        return False
    last_epoch = log[len(log) - 1]
    return epoch_up_to(leader_log, last_epoch) < last_epoch or end_offset_for_epoch(leader_log, last_epoch) < len(log)


def truncation_offset(leader_log: Seq[int], log: Seq[int]) -> int:
    """Where a follower cuts its log after one answer of the leader (KIP-279, "Proposed Changes").

    The leader answers with its largest epoch up to the follower's last one, and where that epoch ends. A follower that
    has that epoch keeps what both have of it; one that has not keeps only its earlier epochs. Logs that alternate
    between leaders may need several rounds.
    """
    if len(log) == 0:
        return 0
    last_epoch = log[len(log) - 1]
    epoch = epoch_up_to(leader_log, last_epoch)
    own_end = end_offset_for_epoch(log, epoch)
    if epoch_up_to(log, epoch) < epoch:
        return own_end
    return min(own_end, end_offset_for_epoch(leader_log, last_epoch))
