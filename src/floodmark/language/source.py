"""The source of a function as a syntax tree that knows its file and its lines."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from floodmark.language.bindings import functions_at, require_own_decorators, require_single_names
from floodmark.language.errors import ModelError
from floodmark.language.members import MARKS
from floodmark.language.values import require

DEEPEST = 120
"""Levels of a function's syntax tree. A chain such as ``a + b + c`` has one for each operator."""
TOO_DEEP = "this is nested too deeply"


@dataclass(frozen=True)
class Source:
    """One function's syntax tree, with line numbers as in its file."""

    function: Callable[..., Any]
    tree: ast.FunctionDef
    file: str

    @property
    def parameters(self) -> list[str]:
        """The names of the function's parameters, in order; the first is the model."""
        return [argument.arg for argument in self.tree.args.args]

    @functools.cached_property
    def own_names(self) -> frozenset[str]:
        """The function's parameters and everything it assigns: inside it these names mean nothing else."""
        parameters = (node.arg for node in ast.walk(self.tree.args) if isinstance(node, ast.arg))
        return frozenset([*parameters, *(name.id for name in names_assigned(self.tree.body))])

    @functools.cached_property
    def names_read(self) -> frozenset[str]:
        """The names that the function reads somewhere, those among them of which ``x += 1`` assigns what it read."""
        nodes = list(ast.walk(self.tree))
        combined = {node.target for node in nodes if isinstance(node, ast.AugAssign)}
        names = (node for node in nodes if isinstance(node, ast.Name))
        return frozenset(name.id for name in names if isinstance(name.ctx, ast.Load) or name in combined)

    @property
    def body(self) -> list[ast.stmt]:
        """The statements after the docstring."""
        match self.tree.body:
            case [ast.Expr(value=ast.Constant(value=str())), *rest]:
                return rest
        return self.tree.body


_REWRITTEN: dict[Callable[..., Any], Source] = {}


def source_of(function: Callable[..., Any]) -> Source:
    """The source of ``function``. Raises ModelError when Python does not have it."""
    if not isinstance(function, types.FunctionType):
        name = getattr(function, "__qualname__", repr(function))
        raise ModelError(f"{name} is not a plain function; write a method: def name(self, ...)", *_place_of(function))
    return _REWRITTEN.get(function) or _parsed(function)


def is_rewritten(function: Callable[..., Any]) -> bool:
    """Whether a function is, at present, not what its file says."""
    return function in _REWRITTEN


@functools.cache
def _parsed(function: types.FunctionType) -> Source:
    """Reads the source of the function itself, whatever it wraps, and whatever its name suggests."""
    code = function.__code__
    first = code.co_firstlineno
    try:
        file = inspect.getsourcefile(code) or "?"
        require_single_names(file)
        require_own_decorators(file, function.__globals__, MARKS)
        tree = _tree_at(file, first) or _tree(*_lines_of(code))
    except (OSError, TypeError):
        raise ModelError(f"the source of {function.__qualname__} cannot be found; define it in a file") from None
    if not isinstance(tree, ast.FunctionDef) or not _is_of(tree, code):
        message = f"{function.__qualname__} is not a plain function; write a method: def name(self, ...)"
        raise ModelError(message, file, getattr(tree, "lineno", first))
    _require_shallow(tree, file)
    return Source(function, tree, file)


def _require_shallow(tree: ast.FunctionDef, file: str) -> None:
    """Refuses what is nested so deeply that those who read it would reach Python's limit of nested calls."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    line = next((node.lineno for node in level if isinstance(node, ast.expr | ast.stmt)), tree.lineno)
    raise ModelError(f"{TOO_DEEP}: {DEEPEST} levels are the most; compute parts of it in helpers", file, line)


def _place_of(wrapper: Any) -> tuple[str | None, int | None]:
    """File and line of the function that something wraps, as ``functools.cache`` and ``staticmethod`` do."""
    code = getattr(inspect.unwrap(wrapper), "__code__", None)
    return (None, None) if code is None else (code.co_filename, code.co_firstlineno)


def _is_of(tree: ast.FunctionDef, code: types.CodeType) -> bool:
    """Whether a definition belongs to this code: its first line may also hold a lambda, for example in a decorator."""
    given = tree.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return tree.name == code.co_name and names == list(code.co_varnames[: len(names)])


def _tree_at(file: str, line: int) -> ast.stmt | None:
    """The function of a file that begins in a line, if it is the only one."""
    found = functions_at(file, line)
    return found[0] if len(found) == 1 else None


def _lines_of(code: types.CodeType) -> tuple[str, int]:
    """The text around code, as far as Python finds it, and its first line."""
    lines, first = inspect.getsourcelines(code)
    return "".join(lines), first


def _tree(text: str, first: int) -> ast.stmt:
    """The statement in ``text``, whatever its indentation; its first line is line ``first`` of the file."""
    if text[0].isspace():
        block = ast.parse(f"if True:\n{text}").body[0]
        assert isinstance(block, ast.If)
        tree = block.body[0]
        ast.increment_lineno(tree, first - 2)
    else:
        tree = ast.parse(text).body[0]
        ast.increment_lineno(tree, first - 1)
    return tree


@contextmanager
def rewritten(function: Callable[..., Any], tree: ast.FunctionDef) -> Iterator[None]:
    """Within this context, a function does what ``tree`` says and has it as its source: CPython and compilers agree.

    The function stays the same object, so everyone who holds it, a class or another module, sees the change. ``tree``
    is the function's own tree except for statements and expressions of its body, with line numbers as in the file.
    """
    before, known = function.__code__, _REWRITTEN.get(function)
    _REWRITTEN[function] = Source(function, tree, source_of(function).file)
    function.__code__ = _compiled(function, tree)
    try:
        yield
    finally:
        function.__code__ = before
        if known is None:
            del _REWRITTEN[function]
        else:
            _REWRITTEN[function] = known


def changed(function: Callable[..., Any], body: list[ast.stmt], names: dict[str, Any]) -> Callable[..., Any]:
    """A function with the parameters and the surroundings of another one, and more ``names``, but a body of its own."""
    assert isinstance(function, types.FunctionType)
    tree = copy.copy(source_of(function).tree)
    tree.body = body
    code, visible = _compiled(function, tree), {**function.__globals__, **names}
    made = types.FunctionType(code, visible, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _compiled(function: Callable[..., Any], tree: ast.FunctionDef) -> types.CodeType:
    """The code of a function with its present closure cells, used or not: ``super()`` needs one.

    It is compiled under a name that no variable can have: a variable of its body may be called as it is, and may no
    longer be assigned.
    """
    names = function.__code__.co_freevars
    mentioned: list[ast.stmt] = [ast.Expr(ast.Name(name, ast.Load())) for name in names]
    unused: list[ast.stmt] = [ast.If(ast.Constant(False), mentioned, [])] if names else []
    given = tree.args
    own = _definition("(own)", given.args, given.kwonlyargs, [*tree.body, *unused])
    around = _definition("around", [ast.arg(name) for name in names], [], [own])
    module = ast.fix_missing_locations(ast.Module([around], []))
    code = compile(module, function.__code__.co_filename, "exec", dont_inherit=True)
    for _ in range(2):
        code = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return code.replace(co_name=tree.name)


def _definition(name: str, given: list[ast.arg], named: list[ast.arg], body: list[ast.stmt]) -> ast.FunctionDef:
    """A function with these parameters, which have no annotations and no defaults."""
    arguments, keywords = ([ast.arg(each.arg) for each in some] for some in (given, named))
    none: list[ast.expr | None] = [None] * len(keywords)
    parameters = ast.arguments(posonlyargs=[], args=arguments, kwonlyargs=keywords, kw_defaults=none, defaults=[])
    return ast.FunctionDef(name, parameters, body, [])


def leading_guards(source: Source) -> tuple[list[ast.expr], int]:
    """The conjuncts of the ``require`` statements that open a function, and the number of those statements."""
    guards: list[ast.expr] = []
    count = 0
    for statement in source.body if _knows_require(source.function) else ():
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition], keywords=[])):
                guards.extend(conjuncts(condition))
                count += 1
            case _:
                break
    return guards, count


def _knows_require(function: Callable[..., Any]) -> bool:
    """Whether ``require`` in a function is the language's, and nothing else of that name."""
    code = function.__code__
    nearer = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    return "require" not in nearer and function.__globals__.get("require") is require


_OWN_SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def names_assigned(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    """The names that code assigns, loops among it; those of a comprehension are its own."""
    for node in nodes:
        yield from _names_assigned(node)


@functools.lru_cache(maxsize=16384)
def _names_assigned(node: ast.AST) -> tuple[ast.Name, ...]:
    """The same of one syntax tree, which is known by its identity and never changed: the compiler reads a function
    again for each call of it."""
    found: list[ast.Name] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.append(part)
        if not isinstance(part, _OWN_SCOPES):
            waiting += reversed(list(ast.iter_child_nodes(part)))
    return tuple(found)


def conjuncts(condition: ast.expr) -> list[ast.expr]:
    """The parts of ``a and b and c``."""
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
        return [part for value in condition.values for part in conjuncts(value)]
    return [condition]


def is_require(statement: ast.stmt) -> bool:
    """Whether a statement is ``require(...)``."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="require"))):
            return True
    return False


@functools.lru_cache(maxsize=4096)
def names_in(expression: ast.AST) -> frozenset[str]:
    """The names that an expression mentions; a syntax tree is known by its identity, and is never changed."""
    return frozenset(node.id for node in ast.walk(expression) if isinstance(node, ast.Name))
