"""Runs of a model that a person writes down: the texts of its steps, taken by CPython one after the other.

- ``walk.py``: begin here. A path of steps, which CPython takes again.
- ``expansion.py``: every action in a state, enabled or not, and the guard that disables it.
- ``scenarios.py``: the scenarios of a spec, runs that must be possible or must not.
"""
