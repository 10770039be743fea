"""Determines which variables statements assign."""

from __future__ import annotations

from floodmark.compiler.ir import Expr, For, If, Inline, Local, Return, SetLocal, Stmt, Store, walk


def assigned(body: list[Stmt]) -> list[Local]:
    """The local variables that statements assign, without those of calls."""
    found: list[Local] = []
    for statement in body:
        match statement:
            case SetLocal(target=target):
                found.append(target)
            case If(then=then, otherwise=otherwise):
                found += assigned(then) + assigned(otherwise)
            case For(body=inner):
                found += assigned(inner)
    return found


def results(body: list[Stmt]) -> list[Local]:
    """The variables in which returns store the result of the call that contains these statements."""
    found: list[Local] = []
    for statement in body:
        match statement:
            case Return(into=Local() as into):
                found.append(into)
            case If(then=then, otherwise=otherwise):
                found += results(then) + results(otherwise)
            case For(body=inner):
                found += results(inner)
    return found


def stores(body: list[Stmt]) -> set[str]:
    """The state variables that statements assign, including in calls inside expressions."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, Store):
            found.add(statement.variable)
        for name in statement.__slots__:
            found |= _stores_in(getattr(statement, name))
    return found


def _stores_in(value: object) -> set[str]:
    found: set[str] = set()
    match value:
        case list():
            for item in value:
                found |= stores([item]) if isinstance(item, Stmt) else _stores_in(item)
        case Expr():
            for part in walk(value):
                if isinstance(part, Inline):
                    found |= stores(part.body)
    return found
