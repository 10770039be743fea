"""Finds the lemmas of a model: the functions marked ``@lemma`` in ``invariants/``."""

from __future__ import annotations

from checkers.properties import Property, _belongs, _property
from checkers.spec import Spec
from model.language.model import Model, kind_of


def lemmas_of(spec: Spec, cls: type[Model]) -> list[Property]:
    """The lemmas about a class and its bases, from ``<protocol>.py`` and ``<protocol>_lemmas.py``."""
    found: dict[str, Property] = {}
    for module in [*spec.invariant_modules(cls, "lemmas"), *(spec.project.load(file) for file in spec.invariant_files)]:
        for name, function in vars(module).items():
            if callable(function) and kind_of(function) == "lemma" and _belongs(function, cls):
                found.setdefault(name, _property(name, "lemma", function))
    return list(found.values())
