"""The shipped protocols: transitions that documents give, known-bad designs, and proofs for any size."""
