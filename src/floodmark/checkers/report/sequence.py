"""A counterexample as a message sequence chart: the actor of each step, and the messages between participants.

A model does not declare its participants, so they are inferred from the trace: the identifiers that act (brokers,
replicas), and the roles that names of actions begin with (``controller_elects``, ``client_writes``). A message is a
record that is added to a set, a bag or a queue of records; the step that removes it, or has it as an argument, receives
it. A record that a participant stores for itself is not a message. A message is lost if the step that removes it has
``loses`` or ``drops`` in its name. A request or a response is lost if an argument says so (``RESPONSE_LOST``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from floodmark.checkers.explanation.trace import owners, surplus
from floodmark.checkers.report.role import role_and_epoch
from floodmark.checkers.search_result import TraceState, Violation
from floodmark.checkers.value_text import show, show_step
from floodmark.language.model import Model, State
from floodmark.language.reference import Step
from floodmark.language.values import Bag, Identifier, Map, Record, Seq, Set, running

ROLES = frozenset(
    {"admin", "client", "command", "consumer", "controller", "coordinator", "leader", "network", "operator"}
    | {"producer", "server", "time", "user", "zombie"}
)
"""Words that name a participant when an action's name begins with them."""
ADDRESSEES = ("destination", "receiver", "recipient", "to")
"""Fields of a message that name its receiver."""
LOSSES = frozenset({"drop", "dropped", "drops", "lose", "loses", "lost"})
"""Words in the name of an action, or of an argument's value, that mean a lost message."""
ANSWERS = frozenset({"ACK", "ANSWER", "REPLY", "RESPONSE"})
"""First words of an argument's value that mean a lost response."""
MAX_OF_A_KIND = 8
"""The maximum number of identifiers of a kind that are all drawn; beyond it, only those that take part are."""

Participant = Identifier | str


@dataclass(frozen=True, slots=True)
class Event:
    """One step. ``actor`` is None if no identifier acts; ``others`` are the other participants; ``note`` has the
    remaining arguments.

    ``lost`` is the lost direction if the step is a whole exchange with the others: the way there, or the way back.
    """

    number: int
    action: str
    call: str
    note: str
    actor: int | None
    others: tuple[int, ...]
    lost: Literal["", "there", "back"] = ""


@dataclass(slots=True)
class Message:
    """A message from one participant at a step to another at a later one; both are None while it is not received, or if
    it is ``lost``. ``addressee`` is the receiver that the message itself names."""

    name: str
    text: str
    sender: int
    sent: int
    receiver: int | None = None
    received: int | None = None
    lost: bool = False
    addressee: int | None = None


@dataclass(slots=True)
class MessageSequence:
    """The chart. Participants are numbered from 0, steps from 1.

    ``standings`` has, by step, the participants whose role or epoch it changes, with both as text; those of the first
    step are the initial ones. If the last steps are repeated forever, ``loop`` is the first of them.
    """

    participants: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    standings: dict[int, dict[int, str]] = field(default_factory=dict)
    loop: int | None = None


def message_sequence(model: Model, trace: Sequence[TraceState], failed: Step | None = None) -> MessageSequence:
    """The chart of a trace; ``failed`` is a step that could not be completed at its end."""
    return _Chart(model, trace, failed).chart


def violation_sequence(model: Model, violation: Violation) -> MessageSequence:
    """The chart of a counterexample, with the loop of a lasso."""
    chart = message_sequence(model, violation.trace, violation.failed_step)
    if violation.loop is not None and violation.loop < len(violation.trace) - 1:
        chart.loop = violation.loop + 2
    return chart


@dataclass(frozen=True, slots=True)
class _MessageRecord:
    """A record in a variable. If it is ``queued`` in a sequence, it may also be an entry of a log."""

    variable: str
    value: Record
    queued: bool


@dataclass(slots=True)
class _PendingMessage:
    letter: _MessageRecord
    message: Message


class _Chart:
    def __init__(self, model: Model, trace: Sequence[TraceState], failed: Step | None) -> None:
        self.model = model
        self.states = [entry.state for entry in trace]
        self.steps = [entry.step for entry in trace] + ([] if failed is None else [failed])
        self.kinds = self._acting_kinds()
        self.actors = [self._actor(index) for index in range(len(self.steps))]
        self.participants = self._participants()
        self.index = {who: index for index, who in enumerate(self.participants)}
        self.chart = MessageSequence([_name(who) for who in self.participants] or [type(model).__name__])
        self.pending: list[_PendingMessage] = []
        for index in range(len(self.steps)):
            self._event(index)
            self._messages(index)
            self._standings(index)
        self._drop_what_is_no_message()

    def _drop_what_is_no_message(self) -> None:
        """Drops the records that are still in a sequence at the end: more likely log entries than messages."""
        logged = [id(it.message) for it in self.pending if it.message.received is None and it.letter.queued]
        self.chart.messages = [
            it for it in self.chart.messages if it.receiver != it.sender and id(it) not in logged
        ]

    def _acting_kinds(self) -> set[type]:
        """The kinds of identifiers that names of actions mark as actors; if there are none, those of all arguments."""
        kinds = {type(who) for index in range(len(self.steps)) if (who := self._named(index)) is not None}
        return kinds or {
            type(it) for step in self.steps for it in step.arguments.values() if isinstance(it, Identifier)
        }

    def _named(self, index: int) -> Identifier | None:
        """The actor that the first word of the action names: the parameter, or the variable, of that name."""
        step = self.steps[index]
        word = step.action.split("_")[0]
        if isinstance(step.arguments.get(word), Identifier):
            return step.arguments[word]  # type: ignore[no-any-return]
        for state in self._around(index):
            value = dict(zip(self.model.variable_types, state, strict=True)).get(word)
            if isinstance(value, Map):
                value = next((value[key] for key in step.arguments.values() if _is_key(key, value)), None)
            if isinstance(value, Identifier):
                return value
        return None

    def _around(self, index: int) -> Iterator[State]:
        """The state before a step and the one after it, as far as they are known."""
        yield from self.states[max(0, index - 1) : index + 1]

    def _actor(self, index: int) -> Participant | None:
        if index == 0:
            return None
        named = self._named(index)
        if named is not None:
            return named
        step = self.steps[index]
        word = step.action.split("_")[0]
        if word in ROLES:
            return word
        given = [value for value in step.arguments.values() if isinstance(value, Identifier)]
        given += [who for value in step.arguments.values() if (who := _addressee(value)) is not None]
        known = [value for value in given if type(value) in self.kinds]
        if known or given:
            return (known or given)[0]
        names = list(self.model.variable_types)
        changed = owners(names, *self.states[index - 1 : index + 1]) if index < len(self.states) else []
        return changed[0] if len(changed) == 1 else None

    def _participants(self) -> list[Participant]:
        roles = [who for who in dict.fromkeys(self.actors) if isinstance(who, str)]
        kinds = {type(who) for who in self.actors if isinstance(who, Identifier)} or self.kinds
        found: list[Participant] = [*roles]
        for kind in sorted(kinds, key=lambda kind: kind.__name__):
            found += self._members(kind)
        return found

    def _members(self, kind: type[Identifier]) -> list[Identifier]:
        with running(self.model):
            every: list[Identifier] = list(kind)
        if len(every) <= MAX_OF_A_KIND:
            return every
        part = {value for step in self.steps for value in step.arguments.values() if isinstance(value, Identifier)}
        return [who for who in every if who in part or who in self.actors]

    def _event(self, index: int) -> None:
        step, actor = self.steps[index], self.actors[index]
        drawn = {
            name: value
            for name, value in step.arguments.items()
            if isinstance(value, Identifier) and value in self.index and value != actor
        }
        letters = [it.letter.value for it in self.pending]
        noted = [
            f"{name}={show(value)}"
            for name, value in step.arguments.items()
            if value != actor and name not in drawn and value not in letters
        ]
        others = tuple(dict.fromkeys(self.index[who] for who in drawn.values()))
        at = None if actor is None else self.index[actor]
        if not self.participants and index > 0:
            at = 0
        lost = _lost(step) if others else ""
        self.chart.events.append(Event(index + 1, step.action, show_step(step), ", ".join(noted), at, others, lost))

    def _standings(self, index: int) -> None:
        if index >= len(self.states):
            return
        now = [role_and_epoch(self.model, self.states[index], who) for who in self.participants]
        known = [role_and_epoch(self.model, self.states[index - 1], who) for who in self.participants] if index else []
        changed = {at: text for at, text in enumerate(now) if text and (not known or known[at] != text)}
        if changed:
            self.chart.standings[index + 1] = changed

    def _messages(self, index: int) -> None:
        """Receives the messages that this step removes or has as arguments, then sends those that it adds."""
        event = self.chart.events[index]
        if event.actor is None or index == 0:
            return
        after = self.states[index] if index < len(self.states) else self.states[-1]
        before = self.states[index - 1] if index < len(self.states) else after
        gone, come = self._mail(before, after), self._mail(after, before)
        given = [value for value in self.steps[index].arguments.values() if isinstance(value, Record)]
        for waiting in list(self.pending):
            taken = waiting.letter in gone
            if taken:
                gone.remove(waiting.letter)
                self.pending.remove(waiting)
            if taken and LOSSES & set(event.action.split("_")):
                waiting.message.lost = waiting.message.received is None
            elif taken or waiting.letter.value in given:
                self._receive(waiting.message, event)
        for letter in come:
            message = Message(type(letter.value).__name__, show(letter.value), event.actor, event.number)
            named = _addressee(letter.value)
            message.addressee = None if named is None else self.index.get(named)
            self.chart.messages.append(message)
            self.pending.append(_PendingMessage(letter, message))

    def _receive(self, message: Message, event: Event) -> None:
        """Ends a message at a step; a second delivery becomes a second message from the same sender."""
        if message.received is not None:
            message = Message(message.name, message.text, message.sender, message.sent)
            self.chart.messages.append(message)
        message.receiver, message.received = event.actor, event.number

    def _mail(self, state: State, other: State) -> list[_MessageRecord]:
        """The records in sets, bags and sequences of ``state`` that ``other`` lacks."""
        variables = zip(self.model.variable_types, state, other, strict=True)
        return [letter for name, here, there in variables if here != there for letter in _letters(name, here, there)]


def _letters(path: str, here: Any, there: Any) -> Iterator[_MessageRecord]:
    match here, there:
        case Map(), Map():
            for key in here:
                yield from _letters(f"{path}[{show(key)}]", here[key], there[key])
        case (Set() | Bag() | Seq()), _:
            for item in surplus(list(here), [] if there is None else list(there)):
                if isinstance(item, Record):
                    yield _MessageRecord(path, item, isinstance(here, Seq))


def _is_key(key: Any, entries: Map[Any, Any]) -> bool:
    return isinstance(key, Identifier) and key in entries


def _lost(step: Step) -> Literal["", "there", "back"]:
    """The lost direction that an argument such as RESPONSE_LOST names."""
    for value in step.arguments.values():
        words = value.name.split("_") if isinstance(value, Enum) else []
        if LOSSES & {word.lower() for word in words}:
            return "back" if words[0] in ANSWERS else "there"
    return ""


def _addressee(value: Any) -> Identifier | None:
    """The receiver that a message names, or None."""
    fields = value._values if isinstance(value, Record) else {}
    return next((fields[name] for name in ADDRESSEES if isinstance(fields.get(name), Identifier)), None)


def _name(who: Participant) -> str:
    return who if isinstance(who, str) else show(who)
