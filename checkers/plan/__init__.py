"""Whether an operator's plan of a reassignment can be cancelled at every point: one search for each shape of it."""
