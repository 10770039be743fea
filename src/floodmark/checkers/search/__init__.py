"""The search over compiled code: breadth first, level by level, exact, wherever the states are.

- Start with ``driver.py``: levels, budgets, violations, counters.
- ``store.py``: what the driver asks of a store: memory and files in ``native/``, a cluster in ``spark/``.
- ``trace.py``: the way back from a state, replayed in CPython.
- ``symmetry.py``: tests whether compiled code is as symmetric as the proof says, on states of the search.
- ``statistics.py``: the distinct values of each variable; ``container_sizes.py``: the largest size of each container.
"""
