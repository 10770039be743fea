"""Runs solutions to small tasks (``tests/agreement/tasks``) through every engine and every proof method.

``tasks.toml`` says what becomes of each: what CPython finds, and what the compiler says of one that it refuses. Every
engine has to find that; no method may prove what is violated or refute what holds; rewrites that must change nothing
change nothing. ``python -m tests.agreement.test_tasks`` writes the file anew.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType
from unittest.mock import patch

import pytest

from floodmark import Model
from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.commands.export import promela_process, tla_module
from floodmark.checkers.export.graph_queries import CannotExportError
from floodmark.checkers.project.modules import load_file
from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.compiler.program import read_program
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import sized
from floodmark.language.widths import FIRST_WIDTHS
from tests.support import engines
from tests.support.engines import ENGINES, Outcome, TooMany, outcome, plain_search, properties_of
from tests.support.level_agreement import Budget, agreement
from tests.support.proof_agreement import assert_proofs_agree
from tests.support.symbolic_agreement import assert_bounded_search_agrees
from tests.support.symmetric_agreement import look
from tools.mutants import compare_variant, subject, variants

FOLDER = Path(__file__).parent / "tasks"
PINS = FOLDER / "tasks.toml"
QUICK = {
    "commits.SagaByDistance", "counters.Lamport", "counters.NaiveProducer", "elections.PreferredLeaderChecked",
    "gossip.SwimAsPeople", "locks.FairLock", "queues.TwoLanes", "rings.Sticky",
}
"""Those that every run of the tests searches natively."""
MAX_STATES, MAX_STEPS = 6000, 40_000
LARGEST = 4
"""The most identifiers of each class with which what was proved of any number is searched."""


@cache
def every() -> dict[str, type[Model]]:
    """The models by file and class."""
    found = {}
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        for name, value in vars(load_file(path)).items():
            if isinstance(value, type) and issubclass(value, Model) and value is not Model:
                found[f"{path.stem}.{name}"] = value
    return found


PINNED: dict[str, dict[str, str | int]] = tomllib.loads(PINS.read_text()) if PINS.exists() else {}
REFUSED = [name for name, pin in PINNED.items() if "refused" in pin]
READ = [name for name, pin in PINNED.items() if "refused" not in pin]


@pytest.fixture(autouse=True, scope="module")
def enough() -> Iterator[None]:
    with patch.object(engines, "MAX_STATES", MAX_STATES), patch.object(engines, "MAX_GENERATED", MAX_STEPS):
        yield


def by_cpython(name: str) -> Outcome:
    cls = every()[name]
    return plain_search(cls(), properties_of(cls))[0]


def pin_of(found: Outcome) -> dict[str, str | int]:
    """What is written down of what CPython finds."""
    pin: dict[str, str | int] = {"verdict": found.verdict}
    if found.broken:
        pin["broken"] = ", ".join(sorted(name for _, name in found.broken))
    if found.shortest is not None:
        pin["trace"] = found.shortest
    return {**pin, "distinct": found.distinct, "generated": found.generated, "depth": found.depth,
            "digest": found.digest}


def refusal(name: str) -> str | None:
    """What the compiler says of a model that it refuses."""
    cls = every()[name]
    try:
        functions = {prop.name: prop.function for prop in properties_of(cls)}
        read_program(sized(cls(), FIRST_WIDTHS), functions)
    except ModelError as error:
        return error.message
    return None


def test_every_task_is_pinned() -> None:
    assert set(PINNED) == set(every())


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_to_write(name: str) -> None:
    assert refusal(name) == PINNED[name]["refused"]


def check_of(name: str, folder: Path) -> Check:
    """The check of a task, with a spec that says nothing but its model."""
    file, _, cls = name.partition(".")
    spec = folder / "task.toml"
    spec.write_text(f'model = "{FOLDER / file}.py:{cls}"\n')
    return Check(read(spec), None, CheckSettings())


def assert_native_search_agrees(name: str) -> None:
    wanted = by_cpython(name)
    assert pin_of(wanted) == PINNED[name]
    for engine, search_states in ENGINES.items():
        cls = every()[name]
        assert (engine, outcome(search_states, cls(), properties_of(cls))) == (engine, wanted)


@pytest.mark.parametrize("name", sorted(QUICK))
def test_the_native_search_finds_what_cpython_finds(name: str) -> None:
    assert_native_search_agrees(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in READ if name not in QUICK])
def test_the_native_search_finds_what_cpython_finds_in_the_others(name: str) -> None:
    assert_native_search_agrees(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_bounded_search_finds_what_cpython_finds(name: str) -> None:
    cls, wanted = every()[name], by_cpython(name)
    at_widths(cls(), lambda model: assert_bounded_search_agrees(model, properties_of(cls), wanted, 4, 60))


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_no_method_contradicts_cpython(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name.partition('.')[0]}.py"
    file.write_text((FOLDER / file.name).read_text())
    cls = vars(load_file(file))[name.partition(".")[2]]
    safety = [prop for prop in properties_of(cls) if prop.kind != "reachable"]
    said = assert_proofs_agree(file, cls.__name__, plain_search(cls(), safety)[0])
    print(f"\n{name}: {dict(said)}")


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_what_is_proved_of_any_number_holds_of_a_few(name: str, tmp_path: Path) -> None:
    try:
        proved = prove_check(check_of(name, tmp_path), ProofTask(method="induction", any_size=True, seconds=20.0))
    except (SourceError, UnsupportedError) as error:
        pytest.skip(str(error))
    print(f"\n{name}: {proved.verdict} {proved.headline}")
    counting = proved.facts["any_size"]
    for number in range(1, LARGEST + 1) if proved.verdict == "holds" else ():
        model = every()[name](**dict.fromkeys(counting, number))
        safety = [prop for prop in properties_of(type(model)) if prop.kind != "reachable"]
        found = agreement(model, safety, Budget(states=200_000, steps=2000, late=4))
        assert found.verdict in ("holds", "open"), f"proved, and with {number}: {found}"


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_symmetry_is_proved_only_where_names_do_not_matter(name: str) -> None:
    cls = every()[name]
    try:
        look(cls(), properties_of(cls))
    except TooMany:
        pytest.skip("too many states for every renaming")


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_an_export_is_written_or_refused(name: str, tmp_path: Path) -> None:
    for export in (tla_module, promela_process):
        try:
            assert export(check_of(name, tmp_path)).text
        except (CannotExportError, ModelError) as error:
            print(f"\n{name}: {error}")


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_equivalent_rewrites_change_no_result(name: str) -> None:
    cls = every()[name]
    task = subject(name, cls(), properties_of(cls))
    budget = Budget(states=MAX_STATES, steps=200, late=4)
    plain = agreement(task.model, task.properties, budget)
    for function in task.functions():
        assert isinstance(function, FunctionType)
        for variant in variants(task, function, few=1):
            found = compare_variant(task, function, variant, plain, budget)
            assert found["fate"] in ("agreed", "refused"), f"{found}\n{variant.text()}"


def main() -> None:
    lines = []
    for name in every():
        said = refusal(name)
        pin = {"refused": said} if said is not None else pin_of(by_cpython(name))
        lines.append(f'["{name}"]')
        lines += [f"{key} = {value}" if isinstance(value, int) else f"{key} = {_quoted(str(value))}"
                  for key, value in pin.items()]
        lines.append("")
    PINS.write_text("\n".join(lines))


def _quoted(text: str) -> str:
    return "'" + text + "'" if "'" not in text else '"' + text.replace('"', '\\"') + '"'


if __name__ == "__main__":
    with patch.object(engines, "MAX_STATES", MAX_STATES), patch.object(engines, "MAX_GENERATED", MAX_STEPS):
        main()
