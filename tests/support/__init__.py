"""Code that tests share.

- ``model_strategy.py`` draws whole models on which CPython and every engine have to agree; ``engines.py`` runs them.
- ``small_programs.py`` enumerates every small body of a function over the statements of ``program_grammars.py``;
  ``program_agreement.py`` runs bodies by compiled code, z3's terms and CPython in every state, ``any_size_programs.py``
  compares the terms about any number of identifiers (with ``finite_terms.py``).
- ``constructs.py`` has examples of each construct of Python, and of those outside the language;
  ``construct_agreement.py`` runs them by compiled code, z3's terms and CPython.
- ``agreement.py`` compares reachable sets state by state, ``level_agreement.py`` level by level.
- ``any_size_models.py`` and ``any_size_loops.py`` draw models about any number of identifiers;
  ``any_size_agreement.py`` compares their terms with CPython.
- ``term_agreement.py`` compares z3's terms of a part of a model with CPython, in reached states and those that
  ``drawn_states.py`` draws; ``counterexample_terms.py`` looks for a counterexample in the terms of the methods.
- ``ir_evaluation.py`` evaluates expression graphs in Python's integers.
- ``edits.py`` draws models and edits of them, with an oracle of behaviours; ``repositories.py`` has a repository under
  git to be edited.
- ``losses.py`` runs the code of the Spark search through schedules of losses without Spark; ``corruption.py`` changes
  bytes under it.
- ``browser.py`` drives headless Chromium through its debugging pipe, to view a page as a reader would.
"""
