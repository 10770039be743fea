"""Random walks, for sizes that no search finishes.

``simulate.py`` is where to begin: groups of walks, threads that take them, and the violation of the lowest walk that
meets one. It builds on these files, each on top of the ones before it:

- ``walk_loops.py``: the compiled loop; ``compiled_walks.py``: the machine code of a model for it.
- ``sample.py``: the number of distinct states; ``walker.py``: one thread's walks, and the strategies.
- ``totals.py``: what walks counted, to be added up.
- ``shrinking.py``: a shorter counterexample. ``engine.py``: the walks as an engine.
- ``deep_runs.py``: runs to states that few walks visit, where tests and bounded searches begin.

Decisions:

- Each action is a function of its own, and a walk calls the one that it has drawn. That evaluates all instances of the
  action, so transition properties are evaluated in all of these steps, and only one of the actions in each state.
- Symmetry is not used: to find the representative of a state takes longer than another step.
- Walks often return to a state, and its properties depend on the state alone: the last masks of some states are kept,
  beside the states themselves, which are compared word by word.
- What walks have missed is estimated from walks, which are independent, and not from states or steps, which are not:
  intervals that took those for independent contained the truth in hardly any case.
- A walk that meets a violation is taken again with its path noted, and CPython takes every step of that path. What is
  reported never rests on compiled code alone.
- Walks never show that a property holds. The verdict without a violation is undetermined, and a spec can be walked in
  the gate only if it expects a violation.
"""
