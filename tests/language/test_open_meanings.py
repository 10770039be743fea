"""Tests that what Python leaves open, or gives a meaning that nobody wants, is refused and not decided."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from floodmark.checkers.reference import search as reference
from tests.support.broken import load, search
from tests.support.small_counter import agreed, refused, text_of

MEANT = {
    "a global that is assigned": ("require(self.x < LIMIT)  #2\nLIMIT = 2\nself.x += 1", "may have no value"),
    "a loop variable afterwards": ("for LIMIT in range(2):\n    pass\nself.x = LIMIT  #2", "may have no value"),
    "effects in a sum over a plain set": ("self.x = sum(self.put(v) for v in {3, 1, 2})  #2", "changes a variable"),
    "effects over a plain set of a list": (
        "self.x = sum(self.put(v) for v in [{3, 1, 2}][0])  #2", "changes a variable"
    ),
    "effects in the middle of a chain": ("self.f = 0 < self.put(2) < 3  #2", "changes a variable"),
    "effects in a minimum": ("self.x = min(self.put(v) for v in {3, 1, 2})  #2", "changes a variable"),
    "effects in a maximum": ("self.x = max([self.put(v) for v in {3, 1, 2}])  #2", "fixed order"),
    "effects in a set": ("self.x = len({self.put(v) for v in {3, 1, 2}})  #2", "changes a variable"),
    "effects in what is sorted": ("self.x = sorted(self.put(v) for v in {3, 1, 2})[0]  #2", "changes a variable"),
    "effects in a condition": ("self.x = sum(1 for v in {3, 1, 2} if self.put(v) > 0)  #2", "changes a variable"),
    "effects in a domain": ("self.x = sum(w for v in {3, 1} for w in range(self.put(v)))  #2", "changes a variable"),
    "failures in a domain": ("self.f = any(w > 0 for v in {2, 0} for w in range(2 // v))  #2", "can fail"),
    "a state outside of the model": ("self.hidden = 1  #2", "declare it"),
}


@pytest.mark.parametrize("name", MEANT)
def test_what_python_leaves_open_is_refused(tmp_path: Path, name: str) -> None:
    statements, said = MEANT[name]
    body = "\n".join(f"        {line}" for line in statements.splitlines())
    text = text_of(f"""
LIMIT = 3


class M(Counter):
    y: Small = 0
    f: bool = False

    def put(self, value: int) -> int:
        self.y = value
        return 1

    @action
    def go(self) -> None:
{body}
""")
    assert said in refused(tmp_path, text).message


def test_cpython_keeps_no_state_outside_of_the_model(tmp_path: Path) -> None:
    text = text_of("""
        class M(Counter):
            @action
            def go(self) -> None:
                self.hidden = 1
    """)
    assert "declare it: hidden: <type>" in search(load(tmp_path, text), reference).violations[0].message


def test_effects_over_a_set_with_an_order_agree(tmp_path: Path) -> None:
    text = text_of("""
        class M(Counter):
            y: Small = 0

            def put(self, value: int) -> int:
                self.y = value
                return 1

            @action
            def go(self) -> None:
                self.x = sum(self.put(v) for v in Set({3, 1, 2}))

            @invariant
            def p(self) -> bool:
                return self.y != 3
    """)
    assert agreed(tmp_path, text) == "violated"


@pytest.mark.parametrize("kind", ["property", "action"])
def test_a_generator_is_no_answer_in_cpython_either(tmp_path: Path, kind: str) -> None:
    text = text_of(f"""
        class M(Counter):
            @invariant
            def p(self) -> bool:
                {"yield" if kind == "property" else "return"} self.x < 2

            @action
            def go(self) -> None:
                {"pass" if kind == "property" else "yield"}
    """)
    said = search(load(tmp_path, text), reference).violations[0].message
    assert ("has to return a bool" if kind == "property" else "returns a value") in said


@pytest.mark.parametrize("head", ["*, limit: int = 2", "limit: int = 2", "*more: int"])
def test_a_property_has_no_parameters_of_its_own(tmp_path: Path, head: str) -> None:
    text = text_of(f"""
        M = Counter
        limit = 9

        @invariant
        def p(model: Counter, {head}) -> bool:  #2
            return model.x < limit
    """)
    assert re.search("takes the model alone|must take", refused(tmp_path, text).message)


def test_a_guard_of_another_require_draws_nothing(tmp_path: Path) -> None:
    text = text_of("""
        class M(Model):
            x: Small = 0

            @action
            def go(self, to: Small) -> None:
                require(self.x > 1)
                self.x = to

            @invariant
            def p(self) -> bool:
                return self.x < 1
    """, "def require(condition: bool) -> None:\n    pass\n\n\n")  # fmt: skip
    text = text.replace("import *", "import Between, Model, action, invariant")
    assert agreed(tmp_path, text) == "violated"
