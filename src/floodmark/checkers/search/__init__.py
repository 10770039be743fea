"""The search over compiled code: breadth first, level by level, exact, independent of where the states are stored.

- Start with ``driver.py``: levels, budgets, violations, counters.
- ``store.py``: the interface of a store; memory and files are in ``native/``, a cluster in ``spark/``.
- ``trace.py``: the way back from a state, replayed in CPython.
- ``symmetry.py``: tests on states of the search whether compiled code is as symmetric as the proof claims.
- ``statistics.py``: the distinct values of each variable; ``container_sizes.py``: the largest size of each container.
"""
