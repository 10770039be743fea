"""The proposals of a model in a state: every step that it can take, found by its compiled code.

CPython remains the reference: a chosen step is taken by CPython and must lead where the compiled code says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.kernel.stepper import Stepper
from floodmark.checkers.project.properties import Property
from floodmark.language import reference
from floodmark.language.model import Model, State
from floodmark.language.reference import Step

Packed = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A step: its number among those of a state, its action, and the state that it leads to."""

    action: str
    after: Packed


@dataclass(frozen=True, slots=True)
class Offer:
    """All that a model proposes in a state.

    ``broken`` says that some step may break a transition property. ``failed`` says that some step, or evaluating a
    property, leaves the model's types.
    """

    proposals: list[Proposal]
    broken: bool
    failed: bool


class Proposals:
    """The compiled code of a model with some properties."""

    def __init__(self, model: Model, properties: Sequence[Property]) -> None:
        kernel = build_kernel(model, {prop.name: prop.function for prop in properties}, symmetry=False, bounded=False)
        self.model = model
        self.layout = kernel.interface.layout
        self.actions = kernel.interface.actions
        by_name = {prop.name: prop for prop in properties}
        self.of_states = [by_name[name] for name in kernel.interface.state_predicates]
        self.of_steps = [by_name[name] for name in kernel.interface.transition_predicates]
        self._stepper = Stepper(kernel.model, kernel.interface)
        self._all_true = (1 << len(self.of_states)) - 1

    def of(self, state: Packed) -> Offer:
        made = self._stepper.expand(state)
        names = [name for name, times in zip(self.actions, made.fired, strict=True) for _ in range(times)]
        found = [Proposal(name, tuple(row)) for name, row in zip(names, made.after, strict=True)]
        return Offer(found, bool(made.broken), made.failed)

    def false_in(self, state: Packed) -> Property | None:
        """An invariant that is false in a state."""
        mask, failed = self._stepper.check(state)
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

    def step(self, state: State, proposal: Proposal) -> tuple[Step, State]:
        """The step of a proposal, taken by CPython."""
        wanted = self.layout.unpack(proposal.after)
        for step in reference.choices(self.model, state, proposal.action):
            after = reference.fire(self.model, state, step)
            if after == wanted:
                return step, after
        raise RuntimeError(f"compiled code took {proposal.action}, to {wanted}, which CPython does not take")
