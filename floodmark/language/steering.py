"""Whether a bound decides what a step does: CPython takes it once more and watches which bounds are read on the way.

What a ``require`` reads decides whether the step is taken, not where it leads. The step was taken, so for this every
``require`` of the model's methods is left out.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import FunctionType

from floodmark.language.bounding import Beyond, _is_languages
from floodmark.language.errors import Disabled
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, _evaluate
from floodmark.language.source import leading_guards, rewritten, source_of
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
            if function.__globals__.get("require") is None or _is_languages(function):
                continue
            tree = _Unguarded().visit(copy.deepcopy(source_of(function).tree))
            stack.enter_context(rewritten(function, ast.fix_missing_locations(tree)))
        yield


class _Unguarded(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        match node.value:
            case ast.Call(func=ast.Name(id="require")):
                return ast.copy_location(ast.Pass(), node)
        return node
