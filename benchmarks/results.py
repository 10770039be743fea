"""benchmarks/RESULTS.md: one section for each benchmark, replaced when that benchmark is run with ``--write``."""

from __future__ import annotations

import os
import platform
from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"
HEADING = "# Measured figures\n\nEach section names the command that prints it.\n"


def section(name: str, command: str, lines: list[str]) -> None:
    """Replaces (or adds) the section ``name``."""
    text = RESULTS.read_text() if RESULTS.exists() else HEADING
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    body = f"{start}## {name[0].upper()}{name[1:]}\n\n`{command}` on {machine}:\n\n" + "\n".join(lines) + f"\n\n{end}"
    if start in text:
        before, rest = text.split(start, 1)
        after = rest.split(end, 1)[1].lstrip("\n")
        text = before + body + (f"\n{after}" if after else "")
    else:
        text = text.rstrip("\n") + "\n\n" + body
    RESULTS.write_text(text)
