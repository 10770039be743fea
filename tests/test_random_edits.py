"""Random models, each with a random small edit: what the gate says with kept verdicts is what it says without."""

from __future__ import annotations

import ast
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from checkers.mutation.change import changes
from tests.gates import forget
from tests.model_strategy import GeneratedModel, models
from tests.projects import write
from tests.test_edits import anew, verdict

EVERY = [Phase.generate]


def edited(source: str, choice: int) -> str:
    """The source with one small change of one function."""
    lines = source.splitlines()
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    every = [(function, change) for function in functions for change in changes(function)]
    if not every:
        return source
    function, change = every[choice % len(every)]
    text = ast.unparse(change.tree).splitlines()
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    lines[first - 1 : function.end_lineno] = [" " * function.col_offset + line for line in text]
    return "\n".join(lines) + "\n"


def agree(drawn: GeneratedModel, choice: int) -> None:
    """Runs the gate on a model, edits it, and runs it again: with kept verdicts, and without."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        root = Path(folder)
        patch.setenv("FLOODMARK_CACHE", str(root / "cache"))
        source = drawn.source()
        spec = f'model = "../m.py:{drawn.name}"\n[limits]\nstates = 300\n'
        write(root, {"pyproject.toml": "", "m.py": source, "specs/m.toml": spec})
        first = anew(root, cache=True)
        assert verdict(anew(root, cache=True)) == verdict(first)
        (root / "m.py").write_text(edited(source, choice))
        assert verdict(anew(root, cache=True)) == verdict(anew(root, cache=False))
        forget(root)


@settings(max_examples=10, derandomize=True, deadline=None, database=None, phases=EVERY,
          suppress_health_check=list(HealthCheck))
@given(models(), st.integers(0, 10**6))
def test_kept_verdicts_are_those_of_a_fresh_run(drawn: GeneratedModel, choice: int) -> None:
    agree(drawn, choice)


@pytest.mark.slow
@settings(max_examples=300, derandomize=True, deadline=None, database=None, phases=EVERY,
          suppress_health_check=list(HealthCheck))
@given(models(), st.integers(0, 10**6))
def test_kept_verdicts_are_those_of_a_fresh_run_of_many_models(drawn: GeneratedModel, choice: int) -> None:
    agree(drawn, choice)
