"""The results of ``floodmark.check`` and ``floodmark.prove``: a verdict with everything that is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import click

from floodmark.checkers.interface import notebook
from floodmark.checkers.report import text
from floodmark.checkers.report.json import entry
from floodmark.checkers.report.replay import test_module
from floodmark.checkers.search_result import SearchResult, Violation
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult, Verdict
from floodmark.language.errors import ValueOutOfRange
from floodmark.language.reference import Step


class Undetermined(Exception):  # noqa: N818 - it is an answer
    """A result that is neither true nor false was used as a truth value: a search that a limit ended, a proof that was
    not found, a check of nothing."""


class ModelFailed(ValueOutOfRange):
    """A run of a model left its declared types: a value out of range, a full sequence, a missing key, a failed assert.

    ``counterexample`` is the shortest such run; a traceback shows it.
    """

    def __init__(self, found: CheckResult) -> None:
        super().__init__(found.message, found.file, found.line)
        self.counterexample = Counterexample(found)
        self.add_note(str(self.counterexample))


class Counterexample:
    """A shortest run that shows why a property is false. It prints as the command shows it."""

    def __init__(self, found: CheckResult) -> None:
        assert found.violation is not None
        self._found = found
        self._violation: Violation = found.violation

    @property
    def broken(self) -> str | None:
        """The name of the property that is false; "deadlock", or None if a step leaves the declared types."""
        return self._violation.property or None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps, the first of which sets the initial state; each has ``action`` and ``arguments``."""
        return tuple(entry.step for entry in self._violation.trace)

    @property
    def states(self) -> tuple[dict[str, Any], ...]:
        """The state after each step: the value of each variable by its name."""
        assert self._found.subject is not None
        names = list(self._found.subject.variable_types)
        return tuple(dict(zip(names, entry.state, strict=True)) for entry in self._violation.trace)

    @property
    def loop(self) -> int | None:
        """The start of the loop of a run that never reaches a goal: the index in ``states``, from 0, to which its end
        leads back. None for any other run."""
        return self._violation.loop

    def as_test(self) -> str:
        """A module for pytest that replays the run in CPython, as ``floodmark report --as test`` prints it."""
        return test_module([self._found])

    def __len__(self) -> int:
        return len(self._violation.trace)

    def __str__(self) -> str:
        return click.unstyle("\n".join(text.counterexample(self._found)))

    def __repr__(self) -> str:
        return f"<counterexample to {self.broken}: {' '.join(map(str, self.steps))}>"

    def _repr_html_(self) -> str:
        return notebook.counterexample_html(self._found)


class _Answer:
    """Something that holds, does not hold, or is not known."""

    _verdict: Verdict

    @property
    def verdict(self) -> Verdict:
        """"holds", "violated" or "undetermined"; of a proof also "error", where a run leaves the declared types."""
        return self._verdict

    @property
    def holds(self) -> bool | None:
        """True if every property holds, in all states; False if one does not; None if that is not known."""
        return {"holds": True, "violated": False}.get(self._verdict)

    def _why(self) -> str:
        raise NotImplementedError

    def __bool__(self) -> bool:
        """Whether every property holds. Raises Undetermined if that is not known, so that nothing passes for a result
        that is none."""
        if self.holds is None:
            raise Undetermined(self._why())
        return self.holds


class Result(_Answer):
    """The result of a search. It prints as the command shows it; a notebook shows it as a table with the chart.

    ``if result:`` asks whether every property holds, and raises Undetermined if the search did not settle that.
    """

    def __init__(self, found: CheckResult) -> None:
        if found.verdict == "error":
            raise ModelFailed(found)
        self._found = found
        self._verdict = found.verdict
        self._search_result = found.search_result or SearchResult(engine=found.engine)

    @property
    def model(self) -> str:
        """The name of the model's class."""
        return self._found.name

    @property
    def constants(self) -> dict[str, int]:
        """The value of each constant."""
        return dict(self._found.constants)

    @property
    def properties(self) -> list[str]:
        """The names of the properties that were checked."""
        return [prop.name for prop in self._found.properties]

    @property
    def broken(self) -> str | None:
        """The name of the property that does not hold, or that is not known to."""
        return self._found.property

    @property
    def message(self) -> str:
        """Notes besides the verdict, such as the limit that ended the search; often empty."""
        return self._found.message

    @cached_property
    def counterexample(self) -> Counterexample | None:
        """A shortest run to a state, or with a step, in which a property is false. None where there is none: nothing
        is false, or no state satisfies a ``reachable`` property."""
        return None if self._found.violation is None else Counterexample(self._found)

    @property
    def states(self) -> int:
        """The number of distinct states found; with symmetry, of orbits."""
        return self._search_result.distinct

    @property
    def generated(self) -> int:
        """The number of states generated, each as often as a step leads to it."""
        return self._search_result.generated

    @property
    def depth(self) -> int:
        """The number of levels of the search; the initial states are the first."""
        return self._search_result.depth

    @property
    def actions(self) -> dict[str, int]:
        """The number of times that each action was taken."""
        return dict(self._search_result.actions)

    @property
    def complete(self) -> bool:
        """Whether the search saw every reachable state; one that finds a violation ends there."""
        return self._search_result.complete

    @property
    def seconds(self) -> float:
        """The time of the search."""
        return self._search_result.seconds

    @property
    def warnings(self) -> list[str]:
        """Reasons to doubt the verdict: actions that never fire, premises that are never true, a boundary that cuts."""
        return notebook.plain_warnings(self._found)

    def as_json(self) -> dict[str, Any]:
        """The entry of the check in the file that ``floodmark check --json`` writes."""
        return entry(self._found)

    def _why(self) -> str:
        return f"{self.model}: {self._found.message or 'undetermined'}"

    def __str__(self) -> str:
        return click.unstyle("\n".join(text.lines(self._found, traces=True))).rstrip()

    def __repr__(self) -> str:
        return f"<{self._verdict}: {self.model}, {text.figures(self._found)}>"

    def _repr_html_(self) -> str:
        return notebook.result_html(self._found)


class Proof(_Answer):
    """The result of a proof. It prints as the command shows it.

    ``if proof:`` asks whether every property is proved, and raises Undetermined if it is neither proved nor refuted.
    """

    def __init__(self, found: ProofResult) -> None:
        self._found = found
        self._verdict = found.verdict

    @property
    def model(self) -> str:
        """The name of the model's class."""
        return self._found.name

    @property
    def method(self) -> str:
        """The method of the proof."""
        return self._found.method

    @property
    def constants(self) -> dict[str, int]:
        """The value of each constant, as far as the proof has one."""
        return dict(self._found.constants)

    @property
    def properties(self) -> Sequence[str]:
        """The names of the properties to prove."""
        return list(self._found.facts.get("properties", ()))

    @property
    def broken(self) -> str | None:
        """The name of the property that is violated."""
        return self._found.broken

    @property
    def message(self) -> str:
        """The proved statements, or the open obligations of a proof."""
        return self._found.headline

    @property
    def lines(self) -> list[str]:
        """More about it: the run that violates a property, the step that induction does not settle, lemmas."""
        return list(self._found.lines)

    @property
    def seconds(self) -> float:
        """The time that it took."""
        return self._found.seconds

    def as_json(self) -> dict[str, Any]:
        """The entry of the proof in the file that ``floodmark prove --json`` writes."""
        return self._found.as_json()

    def _why(self) -> str:
        return f"{self.model}: {self._found.headline}"

    def __str__(self) -> str:
        return "\n".join(self._found.text_lines())

    def __repr__(self) -> str:
        return f"<{self._verdict}: {self.model}, {self.method}: {self._found.headline}>"

    def _repr_html_(self) -> str:
        return notebook.proof_html(self._found)
