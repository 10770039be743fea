"""Runs a model and an implementation in lockstep: both take each step, and then their observables are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from floodmark.checkers.conformance.adapter import Adapter, Contract, Observable
from floodmark.checkers.conformance.external_values import value_of
from floodmark.checkers.conformance.shrinking import shrunk
from floodmark.checkers.part_kinds import argument_kinds
from floodmark.checkers.project.properties import did_you_mean
from floodmark.checkers.value_text import plain, show, show_step, source_form
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.plurals import counted
from floodmark.language.reference import Step
from floodmark.language.values import running

_MAX_EAGER = 1000


class Mismatch(AssertionError):  # noqa: N818 - a test reports it
    """The implementation and the model differ after ``steps``, which begin with an initial one.

    ``differences`` has the observables that differ, each with the model's value and the implementation's.
    """

    def __init__(self, message: str, steps: Sequence[Step], differences: Sequence[tuple[str, Any, Any]] = ()) -> None:
        super().__init__(message)
        self.steps = tuple(steps)
        self.differences = tuple(differences)


class Lockstep:
    """A run in progress. ``steps`` are those chosen so far; ``taken`` has the text of every step and who took it."""

    def __init__(self, contract: Contract, step: Step, state: State) -> None:
        self.contract = contract
        self.model = contract.model
        self.state = state
        self.steps = [step]
        self.taken: list[str] = [show_step(step)]
        self._enabled: dict[str, list[tuple[Step, State]]] | None = None
        self.implementation: Adapter = contract.adapter(self.model.at(state))

    def begin(self) -> None:
        """Compares the initial states. Raises Mismatch."""
        self._settle()

    def enabled(self) -> dict[str, list[tuple[Step, State]]]:
        """The instances of each action that can be taken now, and the state of the model after each."""
        if self._enabled is None:
            self._enabled = {}
            for step, after in reference.successors(self.model, self.state):
                if step.action in self.contract.taken and reference.within_boundary(self.model, after):
                    self._enabled.setdefault(step.action, []).append((step, after))
        return self._enabled

    def take(self, step: Step, after: State) -> None:
        """Takes a step in the model and, if it is the implementation's, there too. Raises Mismatch."""
        driven = step.action in self.contract.driven
        self.steps.append(step)
        self._arrive(f"{show_step(step)}{'' if driven else '  (environment)'}", after)
        if driven:
            try:
                getattr(self.implementation, step.action)(**step.arguments)
            except Exception as error:
                error.add_note("\n".join(["The implementation failed in the last of these steps:", *self._steps()]))
                raise
        self._settle()

    def _arrive(self, text: str, after: State) -> None:
        self.taken.append(text)
        self.state = after
        self._enabled = None

    def _settle(self) -> None:
        """Takes the implementation's eager actions in the model, then compares the two."""
        for _ in range(_MAX_EAGER):
            eager = self._next_eager()
            if eager is None:
                break
            self._arrive(f"{show_step(eager[0])}  (by itself)", eager[1])
        else:
            raise SourceError(f"the eager actions {', '.join(self.contract.eager)} never come to an end")
        self._compare()

    def _next_eager(self) -> tuple[Step, State] | None:
        for name in self.contract.eager:
            found: dict[State, Step] = {}
            for step in reference.choices(self.model, self.state, name):
                after = reference.fire(self.model, self.state, step)
                if after is not None and after != self.state:
                    found[after] = step
            if len(found) > 1:
                ways = " or ".join(show_step(step) for step in list(found.values())[:2])
                raise SourceError(f"the eager action {name} can be taken in several ways, {ways}; drive it instead")
            for after, step in found.items():
                return step, after
        return None

    def _compare(self) -> None:
        now = self.model.at(self.state)
        observables = self.contract.observables
        with reference.computing(self.model, "what is observed returns a value"):
            values = [each.expected(now) for each in observables]
        differing = []
        with running(self.model):
            for each, expected in zip(observables, values, strict=True):
                shown = getattr(self.implementation, each.name)()
                if not _same(each, expected, shown):
                    differing.append((each.name, expected, _in_words_of_the_model(each, shown)))
        if differing:
            after = f"after {counted(len(self.taken), 'step')}"
            lines = [f"{after} the implementation differs from the model", *self._steps()]
            lines += [
                f"{name}: the model has {show(expected)}, the implementation {show(shown)}"
                for name, expected, shown in differing
            ]
            raise Mismatch("\n".join(lines), self.steps, differing)

    def _steps(self) -> list[str]:
        """The steps, numbered as those of a counterexample: the initial one is the first."""
        return [f"  {number}  {text}" for number, text in enumerate(self.taken, 1)]


def _same(each: Observable, expected: Any, shown: Any) -> bool:
    if each.kind is None:
        return bool(expected == shown) or _alike(expected, shown)
    try:
        return bool(value_of(each.kind, shown, each.name) == expected)
    except SourceError:
        return False


def _alike(expected: Any, shown: Any) -> bool:
    """Whether two values are written alike, without regard to the order of sets."""
    if isinstance(expected, AbstractSet) and isinstance(shown, AbstractSet):
        return {repr(plain(item)) for item in expected} == {repr(plain(item)) for item in shown}
    if isinstance(expected, Mapping) and isinstance(shown, Mapping):
        values = {source_form(key): item for key, item in shown.items()}
        return len(values) == len(expected) and all(
            source_form(key) in values and _alike(item, values[source_form(key)])
            for key, item in expected.items())
    return bool(plain(expected) == plain(shown))


def _in_words_of_the_model(each: Observable, shown: Any) -> Any:
    """An observed value of the implementation as a value of the model, if it is one."""
    try:
        return shown if each.kind is None else value_of(each.kind, shown, each.name)
    except SourceError:
        return shown


def shortened(contract: Contract, found: Mismatch) -> Mismatch:
    """A mismatch from which no single step can be left out; steps that are then no longer enabled go as well."""
    shortest = found

    def fails(steps: Sequence[Step]) -> tuple[Step, ...] | None:
        nonlocal shortest
        mismatch = _mismatch_after(contract, steps)
        if mismatch is None:
            return None
        if len(mismatch.steps) < len(shortest.steps):
            shortest = mismatch
        return mismatch.steps

    shrunk(found.steps, fails)
    return shortest


def _mismatch_after(contract: Contract, steps: Sequence[Step]) -> Mismatch | None:
    first = next(start for start in reference.initial_states(contract.model) if start[0] == steps[0])
    run = Lockstep(contract, *first)
    try:
        run.begin()
        for step in steps[1:]:
            after = reference.fire(contract.model, run.state, step)
            if after is not None and reference.within_boundary(contract.model, after):
                run.take(step, after)
    except Mismatch as found:
        return found
    except Exception:
        return None
    finally:
        run.implementation.close()
    return None


def replay(model: Model, adapter: type[Adapter], trace: Iterable[Mapping[str, Any]]) -> None:
    """Takes the steps of a trace in the model and in the implementation. Raises Mismatch where the two differ.

    The entries are those of ``--json``, ``{"action": ..., "arguments": {...}}``, so a counterexample that the checker
    found can be tried on the implementation; the first one is the initial step. Actions that the adapter lists as eager
    are left out, since both sides take them by themselves. Raises SourceError for a step that cannot be taken.
    """
    run = replayed(Contract(model, adapter), trace)
    if run is not None:
        run.implementation.close()


def replayed(contract: Contract, trace: Iterable[Mapping[str, Any]]) -> Lockstep | None:
    """The run after the steps of a trace, as ``replay`` takes them; the caller closes its implementation.

    None for a trace without steps.
    """
    run: Lockstep | None = None
    try:
        for number, entry in enumerate(trace, 1):
            name, given = str(entry["action"]), entry.get("arguments", {})
            if run is None:
                run = Lockstep(contract, *_initial(contract.model, name, given))
                run.begin()
            elif name not in contract.eager:
                run.take(*_instance(run, number, name, given))
    except BaseException:
        if run is not None:
            run.implementation.close()
        raise
    return run


def _initial(model: Model, name: str, given: Mapping[str, Any]) -> tuple[Step, State]:
    for step, state in reference.initial_states(model):
        if step.action == name and is_given(model, step, given):
            return step, state
    raise SourceError(f"the trace must begin with an initial step; {name}({given}) is not one")


def _instance(run: Lockstep, number: int, name: str, given: Mapping[str, Any]) -> tuple[Step, State]:
    if name not in run.contract.actions:
        raise SourceError(f"step {number}: there is no action {name!r}{did_you_mean(name, run.contract.actions)}")
    for step, after in run.enabled().get(name, []):
        if is_given(run.model, step, given):
            return step, after
    raise SourceError(f"step {number}: {name}({given}) is not enabled, or unsupported")


def is_given(model: Model, step: Step, given: Mapping[str, Any]) -> bool:
    """Whether the arguments of a step are those of a trace. Older traces do not name the class of a record."""
    if set(given) != set(step.arguments):
        return False
    kinds = argument_kinds(model, step)
    for name, value in step.arguments.items():
        try:
            same = bool(value_of(kinds[name], given[name], name) == value)
        except SourceError:
            same = bool(plain(value) == given[name])
        if not same:
            return False
    return True


ABSENT = "(nothing)"
MAX_WIDTH = 70


def side_by_side(mismatch: Mismatch) -> list[str]:
    """A table with a line for each place where model and implementation differ."""
    rows = [("", "model", "implementation")]
    for name, expected, shown in mismatch.differences:
        rows += [(place, _text(one), _text(other)) for place, one, other in _apart(name, plain(expected), plain(shown))]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return [f"{place:{widths[0]}}  {one:{widths[1]}}  {other}" for place, one, other in rows]


class _AbsentValue:
    """Represents a value that only the other side has."""


def _apart(place: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """The innermost places where two values differ."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            yield from _apart(f"{place}[{key}]", one.get(key, _AbsentValue), other.get(key, _AbsentValue))
    elif isinstance(one, list) and isinstance(other, list):
        for index in range(max(len(one), len(other))):
            yield from _apart(f"{place}[{index}]", _item(one, index), _item(other, index))
    elif one != other or type(one) is not type(other):
        yield place, one, other


def _item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else _AbsentValue


def _text(value: Any) -> str:
    if value is _AbsentValue:
        return ABSENT
    text = show(value) if not isinstance(value, str) else value
    return text if len(text) <= MAX_WIDTH else text[: MAX_WIDTH - 4] + " ..."
