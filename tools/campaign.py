"""Checks that CPython and every engine agree on any number of generated models.

    python -m tools.campaign --models 5000 --seed 1 --one-in z3=4

The native engine runs every model; what takes longer runs one in so many: Spark, bounded search by z3, the four methods
of ``floodmark prove``, searches of orbits with a symmetry proof, and the gate's cached verdicts before and after an
edit. A disagreement is shrunk to a small model, printed as source. The same seed gives the same models.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, assume, given, seed, settings

from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model
from tests.support.edit_agreement import assert_edits_are_noticed
from tests.support.engines import (
    ENGINES,
    Outcome,
    TooMany,
    imported,
    on_spark,
    outcome,
    plain_search,
    properties_of,
    states_of,
)
from tests.support.model_strategy import GeneratedModel, models
from tests.support.proof_agreement import assert_proofs_agree
from tests.support.symbolic_agreement import assert_bounded_search_agrees
from tests.support.symmetric_agreement import look, nameless

T = TypeVar("T")

REFUSALS = (
    "nothing", "never reached", "may hold", "grows each time", "this is None", "this asks whether", "None has no",
    "None cannot be", "None is not", "may meet None here", "no value in common", "is never an element of",
    "has no capacity", "must be drawn", "possible values; draw it", "has no field", "this joins sequences of Struct",
    "there; use two variables", "but this is Struct", "an integer grows beyond 64 bits", "bits, more than 4096",
    "a list never equals a tuple",
)
"""The expected refusals of a generated model: an empty literal has no type of its own; a branch can be decided;
a helper is given None where it takes an optional value, or an optional value where it takes one that is there; what is
sorted, compared or searched may have None in it, or be None; a union may turn out to be a record of one class when
another is meant, or to be two of them in two sequences or in two values of a local name; a parameter that takes every
value of its type cannot be of one that grows; a product of products may need more
than 64 bits, and a container of containers, grown, more than 4096; a parameter of many values may be drawn too late."""
AT_ONCE = Outcome("error", 0)
"""The comparable part of an error before any step: in the initial states, or while the first actions are chosen; a
search need not have the counts of CPython then."""
MAX_LEVELS = 5
"""A model with more levels is not asked of Spark, which takes a part of a second for each."""


ONE_IN: dict[str, int] = {"Spark": 50, "z3": 1, "proofs": 1, "symmetry": 2, "edits": 20}


@dataclass(frozen=True)
class Budget:
    """The number of models, and the share of them on which the slower checkers run: one in so many, none for 0.

    z3 examines runs of ``depth`` states, as long as they end in at most ``most`` different ones.
    """

    models: int
    seed: int = 0
    one_in: Mapping[str, int] = field(default_factory=lambda: ONE_IN)
    depth: int = 3
    most: int = 24


class DisagreementError(AssertionError):
    """An engine finds something else than CPython."""

    def __init__(self, engine: str, what: str, source: str) -> None:
        super().__init__(f"{engine}: {what}\n{source}")
        self.engine = engine


class Campaign:
    """Different models, and what was seen of them in ``counts``.

    Once an engine disagreed it is asked of every model, so that the disagreement shrinks.
    """

    def __init__(self, budget: Budget, directory: Path) -> None:
        self.budget = budget
        self.directory = directory
        self.counts: Counter[str] = Counter()
        self.sources: set[str] = set()
        self.suspects: set[str] = set()
        self.failed = False

    def run(self) -> None:
        """Draws the models. Raises DisagreementError for the smallest one about which an engine is wrong."""

        @seed(self.budget.seed)
        @settings(max_examples=self.budget.models, derandomize=not self.budget.seed, database=None, deadline=None,
                  suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink], print_blob=False,
                  report_multiple_bugs=False)
        @given(models(growing=True))
        def agree(model: GeneratedModel) -> None:
            self.look(model)

        unread = patch("floodmark.checkers.verdict.check.require_read_locals")  # what nobody reads is drawn, too
        uncalled = patch("floodmark.checkers.verdict.check.require_calls")
        narrow = patch("floodmark.language.widths.START", 1)  # so that most of what has no capacity grows
        uncollected = patch("floodmark.checkers.adaptive_capacity.gc.collect")  # takes longer than so small a search
        gc.freeze()  # modules are not garbage
        with unread, uncalled, narrow, uncollected:
            agree()

    def look(self, model: GeneratedModel) -> None:
        """Compares the engines about a model, or about its first levels when it is large."""
        if not self.failed:
            assume(model.source() not in self.sources)
            self.sources.add(model.source())
        try:
            found = self._cut_to_size(model)
        except DisagreementError:
            self.failed = True
            raise
        except ModelError as error:
            if not any(reason in error.message for reason in REFUSALS):
                self.failed = True
                raise
            self.counts["refused"] += 1
            return
        if found is None:
            self.counts["too wide"] += 1
            return
        self.counts["agreed"] += 1
        self.counts["that grew"] += found.widths > 0
        self.counts[found.verdict] += 1
        self.counts["states"] += found.distinct
        self.counts["of more than ten states"] += found.distinct > 10
        self.counts["that moved"] += found.depth > 1

    def _cut_to_size(self, model: GeneratedModel) -> Outcome | None:
        try:
            return self._agreement(model.source(), model.name)
        except TooMany as error:
            levels = error.levels
        for steps in range(levels, 0, -1):
            try:
                return self._agreement(model.source(steps), model.name)
            except TooMany:
                continue
        return None

    def _agreement(self, source: str, name: str) -> Outcome:
        """CPython's result. Raises DisagreementError, and TooMany."""
        with imported(source, name, self.directory) as cls:
            properties = properties_of(cls)
            wanted, states = plain_search(cls(), properties)

            def compare(engine: str, ask: Callable[[], Outcome]) -> None:
                found = self._asked(engine, ask, source)
                if found != wanted and not (wanted.verdict == "error" and found == AT_ONCE):
                    lines = [f"{key}: {value!r}, in CPython {vars(wanted)[key]!r}" for key, value in vars(found).items()
                             if value != vars(wanted)[key] and key not in ("first_bad", "reached_at")]
                    if wanted.verdict == "holds" and found.digest != wanted.digest:
                        native = states_of(cls())
                        lines += [f"not reached: {sorted(map(str, states - native))[:3]}",
                                  f"invented: {sorted(map(str, native - states))[:3]}"]
                    self.suspects.add(engine)
                    raise DisagreementError(engine, "\n".join(lines), source)
                self._note(engine, wanted.distinct)

            for engine, search_states in ENGINES.items():
                compare(engine, lambda search_states=search_states: outcome(search_states, cls(), properties))  # type: ignore[misc]
            if 1 < wanted.depth <= MAX_LEVELS and self._is_turn_of("Spark"):
                compare("Spark", lambda: outcome(on_spark, cls(), properties))
            if wanted.distinct and self._is_turn_of("z3"):
                self._bounded_search(cls(), properties, wanted, source)
            if self._is_turn_of("proofs"):
                self._proofs(cls, properties, source)
            if self._is_turn_of("symmetry"):
                self._orbits(cls, source)
        if self._is_turn_of("edits"):
            choice = len(self.sources)
            self._asked("edits", lambda: assert_edits_are_noticed(source, name, choice), source)
            self._note("edits", wanted.distinct)
        return wanted

    def _bounded_search(self, model: Model, properties: list[Property], wanted: Outcome, source: str) -> None:
        try:
            compared, interchangeable = self._asked("z3", lambda: at_widths(
                model, lambda model: assert_bounded_search_agrees(
                    model, properties, wanted, self.budget.depth, self.budget.most)), source)
        except UnsupportedError:
            self.counts["without a form in z3"] += 1
        else:
            self._note("z3", compared)
            self.counts["z3: interchangeable"] += interchangeable

    def _proofs(self, cls: type[Model], properties: list[Property], source: str) -> None:
        """Checks proofs against a plain search without ``@reachable`` properties, which are not proved."""
        safety = [prop for prop in properties if prop.kind != "reachable"]
        if not safety:
            return
        wanted, _ = plain_search(cls(), safety)
        file = Path(sys.modules[cls.__module__].__file__ or "")
        try:
            checked = self._asked("proofs", lambda: assert_proofs_agree(file, cls.__name__, wanted), source)
        except UnsupportedError:
            self.counts["proofs: without a form in z3"] += 1
        else:
            self._note("proofs", wanted.distinct)
            self.counts += checked

    def _orbits(self, cls: type[Model], source: str) -> None:
        """The model itself, and the model without the names of identifiers, which more often has a symmetry proof."""
        with imported(nameless(source), cls.__name__, self.directory) as other:
            for each in (cls, other):
                try:
                    text = self._asked("symmetry", partial(look, each(), properties_of(each)), source)
                except (ModelError, SourceError, TooMany):
                    continue  # without its names it is another model, of another size, which may be none
                self.counts[f"symmetry: {text}"] += 1
                if text.startswith("symmetric"):
                    self._note("symmetry", 0)

    def _asked(self, engine: str, ask: Callable[[], T], source: str) -> T:
        start = time.perf_counter()
        try:
            return ask()
        except (SourceError, TooMany):
            raise
        except Exception as error:
            self.suspects.add(engine)
            raise DisagreementError(engine, f"{type(error).__name__}: {error}", source) from error
        finally:
            self.counts[f"{engine}: milliseconds"] += round((time.perf_counter() - start) * 1000)

    def _note(self, engine: str, states: int) -> None:
        self.counts[f"{engine}: models"] += 1
        self.counts[f"{engine}: states"] += states

    def _is_turn_of(self, engine: str) -> bool:
        one_in = self.budget.one_in.get(engine, 0)
        self.counts[f"{engine}: turn"] += 1
        return engine in self.suspects or (one_in > 0 and self.counts[f"{engine}: turn"] % one_in == 0)


def _share(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if name not in ONE_IN:
        raise ValueError(name)
    return name, int(number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one-in", action="append", type=_share, default=[], metavar="NAME=N",
                        help=f"asks NAME ({', '.join(ONE_IN)}) of one model in N; of none for 0")
    parser.add_argument("--depth", type=int, default=4, help="states of the longest runs that z3 looks at")
    parser.add_argument("--json", type=Path, help="where to write what was counted")
    arguments = parser.parse_args()
    one_in = {**ONE_IN, **dict(arguments.one_in)}
    budget = Budget(arguments.models, arguments.seed, one_in, arguments.depth)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        os.environ["FLOODMARK_CACHE"] = directory
        campaign = Campaign(budget, Path(directory))
        campaign.run()
    counts = {**campaign.counts, "seconds": round(time.perf_counter() - start)}
    print(json.dumps(counts, indent=2))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(counts))


if __name__ == "__main__":
    main()
