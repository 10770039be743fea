"""Model checking for replication protocols that are written as plain Python classes.

A protocol file imports the modelling language from here: ``from floodmark import Model, Set, action, invariant``.
Programs and notebooks check it with ``floodmark.check(Lease, clients=3)``, ``floodmark.simulate``, ``floodmark.prove``,
``floodmark.diff`` and ``floodmark.states``; ``floodmark.known_bad_designs`` are those that a spec lists. Besides that
there are ``floodmark.claims``, to check sentences of a text, ``floodmark.conformance``, to check an implementation, or
a recorded run of one, against a model, and ``floodmark.replay``, by which tests replay counterexamples.
"""

import os
import sys

if os.path.basename(sys.argv[0]) in ("floodmark", "-m"):  # the command, which may be interrupted before its first line

    def _said(kind: type[BaseException], *more: "Any") -> None:
        if kind is not KeyboardInterrupt:
            sys.__excepthook__(kind, *more)
            return
        print("interrupted", file=sys.stderr, flush=True)
        os._exit(130)

    sys.excepthook = _said

from typing import TYPE_CHECKING, Any

from floodmark import language
from floodmark.language import *  # noqa: F403 - its names stand there, once

if TYPE_CHECKING:
    from floodmark.checkers.interface import Counterexample as Counterexample
    from floodmark.checkers.interface import Edit as Edit
    from floodmark.checkers.interface import KnownBadDesign as KnownBadDesign
    from floodmark.checkers.interface import ModelFailed as ModelFailed
    from floodmark.checkers.interface import Proof as Proof
    from floodmark.checkers.interface import Result as Result
    from floodmark.checkers.interface import States as States
    from floodmark.checkers.interface import Undetermined as Undetermined
    from floodmark.checkers.interface import check as check
    from floodmark.checkers.interface import diff as diff
    from floodmark.checkers.interface import known_bad_designs as known_bad_designs
    from floodmark.checkers.interface import prove as prove
    from floodmark.checkers.interface import simulate as simulate
    from floodmark.checkers.interface import states as states

__all__: list[str] = []
__all__ += language.__all__
_FOR_PROGRAMS = (
    "Counterexample", "Edit", "KnownBadDesign", "ModelFailed", "Proof", "Result", "States", "Undetermined", "check",
    "diff", "known_bad_designs", "prove", "simulate", "states",
)


def __getattr__(name: str) -> Any:
    """Imports the interface for programs at its first use: models do without it, and should load quickly."""
    if name in _FOR_PROGRAMS:
        from floodmark.checkers import interface

        return getattr(interface, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_FOR_PROGRAMS})
