"""The tables of a spec as classes: expectations, known-bad designs, proofs, mutants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

Tier = Literal["quick", "deep"]
TIERS: tuple[Tier, ...] = get_args(Tier)


@dataclass(frozen=True, slots=True)
class ExpectedVerdict:
    """The verdict that a spec expects, and the figures that it states."""

    verdict: Literal["holds", "violated"] = "holds"
    property: str | None = None
    depth: int | None = None
    distinct: int | None = None
    generated: int | None = None


@dataclass(frozen=True, slots=True)
class RefinementDemands:
    """The demands on refinements besides steps: that mapped runs are fair, and have the other model's properties."""

    liveness: bool = False


@dataclass(frozen=True, slots=True)
class ListedDesign:
    """A known-bad design and the property that it must break; ``depth`` is the number of states of its shortest
    trace, ``rows`` are those of the spec's rows at which it is checked; ``tier`` is None if that is its model's."""

    reference: str
    name: str
    property: str
    depth: int | None = None
    constants: Mapping[str, int] = field(default_factory=dict)
    invariants: tuple[str, ...] = ()
    tier: Tier | None = None
    rows: tuple[str, ...] = ()
    line: int | None = None


StrategyName = Literal["actions", "instances", "priorities", "swarm", "novel"]
STRATEGIES: tuple[StrategyName, ...] = get_args(StrategyName)


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """Random walks instead of a search: their number, their maximum length in steps, the seed, and the strategy that
    draws each next step (``checkers/simulation/walker.py`` defines the strategies)."""

    walks: int = 100_000
    steps: int = 100
    seed: int = 0
    strategy: StrategyName = "actions"


ProofMethod = Literal["induction", "bmc", "k-induction", "infer", "ranking"]
ProofExpectation = Literal["holds", "bounded"]
"""The expected result of a proof. A bounded search proves less than the others: no violation within its depth. A spec
that expects no more says "bounded"; the verdict "undetermined" is then the expected one."""
PROOF_METHODS: tuple[ProofMethod, ...] = get_args(ProofMethod)


@dataclass(frozen=True, slots=True)
class ListedProof:
    """A proof that a spec lists: the request to ``floodmark prove``, and the ``tier`` in which the gate makes it.

    ``properties`` are those to prove; none means all. ``constants`` override the spec's. ``expect`` "bounded" is for
    bounded search, where the claim is only that there is no violation within ``depth`` states.
    """

    method: ProofMethod = "induction"
    depth: int | None = None
    unbounded: bool = False
    any_size: bool = False
    properties: tuple[str, ...] = ()
    constants: Mapping[str, int] = field(default_factory=dict)
    tier: Tier = "quick"
    expect: ProofExpectation = "holds"
    rows: tuple[str, ...] = ()
    line: int | None = None

    @property
    def name(self) -> str:
        """The name of the proof among those of its spec: ``induction unbounded brokers=4``."""
        words: list[str] = [self.method]
        words += ["unbounded"] if self.unbounded else []
        words += ["any size"] if self.any_size else []
        words += [f"{name}={value}" for name, value in self.constants.items()]
        return " ".join([*words, *self.properties])

    def is_called(self, name: str) -> bool:
        """Whether its name is this one, or begins with these words."""
        return f"{self.name} ".startswith(f"{name} ")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run that must be ``possible``, or whose last step must not be."""

    name: str
    steps: tuple[str, ...]
    possible: bool = True
    rows: tuple[str, ...] = ()
    line: int | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SurvivalReason:
    """Why no check needs to notice some mutants of the model, each identified by its change."""

    reason: str
    changes: tuple[str, ...]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Mutation:
    """The mutation test of the spec's model.

    ``also`` are further specs that a mutant has to survive. ``own`` limits the changes to what the model adds to the
    models that it extends. ``survivors`` are the mutants that survive all specs, with reasons.
    """

    also: tuple[Path, ...] = ()
    own: bool = False
    survivors: tuple[SurvivalReason, ...] = ()
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpecRow:
    """A row of the file: ``values`` has its values, by key, ``place`` its table, such as ``row.0``."""

    name: str
    values: Mapping[str, Any]
    place: str
    line: int
