"""Compares two versions of a model run by run, and two versions of a spec.

- ``comparison.py``: begin here. Two models in, a ``Difference`` out (``difference.py``).
- ``alignment.py``: which variables, types and actions of two versions are the same thing.
- ``joint_search.py``, ``joint_loops.py``, ``version_code.py``: versions with the same variables, in one search over
  compiled code.
- ``run_graph.py``, ``graph_loops.py``, ``projection.py``, ``inclusion.py``: versions with other variables, as graphs;
  the projection of states to shared variables; inclusion of the runs of one graph in those of another.
- ``reach.py``: the states that only one version reaches; ``reasons.py``: the reason why a version lacks a step.
- ``versions.py``, ``pairs.py``: commits and the working tree, and the specs in both.
- ``spec_edit.py``, ``spec_changes.py``, ``property_changes.py``: what changed of a whole spec.
- ``text.py``, ``json_entries.py``: the result as text and as JSON, for the reports (``checkers/report/edits.py``).

``docs/decisions/edits.md`` says what a behaviour is, and why.
"""
