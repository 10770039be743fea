"""Whether an operator's reassignment plan can be cancelled at every point: one search for each shape of a move."""
