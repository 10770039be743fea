"""A model as a Hypothesis state machine that drives an implementation in lockstep with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from floodmark.checkers.conformance.adapter import Adapter, Contract
from floodmark.checkers.conformance.lockstep import Lockstep, Mismatch, shortened
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, parameter_types

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine

T = TypeVar("T")


def state_machine(
    model: Model | type[Model], adapter: type[Adapter], after: Sequence[Sequence[Step]] = ()
) -> type[RuleBasedStateMachine]:
    """A ``RuleBasedStateMachine`` that takes steps of the model and of an implementation, and compares them.

    Each action of the model becomes a rule. A rule is tried only where the action is enabled in the model, with
    arguments for which it is enabled; Hypothesis chooses the initial state, the actions and the arguments, and shrinks
    them. After every step each observable of the adapter must equal the model's value, or the test fails with a
    ``Mismatch`` that names the steps, the observable, and both values::

        TestPartition = state_machine(AlterIsr(max_offset=2), PartitionAdapter).TestCase

    With ``after``, each test first takes one of these runs, which ``deep_runs`` finds, as far as it can.

    What the implementation would do where no action of the model is enabled is not tested. Raises SourceError when the
    adapter does not fit the model, or when Hypothesis is not installed.
    """
    subject = model() if isinstance(model, type) else model
    return _machine(Contract(subject, adapter), after)


def model_of(spec: str | Path, variant: str | None = None) -> Model:
    """The model of a spec with its constants, or its known-bad design ``variant``.

    ``spec`` is a file, or a row of one, as in ``lease.toml@small``. Raises SourceError if it is neither.
    """
    from floodmark.checkers.verdict.check import CheckSettings, one_check

    check = one_check(Path(spec), variant, CheckSettings())
    return check.cls()(**check.constants)


def _machine(contract: Contract, after: Sequence[Sequence[Step]]) -> type[RuleBasedStateMachine]:
    try:
        from hypothesis import strategies as st
        from hypothesis.control import current_build_context
        from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
    except ModuleNotFoundError:
        message = 'state_machine drives an implementation with Hypothesis; run: pip install "floodmark[conformance]"'
        raise SourceError(message) from None

    def chosen(data: Any, options: list[T], label: str) -> T:
        return options[0] if len(options) == 1 else data.draw(st.sampled_from(options), label=label)

    def instance(data: Any, options: list[tuple[Step, State]]) -> tuple[Step, State]:
        """Chooses one parameter after another, so that each of them shrinks by itself."""
        for name in options[0][0].arguments:
            values = list(dict.fromkeys(step.arguments[name] for step, _ in options))
            value = chosen(data, values, name)
            options = [option for option in options if option[0].arguments[name] == value]
        return options[0]

    class Machine(RuleBasedStateMachine):
        lockstep: Lockstep | None = None

        @initialize(data=st.data())
        def begin(self, data: Any) -> None:
            if after:
                self._go(chosen(data, list(after), "run"))
                return
            starts = list(reference.initial_states(contract.model))
            names = list(dict.fromkeys(step.action for step, _ in starts))
            name = chosen(data, names, "initial")
            step, state = instance(data, [start for start in starts if start[0].action == name])
            self.lockstep = Lockstep(contract, step, state)
            self.lockstep.begin()

        def _go(self, steps: Sequence[Step]) -> None:
            """Takes the steps of a run, except those that the implementation takes by itself."""
            state = next(state for step, state in reference.initial_states(contract.model) if step == steps[0])
            self.lockstep = Lockstep(contract, steps[0], state)
            try:
                self.lockstep.begin()
                for step in steps[1:]:
                    now = reference.fire(contract.model, self.lockstep.state, step)
                    if now is not None and step.action in contract.taken:
                        self.lockstep.take(step, now)
            except Mismatch as found:
                if not current_build_context().is_final:
                    raise
                raise shortened(contract, found) from None

        @precondition(lambda self: self.lockstep is not None and not self.lockstep.enabled())
        @rule()
        def nothing_is_enabled(self) -> None:
            """The run is over; Hypothesis requires a rule all the same."""

        def teardown(self) -> None:
            if self.lockstep is not None:
                self.lockstep.implementation.close()

    def taking(name: str, chooses: bool) -> Callable[..., None]:
        def take(self: Any, data: Any = None) -> None:
            step, after = instance(data, self.lockstep.enabled()[name])
            try:
                self.lockstep.take(step, after)
            except Mismatch as found:
                if not current_build_context().is_final:
                    raise
                raise shortened(contract, found) from None

        take.__name__ = name if not hasattr(Machine, name) else f"{name}_"
        is_enabled = precondition(lambda self: self.lockstep is not None and name in self.lockstep.enabled())
        given = rule(data=st.data()) if chooses else rule()
        decorated: Callable[..., None] = is_enabled(given(take))
        return decorated

    rules = {}
    for name, method in contract.actions.items():
        if name in contract.driven or name in contract.environment:
            taken = taking(name, bool(parameter_types(contract.model, method)))
            rules[taken.__name__] = taken
    return type(contract.adapter.__name__, (Machine,), {**rules, "__module__": contract.adapter.__module__})
