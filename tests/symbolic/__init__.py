"""What z3 is asked, and what is made of its answers: terms, proof methods, claims, any number of identifiers."""
