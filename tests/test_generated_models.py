"""CPython and every engine find the same in models that nobody wrote.

The budget is small and the models are the same in each run. For a longer one, with new models:

    FLOODMARK_MODELS=5000 python -m pytest tests/test_generated_models.py

``FLOODMARK_SEED`` chooses other models. A disagreement shrinks to a small model, printed as source.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from model.compiler import ir
from model.compiler.program import read_program
from model.language.errors import ModelError
from model.language.types import Type
from tests.engines import ENGINES, Outcome, TooMany, imported, outcome, plain_search, properties_of, states_of
from tests.model_strategy import GeneratedModel, models

MODELS = int(os.environ.get("FLOODMARK_MODELS", "0"))
SEED = int(os.environ.get("FLOODMARK_SEED", "0"))
BUDGET = 240
REFUSALS = ("nothing", "never reached", "may hold", "grows each time", "this is None")
"""What the compiler may say of a generated model: an empty literal has no type of its own; a branch can be decided;
a helper is given None where it takes an optional value."""


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Machine code of generated models is thrown away."""
    directory = tmp_path_factory.mktemp("models")
    patch = pytest.MonkeyPatch()
    patch.setenv("FLOODMARK_CACHE", str(directory))
    yield directory
    patch.undo()


def agreement(source: str, name: str, directory: Path) -> Outcome:
    """What CPython finds; fails when an engine finds something else. Raises TooMany."""
    with imported(source, name, directory) as cls:
        properties = properties_of(cls)
        wanted, states = plain_search(cls(), properties)
        for engine, explore in ENGINES.items():
            try:
                found = outcome(explore, cls(), properties)
            except ModelError:
                raise
            except Exception as error:
                raise AssertionError(f"{engine}: {error}\n{source}") from error
            if found == wanted:
                continue
            lines = [f"{key}: {value!r}, in CPython {vars(wanted)[key]!r}" for key, value in vars(found).items()
                     if value != vars(wanted)[key]]
            if wanted.verdict == "holds" and found.digest != wanted.digest:
                native = states_of(cls())
                lines += [f"not reached: {sorted(map(str, states - native))[:3]}",
                          f"invented: {sorted(map(str, native - states))[:3]}"]
            pytest.fail(f"{engine}: " + "\n".join(lines) + f"\n{source}")
    shutil.rmtree(directory / "code", ignore_errors=True)
    return wanted


def cut_to_size(model: GeneratedModel, directory: Path) -> Outcome | None:
    """The agreement about a model, or about its first levels when it is large; None for one that is too wide."""
    try:
        return agreement(model.source(), model.name, directory)
    except TooMany as error:
        levels = error.levels
    for steps in range(levels, 0, -1):
        try:
            return agreement(model.source(steps), model.name, directory)
        except TooMany:
            continue
    return None


class Constructs:
    """What the compiler made of the generated models: classes of the expression graph, with their variants."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def look(self, source: str, name: str, directory: Path) -> None:
        with imported(source, name, directory) as cls:
            program = read_program(cls(), {prop.name: prop.function for prop in properties_of(cls)})
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
    "StateVar", "Store", "Subset", "Universe", "Witness",
}


def test_every_node_of_the_expression_graph_has_to_be_generated() -> None:
    declared = {
        name for name, cls in vars(ir).items()
        if isinstance(cls, type) and cls.__module__ == ir.__name__ and not issubclass(cls, Type)
    }
    assert declared - {"Expr", "Stmt", "Position", "Action", "Predicate"} == CONSTRUCTS


def test_the_generator_reaches_every_construct(own_cache: Path) -> None:
    constructs = Constructs()

    @seed(SEED)
    @settings(max_examples=400, derandomize=not SEED, database=None, deadline=None,
              suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(models())
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


def test_engines_agree_about_generated_models(own_cache: Path) -> None:
    seen: Counter[str] = Counter()
    distinct: set[str] = set()

    @seed(SEED)
    @settings(max_examples=MODELS or BUDGET, derandomize=not (MODELS or SEED), database=None, deadline=None,
              suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink], print_blob=False)
    @given(models())
    def agree(model: GeneratedModel) -> None:
        distinct.add(model.source())
        try:
            found = cut_to_size(model, own_cache)
        except ModelError as error:
            if not any(reason in error.message for reason in REFUSALS):
                raise
            seen["refused"] += 1
            return
        seen["models"] += 1
        if found is None:
            seen["too wide"] += 1
        else:
            seen[found.verdict] += 1
            seen["states"] += found.distinct
            seen["of more than ten states"] += found.distinct > 10
            seen["that moved"] += found.depth > 1

    agree()
    assert seen["refused"] * 10 < seen["models"]
    assert seen["that moved"] * 3 > seen["models"]
    print(f"\n{len(distinct)} different models; {dict(seen)}")
