"""The report as one HTML page that loads nothing else.

``document.py`` assembles the page from elements (``markup.py``), so no text can become markup; ``page.css`` has all of
its style. ``chart.py``, ``counterexample.py``, ``search.py`` and ``states.py`` are its parts.
"""
