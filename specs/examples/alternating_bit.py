"""The alternating-bit protocol over channels that lose messages (Bartlett, Scantlebury and Wilkinson, 1969).

A sender repeats a message with a bit until it hears the bit back, and then flips it. Each channel holds one message and
may lose it. Messages keep getting through only if a channel that is used infinitely often delivers infinitely often:
that is strong fairness, since a message that may be lost is never there for good (Lamport, Specifying Systems, 8.9).
"""

from __future__ import annotations

from floodmark import Model, action, fair, initial, leads_to, require, transition


class AlternatingBit(Model):
    """The sender's bit, the one that the receiver waits for, and what is in either channel."""

    sending: bool
    expected: bool
    message: bool | None
    acknowledgement: bool | None

    @initial
    def start(self) -> None:
        self.sending = False
        self.expected = False
        self.message = None
        self.acknowledgement = None

    @fair
    @action
    def sends(self) -> None:
        """The sender puts its message into the channel, as often as it likes."""
        self.message = self.sending

    @fair(strong=True)
    @action
    def receives(self) -> None:
        """The receiver takes a message if it is the one that it waits for, and says which it got."""
        require(self.message is not None)
        self.acknowledgement = self.message
        if self.message == self.expected:
            self.expected = not self.expected
        self.message = None

    @fair(strong=True)
    @action
    def hears(self) -> None:
        require(self.acknowledgement is not None)
        if self.acknowledgement == self.sending:
            self.sending = not self.sending
        self.acknowledgement = None

    @action
    def loses_message(self) -> None:
        require(self.message is not None)
        self.message = None

    @action
    def loses_acknowledgement(self) -> None:
        require(self.acknowledgement is not None)
        self.acknowledgement = None

    @transition
    def nothing_is_skipped(self, new: AlternatingBit) -> bool:
        """The sender advances only after the receiver: no message is left out."""
        return new.sending == self.sending or self.expected != self.sending

    @leads_to
    def a_message_arrives(self) -> tuple[bool, bool]:
        return self.sending == self.expected, self.sending != self.expected

    @leads_to
    def the_sender_goes_on(self) -> tuple[bool, bool]:
        return self.sending != self.expected, self.sending == self.expected
