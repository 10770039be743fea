"""A known-bad design beside the good one that it is derived from: which steps one takes and the other does not.

- ``divergence.py``: begin here. The first step of a counterexample that the good design would not take.
- ``aims.py``: what tells two designs apart that take the same steps.
- ``beside.py``: one design in a state of another, and what it does with a step. ``rulings.py``: the overridden rule
  that answered otherwise. ``good_design.py``: the good design of a known-bad one, as a spec names the two.

CPython runs both classes, with the same constants. States are compared by the variables that the good design has. What
a known-bad design adds to them is its own affair: a step that changes nothing else is none that the good one would have
to take.
"""
