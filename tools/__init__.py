"""What looks for mistakes for as long as one likes, beyond the tests, and what records proofs. Each is a command.

- ``planted.py`` plants mistakes into compiler and engines, one at a time, and runs the tests that execute the changed
  line; ``planted.toml`` says why a survivor needs no test.
- ``campaign.py`` runs every engine on any number of drawn models. What it finds becomes a test.
- ``mutants.py`` changes the functions of models, by ``rewriting`` among others, and compares the engines about each;
  rewrites that must change nothing have to change nothing.
- ``any_size_campaign.py`` searches what is proved for any number of identifiers at a few numbers.
- ``program_campaign.py`` compares a part of all small bodies; ``python -m benchmarks.programs`` asks for all parts.
- ``second_solver.py`` asks cvc5 about the obligations of recorded proofs, and records what it says.
"""
