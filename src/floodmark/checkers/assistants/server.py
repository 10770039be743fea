"""The tools of ``floodmark mcp``, over standard input and output."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio.to_thread
from mcp.server import MCPServer

from floodmark.checkers.assistants.budget import Budget, answer
from floodmark.checkers.project.input_limits import memory as amount

INSTRUCTIONS = """Floodmark checks replication protocols that are written as Python classes. A spec is a TOML file that
names a model's class, its constants and its known-bad designs; specs are named by their path in this project. Read
docs/for-assistants.md for the language. Work in this order: show, check until every verdict is as expected, then
mutate: a surviving mutant is a property that is missing. An answer's `weak` says what a green result does not show.
After an edit, diff says which behaviours it added and removed."""


class Tools:
    """The tools of one project. ``most`` is the largest budget of a call; a call may ask for less."""

    def __init__(self, root: Path, most: Budget) -> None:
        self.root = root.resolve()
        self.most = most

    async def _ask(self, tool: str, max_seconds: float | None, max_memory: str | None, **given: Any) -> dict[str, Any]:
        seconds = self.most.seconds if max_seconds is None else min(max_seconds, self.most.seconds)
        memory = self.most.memory if max_memory is None else min(amount(max_memory), self.most.memory)
        arguments = {name: value for name, value in given.items() if value is not None}
        budget = Budget(seconds, memory)
        found: dict[str, Any] = await anyio.to_thread.run_sync(answer, self.root, tool, arguments, budget)
        return found

    async def check(
        self, spec: str, design: str | None = None, property: str | None = None,
        constants: dict[str, int] | None = None, max_seconds: float | None = None, max_memory: str | None = None,
    ) -> dict[str, Any]:
        """Searches every reachable state of a spec's model and of its known-bad designs (or only of `design`), and
        compares the verdicts with the spec. Gives counterexamples with their steps, why the property is false, and in
        `weak` what makes a result weak: actions that never fire, with the guard that comes nearest, vacuous
        properties, bounds."""
        return await self._ask("check", max_seconds, max_memory, spec=spec, design=design, property=property,
                               constants=constants)

    async def show(
        self, spec: str, max_seconds: float | None = None, max_memory: str | None = None
    ) -> dict[str, Any]:
        """Describes a spec and its model: constants, variables with types and bits, actions, properties,
        known-bad designs, scenarios, each with its place in the sources."""
        return await self._ask("show", max_seconds, max_memory, spec=spec)

    async def step(
        self, spec: str, path: list[str] | None = None, design: str | None = None,
        constants: dict[str, int] | None = None, watch: list[str] | None = None,
        max_seconds: float | None = None, max_memory: str | None = None,
    ) -> dict[str, Any]:
        """Walks a model along a path of steps, written as answers write them ("grants(client=c1)"), the initial step
        first. Gives the state, the enabled steps with what each changes, the guards that stop the others (for each
        action the nearest first), the truth of the properties, and the values of the expressions in `watch`. Without
        a path, the initial steps."""
        return await self._ask("step", max_seconds, max_memory, spec=spec, path=path, design=design,
                               constants=constants, watch=watch)

    async def explain(
        self, spec: str, design: str | None = None, constants: dict[str, int] | None = None,
        watch: list[str] | None = None, max_seconds: float | None = None, max_memory: str | None = None,
    ) -> dict[str, Any]:
        """Explains the counterexample of one design: every state on the way, what each step changes, why the property
        is false at the end, where the good design decides otherwise, and the values of the expressions in `watch`."""
        return await self._ask("explain", max_seconds, max_memory, spec=spec, design=design, constants=constants,
                               watch=watch)

    async def mutate(
        self, spec: str, only: str | None = None, max_seconds: float | None = None, max_memory: str | None = None
    ) -> dict[str, Any]:
        """Changes the model in small ways and checks each mutant (only those whose change contains the text `only`).
        A mutant that survives shows behaviour that no property constrains."""
        return await self._ask("mutate", max_seconds, max_memory, spec=spec, only_changes=only)

    async def prove(
        self, spec: str, method: str = "induction", properties: list[str] | None = None, any_size: bool = False,
        unbounded: bool = False, depth: int | None = None, after_walks: int | None = None,
        constants: dict[str, int] | None = None, max_seconds: float | None = None, max_memory: str | None = None,
    ) -> dict[str, Any]:
        """Proves invariants and transition properties: `method` is induction, k-induction, infer, ranking or bmc.
        `any_size` is for every number of identifiers, `unbounded` for every value of the other constants. A failed
        induction gives a state to exclude by a lemma. With bmc, `depth` is the most states of a run, and `after_walks`
        searches from the states that few of so many random walks reach, instead of the initial states."""
        return await self._ask(
            "prove", max_seconds, max_memory, spec=spec, method=method, properties=properties, any_size=any_size,
            unbounded=unbounded, depth=depth, after_walks=after_walks, constants=constants,
        )

    async def conform(
        self, spec: str, trace: str, hidden: int = 0, constants: dict[str, int] | None = None,
        max_seconds: float | None = None, max_memory: str | None = None,
    ) -> dict[str, Any]:
        """Judges recorded runs of an implementation (a file of JSON lines, or a folder of them): whether each is a
        behaviour of the model, and for one that is not, the line, the nearest actions and the guards that stop
        them."""
        return await self._ask("conform", max_seconds, max_memory, spec=spec, trace=trace, hidden=hidden,
                               constants=constants)

    async def simulate(
        self, spec: str, walks: int = 100_000, steps: int = 100, seed: int = 0, strategy: str = "actions",
        design: str | None = None, constants: dict[str, int] | None = None, max_seconds: float | None = None,
        max_memory: str | None = None,
    ) -> dict[str, Any]:
        """Takes random walks, for sizes that no search finishes. Without a violation the verdict is undetermined.
        `strategy` is actions, instances, priorities, swarm or novel: where one meets nothing, try another."""
        return await self._ask("simulate", max_seconds, max_memory, spec=spec, walks=walks, steps=steps, seed=seed,
                               strategy=strategy, design=design, constants=constants)

    async def diff(
        self, spec: str, against: str = "HEAD", constants: dict[str, int] | None = None,
        max_seconds: float | None = None, max_memory: str | None = None,
    ) -> dict[str, Any]:
        """Compares a spec and its model with those of a git commit: which behaviours the edit added and removed, each
        with a shortest run, which actions and properties became weaker or stronger, and in `weak` what is checked less
        than before. "none" is said only where a complete search shows it."""
        return await self._ask("diff", max_seconds, max_memory, spec=spec, against=against, constants=constants)


def server_of(root: Path, most: Budget) -> MCPServer[Any]:
    """The server of a project, without its connection."""
    server: MCPServer[Any] = MCPServer("floodmark", instructions=INSTRUCTIONS, version=version("floodmark"))
    tools = Tools(root, most)
    for each in (tools.check, tools.show, tools.step, tools.explain, tools.mutate, tools.prove, tools.conform,
                 tools.simulate, tools.diff):  # fmt: skip
        server.add_tool(each, description=" ".join((each.__doc__ or "").split()))
    return server


def serve(root: Path, most: Budget) -> None:
    """Answers over standard input and output until the client ends."""
    server_of(root, most).run("stdio")
