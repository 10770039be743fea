"""Mutation testing of models: makes small changes to a model's source and reports whether any check notices them."""
