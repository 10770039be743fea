"""Proves that a model is symmetric, so that a search may visit one state of each orbit.

Every engine that reduces by symmetry requires such a proof; trying some states is never enough. It says that renaming
identifiers preserves a model and its properties, in every state of the declared types:

- an action with renamed arguments is enabled, or fails, in the renamed state exactly when the original one is in the
  original state, and it leads to the renamed state;
- a boundary and a reachability property are true, or fail, in both states or in neither; an invariant or a transition
  property is violated (false, or failing) in both or in neither; each premise is met in both or in neither.

By induction on the length of runs, every reachable state is then a renaming of a visited one and vice versa: the search
loses no verdict, no length of a shortest counterexample, no action that never fires, no premise that is never true and
no deadlock. Initial states may name identifiers, because the search begins in each of their orbits. In that case a
search of orbits may have fewer levels than one of states: what is far under one name may be near under another.

If a proof is wrong all the same, the search that relies on it may notice: it expands states a second time under other
names (``floodmark.checkers.search.symmetry``).

For most models the way they are written is the proof (``floodmark.compiler.identifier_bias``). z3 decides the rest:
first whether a property can fail at all, where that is all that matters; then whether the property or action behaves
the same after every swap of two neighbouring names. Swaps of neighbours generate all renamings, because each is proved
for all states and not only for representatives of orbits. Without an answer the model counts as asymmetric.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from floodmark.checkers import disk_cache
from floodmark.checkers.project.versions import source_hash, versions
from floodmark.checkers.search_result import Symmetry
from floodmark.compiler.fingerprint import fingerprint
from floodmark.compiler.identifier_bias import Bias, first_bias
from floodmark.compiler.ir import Action, Predicate
from floodmark.compiler.program import Program
from floodmark.compiler.renaming import SymmetryProof, symmetric_types
from floodmark.language.errors import ModelError
from floodmark.language.model import Model
from floodmark.language.types import IdentifierType

if TYPE_CHECKING:
    from floodmark.checkers.symmetry.obligations import SymmetryProver

MAX_EFFORT = 800_000_000
"""z3's resource limit for one model: some two minutes."""


class AsymmetryError(ModelError):
    """No proof of symmetry: the model distinguishes an identifier, or may."""


@dataclass(frozen=True, slots=True)
class _Suspect:
    """A part of a program that may distinguish an identifier; ``place`` is its index among all parts."""

    place: int
    part: Action | Predicate
    bias: Bias


def prove_symmetry(
    model: Model, properties: Mapping[str, Callable[..., bool]], program: Program, symmetry: Symmetry = True
) -> SymmetryProof:
    """Proves that a model with these properties is symmetric; ``program`` is their expression graph.

    With names in ``symmetry`` it concerns identifiers of these classes alone: the others keep their names, whatever the
    model does with them. Raises AsymmetryError, with the file and line of what distinguishes an identifier, when there
    is no proof.
    """
    every = symmetric_types(program.variables.values())
    kinds = tuple(kind for kind in every if symmetry is True or kind.cls.__name__ in (symmetry or ()))
    suspects = list(_suspects(program, kinds))
    judge: SymmetryProver | None = None
    for suspect in suspects:
        path = _path(program, suspect.part, kinds)
        if disk_cache.read(path) is not None:
            continue
        if judge is None:
            from floodmark.checkers.symmetry.obligations import SymmetryProver

            judge = SymmetryProver(model, properties, kinds, MAX_EFFORT)
        _require_proof(judge, program, suspect, kinds)
        disk_cache.write(path, b"proved")
    return SymmetryProof(kinds, tuple(suspect.place for suspect in suspects))


def parts_of(program: Program) -> list[Action | Predicate]:
    """Everything that a renaming has to preserve."""
    return [*program.actions, *program.predicates, *program.boundaries]


def _suspects(program: Program, kinds: tuple[IdentifierType, ...]) -> Iterator[_Suspect]:
    for place, part in enumerate(parts_of(program)):
        found = first_bias(part, kinds)
        if found is not None:
            yield _Suspect(place, part, found)


def _require_proof(
    judge: SymmetryProver, program: Program, suspect: _Suspect, kinds: tuple[IdentifierType, ...]
) -> None:
    """Raises ModelError unless z3 proves that a suspect part distinguishes no identifier."""
    place, part, found = suspect.place, suspect.part, suspect.bias
    if isinstance(part, Predicate) and first_bias(part, kinds, never_fails=True) is None and judge.never_fails(place):
        return
    doubt = judge.doubt(place)
    if doubt is None:
        return
    verdict = "is not" if doubt.refuted else "may not be"
    message = (
        f"{found.what}, so the model {verdict} symmetric; use symmetry = false"
        f"{_advice(program, kinds)}, or replace the name or the order by a parameter ({doubt.text})"
    )
    raise AsymmetryError(message, found.at.file, found.at.line)


def _advice(program: Program, kinds: tuple[IdentifierType, ...]) -> str:
    """Advises symmetry of those classes for which the model is symmetric by the way it is written."""
    left = tuple(kind for kind in kinds if not any(_suspects(program, (kind,))))
    if not left or any(_suspects(program, left)):
        return ""
    names = ", ".join(f'"{kind.cls.__name__}"' for kind in left)
    return f", or symmetry = [{names}]"


def _path(program: Program, part: Action | Predicate, kinds: tuple[IdentifierType, ...]) -> Path:
    """The path of the stored proof about a part, which contains a hash of everything that the proof rests on."""
    rests_on = (fingerprint(part, program.variables, list(kinds)), source_hash(), versions())
    return disk_cache.cache_directory() / "symmetry" / hashlib.sha256("\n".join(rests_on).encode()).hexdigest()
