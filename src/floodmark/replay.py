"""The module for tests that ``floodmark report --as test`` prints: they replay counterexamples in CPython.

    from floodmark.replay import load_file, running

    Overflows = load_file("specs/flawed.py", __file__).Overflows


    def test_overflows_breaks_below_size() -> None:
        model = Overflows(size=1)
        with running(model):
            model.reset()
            model.start()
            assert model.below_size()
            model.fills(amount=2)
            assert not model.below_size()

``load_file`` gives a file of a repository as the module that specs see, and finds the shipped protocols wherever
Floodmark is installed: ``load_file("model/alter_isr/core.py").AlterIsr``. Within ``running(model)`` the identifiers of
a model can be counted, and its records made. ``initial_states`` are those that a model may begin in, ``successors`` the
steps that it can take from a state, each a ``Step`` with the state that it leads to; ``fire`` takes one step, and gives
None where it is not enabled. ``image`` is the state of another model to which a mapping leads.
"""

from floodmark.checkers.project.modules import load_file
from floodmark.language.reference import Step, fire, holds, image, initial_states, successors
from floodmark.language.values import running

__all__ = ["Step", "fire", "holds", "image", "initial_states", "load_file", "running", "successors"]
