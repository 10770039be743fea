"""Strategies for queries about any number of identifiers.

- ``portfolio.py`` is where to begin: the strategies, one after the other. ``budget.py``: the limits on z3's work.
- ``case_split.py``, ``path_split.py``, ``path_questions.py``: a query split into cases, and into paths.
- ``relevant_lemmas.py``: the assumptions that are likely to suffice; ``premise_elimination.py``: drops premises that
  another conjunct guarantees; ``simplification.py``: simplifies terms by the ranges of numbers.
- ``skolem_instances.py``, ``instantiation.py``: instances of assumptions for a query's Skolem constants, and for the
  sets that depend on its terms. ``lazy_cardinality.py``: cardinality laws, instantiated on demand.
- ``answers.py``: the answer to an obligation, as recorded. ``alternation_cycles.py``: why instantiation may not
  terminate.
"""
