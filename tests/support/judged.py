"""Models with liveness properties, on whose verdicts both engines have to agree."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from floodmark import Model
from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import read
from floodmark.checkers.reference import search
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Finding, Options, SearchResult
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.checkers.verdict.result import CheckResult

ALONE = Options(workers=1)
ENGINES: dict[str, Callable[..., SearchResult]] = {"native": native.search_states, "reference": search.search_states}


def found(cls: type[Model], options: Options = ALONE) -> SearchResult:
    """The common result of the engines, which have to agree."""
    properties = list(collect(cls, []).values())
    by = {name: search_states(cls(), properties, options) for name, search_states in ENGINES.items()}
    seen = [[(it.name, it.verdict, it.bounds, it.needs, it.loop) for it in each.liveness] for each in by.values()]
    assert seen[0] == seen[1]
    return by["native"]


def only(cls: type[Model]) -> Finding:
    [finding] = found(cls).liveness
    return finding


def spec_of(cls: type[Model]) -> str:
    """The first line of a spec of a class."""
    return f'model = "{sys.modules[cls.__module__].__file__}:{cls.__name__}"\n'


def outcome(tmp_path: Path, cls: type[Model], more: str = "") -> CheckResult:
    """The check of a class of a test file, as a spec with ``more`` in it asks for."""
    spec = tmp_path / "it.toml"
    spec.write_text(spec_of(cls) + more)
    return run_check(checks(read(spec), CheckSettings(workers=1))[0])
