"""What must hold of eligible leader replicas when settings change (begin with partition.py)."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model.elr.settings import ChangedMinIsr, SwitchedElr


@invariant
def eligibility_outlives_the_feature(model: SwitchedElr) -> bool:
    """As long as nobody shut down uncleanly, somebody can lead, whether the feature is on or off."""
    return implies(len(model.unclean) == 0, len(model.isr | model.elr) > 0)


@transition
def last_known_leader_waits_while_off(old: SwitchedElr, new: SwitchedElr) -> bool:
    """While the feature is off only a member of the ISR or the ELR is elected (``canElectLastKnownLeader``)."""
    return old.enabled or new.leader is None or new.leader == old.leader or new.leader in old.isr | old.elr


@reachable
def elr_stays_while_off(model: SwitchedElr) -> bool:
    return not model.enabled and len(model.elr) > 0


@reachable
def leader_is_behind(model: ChangedMinIsr) -> bool:
    """The leader commits by a value that is no longer set."""
    return model.known_min_isr < model.min_isr and len(model.isr) < model.min_isr
