"""The command that repeats a proof that a spec lists, and the listed proof that a name refers to."""

from __future__ import annotations

import shlex

from floodmark.checkers.project.paths import shown
from floodmark.checkers.project.properties import did_you_mean
from floodmark.checkers.project.spec import ListedProof, Spec
from floodmark.language.errors import SourceError


def proof_command(spec: Spec, proving: ListedProof, *options: str) -> str:
    """The command, with the fewest words that name the proof."""
    words = ["floodmark", "prove", shown(spec.address)]
    if len(spec.prove) > 1:
        words += ["--proof", _shortest(spec, proving)]
    return shlex.join([*words, *options])


def listed(spec: Spec, name: str | None) -> list[ListedProof]:
    """The proofs that a spec lists, or those that a name denotes: the proof of that name, or else all whose name begins
    with it. Raises SourceError if there is none."""
    if name is None:
        return list(spec.prove)
    exact = [it for it in spec.prove if it.name == name]
    found = exact or [it for it in spec.prove if it.is_called(name)]
    if not found:
        offered = did_you_mean(name, (_shortest(spec, it) for it in spec.prove))
        raise SourceError(f"the spec lists no proof {name!r}{offered}", shown(spec.path))
    return found


def _shortest(spec: Spec, proving: ListedProof) -> str:
    words = proving.name.split()
    starts = (" ".join(words[:count]) for count in range(1, len(words) + 1))
    return next((it for it in starts if listed(spec, it) == [proving]), proving.name)
