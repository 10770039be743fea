"""Values that are known at compile time: constants of the class and of its modules, and literals."""

from __future__ import annotations

import ast
import enum
import inspect
from collections.abc import Iterable
from typing import Any

from floodmark.compiler import ir
from floodmark.compiler.frame import Frame
from floodmark.compiler.joins import either
from floodmark.compiler.lowering import LoweringPart
from floodmark.compiler.plain_containers import Form
from floodmark.language.errors import SourceError
from floodmark.language.types import BagType, MapType, SeqType, Type, growing
from floodmark.language.values import Bag, Map, Record, Seq, Set, admit, running


class ConstantEvaluation(LoweringPart):
    """The part of the compiler for values that depend on no state."""

    def known(self, frame: Frame, node: ast.expr, value: Any, text: str = "") -> ir.Expr:
        """A value known at compile time: a constant, or a record or a container of such.

        ``text`` is its source form in the model.
        """
        constant = self.nodes.constant(value, frame.at(node))
        if constant is not None:
            return constant
        if type(value) in (Set, set, frozenset):
            made = self.set_literal([self.known(frame, node, item) for item in sorted(value, key=repr)], frame, node)
            assert isinstance(made, ir.SetOf)
            made.typed = isinstance(value, Set)
            return made
        if type(value) in (Seq, tuple, list):
            form: Form | None = "tuple" if type(value) is tuple else "list" if type(value) is list else None
            return self.seq_literal([self.known(frame, node, item) for item in value], frame, node, form)
        if isinstance(value, Record):
            return self._known_record(frame, node, value, text)
        if type(value) is Map:
            return self._known_map(frame, node, value, text)
        if type(value) is Bag:
            seq = self.seq_literal([self.known(frame, node, item) for item in value], frame, node, None)
            assert isinstance(seq.type, SeqType)
            return self.nodes.convert(seq, BagType(seq.type.element, seq.type.capacity), "")
        raise frame.refuse(node, f"{text or repr(value)} is not a value of the modelling language{instead_of(value)}")

    def _known_record(self, frame: Frame, node: ast.expr, value: Record, text: str) -> ir.Expr:
        """A record of a module. CPython checks the fields of a new record only while a model runs. It is therefore
        refused if they do not fit the model, or would be converted there: a list in place of a ``Seq``."""
        kind = self.nodes.record_type(type(value))
        name = text or type(value).__name__
        if any(growing(kind)):
            raise frame.refuse(node, f"{name} has a container without a capacity; make it where it is used")
        if any(map(_has_plain, value._values.values())):
            raise frame.refuse(node, f"{name} has a plain container in a field; write Set(...), Seq(...) or Map(...)")
        try:
            with running(self.model):
                admit(kind, value, name)
        except SourceError as error:
            raise frame.refuse(node, error.message) from None
        parts = {field: self.known(frame, node, value._values[field], f"{name}.{field}") for field, _ in kind.fields}
        fields = {field: self.nodes.convert(parts[field], of, f"{name}.{field}") for field, of in kind.fields}
        return ir.RecordOf(kind, frame.at(node), fields)

    def _known_map(self, frame: Frame, node: ast.expr, value: Map[Any, Any], text: str) -> ir.Expr:
        """A map of a module, which has a value for every key of the model."""
        at, name = frame.at(node), text or "this map"
        keys = [self.known(frame, node, key) for key in value]
        kind = self.common_type(keys, frame, node)
        if not all(isinstance(key, ir.Const) and key.value is not None for key in keys) or len(keys) != kind.size:
            message = f"{name} needs a value for every key, an identifier, a member of an enum or one of some integers"
            raise frame.refuse(node, message)
        entries = [self.known(frame, node, entry) for entry in value.values()]
        of = self.common_type(entries, frame, node)
        asked = self.nodes.fresh(kind, "key", at)
        *others, found = [self.nodes.convert(entry, of, "") for entry in entries]
        for key, entry in zip(reversed(keys[:-1]), reversed(others), strict=True):
            found = ir.Choose(of, at, self.nodes.equal(asked, key, at), entry, found)
        return ir.Reduce(MapType(kind, of), at, "map", [ir.Generator(asked, ir.Universe(kind), [])], found, key=asked)

    # Literals.

    def set_literal(self, elements: list[ir.Expr], frame: Frame, node: ast.expr) -> ir.Expr:
        for element in elements:
            self.nodes.hashable(frame, node, element)
        kind = self.common_type(elements, frame, node)
        return self.nodes.set_of(frame.at(node), kind, [self.nodes.convert(element, kind, "") for element in elements])

    def seq_literal(self, elements: list[ir.Expr], frame: Frame, node: ast.expr, form: Form | None) -> ir.Expr:
        """A sequence of these elements, as a list or a tuple or as a ``Seq``."""
        kind = self.common_type(elements, frame, node)
        converted = [self.nodes.convert(element, kind, "") for element in elements]
        made = ir.SeqOf(SeqType(kind, len(elements)), frame.at(node), converted)
        return made if form is None else self.nodes.plain.with_forms(made, self.nodes.plain.of(made) | {form})

    def common_type(self, elements: list[ir.Expr], frame: Frame, node: ast.expr) -> Type:
        kind: Type = ir.NothingType()
        for element in elements:
            wider = either(kind, element.type)
            if wider is None:
                raise frame.refuse(node, f"the elements are {kind} and {element.type}; they need one type")
            kind = wider
        return kind


def _has_plain(value: Any) -> bool:
    """Whether a value of a module contains one of Python's own containers."""
    parts: Iterable[Any] = ()
    match value:
        case set() | frozenset() | list() | tuple() | dict():
            return True
        case Record():
            parts = value._values.values()
        case Map():
            parts = [*value, *value.values()]
        case Set() | Seq() | Bag():
            parts = value
    return any(map(_has_plain, parts))


def instead_of(value: Any) -> str:
    """The replacement for something that is known at compile time but is not a value."""
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return f"; its members are {', '.join(value.__members__)}"
    if isinstance(value, property):
        return "; write a method and call it"
    if inspect.isfunction(value):
        return f"; call it: {value.__name__}(...)"
    if isinstance(value, dict | str | float):
        return "; use bool, int, Enum, Set, Map or Seq"
    return ""
