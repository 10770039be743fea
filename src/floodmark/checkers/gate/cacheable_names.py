"""The names that a user's file may mention if a verdict on it is to be cached.

The cache's key has the text of every file. It determines the effects of loading the files only if these effects can be
computed from the texts. Effects cannot be inspected: no value that Python exposes shows the results that a cached
function holds, the precision of decimal numbers, or the outcome of a test whether a file exists. A list therefore
limits what a file may use: users' files, the names that floodmark offers, pure modules of the standard library, and
builtin functions that depend on their arguments alone. A file may not reach further through these, by way of frames, of
a module that a pure one has imported for itself, or of a computed name.
"""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import importlib
from collections.abc import Iterator
from types import CodeType, ModuleType

from floodmark.checkers.gate.values import PURE, pure_modules

_OFFERED = ("floodmark", "floodmark.claims", "floodmark.conformance")
"""Modules of floodmark of which files may import names; each lists them in ``__all__``, or they are defined there."""
_IMPORTED = PURE - {"builtins"}
_BUILTINS = frozenset({
    "Ellipsis", "False", "None", "NotImplemented", "True", "abs", "all", "any", "ascii", "bin", "bool", "bytearray",
    "bytes", "callable", "chr", "classmethod", "complex", "delattr", "dict", "divmod", "enumerate", "filter", "float",
    "frozenset", "hasattr", "hex", "int", "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min",
    "next", "object", "oct", "ord", "pow", "print", "property", "range", "repr", "reversed", "round", "set", "setattr",
    "slice", "sorted", "staticmethod", "str", "sum", "super", "tuple", "type", "zip",
})  # fmt: skip
"""Builtin names whose meaning depends on their arguments alone, exceptions included."""
_SPECIAL = frozenset({
    "__all__", "__annotations__", "__call__", "__class__", "__classcell__", "__contains__", "__debug__", "__doc__",
    "__enter__", "__eq__", "__exit__", "__file__", "__future__", "__ge__", "__get__", "__getitem__", "__gt__",
    "__hash__", "__init__", "__init_subclass__", "__iter__", "__le__", "__len__", "__lt__", "__members__",
    "__module__", "__name__", "__ne__", "__new__", "__next__", "__or__", "__post_init__", "__qualname__",
    "__repr__", "__set_name__", "__str__",
})  # fmt: skip
"""Dunder names that may be read; any may be defined."""
_REACHING = frozenset({
    "CodeType", "ForwardRef", "FunctionType", "LambdaType", "ModuleType", "attrgetter", "chdir", "f_back", "f_builtins",
    "f_globals", "f_locals", "format", "format_map", "get_type_hints", "gi_frame", "methodcaller", "samples",
    "tb_frame",
})  # fmt: skip
"""Attributes that give access to objects that the text does not name."""
_READS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_GLOBALS")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM")


def foreign(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, ...]]:
    """The imports of a statement that are neither pure nor offered and so must be users' files: for each, the candidate
    names of its module."""
    if isinstance(node, ast.Import):
        yield from ((alias.name,) for alias in node.names if alias.name not in _IMPORTED)
    elif node.module is not None and not node.level:
        for name in (alias.name for alias in node.names):
            offered = node.module in _OFFERED and _is_offered(node.module, name)
            if name == "*" or not (offered or node.module in _IMPORTED):
                yield node.module, f"{node.module}.{name}"


def _is_offered(module: str, name: str) -> bool:
    found = importlib.import_module(module)
    if name in getattr(found, "__all__", ()):
        return True
    return getattr(getattr(found, name, None), "__module__", None) == module


def ambiguous_name(code: CodeType) -> tuple[int, str] | None:
    """The line in which code uses a name that may mean something else in the next run, and the name."""
    for each in _codes(code):
        suspects = {name for name in each.co_names if _is_suspect(name)}
        if suspects and each.co_name == "__hash__":
            suspects.discard("hash")
        for instruction in dis.get_instructions(each) if suspects else ():
            name = instruction.argval
            if not isinstance(name, str) or name not in suspects:
                continue
            read = instruction.opname in _READS and (name in _impure() or _is_special(name))
            if read or (instruction.opname in _ATTRIBUTES and (name in _hidden() or _is_special(name))):
                return _line(each, instruction), name
    return None


def _line(code: CodeType, instruction: dis.Instruction) -> int:
    lines = [line for start, end, line in code.co_lines() if start <= instruction.offset < end and line is not None]
    return lines[0] if lines else code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Code and all code objects nested in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _SPECIAL


@functools.cache
def _is_suspect(name: str) -> bool:
    return name in _impure() or name in _hidden() or _is_special(name)


@functools.cache
def _impure() -> frozenset[str]:
    """The builtin names that are not on the list."""
    own = {name: value for name, value in vars(builtins).items() if name not in _BUILTINS | _SPECIAL}
    return frozenset(
        name for name, value in own.items() if not (isinstance(value, type) and issubclass(value, BaseException))
    )


@functools.cache
def _hidden() -> frozenset[str]:
    """The attributes that give access to further objects, including the modules that pure modules import for
    themselves."""
    found = set(_REACHING)
    for module in pure_modules().values():
        for name, value in vars(module).items() if module is not builtins else ():
            owner = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if isinstance(owner, str) and owner not in PURE and not _is_special(name):
                found.add(name)
    return frozenset(found)
