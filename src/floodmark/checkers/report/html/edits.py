"""The effects of an edit, as a section of the page."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from floodmark.checkers.report.edits import Entry, ordered, rank, sums
from floodmark.checkers.report.html.markup import tag


def section(content: Entry) -> Element:
    """The section of a page."""
    return tag(
        "section",
        tag("h2", f"What the edit changes, since {content['old']}"),
        tag("p", f"{sums(content)}."),
        [_part(entry) for entry in ordered(content)],
        id="edits",
    )


def _part(entry: Entry) -> Element:
    less = [tag("li", f"Checks less: {sentence}", class_="bad-text") for sentence in entry["emptier"]]
    return tag(
        "article",
        tag("h3", entry["name"]),
        tag("ul", less) if less else None,
        tag("p", f"{entry['headline'][:1].upper()}{entry['headline'][1:]}."),
        tag(
            "details",
            tag("summary", "Runs, actions, properties"),
            tag("div", tag("pre", "\n".join(entry["text"])), class_="scroll", tabindex="0", role="region",
                aria_label=f"what changed of {entry['name']}"),
            open=entry["emptier"] != [] or rank(entry) == 1,
        ),
    )
