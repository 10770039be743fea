"""How results are told: text, HTML, JUnit, SARIF, ITF, charts, graphs, and tests to paste."""
