"""The compiler's front end: a model's Python source as an expression graph, which all back ends share.

- ``program.py`` is where to begin. It reads a model and its properties into ``Program``, the only thing that a back end
  sees. ``premises.py`` numbers the premises of properties (``Witness`` nodes), to detect vacuous ones.
- ``model_compiler.py`` composes the parts that lower syntax trees to the nodes of ``ir.py``, with an interval for
  every integer and a finite type for everything: ``statements.py``, ``expressions.py``, ``comprehensions.py`` (loops
  that make a value), ``pairs.py`` (loops with several variables, such as those over ``enumerate(log)``), ``calls.py``,
  ``enabledness.py`` (tests whether an action is enabled), ``unions.py`` (records of several classes) and
  ``known_values.py`` (constants and literals). Functions that a model calls are inlined, or shared by their calls where
  copies would be large. A part knows the others by the entry points of ``lowering.py`` alone, or is given them.
- ``node_builder.py`` and ``conversions.py`` build the nodes: the former without, the latter with a conversion of their
  operands. ``sizes.py``: bounds of containers; ``joins.py``: the join of two types; ``frame.py``: the meanings of a
  function's names; ``failures.py``: which expressions can fail; ``guarded_failures.py``: which cannot, as a condition
  keeps out what would.
- ``visitor.py``: the interface of a back end, which the type checker keeps complete.
- ``constructs.py``: the list of the language's constructs; anything else is refused. ``plain_containers.py``: which of
  Python's own sets, lists and tuples a value may consist of, where Python tells them from ``Set`` and ``Seq``.
- ``compile_cache.py``: the dependences of a graph, so that a known-bad design, which differs from its model in a rule
  or two, shares all others with it.
- ``guard_order.py``: the order in which an action's parameters are chosen and its guards are tried.
- ``refinement.py``: a step of a model as a step of the model that it refines.
- ``layout.py``: gives every value a code and every variable its bits, and defines the digest of a set of states.
- ``fingerprint.py``: which graphs produce the same code, by shapes and codes, never by names or printed forms.
- ``renaming.py``: the representative of an orbit under renaming of identifiers.
- ``identifier_bias.py``: the places where a model may distinguish identifiers, by a name or an order that can
  be observed; ``commuting_loops.py``: the loops whose order does not matter.

Python's lazy evaluation is preserved: what CPython skips, compiled code skips. What the constants decide is decided at
compile time, so a handler of all kinds of messages that is inlined for one kind has only the code for that kind, and an
action that the constants rule out has none.
"""
