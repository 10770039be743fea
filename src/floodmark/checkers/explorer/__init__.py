"""``floodmark explore``: a local page in which a user walks a model, step by step.

- ``session.py``: begin here. The designs of a spec, the page's requests and their answers.
- ``design_comparison.py``: another design in the same state.
- ``state_view.py``: the view of a state on the page. ``check_paths.py``: counterexamples as paths.
- ``background.py``: the search for them, in a process of its own beside the page.
- ``page.py``: the answers as HTML; ``page.html``, ``explore.css`` and ``explore.js``: the page, which requests them.
- ``server.py``: serves both on the loopback address.

CPython runs the model's class in the main thread, so a breakpoint in an action opens in the terminal. Only a step that
the user takes stops there: to find the enabled steps, the explorer runs every action with ``breakpoint()`` disabled. A
path is the texts of its steps and part of the page's address, so sharing the address shares the path.
"""
