"""``floodmark.states``: the states that a model can reach, one after the other, as CPython finds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from floodmark.checkers.interface.subject import Design, class_spec
from floodmark.checkers.search.beginning import without_initial_state
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.language import reference
from floodmark.language.model import Model, State

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

SETTINGS = ("constants",)


class States:
    """The reachable states of a model. Each iteration searches anew, breadth first, and yields a state as soon as it is
    found: a dictionary of the values of the variables. A loop that comes to its end has seen them all.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The states. Raises SourceError, with place and step, where a step leaves the declared types."""
        names = list(self._model.variable_types)
        for state in _reached(self._model):
            yield dict(zip(names, state, strict=True))

    def __repr__(self) -> str:
        constants = ", ".join(f"{name}={value!r}" for name, value in self._model.constant_values.items())
        return f"<reachable states of {type(self._model).__name__}({constants})>"

    def to_pandas(self) -> pandas.DataFrame:
        """All states as a table with a column for each variable; pandas must be installed."""
        import pandas

        return pandas.DataFrame(iter(self), columns=list(self._model.variable_types))


def states(design: Design, *, constants: Mapping[str, int] | None = None, **sizes: int) -> States:
    """The states that a model can reach, in the order in which a search finds them: ``floodmark.states(Lease)``.

    ``design`` and its constants are as for ``floodmark.check``. A state outside the model's boundary is left out, as in
    the counts of a search. CPython runs the model, which is slow: a few thousand states a second.

    Raises SourceError for a model that cannot be read, and TypeError for wrong arguments.
    """
    return States(Check(class_spec(design, constants, sizes, SETTINGS), None, CheckSettings()).model())


def _reached(model: Model) -> Iterator[State]:
    found: dict[State, None] = {}
    waiting: list[State] = []
    begins = False
    for _, state in reference.initial_states(model):
        begins = True
        if state not in found and reference.within_boundary(model, state):
            found[state] = None
            waiting.append(state)
            yield state
    if not begins:
        raise without_initial_state(model)
    while waiting:
        level, waiting = waiting, []
        for old in level:
            for _, state in reference.successors(model, old):
                if state not in found and reference.within_boundary(model, state):
                    found[state] = None
                    waiting.append(state)
                    yield state
