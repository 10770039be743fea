"""The program's graph as z3 terms.

- ``transition_system.py``: a model as states, initial states, actions, and one step as a relation.
- ``effects.py``: whole actions and predicates. ``statements.py``: statements, with ``assignments.py``.
- ``expressions.py``: expressions, with ``sequences.py``, ``set_operations.py`` and ``reductions.py``: loops and
  comprehensions. ``evaluation.py``: the context in which all of these evaluate.
- ``any_size_loops.py``: what is known after a loop over any number of elements; ``any_size_effects.py``: its terms;
  ``small_counts.py``: the size of such a set, compared with a small number.
- ``guards.py``: the guards of actions, as source; ``synthetic_functions.py``: functions that have no source file.
  ``obligations.py``: the obligations of an action.
"""
