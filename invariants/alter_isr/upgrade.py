"""What must hold of KIP-497 while brokers are upgraded (KIP-497, "Compatibility", "Motivation"; begin with core.py)."""

from __future__ import annotations

from floodmark import eventually_always, implies, invariant, reachable, transition
from model.alter_isr.upgrade import MixedVersions


@eventually_always
def brokers_learn_the_state(model: MixedVersions) -> bool:
    """Once nothing changes any more, the other brokers have the written state, whether the controller or a leader wrote
    it."""
    return model.metadata == model.controller


@transition
def new_metadata_is_the_latest(old: MixedVersions, new: MixedVersions) -> bool:
    """What the controller tells brokers is the latest state (KIP-497, "Motivation", the first benefit)."""
    return implies(new.metadata != old.metadata, new.metadata == new.controller)


@transition
def metadata_never_goes_back(old: MixedVersions, new: MixedVersions) -> bool:
    """Brokers are never told an older state than before."""
    return (
        new.metadata.partition_epoch >= old.metadata.partition_epoch
        and new.cached.partition_epoch >= old.cached.partition_epoch
    )


@invariant
def one_writer_at_a_time(model: MixedVersions) -> bool:
    """A leader that writes the ISR itself has no change pending: it waits for ZooKeeper."""
    return implies(model.writes_itself, len(model.pending) == 0 and len(model.requests) == 0)


@transition
def old_leader_shrinks_or_expands(old: MixedVersions, new: MixedVersions) -> bool:
    """What a leader writes itself is a smaller ISR or a larger one, and takes a version only then."""
    return implies(
        new.writes_itself and new.partition_epoch > old.partition_epoch and new.updates == old.updates,
        new.isr < old.isr or old.isr < new.isr,
    )


@reachable
def controller_is_out_of_date(model: MixedVersions) -> bool:
    """The controller can remember another state than the one that is written."""
    return not model.writes_itself or model.cached.partition_epoch < model.controller.partition_epoch
