"""The mutants of a model: every small change of a function that its steps run."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.mutation.change import MutationKind, changes
from floodmark.checkers.project.reached_functions import reached_functions
from floodmark.language.model import Model
from floodmark.language.source import rewritten, source_of


@dataclass(frozen=True, slots=True)
class Mutant:
    """A model with one small change. ``change`` identifies it without a line number: ``Class.method: - was  + now``."""

    function: Callable[..., Any]
    tree: ast.FunctionDef
    kind: MutationKind
    file: str
    line: int
    column: int
    change: str

    def planted(self) -> AbstractContextManager[None]:
        """Makes the change for as long as it is open, for CPython and for every compiler in this process."""
        return rewritten(self.function, self.tree)


def mutants(cls: type[Model]) -> list[Mutant]:
    """The mutants of a model, function by function.

    Properties and boundaries are left alone, methods that fairness asks, and so is what only they call.
    """
    found: list[Mutant] = []
    seen: Counter[str] = Counter()
    for function in functions(cls):
        source = source_of(function)
        for each in changes(source.tree):
            change = f"{function.__qualname__}: - {each.was}  + {each.now}"
            seen[change] += 1
            if seen[change] > 1:
                change = f"{change}  (place {seen[change]})"
            found.append(Mutant(function, each.tree, each.kind, source.file, each.line, each.column, change))
    return found


def own(cls: type[Model]) -> list[Mutant]:
    """The mutants of what a model adds to those that it extends: its own methods and the functions in its module.

    A base without initial states is not a model by itself, so what it has belongs to the models that extend it.
    """
    models = [base for base in cls.__mro__[1:] if issubclass(base, Model) and base.methods("initial")]
    inherited = {id(member) for base in models for member in vars(base).values()}
    return [
        mutant
        for mutant in mutants(cls)
        if mutant.function.__module__ == cls.__module__ and id(mutant.function) not in inherited
    ]


def functions(cls: type[Model]) -> list[Callable[..., Any]]:
    """The functions that the initial states and actions of a model run, in the order in which they are found."""
    return reached_functions(cls, [*cls.methods("initial").values(), *cls.methods("action").values()])
