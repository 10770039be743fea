"""Writes docs/spec.md, the page of all keys of a spec: ``python -m docs.tools.spec``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from floodmark.checkers.project.properties import DEADLOCK
from floodmark.checkers.project.spec_keys import GATE_LIMITS, SPEC
from floodmark.checkers.project.spec_values import Key

PAGE = Path(__file__).resolve().parent.parent / "spec.md"

HEAD = """# The keys of a spec

A spec is a TOML file that says what is checked, at which size, and what is expected. `python -m docs.tools.spec` writes
this page from the list with which specs are parsed (`checkers/project/spec_keys.py`). An unknown key is an error with
its line.

```toml
model = "model.alter_isr.core:AlterIsr"

[constants]
brokers = 3

[[flawed]]
class = "flawed:AssumesProposedIsr"
property = "isr_holds_committed"
```

The value of a constant comes from the first of these that gives one: `--set NAME=VALUE`, `constants` in a `[[flawed]]`
or `[[prove]]` table, in the row, the spec's `[constants]`, the default in the model.
"""

ROWS = """## Several sizes in one spec

Each `[[row]]` table stands for a spec of its own, here `lease@two` and `lease@five` for a file `lease.toml`:

```toml
model = "lease.py:Lease"

[constants]
duration = 2

[[flawed]]
class = "flawed:GrantsTwice"
property = "one_holder"

[[row]]
name = "two"
constants = { clients = 2 }
expect = { distinct = 5 }

[[row]]
name = "five"
constants = { clients = 5 }
expect = { distinct = 11 }
```

`floodmark check lease.toml` checks every row, `floodmark check lease.toml@two` (or `lease@two`) one, and a folder or
`--tier` the rows of a tier. Reports, the lock, `reproduce:` and pytest (`specs/lease.toml::two`) name rows in the same
way. Commands about a single model, such as `explore`, need a row, unless `--only-variant` names a design of only one.

A known-bad design, a proof and `[mutation]` belong to the first row, unless `rows` names others: a mistake is shown
where it is cheapest to find. In the gate, a row that is gone is drift, as is a new one; one of another name is
recognised by its model and constants, and compared with its old entry.

## A known-bad design in another tier than its model

A search may find a mistake within a second where exploring all states of the model takes long. In a spec with `tier =
"deep"`, such a design says `tier = "quick"`, and the default gate checks it every time; a design that is found late
says `"deep"` in a quick spec. The model itself is always checked in the tier of its spec. `check` of a folder and
`gate` end with a list of what they left to the other tier.

In the lock, a design has its tier where that is not the model's, and a run writes only what it checked. A model or a
design that is no longer in a tier is drift there, until the other tier has recorded it (`floodmark gate --tier deep
--update-lock`). So are designs of a model that no run ever checked, because their failure says nothing about the model.
A run that has known-bad designs and no model is never green (exit code 5).
"""
GATE_HEAD = """## The gate as a whole

A spec's `[limits]` are those of each of its searches. `[tool.floodmark.gate.limits]` in the project's `pyproject.toml`
limits a whole run of `floodmark gate`; `--max-seconds` and `--max-memory` take precedence. What has no verdict by then
is undetermined.
"""
PROPERTIES = f"""## How properties are found

The properties of a model are, in this order:

1. Its own: methods decorated with `@invariant`, `@transition`, `@reachable` or a decorator of liveness, those that it
   inherits included.
2. Functions with these decorators in `invariants/`, in the file that is named after the model's file or after that of
   one of its bases: `invariants/kraft/quorum.py` for `model/kraft/quorum.py`, or `invariants/quorum.py`. Files that end
   in `_scenarios.py` belong to the same model (`invariants/kraft/quorum_scenarios.py`). The spec's
   project and the protocols that come with Floodmark are both searched. For a model outside `model/` only the file's
   name counts.
3. Functions in the files that `invariant_files` lists, then in those that `--invariants` names.
4. Functions in the model's own file, or in that of one of its bases.

A function is about a model if the annotation of its first parameter is the model's class or one of its bases, so a
property applies to every design derived from its model. Two properties of one name are an error, and so is a property
with the name of another member of the model.

Of these the spec checks all, or those in `invariants`; `--invariants` adds to them, and `--property` checks only those
that it names. A known-bad design is checked for the `property` of its entry and for what its `invariants` add.
`{DEADLOCK}` is the name of the violation for a state without successors.

Lemmas and rankings are found in the same way, also in files that end in `_lemmas.py`; they help proofs and are not
checked. A `[[prove]]` with `method = "ranking"` proves the liveness properties for which there is a ranking.
"""


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page as Markdown."""
    gate = [GATE_HEAD, *_table(GATE_LIMITS)]
    return "\n".join([HEAD, "## At the top", "", *_table(SPEC), *_sections(SPEC, ""), ROWS, *gate, PROPERTIES])


def _table(keys: Sequence[Key]) -> Iterator[str]:
    yield "| key | value | default | meaning |"
    yield "|---|---|---|---|"
    for key in keys:
        default = "required" if key.error_if_missing else key.default
        yield f"| `{key.name}` | {key.kind.words} | {default} | {key.meaning} |"
    yield ""


def _sections(keys: Sequence[Key], around: str) -> Iterator[str]:
    """A section for each table."""
    for key in keys:
        if key.kind.keys:
            name = f"{around}{key.name}"
            yield f"## `{f'[[{name}]]' if key.kind.many else f'[{name}]'}`"
            yield from ("", key.meaning, "")
            yield from _table(key.kind.keys)
            yield from _sections(key.kind.keys, f"{name}.")


if __name__ == "__main__":
    main()
