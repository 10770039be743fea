"""The text about liveness: the loop of a lasso, why it is fair, and the fairness that a property needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from floodmark.checkers.search_result import Finding, SearchResult, Violation


def ending(violation: Violation) -> str:
    """The continuation, after its last step, of a run that violates a liveness property."""
    if violation.loop is None:
        return f"{violation.property} can never be true again"
    return f"{violation.property} is missed: {around(violation.loop, len(violation.trace))}"


def around(loop: int, states: int) -> str:
    """The steps that are repeated forever; steps are numbered from 1 on."""
    if loop == states - 1:
        return "nothing has to happen any more"
    steps = f"step {states}" if loop == states - 2 else f"steps {loop + 2} to {states}"
    return f"{steps} can be repeated forever"


def lasso_lines(finding: Finding) -> list[str]:
    """The lines below the steps of a counterexample."""
    if finding.loop is None:
        return ["from here no step leads to where it is true"]
    lines = [f"after step {len(finding.trace)}: {around(finding.loop, len(finding.trace))}"]
    if finding.mapped:
        lines += ["", "the run as the refined model sees it:", *(f"  {line}" for line in finding.mapped)]
    if finding.fair:
        lines += ["", "why that is fair:"]
        lines += [f"  {reason.assumption}: {reason.why}" for reason in finding.fair]
    return lines


def finding_of(found: SearchResult | None, violation: Violation) -> Finding | None:
    """The finding that a violation stands for."""
    findings = [] if found is None else found.liveness
    return next((it for it in findings if it.property == violation.property and it.trace == violation.trace), None)


def needs_lines(found: SearchResult) -> Iterator[str]:
    """For each property that holds, a minimal set of fairness assumptions; with parameters, the number of choices that
    need it."""
    groups: dict[tuple[str, tuple[str, ...]], int] = Counter(
        (finding.property, finding.needs) for finding in found.liveness if finding.verdict == "holds"
    )
    total = Counter(finding.property for finding in found.liveness)
    for (name, needs), count in groups.items():
        who = name if count == total[name] else f"{name} for {count} of {total[name]} choices"
        yield f"{who} needs {', '.join(needs) or 'no fairness'}"


def open_lines(found: SearchResult) -> Iterator[str]:
    """The properties that a bound leaves undetermined, each with that bound."""
    for finding in found.undetermined:
        yield f"{finding.name} is undetermined ({finding.ended_by()})"


def superfluous_lines(found: SearchResult) -> list[str]:
    """The assumptions that no property needs in their strength; empty unless all properties hold."""
    if not found.liveness or any(finding.verdict != "holds" for finding in found.liveness):
        return []
    needed = {assumption for finding in found.liveness for assumption in finding.needs}
    return [f"no property needs that {it.replace(' ', ' is ', 1)}" for it in found.assumed if it not in needed]
