"""Random walks: what they visit, what they find, and how counterexamples become short."""
