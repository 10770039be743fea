"""Resolves the names in a file to scopes (a function's, a class's or the file's), as ``symtable`` does."""

from __future__ import annotations

import ast
import symtable
from collections import deque
from typing import Literal

Meaning = Literal["global", "local", "member"]
"""The kind of a name: global to the file, local to a function, or in a class body. Python looks up a class-body name in
the file's scope until the class body binds it."""

_NAMES: dict[type[ast.AST], str] = {
    ast.Lambda: "lambda",
    ast.ListComp: "listcomp",
    ast.SetComp: "setcomp",
    ast.DictComp: "dictcomp",
    ast.GeneratorExp: "genexpr",
}


class LexicalScope:
    """One scope: a symbol table and the scope around it."""

    def __init__(self, table: symtable.SymbolTable, outer: LexicalScope | None) -> None:
        self.outer = outer
        self._table = table
        self._inner: dict[tuple[str, int], deque[symtable.SymbolTable]] = {}
        for inner in _tables(table):
            self._inner.setdefault((inner.get_name(), inner.get_lineno()), deque()).append(inner)

    @classmethod
    def of_file(cls, text: str, file: str) -> LexicalScope:
        """The scope of a whole file."""
        return cls(symtable.symtable(text, file, "exec"), None)

    @property
    def is_class(self) -> bool:
        return self._table.get_type() == "class"

    def inner(self, node: ast.AST) -> LexicalScope:
        """The scope that a function, a class, a lambda or a comprehension opens. Each must be requested once, in source
        order. Nodes in an annotation that is never evaluated open none."""
        name = _NAMES.get(type(node)) or node.name  # type: ignore[attr-defined]
        tables = self._inner.get((name, node.lineno))  # type: ignore[attr-defined]
        return LexicalScope(tables.popleft(), self) if tables else self

    def meaning(self, name: str) -> tuple[Meaning, LexicalScope]:
        """The meaning of a name here, and the scope that it belongs to."""
        symbol = self._symbol(name)
        if self.outer is None or symbol is None or symbol.is_global():
            return "global", self
        if symbol.is_local():
            return ("member" if self.is_class else "local"), self
        scope = self.outer
        while scope.outer is not None:
            symbol = scope._symbol(name)
            if symbol is not None and symbol.is_local() and not scope.is_class:
                return "local", scope
            scope = scope.outer
        return "global", self

    def _symbol(self, name: str) -> symtable.Symbol | None:
        for spelled in (name, *self._mangled(name)):
            try:
                return self._table.lookup(spelled)
            except KeyError:
                continue
        return None

    def _mangled(self, name: str) -> list[str]:
        """A name as a class mangles it, if it is private."""
        scope: LexicalScope | None = self
        found = []
        while scope is not None and name.startswith("__") and not name.endswith("__"):
            if scope.is_class:
                found.append(f"_{scope._table.get_name().lstrip('_')}{name}")
            scope = scope.outer
        return found


def _tables(table: symtable.SymbolTable) -> list[symtable.SymbolTable]:
    """The scopes inside a scope, except those of type parameters and annotations, which newer versions of Python
    have."""
    found = []
    for inner in table.get_children():
        found += [inner] if str(inner.get_type()) in ("function", "class") else _tables(inner)
    return found
