"""The report as one HTML page that loads nothing else, and can be read without scripts.

``document.py`` assembles the page from elements (``markup.py``), so no text can become markup; ``page.css`` has all of
its style, ``page.js`` and ``pins.js`` the stepping through counterexamples. ``chart.py``, ``counterexample.py``,
``search.py`` and ``states.py`` are its parts.
"""
