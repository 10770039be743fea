"""A Python file as the definitions that it consists of, each with what it mentions.

A definition is a statement of the file's top level: a function, a class as a whole, an assignment. Its tokens are its
syntax tree without docstrings, comments, positions and layout, and with its names apart, so that a hash can be made
of them that does not depend on how things are called.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal["plain", "local", "global", "attribute", "keyword", "word"]
"""A token is plain text or a name: of the function's own scope, of the file, after a dot or in a class, of an argument
in a call, or a word in a string, which may be any of them."""
Token = tuple[Kind, str]

_SKIPPED = ("ctx", "type_comment", "kind", "type_ignores")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, eq=False)
class Definition:
    """A statement of a file's top level. ``text`` is its source as it stands, ``line`` the first of its lines."""

    file: Path
    line: int
    text: str
    tokens: tuple[Token, ...]
    attributes: frozenset[str]
    """The names that it gives to members of classes."""

    @functools.cached_property
    def mentioned(self) -> tuple[str, ...]:
        """The names that may be names of the file, in the order of their first mention."""
        return tuple(dict.fromkeys(name for kind, name in self.tokens if kind in ("global", "word")))


@dataclass(frozen=True, slots=True)
class Import:
    """What a name is imported from; ``name`` is None for a module as a whole. ``level`` counts the leading dots."""

    module: str
    name: str | None
    level: int


@dataclass(frozen=True)
class Definitions:
    """The definitions of one file by the names that they bind; ``loose`` bind none, and count whenever others do."""

    file: Path
    bound: dict[str, list[Definition]] = field(default_factory=dict)
    loose: list[Definition] = field(default_factory=list)
    imports: dict[str, Import] = field(default_factory=dict)
    stars: list[Import] = field(default_factory=list)

    def all(self) -> list[Definition]:
        every = {id(each): each for found in self.bound.values() for each in found}
        return sorted([*every.values(), *self.loose], key=lambda each: each.line)


def definitions_of(file: Path) -> Definitions:
    """Reads a file."""
    return _parsed(file, file.read_text(encoding="utf-8"))


@functools.cache
def _parsed(file: Path, text: str) -> Definitions:
    tree = ast.parse(text)
    lines = text.splitlines()
    found = Definitions(file)
    for node in ast.walk(tree):
        if isinstance(node, _IMPORTS):
            _import(node, found)
    for statement in _without_docstring(tree.body):
        if isinstance(statement, _IMPORTS):
            continue
        definition = _definition(statement, file, lines)
        names = list(_bound(statement))
        for name in names:
            found.bound.setdefault(name, []).append(definition)
        if not names:
            found.loose.append(definition)
    return found


def _import(node: ast.Import | ast.ImportFrom, found: Definitions) -> None:
    for alias in node.names:
        if isinstance(node, ast.Import):
            name = alias.asname or alias.name.split(".")[0]
            found.imports[name] = Import(alias.name, None, 0)
        elif alias.name == "*":
            found.stars.append(Import(node.module or "", None, node.level))
        else:
            found.imports[alias.asname or alias.name] = Import(node.module or "", alias.name, node.level)


def _definition(statement: ast.stmt, file: Path, lines: list[str]) -> Definition:
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    writer = _Writer()
    writer.node(statement, "module")
    text = "\n".join(lines[first - 1 : statement.end_lineno])
    return Definition(file, first, text, tuple(writer.tokens), frozenset(writer.attributes))


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds where it stands."""
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        yield statement.name
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            yield from _bound(child)
        else:
            yield from (each.id for each in ast.walk(child) if isinstance(each, ast.Name) and _stores(each))


def _stores(name: ast.Name | ast.Attribute) -> bool:
    return isinstance(name.ctx, ast.Store)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


Scope = Literal["module", "class", "function"]


class _Writer:
    """Writes a syntax tree as tokens."""

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.attributes: set[str] = set()
        self.locals: dict[str, int] = {}
        self.members: set[str] = set()

    def node(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                return  # what a name means is said where it is mentioned
            case ast.Expr(value=ast.Constant(value=str())):
                return  # a docstring, or a string that says what the line above it means
            case ast.Name(id=name):
                self._name(name, scope, _stores(node))
            case ast.Constant(value=value):
                self._constant(value)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if scope != "function":
                self._function(node, scope)
            case ast.ClassDef() if scope != "function":
                self._class(node, scope)
            case _ if isinstance(node, _SCOPES) and scope != "function":
                with_locals = self._scope(node)
                self._fields(node, "function")
                self.locals = with_locals
            case _:
                self._fields(node, scope)

    def _name(self, name: str, scope: Scope, stores: bool) -> None:
        if scope == "function" and name in self.locals:
            self._local(name)
        elif scope == "class" and (stores or name in self.members):
            self._member(name)
        else:
            self.tokens.append(("global", name))

    def _local(self, name: str) -> None:
        if self.locals[name] < 0:
            self.locals[name] = 1 + max(self.locals.values())
        self.tokens.append(("local", str(self.locals[name])))

    def _member(self, name: str) -> None:
        self.members.add(name)
        self.attributes.add(name)
        self.tokens.append(("attribute", name))

    def _constant(self, value: Any) -> None:
        if not isinstance(value, str):
            self.tokens.append(("plain", repr(value)))
            return
        self.tokens.append(("plain", "'"))
        for word in re.findall(r"\w+|\W+", value):
            self.tokens.append(("word" if word.isidentifier() else "plain", word))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        """A function: what stands outside of its body belongs to the scope around it."""
        self.tokens.append(("plain", type(node).__name__))
        if scope == "class":
            self._member(node.name)
        else:
            self.tokens.append(("global", node.name))
        arguments = [each for each in ast.walk(node.args) if isinstance(each, ast.arg)]
        outside = [*node.decorator_list, *node.args.defaults, *(each for each in node.args.kw_defaults if each)]
        outside += [each.annotation for each in arguments if each.annotation is not None]
        for expression in [*outside, *([node.returns] if node.returns is not None else [])]:
            self.node(expression, scope)
        before = self._scope(node)
        shape = [len(node.args.posonlyargs), len(node.args.args), len(node.args.kwonlyargs), len(outside)]
        optional = [node.args.vararg is not None, node.args.kwarg is not None]
        self.tokens.append(("plain", f"{shape}{optional}"))
        for each in arguments:
            self._local(each.arg)
        self._statements(node.body, "function")
        self.locals = before

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        self.tokens.append(("plain", "ClassDef"))
        self.tokens.append(("global" if scope == "module" else "attribute", node.name))
        for each in [*node.decorator_list, *node.bases, *node.keywords]:
            self.node(each, scope)
        before = self.members
        self.members = set()
        self._statements(node.body, "class")
        self.members = before

    def _statements(self, body: list[ast.stmt], scope: Scope) -> None:
        self.tokens.append(("plain", "{"))
        for statement in _without_docstring(body):
            self.node(statement, scope)
        self.tokens.append(("plain", "}"))

    def _scope(self, node: ast.AST) -> dict[str, int]:
        """Enters the scope of a function with all that is nested in it, and gives back the one before."""
        before = self.locals
        free = {name for each in ast.walk(node) if isinstance(each, ast.Global) for name in each.names}
        self.locals = {name: -1 for name in _names_bound_in(node) if name not in free}
        return before

    def _fields(self, node: ast.AST, scope: Scope) -> None:
        self.tokens.append(("plain", f"{type(node).__name__}("))
        for name, value in ast.iter_fields(node):
            if name not in _SKIPPED:
                self._field(node, name, value, scope)
        self.tokens.append(("plain", ")"))

    def _field(self, node: ast.AST, name: str, value: Any, scope: Scope) -> None:
        if isinstance(value, ast.AST):
            self.node(value, scope)
        elif isinstance(value, list):
            self.tokens.append(("plain", f"[{len(value)}"))
            for item in value:
                self._field(node, name, item, scope)
        elif isinstance(value, str):
            self._identifier(node, value, scope)
        else:
            self.tokens.append(("plain", repr(value)))

    def _identifier(self, node: ast.AST, name: str, scope: Scope) -> None:
        match node:
            case ast.Attribute():
                if _stores(node):
                    self.attributes.add(name)
                self.tokens.append(("attribute", name))
            case ast.MatchClass():
                self.tokens.append(("attribute", name))
            case ast.keyword():
                self.tokens.append(("keyword", name))
            case _:
                self._name(name, scope, stores=True)


def _names_bound_in(node: ast.AST) -> Iterable[str]:
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) if _stores(each):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if each is not node:
                yield name
