"""The mistakes that can be planted in a Python file: small changes of its text, of kinds that people make.

A mistake is named by the function that it is in and by what it changes, not by its line, so that its name outlives
edits elsewhere in the file.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    number: int = 1

    @property
    def name(self) -> str:
        """What tells it from every other: ``floodmark/compiler/joins.py hull: low <= 3 -> low < 3``."""
        again = f" #{self.number}" if self.number > 1 else ""
        return f"{self.file} {self.where}: {_one_line(self.old)} -> {_one_line(self.new)}{again}"

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
            Mistake(file, mistake.where, mistake.line, mistake.start, mistake.stop, mistake.old, mistake.new,
                    seen[mistake.name])
        )
    return found


def of_folder(root: Path, names: Sequence[str]) -> Iterator[Mistake]:
    """The mistakes of files and of folders below ``root``."""
    for name in names:
        path = root / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            yield from mistakes(file.relative_to(root).as_posix(), file.read_bytes())


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
                    yield from self._mistake(part, ast.UnaryOp(ast.Not(), part), where)
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
            for new in _changes(node):
                yield from self._mistake(node, new, where)
        yield from self._inside(node, where)

    def _mistake(self, node: ast.expr | ast.stmt, new: ast.AST, where: str) -> Iterator[Mistake]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        stop = self.starts[node.end_lineno - 1] + node.end_col_offset
        text = ast.unparse(new)
        if isinstance(new, ast.expr) and not isinstance(new, ast.Name | ast.Constant | ast.Call | ast.Attribute):
            text = f"({text})"
        old = self.source[start:stop].decode()
        if text.strip("()") != old.strip("()"):
            yield Mistake(self.file, where, node.lineno, start, stop, old, text)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in place of a node by mistake."""
    match node:
        case ast.Compare(ops=ops):
            for position, op in enumerate(ops):
                swapped = [*ops[:position], _SWAPS[type(op)](), *ops[position + 1 :]]
                yield _with(node, ops=swapped)
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in _SWAPS:
            yield _with(node, op=_SWAPS[type(op)]())
        case ast.AugAssign(op=op) if type(op) in _SWAPS:
            yield _with(node, op=_SWAPS[type(op)]())
            yield ast.Pass()
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield operand
        case ast.IfExp():
            yield _with(node, body=node.orelse, orelse=node.body)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield ast.Constant(value + 1)
            if value > 0:
                yield ast.Constant(value - 1)
        case ast.Constant(value=str() as value) if value in _WORDS:
            yield ast.Constant(_WORDS[value])
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in _NAMES:
            yield _with(node, attr=_NAMES[name])
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield ast.Name(_NAMES[name], ast.Load())
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[*first, one, other]) if (
            name in _CHOICES and first
        ):
            yield _with(node, args=[*first, other, one])
        case ast.Expr(value=ast.Call()) | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.Break() | ast.Continue():
            yield ast.Pass()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
