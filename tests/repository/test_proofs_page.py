"""Tests that docs/proofs.md matches the results of the proofs and the claims."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from docs.tools import proofs
from docs.tools.opinions import agreed, recorded_opinions
from docs.tools.proofs import answered, page, proved, with_opinions
from floodmark.checkers.project.claim import Claim, claims_of
from floodmark.checkers.project.spec import ListedProof, Spec
from floodmark.checkers.symbolic.methods.smtlib import file_name
from floodmark.checkers.symbolic.methods.task import task_of
from floodmark.checkers.symbolic.prove import claim_subject, subject_of
from floodmark.checkers.verdict.proof_result import ProofResult, listed_proofs, proof_command
from floodmark.checkers.verdict.result import ExitCode
from tests.support.shipped import shipped

ROOT = Path(__file__).resolve().parents[2]
PROVINGS = [(spec, proving) for spec in shipped().values() for proving in spec.prove]
QUICK = ("examples/election",)
CLAIMS = list(claims_of([ROOT / "specs" / "claims"]))
QUICK_CLAIMS = ("kip_455", "zk_controller")


def rows(text: str, header: str) -> list[list[str]]:
    """The rows of the table whose header begins so."""
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(header)) + 2
    table = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return table


WRITTEN = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
PROOFS = [row[:-1] for row in rows(WRITTEN, "| spec | method |")]
"""The rows without their times."""
ANSWERS = rows(WRITTEN, "| claim | source |")


def _is_quick(spec: Spec, proving: ListedProof) -> bool:
    return spec.name in QUICK and proving.tier == "quick"


def _parameters() -> list[object]:
    return [
        pytest.param(
            place,
            spec,
            proving,
            id=f"{spec.name}-{place}",
            marks=[] if _is_quick(spec, proving) else [pytest.mark.slow],
        )
        for place, (spec, proving) in enumerate(PROVINGS)
    ]


@pytest.mark.parametrize(("place", "spec", "proving"), _parameters())
def test_a_proof_is_as_the_page_says(place: int, spec: Spec, proving: ListedProof) -> None:
    """Also what cvc5 says of it, which counts only if it is about the same questions."""
    result, digests = proved(spec, proving)
    assert result.expected
    _holds_the_record(digests, f"specs/{spec.name.partition('@')[0]}.toml")
    ((*row, _),) = rows(page([(task_of(proving), result)], [], digests), "| spec | method |")
    assert row == PROOFS[place]


def _holds_the_record(digests: dict[str, str], path: str) -> None:
    """Checks that docs/second_opinions.json is about these questions, where it has an opinion."""
    opinions = recorded_opinions()
    stale = [name for name, digest in digests.items() if name in opinions and opinions[name]["questions"] != digest]
    command = f"python -m tools.second_solver --record {path} && python -m docs.tools.proofs"
    assert not stale, f"cvc5 was asked other questions about {', '.join(stale)}; run {command}"


def test_the_page_has_every_proof_and_every_claim() -> None:
    assert [row[0] for row in PROOFS] == [spec.name for spec, _ in PROVINGS]
    names = [f"{Path(claim.file).stem}: {claim.name.replace('_', ' ')}" for claim in CLAIMS]
    assert [row[0] for row in ANSWERS] == names
    expected = ["holds" if claim.expectation.holds else "fails" for claim in CLAIMS]
    assert [row[2].removesuffix(", any size") for row in ANSWERS] == expected


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(
            claim,
            id=f"{Path(claim.file).stem}.{claim.name}",
            marks=[] if Path(claim.file).stem in QUICK_CLAIMS else [pytest.mark.slow],
        )
        for claim in CLAIMS
    ],
)
def test_a_claim_is_as_the_page_says(claim: Claim) -> None:
    answers, digests = answered([claim])
    _holds_the_record(digests, "specs/claims")
    (row,) = rows(page([], answers, digests), "| claim | source |")
    assert row in ANSWERS


def _result(spec: Spec, proving: ListedProof) -> ProofResult:
    return ProofResult(spec.name, proving.method, "holds", ExitCode.AS_EXPECTED, "", 0.0)


def test_every_second_opinion_is_about_a_proof_or_a_claim_and_told() -> None:
    opinions = recorded_opinions()
    listed = [file_name(subject_of(spec.name, task_of(proving))) for spec, proving in PROVINGS]
    asked = [file_name(claim_subject(claim)) for claim in CLAIMS]
    assert set(opinions) <= {*listed, *asked}
    assert [row[9] for row in PROOFS] == [agreed(opinions.get(name)) for name in listed]
    assert [row[3] for row in ANSWERS] == [agreed(opinions.get(name)) for name in asked]


def test_there_is_a_second_opinion_on_every_proof_and_every_claim() -> None:
    """And what it leaves open is little; of KIP-497 it leaves nothing open."""
    opinions = recorded_opinions()
    for spec, proving in PROVINGS:
        opinion = opinions[file_name(subject_of(spec.name, task_of(proving)))]
        assert len(opinion["open"]) <= (0 if spec.name.startswith("alter_isr/") else opinion["obligations"] / 10)
    open_claims = [claim.name for claim in CLAIMS if opinions[file_name(claim_subject(claim))]["open"]]
    assert len(open_claims) <= len(CLAIMS) / 10


@pytest.mark.slow
def test_the_page_can_be_told_other_opinions() -> None:
    """Nothing else changes, and what cvc5 was not asked is not told."""
    assert with_opinions(WRITTEN, recorded_opinions()) == WRITTEN
    without = with_opinions(WRITTEN, {})
    assert {row[9] for row in rows(without, "| spec | method |")} == {""}
    assert {row[3] for row in rows(without, "| claim | source |")} == {""}
    said = [line for line in without.splitlines() if line.startswith("cvc5 ")]
    nothing = "cvc5 leaves 0 of 0 obligations open, and differs on none"
    assert said == [f"{nothing}; it was not asked about {len(PROOFS)} proofs."]
    assert with_opinions(without, recorded_opinions()) == WRITTEN


def test_an_opinion_about_other_questions_is_not_told() -> None:
    spec, proving = next(it for it in PROVINGS if it[0].name == "examples/two_phase_commit" and it[1].any_size)
    facts: dict[str, Any] = {"properties": [], "lemmas": []}
    result, task = replace(_result(spec, proving), facts=facts, exit_code=ExitCode.UNDETERMINED), task_of(proving)
    name = file_name(subject_of(result.name, task))
    opinion = {"cvc5": "1", "units": 1, "questions": "now", "obligations": 55, "open": ["act-p"]}
    with patch.object(proofs, "recorded_opinions", lambda: {name: opinion}):
        pages = [page([(task, result)], [], {name: digest}) for digest in ("now", "then")]
    assert [rows(text, "| spec | method |")[0][9] for text in pages] == ["54 of 55", ""]


def test_the_page_counts_what_the_second_solver_leaves_open() -> None:
    said = [recorded_opinions().get(file_name(subject_of(spec.name, task_of(proving)))) for spec, proving in PROVINGS]
    undetermined = sum(len(opinion["open"]) for opinion in said if opinion is not None)
    assert f"\ncvc5 leaves {undetermined} of " in WRITTEN


def test_each_row_has_the_command_that_repeats_it() -> None:
    assert [row[8] for row in PROOFS] == [f"`{proof_command(spec, proving)}`" for spec, proving in PROVINGS]
    for spec, proving in PROVINGS:
        words = shlex.split(proof_command(spec, proving))
        assert listed_proofs(spec, words[4] if len(words) > 3 else None) == [proving]
