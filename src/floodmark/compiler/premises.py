"""The premises of a property, which reveal vacuous properties.

A premise is a condition without which the property claims nothing: the first argument of ``implies``, the ``if`` of an
``all(...)``, the operands before the last one of an ``or``, the test of an ``if``. It is met in a state if it is true
there. Evaluation reaches it as in CPython, with two differences: every element of an ``all`` is evaluated, also after a
false one, so that the order of elements does not matter; and a premise that cannot be evaluated is not true. Since
CPython evaluates both arguments of ``implies``, a premise inside a conclusion is met whether or not the outer premise
is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from floodmark.compiler import ir
from floodmark.compiler.failures import can_fail

Span = tuple[int, int, int, int]
_MAX_TEXT = 100


def span(node: ast.expr | ast.stmt) -> Span:
    """The begin and the end of a syntax tree node, which identify it within its function."""
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


@dataclass(frozen=True, slots=True)
class NodeSource:
    """The source of a node of a property's graph: the syntax tree, and the calls of helpers around it, the outermost
    first. The node itself is kept alive so that no other one gets its identity."""

    node: ir.Expr | ir.Return
    tree: ast.expr | ast.Return
    calls: tuple[ast.Call, ...]


class PremiseMarking:
    """Marks in the graph of a property where its premises are met.

    ``found`` are the premises, by the numbers of their Witness nodes. If the property's value has to be true, a premise
    is marked in place: evaluation gets there if and only if it is met, as every element of an ``all`` is evaluated
    until the property is false. The other premises, inside the conclusion of an ``implies`` and in all operands of an
    ``or`` but the last, are evaluated separately, before the property.
    """

    def __init__(self, written: dict[int, NodeSource]) -> None:
        self.found: list[ir.PremiseSite] = []
        self._written = written

    def mark(self, value: ir.Expr) -> ir.Expr:
        """A value that has to be true, with its premises marked."""
        source = self._source(value)
        match value:
            case ir.And():
                value.operands = [self.mark(operand) for operand in value.operands]
            case ir.Or(operands=[*earlier, last]) if source is not None:
                asked = list(self._of_operands(earlier, ir.Or))
                value.operands[-1] = self._noted(self._of_or(value, source), self.mark(last), last)
                return _beside(value, asked)
            case ir.Implies(premise=premise, conclusion=conclusion) if source is not None:
                return self._implication(value, premise, conclusion, source)
            case ir.Reduce(kind="all", generators=generators) if source is not None:
                body = self.mark(value.body)
                value.body = body if _is_never_empty(generators) else self._noted(self._of_all(value, source), body)
            case ir.Choose() if source is not None:
                value.then = self._noted(self._of_test(value, source, True), self.mark(value.then), value.then)
                value.otherwise = self._noted(
                    self._of_test(value, source, False), self.mark(value.otherwise), value.otherwise
                )
            case ir.Inline(body=body, result=ir.Local()):
                self.mark_returns(body)
        return value

    def mark_returns(self, body: list[ir.Stmt]) -> None:
        """Marks the premises of a function's result, which has to be true."""
        returns = list(_returns(body))
        for each in returns:
            if each.value is not None and not isinstance(each.value, ir.Const):
                value = self.mark(each.value)
                each.value = value if len(returns) == 1 else self._noted(self._of_return(each), value)

    def _implication(self, value: ir.Implies, premise: ir.Expr, conclusion: ir.Expr, source: NodeSource) -> ir.Expr:
        """A conclusion that cannot fail is evaluated only where the premise is true, which saves time."""
        site = self._of_implies(value, source)
        asked = list(self._inside(conclusion))
        if can_fail(conclusion):
            met = self._noted(site, ir.Const(ir.BOOL, value.at, True), conclusion)
            value.premise = ir.And(ir.BOOL, value.at, [premise, met])
            return _beside(value, asked)
        unmet = ir.Not(ir.BOOL, premise.at, premise)
        return _beside(ir.Or(ir.BOOL, value.at, [unmet, self._noted(site, conclusion, conclusion)]), asked)

    # Premises that are asked beside the property: each with the condition under which it is met.

    def _inside(self, value: ir.Expr) -> Iterator[tuple[int, ir.Expr]]:
        source, at = self._source(value), value.at
        match value:
            case ir.And(operands=operands):
                yield from self._of_operands(operands, ir.And)
            case ir.Or(operands=[*earlier, last] as operands) if source is not None:
                if not isinstance(last, ir.Const):
                    yield self._number(self._of_or(value, source)), ir.Not(ir.BOOL, at, _joined(ir.Or, earlier))
                yield from self._of_operands(operands, ir.Or)
            case ir.Implies(premise=premise, conclusion=conclusion) if source is not None:
                if not isinstance(conclusion, ir.Const):
                    yield self._number(self._of_implies(value, source)), premise
                yield from self._inside(conclusion)
            case ir.Reduce(kind="all", generators=generators, body=body) if source is not None:
                true: ir.Expr = ir.Const(ir.BOOL, at, True)
                own = [] if _is_never_empty(generators) else [(self._number(self._of_all(value, source)), true)]
                for number, condition in [*own, *self._inside(body)]:
                    yield number, ir.Reduce(ir.BOOL, at, "any", generators, condition)
            case ir.Choose(condition=condition, then=then, otherwise=otherwise) if source is not None:
                for taken, branch in ((True, then), (False, otherwise)):
                    if not isinstance(branch, ir.Const):
                        chosen = condition if taken else ir.Not(ir.BOOL, condition.at, condition)
                        yield self._number(self._of_test(value, source, taken)), chosen
                        for number, inner in self._inside(branch):
                            yield number, ir.And(ir.BOOL, at, [chosen, inner])
            case ir.Inline(body=body, result=ir.Local() as result):
                yield from self._of_function(value, body, result)

    def _of_operands(self, operands: list[ir.Expr], kind: type[ir.And | ir.Or]) -> Iterator[tuple[int, ir.Expr]]:
        """The premises in operands, each met only where evaluation gets to its operand."""
        for index, operand in enumerate(operands):
            for number, condition in self._inside(operand):
                if not index:
                    yield number, condition
                    continue
                before = _joined(kind, operands[:index])
                before = before if kind is ir.And else ir.Not(ir.BOOL, before.at, before)
                yield number, ir.And(ir.BOOL, operand.at, [before, condition])

    def _of_function(self, call: ir.Inline, body: list[ir.Stmt], result: ir.Local) -> Iterator[tuple[int, ir.Expr]]:
        """The premises in a function's result: its statements, with a return of the condition in each place."""
        returns = list(_returns(body))
        for each in returns:
            if each.value is None or isinstance(each.value, ir.Const):
                continue
            asked = list(self._inside(each.value))
            if len(returns) > 1:
                asked.append((self._number(self._of_return(each)), ir.Const(ir.BOOL, each.at, True)))
            for number, condition in asked:
                yield number, ir.Inline(ir.BOOL, call.at, list(_returning(body, each, condition)), result)

    # Names of premises.

    def _noted(self, site: ir.PremiseSite, value: ir.Expr, meant: ir.Expr | None = None) -> ir.Expr:
        """``value``, whose evaluation shows that a premise is met. A premise with a trivial conclusion is not marked.
        """
        if isinstance(meant, ir.Const):
            return value
        return ir.Witness(ir.BOOL, value.at, self._number(site), value)

    def _number(self, site: ir.PremiseSite) -> int:
        self.found.append(site)
        return len(self.found) - 1

    def _source(self, value: ir.Expr | ir.Return) -> NodeSource | None:
        return self._written.get(id(value))

    def _site(self, value: ir.Expr | ir.Return, source: NodeSource, part: int, text: str) -> ir.PremiseSite:
        steps = (*map(span, source.calls), span(source.tree))
        within = f", in {_short(source.calls[-1])}," if source.calls else ""
        return ir.PremiseSite(value.at, text.format(within), steps, part)

    def _of_or(self, value: ir.Or, source: NodeSource) -> ir.PremiseSite:
        assert isinstance(source.tree, ast.BoolOp)
        earlier = source.tree.values[:-1]
        asked = _negated(earlier[0] if len(earlier) == 1 else ast.BoolOp(ast.Or(), earlier))
        return self._site(value, source, 0, _never_true(asked))

    def _of_implies(self, value: ir.Implies, source: NodeSource) -> ir.PremiseSite:
        assert isinstance(source.tree, ast.Call)
        return replace(self._site(value, source, 0, _never_true(source.tree.args[0])), at=value.premise.at)

    def _of_all(self, value: ir.Reduce, source: NodeSource) -> ir.PremiseSite:
        assert isinstance(source.tree, ast.Call)
        match source.tree.args[0]:
            case ast.GeneratorExp(generators=loops) | ast.ListComp(generators=loops) | ast.SetComp(generators=loops):
                conditions = [condition for loop in loops for condition in loop.ifs]
                if conditions:
                    asked = conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.And(), conditions)
                    return self._site(value, source, 0, _never_true(asked))
                over = loops[-1].iter
            case other:
                over = other
        text = _escaped(_short(over))
        return self._site(value, source, 0, f"it asks something of each element of {text}{{}} and there is none")

    def _of_test(self, value: ir.Choose, source: NodeSource, taken: bool) -> ir.PremiseSite:
        assert isinstance(source.tree, ast.IfExp)
        asked = source.tree.test if taken else _negated(source.tree.test)
        return self._site(value, source, int(taken), _never_true(asked))

    def _of_return(self, value: ir.Return) -> ir.PremiseSite:
        source = self._source(value)
        assert source is not None
        return self._site(value, source, 0, f"{_escaped(_short(source.tree))}{{}} is never reached")


def _never_true(asked: ast.expr) -> str:
    return f"its premise {_escaped(_short(asked))}{{}} is never true"


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _short(tree: ast.AST) -> str:
    text = ast.unparse(tree)
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 4]} ..."


def _negated(tree: ast.expr) -> ast.expr:
    match tree:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Compare(left=left, ops=[ast.In()], comparators=right):
            return ast.Compare(left, [ast.NotIn()], right)
        case ast.Compare(left=left, ops=[ast.Is()], comparators=right):
            return ast.Compare(left, [ast.IsNot()], right)
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=right):
            return ast.Compare(left, [ast.NotEq()], right)
    return ast.UnaryOp(ast.Not(), tree)


def _is_never_empty(generators: list[ir.Generator]) -> bool:
    """Whether loops always have an element: each runs over all values of a type, without an ``if``."""
    return all(isinstance(each.domain, ir.Universe) and not each.conditions for each in generators)


def _joined(kind: type[ir.And | ir.Or], operands: list[ir.Expr]) -> ir.Expr:
    return operands[0] if len(operands) == 1 else kind(ir.BOOL, operands[0].at, operands)


def _beside(value: ir.Expr, asked: list[tuple[int, ir.Expr]]) -> ir.Expr:
    """``value``, before which the premises are evaluated."""
    for number, condition in reversed(asked):
        value = ir.Witness(ir.BOOL, value.at, number, value, condition)
    return value


def _returns(body: list[ir.Stmt]) -> Iterator[ir.Return]:
    for statement in body:
        match statement:
            case ir.Return():
                yield statement
            case ir.If(then=then, otherwise=otherwise):
                yield from _returns([*then, *otherwise])
            case ir.For(body=inner):
                yield from _returns(inner)


def _returning(body: list[ir.Stmt], chosen: ir.Return, value: ir.Expr) -> Iterator[ir.Stmt]:
    """A copy of statements in which one return has another value, and all others return False."""
    for statement in body:
        match statement:
            case ir.Return(into=into):
                false = ir.Const(ir.BOOL, statement.at, False)
                yield ir.Return(statement.at, value if statement is chosen else false, into)
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                branches = (list(_returning(branch, chosen, value)) for branch in (then, otherwise))
                yield ir.If(statement.at, condition, *branches)
            case ir.For(variable=variable, domain=domain, body=inner):
                yield ir.For(statement.at, variable, domain, list(_returning(inner, chosen, value)))
            case _:
                yield statement
