"""Tests, named by their purpose. The files that do not begin with ``test_`` are what they share.

- ``model_strategy.py`` generates whole models on which CPython and every engine have to agree. ``campaign.py`` runs as
  many of them as one likes; what it found stays in ``test_regressions.py``.
- ``small_programs.py`` enumerates every small body of a function over the statements of ``program_grammars.py``;
  ``program_agreement.py`` runs bodies by compiled code, z3's terms and CPython in every state, ``any_size_programs.py``
  compares the terms about any number of identifiers (with ``finite_terms.py``). ``python -m benchmarks.programs`` runs
  them all, ``program_campaign.py`` a part of them.
- ``constructs.py`` has what stands for each construct of Python, and what the language has not;
  ``construct_agreement.py`` runs it by compiled code, z3's terms and CPython.
- ``agreement.py`` compares reachable sets state by state. ``test_compiler.py`` has a small model for each construct of
  the language.
- ``any_size_campaign.py`` searches what is proved for any number of identifiers, of models that ``any_size_loops.py``
  draws, at a few numbers; ``any_size_agreement.py`` compares the terms of those of ``any_size_models.py`` with CPython.
- ``mutants.py`` changes the functions of models, by ``rewriting`` among others, and compares the engines about each
  (``level_agreement.py``); rewrites that must change nothing have to change nothing. ``tasks`` has solutions to small
  tasks in ordinary Python, which ``test_tasks.py`` runs through everything.
- ``second_solver.py`` asks cvc5 about the obligations of recorded proofs.
- ``planted.py`` plants mistakes into compiler and engines, one at a time, and runs the tests that execute the changed
  line; ``planted.toml`` says why a survivor needs no test.
- ``ir_evaluation.py`` evaluates expression graphs in Python's integers; ``test_meaning.py`` has models that tell a
  right reading from a wrong one.
- ``test_readme.py`` runs what the README shows. The counts in ``[expect]`` tables of specs are tests too: those of the
  examples also come from TLC and Stateright.
- ``losses.py`` runs the code of the Spark search through schedules of losses without Spark; ``corruption.py`` changes
  bytes under it.
- ``browser.py`` drives headless Chromium through its debugging pipe, to look at the page as a reader would.

Tests that take long are marked ``slow``. Performance is measured in ``benchmarks/``; no test asserts a time.
"""
