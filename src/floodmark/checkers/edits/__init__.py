"""What an edit changes: two versions of a model, compared run by run, and two versions of a spec.

- ``comparison.py``: begin here. Two models in, a ``Difference`` out (``difference.py``).
- ``alignment.py``: which variables, types and actions of two versions are the same thing.
- ``joint_search.py``, ``joint_loops.py``, ``version_code.py``: versions with the same variables, in one search over
  compiled code.
- ``run_graph.py``, ``graph_loops.py``, ``projection.py``, ``inclusion.py``: versions with other variables, as graphs;
  what is seen of a state; whether every run of one graph is one of another.
- ``reach.py``: the states that only one version reaches; ``reasons.py``: why a version does not take a step.
- ``versions.py``, ``pairs.py``: commits and the working tree, and the specs in both.
- ``spec_edit.py``, ``spec_changes.py``, ``property_changes.py``: what changed of a whole spec.
- ``text.py``, ``json_entries.py``: as text and as JSON, of which reports are made (``checkers/report/edits.py``).

``docs/decisions/edits.md`` says what a behaviour is, and why.
"""
