"""The properties that a model inherits from the model that it refines: its fairness, and its properties of runs.

In TLA+ a specification is its steps together with its fairness, so a model refines another one only if its own fair
runs, mapped, are fair to the other model. Each fair action of that model is thus a property of the mapped runs, beside
the properties that it states. A spec requests them: ``[refines]`` with ``liveness = true``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from floodmark.checkers.project.properties import FAIRNESS, Property
from floodmark.language.errors import ModelError
from floodmark.language.fairness import declared_fairness
from floodmark.language.members import abstract_steps
from floodmark.language.reference import abstract_class
from floodmark.language.source import source_of


def mapped_properties(refinement: Property, of_the_other: Iterable[Property]) -> list[Property]:
    """The properties of mapped runs, each with the name of the mapping before its own.

    A ``can`` property is not a property of runs and does not carry over. Raises ModelError for a property that cannot
    be judged if a mapping takes several steps at once, as no run of images has the states between them.
    """
    found = [*_fairness(refinement), *_of_runs(refinement, of_the_other)]
    for prop in found if abstract_steps(refinement.function) > 1 else ():
        if prop.kind != "always_eventually" and not (prop.kind == FAIRNESS and not _is_strong(prop)):
            message = f"{prop.name} says what must not be, or has to be first, between several steps of the other model"
            message += f" that are taken at once; with steps=... {refinement.name} can be asked for weak fairness and"
            message += " for always_eventually"
            raise ModelError(message, refinement.file, refinement.line)
    return found


def _is_strong(prop: Property) -> bool:
    """Whether an action of the other model is strongly fair."""
    assert prop.mapping is not None
    return declared_fairness(abstract_class(prop.mapping))[prop.function.__name__].strong


def _fairness(refinement: Property) -> Iterator[Property]:
    cls = abstract_class(refinement.function)
    for name, fairness in declared_fairness(cls).items():
        method = cls.methods("action")[name]
        source = source_of(method)
        text = f"{name} of {cls.__name__} is {fairness} in the mapped runs."
        yield Property(
            f"{refinement.name}.{name}", FAIRNESS, method, source.file, source.tree.lineno, text, refinement.function
        )


def _of_runs(refinement: Property, others: Iterable[Property]) -> Iterator[Property]:
    for prop in others:
        if prop.is_liveness and prop.kind != "recoverable":
            yield replace(prop, name=f"{refinement.name}.{prop.name}", mapping=refinement.function)
