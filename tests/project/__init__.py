"""A user's repository: specs, rows, properties, and whose a name is."""
