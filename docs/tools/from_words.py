"""Writes docs/from-words.md: ``python -m docs.tools.from_words``.

The texts, the published counts and what became of each attempt are recorded in docs/from_words.toml. The counts
of the models are those that their specs expect, so every gate repeats them. The mutants are tried here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floodmark.checkers.project.spec import read

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "specs" / "from_words"
PAGE = ROOT / "docs" / "from-words.md"
RECORD = ROOT / "docs" / "from_words.toml"

HEAD = """# Models written from words

Do the [page for assistants](for-assistants.md) and the messages suffice to write a correct model? An assistant was
given that page and five texts in plain English, written down from published TLA+ specifications whose state counts are
known. The models that it wrote are in `specs/from_words/`, and every gate checks that they still have these counts.

What the measurement does not show: the texts are precise about what one step does, because a count depends on that.
The assistant knew the published specifications from its training, and had read them when it wrote the texts. It wrote
the models one after the other, so that a message about one of them helped with the next.

## Attempts and counts

An attempt ends when `floodmark check` refuses the model, or accepts it. Each model had these counts when it was
accepted. The mapping of the cache to a memory was written afterwards. Published counts are TLC's, from the manifests of
[tlaplus/Examples](https://github.com/tlaplus/Examples).

| specification | attempts | distinct: published, model | generated: published, model | depth: published, model |
|---|---|---|---|---|
"""

MUTANTS = """
## Mutants

`floodmark mutate` changes each model by small steps, and asks whether the properties of its text notice. The last
column but one has those survivors that the number of reachable states gives away, which `[expect]` checks; the last
those that reach more than eight times as many states as the model, where the search stops.

| specification | properties | mutants | refused or equal | killed | survive | with other states | undetermined |
|---|---|---|---|---|---|---|---|
"""

REFUSED = """
## What was refused, and what follows from it

"""

FOLLOWS = """
The page now says that `Enum` is Python's, which types parameters may have, what `and` and `or` take, and how a
refinement is written. The message about `Enum` says where it comes from, that about a sequence what to take instead. A
record of a union is now accepted as one of fewer classes, and is a model error if it is of another class
(`tests/language/test_unions.py`).
"""


@dataclass(frozen=True)
class Mutants:
    """What became of the mutants of a model."""

    tried: int
    idle: int
    killed: int
    survived: int
    differing: int
    unknown: int


def main() -> None:
    """Tries the mutants and writes the page."""
    PAGE.write_text(page(mutants()), encoding="utf-8")


def page(tried: Mapping[str, Mutants]) -> str:
    """The page as Markdown."""
    return "".join(_parts(specifications(), tried))


def specifications() -> list[dict[str, Any]]:
    """What is recorded of each specification."""
    found: list[dict[str, Any]] = tomllib.loads(RECORD.read_text(encoding="utf-8"))["specification"]
    return found


def mutants() -> dict[str, Mutants]:
    """The mutants of each model, tried by the command."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "mutants.json"
        specs = [str(FOLDER / f"{each['spec']}.toml") for each in specifications()]
        command = [sys.executable, "-m", "floodmark", "mutate", *specs, "--json", str(result)]
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        return {Path(it["spec"]).name: _counted(it["mutants"]) for it in json.loads(result.read_text())["mutation"]}


def _counted(trials: Sequence[Mapping[str, Any]]) -> Mutants:
    fates = [trial["fate"] for trial in trials]
    idle = sum(fate in ("refused", "equal") for fate in fates)
    differing = sum(trial["fate"] == "survived" and trial["states_differ"] for trial in trials)
    killed, survived = fates.count("killed"), fates.count("survived")
    return Mutants(len(fates), idle, killed, survived, differing, len(fates) - idle - killed - survived)


def _parts(recorded: Sequence[Mapping[str, Any]], tried: Mapping[str, Mutants]) -> Iterator[str]:
    yield HEAD
    for each in recorded:
        expect, published = read(FOLDER / f"{each['spec']}.toml").expect, each["published"]
        pairs = [f"{published[name]:,}, {getattr(expect, name):,}" for name in ("distinct", "generated", "depth")]
        yield f"| [{each['title'].lower()}](#{_anchor(each)}) | {len(each['refused']) + 1} | {' | '.join(pairs)} |\n"
    for each in recorded:
        if "differs" in each:
            yield f"\n{_filled(each['title'] + ': ' + each['differs'])}\n"
    yield MUTANTS
    for each in recorded:
        spec, of = read(FOLDER / f"{each['spec']}.toml"), tried[each["spec"]]
        cells = [len(spec.chosen(spec.properties(spec.model_class()))), of.tried, of.idle, of.killed, of.survived]
        yield f"| {each['title'].lower()} | {' | '.join(map(str, [*cells, of.differing, of.unknown]))} |\n"
    yield REFUSED
    for each in recorded:
        for message in each["refused"]:
            yield _filled(f"- {each['title']}: {message}", "  ") + "\n"
    yield FOLLOWS
    for each in recorded:
        source = f"{each['source']}; `specs/from_words/{each['spec']}.py`."
        yield f"\n## {each['title']}\n\n{_filled(source)}\n\n{_filled(each['words'])}\n"


def _filled(text: str, indent: str = "") -> str:
    words = " ".join(text.split())
    return textwrap.fill(words, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _anchor(each: Mapping[str, Any]) -> str:
    return str(each["title"]).lower().replace(" ", "-")


if __name__ == "__main__":
    main()
