"""Rewrites the functions of models: in ways that must change nothing, and in ways that make another model.

A rewrite works on Python's syntax tree alone and uses none of Floodmark's compiler, so that it cannot share a mistake
with it. It changes all places of its kind in one function: a conjunction becomes a disjunction, a condition goes into a
local name, a guard into a function of its own, a comprehension becomes a loop. A rewrite
that makes another model (``different.py``) changes one place, and CPython says what the model then means.

What a rewrite makes is text again before anybody reads it, so no two nodes share a position, as in any file.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import EnumMeta
from itertools import islice
from types import FunctionType

from floodmark import Identifier
from tools.rewriting.branches import (
    branches_as_choices,
    branches_turned,
    choices_as_branches,
    choices_turned,
    early_continues,
    early_returns,
    guards_apart,
    guards_in_branches,
    guards_together,
    rest_under_else,
)
from tools.rewriting.conditions import (
    chains_apart,
    comparisons_negated,
    comparisons_turned,
    conditional_operands,
    de_morgan,
    doubly_negated,
    listed_values_apart,
)
from tools.rewriting.different import DIFFERENT
from tools.rewriting.functions import (
    branches_outlined,
    conditions_in_helpers,
    guarded_conditions,
    guards_in_helpers,
    helpers_inlined,
    rest_outlined,
)
from tools.rewriting.loops import (
    any_as_all,
    filters_as_operands,
    first_round_apart,
    folds_as_loops,
    in_a_loop_of_one_round,
    loops_as_folds,
    loops_counted,
    loops_unrolled,
    returns_through_a_local,
)
from tools.rewriting.names import (
    augmented_apart,
    augmented_together,
    changes_in_place,
    comprehensions_shadow,
    locals_introduced,
    locals_removed,
    loops_share_names,
    names_renamed,
    one_local_for_all,
)
from tools.rewriting.scene import RewriteContext

ALIKE: list[Callable[[RewriteContext], None]] = [
    de_morgan, doubly_negated, conditional_operands, guards_apart, guards_together, guards_in_branches,
    guards_in_helpers, conditions_in_helpers, guarded_conditions, rest_outlined, branches_outlined, branches_turned,
    choices_turned, choices_as_branches, branches_as_choices, rest_under_else, early_returns, early_continues,
    locals_introduced, one_local_for_all, locals_removed, names_renamed, comprehensions_shadow, loops_share_names,
    comparisons_turned, comparisons_negated, chains_apart, listed_values_apart, augmented_apart, augmented_together,
    changes_in_place, loops_counted, loops_unrolled, first_round_apart, in_a_loop_of_one_round,
    returns_through_a_local, folds_as_loops, loops_as_folds, any_as_all, filters_as_operands, helpers_inlined,
]
"""The rewrites that must change nothing."""


@dataclass(frozen=True)
class Rewrite:
    """Another body for a function. ``helpers`` are functions of the module that it calls, as text; ``alike`` is whether
    the model has to mean the same."""

    kind: str
    alike: bool
    what: str
    tree: ast.FunctionDef
    helpers: tuple[str, ...] = ()


def rewrites(scene: RewriteContext, few: int | None = None) -> Iterator[Rewrite]:
    """Every rewrite of a function: first those that must change nothing, then, with ``few``, at most so many of each
    kind that makes another model; which, only what they change decides."""
    original = scene.tree
    for alike in ALIKE:
        scene.tree, scene.helpers, scene.changed = copy.deepcopy(original), [], 0
        alike(scene)
        if scene.changed and ast.dump(scene.tree) != ast.dump(original):
            yield Rewrite(alike.__name__, True, "", _as_text(scene.tree, original), tuple(scene.helpers))
    for different in DIFFERENT:
        scene.tree = original
        lines = [what for what, _ in different(scene)]
        for at in sorted(range(len(lines)), key=lambda at: hashlib.sha256(lines[at].encode()).digest())[:few]:
            scene.tree = copy.deepcopy(original)
            _, change = next(islice(different(scene), at, None))
            change()
            made = _as_text(scene.tree, original)
            try:
                compile(ast.Module([made], []), "<rewrite>", "exec")
            except SyntaxError:
                continue  # a break that no loop is around any more
            yield Rewrite(different.__name__, False, lines[at], made)
    scene.tree = original


def _as_text(tree: ast.FunctionDef, original: ast.FunctionDef) -> ast.FunctionDef:
    """The tree of a function's text, with lines from that of the original on."""
    (made,) = ast.parse(ast.unparse(ast.fix_missing_locations(tree))).body
    assert isinstance(made, ast.FunctionDef)
    ast.increment_lineno(made, original.lineno - made.lineno)
    return made


def members_of(function: FunctionType, counts: Callable[[type[Identifier]], int]) -> Callable[
    [str], Sequence[ast.expr] | None
]:
    """A function that gives the expressions for the members of a class of identifiers or an enum of a function's
    module."""

    def members(name: str) -> Sequence[ast.expr] | None:
        match function.__globals__.get(name):
            case EnumMeta() as kind:
                return [ast.Attribute(ast.Name(name, ast.Load()), each, ast.Load()) for each in kind.__members__]
            case type() as kind if issubclass(kind, Identifier):
                numbers = range(1, counts(kind) + 1)
                return [ast.Call(ast.Name(name, ast.Load()), [ast.Constant(number)], []) for number in numbers]
        return None

    return members
