"""Tests ``floodmark mcp`` with the client of the official package, in this process and over a connection."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from floodmark.checkers.assistants import worker
from floodmark.checkers.assistants.budget import Budget, answer
from tests.simulation.test_deep_runs import Stair
from tests.support.command import REPOSITORY, floodmark
from tests.support.gates import forget
from tests.support.outcomes import inside

MODEL = '''
from floodmark import Constant, Identifier, Model, Set, action, invariant, require


class Client(Identifier, count="clients", prefix="c"):
    """A client."""


class Lease(Model):
    """One lease."""

    clients = Constant(2)
    holder: Client | None = None
    asked: Set[Client] = Set()

    @action
    def asks(self, client: Client) -> None:
        require(client not in self.asked)
        self.asked = self.asked | {client}

    @action
    def grants(self, client: Client) -> None:
        require(client in self.asked)
        require(self.holder is None)
        self.holder = client

    @action
    def breaks(self) -> None:
        require(len(self.asked) > 0)
        require(len(self.asked) > self.clients)
        self.holder = None

    @invariant
    def holder_asked(self) -> bool:
        """The holder has asked."""
        return self.holder is None or self.holder in self.asked


class GrantsUnasked(Lease):
    """Grants to a client that did not ask."""

    @action
    def grants(self, client: Client) -> None:
        require(self.holder is None)
        self.holder = client
'''
SPEC = """
model = "lease.py:Lease"

[[flawed]]
class = "lease.py:GrantsUnasked"
property = "holder_asked"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "lease.py").write_text(MODEL)
    (root / "lease.toml").write_text(SPEC)
    return root


@pytest.fixture(autouse=True)
def installed() -> None:
    """Each test imports the package by itself, as that takes longer than most tests."""
    pytest.importorskip("mcp", reason="the extra floodmark[assistants] is not installed")


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes of calls find the sources as this one does."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))


def ask(root: Path, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers to a client; the call runs in this process instead of one of its own."""
    import anyio
    from mcp import Client

    from floodmark.checkers.assistants import server

    def here(_: Path, name: str, given: dict[str, Any], budget: Budget) -> dict[str, Any]:
        forget(root.resolve())
        return worker.answer({"tool": name, "arguments": given, "seconds": budget.seconds, "memory": budget.memory})

    async def call() -> dict[str, Any]:
        async with Client(server.server_of(root, Budget(60, 4 << 30))) as client:
            result = await client.call_tool(tool, arguments)
            content = result.structured_content
            assert isinstance(content, dict), result
            return content

    with inside(root), patch.object(server, "answer", here):
        found: dict[str, Any] = anyio.run(call)
        return found


def test_every_tool_is_listed_with_a_schema_and_a_budget(project: Path) -> None:
    import anyio
    from mcp import Client

    from floodmark.checkers.assistants.server import server_of

    async def listed() -> Any:
        async with Client(server_of(project, Budget())) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in anyio.run(listed)}
    assert set(tools) == {"check", "show", "step", "explain", "mutate", "prove", "conform", "simulate", "diff"}
    for tool in tools.values():
        assert tool.description
        assert {"spec", "max_seconds", "max_memory"} <= set(tool.input_schema["properties"])


def test_check_says_what_is_found_and_what_makes_it_weak(project: Path) -> None:
    answered = ask(project, "check", spec="lease.toml")
    good, bad = answered["results"]
    assert (answered["exit_code"], good["verdict"], good["states"], good["complete"]) == (0, "holds", 8, True)
    kinds = {each["kind"]: each for each in good["weak"]}
    assert set(kinds) == {"bounded", "never fired"}
    near = kinds["never fired"]["nearest_guard"]
    assert near["guard"] == "it requires len(self.asked) > self.clients, that is 1 > 2"
    assert near["place"] == {"file": "lease.py", "line": 30}
    assert near["after"] == ["initial()", "asks(client=c1)"]
    assert (bad["design"], bad["expected"], bad["property"]["name"]) == ("GrantsUnasked", True, "holder_asked")
    steps = bad["counterexample"]["steps"]
    assert [each["step"] for each in steps] == ["initial()", "grants(client=c1)"]
    assert steps[1]["changes"] == ["holder: None -> c1"]
    assert bad["counterexample"]["why"][0] == "why holder_asked is false:"
    assert bad["counterexample"]["where_the_good_design_differs"]["step"] == 2


def test_explain_has_whole_states_and_watched_expressions(project: Path) -> None:
    (bad,) = ask(project, "explain", spec="lease.toml", design="GrantsUnasked", watch=["len(asked)"])["results"]
    last = bad["counterexample"]["steps"][-1]
    assert last["state"] == {"holder": "c1", "asked": []}
    assert last["watched"] == {"len(asked)": "0"}


def test_step_gives_what_is_enabled_and_which_guards_stop_the_rest(project: Path) -> None:
    assert ask(project, "step", spec="lease.toml")["beginnings"] == ["initial()"]
    answered = ask(project, "step", spec="lease.toml", path=["initial()", "asks(client=c2)"], watch=["holder"])
    assert [each["step"] for each in answered["enabled"]] == ["asks(client=c1)", "grants(client=c2)"]
    assert answered["enabled"][1]["changes"] == ["holder: None -> c2"]
    assert [each["guard"] for each in answered["blocked"] if each["action"] == "breaks"] == [
        "it requires len(self.asked) > self.clients, that is 1 > 2"
    ]
    assert answered["properties"][0]["true"] is True
    stuck = ask(project, "step", spec="lease.toml", path=["initial()", "grants(client=c2)"])
    assert stuck["exit_code"] == 2
    assert stuck["stopped"].startswith("grants(client=c2) is not enabled")


def test_show_prove_and_simulate_answer(project: Path) -> None:
    (shown,) = ask(project, "show", spec="lease.toml")["specs"]
    assert shown["variables"][0] == {"name": "holder", "type": "Client | None", "bits": "2 bits"}
    assert shown["known_bad"] == [{"design": "GrantsUnasked", "must_violate": "holder_asked"}]
    proved = ask(project, "prove", spec="lease.toml", any_size=True)
    assert (proved["result"]["verdict"], proved["weak"]) == ("holds", [])
    walked = ask(project, "simulate", spec="lease.toml", walks=50, design="Lease")["results"][0]
    assert (walked["verdict"], walked["complete"]) == ("undetermined", False)
    assert "incomplete" in [each["kind"] for each in walked["weak"]]
    refused = ask(project, "simulate", spec="lease.toml", strategy="luck")
    assert "strategy is one of actions, instances, priorities, swarm, novel, not 'luck'" in refused["error"]
    refused = ask(project, "simulate", spec="lease.toml", steps=0)
    assert (refused["exit_code"], refused["error"]) == (2, "steps must be a whole number, 1 or more, not 0")


def test_a_bounded_search_begins_where_walks_end(project: Path) -> None:
    """The model is that of the tests of deep runs."""
    (project / "stair.py").write_text(Path(inspect.getfile(Stair)).read_text())
    (project / "stair.toml").write_text('model = "stair.py:Stair"\n')
    near = ask(project, "prove", spec="stair.toml", method="bmc", depth=6)
    far = ask(project, "prove", spec="stair.toml", method="bmc", depth=6, after_walks=300)
    assert (near["result"]["verdict"], far["result"]["verdict"]) == ("undetermined", "violated")
    assert len(far["result"]["trace"]) >= 18
    refused = ask(project, "prove", spec="stair.toml", after_walks=300)
    assert refused["exit_code"] == 2
    assert "after_walks is a number of walks, 1 or more, for method bmc" in refused["error"]


def test_mutate_and_conform_answer(project: Path) -> None:
    (project / "lease.toml").write_text('model = "lease.py:Lease"\nidle = ["breaks"]\n')
    tried = ask(project, "mutate", spec="lease.toml", only="client in self.asked")["mutation"][0]
    assert sum(tried["counts"].values()) == len(tried["mutants"]) > 0
    (project / "run.jsonl").write_text('{"action": "asks", "arguments": {"client": "c1"}}\n{"action": "breaks"}\n')
    judged = ask(project, "conform", spec="lease.toml", trace="run.jsonl")
    assert (judged["exit_code"], judged["traces"][0]["verdict"], judged["traces"][0]["line"]) == (1, "rejected", 2)


def test_diff_answers_what_an_edit_allows(project: Path) -> None:
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        settings = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *settings, *words], cwd=project, check=True)
    text = (project / "lease.py").read_text()
    assert "require(client in self.asked" in text
    (project / "lease.py").write_text(text.replace("require(client in self.asked", "require(client not in self.asked"))
    answered = ask(project, "diff", spec="lease.toml")
    (entry,) = answered["specs"]
    assert (answered["exit_code"], entry["model"]["added"], entry["model"]["removed"]) == (1, "some", "some")
    assert entry["model"]["runs"][0]["trace"][-1]["action"] == "grants"


def test_check_takes_one_property_and_refuses_one_that_no_model_has(project: Path) -> None:
    (good, _) = ask(project, "check", spec="lease.toml", property="holder_asked")["results"]
    assert good["verdict"] == "holds"
    refused = ask(project, "check", spec="lease.toml", property="holder_aksed")
    assert "no model here has a property 'holder_aksed'" in refused["error"]


def test_check_says_that_a_search_was_cut(project: Path) -> None:
    within = "\n    @boundary\n    def few(self) -> bool:\n        return len(self.asked) < 2\n"
    model, bad, rest = MODEL.partition("\n\nclass GrantsUnasked")
    model = model.replace("import Constant,", "import boundary, Constant,")
    (project / "lease.py").write_text(model + within + bad + rest)
    (good, _) = ask(project, "check", spec="lease.toml")["results"]
    (cut,) = [each["text"] for each in good["weak"] if each["kind"] == "cut"]
    assert cut.startswith("the search was cut at the boundary ")


@pytest.mark.parametrize("spec", ["../secret.toml", "link.toml", "sideways.toml", "design.toml", "/etc/hostname"])
def test_files_outside_of_the_project_are_refused(project: Path, spec: str) -> None:
    (project.parent / "secret.toml").write_text(SPEC)
    (project.parent / "lease.py").write_text(MODEL)
    (project / "link.toml").symlink_to(project.parent / "secret.toml")
    (project / "sideways.toml").write_text('model = "../lease.py:Lease"\n')
    (project / "design.toml").write_text(SPEC.replace('class = "lease.py', 'class = "../lease.py'))
    answered = ask(project, "check", spec=spec)
    assert answered["exit_code"] == 2
    assert "is outside of the project" in answered["error"], answered


def test_a_recorded_run_outside_of_the_project_is_refused(project: Path) -> None:
    (project.parent / "run.jsonl").write_text("{}\n")
    answered = ask(project, "conform", spec="lease.toml", trace="../run.jsonl")
    assert "is outside of the project" in answered["error"]


def test_a_mistake_in_a_model_has_its_place(project: Path) -> None:
    (project / "lease.py").write_text(MODEL.replace("self.holder = client", "self.holders = client"))
    result = ask(project, "check", spec="lease.toml", design="Lease")["results"][0]
    assert (result["verdict"], result["place"]["file"]) == ("error", "lease.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "budget", "said"),
    [
        ("while True: pass", Budget(0.5, 4 << 30), "ended after the budget of 0.5 seconds"),
        ("held = b'x' * (1 << 29); import time; time.sleep(60)", Budget(60, 1 << 28), "ended at the budget of 256 MiB"),
        ("import os; os._exit(3)", Budget(), "the call ended without an answer"),
    ],
)
@pytest.mark.usefixtures("processes")
def test_a_call_ends_with_its_budget(project: Path, line: str, budget: Budget, said: str) -> None:
    (project / "lease.py").write_text(f"{line}\n{MODEL}")
    answered = answer(project, "show", {"spec": "lease.toml"}, budget)
    assert said in answered["error"]
    assert answered["verdict"] in ("undetermined", "error")


@pytest.mark.slow
@pytest.mark.usefixtures("processes")
def test_the_command_serves_over_standard_input_and_output(project: Path) -> None:
    """The model prints, which must spoil neither the connection nor the answer."""
    import anyio
    from mcp import Client, StdioServerParameters

    (project / "lease.py").write_text(f"print('loaded')\n{MODEL}")
    code = f"import sys; sys.path[:0] = {[str(REPOSITORY), *sys.path]!r}; import floodmark.__main__ as it; it.main()"
    words = ["-c", code, "mcp", str(project), "--max-seconds", "30"]
    parameters = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))

    async def call() -> Any:
        async with Client(parameters) as client:
            return await client.call_tool("show", {"spec": "lease.toml", "max_seconds": 1000})

    found = anyio.run(call)
    assert found.structured_content["exit_code"] == 0


def test_without_the_package_the_command_says_what_to_install(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("floodmark.checkers.command_line.servers.find_spec", lambda _: None)
    ended = floodmark("mcp", at=project)
    assert (ended.code, "pip install 'floodmark[assistants]'" in ended.err) == (2, True)
