"""Colour on a terminal: when to use it, and the colours of a counterexample."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import click

_STEP = re.compile(r"^( *\d+ {2})(\w+)(\(.*)$")
_ADDED, _TAKEN = re.compile(r"^( +[^ ].*: )(\+ .*)$"), re.compile(r"^( +[^ ].*: )(- .*)$")
_CHANGED = re.compile(r"^( {3,}[^ ].*: .* -> )(.*)$")
_TITLE = re.compile(r"^(why .*|after step \d+: .*)$")
_FALSE = re.compile(r"^( +)(false)(: .*)$")


def colour_setting(environment: Mapping[str, str]) -> bool | None:
    """The environment's decision about colour: NO_COLOR forbids it, FORCE_COLOR requires it even without a terminal.

    None leaves the decision to whether the output is a terminal. An empty variable has no effect, and FORCE_COLOR=0
    forbids colour.
    """
    if environment.get("NO_COLOR") or environment.get("FORCE_COLOR") == "0":
        return False
    return True if environment.get("FORCE_COLOR") else None


def coloured_lines(lines: Iterable[str]) -> list[str]:
    """The lines of a counterexample with colours: actions, new values, and false parts of a property."""
    return [_painted(line) for line in lines]


def _painted(line: str) -> str:
    if "\033" in line:
        return line
    if step := _STEP.match(line):
        return f"{step[1]}{click.style(step[2], fg='cyan', bold=True)}{step[3]}"
    for pattern, colour in ((_ADDED, "green"), (_TAKEN, "red"), (_CHANGED, "yellow")):
        if change := pattern.match(line):
            return f"{change[1]}{click.style(change[2], fg=colour)}"
    if false := _FALSE.match(line):
        return f"{false[1]}{click.style(false[2], fg='red')}{false[3]}"
    return click.style(line, bold=True) if _TITLE.match(line) else line
