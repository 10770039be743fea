"""The file of recorded answers beside a spec, as TOML that diffs well: ``kraft/completeness.answers``.

    [[proof]]
    name = "induction any size"      # as the lock calls it
    z3 = "5.4.0"                     # the version that gave these answers
    [proof.answers]                  # by obligation, an answer for each of its cases

Each obligation has an entry of its own. So a change of a lemma or an action invalidates only the entries that it makes
fail: there is no hash of a model or a query.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floodmark.checkers.project import input_file, toml
from floodmark.checkers.project.spec import ListedProof, Spec
from floodmark.checkers.project.toml import inline
from floodmark.checkers.symbolic.tactics.answers import Answers, MalformedAnswerError, ObligationKey, as_data, from_data
from floodmark.language.errors import SourceError

SUFFIX = ".answers"
_PRESERVES = " preserves "
_HEAD = """\
# How z3 answered each obligation of these proofs. A replay repeats the queries, and never trusts the answers.
# `floodmark prove SPEC --find` writes this file.
"""


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """The answers of one proof, and the version of z3 that gave them; None where nothing is recorded."""

    z3: str | None = None
    answers: Mapping[ObligationKey, Answers] = field(default_factory=dict)


def path_of(spec: Spec) -> Path:
    """The path of the file with the answers of a spec's proofs, which need not exist."""
    return spec.path.with_suffix(SUFFIX)


def name_of(spec: Spec, proving: ListedProof) -> str:
    """The name of a proof in the file of its spec."""
    return proving.name if spec.row is None else f"{spec.row}: {proving.name}"


def recorded_answers(spec: Spec, proving: ListedProof) -> AnswerRecord:
    """The answers of a proof. Raises SourceError for an invalid file."""
    return _read(path_of(spec)).get(name_of(spec, proving), AnswerRecord())


def keep(spec: Spec, proving: ListedProof, found: AnswerRecord) -> Path:
    """Writes the answers of a proof, and keeps those of other proofs."""
    path = path_of(spec)
    every = {**_read(path), name_of(spec, proving): found}
    try:
        path.write_text("\n".join([_HEAD.rstrip(), *_lines(every)]) + "\n", encoding="utf-8")
    except OSError as error:
        raise SourceError(f"cannot be written: {error.strerror}", str(path)) from None
    return path


def _lines(every: Mapping[str, AnswerRecord]) -> Iterator[str]:
    for name, known in sorted(every.items()):
        yield from ("", "[[proof]]", f"name = {inline(name)}", f"z3 = {inline(known.z3)}", "[proof.answers]")
        for key, answers in sorted(known.answers.items()):
            yield f"{inline(_PRESERVES.join(key))} = ["
            yield from (f"    {inline(it)}," for it in as_data(answers))
            yield "]"


def _read(path: Path) -> dict[str, AnswerRecord]:
    if not os.path.lexists(path):
        return {}
    text = input_file.text_of(path)
    data = toml.parse(text, path)
    entries = data.pop("proof", [])
    if data or not isinstance(entries, list):
        raise SourceError("a file of answers has [[proof]] tables and nothing else", str(path), 1)
    return dict(_proof(entry, text, path) for entry in entries)


def _proof(entry: Any, text: str, path: Path) -> tuple[str, AnswerRecord]:
    match entry:
        case {"name": str() as name, "z3": str() as version, "answers": dict() as answers, **rest} if not rest:
            return name, AnswerRecord(version, dict(_obligation(key, it, text, path) for key, it in answers.items()))
    raise SourceError("a proof has a name, a version of z3 and a table of answers", str(path), 1)


def _obligation(obligation: str, data: object, text: str, path: Path) -> tuple[ObligationKey, Answers]:
    action, preserves, name = obligation.partition(_PRESERVES)
    try:
        if not preserves:
            raise MalformedAnswerError(f'{obligation!r} should be "ACTION preserves PROPERTY"')
        return (action, name), from_data(data)
    except MalformedAnswerError as error:
        line = re.search(rf"^{re.escape(json.dumps(obligation, ensure_ascii=False))} =", text, re.MULTILINE)
        raise SourceError(str(error), str(path), text.count("\n", 0, line.start()) + 1 if line else None) from None
