"""Tests that a decorator neither adds to a model or a property, nor drops it, unseen."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from floodmark.checkers.project.properties import collect
from floodmark.language.errors import ModelError
from tests.support.broken import load, search
from tests.support.small_counter import both_engines, refused, text_of

DECORATED = {
    "beside an invariant": """
        M = Counter

        def strict(function):
            @functools.wraps(function)
            def inner(model):
                return function(model) and model.x < 2
            return inner

        @invariant
        @strict  #2
        def p(model: Counter) -> bool:
            return model.x < 9
    """,
    "over an invariant, which gets lost": """
        M = Counter

        def strict(function):
            return lambda model: function(model) and model.x < 2

        @strict  #2
        @invariant
        def p(model: Counter) -> bool:
            return model.x < 9
    """,
    "over an action": """
        def guarded(function):
            def inner(self):
                function(self)
            return inner

        class M(Counter):
            @guarded  #2
            @action
            def down(self) -> None:
                self.x = 0
    """,
    "of a class body": """
        class M(Counter):
            def guarded(function):
                return function

            @action
            @guarded  #2
            def down(self) -> None:
                self.x = 0
    """,
    "of another package": """
        class M(Counter):
            @invariant  #2
            @functools.cache
            def p(self) -> bool:
                return self.x < 2
    """,
    "of a mixin": """
        def guarded(function):
            return lambda self: True

        class Mixin:
            @guarded  #2
            @invariant
            def p(self) -> bool:
                return self.x < 2

        class M(Mixin, Counter):
            pass
    """,
    "two of the language": """
        class M(Counter):
            @rule  #2
            @action
            def down(self) -> None:
                self.x = 0
    """,
    "around a class": """
        M = Counter

        @invariant  #2
        class P:
            pass
    """,
}


@both_engines
@pytest.mark.parametrize("name", DECORATED)
def test_what_a_decorator_would_add_or_drop_is_refused(tmp_path: Path, name: str, engine: ModuleType) -> None:
    said = refused(tmp_path, text_of(DECORATED[name]), engine).message
    assert re.search("next to|plain function|only one of them", said), said


LOST = """
def strict(function):
    return lambda model: function(model) and model.x < 2


@strict
@invariant
def q(model: Counter) -> bool:
    return model.x < 9


"""


def test_a_file_whose_only_property_gets_lost_is_refused(tmp_path: Path) -> None:
    model, properties = load(tmp_path, text_of("")), load(tmp_path, text_of(LOST))
    with pytest.raises(ModelError, match="next to @invariant"):
        collect(model.Counter, [properties])


def test_a_file_of_which_only_a_property_is_imported_is_refused(tmp_path: Path) -> None:
    kept = "@invariant\ndef p(model: Counter) -> bool:\n    return model.x < 9\n"
    properties = load(tmp_path, text_of(LOST + kept))
    model = load(tmp_path, text_of(""))
    model.p = properties.p  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="next to @invariant"):
        collect(properties.Counter, [model])


def test_a_lambda_in_a_decorator_is_not_taken_for_what_it_decorates(tmp_path: Path) -> None:
    text = text_of("""
        def instead(other):
            return lambda function: other

        @instead(lambda x: x < 2)
        def fine(x: int) -> bool:
            return x < 9

        class M(Counter):
            @invariant
            def p(self) -> bool:
                return fine(self.x)
    """)
    with pytest.raises(ModelError, match="not a plain function"):
        search(load(tmp_path, text))


def test_a_step_outside_of_a_class_is_not_lost(tmp_path: Path) -> None:
    text = text_of("""
        M = Counter

        @boundary  #2
        def small(model: Counter) -> bool:
            return model.x < 2
    """)
    assert "is not a method" in refused(tmp_path, text).message
