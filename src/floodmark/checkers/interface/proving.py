"""``floodmark.prove``: proves properties of a model, without a search of its states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floodmark.checkers.interface.results import Proof
from floodmark.checkers.interface.subject import Design, PropertyArgument, class_spec, names_of
from floodmark.checkers.project.input_limits import require_numbers
from floodmark.checkers.project.spec_entries import PROOF_METHODS, ProofMethod
from floodmark.checkers.symbolic.methods.task import DEFAULT_DEPTH, ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.verdict.check import Check, CheckSettings

SETTINGS = ("properties", "method", "any_size", "unbounded", "depth", "after_walks", "seconds", "constants")


def prove(
    design: Design,
    *,
    method: ProofMethod = "induction",
    properties: Sequence[PropertyArgument] | None = None,
    any_size: bool = False,
    unbounded: bool = False,
    depth: int = DEFAULT_DEPTH,
    after_walks: int = 0,
    seconds: float | None = None,
    constants: Mapping[str, int] | None = None,
    **sizes: int,
) -> Proof:
    """Proves invariants and transition properties of a model: ``floodmark.prove(Lease, method="k-induction")``.

    ``design`` and its constants are as for ``floodmark.check``, and so are ``properties``, which are those to prove;
    without them, all. ``method`` is "induction", "k-induction", "infer" (which looks for the lemmas that induction
    lacks), "ranking" (for properties of runs) or "bmc" (a search for a violation, up to ``depth``, that begins
    after ``after_walks`` random walks if there are any). With ``any_size`` the proof is for any number of identifiers,
    with ``unbounded`` for any value of the other constants. After ``seconds`` it is given up, and undetermined.

    Raises SourceError, with the command's text, for what cannot be read or proved by the method, and TypeError or
    ValueError for wrong arguments.
    """
    if method not in PROOF_METHODS:
        raise ValueError(f"method is one of {', '.join(PROOF_METHODS)}, not {method!r}")
    if after_walks and method != "bmc":
        raise ValueError("after_walks is for method bmc: a proof is about all states")
    require_numbers(depth=depth, after_walks=after_walks, seconds=seconds)
    names, functions = names_of(properties)
    spec = class_spec(design, constants, sizes, SETTINGS, functions=functions)
    task = ProofTask(method, depth, unbounded, any_size, seconds, properties=names or (), after_walks=after_walks)
    return Proof(prove_check(Check(spec, None, CheckSettings()), task))
