"""What a comparison of two versions says beside whether they have the same runs."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from floodmark.checkers.edits import joint_loops
from floodmark.checkers.edits.alignment import align
from floodmark.checkers.edits.comparison import compare, with_silence
from floodmark.checkers.edits.difference import ActionChange
from floodmark.checkers.edits.joint_search import JointKernel
from floodmark.checkers.edits.property_changes import changed_properties
from floodmark.checkers.edits.reach import first_of
from floodmark.checkers.edits.reasons import boundary_against
from floodmark.checkers.edits.version_code import VersionCode
from floodmark.checkers.edits.versions import Version, has_lost_files
from floodmark.checkers.search_result import Options
from floodmark.language.model import Model
from tests.support.edits import loaded
from tests.support.engines import properties_of

TANK = '''
from typing import Annotated

from floodmark import Between, Model, action, boundary, require


class Spec(Model):
    """A tank that is filled, and then nothing happens any more."""

    level: Annotated[int, Between(0, 2)] = 0

    @action
    def fills(self) -> None:
        require(self.level < 2)
        self.level += 1

    @action
    def spills(self) -> None:
        require(self.level == 1)
        self.level = 2
'''
USED = TANK.replace("= 0\n", "= 0\n    used: bool = False\n").replace("+= 1", "+= 1\n        self.used = True").replace(
    "self.level == 1", "self.level == 1 and not self.used")
"""It remembers that it was filled, so it never spills; what is seen of its level is the same."""
BOUNDED = TANK + '''
    @boundary
    def wide(self) -> bool:
        return self.level < 3

    @boundary
    def narrow(self) -> bool:
        return self.level < 2
'''

FULL = "    def full(self) -> bool:\n        return self.level == 2\n"


def both(folder: Path, old: str, new: str) -> tuple[Model, Model]:
    return loaded(old, folder / "old"), loaded(new, folder / "new")


def test_versions_that_come_to_an_end_are_compared_by_their_graphs(tmp_path: Path) -> None:
    found = compare(*both(tmp_path, TANK, USED), Options(workers=1))
    assert (found.added, found.removed, found.by, found.stopped) == ("none", "none", "search", "")
    assert found.states == {"old": 3, "new": 3}
    assert [(each.new, each.more, each.less, each.gone) for each in found.actions] == [("spills", 0, 1, True)]


@pytest.mark.parametrize(("was", "now"), list(itertools.permutations(["invariant", "reachable", "recoverable"], 2)))
def test_a_property_of_another_kind_is_another_property(was: str, now: str, tmp_path: Path) -> None:
    """Also where both kinds read the same function as the same graph."""
    imported = TANK.replace("require\n", f"require, {was}, {now}\n")
    old, new = both(tmp_path, *(f"{imported}\n    @{kind}\n{FULL}" for kind in (was, now)))
    ((before,), (after,)) = (properties_of(type(model)) for model in (old, new))
    (change,) = changed_properties(old, new, [(before, after)], [], align(old, new), Options(workers=1))
    assert change.why_not == f"was @{was} and is @{now}"


def test_what_an_action_allows_less_and_the_step_that_another_adds_are_told(tmp_path: Path) -> None:
    drains = "\n    @action\n    def drains(self) -> None:\n        require(self.level == 1)\n        self.level = 0\n"
    new = TANK.replace("self.level < 2", "self.level < 1") + drains
    found = compare(*both(tmp_path, TANK, new), Options(workers=1))
    assert (found.added, found.removed) == ("some", "none")
    assert [(each.old, each.new, each.more, each.less) for each in found.actions] == [
        ("fills", "fills", 0, 1), (None, "drains", 1, 0),
    ]
    (added,) = found.witnesses
    assert [(entry.step.action, entry.state) for entry in added.trace[1:]] == [("fills", (1,)), ("drains", (0,))]


def test_a_step_that_no_word_can_hold_is_a_failure_of_its_version(tmp_path: Path) -> None:
    """CPython has integers of any size, so only compiled code fails there."""
    large = TANK.replace("self.level += 1", "much = 1\n        for _ in range(70):\n            much *= 2\n"
                         "        self.level += 1 if much > 0 else 0")
    found = compare(*both(tmp_path, TANK, large), Options(workers=1))
    assert found.failure is not None
    assert found.failure.version == "new"
    assert "64" in found.failure.message


def test_every_action_that_fires_no_more_is_told() -> None:
    changes = [ActionChange("fills", "fills", 1, 0), ActionChange("drains", None)]
    fires = {"fills": 3, "spills": 1, "drains": 1, "leaks": 2}
    told = with_silence(changes, fires, {"fills": 2, "spills": 0, "leaks": 0, "grows": 0})
    assert {(each.old, each.new, each.gone) for each in told} == {
        ("drains", None, False), ("fills", "fills", False), ("spills", "spills", True), ("leaks", "leaks", True),
    }


def test_the_boundary_that_ends_a_run_is_named(tmp_path: Path) -> None:
    told = boundary_against(loaded(BOUNDED, tmp_path), (2,))
    assert told.text == "ends its runs there: the state is outside of its boundary narrow"
    assert told.line == 1 + BOUNDED[: BOUNDED.index("    @boundary\n    def narrow")].count("\n")


def test_of_several_nearest_states_the_smallest_is_shown() -> None:
    search: Any = SimpleNamespace(tracer=SimpleNamespace(to_state=lambda state, level: (state, level)))
    rows = np.array([[1, 7], [1, 3], [2, 1], [0, 0]], dtype=np.uint64)
    shown: Any = first_of(search, rows, np.array([1, 1, 1, 2]))
    assert shown == ((1, 3), 1)


def test_better_code_is_called_once_it_is_there(tmp_path: Path) -> None:
    old, new = (VersionCode(model, threads=1) for model in both(tmp_path, TANK, BOUNDED))
    kernel = JointKernel(old, new, {}, threads=1)
    before = [int(word) for word in kernel._functions]
    kernel.improve()
    after = [int(word) for word in kernel._functions]
    places = joint_loops.OLD_EXPAND, joint_loops.NEW_EXPAND, joint_loops.NEW_WITHIN
    wanted = old.kernel.model.address("expand"), new.kernel.model.address("expand"), new.kernel.model.address("within")
    assert tuple(after[place] for place in places) == wanted
    assert all(before[place] != after[place] for place in places)


def test_one_file_that_is_gone_is_noticed(tmp_path: Path) -> None:
    for folder, names in (("old", ("kept", "gone")), ("new", ("kept", "come"))):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.py").write_text("")
    old, new = (Version(name, tmp_path / name, tmp_path) for name in ("old", "new"))
    assert has_lost_files(old, new)
    (tmp_path / "old" / "gone.py").unlink()
    has_lost_files.cache_clear()
    assert not has_lost_files(old, new)
