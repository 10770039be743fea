"""Explanations of counterexamples, for engines, proofs, walks and reports.

Read ``guard.py`` first.

- ``predicate.py``: why a predicate is false, found by evaluating its parts in CPython. ``false_property.py``: why a
  property is false in the last state of a trace, or in its last step, which a refined model sees in its own way.
- ``guard.py``: the guard that stopped a step.
- ``trace.py``: the steps of a trace, each with its changes, and as JSON.
- ``source_location.py``: the place in the source to which a result belongs.
"""
