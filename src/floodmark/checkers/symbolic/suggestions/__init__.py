"""Suggests lemmas for a proof of any size: clauses over a model's own vocabulary that exclude counterexamples to
induction.

``support.py`` is the search, and where to begin; ``grammar.py`` gives clauses that exclude a state.

- ``vocabulary.py``: terms and atoms from the types, rules and guards of a model; ``sentences.py``: clauses, and the
  atoms that are meaningful for any number of identifiers.
- ``sizes.py``, ``batches.py``: the sizes at which suggestions are tested, and reachable states of these sizes, in
  columns.
- ``scopes.py``, ``examples.py``, ``covers.py``: the variables that clauses quantify over; the atoms' values in states;
  the clauses that are true in all of them.
- ``sized.py``: z3's answers about one step at given constants.

Decisions:

- Nothing here is a proof. Clauses are lemmas of an induction for any number of identifiers, which also covers the
  initial states; it drops a clause that is wrong or that z3 cannot prove, and others are searched for.
- The clauses are not enumerated: even those that are true in all reachable states are too many. Given a state to
  exclude, the atoms' values determine the polarity of each literal, and few sets of atoms cover all examples.
- Examples make a clause likely and never certain, so an incomplete set of them does no harm: a clause that holds in
  many states, and not in all, is either refuted by a step, or it is inductive and so true in all.
- Clauses compare numbers with each other and never with literals, so a clause that holds for small bounds seldom fails
  for large ones. Atoms that mention a bound are left out for the same reason.
- Samples and runs are drawn with a fixed seed, and z3 has a resource limit, so a command finds the same clauses each
  time. The countermodel that z3 finds, and with it the clauses, also depends on earlier queries of the process.
"""
