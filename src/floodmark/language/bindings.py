"""Rules about the names in a file or a class where Python itself reports nothing.

Python keeps the last definition of a name. A property whose name is reused would never be checked, so a name has one
definition in a class body, and one at the top level of a file. The branches of an ``if``, a ``try`` or a ``match`` are
alternatives: each may define it. Also, another decorator next to one of the language's may return a different function,
without the mark: again a property that is never checked.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import re
import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from floodmark.language.errors import ModelError


@dataclass(frozen=True, slots=True)
class Binding:
    """The line that binds a name. For an import, ``imported`` is the imported name."""

    name: str
    line: int
    imported: str | None = None


KnownBindings = dict[str, Binding]


def require_single_names(file: str) -> None:
    """Raises ModelError, with both places, when the top level of a file defines a name twice."""
    _refuse(_repeated_in_file(_text(file)), file)


@functools.cache
def require_single_members(cls: type) -> None:
    """Raises ModelError, with both places, when the body of a class, or its file, defines a name twice."""
    file = source_file(cls)
    if file is not None:
        require_single_names(file)
        for node in _class_nodes(cls, file):
            _refuse(_repeated(node.body, declares=True), file)


def require_own_decorators(file: str, names: Mapping[str, Any], ours: Collection[Any]) -> None:
    """Raises ModelError if a top-level function of a file has one of the decorators ``ours`` and any other one.

    ``names`` are the file's global names, by which decorators are found.
    """
    for node in _decorated_twice(_text(file)):
        _refuse_foreign(node, file, names, ours)


def require_outside_functions(file: str, names: Mapping[str, Any], ours: Collection[Any]) -> None:
    """Raises ModelError if a function within a class or a function of a file has one of the decorators ``ours``."""
    tree = parsed(_text(file))
    outer = set(_functions(tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node not in outer:
            own = next((each for each in node.decorator_list if any(_named(each, names) is our for our in ours)), None)
            if own is not None:
                message = f"@{ast.unparse(own)} has no effect on {node.name} here; move it to the top of the file"
                raise ModelError(message, file, node.lineno)


def require_own_decorators_in(cls: type, names: Mapping[str, Any], ours: Collection[Any]) -> None:
    """The same for the methods of a class."""
    file = source_file(cls)
    for node in [] if file is None else _class_nodes(cls, file):
        for method in _functions(node.body):
            _refuse_foreign(method, file, names, ours)


def _refuse_foreign(
    node: ast.FunctionDef | ast.AsyncFunctionDef, file: str | None, names: Mapping[str, Any], ours: Collection[Any]
) -> None:
    meant = [_named(decorator, names) for decorator in node.decorator_list]
    known = [any(each is our for our in ours) for each in meant]
    if any(known) and not all(known):
        foreign, own = (ast.unparse(node.decorator_list[known.index(which)]) for which in (False, True))
        message = f"@{foreign} next to @{own} may replace {node.name} by another function; do in it what {foreign} does"
        raise ModelError(message, file, node.decorator_list[known.index(False)].lineno)


def _named(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The object that a decorator names, or calls."""
    match node:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(value=value, attr=name):
            return getattr(_named(value, names), name, None)
        case ast.Call(func=func):
            return _named(func, names)
    return None


@functools.lru_cache(maxsize=256)
def _decorated_twice(text: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in _functions(parsed(text).body) if len(node.decorator_list) > 1]


def _functions(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions that statements define in their own scope."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement
        elif not isinstance(statement, ast.ClassDef):
            yield from _functions(each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.stmt))
            for handler in getattr(statement, "handlers", ()):
                yield from _functions(handler.body)
            for case in getattr(statement, "cases", ()):
                yield from _functions(case.body)


def source_file(cls: type) -> str | None:
    """The file of a class, or None if it has none. That of a class in a notebook is the text of its cell."""
    try:
        return inspect.getsourcefile(cls)
    except (OSError, TypeError):  # the module has no file, but functions know theirs
        codes = (value.__code__ for value in vars(cls).values() if isinstance(value, FunctionType))
        return next((code.co_filename for code in codes if linecache.getlines(code.co_filename)), None)


def member_place(cls: type, name: str) -> tuple[str | None, int | None]:
    """File and line where a class body defines a name; those of the class if it is not found there."""
    file = source_file(cls)
    nodes = [] if file is None else _class_nodes(cls, file)
    known: KnownBindings = {}
    for node in nodes:
        deque(_again(node.body, known, declares=True), maxlen=0)
    if name in known:
        return file, known[name].line
    value = vars(cls).get(name)
    if isinstance(value, FunctionType):  # assigned from outside
        return value.__code__.co_filename, value.__code__.co_firstlineno
    return file, nodes[0].lineno if nodes else None


def mentioned_in(cls: type, besides: str) -> set[str]:
    """The names that a class body mentions, also in strings such as the bounds of a type, except where it defines
    ``besides``."""
    file = source_file(cls)
    found: set[str] = set()
    for statement in [] if file is None else (each for node in _class_nodes(cls, file) for each in node.body):
        if besides not in (binding.name for binding in _bound(statement, declares=True)):
            found |= {word for node in ast.walk(statement) for word in _mentioned(node)}
    return found


def _mentioned(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Constant(value=str(text)):
            yield from re.findall(r"\w+", text)


def class_place(cls: type) -> tuple[str | None, int | None]:
    """File and line of a class, as far as they are known."""
    return member_place(cls, "")


def place(file: str | None, line: int | None) -> str:
    """A place as messages give it: ``file:line``."""
    return "a class without a file" if file is None else file if line is None else f"{file}:{line}"


def _refuse(repeated: tuple[Binding, Binding] | None, file: str) -> None:
    if repeated is not None:
        first, second = repeated
        if second.name == "*":
            message = f"a name that line {first.line} also brings in would mean something else from here on"
            raise ModelError(f"{message}; import the names one by one", file, second.line)
        already = f"{second.name} is already defined at {place(file, first.line)}"
        raise ModelError(f"{already}, and Python would keep only this one; rename one", file, second.line)


_joined: dict[str, tuple[list[str], str]] = {}
"""The text of each file, with the list of lines that it is made of: a file that was read again has another list."""


def _text(file: str) -> str:
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    known = _joined.get(file)
    if known is None or known[0] is not lines:
        known = _joined[file] = lines, "".join(lines)
    return known[1]


@functools.lru_cache(maxsize=256)
def parsed(text: str) -> ast.Module:
    """The syntax tree of a text, which must not be changed. Raises SyntaxError."""
    return ast.parse(text)


@functools.lru_cache(maxsize=256)
def _repeated_in_file(text: str) -> tuple[Binding, Binding] | None:
    return _repeated(parsed(text).body, declares=False)


def _repeated(body: list[ast.stmt], declares: bool) -> tuple[Binding, Binding] | None:
    """The first name that is bound twice, with both places; ``declares`` if an annotation alone is a binding."""
    return next(_again(body, {}, declares), None)


def _again(body: Iterable[ast.stmt], known: KnownBindings, declares: bool) -> Iterator[tuple[Binding, Binding]]:
    """Adds to ``known`` what statements bind. Yields each binding of a name that was bound before, after the earlier
    one.
    """
    for statement in body:
        for binding in _bound(statement, declares):
            before = known.get(binding.name)
            if before is not None and (before.imported is None or before.imported != binding.imported):
                yield before, binding
            known[binding.name] = binding
        match statement:
            case ast.If(body=then, orelse=otherwise):
                yield from _alternatives([then, otherwise], known, declares)
            case ast.Try(body=tried, handlers=handlers, orelse=otherwise, finalbody=last):
                branches = [[*tried, *otherwise], *(handler.body for handler in handlers)]
                yield from _alternatives(branches, known, declares)
                yield from _again(last, known, declares)
            case ast.Match(cases=cases):
                yield from _alternatives([case.body for case in cases], known, declares)
            case ast.For(body=inner, orelse=after) | ast.While(body=inner, orelse=after):
                yield from _again([*inner, *after], known, declares)
            case ast.With(body=inner):
                yield from _again(inner, known, declares)


def _alternatives(
    branches: Iterable[list[ast.stmt]], known: KnownBindings, declares: bool
) -> Iterator[tuple[Binding, Binding]]:
    before = dict(known)
    for branch in branches:
        here = dict(before)
        yield from _again(branch, here, declares)
        known.update(here)


def _bound(statement: ast.stmt, declares: bool) -> Iterator[Binding]:
    """The names that a statement itself binds, without the statements inside it."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield Binding(statement.name, statement.lineno)
        case ast.Import(names=aliases):
            for alias in aliases:
                name = alias.asname or alias.name.partition(".")[0]
                yield Binding(name, statement.lineno, alias.name if alias.asname else name)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            for alias in aliases:
                yield Binding(alias.asname or alias.name, statement.lineno, f"{'.' * level}{module}:{alias.name}")
        case ast.Assign(targets=targets):
            for target in targets:
                for node in ast.walk(target):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        yield Binding(node.id, node.lineno)
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if declares or value is not None:
            yield Binding(name, statement.lineno)


def _class_nodes(cls: type, file: str) -> list[ast.ClassDef]:
    """The definitions that may be the class's: one, unless functions of the same name define classes of the same
    name.
    """
    found = _classes(_text(file)).get(cls.__qualname__, [])
    lines = {
        value.__code__.co_firstlineno
        for value in vars(cls).values()
        if isinstance(value, FunctionType) and value.__code__.co_filename == file
    }
    around = [node for node in found if any(node.lineno <= line <= (node.end_lineno or line) for line in lines)]
    return around or found


def functions_at(file: str, line: int) -> list[ast.FunctionDef]:
    """The functions of a file that begin in a line, where the first decorator of a function is its beginning."""
    return _functions_by_line(_text(file)).get(line, [])


@functools.lru_cache(maxsize=256)
def _functions_by_line(text: str) -> dict[int, list[ast.FunctionDef]]:
    found: dict[int, list[ast.FunctionDef]] = {}
    waiting: list[ast.AST] = [parsed(text)]
    while waiting:
        for child in statements_in(waiting.pop()):
            if isinstance(child, ast.FunctionDef):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                found.setdefault(first, []).append(child)
            waiting.append(child)
    return found


_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
"""The fields of statements that hold statements, and handlers and cases, which hold statements."""


def statements_in(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements that are directly in a module or another statement: expressions have none."""
    for name in _BLOCKS:
        for each in getattr(node, name, ()):
            if isinstance(each, ast.stmt):
                yield each
            else:
                yield from statements_in(each)


@functools.lru_cache(maxsize=256)
def _classes(text: str) -> dict[str, list[ast.ClassDef]]:
    """The classes of a file by their qualified names."""
    found: dict[str, list[ast.ClassDef]] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in statements_in(node):
            inner = prefix
            if isinstance(child, ast.ClassDef):
                found.setdefault(prefix + child.name, []).append(child)
                inner = f"{prefix}{child.name}."
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = f"{prefix}{child.name}.<locals>."
            visit(child, inner)

    visit(parsed(text), "")
    return found


def annotation_position(owner: type, name: str) -> tuple[str | None, int | None]:
    """File and line where a class body declares ``name: ...``; those of the class if it is not found."""
    try:
        file, (lines, first) = inspect.getsourcefile(owner), inspect.getsourcelines(owner)
    except (OSError, TypeError):
        return None, None
    for offset, text in enumerate(lines):
        if text.strip().startswith(f"{name}:"):
            return file, first + offset
    return file, first


@functools.lru_cache(maxsize=4096)
def compiled_annotation(text: str) -> CodeType:
    """The code of an annotation, for ``eval``: each model of a class evaluates it again, in names that may differ."""
    return compile(text.lstrip(" \t"), "<string>", "eval")


def module_names(cls: type) -> Mapping[str, Any]:
    """The names of the module in which a class is defined.

    While a project loads a file, other modules with the names of its files are not in ``sys.modules``; the functions of
    their classes know their module even then.
    """
    module = sys.modules.get(cls.__module__)
    if module is not None:
        return vars(module)
    functions = (getattr(member, "__func__", member) for member in vars(cls).values())
    return next((each.__globals__ for each in functions if isinstance(each, FunctionType)), {})
