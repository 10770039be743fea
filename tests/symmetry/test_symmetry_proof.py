"""Tests which specs may be searched by orbits, and that most need no z3 for that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from floodmark import Model
from floodmark.checkers.project.spec import read
from floodmark.checkers.symmetry.proof import parts_of, prove_symmetry
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.compiler.identifier_bias import first_bias
from floodmark.compiler.program import read_program
from floodmark.compiler.renaming import symmetric_types
from tests.support.shipped import SPECS, shipped

ORBITS = [path for path, spec in shipped().items() if spec.symmetry]
DEEP = {shipped()[path].model: path for path in ORBITS if shipped()[path].tier == "deep"}
"""One spec of each model that the quick gate, which needs the proof of each of its own, does not search."""


def test_the_specs_that_count_orbits_are_known() -> None:
    assert sorted(path.name for path in ORBITS) == [
        "any_fetch_epoch.toml", "committed_voters.toml", "directories.toml", "disks.toml", "disks_deep.toml",
        "former_voters_commit.toml", "half_commits.toml", "half_holds.toml", "kept_end_offsets.toml",
        "kip236_controller_records.toml@deep", "kip236_controller_records.toml@two_brokers",
        "kip236_tools.toml@deep", "kip236_tools.toml@two_brokers", "late_messages.toml@three_epochs",
        "latest_voters_in_snapshots.toml", "metric.toml", "min_isr.toml", "observers_stand.toml",
        "partition.toml", "pre_vote.toml@three_epochs", "pre_vote.toml@two_voters", "reassignment.toml",
        "returning_leader.toml", "shipped_four_brokers.toml", "sizes.toml@five_voters",
        "sizes.toml@four_epochs_restart", "snapshots.toml", "switched.toml", "two_keys.toml", "voters.toml@restarts",
        "voters.toml@three_voters",
        "voters.toml@two_voters", "voters.toml@updates",
    ]  # fmt: skip


QUICK = sorted(DEEP.values())[::3]
"""Whether the others are still symmetric the deep tier asks as well, before it counts their orbits."""


@pytest.mark.parametrize("path", [
    pytest.param(path, id=path.name, marks=() if path in QUICK else pytest.mark.slow) for path in ORBITS
])
def test_shipped_models_are_proved_symmetric(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path))
    for check in checks(read(path), CheckSettings()):
        model = check.cls()(**check.constants)
        functions = {prop.name: prop.function for prop in check.properties()}
        program, asked = read_program(model, functions), check.symmetry
        every = symmetric_types(program.variables.values())
        kinds = tuple(kind for kind in every if asked is True or (asked and kind.cls.__name__ in asked))
        assert kinds
        assert prove_symmetry(model, functions, program, asked).kinds == kinds


READ = ["examples/two_phase_commit", "alter_isr/core", "alter_isr/shipped", "under_replicated/draft",
        "under_replicated/command", "zk_controller/short_isr"]


@pytest.mark.parametrize("name", READ)
def test_these_are_symmetric_as_they_are_written(name: str) -> None:
    check = next(iter(checks(read(SPECS / f"{name}.toml"), CheckSettings())))
    model: Model = check.cls()(**check.constants)
    program = read_program(model, {prop.name: prop.function for prop in check.properties()})
    kinds = symmetric_types(program.variables.values())
    assert kinds
    assert [found for part in parts_of(program) if (found := first_bias(part, kinds))] == []


def test_z3_is_not_loaded_for_what_can_be_read(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from floodmark.checkers.native.search import search_states\n"
        "from floodmark.checkers.search_result import Options\n"
        "from specs.examples.two_phase_commit import TwoPhaseCommit\n"
        "assert search_states(TwoPhaseCommit(managers=3), [], Options(workers=1, symmetry=True)).complete\n"
        "assert 'z3' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=SPECS.parent)
