"""Containers without a capacity on Spark: restarts, checkpoints of several attempts, and going on from the last one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floodmark import Model
from floodmark.checkers.project.properties import collect
from floodmark.checkers.search_result import Limit, Limits, Options, SearchResult, Stop
from floodmark.checkers.spark.checkpoint import newest_widths
from floodmark.checkers.spark.search import Distribution, search_states
from floodmark.checkers.spark.session import session
from floodmark.language.errors import SourceError
from tests.search.test_growth import figures, searched
from tests.support.growing_models import Endless, Late, Post, Through

pytestmark = pytest.mark.usefixtures("spark")


def found_by(model: Model, options: Options = Options(workers=1), **how: Any) -> SearchResult:  # noqa: B008
    properties = list(collect(type(model), []).values())
    return search_states(model, properties, options, None, Distribution(**{"partitions": 2, "wide": 0, **how}))


def alike(found: SearchResult, model: Model) -> bool:
    """Whether a search found what the native one finds; sizes are not looked at on a cluster."""
    wanted = searched(model, Options(workers=1))
    return figures(replace(found, sizes=wanted.sizes)) == figures(wanted)


@pytest.mark.slow
@pytest.mark.parametrize("wide", [0, pytest.param(20, marks=pytest.mark.slow)])
def test_a_distributed_search_grows(wide: int) -> None:
    for model in (Post(), Late(), Through()):
        assert alike(found_by(model, wide=wide), model)


@pytest.mark.slow
def test_each_attempt_has_checkpoints_of_its_own(tmp_path: Path) -> None:
    """A run that a limit ended is gone on with at the widths that it had, and not begun anew."""
    folder = str(tmp_path / "kept")
    ended = found_by(Post(), Options(workers=1, limits=Limits(states=80)), checkpoint=folder)
    assert ended.stopped == Stop(Limit.STATES, 80)
    attempts = sorted(path.name for path in (tmp_path / "kept").glob("anew-*"))
    assert attempts == [f"anew-{number:04}" for number in range(1, len(ended.widths) + 1)]
    assert newest_widths(session().sparkContext, folder).chosen == ended.widths
    before = {path: path.read_bytes() for path in (tmp_path / "kept").rglob("level-*.json")}
    found = found_by(Post(), resume=folder)
    assert alike(found, Post())
    assert {path: path.read_bytes() for path in before} == before
    last = tmp_path / "kept" / attempts[-1]
    assert {path.parent for path in (tmp_path / "kept").rglob("level-*.json")} - {path.parent for path in before} <= {
        tmp_path / "kept" / name for name in [*attempts, f"anew-{len(attempts) + 1:04}"]
    }
    assert json.loads(json.loads(max(last.glob("level-*.json")).read_bytes())["said"])["widths"] == ended.widths
    with pytest.raises(SourceError, match="already holds checkpoints"):
        found_by(Post(), checkpoint=folder)


@pytest.mark.slow
def test_a_checkpoint_of_other_widths_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of another width has another identity, whatever the folder is called."""
    folder = tmp_path / "kept"
    found_by(Endless(), Options(workers=1, limits=Limits(states=7)), checkpoint=str(folder))
    assert sorted(path.name for path in folder.glob("anew-*")) == ["anew-0001", "anew-0002"]
    (folder / "anew-0002").rename(folder / "anew-0003")
    grown = newest_widths(session().sparkContext, str(folder)).grown("queue")
    monkeypatch.setattr("floodmark.checkers.spark.search.newest_widths", lambda *_: grown)
    with pytest.raises(SourceError, match="of another version of Endless, or was made with other options"):
        found_by(Endless(), resume=str(folder))
