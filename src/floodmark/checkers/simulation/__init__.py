"""Random walks, for sizes that no search finishes.

``simulate.py`` is where to begin: groups of walks, threads that take them, and the violation of the lowest walk that
meets one. It builds on these files, each on top of the ones before it:

- ``walk_loops.py``: the compiled loop; ``compiled_walks.py``: the machine code of a model for it.
- ``sample.py``: the number of distinct states; ``walker.py``: one thread's walks, and the strategies.
- ``totals.py``: the counts of walks, to be added up.
- ``shrinking.py``: a shorter counterexample. ``engine.py``: the walks as an engine.
- ``deep_runs.py``: runs to states that few walks visit, where tests and bounded searches begin.

Decisions:

- Each action is a function of its own, and a walk calls the one that it has drawn. The call evaluates all instances of
  the action. Transition properties are therefore evaluated in all of these steps, but only for one action in each
  state.
- Symmetry is not used: finding the representative of a state takes longer than another step.
- Walks often return to a state, and its properties depend on the state alone. A cache holds the masks of some recent
  states, and compares states word by word.
- Estimates of unvisited states treat walks as independent, never states or steps, which are not: intervals that treated
  those as independent contained the truth in hardly any case.
- A walk that meets a violation is repeated with its path recorded, and CPython takes every step of that path. No report
  relies on compiled code alone.
- Walks never show that a property holds. The verdict without a violation is undetermined, and a spec can be walked in
  the gate only if it expects a violation.
"""
