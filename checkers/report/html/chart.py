"""A counterexample drawn as a message sequence chart."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from floodmark.checkers.report.html.markup import tag
from floodmark.checkers.report.sequence import Event, Message, MessageSequence

_CHARACTER = 6.7
"""The width in pixels of a character of the labels, whose font is monospaced at 11 pixels; rounded up."""
_SMALL = 6.1
_GUTTER = 30
_HEAD = 46
_ROW = 38
_ARROW = 24
_NOTE = 15
_WIDTH = 620
"""The width in pixels that the lifelines share, if that leaves enough for each."""
_WIDEST_SPACE = 170
_NARROWEST_SPACE = 80
_LONGEST_NOTE = 46


@dataclass(frozen=True, slots=True)
class _Row:
    """Where a step is drawn: the middle of its label, then the middle of each arrow below it."""

    y: float
    arrows: float


def chart(sequence: MessageSequence, end: str) -> Element:
    """The chart as SVG in its natural size; ``end`` is written below the last step."""
    return _Drawing(sequence, end).svg()


class _Drawing:
    def __init__(self, sequence: MessageSequence, end: str) -> None:
        self.sequence = sequence
        self.end = end
        self.x = self._columns()
        self.width = max(self.x[-1] + 70, len(end) * _CHARACTER + 2 * _GUTTER, *map(self._right_edge, sequence.events))
        self.rows: dict[int, _Row] = {}
        y = float(_HEAD)
        for event in sequence.events:
            noted = _NOTE if event.note else 0
            self.rows[event.number] = _Row(y + 15, y + 15 + 12 + noted + _ARROW / 2)
            y += _ROW + noted + _ARROW * self._arrows(event)
        self.height = y + 44

    def _columns(self) -> list[float]:
        """Spaces the lifelines as widely as the width allows, with room for the labels at both ends."""
        count = len(self.sequence.participants)
        first = _GUTTER + max(self._half(0), 40)
        space = (_WIDTH - first - max(self._half(count - 1), 40)) / max(count - 1, 1)
        return [first + min(max(space, _NARROWEST_SPACE), _WIDEST_SPACE) * index for index in range(count)]

    def _half(self, participant: int) -> float:
        """Half the width of the widest label on a lifeline."""
        events = [event for event in self.sequence.events if event.actor == participant]
        return max((_width(event.action) / 2 for event in events), default=0.0) + 4

    def _right_edge(self, event: Event) -> float:
        label = _width(event.action)
        note = min(len(event.note), _LONGEST_NOTE) * _SMALL
        return (self.x[0] if event.actor is None else self.x[event.actor]) + max(label, note) / 2 + 8

    def _arrows(self, event: Event) -> int:
        """The rows below a step: one for each participant that it is about, one for each message that it sends."""
        return len(event.others) + len(self._sent(event))

    def _sent(self, event: Event) -> list[Message]:
        return [message for message in self.sequence.messages if message.sent == event.number]

    def svg(self) -> Element:
        return tag(
            "svg",
            tag("title", f"Message sequence chart of {len(self.sequence.events)} steps, ending with {self.end}"),
            self._lifelines(),
            [self._arrows_of(event) for event in self.sequence.events],
            [self._event(event) for event in self.sequence.events],
            self._ending(),
            viewBox=f"0 0 {self.width:.0f} {self.height:.0f}",
            width=f"{self.width:.0f}",
            height=f"{self.height:.0f}",
            class_="chart",
            role="img",
        )

    def _lifelines(self) -> list[Element]:
        parts = []
        for x, name in zip(self.x, self.sequence.participants, strict=True):
            wide = len(name) * 7.4 + 18
            parts.append(tag("line", x1=x, y1=30, x2=x, y2=self.height - 34, class_="lifeline"))
            parts.append(tag("rect", x=x - wide / 2, y=6, width=wide, height=24, rx=6, class_="participant"))
            parts.append(tag("text", name, x=x, y=22, class_="participant-name"))
        return parts

    def _event(self, event: Event) -> list[Element]:
        y = self.rows[event.number].y
        label = _width(event.action)
        parts = [tag("text", str(event.number), x=_GUTTER - 10, y=y + 4, class_="step-number")]
        if event.actor is None:
            left, wide = float(_GUTTER), self.width - _GUTTER - 8
        else:
            left, wide = self.x[event.actor] - label / 2, label
        kind = "everybody" if event.actor is None else "action"
        parts.append(tag("rect", x=left, y=y - 11, width=wide, height=22, rx=11, class_=kind))
        parts.append(tag("text", event.action, x=left + wide / 2, y=y + 4, class_="action-name"))
        if event.note:
            note = event.note if len(event.note) <= _LONGEST_NOTE else f"{event.note[: _LONGEST_NOTE - 1]}…"
            reach = len(note) * _SMALL / 2
            middle = min(max(left + wide / 2, _GUTTER + reach), self.width - reach - 4)
            parts.append(tag("text", note, x=middle, y=y + 24, class_="note"))
        return parts

    def _arrows_of(self, event: Event) -> list[Element]:
        if event.actor is None:
            return []
        start, y = self.x[event.actor], self.rows[event.number].arrows
        parts: list[Element] = []
        for other in event.others:
            parts += _arrow(start, y, self.x[other], y, "asks")
            y += _ARROW
        for message in self._sent(event):
            parts += self._message(message, start, y)
            y += _ARROW
        return parts

    def _message(self, message: Message, x: float, y: float) -> list[Element]:
        """From the sender's step to the receiver's; a message that nobody receives ends in a ring."""
        if message.receiver is None or message.received is None:
            forth = 1 if x == self.x[0] or x < self.width / 2 else -1
            to = x + forth * 46
            side = "name-right" if forth > 0 else "name-left"
            return [
                tag("line", x1=x, y1=y, x2=to - forth * 5, y2=y, class_="message open"),
                tag("circle", cx=to, cy=y, r=4.5, class_="message-end"),
                _message_name(message, to + forth * 9, y + 4, side),
            ]
        to_x, to_y = self.x[message.receiver], self.rows[message.received].y - 12
        near = 1 if to_x > x else -1
        side = "name-right" if near > 0 else "name-left"
        return [
            *_arrow(x, y, to_x, max(to_y, y), "message"),
            _message_name(message, x + near * 8, y - 5, side),
        ]

    def _ending(self) -> list[Element]:
        y = self.height - 22
        return [
            tag("rect", x=_GUTTER, y=y - 13, width=self.width - _GUTTER - 8, height=26, rx=6, class_="ending"),
            tag("text", self.end, x=(_GUTTER + self.width - 8) / 2, y=y + 4, class_="ending-text"),
        ]


def _width(action: str) -> float:
    """The width of an action's label."""
    return len(action) * _CHARACTER + 18


def _message_name(message: Message, x: float, y: float, side: str) -> Element:
    return tag("text", message.name, tag("title", message.text), x=x, y=y, class_=f"message-name {side}")


def _arrow(x1: float, y1: float, x2: float, y2: float, kind: str) -> list[Element]:
    """A line with its own arrowhead, so that the head has the line's colour in every theme."""
    length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1.0)
    along, across = (x2 - x1) / length, (y2 - y1) / length
    back_x, back_y = x2 - 8 * along, y2 - 8 * across
    points = [(x2, y2), (back_x - 4 * across, back_y + 4 * along), (back_x + 4 * across, back_y - 4 * along)]
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return [
        tag("line", x1=x1, y1=y1, x2=back_x, y2=back_y, class_=kind),
        tag("polygon", points=head, class_=f"head {kind}-head"),
    ]
