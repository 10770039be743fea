"""The abstract visitor of the expression graph: each back end has to handle every class of expressions.

A back end is a subclass of ``Visitor``. It stays abstract, and the type checker refuses to instantiate it, until it has
a method for each class: a new class of expressions is an error in each back end that does not handle it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from floodmark.compiler import ir

T = TypeVar("T")


class Visitor(ABC, Generic[T]):
    """Computes a result for each expression: ``node.accept(visitor)`` calls the method for the class of the node."""

    @abstractmethod
    def visit_const(self, node: ir.Const) -> T: ...

    @abstractmethod
    def visit_open_constant(self, node: ir.OpenConstant) -> T: ...

    @abstractmethod
    def visit_local(self, node: ir.Local) -> T: ...

    @abstractmethod
    def visit_state_var(self, node: ir.StateVar) -> T: ...

    @abstractmethod
    def visit_field(self, node: ir.Field) -> T: ...

    @abstractmethod
    def visit_map_get(self, node: ir.MapGet) -> T: ...

    @abstractmethod
    def visit_seq_get(self, node: ir.SeqGet) -> T: ...

    @abstractmethod
    def visit_seq_slice(self, node: ir.SeqSlice) -> T: ...

    @abstractmethod
    def visit_seq_concat(self, node: ir.SeqConcat) -> T: ...

    @abstractmethod
    def visit_seq_of(self, node: ir.SeqOf) -> T: ...

    @abstractmethod
    def visit_record_of(self, node: ir.RecordOf) -> T: ...

    @abstractmethod
    def visit_set_of(self, node: ir.SetOf) -> T: ...

    @abstractmethod
    def visit_set_binary(self, node: ir.SetBinary) -> T: ...

    @abstractmethod
    def visit_subset(self, node: ir.Subset) -> T: ...

    @abstractmethod
    def visit_bag_change(self, node: ir.BagChange) -> T: ...

    @abstractmethod
    def visit_contains(self, node: ir.Contains) -> T: ...

    @abstractmethod
    def visit_size(self, node: ir.Size) -> T: ...

    @abstractmethod
    def visit_count(self, node: ir.Count) -> T: ...

    @abstractmethod
    def visit_arithmetic(self, node: ir.Arithmetic) -> T: ...

    @abstractmethod
    def visit_compare(self, node: ir.Compare) -> T: ...

    @abstractmethod
    def visit_equal(self, node: ir.Equal) -> T: ...

    @abstractmethod
    def visit_not(self, node: ir.Not) -> T: ...

    @abstractmethod
    def visit_and(self, node: ir.And) -> T: ...

    @abstractmethod
    def visit_or(self, node: ir.Or) -> T: ...

    @abstractmethod
    def visit_implies(self, node: ir.Implies) -> T: ...

    @abstractmethod
    def visit_choose(self, node: ir.Choose) -> T: ...

    @abstractmethod
    def visit_convert(self, node: ir.Convert) -> T: ...

    @abstractmethod
    def visit_is_none(self, node: ir.IsNone) -> T: ...

    @abstractmethod
    def visit_extremum(self, node: ir.Extremum) -> T: ...

    @abstractmethod
    def visit_sorted(self, node: ir.Sorted) -> T: ...

    @abstractmethod
    def visit_witness(self, node: ir.Witness) -> T: ...

    @abstractmethod
    def visit_marked(self, node: ir.Marked) -> T: ...

    @abstractmethod
    def visit_reduce(self, node: ir.Reduce) -> T: ...

    @abstractmethod
    def visit_inline(self, node: ir.Inline) -> T: ...

    @abstractmethod
    def visit_applied(self, node: ir.Applied) -> T: ...
