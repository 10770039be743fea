"""The interface of ``import floodmark`` for programs and notebooks: ``check``, ``simulate``, ``prove``, ``diff``,
``states`` and ``known_bad_designs``.

``floodmark/__init__.py`` imports this room when one of its names is first used, since every model file imports that
module. None of the names is in ``floodmark.__all__``: they are not part of the language, and a model that uses one is
never cached (``gate/cacheable_names.py``).

- ``checking.py`` is where to begin: from a class and settings to a check, its run and its result. ``proving.py`` does
  the same for a proof, ``simulating.py`` for random walks, ``comparing.py`` for two versions of a model;
  ``listing.py`` lists states.
- ``subject.py``: a class in place of a spec.
- ``results.py``: the results and exceptions of the functions. ``notebook.py``: results as HTML.
"""

from floodmark.checkers.interface.checking import KnownBadDesign, check, known_bad_designs
from floodmark.checkers.interface.comparing import Edit, diff
from floodmark.checkers.interface.listing import States, states
from floodmark.checkers.interface.proving import prove
from floodmark.checkers.interface.results import Counterexample, ModelFailed, Proof, Result, Undetermined
from floodmark.checkers.interface.simulating import simulate

__all__ = [
    "Counterexample", "Edit", "KnownBadDesign", "ModelFailed", "Proof", "Result", "States", "Undetermined", "check",
    "diff", "known_bad_designs", "prove", "simulate", "states",
]
