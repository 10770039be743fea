"""The methods of proof.

- ``task.py``: the properties to prove, and the method.
- ``bmc.py``: runs of growing length; CPython replays a counterexample. ``unrolling.py``, ``runs.py``: the unrolled
  transition relation; queries about runs, and simplifications of hard ones.
- ``induction.py``, ``k_induction.py``, ``lemmas.py``: obligations action by action; runs of k states; functions marked
  ``@lemma``.
- ``ic3.py``, ``clauses.py``: IC3 over the model's own atoms, generalised over identifiers; the inferred clauses as a
  function of the language. ``lifting.py``: the clauses as lemmas about any number of identifiers;
  ``cardinality_atoms.py``: majorities in them.
- ``rankings.py``, ``progress.py``: functions marked ``@ranking``, the rule by which they prove a liveness property, and
  its soundness; its obligations.
- ``claims.py``: decides the claims in ``specs/claims``, and finds the smallest witness.
- ``smtlib.py``: obligations as SMT-LIB 2, for ``--smt``.
"""
