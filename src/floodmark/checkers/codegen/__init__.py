"""The back end that generates machine code: a model's expression graph (``floodmark/compiler/ir.py``) as LLVM code.

``model_module.py`` is where to begin: the functions that a model's code consists of, ``expand``, ``check`` and
``canonical``. Each is the work of a ``Statements`` (``statements.py``: statements and calls), which has a ``Routine``
(``routine.py``: one function with its blocks and loops), the ``StateWords`` (``state_words.py``: the variables of a
state) and the ``Expressions`` (``expressions.py``), and these the ``Comprehensions`` (``comprehensions.py``). What they
write into a routine is in functions:

- ``llvm_ir.py``: LLVM's text, written instruction by instruction; ``bits.py``: packed values; ``windows.py``: parts of
  codes at offsets known at run time; ``elements.py``: iteration; ``containers.py``: sets and sequences;
  ``conversions.py``: a value in another type.
- ``repeats.py`` and ``unchanged.py``: which steps, and which parts of properties, are not judged again;
  ``stutter.py``: the part of a state that decides that.
- ``signature.py`` and ``permutation.py``: the state that represents an orbit (``floodmark/compiler/renaming.py``
  defines which one that is); ``lanes.py``: a computation for several states side by side;
  ``lane_renaming.py``: that of their renaming.
- ``cost.py``: how much code a part is, and for which lines of the model.
- ``jit.py``: compiles modules, caches the code on disk and loads it.
- ``loop_compiler.py``: a small compiler for the inner loops of ``checkers/native`` and ``checkers/spark``.

Decisions:

- LLVM's text is written by a file of our own: llvmlite's builder took longer than LLVM for a small model, and what is
  known while code is written (a constant, what a block has just computed) never reaches LLVM.
- An integer wider than a word is written as words (``llvm_ir.WideValue``). LLVM's fast instruction selection, which
  code that is not optimised goes through, knows no wider ones; with them a part of ra's model took three times as long.
- A helper that is large with all that it calls is a function of its own (``statements.py``), once for each part.
- LLVM is used for everything, and numba for nothing. Importing a second compiler costs more than the whole first check
  of a small spec, and the loops have to be specialised for each state width.
- LLVM copies a small action for each value of its first parameters: the fields of a replica are then at known places.
  KIP-497 with failover takes 7 to 9 % less time for 0.2 s more of compiling.
- Code comes in parts, one for each action and property. Parts compiled without optimisation are cached by the
  fingerprint of their expression graph (``floodmark/compiler/fingerprint.py``), so a known-bad design or a mutant
  compiles only the parts that differ.
- Orbits are distinguished by signatures: a state's content about one identifier without the names of others.
  Sorting identifiers by signature leaves one renaming or a few, where all of them would have to be tried: without
  signatures, five voters took nine times as long.
- ``canonical`` is generated only with a symmetry proof (``checkers/symmetry/proof.py``).
- An integer is checked where it may outgrow a word. ``ir.may_outgrow`` says where, from the intervals of the operands;
  everything else is computed without a check.
"""
