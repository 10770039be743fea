"""An attempt to prove properties of runs by rankings, with the constants of a spec or for every value of some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from floodmark.checkers.explanation.trace import change_lines
from floodmark.checkers.liveness.assumptions import Assumptions, assumptions_of
from floodmark.checkers.liveness.goals import Goal, goals_of
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Options, Violation
from floodmark.checkers.symbolic.any_size.unbounded_constants import unbounded_constants
from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.attempts.inductive import induction_failed, spot_checked
from floodmark.checkers.symbolic.attempts.obligation_text import state_lines
from floodmark.checkers.symbolic.crosscheck.enumeration import ENUMERATION_LIMITS, ReachabilityOracle
from floodmark.checkers.symbolic.methods.induction import InductionProof, Obligation, induction, with_reachability
from floodmark.checkers.symbolic.methods.lemmas import lemmas_of
from floodmark.checkers.symbolic.methods.progress import EXPLAINED, HELPED, KEPT, NATURAL, RankingProof, confirm_failure
from floodmark.checkers.symbolic.methods.rankings import BoundRanking, Explanations, levels_of, rankings_of
from floodmark.checkers.symbolic.methods.smtlib import DeferredRecorder
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.checkers.value_text import show_step
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError
from floodmark.language.plurals import counted

_MEANINGS = {
    NATURAL: "a ranking is negative, or something cannot be evaluated",
    HELPED: "no helper is enabled",
    KEPT: "{action} ends the premise, and the goal is not reached",
    EXPLAINED: "{action} is explained by no level",
}


def attempt_ranked(attempt: Attempt) -> None:
    """Proves the invariants and lemmas by induction, and then that the rankings explain each step."""
    check, task, model, draft = attempt.check, attempt.task, attempt.model, attempt.draft
    unbounded = unbounded_constants(model) if task.unbounded else []
    if task.unbounded and not unbounded:
        raise SourceError(f"no constant of {type(model).__name__} only bounds integers, so nothing can be unbounded")
    lemmas = lemmas_of(check.spec, type(model), check.settings.invariant_files)
    every = check.spec.properties(type(model), check.settings.invariant_files)
    states = [*(prop for prop in every.values() if prop.kind == "invariant"), *lemmas]
    assumptions = assumptions_of(model, check.spec.fairness)
    rankings = rankings_of(check.spec, type(model), check.settings.invariant_files)
    system = system_of(model, states, unbounded)
    goals = [
        (goal, levels_of(model, goal, rankings[goal.prop.name], assumptions))
        for goal in goals_of(model, attempt.properties)
    ]
    needed = {prop.name for prop in [*check.properties(), *lemmas]}
    states, proof = _inductive(attempt, system, states, needed)
    draft.facts |= {
        "lemmas": [lemma.name for lemma in lemmas],
        "rankings": list(dict.fromkeys(it.name for prop in attempt.properties for it in rankings[prop.name])),
        "unbounded": unbounded,
    }
    if proof.outcome != "proved":
        draft.facts["obligations"] = len(proof.obligations)
        induction_failed(attempt, system, states, proof)
        return
    found = [
        (goal, levels, obligation)
        for goal, levels in goals
        for obligation in _check_goal(attempt, system, goal, levels, states, assumptions)
    ]
    draft.facts["obligations"] = len(proof.obligations) + len(found)
    text = f"{counted(len(attempt.properties), 'property')} with "
    text += f"{counted(len(draft.facts['rankings']), 'ranking')} and {len(states)} invariants and lemmas, "
    text += counted(draft.facts["obligations"], "obligation")
    text += f", for every {', '.join(unbounded)}" if unbounded else ""
    failing = [(goal, levels, it) for goal, levels, it in found if it.outcome != "proved"]
    if not failing:
        _proved(attempt, f"ranked: {text}", assumptions)
        if unbounded and draft.verdict == "holds":
            spot_checked(attempt, system, states)
        return
    counts = Counter(obligation.outcome for _, _, obligation in failing)
    parts = [f"{counts['fails']} fail"] if counts["fails"] else []
    parts += [f"{counts['undetermined']} are undetermined"] if counts["undetermined"] else []
    draft.headline = f"not proved: {text}; {' and '.join(parts)}"
    for goal, levels, obligation in failing:
        draft.lines += _lines(attempt, system, goal, levels, obligation, assumptions)


def _inductive(
    attempt: Attempt, system: System, states: list[Property], needed: Collection[str]
) -> tuple[list[Property], InductionProof]:
    """The properties of states that are proved together, and the proof, with every one that is ``needed``.

    A property of the model that the spec does not check need not be true: it is dropped where it cannot be proved.
    Queries with it are not recorded, because nothing depends on them.
    """
    while True:
        asked = None if attempt.record is None else DeferredRecorder()
        proof = induction(system, states, attempt.left, asked, watch=attempt.watch)
        attempt.draft.seconds += proof.seconds
        left = {it.property for it in proof.failing()} - set(needed)
        kept = [prop for prop in states if prop.name not in left]
        if len(kept) == len(states):
            if attempt.record is not None and asked is not None:
                asked.hand_on(attempt.record)
            return states, proof
        states = kept


def _check_goal(
    attempt: Attempt, system: System, goal: Goal, levels: list[
        BoundRanking
    ], states: list[Property], assumptions: Assumptions
) -> list[Obligation]:
    """The obligations of one goal; CPython confirms those that fail, which are marked by whether they are reachable."""
    found = list(RankingProof(system, goal, levels, states).obligations(attempt.left, attempt.record))
    attempt.draft.seconds += sum(obligation.seconds for obligation in found)
    if system.values.types.unbounded:
        return found
    explanations = Explanations(attempt.model, goal, levels, assumptions)
    marked = [confirm_failure(explanations, obligation) for obligation in found]
    return with_reachability(InductionProof(marked), ReachabilityOracle(attempt.model).asks).obligations


def _proved(attempt: Attempt, headline: str, assumptions: Assumptions) -> None:
    """Reports a proof, unless the exact search contradicts it."""
    from floodmark.checkers.native.search import search_states

    draft = attempt.draft
    draft.facts["fairness"] = sorted(str(it) for it in assumptions.by_action.values())
    options = Options(
        workers=1, limits=replace(ENUMERATION_LIMITS, seconds=attempt.left), fairness=attempt.check.spec.fairness
    )
    try:
        found = search_states(attempt.model, attempt.properties, options)
    except SourceError as error:
        draft.headline = f"{headline}; not searched: {error}"
        draft.verdict, draft.exit_code = "holds", ExitCode.AS_EXPECTED
        return
    draft.seconds += found.seconds
    for finding in found.liveness:  # a run that only a bound makes is one of this model, too
        if finding.verdict != "holds":
            run = Violation("liveness", finding.property, finding.trace, loop=finding.loop)
            attempt.contradicted(headline, run, attempt.properties)
            return
    draft.facts["enumerated"] = found.distinct if found.complete else None
    searched = f"the search of all {counted(found.distinct, 'state')} agrees"
    draft.headline = f"{headline}; {searched if found.complete else f'not searched: {found.stopped}'}"
    draft.verdict, draft.exit_code = "holds", ExitCode.AS_EXPECTED
    attempt.judge_by_the_spec()
    names = {prop.name for prop in attempt.properties}
    if any(premise.property.partition(".")[0] in names for premise in found.vacuous):
        draft.headline += "; a premise is never true"


def _lines(
    attempt: Attempt, system: System, goal: Goal, levels: list[
        BoundRanking
    ], obligation: Obligation, assumptions: Assumptions
) -> list[str]:
    text = _MEANINGS[obligation.property].format(action=obligation.action)
    shown = obligation.counterexample
    if shown is None:
        return [f"undetermined: {goal.name}: {text}: {obligation.reason}"]
    lines = [f"{goal.name}: {text}", *(f"    {line}" for line in state_lines(system, shown))]
    if shown.after is not None:
        lines.append(f"    {show_step(shown.step)} leads to:")
        changes = change_lines(list(system.variables), shown.before, shown.after)
        lines += [f"      {line}" for line in changes or ["the same state"]]
    if not shown.constants:
        described = Explanations(attempt.model, goal, levels, assumptions).described(shown.before, shown.after)
        lines += ["    the levels:", *(f"      {line}" for line in described)]
    return [*lines, ""]
