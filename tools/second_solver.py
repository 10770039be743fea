"""A second opinion from cvc5 on the obligations of recorded proofs: those of ``[[prove]]`` tables and of claims.

``python -m tools.second_solver`` runs cvc5 on those of all specs and claims, or of the named ones, and prints the
results; with ``--record`` they are written to docs/second_opinions.json, from which docs/proofs.md tells them. What
cvc5 has answered is kept in the cache folder, so a run that was ended goes on where it was, and what has not changed is
not asked again. Its effort is limited in its own units, so a busy machine gives the same answers. It needs the package
cvc5.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import re
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

import cvc5

from docs.tools.opinions import OPINIONS, Opinion, digest_of, recorded_opinions
from floodmark.checkers.disk_cache import cache_directory
from floodmark.checkers.project.claim import claims_of
from floodmark.checkers.project.spec import ListedProof, Spec, find, read
from floodmark.checkers.symbolic.methods.smtlib import PART, SmtScripts
from floodmark.checkers.symbolic.prove import prove_claim, prove_listed

ROOT = Path(__file__).resolve().parent.parent
SPECS = ROOT / "specs"
EFFORT = 200_000
"""cvc5's resource limit for one query with one set of options: a second or two, in the worst case twenty."""
FIRST = 10
"""Every way is tried with so small a part of the effort before one gets all of it."""
Ways = tuple[dict[str, str], ...]
"""Options with which it is asked one after the other."""
WAYS: Ways = ({"var-elim-quant": "false"}, {}, {"enum-inst": "true"}, {"mbqi": "true"})
"""The options for queries with quantifiers: E-matching, with quantifiers as they are written and without those of their
variables that an equation determines; enumeration of all instances; and model-based instantiation. Only the first finds
a member of a set: the second removes the term that suggests it."""
PLAIN: Ways = ({},)
"""The options for queries without quantifiers."""
BITS: Ways = ({"bitblast": "eager"},)
"""Bits are asked about as z3 does; unrollings take a fraction of the time."""
MAX_SECONDS = 60
"""The limit of processor seconds with one set of options. Some of cvc5's work on shared terms uses no resource units
and may not end; then no other options are tried."""
ENDLESS = "endless"
MAX_NODES = 1_000_000
"""The maximum number of nodes of a quantifier, as a tree; see ``ways_for``."""

Outcome = Literal["agrees", "differs", "undetermined"]


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """cvc5's answer for a file that z3 answered with ``expected``. Without an answer of both, nothing is agreed upon.
    """

    file: Path
    expected: str
    answer: str
    seconds: float
    """Processor seconds, now or when the answer was recorded."""

    @property
    def outcome(self) -> Outcome:
        if "unknown" in (self.expected, self.answer):
            return "undetermined"
        return "agrees" if self.expected == self.answer else "differs"


@dataclass(slots=True)
class Journal:
    """cvc5's answers, with the effort limits; each answer is stored immediately."""

    file: Path
    known: dict[str, tuple[str, int, float]] = field(default_factory=dict)

    @classmethod
    def in_cache(cls) -> Journal:
        """The journal of the cache folder."""
        found = cls(cache_directory() / "second_solver.jsonl")
        if found.file.is_file():
            for line in found.file.read_text(encoding="utf-8").splitlines():
                key, answer, effort, seconds = json.loads(line)
                found.known[key] = answer, effort, seconds
        return found

    def answered(self, key: str, effort: int) -> tuple[str, float] | None:
        """An earlier answer, if more effort would not give a better one."""
        answer, given, seconds = self.known.get(key, ("unknown", 0, 0.0))
        return (answer, seconds) if answer != "unknown" or given >= effort else None

    def keep(self, key: str, answer: str, effort: int, seconds: float) -> None:
        self.known[key] = answer, effort, seconds
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps([key, answer, effort, round(seconds, 3)]) + "\n")


def ask(file: Path, effort: int = EFFORT, journal: Journal | None = None) -> SolverAnswer:
    """Asks cvc5 about a file. Raises RuntimeError when it cannot read the file."""
    text = file.read_text(encoding="utf-8")
    status = re.search(r"\(set-info :status (\w+)\)", text)
    if status is None:
        raise RuntimeError(f"{file} does not say which answer is expected")
    question = re.sub(r"^;.*\n", "", text.replace(status[0], ""), flags=re.MULTILINE)
    ways = ways_for(question, file)
    key = hashlib.sha256(repr((cvc5.__version__, ways, question)).encode()).hexdigest()[:32]
    before = None if journal is None else journal.answered(key, effort)
    if before is not None:
        return SolverAnswer(file, status[1], *before)
    started = _processor_time()
    answer = "unknown"
    for units in (effort // FIRST, effort):
        for options in ways:
            if answer == "unknown":
                answer = _answer(question, file, {**options, "rlimit-per": str(units)})
    answer = answer.replace(ENDLESS, "unknown")
    seconds = _processor_time() - started
    if journal is not None:
        journal.keep(key, answer, effort, seconds)
    return SolverAnswer(file, status[1], answer, seconds)


def _processor_time() -> float:
    """Seconds of this process and of those that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def ways_for(question: str, file: Path) -> Ways:
    """The options for a query.

    When cvc5 meets a quantifier it searches for instances that contradict its assumptions. For these it walks the whole
    quantifier as a tree, without using the sharing of terms. This uses no resource units and may not end, so a
    quantifier that is large as a tree goes without them. cvc5's other steps on such a query may take long, too.
    """
    if "(set-logic QF_BV)" in question:
        return BITS
    if "(forall" not in question and "(exists" not in question:
        return PLAIN
    large = _largest_quantifier(question, file) > MAX_NODES
    return tuple({**way, "cbqi": "false"} for way in WAYS) if large else WAYS


def _largest_quantifier(question: str, file: Path) -> int:
    """The largest number of nodes of a quantifier in a query, as a tree."""
    solver = cvc5.Solver(cvc5.TermManager())
    _told(solver, question.replace("(check-sat)", ""), file)
    nodes: dict[int, int] = {}
    largest = 0
    waiting = list(solver.getAssertions())
    while waiting:
        term = waiting[-1]
        if unknown := [part for part in term if part.getId() not in nodes]:
            waiting += unknown
            continue
        waiting.pop()
        nodes[term.getId()] = 1 + sum(nodes[part.getId()] for part in term)
        if term.getKind() in (cvc5.Kind.FORALL, cvc5.Kind.EXISTS):
            largest = max(largest, nodes[term.getId()])
    return largest


def _answer(text: str, file: Path, options: Mapping[str, str]) -> str:
    """cvc5's answer, from a process that is ended when it has used too much processor time."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_answered_within, args=(text, file, options, sender))
    process.start()
    sender.close()
    try:
        output = str(receiver.recv())
    except EOFError:
        output = ENDLESS
    process.join()
    if output not in ("sat", "unsat", "unknown", ENDLESS):
        raise RuntimeError(output)
    return output


def _answered_within(text: str, file: Path, options: Mapping[str, str], sender: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    try:
        sender.send(_answered(text, file, options))
    except RuntimeError as error:
        sender.send(str(error))


def _answered(text: str, file: Path, options: Mapping[str, str]) -> str:
    solver = cvc5.Solver(cvc5.TermManager())
    for name, value in options.items():
        solver.setOption(name, value)
    answer = _told(solver, text, file).strip().partition(" (")[0]  # the reason of an unknown
    if answer not in ("sat", "unsat", "unknown"):
        raise RuntimeError(f"{file}: cvc5 says {answer!r}")
    return answer


def _told(solver: cvc5.Solver, text: str, file: Path) -> str:
    """The output of a solver for a text."""
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, file.name)
    symbols = parser.getSymbolManager()
    output = ""
    while not (command := parser.nextCommand()).isNull():
        output += command.invoke(solver, symbols)
    return output


def ask_all(files: Sequence[Path], effort: int = EFFORT, journal: Journal | None = None) -> Iterator[SolverAnswer]:
    """Asks about many files, in their order.

    What is in parts gets little effort as a whole: its parts are what z3 refuted. Where cvc5 does not know one of them,
    the others get little effort, too.
    """
    parted = {_obligation(file) for file in files if PART in file.stem}
    lost: set[tuple[Path, str]] = set()
    for file in files:
        obligation = _obligation(file)
        hopeless = obligation in lost or (obligation in parted and PART not in file.stem)
        answer = ask(file, effort // FIRST if hopeless else effort, journal)
        if PART in file.stem and answer.outcome == "undetermined":
            lost.add(obligation)
        yield answer


def _obligation(file: Path) -> tuple[Path, str]:
    """The obligation that a file is about, or is a part of."""
    return file.parent, file.stem.partition("-")[2].partition(PART)[0]


def proofs_named(paths: Sequence[Path], naming: str = "") -> Iterator[tuple[Spec, ListedProof]]:
    """The proofs that specs list, of which the names have some text."""
    for path in find([path for path in paths if path.suffix != ".py"], "all"):
        spec = read(path)
        yield from ((spec, proving) for proving in spec.prove if naming in proving.name)


def write(folder: Path, proofs: Iterable[tuple[Spec, ListedProof]], files: Sequence[Path]) -> list[Path]:
    """Writes the obligations of proofs, and of the claims in files and folders.

    Raises RuntimeError when something is not proved as it should be.
    """
    scripts = SmtScripts(folder)
    found = [prove_listed(spec, proving, scripts) for spec, proving in proofs]
    found += [prove_claim(claim, scripts=scripts) for claim in claims_of(list(files))]
    for proved in found:
        if not proved.expected:
            raise RuntimeError(f"{proved.name}: {proved.headline}")
    return sorted(folder.rglob("*.smt2"))


def write_apart(folder: Path, proofs: Iterable[tuple[Spec, ListedProof]], files: Sequence[Path]) -> list[Path]:
    """The same in a process of its own: what is inferred may depend on what a process did before."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(write, folder, list(proofs), files).result()


def opinion_of(files: Sequence[Path], answers: Sequence[SolverAnswer], effort: int) -> Opinion:
    """The entry of a proof in docs/second_opinions.json. Raises RuntimeError when the solvers differ."""
    parts: dict[str, list[SolverAnswer]] = {}
    whole = []
    for one in answers:
        if one.outcome == "differs":
            raise RuntimeError(f"{one.file}: z3 says {one.expected}, cvc5 {one.answer}")
        _, name = _obligation(one.file)
        if PART in one.file.stem:
            parts.setdefault(name, []).append(one)
        else:
            whole.append((name, one))
    undetermined = [
        name
        for name, one in whole
        if one.outcome != "agrees" and not (name in parts and all(it.outcome == "agrees" for it in parts[name]))
    ]
    return {
        "cvc5": cvc5.__version__,
        "units": effort,
        "questions": digest_of(files),
        "obligations": len(whole),
        "open": undetermined,
    }


def record(name: str, opinion: Opinion, file: Path = OPINIONS) -> None:
    """Writes what cvc5 says of a proof, and keeps what it said of others."""
    after = dict(sorted((recorded_opinions(file) | {name: opinion}).items()))
    file.write_text(json.dumps(after, indent=1) + "\n", encoding="utf-8")


def jobs(paths: Sequence[Path], naming: str) -> Iterator[tuple[list[tuple[Spec, ListedProof]], list[Path]]]:
    """The units of writing: one proof, or all claims."""
    for listed in proofs_named(paths, naming):
        yield [listed], []
    files = [path for path in paths if path.suffix == ".py" or path.name == "claims"]
    if files:
        yield [], files


def main() -> int:
    """Prints a line for each proof; 1 when the solvers differ, 3 when one of them does not know."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("paths", nargs="*", type=Path, default=[SPECS, SPECS / "claims"])
    parser.add_argument("--effort", type=int, default=EFFORT, help="units for one question, in each of its ways")
    parser.add_argument("--only", default="", help="of the proofs of specs, those that have this in their names")
    parser.add_argument("--record", action="store_true", help=f"write what cvc5 says to {OPINIONS.name}")
    given = parser.parse_args()
    journal = Journal.in_cache()
    total = Counter[Outcome]()
    seconds = 0.0
    for proofs, claimed in jobs(given.paths, given.only):
        with tempfile.TemporaryDirectory() as place:
            write_apart(Path(place), proofs, claimed)
            for folder in sorted(Path(place).iterdir()):
                files = sorted(folder.glob("*.smt2"))
                lines = list(ask_all(files, given.effort, journal))
                counts = Counter(one.outcome for one in lines)
                taken = sum(one.seconds for one in lines)
                for one in lines:
                    if one.outcome == "differs":
                        print(f"differs: {folder.name}/{one.file.name}: z3 {one.expected}, cvc5 {one.answer}")
                print(f"{_said(counts)}, {taken:.1f} s of cvc5  {folder.name}", flush=True)
                if given.record and not counts["differs"]:
                    opinion = opinion_of(files, lines, given.effort)
                    record(folder.name, opinion)
                    print(f"    open: {', '.join(opinion['open'])}" if opinion["open"] else "    all agree", flush=True)
                total += counts
                seconds += taken
    print(f"{_said(total)}, {seconds:.0f} s of cvc5 {cvc5.__version__} in all")
    return 1 if total["differs"] else 3 if total["undetermined"] else 0


def _said(counts: Counter[Outcome]) -> str:
    return f"{counts.total()} questions: {counts['agrees']} agree, {counts['differs']} differ, " \
           f"{counts['undetermined']} undetermined"


if __name__ == "__main__":
    sys.exit(main())
