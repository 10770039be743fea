"""Liveness: properties of infinite runs under fairness, judged after a complete search.

- ``check.py`` is where to begin: an engine calls it after a complete search. ``judge.py`` has the verdicts.
- ``goals.py``, ``assumptions.py``: the goals, for each choice of parameters; fairness assumptions, and the labels of
  steps.
- ``graph.py``: states and the steps between them as flat arrays.
- ``compiled_graph.py``, ``labelled_module.py``: that graph of a native search, its edges made again by compiled code.
- ``components.py``, ``loops.py``: fair components, by Tarjan's algorithm and Streett's refinement in compiled loops.
- ``mapped_runs.py``: goals about the runs of a refined model to which runs are mapped.
- ``plain.py``: the same graph and components in plain Python and networkx, for the reference engine.
- ``lasso.py``: a shortest path into a component, and a short fair loop in it.
- ``witness.py``, ``disabling_guard.py``: each step taken again by CPython; the guard that disables a fair action.
- ``minimal_fairness.py``: the smallest set of fairness assumptions under which a property holds.

Decisions:

- Edges are computed once for all properties and kept, one word each. Computing them costs about as much as the search;
  each property, and each attempt to drop an assumption, then takes one pass of Tarjan's algorithm over them.
- The states are copied into an array and a table of this room, which makes it independent of the search's store.
- Whether a component is fair depends on the actions that are enabled and taken within it, never on edges that leave or
  enter it. If a component is unfair to a weakly fair label, so are its subcomponents. If it is unfair to a strongly
  fair label, it is searched again without the states that enable that label.
- A lasso is verified three times: in compiled loops, by CPython's steps and guards, and, where there are bounds, in the
  model with larger ones. A disagreement of the first two is an internal error.
- The smallest set of assumptions is found by hitting sets: each run that breaks a property under fewer assumptions is
  unfair to some, one of which is necessary. So few sets have to be tried.
- After a search on Spark, workers verify the properties that hold (``checkers/spark/liveness.py``). For one that does
  not, the driver fetches the states and computes their edges in its own memory; where a limit ends that, the check is
  undetermined.
"""
