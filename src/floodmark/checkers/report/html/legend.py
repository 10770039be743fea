"""The legend of a message sequence chart: what its arrows mean, for the kinds that occur."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from floodmark.checkers.report.html.markup import tag
from floodmark.checkers.report.sequence import Message, MessageSequence

_EPOCH = re.compile(r"\be\d+$")


def legend(sequence: MessageSequence) -> Element | None:
    """The legend of the arrows, for the kinds that occur."""
    messages = sequence.messages
    said = [
        "a solid arrow is a message" if any(it.receiver is not None for it in messages) else "",
        "a message that ends in a ring has not been received" if any(_waits(it) for it in messages) else "",
        "a message that ends in a cross is lost" if _loses(sequence) else "",
        "the arrow on the right leads back to the first of the steps that are repeated" if sequence.loop else "",
        "a dotted arrow points to the subject of a step" if any(event.others for event in sequence.events) else "",
        "e2 on a lifeline is epoch 2" if any(_EPOCH.search(it) for it in _standings(sequence)) else "",
    ]
    text = "; ".join(filter(None, said))
    return tag("p", f"{text[:1].upper()}{text[1:]}.", class_="legend") if text else None


def _loses(sequence: MessageSequence) -> bool:
    return any(it.lost for it in sequence.messages) or any(it.lost for it in sequence.events)


def _waits(message: Message) -> bool:
    return message.receiver is None and not message.lost


def _standings(sequence: MessageSequence) -> list[str]:
    return [text for changed in sequence.standings.values() for text in changed.values()]
