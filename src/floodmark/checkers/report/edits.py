"""The effects of an edit in the reports of a pull request. They are built from JSON, so a saved result gives the same.

Specs whose check covers less come first, then those that allow something new, then the others. Unchanged specs are only
counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from floodmark.language.plurals import counted

Entry = Mapping[str, Any]


def ordered(content: Entry) -> list[Entry]:
    """The entries of the specs that changed, the most important first."""
    changed = [entry for entry in content["specs"] if not entry["unchanged"]]
    return sorted(changed, key=rank)


def rank(entry: Entry) -> int:
    if entry["emptier"]:
        return 0
    if entry["model"] is not None and entry["model"]["added"] == "some":
        return 1
    return 3 if entry["same"] else 2


def sums(content: Entry) -> str:
    """The number of specs that changed."""
    changed = len(ordered(content))
    rest = len(content["specs"]) - changed
    return f"{counted(changed, 'spec')} changed since {content['old']}, {counted(rest, 'spec')} did not"


def summary_lines(content: Entry) -> Iterator[str]:
    """One line for each way in which a check covers less, then for each spec that changed what else changed."""
    for entry in ordered(content):
        for sentence in entry["emptier"]:
            yield f"{entry['name']} checks less: {sentence}"
    for entry in ordered(content):
        yield f"{entry['name']}: {entry['headline']}"
        yield from (f"{entry['name']}: {changed}" for changed in _other_changes(entry))


def _other_changes(entry: Entry) -> Iterator[str]:
    """The changes of a spec that are neither behaviours nor a check that covers less."""
    for prop in entry["properties"]:
        if prop["why_not"]:
            yield f"property {prop['name']} changed, and was not compared: it {prop['why_not']}"
        elif prop["change"] != "weaker":
            yield f"property {prop['name']} is {prop['change']}"
    for setting in entry["settings"]:
        if not setting["emptier"]:
            yield f"{setting['what']} was {setting['was']} and is {setting['now']}"
    yield from (f"the code of known-bad design {name} changed" for name in entry["designs"])


def markdown(content: Entry) -> Sequence[str]:
    """The parts of GitHub's summary, the most important first."""
    parts = [f"\n## What this edit changes, since {_escaped(content['old'])}\n\n{sums(content)}.\n"]
    less = [f"- :warning: **{_escaped(entry['name'])} checks less**: {_escaped(sentence)}\n"
            for entry in ordered(content) for sentence in entry["emptier"]]
    if less:
        parts.append("\n" + "".join(less))
    for entry in ordered(content):
        fence = "```"
        text = "\n".join(entry["text"])
        while fence in text:
            fence += "`"
        parts.append(
            f"\n<details><summary><b>{_escaped(entry['name'])}</b>: {_escaped(entry['headline'])}</summary>\n\n"
            f"{fence}text\n{text}\n{fence}\n</details>\n"
        )
    return parts


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
