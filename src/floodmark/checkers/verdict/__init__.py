"""Checks and their results, as every command and every report reads them.

- ``check.py``: a check of a spec's model or of one of its known-bad designs, with the options of the command line.
- ``verdict.py`` compares the result of a search with the spec, and takes results from other processes. ``result.py`` is
  the outcome of a check or of a scenario of a spec, ``proof_result.py`` that of a proof or a claim, with the command
  for a proof that a spec lists, ``gate_outcome.py`` that of a run of the gate.
- ``divergence.py``: the step at which the good design differs from a known-bad one.
"""
