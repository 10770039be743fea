"""The liveness of eligible leader replicas, once failures have stopped. Begin with partition.py."""

from __future__ import annotations

from floodmark import leads_to
from model.elr.partition import Broker
from model.elr.progress import CalmEligibleLeaders


@leads_to
def eligible_replica_brings_leader(model: CalmEligibleLeaders, broker: Broker) -> tuple[bool, bool]:
    """A partition with a live member of the ISR or the ELR gets a leader that runs (KIP-966, "Leader election")."""
    eligible = broker in model.isr | model.elr and model.may_be_active(broker)
    return model.calm and eligible, model.leads()


@leads_to
def last_known_leader_leads(model: CalmEligibleLeaders, broker: Broker) -> tuple[bool, bool]:
    """If nobody is eligible any more, the last known leader leads once it is back."""
    waits = len(model.isr | model.elr) == 0 and model.last_known_leader == broker and model.may_be_active(broker)
    return model.calm and waits, model.leads()
