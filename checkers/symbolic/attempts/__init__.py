"""One attempt at a proof by each method: what it asks z3, and how it reports the answer.

``attempt.py`` holds what all methods share; ``bounded.py``, ``inductive.py``, ``k_inductive.py``, ``inferred.py`` and
``ranked.py`` are the methods; ``obligation_text.py`` prints an obligation that was not proved.
"""
