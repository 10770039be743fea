"""The proposals of a model in a state: every step that it can take, found by its compiled code.

The code also computes the arguments of each step (``with_arguments``), so that two steps to the same state are both
proposed; an implementation may distinguish them. CPython remains the reference: it takes a chosen step, and its
successor must be the one that the compiled code gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.kernel.stepper import Stepper
from floodmark.checkers.project.properties import Property
from floodmark.compiler.layout import lay_out
from floodmark.compiler.program import argument
from floodmark.language import reference
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, parameter_types

Packed = tuple[int, ...]

REMEMBERED = 10_000
"""The number of cached steps that CPython has taken: walks start at the ends of earlier runs."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A step: its action, the state that it leads to, and the words that its arguments are packed in."""

    action: str
    after: Packed
    arguments: Packed = ()


@dataclass(frozen=True, slots=True)
class ProposedSteps:
    """All steps that a model proposes in a state.

    ``broken`` is whether some step may violate a transition property. ``failed`` is whether some step, or evaluating a
    property, leaves the model's types.
    """

    proposals: Sequence[Proposal]
    broken: bool
    failed: bool


class _Rows(Sequence[Proposal]):
    """Proposals that are decoded on access: a walk takes one of some hundreds."""

    def __init__(self, names: list[str], rows: list[list[int]], words: int) -> None:
        self._names, self._rows, self._words = names, rows, words

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        row = self._rows[index]
        return Proposal(self._names[index], tuple(row[: self._words]), tuple(row[self._words :]))


class Proposals:
    """The compiled code of a model with some properties."""

    def __init__(self, model: Model, properties: Sequence[Property]) -> None:
        functions = {prop.name: prop.function for prop in properties}
        kernel = build_kernel(model, functions, symmetry=False, bounded=False, arguments=True)
        self.model = model
        self.layout = lay_out(model.variable_types)
        self._with_arguments = kernel.interface.layout
        self._parameters = {
            name: list(parameter_types(model, method)) for name, method in type(model).methods("action").items()
        }
        self.actions = kernel.interface.actions
        by_name = {prop.name: prop for prop in properties}
        self.of_states = [by_name[name] for name in kernel.interface.state_predicates]
        self.of_steps = [by_name[name] for name in kernel.interface.transition_predicates]
        self._stepper = Stepper(kernel.model, kernel.interface)
        self._all_true = (1 << len(self.of_states)) - 1
        self._no_arguments = (0,) * (self._with_arguments.words - self.layout.words)
        self.step = lru_cache(maxsize=REMEMBERED)(self._step)
        """The step of a proposal in a state, and the state after it."""
        self._unpacked = lru_cache(maxsize=REMEMBERED)(self.layout.unpack)

    def of(self, state: Packed) -> ProposedSteps:
        made = self._stepper.expand(state + self._no_arguments)
        names = [name for name, times in zip(self.actions, made.fired, strict=True) for _ in range(times)]
        return ProposedSteps(_Rows(names, made.after, self.layout.words), bool(made.broken), made.failed)

    def false_in(self, state: Packed) -> Property | None:
        """An invariant that is false in a state."""
        mask, failed = self._stepper.check(state + self._no_arguments)
        if mask == self._all_true and not failed:
            return None
        now = self.layout.unpack(state)
        found = next((p for p in self.of_states if not reference.holds(self.model, p.function, now)), None)
        if found is None:
            raise RuntimeError(f"compiled code says that a property is false, but CPython finds none that is, in {now}")
        return found

    def false_of(self, before: Packed, after: Packed) -> Property | None:
        """A transition property that is false for a step, according to CPython."""
        old, new = self.layout.unpack(before), self.layout.unpack(after)
        return next((p for p in self.of_steps if not reference.holds(self.model, p.function, old, new)), None)

    def _step(self, before: Packed, proposal: Proposal) -> tuple[Step, State]:
        """The step as CPython takes it."""
        step = Step(proposal.action, self._arguments(proposal))
        after = reference.fire(self.model, self._unpacked(before), step)
        wanted = self._unpacked(proposal.after)
        if after != wanted:
            raise RuntimeError(f"compiled code took {step}, to {wanted}, and CPython took it to {after}")
        return step, wanted

    def _arguments(self, proposal: Proposal) -> dict[str, Any]:
        values = {}
        for name in self._parameters[proposal.action]:
            variable = argument(proposal.action, name)
            values[name] = self._with_arguments.value(variable, proposal.after + proposal.arguments)
        return values
