"""``floodmark.check``: searches every reachable state of a model. ``floodmark.known_bad_designs``: the designs that a
spec lists because they must break a property.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from floodmark.checkers import processes
from floodmark.checkers.interface.results import Result
from floodmark.checkers.interface.subject import ClassSpec, Design, PropertyArgument, class_spec, names_of
from floodmark.checkers.project.input_limits import memory as amount
from floodmark.checkers.project.input_limits import require_numbers
from floodmark.checkers.project.spec import read_all
from floodmark.checkers.project.spec_entries import ListedDesign
from floodmark.checkers.run.checks import run, run_check, with_divergence
from floodmark.checkers.run.unfound_properties import unfound_properties
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

ENGINES = ("native", "reference")
SETTINGS = (
    "properties", "good", "engine", "symmetry", "deadlock", "states", "seconds", "memory", "workers", "constants",
)
"""The names of the arguments that are no constants."""


def check(
    design: Design,
    *,
    properties: Sequence[PropertyArgument] | None = None,
    good: type[Model] | None = None,
    engine: Literal["native", "reference"] = "native",
    symmetry: bool | Sequence[str] = False,
    deadlock: bool = False,
    states: int | None = None,
    seconds: float | None = None,
    memory: int | str | None = None,
    workers: int = 0,
    constants: Mapping[str, int] | None = None,
    **sizes: int,
) -> Result:
    """Searches every state that a model can reach, and checks its properties: ``floodmark.check(Lease, clients=3)``.

    ``design`` is a model's class. Its constants are arguments by name, or are in ``constants``; the others keep their
    defaults. The properties are those that a spec of the class would find: methods of the class, and functions about it
    in its own file or notebook and in ``invariants/``; ``properties`` names others, or fewer, by name or as functions.
    ``good`` is the class that a known-bad design is derived from: the counterexample then says
    where the good design decides otherwise.

    ``engine`` is "native" (machine code) or "reference" (CPython). ``symmetry``, ``deadlock``, ``states``, ``seconds``,
    ``memory`` and ``workers`` mean what they mean in a spec and on the command line: ``states``, ``seconds`` and
    ``memory`` (bytes, or "8G") are limits, at which the search ends undetermined; ``workers=0`` is one for each core.

    Raises SourceError, with the command's text, for a model or a property that cannot be read, ModelFailed where a run
    leaves the declared types, and TypeError or ValueError for wrong arguments.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine is one of {', '.join(ENGINES)}, not {engine!r}; a cluster needs floodmark check")
    require_numbers(states=states, seconds=seconds, workers=workers)
    names, functions = names_of(properties)
    spec = class_spec(
        design, constants, sizes, SETTINGS, functions=functions, invariants=names, deadlock=deadlock,
        symmetry=symmetry if isinstance(symmetry, bool) else _names(symmetry),
    )
    limits = Limits(states, seconds, None if memory is None else amount(str(memory)))
    return result_of(Check(spec, None, CheckSettings(engine=engine, limits=limits, workers=workers)), names, good)


def result_of(asked: Check, names: Sequence[str] | None, good: type[Model] | None) -> Result:
    """Runs a check for a program; ``names`` are the properties that it names, None for all."""
    found = _run(asked)
    if found.exit_code == ExitCode.INTERNAL_ERROR:
        raise RuntimeError("\n".join(filter(None, [f"internal error: {found.message}", found.traceback])))
    if found.verdict == "error" and found.violation is None:
        raise SourceError(found.message, found.file, found.line)
    if names is None:
        for error in unfound_properties([asked]):
            raise error
    found = replace(found, reproduce="")
    return Result(found if good is None else _compared(found, asked, good))


def _names(symmetry: Sequence[str]) -> tuple[str, ...]:
    if isinstance(symmetry, str):
        raise TypeError(f"symmetry is True, False or a list of names: write symmetry=[{symmetry!r}]")
    return tuple(symmetry)


def _run(asked: Check) -> CheckResult:
    """Searches in a process of its own, which an interrupt ends at once, where such a process knows the class and may
    be made."""
    if processes.FORKS and not multiprocessing.current_process().daemon:
        return next(result for _, result in list(run([asked])))
    return run_check(asked)


def _compared(found: CheckResult, asked: Check, good: type[Model]) -> CheckResult:
    cls = asked.cls()
    if not issubclass(cls, good):
        raise TypeError(f"{cls.__name__} is not a subclass of {good.__name__}")
    flawed = ListedDesign(asked.spec.model, cls.__name__, found.property or "")
    spec = ClassSpec(asked.spec.path, asked.spec.model, constants=_known(asked.constants, good), design=good)
    return with_divergence(Check(spec, flawed, asked.settings), found)


def _known(constants: Mapping[str, int], cls: type[Model]) -> dict[str, int]:
    return {name: value for name, value in constants.items() if name in cls.constants()}


@dataclass(frozen=True)
class KnownBadDesign:
    """A known-bad design of a spec: its class with its constants, and the name of the property that it must break."""

    model: Model
    breaks: str
    asked: Check = field(repr=False)

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self.model).__name__

    def check(self) -> Result:
        """Searches for its shortest counterexample, as ``floodmark check`` does for the spec. Raises what
        ``floodmark.check`` raises."""
        return result_of(self.asked, [self.breaks], None)


def known_bad_designs(spec: str | Path) -> list[KnownBadDesign]:
    """The known-bad designs of a spec: of all rows of a file, or of one row, as in ``lease.toml@small``.

    Raises SourceError, with the command's text, for what cannot be read.
    """
    return [
        KnownBadDesign(asked.cls()(**asked.constants), asked.flawed.property, asked)
        for each in read_all(Path(spec))
        for asked in checks(each, CheckSettings())
        if asked.flawed is not None
    ]
