"""What must hold of a partition with eligible leader replicas (model/elr/partition.py; KIP-966). Start here.

reassignment.py has what holds while replicas are added and removed, settings.py what holds when settings change,
directories.py what holds when a directory is lost, progress.py what happens once failures have stopped, logs.py what
holds of real logs. The lemmas of the proofs are in partition_lemmas.py.
"""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model.elr.partition import Broker, EligibleLeaders, Registration


@invariant
def isr_and_elr_are_disjoint(model: EligibleLeaders) -> bool:
    """Nobody is in both (Vanlightly, ValidControllerIsrAndElr)."""
    return model.isr.isdisjoint(model.elr)


@invariant
def elr_is_empty_with_min_isr(model: EligibleLeaders) -> bool:
    """While enough are in sync to commit, nobody else is eligible (Vanlightly, ValidControllerIsrAndElr)."""
    return implies(len(model.isr) >= model.controller_min_isr(), len(model.elr) == 0)


@invariant
def eligible_replicas_hold_committed(model: EligibleLeaders) -> bool:
    """Whoever is in the ISR or the ELR, and runs, has everything committed (Vanlightly,
    LeaderCandidateCompleteness).
    """
    return (model.isr | model.elr) & model.serving() <= model.complete


@invariant
def eligible_replicas_are_intact(model: EligibleLeaders) -> bool:
    """A member of the ISR or the ELR lacks something only if it shut down uncleanly, and has not registered since."""
    return (model.isr | model.elr) - model.unclean <= model.complete


@invariant
def leader_holds_committed(model: EligibleLeaders) -> bool:
    """A leader that runs has everything committed, unless a loss was announced: a clean election never loses."""
    return model.leader is None or model.leader in model.complete or model.leader not in model.serving()


@invariant
def committed_records_survive(model: EligibleLeaders) -> bool:
    """With fewer than min.insync.replicas unclean shutdowns nothing committed is lost (KIP-966, "Motivation")."""
    return implies(len(model.unclean) < model.promised_copies(), len(model.complete) > 0)


@invariant
def clean_election_stays_possible(model: EligibleLeaders) -> bool:
    """With fewer unclean shutdowns than that, somebody is eligible who has everything."""
    return implies(
        len(model.unclean) < model.promised_copies(), len((model.isr | model.elr) - model.unclean) > 0
    )


@invariant
def leader_is_an_active_member(model: EligibleLeaders) -> bool:
    """A leader is in the ISR and active, and so is nobody who is fenced: the ISR may be empty instead (KIP-841)."""
    return (model.leader is None or model.leader in model.isr) and model.isr <= model.active() | model.kept_in_isr()


@invariant
def nobody_leads_only_if_nobody_can(model: EligibleLeaders) -> bool:
    """Nobody leads only while nobody who is eligible is active: such a partition has a leader at once."""
    return implies(model.leader is None, (model.isr | model.elr).isdisjoint(model.active() & model.serving()))


@transition
def elr_loses_members_for_a_reason(old: EligibleLeaders, new: EligibleLeaders) -> bool:
    """Who leaves the ELR without joining the ISR shut down uncleanly, or enough are in sync again."""
    return (
        not new.is_tracked()
        or len(new.isr) >= new.controller_min_isr()
        or old.elr - new.elr - new.isr <= old.unclean
    )


@transition
def unclean_election_is_last_resort(old: EligibleLeaders, new: EligibleLeaders) -> bool:
    """Records are given up for a leader only after min.insync.replicas unclean shutdowns (KIP-966, "Unclean
    recovery").
    """
    return (
        new.leader is None
        or new.leader == old.leader
        or new.leader in old.isr | old.elr | old.complete
        or len(old.unclean) >= old.promised_copies()
    )


@transition
def isr_grows_by_complete_replicas(old: EligibleLeaders, new: EligibleLeaders) -> bool:
    """Who joins the ISR has everything that is committed."""
    return (new.isr - old.isr) & new.serving() <= new.complete


@transition
def followers_join_under_a_running_leader(old: EligibleLeaders, new: EligibleLeaders) -> bool:
    """Only a leader that runs, and goes on to lead or is replaced, adds followers to the ISR (``alterPartition``). A
    leader that is elected from outside is in it alone.
    """
    joining = new.isr - old.isr
    return len(joining) == 0 or old.leads() or (new.leader in joining and len(new.isr) == 1)


@transition
def records_are_committed_by_enough(old: EligibleLeaders, new: EligibleLeaders) -> bool:
    """A record is committed by min.insync.replicas brokers that run, all of them in sync (KAFKA-15583)."""
    lacks = old.complete - new.complete
    return implies(
        len(lacks & new.serving() & new.assigned()) > 0 and old.leader in old.complete,
        len(new.complete) >= new.leader_min_isr() and new.complete <= new.serving() & new.isr,
    )


@invariant
def leaderless_partition_knows_its_last_leader(model: EligibleLeaders) -> bool:
    """While nobody leads, and only then, the last known leader is known (``maybeUpdateLastKnownLeader``)."""
    return (model.leader is None) == (model.last_known_leader is not None)


@reachable
def isr_is_empty(model: EligibleLeaders) -> bool:
    return len(model.isr) == 0 and len(model.elr) > 0


@reachable
def nobody_is_eligible(model: EligibleLeaders) -> bool:
    """Only the last known leader is left, and whoever comes back has to wait for it."""
    return len(model.isr) == 0 and len(model.elr) == 0 and len(model.active()) > 0


@reachable
def crashed_replica_catches_up(model: EligibleLeaders) -> bool:
    """After an unclean shutdown a replica has everything again from a leader that has it, and is not in sync yet."""
    return model.leader in model.complete and any(
        broker in model.unclean & model.complete & model.running - model.isr for broker in Broker
    )


@reachable
def clean_restart_keeps_eligibility(model: EligibleLeaders) -> bool:
    """A broker that is back after a clean shutdown is in the ELR."""
    return any(
        broker in model.elr & model.running and model.registration[broker] == Registration.FENCED for broker in Broker
    )
