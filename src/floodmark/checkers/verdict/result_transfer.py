"""Transfers results from the process that ran a check to the one that requested it."""

from __future__ import annotations

import pickle
import traceback
from dataclasses import replace

from floodmark.checkers.processes import LostJob, OverdueJob
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.checkers.verdict.verdict import blank, internal_error
from floodmark.language.plurals import counted_seconds


def pickled(result: CheckResult) -> bytes:
    """A result, pickled for another process."""
    bare = replace(result, properties=[])  # functions of the user's files, which the asking process loads itself
    return pickle.dumps(bare, pickle.HIGHEST_PROTOCOL)


def unpickled(check: Check, content: bytes) -> CheckResult:
    """The result that another process passed through ``pickled``."""
    result: CheckResult = pickle.loads(content)
    return result if result.search_result is None else replace(result, properties=check.properties())


def received(check: Check, content: bytes | Exception) -> CheckResult:
    """The result that another process passed through ``pickled``, or one that reports why there is none."""
    if isinstance(content, bytes):
        return unpickled(check, content)
    if isinstance(content, OverdueJob):
        return replace(
            blank(check), verdict="undetermined", exit_code=ExitCode.UNDETERMINED,
            message=f"the search was still in a single step long after its limit of {counted_seconds(check.seconds)}",
        )
    if isinstance(content, LostJob):
        return internal_error(check, str(content))
    return internal_error(check, f"{type(content).__name__}: {content}", "".join(traceback.format_exception(content)))
