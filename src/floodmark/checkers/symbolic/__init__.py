"""The symbolic back end: a model's expression graph as z3 terms, for bounded search, proofs and claims.

``prove.py`` runs a method on one check, or answers one claim, and is where to begin. From the bottom to the top:

- ``terms/``, ``any_size/``, ``values/``: terms; identifiers of any number; the language's values.
- ``translate/``: expressions, statements and actions.
- ``tactics/``, ``records/``: strategies for z3, and the recorded answers.
- ``methods/``, ``crosscheck/``: the methods of proof; independent checks of their results.
- ``suggestions/``: lemmas about any number of identifiers, enumerated from the model's terms; tried where lifted ones
  do not suffice.
- ``attempts/``: one attempt at a proof by each method, and how it reports the answer.

Decisions:

- One translation serves all methods. In finite models, and in claims, each operation is made in a bit vector that holds
  its operands and its result for all values of the symbols, so nothing wraps around; the tests walk the terms and audit
  that. With constants left open (``--unbounded``), and for an ``int`` without bounds in a claim, numbers are z3's
  integers. Open constants are symbols for natural numbers, and bounds of types are linear terms over them. An operation
  that needs the value of one is refused, and each such proof is repeated at some values.
- With ``--any-size`` identifiers are an uninterpreted sort, sets are membership predicates, maps are functions, and
  ``any``, ``all``, ``min``, ``max`` and comprehensions over them are quantifiers. The query over-approximates the model
  at every finite size: sets may be infinite, cardinalities obey laws only, and a loop that adds to a set until it is
  large enough may add any of its elements. So unsat is a proof for every size, while a model (sat) proves nothing; it
  is searched for again at sizes 1 to 3, where CPython confirms it. A search at sizes 1 to 5 cross-checks each proof
  (``attempts/small_sizes.py``). A model that depends on the order of identifiers, or on a sum that is not a count, is
  refused, with its line.
- Bounded search uses one incremental solver for all queries as long as that is quick. A hard query gets a solver of its
  own, restricted to runs that mention interchangeable identifiers in order (``benchmarks/RESULTS.md`` says what each
  saves).
- A query of any size runs in a fresh z3 context, to which it is copied by way of its SMT-LIB text
  (``terms/canonical.py``). z3's heuristics depend on the ids that a context gives to terms, sorts and fresh symbols; in
  a shared context the effort for a hard query, and in the end its answer, would depend on the process's earlier
  queries. The tests compare copies with their originals, node by node, and the effort for a proof after different
  histories.
- The answer to a query of any size is recorded and replayed, so that a listed proof needs no search. A record only
  selects among sound choices: assumptions, options, views, conditions and instances of laws, by name.
- A model of z3 (sat) is not trusted: states, steps and claims are decoded and run by CPython, and a disagreement is an
  internal error.
- An unsat answer is trusted, and cross-checked in two ways. Where the state space can be enumerated, compiled code
  evaluates every property, boundary, lemma and inferred clause in all reachable states before ``proved`` is reported.
  And ``--smt DIR`` writes the obligations for another solver; the tests use cvc5.
"""
