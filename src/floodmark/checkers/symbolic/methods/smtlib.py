"""Writes obligations as SMT-LIB 2 for other solvers: one file each, with the expected answer.

A file contains all assumptions of an obligation, in the same terms that z3 gets, and nothing from an earlier
answer of z3. It is independent of the earlier work of the process. An obligation that z3 refuted in parts (cases,
paths, subsets of the assumptions) has such a file, and one for each of its parts with the assumptions used there: if
every part is unsatisfiable, so is the obligation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import z3

from floodmark.checkers.symbolic.terms.booleans import Truth, as_term
from floodmark.checkers.symbolic.terms.canonical import CanonicalCopies
from floodmark.checkers.symbolic.terms.smt_text import SmtNames, SolverStatus, text
from floodmark.language.errors import SourceError

PART = "-part-"
"""The separator before the number of a part of an obligation, in its name."""

_FILE_NAME_BYTES = 150


class ObligationRecorder(Protocol):
    """Receives each obligation, as terms or as ``text``. ``name`` is for a file, ``about`` for its reader."""

    def __call__(self, name: str, about: str, terms: Iterable[Truth] | str, status: SolverStatus) -> None: ...


class DeferredRecorder:
    """Holds obligations back until it is known whether a result relies on them."""

    def __init__(self) -> None:
        self._received: list[tuple[str, str, Iterable[Truth] | str, SolverStatus]] = []

    def __call__(self, name: str, about: str, terms: Iterable[Truth] | str, status: SolverStatus) -> None:
        self._received.append((name, about, terms if isinstance(terms, str) else list(terms), status))

    def hand_on(self, record: ObligationRecorder) -> None:
        for received in self._received:
            record(*received)


def status_of(answer: Any) -> SolverStatus:
    """z3's answer."""
    if answer == z3.unsat:
        return "unsat"
    return "sat" if answer == z3.sat else "unknown"


class SmtScripts:
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

    def of(self, subject: str) -> ObligationRecorder:
        """The recorder for the files of one proof or claim. Parts carry the number of their obligation, so they change
        the name of no other file."""
        name = file_name(subject)
        self._subjects[name] += 1
        folder = self.folder / (name if self._subjects[name] == 1 else f"{name}-{self._subjects[name]}")
        folder.mkdir()
        symbols = SmtNames()
        whole = 0

        def write(name: str, about: str, terms: Iterable[Truth] | str, status: SolverStatus) -> None:
            nonlocal whole
            whole += PART not in name
            content = terms
            if not isinstance(content, str):
                copies = CanonicalCopies(symbols).of(map(as_term, content))
                content = text(copies, status, "QF_BV" if symbols.bits_alone else "ALL")
            comment = "".join(f"; {line}\n" for line in f"{subject}: {about}".splitlines())
            file = folder / f"{whole:04}-{file_name(name)}.smt2"
            file.write_text(f"{comment}{content}", encoding="utf-8")

        return write


def file_name(name: str) -> str:
    """A name that every file system accepts."""
    plain = re.sub(r"[^A-Za-z0-9.=_-]+", "_", name).strip("_.") or "proof"
    return plain[:_FILE_NAME_BYTES]
