"""The regression gate: the lock, drift, tiers, and verdicts that are cached only while nothing has changed."""
