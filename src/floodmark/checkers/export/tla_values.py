"""The types and values of the language in TLA+.

    bool, int               BOOLEAN, an integer
    enum, identifier        a string
    T | None                None, or Some(v): a sequence of at most one element, so that any two can be compared
    record                  a record
    Set, Map, Seq           a set, a function, a sequence (which begins at 1)
    Bag                     a function from the elements in it to how often it has each
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from floodmark.checkers.export.graph_queries import refuse
from floodmark.checkers.export.names import Names, legal
from floodmark.compiler.ir import INT, NoneType, NothingType, Position
from floodmark.compiler.joins import fits
from floodmark.language.types import (
    TAG,
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from floodmark.language.universe import universe
from floodmark.language.values import order_key

MAX_LISTED = 1024
"""Up to this many values, a set whose order matters is listed in the text."""
MAX_TLC_INTEGER = 2**31 - 1
"""TLC's integers; it stops with an error when a sum exceeds them."""

_WORDS = """
    ACTION ASSUME ASSUMPTION AXIOM BOOLEAN BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS DOMAIN ELSE
    ENABLED EXCEPT EXTENDS FALSE HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW OBVIOUS OMITTED ONLY
    OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE SF_ STATE STRING SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM
    TRUE UNCHANGED UNION USE VARIABLE VARIABLES WF_ WITH WITNESS Nat Int Seq Len Head Tail Append SubSeq SelectSeq
    Cardinality IsFiniteSet None Some Within Elements Flatten Sum Least Greatest At Place Clip Slice Quotient Rest
    Ordered Added Removed Copies Size BagOf Init Next Spec vars failure TypeOK NoFailure Boundary k kk kkk kkkk
"""
RESERVED = frozenset(_WORDS.split())


def number(value: int, at: Position | None = None) -> str:
    if abs(value) > MAX_TLC_INTEGER:
        raise refuse(f"{value} is beyond the integers of TLC, which have 32 bits", at)
    return str(value) if value >= 0 else f"({value})"


def string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class TlaTypes:
    """The types of a module. Enums, identifiers and records are defined once, by name."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.definitions: list[str] = []
        self._named: dict[Type, str] = {}
        self._orders: dict[Type, str] = {}

    def member(self, kind: EnumType | IdentifierType, code: int) -> str:
        """The string that stands for an enum's member or an identifier."""
        if isinstance(kind, IdentifierType):
            return string(legal(repr(kind.cls(code + 1))))
        every = [legal(item.name) for item in kind.cls]
        return string(every[code] if every.count(every[code]) == 1 else f"{every[code]}_{code}")

    def universe(self, kind: Type) -> str:
        """The set of all values of a type."""
        match kind:
            case BoolType():
                return "BOOLEAN"
            case IntType(low, high):
                return f"{number(low)}..{number(high)}"
            case EnumType() | IdentifierType() | RecordType():
                return self._name(kind)
            case OptionalType(inner):
                v = self.names.fresh("v")
                return f"({{None}} \\cup {{Some({v}) : {v} \\in {self.universe(inner)}}})"
            case SetType(element, None):
                return f"SUBSET {bracketed(self.universe(element))}"
            case SetType(element, capacity):
                s = self.names.fresh("s")
                return f"{{{s} \\in SUBSET {bracketed(self.universe(element))} : Cardinality({s}) <= {capacity}}}"
            case MapType(key, value):
                return f"[{self.universe(key)} -> {self.universe(value)}]"
            case SeqType(element, capacity):
                n = self.names.fresh("n")
                return f"UNION {{[1..{n} -> {self.universe(element)}] : {n} \\in 0..{capacity}}}"
        raise refuse(f"a choice among all values of {kind}; draw it from a set of the state")

    def _name(self, kind: EnumType | IdentifierType | RecordType) -> str:
        if kind not in self._named:
            match kind:
                case UnionType():
                    text = " \\cup ".join(self._of_one_class(kind, member) for member in kind.members)
                case RecordType(fields=fields) if fields:
                    parts = ", ".join(f"{self.field(kind, name)} : {self.universe(of)}" for name, of in fields)
                    text = f"[{parts}]"
                case RecordType():
                    text = "{<<>>}"
                case EnumType() | IdentifierType():
                    text = "{" + ", ".join(self.member(kind, code) for code in range(kind.codes)) + "}"
            name = self.names.fresh(legal(str(kind)))
            self._named[kind] = name
            self.definitions.append(f"{name} == {text}")
        return self._named[kind]

    def _of_one_class(self, kind: UnionType, member: RecordType) -> str:
        """The set of the records of a union that are of one class."""
        own, parts = dict(member.fields), [f"{self.field(kind, TAG)} : {{{kind.number(member)}}}"]
        for name, of in kind.fields[1:]:
            text = "{None}"
            if name in own:
                text = self.universe(own[name])
                if own[name] != of:
                    v = self.names.fresh("v")
                    text = f"{{Some({v}) : {v} \\in {text}}}"
            parts.append(f"{self.field(kind, name)} : {text}")
        return f"[{', '.join(parts)}]"

    def order(self, kind: Type, at: Position) -> str:
        """The sequence of all values of a type, in the order in which the language iterates over them."""
        if kind not in self._orders:
            if kind.codes > MAX_LISTED:
                raise refuse(f"a loop over some of the {kind.codes} values of {kind}, in their order", at)
            every = [self.literal(kind, value) for value in sorted(universe(kind), key=order_key)]
            name = self.names.fresh(f"{legal(str(kind))}_in_order")
            self._orders[kind] = name
            self.definitions.append(f"{name} == <<{', '.join(every)}>>")
        return self._orders[kind]

    @staticmethod
    def field(kind: RecordType, name: str) -> str:
        """The name of a record's field: not a reserved word, and not that of another field."""
        names = Names(RESERVED)
        return {field: names.fresh(field) for field, _ in kind.fields}[name]

    def literal(self, kind: Type, value: Any, at: Position | None = None) -> str:
        match kind:
            case BoolType():
                return "TRUE" if value else "FALSE"
            case IntType():
                return number(value, at)
            case EnumType(cls):
                return self.member(kind, list(cls).index(value))
            case IdentifierType():
                return self.member(kind, value.number - 1)
            case NoneType():
                return "None"
            case OptionalType(inner):
                return "None" if value is None else f"Some({self.literal(inner, value, at)})"
            case RecordType(_, fields):
                parts = kind.parts(value)
                return self.record(kind, {name: self.literal(of, parts[name], at) for name, of in fields})
            case SetType(element, _):
                return "{" + ", ".join(self.literal(element, item, at) for item in value) + "}"
            case SeqType(element, _):
                return "<<" + ", ".join(self.literal(element, item, at) for item in value) + ">>"
            case BagType(element, _):
                return f"BagOf(<<{', '.join(self.literal(element, item, at) for item in value)}>>)"
            case MapType(key, of):
                return self._map_literal(key, [self.literal(of, item, at) for item in value.values()])
        raise refuse(f"a value of {kind}", at)

    def record(self, kind: RecordType, fields: dict[str, str]) -> str:
        if not fields:
            return "<<>>"
        return "[" + ", ".join(f"{self.field(kind, name)} |-> {fields[name]}" for name, _ in kind.fields) + "]"

    def _map_literal(self, key: Type, items: list[str]) -> str:
        variable = "k"
        while any(re.search(rf"\b{variable}\b", item) for item in items):
            variable += "k"
        keys = [self.literal(key, k) for k in sorted(universe(key), key=order_key)]
        groups: list[tuple[str, list[str]]] = []
        for item in dict.fromkeys(items):
            groups.append((item, [k for k, held in zip(keys, items, strict=True) if held == item]))
        choice = groups[-1][0]
        for item, members in reversed(groups[:-1]):
            test = f"{variable} = {members[0]}" if len(members) == 1 else f"{variable} \\in {{{', '.join(members)}}}"
            choice = f"IF {test} THEN {item} ELSE {choice}"
        return f"[{variable} \\in {self.universe(key)} |-> {choice}]"

    def default(self, kind: Type) -> str:
        """Some value of a type, for where the value does not matter."""
        match kind:
            case IntType(low, _):
                return "0" if kind == INT else number(low)
            case EnumType() | IdentifierType():
                return self.member(kind, 0)
            case OptionalType() | NoneType():
                return "None"
            case NothingType():
                return "0"
            case SetType():
                return "{}"
            case SeqType() | BagType():
                return "<<>>"
            case RecordType(_, fields):
                return self.record(kind, {name: self.default(of) for name, of in fields})
            case MapType(key, of):
                return self._map_literal(key, [self.default(of)] * key.size)
        return "FALSE"

    def within(self, source: Type | None, target: Type, text: str, names: Names) -> str:
        """Whether a value of ``source`` is one of ``target``; without a source, everything is checked."""
        if source is not None and fits(source, target):
            return "TRUE"
        if isinstance(source, NoneType):
            return "FALSE"
        text = bracketed(text)
        match target:
            case BoolType() | IntType() | EnumType() | IdentifierType() if not isinstance(source, OptionalType):
                return "TRUE" if target == INT else f"{text} \\in {self.universe(target)}"
            case OptionalType(inner):
                held = source.inner if isinstance(source, OptionalType) else source
                if source is not None and not isinstance(source, OptionalType):
                    return self.within(source, inner, text, names)
                there = "TRUE" if source is not None else f"Len({text}) <= 1"
                inside = self.within(held, inner, f"{text}[1]", names)
                return conj([there, disj([f"{text} = None", inside])])
        if isinstance(source, OptionalType):
            return conj([f"{text} # None", self.within(source.inner, target, f"{text}[1]", names)])
        match target:
            case RecordType(_, fields):
                if not fields:
                    return "TRUE" if source is not None else f"{text} = <<>>"
                return conj(
                    self.within(
                        source.field(name) if isinstance(source, RecordType) else None,
                        of, f"{text}.{self.field(target, name)}", names,
                    )
                    for name, of in fields
                )
            case SetType(element, capacity):
                of = source.element if isinstance(source, SetType) else None
                room = "TRUE" if capacity is None else f"Cardinality({text}) <= {capacity}"
                return conj([room, self._each(of, element, text, names)])
            case SeqType(element, capacity):
                of = source.element if isinstance(source, SeqType) else None
                return conj([f"Len({text}) <= {capacity}", self._each(of, element, f"Elements({text})", names)])
            case BagType(element, capacity):
                if isinstance(source, SeqType):
                    of, size, items = source.element, f"Len({text})", f"Elements({text})"
                else:
                    of = source.element if isinstance(source, BagType) else None
                    size, items = f"Size({text})", f"DOMAIN {text}"
                return conj([f"{size} <= {capacity}", self._each(of, element, items, names)])
            case MapType(key, value):
                of = source.value if isinstance(source, MapType) else None
                k = names.fresh("k")
                held_there = self.within(of, value, f"{text}[{k}]", names)
                total = "TRUE" if source is not None else f"DOMAIN {text} = {self.universe(key)}"
                each = held_there if held_there == "TRUE" else f"(\\A {k} \\in DOMAIN {text} : {held_there})"
                return conj([total, each])
        raise refuse(f"{source} as {target}")

    def _each(self, source: Type | None, element: Type, items: str, names: Names) -> str:
        if isinstance(source, NothingType):
            return "TRUE"
        item = names.fresh("e")
        inner = self.within(source, element, item, names)
        return inner if inner == "TRUE" else f"(\\A {item} \\in {items} : {inner})"

    def converted(self, source: Type, target: Type, text: str, names: Names) -> str:
        """A value of ``source``, which is one of ``target``, as ``target`` writes it."""
        if not self._differs(source, target):
            return text
        text = bracketed(text)
        match source, target:
            case NoneType(), _:
                return "None"
            case OptionalType(inner), OptionalType(other):
                held = self.converted(inner, other, f"{text}[1]", names)
                return f"IF {text} = None THEN None ELSE Some({held})"
            case _, OptionalType(other):
                return f"Some({self.converted(source, other, text, names)})"
            case OptionalType(inner), _:
                return self.converted(inner, target, f"{text}[1]", names)
            case SeqType(element, _), BagType(other, _):
                return f"BagOf({self.converted(source, SeqType(other, source.capacity), text, names)})"
            case SetType(element, _), SetType(other, _):
                e = names.fresh("e")
                return f"{{{self.converted(element, other, e, names)} : {e} \\in {text}}}"
            case SeqType(element, _), SeqType(other, _):
                i = names.fresh("i")
                return f"[{i} \\in DOMAIN {text} |-> {self.converted(element, other, f'{text}[{i}]', names)}]"
            case MapType(_, value), MapType(_, other):
                k = names.fresh("k")
                return f"[{k} \\in DOMAIN {text} |-> {self.converted(value, other, f'{text}[{k}]', names)}]"
        raise refuse(f"{source} as {target}")

    def _differs(self, source: Type, target: Type) -> bool:
        """Whether a value is written differently as a value of the other type."""
        match source, target:
            case NothingType(), _:
                return False
            case OptionalType(inner), OptionalType(other):
                return self._differs(inner, other)
            case (OptionalType(), _) | (_, OptionalType()) | (SeqType(), BagType()):
                return True
            case (SetType(element, _), SetType(other, _)) | (SeqType(element, _), SeqType(other, _)):
                return self._differs(element, other)
            case BagType(element, _), BagType(other, _):
                return self._differs(element, other)
            case MapType(), MapType():
                return self._differs(source.value, target.value)
        return False


# Combining text.


def bracketed(text: str) -> str:
    """A text that can be an operand of any operator."""
    return text if _closed(text) else f"({text})"


def _closed(text: str) -> bool:
    """Whether a text is a name, a number, a string or something in brackets, possibly applied to arguments."""
    depth, quoted = 0, False
    for before, character in zip(itertools.chain([""], text), text, strict=False):
        if character == '"' and before != "\\":
            quoted = not quoted
        if quoted:
            continue
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "<" and before == "<":
            depth += 1
        elif character == ">" and before == ">":
            depth -= 1
        elif depth == 0 and (before + character == ".." or not (character.isalnum() or character in '_."<>\'')):
            return False
    return depth == 0 and not text.startswith(("IF ", "LET ", "<=", ">="))


def conj(parts: Any) -> str:
    """The conjunction of the parts; TRUE for none."""
    return _chain(parts, "TRUE", "FALSE", " /\\ ")


def disj(parts: Any) -> str:
    return _chain(parts, "FALSE", "TRUE", " \\/ ")


def _chain(parts: Any, neutral: str, decisive: str, operator: str) -> str:
    needed: list[str] = []
    for part in parts:
        if part == decisive:
            return decisive
        if part != neutral and part not in needed:
            needed.append(part)
    if not needed:
        return neutral
    return needed[0] if len(needed) == 1 else operator.join(bracketed(part) for part in needed)


def negated(text: str) -> str:
    match text:
        case "TRUE":
            return "FALSE"
        case "FALSE":
            return "TRUE"
    if text.startswith("~") and _closed(text[1:]):
        return text[2:-1] if text[1] == "(" else text[1:]
    return f"~{bracketed(text)}"


def chosen(condition: str, then: str, otherwise: str) -> str:
    if condition == "TRUE":
        return then
    if condition == "FALSE":
        return otherwise
    return f"IF {condition} THEN {then} ELSE {otherwise}"
