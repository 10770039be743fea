"""``floodmark prove``: runs a method on specs, checks claims, and reports the results."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from floodmark.checkers.project.claim import claims_of
from floodmark.checkers.project.properties import did_you_mean
from floodmark.checkers.project.spec import ListedProof, Spec, find, read
from floodmark.checkers.report.outputs import Reports, write_reports
from floodmark.checkers.report.progress import CountingLine, ProofProgress
from floodmark.checkers.resources import cores
from floodmark.checkers.symbolic.methods.induction import WatchInduction
from floodmark.checkers.symbolic.methods.smtlib import SmtScripts
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check, prove_claim, prove_listed
from floodmark.checkers.verdict.check import Check, CheckSettings, checks, must_matter, variant_name
from floodmark.checkers.verdict.proof_result import ProofResult, listed_proofs
from floodmark.checkers.verdict.result import MEANINGS, ExitCode, worst
from floodmark.language.errors import SourceError
from floodmark.language.plurals import counted

_MEANINGS = {**MEANINGS, ExitCode.UNDETERMINED: "something is neither proved nor refuted"}


def run(paths: list[Path], given: dict[str, Any], json_file: Path | None, say: Callable[[str], None]) -> int:
    """The command: proves, prints, and returns the exit code. ``given`` are its options."""
    constants = dict(given.pop("assignments"))
    folder = given.pop("smt")
    name, find = given.pop("proof"), given.pop("find")
    workers = given.pop("workers") or cores()
    given = {key: value for key, value in given.items() if value not in (None, False, ())}
    task = ProofTask(constants=constants, workers=workers, **given)
    if task.after_walks and task.method != "bmc":
        raise SourceError("--after-walks is for --method bmc: a proof is about all states")
    own = next((it for it in (*given, *constants) if it != "seconds"), None)
    if own is not None and (name is not None or find):
        option = "--proof" if name is not None else "--find"
        raise SourceError(f"{option} is for proofs that a spec lists, which say their own {own.replace('_', ' ')}")
    scripts = None if folder is None else SmtScripts(folder)
    results: list[ProofResult] = []
    if own is None:
        asked = _listed(paths, ProofSelection(name, find, scripts, task.seconds, workers))
    else:
        asked = _questions(paths, task, scripts)
    with CountingLine(len(asked), "question") as counting:
        for ask in asked:
            with ProofProgress() as progress:
                result = ask(progress.show)
            results.append(result)
            counting.clear()
            for line in result.text_lines():
                say(line)
            counting.one()
    code = worst(result.exit_code for result in results)
    good = sum(result.expected for result in results)
    total = counted(len(results), "question")
    outcome = "each as expected"
    if code != ExitCode.AS_EXPECTED:
        outcome = f"{good} as expected (exit {int(code)}: {_MEANINGS[code]})"
    say(f"{total}, {outcome}")
    return int(worst([code, write_reports(Reports(json=json_file), [], results, annotate=False)]))


Ask = Callable[[WatchInduction], ProofResult]
"""Runs a proof or a claim, and reports its progress."""


@dataclass(frozen=True, slots=True)
class ProofSelection:
    """A selection of the proofs that specs list: those that ``name`` denotes; ``find`` searches for new answers."""

    name: str | None
    find: bool
    scripts: SmtScripts | None
    seconds: float | None
    workers: int


def _listed(paths: list[Path], wanted: ProofSelection) -> list[Ask]:
    """The proofs that specs list, in the quick tier only if a folder is named. A named spec without listed proofs gets
    induction on all its properties."""
    asked: list[Ask] = []
    for path in paths:
        asked += _claims(path, wanted.seconds, wanted.scripts)
        if _has_claims(path):
            continue
        if os.path.isdir(path):
            every = [(spec, it) for spec in map(read, find([path], "all")) for it in spec.prove if it.tier == "quick"]
            asked += [_asking(*it, wanted) for it in every if wanted.name is None or it[1].is_called(wanted.name)]
            continue
        for spec in map(read, find([path], "all")):
            asked += [_asking(spec, it, wanted) for it in listed_proofs(spec, wanted.name)]
            if not spec.prove:
                plain = ProofTask(seconds=wanted.seconds, workers=wanted.workers)
                asked += _questions([spec.address], plain, wanted.scripts)
    return asked


def _asking(spec: Spec, proving: ListedProof, wanted: ProofSelection) -> Ask:
    def ask(watch: WatchInduction) -> ProofResult:
        return prove_listed(spec, proving, wanted.scripts, wanted.seconds, wanted.find, watch, wanted.workers)

    return ask


def _has_claims(path: Path) -> bool:
    """Whether a path is a Python file with claims. A file without any is a model's, as for ``floodmark check``."""
    return path.suffix == ".py" and any(claims_of([path]))


def _claims(path: Path, seconds: float | None, scripts: SmtScripts | None) -> list[Ask]:
    """The claims in a Python file, or in those of a folder, as functions that run them."""
    if path.suffix != ".py" and not os.path.isdir(path):
        return []
    return [lambda _, it=claim: prove_claim(it, seconds, scripts) for claim in claims_of([path])]  # type: ignore[misc]


def _questions(paths: list[Path], task: ProofTask, scripts: SmtScripts | None) -> list[Ask]:
    """The proofs of the properties of specs, and the claims in Python files; for a folder, its claims and its quick
    specs.

    ``scripts`` receives every obligation. Raises SourceError for an option that applies to no spec at all.
    """
    every = _checks(paths, task)
    asked: list[Ask] = []
    for path in paths:
        asked += _claims(path, task.seconds, scripts)
        asked += [partial(prove_check, check, task, scripts, None) for check in every[path]]
    return asked


def _checks(paths: list[Path], task: ProofTask) -> dict[Path, list[Check]]:
    """The checks whose properties are to be proved, by path. Options that apply to none of them are an error."""
    settings = CheckSettings(constants=task.constants, invariant_files=task.files, only_variant=task.only_variant)
    specs = {path: [] if _has_claims(path) else [read(spec) for spec in find([path])] for path in paths}
    found = {
        path: [
            check
            for spec in of_path
            for check in checks(spec, settings)
            if check.flawed is None or task.only_variant is not None
        ]
        for path, of_path in specs.items()
    }
    every = [check for of_path in found.values() for check in of_path]
    if task.only_variant is not None and not every:
        names = [variant_name(check) for of_path in specs.values() for spec in of_path
                 for check in checks(spec, CheckSettings())]
        offered = did_you_mean(task.only_variant, dict.fromkeys(names))
        raise SourceError(f"no spec has a variant {task.only_variant!r}{offered}")
    if task.properties and not every:
        raise SourceError(f"no spec has a property {task.properties[0]!r} to prove")
    must_matter(task.files, every)
    return found
