"""The task of a proof: the method, its bounds, and the properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import ListedProof, ProofExpectation, ProofMethod, known
from floodmark.checkers.symbolic.methods.rankings import rankings_of
from floodmark.checkers.verdict.check import Check
from floodmark.language.errors import SourceError

DEFAULT_DEPTH = 10


@dataclass(frozen=True, slots=True)
class ProofTask:
    """The task of ``floodmark prove``, apart from the specs.

    With ``expect`` "bounded", a bounded search need only show that there is no violation within ``depth``. ``workers``
    processes solve obligations of any size; their number does not affect the answers. A bounded search begins after
    ``after_walks`` random walks, at the ends of the deepest runs, instead of in the initial states.
    """

    method: ProofMethod = "induction"
    depth: int = DEFAULT_DEPTH
    unbounded: bool = False
    any_size: bool = False
    seconds: float | None = None
    constants: dict[str, int] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    only_variant: str | None = None
    properties: tuple[str, ...] = ()
    expect: ProofExpectation = "holds"
    workers: int = 1
    after_walks: int = 0


def task_of(proving: ListedProof) -> ProofTask:
    """The task of a proof that a spec lists."""
    return ProofTask(
        method=proving.method,
        depth=DEFAULT_DEPTH if proving.depth is None else proving.depth,
        unbounded=proving.unbounded,
        any_size=proving.any_size,
        constants=dict(proving.constants),
        properties=proving.properties,
        expect=proving.expect,
    )


def subjects(check: Check, task: ProofTask, line: int | None = None) -> list[Property]:
    """The properties to prove: invariants and transition properties. An unknown name is an error.

    For a known-bad design, a bounded search checks the properties of its entry; a proof may need every property.
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
                message = f"{prop.name} says that a state can be reached; only what is never violated can be proved"
                raise SourceError(message, str(check.spec.path), line)
            if prop.is_liveness and task.method != "ranking":
                message = f"{prop.name} is about whole runs: search it with floodmark check, or prove it with "
                raise SourceError(message + "--method ranking", str(check.spec.path), line)
    if task.method == "ranking":
        return _ranked(check, found, task, line)
    return [prop for prop in found if prop.kind != "reachable" and not prop.is_liveness]


def _ranked(check: Check, found: list[Property], task: ProofTask, line: int | None) -> list[Property]:
    """The liveness properties that have a ranking. Raises SourceError for a selected one without a ranking."""
    rankings = rankings_of(check.spec, check.cls(), check.settings.invariant_files)
    for prop in found:
        if task.properties and prop.name not in rankings:
            message = f"{prop.name} has no @ranking"
            raise SourceError(message, str(check.spec.path), line)
    return [prop for prop in found if prop.name in rankings]
