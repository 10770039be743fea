"""One large search on Spark: the native search, whose workers are replaced by a cluster when levels grow wide.

The order of events, the verdicts and the traces are the native search's own. Parents are not kept: as in the native
search, a trace is found by expanding the earlier levels again, here on the workers. A parent would have to be shuffled
and stored with every state of every search, while a trace is needed only once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from floodmark.checkers.adaptive_capacity import search_growing
from floodmark.checkers.exploration import Exploration, Options, Stop, Watcher
from floodmark.checkers.kernel import loops as native_loops
from floodmark.checkers.kernel.compiled_model import Kernel, build_kernel
from floodmark.checkers.kernel.memory import Budget
from floodmark.checkers.liveness import check
from floodmark.checkers.liveness.assumptions import Assumptions
from floodmark.checkers.native.search import NativeSearch, is_long, telling
from floodmark.checkers.native.symmetry import confirm_states
from floodmark.checkers.native.worker import PIECE
from floodmark.checkers.project.properties import Property
from floodmark.checkers.resources import cores
from floodmark.checkers.spark.checkpoint import FORMAT, Checkpoints, Manifest, newest_widths, refuse_another
from floodmark.checkers.spark.cluster import DIGESTS, Cluster
from floodmark.checkers.spark.code_transfer import Code, build_code
from floodmark.checkers.spark.jobs import reason, wait_for_workers
from floodmark.checkers.spark.liveness import LivenessCheck
from floodmark.checkers.spark.memory import share
from floodmark.checkers.spark.partition_count import is_outgrown, partition_count
from floodmark.checkers.spark.session import is_local
from floodmark.checkers.spark.shard import Array
from floodmark.language.conditions import Condition
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.plurals import counted
from floodmark.language.widths import FIRST_WIDTHS, Widths

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WIDE = 100_000
"""Levels at least this wide go to Spark, with everything found before; narrower ones are faster here."""
FEW_STATES = 1_000_000
"""The runs of a search that found no more states are judged by the driver, in less time than Spark's rounds would take,
and less than a gigabyte."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """How a search uses Spark. Levels at least ``wide`` states wide are distributed; so is everything once this
    process's memory is full. The folders may be on any file system that Spark reaches. ``widths`` are those of the
    containers to which the model gives no capacity. Without ``partitions``, ``partition_count.py`` says how many."""

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
) -> Exploration:
    """Explores ``model`` and returns the same as ``floodmark.checkers.native.search.search_states``."""
    of_states, of_runs = check.split(properties)
    check.refuse_symmetry(of_runs, options)

    def prepare(model: Model, options: Options, widths: Widths) -> Callable[[], Exploration]:
        search = _prepare(model, of_states, options, watch, replace(distribution, widths=widths))

        def run() -> Exploration:
            try:
                found = search.run()
                if of_runs and found.complete:
                    search.judge(of_runs)
                if distribution.keep_states is not None and found.complete:
                    search.keep(distribution.keep_states)
                return found
            finally:
                search.close()

        return run

    return search_growing(model, options, watch, prepare, _widths_to_begin_with(options, distribution))


def _prepare(
    model: Model, properties: Sequence[Property], options: Options, watch: Watcher | None, distribution: Distribution
) -> Search:
    started = time.perf_counter()
    workers = options.workers or cores()
    functions = {prop.name: prop.function for prop in properties}
    kernel = build_kernel(model, functions, options.symmetry, workers, is_long(options), tell=telling(watch))
    search = Search(model, properties, options, kernel, workers, watch, distribution)
    search.found.compile_seconds = time.perf_counter() - started
    return search


def _widths_to_begin_with(options: Options, distribution: Distribution) -> Widths:
    """The widths of the newest checkpoint, if there is one to resume from."""
    if distribution.resume is None:
        return FIRST_WIDTHS
    from floodmark.checkers.spark.session import session

    context = session(distribution.master, options.limits.memory).sparkContext
    return newest_widths(context, distribution.resume)


COMPARED, READ = 1 << 14, 1 << 20
"""Of a cluster so many states are compared with copies under other names, and about so many are read for that."""


class _Outgrown(Exception):  # noqa: N818 - the search continues elsewhere
    """The states no longer fit in the memory of this process."""


class Search(NativeSearch):
    """A search that begins in this process and continues in a cluster."""

    def __init__(
        self,
        model: Model,
        properties: Sequence[Property],
        options: Options,
        kernel: Kernel,
        workers: int,
        watch: Watcher | None,
        distribution: Distribution,
    ) -> None:
        self.distribution = distribution
        super().__init__(model, properties, options, kernel, workers, watch)
        self.cluster: Cluster | None = None
        self.checkpoints: Checkpoints | None = None
        self.earlier = 0.0
        self.most_shown = (0, 0)
        self.found.engine = "spark"

    def _budget(self) -> Budget:
        """Reserves the memory of Spark's processes, if they are on this machine."""
        limit = self.options.limits.memory
        if limit is None or not is_local(self.distribution.master):
            return Budget(limit)
        return Budget(limit, share(limit, cores()).elsewhere)

    @cached_property
    def code(self) -> Code:
        """The kernel in the form sent to workers, which a search that stays here does not need."""
        functions = {prop.name: prop.function for prop in self.by_name.values()}
        return build_code(self.model, functions, self.options.symmetry)

    def close(self) -> None:
        super().close()
        if self.cluster is not None:
            self.cluster.close()

    def judge(self, liveness: Sequence[Property]) -> None:
        """Judges properties of runs where the states are."""
        cluster = self.cluster
        if cluster is None or cluster.count <= FEW_STATES:
            pieces = self.pieces() if cluster is None else cluster.pieces()
            check.after_native(self.model, liveness, self.options, pieces, self.found)
            return

        def begin(
            conditions: Sequence[Condition], assumptions: Assumptions, paused: Callable[[], None]
        ) -> LivenessCheck:
            started = time.perf_counter()
            check = LivenessCheck(cluster, self.model, conditions, assumptions, paused)
            self.found.compile_seconds += time.perf_counter() - started
            self.found.seconds -= time.perf_counter() - started
            return check

        check.after_native(self.model, liveness, self.options, cluster.pieces(), self.found, begin)

    def keep(self, url: str) -> None:
        """Writes the reachable set as Parquet."""
        from floodmark.checkers.spark.state_table import frame

        if self.cluster is None:
            self._move()
        assert self.cluster is not None
        cluster, spark = self.cluster, self.session()
        try:
            cluster.whole(lambda: frame(spark, cluster, self.interface.layout).write.mode("overwrite").parquet(url))
            written = spark.read.parquet(url).count()
        except Exception as error:
            raise SourceError(f"the states cannot be written to {url}: {reason(error)}") from None
        if written != cluster.count:
            raise SourceError(f"{written:,} of {cluster.count:,} states are in {url}; is anything else writing there?")

    def session(self) -> SparkSession:
        from floodmark.checkers.spark.session import session

        return session(self.distribution.master, self.options.limits.memory)

    def _confirm_symmetry(self) -> None:
        """Compares states of a cluster here. Its workers run the code of this kernel, which is made from the same parts
        of the program and the same licence, so what it does here they do as well."""
        if self.cluster is None:
            super()._confirm_symmetry()
        elif self.options.symmetry and not self.stop:
            confirm_states(self.kernel, self.cluster.sample(COMPARED, READ))

    # Levels.

    def _start(self) -> None:
        super()._start()
        where = self.distribution
        if where.resume is not None:
            self.checkpoints = Checkpoints(self.session().sparkContext, where.resume, where.widths)
            if self.checkpoints.known:
                self._resume(self.checkpoints)
            self.checkpoints.claim()
        elif where.checkpoint is not None:
            self.checkpoints = Checkpoints(self.session().sparkContext, where.checkpoint, where.widths)
            self.checkpoints.must_be_empty()
            self.checkpoints.claim()

    def _flood(self) -> None:
        with ThreadPoolExecutor(len(self.workers)) as threads:
            while not self.found.violations and not self.stop:
                if self._is_wide():
                    if not self._has_workers():
                        break
                    self._move()
                    self._save()
                try:
                    if not self._level(threads):
                        break
                    self._look_at_partitions()
                except _Outgrown as full:
                    self._say(f"at {counted(self._distinct(), 'state')} it outgrew {full}, and continued on Spark")
                    self._take_back()
                    if not self._has_workers():
                        break
                    self._move()
                    self._save()
        if self.cluster is not None and not self.stop:
            self.cluster.verify()

    def _outgrown(self, why: Stop) -> None:
        if not self.level:  # there is no level to undo
            super()._outgrown(why)
            return
        raise _Outgrown(why)

    def _level(self, threads: ThreadPoolExecutor) -> bool:
        """One level; False when there was none, or when it was not completed."""
        self.level += 1
        self._remember()
        for worker in self.workers:
            worker.start_level(self.level)
        width = sum(stop - start for start, stop in (worker.levels[-1] for worker in self.workers))
        if width == 0:
            self.level -= 1
            return False
        self.found.levels.append(width)
        if self.cluster is not None:
            self.cluster.wanted = (self.invariants, self.reachable & ~self._mask(self.found.reached))
            self._each(threads, lambda worker: worker.expand_level(self._paused))
        else:
            self._expand(threads)
        if self.stop and (self.cluster is None or not self.cluster.complete):
            return False
        self._look_at_steps()
        self._check(threads)
        self._paused()
        self._save()
        return not self.stop

    def _shuffled(self) -> int:
        return 0 if self.cluster is None else self.cluster.shuffled

    def _has_workers(self) -> bool:
        """Waits for a worker of the cluster; False when a limit of the search was reached meanwhile."""
        return wait_for_workers(self.session().sparkContext, self._paused, self._say)

    def _is_wide(self) -> bool:
        """Whether the next level is the first to be distributed."""
        if self.crew is None:
            return False
        known = sum(worker.levels[-1][1] for worker in self.crew.workers if worker.levels)
        return self._distinct() - known >= self.distribution.wide

    def _shown(self) -> tuple[int, int]:
        """Never less than before: an undone level is found again."""
        self.most_shown = (max(self.level, self.most_shown[0]), max(self._distinct(), self.most_shown[1]))
        return self.most_shown

    # From this process to the cluster.

    def _remember(self) -> None:
        """Saves what a level changes besides the states, so that it can be undone."""
        if self.crew is not None:
            self.before = [(worker.context.copy(), worker.fields.copy()) for worker in self.crew.workers]

    def _take_back(self) -> None:
        """Undoes a level that did not fit, so that the search can continue from the boundary before it."""
        assert self.crew is not None
        for worker, (context, fields) in zip(self.crew.workers, self.before, strict=True):
            worker.context[:] = context
            for field in (native_loops.COUNT, *DIGESTS):
                worker.fields[field] = fields[field]
            worker.fields[native_loops.PENDING] = 0
            worker.best[:] = 0
            worker.levels.pop()
        self.found.levels.pop()
        self.level -= 1
        self.stop = None

    def _new_cluster(self, partitions: int | None = None, initial: Array | None = None) -> Cluster:
        if initial is None:
            holders = self._holders()
            ends = [holder.levels[0][1] if holder.levels else holder.count for holder in holders]
            rows = [holder.rows(0, end) for holder, end in zip(holders, ends, strict=True)]
            initial = np.concatenate(rows).reshape(-1)
        context = self.session().sparkContext
        likely, limit = self.options.likely, self.options.limits.states
        own = partition_count(max(context.defaultParallelism, 1), likely, limit, self._distinct())
        cluster = Cluster(
            context, self.code, self.interface, partitions or self.distribution.partitions or own, initial,
            share(self.options.limits.memory, context.defaultParallelism).buffers,
        )
        cluster.deadlock = self.options.deadlock
        cluster.tell = self._say
        cluster.clean_up_after_others()
        return cluster

    def _known_levels(self) -> Iterator[Iterator[Array]]:
        """The states that this process has found, in pieces, level by level, those of the next level last. A level's
        memory is released when the next level is requested."""
        holders = self._holders()
        cuts = [[0, *(stop for _, stop in holder.levels), holder.count] for holder in holders]
        for level in range(len(cuts[0]) - 1):
            yield (
                holder.rows(at, min(at + PIECE, cut[level + 1])).reshape(-1)
                for holder, cut in zip(holders, cuts, strict=True)
                for at in range(cut[level], cut[level + 1], PIECE)
            )
            for holder, cut in zip(holders, cuts, strict=True):
                holder.give_back(cut[level], cut[level + 1])

    def _move(self) -> None:
        """Hands everything found to a cluster, which continues from there."""
        cluster = self._new_cluster()
        if self.crew is not None:
            self.crew.drop_table()
        totals = [sum(holder.levels[level][1] for holder in self._holders()) for level in range(self.level)]
        cluster.seed(self._known_levels())
        cluster.levels = list(zip([0, *totals], totals, strict=False))
        own = np.zeros(native_loops.FIELDS, dtype=np.uint64)
        for worker in self.workers:
            cluster.context += worker.context[: len(cluster.context)]
            own += worker.fields[: native_loops.FIELDS]
        if any(cluster.fields[place] != own[place] for place in DIGESTS):
            raise RuntimeError("states changed on the way to Spark")
        self._go_on_in(cluster)

    def _look_at_partitions(self) -> None:
        """Gives a search that outgrew its partitions more of them, unless the user has said how many it has."""
        old = self.cluster
        if old is None or self.distribution.partitions is not None or self.found.violations:
            return
        cores = old.spark.defaultParallelism
        if not is_outgrown(old.partitions, cores, old.count):
            return
        wanted = partition_count(cores, self.options.likely, self.options.limits.states, old.count)
        if wanted <= old.partitions:
            return
        partitions = counted(wanted, "partition")
        self._say(f"at {counted(old.count, 'state')} it continued with {partitions} instead of {old.partitions}")
        new = self._new_cluster(wanted, old.initial)
        new.take_over(old)
        self._go_on_in(new)
        old.close()
        if self.checkpoints is not None:
            self.checkpoints.begin_anew()

    def _go_on_in(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.crew = None
        self.workers = [cluster]
        self.tracer.workers = self.workers
        self.found.engine = "spark"
        self.found.workers = cluster.partitions

    # Checkpoints.

    def _save(self) -> None:
        """Writes a checkpoint of the complete levels."""
        if self.cluster is not None and self.checkpoints is not None and not self.found.violations:
            self.checkpoints.save(self.cluster, self._manifest(self.cluster))

    def _manifest(self, cluster: Cluster | None) -> Manifest:
        """What a checkpoint records of the search so far."""
        return Manifest(
            FORMAT,
            type(self.model).__name__,
            self.model.constant_values,
            sorted(self.by_name),
            self.code.identity + (" deadlock" if self.options.deadlock else ""),
            0 if cluster is None else cluster.partitions,
            self.level,
            "" if cluster is None else cluster.context.tobytes().hex(),
            sorted(self.found.reached),
            self.found.cut,
            0 if cluster is None else cluster.shuffled,
            self.earlier + time.perf_counter() - self.started,
            dict(self.distribution.widths.chosen),
        )

    def _resume(self, checkpoints: Checkpoints) -> None:
        """Continues from the newest intact checkpoint."""
        own = self._manifest(None)
        if not self._has_workers():
            return

        def begun(manifest: Manifest) -> Cluster:
            refuse_another(manifest, own, checkpoints.folder.url)
            return self._new_cluster(manifest.partitions)

        cluster, manifest = checkpoints.resume(begun, self._show)
        if checkpoints.damaged:
            self._say(f"continues from level {manifest.level} of {checkpoints.folder.url}; {checkpoints.damage()}")
        self.level = manifest.level
        self.found.levels = cluster.ledger.widths()[: manifest.level]
        self.found.reached = {name: () for name in manifest.reached}
        self.found.cut = manifest.cut
        self.earlier = manifest.seconds
        self._go_on_in(cluster)

    def _show(self, what: str) -> None:
        """Tells what the search is at, which its result does not say."""
        self.found.notes.append(what)
        self._tell()
        self.found.notes.pop()

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() if self.cluster is None else {}

    def _values_seen(self) -> dict[str, int]:
        return super()._values_seen() if self.cluster is None else self.cluster.values_seen()




