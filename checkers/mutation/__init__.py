"""Mutation testing of models: small changes of a model's source, and whether any check notices them."""
