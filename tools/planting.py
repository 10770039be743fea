"""The mistakes that can be planted in a Python file: small changes of its text, of kinds that people make.

A kind is what was got wrong: an ``operator``, a ``negation``, a ``number`` or a ``choice`` between two things; a
``conjunct`` that is missing; a ``statement`` that is missing, so that old data stays; a ``guard`` that is missing,
which would have left a function or a round early; an ``exit`` after the first round; an ``index`` one beside; a ``key``
without one of its parts.

A mistake is named by the function that it is in and by what it changes, not by its line, so that its name outlives
edits elsewhere in the file.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr, ast.And: ast.Or, ast.Or: ast.And,
}
_WORDS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "|": "&", "&": "|", "-": "+", "+": "-",
    "min": "max", "max": "min", "any": "all", "all": "any",
}
"""Operators that code which makes code says as text."""
_NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "icmp_signed": "icmp_unsigned",
    "icmp_unsigned": "icmp_signed", "and_": "or_", "or_": "and_", "add": "sub", "sub": "add", "zext": "sext",
    "shifted_left": "shifted_right", "shifted_right": "shifted_left", "conj": "disj", "disj": "conj",
    "low": "high", "high": "low", "left": "right", "right": "left", "then": "otherwise", "otherwise": "then",
}
BY_THOUGHT = "thought"
"""The kind of the mistakes that nobody draws: people think of them."""
_LEAVES = ast.Return | ast.Raise | ast.Break | ast.Continue
_CHOICES = {"select", "either", "cbranch"}
"""Calls that choose between their last two arguments."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """``new`` in place of ``old``, which is the text of ``file`` from byte ``start`` to byte ``stop``."""

    file: str
    where: str
    line: int
    start: int
    stop: int
    old: str
    new: str
    kind: str
    number: int = 1

    @property
    def name(self) -> str:
        """The unique name of a mistake: ``floodmark/compiler/joins.py hull: low <= 3 -> low < 3``."""
        return f"{self.file} {self.where}: {self.change}"

    @property
    def change(self) -> str:
        """The unique name of a mistake within its function."""
        again = f" #{self.number}" if self.number > 1 else ""
        return f"{_one_line(self.old)} -> {_one_line(self.new)}{again}"

    def planted(self, source: bytes) -> bytes:
        """The source of its file with the mistake in."""
        return source[: self.start] + self.new.encode() + source[self.stop :]


def mistakes(file: str, source: bytes) -> list[Mistake]:
    """Every mistake that can be planted into a file, in the order of its text."""
    seen: Counter[str] = Counter()
    found = []
    for mistake in sorted(_Finder(file, source).all(), key=lambda it: (it.start, it.stop, it.new)):
        seen[mistake.name] += 1
        found.append(
            replace(mistake, number=seen[mistake.name])
        )
    return found


def mistake_of_text(file: str, source: bytes, old: str, new: str) -> Mistake:
    """The mistake that somebody thought of: ``new`` in place of ``old``, which the file has once."""
    if source.count(old.encode()) != 1:
        raise ValueError(f"{file} has this {source.count(old.encode())} times, not once: {old}")
    start = source.index(old.encode())
    line = source[: start + len(old) - len(old.lstrip())].count(b"\n") + 1
    where = list(_around(ast.parse(source), line))
    return Mistake(file, ".".join(where) or "module", line, start, start + len(old.encode()), old, new, BY_THOUGHT)


def _around(node: ast.AST, line: int) -> Iterator[str]:
    """The names of the classes and functions around a line, the outermost first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and child.lineno <= line <= (child.end_lineno or 0):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                yield child.name
            yield from _around(child, line)


def of_folder(root: Path, names: Sequence[str]) -> Iterator[Mistake]:
    """The mistakes of files and of folders below ``root``."""
    for name in names:
        path = root / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            yield from _mistakes(file.relative_to(root).as_posix(), file.read_bytes())


@cache
def _mistakes(file: str, source: bytes) -> tuple[Mistake, ...]:
    return tuple(mistakes(file, source))


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _Finder:
    """Goes through one file."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file = file
        self.source = source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def all(self) -> Iterator[Mistake]:
        yield from self._inside(ast.parse(self.source), "module")

    def _inside(self, node: ast.AST, where: str) -> Iterator[Mistake]:
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for part in value if isinstance(value, list) else [value]:
                if not isinstance(part, ast.AST) or isinstance(part, ast.JoinedStr | ast.pattern):
                    continue
                if name in ("test", "ifs", "guard") and not isinstance(part, ast.Compare | ast.UnaryOp):
                    assert isinstance(part, ast.expr)
                    yield from self._mistake(part, ast.UnaryOp(ast.Not(), part), where, "negation")
                yield from self._at(part, where)

    def _at(self, node: ast.AST, where: str) -> Iterator[Mistake]:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield from self._inside(node, name if where == "module" else f"{where}.{name}")
                return
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Import() | ast.ImportFrom() | ast.Assert():
                return
            case ast.Expr(value=ast.Constant(value=str())) | ast.Raise():
                return
        if isinstance(node, ast.expr | ast.stmt):
            for kind, new in _changes(node):
                yield from self._mistake(node, new, where, kind)
        if isinstance(node, ast.For) and not isinstance(node.body[-1], _LEAVES):
            yield self._ended_early(node.body[-1], where)
        for key in _keys(node, where):
            for part in range(len(key.elts)):
                shorter = _with(key, elts=[*key.elts[:part], *key.elts[part + 1 :]])
                yield from self._mistake(key, shorter, where, "key")
        yield from self._inside(node, where)

    def _ended_early(self, last: ast.stmt, where: str) -> Mistake:
        """The loop that ends after the first round in which its last statement is reached."""
        _, stop = self._extent(last)
        old = self.source[:stop].rpartition(b"\n")[2].decode().strip()
        start = stop - len(old.encode())
        line = self.source[:start].count(b"\n") + 1
        new = f"{old}\n{' ' * last.col_offset}break"
        return Mistake(self.file, where, line, start, stop, old, new, "exit")

    def _extent(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The bytes of the file that are a node's text."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def _mistake(self, node: ast.expr | ast.stmt, new: ast.AST, where: str, kind: str) -> Iterator[Mistake]:
        start, stop = self._extent(node)
        text = ast.unparse(new)
        if isinstance(new, ast.expr) and not isinstance(new, ast.Name | ast.Constant | ast.Call | ast.Attribute):
            text = f"({text})"
        old = self.source[start:stop].decode()
        if text.strip("()") != old.strip("()"):
            yield Mistake(self.file, where, node.lineno, start, stop, old, text, kind)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The mistaken replacements of a node, each with its kind."""
    match node:
        case ast.Compare(ops=ops):
            for position, op in enumerate(ops):
                swapped = [*ops[:position], _SWAPS[type(op)](), *ops[position + 1 :]]
                yield "operator", _with(node, ops=swapped)
        case ast.BoolOp(values=values):
            yield "operator", _with(node, op=_SWAPS[type(node.op)]())
            for position in range(len(values)):
                left = [*values[:position], *values[position + 1 :]]
                yield "conjunct", _with(node, values=left) if len(left) > 1 else left[0]
        case ast.BinOp(op=op) if type(op) in _SWAPS:
            yield "operator", _with(node, op=_SWAPS[type(op)]())
        case ast.AugAssign(op=op) if type(op) in _SWAPS:
            yield "operator", _with(node, op=_SWAPS[type(op)]())
            yield "statement", ast.Pass()
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield "negation", operand
        case ast.IfExp():
            yield "choice", _with(node, body=node.orelse, orelse=node.body)
        case ast.If(body=[left], orelse=[]) if isinstance(left, _LEAVES):
            yield "guard", ast.Pass()
        case ast.Subscript(slice=ast.Name() as index, ctx=ast.Load()):
            yield "index", _with(node, slice=ast.BinOp(index, ast.Sub(), ast.Constant(1)))
        case ast.Constant(value=bool() as value):
            yield "choice", ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield "number", ast.Constant(value + 1)
            if value > 0:
                yield "number", ast.Constant(value - 1)
        case ast.Constant(value=str() as value) if value in _WORDS:
            yield "operator", ast.Constant(_WORDS[value])
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in _NAMES:
            yield "choice", _with(node, attr=_NAMES[name])
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield "choice", ast.Name(_NAMES[name], ast.Load())
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[*first, one, other]) if (
            name in _CHOICES and first
        ):
            yield "choice", _with(node, args=[*first, other, one])
        case ast.Expr(value=ast.Call()) | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement", ast.Pass()
        case ast.Break() | ast.Continue():
            yield "exit", ast.Pass()


_KEYED = {"add", "discard", "get", "pop", "setdefault"}
"""Methods of dictionaries and sets whose first argument is a key."""


def _keys(node: ast.AST, where: str) -> Iterator[ast.Tuple | ast.List]:
    """The keys with several parts: of a dictionary, a set or a cache, or made by a function with such a name."""
    match node:
        case ast.Subscript(value=of, slice=ast.Tuple() as key) if not _is_generic(of, key):
            yield key
        case ast.Compare(left=ast.Tuple() as key, ops=[ast.In() | ast.NotIn()]):
            yield key
        case ast.Call(func=ast.Attribute(attr=name), args=[ast.Tuple() as key, *_]) if name in _KEYED:
            yield key
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Tuple() | ast.List() as key) if _is_key(name):
            yield key
        case ast.Return(value=ast.Tuple() | ast.List() as key) if _is_key(where.rpartition(".")[2]):
            yield key


def _is_generic(of: ast.expr, parts: ast.Tuple) -> bool:
    """Whether a subscript is a type's or an array's, not a dictionary's."""
    if any(isinstance(part, ast.Slice) for part in parts.elts):
        return True
    return isinstance(of, ast.Name) and (of.id in dir(builtins) or of.id[:1].isupper())


def _is_key(name: str) -> bool:
    return any(word in name.lower() for word in ("key", "digest", "hash", "content", "fingerprint", "identity"))


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
