"""Liveness: properties of infinite runs under fairness, judged after a complete search.

- ``check.py`` is where to begin: what an engine calls once it has seen every state. ``judge.py`` has the verdicts.
- ``goals.py``, ``assumptions.py``: the goals, for each choice of parameters; fairness assumptions, and the labels of
  steps.
- ``graph.py``: states and the steps between them as flat arrays.
- ``compiled_graph.py``, ``labelled_module.py``: that graph of a native search, its edges made again by compiled code.
- ``components.py``, ``loops.py``: fair components, by Tarjan's algorithm and Streett's refinement in compiled loops.
- ``plain.py``: the same graph and components in plain Python and networkx, for the reference engine.
- ``lasso.py``, ``witness.py``, ``disabled.py``: a shortest way into a component and a short fair loop; each step taken
  again by CPython, and the guard that keeps a fair action from being enabled.
- ``needs.py``: the smallest set of fairness assumptions under which a property holds.

Decisions:

- Edges are made once for all properties, and kept, a word each. Making them costs about as much as the search; each
  property, and each attempt to do without an assumption, then takes one pass of Tarjan's algorithm over them.
- The states are put into an array and a table of the room's own, so it does not matter how a search stored them.
- A component is judged by what is enabled and taken within it, never by what leads out of it or into it. In one that is
  unfair to a weakly fair label, every smaller one is unfair, too; one that is unfair to a strongly fair label is looked
  at again without the states that enable it.
- A lasso is judged three times: in compiled loops, by CPython's steps and guards, and, where there are bounds, in the
  model with larger ones. A disagreement of the first two is an internal error.
- The smallest set of assumptions is found by hitting sets: each run that breaks a property under fewer assumptions is
  unfair to some, and one of those is needed. So few sets have to be tried.
- Of a search that moved to Spark, the workers judge what holds (``checkers/spark/liveness.py``). What does not is
  judged on the driver, which fetches the states and makes their edges: they need its memory, and where a limit ends
  that, the check is undetermined.
"""
