"""docs/language.md is what the tool writes, each of its examples compiles, and nothing of the language is left out."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from textwrap import indent

import pytest

from docs.tools import language_examples
from docs.tools.language import PAGE, page
from docs.tools.language_examples import EXPRESSIONS, STATEMENTS, TYPES, Examples
from floodmark.checkers.project.modules import load_file
from floodmark.compiler.ir import Action
from floodmark.compiler.program import read_program
from floodmark.language.members import MARKS
from floodmark.language.model import sized
from floodmark.language.types import Type
from floodmark.language.widths import FIRST_WIDTHS
from tests.agreement.test_generated_models import CONSTRUCTS, Constructs
from tests.support.level_agreement import Budget, RefusedError, agreement

TESTED = Path(__file__).parents[1] / "compiler" / "test_compiler.py"
CODES = [(it.code, f"value = {it.code}") for rows in EXPRESSIONS.values() for it in rows]
CODES += [(it.code, it.code) for rows in STATEMENTS.values() for it in rows]


def test_the_page_is_what_the_tool_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m docs.tools.language"


def source_with(body: str) -> str:
    """The model of the examples with an action that does this, and a property in which values may stand."""
    text = Path(language_examples.__file__).read_text(encoding="utf-8")
    text = text.replace("    initial,\n", "    action,\n    implies,\n    initial,\n    require,\n", 1)
    method = f"    @action\n    def step(self) -> None:\n{indent(body, ' ' * 8)}\n\n"
    return text.replace("    def helper(self", f"{method}    def helper(self", 1)


@pytest.fixture(scope="module")
def action_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Action]:
    """The graph of the action that does what is asked for, which is read once."""
    folder = tmp_path_factory.mktemp("examples")

    @cache
    def read(body: str) -> Action:
        file = folder / f"examples{len(list(folder.iterdir()))}.py"
        file.write_text(source_with(body), encoding="utf-8")
        [action] = read_program(sized(vars(load_file(file))["Examples"](), FIRST_WIDTHS), {}).actions
        return action

    return read


@pytest.mark.parametrize(("code", "body"), CODES, ids=[code for code, _ in CODES])
def test_each_example_of_the_language_page_compiles(action_of: Callable[[str], Action], code: str, body: str) -> None:
    action_of(body)
    assert code.replace("|", "\\|") in PAGE.read_text(encoding="utf-8")


VARIES = """
self.flag = not self.flag
if self.flag:
    self.isr.add(broker)
    self.x = (self.x + 1) % 4 + 1
    self.end[broker] = epoch
    self.leader = broker
else:
    self.y = epoch - 1
    self.vote = Vote(epoch=epoch, to=broker)
    self.message = self.vote
    self.votes = Set({self.vote})
    self.log = [epoch, self.x % 3]
    self.network = Bag([1, epoch])
    self.leaders[broker] = self.leader
"""
"""What another action does, so that an example meets different states."""
SEEN_IN = ["self.flag = value", "self.x = max(0, min(6, value))", "self.leader = value", "self.isr = value",
           "self.vote = value", "self.message = value", "self.state = value", "self.log = value",
           "self.network = value", "self.end = value", "self.leaders = value", "self.votes = value",
           "self.x = min(6, len(value))"]
"""How the value of an expression becomes a part of a state: by the first that the compiler takes."""


@pytest.mark.slow
@pytest.mark.parametrize(("code", "body"), CODES, ids=[code for code, _ in CODES])
def test_each_example_means_what_it_does_in_cpython(tmp_path: Path, code: str, body: str) -> None:
    said = ""
    for number, seen in enumerate(SEEN_IN if body != code else [""]):
        text = source_with(f"{body}\n{seen}".strip())
        varies = "    @action\n    def varies(self, broker: Broker, epoch: Epoch) -> None:\n"
        varies += f"{indent(VARIES, ' ' * 8)}\n"
        file = tmp_path / f"examples{number}.py"
        file.write_text(text.replace("    def helper(self", f"{varies}    def helper(self", 1), encoding="utf-8")
        try:
            agreement(vars(load_file(file))["Examples"](), [], Budget(states=300, steps=150, late=3))
        except RefusedError as error:
            said = str(error)
        else:
            return
    pytest.fail(f"no state shows it: {said}")


def test_the_examples_reach_every_node_of_the_expression_graph(action_of: Callable[[str], Action]) -> None:
    constructs = Constructs()
    for _, body in CODES:
        action = action_of(body)
        constructs._note([*action.guards, *action.body])
    only_elsewhere = {"Witness", "Do", "Require"}  # in a property; a leading call or guard is taken apart
    assert CONSTRUCTS - only_elsewhere <= set(constructs.seen)


def test_every_type_has_a_row() -> None:
    def below(cls: type[Type]) -> Iterator[type[Type]]:
        for each in cls.__subclasses__():
            yield each
            yield from below(each)

    shown = {type(kind).__name__ for kind in Examples().variable_types.values()}
    # No variable has one of these.
    hidden = {"NoneType", "NothingType", "OpenIdentifierType", "OpenIntType", "OpenSetType"}
    assert {cls.__name__ for cls in below(Type)} - hidden <= shown
    assert set(TYPES) <= set(Examples().variable_types)


def test_every_decorator_has_a_row() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = {name for name, value in vars(__import__("floodmark")).items() if any(value is mark for mark in MARKS)}
    assert len(names) == len(MARKS)
    for name in names:
        assert re.search(rf"^\| `@{name}` \| \w", text, re.MULTILINE), name


def words(tree: ast.AST) -> set[str]:
    """What is particular to the language in a piece of source: its syntax, and the names that it calls."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name.islower():
                found.add(f"{name}()")
            case ast.Call(func=ast.Attribute(attr=name, value=value)) if not isinstance(value, ast.Name):
                found.add(f".{name}()")
        if isinstance(node, ast.stmt | ast.expr | ast.operator | ast.cmpop | ast.unaryop | ast.boolop):
            found.add(type(node).__name__)
    return found


def test_each_construct_of_the_compilers_tests_is_there() -> None:
    """The models in tests/compiler/test_compiler.py use whatever the compiler knows."""
    known = {word for _, body in CODES for word in words(ast.parse(body))}
    own = {f"{node.name}()" for node in ast.walk(ast.parse(TESTED.read_text(encoding="utf-8")))
           if isinstance(node, ast.FunctionDef)}
    used: set[str] = set()
    for cls in ast.parse(TESTED.read_text(encoding="utf-8")).body:
        methods = cls.body if isinstance(cls, ast.ClassDef) else []
        for method in methods:
            if isinstance(method, ast.FunctionDef) and "initial" not in map(ast.unparse, method.decorator_list):
                for statement in method.body:
                    used |= words(statement)
    missing = used - known - own - {f".{name}" for name in own}
    assert missing <= {"Expr", "Return", "super()"}
