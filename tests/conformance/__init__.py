"""Implementations and recorded runs against a model: walks, tours, traces, metadata logs."""
