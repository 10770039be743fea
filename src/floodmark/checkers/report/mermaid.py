"""A counterexample as a Mermaid sequence diagram, which GitHub and many wikis draw."""

from __future__ import annotations

import re

from floodmark.checkers.report.liveness import ending
from floodmark.checkers.report.sequence import Event, Message, MessageSequence, violation_sequence
from floodmark.checkers.verdict.result import CheckResult

_MAX_LABEL = 120


def mermaid(result: CheckResult) -> str:
    """The diagram of a check's counterexample."""
    violation, model = result.violation, result.subject
    assert violation is not None
    assert model is not None
    chart = violation_sequence(model, violation)
    lines = ["sequenceDiagram"]
    lines += [f"    participant P{index} as {_text(name)}" for index, name in enumerate(chart.participants)]
    indent = " " * 4
    for event in chart.events:
        if event.number == chart.loop:
            lines.append(f"{indent}loop forever")
            indent *= 2
        lines += [f"{indent}{line}" for line in _event(chart, event)]
    if chart.loop is not None:
        lines.append("    end")
    end = violation.message if violation.kind == "error" else f"{violation.property} is false"
    end = ending(violation) if violation.kind == "liveness" else end
    lines.append(f"    Note over {_everybody(chart)}: {_text('deadlock' if violation.kind == 'deadlock' else end)}")
    return "\n".join(lines) + "\n"


def _event(chart: MessageSequence, event: Event) -> list[str]:
    """The received messages, the step itself, and the messages that it sends and nobody receives."""
    text = f"{event.number} {event.action}({event.note})" if event.note else f"{event.number} {event.action}"
    lines = [_arrival(message) for message in chart.messages if message.received == event.number]
    if event.actor is None:
        lines.append(f"Note over {_everybody(chart)}: {_text(text)}")
    elif event.others:
        arrow = "-x" if event.lost == "there" else "->>"
        lines += [f"P{event.actor}{arrow}P{other}: {_text(text)}" for other in event.others]
        if event.lost == "back":
            lines += [f"P{other}-xP{event.actor}: lost" for other in event.others]
    else:
        lines.append(f"Note over P{event.actor}: {_text(text)}")
    for message in chart.messages:
        if message.sent == event.number and message.received is None:
            how = "sent and lost" if message.lost else "sent and on its way"
            lines.append(f"Note over P{message.sender}: {how}: {_text(message.text)}")
    return lines


def _arrival(message: Message) -> str:
    return f"P{message.sender}-)P{message.receiver}: {_text(message.text)}"


def _everybody(chart: MessageSequence) -> str:
    last = len(chart.participants) - 1
    return "P0" if last == 0 else f"P0,P{last}"


def _text(text: str) -> str:
    """A text without the characters that would end a line of a diagram or begin an entity."""
    short = text if len(text) <= _MAX_LABEL else f"{text[: _MAX_LABEL - 4]} ..."
    return " ".join(re.sub("[#;]", lambda found: f"#{ord(found[0])};", short).split())
