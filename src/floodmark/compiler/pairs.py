"""Lowers loops over several things at once: ``enumerate(log)``, ``zip(a, b)`` and ``map.items()``.

Each becomes a loop over one hidden variable, an index or a key, of which the variables of the source are functions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from floodmark.compiler import ir
from floodmark.compiler.frame import Frame
from floodmark.compiler.joins import hull
from floodmark.compiler.lowering import LoweringPart
from floodmark.language.plurals import counted
from floodmark.language.types import IntType, MapType, SeqType, Type


@dataclass(frozen=True, slots=True)
class ProductDomain:
    """The domain of such a loop: ``parts`` are the values of its variables in one round.

    A statement evaluates ``setup`` first, as its body may change the containers. A comprehension has none and evaluates
    the containers in each round instead; so they must have no effects.
    """

    domain: ir.Domain
    kind: Type
    setup: list[ir.SetLocal]
    parts: Callable[[ir.Local], list[ir.Expr]]
    empty: bool = False


class ProductLoopLowering(LoweringPart):
    """The loops with several variables."""

    def several(self, frame: Frame, target: ast.expr, node: ast.expr, hold: bool) -> ProductDomain:
        """The domain of a loop with several variables; ``hold`` in a statement.

        Raises ModelError if it has no such form.
        """
        if not isinstance(target, ast.Tuple | ast.List) or not all(isinstance(it, ast.Name) for it in target.elts):
            raise frame.refuse(target, "a loop has one variable, or some in a row: for index, epoch in enumerate(log)")
        match node:
            case ast.Call(func=ast.Name() as called) if self.lowering.is_name_of(frame, called, enumerate):
                found, count = self._numbered(frame, node, hold), 2
            case ast.Call(func=ast.Name() as called) if self.lowering.is_name_of(frame, called, zip):
                found, count = self._side_by_side(frame, node, hold), len(node.args)
            case ast.Call(func=ast.Attribute(value=base, attr="items"), args=[], keywords=[]):
                found, count = self._entries(frame, node, base, hold), 2
            case _:
                message = "only enumerate(...), zip(...) and a map's items() give several variables; take the parts of"
                raise frame.refuse(target, f"{message} a record inside the loop: message.term")
        if len(target.elts) != count:
            raise frame.refuse(target, f"{ast.unparse(node)} gives {counted(count, 'variable')}")
        return found

    def _numbered(self, frame: Frame, node: ast.Call, hold: bool) -> ProductDomain:
        start = next((keyword.value for keyword in node.keywords if keyword.arg == "start"), None)
        arguments = [*node.args, *([start] if start is not None else [])]
        if not 1 <= len(arguments) <= 2 or len(node.keywords) != (start is not None):
            raise frame.refuse(node, "enumerate takes one container, and perhaps the first number: start=1")
        first = None
        if len(arguments) == 2:
            first = self.nodes.integer(frame, node, self.lowering.expression(frame, arguments[1]))
        if first is not None and not isinstance(first, ir.Const):
            raise frame.refuse(node, "the first number of enumerate is a constant")
        held, [seq] = self._containers(frame, node, node.args[:1], hold)

        def parts(index: ir.Local) -> list[ir.Expr]:
            number = index if first is None else self.nodes.arithmetic(frame.at(node), "+", index, first)
            return [number, _element(seq, index)]

        return self._indexed(frame, node, held, [seq], parts)

    def _side_by_side(self, frame: Frame, node: ast.Call, hold: bool) -> ProductDomain:
        for keyword in node.keywords:
            if keyword.arg != "strict" or not isinstance(keyword.value, ast.Constant) or keyword.value.value:
                message = "zip takes containers only; for strict=True say first: assert len(a) == len(b)"
                raise frame.refuse(node, message)
        if len(node.args) < 2:
            raise frame.refuse(node, "zip takes two containers or more")
        held, seqs = self._containers(frame, node, node.args, hold)
        return self._indexed(frame, node, held, seqs, lambda index: [_element(seq, index) for seq in seqs])

    def _containers(
        self, frame: Frame, node: ast.Call, containers: list[ast.expr], hold: bool
    ) -> tuple[list[ir.SetLocal], list[ir.Expr]]:
        """Each container as a sequence."""
        held, seqs = [], []
        for container in containers:
            value = self.lowering.as_seq(frame, node, container, any_order=False)
            if hold:
                held.append(ir.SetLocal(value.at, self.nodes.holding(value, "sequence", value.at), value))
                value = held[-1].target
            elif ir.has_effects(value):
                raise frame.refuse(
                    container, f"{ast.unparse(container)} changes a variable; assign it to a local first"
                )
            seqs.append(value)
        return held, seqs

    def _indexed(
        self, frame: Frame, node: ast.Call, held: list[ir.SetLocal], seqs: list[ir.Expr],
        parts: Callable[[ir.Local], list[ir.Expr]],
    ) -> ProductDomain:
        at, zero = frame.at(node), ir.Const(IntType(0, 0), frame.at(node), 0)
        sizes: list[ir.Expr] = [ir.Size(IntType(0, _capacity(seq)), at, seq) for seq in seqs]
        most = min(_capacity(seq) for seq in seqs)
        least = sizes[0] if len(sizes) == 1 else ir.Extremum(IntType(0, most), at, False, sizes)
        return ProductDomain(ir.Range(zero, least, 1), hull(0, max(0, most - 1)), held, parts, empty=most == 0)

    def _entries(self, frame: Frame, node: ast.Call, base: ast.expr, hold: bool) -> ProductDomain:
        mapping = self.nodes.unwrapped(self.lowering.expression(frame, base))
        if not isinstance(mapping.type, MapType):
            raise frame.refuse(node, f"{mapping.type} has no items()")
        key, value, at = mapping.type.key, mapping.type.value, frame.at(node)
        if hold:
            held = ir.SetLocal(at, self.nodes.holding(mapping, "map", at), mapping)
            return ProductDomain(ir.Universe(key), key, [held], lambda k: [k, ir.MapGet(value, at, held.target, k)])
        if ir.has_effects(mapping):
            raise frame.refuse(node, f"{ast.unparse(base)} changes a variable; assign it to a local first")
        keys = self.nodes.keys_of(frame.at(node), mapping, key)
        return ProductDomain(keys, key, [], lambda k: [k, ir.MapGet(value, at, mapping, k)])


def _capacity(seq: ir.Expr) -> int:
    assert isinstance(seq.type, SeqType)
    return seq.type.capacity


def _element(seq: ir.Expr, index: ir.Local) -> ir.Expr:
    assert isinstance(seq.type, SeqType)
    return ir.SeqGet(seq.type.element, seq.at, seq, index)
