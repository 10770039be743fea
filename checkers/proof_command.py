"""The command that makes a proof that a spec lists."""

from __future__ import annotations

import shlex

from floodmark.checkers.paths import shown
from floodmark.checkers.spec import Proving, Spec


def proof_command(spec: Spec, proving: Proving) -> str:
    words = ["floodmark", "prove", shown(spec.address), "--method", proving.method]
    words += ["--depth", str(proving.depth)] if proving.depth is not None else []
    words += ["--unbounded"] if proving.unbounded else []
    words += ["--any-size"] if proving.any_size else []
    for name, value in proving.constants.items():
        words += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    for name in proving.properties:
        words += ["--property", name]
    return shlex.join(words)
