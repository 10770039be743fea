"""Searches by orbits: which models permit them, and that they miss nothing."""
