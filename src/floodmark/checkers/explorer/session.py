"""Answers the page's requests about the designs of a spec."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from floodmark.checkers.designs.design_pair import DesignPair
from floodmark.checkers.designs.divergence import with_constants
from floodmark.checkers.explorer import page
from floodmark.checkers.explorer.background import BackgroundSearch
from floodmark.checkers.explorer.design_comparison import compare_design, first_difference
from floodmark.checkers.explorer.state_view import PathView, StateView, property_values
from floodmark.checkers.project.properties import did_you_mean
from floodmark.checkers.project.spec import Spec
from floodmark.checkers.report.watched import WatchExpression
from floodmark.checkers.verdict.check import Check, checks, variant_name
from floodmark.checkers.walking.walk import MAX_KEPT, Walk, WalkedPath
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

T = TypeVar("T")
MAX_STEPS = 2000
"""A longer path is refused."""
MAX_WATCHED = 20
"""More expressions at once are refused."""
_SECONDS_TO_STOP = 5.0


@dataclass(frozen=True, slots=True)
class PageAddress:
    """The address within the page: the design, the one beside it ("" for none), a path of steps by their texts, and the
    index in it, from 0; -1 is before its first step. With ``taken`` the step at that index is run with breakpoints
    first."""

    design: str
    beside: str
    path: tuple[str, ...]
    at: int
    taken: bool = False
    watch: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Any) -> PageAddress:
        """Reads a request of the page. Raises ValueError for anything else."""
        if not isinstance(given, dict):
            raise ValueError("a request is an object")
        design, beside, path, at = (given.get(name) for name in ("design", "beside", "path", "at"))
        if not isinstance(design, str) or not isinstance(beside, str) or type(at) is not int:
            raise ValueError("a request has design, beside and at")
        if not isinstance(path, list) or len(path) > MAX_STEPS or not all(isinstance(it, str) for it in path):
            raise ValueError(f"a path is a list of at most {MAX_STEPS} texts")
        watch = given.get("watch", [])
        if not isinstance(watch, list) or len(watch) > MAX_WATCHED or not all(isinstance(it, str) for it in watch):
            raise ValueError(f"the watched expressions must be a list of at most {MAX_WATCHED}")
        at = min(max(at, -1), len(path) - 1)
        return cls(design, beside, tuple(path), at, given.get("taken") is True, tuple(watch))


@dataclass
class Session:
    """The designs of one spec. Everything runs in the thread that calls it."""

    spec: Spec
    first: Check
    designs: dict[str, Check] = field(init=False)
    walks: dict[str, Walk] = field(default_factory=dict)
    searches: dict[str, BackgroundSearch] = field(default_factory=dict)
    cache: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settings = replace(self.first.settings, only_variant=None)
        self.designs = {variant_name(check): check for check in checks(self.spec, settings)}

    @property
    def good(self) -> str:
        """The name of the spec's model."""
        return next(iter(self.designs))

    def overview(self) -> dict[str, Any]:
        """The content of the page at its start."""
        return {
            "spec": self.spec.name,
            "title": self.spec.title,
            "first": variant_name(self.first),
            "good": self.good,
            "designs": [
                {"name": name, "breaks": "" if check.flawed is None else check.flawed.property}
                for name, check in self.designs.items()
            ],
        }

    def walk(self, name: str) -> Walk:
        """The walk of a design. Raises SourceError if there is no such design, or it cannot be made."""
        if name not in self.walks:
            self.walks[name] = Walk(self.check(name).model())
        return self.walks[name]

    def check(self, name: str) -> Check:
        if name not in self.designs:
            raise SourceError(f"there is no design {name!r}{did_you_mean(name, self.designs)}", str(self.spec.path))
        return self.designs[name]

    def answer(self, question: PageAddress) -> dict[str, Any]:
        """The page's parts for a question. Raises SourceError."""
        walk = self.walk(question.design)
        if question.taken:
            self._run(walk, question)
        walked = walk.along(question.path)
        at = min(question.at, len(walked.trace) - 1)
        other = self._other(walk.model, question.beside)
        shown = PathView(walk.model, walked, at, list(self._check_properties(question.design)), question.beside)
        if other is not None:
            shown.difference = self._cached(
                ("path", question.design, question.beside, tuple(entry.state for entry in walked.trace)),
                lambda: first_difference(DesignPair(walk.model, other.model), walked.trace),
            )
        shown.watched = [(text, _values(walk.model, text, walked)) for text in question.watch]
        if at < 0:
            shown.beginnings = list(walk.beginnings())
        else:
            state = walked.trace[at].state
            place = StateView(walk.actions(state))
            place.judgements, place.outside = property_values(walk.model, shown.properties, walked.trace[: at + 1])
            if other is not None:
                place.beside = self._cached(
                    ("place", question.design, question.beside, state),
                    lambda: compare_design(DesignPair(walk.model, other.model), other, state, place.actions),
                )
            shown.place = place
        return page.parts(shown)

    def _cached(self, key: tuple[Any, ...], find: Callable[[], T]) -> T:
        """A cached result, since users go back and forth along the same path, or a new one."""
        if key not in self.cache:
            if len(self.cache) >= MAX_KEPT:
                self.cache.clear()
            self.cache[key] = find()
        found: T = self.cache[key]
        return found

    def _run(self, walk: Walk, question: PageAddress) -> None:
        """Takes the last step once more where the debugger can see it."""
        before = walk.along(question.path[: question.at])
        if before.trace and not before.stop and question.at < len(question.path):
            walk.run(before.trace[-1].state, question.path[question.at])

    def _check_properties(self, name: str) -> Sequence[Any]:
        return [prop for prop in self.spec.properties(self.check(name).cls()).values() if not prop.is_liveness]

    def _other(self, model: Model, name: str) -> Walk | None:
        """The design beside, with the constants of ``model``."""
        if not name or name == type(model).__name__:
            return None
        key = f"{name} {sorted(model.constant_values.items())}"
        if key not in self.walks:
            self.walks[key] = Walk(with_constants(self.check(name).cls(), model))
        return self.walks[key]

    def search(self, name: str) -> dict[str, Any]:
        """The progress of the search for the counterexamples of a design. The first request starts the search, and so
        does one after the search was stopped."""
        known = self.searches.get(name)
        if known is None or (known.was_stopped and known.ended.is_set()):
            known = self.searches[name] = BackgroundSearch(self.check(name))
            known.begin()
        return _search_state(known)

    def stop(self, name: str) -> dict[str, Any]:
        """Stops the search for the counterexamples of a design."""
        self.check(name)
        known = self.searches.get(name)
        if known is None:
            return {"searching": False, "said": "nothing is searched", "tracks": []}
        known.stop()
        known.ended.wait(_SECONDS_TO_STOP)
        return _search_state(known)


def _values(model: Model, text: str, walked: WalkedPath) -> list[str]:
    """The values of an expression along a path; one text if it is refused."""
    try:
        watched = WatchExpression(model, text)
    except SourceError as error:
        return [error.message]
    return [watched.value(entry.state) for entry in walked.trace]


def _search_state(known: BackgroundSearch) -> dict[str, Any]:
    found = known.result
    if found is None or not known.ended.is_set():
        return {"searching": True, "said": known.status, "tracks": []}
    return {
        "searching": False,
        "said": found.summary,
        "tracks": [
            {
                "title": it.title, "path": it.path, "loop": it.loop, "failing": it.failing, "why": "\n".join(it.why),
                "wrong": it.wrong,
            }
            for it in found.paths
        ],
    }
