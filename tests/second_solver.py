"""A second opinion from cvc5 on the obligations of recorded proofs: those of ``[[prove]]`` tables and of claims.

``python -m tests.second_solver`` runs cvc5 on those of all specs and claims, or of the named ones, and prints the
results; with ``--record`` they are written to docs/second_opinions.json, from which docs/proofs.md tells them. It needs
the package cvc5.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import cvc5

from docs.tools.proofs import OPINIONS as RECORDED
from floodmark.checkers.resources import cores
from floodmark.checkers.spec import Proving, Spec, find, read
from floodmark.checkers.symbolic import claims
from floodmark.checkers.symbolic.prove import prove_claim, prove_listed
from floodmark.checkers.symbolic.smtlib import PART, Scripts

ROOT = Path(__file__).resolve().parent.parent
SPECS = ROOT / "specs"
EFFORT = 2_000_000
"""What cvc5 may do about one obligation in one way, in its own units: some ten seconds. A busy machine has the same."""
WAYS: tuple[dict[str, str], ...] = ({}, {"enum-inst": "true"}, {"mbqi": "true"})
"""Options with which it is asked one after the other about what has quantifiers: instances that terms suggest, all
instances in turn, and those that a model in its mind would break.
"""

Outcome = Literal["agrees", "differs", "undetermined"]


@dataclass(frozen=True, slots=True)
class Opinion:
    """What cvc5 says of a file that z3 answered with ``expected``. Without an answer of both nothing is agreed upon."""

    file: Path
    expected: str
    answer: str
    seconds: float
    """Of the processor."""

    @property
    def outcome(self) -> Outcome:
        if "unknown" in (self.expected, self.answer):
            return "undetermined"
        return "agrees" if self.expected == self.answer else "differs"


def ask(file: Path, effort: int = EFFORT) -> Opinion:
    """Asks cvc5 about a file. Raises RuntimeError when it cannot read the file."""
    text = file.read_text(encoding="utf-8")
    status = re.search(r"\(set-info :status (\w+)\)", text)
    if status is None:
        raise RuntimeError(f"{file} does not say which answer is expected")
    started = time.process_time()
    question = text.replace(status[0], "")
    bits = "(set-logic QF_BV)" in text
    answer = "unknown"
    for options in ({"bitblast": "eager"},) if bits else WAYS:  # as z3 does; unrollings take a fraction of the time
        answer = _answer(question, file, {**options, "rlimit-per": str(effort)})
        if answer != "unknown":
            break
    return Opinion(file, status[1], answer, time.process_time() - started)


def _answer(text: str, file: Path, options: Mapping[str, str]) -> str:
    solver = cvc5.Solver(cvc5.TermManager())
    for name, value in options.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, file.name)
    symbols = parser.getSymbolManager()
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said += command.invoke(solver, symbols)
    answer = said.strip().partition(" (")[0]  # the reason of an unknown
    if answer not in ("sat", "unsat", "unknown"):
        raise RuntimeError(f"{file}: cvc5 says {answer!r}")
    return answer


def ask_all(files: Iterable[Path], effort: int = EFFORT, processes: int = 1) -> Iterator[Opinion]:
    """Asks about many files, in their order."""
    question = partial(ask, effort=effort)
    if processes == 1:
        yield from map(question, files)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(question, files, chunksize=8)


def recorded(paths: Sequence[Path]) -> Iterator[tuple[Spec, Proving]]:
    """The proofs that specs list."""
    for path in find([path for path in paths if path.suffix != ".py"], "all"):
        spec = read(path)
        for proving in spec.prove:
            yield spec, proving


def write(folder: Path, proofs: Iterable[tuple[Spec, Proving]], files: Sequence[Path]) -> list[Path]:
    """Writes the obligations of proofs, and of the claims in files and folders.

    Raises RuntimeError when something is not proved as it should be.
    """
    scripts = Scripts(folder)
    found = [prove_listed(spec, proving, scripts) for spec, proving in proofs]
    found += [prove_claim(claim, scripts=scripts) for claim in claims.all_of(list(files))]
    for proved in found:
        if not proved.expected:
            raise RuntimeError(f"{proved.name}: {proved.headline}")
    return sorted(folder.rglob("*.smt2"))


def recorded_opinions(opinions: Sequence[Opinion], effort: int) -> dict[str, dict[str, object]]:
    """What docs/second_opinions.json says of each proof: cvc5's version, what it may do about an obligation, how many
    there are, and which of them a solver does not know, neither as a whole nor part by part. Raises RuntimeError when
    the solvers differ.
    """
    found: dict[str, dict[str, object]] = {}
    for proof, said in itertools.groupby(opinions, key=lambda it: it.file.parent.name):
        asked = list(said)
        for opinion in asked:
            if opinion.outcome == "differs":
                raise RuntimeError(f"{opinion.file}: z3 says {opinion.expected}, cvc5 {opinion.answer}")
        parts: dict[str, list[Opinion]] = {}
        whole = []
        for opinion in asked:
            name, part, _ = opinion.file.stem.partition("-")[2].partition(PART)
            if part:
                parts.setdefault(name, []).append(opinion)
            else:
                whole.append((name, opinion))
        undetermined = [
            name
            for name, opinion in whole
            if opinion.outcome != "agrees"
            and not (name in parts and all(it.outcome == "agrees" for it in parts[name]))
        ]
        found[proof] = {"cvc5": cvc5.__version__, "units": effort, "obligations": len(whole), "open": undetermined}
    return found


def record(opinions: Sequence[Opinion], effort: int, file: Path = RECORDED) -> None:
    """Writes what cvc5 says of some proofs, and keeps what it said of others."""
    before = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    after = dict(sorted((before | recorded_opinions(opinions, effort)).items()))
    file.write_text(json.dumps(after, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Prints a line for each proof; 1 when the solvers differ, 3 when one of them does not know."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("paths", nargs="*", type=Path, default=[SPECS, SPECS / "claims"])
    parser.add_argument("--effort", type=int, default=EFFORT, help="units for one obligation, in each of its ways")
    parser.add_argument("--record", action="store_true", help=f"write what cvc5 says to {RECORDED.name}")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folders = [path for path in given.paths if path.suffix == ".py" or path.is_dir()]
        files = write(Path(place), recorded(given.paths), folders)
        outcomes: dict[str, Counter[Outcome]] = {}
        seconds: Counter[str] = Counter()
        opinions = []
        for opinion in ask_all(files, given.effort, cores()):
            opinions.append(opinion)
            proof = opinion.file.parent.name
            outcomes.setdefault(proof, Counter())[opinion.outcome] += 1
            seconds[proof] += opinion.seconds  # type: ignore[assignment]
            if opinion.outcome != "agrees":
                name = opinion.file.relative_to(place)
                print(f"{opinion.outcome}: {name}: z3 {opinion.expected}, cvc5 {opinion.answer}", file=sys.stderr)
    if given.record:
        record(opinions, given.effort)
    for proof, counts in outcomes.items():
        print(f"{_said(counts)}, {seconds[proof]:.1f} s of cvc5  {proof}")
    total = sum(outcomes.values(), Counter[Outcome]())
    print(f"{_said(total)}, {sum(seconds.values()):.0f} s of cvc5 {cvc5.__version__} in all")
    return 1 if total["differs"] else 3 if total["undetermined"] else 0


def _said(counts: Counter[Outcome]) -> str:
    return f"{counts.total()} obligations: {counts['agrees']} agree, {counts['differs']} differ, " \
           f"{counts['undetermined']} undetermined"


if __name__ == "__main__":
    sys.exit(main())
