"""Combines the findings of a check."""

from __future__ import annotations

from floodmark.checkers.search_result import Finding, SearchResult


def undetermined(found: SearchResult) -> list[Finding]:
    """The findings that a bound leaves undetermined."""
    return [finding for finding in found.liveness if finding.verdict == "undetermined"]


def unneeded(found: SearchResult) -> list[str]:
    """The assumptions that no property needs in their strength; empty unless all properties hold."""
    if not found.liveness or any(finding.verdict != "holds" for finding in found.liveness):
        return []
    needed = {assumption for finding in found.liveness for assumption in finding.needs}
    return [assumption for assumption in found.assumed if assumption not in needed]


def ended_by(finding: Finding) -> str:
    """``the bound max_epoch ends the run``."""
    many = len(finding.bounds) > 1
    return f"the bound{'s' * many} {', '.join(finding.bounds)} end{'' if many else 's'} the run"
