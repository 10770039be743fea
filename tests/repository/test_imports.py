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

REPOSITORY = Path(__file__).parents[2]

TOPS = {"src/floodmark": "floodmark", "model": "model", "invariants": "invariants"}
"""The folders, and the package that each is."""
_LAYERS = """
    part_kinds value_text own_sources disk_cache resources interrupts processes search_result project codegen
    symbolic.terms symbolic.any_size symbolic.values symbolic.translate symbolic.tactics symbolic.records
    symmetry adaptive_capacity verdict engine kernel liveness coverage search native simulation
    symbolic.methods symbolic.crosscheck symbolic.suggestions explanation symbolic.attempts symbolic
    reference spark designs walking run report gate edits mutation plan explorer conformance saved export commands
    starter interface assistants editor command_line pytest_plugin
"""
LAYERS = _LAYERS.split()
"""The rooms of the checkers, and the files beside them, from the lowest to the highest."""
FACES = {"floodmark", "floodmark.claims", "floodmark.conformance", "floodmark.protocols", "floodmark.replay"}
"""What users import."""
INTERFACE = "floodmark.checkers.interface"
"""What ``floodmark`` imports when a program first uses it."""
BACK_ENDS = ("floodmark.checkers.codegen", "floodmark.checkers.export", "floodmark.checkers.symbolic")


def sources(root: Path) -> dict[str, Path]:
    """The file of each module."""
    found = {}
    for top, package in TOPS.items():
        for file in (root / top).rglob("*.py"):
            parts = file.relative_to(root / top).with_suffix("").parts
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
        return is_in(target, "floodmark.language") or target == INTERFACE
    own = [room for room in BACK_ENDS if is_in(importer, room)]
    return not own or is_in(target, *own) or not is_in(target, *BACK_ENDS)


def layer(module: str) -> str:
    """The room of the checkers that a module belongs to."""
    inner = module.removeprefix("floodmark.checkers.")
    return max((name for name in LAYERS if is_in(inner, name)), key=len, default="")


def upwards(graph: networkx.DiGraph) -> list[str]:
    """The imports within the checkers that go from a lower room to a higher one."""
    found = []
    for importer, target in graph.edges:
        lower, higher = layer(importer), layer(target)
        if lower and higher and LAYERS.index(lower) < LAYERS.index(higher):
            found.append(f"{importer} -> {target}")
    return found


@pytest.fixture(scope="module")
def graph() -> networkx.DiGraph:
    return import_graph()


def test_every_import_of_the_rooms_is_read(graph: networkx.DiGraph) -> None:
    assert all(any(is_in(module, package) for module in graph) for package in TOPS.values())
    assert graph.has_edge("floodmark.checkers.run.checks", "floodmark.checkers.run.engines")
    assert graph.has_edge("floodmark.checkers.native.engine", "floodmark.checkers.native.search")  # in a function


def test_nothing_is_imported_in_a_circle(graph: networkx.DiGraph) -> None:
    assert circles(graph) == []


def test_imports_go_one_way(graph: networkx.DiGraph) -> None:
    """Checkers import the compiler, which imports the language; properties import models, which import the face; the
    back ends of the compiler do not import each other."""
    assert against_the_order(graph) == []


def test_every_room_of_the_checkers_has_its_layer(graph: networkx.DiGraph) -> None:
    checkers = {module for module in graph if module.startswith("floodmark.checkers.")}
    assert [module for module in checkers if not layer(module)] == []
    assert {layer(module) for module in checkers} == set(LAYERS)


def test_rooms_import_only_lower_rooms(graph: networkx.DiGraph) -> None:
    """So no engine knows the run that it is part of, and machine code is generated without an engine."""
    assert upwards(graph) == []


@pytest.mark.parametrize(
    ("file", "line", "circle", "wrong_way"),
    [
        ("src/floodmark/checkers/native.py", "import floodmark.checkers.run", True, True),
        ("src/floodmark/checkers/native.py", "def late():\n    from floodmark.checkers import run", True, True),
        ("src/floodmark/checkers/native.py", "if TYPE_CHECKING:\n    from floodmark.checkers import run", False, False),
        ("src/floodmark/checkers/native.py", "from floodmark.checkers import native", True, False),
        ("src/floodmark/checkers/native.py", "from floodmark.checkers.report import text", False, True),
        ("src/floodmark/checkers/run.py", "from floodmark.checkers.report import text", False, True),
        ("src/floodmark/checkers/gate.py", "from floodmark.checkers.report import text", False, False),
        ("src/floodmark/checkers/run.py", "import model.log", False, True),
        ("src/floodmark/checkers/codegen/jit.py", "from floodmark.checkers.export import tla", False, True),
        ("src/floodmark/language/values.py", "from floodmark.compiler import ir", True, True),
        ("src/floodmark/language/types.py", "from floodmark.compiler import ir", False, True),
        ("src/floodmark/compiler/ir.py", "def late():\n    from floodmark.checkers.run import run", False, True),
        ("model/log.py", "from floodmark import Set", False, False),
        ("model/log.py", "from floodmark.language.values import Set", False, True),
        ("model/log.py", "import invariants.log", False, True),
        ("invariants/log.py", "import model.log", False, False),
    ],
)
def test_what_goes_against_the_order_is_found(
    tmp_path: Path, file: str, line: str, circle: bool, wrong_way: bool
) -> None:
    package = {
        "__init__.py": "from floodmark.language.values import Set",
        "language/values.py": "", "language/types.py": "",
        "compiler/ir.py": "from floodmark.language import values",
        "checkers/run.py": "from floodmark.checkers import native", "checkers/native.py": "",
        "checkers/report/text.py": "", "checkers/gate.py": "",
        "checkers/codegen/jit.py": "", "checkers/export/tla.py": "",
    }
    files = {f"src/floodmark/{name}": text for name, text in package.items()}
    files |= {"model/log.py": "", "invariants/log.py": ""}
    for name, text in {**files, file: f"{files[file]}\n{line}\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    graph = import_graph(tmp_path)
    found = against_the_order(graph) + upwards(graph)
    assert (bool(circles(graph)), bool(found)) == (circle, wrong_way)
