"""Each action of a model names what it stands for: a class and a method of Kafka, a section of a text, or a part of the
environment.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from floodmark import Model
from floodmark.language.members import kind_of

ROOT = Path(__file__).parents[2]
ELSEWHERE = ("etcd_raft", "hashicorp_raft", "jetstream", "ra")
"""Models of other systems, whose own names their docstrings have."""
METHOD = r"``[A-Z]\w+[.:] ?[a-z]\w*``"
SECTION = r"KIP-\d+, \"|\b[Ss]ection [A-F]\b"
ENVIRONMENT = r"\bThe environment: "
SOURCE = re.compile(f"{METHOD}|{SECTION}|{ENVIRONMENT}")


def models() -> Iterator[type[Model]]:
    """The model classes of Kafka's protocols, each where it is defined."""
    for file in sorted((ROOT / "model").rglob("*.py")):
        relative = file.relative_to(ROOT).with_suffix("")
        if relative.parts[1] not in ELSEWHERE:
            module = importlib.import_module(".".join(relative.parts))
            for value in vars(module).values():
                if isinstance(value, type) and issubclass(value, Model) and value.__module__ == module.__name__:
                    yield value


def names_its_source(model: type[Model], action: str) -> bool:
    """An action that a model overrides stands for the same as before, unless it says otherwise."""
    said = (vars(each)[action].__doc__ for each in model.__mro__ if action in vars(each))
    return any(SOURCE.search(" ".join(text.split())) for text in said if text is not None)


@pytest.mark.parametrize("model", list(models()), ids=lambda model: model.__qualname__)
def test_each_action_names_a_method_of_kafka_or_a_section_or_the_environment(model: type[Model]) -> None:
    unnamed = [
        name for name, value in vars(model).items() if kind_of(value) == "action" and not names_its_source(model, name)
    ]
    assert not unnamed, (
        f"{model.__module__}.{model.__qualname__}: {', '.join(unnamed)}: the docstring has to name a class and method "
        '(``Partition.maybeExpandIsr``), a section (KIP-497, "Motivation"; section A), or to begin "The environment: "'
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("``Partition.maybeExpandIsr``.", True),
        ('KIP-595, "Vote Request Handling".', True),
        ("Section A, step 3.1.", True),
        ("The environment: a disk is lost.", True),
        ("``maybeExpandIsr``: no class.", False),
        ("``Kind.VOTE``, a value of the model.", False),
        ("KIP-595 has it somewhere.", False),
        ("Asks the controller.", False),
    ],
)
def test_a_source_is_a_method_a_section_or_the_environment(text: str, names: bool) -> None:
    assert bool(SOURCE.search(text)) is names
