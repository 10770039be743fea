"""A proof in progress, and the reports that all methods share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from floodmark.checkers.explanation.false_property import explain
from floodmark.checkers.explanation.trace import trace_entries, trace_lines
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Violation
from floodmark.checkers.symbolic.crosscheck.enumeration import Enumeration, enumerate_states
from floodmark.checkers.symbolic.methods.induction import InductionProof, WatchInduction
from floodmark.checkers.symbolic.methods.smtlib import ObligationRecorder
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.tactics.answers import AnswerBook
from floodmark.checkers.value_text import show_step
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.result import ExitCode, Verdict
from floodmark.language.model import Model
from floodmark.language.plurals import counted

NO_INTEGER_LIMIT = "integers have no limit here; check has one of 64 bits, beyond which it reports a model error"
"""The note on every proof that leaves constants open."""


@dataclass(slots=True)
class Draft:
    """The result of a proof in progress, as far as it is known."""

    verdict: Verdict = "undetermined"
    exit_code: ExitCode = ExitCode.UNDETERMINED
    headline: str = ""
    seconds: float = 0.0
    broken: str | None = None
    lines: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A proof in progress: its task, its result so far, the recorder of its obligations, if any, the ``book`` of its
    answers, if any, and the receiver of its progress."""

    check: Check
    task: ProofTask
    model: Model
    properties: list[Property]
    draft: Draft
    record: ObligationRecorder | None
    book: AnswerBook | None = None
    watch: WatchInduction | None = None

    @property
    def left(self) -> float | None:
        """Seconds left of the time limit."""
        return None if self.task.seconds is None else max(0.0, self.task.seconds - self.draft.seconds)

    @property
    def not_assumed(self) -> list[Property]:
        """The invariants of the model that this proof does not cover, so that nothing assumes them."""
        found = self.check.spec.properties(type(self.model), self.check.settings.invariant_files)
        names = {prop.name for prop in self.properties}
        return [prop for prop in found.values() if prop.kind == "invariant" and prop.name not in names]

    def proved(self, headline: str, judged: Sequence[Property]) -> None:
        """Reports a proof, unless compiled code contradicts it in a reachable state.

        ``judged`` are the predicates that the proof claims for every such state: properties, lemmas, inferred clauses.
        """
        draft = self.draft
        found = self.enumerated(judged)
        if found.violation is not None:
            self.contradicted(headline, found.violation, judged)
            return
        draft.headline = f"{headline}; {_checked(found)}"
        self.report_holding(found)

    def note_induction(self, proof: InductionProof, lemmas: Sequence[Property], unbounded: Sequence[str]) -> None:
        """Adds the facts about an induction with lemmas, for every value of the ``unbounded`` constants."""
        self.draft.facts |= {
            "lemmas": [lemma.name for lemma in lemmas],
            "obligations": len(proof.obligations),
            "open": [[it.action, it.property, it.outcome, it.reason] for it in proof.failing()],
            "unbounded": list(unbounded),
        }

    def report_holding(self, found: Enumeration) -> None:
        """Reports that the properties hold. If there is no reachable state, they hold vacuously, and nothing is proved.
        """
        draft = self.draft
        draft.verdict, draft.exit_code = "holds", ExitCode.AS_EXPECTED
        self.judge_by_the_spec()
        if found.complete and not found.states and self.check.spec.expect.distinct != 0:
            draft.verdict, draft.exit_code = "undetermined", ExitCode.NOTHING_CHECKED
            draft.headline += "; nothing was proved"

    def says_no_limit(self) -> None:
        """Notes on a proof that leaves constants open that it does not cover the integer limit of searches."""
        if self.draft.verdict == "holds":
            self.draft.facts["integers"] = "unbounded"
            self.draft.lines.append(NO_INTEGER_LIMIT)

    def violated(self, violation: Violation) -> None:
        """Reports a run that violates a property, or leaves the declared types."""
        draft = self.draft
        draft.verdict = "error" if violation.kind == "error" else "violated"
        draft.exit_code = ExitCode.USER_ERROR if violation.kind == "error" else ExitCode.NOT_AS_EXPECTED
        draft.broken = violation.property or None
        length = counted(len(violation.trace), "state")
        if violation.kind != "error":
            draft.headline = f"violates {violation.property} in {length}"
        elif violation.property:
            draft.headline = f"{violation.property} fails in {length}: {violation.message}"
        else:
            draft.headline = f"error after {length}: {violation.message}"
        draft.lines += _run_lines(self.model, violation, self.properties)
        draft.facts["trace"] = trace_entries(self.model, violation.trace)

    def contradicted(
        self, headline: str, violation: Violation, judged: Sequence[Property], model: Model | None = None
    ) -> None:
        """Reports that z3 and compiled code disagree: one of them is wrong, so nothing is proved.

        ``model`` is the searched model, if it is not the model of the spec.
        """
        draft = self.draft
        name = violation.property or violation.message
        draft.verdict, draft.exit_code = "error", ExitCode.INTERNAL_ERROR
        draft.broken = violation.property or None
        after = counted(len(violation.trace), "state")
        draft.headline = f"internal error in floodmark: {name} fails after {after}, where z3 says: {headline}"
        draft.lines = _run_lines(model or self.model, violation, judged)
        draft.facts["trace"] = trace_entries(model or self.model, violation.trace)

    def judge_by_the_spec(self) -> None:
        """For properties that hold: reports if the spec expects one of them to be violated."""
        wanted = self.check.wanted_property
        if wanted in [prop.name for prop in self.properties]:
            self.draft.exit_code = ExitCode.NOT_AS_EXPECTED
            self.draft.headline += f", but the spec expects {wanted} to be violated"

    def enumerated(self, judged: Sequence[Property]) -> Enumeration:
        """The result of compiled code on the reachable states."""
        started = time.perf_counter()
        found = enumerate_states(self.model, judged, self.left)
        self.draft.seconds += time.perf_counter() - started
        self.draft.facts["enumerated"] = found.states if found.complete else None
        return found


def all_states(found: Enumeration) -> str:
    """The reachable states, in words."""
    return f"all {found.states:,} reachable states" if found.states > 1 else "the reachable state"


def _checked(found: Enumeration) -> str:
    if found.complete and not found.states:
        return "no state is within the boundary"
    if found.complete:
        return f"true of {all_states(found)}"
    return f"not checked in all reachable states: {found.reason}"


def _run_lines(model: Model, violation: Violation, properties: Sequence[Property]) -> list[str]:
    lines = trace_lines(model, violation.trace)
    if violation.failed_step is not None:
        lines.append(f"{len(violation.trace) + 1}  {show_step(violation.failed_step)}")
        lines.append(f"     fails: {violation.message}")
    prop = next((prop for prop in properties if prop.name == violation.property), None)
    if prop is not None and violation.kind in ("invariant", "transition"):
        lines += ["", *explain(model, prop, violation.trace)]
    return lines
