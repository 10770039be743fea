"""Every construct means in every engine what it means in CPython, wherever it stands, or is refused.

What the table in ``tests/support/constructs.py`` consists of is what the compiler lists, neither more nor less.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

import pytest

from floodmark import language
from floodmark.checkers.conformance.adapter import Contract
from floodmark.checkers.conformance.lockstep import Lockstep
from floodmark.checkers.symbolic.methods.claims import ask
from floodmark.compiler import constructs as listed
from floodmark.compiler.ir import Action, Predicate
from floodmark.conformance import Adapter, Mismatch, observable
from floodmark.language import values
from floodmark.language.errors import SourceError
from floodmark.language.members import kind_of
from floodmark.language.reference import Step, initial_states
from tests.support import constructs as table
from tests.support.broken import load
from tests.support.construct_agreement import FAILS, by_code, by_cpython, read_parts, unlike_terms
from tests.support.construct_any_size import refused_or_unlike
from tests.support.construct_claims import OPEN_TYPES, TYPES, cases_of, claim_of, claims_source, without_model
from tests.support.construct_claims import refused_or_unlike as refused_or_unlike_claims

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")
TRUTHS = [text for texts in table.TRUTHS.values() for text in texts]
NUMBERS = [text for texts in table.NUMBERS.values() for text in texts]
BODIES = [text for texts in table.BODIES.values() for text in texts]
VALUES = [*TRUTHS, *NUMBERS]
ROLES = ("action", "initial", "invariant", "reachable", "transition", "boundary")
ONE_PLACE_ONLY = (
    "must not change the state", "require guards an action", "changes a variable; write a for statement",
    "has to return a natural number, on every path", "enabled belongs in a property",
)
"""Why something that changes the state, or requires something, is refused where nothing may."""


OBSERVED = table.OUTSIDE + "def seen_{i}(self: M) -> int:\n    return {number}"


def value_in(context: str, index: int) -> str:
    text = VALUES[index]
    truth, number = (text, f"(1 if {text} else 0)") if index < len(TRUTHS) else (f"({text}) > 0", text)
    form = OBSERVED if context == "observed" else table.CONTEXTS[context]
    return form.format(i=index, truth=f"({truth})", number=f"({number})")


def body_in(context: str, index: int) -> str:
    helper = f"def help_{index}(self) -> int:\n{indent(BODIES[index], '    ')}\n\n"
    return helper + table.BODY_CONTEXTS[context].format(i=index)


def written(folder: Path, members: Iterable[str]) -> ModuleType:
    parts = [member.partition(table.OUTSIDE) for member in members]
    text = "\n\n".join([table.HELPERS, *(inside for inside, _, _ in parts)])
    after = "\n\n\n".join(outside for _, _, outside in parts)
    return load(folder, f"{table.HEAD}\n\nclass M(Variables):\n{indent(text, '    ')}\n\n\n{after}\n")


def functions_of(module: ModuleType) -> dict[str, tuple[str, Callable[..., Any]]]:
    """The parts in a module by name, each with its role."""
    methods = [(role, it) for role in ROLES for it in module.M.methods(role).values()]
    others = [(kind_of(it), it) for it in vars(module).values() if callable(it)]
    return {it.__name__: (role, it) for role, it in [*methods, *others] if role and it.__name__.startswith("part_")}


def disagreements(folder: Path, members: list[str]) -> Iterator[str]:
    """What each of some parts means otherwise than in CPython, in some initial state."""
    module = written(folder, members)
    model, plain = module.M(), module.Variables()
    states = [state for _, state in initial_states(plain)]
    known, read = functions_of(module), []
    assert len(known) == len(members)
    for name, part in read_parts(model, known):
        if not isinstance(part, SourceError):
            read.append(part)
        elif not any(said in part.message for said in ONE_PLACE_ONLY):
            yield f"{name}: {part.message}"
    real = {
        part.name: [by_cpython(model, *known[part.name], state, case) for case, state in enumerate(states)]
        for part in read
    }
    compiled: list[Action | Predicate] = [it for it in read if isinstance(it, Action | Predicate)]
    code = by_code(model, compiled, states)
    for part in compiled:
        for state, one, other in zip(states, real[part.name], code[part.name], strict=True):
            if isinstance(part, Action) or FAILS not in (one, other):
                if one != other:
                    yield f"{part.name}: in {state} compiled code says {other}, CPython {one}"
                    break
            elif one != other:
                yield f"{part.name}: in {state} one of {one} and {other} fails"
                break
    for name, why in unlike_terms(plain, read, states, real):
        yield f"{name}: {why}"


def told(found: Iterable[str], texts: list[str]) -> list[str]:
    return [f"{texts[int(it.split(':')[0].removeprefix('part_'))]!r}: {it}" for it in found]


def test_engines_agree_on_every_value(tmp_path: Path) -> None:
    """Each value in one of the contexts; the slow tests have it in all of them."""
    contexts = list(table.CONTEXTS)
    members = [value_in(contexts[index % len(contexts)], index) for index in range(len(VALUES))]
    assert told(disagreements(tmp_path, members), VALUES) == []


def test_engines_agree_on_every_body(tmp_path: Path) -> None:
    contexts = list(table.BODY_CONTEXTS)
    members = [body_in(contexts[index % len(contexts)], index) for index in range(len(BODIES))]
    assert told(disagreements(tmp_path, members), BODIES) == []


@pytest.mark.slow
@pytest.mark.parametrize("context", table.CONTEXTS)
def test_engines_agree_on_every_value_in_each_context(tmp_path: Path, context: str) -> None:
    members = [value_in(context, index) for index in range(len(VALUES))]
    assert told(disagreements(tmp_path, members), VALUES) == []


@pytest.mark.slow
@pytest.mark.parametrize("context", table.BODY_CONTEXTS)
def test_engines_agree_on_every_body_in_each_context(tmp_path: Path, context: str) -> None:
    members = [body_in(context, index) for index in range(len(BODIES))]
    assert told(disagreements(tmp_path, members), BODIES) == []


NOT_OF_ANY_SIZE = (
    "this list may have any length, which is not known, so it cannot be indexed here",
    "a sum over any number of elements is known only when each counts as one",
    "a function that changes a variable is called for each of any number of elements, which is not supported",
    "a require in a function that is called for each of any number of elements is not supported",
    "a set of any size has no elements that can be counted or iterated in order here",
    "a loop over any number of elements may only add to sets (x = x | ...), in rounds that do not read what others",
)
"""Why something is refused of any number of identifiers that is accepted of some."""


NOT_IN_CLAIMS = (
    "is not a variable of the model, so it cannot be changed in place", "use two variables", "+= changes a plain list",
    "is too long to unroll", "elements; loop over something smaller",
)
"""Why something is refused in a claim that is accepted in a model: what it changes there is a parameter here."""


def excluded_of_any_size(folder: Path, members: list[str], sizes: Iterable[int]) -> Iterator[str]:
    """What CPython does in some part, and the terms about any number of identifiers exclude; or why there are none."""
    module = written(folder, members)
    models, plain = [[cls(nodes=size) for size in sizes] for cls in (module.M, module.Variables)]
    states = [[state for _, state in initial_states(it)] for it in plain]
    for name, why, wrong in refused_or_unlike(models, plain, functions_of(module), states):
        if wrong or not any(said in why for said in (*ONE_PLACE_ONLY, *NOT_OF_ANY_SIZE)):
            yield f"{name}: {why}"


def test_values_and_bodies_mean_alike_of_any_size(tmp_path: Path) -> None:
    """Some of them, each in one of the contexts; the slow tests have all in all of them."""
    contexts, bodies = list(table.CONTEXTS), list(table.BODY_CONTEXTS)
    members = [value_in(contexts[index % len(contexts)], index) for index in range(0, len(VALUES), 40)]
    assert told(excluded_of_any_size(tmp_path, members, [2]), VALUES) == []
    members = [body_in(bodies[index % len(bodies)], index) for index in range(0, len(BODIES), 25)]
    assert told(excluded_of_any_size(tmp_path, members, [3]), BODIES) == []


def test_what_changes_a_variable_for_each_of_any_number_is_refused(tmp_path: Path) -> None:
    """Each element would change it, and one symbolic element stands for all of them."""
    texts = [text for text in VALUES if "self.bump()" in text and "for m in Node" in text]
    assert len(texts) > 8
    members = [value_in("action", VALUES.index(text)) for text in texts]
    module = written(tmp_path, members)
    refused = refused_or_unlike([module.M()], [module.Variables()], functions_of(module), [[]])
    found = {name: why for name, why, _ in refused}
    for text in texts:
        said = found[f"part_{VALUES.index(text)}"]
        assert any(why in said for why in NOT_OF_ANY_SIZE[1:3]), (text, said)


@pytest.mark.slow
@pytest.mark.parametrize("context", table.CONTEXTS)
def test_values_mean_alike_of_any_size_in_each_context(tmp_path: Path, context: str) -> None:
    members = [value_in(context, index) for index in range(len(VALUES))]
    assert told(excluded_of_any_size(tmp_path, members, [2, 3]), VALUES) == []


@pytest.mark.slow
@pytest.mark.parametrize("context", table.BODY_CONTEXTS)
def test_bodies_mean_alike_of_any_size_in_each_context(tmp_path: Path, context: str) -> None:
    members = [body_in(context, index) for index in range(len(BODIES))]
    assert told(excluded_of_any_size(tmp_path, members, [2, 3]), BODIES) == []


# Claims, which have no state, and what adapters observe, which CPython alone evaluates.


def claims_in(folder: Path, every: int, types: dict[str, str]) -> tuple[ModuleType, dict[str, str]]:
    """Each so-manieth value and body that needs no state as a claim."""
    values = {f"part_{at}": text if at < len(TRUTHS) else f"({text}) > 0" for at, text in enumerate(VALUES)}
    bodies = {f"body_{at}": text for at, text in enumerate(BODIES)}
    free, called = [
        {name: said for name, text in [*texts.items()][::every] if (said := without_model(text)) is not None}
        for texts in (values, bodies)
    ]
    return load(folder, claims_source(free, called, types)), {**free, **called}


def unlike_claims(folder: Path, every: int, types: dict[str, str]) -> list[str]:
    """What each of some claims means to z3 otherwise than to CPython, or why it is refused."""
    module, texts = claims_in(folder, every, types)
    model = module.Variables()
    cases = cases_of([state for _, state in initial_states(model)], list(model.variable_types))
    assert len(texts) > 500 / every
    return [
        f"{texts[name]!r}: {why}"
        for name, why, wrong in refused_or_unlike_claims([getattr(module, name) for name in texts], cases)
        if wrong or not any(said in why for said in NOT_IN_CLAIMS)
    ]


def test_z3_and_cpython_agree_on_claims(tmp_path: Path) -> None:
    assert unlike_claims(tmp_path, 12, TYPES) == []


@pytest.mark.slow
@pytest.mark.parametrize("types", [TYPES, OPEN_TYPES], ids=["of some size", "of integers without bounds"])
def test_z3_and_cpython_agree_on_all_claims(tmp_path: Path, types: dict[str, str]) -> None:
    assert unlike_claims(tmp_path, 1, types) == []


def test_a_claim_is_answered_or_says_what_fails(tmp_path: Path) -> None:
    """What fails in CPython is the author's mistake, wherever it does, and no internal error."""
    texts = {"fails": "assert k > 0, 'no'\nreturn 2", "divides": "return 5 // k", "reads": "return message.what + 9"}
    texts |= {"joins": "return len({message, Asked(by=node)}) + 1", "has_more": "return max([k, k + 2])"}
    module = load(tmp_path, claims_source({}, texts, TYPES))
    said = {"fails": "no, with", "divides": "ZeroDivisionError", "reads": "has no attribute 'what'"}
    for name, message in said.items():
        with pytest.raises(SourceError, match=message):
            ask(claim_of(getattr(module, name)))
    assert [ask(claim_of(getattr(module, name))).answer for name in ("joins", "has_more")] == ["holds", "holds"]


@pytest.mark.slow
def test_every_claim_is_answered_or_says_what_fails(tmp_path: Path) -> None:
    module, texts = claims_in(tmp_path, 1, TYPES)
    answered = 0
    for name in texts:
        with contextlib.suppress(SourceError):
            assert ask(claim_of(getattr(module, name)), 10).answer != "undetermined", texts[name]
            answered += 1
    assert answered > 400


def observed_in(folder: Path, indices: Iterable[int]) -> Iterator[tuple[str, str]]:
    """The values whose observation by an adapter is not what compiled code says, or no error where there is no value.
    """
    places = [index for index in indices if "enabled(" not in VALUES[index]]  # which only properties ask
    judged = written(folder, [value_in("action", index) for index in places])
    seen = written(folder, [value_in("observed", index) for index in places])
    model, plain = seen.M(), judged.Variables()
    states = [state for _, state in initial_states(plain)]
    parts = dict(read_parts(judged.M(), functions_of(judged)))
    code = by_code(judged.M(), [it for it in parts.values() if isinstance(it, Action)], states)
    out = list(plain.variable_types).index("out")
    for index in places:
        for place, of_code in enumerate(code[f"part_{index}"]):
            state = [state for _, state in initial_states(model)][place]
            value = of_code[out] if isinstance(of_code, tuple) else None
            real = type("Real", (Adapter,), {
                "unsupported": tuple(seen.M.methods("action")),
                "seen": observable(of=getattr(seen, f"seen_{index}"))(lambda _, value=value: value),
            })  # fmt: skip
            try:
                Lockstep(Contract(model, real), Step("initial", {}), state).begin()
                fine = isinstance(of_code, tuple) or getattr(seen, f"seen_{index}")(model.at(state)) is None
            except Mismatch:
                fine = False
            except SourceError as error:
                fine = not isinstance(of_code, tuple) or "is assigned outside of an action" in error.message
                fine = fine and (of_code is not None or "require guards an action; what is observed" in error.message)
            if not fine:
                yield VALUES[index], f"in {state} compiled code says {of_code}"
                break


def test_what_an_adapter_observes_is_what_the_value_is(tmp_path: Path) -> None:
    assert list(observed_in(tmp_path, range(0, len(VALUES), 12))) == []


@pytest.mark.slow
def test_all_that_an_adapter_observes_is_what_the_value_is(tmp_path: Path) -> None:
    assert list(observed_in(tmp_path, range(len(VALUES)))) == []


# What is refused.


def refusals(folder: Path, members: list[str]) -> dict[str, str]:
    """What is said of each of some actions that is refused."""
    module = written(folder, members)
    parts = read_parts(module.M(), functions_of(module))
    return {name: part.message for name, part in parts if isinstance(part, SourceError)}


def test_values_are_refused_with_what_to_write_instead(tmp_path: Path) -> None:
    cells = [cell for cells in table.NOT_VALUES.values() for cell in cells]
    members = [
        table.CONTEXTS["action"].format(i=f"{index}_{form}", number=number)
        for index, (text, _) in enumerate(cells)
        for form, number in (("number", text), ("truth", f"(1 if ({text}) else 0)"))
    ]
    said = refusals(tmp_path, members)
    for index, (text, wanted) in enumerate(cells):
        messages = [said.get(f"part_{index}_{form}") for form in ("number", "truth")]
        assert all(messages), text
        assert any(wanted in str(message) for message in messages), (text, wanted, messages)


def test_what_cannot_be_asked_of_an_action_is_refused(tmp_path: Path) -> None:
    members = [table.CONTEXTS["invariant"].format(i=i, truth=text) for i, (text, _) in enumerate(table.NOT_ENABLED)]
    said = refusals(tmp_path, members)
    for index, (text, wanted) in enumerate(table.NOT_ENABLED):
        assert wanted in said.get(f"part_{index}", "it is accepted"), (text, said.get(f"part_{index}"))


def test_bodies_are_refused_with_what_to_write_instead(tmp_path: Path) -> None:
    cells = [cell for cells in table.NOT_BODIES.values() for cell in cells]
    members = [
        f"def help_{index}(self) -> int:\n{indent(body, '    ')}\n\n" + table.BODY_CONTEXTS["helper"].format(i=index)
        for index, (body, _) in enumerate(cells)
    ]
    said = refusals(tmp_path, members)
    for index, (body, wanted) in enumerate(cells):
        assert wanted in said.get(f"part_{index}", "it is accepted"), (body, said.get(f"part_{index}"))


# The list.


@cache
def accepted() -> tuple[list[ast.AST], dict[str, str]]:
    """The nodes of everything that is accepted, and what is called there by name or as a method."""
    helpers = ast.parse(table.HELPERS.split("@property")[0])
    trees = [ast.parse(text, mode="eval") for text in VALUES]
    trees += [ast.parse(f"def body():\n{indent(text, '    ')}").body[0] for text in BODIES]  # type: ignore[misc]
    found: list[ast.AST] = []
    called: dict[str, str] = {}
    for tree in [*trees, *(it for it in ast.walk(helpers) if isinstance(it, ast.Call))]:
        found += _nodes(tree)
    for node in found:
        match node:
            case ast.Call(func=ast.Name(id=name)):
                called[name] = "name"
            case ast.Call(func=ast.Attribute(attr=name)):
                called.setdefault(name, "method")
    return found, called


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that the compiler reads: of an assertion the message is not among them."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(tree, ast.Assert) and child is tree.msg):
            yield from _nodes(child)


def kinds(base: type[ast.AST], nodes: Iterable[ast.AST]) -> set[type[ast.AST]]:
    return {type(node) for node in nodes if isinstance(node, base)}


def test_the_syntax_that_is_listed_is_what_stands_in_the_table() -> None:
    nodes, _ = accepted()
    assert kinds(ast.stmt, nodes) - {ast.FunctionDef} == listed.STATEMENTS
    assert kinds(ast.expr, nodes) == listed.EXPRESSIONS
    operators = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
    assert set(chain(*(kinds(base, nodes) for base in operators))) == listed.OPERATORS


def test_the_functions_and_methods_that_are_listed_are_what_is_called_in_the_table() -> None:
    _, called = accepted()
    of_language = {name: getattr(language, name) for name in language.__all__}
    known = {name: of_language.get(name, getattr(builtins, name, None)) for name in called}
    functions = {it for it in known.values() if it is not None and it not in (values.Record, values.Identifier)}
    assert functions | {super} == set(listed.FUNCTIONS)
    assert any("super()" in text for text in table.CONTEXTS.values())
    methods = set(chain(*listed.METHODS.values()))
    assert methods <= called.keys()
    own = {node.name for node in ast.walk(ast.parse(table.HELPERS)) if isinstance(node, ast.FunctionDef)}
    others = {name for name, how in called.items() if how == "method"} - methods - own
    assert others == {"sum_with", "twice", "rule_of_the_model"}


def test_syntax_that_is_not_listed_is_refused() -> None:
    texts = [text for cells in chain(table.NOT_VALUES.values(), table.NOT_BODIES.values()) for text, _ in cells]
    nodes = [node for text in texts for node in ast.walk(ast.parse(f"async def body():\n{indent(text, '    ')}"))]
    every = {kind for base in (ast.stmt, ast.expr, ast.operator, ast.unaryop) for kind in base.__subclasses__()}
    told_elsewhere = {ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await, ast.Nonlocal, ast.TryStar}
    unlisted = every - listed.STATEMENTS - listed.EXPRESSIONS - listed.OPERATORS
    assert unlisted - told_elsewhere <= {type(node) for node in nodes}


def test_functions_of_python_that_are_not_listed_are_refused(tmp_path: Path) -> None:
    of_python = (type, type(len))
    found = {name for name, it in vars(builtins).items() if isinstance(it, of_python) and it not in listed.FUNCTIONS}
    names = sorted(found - {"__loader__"})  # a module has a loader of its own
    assert len(names) > 100
    members = [table.CONTEXTS["action"].format(i=name, number=f"{name}(self.n)") for name in names]
    said = refusals(tmp_path, members)
    for name in names:
        assert "is not part of the modelling language" in said.get(f"part_{name}", "accepted"), name


OWNERS: dict[str, tuple[Any, ...]] = {
    "self.nums": (set, frozenset, values.Set), "self.log": (list, tuple, values.Seq), "self.lots": (values.Bag,),
    "self.per": (dict, values.Map), "self.pair": (values.Record, object), "self.n": (int,), "self.on": (bool,),
    "self.colour": (str, int), "self.node": (values.Identifier, int), "[1]": (list,), "{1}": (set,), "(1,)": (tuple,),
    "Set({1})": (values.Set,), "Seq([1])": (values.Seq,),
}


def test_methods_that_are_not_listed_are_refused(tmp_path: Path) -> None:
    members = []
    methods = set(chain(*listed.METHODS.values()))
    for number, (owner, classes) in enumerate(OWNERS.items()):
        for name in {name for cls in classes for name in dir(cls) if name not in methods}:
            call = f"{owner}.{name}(1)"
            members.append(table.CONTEXTS["action"].format(i=f"{number}_{name}", number=call))
            members.append(f"@action\ndef part_{number}_{name}_alone(self) -> None:\n    {call}")
    assert len(members) > 500
    assert len(refusals(tmp_path, members)) == len(members)
