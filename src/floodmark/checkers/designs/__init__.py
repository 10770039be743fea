"""Compares a known-bad design with the good one that it is derived from: the steps that only one of them takes.

- ``divergence.py``: begin here. The first step of a counterexample that the good design would not take, also of
  a spec's known-bad design.
- ``distinctions.py``: the differences of two designs that take the same steps.
- ``design_pair.py``: one design in a state of the other, and its reaction to a step.
- ``rule_calls.py``: the overridden rule that returned something else.

CPython runs both classes, with the same constants. Two states are the same if the variables of the good design are. A
step that changes only variables of the known-bad design is a stutter for the good one.
"""
