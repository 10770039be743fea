"""Compares implementations, and recorded runs of them, with a model.

- ``adapter.py``: an adapter of an implementation, checked against a model.
- ``lockstep.py``, ``state_machine.py``: model and implementation take the same steps, up to the first difference;
  Hypothesis chooses them, ``replay`` follows a trace.
- ``proposals.py``, ``walks.py``, ``coverage.py``: the model's compiled code proposes steps, a random or coverage-guided
  choice selects one, CPython and the implementation take it.
- ``tours.py``: a slow implementation takes a small set of runs that cover the model.
- ``shrinking.py``: shorter runs.
- ``external_values.py``: values from outside, as plain Python, or as JSON that may omit parts.
- ``trace_file.py``, ``behaviour.py``: recorded runs, and the search over the states that a model may be in.
- ``rejection.py``: the nearest actions, and the guard that stopped each.
- ``traces.py``: many traces in processes or as Spark tasks.
- ``metadata_log/``: logs of KRaft clusters.

Decisions:

- Only CPython judges traces. A trace is short and passes through few states, and "accepted" refers to the meaning of
  the class.
- Hypothesis shrinks only roughly, since leaving out a step shifts the choices after it. The last run is therefore
  shortened step by step until no step can be left out.
"""
