"""Checks the four proof methods against CPython: a method's verdict on a model must be that of a plain search."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from floodmark.checkers.project.spec import ProofMethod, read
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import ModelError
from tests.support.engines import Outcome

METHODS: tuple[ProofMethod, ...] = ("bmc", "induction", "k-induction", "infer")
DEPTH = 4
"""States of the longest runs that bounded search looks at, and the largest k."""
SECONDS = 5.0
"""The time limit of a method for a model, in seconds; most need some hundredths."""


def assert_proofs_agree(file: Path, name: str, wanted: Outcome) -> Counter[str]:
    """Fails unless no method proves what is violated, or refutes what holds. Counts what each method said.

    ``file`` is the model's, and its class ``name`` has an invariant or a transition property.
    """
    spec = file.with_suffix(".toml")
    spec.write_text(f'model = "{file.name}:{name}"\n')
    try:
        check = Check(read(spec), None, CheckSettings())
        said: Counter[str] = Counter()
        for method in METHODS:
            try:
                proved = prove_check(check, ProofTask(method=method, depth=DEPTH, seconds=SECONDS))
            except ModelError as error:
                if method == "bmc" or "has no capacity" not in error.message:
                    raise
                said[f"{method}: no capacity"] += 1
                continue
            assert proved.exit_code != ExitCode.INTERNAL_ERROR, f"{method}: {proved.headline}"
            verdict = proved.verdict
            said[f"{method}: {verdict}"] += 1
            if verdict == "holds":
                assert wanted.verdict == "holds", f"{method} holds ({proved.headline}), but {wanted.verdict} by CPython"
            elif verdict in ("violated", "error"):
                assert wanted.verdict in ("violated", "error"), f"{method}: {proved.headline}, but it holds by CPython"
        return said
    finally:
        spec.unlink()
