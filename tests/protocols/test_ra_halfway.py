"""Tests that a cluster of Ra reaches the states in which specs/ra/replaced_entry.toml, deposed_leader.toml and
replaced_change.toml begin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from floodmark.language import reference
from floodmark.language.reference import Step
from model.ra.halfway import DeposedLeader, Halfway, ReplacedChange, ReplacedEntry
from model.ra.server import Ra

ROOT = Path(__file__).parents[2]
SIZES = {"max_log": 4, "max_writes": 3, "in_flight": 6, "unwritten": 3, "max_losses": 30, "max_timeouts": 2,
         "max_ticks": 0, "max_suspensions": 1, "max_restarts": 2}
BUDGETS = {"losses", "timeouts", "ticks", "suspensions", "restarts"}
"""They count from the beginning of a search."""


def steps(text: str) -> list[tuple[str, dict[str, str]]]:
    """``T n1`` is a timeout, ``A n1 n2`` the arrival of a message, ``X n1 n2`` its loss, ``W n1`` a write on disk,
    ``C n1`` a command, and ``R n1`` a restart."""
    found = []
    for part in text.split(","):
        kind, *names = part.split()
        action, keys = {
            "T": ("election_times_out", ["server"]), "A": ("message_arrives", ["source", "destination"]),
            "X": ("message_is_lost", ["source", "destination"]), "W": ("wal_writes", ["server"]),
            "C": ("command_arrives", ["server"]), "R": ("server_restarts", ["server"]),
        }[kind]
        found.append((action, dict(zip(keys, names, strict=True))))
    return found


def replaced_entry() -> list[tuple[str, dict[str, str]]]:
    """The recorded run that shows #508, up to where its leader may send again; then what is on the way to the first
    server is lost."""
    text = (ROOT / "examples" / "ra" / "uncommitted_entry.jsonl").read_text()
    rows = [json.loads(row) for row in text.split("\n")[1:35]]
    lost = steps("X n2 n1, X n3 n1, X n3 n1, X n3 n1, X n3 n1, X n3 n1")
    return [(row["action"], row["arguments"]) for row in rows] + lost


DEPOSED = steps(
    "T n1, A n1 n3, A n3 n1, A n1 n3, A n3 n1, X n1 n2, X n1 n2, A n1 n2, A n1 n2, A n1 n3, A n1 n3, W n1, W n2, W n3,"
    "X n2 n1, X n2 n1, X n3 n1, X n3 n1, C n1, W n1, C n1, X n1 n2, X n1 n2, X n1 n3, X n1 n3,"
    "T n2, A n2 n3, A n3 n2, A n2 n3, A n3 n2, X n2 n1, X n2 n1, X n2 n1, X n2 n3, X n2 n3"
)


CHANGED = steps(
    "T n1, A n1 n2, A n2 n1, A n1 n2, A n2 n1, A n1 n2, A n1 n3, W n1, A n2 n1, A n1 n2, W n2, A n2 n1, C n1, A n1 n3,"
    "A n1 n2, R n1, A n1 n2, A n1 n3, R n2, A n1 n3, A n1 n3, A n1 n3, X n3 n1, X n3 n1"
)
"""The write stands for the change of the cluster."""


@pytest.mark.parametrize(("begins", "taken"), [
    (ReplacedEntry, replaced_entry()), (DeposedLeader, DEPOSED), (ReplacedChange, CHANGED),
])
def test_a_cluster_reaches_the_state_in_which_the_search_begins(
    begins: type[Halfway], taken: list[tuple[str, dict[str, Any]]]
) -> None:
    model = Ra(**SIZES)
    state = next(reference.initial_states(model))[1]
    servers = {repr(server): server for server in model.at(state).role}  # type: ignore[attr-defined]
    for action, names in taken:
        after = reference.fire(model, state, Step(action, {key: servers[name] for key, name in names.items()}))
        assert after is not None, f"{action} {names}"
        state = after
    begun = {str(step): found for step, found in reference.initial_states(begins())}
    wanted = begun["begin(first=n1, second=n2, third=n3)"]
    expected = dict(zip(begins().variable_types, wanted, strict=True))
    for name, held in zip(model.variable_types, state, strict=True):
        assert name in BUDGETS or held == expected[name], name
