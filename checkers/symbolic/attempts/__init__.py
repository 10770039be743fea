"""One attempt at a proof by each method: what it asks z3, and what it reports about the answer.

``attempt.py`` has what all methods share; ``bounded.py``, ``inductive.py``, ``k_inductive.py`` and ``inferred.py`` are
the methods; ``obligation_text.py`` prints an obligation that has no proof.
"""
