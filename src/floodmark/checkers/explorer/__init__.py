"""``floodmark explore``: a page on this machine in which one walks a model, step by step.

- ``session.py``: begin here. The designs of a spec, what the page asks, and what it is answered.
- ``walk.py``: a path of steps, taken again by CPython. ``expansion.py``: every action in a state, enabled or not, and
  the guard that stops it. ``beside.py``: another design at the same state. ``place.py``: what is known at a place of a
  path. ``tracks.py``: counterexamples as paths.
- ``page.py``: the answers as HTML; ``page.html``, ``explore.css`` and ``explore.js``: the page, which asks for them.
- ``server.py``: serves both on the loopback address.

CPython runs the model's class, in the main thread, so a breakpoint in an action is one of the terminal's. Only a step
that is taken stops there: to find out which steps are enabled, every action is run, with ``breakpoint()`` switched off.
A path is the texts of its steps; it stands in the address of the page, so an address is all that another person needs.
"""
