"""A search for counterexamples in a process of its own, while the page is used."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from floodmark.checkers import processes
from floodmark.checkers.explorer.check_paths import CheckPaths, search
from floodmark.checkers.report.progress import describe
from floodmark.checkers.search_result import Progress
from floodmark.checkers.verdict.check import Check


class _SearchCancelled(Exception):  # noqa: N818 - a user requested it
    pass


@dataclass
class BackgroundSearch:
    """The search of one check: its present state, readable at any time and in any thread."""

    check: Check
    status: str = "begins"
    result: CheckPaths | None = None
    ended: threading.Event = field(default_factory=threading.Event)
    _wanted_no_more: threading.Event = field(default_factory=threading.Event)

    def begin(self) -> None:
        threading.Thread(target=self._run, name="search", daemon=True).start()

    def stop(self) -> None:
        """Ends it within about a second, without a result."""
        self._wanted_no_more.set()

    @property
    def was_stopped(self) -> bool:
        return self._wanted_no_more.is_set()

    def _run(self) -> None:
        try:
            for _, found in processes.run_each(_search, [self.check], 1, on_report=self._on_report, tick=self._tick):
                self.result = found if isinstance(found, CheckPaths) else CheckPaths(f"internal error: {found}", ())
        except _SearchCancelled:
            self.result = CheckPaths("the search was stopped", ())
        except OSError as error:
            self.result = CheckPaths(f"the search could not begin: {error.strerror}", ())
        finally:
            self.ended.set()

    def _on_report(self, _: int, progress: Any) -> None:
        if isinstance(progress, Progress):
            self.status = describe(self.check, progress)

    def _tick(self) -> None:
        if self._wanted_no_more.is_set():
            raise _SearchCancelled


def _search(check: Check) -> CheckPaths:
    return search(check, processes.tell)
