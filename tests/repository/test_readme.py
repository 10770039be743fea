"""Tests that the commands and outputs in the README and in the guide are true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from floodmark.checkers.verdict.result import ExitCode
from tests.support.command import floodmark, found_in
from tests.support.projects import tank_project

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def block(name: str) -> str:
    """The only code block that follows a comment ``<!-- name -->``."""
    (found,) = re.findall(rf"<!-- {re.escape(name)} -->\n```\w+\n(.*?)```", TEXT, re.DOTALL)
    return str(found)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_the_pages_have_targets(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_readme_leads_to_every_page_of_the_guide() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert f"(docs/guide/{page.name})" in readme


def test_the_counterexample_is_what_the_command_prints() -> None:
    command = "floodmark check specs/alter_isr/core.toml --only-variant AssumesProposedIsr"
    assert block(command) in floodmark(*command.split()[1:], at=ROOT).out


def test_the_run_that_goes_round_is_what_the_command_prints() -> None:
    command = "floodmark check specs/examples/alternating_bit.toml --only-variant LosesEverything"
    assert block(command) in floodmark(*command.split()[1:], at=ROOT).out


def test_the_step_that_refines_nothing_is_what_the_command_prints() -> None:
    command = "floodmark check specs/examples/transaction_commit.toml --only-variant AbortsAfterPrepared"
    assert block(command) in floodmark(*command.split()[1:], at=ROOT).out


def test_what_was_never_taken_is_what_the_command_prints() -> None:
    command = "floodmark check specs/alter_isr/batch.toml --only-variant AlterIsrBatch --coverage"
    printed = {line.strip() for line in floodmark(*command.split()[1:], at=ROOT).out.splitlines()}
    assert {line.strip() for line in block(command).splitlines()} <= printed


def test_the_mapping_of_the_page_is_that_of_the_file() -> None:
    file = "specs/examples/transaction_commit.py"
    assert block(file) in (ROOT / file).read_text(encoding="utf-8")


def test_an_invariant_of_five_lines_is_checked(tmp_path: Path) -> None:
    source = block("invariant")
    assert len([line for line in source.splitlines() if line.strip()]) == 5
    spec = ROOT / "specs/alter_isr/min_isr.toml"
    (tmp_path / "mine.py").write_text(source)
    run = floodmark("check", spec, "--invariants", "mine.py", at=tmp_path)
    assert run.code == ExitCode.AS_EXPECTED, run.out + run.err
    (tmp_path / "mine.py").write_text(source.replace("<=", "<"))
    run = floodmark("check", spec, "--invariants", "mine.py", at=tmp_path)
    assert run.code == ExitCode.NOT_AS_EXPECTED
    assert "followers_never_lead_the_log" in run.out


def test_a_known_bad_design_is_found(tmp_path: Path) -> None:
    (tmp_path / "flawed.py").write_text(block("flawed"))
    spec = 'model = "model.alter_isr.core:AlterIsr"\n[constants]\nmax_partition_epoch = 1\n[limits]\nstates = 100\n'
    (tmp_path / "core.toml").write_text(spec.replace("[limits]\nstates = 100\n", "") + block("flawed spec"))
    run = floodmark("check", "core.toml", "--only-variant", "LetsLaggardsJoin", at=tmp_path)
    assert run.code == ExitCode.AS_EXPECTED, run.out + run.err
    assert "breaks isr_holds_committed" in run.out


def test_the_model_is_complete_and_short(tmp_path: Path) -> None:
    source = block("model")
    assert len([line for line in source.splitlines() if line.strip()]) <= 26
    (tmp_path / "lease.py").write_text(source)
    (tmp_path / "lease.toml").write_text(block("model spec"))
    run = floodmark("check", "lease.toml", at=tmp_path)
    assert run.code == ExitCode.AS_EXPECTED, run.out + run.err
    (tmp_path / "lease.py").write_text(source.replace("require(self.granted == 0)", "require(True)"))
    run = floodmark("check", "lease.toml", at=tmp_path)
    assert run.code == ExitCode.NOT_AS_EXPECTED
    assert "one_holder" in run.out


def test_a_spec_may_have_rows(tmp_path: Path) -> None:
    (tmp_path / "lease.py").write_text(block("model"))
    (tmp_path / "lease.toml").write_text(block("model rows"))
    run = floodmark("check", "lease.toml", at=tmp_path)
    assert run.code == ExitCode.AS_EXPECTED, run.out + run.err
    assert "lease@three  7 states" in run.out
    run = floodmark("check", "lease.toml@five", at=tmp_path)
    assert "lease@five  11 states" in run.out
    assert "three" not in run.out


def test_a_change_that_empties_a_check_is_drift(tmp_path: Path) -> None:
    (tmp_path / "lease.py").write_text(block("model"))
    (tmp_path / "lease.toml").write_text(block("model spec"))
    assert floodmark("gate", ".", "--update-lock", at=tmp_path).code == ExitCode.AS_EXPECTED
    (tmp_path / "lease.py").write_text(block("model").replace("granted == 0", "granted == 1"))
    run = floodmark("gate", ".", at=tmp_path)
    assert run.code == ExitCode.DRIFT, run.out + run.err
    assert block("drift") in run.out


def test_a_plan_is_checked(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(block("plan"))
    (tmp_path / "current.json").write_text(block("plan").replace("[4, 5, 6]", "[1, 2, 3]"))
    command = "floodmark plan plan.json --current current.json --min-insync 2"
    run = floodmark(*command.split()[1:], at=tmp_path)
    assert run.out == block(command)
    assert run.code == ExitCode.NOT_AS_EXPECTED
    assert floodmark(*command.split()[1:], "--failures", "1", at=tmp_path).code == ExitCode.AS_EXPECTED


def test_one_run_writes_the_reports(tmp_path: Path) -> None:
    root = tank_project(tmp_path, 'invariants = ["below_size"]\n')
    assert floodmark("gate", "--update-lock", at=root).code == ExitCode.AS_EXPECTED
    words = block("reports").split()
    assert floodmark(*words[1:], at=root).code == ExitCode.AS_EXPECTED
    assert all((root / name).is_file() for name in words[3::2])
    (root / "lease.py").write_text(block("model"))
    (root / "lease.toml").write_text(block("model spec"))
    for line in block("report").splitlines():
        assert floodmark(*line.split()[1:], at=root).code == ExitCode.AS_EXPECTED
        assert (root / line.split()[-1]).is_file()


def test_the_scenarios_are_runs_of_the_lease(tmp_path: Path) -> None:
    (tmp_path / "lease.py").write_text(block("model"))
    (tmp_path / "lease.toml").write_text(block("model spec") + "\n" + block("scenario"))
    assert floodmark("check", "lease.toml", at=tmp_path).code == ExitCode.AS_EXPECTED
    broken = block("scenario").replace('"time_passes", "time_passes"', '"time_passes"')
    (tmp_path / "lease.toml").write_text(block("model spec") + "\n" + broken)
    told = floodmark("check", "lease.toml", at=tmp_path).out
    assert "step 3: server_grants(client=c2) is not enabled: it requires self.granted == 0, that is 1 == 0" in told


def test_a_counterexample_becomes_a_test(tmp_path: Path) -> None:
    check, report = (line.split()[1:] for line in block("emit test").splitlines())
    *into, name = report
    results = tmp_path / "found.json"
    floodmark(*check[:-1], results, at=ROOT)
    made = floodmark(*[str(results) if word == results.name else word for word in into], tmp_path / name, at=ROOT)
    assert made.code == 0, made.err
    replay = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    run = subprocess.run(replay, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "1 passed" in run.stdout, run.stdout


@pytest.mark.slow
def test_an_implementation_and_a_run_are_held_against_the_model(tmp_path: Path) -> None:
    names = {"lease.py": "model", "lease.toml": "model spec", "test_lease.py": "adapter", "run.jsonl": "trace"}
    for name, text in names.items():
        (tmp_path / name).write_text(block(text))
    pytest_command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    run = subprocess.run(pytest_command, cwd=tmp_path, env=found_in(), capture_output=True, text=True, check=False)
    assert all(line in run.stdout for line in block("pytest").splitlines()), run.stdout
    command = "floodmark conform lease.toml --trace run.jsonl"
    judged = floodmark(*command.split()[1:], at=tmp_path)
    assert judged.out == block(command)
    assert judged.code == ExitCode.NOT_AS_EXPECTED


NAMED = sorted(set(re.findall(r"`((?:model|invariants|specs|benchmarks|examples)/[\w./]+)`", TEXT)))


@pytest.mark.parametrize("path", NAMED)
def test_files_that_it_names_exist(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_readme_shows_a_surviving_mutant(tmp_path: Path) -> None:
    (tmp_path / "lease.py").write_text(block("model"))
    (tmp_path / "lease.toml").write_text(block("model spec"))
    run = floodmark("mutate", "lease.toml", "--workers", "1", at=tmp_path)
    assert run.code == ExitCode.NOT_AS_EXPECTED
    assert block("mutants") in run.out
