"""Tests the lock: writing, reading, and that no property or guard of a real model can vanish unnoticed."""

from __future__ import annotations

import ast
import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import pytest

from floodmark.checkers.gate import lock
from floodmark.checkers.gate.closure import Closure, Numbering
from floodmark.checkers.gate.definitions import Definition, definitions_of, parsed
from floodmark.checkers.gate.drift import DriftSources, table_drift
from floodmark.checkers.gate.lock import Lock, Mutants
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.language.errors import SourceError
from tests.support.shipped import shipped

ROOT = Path(__file__).parents[2]
SPECS = [path for path, spec in shipped().items() if spec.tier == "quick"]
SOME = SPECS[::12]
FULL = Lock(
    specs={
        "a/core": {
            "tier": "quick",
            "source": "0123456789abcdef",
            "constants": {"brokers": 3, "lossy": True},
            "properties": [f"a_property_with_quite_a_long_name_{number}" for number in range(5)],
            "distinct": 1234567,
            "actions": {f"an_action_with_quite_a_long_name_{number}": number for number in range(5)},
            "vacuous": [],
            "flawed": {"Forgets": {"verdict": "violated", "depth": 4}},
        },
        "ä \"b\"": {"tier": "deep"},
    },
    claims={"kip.one": {"verdict": "holds"}},
    proofs={
        "a/core induction brokers=4": {"verdict": "holds", "lemmas": ["one", "two"]},
        "a/core \"induction\"": {
            "verdict": "holds", "lemmas": [f"a_lemma_with_quite_a_long_name_{number}" for number in range(5)],
        },
    },
    mutants={
        "a/core": Mutants({"source": "1"}, 3, {"A.b: - `x`  + y": "equivalent: both are \\ the same", "other": ""}),
        "b/other": Mutants({}, 0),
    },
)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / lock.NAME
    path.write_text(text)
    return path


@pytest.mark.parametrize("content", [Lock(), FULL])
def test_what_is_written_is_read(tmp_path: Path, content: Lock) -> None:
    path = tmp_path / lock.NAME
    lock.write(path, content)
    assert lock.read(path) == content
    assert lock.text(content) == path.read_text()


def test_the_lock_is_readable_in_a_diff() -> None:
    lines = lock.text(FULL).splitlines()
    assert max(map(len, lines)) <= 120
    assert lines.index('[specs."a/core"]') < lines.index('[specs."ä \\"b\\""]')
    assert "an_action_with_quite_a_long_name_3 = 3" in lines
    assert 'Forgets = { verdict = "violated", depth = 4 }' in lines
    assert '"a/core induction brokers=4" = { verdict = "holds", lemmas = ["one", "two"] }' in lines
    assert '    "a_lemma_with_quite_a_long_name_3",' in lines


def test_rows_of_a_spec_share_their_properties(tmp_path: Path) -> None:
    """A change of one is then one line, and one that rows do not share is a table."""
    many = {f"a_property_with_quite_a_long_name_{number}": "0123abcd" for number in range(5)}
    other = {**many, "a_property_with_quite_a_long_name_3": "4567cdef"}
    specs = {"a/core": many, "a/core@deep": many, "a/core@other": other, "a/core@wide": other, "b/core": many}
    content = Lock(specs={name: {"tier": "quick", "properties": of} for name, of in specs.items()})
    path = tmp_path / lock.NAME
    lock.write(path, content)
    assert lock.read(path) == content
    tables = tomllib.loads(path.read_text())["specs"]
    shared = {name: entry["properties"] for name, entry in tables.items() if isinstance(entry["properties"], str)}
    assert shared == {"a/core@deep": "a/core", "a/core@wide": "a/core@other"}


def test_an_update_of_one_row_leaves_the_properties_of_others(tmp_path: Path) -> None:
    many = {f"a_property_with_quite_a_long_name_{number}": "0123abcd" for number in range(5)}
    path = tmp_path / lock.NAME
    lock.write(path, Lock(specs={"a": {"properties": many}, "a@deep": {"properties": many}}))
    found = lock.read(path)
    assert found is not None
    found.specs["a"]["properties"]["another"] = "4567cdef"
    lock.write(path, found)
    again = lock.read(path)
    assert again is not None and again.specs["a@deep"] == {"properties": many}


def test_a_lock_of_the_first_version_is_read(tmp_path: Path) -> None:
    found = lock.read(written(tmp_path, 'version = 1\n[specs.a]\nproperties = { one = "1" }\n'))
    assert found is not None and found.specs == {"a": {"properties": {"one": "1"}}}


def test_the_lock_knows_the_lines_of_its_entries(tmp_path: Path) -> None:
    path = tmp_path / lock.NAME
    lock.write(path, FULL)
    found = lock.read(path)
    assert found is not None
    lines = path.read_text().splitlines()
    starts = {
        "specs.a/core": '[specs."a/core"]', "claims.kip.one": '"kip.one" =', "mutants.a/core": "[mutants.",
        "proofs.a/core induction brokers=4": '"a/core induction brokers=4" =',
        'proofs.a/core \\"induction\\"': '[proofs."a/core \\"induction\\""]',
    }
    for name, start in starts.items():
        assert lines[found.lines[name] - 1].startswith(start)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("version = 1\n[specs.a]\nx = = 2\n", 3, "not valid TOML"),
        ("version = 1\n<<<<<<< HEAD\n[specs.a]\n=======\n", 2, "two branches changed the lock"),
        ("\nversion = 3\n", 2, "this lock has version 3, and this floodmark knows version 2; install a newer one"),
        ("version = true\n", 1, "not a lock of version 2; floodmark gate --update-lock replaces it"),
        ("", 1, "not a lock of version 2"),
        ('version = 2\n[specs.a]\nproperties = "b"\n', 2, "those of b, which has none of its own here"),
        ('version = 2\n[specs.a]\nproperties = "a"\n', 2, "those of a, which has none of its own here"),
        ('version = 2\n[specs.b]\n[specs.a]\nproperties = "b"\n', 3, "those of b, which has none of its own here"),
        ("version = 1\n\n[spec.a]\nx = 1\n", 3, "unknown table 'spec'"),
        ("version = 1\n[claims]\na = 1\n", 1, "claims must be a table of tables"),
        ("version = 1\n[mutants.a]\nsources = {}\n", 2, "the mutants of a need tried"),
    ],
)
def test_what_is_wrong_in_it_is_said_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(SourceError, match=message) as error:
        lock.read(path)
    assert (error.value.file, error.value.line) == (str(path), line)


def test_a_lock_may_be_missing(tmp_path: Path) -> None:
    assert lock.read(tmp_path / lock.NAME) is None


# The lock of this repository.


@functools.cache
def ours() -> Lock:
    found = lock.read(ROOT / "specs" / lock.NAME)
    assert found is not None
    return found


def name_of(path: Path) -> str:
    return shipped()[path].name


@pytest.mark.parametrize("path", [
    pytest.param(path, marks=() if path in SOME else pytest.mark.slow) for path in SPECS
], ids=name_of)
def test_every_property_that_is_deleted_is_drift(path: Path) -> None:
    check = Check(shipped()[path], None, CheckSettings())
    locked = ours().specs[name_of(path)]
    names = sorted(prop.name for prop in check.properties())
    assert list(locked["properties"]) == names
    for name in names:
        now = {**locked, "properties": [each for each in names if each != name]}
        said = list(table_drift("spec", locked, now, DriftSources((str(path), None))))
        assert [(each.was, each.now, each.note) for each in said] == [
            (name, "-", "the property is no longer checked")
        ]


@dataclass(frozen=True)
class Part:
    """What a hash in the lock is of: the definitions that a model reaches, or those that only its properties reach."""

    spec: str
    key: str
    numbering: Numbering
    reached: list[Definition]

    def hash(self, now: list[Definition]) -> str:
        return self.numbering.copy().hash(now)


@functools.cache
def parts(path: Path) -> dict[tuple[Path, int], Part]:
    """A part of the lock for each definition that a spec reaches, by its place."""
    spec = shipped()[path]
    closure, numbering = Closure(), Numbering()
    model = Part(spec.name, "source", Numbering(), closure.add([spec.model_class()]))
    numbering.hash(model.reached)
    functions = [each for prop in Check(spec, None, CheckSettings()).properties() for each in prop.functions]
    others = Part(spec.name, "predicates", numbering, closure.add(functions))
    return {(each.file, each.line): part for part in (model, others) for each in part.reached}


def part_of(file: Path, line: int) -> Part:
    """The part of the lock of a definition: probably in a spec whose folder is called like the model's."""
    folder = file.parent.name
    likely = sorted(shipped(), key=lambda path: (path.parent.name != folder, shipped()[path].tier != "quick"))
    return next(found[file, line] for found in map(parts, likely) if (file, line) in found)


def without(file: Path, guard: ast.stmt) -> dict[int, Definition]:
    """The definitions of a file by their lines, with a statement left out."""
    lines = file.read_text().splitlines()
    end = guard.end_lineno or guard.lineno
    lines[guard.lineno - 1 : end] = [" " * guard.col_offset + "pass", *[""] * (end - guard.lineno)]
    return {each.line: each for each in parsed(file, "\n".join(lines)).every}


def is_guard(node: ast.AST) -> TypeGuard[ast.Expr]:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="require"))):
            return True
    return False


GUARDED = [path for path in sorted((ROOT / "model").rglob("*.py")) if " require(" in path.read_text()]


@pytest.mark.parametrize("file", [
    pytest.param(path, marks=() if path in GUARDED[::24] else pytest.mark.slow) for path in GUARDED
], ids=lambda path: str(path.relative_to(ROOT / "model")))
def test_every_guard_that_is_deleted_is_drift(file: Path) -> None:
    text = file.read_text()
    guards = [node for node in ast.walk(ast.parse(text)) if is_guard(node)]
    assert len(guards) == text.count(" require(") > 0
    for guard in guards:
        line = max(each.line for each in definitions_of(file).every if each.line <= guard.lineno)
        part = part_of(file, line)
        changed = without(file, guard)[line]
        now = [changed if (each.file, each.line) == (file, line) else each for each in part.reached]
        recorded = ours().specs[part.spec][part.key]
        assert part.hash(part.reached) == recorded != part.hash(now), f"{file.name}:{guard.lineno}"
