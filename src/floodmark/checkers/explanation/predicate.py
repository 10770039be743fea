"""Explains why a property is false in a state, piece by piece.

It follows the property's own source. For ``a and b`` it shows the part that fails; for ``all(...)``, the element that
fails; for ``any(...)``, that there is none; for ``implies(a, b)``, why the premise holds and the conclusion does not;
for a comparison, its values; and it follows helper functions. CPython evaluates each piece in the state.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import floodmark.language
from floodmark.checkers.project.properties import Property
from floodmark.checkers.value_text import show
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.source import source_of
from floodmark.language.values import implies, running

MAX_LINES = 40
_MAX_CALL_DEPTH = 3
_MAX_SOURCE = 100
_MAX_VALUES = 70
MAX_CHOICES = 4
"""The maximum number of elements that are explained one by one if none satisfies an ``any``."""
_LANGUAGE = str(Path(floodmark.language.__file__ or "").parent)


def explain_call(prop: Property, models: Sequence[Model]) -> list[str]:
    """Why the function of a property returns false for these models, as far as its source reveals it."""
    try:
        with running(models[-1]):
            lines = _why_call(prop.function, models, False, 0)
    except (_NotEvaluable, SourceError):
        return []
    return [*lines[:MAX_LINES], "..."] if len(lines) > MAX_LINES else lines


def why(expression: ast.expr, truth: bool, names: dict[str, Any]) -> list[str]:
    """Why an expression is true or false, where ``names`` are visible; their model must be running."""
    try:
        return _why(expression, truth, _Scope(names, 0))[:MAX_LINES]
    except SourceError:
        return []


class _NotEvaluable(Exception):  # noqa: N818 - not an error
    """A piece that cannot be evaluated on its own."""


@dataclass(frozen=True)
class _Scope:
    """The names that are visible to an expression. ``defined`` maps local names to the expressions that define them."""

    names: dict[str, Any]
    calls: int
    local: frozenset[str] = frozenset()
    defined: dict[str, ast.expr] = field(default_factory=dict)

    def value(self, expression: ast.expr) -> Any:
        code = compile(ast.fix_missing_locations(ast.Expression(expression)), "<property>", "eval")
        try:
            return eval(code, self.names)
        except Exception as error:
            raise _NotEvaluable from error

    def holds(self, expression: ast.expr) -> bool:
        return bool(self.value(expression))

    def bind(self, target: ast.expr, value: Any) -> _Scope:
        """The scope in which ``target``, a name or a tuple of names, is ``value``."""
        match target:
            case ast.Name(id=name):
                return replace(self, names={**self.names, name: value})
            case ast.Tuple(elts=parts):
                scope = self
                for part, item in zip(parts, value, strict=True):
                    scope = scope.bind(part, item)
                return scope
        raise _NotEvaluable


def _source(expression: ast.expr) -> str:
    text = ast.unparse(expression)
    return text if len(text) <= _MAX_SOURCE else f"{text[: _MAX_SOURCE - 4]} ..."


def _word(truth: bool) -> str:
    return "true" if truth else "false"


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _why(expression: ast.expr, truth: bool, scope: _Scope) -> list[str]:
    """Lines that explain why ``expression`` is true or false; without an explanation, only its value."""
    try:
        return _why_piece(expression, truth, scope)
    except _NotEvaluable:
        return [f"{_word(truth)}: {_source(expression)}"]


def _why_piece(expression: ast.expr, truth: bool, scope: _Scope) -> list[str]:
    match expression:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _why(operand, not truth, scope)
        case ast.BoolOp(op=op, values=parts):
            return _why_parts(parts, isinstance(op, ast.Or), truth, scope)
        case ast.Compare():
            return _why_comparison(expression, truth, scope)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            chosen = scope.holds(test)
            return [*_why(test, chosen, scope), *_why(body if chosen else orelse, truth, scope)]
        case ast.Call(func=function, args=[premise, conclusion]) if scope.value(function) is implies:
            return _why_implication(premise, conclusion, truth, scope)
        case ast.Call(func=ast.Name(id="all"), args=[ast.GeneratorExp() as generator]):
            return _why_all(expression, generator, truth, scope)
        case ast.Call(func=ast.Name(id="any"), args=[ast.GeneratorExp() as generator]):
            return _why_any(generator, truth, scope)
        case ast.Call():
            return _why_helper(expression, truth, scope)
        case ast.Name(id=name) if name in scope.defined and scope.holds(scope.defined[name]) == truth:
            return _why(scope.defined[name], truth, scope)
        case ast.Constant():
            return []
    return [f"{_source(expression)} = {show(scope.value(expression))}"]


def _why_parts(parts: list[ast.expr], decisive: bool, truth: bool, scope: _Scope) -> list[str]:
    """Explains ``and`` and ``or`` by the first part that decides, or by every part if none does."""
    if truth == decisive:
        return _why(next(part for part in parts if scope.holds(part) == truth), truth, scope)
    return [line for part in parts for line in _why(part, truth, scope)]


def _why_implication(premise: ast.expr, conclusion: ast.expr, truth: bool, scope: _Scope) -> list[str]:
    if truth:
        decides = conclusion if scope.holds(premise) else premise
        return _why(decides, scope.holds(decides), scope)
    return [
        "the premise is true:",
        *_indented(_why(premise, True, scope)),
        "the conclusion does not:",
        *_indented(_why(conclusion, False, scope)),
    ]


def _why_all(whole: ast.expr, generator: ast.GeneratorExp, truth: bool, scope: _Scope) -> list[str]:
    if truth:
        return [f"true: {_source(whole)}"]
    return _why_choice(generator, False, scope)


def _why_any(generator: ast.GeneratorExp, truth: bool, scope: _Scope) -> list[str]:
    if truth:
        return _why_choice(generator, True, scope)
    names = ", ".join(_source(part.target) for part in generator.generators)
    wanted = " and ".join(_source(it) for it in [*_conditions(generator), generator.elt])
    sources = [part.iter for part in generator.generators]
    lines = [f"no {names} satisfies {wanted}", *_indented(_facts(sources, scope, whole=True))]
    choices = list(itertools.islice(_choices(generator.generators, scope), MAX_CHOICES + 1))
    if len(choices) <= MAX_CHOICES:
        for chosen in choices:
            lines += _indented(_why_chosen(generator, False, chosen))
    return lines


def _why_choice(generator: ast.GeneratorExp, truth: bool, scope: _Scope) -> list[str]:
    """The first choice of the loop variables for which the element is ``truth``, and why it is."""
    for chosen in _choices(generator.generators, scope):
        if chosen.holds(generator.elt) == truth:
            return _why_chosen(generator, truth, chosen)
    raise _NotEvaluable


def _why_chosen(generator: ast.GeneratorExp, truth: bool, chosen: _Scope) -> list[str]:
    """Why the element is ``truth`` for one choice of the loop variables."""
    targets = [name for part in generator.generators for name in _names(part.target)]
    bound = ", ".join(f"{name} = {show(chosen.names[name])}" for name in targets)
    premises = [line for condition in _conditions(generator) for line in _why(condition, True, chosen)]
    return [f"for {bound}:", *_indented([*premises, *_why(generator.elt, truth, chosen)])]


def _choices(parts: Sequence[ast.comprehension], scope: _Scope) -> Iterator[_Scope]:
    if not parts:
        yield scope
        return
    for item in scope.value(parts[0].iter):
        inner = scope.bind(parts[0].target, item)
        if all(inner.holds(condition) for condition in parts[0].ifs):
            yield from _choices(parts[1:], inner)


def _conditions(generator: ast.GeneratorExp) -> list[ast.expr]:
    return [condition for part in generator.generators for condition in part.ifs]


def _names(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def _why_comparison(expression: ast.Compare, truth: bool, scope: _Scope) -> list[str]:
    """The values of both sides and of their parts; for a chain, those of the link that fails."""
    link = expression if len(expression.ops) == 1 or truth else _failed_link(expression, scope)
    sides = [link.left, *link.comparators]
    values = [show(scope.value(side)) for side in sides]
    text = values[0] + "".join(
        f" {_OPERATORS[type(op)]} {value}" for op, value in zip(link.ops, values[1:], strict=True)
    )
    head = f"{_word(truth)}: {_source(link)}"
    if len(text) <= _MAX_VALUES:
        return [f"{head}, that is {text}", *_indented(_facts(sides, scope))]
    given = [
        f"{_source(side)} = {value}"
        for side, value in zip(sides, values, strict=True)
        if not isinstance(side, ast.Constant)
    ]
    return [head, *_indented([*given, *_facts(sides, scope)])]


def _failed_link(chain: ast.Compare, scope: _Scope) -> ast.Compare:
    left = chain.left
    for op, right in zip(chain.ops, chain.comparators, strict=True):
        link = ast.Compare(left, [op], [right])
        if not scope.holds(link):
            return link
        left = right
    raise _NotEvaluable


def _facts(expressions: Sequence[ast.expr], scope: _Scope, whole: bool = False) -> list[str]:
    """The values of the variables in expressions, as ``model.log[b2] = [1,1]``; with ``whole``, of each expression
    itself."""
    facts: list[str] = []
    for expression in expressions:
        for part in _paths(expression, scope):
            definition = scope.defined.get(part.id) if isinstance(part, ast.Name) else None
            if part is expression and not whole and definition is None:
                continue
            try:
                value = scope.value(part)
            except _NotEvaluable:
                continue
            if callable(value) or isinstance(value, Model):
                continue
            if definition is None:
                facts.append(f"{_source(part)} = {show(value)}")
            else:
                facts.append(f"{_source(part)} = {_source(definition)} = {show(value)}")
                inner = replace(scope, defined={})
                facts += _facts([definition], inner, whole=True)
    return list(dict.fromkeys(facts))


def _paths(expression: ast.expr, scope: _Scope) -> Iterator[ast.expr]:
    """The largest parts of an expression that read a variable, such as ``model.node[b].log``, and local names."""
    match expression:
        case ast.Attribute() | ast.Subscript() if not any(isinstance(it, ast.Call) for it in ast.walk(expression)):
            if not isinstance(expression.value, ast.Name) or not _is_type(expression.value, scope):
                yield expression
        case ast.Name(id=name):
            if name in scope.local:
                yield expression
        case ast.Call(func=ast.Attribute(value=owner), args=arguments):
            for part in (owner, *arguments):
                yield from _paths(part, scope)
        case _:
            for child in ast.iter_child_nodes(expression):
                if isinstance(child, ast.comprehension):
                    yield from _paths(child.iter, scope)
                elif isinstance(child, ast.keyword):
                    yield from _paths(child.value, scope)
                elif isinstance(child, ast.expr):
                    yield from _paths(child, scope)


def _is_type(name: ast.Name, scope: _Scope) -> bool:
    return isinstance(scope.names.get(name.id), type)


def _why_helper(call: ast.Call, truth: bool, scope: _Scope) -> list[str]:
    """Follows a call of a user's function; for any other call, shows its value and its arguments."""
    function = scope.value(call.func)
    arguments = [scope.value(argument) for argument in call.args]
    keywords = {it.arg: scope.value(it.value) for it in call.keywords if it.arg is not None}
    if _is_users(function) and scope.calls < _MAX_CALL_DEPTH and len(keywords) == len(call.keywords):
        name = function.__name__
        texts = [show(value) for value in arguments if not isinstance(value, Model)]
        texts += [f"{key}={show(value)}" for key, value in keywords.items()]
        lines = _why_call(function, arguments, truth, scope.calls + 1, keywords)
        return [f"{_word(truth)}: {name}({', '.join(texts)}), because", *_indented(lines)]
    return [f"{_word(truth)}: {_source(call)}", *_indented(_facts([call], scope))]


def _is_users(function: Any) -> bool:
    plain = getattr(function, "__func__", function)
    return inspect.isfunction(plain) and not plain.__code__.co_filename.startswith((_LANGUAGE, "<"))


def _why_call(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    truth: bool,
    calls: int,
    keywords: dict[str, Any] | None = None,
) -> list[str]:
    """Runs a function statement by statement up to its ``return``, and explains why that is ``truth``."""
    plain = getattr(function, "__func__", function)
    given = [function.__self__, *arguments] if hasattr(function, "__self__") else list(arguments)
    bound = inspect.signature(plain).bind(*given, **(keywords or {}))
    bound.apply_defaults()
    names = {**plain.__globals__, **_closure(plain), **bound.arguments}
    if given:
        names["super"] = lambda: builtins.super(_owner(plain, type(given[0])), given[0])
    run = _Run(_Scope(names, calls))
    run.block(source_of(plain).body)
    if run.returned is None:
        raise _NotEvaluable
    lines = _why(run.returned, truth, run.scope)
    if isinstance(run.returned, ast.Constant) and run.tests:
        test, chosen, scope = run.tests[-1]
        lines = _why(test, chosen, scope)
    if run.loops:
        text = ", ".join(f"{name} = {show(run.scope.names[name])}" for name in dict.fromkeys(run.loops))
        lines = [f"for {text}:", *_indented(lines)]
    return lines


def _closure(function: Any) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells}


def _owner(function: Any, cls: type) -> type:
    return next((base for base in cls.__mro__ if function in vars(base).values()), cls)


class _Run:
    """Runs the statements of a function until it returns, and records the loops and tests on the way."""

    def __init__(self, scope: _Scope) -> None:
        self.scope = scope
        self.returned: ast.expr | None = None
        self.tests: list[tuple[ast.expr, bool, _Scope]] = []
        self.loops: list[str] = []

    def block(self, statements: Sequence[ast.stmt]) -> str:
        """Returns ``"return"``, ``"break"`` or ``"continue"`` when a statement ended the block, else ``""``."""
        for statement in statements:
            ended = self.statement(statement)
            if ended:
                return ended
        return ""

    def statement(self, statement: ast.stmt) -> str:
        match statement:
            case ast.Return(value=value):
                self.returned = value
                return "return"
            case ast.If(test=test, body=body, orelse=orelse):
                chosen = self.scope.holds(test)
                self.tests.append((test, chosen, self.scope))
                ended = self.block(body if chosen else orelse)
                if ended != "return":
                    self.tests.pop()
                return ended
            case ast.For(target=target, iter=source, body=body):
                return self.loop(target, self.scope.value(source), body)
            case ast.Break():
                return "break"
            case ast.Continue():
                return "continue"
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self.assign(statement)
        return ""

    def loop(self, target: ast.expr, items: Any, body: Sequence[ast.stmt]) -> str:
        self.loops += _names(target)
        for item in items:
            self.scope = self.scope.bind(target, item)
            ended = self.block(body)
            if ended == "return":
                return ended
            if ended == "break":
                break
        del self.loops[len(self.loops) - len(_names(target)) :]
        return ""

    def assign(self, statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        names = dict(self.scope.names)
        try:
            exec(compile(ast.Module([statement], []), "<property>", "exec"), names)
        except Exception as error:
            raise _NotEvaluable from error
        defined = dict(self.scope.defined)
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        changed = [name for target in targets for name in _names(target)]
        for name in changed:
            defined.pop(name, None)
        if isinstance(statement, ast.Assign) and isinstance(targets[0], ast.Name):
            defined[targets[0].id] = statement.value
        local = self.scope.local | set(changed)
        self.scope = replace(self.scope, names=names, defined=defined, local=local)
