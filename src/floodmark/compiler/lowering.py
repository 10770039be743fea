"""The compiler as its parts see it: the nodes that they build, and each other's entry points."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from floodmark.compiler import ir
from floodmark.compiler.compile_cache import CompilerInputs
from floodmark.compiler.conversions import Conversions
from floodmark.compiler.frame import Binding, Frame, StaticObject
from floodmark.compiler.premises import NodeSource
from floodmark.compiler.sizes import in_code_order
from floodmark.language.errors import ModelError
from floodmark.language.model import Model
from floodmark.language.source import Source
from floodmark.language.types import Type

Premise = TypeVar("Premise", bound=ir.Expr | ir.Return)


class Lowering(ABC):
    """Lowers functions of one model to the expression graph."""

    def __init__(self, nodes: Conversions) -> None:
        self.nodes = nodes
        self.steps = 0
        """The number of expressions read so far; a body counts once for each reading."""
        self.written: dict[int, NodeSource] = {}
        """The possible premises of a property, by the identities of their nodes."""
        self.path: tuple[ast.Call, ...] = ()
        """The calls of helpers around the current code, the outermost first."""
        self.may_ask_actions = True
        """Whether ``enabled`` is allowed here: not in a property of runs of a model with bounds."""

    @abstractmethod
    def expression(self, frame: Frame, node: ast.expr) -> ir.Expr:
        """Lowers an expression to a node."""

    @abstractmethod
    def binding(self, frame: Frame, node: ast.expr) -> Binding:
        """The value of an expression at compile time: a node, a class or function, or the model itself."""

    @abstractmethod
    def domain(self, frame: Frame, node: ast.expr) -> tuple[ir.Domain, Type, bool]:
        """The domain of a loop, the type of its variable, and whether its order is fixed."""

    @abstractmethod
    def as_seq(self, frame: Frame, node: ast.Call, argument: ast.expr, any_order: bool) -> ir.Expr:
        """The elements of a container, or of a generator, as a sequence."""

    @abstractmethod
    def call(self, frame: Frame, node: ast.Call) -> ir.Expr:
        """Lowers a call to a node."""

    @abstractmethod
    def function_body(
        self, source: Source, bind: Callable[[Frame], None], is_action: bool = False
    ) -> tuple[Frame, list[ir.Stmt], bool]:
        """The frame of a function, its statements, and whether control can reach their end.

        ``bind`` says what the parameters mean in a frame. The source is read until that changes nothing more of what is
        known of the local variables.
        """

    @abstractmethod
    def of_actions(self) -> Lowering:
        """A lowering of the same model in which ``require`` is allowed."""

    @property
    def model(self) -> Model:
        return self.nodes.model

    @property
    def inputs(self) -> CompilerInputs:
        return self.nodes.inputs

    def condition(self, frame: Frame, node: ast.expr) -> ir.Expr:
        """A truth value: a bool, or a container, which is true if it is not empty."""
        return self.nodes.truth(frame, node, self.expression(frame, node))

    def is_name_of(self, frame: Frame, node: ast.Name, meant: object) -> bool:
        """Whether a name denotes this built-in here, not something of the model's with the same name."""
        bound = self.binding(frame, node)
        return isinstance(bound, StaticObject) and bound.value is meant

    def as_written(self, node: Premise, tree: ast.expr | ast.Return) -> Premise:
        """A node of a property that may contain a premise, with its source recorded."""
        if not self.nodes.guarded:
            self.written[id(node)] = NodeSource(node, tree, self.path)
        return node


class LoweringPart:
    """A part of the compiler: it lowers some constructs, and leaves what is inside of them to ``lowering``."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.nodes = lowering.nodes
        self.model = lowering.model
        self.inputs = lowering.inputs


def no_order(
    frame: Frame, node: ast.expr, of: Type, why: str = "", instead: str = "fold the set with any, all or sum"
) -> ModelError:
    """The error for a set whose iteration order in CPython is unspecified."""
    if in_code_order(of):
        return frame.refuse(node, f"{why}this set has no fixed order in Python; iterate sorted(...) or Set(...)")
    return frame.refuse(node, f"{why}{of} has no order to iterate in; {instead}")


def must_be_pure(frame: Frame, node: ast.expr, value: Binding) -> None:
    """Refuses an expression that changes the state if it is evaluated twice, or later than in CPython."""
    if isinstance(value, ir.Expr) and ir.has_effects(value):
        raise frame.refuse(node, f"{ast.unparse(node)} changes a variable; assign its value to a local first")
