"""A premise is met where it is true, in every engine: random properties, judged by an oracle that has no source."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers.native.search import search_states as natively
from floodmark.checkers.reference.search import search_states as by_cpython
from floodmark.checkers.search_result import Options
from tests.support.engines import imported, properties_of

Env = dict[str, Any]
HEAD = """\
from __future__ import annotations

from typing import Annotated

from floodmark import *

Small = Annotated[int, Between(0, 2)]


class Drawn(Model):
    a: Small = 0
    b: Small = 0
    log: Annotated[Seq[Small], Capacity(2)] = Seq()
    some: Set[Small] = Set()

    @initial
    def start(self, case: Annotated[int, Between(0, {last})]) -> None:
        self.a = {a}[case]
        self.b = {b}[case]
        self.log = {log}[case]
        self.some = {some}[case]

    @action
    def stay(self) -> None:
        self.a = self.a
"""


@dataclass(frozen=True)
class Piece:
    """A condition as source, its value in an environment, and whether each of its premises is met there."""

    text: str
    value: Callable[[Env], bool]
    premises: Callable[[Env], Iterator[bool]]
    constant: bool = False


def tried(ask: Callable[[], bool]) -> bool:
    try:
        return ask()
    except IndexError:
        return False


def atom(text: str) -> Piece:
    code = compile(text.replace("self.", ""), "<atom>", "eval")
    return Piece(text, lambda env: bool(eval(code, dict(env))), lambda env: iter(()), text in ("True", "False"))


def reached(before: list[Piece], wanted: bool, env: Env) -> bool:
    """Whether evaluation gets past operands, each of which has to be ``wanted`` for that."""
    return tried(lambda: all(one.value(env) == wanted for one in before))


def both(parts: list[Piece]) -> Piece:
    def met(env: Env) -> Iterator[bool]:
        for index, part in enumerate(parts):
            here = reached(parts[:index], True, env)
            yield from (here and one for one in part.premises(env))

    text = " and ".join(f"({part.text})" for part in parts)
    return Piece(text, lambda env: all(part.value(env) for part in parts), met)


def either(parts: list[Piece]) -> Piece:
    def met(env: Env) -> Iterator[bool]:
        for index, part in enumerate(parts):
            here = reached(parts[:index], False, env)
            if index + 1 == len(parts) and not part.constant:
                yield here
            yield from (here and one for one in part.premises(env))

    text = " or ".join(f"({part.text})" for part in parts)
    return Piece(text, lambda env: any(part.value(env) for part in parts), met)


def implied(one: Piece, other: Piece) -> Piece:
    def value(env: Env) -> bool:
        first, second = one.value(env), other.value(env)
        return not first or second

    def met(env: Env) -> Iterator[bool]:
        if not other.constant:
            yield tried(lambda: one.value(env))
        yield from other.premises(env)

    return Piece(f"implies({one.text}, {other.text})", value, met)


def chosen(test: Piece, then: Piece, otherwise: Piece) -> Piece:
    def met(env: Env) -> Iterator[bool]:
        for branch, wanted in ((then, True), (otherwise, False)):
            here = reached([test], wanted, env)
            if not branch.constant:
                yield here
            yield from (here and one for one in branch.premises(env))

    def value(env: Env) -> bool:
        return then.value(env) if test.value(env) else otherwise.value(env)

    return Piece(f"({then.text}) if ({test.text}) else ({otherwise.text})", value, met)


def every(name: str, over: str, test: Piece, body: Piece) -> Piece:
    def rounds(env: Env) -> Iterator[Env]:
        domains: dict[str, list[int]] = {
            "self.some": sorted(env["some"]), "self.log": list(env["log"]), "range(2)": [0, 1],
        }
        for item in domains[over]:
            inner = {**env, name: item}
            if test.value(inner):
                yield inner

    def some(index: int, env: Env) -> bool:
        return any(list(body.premises(inner))[index] for inner in rounds(env))

    def met(env: Env) -> Iterator[bool]:
        yield tried(lambda: any(True for _ in rounds(env)))
        for index in range(len(list(body.premises({**env, name: 0})))):
            yield tried(partial(some, index, env))

    return Piece(
        f"all(({body.text}) for {name} in {over} if {test.text})",
        lambda env: all(body.value(inner) for inner in rounds(env)),
        met,
    )


class Drawn:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.helpers: list[str] = []

    def simple(self, names: tuple[str, ...], constant: bool = False) -> Piece:
        """A condition of one piece. None that is constant decides an ``if``: then only one branch is read."""
        one, other = self.chance.choices(["self.a", "self.b", "0", "1", "2", *names], k=2)
        forms = [f"{one} {self.chance.choice(['==', '<', '!='])} {other}", f"{one} in self.some"]
        if self.chance.random() < 0.15:
            forms = [f"self.log[{self.chance.choice(['0', '1'])}] == {one}"]
        if constant and self.chance.random() < 0.1:
            forms = ["True", "False"]
        return atom(self.chance.choice(forms))

    def piece(self, depth: int, names: tuple[str, ...] = ()) -> Piece:
        if not depth or self.chance.random() < 0.1:
            return self.simple(names, constant=True)
        inner = [self.piece(depth - 1, names) for _ in range(3)]
        match self.chance.choice(["and", "or", "or", "implies", "implies", "if", "all", "all", "call"]):
            case "and":
                return both(inner[:2])
            case "or":
                return either(inner[: self.chance.choice([2, 3])])
            case "implies":
                return implied(self.simple(names, constant=True), inner[0])
            case "if":
                return chosen(self.simple(names), inner[0], inner[1])
            case "call":
                return self.call(inner[0], names)
        name = f"x{depth}"
        over = self.chance.choice(["self.some", "self.log", "range(2)"])
        return every(name, over, self.simple((*names, name)), self.piece(depth - 1, (*names, name)))

    def call(self, body: Piece, names: tuple[str, ...]) -> Piece:
        """A helper of one line, or of several, whose early return is one premise and the other return another."""
        number = len(self.helpers)
        head = f"    def helper{number}({', '.join(['self', *names])}):"
        call = f"self.helper{number}({', '.join(names)})"
        if self.chance.random() < 0.5:
            self.helpers.append(f"{head}\n        return {body.text}\n")
            return Piece(call, body.value, body.premises, body.constant)
        test, other = self.simple(names), self.simple(names)
        self.helpers.append(
            f"{head}\n        if {test.text}:\n            return {body.text}\n        return {other.text}\n"
        )
        return Piece(call, *_parts(chosen(test, body, other)))


def _parts(piece: Piece) -> tuple[Callable[[Env], bool], Callable[[Env], Iterator[bool]]]:
    return piece.value, piece.premises


STATES: list[Env] = [
    {"a": a, "b": b, "log": log, "some": some}
    for a in range(3) for b in range(3) for log, some in (([], set()), ([1], {0, 2}), ([2, 0], {1}), ([], {0, 1, 2}))
]


def drawn(seed: int) -> tuple[str, int] | None:
    """A model whose states are some of those in which its property is true, and how many premises are never met."""
    writer = Drawn(seed)
    piece = writer.piece(3)
    states = [state for state in STATES if tried(partial(piece.value, state))]
    states = writer.chance.sample(states, min(len(states), writer.chance.randint(1, 6)))
    if not states:
        return None
    table = {name: [state[name] for state in states] for name in ("a", "b", "log")}
    table["some"] = [f"Set({sorted(state['some'])})" for state in states]
    text = HEAD.format(last=len(states) - 1, **{name: str(row).replace("'", "") for name, row in table.items()})
    text += "".join(f"\n{helper}" for helper in writer.helpers)
    text += f"\n    @invariant\n    def asked(self) -> bool:\n        return {piece.text}\n"
    met = [any(one) for one in zip(*(piece.premises(state) for state in states), strict=True)]
    return text, met.count(False)


def check(seeds: range, folder: Path) -> tuple[int, int]:
    """Compares engines with the oracle; returns how many properties have a premise that is never met, and how many
    have none."""
    vacuous = sound = 0
    for seed in seeds:
        made = drawn(seed)
        if made is None:
            continue
        text, unmet = made
        with imported(text, "Drawn", folder) as cls:
            model = cls()
            natively_found = natively(model, properties_of(cls), Options(workers=1))
            found = by_cpython(model, properties_of(cls), Options())
        assert natively_found.complete and found.complete, text
        assert natively_found.vacuous == found.vacuous, text
        assert len(found.vacuous) == unmet, text
        vacuous, sound = vacuous + bool(unmet), sound + (not unmet)
    return vacuous, sound


def test_a_premise_is_met_natively_where_it_is_met_in_cpython(tmp_path: Path) -> None:
    vacuous, sound = check(range(24), tmp_path)
    assert vacuous > 6 and sound > 2


@pytest.mark.slow
def test_more_premises_are_met_natively_where_they_are_met_in_cpython(tmp_path: Path) -> None:
    check(range(1000, 2500), tmp_path)


def unmet_natively(condition: str, folder: Path) -> list[str]:
    """What is said of the premises of a property that are not met where ``a``, ``b`` and the sets hold nothing."""
    text = HEAD.format(last=0, a=[0], b=[0], log=[[]], some=["Set([])"]).replace("'", "")
    text += f"\n    @invariant\n    def asked(self) -> bool:\n        return {condition}\n"
    with imported(text, "Drawn", folder) as cls:
        return [premise.text for premise in natively(cls(), properties_of(cls), Options(workers=1)).vacuous]


def test_all_conditions_of_a_loop_are_told(tmp_path: Path) -> None:
    asked = "all(self.b > 0 for each in range(2) if each == self.a if each == 1)"
    assert unmet_natively(asked, tmp_path) == ["its premise each == self.a and each == 1 is never true"]
    asked = "all(self.b == 0 for each in range(2) if each == self.a)"
    assert unmet_natively(asked, tmp_path) == []


def test_what_begins_together_and_ends_in_one_column_is_told_apart_by_its_last_line(tmp_path: Path) -> None:
    """The premise of ``implies`` is met, that of the ``or`` around it never."""
    inner, last = "implies(self.a == 0, self.b < 2)", "self.a == 9"
    beginning = "        return "
    below = last.rjust(len(beginning) + len(inner))
    text = HEAD.format(last=0, a=[0], b=[0], log=[[]], some=["Set([])"]).replace("'", "")
    text += f"\n    @invariant\n    def asked(self) -> bool:\n{beginning}{inner} or \\\n{below}\n"
    with imported(text, "Drawn", tmp_path) as cls:
        natively_found = natively(cls(), properties_of(cls), Options(workers=1))
        found = by_cpython(cls(), properties_of(cls), Options())
    assert natively_found.vacuous == found.vacuous
    assert [premise.text for premise in found.vacuous] == [f"its premise not {inner} is never true"]
