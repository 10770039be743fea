"""Why a change is settled over a network that loses messages: lemmas and rankings for proofs about runs.

Begin with core.py and progress.py. The model is model/alter_isr/progress.py.
"""

from __future__ import annotations

from floodmark import helper, lemma, ranking
from model.alter_isr.core import AlterIsrRequest, Broker, LeaderAndIsr, Status
from model.alter_isr.progress import ZooKeeperAlterIsr

SETTLED = ("pending_change_is_settled", "change_is_settled_while_partition_epochs_last")


@lemma
def awaited_is_what_the_leader_asked_for(model: ZooKeeperAlterIsr) -> bool:
    """A request that the leader may send again quotes the state that it knew, and is pending until it learns a newer
    one."""
    awaited = model.awaited
    return awaited is None or (
        awaited.partition_epoch <= model.partition_epoch
        and awaited.leader_epoch <= model.leader_epoch
        and (model.leading or awaited.leader_epoch < model.leader_epoch)
        and model.leader in awaited.isr
        and (
            awaited.partition_epoch < model.partition_epoch
            or not model.leading
            or (awaited.leader_epoch == model.leader_epoch and awaited.isr in model.pending)
        )
    )


@lemma
def leader_is_active(model: ZooKeeperAlterIsr) -> bool:
    """The leader is active."""
    return all(model.status[broker] == Status.ACTIVE for broker in Broker if model.controller.leader == broker)


@lemma
def news_is_on_its_way(model: ZooKeeperAlterIsr) -> bool:
    """The controller sends the leader every state that it does not know, unless the leader asked for it: that one is
    answered."""
    awaited = model.awaited
    return (
        model.controller.partition_epoch == model.partition_epoch
        or model.controller in model.updates
        or (awaited is not None and model.is_repeated(awaited))
    )


@lemma
def refused_change_is_not_made(model: ZooKeeperAlterIsr) -> bool:
    """A refused change is not one that the controller has made since, unless it did so on its own and says so."""
    return all(
        response.error is None
        or not model.is_repeated(response.request)
        or model.controller in model.updates
        or model.controller.partition_epoch == model.partition_epoch
        for response in model.responses
    )


@lemma
def pending_change_is_awaited(model: ZooKeeperAlterIsr) -> bool:
    """While no newer state is on its way, the leader waits for the answer to its pending change."""
    return model.duplicates or all(
        has_news(model)
        or model.awaited
        == AlterIsrRequest(leader_epoch=model.leader_epoch, isr=isr, partition_epoch=model.partition_epoch)
        for isr in model.pending
    )


@lemma
def partition_epochs_suffice(model: ZooKeeperAlterIsr) -> bool:
    """If there are enough partition epochs at first, there is one for every change and eviction still to come, unless a
    leader is elected.
    """
    awaited = model.awaited
    undecided = 1 if awaited is not None and awaited.partition_epoch == model.controller.partition_epoch else 0
    left = model.proposals_left + model.evictions_left + undecided
    enough = model.proposals + model.evictions <= model.max_partition_epoch and model.max_leader_epoch == 0
    return not enough or model.controller.partition_epoch + left <= model.max_partition_epoch


def has_news(model: ZooKeeperAlterIsr) -> bool:
    """Whether a LeaderAndIsr that ends the change is on its way."""
    return model.controller in model.updates and model.controller.partition_epoch > model.partition_epoch


def news(model: ZooKeeperAlterIsr) -> LeaderAndIsr | None:
    return model.controller if has_news(model) else None


@ranking(*SETTLED, helped_by=helper("leader_receives_leader_and_isr", update=news))
def partition_epochs_are_used_up(model: ZooKeeperAlterIsr) -> int:
    """Each change of the controller takes a partition epoch: it makes the change, or tells the leader that something
    else came first.
    """
    return model.max_partition_epoch - model.controller.partition_epoch


@ranking(*SETTLED, helped_by="leader_receives_response")
def answer_is_received(model: ZooKeeperAlterIsr) -> int:
    """An answer may be lost, but not every answer."""
    return 0


@ranking(*SETTLED, helped_by=("controller_accepts", "controller_confirms", "controller_refuses"))
def request_is_judged(model: ZooKeeperAlterIsr) -> int:
    """A request may be lost, but not every request. Whether it can be granted may change while it is on its way."""
    return 0 if len(model.responses) > 0 else 1


@ranking(*SETTLED, helped_by="leader_asks_again")
def leader_asks(model: ZooKeeperAlterIsr) -> int:
    """When nothing is on its way, the leader asks again."""
    return 0 if len(model.requests) > 0 else 1
