"""What has to happen eventually: that somebody leads, whether or not the broker that led comes back."""

from __future__ import annotations

from floodmark import leads_to
from model.zk_controller.controller import Partition, ZkController


@leads_to
def partition_is_led_again(model: ZkController) -> tuple[bool, bool]:
    """If the leader has failed and an eligible replica is registered, eventually a registered replica leads, or no
    eligible one is left (draft, section A).

    Not if the size has no room for it: for another version, or for another controller after one that has failed.
    """
    return needs_a_leader(model), not needs_a_leader(model)


def needs_a_leader(model: ZkController) -> bool:
    return (model.controller is not None or model.controller_epoch < model.max_controller_epoch) and any(
        model.leader_and_isr[partition].version < model.max_version
        and model.leader_and_isr[partition].leader not in model.ids
        and len(model.eligible(partition) & model.ids) > 0
        for partition in Partition
    )
