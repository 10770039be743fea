"""Properties of infinite runs: fairness, verdicts against oracles, and what a bound leaves decided."""
