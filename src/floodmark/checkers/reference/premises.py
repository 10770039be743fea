"""The premises of a property, evaluated in states by CPython: the meaning of ``floodmark.compiler.premises``.

The compiler determines the premises; the source determines whether one is met. The property's function is rewritten so
that it returns whether the premise is met, and CPython runs it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Premise
from floodmark.compiler.ir import PremiseSite
from floodmark.compiler.premises import Span, span
from floodmark.compiler.program import read_predicate
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.members import abstract_steps
from floodmark.language.model import Model, State
from floodmark.language.source import changed, source_of
from floodmark.language.values import implies

_HELPER = "(followed)"
"""The name, which no model has, of the function that evaluates a premise within a helper instead of calling the helper.
"""


@dataclass(frozen=True)
class PremiseTest:
    """A premise of a property, and the function that decides whether a state, or a step, meets it."""

    premise: Premise
    function: Callable[..., bool]

    def is_met(self, model: Model, *states: State) -> bool:
        """Whether the premise is true; one that cannot be evaluated counts as false."""
        try:
            return reference.holds(model, self.function, *states)
        except SourceError:
            return False


@dataclass(frozen=True)
class _RefinementPremise(PremiseTest):
    """A premise of a refinement: some step is one of an action of the other model."""

    action: str

    def is_met(self, model: Model, *states: State) -> bool:
        try:
            old, new = (reference.image(model, self.function, state) for state in states)
            return self.action in reference.takes(old, new, abstract_steps(self.function))
        except SourceError:
            return False


def premises_of(model: Model, prop: Property) -> list[PremiseTest]:
    """The premises of a property; empty for one that the compiler cannot read."""
    try:
        sites = read_predicate(model, prop.name, prop.function).premises
    except SourceError:
        return []
    if prop.is_refinement:
        actions = reference.abstract_class(prop.function).methods("action")
        return [
            _RefinementPremise(_premise(prop, site), prop.function, name)
            for site, name in zip(sites, actions, strict=True)
        ]
    return [_premise_test(prop, site) for site in sites]


def _premise(prop: Property, site: PremiseSite) -> Premise:
    return Premise(site.name(prop.name), site.at.file, site.at.line, site.text)


def _premise_test(prop: Property, site: PremiseSite) -> PremiseTest:
    return PremiseTest(_premise(prop, site), _RewrittenProperty(prop.function, site.steps, site.part).function())


@dataclass(frozen=True)
class _RewrittenProperty:
    """The test whether a premise is met when ``called`` runs. The premise is the last of ``steps``; the others are
    calls on the way."""

    called: Callable[..., Any]
    steps: Sequence[Span]
    part: int

    def function(self) -> Callable[..., bool]:
        source = source_of(self.called)
        return changed(self.called, list(self._block(source.body)), {_HELPER: self._rewrite_helper})

    def _rewrite_helper(self, function: Any) -> Callable[..., bool]:
        """The replacement of a helper: the same test for the rest of the steps."""
        plain = getattr(function, "__func__", function)
        rewritten = _RewrittenProperty(plain, self.steps[1:], self.part).function()
        return rewritten.__get__(function.__self__) if hasattr(function, "__self__") else rewritten

    def _block(self, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements, with each ``return`` changed to return whether its expression meets the premise."""
        for node in body:
            match node:
                case ast.Return(value=value):
                    answer: ast.expr | None = None
                    if span(node) == self.steps[0]:
                        answer = ast.Constant(True)
                    elif value is not None:
                        answer = self._within(value)
                    yield ast.Return(ast.Constant(False) if answer is None else _not(_not(answer)))
                case ast.If(test=test, body=then, orelse=otherwise):
                    yield ast.If(test, list(self._block(then)), list(self._block(otherwise)))
                case ast.For(target=target, iter=over, body=inner):
                    yield ast.For(target, over, list(self._block(inner)), [])
                case _:
                    yield node

    def _within(self, node: ast.expr) -> ast.expr | None:
        """The test whether an expression meets the premise; None if the premise is elsewhere."""
        if span(node) == self.steps[0] and (found := self._here(node)) is not None:
            return found
        match node:
            case ast.BoolOp(op=op, values=parts):
                for index, part in enumerate(parts):
                    if (found := self._within(part)) is not None:
                        before = parts[:index] if isinstance(op, ast.And) else [_not(one) for one in parts[:index]]
                        return _and([*before, found])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                for chosen, part in ((test, body), (_not(test), orelse)):
                    if (found := self._within(part)) is not None:
                        return _and([chosen, found])
            case ast.Call(func=ast.Name() as named, args=[_, conclusion]) if self._means(named) is implies:
                return self._within(conclusion)
            case ast.Call(func=ast.Name() as named, args=[loop]) if self._means(named) is all:
                if isinstance(loop, ast.GeneratorExp | ast.ListComp | ast.SetComp):
                    found = self._within(loop.elt)
                    return None if found is None else _some(found, loop.generators)
        return None

    def _here(self, node: ast.expr) -> ast.expr | None:
        """The condition of an expression, if it is of the kind of the last step; the replaced call, if it is another
        step."""
        match node:
            case ast.Call() if len(self.steps) > 1:
                helper = ast.Call(ast.Name(_HELPER, ast.Load()), [node.func], [])
                return ast.Call(helper, node.args, node.keywords)
            case ast.BoolOp(op=ast.Or(), values=[*earlier, _]):
                return _and([_not(one) for one in earlier])
            case ast.IfExp(test=test):
                return test if self.part else _not(test)
            case ast.Call(func=ast.Name() as named, args=[premise, _]) if self._means(named) is implies:
                return premise
            case ast.Call(func=ast.Name() as named, args=[loop]) if self._means(named) is all:
                if isinstance(loop, ast.GeneratorExp | ast.ListComp | ast.SetComp):
                    return _some(ast.Constant(True), loop.generators)
                each = ast.comprehension(ast.Name("_", ast.Store()), loop, [], 0)
                return _some(ast.Constant(True), [each])
        return None

    def _means(self, name: ast.Name) -> Any:
        names = self.called.__globals__
        return names.get(name.id, getattr(builtins, name.id, None))


def _not(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), node)


def _and(parts: list[ast.expr]) -> ast.expr:
    return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)


def _some(element: ast.expr, loops: list[ast.comprehension]) -> ast.expr:
    return ast.Call(ast.Name("any", ast.Load()), [ast.GeneratorExp(element, loops)], [])
