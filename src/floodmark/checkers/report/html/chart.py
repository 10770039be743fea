"""A counterexample drawn as a message sequence chart, narrow enough for a phone where its names allow it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from xml.etree.ElementTree import Element

from floodmark.checkers.report.html.markup import Part, tag
from floodmark.checkers.report.sequence import Event, Message, MessageSequence
from floodmark.language.plurals import counted

_CHARACTER = 6.7
"""The width in pixels of a character of the labels, whose font is monospaced at 11 pixels; rounded up."""
_SMALL = 6.1
_HEAD_CHARACTER = 7.4
_GUTTER = 26
_HEAD = 46
_ROW = 34
_LINE = 13
_ARROW = 22
_NOTE = 18
_ROLE = 14
_LOOP = 14
"""The width of the arrow that leads back to the beginning of a loop."""
_WIDTH = 330
"""The width in pixels that the lifelines share, if that leaves enough for each: that of a phone."""
_MAX_SPACE = 110
_MIN_SPACE = 52
_MAX_LABEL = 40
_MAX_NOTE = 46
_SHRINKS = 0.84
"""A chart that is wider than the page is drawn smaller, down to this share of its size; then it is scrolled."""


@dataclass(frozen=True, slots=True)
class _StepPlace:
    """The vertical positions of a step: the middle of its label, of its first arrow, and of its first role."""

    y: float
    arrows: float
    standings: float


def chart(sequence: MessageSequence, end: str = "", anchor: str = "") -> Element:
    """The chart as SVG; ``end`` is written below the last step.

    With ``anchor`` the label of step 2 has the identifier ``<anchor>-chart-2`` and is a link to ``<anchor>-step-2``.
    """
    return _Drawing(sequence, end, anchor).svg()


class _Drawing:
    def __init__(self, sequence: MessageSequence, end: str, anchor: str) -> None:
        self.sequence = sequence
        self.end = end
        self.anchor = anchor
        self.x = self._columns()
        self.width = max(
            self.x[-1] + max(self._half_head(len(self.x) - 1), self._half_standing(len(self.x) - 1), 30) + 6,
            len(end) * _CHARACTER + 2 * _GUTTER,
            *map(self._reach, sequence.events),
        )
        self.rows: dict[int, _StepPlace] = {}
        y = float(_HEAD)
        for event in sequence.events:
            tall = _LINE * (len(_label(event.action)) - 1)
            noted = _NOTE if event.note else 0
            below = y + 15 + tall + 12 + noted
            standings = below + _ARROW * self._arrows(event) + 4
            self.rows[event.number] = _StepPlace(y + 15, below + _ARROW / 2, standings + 4)
            y += _ROW + tall + noted + _ARROW * self._arrows(event) + _ROLE * len(self._standing_rows(event))
        self.height = y + (44 if end else 12)

    def _half_head(self, participant: int) -> float:
        return (len(self.sequence.participants[participant]) * _HEAD_CHARACTER + 18) / 2

    def _half_standing(self, participant: int) -> float:
        """Half the width of the widest role and epoch of a participant."""
        texts = [changed.get(participant, "") for changed in self.sequence.standings.values()]
        return max((len(text) for text in texts), default=0) * _SMALL / 2

    def _columns(self) -> list[float]:
        """Spaces the lifelines evenly over the width of a phone, and further apart where their names need it."""
        count = len(self.sequence.participants)
        first = _GUTTER + max(self._half_head(0), self._half_standing(0), 26)
        share = (_WIDTH - first - 34) / max(count - 1, 1)
        space = min(max(share, _MIN_SPACE), _MAX_SPACE)
        found = [first]
        for left, right in pairwise(range(count)):
            found.append(found[-1] + max(space, self._half_head(left) + self._half_head(right) + 6))
        return found

    def _reach(self, event: Event) -> float:
        """The width that a step's label and note need."""
        note = min(len(event.note), _MAX_NOTE) * _SMALL
        return _GUTTER + max(_width(event.action), note) + 8

    def _arrows(self, event: Event) -> int:
        """The rows below a step: one or two for each other participant, and one for each message that it sends."""
        each = 2 if event.lost == "back" else 1
        return each * len(event.others) + len(self._sent(event))

    def _sent(self, event: Event) -> list[Message]:
        return [message for message in self.sequence.messages if message.sent == event.number]

    def _standing_rows(self, event: Event) -> list[list[tuple[int, str]]]:
        """The roles and epochs that a step changes, in as many rows as they need side by side."""
        rows: list[list[tuple[int, str]]] = []
        ends: list[float] = []
        for participant, text in self.sequence.standings.get(event.number, {}).items():
            half = len(text) * _SMALL / 2 + 4
            left, right = self.x[participant] - half, self.x[participant] + half
            free = next((row for row, end in enumerate(ends) if end <= left), len(rows))
            if free == len(rows):
                rows.append([])
                ends.append(0.0)
            rows[free].append((participant, text))
            ends[free] = right
        return rows

    def svg(self) -> Element:
        steps = counted(len(self.sequence.events), "step")
        width = self.width + (0 if self.sequence.loop is None else _LOOP)
        end = f", ending with {self.end}" if self.end else ""
        return tag(
            "svg",
            tag("title", f"Message sequence chart of {steps}{end}"),
            self._lifelines(),
            [self._arrows_of(event) for event in self.sequence.events],
            [self._standings(event) for event in self.sequence.events],
            [self._event(event) for event in self.sequence.events],
            None if self.sequence.loop is None else self._loop(self.sequence.loop),
            self._ending() if self.end else None,
            viewBox=f"0 0 {width:.0f} {self.height:.0f}",
            width=f"{width:.0f}",
            class_="chart",
            style=f"min-width:{width * _SHRINKS:.0f}px",
            role="img",
        )

    def _lifelines(self) -> list[Element]:
        parts = []
        bottom = self.height - (34 if self.end else 4)
        for index, (x, name) in enumerate(zip(self.x, self.sequence.participants, strict=True)):
            half = self._half_head(index)
            parts.append(tag("line", x1=x, y1=30, x2=x, y2=bottom, class_="lifeline"))
            parts.append(tag("rect", x=x - half, y=6, width=2 * half, height=24, rx=6, class_="participant"))
            parts.append(tag("text", name, x=x, y=22, class_="participant-name"))
        return parts

    def _event(self, event: Event) -> Element:
        """A step's label, on the actor's lifeline and inside of the chart; a dot is exactly on the lifeline."""
        y = self.rows[event.number].y
        lines = _label(event.action)
        wide = _width(event.action)
        if event.actor is None:
            left, wide = float(_GUTTER), self.width - _GUTTER - 8
        else:
            left = min(max(self.x[event.actor] - wide / 2, _GUTTER), self.width - 8 - wide)
        kind = "everybody" if event.actor is None else "action"
        middle = left + wide / 2
        tall = 20 + _LINE * (len(lines) - 1)
        parts: list[Part] = [
            tag("text", str(event.number), x=_GUTTER - 8, y=y + 4, class_="step-number"),
            tag("rect", x=left, y=y - 10, width=wide, height=tall, rx=10, class_=kind),
            [tag("text", line, x=middle, y=y + 4 + _LINE * at, class_="action-name") for at, line in enumerate(lines)],
        ]
        if event.actor is not None:
            parts.append(tag("circle", cx=self.x[event.actor], cy=y - 10, r=3, class_="actor"))
        if event.note:
            note = event.note if len(event.note) <= _MAX_NOTE else f"{event.note[: _MAX_NOTE - 1]}…"
            reach = len(note) * _SMALL / 2
            middle = min(max(middle, _GUTTER + reach), self.width - reach - 4)
            parts.append(tag("text", note, x=middle, y=y - 10 + tall + 14, class_="note"))
        group = tag("g", parts, class_="step", data_number=str(event.number))
        if not self.anchor:
            return group
        group.set("id", f"{self.anchor}-chart-{event.number}")
        return tag("a", group, href=f"#{self.anchor}-step-{event.number}")

    def _standings(self, event: Event) -> list[Element]:
        y = self.rows[event.number].standings
        return [
            tag("text", text, x=self.x[participant], y=y + _ROLE * row, class_="role")
            for row, placed in enumerate(self._standing_rows(event))
            for participant, text in placed
        ]

    def _arrows_of(self, event: Event) -> list[Element]:
        if event.actor is None:
            return []
        start, y = self.x[event.actor], self.rows[event.number].arrows
        parts: list[Element] = []
        for other in event.others:
            to = self.x[other]
            if event.lost == "there":
                parts += _lost(start, y, to, "asks")
            else:
                parts += _arrow(start, y, to, y, "asks")
            y += _ARROW
            if event.lost == "back":
                parts += _lost(to, y, start, "asks")
                y += _ARROW
        for message in self._sent(event):
            parts += self._message(message, start, y)
            y += _ARROW
        return parts

    def _message(self, message: Message, x: float, y: float) -> list[Element]:
        """A message from the sender's step to the receiver's. Without a receiver it ends in a ring, and if lost in a
        cross; it then points to its addressee, if it has one."""
        if message.receiver is None or message.received is None:
            if message.addressee not in (None, message.sender):
                assert message.addressee is not None
                return self._waiting(message, x, y, self.x[message.addressee])
            forth = 1 if x == self.x[0] or x < self.width / 2 else -1
            to = x + forth * 40
            side = "name-right" if forth > 0 else "name-left"
            end = _cross(to, y) if message.lost else [tag("circle", cx=to, cy=y, r=4.5, class_="message-end")]
            return [
                tag("line", x1=x, y1=y, x2=to - forth * 5, y2=y, class_="message open"),
                *end,
                _message_name(message, to + forth * 9, y + 4, side),
            ]
        to_x, to_y = self.x[message.receiver], self.rows[message.received].y - 12
        near = 1 if to_x > x else -1
        side = "name-right" if near > 0 else "name-left"
        return [
            *_arrow(x, y, to_x, max(to_y, y), "message"),
            _message_name(message, x + near * 8, y - 5, side),
        ]

    def _waiting(self, message: Message, x: float, y: float, to: float) -> list[Element]:
        """A message to a participant that has not received it."""
        forth = 1 if to > x else -1
        end = to - forth * 12
        ring = _cross(end, y) if message.lost else [tag("circle", cx=end, cy=y, r=4.5, class_="message-end")]
        side = "name-right" if forth > 0 else "name-left"
        line = tag("line", x1=x, y1=y, x2=end - forth * 5, y2=y, class_="message open")
        return [line, *ring, _message_name(message, x + forth * 8, y - 5, side)]

    def _loop(self, number: int) -> list[Element]:
        """The arrow from the last step back to the first repeated one, to the right of all labels."""
        start, end = self.width - 6, self.width + _LOOP - 6
        first, last = self.rows[number].y - 5, self.rows[len(self.rows)].y + 5
        return [
            tag("line", x1=start, y1=last, x2=end, y2=last, class_="loop"),
            tag("line", x1=end, y1=last, x2=end, y2=first, class_="loop"),
            *_arrow(end, first, start, first, "loop"),
        ]

    def _ending(self) -> list[Element]:
        y = self.height - 22
        return [
            tag("rect", x=_GUTTER, y=y - 13, width=self.width - _GUTTER - 8, height=26, rx=6, class_="ending"),
            tag("text", self.end, x=(_GUTTER + self.width - 8) / 2, y=y + 4, class_="ending-text"),
        ]


def _label(action: str) -> list[str]:
    """An action's name, broken near its middle if it is long."""
    if len(action) <= _MAX_LABEL or "_" not in action:
        return [action]
    at = min((place for place, letter in enumerate(action) if letter == "_"), key=lambda it: abs(it - len(action) / 2))
    return [action[: at + 1], action[at + 1 :]]


def _width(action: str) -> float:
    """The width of an action's label."""
    return max(map(len, _label(action))) * _CHARACTER + 18


def _message_name(message: Message, x: float, y: float, side: str) -> Element:
    return tag("text", message.name, tag("title", message.text), x=x, y=y, class_=f"message-name {side}")


def _lost(x: float, y: float, to: float, kind: str) -> list[Element]:
    """A line that ends in a cross before its target."""
    end = x + (to - x) * 0.55
    return [tag("line", x1=x, y1=y, x2=end, y2=y, class_=f"{kind} open"), *_cross(end, y)]


def _cross(x: float, y: float) -> list[Element]:
    return [
        tag("line", x1=x - 4, y1=y - 4, x2=x + 4, y2=y + 4, class_="lost"),
        tag("line", x1=x - 4, y1=y + 4, x2=x + 4, y2=y - 4, class_="lost"),
    ]


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


_EPOCH = re.compile(r"\be\d+$")


def legend(sequence: MessageSequence) -> Element | None:
    """The legend of the arrows, for the kinds that occur."""
    messages = sequence.messages
    lines = [
        "a solid arrow is a message" if any(it.receiver is not None for it in messages) else "",
        "a message that ends in a ring has not been received" if any(_waits(it) for it in messages) else "",
        "a message that ends in a cross is lost" if _loses(sequence) else "",
        "the arrow on the right leads back to the first of the steps that are repeated" if sequence.loop else "",
        "a dotted arrow points to the subject of a step" if any(event.others for event in sequence.events) else "",
        "e2 on a lifeline is epoch 2" if any(_EPOCH.search(it) for it in _standings(sequence)) else "",
    ]
    text = "; ".join(filter(None, lines))
    return tag("p", f"{text[:1].upper()}{text[1:]}.", class_="legend") if text else None


def _loses(sequence: MessageSequence) -> bool:
    return any(it.lost for it in sequence.messages) or any(it.lost for it in sequence.events)


def _waits(message: Message) -> bool:
    return message.receiver is None and not message.lost


def _standings(sequence: MessageSequence) -> list[str]:
    return [text for changed in sequence.standings.values() for text in changed.values()]
