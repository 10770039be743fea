"""The symbolic back end: a model's expression graph as z3 terms, for bounded search, proofs and claims.

``prove.py`` runs a method on one check, or answers one claim, and is where to begin; ``task.py`` is what it is asked to
prove, and ``attempts/`` has one proof attempt for each method. The translation:

- ``terms.py``, ``numbers.py``, ``symbols.py``: truth values and numbers with constants folded, numbers with intervals,
  free symbols, each with a number of its own.
- ``values.py``: each finite type as z3 components; ``value_types.py``, ``value_components.py``,
  ``value_comparison.py``, ``value_containers.py`` and ``value_translation.py`` have its parts, the last one the way to
  the language's values and back.
- ``evaluation.py``, ``reductions.py``, ``expressions.py``: values as terms: what an evaluation carries along, loops and
  comprehensions, everything else; ``effects.py``: statements and whole actions.
- ``facts.py``, ``individuals.py``, ``set_sorts.py``, ``unordered_slots.py``, ``folds.py``: identifiers of which there
  may be any number, sets and maps of them, and loops over them. ``strategies.py``, ``cases.py``, ``paths.py``,
  ``path_questions.py``, ``ranges.py``, ``anchors.py`` and ``witnesses.py``: how z3 is asked about them;
  ``isolation.py`` and ``copies.py``: in a context of its own.
- ``system.py``: a model as a transition system: states, initial states, actions, and one step as a relation.
- ``unrolling.py``, ``runs.py``: copies of the step, one after the other; questions about runs, and what makes hard ones
  easier.

The methods:

- ``bmc.py``: runs of growing length; CPython replays a counterexample.
- ``induction.py``, ``k_induction.py``, ``lemmas.py``: obligations action by action; runs of k states; functions marked
  ``@lemma``. ``obligations.py`` and ``assumptions.py``: what has to be proved of an action, and with what.
- ``ic3.py``, ``clauses.py``: IC3 over the model's own atoms, generalised over identifiers; the inferred clauses as a
  function of the modelling language (``written.py``). Separate queries check the result. ``lifting.py``: the clauses as
  lemmas about any number of identifiers; ``counts.py``: majorities in them; ``guards.py``: what actions require.
- ``suggestions/``: lemmas about any number of identifiers that compare terms of the model; tried where lifted ones do
  not do.
- ``rankings.py``, ``progress.py``: functions marked ``@ranking``, the rule by which they prove a property of runs, and
  why it is sound; its obligations.
- ``unbounded_constants.py``, ``spot_checks.py``: which constants ``--unbounded`` and ``--any-size`` may leave open; a
  proof for every value repeated at some values. ``countermodels.py``: what is not proved for any number of identifiers,
  asked about a few.
- ``capacities.py``: why a proof by induction needs them.
- ``claims.py``: asks the claims in ``specs/claims``, which ``checkers/claim.py`` reads (``floodmark/claims.py`` has
  their decorators), and finds the smallest witness.
- ``symmetry.py``: the proof that swapping identifiers changes nothing, for bounded search and for licences.
- ``enumeration.py``: what a proof says, evaluated by compiled code in every reachable state. ``smtlib.py``: obligations
  as SMT-LIB 2, for ``--smt``; ``smt_text.py``: any terms as such. ``deadline.py``: the time left for questions.

Decisions:

- One translation serves all methods. In finite models, and in claims, each operation is made in a bit vector that holds
  its operands and its result for all values of the symbols, so nothing wraps around; the tests walk the terms and audit
  that. With constants left open (``--unbounded``), and for an ``int`` without bounds in a claim, numbers are z3's
  integers. Open constants are symbols for natural numbers, and bounds of types are linear terms over them. An operation
  that needs the value of one is refused, and each such proof is repeated at some values.
- With ``--any-size`` identifiers are an uninterpreted sort, sets are known by their members, maps are functions, and
  ``any``, ``all``, ``min``, ``max`` and comprehensions over them are quantifiers. What z3 is asked allows all that can
  happen at any finite size, and more: sets may be infinite, sizes follow laws only, and a loop that adds to a set until
  it is large enough may add any of its elements. So no answer (unsat) is a proof for every size, while a model (sat)
  proves nothing and is looked for again at sizes 1 to 3, where CPython confirms it. Where the order of identifiers, or
  more of a sum than a count, would matter, the model is refused, with its line.
- Bounded search uses one solver for all questions as long as that is quick. A hard question gets a solver of its own,
  restricted to runs that mention interchangeable identifiers in order (``benchmarks/RESULTS.md`` says what each saves).
- A question of any size is asked in an empty context of z3, to which it is copied by way of its SMT-LIB text
  (``copies.py``). z3 goes by the numbers that a context gives to terms, sorts and fresh symbols; else the effort
  for a hard question, and in the end its answer, would hang on what the process did before. The tests compare copies
  with what they are copies of, node by node, and the effort for a proof after different histories.
- What z3 finds (sat) is not trusted by itself: states, steps and claims are decoded and run by CPython, and a
  disagreement is an internal error.
- That z3 finds nothing (unsat) is trusted, and cross-checked in two ways. Where the state space can be enumerated,
  compiled code evaluates every property, boundary, lemma and inferred clause in all reachable states before ``proved``
  is reported. And ``--smt DIR`` writes the obligations for another solver; the tests use cvc5.
"""
