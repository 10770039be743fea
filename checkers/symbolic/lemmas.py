"""Finds the lemmas of a model: the functions marked ``@lemma`` in ``invariants/``."""

from __future__ import annotations

from checkers.project import Project
from checkers.properties import Property, _belongs, _property
from checkers.spec import Spec
from model.language.model import Model, kind_of


def lemmas_of(spec: Spec, cls: type[Model]) -> list[Property]:
    """The lemmas about a class and its bases, from ``<protocol>.py`` and ``<protocol>_lemmas.py``."""
    names = dict.fromkeys(
        base.__module__.rpartition(".")[2] for base in cls.__mro__ if issubclass(base, Model) and base is not Model
    )
    modules = [
        module
        for name in names
        for file in (name, f"{name}_lemmas")
        for project in (spec.project, Project.ours())
        if (module := project.module(f"invariants.{file}")) is not None
    ]
    found: dict[str, Property] = {}
    for module in [*modules, *(spec.project.load(file) for file in spec.invariant_files)]:
        for name, function in vars(module).items():
            if callable(function) and kind_of(function) == "lemma" and _belongs(function, cls):
                found.setdefault(name, _property(name, "lemma", function))
    return list(found.values())
