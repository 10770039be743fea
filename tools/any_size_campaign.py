"""Looks for wrong proofs about any number of identifiers: what is proved of drawn models is searched at a few numbers.

    python -m tools.any_size_campaign --models 60 --write

Each model has laws, some of which hold at every number, others at small ones only, and each is proved or not by itself.
Compiled code evaluates those that are proved in every state that is reached with 1 to 5 identifiers of a class. A law
that is false there is a wrong proof: the campaign ends, and prints the model.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from benchmarks.results import section
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Limits
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.crosscheck.enumeration import enumerate_states
from floodmark.checkers.symbolic.methods.induction import induction
from floodmark.checkers.symbolic.tactics import portfolio
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.language.errors import ModelError
from floodmark.language.model import Model
from tests.support.any_size_loops import LoopDrawing
from tests.support.engines import imported, properties_of

SIZES = (1, 2, 3, 4, 5)
FAR = Limits(states=3_000_000, generated=30_000_000)
"""The limits of the search at one size: about a minute's work."""
SECTION = "proofs for any number of identifiers"
WAYS = 4
"""The number of strategies for z3 that are tried: those that answer at once."""


class WrongProofError(AssertionError):
    """A property that is proved for every number of identifiers is false at some number."""


def proved_properties(model: Model, properties: Sequence[Property]) -> list[Property]:
    """The properties that are proved for every number of identifiers, each by itself."""
    names, _ = any_size_constants(model)
    found = []
    with patch.object(portfolio, "STRATEGIES", portfolio.STRATEGIES[:WAYS]):
        for prop in properties:
            system = system_of(model, [prop], names, any_size=True)
            if induction(system, [prop]).outcome == "proved":
                found.append(prop)
    return found


def require_at_sizes(cls: type[Model], properties: Sequence[Property], most: Limits, counts: Counter[str]) -> None:
    """Raises WrongProofError unless properties are true of all states with a few identifiers of each class."""
    for size in SIZES:
        model = cls(nodes=size, sites=min(size, 3))
        found = enumerate_states(model, properties, most=most)
        if found.violation is not None:
            name = found.violation.property or found.violation.message
            raise WrongProofError(f"{name} is proved for every number, and false with {size}: {found.violation.trace}")
        counts["states"] += found.states
        counts["searches not finished"] += not found.complete


def campaign(seeds: range, directory: Path, most: Limits = FAR) -> Counter[str]:
    """Draws a model for each seed, and counts what was asked. Raises WrongProofError with the model's source."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        source = LoopDrawing(seed).model()
        with imported(source, "Drawn", directory) as cls:
            counts["models"] += 1
            every = properties_of(cls)
            try:
                held = proved_properties(cls(), every)
            except ModelError as error:
                counts[f"refused: {error.message}"] += 1
                continue
            counts["laws"] += len(every)
            counts["laws proved"] += len(held)
            counts["models with a law that is proved"] += bool(held)
            try:
                require_at_sizes(cls, held, most, counts)
            except WrongProofError as error:
                raise WrongProofError(f"seed {seed}: {error}\n{source}") from None
    return counts


def result_lines(counts: Counter[str], seconds: float) -> list[str]:
    """The counts, for benchmarks/RESULTS.md."""
    return [
        f"{counts['models']:,} models with {counts['laws']:,} laws, {counts['laws proved']:,} of them proved for every "
        f"number of identifiers, in {seconds:,.0f} s; none is false in the {counts['states']:,} states that are "
        f"reached with 1 to 5 of them. {counts['searches not finished']:,} searches were not finished."
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="writes the figures to benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        counts = campaign(range(arguments.seed, arguments.seed + arguments.models), Path(directory))
    seconds = time.perf_counter() - start
    print(json.dumps({**counts, "seconds": round(seconds)}, indent=2))
    if arguments.write:
        command = f"python -m tools.any_size_campaign --models {arguments.models} --seed {arguments.seed} --write"
        section(SECTION, command, result_lines(counts, seconds))


if __name__ == "__main__":
    main()
