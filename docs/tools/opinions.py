"""What a second solver says of the obligations of recorded proofs: docs/second_opinions.json.

An opinion is about the questions that were written when it was recorded. When a spec, a lemma or the way in which
questions are written has changed since, their digest is another one, and the opinion is about nothing that counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from floodmark.checkers.symbolic.methods.smtlib import PART

OPINIONS = Path(__file__).resolve().parent.parent / "second_opinions.json"

Opinion = dict[str, Any]
"""``cvc5`` is its version, ``units`` is what it may do about one question in one way, ``questions`` their digest,
``obligations`` is how many there are, and ``open`` names those about which it does not know, neither as a whole nor in
parts.
"""


def recorded_opinions(file: Path = OPINIONS) -> dict[str, Opinion]:
    """The opinions, by the names of the folders in which the obligations of proofs and claims are written."""
    found: dict[str, Opinion] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


def digest_of(files: Iterable[Path]) -> str:
    """A digest of what the obligations of one proof are called and what they say.

    In which parts z3 refuted an obligation is not in it: whoever has refuted them has refuted the obligation.
    """
    found = hashlib.sha256()
    for file in sorted(it for it in files if PART not in it.stem):
        found.update(f"{file.name}\n".encode())
        found.update(file.read_bytes())
    return found.hexdigest()[:32]


def opinion_about(folder: Path, opinions: dict[str, Opinion]) -> Opinion | None:
    """The opinion about the obligations written in a folder; None when there is none, or it is about others."""
    found = opinions.get(folder.name)
    if found is None or found["questions"] != digest_of(folder.glob("*.smt2")):
        return None
    return found


def agreed(opinion: Opinion | None) -> str:
    """On how many of the obligations the solvers agree."""
    if opinion is None:
        return ""
    return f"{opinion['obligations'] - len(opinion['open'])} of {opinion['obligations']}"
