"""Random walks, for sizes that no search finishes.

``simulate.py`` is where to begin: groups of walks, threads that take them, and the violation of the lowest walk that
meets one. It builds on these files, each on top of the ones before it:

- ``walk_loops.py``: the compiled loop; ``compiled_walks.py``: the machine code of a model for it.
- ``sample.py``: the number of distinct states; ``walker.py``: one thread's walks, and the strategies.
- ``totals.py``: what walks counted, to be added up.
- ``shrinking.py``: a shorter counterexample. ``engine.py``: the walks as an engine.

Decisions:

- Each action is a function of its own, and a walk calls the one that it has drawn. That evaluates all instances of the
  action, so transition properties are evaluated in all of these steps, and only one of the actions in each state.
- Symmetry is not used: to find the representative of a state takes longer than another step.
- A walk that meets a violation is taken again with its path noted, and CPython takes every step of that path. What is
  reported never rests on compiled code alone.
- Walks never show that a property holds. The verdict without a violation is undetermined, and a spec can be walked in
  the gate only if it expects a violation.
"""
