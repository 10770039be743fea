"""Whether a bound decides what a step does: CPython takes it once more and watches which bounds are read on the way.

What a ``require`` reads decides whether the step is taken, not where it leads. The step was taken, so for this every
``require`` of the model's methods is left out.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from types import CodeType, FunctionType

from floodmark.language.bounding import Beyond, _is_languages
from floodmark.language.errors import Disabled
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, _evaluate
from floodmark.language.source import Source, leading_guards, rewritten, source_of
from floodmark.language.values import running


def steering_bounds(model: Model, steps: Collection[tuple[State, Step]], bounds: frozenset[str]) -> frozenset[str]:
    """The bounds that some steps read to find out what they do; each step is enabled in its state."""
    found: set[str] = set()
    with _unguarded(model):
        for state, step in steps:
            found |= _read(model, state, step, bounds)
    return frozenset(found)


def _read(model: Model, state: State, step: Step, bounds: frozenset[str]) -> set[str]:
    constants = model._constants
    watched = _Watched(constants)
    method = type(model).methods("action")[step.action]
    model.load(state)
    model._constants = watched
    try:
        with running(model):
            method(model, **step.arguments)
    except Exception:  # of something that a guard keeps from being evaluated: who knows what it would read
        return set(bounds)
    finally:
        model._constants = constants
    return watched.read & bounds


def ruling_bounds(model: Model, beyond: Beyond, state: State, step: Step) -> frozenset[str]:
    """The bounds without which a step might be enabled that is not, or might change what it leaves as it is.

    None if it would do neither beyond the bounds. The guards of ``beyond`` are true of it.
    """
    if beyond.loose:
        return beyond.ruled_out_by
    source = source_of(beyond.method)
    names = {**beyond.method.__globals__, source.parameters[0]: model, **step.arguments}
    model.load(state)
    if any(_evaluate(model, guard, names) is not True for guard in beyond.ruling):
        return beyond.ruled_out_by
    constants = model._constants
    watched = _Watched(constants)
    tree = copy.copy(source.tree)
    tree.body = source.body[leading_guards(source)[1] :] or [ast.copy_location(ast.Pass(), source.tree)]
    model._constants = watched
    try:
        with rewritten(beyond.method, tree), running(model):
            beyond.method(model, **step.arguments)
    except Disabled:
        return frozenset(watched.read) & beyond.ruled_out_by
    except Exception:
        return beyond.ruled_out_by
    finally:
        model._constants = constants
    return frozenset(watched.read) & beyond.ruled_out_by if model.snapshot() == state else frozenset()


class _Watched(dict[str, int]):
    """The constants of a model, and which of them were read."""

    def __init__(self, values: Mapping[str, int]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> int:
        self.read.add(name)
        return super().__getitem__(name)


@contextmanager
def _unguarded(model: Model) -> Iterator[None]:
    """While it lasts, no method of a model requires anything."""
    with ExitStack() as stack:
        members = [value for cls in type(model).__mro__ for value in vars(cls).values()]
        for function in dict.fromkeys(it for it in members if isinstance(it, FunctionType)):
            if _is_languages(function) or not _mentions_require(function.__code__):
                continue
            stack.enter_context(rewritten(function, _without_guards(source_of(function))))
        yield


def _mentions_require(code: CodeType) -> bool:
    """Whether code, or a function inside it, has something of that name."""
    if "require" in (*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars):
        return True
    return any(_mentions_require(inner) for inner in code.co_consts if isinstance(inner, CodeType))


@lru_cache(maxsize=1024)
def _without_guards(source: Source) -> ast.FunctionDef:
    """The tree of a function that requires nothing; copying it takes longer than most that is done with it."""
    tree = _Unguarded().visit(copy.deepcopy(source.tree))
    assert isinstance(tree, ast.FunctionDef)
    return ast.fix_missing_locations(tree)


class _Unguarded(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        match node.value:
            case ast.Call(func=ast.Name(id="require")):
                return ast.copy_location(ast.Pass(), node)
        return node
