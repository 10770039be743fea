"""What is asked to be proved: the method, its bounds, and which properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from floodmark.checkers.check import Check
from floodmark.checkers.properties import Property
from floodmark.checkers.spec import ProofExpectation, ProofMethod, Proving, known
from floodmark.language.errors import SourceError

DEFAULT_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of ``floodmark prove``, beside the specs.

    With ``expect`` "bounded" a bounded search need not show more than that there is no violation within ``depth``.
    """

    method: ProofMethod = "induction"
    depth: int = DEFAULT_DEPTH
    unbounded: bool = False
    seconds: float | None = None
    constants: dict[str, int] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    only_variant: str | None = None
    properties: tuple[str, ...] = ()
    expect: ProofExpectation = "holds"


def task_of(proving: Proving) -> Task:
    """What is asked for a proof that a spec lists."""
    return Task(
        method=proving.method,
        depth=DEFAULT_DEPTH if proving.depth is None else proving.depth,
        unbounded=proving.unbounded,
        constants=dict(proving.constants),
        properties=proving.properties,
        expect=proving.expect,
    )


def subjects(check: Check, task: Task, line: int | None = None) -> list[Property]:
    """What is to be proved: invariants and transition properties. An unknown name is an error.

    Of a known-bad design a bounded search looks at what its entry names; a proof may need all there is.
    """
    found = check.properties()
    if check.flawed is not None and (task.method != "bmc" or task.properties):
        found = list(check.spec.properties(check.cls(), check.settings.invariant_files).values())
    if task.properties:
        wanted = {known(name, [prop.name for prop in found], "property", str(check.spec.path), line)
                  for name in task.properties}
        found = [prop for prop in found if prop.name in wanted]
        for prop in found:
            if prop.kind == "reachable":
                message = f"{prop.name} says that a state can be reached; a proof is of what is never violated"
                raise SourceError(message, str(check.spec.path), line)
            if prop.is_liveness:
                message = f"{prop.name} is about whole runs, which are searched and not proved: floodmark check"
                raise SourceError(message, str(check.spec.path), line)
    return [prop for prop in found if prop.kind != "reachable" and not prop.is_liveness]
