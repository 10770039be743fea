"""Checks and their results, as every command and every report reads them.

- ``check.py`` is what is checked: a spec's model or one of its known-bad designs, with the options of the command line.
- ``verdict.py`` compares what a search found with the spec. ``result.py`` is the outcome of a check,
  ``proof_result.py`` that of a proof or a claim, ``gate_outcome.py`` that of a run of the gate,
  ``scenario.py`` that of a spec's scenario.
- ``divergence.py``: where the good design decides otherwise than a known-bad one; ``liveness_findings.py``: what the
  findings about infinite runs say together.
- ``result_transfer.py`` sends results from one process to another. ``proof_command.py`` is the command that makes a
  proof that a spec lists, and which of them a name means.
"""
