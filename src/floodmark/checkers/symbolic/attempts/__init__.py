"""One attempt at a proof by each method: its queries to z3, and the report of its result.

``attempt.py`` holds the parts that all methods share; ``bounded.py``, ``inductive.py``, ``inferred.py`` and
``ranked.py`` are the methods; ``any_size.py`` is induction for any number of identifiers, for which ``inferred.py``
lifts or suggests lemmas, and ``small_sizes.py`` cross-checks all three;
``obligation_text.py`` prints an obligation that was not proved.
"""
