"""Tests that CPython and every engine agree on generated models, which are the same in each run.

``python -m tools.campaign`` checks any number of others. What the generator cannot draw is listed in
``tests/support/model_strategy.py``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import SearchResult
from floodmark.compiler import ir
from floodmark.compiler.program import read_program
from floodmark.language.errors import ModelError
from floodmark.language.model import Model, sized
from floodmark.language.types import Type
from floodmark.language.widths import FIRST_WIDTHS
from tests.support.engines import ENGINES, imported, properties_of
from tests.support.model_strategy import GeneratedModel, models
from tests.support.proof_agreement import METHODS
from tools.campaign import Budget, Campaign, DisagreementError

MODELS, MORE = 14, 210
FEWER = {"Spark": 24, "z3": 1, "proofs": 3, "symmetry": 25, "edits": 105}
"""What takes longer is asked of fewer here than in a campaign."""


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Machine code of generated models is thrown away."""
    directory = tmp_path_factory.mktemp("models")
    patch = pytest.MonkeyPatch()
    patch.setenv("FLOODMARK_CACHE", str(directory))
    yield directory
    patch.undo()


class Constructs:
    """What the compiler made of the generated models: classes of the expression graph, with their variants."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def look(self, source: str, name: str, directory: Path) -> None:
        with imported(source, name, directory) as cls:
            functions = {prop.name: prop.function for prop in properties_of(cls)}
            program = read_program(sized(cls(), FIRST_WIDTHS), functions)
        for action in program.actions:
            self._note([*action.parameters, *action.guards, *action.body])
        for predicate in [*program.predicates, *program.boundaries]:
            self._note(predicate.value)

    def _note(self, value: object) -> None:
        match value:
            case list() | tuple():
                for item in value:
                    self._note(item)
            case dict():
                self._note(list(value.values()))
            case _ if type(value).__module__ == ir.__name__ and not isinstance(value, Type | ir.Position):
                self.seen[type(value).__name__] += 1
                for kind in ("op", "kind"):
                    if hasattr(value, kind):
                        self.seen[f"{type(value).__name__} {getattr(value, kind)}"] += 1
                if isinstance(value, ir.Convert):
                    ends = (value.operand.type, value.type)
                    self.seen[" to ".join(["Convert", *(type(end).__name__ for end in ends)])] += 1
                for field in fields(value):  # type: ignore[arg-type]
                    self._note(getattr(value, field.name))


CONSTRUCTS = {
    "And", "Arithmetic", "Assert", "BagChange", "Break", "Choose", "Compare", "Const", "Contains", "Continue",
    "Convert", "Count", "Do", "Equal", "Extremum", "Field", "FieldStep", "For", "Generator", "If", "Implies",
    "Inline", "IsNone", "ItemStep", "Local", "MapGet", "Not", "Or", "Range", "RecordOf", "Reduce", "Require",
    "Return", "SeqConcat", "SeqGet", "SeqOf", "SeqSlice", "SetBinary", "SetLocal", "SetOf", "Size", "Sorted",
    "SetVariable", "StateVar", "Subset", "Universe", "Witness",
}


def test_every_node_of_the_expression_graph_has_to_be_generated() -> None:
    declared = {
        name for name, cls in vars(ir).items()
        if isinstance(cls, type) and cls.__module__ == ir.__name__ and not issubclass(cls, Type)
    }
    no_constructs = {"Expr", "Stmt", "Statement", "Position", "Action", "Predicate", "PremiseSite"}
    for_proofs = {"OpenConstant"}  # in no model that can be run
    of_coverage = {"Marked"}  # beside the graphs of a model
    of_large_ones = {"Applied", "SharedFunction"}  # generated in test_shared_functions.py
    assert declared - no_constructs - for_proofs - of_coverage - of_large_ones == CONSTRUCTS


@pytest.mark.slow
def test_the_generator_reaches_every_construct(own_cache: Path) -> None:
    constructs = Constructs()

    @settings(max_examples=480, derandomize=True, database=None, deadline=None,
              suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(models(growing=True))
    def look(model: GeneratedModel) -> None:
        with suppress(ModelError):
            constructs.look(model.source(), model.name, own_cache)

    look()
    wanted = CONSTRUCTS | {f"Arithmetic {op}" for op in ("+", "-", "*", "//", "%")}
    wanted |= {f"SetBinary {op}" for op in "|&-^"} | {f"Compare {op}" for op in ("<", "<=", ">", ">=")}
    wanted |= {f"Reduce {kind}" for kind in ("any", "all", "sum", "min", "max", "set", "seq", "map")}
    wanted |= {f"Convert to {a}Type to {b}Type" for a, b in (
        ("Int", "Int"), ("Set", "Set"), ("Seq", "Seq"), ("Seq", "Bag"), ("Bag", "Bag"), ("Map", "Map"),
        ("Optional", "Int"), ("Int", "Optional"), ("None", "Optional"), ("Optional", "Optional"))}
    missing = sorted(wanted - set(constructs.seen))
    assert not missing
    print(f"\n{dict(constructs.seen.most_common())}")


@pytest.mark.usefixtures("spark")
def test_engines_agree_about_generated_models(own_cache: Path) -> None:
    campaign = Campaign(Budget(MODELS, one_in={**FEWER, "Spark": 8}), own_cache)
    campaign.run()
    assert campaign.counts["agreed"] >= 12
    assert campaign.counts["z3: models"] >= 10
    assert campaign.counts["proofs: models"] >= 2
    assert campaign.counts["Spark: models"] >= 1


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_engines_agree_about_more_generated_models(own_cache: Path) -> None:
    campaign = Campaign(Budget(MORE, one_in=FEWER), own_cache)
    campaign.run()
    counts = campaign.counts
    print(f"\n{dict(counts)}")
    assert counts["agreed"] >= 200
    assert counts["z3: models"] >= 150
    assert counts["z3: interchangeable"] >= 5
    assert counts["Spark: models"] >= 3
    assert counts["proofs: models"] >= 20
    assert min(counts[f"{method}: holds"] for method in METHODS if method != "bmc") >= 6
    assert counts["symmetry: models"] >= 3  # test_symmetric_models.py has more
    assert counts["edits: models"] >= 1  # test_random_edits.py has more
    assert counts["refused"] * 10 < counts["agreed"]
    assert counts["that moved"] * 3 > counts["agreed"]
    assert counts["that grew"] >= 5
    assert counts["violated"] > 5 < counts["error"]


def test_a_disagreement_is_printed_as_source(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(model: Model, properties: Sequence[Property]) -> SearchResult:
        found = ENGINES["reference"](model, properties)
        return replace(found, distinct=found.distinct - (found.distinct > 1))

    monkeypatch.setitem(ENGINES, "forgetful", forgetful)
    with pytest.raises(DisagreementError) as caught:
        Campaign(Budget(100, one_in={}), own_cache).run()
    said = str(caught.value)
    assert re.match(r"forgetful: distinct: \d, in CPython \d\nfrom __future__", said)
    assert len(said.splitlines()) < 30
