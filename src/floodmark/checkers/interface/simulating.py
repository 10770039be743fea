"""``floodmark.simulate``: random walks through a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floodmark.checkers.interface.checking import result_of
from floodmark.checkers.interface.results import Result
from floodmark.checkers.interface.subject import Design, PropertyArgument, class_spec, names_of
from floodmark.checkers.project.input_limits import require_numbers
from floodmark.checkers.project.spec_entries import STRATEGIES, SimulationSettings, StrategyName
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.language.model import Model

SETTINGS = ("walks", "steps", "seed", "strategy", "properties", "good", "seconds", "workers", "constants")
"""The names of the arguments that are no constants."""
_USUAL = SimulationSettings()


def simulate(
    design: Design,
    *,
    walks: int = _USUAL.walks,
    steps: int = _USUAL.steps,
    seed: int = _USUAL.seed,
    strategy: StrategyName = _USUAL.strategy,
    properties: Sequence[PropertyArgument] | None = None,
    good: type[Model] | None = None,
    seconds: float | None = None,
    workers: int = 0,
    constants: Mapping[str, int] | None = None,
    **sizes: int,
) -> Result:
    """Takes random walks through a model, for sizes that no search finishes: ``floodmark.simulate(Lease, clients=9)``.

    ``walks`` is their number, ``steps`` how many steps each takes at most. The same ``seed`` is the same walks, however
    many workers there are. ``strategy`` is as on the command line. The other arguments are those of
    ``floodmark.check``, and so is what is raised. The result never holds: without a violation it is undetermined.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy is one of {', '.join(STRATEGIES)}, not {strategy!r}")
    require_numbers(walks=walks, steps=steps, seed=seed, seconds=seconds, workers=workers)
    names, functions = names_of(properties)
    spec = class_spec(design, constants, sizes, SETTINGS, functions=functions, invariants=names)
    simulation = SimulationSettings(walks, steps, seed, strategy)
    settings = CheckSettings(limits=Limits(seconds=seconds), workers=workers, walks=simulation)
    return result_of(Check(spec, None, settings), names, good)
