"""The constructs of Python in the language; any other construct is refused.

Syntax is listed by its nodes, functions by themselves, methods by the types of their owners. Functions, classes and
constants of the model's own files are no constructs: they consist of these.
"""

from __future__ import annotations

import ast
from typing import Any, Literal

from floodmark.language.enabledness import enabled
from floodmark.language.types import BagType, MapType, RecordType, SeqType, SetType, Type
from floodmark.language.values import Bag, Map, Seq, Set, implies, require

STATEMENTS: frozenset[type[ast.stmt]] = frozenset({
    ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Expr, ast.For, ast.If, ast.Pass,
    ast.Return,
})
EXPRESSIONS: frozenset[type[ast.expr]] = frozenset({
    ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.DictComp, ast.GeneratorExp,
    ast.IfExp, ast.List, ast.ListComp, ast.Name, ast.Set, ast.SetComp, ast.Slice, ast.Subscript, ast.Tuple, ast.UnaryOp,
})
SET_OPERATORS: dict[type[ast.operator], Literal["|", "&", "-", "^"]] = {
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.Sub: "-",
    ast.BitXor: "^",
}
ARITHMETIC: dict[type[ast.operator], Literal["+", "-", "*", "//", "%"]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
ORDER: dict[type[ast.cmpop], Literal["<", "<=", ">", ">="]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
OPERATORS: frozenset[type[ast.AST]] = frozenset({
    *SET_OPERATORS, *ARITHMETIC, *ORDER, ast.And, ast.Eq, ast.In, ast.Is, ast.IsNot, ast.Not, ast.NotEq, ast.NotIn,
    ast.Or, ast.USub,
})
FUNCTIONS: tuple[Any, ...] = (
    abs, all, any, dict, enabled, enumerate, frozenset, implies, isinstance, len, list, max, min, range, require, set,
    sorted, sum, super, tuple, zip, Bag, Map, Seq, Set,
)
METHODS: dict[type[Type], frozenset[str]] = {
    BagType: frozenset({"add", "count", "remove"}),
    MapType: frozenset({"items", "keys", "values"}),
    RecordType: frozenset({"replace"}),
    SeqType: frozenset({"append"}),
    SetType: frozenset({"add", "discard", "isdisjoint", "remove"}),
}

INSTEAD_OF_SYNTAX: dict[type[ast.AST], str] = {
    ast.AsyncFor: "an action is one atomic step; write for",
    ast.AsyncFunctionDef: "an action is one atomic step; yield and await are not part of the language",
    ast.AsyncWith: "with is not part of the language; a model opens nothing",
    ast.Await: "an action is one atomic step; yield and await are not part of the language",
    ast.ClassDef: "a class inside a function is not part of the language; put it outside",
    ast.Delete: "del is not part of the language; assign a smaller value, or None where a map may lack one",
    ast.Dict: "a map is written as a comprehension over its keys: {b: 0 for b in Broker}",
    ast.FunctionDef: "a function inside a function is not part of the language; write a method",
    ast.Global: "a model changes its own variables only; declare one in the class",
    ast.Import: "import at the top of the file",
    ast.ImportFrom: "import at the top of the file",
    ast.JoinedStr: "strings are not part of the language; use an Enum",
    ast.Lambda: "lambda is not part of the language; write a method with a name",
    ast.Match: "match is not part of the language; write if/elif/else",
    ast.NamedExpr: ":= is not part of the language; assign on a line of its own",
    ast.Nonlocal: "a model changes its own variables only; declare one in the class",
    ast.Raise: "raise is not part of the language; guard with require, check with assert",
    ast.Starred: "* is not part of the language; join with + or |, or list the elements",
    ast.Try: "try is not part of the language; guard with require, or test with if",
    ast.TryStar: "try is not part of the language; guard with require, or test with if",
    ast.While: "while is not part of the language; loop with `for i in range(n)` and break",
    ast.With: "with is not part of the language; a model opens nothing",
    ast.Yield: "an action is one atomic step; yield and await are not part of the language",
    ast.YieldFrom: "an action is one atomic step; yield and await are not part of the language",
}
INSTEAD_OF_FUNCTIONS: dict[Any, str] = {
    bool: "; write a comparison",
    breakpoint: "; it stops where CPython runs the model: floodmark check SPEC --engine reference",
    dict.fromkeys: "; write {b: 0 for b in Broker}",
    filter: "; write a comprehension",
    input: "; let a parameter of the action choose",
    int: "; write 1 if ... else 0",
    map: "; write a comprehension",
    open: "; a step depends on the state alone",
    print: "; a report shows every step",
    reversed: "; loop over range(len(...) - 1, -1, -1)",
    str: "; use an Enum",
}
INSTEAD_OF_METHODS: dict[str, str] = {
    "clear": "; assign an empty one",
    "copy": "; none is needed, as values are immutable",
    "difference": "; write a - b",
    "extend": "; write self.log = self.log + [x]",
    "get": "; a map has every key: index it, and where one may be without a value let that be None",
    "insert": "; assign the whole: self.log = [x] + self.log",
    "intersection": "; write a & b",
    "issubset": "; write a <= b",
    "issuperset": "; write a >= b",
    "symmetric_difference": "; write a ^ b",
    "union": "; write a | b",
}
INSTEAD_OF_METHODS_OF: dict[type[Type], dict[str, str]] = {
    MapType: {
        "pop": "; a map has every key: where one may be without a value, assign None",
        "setdefault": "; a map has every key: where one may be without a value, test whether it is None",
        "update": "; assign each entry: self.end[b] = 1",
    },
    SeqType: {
        "count": "; write sum(1 for e in self.log if e == x)",
        "index": "; write min(i for i, e in enumerate(self.log) if e == x)",
        "pop": "; assign a smaller one: self.log = self.log[1:], or self.log[:-1] without the last",
        "remove": "; assign a smaller one: self.log = self.log[:i] + self.log[i + 1:]",
        "reverse": "; assign the whole: self.log = [self.log[i] for i in range(len(self.log) - 1, -1, -1)]",
        "sort": "; assign the whole: self.log = sorted(self.log)",
    },
    SetType: {
        "pop": "; let a parameter of the action choose: require(b in self.isr), then self.isr.remove(b)",
        "update": "; write self.isr |= {...}",
    },
}


def refused_syntax(node: ast.AST) -> str | None:
    """Why a statement or an expression is refused, and what to write instead; None if it is part of the language."""
    if type(node) in STATEMENTS or type(node) in EXPRESSIONS:
        return None
    if (text := INSTEAD_OF_SYNTAX.get(type(node))) is not None:
        return text
    return f"{ast.unparse(node)!r} ({type(node).__name__}) is not part of the modelling language"


def instead_of_function(function: Any) -> str:
    """The replacement for a function outside the language."""
    return INSTEAD_OF_FUNCTIONS.get(function, "") if callable(function) else ""


def instead_of_method(owner: Type, name: str) -> str:
    """The replacement for a method outside the language."""
    return INSTEAD_OF_METHODS_OF.get(type(owner), {}).get(name, INSTEAD_OF_METHODS.get(name, ""))
