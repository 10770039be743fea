"""Tests that docs/proofs.md matches the results of the proofs and the claims."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from docs.tools.proofs import OPINIONS, opinion_of, page
from floodmark.checkers.proof_result import Proved
from floodmark.checkers.result import ExitCode
from floodmark.checkers.spec import Proving, Spec, find, read
from floodmark.checkers.symbolic import claims
from floodmark.checkers.symbolic.prove import claim_subject, prove_listed, subject_of
from floodmark.checkers.symbolic.smtlib import file_name
from floodmark.checkers.symbolic.task import task_of

ROOT = Path(__file__).resolve().parent.parent
PROVINGS = [(spec, proving) for spec in map(read, find([ROOT / "specs"], "all")) for proving in spec.prove]
QUICK = "induction"
CLAIMS = list(claims.all_of([ROOT / "specs" / "claims"]))
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


def _is_quick(proving: Proving) -> bool:
    return proving.tier == "quick" and proving.method == QUICK and not (proving.constants or proving.any_size)


def _parameters() -> list[object]:
    return [
        pytest.param(
            place,
            spec,
            proving,
            id=f"{spec.name}-{place}",
            marks=[] if _is_quick(proving) else [pytest.mark.slow],
        )
        for place, (spec, proving) in enumerate(PROVINGS)
    ]


@pytest.mark.parametrize(("place", "spec", "proving"), _parameters())
def test_a_proof_is_as_the_page_says(place: int, spec: Spec, proving: Proving) -> None:
    result = replace(prove_listed(spec, proving), name=spec.name)
    assert result.expected
    ((*row, _),) = rows(page([(task_of(proving), result)], []), "| spec | method |")
    assert row == PROOFS[place]


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
def test_a_claim_is_as_the_page_says(claim: claims.Claim) -> None:
    (row,) = rows(page([], [claims.ask(claim)]), "| claim | source |")
    assert row in ANSWERS


def _result(spec: Spec, proving: Proving, obligations: int | None = None) -> Proved:
    facts = {} if obligations is None else {"obligations": obligations}
    return Proved(spec.name, proving.method, "holds", ExitCode.AS_EXPECTED, "", 0.0, facts=facts)


def test_every_second_opinion_is_about_a_proof_or_a_claim() -> None:
    opinions = json.loads(OPINIONS.read_text(encoding="utf-8"))
    subjects = [subject_of(_result(spec, proving), task_of(proving)) for spec, proving in PROVINGS]
    assert set(opinions) <= {file_name(subject) for subject in (*subjects, *map(claim_subject, CLAIMS))}
    assert {place for place, (spec, proving) in enumerate(PROVINGS)
            if opinion_of(task_of(proving), _result(spec, proving), opinions) is not None} == {
        place for place, row in enumerate(PROOFS) if row[8]
    }


def test_an_opinion_about_other_obligations_is_not_told() -> None:
    spec, proving = next(it for it in PROVINGS if it[0].name == "examples/two_phase_commit" and it[1].any_size)
    task = task_of(proving)
    opinions = {file_name(subject_of(_result(spec, proving), task)): {"obligations": 55, "open": []}}
    assert opinion_of(task, _result(spec, proving, 55), opinions) is not None
    assert opinion_of(task, _result(spec, proving, 56), opinions) is None
