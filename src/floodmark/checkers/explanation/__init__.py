"""Why something is so: what engines, proofs, walks and reports all say of a counterexample.

Read ``guard.py`` first.

- ``predicate.py``: why a predicate is false, found by evaluating its parts in CPython. ``false_property.py``: the same
  of a property in the last state of a trace, or in its last step.
- ``guard.py``: the guard that stopped a step. ``refinement.py``: what a refined model says of a step that is none of
  its own.
- ``trace.py``: the steps of a trace, each with what it changes; ``trace_entries.py``: the same as JSON.
- ``source_location.py``: the place in the source to which a result belongs.
"""
