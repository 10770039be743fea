"""One large search on Spark: it begins in this process, and goes on in a cluster when its levels grow wide.

Parents are not kept: a trace is found by expanding the earlier levels again, here on the workers. A parent would have
to be shuffled and stored with every state of every search, while a trace is needed only once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from floodmark.checkers.kernel.memory import MemoryBudget
from floodmark.checkers.liveness import check
from floodmark.checkers.native.memory import MemoryStore
from floodmark.checkers.native.search import FileMigration, begin
from floodmark.checkers.project.properties import Property
from floodmark.checkers.resources import cores
from floodmark.checkers.search.driver import LevelUndoneError, Search, search_in
from floodmark.checkers.search.store import LocalStore
from floodmark.checkers.search_result import Options, SearchResult, Stop, Watcher
from floodmark.checkers.spark.checkpoint import FORMAT, Checkpoints, Manifest, newest_widths, refuse_another
from floodmark.checkers.spark.cluster import Cluster
from floodmark.checkers.spark.code_transfer import KernelCode, build_code
from floodmark.checkers.spark.jobs import reason, wait_for_workers, workers
from floodmark.checkers.spark.liveness import LivenessCheck
from floodmark.checkers.spark.memory import share
from floodmark.checkers.spark.partition_count import has_grown, is_outgrown, partition_count
from floodmark.checkers.spark.session import is_local
from floodmark.checkers.spark.shard import Array
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.plurals import counted
from floodmark.language.widths import FIRST_WIDTHS, Widths

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WIDE = 100_000
"""Levels at least this wide go to Spark, with everything found before; narrower ones are faster here."""
MAX_STATES_FOR_DRIVER = 1_000_000
"""The runs of a search that found no more states are judged by the driver, in less time than Spark's rounds would take,
and less than a gigabyte."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The distribution of a search on Spark. Levels with at least ``wide`` states are distributed; so is everything
    once this process's memory is full. The folders may be on any file system that Spark reaches. ``widths`` are those
    of the containers to which the model gives no capacity. Without ``partitions``, ``partition_count.py`` chooses their
    number."""

    master: str | None = None
    partitions: int | None = None
    wide: int = WIDE
    checkpoint: str | None = None
    resume: str | None = None
    keep_states: str | None = None
    widths: Widths = FIRST_WIDTHS


def search_states(
    model: Model,
    properties: Sequence[Property],
    options: Options,
    watch: Watcher | None = None,
    distribution: Distribution = Distribution(),
) -> SearchResult:
    """Searches ``model`` and returns the same as ``floodmark.checkers.native.search.search_states``."""
    of_states, of_runs = check.split_properties(properties)
    check.refuse_symmetry(of_runs, options)
    moves: list[ClusterMigration] = []  # of the newest attempt

    def start_search(model: Model, options: Options, widths: Widths) -> Search:
        moves[:] = [ClusterMigration(replace(distribution, widths=widths), options.limits.memory)]
        search = begin(model, of_states, options, watch, moves[0])
        search.found.engine = "spark"
        return search

    def then(search: Search, result: SearchResult) -> SearchResult:
        judged = moves[0].judge(search, result, of_runs) if of_runs else result
        if distribution.keep_states is not None:
            moves[0].keep(search, distribution.keep_states)
        return judged

    return search_in(model, options, watch, start_search, then, _widths_to_begin_with(options, distribution))


def _widths_to_begin_with(options: Options, distribution: Distribution) -> Widths:
    """The widths of the newest checkpoint, if there is one to resume from."""
    if distribution.resume is None:
        return FIRST_WIDTHS
    from floodmark.checkers.spark.session import session

    context = session(distribution.master, options.limits.memory).sparkContext
    return newest_widths(context, distribution.resume)


class ClusterMigration(FileMigration):
    """A search goes on in a cluster when a level is wide, or when the states outgrow the memory of this process.

    A level that outgrew the memory is undone and begins again in the cluster. Initial states that do go into files.
    """

    def __init__(self, distribution: Distribution, memory: int | None) -> None:
        self.distribution = distribution
        self.memory = memory
        self.checkpoints: Checkpoints | None = None
        self.code: KernelCode | None = None
        self.earlier = 0.0

    def budget(self, options: Options) -> MemoryBudget:
        """Reserves the memory of Spark's processes, if they are on this machine."""
        limit = options.limits.memory
        if limit is None or not is_local(self.distribution.master):
            return MemoryBudget(limit)
        return MemoryBudget(limit, share(limit, cores()).elsewhere)

    def session(self) -> SparkSession:
        from floodmark.checkers.spark.session import session

        return session(self.distribution.master, self.memory)

    # Between levels.

    def begin(self, search: Search) -> None:
        where = self.distribution
        if where.resume is not None:
            self.checkpoints = Checkpoints(self.session().sparkContext, where.resume, where.widths)
            if self.checkpoints.known:
                self._resume(search, self.checkpoints)
            self.checkpoints.claim()
        elif where.checkpoint is not None:
            self.checkpoints = Checkpoints(self.session().sparkContext, where.checkpoint, where.widths)
            self.checkpoints.must_be_empty()
            self.checkpoints.claim()

    def before_level(self, search: Search) -> None:
        store = search.store
        if isinstance(store, MemoryStore):
            if store.count - store.newest_level[1] < self.distribution.wide:
                store.remember()
            elif self._has_workers(search):
                self._moved(search)
                self._save(search)

    def outgrown(self, search: Search, why: Stop) -> None:
        memory = search.store
        if not search.level or not isinstance(memory, MemoryStore):  # there is no level to undo
            super().outgrown(search, why)
            return
        search.say(f"at {counted(memory.count, 'state')} it outgrew {why}, and continued on Spark")
        memory.take_back()
        search.undo_level()
        if self._has_workers(search):
            self._moved(search)
            self._save(search)
        raise LevelUndoneError

    def after_level(self, search: Search) -> None:
        self._save(search)
        if not search.stop:
            self._look_at_partitions(search)

    def end(self, search: Search) -> None:
        if isinstance(search.store, Cluster) and not search.stop:
            search.store.verify()

    def _has_workers(self, search: Search) -> bool:
        """Waits for a worker of the cluster; False when a limit of the search was reached meanwhile."""
        return wait_for_workers(self.session().sparkContext, search.paused, search.say)

    # When a search is complete.

    def judge(self, search: Search, result: SearchResult, liveness: Sequence[Property]) -> SearchResult:
        """Judges properties of runs in the store of the states."""
        model, cluster = search.model, search.store
        if not isinstance(cluster, Cluster) or cluster.count <= MAX_STATES_FOR_DRIVER:
            return check.after_native(model, liveness, search.options, search.pieces(), result)
        begin = partial(LivenessCheck, cluster, model)
        return check.after_native(model, liveness, search.options, cluster.pieces(), result, begin)

    def keep(self, search: Search, url: str) -> None:
        """Writes the reachable set as Parquet."""
        from floodmark.checkers.spark import parquet
        from floodmark.checkers.spark.state_table import frame

        cluster = search.store if isinstance(search.store, Cluster) else self._moved(search)
        spark, layout = self.session(), search.interface.layout
        try:
            written = cluster.whole(lambda: parquet.replace(frame(spark, cluster, layout), url))
        except Exception as error:
            raise SourceError(f"the states cannot be written to {url}: {reason(error)}") from None
        if written != cluster.count:
            raise SourceError(f"{written:,} of {cluster.count:,} states are in {url}; is anything else writing there?")

    # From this process to the cluster.

    def _code(self, search: Search) -> KernelCode:
        """The kernel in the form sent to workers, which a search that stays here does not need."""
        if self.code is None:
            functions = {prop.name: prop.function for prop in search.by_name.values()}
            self.code = build_code(search.model, functions, search.options.symmetry)
        return self.code

    def _new_cluster(self, search: Search, initial: Array, partitions: int | None = None) -> Cluster:
        context = self.session().sparkContext
        limits = search.options.limits
        own = partition_count(
            max(context.defaultParallelism, 1), search.options.likely, limits.states, search.store.count
        )
        cluster = Cluster(
            context, self._code(search), search.interface, partitions or self.distribution.partitions or own, initial,
            share(limits.memory, context.defaultParallelism).buffers,
        )
        cluster.deadlock = search.options.deadlock
        cluster.tell, cluster.limit = search.say, search.paused
        cluster.clean_up_after_others(() if self.checkpoints is None else self.checkpoints.replaced())
        return cluster

    def _moved(self, search: Search) -> Cluster:
        """A cluster that has taken over all states, and continues from there."""
        store = search.store
        assert isinstance(store, LocalStore)
        cluster = self._new_cluster(search, store.initial())
        if isinstance(store, MemoryStore):
            store.drop_table()
        ends = store.level_ends()[: search.level]
        cluster.seed(store.handed_over())
        cluster.goes_on_from(ends, store.context)
        if (cluster.digest != store.digest).any():
            raise RuntimeError("states changed on the way to Spark")
        self._go_on_in(search, cluster)
        return cluster

    def _look_at_partitions(self, search: Search) -> None:
        """Gives a search that outgrew its partitions, or whose cluster has grown, others, unless the user has said how
        many it has."""
        old = search.store
        if not isinstance(old, Cluster) or self.distribution.partitions is not None or search.found.violations:
            return
        cores = old.spark.defaultParallelism
        executors = workers(old.spark)
        is_larger = has_grown(executors, old.executors, cores, old.count)
        if not is_larger and not is_outgrown(old.partitions, cores, old.count):
            return
        wanted = partition_count(cores, search.options.likely, search.options.limits.states, old.count)
        if wanted <= old.partitions and not is_larger:
            return
        wanted = max(wanted, old.partitions)
        partitions = counted(wanted, "partition")
        grew = f", on {counted(executors, 'executor')} instead of {old.executors}" if is_larger else ""
        search.say(f"at {counted(old.count, 'state')} it continued with {partitions} instead of {old.partitions}{grew}")
        new = self._new_cluster(search, old.initial, wanted)
        new.take_over(old)
        self._go_on_in(search, new)
        if self.checkpoints is not None:
            self.checkpoints.begin_anew()

    def _go_on_in(self, search: Search, cluster: Cluster) -> None:
        search.go_on_in(cluster)
        search.found.workers = cluster.partitions

    # Checkpoints.

    def _save(self, search: Search) -> None:
        """Writes a checkpoint of the complete levels."""
        cluster = search.store
        if isinstance(cluster, Cluster) and self.checkpoints is not None and not search.found.violations:
            self.checkpoints.save(cluster, self._manifest(search, cluster))

    def _manifest(self, search: Search, cluster: Cluster | None) -> Manifest:
        """The record of the search so far, for a checkpoint."""
        return Manifest(
            FORMAT,
            type(search.model).__name__,
            search.model.constant_values,
            sorted(search.by_name),
            self._code(search).identity + (" deadlock" if search.options.deadlock else ""),
            0 if cluster is None else cluster.partitions,
            search.level,
            "" if cluster is None else cluster.context.tobytes().hex(),
            sorted(search.found.reached),
            search.found.cut,
            0 if cluster is None else cluster.shuffled,
            self.earlier + time.perf_counter() - search.started,
            dict(self.distribution.widths.chosen),
        )

    def _resume(self, search: Search, checkpoints: Checkpoints) -> None:
        """Continues from the newest intact checkpoint."""
        store = search.store
        assert isinstance(store, LocalStore)
        own, initial = self._manifest(search, None), store.initial()
        if not self._has_workers(search):
            return

        def start_search(manifest: Manifest) -> Cluster:
            refuse_another(manifest, own, checkpoints.folder.url)
            return self._new_cluster(search, initial, manifest.partitions)

        cluster, manifest = checkpoints.resume(start_search, search.show)
        if checkpoints.damaged:
            search.say(f"continues from level {manifest.level} of {checkpoints.folder.url}; {checkpoints.damage()}")
        search.level = manifest.level
        search.found.levels = cluster.ledger.widths()[: manifest.level]
        search.found.reached = {name: () for name in manifest.reached}
        search.found.cut = manifest.cut
        self.earlier, search.resumed = manifest.seconds, cluster.count
        self._go_on_in(search, cluster)
