"""Suggests lemmas for a proof of any size: clauses over a model's own vocabulary that exclude what breaks a property.

``support.py`` is the search, and where to begin; ``grammar.py`` gives clauses that exclude a state.

- ``vocabulary.py``: terms and atoms from the types, rules and guards of a model; ``sentences.py``: clauses, and which
  atoms can be said of any number of identifiers.
- ``sizes.py``, ``batches.py``: the sizes at which suggestions are tested, and reachable states of these sizes, in
  columns.
- ``scopes.py``, ``examples.py``, ``covers.py``: for which variables clauses are said, what states answer there, and the
  clauses that are true of all of them.
- ``sized.py``: z3's answers about one step at given constants.

Decisions:

- Nothing here is a proof. Clauses are lemmas of an induction for any number of identifiers, which also asks about the
  initial states; a clause that is wrong, or that z3 cannot prove, is dropped there, and others are looked for.
- The clauses are not listed, as there are too many, even of those that are true of all reachable states. Asked for one
  that a given state breaks, the atoms decide which literal of each is meant, and few sets of atoms cover all examples.
- Examples make a clause likely and never sure, so it does no harm that some are left out: what is true of many states,
  and not of all, is either refuted by a step, or it is inductive and so true of all.
- Clauses say of numbers how they compare, and never which they are, so what is true of small bounds is seldom wrong of
  large ones. Atoms that mention a bound are left out for the same reason.
- Samples and runs are drawn with a fixed seed, and z3 has a resource limit, so a command finds the same clauses
  each time. The countermodel that z3 finds, and with it the clauses, also depends on earlier queries of the process.
"""
