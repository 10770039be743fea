"""A model whose messages differ in nothing but their class."""

from __future__ import annotations

from typing import Annotated

from floodmark import Bag, Between, Map, Model, Record, Seq, Set, action, initial, invariant, require

Term = Annotated[int, Between(0, 1)]


class Yes(Record):
    term: Term


class No(Record):
    term: Term


class Box(Record):
    held: Yes | No | None


Answer = Yes | No


class Told(Model):
    """Answers everywhere: in containers, below an optional value, in the field of a record, as a parameter."""

    sent: Bag[Answer]
    seen: Set[Answer]
    last: Answer | None
    by_term: Map[Term, Seq[Answer]]
    box: Box

    @initial
    def start(self) -> None:
        self.sent = Bag()
        self.seen = Set()
        self.last = None
        self.by_term = Map({term: Seq() for term in range(2)})
        self.box = Box(held=None)

    @action
    def answers(self, term: Term, agrees: bool) -> None:
        require(len(self.sent) < 1)
        self.sent.add(Yes(term=term) if agrees else No(term=term))

    @action
    def hears(self, answer: Answer) -> None:
        require(answer in self.sent)
        require(sum(len(answers) for answers in self.by_term.values()) < 2)
        self.sent.remove(answer)
        self.seen.add(answer)
        self.last = answer
        self.by_term[answer.term].append(answer)
        self.box = Box(held=answer)

    @invariant
    def nobody_refuses_twice(self) -> bool:
        return Seq((No(term=1), No(term=1))) != self.by_term[1]
