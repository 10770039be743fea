"""The licence to search orbits of states in place of states.

Every engine that reduces by symmetry asks for one, and none is given on the strength of some states. It says that a
renaming of identifiers carries a model with its properties along, in every state that has the declared types:

- an action is enabled, or fails, with renamed arguments in the renamed state exactly when it does without the renaming,
  and leads to the renamed state;
- a boundary and a reachability property are true, or fail, in both states or in neither; an invariant or a property of
  steps is violated (false, or failing) in both or in neither; so are premises met.

Then by induction over the length of runs every reachable state is a renaming of a visited one and the other way round:
no verdict, length of a shortest counterexample, action that never fires, premise that is never true or state without a
step is lost. Initial states may name identifiers: whatever orbits they lie in are visited from there. Then a search of
orbits may have fewer levels than one of states: what is far under one name may be near under another.

Most models have a licence because of how they are written (``floodmark.compiler.favours``). What that reading cannot
decide z3 is asked: first whether a property can fail at all, where that is all that matters; then whether it, or an
action, does the same after each two neighbours have swapped names. Swaps of neighbours generate all renamings, as each
of them is proved for all states and not for those alone that stand for an orbit. Without an answer in time there is no
licence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from floodmark.checkers import disk_cache
from floodmark.checkers.versions import checker_source, versions
from floodmark.compiler.favours import Favour, favour
from floodmark.compiler.fingerprint import fingerprint
from floodmark.compiler.ir import Action, Predicate
from floodmark.compiler.program import Program
from floodmark.compiler.renaming import Licence, symmetric_types
from floodmark.language.errors import ModelError
from floodmark.language.model import Model
from floodmark.language.types import IdentifierType

if TYPE_CHECKING:
    from floodmark.checkers.symbolic.symmetry import Judge

MOST_SECONDS = 120.0
"""How long z3 may think about one model."""


@dataclass(frozen=True, slots=True)
class _Suspect:
    """A part of a program that may favour an identifier; ``place`` is its index among all parts."""

    place: int
    part: Action | Predicate
    favour: Favour


def license_symmetry(model: Model, properties: Mapping[str, Callable[..., bool]], program: Program) -> Licence:
    """The licence of a model with these properties, which ``program`` was read from.

    Raises ModelError, with the file and line of what favours an identifier, when there is none.
    """
    kinds = tuple(symmetric_types(program.variables.values()))
    suspects = list(_suspects(program, kinds))
    judge: Judge | None = None
    for suspect in suspects:
        path = _path(program, suspect.part, kinds)
        if disk_cache.read(path) is not None:
            continue
        if judge is None:
            from floodmark.checkers.symbolic.symmetry import Judge

            judge = Judge(model, properties, kinds, MOST_SECONDS)
        _require_proof(judge, suspect, kinds)
        disk_cache.write(path, b"proved")
    return Licence(kinds)


def parts_of(program: Program) -> list[Action | Predicate]:
    """All that has to be carried along by a renaming."""
    return [*program.actions, *program.predicates, *program.boundaries]


def _suspects(program: Program, kinds: tuple[IdentifierType, ...]) -> Iterator[_Suspect]:
    for place, part in enumerate(parts_of(program)):
        found = favour(part, kinds)
        if found is not None:
            yield _Suspect(place, part, found)


def _require_proof(judge: Judge, suspect: _Suspect, kinds: tuple[IdentifierType, ...]) -> None:
    """Raises ModelError unless z3 shows that a part that looks as if it favoured an identifier does not."""
    place, part, found = suspect.place, suspect.part, suspect.favour
    if isinstance(part, Predicate) and favour(part, kinds, never_fails=True) is None and judge.never_fails(place):
        return
    doubt = judge.doubt(place)
    if doubt is None:
        return
    verdict = "is not" if doubt.shown else "may not be"
    message = (
        f"{found.what}, so the model {verdict} symmetric; "
        f"use symmetry = false, or a parameter in place of a name or an order ({doubt.text})"
    )
    raise ModelError(message, found.at.file, found.at.line)


def _path(program: Program, part: Action | Predicate, kinds: tuple[IdentifierType, ...]) -> Path:
    """Where a proof about a part is kept: by all that it rests on."""
    rests_on = (fingerprint(part, program.variables, list(kinds)), checker_source(), versions())
    return disk_cache.cache_directory() / "symmetry" / hashlib.sha256("\n".join(rests_on).encode()).hexdigest()
