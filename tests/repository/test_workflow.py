"""The project's own workflow: what it runs is there, and the actions that it uses run where GitHub still runs them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FILE = ROOT / ".github" / "workflows" / "ci.yml"
NODE_24 = {"checkout": 5, "setup-python": 6, "setup-java": 5, "upload-artifact": 6}
"""The first version of each action that no longer needs Node 20, which runners have no more."""


def steps() -> Iterator[dict[str, Any]]:
    workflow = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    for job in workflow["jobs"].values():
        yield from job["steps"]


def test_actions_run_on_a_supported_node() -> None:
    used = {(name, int(version)) for name, version in re.findall(r"uses: actions/([\w-]+)@v(\d+)", FILE.read_text())}
    assert len(used) == len([step for step in {str(step.get("uses")) for step in steps()} if step != "None"])
    assert all(version >= NODE_24[name] for name, version in used)


def test_every_file_that_it_runs_or_installs_is_there() -> None:
    commands = [step["run"] for step in steps() if "run" in step]
    assert [command for command in commands if command == ".ci/run"]
    for command in commands:
        words = shlex.split(command)
        if words[:2] == ["python", "-m"]:
            assert (ROOT / (words[2].replace(".", "/") + ".py")).is_file()
        if "-r" in words:
            assert (ROOT / words[words.index("-r") + 1]).is_file()
    kept = [step["with"]["path"] for step in steps() if str(step.get("uses")).startswith("actions/upload-artifact")]
    assert kept == [str(site_html()), "dist/*.whl"]


def site_html() -> Path:
    from docs.tools import site

    return site.HTML.relative_to(ROOT)
