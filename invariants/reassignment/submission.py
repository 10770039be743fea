"""What must hold of KIP-236 when somebody reads first and writes later (begin with kip236.py)."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from invariants.reassignment.kip236 import is_at_rest
from model.reassignment.replicas import Partition
from model.reassignment.submission import RecordedByController, SubmittedByTools, Tool


@invariant
def last_submission_is_carried_out(model: SubmittedByTools) -> bool:
    """What was written last is pending, reached, or was cancelled: no other write undoes it."""
    return all(
        is_carried_out(model, partition) for partition in Partition if not model.was_taken_back(partition)
    )


def is_carried_out(model: SubmittedByTools, partition: Partition) -> bool:
    entry = model.pending[partition]
    reached = model.assigned[partition] if entry is None else entry.target
    return model.written[partition] is None or model.written[partition] == reached


@invariant
def recorded_is_from_before(model: SubmittedByTools) -> bool:
    """What is recorded as the original replicas is what was assigned before (KIP-236, original_replicas)."""
    return all(is_from_before(model, partition) for partition in Partition)


def is_from_before(model: SubmittedByTools, partition: Partition) -> bool:
    entry = model.pending[partition]
    return entry is None or entry.original is None or entry.original == model.before[partition]


@transition
def nothing_begins_unrecorded(old: RecordedByController, new: RecordedByController) -> bool:
    """The assignment changes only once the way back is recorded."""
    return all(
        implies(new.assigned[partition] != old.assigned[partition], old.is_recorded(partition))
        for partition in Partition
    )


@reachable
def tool_reads_on_the_way(model: SubmittedByTools) -> bool:
    """A tool can read the original replicas and the target together, and still have them when it could write."""
    return any(has_read_both(model, tool) for tool in Tool)


def has_read_both(model: SubmittedByTools, tool: Tool) -> bool:
    draft = model.drafts[tool]
    return (
        draft is not None
        and is_at_rest(model, draft.partition)
        and draft.original != model.assigned[draft.partition]
        and draft.original != model.before[draft.partition]
    )


@reachable
def only_the_version_refuses(model: SubmittedByTools) -> bool:
    """There may be no znode, and the write still has to be refused."""
    return model.finds_no_znode() and len(model.outdated) > 0


@reachable
def entry_is_replaced_meanwhile(model: RecordedByController) -> bool:
    """A tool can replace an entry between the controller's read and its write."""
    return any(partition in model.edited and model.seen[partition] is not None for partition in Partition)


@reachable
def each_submission_has_its_turn(model: SubmittedByTools) -> bool:
    """What is submitted after another reassignment is done can be carried out, too."""
    return model.submitted > 1 and all(
        is_at_rest(model, partition) and not model.was_taken_back(partition) for partition in Partition
    )
