"""Puts into the wheel what type checkers and editors know of ``floodmark.protocols``: a stub for each model.

A program imports the shipped models from ``floodmark.protocols``, whose modules are found while it runs; what reads the
files alone would find none. A stub is the model's own source, with the names under which a program imports.
"""

import re
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Stubs(BuildHookInterface):  # type: ignore[type-arg]
    """The hook that hatchling calls for a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory()
        models, stubs = Path(self.root) / "model", Path(self.folder.name)
        for model in models.rglob("*.py"):
            stub = (stubs / model.relative_to(models)).with_suffix(".pyi")
            stub.parent.mkdir(parents=True, exist_ok=True)
            text = model.read_text(encoding="utf-8")
            stub.write_text(re.sub(r"^(\s*from )model(?=[. ])", r"\1floodmark.protocols", text, flags=re.MULTILINE))
            (stub.parent / "__init__.pyi").touch()
        (stubs / "__init__.pyi").touch()
        for stub in sorted(stubs.rglob("*.pyi")):
            build_data["force_include"][str(stub)] = f"floodmark/protocols/{stub.relative_to(stubs).as_posix()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()
