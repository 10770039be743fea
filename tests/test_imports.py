"""The rooms of the repository stand in one order: no import goes in a circle, and none goes against the order.

The graph of imports is read from the sources. An import inside of a function counts as any other: it saves time at the
start, and may not hide a circle. One that only the type checker sees does not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx
import pytest

REPOSITORY = Path(__file__).parent.parent

TOPS = {"floodmark": "floodmark", "checkers": "floodmark.checkers", "model": "model", "invariants": "invariants"}
"""The folders, and the package that each is."""
FACES = {"floodmark", "floodmark.claims", "floodmark.conformance"}
"""What users import."""
ENGINES_OWN = ("floodmark.checkers.native", "floodmark.checkers.spark", "floodmark.checkers.symbolic")
BACK_ENDS = ("floodmark.checkers.codegen", "floodmark.checkers.export", "floodmark.checkers.symbolic")


def sources(root: Path) -> dict[str, Path]:
    """The file of each module."""
    found = {}
    for top, package in TOPS.items():
        for file in (root / top).rglob("*.py"):
            parts = file.relative_to(root / top).with_suffix("").parts
            if package == "floodmark" and parts[0] == "checkers":
                continue  # a link to the folder, which is a top of its own
            found[".".join((package, *parts)).removesuffix(".__init__")] = file
    return found


def imported(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a file, but for those that only the type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield from imported(other)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        else:
            yield from imported(node)


def targets(node: ast.Import | ast.ImportFrom, modules: dict[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules)
        return
    assert node.level == 0
    for alias in node.names:
        whole = f"{node.module}.{alias.name}"
        if whole in modules:
            yield whole
        elif node.module in modules:
            yield node.module


def import_graph(root: Path = REPOSITORY) -> networkx.DiGraph:
    """The modules of a repository, with an edge from each to those that it imports."""
    modules = sources(root)
    graph = networkx.DiGraph()
    graph.add_nodes_from(modules)
    for name, file in modules.items():
        for node in imported(ast.parse(file.read_text(encoding="utf-8"))):
            graph.add_edges_from((name, target) for target in targets(node, modules))
    return graph


def is_in(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def circles(graph: networkx.DiGraph) -> list[list[str]]:
    return [sorted(part) for part in networkx.strongly_connected_components(graph) if len(part) > 1] + [
        [module] for module in networkx.nodes_with_selfloops(graph)
    ]


def against_the_order(graph: networkx.DiGraph) -> list[str]:
    """The imports that go from a lower room to a higher one, or to a room beside."""
    return [f"{importer} -> {target}" for importer, target in graph.edges if not may_import(importer, target)]


def may_import(importer: str, target: str) -> bool:
    """Whether a module may import another directly."""
    if is_in(importer, "model"):
        return target in FACES or is_in(target, "model")
    if is_in(importer, "invariants"):
        return target in FACES or is_in(target, "model", "invariants")
    if is_in(target, "model", "invariants"):
        return False  # a project is loaded, whosever it is
    if is_in(importer, "floodmark.language"):
        return is_in(target, "floodmark.language")
    if is_in(importer, "floodmark.compiler"):
        return is_in(target, "floodmark.language", "floodmark.compiler")
    if importer == "floodmark":
        return is_in(target, "floodmark.language")
    own = [room for room in BACK_ENDS if is_in(importer, room)]
    return not own or is_in(target, *own) or not is_in(target, *BACK_ENDS)


def reached(graph: networkx.DiGraph, package: str) -> set[str]:
    """What a package imports, directly or not."""
    return {target for module in graph if is_in(module, package) for target in networkx.descendants(graph, module)}


@pytest.fixture(scope="module")
def graph() -> networkx.DiGraph:
    return import_graph()


def test_every_import_of_the_rooms_is_read(graph: networkx.DiGraph) -> None:
    assert all(any(is_in(module, package) for module in graph) for package in TOPS.values())
    assert graph.has_edge("floodmark.checkers.run", "floodmark.checkers.engines")
    assert graph.has_edge("floodmark.checkers.native.engine", "floodmark.checkers.native.search")  # in a function


def test_nothing_is_imported_in_a_circle(graph: networkx.DiGraph) -> None:
    assert circles(graph) == []


def test_imports_go_one_way(graph: networkx.DiGraph) -> None:
    """Checkers import the compiler, which imports the language; properties import models, which import the face; the
    back ends of the compiler do not import each other."""
    assert against_the_order(graph) == []


def test_machine_code_is_generated_without_an_engine(graph: networkx.DiGraph) -> None:
    assert [module for module in reached(graph, "floodmark.checkers.codegen") if is_in(module, *ENGINES_OWN)] == []


def test_engines_do_not_know_the_run(graph: networkx.DiGraph) -> None:
    for engine in ("floodmark.checkers.native", "floodmark.checkers.spark", "floodmark.checkers.reference"):
        assert not reached(graph, engine) & {"floodmark.checkers.run", "floodmark.checkers.engines"}


@pytest.mark.parametrize(
    ("file", "line", "circle", "wrong_way"),
    [
        ("checkers/native.py", "import floodmark.checkers.run", True, False),
        ("checkers/native.py", "def late():\n    from floodmark.checkers import run", True, False),
        ("checkers/native.py", "if TYPE_CHECKING:\n    from floodmark.checkers import run", False, False),
        ("checkers/native.py", "from floodmark.checkers import native", True, False),
        ("checkers/run.py", "import model.log", False, True),
        ("checkers/codegen/jit.py", "from floodmark.checkers.export import tla", False, True),
        ("floodmark/language/values.py", "from floodmark.compiler import ir", True, True),
        ("floodmark/language/types.py", "from floodmark.compiler import ir", False, True),
        ("floodmark/compiler/ir.py", "def late():\n    from floodmark.checkers.run import run", False, True),
        ("model/log.py", "from floodmark import Set", False, False),
        ("model/log.py", "from floodmark.language.values import Set", False, True),
        ("model/log.py", "import invariants.log", False, True),
        ("invariants/log.py", "import model.log", False, False),
    ],
)
def test_what_goes_against_the_order_is_found(
    tmp_path: Path, file: str, line: str, circle: bool, wrong_way: bool
) -> None:
    files = {
        "floodmark/__init__.py": "from floodmark.language.values import Set",
        "floodmark/language/values.py": "", "floodmark/language/types.py": "",
        "floodmark/compiler/ir.py": "from floodmark.language import values",
        "checkers/run.py": "from floodmark.checkers import native", "checkers/native.py": "",
        "checkers/codegen/jit.py": "", "checkers/export/tla.py": "", "model/log.py": "", "invariants/log.py": "",
    }
    for name, text in {**files, file: f"{files[file]}\n{line}\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    graph = import_graph(tmp_path)
    assert (bool(circles(graph)), bool(against_the_order(graph))) == (circle, wrong_way)
