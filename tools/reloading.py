"""Reads a changed file into the functions that a process has loaded from it.

That is the same as an import of the changed file where only the bodies of functions were changed that did not run
while the process imported what it has: nothing that is left of the import depends on them. Each function gets its new
code, and with it the new lines, as its source is read from the changed file, too.
"""

from __future__ import annotations

import ast
import gc
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from types import CodeType, FunctionType

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class LoadedFunctions:
    """The functions of a process, and ``ran``, the lines of each file that ran while it imported them."""

    def __init__(self, ran: Mapping[str, Set[int]]) -> None:
        self._ran = ran
        self._functions: dict[str, list[tuple[tuple[str, int], FunctionType]]] = defaultdict(list)
        self._sources = {file: Path(file).read_bytes() for file in ran}
        for found in gc.get_objects():
            if isinstance(found, FunctionType) and found.__code__.co_filename in ran:
                self._functions[found.__code__.co_filename].append((_place(found.__code__), found))

    def read_again(self, path: Path) -> bool:
        """Gives the functions of a file their new code; False, and nothing is done, where an import would do more."""
        file = str(path)
        old, new = self._sources.get(file), path.read_bytes()
        if old is None:
            return all(getattr(module, "__file__", None) != file for module in list(sys.modules.values()))
        if not self._is_within_functions(file, old, new):
            return False
        codes: dict[tuple[str, int], CodeType | None] = {}
        for place, code in _pairs(compile(old, file, "exec"), compile(new, file, "exec")):
            codes[place] = None if place in codes else code  # two lambdas of a line are not told apart
        replaced = []
        for place, function in self._functions[file]:
            other = codes.get(place)
            if other is None or other.co_freevars != function.__code__.co_freevars:
                return False
            replaced.append((function, other))
        for function, other in replaced:
            function.__code__ = other
        return True

    def _is_within_functions(self, file: str, old: bytes, new: bytes) -> bool:
        """Whether all that differs stands in bodies of functions that did not run."""
        before, after = list(outermost(ast.parse(old))), list(outermost(ast.parse(new)))
        if len(before) != len(after):
            return False
        for one, other in zip(before, after, strict=True):
            if ast.dump(ast.Module(one.body, [])) != ast.dump(ast.Module(other.body, [])):
                lines = range(one.body[0].lineno, (one.end_lineno or 0) + 1)
                if one.lineno == one.body[0].lineno or not self._ran[file].isdisjoint(lines):
                    return False
        return _without_bodies(old) == _without_bodies(new)


def outermost(node: ast.AST) -> Iterator[_Function]:
    """The outermost functions, those of classes too, in the order of the text."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function):
            yield child
        elif not isinstance(child, ast.expr):
            yield from outermost(child)


def _without_bodies(source: bytes) -> str:
    tree = ast.parse(source)
    for function in outermost(tree):
        function.body = []
    return ast.dump(tree)


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """The new code for the place of each old one, of all that two texts have in common."""
    yield _place(old), new
    inner, again = ([part for part in code.co_consts if isinstance(part, CodeType)] for code in (old, new))
    if [part.co_name for part in inner] == [part.co_name for part in again]:
        for one, other in zip(inner, again, strict=True):
            yield from _pairs(one, other)
