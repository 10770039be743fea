"""One attempt at a proof, by each of the methods: what it asks of z3, and what is said of the answer."""
