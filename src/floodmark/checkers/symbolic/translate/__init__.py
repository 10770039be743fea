"""The program's graph as z3 terms.

- ``transition_system.py``: a model as states, initial states, actions, and one step as a relation.
- ``expressions.py``, ``reductions.py``, ``evaluation.py``: expressions; loops and comprehensions; the context of an
  evaluation. ``effects.py``: statements and whole actions. ``any_size_loops.py``: loops over any number of elements.
- ``guards.py``: the guards of actions, as source; ``synthetic_functions.py``: functions that have no source file.
  ``obligations.py``: the obligations of an action.
"""
