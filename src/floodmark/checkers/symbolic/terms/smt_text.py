"""Terms as text: SMT-LIB 2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import z3

SolverStatus = Literal["unsat", "sat", "unknown"]
Logic = Literal["QF_BV", "ALL"]


class SmtNames:
    """Gives the symbols of terms names that are distinct in SMT-LIB.

    z3 identifies a symbol by more than its name: its printer would merge two with the same spelling, which would be a
    different query. A symbol with the spelling of an earlier one, or with an invalid one, therefore gets a new name.
    All others keep theirs, with their spaces: in the patterns of quantifiers z3 replaces no symbol.
    """

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._alive: list[Any] = []  # z3 reuses the ids of terms that are gone
        self._used: set[str] = set()
        self._names: dict[int, str] = {}
        self._constants: list[tuple[Any, Any]] = []
        self._functions: list[tuple[Any, Any]] = []
        self.bound: set[str] = set()
        """The names of quantified variables."""
        self.bits_alone = True
        """Whether no term so far has integers, quantifiers or functions."""

    def plain(self, term: Any) -> Any:
        """The same term, with names for SMT-LIB."""
        self._alive.append(term)
        for declaration in self._new_symbols(term):
            self._name(declaration)
        if self._constants:
            term = z3.substitute(term, *self._constants)
        return z3.substitute_funs(term, *self._functions) if self._functions else term

    def name_of(self, declaration: Any) -> str:
        """The name of a symbol of earlier terms."""
        return self._names[declaration.get_id()]

    @property
    def hidden(self) -> set[str]:
        """The names that symbols share with variables of quantifiers, which would capture them."""
        return self._used & self.bound

    def _new_symbols(self, term: Any) -> Iterator[Any]:
        waiting = [term]
        while waiting:
            part = waiting.pop()
            if part.get_id() in self._seen:
                continue
            self._seen.add(part.get_id())
            if z3.is_quantifier(part) or z3.is_int(part):
                self.bits_alone = False
            if z3.is_quantifier(part):
                self.bound |= {part.var_name(at) for at in range(part.num_vars())}
                waiting.append(part.body())
            elif z3.is_app(part):
                waiting += part.children()
                declaration = part.decl()
                if declaration.kind() == z3.Z3_OP_UNINTERPRETED and declaration.get_id() not in self._seen:
                    self._seen.add(declaration.get_id())
                    self._alive.append(declaration)
                    yield declaration

    def _name(self, declaration: Any) -> None:
        spelled = declaration.name()
        self.bits_alone = self.bits_alone and declaration.arity() == 0
        name = re.sub(r"[|\\]", "_", spelled) if isinstance(spelled, str) else f"number_{spelled}"
        while name in self._used:
            name += "~"
        self._used.add(name)
        self._names[declaration.get_id()] = name
        if name == spelled:
            return
        sorts = [declaration.domain(index) for index in range(declaration.arity())]
        new = z3.Function(name, *sorts, declaration.range())
        if sorts:
            self._functions.append((declaration, new(*(z3.Var(index, sort) for index, sort in enumerate(sorts)))))
        else:
            self._constants.append((declaration(), new()))


def text(terms: Sequence[Any], status: SolverStatus, logic: Logic = "ALL") -> str:
    """The conjunction of all terms as an SMT-LIB 2 query, with the expected answer."""
    whole = list(terms) or [z3.BoolVal(True)]
    assumed = (z3.Ast * len(whole[:-1]))(*[term.as_ast() for term in whole[:-1]])
    script = z3.Z3_benchmark_to_smtlib_string(
        whole[-1].ctx.ref(), "", logic, status, "", len(whole) - 1, assumed, whole[-1].as_ast()
    )
    body = "\n".join(line for line in script.splitlines() if not line.startswith(";"))
    return f"{body.strip()}\n"
