"""What a run prints and writes; all reports are made from the same results.

Engines, proofs and walks do not import it: they return data, and ``checkers/explanation`` has what they say of a step.

- ``outputs.py``: the options that commands share, and the writing of files. ``verdict_summary.py``: what every report
  says about a check, a proof or a claim. ``atomic_file.py``: files that are written completely or not at all;
  ``standard_output.py``: the JSON on standard output, alone.
- ``text.py``, ``proof_text.py``, ``listing.py``, ``progress.py``, ``colour.py``, ``counting.py``,
  ``proof_progress.py``: what a terminal shows. ``trace_view.py``: a part of a counterexample; ``watched.py``:
  expressions in its states; ``progress_file.py``: how far a run is, as JSON.
- ``divergence.py``: where the good design decides otherwise than a known-bad one.
- ``junit.py``, ``sarif.py``, ``github.py``, ``json.py``, ``itf.py``, ``state_graph.py``: one format each.
- ``sequence.py``: finds out from a trace who acts and who sends what to whom, for ``mermaid.py`` and ``html/chart.py``;
  ``role.py``: the role and the epoch of a participant.
- ``html/``: the page. ``schemas/``: the JSON schemas of what commands write.
- ``replay.py`` writes a counterexample as a test; ``python_source.py``: values as Python code.
"""
