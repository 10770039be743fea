"""Tests claims: expected answers, and errors for malformed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import z3
from click.testing import CliRunner

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.project.claim import Claim, claims_of, read_claims
from floodmark.checkers.symbolic.methods.claims import ask
from floodmark.language.errors import ModelError, SourceError

CLAIMS = Path(__file__).resolve().parents[2] / "specs" / "claims"
SLOW = {"producers_go_on_including"}


def _claims() -> list[object]:
    """Of each file the first claim that holds and the first that fails are asked quickly. The gate asks all of them."""
    found: list[object] = []
    asked = set()
    for claim in claims_of([CLAIMS]):
        kind = claim.file, claim.expectation.holds
        marks = [pytest.mark.slow] if kind in asked or claim.name in SLOW else []
        asked.add(kind)
        found.append(pytest.param(claim, id=f"{Path(claim.file).stem}.{claim.name}", marks=marks))
    return found


@pytest.mark.parametrize("claim", _claims())
def test_claims_have_the_expected_answer(claim: Claim) -> None:
    answered = ask(claim, 120)
    assert answered.expected, (answered.answer, answered.witness, answered.reason)
    assert bool(answered.witness) == (answered.answer == "fails")


def _named(file: str, name: str) -> Claim:
    return next(claim for claim in read_claims(CLAIMS / file) if claim.name == name)


def _shown(file: str, name: str) -> dict[str, str]:
    return {key: repr(value) for key, value in ask(_named(file, name)).witness.items()}


def test_witnesses_of_claims_are_smallest() -> None:
    assert _shown("kip_236.py", "replicas_kept_out_are_oar_without_rar") == {"oar": "{1}", "rar": "{2}"}
    assert _shown("kip_595.py", "successors_start_one_after_the_other") == {"successors": "11", "earlier": "0"}
    assert _shown("kip_352.py", "draft_implies_adopted") == {
        "replicas": "{1, 2}", "adding": "{1}", "removing": "{}", "isr": "{1}"
    }


HEADER = """
from __future__ import annotations
from floodmark.claims import fails, holds
from floodmark import Identifier, Set, require

class Broker(Identifier, count=3, prefix=""):
    pass

"""


def _written(tmp_path: Path, text: str) -> Path:
    folder = tmp_path / "specs"
    folder.mkdir()
    path = folder / "mine.py"
    path.write_text(HEADER + text)
    return path


def test_a_claim_that_is_not_as_expected_ends_with_1(tmp_path: Path) -> None:
    path = _written(tmp_path, """
@holds("nowhere")
def sets_are_small(one: Set[Broker]) -> bool:
    return len(one) < 2
""")
    result = CliRunner().invoke(command, ["prove", str(path)], standalone_mode=False)
    assert result.return_value == 1
    assert "smallest case: one = {1,2}" in result.output
    assert "expects it to hold" in result.output


def test_premises_that_nothing_satisfies_are_an_error(tmp_path: Path) -> None:
    path = _written(tmp_path, """
@holds("nowhere")
def nothing(one: Set[Broker]) -> bool:
    require(len(one) > 3)
    return True
""")
    with pytest.raises(ModelError, match="no case satisfies the premises"):
        ask(read_claims(path)[0])


def test_premises_that_z3_cannot_judge_leave_the_answer_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is true of no case is true of every case, so a claim may hold only when there is a case."""

    class Unsure:
        """A solver that runs out of time when it is asked about the premises."""

        def __init__(self, logic: str) -> None:
            self.solver = z3.Solver()
            self.asked = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(self.solver, name)

        def check(self, *assumptions: Any) -> Any:
            self.asked += 1
            return z3.unknown if self.asked == 1 else self.solver.check(*assumptions)

        def reason_unknown(self) -> str:
            return "timeout"

    monkeypatch.setattr(z3, "SolverFor", Unsure)
    path = _written(tmp_path, """
@holds("of sets")
def smaller(one: Set[Broker], other: Set[Broker]) -> bool:
    require(len(one) < len(other))
    return one != other
""")
    (claim,) = read_claims(path)
    answered = ask(claim)
    assert (answered.answer, answered.reason) == ("undetermined", "of the premises, timeout")


def test_a_claim_needs_types(tmp_path: Path) -> None:
    path = _written(tmp_path, """
@holds("nowhere")
def nothing(one) -> bool:
    return True
""")
    with pytest.raises(ModelError, match="the parameter one needs a type"):
        ask(read_claims(path)[0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@holds\ndef lost(one: Set[Broker]) -> bool:\n    return False\n", "lost needs the place of its sentence"),
        ("class Group:\n    @holds('a')\n    def lost(one: Set[Broker]) -> bool:\n        return False\n",
         "has no effect on lost here"),
        ("def outer() -> None:\n    @fails('a')\n    def lost(one: Set[Broker]) -> bool:\n        return True\n",
         "has no effect on lost here"),
    ],
)  # fmt: skip
def test_a_claim_that_nobody_would_ask_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        read_claims(_written(tmp_path, text))


def test_a_file_of_claims_that_nobody_would_read_is_an_error(tmp_path: Path) -> None:
    path = _written(tmp_path, "@holds('a')\ndef lost(one: Set[Broker]) -> bool:\n    return False\n")
    inner = path.parent / "inner"
    inner.mkdir()
    path.rename(inner / path.name)
    (inner / "helpers.py").write_text("LIMIT = 3\n")
    with pytest.raises(SourceError, match="claims are read from the files in specs itself"):
        list(claims_of([path.parent]))
