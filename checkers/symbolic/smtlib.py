"""Writes obligations as SMT-LIB 2 for other solvers: one file each, with the expected answer.

A file states everything that an obligation assumes, in the same terms that z3 is asked about, and nothing that comes
from an earlier answer of z3. An obligation that was proved path by path (``paths.py``) has such a file, and one for
each of its parts with what was assumed there: if none of the parts has a model, the obligation has none.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import z3

from floodmark.checkers.symbolic.terms import Truth, as_term
from floodmark.language.errors import SourceError

Status = Literal["unsat", "sat", "unknown"]

PART = "-part-"
"""Stands before the number of a part of an obligation, in its name."""

_FILE_NAME_BYTES = 150


@dataclass(frozen=True, slots=True)
class Script:
    """A question to a solver: can all of ``terms`` be true together? ``about`` says what that means."""

    name: str
    about: str
    terms: tuple[Truth, ...]
    status: Status
    logic: Literal["QF_BV", "ALL"] = "ALL"


class Record(Protocol):
    """Receives each obligation. ``name`` is for a file, ``about`` for its reader."""

    def __call__(self, name: str, about: str, terms: Iterable[Truth], status: Status) -> None: ...


def status_of(answer: Any) -> Status:
    """z3's answer."""
    if answer == z3.unsat:
        return "unsat"
    return "sat" if answer == z3.sat else "unknown"


class Scripts:
    """A folder of SMT-LIB 2 files, with a subfolder for each proof."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._subjects: Counter[str] = Counter()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise SourceError("the folder is not empty; name a new one, so that obligations of two runs do not mix",
                                  str(folder))
        except OSError as error:
            raise SourceError(f"cannot be written: {error.strerror}", str(folder)) from None

    def of(self, subject: str) -> Record:
        """The recorder for the files of one proof or claim."""
        name = file_name(subject)
        self._subjects[name] += 1
        folder = self.folder / (name if self._subjects[name] == 1 else f"{name}-{self._subjects[name]}")
        folder.mkdir()
        symbols = Symbols()
        numbers = itertools.count(1)

        def write(name: str, about: str, terms: Iterable[Truth], status: Status) -> None:
            plain = tuple(symbols.plain(as_term(term)) for term in terms)
            script = Script(name, f"{subject}: {about}", plain, status, "QF_BV" if symbols.bits_alone else "ALL")
            file = folder / f"{next(numbers):04}-{file_name(name)}.smt2"
            file.write_text(text(script), encoding="utf-8")

        return write


class Symbols:
    """Gives the symbols of terms names that are distinct in SMT-LIB.

    To z3 a symbol is more than its name: its printer would merge two with the same spelling, which would be a different
    question. So a symbol that is spelled like an earlier one, or as SMT-LIB does not allow, gets a new name.
    """

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._alive: list[Any] = []  # z3 reuses the ids of terms that are gone
        self._used: set[str] = set()
        self._constants: list[tuple[Any, Any]] = []
        self._functions: list[tuple[Any, Any]] = []
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
        name = re.sub(r"[|\\\s]", "_", spelled) if isinstance(spelled, str) else f"number_{spelled}"
        while name in self._used:
            name += "~"
        self._used.add(name)
        if name == spelled:
            return
        sorts = [declaration.domain(index) for index in range(declaration.arity())]
        new = z3.Function(name, *sorts, declaration.range())
        if sorts:
            self._functions.append((declaration, new(*(z3.Var(index, sort) for index, sort in enumerate(sorts)))))
        else:
            self._constants.append((declaration(), new()))


def text(script: Script) -> str:
    """A script as SMT-LIB 2."""
    whole = [as_term(term) for term in script.terms] or [z3.BoolVal(True)]
    assumed = (z3.Ast * len(whole[:-1]))(*[term.as_ast() for term in whole[:-1]])
    said = z3.Z3_benchmark_to_smtlib_string(
        whole[-1].ctx.ref(), "", script.logic, script.status, "", len(whole) - 1, assumed, whole[-1].as_ast()
    )
    body = "\n".join(line for line in said.splitlines() if not line.startswith(";"))
    comment = "".join(f"; {line}\n" for line in script.about.splitlines())
    return f"{comment}{body.strip()}\n"


def file_name(name: str) -> str:
    """A name that every file system accepts."""
    plain = re.sub(r"[^A-Za-z0-9.=_-]+", "_", name).strip("_.") or "proof"
    return plain[:_FILE_NAME_BYTES]
