"""Who opens a protocol's folder, or hovers over a name of the language, is told what it is."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import floodmark
from docs.tools.findings import ROOT

BEGIN = {
    "alter_isr": "core.py",
    "dynamic_quorum": "voters.py",
    "elr": "partition.py",
    "epoch_cache": "partition.py",
    "etcd_raft": "raft.py",
    "hashicorp_raft": "raft.py",
    "jetstream": "raft.py",
    "kraft": "quorum.py",
    "ra": "server.py",
    "reassignment": "kip236.py",
    "under_replicated": "metric.py",
    "zk_controller": "controller.py",
}
LANGUAGE = ROOT / "src" / "floodmark" / "language"


def text_of(file: Path) -> str:
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


@cache
def explained() -> set[str]:
    """The names at the top level of the language that a docstring follows, or begins."""
    found = set()
    for file in LANGUAGE.glob("*.py"):
        body = ast.parse(file.read_text(encoding="utf-8")).body
        for node, after in zip(body, [*body[1:], None], strict=True):
            match node, after:
                case (ast.FunctionDef() | ast.ClassDef()), _ if ast.get_docstring(node):
                    found.add(node.name)
                case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str())):
                    found.add(name)
    return found


@pytest.mark.parametrize("folder", ["model", "invariants"])
def test_every_protocol_has_a_file_to_begin_with(folder: str) -> None:
    assert {path.name for path in (ROOT / folder).iterdir() if any(path.glob("*.py"))} == set(BEGIN)
    for protocol, name in BEGIN.items():
        assert "Start here." in text_of(ROOT / folder / protocol / name) or len(files(folder, protocol)) == 1


def files(folder: str, protocol: str) -> list[Path]:
    return sorted((ROOT / folder / protocol).glob("*.py"))


@pytest.mark.parametrize("protocol", BEGIN)
@pytest.mark.parametrize("folder", ["model", "invariants"])
def test_it_names_the_others_and_they_name_it(folder: str, protocol: str) -> None:
    begin = ROOT / folder / protocol / BEGIN[protocol]
    for other in files(folder, protocol):
        if other != begin:
            assert other.name in text_of(begin), f"{begin} does not say what {other.name} is about"
            assert begin.name in text_of(other), f"{other} does not say that {begin.name} is where to begin"


@pytest.mark.parametrize("protocol", BEGIN)
def test_it_names_the_known_bad_designs(protocol: str) -> None:
    text = text_of(ROOT / "model" / protocol / BEGIN[protocol])
    for file in (ROOT / "specs" / protocol).glob("flawed*.py"):
        assert file.name in text


@pytest.mark.parametrize("name", floodmark.__all__)
def test_every_name_of_the_language_is_explained(name: str) -> None:
    assert name in explained()
