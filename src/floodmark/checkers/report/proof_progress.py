"""Shows the progress of a proof."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from floodmark.checkers.report.progress import StatusLine
from floodmark.language.plurals import counted

if TYPE_CHECKING:
    from floodmark.checkers.symbolic.methods.induction import InductionProgress


class ProofProgress:
    """Shows on standard error, within a ``with`` block, the current obligation, how many remain, and which are open."""

    def __init__(self) -> None:
        self._line = StatusLine()

    def __enter__(self) -> ProofProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.clear()

    def show(self, at: InductionProgress) -> None:
        """Shows the progress of a proof, unless it has just been shown."""
        self._line.say(lambda: described(at))


def described(at: InductionProgress) -> str:
    """The progress of a proof: how many obligations remain, the current one, and the open ones."""
    action, name = at.current
    left = f"{at.total - at.done:,} left of {counted(at.total, 'obligation')}"
    said = f"{left}, asking whether {action} preserves {name}"
    if at.open:
        shown = ", ".join(f"{action} preserves {name}" for action, name in at.open[:3])
        said += f"; {len(at.open)} open: {shown}" + (", ..." if len(at.open) > 3 else "")
    return said
