"""The tools in ``tools/``, and how a whole run is measured."""
