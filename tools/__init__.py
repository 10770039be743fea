"""Open-ended searches for mistakes, beyond the tests, and the recording of proofs. Each file is a command.

- ``planted.py`` plants mistakes into compiler and engines, one at a time, and runs the tests that execute the changed
  line; ``planted.toml`` has the reasons why survivors need no test.
- ``campaign.py`` runs every engine on any number of drawn models. Each finding becomes a test.
- ``mutants.py`` changes the functions of models, by ``rewriting`` among others, and compares the engines about each;
  rewrites that must change nothing have to change nothing.
- ``any_size_campaign.py`` checks proofs for any number of identifiers by searches at a few numbers.
- ``program_campaign.py`` compares a part of all small bodies; ``python -m benchmarks.programs`` asks for all parts.
- ``second_solver.py`` runs cvc5 on the obligations of recorded proofs, and records its answers.
"""
