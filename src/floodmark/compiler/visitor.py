"""The abstract visitor of the expression graph: each back end has to handle every class of expressions.

A back end is a subclass of ``Visitor``. It stays abstract, and the type checker refuses to instantiate it, until it has
a method for each class: a new class of expressions is an error in each back end that does not handle it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from floodmark.compiler.ir import (
        And,
        Applied,
        Arithmetic,
        BagChange,
        Choose,
        Compare,
        Const,
        Contains,
        Convert,
        Count,
        Equal,
        Extremum,
        Field,
        Implies,
        Inline,
        IsNone,
        Local,
        MapGet,
    Marked,
        Not,
        OpenConstant,
        Or,
        RecordOf,
        Reduce,
        SeqConcat,
        SeqGet,
        SeqOf,
        SeqSlice,
        SetBinary,
        SetOf,
        Size,
        Sorted,
        StateVar,
        Subset,
        Witness,
    )

T = TypeVar("T")


class Visitor(ABC, Generic[T]):
    """Computes a result for each expression: ``node.accept(visitor)`` calls the method for the class of the node."""

    @abstractmethod
    def visit_const(self, node: Const) -> T: ...

    @abstractmethod
    def visit_open_constant(self, node: OpenConstant) -> T: ...

    @abstractmethod
    def visit_local(self, node: Local) -> T: ...

    @abstractmethod
    def visit_state_var(self, node: StateVar) -> T: ...

    @abstractmethod
    def visit_field(self, node: Field) -> T: ...

    @abstractmethod
    def visit_map_get(self, node: MapGet) -> T: ...

    @abstractmethod
    def visit_seq_get(self, node: SeqGet) -> T: ...

    @abstractmethod
    def visit_seq_slice(self, node: SeqSlice) -> T: ...

    @abstractmethod
    def visit_seq_concat(self, node: SeqConcat) -> T: ...

    @abstractmethod
    def visit_seq_of(self, node: SeqOf) -> T: ...

    @abstractmethod
    def visit_record_of(self, node: RecordOf) -> T: ...

    @abstractmethod
    def visit_set_of(self, node: SetOf) -> T: ...

    @abstractmethod
    def visit_set_binary(self, node: SetBinary) -> T: ...

    @abstractmethod
    def visit_subset(self, node: Subset) -> T: ...

    @abstractmethod
    def visit_bag_change(self, node: BagChange) -> T: ...

    @abstractmethod
    def visit_contains(self, node: Contains) -> T: ...

    @abstractmethod
    def visit_size(self, node: Size) -> T: ...

    @abstractmethod
    def visit_count(self, node: Count) -> T: ...

    @abstractmethod
    def visit_arithmetic(self, node: Arithmetic) -> T: ...

    @abstractmethod
    def visit_compare(self, node: Compare) -> T: ...

    @abstractmethod
    def visit_equal(self, node: Equal) -> T: ...

    @abstractmethod
    def visit_not(self, node: Not) -> T: ...

    @abstractmethod
    def visit_and(self, node: And) -> T: ...

    @abstractmethod
    def visit_or(self, node: Or) -> T: ...

    @abstractmethod
    def visit_implies(self, node: Implies) -> T: ...

    @abstractmethod
    def visit_choose(self, node: Choose) -> T: ...

    @abstractmethod
    def visit_convert(self, node: Convert) -> T: ...

    @abstractmethod
    def visit_is_none(self, node: IsNone) -> T: ...

    @abstractmethod
    def visit_extremum(self, node: Extremum) -> T: ...

    @abstractmethod
    def visit_sorted(self, node: Sorted) -> T: ...

    @abstractmethod
    def visit_witness(self, node: Witness) -> T: ...

    @abstractmethod
    def visit_marked(self, node: Marked) -> T: ...

    @abstractmethod
    def visit_reduce(self, node: Reduce) -> T: ...

    @abstractmethod
    def visit_inline(self, node: Inline) -> T: ...

    @abstractmethod
    def visit_applied(self, node: Applied) -> T: ...
