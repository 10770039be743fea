"""Tests that a successor that a state already has is neither judged again nor, in a search, looked up again, and that
nothing else comes of that; and that what is reached is not asked for again."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pytest

from floodmark import Between, Model, action, invariant, reachable, require, transition
from floodmark.checkers.codegen.repeats import BEFORE, DISTINCT, STAYED
from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.kernel.loops import ALL_ONES, BROKEN, COUNTERS, OUTSIDE, SETTLED
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import Property, PropertyKind
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Options


class Sender(Model):
    """Two words of state, of which a step often changes nothing."""

    sent: Annotated[int, Between(0, 3)] = 0
    wide: Annotated[int, Between(0, 2**61)] = 0
    asked: bool = False

    @action
    def sends(self, lost: bool) -> None:
        require(self.sent < 3)
        self.sent = self.sent if self.asked and lost else self.sent + 1

    @action
    def waits(self) -> None:
        pass

    @action
    def asks(self, twice: bool) -> None:
        self.asked = True

    @action
    def rests(self) -> None:
        self.wide = self.wide


@transition
def moves(old: Sender, new: Sender) -> bool:
    return old.sent != new.sent or old.asked != new.asked


@transition
def never_jumps(old: Sender, new: Sender) -> bool:
    return new.sent <= old.sent + 1


@reachable
def has_sent(model: Sender) -> bool:
    return model.sent == 2


@reachable
def has_sent_in_vain(model: Sender) -> bool:
    return 6 // (3 - model.sent) == 3


@invariant
def counts(model: Sender) -> bool:
    return model.sent <= 3


KINDS: dict[str, PropertyKind] = {
    "moves": "transition", "never_jumps": "transition", "has_sent": "reachable", "has_sent_in_vain": "reachable",
    "counts": "invariant",
}
PROPERTIES = {each.__name__: each for each in (moves, never_jumps, has_sent, has_sent_in_vain, counts)}


def successors(distinct: bool, state: Any, hint: int = 0, names: tuple[str, ...] = ("never_jumps",)) -> Any:
    """What ``expand`` leaves: the successors, how often each action fired, the broken properties."""
    kernel = build_kernel(Sender(), {name: PROPERTIES[name] for name in names}, False)
    interface = kernel.interface
    out = np.zeros((interface.most_successors + 1, interface.layout.words), dtype=np.uint64)
    context = np.zeros(interface.context_words + 1, dtype=np.uint64)
    context[[OUTSIDE, STAYED, DISTINCT]] = ALL_ONES, hint, int(distinct)
    packed = np.array(interface.layout.pack(state), dtype=np.uint64)
    made = kernel.model.function("expand", 3)(packed.ctypes.data, out.ctypes.data, context.ctypes.data)
    assert context[BEFORE] == context[STAYED] == 0  # or a renamed state would seem to have other steps
    fired = dict(zip(interface.actions, context[COUNTERS : interface.first_premise].tolist(), strict=True))
    return [interface.layout.unpack(tuple(row)) for row in out[:made].tolist()], fired, int(context[BROKEN])


def a_state(sent: int, asked: bool) -> Any:
    layout = build_kernel(Sender(), {}, False).interface.layout
    known = {"sent": sent, "wide": 7, "asked": asked}
    return tuple(known[name] for name in layout.variables)


HINTS = [0, 1, 2, 5, 63, 2**32, 2**63, ALL_ONES]


@pytest.mark.parametrize("hint", HINTS)
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("sent", [0, 2, 3])
def test_every_successor_is_there_unless_each_is_wanted_once(sent: int, asked: bool, hint: int) -> None:
    state = a_state(sent, asked)
    every, fired, _ = successors(False, state, hint)
    assert len(every) == sum(fired.values()) == (4 if sent == 3 else 6)
    once, fired_again, _ = successors(True, state, hint)
    assert fired_again == fired
    assert once == list(dict.fromkeys(every))


@pytest.mark.parametrize("hint", HINTS)
def test_a_step_that_changes_nothing_is_judged(hint: int) -> None:
    for distinct in (False, True):
        assert successors(distinct, a_state(0, True), hint, ("moves",))[2] == 1
        assert successors(distinct, a_state(0, True), hint, ("never_jumps",))[2] == 0


def test_a_hint_from_an_earlier_state_is_no_successor_of_this_one() -> None:
    """What ``out`` still has of an earlier state is behind the successors of this one."""
    kernel = build_kernel(Sender(), {"moves": moves}, False)
    interface = kernel.interface
    out = np.zeros((interface.most_successors + 1, interface.layout.words), dtype=np.uint64)
    context = np.zeros(interface.context_words + 1, dtype=np.uint64)
    context[OUTSIDE] = ALL_ONES
    for sent in (0, 1, 2, 3, 0, 3):
        context[BROKEN] = 0
        packed = np.array(interface.layout.pack(a_state(sent, True)), dtype=np.uint64)
        out[:] = packed  # as if each had been delivered before
        kernel.model.function("expand", 3)(packed.ctypes.data, out.ctypes.data, context.ctypes.data)
        assert context[BROKEN] == 1


class Still(Model):
    """It only ever stays where it is."""

    on: bool = False

    @action
    def stays(self) -> None:
        pass


def test_a_state_that_can_only_stay_is_no_deadlock() -> None:
    result = search_states(Still(), [], Options(workers=1, deadlock=True))
    assert (result.distinct, result.generated, result.violations) == (1, 2, [])


def test_what_is_settled_is_not_asked_for_unless_it_may_fail() -> None:
    names = ("has_sent", "has_sent_in_vain", "counts")
    kernel = build_kernel(Sender(), {name: PROPERTIES[name] for name in names}, False)
    interface = kernel.interface
    context = np.zeros(interface.context_words + 1, dtype=np.uint64)
    for sent in range(3):
        packed = np.array(interface.layout.pack(a_state(sent, False)), dtype=np.uint64)
        context[SETTLED] = 0
        truth = kernel.model.function("check", 2)(packed.ctypes.data, context.ctypes.data)
        wanted = {"has_sent": sent == 2, "has_sent_in_vain": sent == 1, "counts": True}
        assert truth == sum(wanted[name] << place for place, name in enumerate(interface.state_predicates))
        context[SETTLED] = ALL_ONES
        settled = kernel.model.function("check", 2)(packed.ctypes.data, context.ctypes.data)
        assert settled == truth & ~(1 << interface.state_predicates.index("has_sent"))


@pytest.mark.parametrize("names", [("never_jumps", "has_sent"), ("has_sent_in_vain",), ("moves",), ("counts",)])
@pytest.mark.parametrize("workers", [1, 2])
def test_searches_agree_with_cpython(workers: int, names: tuple[str, ...]) -> None:
    properties = [Property(name, KINDS[name], PROPERTIES[name], __file__, 1, "") for name in names]
    expected = reference.search_states(Sender(), properties, Options())
    found = search_states(Sender(), properties, Options(workers=workers))
    assert (found.distinct, found.generated, found.depth) == (expected.distinct, expected.generated, expected.depth)
    for result in (found, expected):
        result.violations.sort(key=lambda each: each.property)
    told = [[(each.kind, each.property, len(each.trace)) for each in it.violations] for it in (found, expected)]
    assert told[0] == told[1]
    assert set(found.reached) == set(expected.reached)
