"""The compiler of one model, composed of its parts."""

from __future__ import annotations

import ast
from collections.abc import Callable

from floodmark.compiler import ir
from floodmark.compiler.calls import CallLowering, ReadState, refuse_state
from floodmark.compiler.compile_cache import CompilerInputs
from floodmark.compiler.comprehensions import ComprehensionLowering
from floodmark.compiler.conversions import Conversions
from floodmark.compiler.expressions import ExpressionLowering
from floodmark.compiler.frame import Binding, Frame
from floodmark.compiler.known_values import ConstantEvaluation
from floodmark.compiler.lowering import Lowering
from floodmark.compiler.pairs import ProductLoopLowering
from floodmark.compiler.statements import StatementLowering
from floodmark.compiler.unions import UnionLowering
from floodmark.language.model import Model
from floodmark.language.source import Source
from floodmark.language.types import Type


class ModelCompiler(Lowering):
    """Lowers functions of one model: actions if ``guarded``, else properties and other functions that change nothing.
    """

    def __init__(
        self, model: Model, inputs: CompilerInputs | None = None, *, guarded: bool = True,
        read_state: ReadState = refuse_state,
    ) -> None:
        super().__init__(Conversions(model, inputs or CompilerInputs(model), guarded))
        constants, unions, loops = ConstantEvaluation(self), UnionLowering(self), ProductLoopLowering(self)
        self._comprehensions = ComprehensionLowering(self, loops)
        self._expressions = ExpressionLowering(self, constants, self._comprehensions, unions)
        self._statements = StatementLowering(self, loops)
        self._calls = CallLowering(self, constants, self._comprehensions, self._statements, unions, read_state)

    def expression(self, frame: Frame, node: ast.expr) -> ir.Expr:
        return self._expressions.expression(frame, node)

    def binding(self, frame: Frame, node: ast.expr) -> Binding:
        return self._expressions.binding(frame, node)

    def domain(self, frame: Frame, node: ast.expr) -> tuple[ir.Domain, Type, bool]:
        return self._comprehensions.domain(frame, node)

    def as_seq(self, frame: Frame, node: ast.Call, argument: ast.expr, any_order: bool) -> ir.Expr:
        return self._comprehensions.as_seq(frame, node, argument, any_order)

    def call(self, frame: Frame, node: ast.Call) -> ir.Expr:
        return self._calls.call(frame, node)

    def function_body(
        self, source: Source, bind: Callable[[Frame], None], is_action: bool = False
    ) -> tuple[Frame, list[ir.Stmt], bool]:
        return self._statements.function_body(source, bind, is_action)

    def of_actions(self) -> ModelCompiler:
        return ModelCompiler(self.model, self.inputs)
