"""The output of a run, on the terminal and in files; every report is made from the same results.

Engines, proofs and walks do not import this room: they return data. ``checkers/explanation`` explains single steps.

- ``outputs.py``: the options that commands share, and the writing of files. ``verdict_summary.py``: the content of a
  check, a proof or a claim that all reports share. ``atomic_file.py``: atomic writing of files; ``standard_output.py``:
  the JSON on standard output, alone.
- ``text.py``, ``listing.py``, ``progress.py``, ``colour.py``: the output on a terminal. ``trace_view.py``: a part of a
  counterexample; ``watched.py``: expressions in its states; ``progress_file.py``: the progress of a run, as JSON.
- ``divergence.py``: the text about the first step at which the good design differs from a known-bad one.
- ``junit.py``, ``sarif.py``, ``github.py``, ``json.py``, ``itf.py``, ``state_graph.py``: one format each.
- ``sequence.py``: infers senders, receivers and messages from a trace, for ``mermaid.py`` and ``html/chart.py``;
  ``role.py``: the role and the epoch of a participant.
- ``html/``: the page. ``schemas/``: the JSON schemas of the commands' output.
- ``replay.py`` writes a counterexample as a test; ``python_source.py``: values as Python code.
"""
