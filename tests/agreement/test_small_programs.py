"""Small bodies mean the same to compiled code, to z3's terms and to CPython; so mistakes in either are noticed.

The bodies here are a fixed slice of those that ``python -m benchmarks.programs`` enumerates.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.results import RESULTS
from floodmark.checkers.symbolic.terms.booleans import conj
from floodmark.checkers.symbolic.translate import any_size_effects, any_size_loops, effects, reductions
from floodmark.checkers.symbolic.translate.any_size_loops import Addition
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext
from floodmark.checkers.symbolic.translate.statements import StatementEvaluator
from floodmark.compiler import ir, statements
from floodmark.compiler.failures import can_fail
from tests.support import program_agreement
from tests.support.any_size_programs import compare_any_size
from tests.support.program_agreement import compare
from tests.support.program_grammars import (
    ADDED,
    ADDITIONS,
    ANY_SIZE,
    CALLS,
    ENUMERATIONS,
    EVERY,
    FUNCTIONS,
    GRAMMARS,
    NAMES,
    RANGES,
    SEQUENCES,
)
from tests.support.small_programs import Grammar, Lines, Template

PLACES = [(grammar, place) for grammar in GRAMMARS for place in grammar.places]


def some(grammar: Grammar, place: Template, many: int) -> list[Lines]:
    """Some of a place's bodies, of every size."""
    bodies = grammar.bodies(place)
    return bodies[len(bodies) % many :: max(1, len(bodies) // many)]


# The enumeration.

HEADERS = ("if c:", "else:", "for i in x:")
PARTS = ("a", "pass", "return", "break", "continue", *HEADERS)


def texts(lines: Lines, most: int) -> Iterator[Lines]:
    """Every text of up to so many lines that is indented as Python wants it, most of which mean nothing."""
    if lines and lines[-1].strip() not in HEADERS:
        yield lines
    if len(lines) == most:
        return
    depth = (len(lines[-1]) - len(lines[-1].lstrip())) // 4 if lines else 0
    opened = bool(lines) and lines[-1].strip() in HEADERS
    for next_depth in [depth + 1] if opened else range(depth + 1):
        for part in PARTS:
            yield from texts((*lines, "    " * next_depth + part), most)


def leaves(block: list[ast.stmt]) -> bool:
    match block[-1]:
        case ast.Return() | ast.Break() | ast.Continue():
            return True
        case ast.If(body=body, orelse=[_, *_] as orelse):
            return leaves(body) and leaves(orelse)
    return False


def is_enumerated(tree: ast.Module, most: int) -> bool:
    """Whether a text has so few statements, ``pass`` only where there has to be one, and none that is never reached."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    blocks = [part for node in ast.walk(tree) for part in (getattr(node, "body", None), getattr(node, "orelse", None))
              if part]
    if len(nodes) > most or any(leaves(block[:at]) for block in blocks for at in range(1, len(block))):
        return False
    if any(isinstance(it, ast.Pass) for block in blocks if len(block) > 1 for it in block):
        return False
    return not any(isinstance(node, ast.For) and node.orelse for node in nodes) and not any(
        isinstance(node, ast.If) and node.orelse and isinstance(node.orelse[0], ast.Pass) for node in nodes
    )


def test_every_body_of_three_statements_is_enumerated_once() -> None:
    place = Template("alone", "{body}", 3, goes_on=False)
    found = Grammar("tiny", "", ("a", "return"), ("c",), ("for i in x",), (place,)).bodies(place)
    wanted = set()
    for text in texts((), 4):
        try:
            tree = ast.parse("\n".join(text))
            compile(f"def f():\n    {chr(10).join(text).replace(chr(10), chr(10) + '    ')}", "", "exec")
        except SyntaxError:
            continue
        if is_enumerated(tree, 3):
            wanted.add(text)
    assert set(found) == wanted
    assert len(found) == len(wanted) > 40


# The bodies.


@pytest.mark.parametrize(("grammar", "place"), PLACES, ids=[f"{it.name}: {place.name}" for it, place in PLACES])
def test_small_bodies_mean_the_same_to_every_engine(grammar: Grammar, place: Template, tmp_path: Path) -> None:
    found = compare(grammar, place, some(grammar, place, 4), tmp_path)
    assert not found.faults, found.faults[0]


@pytest.mark.parametrize("grammar", ANY_SIZE, ids=lambda grammar: grammar.name)
def test_terms_for_any_number_allow_what_small_bodies_do(grammar: Grammar, tmp_path: Path) -> None:
    for place in grammar.places[:2]:
        found = compare_any_size(grammar, place, some(grammar, place, 1), tmp_path)
        assert not found.faults, found.faults[0]


def test_the_recorded_campaign_is_of_all_bodies() -> None:
    """What benchmarks/RESULTS.md says of each place, and in all."""
    part = RESULTS.read_text().partition("<!-- programs -->")[2].partition("<!-- end of programs -->")[0]
    rows = [row.strip("| ").split(" | ") for row in part.splitlines() if row.count("|") == 7]
    said = {(name, place): int(many.replace(",", "")) for name, place, many, *_ in rows[2:]}
    assert said == {(it.name, place.name): len(it.bodies(place)) for it in EVERY for place in it.places}
    assert f"{sum(said.values()):,} bodies in " in part
    assert " 0 faults. " in part
    assert sum(said.values()) > 200_000


# Mistakes that these bodies notice.


def forgetful(*about: Any) -> effects.SymbolicStep:
    """An action whose guards lose what the functions that they call require."""
    fired = effects.fire(*about)
    values, variables, action, state, parameters = about
    context = EvaluationContext(values, state)
    evaluator = StatementEvaluator(context, variables)
    for parameter, value in zip(action.parameters, parameters, strict=True):
        context.locals[parameter.slot] = value
    truths = [evaluator.evaluate(guard) for guard in action.guards]
    context.required = []
    evaluator.run(action.body)
    return effects.SymbolicStep(action, conj([*truths, *context.required]), fired.failures, fired.after, parameters)


def found_by(grammar: Grammar, place: int, directory: Path, many: int = 14) -> dict[str, list[str]]:
    """The faults by who is wrong."""
    faults: dict[str, list[str]] = {}
    for fault in compare(grammar, grammar.places[place], some(grammar, grammar.places[place], many), directory).faults:
        faults.setdefault(fault.split(":")[0], []).append(fault)
    return faults


@pytest.mark.parametrize("grammar", [RANGES, NAMES, SEQUENCES, ENUMERATIONS], ids=lambda grammar: grammar.name)
def test_a_loop_variable_of_its_own_is_noticed(
    grammar: Grammar, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "_ends_with_its_round", lambda *about: True)
    faults = found_by(grammar, 0, tmp_path)
    assert faults["native"]
    assert faults["z3"]


@pytest.mark.parametrize("place", [0, 4], ids=lambda place: FUNCTIONS.places[place].name)
def test_a_lost_requirement_of_a_function_is_noticed(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_agreement, "taken", forgetful)
    assert found_by(FUNCTIONS, place, tmp_path).keys() == {"z3"}


def test_a_requirement_of_what_any_does_not_ask_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "may_stop", can_fail)
    assert found_by(CALLS, 0, tmp_path).keys() == {"z3"}


BESIDE_ANOTHER = ("s = s | {x}", "if len(s) < 1:", "    t = t | {x}")
"""Whether the first round adds to ``t`` depends on the other addition."""
IN_ORDER = ("if len(s) < 1:", "    s = s | {x}")
"""What is added is the first element, in the order of the type."""


def excluded(grammar: Grammar, body: Lines, directory: Path) -> list[str]:
    """What CPython makes of a body and the terms for any number exclude."""
    (place,) = grammar.places
    assert body in grammar.bodies(place)
    return compare_any_size(grammar, place, [body], directory).faults


def test_a_loop_over_any_number_may_do_nothing(tmp_path: Path) -> None:
    assert not excluded(ADDITIONS, ("pass",), tmp_path)


def test_an_addition_that_is_known_beside_another_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def known(loop: ir.For) -> list[Addition]:
        return [replace(addition, alone=addition.optional) for addition in any_size_loops.additions(loop)]

    assert not excluded(ADDITIONS, BESIDE_ANOTHER, tmp_path)
    monkeypatch.setattr(any_size_effects, "additions", known)
    assert "which the terms exclude" in excluded(ADDITIONS, BESIDE_ANOTHER, tmp_path)[0]


def test_a_loop_in_the_order_of_slots_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not excluded(ADDED, IN_ORDER, tmp_path)
    monkeypatch.setattr(StatementEvaluator, "_in_any_order", lambda _, element, slots: slots)
    assert "which the terms exclude" in excluded(ADDED, IN_ORDER, tmp_path)[0]
