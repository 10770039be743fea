"""A loop's variable is an ordinary local variable: the body may assign it, and it keeps its value after the loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark import Model
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.compiler.commuting_loops import nodes
from floodmark.compiler.conditions import read_value
from floodmark.compiler.identifier_bias import first_bias
from floodmark.compiler.ir import SetLocal
from floodmark.compiler.program import read_action, read_program
from floodmark.compiler.renaming import symmetric_types
from floodmark.language.errors import ModelError
from floodmark.language.source import source_of
from tests.support.agreement import assert_agrees
from tests.support.broken import action_text, load, model_text, property_text, refusal
from tests.support.symbolic_agreement import assert_steps_agree

HIVE = '''class M(Model):
    nodes = Constant(2)
    on: bool
    last: Node
    log: Annotated[Seq[Small], Capacity(2)]
    marked: Map[Node, bool]
    some: Set[Node]
    lots: Annotated[Bag[Small], Capacity(2)]
    groups: Annotated[Set[Set[Node]], Capacity(2)]
    out: Annotated[int, Between(-99, 999)]
    found: Node | None

    @initial
    def start(self, on: bool, last: Node, first: Small, second: bool) -> None:
        self.on = on
        self.last = last
        self.log = Seq([first, 2]) if second else Seq([first]) if first > 0 else Seq()
        self.marked = Map({node: node == last and on for node in Node})
        self.some = Set({last}) if on else Set()
        self.lots = Bag([first, 1])
        self.groups = Set({Set(Node), Set({last})})
        self.out = 0
        self.found = None

    @rule
    def first_above(self, number: int, limit: int) -> int:
        for number in self.log:
            if number > limit:
                break
        return number

    @rule
    def first_of(self, nodes: Set[Node], node: Node) -> Node:
        for node in nodes:
            if self.on:
                return node
        return node

    @rule
    def marks(self, node: Node) -> None:
        for node in Node:
            require(self.on or node != self.last)
        self.found = node

    @rule
    def summed(self, number: int) -> int:
        total = 0
        for number in range(number):
            number = (number + 1) % 4
            total += number
        return total * 10 + number

'''
BODIES = {
    "assigned in a loop over a type": (
        "for x in Node:\n    if self.on:\n        x = self.last\n    self.marked[x] = True"
    ),
    "assigned in a loop over a range": (
        "for i in range(3):\n    if self.on:\n        i = 0\n    self.out = self.out * 4 + i"
    ),
    "assigned in a loop over a sequence": (
        "for x in self.log:\n    x += 1\n    if x > 3:\n        x = 0\n        continue\n    self.out += x"
    ),
    "assigned twice in a round": (
        "for x in self.log:\n    if self.on:\n        x += 3\n    x += 5\n    self.out = self.out * 9 + x"
    ),
    "assigned in enumerate": (
        "for i, x in enumerate(self.log, start=1):\n    if x == 2:\n        i = x\n    else:\n        x -= i\n"
        "    self.out += i * 5 + x"
    ),
    "assigned in items": (
        "for node, marked in self.marked.items():\n    if self.on:\n        marked = not marked\n"
        "        node = self.last\n    self.marked[node] = not marked"
    ),
    "assigned in zip": "for a, b in zip(self.log, [3, 1]):\n    a = a + b\n    b = a - b\n    self.out += a * 3 + b",
    "assigned to another type that holds it": (
        "for x in Node:\n    if self.on and x == self.last:\n        x = None\n    self.found = x"
    ),
    "read after a loop over a sequence": "x = 0\nfor x in self.log:\n    pass\nself.out = x",
    "read after a loop over a range": "i = 7\nfor i in range(len(self.log)):\n    pass\nself.out = i",
    "read after a loop downwards": "i = 7\nfor i in range(len(self.log), 0, -1):\n    pass\nself.out = i",
    "read after a loop over a set": "x = self.last\nfor x in self.some:\n    pass\nself.found = x",
    "read after a loop over a bag": "x = 9\nfor x in self.lots:\n    pass\nself.out = x",
    "read after a loop over sets": "x = self.some\nfor x in self.groups:\n    pass\nself.some = x",
    "read after a loop over a type": (
        "x = self.last\nfor x in Node:\n    if self.marked[x]:\n        break\nself.found = x"
    ),
    "read after a loop over keys": "x = self.last\nfor x in self.marked.keys():\n    pass\nself.found = x",
    "read after a loop over a map": "x = self.last\nfor x in self.marked:\n    pass\nself.found = x",
    "read after a loop over values": "x = False\nfor x in self.marked.values():\n    pass\nself.on = x",
    "read after items": (
        "node = self.last\non = False\n"
        + "for node, on in self.marked.items():\n    if on:\n        break\nself.found = node\nself.on = on"
    ),
    "read after enumerate": (
        "i = 5\nx = 6\nfor i, x in enumerate(self.log):\n    self.on = False\nself.out = i * 10 + x"
    ),
    "read after enumerate and break": (
        "i = 5\nfor i, x in enumerate(self.log):\n    if x == 2:\n        break\nself.out = i"
    ),
    "read after zip": "a = 8\nfor a, b in zip(self.log, self.log[1:]):\n    self.out = b\nself.out += a",
    "read after sorted and break": (
        "best = 0\nfor best in sorted(self.log):\n    if best > 1:\n        break\nself.out = best"
    ),
    "read after an empty literal": "x = 3\nfor x in []:\n    pass\nself.out = x",
    "read after an empty enumerate": "x = 3\nfor i, x in enumerate([]):\n    self.out = i\nself.out = x",
    "read in the next round": (
        "x = 0\nfor i in range(3):\n    self.out += x * i\n    for x in self.log:\n        self.out += 1"
    ),
    "read in a comprehension after it": (
        "x = 3\nfor x in self.log:\n    pass\nself.out = sum(x for y in self.log if y == x)"
    ),
    "bound by a comprehension within": (
        "for x in self.log:\n    self.out += sum(x for x in [1, 2])\n    self.out += x"
    ),
    "bound by a comprehension over itself": "for x in self.log:\n    self.out += sum(x for x in range(x)) * 2 + x",
    "its own end": "n = len(self.log)\nfor n in range(n + 1):\n    n = n * 2 % 5\nself.out = n",
    "an end that the body changes": "n = 3\nfor i in range(n):\n    n -= 1\n    self.out = self.out * 4 + n + i",
    "two loops within each other": (
        "for x in self.log:\n    for x in range(2):\n        self.out += x\n    self.out += x * 5"
    ),
    "two enumerates within each other": (
        "for i, x in enumerate(self.log):\n    for i, x in enumerate(range(2)):\n        self.out += i + x\n"
        "    self.out += 3 * x + i"
    ),
    "an inner loop that is left": (
        "x = 4\nfor x in range(3):\n    for x in self.log:\n        if x == 1:\n            break\nself.out = x"
    ),
    "two loops after each other": "for x in self.log:\n    self.out += x\nfor x in Node:\n    self.found = x",
    "one name twice": "for x, x in zip(self.log, [3, 1]):\n    self.out += x",
    "one name twice, read after it": "x = 9\nfor x, x in zip(self.log, [3, 1]):\n    self.out += x\nself.out += x",
    "names that nobody reads": "for _ in Node:\n    for _ in range(2):\n        self.out += 1",
    "a value before, a value in one branch": (
        "if self.on:\n    x = 5\nelse:\n    for x in self.log:\n        self.out += x\n    x = 2\nself.out += x"
    ),
    "a parameter of a helper": "self.out = self.first_above(9, 1)",
    "a parameter of a helper, by its caller's variable": (
        "number = 3\nself.out = self.first_above(number, 2) * 10\nself.out += number"
    ),
    "a parameter of a helper that returns in the loop": "self.found = self.first_of(self.some, self.last)",
    "a parameter of a helper that requires": "self.marks(self.last)",
    "a parameter of a helper that runs over itself": "self.out = self.summed(len(self.log))",
}


def stepping(bodies: dict[str, str]) -> str:
    """A class body with an action for each of these; each is taken in initial states alone, and leaves its number."""
    texts = ["done: Annotated[int, Between(0, 99)] = 0"]
    for number, body in enumerate(bodies.values(), 1):
        text = action_text(f"require(self.done == 0)\n{body}\nself.done = {number}")
        texts.append(text.replace("def step", f"def step_{number}"))
    return "\n\n".join(texts)


@pytest.fixture(scope="module")
def hive(tmp_path_factory: pytest.TempPathFactory) -> type[Model]:
    module = load(tmp_path_factory.mktemp("hive"), model_text(stepping(BODIES), HIVE))
    return module.M  # type: ignore[no-any-return]


def test_compiled_code_gives_it_the_value_that_cpython_gives(hive: type[Model]) -> None:
    assert_agrees(hive, workers=(1,))


def test_terms_give_it_the_value_that_cpython_gives(hive: type[Model]) -> None:
    assert_steps_agree(hive(), count=8)


REFUSED = {
    "read after a loop that may be empty": ("for x in self.log:\n    pass\nself.x = x  #!", "x may have no value here"),
    "read after a loop that is never empty": (
        "for x in range(2):\n    pass\nself.x = x  #!", "x may have no value here"),
    "one of two, read after a loop": (
        "for i, x in enumerate(self.log):\n    pass\nself.x = i  #!", "i may have no value here"),
    "a comprehension's, read after it": ("a = [x for x in self.log]\nself.x = x + len(a)  #!", "x is not defined"),
    "of another type than before": ("x = 0\nfor x in Node:  #!\n    self.node = x\nself.x = x", "use two variables"),
    "of another type within": (
        "for x in Node:\n    self.node = x\n    x = 2  #!\n    self.x = x", "use two variables"),
    "of another type in an inner loop": (
        "for x in Node:\n    for x in self.log:  #!\n        self.x = x\n    self.node = x", "use two variables"),
    "an action's parameter": ("for n in Node:  #!\n    self.node = n", "n is a parameter of the action"),
    "an action's parameter, one of two": (
        "for i, n in enumerate(self.log):  #!\n    self.x = n", "n is a parameter of the action"),
    "the model": ("for self in Node:  #!\n    pass", "self is the model"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_value_that_it_may_not_have_is_refused(tmp_path: Path, name: str) -> None:
    statements, said = REFUSED[name]
    assert said in refusal(tmp_path, model_text(action_text(statements, "n: Node"))).message


def test_a_property_cannot_run_over_its_model(tmp_path: Path) -> None:
    text = model_text(property_text("for self in Node:  #!\n    pass\nreturn True"))
    assert "self is the model" in refusal(tmp_path, text).message


@pytest.mark.parametrize(
    "statements",
    [
        "for n in self.some:\n    pass\nreturn self.node == n",
        "for i, n in enumerate(self.log):\n    pass\nreturn self.x == i",
        "if self.flag:\n    n = self.node\nreturn self.node == n",
    ],
)
def test_a_parameter_of_a_property_of_runs_cannot_be_assigned(tmp_path: Path, statements: str) -> None:
    module = load(tmp_path, model_text(property_text(statements, "eventually", "self, n: Node")))
    model = module.M()
    with pytest.raises(ModelError, match="n is a parameter of the property; assign to another variable"):
        read_value(model, source_of(module.M.checked), {"n": module.Node(1)})


def test_a_variable_that_nobody_sees_after_its_round_costs_nothing(tmp_path: Path) -> None:
    """The graph of such a loop has no assignment."""
    body = "for n in Node:\n    self.per[n] = 1\nfor n in Node:\n    self.node = n"
    model = load(tmp_path, model_text(action_text(body))).M()
    step = read_action(model, "step", type(model).step)
    assert not any(isinstance(node, SetLocal) for node in nodes(step.body))


@pytest.mark.parametrize(
    "body",
    [
        "last = n\nfor last in Node:\n    pass\nself.node = last",
        "last = n\nfor last in self.some:\n    if self.flag:\n        break\nself.node = last",
        "for m in Node:\n    if self.per[m] == 0:\n        m = n\n    self.per[m] += 1",
        "self.node = self.helped(n)",
    ],
)
def test_a_value_that_depends_on_the_order_of_identifiers_may_favour_one(tmp_path: Path, body: str) -> None:
    helper = "@rule\ndef helped(self, m: Node) -> Node:\n    for m in Node:\n        pass\n    return m"
    module = load(tmp_path, model_text(f"{helper}\n\n{action_text(body, 'n: Node')}"))
    program = read_program(module.M(nodes=3), {})
    kinds = symmetric_types(program.variables.values())
    assert first_bias(program.actions[0], kinds) is not None


def test_for_any_number_of_identifiers_the_last_of_a_loop_is_refused(tmp_path: Path) -> None:
    body = "last = n\nfor last in Node:\n    pass\nself.node = last"
    variables = "class M(Model):\n    nodes = Constant(2)\n    node: Node | None = None\n\n"
    model = load(tmp_path, model_text(action_text(body, "n: Node"), variables)).M(nodes=2)
    with pytest.raises(UnsupportedError, match="may only add to sets"):
        system_of(model, [], any_size_constants(model)[0], any_size=True)


@pytest.mark.parametrize("condition", ["self.adds(m)", "self.value[m] > 0 and self.adds(m)"])
def test_for_any_number_of_identifiers_a_condition_that_changes_a_variable_is_refused(
    tmp_path: Path, condition: str
) -> None:
    """Such a loop assigns nothing itself, so that its terms would leave the state as it is."""
    variables = "class M(Model):\n    nodes = Constant(2)\n    some: Set[Node] = Set()\n"
    variables += "    value: Map[Node, Annotated[int, Between(0, 1)]]\n\n"
    adds = "def adds(self, m: Node) -> bool:\n    self.some.add(m)\n    return True"
    body = f"for m in Node:\n    if {condition}:\n        pass"
    model = load(tmp_path, model_text(f"{adds}\n\n{action_text(body)}", variables)).M(nodes=2)
    with pytest.raises(UnsupportedError, match="may only add to sets"):
        system_of(model, [], any_size_constants(model)[0], any_size=True)
