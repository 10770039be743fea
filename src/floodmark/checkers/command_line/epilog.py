"""The end of every command's help: the exit codes."""

from __future__ import annotations

from floodmark.checkers.verdict.result import MEANINGS

EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {int(code):<3} {text}" for code, text in MEANINGS.items())
