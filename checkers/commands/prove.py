"""``floodmark prove``: runs a method on specs, checks claims, and reports the results."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from floodmark.checkers.check import Check, Settings, checks, must_matter, variant_name
from floodmark.checkers.claim import claims_of
from floodmark.checkers.proof_result import Proved
from floodmark.checkers.properties import did_you_mean
from floodmark.checkers.report.counting import Counting
from floodmark.checkers.report.outputs import write_json
from floodmark.checkers.report.proof_text import text_lines
from floodmark.checkers.result import MEANINGS, ExitCode, worst
from floodmark.checkers.spec import find, read
from floodmark.checkers.symbolic.prove import prove_check, prove_claim
from floodmark.checkers.symbolic.smtlib import Scripts
from floodmark.checkers.symbolic.task import Task
from floodmark.language.errors import SourceError
from floodmark.language.plurals import counted

_MEANINGS = {**MEANINGS, ExitCode.UNDETERMINED: "something is neither proved nor refuted"}


def run(paths: list[Path], given: dict[str, Any], json_file: Path | None, say: Callable[[str], None]) -> int:
    """The command: proves, prints, and returns the exit code. ``given`` are its options."""
    constants = dict(given.pop("assignments"))
    folder = given.pop("smt")
    scripts = None if folder is None else Scripts(folder)
    task = Task(constants=constants, **{key: value for key, value in given.items() if value is not None})
    results: list[Proved] = []
    asked = _questions(paths, task, scripts)
    with Counting(len(asked), "question") as counting:
        for ask in asked:
            result = ask()
            results.append(result)
            counting.clear()
            for line in text_lines(result):
                say(line)
            counting.one()
    code = worst(result.exit_code for result in results)
    good = sum(result.expected for result in results)
    total = counted(len(results), "question")
    outcome = "each as expected"
    if code != ExitCode.AS_EXPECTED:
        outcome = f"{good} as expected (exit {int(code)}: {_MEANINGS[code]})"
    say(f"{total}, {outcome}")
    return int(worst([code, write_json(json_file, {"results": [result.as_json() for result in results]})]))


def _questions(paths: list[Path], task: Task, scripts: Scripts | None) -> list[Callable[[], Proved]]:
    """What answers each question: about the properties of specs, and about the claims in Python files; for a folder,
    about its claims and quick specs.

    ``scripts`` receives every obligation. Raises SourceError for an option that applies to no spec at all.
    """
    every = _checks(paths, task)
    asked: list[Callable[[], Proved]] = []
    for path in paths:
        if path.suffix == ".py" or os.path.isdir(path):
            asked += [partial(prove_claim, claim, task.seconds, scripts) for claim in claims_of([path])]
        asked += [partial(prove_check, check, task, scripts=scripts) for check in every[path]]
    return asked


def _checks(paths: list[Path], task: Task) -> dict[Path, list[Check]]:
    """What to prove of the specs that each path stands for. Options that apply to none of them are an error."""
    settings = Settings(constants=task.constants, invariant_files=task.files, only_variant=task.only_variant)
    specs = {path: [read(spec) for spec in find([path])] if path.suffix != ".py" else [] for path in paths}
    found = {
        path: [
            check
            for spec in of_path
            for check in checks(spec, settings)
            if check.flawed is None or task.only_variant is not None
        ]
        for path, of_path in specs.items()
    }
    every = [check for of_path in found.values() for check in of_path]
    if task.only_variant is not None and not every:
        names = [variant_name(check) for of_path in specs.values() for spec in of_path
                 for check in checks(spec, Settings())]
        offered = did_you_mean(task.only_variant, dict.fromkeys(names))
        raise SourceError(f"no spec has a variant {task.only_variant!r}{offered}")
    if task.properties and not every:
        raise SourceError(f"no spec has a property {task.properties[0]!r} to prove")
    must_matter(task.files, every)
    return found
