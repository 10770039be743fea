"""Checks real implementations, and recorded runs of them, against a model.

A test drives an implementation in step with the model, by Hypothesis (``state_machine``), along long runs (``walk``,
and ``tour`` for an implementation that is slow), or along a trace (``replay``). An ``Adapter`` says what the
implementation can do and what can be observed::

    from floodmark.conformance import Adapter, model_of, observable, state_machine

    class LeaseAdapter(Adapter):
        environment = {"time_passes"}

        def __init__(self, start):
            self.server = LeaseServer(start.duration)

        def server_grants(self, client):
            self.server.grant(str(client))

        @observable
        def granted(self):
            return self.server.rest()

    TestLease = state_machine(model_of("specs/lease.toml"), LeaseAdapter).TestCase

To hunt for a fault in running code, ``hunt`` looks for a run of a model that breaks a property, ``drive`` lets an
implementation take it, and ``first_difference`` shows where that parts from a model without the fault. ``trace_of`` and
``steps_of`` convert runs to traces and back, and ``plain`` is a value as a trace has it; ``covering_runs`` are runs
that cover a model, ``deep_runs`` runs to states that few random walks visit, after which tests can begin.

``floodmark conform`` checks recorded runs: traces of a model's steps, and metadata logs of KRaft clusters.
"""

from floodmark.checkers.conformance.adapter import Adapter, observable
from floodmark.checkers.conformance.lockstep import Mismatch, replay, side_by_side
from floodmark.checkers.conformance.state_machine import model_of, state_machine
from floodmark.checkers.conformance.tours import tour
from floodmark.checkers.conformance.walks import WalkFailure, walk
from floodmark.checkers.interface.hunting import (
    MinimalCounterexample,
    covering_runs,
    deep_runs,
    drive,
    first_difference,
    hunt,
    steps_of,
    trace_of,
)
from floodmark.checkers.value_text import plain

__all__ = [
    "Adapter", "MinimalCounterexample", "Mismatch", "WalkFailure", "covering_runs", "deep_runs", "drive",
    "first_difference", "hunt", "model_of", "observable", "plain", "replay", "side_by_side", "state_machine",
    "steps_of", "tour", "trace_of", "walk",
]
