"""Tests models that leave their declared types: every engine says where and in which step, with the same trace."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from floodmark.checkers.native import search as native
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Options, SearchResult
from tests.support.broken import MODEL, action_text, load, marked_lines, model_text, property_text, search

UP = "require(self.x < {})\nself.x += 1"


def helper(statements: str, body: str, returns: str = "None") -> str:
    return f"def helper(self) -> {returns}:\n    {statements}\n\n" + action_text(body)


# Body of the model, length of the trace, the step that fails (None when a property does), part of the message.
ERRORS: dict[str, tuple[str, int, str | None, str]] = {
    "above the range": (action_text("self.x += 1  #!"), 4, "step()", "x would become 4, outside of 0..3"),
    "below the range": (action_text("self.x -= 1  #!"), 1, "step()", "x would become -1"),
    "full sequence": (action_text("self.log.append(1)  #!"), 4, "step()", "more than its capacity of 3"),
    "joined sequence": (action_text("self.log = self.log + [1, 2]  #!"), 2, "step()", "more than its capacity of 3"),
    "full bag": (action_text("self.bag.add(1)  #!"), 3, "step()", "more than its capacity of 2"),
    "full slots": (action_text("self.slots.add(a)  #!", "a: Small"), 3, "step(a=2)", "more than its capacity of 2"),
    "joined slots": (action_text("self.slots |= {0, 1, 2}  #!"), 1, "step()", "more than its capacity of 2"),
    "nothing in the bag": (action_text("self.bag.remove(1)  #!"), 1, "step()", "1 is not in the bag"),
    "nothing in the set": (action_text("self.some.remove(Node(1))  #!"), 1, "step()", "n1 is not in the set"),
    "nothing in the slots": (action_text("self.slots.remove(1)  #!"), 1, "step()", "1 is not in the set"),
    "None as a key": (action_text("self.x = self.per[self.node]  #!"), 1, "step()", "no key None"),
    "None as an assigned key": (action_text("self.per[self.node] = 1  #!"), 1, "step()", "no key None"),
    "None in a field": (
        action_text("self.messages.add(Message(node=self.node, value=1))  #!"),
        1, "step()", "Message.node would become None",
    ),
    "a field out of range": (
        action_text("for n in Node:\n    self.messages.add(Message(node=n, value=self.x + 4))  #!"),
        1, "step()", "Message.value would become 4",
    ),
    "a replaced field out of range": (
        action_text("m = Message(node=Node(1), value=3)\nself.messages.add(m.replace(value=m.value + 1))  #!"),
        1, "step()", "Message.value would become 4",
    ),
    "an index outside": (action_text("self.x = self.log[0]  #!"), 1, "step()", "index 0 is outside"),
    "a negative index outside": (
        action_text("self.log.append(1)\nself.x = self.log[-2]  #!"), 1, "step()", "index -2 is outside",
    ),
    "an assigned index outside": (action_text("self.log[0] = 1  #!"), 1, "step()", "index 0 is outside"),
    "min of nothing": (action_text("self.x = min(self.log)  #!"), 1, "step()", "min()"),
    "max of nothing": (action_text("self.x = max(v for v in self.log if v > 1)  #!"), 1, "step()", "max()"),
    "division by zero": (action_text("self.x = 3 // self.x  #!"), 1, "step()", "ZeroDivisionError"),
    "rest of a division by zero": (action_text("self.x = 3 % self.x  #!"), 1, "step()", "ZeroDivisionError"),
    "assert": (action_text("assert self.x == 0, 'x has to be 0'  #!\nself.x = 1"), 2, "step()", "x has to be 0"),
    "in a later step": (
        action_text(UP.format(3))
        + "\n\n@action\ndef late(self) -> None:\n    require(self.x == 2)\n    self.x = 7  #!",
        3, "late()", "x would become 7",
    ),
    "with one of several arguments": (
        action_text("require(n in self.some)\nself.x = a - 1  #!", "n: Node, a: Small")
        + "\n\n@action\ndef join(self, n: Node) -> None:\n    require(n == Node(2) or Node(2) in self.some)\n"
        "    self.some.add(n)",
        2, "step(n=n2, a=0)", "x would become -1",
    ),
    "in a guard": (action_text("require(self.log[0] == 1)  #!\nself.x = 1"), 1, "step()", "index 0"),
    "in a guard before a false one": (
        action_text("require(self.log[0] == 1 and self.flag)  #!\nself.x = 1"), 1, "step()", "index 0",
    ),
    "in a guard of a parameter before a false one": (
        action_text("require(self.log[a] == 1 and self.flag)  #!\nself.x = 1", "a: Small"), 1, "step(a=0)", "index 0",
    ),
    "in a guard before a draw": (
        action_text("require(self.log[a] == 1 and n in self.some)  #!\nself.x = 1", "n: Node, a: Small"),
        1, "step(n=n1, a=0)", "index 0",
    ),
    "in a method": (helper("return self.log[1]  #!", "self.x = self.helper()", "int"), 1, "step()", "index 1"),
    "in an effect of a method": (helper("self.x += 5  #!", "self.helper()"), 1, "step()", "x would become 5"),
    "in an invariant": (
        action_text(UP.format(2)) + "\n\n" + property_text("return 3 // (self.x - 1) > -9  #!"),
        2, None, "ZeroDivisionError",
    ),
    "in an invariant of the first state": (
        action_text("self.x = 1") + "\n\n" + property_text("return min(self.log) == 0  #!"), 1, None, "min()",
    ),
    "in a conclusion, with a false premise": (
        action_text("self.x = 1")
        + "\n\n" + property_text("return implies(self.node is not None, self.per[self.node] == 0)  #!"),
        1, None, "no key None",
    ),
    "in an assert of an invariant": (
        action_text("self.x = 1") + "\n\n" + property_text("assert self.x == 0, 'not 0'  #!\nreturn True"),
        2, None, "not 0",
    ),
    "in a reachability property": (
        action_text("self.x = 1") + "\n\n" + property_text("return self.x == 1 and self.log[0] == 0  #!", "reachable"),
        2, None, "index 0",
    ),
    "in a transition property": (
        action_text(UP.format(2)) + "\n\n"
        + property_text("return 3 // (new.x - 2) < 9  #!", "transition", "self, new"),
        3, None, "ZeroDivisionError",
    ),
    "in a boundary": (
        action_text(UP.format(3)) + "\n\n" + property_text("return 3 // (self.x - 2) < 9  #!", "boundary"),
        3, None, "ZeroDivisionError",
    ),
    "in a boundary of the first state": (
        action_text(UP.format(3)) + "\n\n" + property_text("return 3 // self.x < 9  #!", "boundary"),
        1, None, "ZeroDivisionError",
    ),
    "in an invariant outside of the boundary": (
        action_text(UP.format(3)) + "\n\n@boundary\ndef near(self) -> bool:\n    return self.x < 2\n\n"
        + property_text("return 3 // (self.x - 2) < 9  #!"),
        3, None, "ZeroDivisionError",
    ),
    "in @initial": (
        "@initial\ndef begin(self, a: Small) -> None:\n"
        "    self.per = Map({n: 0 for n in Node})\n    self.x = a + 1  #!",
        0, None, "x would become 4",
    ),
    "in an assert of @initial": (
        "@initial\ndef begin(self) -> None:\n    assert self.flag, 'no flag'  #!", 0, None, "no flag",
    ),
}
SLOTS = MODEL.replace("flag: bool = False", "flag: bool = False\n    slots: Annotated[Set[Small], Capacity(2)] = Set()")


def compared(found: SearchResult) -> Any:
    shown = [(v.kind, v.property, len(v.trace), v.message, v.line, str(v.failed_step)) for v in found.violations]
    return shown, found.complete, found.distinct, found.generated, found.levels


def found_by(module: ModuleType, *workers: int) -> list[SearchResult]:
    """What the reference engine finds, then the native one with so many workers."""
    return [search(module, reference), *(search(module, native, Options(workers=n)) for n in workers)]


@pytest.mark.parametrize("name", ERRORS)
def test_a_model_error_has_its_line_and_trace_on_every_engine(tmp_path: Path, name: str) -> None:
    body, length, step, said = ERRORS[name]
    text = model_text(body, SLOTS)
    module = load(tmp_path, text)
    first, *others = found_by(module, 1)
    violation = first.violations[0]
    assert violation.kind == "error"
    assert len(violation.trace) == length
    assert str(violation.failed_step) == str(step)
    assert violation.file == module.__file__
    assert [violation.line] == marked_lines(text)
    assert said in violation.message
    for other in others:
        assert compared(other) == compared(first)
        assert other.violations[0].file == module.__file__


@pytest.mark.parametrize(
    "body",
    [
        action_text("require(self.flag and self.log[0] == 1)\nself.x = 1"),
        action_text("require(self.flag)\nrequire(self.log[a] == 1)\nself.x = 1", "a: Small"),
        action_text("require(self.node is not None and self.per[self.node] == 1)\nself.x = 1"),
        action_text("self.slots = (self.slots | {0, 1, 2}) - {1}"),
        action_text("self.x = self.log[-1] if self.log else 0"),
        action_text("self.log = self.log[5:] + self.log[:-7]"),
        action_text("self.x = min(self.log, default=2)"),
        action_text("require(self.x == 0)\nfor m in self.messages:\n    self.x = 7\nself.x = 1"),
        action_text("self.x = 1") + "\n\n" + property_text("return self.node is None or self.per[self.node] == 0"),
    ],
)
def test_what_is_not_evaluated_does_not_fail(tmp_path: Path, body: str) -> None:
    first, second = found_by(load(tmp_path, model_text(body, SLOTS)), 1)
    assert first.violations == []
    assert first.complete
    assert compared(second) == compared(first)


def test_an_error_does_not_hide_the_violation_of_another_property(tmp_path: Path) -> None:
    wrong = "@invariant\ndef second(self) -> bool:\n    return 3 // (self.x - 1) < 9  #!"
    body = "\n\n".join([action_text("self.x = 1"), property_text("return self.x == 0"), wrong])
    for found in found_by(load(tmp_path, model_text(body)), 1, 2):
        kinds = {violation.property: (violation.kind, len(violation.trace)) for violation in found.violations}
        assert kinds == {"checked": ("invariant", 2), "second": ("error", 2)}


def test_an_error_and_a_broken_step_in_one_level(tmp_path: Path) -> None:
    """Shorter traces come first."""
    bad = "@action\ndef bad(self) -> None:\n    self.log = [1, 1, 1, 1]"
    body = "\n\n".join([action_text("self.x = 1"), bad, property_text("return new.x == 0", "transition", "self, new")])
    for found in found_by(load(tmp_path, model_text(body)), 1, 2):
        assert [violation.kind for violation in found.violations] == ["error", "transition"]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_error_with_the_shortest_run_is_reported(tmp_path: Path, workers: int) -> None:
    """Wherever a worker meets an error, the one that is told is nearest to the start, and always the same."""
    body = action_text("self.log.append(a)", "a: Small") + "\n\n@action\ndef go(self, a: Small) -> None:\n"
    body += "    require(len(self.log) == 2)\n    self.x = self.log[0] + self.log[1] + a"
    module = load(tmp_path, model_text(body))
    shortest = search(module, reference).violations[0]
    found = {compared(search(module, native, Options(workers=workers)))[0][0] for _ in range(3)}
    ((kind, _, length, _, line, _),) = found
    assert (kind, length, line) == (shortest.kind, len(shortest.trace), shortest.line)
