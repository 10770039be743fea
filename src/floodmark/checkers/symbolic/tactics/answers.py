"""The recorded answer to an obligation of any size, from which z3 gets the same narrow query again.

A search for an answer takes minutes, its replay milliseconds. A record has the lemmas that suffice, z3's instantiation
strategy, the conditions on which the paths of an action are split, and the sets for which each cardinality law is
instantiated.

A record is never trusted. It can only choose among the permitted assumptions, z3's options, the splits of cases, and
the sets of the query for which a law is instantiated. Every such choice is sound (``records/replay.py`` says why), so a
damaged record can only fail to answer. An obligation that it does not answer is undetermined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Literal, get_args

ObligationKey = tuple[str, str]
"""The names of an action, or of an initial method, and of the property that it preserves."""

Style = Literal["models", "terms", "all terms", "shallow", "late", "late relevant", "eager models", "near"]
"""z3's instantiation strategy; ``portfolio.py`` has the options of each."""
Sight = Literal["everything", "witnesses", "namesakes", "simpler", "close sets", "set pairs"]
"""The form in which z3 gets the assumptions: the first three are those of ``skolem_instances.py``, the others those of
paths (``path_questions.py``); "simpler" has everything."""


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a cardinality law: the law's name in ``lazy_cardinality.py``, and the sets' names by
    ``records/term_names.py``."""

    law: str
    sets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refutation:
    """One query that z3 refuted: the names of its assumptions, their view, and z3's style."""

    style: Style
    assumptions: tuple[str, ...] = ()
    view: Sight = "everything"
    laws: tuple[Instance, ...] = ()


@dataclass(frozen=True, slots=True)
class Split:
    """A split into two queries: a condition is true, or it is false; None for a branch that is contradictory."""

    condition: str
    true: Answer | None
    false: Answer | None


def solver_version() -> str:
    """The version of z3."""
    return version("z3-solver")


Answer = Refutation | Split
"""The answer to one case of an obligation."""
Answers = tuple[Answer, ...]
"""The answers to the cases of an obligation, in their order."""


@dataclass(slots=True)
class AnswerBook:
    """The answers of one proof: the ``known`` ones, recorded with a ``version`` of z3, are replayed.

    With ``finds``, a search replaces answers that are missing or fail. Then ``found`` has all answers that succeeded,
    and ``keep`` is called with the present ones. ``command`` is the command with which a user starts that search.
    """

    known: Mapping[ObligationKey, Answers]
    finds: bool = False
    command: str = ""
    version: str | None = None
    keep: Callable[[Mapping[ObligationKey, Answers]], None] | None = None
    found: dict[ObligationKey, Answers] = field(default_factory=dict)

    def note(self, key: ObligationKey, answers: Answers) -> None:
        """Records answers that succeeded."""
        self.found[key] = answers
        if self.keep is not None and self.known.get(key) != answers:
            self.keep({**self.known, **self.found})

    @property
    def missing(self) -> str:
        """The reason of an obligation without an answer."""
        return f"no answer is recorded; {self.command} searches for one"

    @property
    def stale(self) -> str:
        """The reason of an obligation whose recorded answer fails."""
        return f"the recorded answer fails{self.other_version}; {self.command} searches for another"

    @property
    def other_version(self) -> str:
        """A note that another version of z3 gave the answers; empty if it is the same."""
        now = solver_version()
        return f" with z3 {now}, z3 {self.version} gave it" if self.version not in (None, now) else ""


def as_data(answers: Answers) -> list[dict[str, Any]]:
    """Answers as TOML."""
    return [_data(it) for it in answers]


def _data(answer: Answer | None) -> dict[str, Any]:
    match answer:
        case None:
            return {}
        case Split(condition, true, false):
            return {"split": condition, "true": _data(true), "false": _data(false)}
        case Refutation(style, needed, view, laws):
            data: dict[str, Any] = {"style": style}
            data |= {} if view == "everything" else {"view": view}
            data |= {"needs": list(needed)} if needed else {}
            data |= {"laws": [[it.law, *it.sets] for it in laws]} if laws else {}
            return data


class MalformedAnswerError(Exception):
    """A record is malformed."""


def from_data(data: object) -> Answers:
    """Answers from TOML. Raises MalformedAnswerError for a malformed one."""
    if not isinstance(data, list):
        raise MalformedAnswerError("an obligation has a list of answers, one for each of its cases")
    return tuple(_required(_answer(it)) for it in data)


def _required(answer: Answer | None) -> Answer:
    if answer is None:
        raise MalformedAnswerError("a case has no answer")
    return answer


def _answer(data: object) -> Answer | None:
    if not isinstance(data, dict):
        raise MalformedAnswerError("an answer is a table")
    if not data:
        return None
    allowed = {"split", "true", "false"} if "split" in data else {"style", "view", "needs", "laws"}
    if unknown := sorted({*data} - allowed):
        raise MalformedAnswerError(f"an answer has no {unknown[0]!r}")
    if "split" in data:
        (condition,) = _texts([data["split"]])
        return Split(condition, _answer(data.get("true", {})), _answer(data.get("false", {})))
    style: Style | None = next((it for it in get_args(Style) if it == data.get("style")), None)
    view: Sight | None = next((it for it in get_args(Sight) if it == data.get("view", "everything")), None)
    if style is None:
        raise MalformedAnswerError(f"there is no style {data.get('style')!r}")
    if view is None:
        raise MalformedAnswerError(f"there is no view {data['view']!r}")
    return Refutation(style, tuple(_texts(data.get("needs", []))), view, tuple(_instances(data.get("laws", []))))


def _texts(data: object) -> list[str]:
    if not isinstance(data, list) or not all(isinstance(it, str) for it in data):
        raise MalformedAnswerError(f"{data!r} should be texts")
    return data


def _instances(data: object) -> Iterable[Instance]:
    if not isinstance(data, list):
        raise MalformedAnswerError("laws are a list")
    for lines in map(_texts, data):
        if len(lines) < 2:
            raise MalformedAnswerError("a law has a name and the sets that it is about")
        yield Instance(lines[0], tuple(lines[1:]))
