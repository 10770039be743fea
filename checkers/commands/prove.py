"""``floodmark prove``: runs a method on specs, asks claims, and tells what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from floodmark.checkers.result import MEANINGS, ExitCode, worst
from floodmark.checkers.symbolic.prove import Proved, Task, prove, text_lines
from floodmark.checkers.symbolic.smtlib import Scripts
from floodmark.language.errors import SourceError

_MEANINGS = {**MEANINGS, ExitCode.UNDETERMINED: "something is neither proved nor refuted"}


def run(paths: list[Path], given: dict[str, Any], json_file: Path | None, say: Callable[[str], None]) -> int:
    """The command: proves, prints, and returns the exit code. ``given`` are its options."""
    constants = dict(given.pop("assignments"))
    folder = given.pop("smt")
    scripts = None if folder is None else Scripts(folder)
    task = Task(constants=constants, **{key: value for key, value in given.items() if value is not None})
    results: list[Proved] = []
    for result in prove(paths, task, scripts=scripts):
        results.append(result)
        for line in text_lines(result):
            say(line)
    if json_file is not None:
        _write_json(json_file, results)
    code = worst(result.exit_code for result in results)
    good = sum(result.expected for result in results)
    asked = "1 question" if len(results) == 1 else f"{len(results)} questions"
    outcome = "each as expected"
    if code != ExitCode.AS_EXPECTED:
        outcome = f"{good} as expected (exit {int(code)}: {_MEANINGS[code]})"
    say(f"{asked}, {outcome}")
    return int(code)


def _write_json(file: Path, results: list[Proved]) -> None:
    """Writes the results as one object."""
    text = json.dumps({"results": [result.as_json() for result in results]}, indent=2, ensure_ascii=False)
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise SourceError(f"cannot be written: {error.strerror}", str(file)) from None
