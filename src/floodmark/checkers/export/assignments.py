"""Determines which variables statements assign."""

from __future__ import annotations

from floodmark.compiler import ir


def assigned(body: list[ir.Stmt]) -> list[ir.Local]:
    """The local variables that statements assign, without those of calls."""
    return [statement.target for statement in ir.flat(body) if isinstance(statement, ir.SetLocal)]


def results(body: list[ir.Stmt]) -> list[ir.Local]:
    """The variables in which returns store the result of the call that contains these statements."""
    returned = (statement.into for statement in ir.flat(body) if isinstance(statement, ir.Return))
    return [into for into in returned if into is not None]


def stores(body: list[ir.Stmt]) -> set[str]:
    """The state variables that statements assign, including in calls inside expressions."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ir.SetVariable):
            found.add(statement.variable)
        for name in statement.__slots__:
            found |= _stores_in(getattr(statement, name))
    return found


def _stores_in(value: object) -> set[str]:
    found: set[str] = set()
    match value:
        case list():
            for item in value:
                found |= stores([item]) if isinstance(item, ir.Stmt) else _stores_in(item)
        case ir.Expr():
            for part in ir.walk(value):
                if isinstance(part, ir.Inline):
                    found |= stores(part.body)
    return found
