"""Tests, named by their purpose. The files that do not begin with ``test_`` are what they share.

- ``model_strategy.py`` generates whole models on which CPython and every engine have to agree. ``campaign.py`` runs as
  many of them as one likes; what it found stays in ``test_regressions.py``.
- ``agreement.py`` compares reachable sets state by state. ``test_compiler.py`` has a small model for each construct of
  the language.
- ``second_solver.py`` asks cvc5 about the obligations of recorded proofs.
- ``planted.py`` plants mistakes into compiler and engines, one at a time, and runs the tests that execute the changed
  line; ``planted.toml`` says why a survivor needs no test.
- ``ir_evaluation.py`` evaluates expression graphs in Python's integers; ``test_meaning.py`` has models that tell a
  right reading from a wrong one.
- ``test_readme.py`` runs what the README shows. The counts in ``[expect]`` tables of specs are tests too: those of the
  examples also come from TLC and Stateright.
- ``losses.py`` runs the code of the Spark search through schedules of losses without Spark.
- ``browser.py`` drives headless Chromium through its debugging pipe, to look at the page as a reader would.

Tests that take long are marked ``slow``. Performance is measured in ``benchmarks/``; no test asserts a time.
"""
