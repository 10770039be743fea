"""The interface of the Spark engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

from floodmark.checkers.engine import ClusterEngine, RunCheck
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import SearchResult, Watcher
from floodmark.checkers.spark.session import available
from floodmark.checkers.verdict.check import Check, CheckSettings, variant_name
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language.model import Model

# The search imports Spark on demand: most runs need nothing from it.


class SparkEngine(ClusterEngine):
    """Searches on a cluster, level by level once levels are wide."""

    def asked_for(self, check: Check) -> bool:
        return check.is_for_a_cluster and available()

    def search(
        self, check: Check, model: Model, properties: Sequence[Property], watch: Watcher | None
    ) -> SearchResult:
        if check.walks is not None:
            from floodmark.checkers.spark.walks import walk_on_spark

            return walk_on_spark(check, model, properties, watch)
        from floodmark.checkers.spark.search import WIDE

        return _explore(check, model, properties, watch, 0 if check.settings.distribute == "always" else WIDE)

    def run(
        self, every: Sequence[Check], run_check: RunCheck, watcher: Callable[[Check], Watcher | None]
    ) -> Iterator[tuple[Check, CheckResult]]:
        from floodmark.checkers.spark.check_run import run_on_spark
        from floodmark.checkers.spark.jobs import told_of_java

        with told_of_java(_where_to_resume(every[0].settings)):
            yield from run_on_spark(every, run_check, watcher)


def _explore(
    check: Check, model: Model, properties: Sequence[Property], watch: Watcher | None, wide: int
) -> SearchResult:
    """Searches with the command line's Spark settings; levels at least ``wide`` states wide are distributed."""
    from floodmark.checkers.spark.jobs import told_of_java
    from floodmark.checkers.spark.search import Distribution, search_states

    settings = check.settings
    distribution = Distribution(
        master=settings.master,
        partitions=settings.partitions,
        wide=wide,
        checkpoint=_own_place(settings.checkpoint, check),
        resume=_own_place(settings.resume, check),
        keep_states=_own_place(settings.keep_states, check),
    )
    with told_of_java(_where_to_resume(settings)):
        return search_states(model, properties, check.options, watch, distribution)


def _where_to_resume(settings: CheckSettings) -> str:
    folder = settings.resume or settings.checkpoint
    if folder is None:
        return "nothing of it was kept: with --spark checkpoint=DIR it could be continued"
    return f"continue from its checkpoints with --spark resume={folder}"


def _own_place(folder: str | None, check: Check) -> str | None:
    """A check's own folder in one of the run's, named as Spark names partitions, so SQL sees both names as columns."""
    if folder is None:
        return None
    return f"{folder.rstrip('/')}/spec={quote(check.spec.name, safe='')}/variant={variant_name(check)}"
