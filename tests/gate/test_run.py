"""Tests a run of the gate from inside: its plan, its processes, and what it prints of it."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest

from floodmark.checkers.gate import run as gate_run
from floodmark.checkers.gate import text
from floodmark.checkers.gate.job import CheckJob
from floodmark.checkers.gate.lock import Lock
from floodmark.checkers.gate.plan import plan_of
from floodmark.checkers.gate.run import GateRun, _on_cluster, _uncollected
from floodmark.checkers.gate.schedule import GateProgress, _on_one_core
from floodmark.checkers.gate.scope import GateScope
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import SearchResult
from floodmark.checkers.verdict.check import CheckSettings
from floodmark.checkers.verdict.gate_outcome import GateOutcome
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from tests.support.gates import SPEC, locked, repository, run

PROVED = f'{SPEC}\n[[prove]]\nmethod = "induction"\nproperties = ["below_size"]\n'


def test_the_lock_tells_how_long_a_search_takes(tmp_path: Path) -> None:
    scope = GateScope.of(repository(tmp_path))
    known = {"generated": 4_000_000, "distinct": 1000}
    for entry, generated, total in ((known, 4_000_000, 1000), ({"generated": "many", "distinct": "few"}, None, None)):
        model, design = plan_of(scope, "quick", CheckSettings(), Lock(specs={"tank": entry})).checks
        assert (model.generated, model.total, design.total) == (generated, total, None)
    assert model.seconds < plan_of(scope, "quick", CheckSettings(), Lock(specs={"tank": known})).checks[0].seconds


def test_every_file_that_cannot_be_read_is_told_and_the_others_are_checked(tmp_path: Path) -> None:
    broken = {f"specs/{name}.toml": 'modell = "model.tank:Tank"\n' for name in ("a", "b", "z")}
    claims = {f"specs/claims/{name}.py": "import nothing_like_that\n" for name in ("a", "b")}
    plan = plan_of(GateScope.of(repository(tmp_path, files={**broken, **claims})), "quick", CheckSettings(), None)
    assert [Path(result.spec).name for result in plan.broken] == ["a.toml", "b.toml", "z.toml"]
    assert [proved.name for proved in plan.broken_claims] == ["a", "b"]
    assert [(job.name, job.variant) for job in plan.checks] == [("tank", None), ("tank", "StopsHalf")]


def test_a_process_gets_a_check_for_one_core_and_a_proof_as_it_is(tmp_path: Path) -> None:
    plan = plan_of(GateScope.of(repository(tmp_path, spec=PROVED)), "quick", CheckSettings(workers=4), None)
    (proof,) = plan.others
    assert _on_one_core(proof, 4) is proof
    for job in plan.checks:
        beside = _on_one_core(job, 4)
        assert beside == job.__class__(job.name, job.variant, job.check.beside(4), job.generated, job.total)
        assert beside.check.settings.workers == 1


def test_only_the_checks_of_a_cluster_run_there(tmp_path: Path) -> None:
    scope = GateScope.of(repository(tmp_path, spec=PROVED))
    for engine, there in (("spark", [True, True, False]), ("native", [False] * 3), ("reference", [False] * 3)):
        plan = plan_of(scope, "quick", CheckSettings(engine=engine), None)  # type: ignore[arg-type]
        assert [_on_cluster(job) for job in (*plan.checks, *plan.others)] == there


def test_a_check_of_a_cluster_does_not_run_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str | None] = []

    def there(jobs: Sequence[CheckJob], *_: object) -> Iterator[tuple[CheckJob, CheckResult]]:
        for job in jobs:
            ran.append(job.variant)
            yield job, run_check(job.check)

    monkeypatch.setattr(gate_run, "_run_on_cluster", there)
    monkeypatch.setattr(gate_run, "_on_cluster", lambda job: job.variant == "StopsHalf")
    assert run(repository(tmp_path), update=True).code == ExitCode.AS_EXPECTED
    assert ran == ["StopsHalf"]


@pytest.mark.parametrize("was", [True, False])
def test_garbage_is_looked_for_again_after_everything_was_loaded(was: bool) -> None:
    (gc.enable if was else gc.disable)()
    try:
        with _uncollected():
            assert not gc.isenabled()
        assert gc.isenabled() == was
    finally:
        gc.enable()
        gc.unfreeze()


def test_the_time_that_is_left_is_that_of_what_is_not_known_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "cache"))
    root = repository(tmp_path / "one")
    run(root, cache=True)
    spec = root / "specs/tank.toml"
    spec.write_text(spec.read_text().replace('"gets_full"', '"below_size"'))
    shown = GateProgress()
    asked = GateRun(GateScope.of(root), "quick", CheckSettings(engine="reference", workers=1), True, "", progress=shown)
    outcome, _ = asked.outcome(lambda result: None)
    (job,) = shown.jobs
    assert isinstance(job, CheckJob)
    assert (outcome.cached, job.variant) == (1, "StopsHalf")


def printed(*codes: ExitCode) -> list[str]:
    """The last lines of a run with such results, with their colours."""
    found = SearchResult("native", True, distinct=1, notes=["one", "two"])
    results = [CheckResult("s.toml", f"s{place}", "m", None, "quick", exit_code=code, search_result=found)
               for place, code in enumerate(codes)]  # fmt: skip
    return list(text.end(GateOutcome(results, [], [], "quick", 1.0, "again", Path("floodmark.lock")), False))


@pytest.mark.parametrize(
    ("codes", "colour"),
    [
        ([ExitCode.AS_EXPECTED], "green"),
        ([ExitCode.AS_EXPECTED, ExitCode.UNDETERMINED], "yellow"),
        ([ExitCode.UNDETERMINED, ExitCode.NOT_AS_EXPECTED], "red"),
        ([ExitCode.NOTHING_CHECKED], "red"),
        ([ExitCode.USER_ERROR], "red"),
    ],
)
def test_the_colour_of_the_verdict_is_that_of_the_exit_code(codes: list[ExitCode], colour: str) -> None:
    *_, verdict, _ = printed(*codes)
    assert verdict.startswith(click.style("", fg=colour, bold=True, reset=False)), verdict


def test_every_note_of_every_result_is_printed() -> None:
    lines = [line.strip() for line in printed(ExitCode.AS_EXPECTED, ExitCode.AS_EXPECTED)]
    assert lines[:4] == ["note: one in s0", "note: two in s0", "note: one in s1", "note: two in s1"]


def test_a_lock_that_is_refused_says_everything_that_is_weak_and_is_not_green(tmp_path: Path) -> None:
    spills = "@action\n    def spills(self) -> None:\n        require(self.level > 8)\n        self.level = 0\n\n    "
    never = ("@action\n    def drain", f"{spills}@action\n    def drain")
    edits = (("require(self.level > 0)", "require(self.level > 8)"), never)
    root = repository(tmp_path, edits, spec='idle = ["drain", "spills"]\n')
    locked(root)
    spec = root / "specs/tank.toml"
    spec.write_text(spec.read_text().replace('idle = ["drain", "spills"]\n', ""))
    assert run(root).code == 0
    ended = run(root, update=True)
    assert ended.code == ExitCode.NOT_AS_EXPECTED
    first, *more = ended.lines[-3:]
    assert first.startswith("the lock was not written: these checks are weaker than they look; fix them, or list")
    assert more == [
        "  under idle = [...] or vacuous = [...], or as distinct = 0 under [expect]:",
        "  tank: never fired: spills, drain",
    ]
    (root / "specs/floodmark.lock").unlink()
    assert run(root, update=True).code == ExitCode.DRIFT


def test_a_lock_accepts_no_verdict_that_is_not_expected(tmp_path: Path) -> None:
    root = repository(tmp_path, (("!= 4", "!= 3"),))
    ended = run(root, update=True)
    assert ended.code == ExitCode.NOT_AS_EXPECTED and not (root / "specs/floodmark.lock").exists()
    assert ended.lines[-1] == "the lock was not written: it accepts only verdicts that are as expected"


@pytest.mark.parametrize(("tier", "words"), [("quick", ""), ("deep", " --tier deep")])
def test_the_command_that_runs_the_gate_again_names_its_tier(tmp_path: Path, tier: Any, words: str) -> None:
    root = repository(tmp_path, spec=f'tier = "{tier}"\n')
    assert f"{words} --engine reference" in run(root, tier=tier).lines[-1]
    assert ("--tier" in run(root, tier=tier).lines[-1]) == bool(words)


def test_results_have_their_properties_wherever_they_were_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "cache"))
    root = repository(tmp_path / "one")
    for cached in (0, 2):
        settings = CheckSettings(engine="reference", workers=2)
        outcome, _ = GateRun(GateScope.of(root), "quick", settings, True, "").outcome(lambda result: None)
        assert outcome.cached == cached
        for result in outcome.results:
            wanted = {"below_size", "gets_full", "never_four", "one_step"}
            assert {prop.name for prop in result.properties} == (wanted if result.variant is None else {"gets_full"})


def test_a_folder_of_broken_specs_has_no_lock_either(tmp_path: Path) -> None:
    root = repository(tmp_path)
    (root / "specs/tank.toml").write_text('modell = "model.tank:Tank"\n')
    ended = run(root)
    assert ended.code == ExitCode.USER_ERROR and "there is no lock" in ended.text
