"""Writes docs/proofs.md from results: ``python -m docs.tools.proofs``.

The specs list their proofs in ``[[prove]]`` tables. ``--opinions`` proves nothing again and only tells what cvc5 has
been recorded to say.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from docs.tools.opinions import Opinion, agreed, digest_of, recorded_opinions
from floodmark.checkers.project.claim import Claim, claims_of
from floodmark.checkers.project.spec import ListedProof, ProofMethod, Spec, find, read
from floodmark.checkers.resources import cores
from floodmark.checkers.symbolic.methods import claims
from floodmark.checkers.symbolic.methods.smtlib import SmtScripts, file_name
from floodmark.checkers.symbolic.methods.task import ProofTask, task_of
from floodmark.checkers.symbolic.prove import claim_subject, prove_listed, subject_of
from floodmark.checkers.value_text import show
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.language.plurals import counted

ROOT = Path(__file__).resolve().parent.parent.parent

PAGE = ROOT / "docs" / "proofs.md"
Digests = Mapping[str, str]
"""Digests of the questions of proofs and claims, by the names of the folders in which they are written."""

_METHODS: dict[ProofMethod, str] = {
    "induction": "induction",
    "k-induction": "k-induction",
    "infer": "inference (IC3)",
    "bmc": "bounded search",
    "ranking": "ranking",
}

HEAD = """# What is proved

Each row is the result of `floodmark prove`, with the command that repeats it; `floodmark prove SPEC` makes all proofs
that a spec lists, and `python -m docs.tools.proofs` makes all of this page and writes it. A proof covers every state at
once, not only the reachable ones. "For every" names the constants that a proof leaves open: each may be any natural
number, and with it the bounds of integers and the size of sets that depend on it; integers have no limit there, and
`check` reports a model error where one leaves 64 bits. Such a proof is repeated at some values. "For" gives the
constants that were set. With "any size", identifiers have no number either.

The lemmas are functions marked `@lemma` in `invariants/`. An induction has one obligation for each action and each
property or lemma, and one more for each action: that no value leaves its type and no container exceeds its capacity.

A proof with "any size" is made by the answers that are recorded beside its spec (`*.answers`): which lemmas each
obligation needs, and how z3 refuted it. They are never believed: z3 is asked the narrow question again, and where it
does not refute it, the obligation is open, and the proof undetermined. `--find` looks for other answers. The file names
the version of z3 that gave them. With another version the same questions are asked, each with several random seeds, so
most answers go through; what does not is told with both versions. Each proof of the table below was also made
with z3 5.4.1, the release after the pinned one, by the commands in its rows: all went through as listed.

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
whole or in the parts that z3 was asked, of how many; about the others it gives up, with the effort that
`docs/second_opinions.json` names. It answers none differently: that would not be recorded but fail the run
(`python -m tools.second_solver --record`). Where nothing is said, it was not asked about these obligations as they are
now.
"""


def main() -> None:
    """Runs the proofs, asks the claims, and writes the page; or writes it with other opinions."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--opinions", action="store_true", help="keep the results, tell what cvc5 says of them now")
    if parser.parse_args().opinions:
        PAGE.write_text(with_opinions(PAGE.read_text(encoding="utf-8"), recorded_opinions()), encoding="utf-8")
        return
    listed = listed_proofs()
    apart = multiprocessing.get_context("spawn")  # what is inferred may depend on what a process did before
    with ProcessPoolExecutor(1, apart, max_tasks_per_child=1) as pool:
        made = list(pool.map(proved, *zip(*listed, strict=True)))
    answers, digests = answered(list(claims_of([ROOT / "specs" / "claims"])))
    for _, own in made:
        digests |= own
    proofs = [(task_of(proving), result) for (_, proving), (result, _) in zip(listed, made, strict=True)]
    PAGE.write_text(page(proofs, answers, digests), encoding="utf-8")


def listed_proofs() -> list[tuple[Spec, ListedProof]]:
    """The proofs of the specs, in the order of the page."""
    specs = [read(path) for path in find([ROOT / "specs"], "all")]
    return [(spec, proving) for spec in specs for proving in spec.prove]


def with_opinions(text: str, opinions: Mapping[str, Opinion]) -> str:
    """The page with the same results, and these opinions on its proofs and claims, all of which it has to tell of."""
    listed = listed_proofs()
    subjects = [subject_of(spec.name, task_of(proving)) for spec, proving in listed]
    said = [opinions.get(file_name(subject)) for subject in subjects]
    of_any_size = iter([opinion for (_, proving), opinion in zip(listed, said, strict=True) if proving.any_size])
    of_claims = [opinions.get(file_name(claim_subject(it))) for it in claims_of([ROOT / "specs" / "claims"])]
    counted_open = left_open([it for it in said if it is not None], len(said))
    rows = {"| spec |": (-2, iter(said)), "| claim |": (3, iter(of_claims))}
    table: tuple[int, Iterator[Opinion | None]] | None = None
    lines = HEAD.splitlines()
    for line in text[text.index("\n## Proofs") :].splitlines():
        start = next((it for it in rows if line.startswith(it)), None)
        if start is not None:
            table = rows[start]
        elif not line.startswith("|"):
            table = None
        elif table is not None and not line.startswith("|--"):
            cells = line.strip("|").split(" | ")
            cells[table[0]] = agreed(next(table[1]))
            line = "|" + " | ".join(cells) + "|"
        if not line.startswith("cvc5 "):
            lines.append(line)
        if line == BEFORE_COUNT:
            lines.append(counted_open)
        if line.startswith("This rests on z3"):
            lines += _told(next(of_any_size))
    return "\n".join(lines) + "\n"


def proved(spec: Spec, proving: ListedProof) -> tuple[ProofResult, dict[str, str]]:
    """The result of a proof that a spec lists, and the digest of its questions."""
    with tempfile.TemporaryDirectory() as place:
        result = replace(prove_listed(spec, proving, SmtScripts(Path(place)), workers=cores()), name=spec.name)
        return result, _digests(Path(place))


def answered(asked: list[Claim]) -> tuple[list[claims.ClaimResult], dict[str, str]]:
    """The answers to claims, and the digests of their questions."""
    with tempfile.TemporaryDirectory() as place:
        scripts = SmtScripts(Path(place))
        answers = [claims.ask(claim, record=scripts.of(claim_subject(claim))) for claim in asked]
        return answers, _digests(Path(place))


def _digests(place: Path) -> dict[str, str]:
    return {folder.name: digest_of(folder.glob("*.smt2")) for folder in place.iterdir()}


def page(proofs: list[tuple[ProofTask, ProofResult]], answers: list[claims.ClaimResult], digests: Digests) -> str:
    """The page as Markdown."""
    opinions = {name: it for name, it in recorded_opinions().items() if digests.get(name) == it["questions"]}
    found = [_opinion_of(task, result, opinions) for task, result in proofs]
    lines = [HEAD, "## Proofs", "", BEFORE_COUNT, left_open([it for it in found if it is not None], len(found)), ""]
    lines += [in_all(proofs), ""]
    lines += ["| spec | method | properties | lemmas | for | for every | result | states | again | cvc5 | time |"]
    lines += ["|---|---|---|---|---|---|---|---|---|---|---|"]
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
        opinion = agreed(opinions.get(file_name(claim_subject(claim))))
        lines.append(f"| {name} | {claim.expectation.source} | {answer} | {opinion} | {case} |")
    return "\n".join(lines) + "\n"


BEFORE_COUNT = "What a second solver says of these proofs, in all:"


def in_all(proofs: list[tuple[ProofTask, ProofResult]]) -> str:
    """How long the proofs take, one after the other."""
    of_any = sum(result.seconds for task, result in proofs if task.any_size)
    every = sum(result.seconds for _, result in proofs)
    return f"The proofs take {every:.0f} s in all on {cores()} cores, those with any size {of_any:.0f} s of them."


def left_open(opinions: list[Opinion], proofs: int) -> str:
    """How many obligations of proofs the second solver leaves open."""
    obligations = sum(it["obligations"] for it in opinions)
    undetermined = sum(len(it["open"]) for it in opinions)
    said = f"cvc5 leaves {undetermined:,} of {counted(obligations, 'obligation')} open, and differs on none"
    return said + (f"; it was not asked about {proofs - len(opinions)} proofs." if proofs > len(opinions) else ".")


def _opinion_of(task: ProofTask, result: ProofResult, opinions: Mapping[str, Opinion]) -> Opinion | None:
    return opinions.get(file_name(subject_of(result.name, task)))


def _any_size(proofs: list[tuple[ProofTask, ProofResult]], opinions: Mapping[str, Opinion]) -> list[str]:
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
        lines += [*_told(_opinion_of(task, result, opinions)), ""]
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


def _told(opinion: Opinion | None) -> list[str]:
    """What cvc5 says, in words."""
    if opinion is None:
        return []
    said = f"cvc5 {opinion['cvc5']} answers as z3 does to {agreed(opinion)} obligations, to none differently."
    if opinion["open"]:
        said += f" With {opinion['units']:,} units in each way it gives up about {_names(opinion['open'])}."
    return [said]


def _row(task: ProofTask, result: ProofResult, opinions: Mapping[str, Opinion]) -> list[str]:
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
        f"`{result.reproduce}`",
        agreed(_opinion_of(task, result, opinions)),
        f"{result.seconds:.1f} s",
    ]


def _sizes(result: ProofResult, left_out: tuple[str, ...]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in result.constants.items() if name not in left_out)


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    main()
