"""Mutation testing of models: small changes of a model's source, and whether any check notices them.

- ``change.py``: the small changes of a function's syntax tree; ``mutant.py``: the mutants of a model, that is, the
  changes of every function that its steps run.
- ``trial.py``: one mutant against the checks of a spec and of the specs that it names; ``run.py``: many mutants, in
  processes or as Spark tasks.
- ``steps.py``: the digest of a state graph, which decides whether a mutant is equal to the model.
- ``report.py``: survivors compared with the reasons in the spec and with the set in the lock.

Decisions:

- A mutant is made in place: ``floodmark/language/source.py`` gives a function another syntax tree and other code for
  the duration of a check. CPython, the compiler and known-bad designs that call the function through ``super()`` all
  see the same change, on its true lines, and the checks are those of every other run.
- No switch in the code selects a mutant. Unoptimised code comes in parts, so a mutant compiles the actions in which it
  differs and takes the others from the cache: a few hundredths of a second, less than most searches.
- Equal means the same graph: the same states, and the same set of steps between different states. Equal figures are not
  enough, since an action that no longer changes anything may fire as often as before. Steps out of the boundary, and
  initial states there, count, because properties see them.
"""
