"""A Python file as a list of definitions, each with the names that it mentions.

A definition is a statement at the file's top level: a function, a whole class, an assignment. Its tokens are its
syntax tree without docstrings, comments, positions and layout, and with names kept apart, so that a hash of them need
not depend on what things are called. Python's ``symtable`` tells which scope a name belongs to.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import decode_source
from pathlib import Path
from typing import Any, Literal

from floodmark.checkers.gate.lexical_scopes import LexicalScope

NameKind = Literal["plain", "local", "global", "member", "attribute", "keyword", "word", "import"]
"""A token is plain text or a name: of a function's scope; of the file; in a class body (possibly the file's); after a
dot or bound in a class; of a keyword argument; a word in a string, which may be any of these; or an import in a
function."""
Token = tuple[NameKind, Any]

_SKIPPED = ("ctx", "type_comment", "kind", "type_ignores")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CONTAINERS = ("list", "dict", "set", "defaultdict", "deque", "OrderedDict", "Counter", "sorted", "bytearray", "copy",
               "deepcopy", "array")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Import:
    """The origin of an imported name; ``name`` is None for a module as a whole. ``level`` counts the leading dots."""

    module: str
    name: str | None
    level: int


@dataclass(frozen=True, eq=False)
class Definition:
    """A statement at the top level of a file; it begins at ``line`` and ``column``, below its decorators.

    ``bound`` has the names of the file that it binds, ``attributes`` the names that it gives to members of classes.
    ``parameters`` has the position of each parameter, by the function's place among those in the definition. ``runs``
    is whether loading the file makes it do more than bind a function with plain defaults; ``grows`` is whether code
    that mentions it may change what it binds: a list, an object with attributes that its class of this file sets, or
    a class that is notified of its subclasses.
    """

    within: Definitions
    line: int
    column: int
    tokens: tuple[Token, ...]
    bound: tuple[str, ...]
    attributes: frozenset[str]
    parameters: tuple[tuple[int, int, str], ...]
    runs: bool
    grows: bool

    @property
    def file(self) -> Path:
        return self.within.file

    @property
    def place(self) -> tuple[int, int]:
        """The position in its file: a line may have several statements."""
        return self.line, self.column

    @functools.cached_property
    def mentioned(self) -> tuple[str, ...]:
        """The names that may be names of the file, in the order of their first mention."""
        return tuple(dict.fromkeys(name for kind, name in self.tokens if kind in ("global", "member", "word")))

    @functools.cached_property
    def imported(self) -> tuple[Import, ...]:
        """The imports of its functions, and the modules that it may import by name."""
        return tuple(dict.fromkeys(name for kind, name in self.tokens if kind == "import"))


@dataclass(frozen=True)
class Definitions:
    """The definitions of one file by the names that they bind. Those in ``loose`` bind none, and count whenever the
    file is loaded. ``imports`` has everything that a name may be imported from."""

    file: Path
    bound: dict[str, list[Definition]] = field(default_factory=dict)
    loose: list[Definition] = field(default_factory=list)
    imports: dict[str, list[Import]] = field(default_factory=dict)
    stars: list[Import] = field(default_factory=list)

    @functools.cached_property
    def every(self) -> list[Definition]:
        """All definitions, in the order of the file."""
        every = {id(each): each for found in self.bound.values() for each in found}
        return sorted([*every.values(), *self.loose], key=lambda each: each.place)

    @functools.cached_property
    def loads(self) -> tuple[Import, ...]:
        """The modules that loading the file loads, or may load."""
        named = [each for found in self.imports.values() for each in found]
        return tuple(dict.fromkeys([*named, *self.stars]))


def definitions_of(file: Path) -> Definitions:
    return parsed(file, decode_source(file.read_bytes()))


@functools.cache
def parsed(file: Path, text: str) -> Definitions:
    """The definitions of a text that is the content of a file."""
    tree = ast.parse(text)
    scope = LexicalScope.of_file(text, str(file))
    found = Definitions(file)
    by_name, made = imports_by_name(tree), _with_state(tree)
    for statement in _without_docstring(tree.body):
        for node in _at_top(statement):
            _import(node, found)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        definition = _definition(statement, found, scope, by_name, made)
        for name in definition.bound:
            found.bound.setdefault(name, []).append(definition)
        if not definition.bound:
            found.loose.append(definition)
    return found


def imports_by_name(tree: ast.AST) -> bool:
    """Whether a file may import modules by computed names."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"):
                return True
    return False


def may_import_by_name(text: str) -> bool:
    """A fast necessary condition for ``imports_by_name``. Beyond ASCII, a text may spell these names in other
    characters."""
    return not text.isascii() or "__import__" in text or "import_module" in text


def is_dotted(text: str) -> bool:
    """Whether a text may be the name of a module."""
    return all(part.isidentifier() for part in text.split("."))


def _at_top(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports in a statement that run when the file is loaded."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    elif not isinstance(node, (*_FUNCTIONS, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _at_top(child)


def _import(node: ast.Import | ast.ImportFrom, found: Definitions) -> None:
    for name, what in _imports(node):
        if name == "*":
            found.stars.append(what)
        else:
            found.imports.setdefault(name, []).append(what)


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Import]]:
    """The names that a statement binds, and what each may mean."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            name = None if alias.name == "*" else alias.name
            yield alias.asname or alias.name, Import(node.module or "", name, node.level)
        elif alias.asname is not None:
            yield alias.asname, Import(alias.name, None, 0)
        else:
            parts = alias.name.split(".")
            for end in range(len(parts)):
                yield parts[0], Import(".".join(parts[: end + 1]), None, 0)


def _definition(
    statement: ast.stmt, within: Definitions, scope: LexicalScope, by_name: bool, made: frozenset[str]
) -> Definition:
    writer = _TokenWriter(scope, by_name)
    writer.node(statement)
    return Definition(
        within, statement.lineno, statement.col_offset, tuple(writer.tokens), tuple(writer.bound),
        frozenset(writer.attributes), tuple(writer.parameters), runs=_runs(statement),
        grows=_grows(statement, made),
    )


def _runs(statement: ast.stmt) -> bool:
    """Whether it matters when a statement runs: that of a function whose defaults are plain may stand anywhere."""
    if not isinstance(statement, _FUNCTIONS):
        return True
    defaults = [each for each in (*statement.args.defaults, *statement.args.kw_defaults) if each is not None]
    return bool(statement.decorator_list) or not all(isinstance(each, ast.Constant) for each in defaults)


def _grows(statement: ast.stmt, made: frozenset[str]) -> bool:
    """Whether the value that a statement binds may change later; ``made`` are the classes with mutable instances."""
    if isinstance(statement, ast.ClassDef):
        hears = any(isinstance(each, _FUNCTIONS) and each.name == "__init_subclass__" for each in statement.body)
        hears = hears or any(each.arg == "metaclass" for each in statement.keywords)
        return hears or any(_grows(each, made) for each in statement.body)
    if isinstance(statement, _FUNCTIONS):
        return False
    inner = [each for each in ast.walk(statement) if isinstance(each, ast.Assign | ast.AnnAssign | ast.NamedExpr)]
    return any(each.value is not None and _may_change(each.value, made) for each in inner)


def _may_change(value: ast.expr, made: frozenset[str]) -> bool:
    """Whether a value is, or has a part that is, a mutable container or object."""
    match value:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in _CONTAINERS or name in made
        case ast.BinOp(left=one, right=other) | ast.IfExp(body=one, orelse=other):
            return _may_change(one, made) or _may_change(other, made)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts):
            return any(_may_change(part, made) for part in parts)
        case ast.NamedExpr(value=inner) | ast.Starred(value=inner):
            return _may_change(inner, made)
    return False


def _with_state(tree: ast.Module) -> frozenset[str]:
    """The classes of a file whose instances have attributes that an ``__init__`` sets."""
    return frozenset(
        each.name for each in ast.walk(tree) if isinstance(each, ast.ClassDef)
        and any(isinstance(inner, _FUNCTIONS) and inner.name == "__init__" for inner in each.body)
    )


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


class _TokenWriter:
    """Writes a syntax tree as tokens. It meets scopes in the same order as ``symtable``."""

    def __init__(self, scope: LexicalScope, by_name: bool) -> None:
        self.tokens: list[Token] = []
        self.bound: dict[str, None] = {}
        self.attributes: set[str] = set()
        self.parameters: list[tuple[int, int, str]] = []
        self._scope = scope
        self._by_name = by_name
        self._locals: dict[tuple[LexicalScope, str], int] = {}
        self._functions = 0

    def node(self, node: ast.AST) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self._inner_import(node)
            case ast.Expr(value=ast.Constant(value=str())) | ast.Global() | ast.Nonlocal():
                return  # a docstring or attribute docstring; global and nonlocal are known from symtable
            case ast.Name(id=name):
                self._name(name, binds=not isinstance(node.ctx, ast.Load))
            case ast.Constant(value=value):
                self._constant(value)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node)
            case ast.ClassDef():
                self._class(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node)
            case _:
                self._fields(node)

    def _plain(self, text: str) -> None:
        self.tokens.append(("plain", text))

    def _name(self, name: str, binds: bool) -> None:
        meaning, scope = self._scope.meaning(name)
        if meaning == "local":
            self.tokens.append(("local", self._locals.setdefault((scope, name), len(self._locals))))
        elif meaning == "global":
            if binds:
                self.bound[name] = None
            self.tokens.append(("global", name))
        elif binds:
            self.attributes.add(name)
            self.tokens.append(("attribute", name))
        else:
            self.tokens.append(("member", name))

    def _constant(self, value: Any) -> None:
        if not isinstance(value, str):
            self._plain(repr(value))
            return
        words = re.findall(r"\w+|\W+", value)
        self._plain(f"'{len(words)}")
        for word in words:
            self.tokens.append(("word" if word.isidentifier() else "plain", word))
        if self._by_name and is_dotted(value):
            self.tokens.append(("import", Import(value, None, 0)))

    def _inner_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """An import in a function or a class; a top-level one counts where its names are mentioned."""
        if self._scope.outer is None:
            return
        for name, what in _imports(node):
            self.tokens.append(("import", what))
            if name != "*":
                self._name(name, binds=True)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        """A function: its defaults, annotations and decorators belong to the scope around it."""
        self._plain(type(node).__name__)
        arguments = node.args
        self._list([*arguments.defaults])
        self._list([*arguments.kw_defaults])
        every = [
            *arguments.posonlyargs, *arguments.args, *([arguments.vararg] if arguments.vararg else []),
            *arguments.kwonlyargs, *([arguments.kwarg] if arguments.kwarg else []),
        ]
        self._list([each.annotation for each in every])
        if not isinstance(node, ast.Lambda):
            self._list([node.returns])
            self._list([*node.decorator_list])
            self._name(node.name, binds=True)
            self._list([*getattr(node, "type_params", [])])
        shape = [len(part) for part in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs)]
        self._plain(f"{shape}{arguments.vararg is not None}{arguments.kwarg is not None}")
        before, self._scope = self._scope, self._scope.inner(node)
        for position, each in enumerate(every):
            self._name(each.arg, binds=True)
            self.parameters.append((self._functions, position, each.arg))
        self._functions += 1
        if isinstance(node, ast.Lambda):
            self.node(node.body)
        else:
            self._statements(node.body)
        self._scope = before

    def _class(self, node: ast.ClassDef) -> None:
        self._plain("ClassDef")
        self._list([*node.bases])
        self._list([*node.keywords])
        self._list([*node.decorator_list])
        self._name(node.name, binds=True)
        self._list([*getattr(node, "type_params", [])])
        before, self._scope = self._scope, self._scope.inner(node)
        self._statements(node.body)
        self._scope = before

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        """A comprehension: the iterable of its first loop belongs to the scope around it."""
        self._plain(f"{type(node).__name__}[{len(node.generators)}")
        self.node(node.generators[0].iter)
        before, self._scope = self._scope, self._scope.inner(node)
        for index, each in enumerate(node.generators):
            self.node(each.target)
            if index:
                self.node(each.iter)
            self._list([*each.ifs])
            self._plain(str(each.is_async))
        for part in (node.value, node.key) if isinstance(node, ast.DictComp) else (node.elt,):
            self.node(part)
        self._scope = before

    def _list(self, nodes: Iterable[ast.AST | None]) -> None:
        nodes = list(nodes)
        self._plain(f"[{len(nodes)}")
        for each in nodes:
            if each is None:
                self._plain("None")
            else:
                self.node(each)

    def _statements(self, body: list[ast.stmt]) -> None:
        self._plain("{")
        for statement in _without_docstring(body):
            self.node(statement)
        self._plain("}")

    def _fields(self, node: ast.AST) -> None:
        self._plain(f"{type(node).__name__}(")
        for name, value in ast.iter_fields(node):
            if name not in _SKIPPED:
                self._field(node, value)
        self._plain(")")

    def _field(self, node: ast.AST, value: Any) -> None:
        if isinstance(value, ast.AST):
            self.node(value)
        elif isinstance(value, list):
            self._plain(f"[{len(value)}")
            for item in value:
                self._field(node, item)
        elif isinstance(value, str):
            self._identifier(node, value)
        else:
            self._plain(repr(value))

    def _identifier(self, node: ast.AST, name: str) -> None:
        match node:
            case ast.Attribute():
                if not isinstance(node.ctx, ast.Load):
                    self.attributes.add(name)
                self.tokens.append(("attribute", name))
            case ast.MatchClass():
                self.tokens.append(("attribute", name))
            case ast.keyword():
                self.tokens.append(("keyword", name))
            case _:
                self._name(name, binds=True)
