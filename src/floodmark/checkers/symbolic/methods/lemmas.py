"""Finds the lemmas of a model: the functions marked ``@lemma`` in ``invariants/``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from floodmark.checkers.project.properties import Property, _belongs, _property
from floodmark.checkers.project.spec import Spec
from floodmark.language.errors import SourceError
from floodmark.language.members import kind_of
from floodmark.language.model import Model
from floodmark.language.source import source_of

_ROLES = ("initial", "action", "boundary")


def lemmas_of(spec: Spec, cls: type[Model], files: tuple[Path, ...] = ()) -> list[Property]:
    """The lemmas about a class and its bases, from ``<protocol>.py``, ``<protocol>_lemmas.py`` and ``files``.

    A lemma must have a name of its own: properties are looked up by name, so a lemma with a property's name would be
    proved in its place. Such a name is an error that names both definitions.
    """
    taken = {name: f"@{prop.kind} at {prop.place}" for name, prop in spec.properties(cls, files).items()}
    taken |= dict(_roles(cls))
    found: dict[str, Property] = {}
    own = [spec.project.load(file) for file in (*spec.invariant_files, *files)]
    for module in [*spec.invariant_modules(cls, "lemmas"), *own]:
        for name, function in vars(module).items():
            if not (callable(function) and kind_of(function) == "lemma" and _belongs(function, cls)):
                continue
            lemma = _property(name, "lemma", function)
            other = found.setdefault(name, lemma)
            if name in taken:
                raise _clash(lemma, taken[name])
            if other.function is not function:
                raise _clash(lemma, f"@lemma at {other.place}")
    return list(found.values())


def _roles(cls: type[Model]) -> Iterator[tuple[str, str]]:
    for role in _ROLES:
        for name, method in cls.methods(role).items():
            source = source_of(method)
            yield name, f"@{role} at {source.file}:{source.tree.lineno}"


def _clash(lemma: Property, other: str) -> SourceError:
    message = f"a lemma needs a name of its own; {lemma.name!r} is already the name of the {other}"
    return SourceError(message, lemma.file, lemma.line)
