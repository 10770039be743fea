"""Tests evaluation order: effects inside expressions, loops over what they change, shadowed names, and draws.

CPython is right by definition; compiled code reaches the same states, or the model is refused.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.language.errors import ModelError
from floodmark.language.reference import Step, choices, every_choice, fire, initial_states, parameter_types
from tests.support.agreement import assert_agrees
from tests.support.broken import MODEL, action_text, load, marked_lines, model_text, refusal, search

METHODS = '''
def take(self) -> int:
    self.y = (self.y + 1) % 4
    return self.y

def early(self, k: int) -> int:
    k = k + 1
    for i in range(3):
        k = k + i
        if k > 5:
            return k - 4
    return k % 4

def message(self) -> Message:
    return Message(node=Node(1), value=self.take())

def last(self) -> Node | None:
    found = None
    for n in Node:
        if n in self.some:
            found = n
    return found

def settle(self) -> None:
    require(self.x == 0)
    self.y = 3

def ready(self) -> bool:
    require(self.x == 0)
    return True

def or_one(self, value: int | None) -> int:
    if value is None:
        return 1
    return value

@action
def join(self, n: Node) -> None:
    self.some.add(n)

'''
MODEL_WITH_Y = MODEL.replace("flag: bool = False", "flag: bool = False\n    y: Small = 0")

STATEMENTS = [
    "self.x = abs(self.take() - 2)",
    "self.x = abs((self.take() - 3) // 2)",
    "self.x = abs((self.take() - 3) % -2)",
    "self.x = min(self.take(), self.take(), 2)",
    "self.x = (self.x + self.take()) % 4",
    "self.y = (self.y + self.take()) % 4",
    "self.flag = self.take() in (1, 3)",
    "self.flag = self.take() in range(1, 3)",
    "self.flag = self.take() == self.take()",
    "self.flag = self.x == 0 and self.take() == 1 or self.take() == 2",
    "self.x = self.take() if self.take() > 1 else 0",
    "self.x = self.early(self.x)",
    "self.x = (self.early(self.x) + self.early(self.y)) % 4\nself.y = self.early(2) % 4",
    "self.messages = {self.message()}",
    "self.messages = {self.message().replace(value=1)}",
    "self.messages = {self.message().replace(urgent=True) for n in self.some}",
    "self.log = [self.take() for n in Node]",
    "self.log = [0, 1, 2][self.take() - 2:self.take()]",
    "self.log = sorted([self.take(), self.take(), 1], reverse=True)",
    "self.per = Map({n: self.take() for n in Node})",
    "self.per[Node(1) if self.take() > 1 else Node(2)] = self.take()",
    "self.x = sum(self.take() > 1 for n in Node)",
    "self.some = self.some ^ ({Node(1)} if self.take() > 1 else {Node(2)})",
    "self.flag = self.some.isdisjoint({Node(1)} if self.take() > 1 else {Node(2)})",
    "for n in self.some:\n    self.some.discard(n)\n    self.x = (self.x + 1) % 4",
    "self.log = [0, 1]\nfor v in self.log:\n    self.log = [v]\nself.x = self.log[0]",
    "n = 1\nself.x = sum(1 for n in self.some) % 4\nself.x = n",
    "v = 2\nfor v in range(self.x):\n    self.flag = not self.flag\nself.x = 1",
    "self.node = self.last()",
    "b = self.last()\nif b is not None:\n    self.per[b] = (self.per[b] + 1) % 4",
    "self.flag = self.last() == self.node\nself.node = self.last()",
    "self.x = self.or_one(None) + self.or_one(1)",
    "self.flag = {Node(1)} <= self.some < {Node(1), Node(2)}",
    "self.flag = self.node == None",
    "if self.x == 1:\n    self.x = 2\n    return\nfor n in Node:\n    if n in self.some:\n        return\n"
    "    self.x = 1",
    "self.x = 1\nrequire(self.take() != 2)\nself.flag = True",
    "for n in self.some:\n    require(self.per[n] == 0)\n    self.per[n] = 1",
    "self.settle()\nself.x = 1",
    "require(self.ready())\nself.x = 1",
    "self.flag = any(all(self.per[a] <= self.per[b] for b in Node) for a in Node if a in self.some)",
    "self.flag = 1 in self.per.values()\nself.per[Node(2)] = 1",
    "a = [[1], [self.x, 2]]\nself.x = a[1][0] + len(a[0]) - 1",
    "a = {(1, 2), (self.x, 2)}\nself.x = len(a)",
    "a = 0\nfor i in range(10):\n    a = a * 2 + 1\nself.x = a % 4",
]
DRAWS = {
    "s: Set[Node]": "self.some = s",
    "s: Map[Node, Small]": "self.per = s",
    "m: Message": "self.messages = {m}",
    "o: Node | None": "require(o in {Node(1), None})\nself.node = o",
    "v: Small": "require(v in {w + 1 for w in range(2)})\nself.x = v",
    "a: Node, b: Node": "require(a in self.some and b in self.some - {a})\nself.node = b",
    "b: Node, a: Node": "require(a in self.some and b in {a})\nself.node = b",
    "a: Node": "require(a not in self.some)\nself.some.add(a)\nself.node = a",
}


def agree(folder: Path, body: str) -> None:
    assert assert_agrees(load(folder, model_text(METHODS + body, MODEL_WITH_Y)).M, workers=(1,)).distinct > 1


@pytest.mark.parametrize("statements", STATEMENTS)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_statements_mean_what_cpython_makes_of_them(tmp_path: Path, statements: str) -> None:
    agree(tmp_path, action_text(statements))


@pytest.mark.parametrize("parameters", DRAWS)
def test_drawn_parameters_take_the_members_that_cpython_finds(tmp_path: Path, parameters: str) -> None:
    agree(tmp_path, action_text(DRAWS[parameters], parameters))


def test_a_guard_that_changes_the_state_rules_no_step_out_in_cpython(tmp_path: Path) -> None:
    """Compiled code refuses such a guard; CPython tests it with each choice in the state before the step."""
    body = "require(self.take() == 1 or v > 5)\nrequire(w > 0)\nself.x = v"
    cls = load(tmp_path, model_text(METHODS + action_text(body, "v: Small, w: Small"), MODEL_WITH_Y)).M
    model = cls()
    ((_, state),) = initial_states(model)
    every = every_choice(model, parameter_types(model, cls.methods("action")["step"]))
    taken = [step for step in (Step("step", chosen) for chosen in every) if fire(model, state, step) is not None]
    assert len(taken) > 1
    assert [step for step in choices(model, state, "step") if fire(model, state, step) is not None] == taken


@pytest.mark.parametrize(
    "statement",
    [
        "self.flag = 0 <= self.take() <= 3  #!",
        "self.x = max((v for v in self.log), default=self.take())  #!",
        "self.log[self.take() % 3] += 1  #!",
        "self.per[Node(1) if self.take() > 1 else Node(2)] += 1  #!",
        "self.log.append(self.take())  #!",
    ],
)
def test_effects_where_the_order_would_be_another_are_refused(tmp_path: Path, statement: str) -> None:
    text = model_text(METHODS + action_text(statement), MODEL_WITH_Y)
    assert "assign its value to a local first" in refusal(tmp_path, text).message


def test_integers_beyond_a_register_are_model_errors(tmp_path: Path) -> None:
    """CPython has no such bound; compiled code says where it gives up, and never wraps around."""
    text = model_text(action_text("a = 3\nfor i in range(60):\n    a = a * 3  #!\nself.x = a % 4"))
    with pytest.raises(ModelError) as caught:
        search(load(tmp_path, text))
    assert [caught.value.line] == marked_lines(text)
    assert "beyond 64 bits" in caught.value.message
