"""Writes docs/proofs.md from results: ``python -m docs.tools.proofs``.

The specs list their proofs in ``[[prove]]`` tables.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from floodmark.checkers.proof_result import Proved
from floodmark.checkers.report.value import show
from floodmark.checkers.spec import ProofMethod, find, read
from floodmark.checkers.symbolic import claims
from floodmark.checkers.symbolic.prove import claim_subject, prove_listed, subject_of
from floodmark.checkers.symbolic.smtlib import file_name
from floodmark.checkers.symbolic.task import Task, task_of
from floodmark.language.plurals import counted

ROOT = Path(__file__).resolve().parent.parent.parent
OPINIONS = ROOT / "docs" / "second_opinions.json"
"""What cvc5 says of the obligations of each proof and claim; ``python -m tests.second_solver --record`` writes it."""

Opinions = dict[str, dict[str, Any]]

_METHODS: dict[ProofMethod, str] = {
    "induction": "induction",
    "k-induction": "k-induction",
    "infer": "inference (IC3)",
    "bmc": "bounded search",
    "ranking": "ranking",
}

HEAD = """# What is proved

Each row is the result of `floodmark prove`; `python -m docs.tools.proofs` runs everything again and writes this page. A
proof covers every state at once, not only the reachable ones. "For every" names the constants that a proof leaves open:
each may be any natural number, and with it the bounds of integers and the size of sets that depend on it. Such a proof
is repeated at some values. "For" gives the constants that were set. With "any size", identifiers have no number either.

The lemmas are functions marked `@lemma` in `invariants/`. An induction has one obligation for each action and each
property or lemma, and one more for each action: that no value leaves its type and no container exceeds its capacity.

An inferred invariant is checked by separate queries (initial states, every action, safety). With "any size", what was
inferred for the constants of the spec is lifted: it is said of every choice of identifiers, what is not inductive then
is dropped, and the rest are the lemmas of an induction, which has to prove the properties without the inference.

A ranking (`@ranking`, beside the lemmas) proves a property of runs under fairness: where the goal is missing, a fair
action helps, and each step makes a number fall or leaves the help as it is. What it proves is searched as well, where
the states are few enough.

No proof is trusted by itself: unless there are too many states, compiled code evaluates every property, lemma, boundary
and inferred clause in each reachable state before anything counts as proved. "States" gives their number; with "for
every", they are the states for the constants that the spec sets. A bounded search whose runs do not reach all of them
proves nothing about longer runs.

Every obligation can be written for other solvers (`--smt`). "cvc5" says how many of them cvc5 answers as z3 does, as a
whole or path by path where z3 was asked so, of how many; about the others it gives up, and a different answer would not
be recorded but fail the run (`python -m tests.second_solver --record`). Where nothing is said, it was not asked about
these obligations.
"""


def main() -> None:
    """Runs the proofs, asks the claims, and writes the page."""
    specs = [read(path) for path in find([ROOT / "specs"], "all")]
    proofs = [
        (task_of(proving), replace(prove_listed(spec, proving), name=spec.name))
        for spec in specs
        for proving in spec.prove
    ]
    answers = [claims.ask(claim) for claim in claims.all_of([ROOT / "specs" / "claims"])]
    (ROOT / "docs" / "proofs.md").write_text(page(proofs, answers), encoding="utf-8")


def page(proofs: list[tuple[Task, Proved]], answers: list[claims.Answered]) -> str:
    """The page as Markdown."""
    opinions = json.loads(OPINIONS.read_text(encoding="utf-8"))
    lines = [HEAD, "## Proofs", ""]
    lines += ["| spec | method | properties | lemmas | for | for every | result | states | cvc5 | time |"]
    lines += ["|---|---|---|---|---|---|---|---|---|---|"]
    for task, result in proofs:
        lines.append("| " + " | ".join(_row(task, result, opinions)) + " |")
    lines += ["", "### Properties and lemmas", ""]
    told: set[tuple[str, ...]] = set()
    for task, result in proofs:
        subject = (result.name, *result.facts["properties"])
        if task.method in ("induction", "ranking") and subject not in told:
            told.add(subject)
            lines += [f"`{result.name}`", ""]
            lines += [f"- properties: {_names(result.facts['properties'])}"]
            lines += [f"- rankings: {_names(result.facts['rankings'])}"] if task.method == "ranking" else []
            lines += [f"- lemmas: {_names(result.facts['lemmas'])}", ""]
    lines += _any_size(proofs, opinions)
    lines += ["### Inferred clauses", ""]
    for task, result in proofs:
        if task.method == "infer" and result.expected:
            lines += [f"`{result.name}`, {_sizes(result, ())}", "", "```"]
            lines += [*result.facts["clauses"], "```", ""]
    total = sum(answered.seconds for answered in answers)
    lines += ["## Claims", ""]
    lines += [f"{len(answers)} claims in `specs/claims`, {total:.0f} s in total. Sets range over up to eight brokers,"]
    lines += ['or over any number of them where the answer is "holds, any size"; integers are unbounded. For a claim']
    lines += ["that fails, the table shows the smallest case.", ""]
    lines += ["| claim | source | answer | cvc5 | smallest case |", "|---|---|---|---|---|"]
    for answered in answers:
        claim = answered.claim
        name = f"{Path(claim.file).stem}: {claim.name.replace('_', ' ')}"
        case = ", ".join(f"{key} = {show(value)}" for key, value in answered.witness.items())
        answer = answered.answer if answered.expected else f"**{answered.answer}, not as expected**"
        answer += ", any size" if answered.any_size else ""
        agreed = _agreed(opinions.get(file_name(claim_subject(claim))))
        lines.append(f"| {name} | {claim.expectation.source} | {answer} | {agreed} | {case} |")
    return "\n".join(lines) + "\n"


def opinion_of(task: Task, result: Proved, opinions: Opinions) -> dict[str, Any] | None:
    """What cvc5 says of a proof; None when it was not asked, or about other obligations than there are now."""
    found = opinions.get(file_name(subject_of(result, task)))
    if found is not None and result.facts.get("obligations", found["obligations"]) != found["obligations"]:
        return None
    return found


def _agreed(opinion: dict[str, Any] | None) -> str:
    if opinion is None:
        return ""
    return f"{opinion['obligations'] - len(opinion['open'])} of {opinion['obligations']}"


def _any_size(proofs: list[tuple[Task, Proved]], opinions: Opinions) -> list[str]:
    """What was proved for any number of identifiers, on what it rests, and how long each obligation took."""
    lines = []
    for task, result in proofs:
        if not task.any_size or not result.expected:
            continue
        facts = result.facts
        others = _sizes(result, tuple(facts["unbounded"]))
        bounding = [name for name in facts["unbounded"] if name not in facts["any_size"]]
        lines += [f"### Any size: `{result.name}`{', with inferred lemmas' if task.method == 'infer' else ''}", ""]
        lines += [
            f"Every state that `{result.model}` can reach has the {counted(len(facts['properties']), 'property')}, "
            f"for any number of identifiers ({', '.join(facts['domain'])})"
            f"{', for every value of ' + ', '.join(bounding) if bounding else ''}"
            f"{', with ' + others if others else ''}; what the network may lose, delay or duplicate, and what a "
            "restart forgets, are the actions of the model."
        ]
        lines += [
            f"This rests on z3, which finds no counterexample to any of the {facts['obligations']} obligations below, "
            "with sets as predicates and sizes of sets known by their laws alone; it was proved again, without "
            f"quantifiers, with {' and '.join(facts['spots'])}.",
        ]
        opinion = opinion_of(task, result, opinions)
        if opinion is not None:
            said = f"cvc5 {opinion['cvc5']} answers as z3 does to {_agreed(opinion)} obligations."
            if opinion["open"]:
                said += f" It gives up after {opinion['units']:,} units about {_names(opinion['open'])}."
            lines += [said]
        lines.append("")
        lines += ["| action | obligations | seconds | milliseconds for each |", "|---|---|---|---|"]
        by_action: dict[str, list[tuple[float, str]]] = {}
        for action, name, seconds in facts["times"]:
            by_action.setdefault(action, []).append((seconds, name))
        for action, timed in by_action.items():
            total = sum(seconds for seconds, _ in timed)
            each = ", ".join(f"{name} {seconds * 1000:.0f}" for seconds, name in sorted(timed, reverse=True))
            lines.append(f"| {action} | {len(timed)} | {total:.2f} | {each} |")
        lines.append("")
    return lines


def _row(task: Task, result: Proved, opinions: Opinions) -> list[str]:
    facts = result.facts
    method = _METHODS[task.method] + (", any size" if task.any_size else "")
    if task.method == "k-induction":
        method += f", k = {facts['depth']}"
    if task.method == "bmc":
        method += f", {facts['depth']} states"
    lemmas = str(len(facts["lemmas"])) if "lemmas" in facts else ""
    if task.method == "infer" and "clauses" in facts:
        lemmas = f"{len(facts['clauses'])} inferred"
    unbounded = facts.get("unbounded", [])
    outcome = {"holds": "proved", "bounded": "no violation"}.get(result.word, f"**{result.verdict}**")
    states = facts.get("enumerated")
    return [
        result.name,
        method,
        str(len(facts["properties"])),
        lemmas,
        _sizes(result, tuple(unbounded)),
        ", ".join(unbounded),
        outcome,
        "" if states is None else f"{states:,}",
        _agreed(opinion_of(task, result, opinions)),
        f"{result.seconds:.1f} s",
    ]


def _sizes(result: Proved, left_out: tuple[str, ...]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in result.constants.items() if name not in left_out)


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    main()
