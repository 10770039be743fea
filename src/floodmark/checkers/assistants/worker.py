"""Answers one request of an assistant: JSON on standard input, JSON on standard output.

Whatever else is printed goes to standard error, so that a model cannot spoil the answer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from floodmark.checkers.assistants import answers
from floodmark.checkers.report import standard_output
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError


def main() -> None:
    """Reads a request and writes its answer."""
    request = json.load(sys.stdin)
    with standard_output.reserved():
        standard_output.write(json.dumps(answer(request)))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request, in the folder of the project."""
    call = answers.ToolCall(Path.cwd().resolve(), request["seconds"], request["memory"])
    try:
        return answers.TOOLS[request["tool"]](call, **request["arguments"])
    except SourceError as error:
        place = answers.place(error.file, error.line)
        return {"verdict": "error", "exit_code": int(ExitCode.USER_ERROR), "error": error.message, "place": place}


if __name__ == "__main__":
    main()
