"""Eliminates the states of a distributed search that are on no fair run, until a fixed point.

Depth-first search, by which the native engine finds components, does not distribute. Elimination does (one way catch
them young: Fisler, Fraer, Kamhi, Vardi and Yang 2001; Cerna and Pelanek 2003; for strong fairness Kesten, Pnueli and
Raviv 1998). It keeps a set of states S, at first those inside of the query's region that a run enters, and removes
states from it:

- *root*: those that no root reaches by steps within the region. If a remaining state is chosen and enables no fair
  label, a run may stay there forever: this is a fair run, and the search ends;
- *label*: those that a label of fairness rules out. A label counts as met at a state if a step with it, between states
  of S, leads there, or to a state from which steps within S lead there; if it is weakly fair, also if it is disabled
  there, or in a state from which steps within S lead there. A state is removed if a weakly fair label is not met there,
  or a strongly fair one that is enabled there. With chosen states, one of them must be met, too;
- *count*: those to which no other state of S leads. This removes only states that *label* would remove in the end, but
  without processing all states again.

S is empty in the end if and only if no fair run stays in the region:

- *No fair component loses a state.* Let C be a strongly connected part of S in which each weakly fair label is taken or
  somewhere disabled, each strongly fair one taken or nowhere enabled, and some state chosen. Whatever is met in C is
  met everywhere in C, by steps within C. So *label* removes no state of C, and neither does *count*: another state of C
  leads to it, as a state in which a run may stay by itself was found before.
- *A nonempty remainder has one.* Of its components, one has no step into it from another. Everything that is met in it
  is met by steps from its own states: a step with the label within it, or a state of it in which the label is disabled.
  So it is fair to each label, and has a chosen state.

Whether a label is enabled is a property of the whole model, not of S; stuttering is always allowed and is no step.
"""

from __future__ import annotations

from functools import partial

from floodmark.checkers.spark import elimination_loops as loops
from floodmark.checkers.spark import elimination_tasks as tasks
from floodmark.checkers.spark.elimination_tasks import FairRunQuery, StateSelection, TaskReport
from floodmark.checkers.spark.rounds import EliminationRounds


class Elimination:
    """One query to all partitions. Its methods raise PartitionMismatch when a partition was lost."""

    def __init__(self, rounds: EliminationRounds, question: FairRunQuery, roots: StateSelection | None) -> None:
        self.rounds = rounds
        self.question = question
        self.roots = roots
        self.left = self.sending = self.alone = 0
        """The remaining states, those that have to send to their successors, and those where a run may stay forever."""
        self.enabled: set[tuple[int, ...]] = set()
        """The sets of labels, as words, that are enabled in the chosen states that a root reaches."""

    def leaves_nothing(self, noting: bool = False) -> bool:
        """Whether no fair run that begins in a root stays in the region; notes what is enabled there on request."""
        self._enter()
        if self.alone:
            return False
        if noting:
            reports = self.rounds.report(lambda sieve: partial(tasks.enabled_sets, sieve, self.question))
            self.enabled = {found for report in reports for found in report.enabled}
        self._exchange(self.question, loops.COUNTING, 0)
        self._leave()
        while self.left:
            before = self.left
            for word in self._words():
                self._reach(self.question, word)
                self._change(self.question, ("eliminate", word))
                self._leave()
            if self.left == before:
                return False
        return True

    def _enter(self) -> None:
        """Keeps the states of the region that a root reaches. All of them then have to send along their steps."""
        self.rounds.begin()
        if self.roots is None:
            self._change(self.question, ("enter_region", 0), ("start_counting", 0))
            return
        none = tuple(0 for _ in self.question.weak)
        entering = FairRunQuery(self.question.inside, self.roots, none, none)
        self._change(entering, ("enter_region", 0))
        self._reach(entering, 0)
        self._change(entering, ("eliminate", 0), ("finish_sending", 0))
        self._change(self.question, ("start_counting", 0))

    def _words(self) -> list[int]:
        """The words of labels that a state may miss."""
        asked = enumerate(zip(self.question.weak, self.question.strong, strict=True))
        return [word for word, (weak, strong) in asked if weak | strong or (word == 0 and self.question.chosen.care)]

    def _reach(self, question: FairRunQuery, word: int) -> None:
        """Computes for each state which labels of a word are met there."""
        self._change(question, ("seed_labels", word))
        while self.sending:
            self._exchange(question, loops.REACHING, word)

    def _leave(self) -> None:
        """Eliminates the states that were ruled out, and then those without a predecessor."""
        while self.sending:
            self._exchange(self.question, loops.LEAVING, 0)

    def _change(self, question: FairRunQuery, *steps: tuple[str, int]) -> None:
        self._took(self.rounds.change(lambda sieve: partial(tasks.change, sieve, question, steps)))

    def _exchange(self, question: FairRunQuery, mode: int, word: int) -> None:
        reports = self.rounds.exchange(
            lambda sieve: partial(tasks.send, sieve, question, mode, word),
            lambda sieve: partial(tasks.receive, sieve, question, mode, word),
        )
        self._took(reports)

    def _took(self, reports: list[TaskReport]) -> None:
        self.left, self.sending, self.alone = (sum(it.counts[place] for it in reports) for place in range(3))
