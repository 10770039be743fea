"""Goes through a metadata log, or the part of it about some partitions, and reports the rules that it violates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from floodmark.checkers.conformance.metadata_log import dump
from floodmark.checkers.conformance.metadata_log.dump import LogEntry, LogShard, MalformedLine, RecordCounts
from floodmark.checkers.conformance.metadata_log.registration import (
    BadRecord,
    Registration,
    apply_change,
    partition_of_record,
)
from floodmark.checkers.conformance.metadata_log.rules import BrokenRule, broken_rules

PartitionKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class RuleViolation:
    """A record that breaks a rule; ``before`` and ``after`` are the partition around it, as far as it is known."""

    rule: str
    message: str
    topic: str
    partition: int
    offset: int
    file: str
    line: int
    before: Registration | None
    after: Registration | None


@dataclass(frozen=True)
class LogReport:
    """The counts of the records that were read, and the findings; the report of a whole log is the sum of its shards'.

    Every record is counted once: ``records`` is the sum of those that were judged, those ``skipped`` by type, those
    repeated in another dump, those aborted with their transaction, and the ``unknown`` ones: changes of partitions
    whose creation is not in the dumps.
    """

    lines: int = 0
    headers: int = 0
    control: int = 0
    records: int = 0
    judged: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    aborted: int = 0
    unknown: int = 0
    partitions: int = 0
    gaps: int = 0
    malformed: tuple[MalformedLine, ...] = ()
    findings: tuple[RuleViolation, ...] = ()

    def __add__(self, other: LogReport) -> LogReport:
        counts = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        malformed = sorted(self.malformed + other.malformed, key=lambda it: (it.file, it.line))
        findings = sorted(self.findings + other.findings, key=lambda it: (it.offset, it.file, it.line))
        return LogReport(**counts, malformed=tuple(malformed), findings=tuple(findings))


_COUNTS = (
    "lines", "headers", "control", "records", "judged", "skipped", "repeated", "aborted", "unknown", "partitions",
    "gaps",
)


def judge(paths: Sequence[Path], strict: bool = False, shard: LogShard | None = None) -> LogReport:
    """Judges all partitions, or those of a shard. Raises SourceError for a file that cannot be read."""
    return _LogJudge(paths, shard or LogShard(), strict).run()


class _LogJudge:
    def __init__(self, paths: Sequence[Path], shard: LogShard, strict: bool) -> None:
        self.paths = paths
        self.shard = shard
        self.strict = strict
        self.tally = RecordCounts()
        self.judged = self.repeated = self.aborted = self.unknown = self.gaps = 0
        self.findings: list[RuleViolation] = []
        self.partitions: dict[PartitionKey, Registration] = {}
        self.seen: set[PartitionKey] = set()
        self.names: dict[str, str] = {}
        self.removed: set[str] = set()
        self.last: LogEntry | None = None
        self.open_sections = 0
        self.covered: int | None = None
        self.known = False

    def run(self) -> LogReport:
        for entry in self._committed(dump.entries(self.paths, self.shard, self.tally)):
            self._take(entry)
        tally = self.tally
        return LogReport(
            tally.lines, tally.headers, tally.control, tally.records, self.judged, tally.skipped, self.repeated,
            self.aborted, self.unknown, len(self.seen), self.gaps, tuple(tally.malformed), tuple(self.findings),
        )

    # Marks and transactions.

    def _committed(self, entries: Iterator[LogEntry]) -> Iterator[LogEntry]:
        """The committed records, without those of a transaction that was aborted or has not ended yet (KIP-868)."""
        held: list[LogEntry] | None = None
        for entry in entries:
            if entry.kind in dump.TRANSACTION_TYPES:
                self.judged += self.shard.is_first
                if entry.kind == "END_TRANSACTION_RECORD":
                    yield from held or ()
                else:
                    self._abort(held)
                held = [] if entry.kind == "BEGIN_TRANSACTION_RECORD" else None
            elif held is not None and entry.kind in (*dump.PARTITION_TYPES, *dump.TOPIC_TYPES) and not entry.snapshot:
                held.append(entry)
            else:
                yield entry
        self._abort(held)

    def _abort(self, held: list[LogEntry] | None) -> None:
        self.aborted += sum(self._counts(entry) for entry in held or ())

    def _counts(self, entry: LogEntry) -> bool:
        return entry.kind in dump.PARTITION_TYPES or (entry.kind in dump.TOPIC_TYPES and self.shard.is_first)

    def _take(self, entry: LogEntry) -> None:
        if entry.kind in dump.PARTITION_TYPES:
            self._take_partition(entry)
        elif entry.kind in dump.TOPIC_TYPES:
            self._take_topic(entry)
        else:
            self._take_mark(entry)

    def _take_mark(self, entry: LogEntry) -> None:
        """A log that starts at its beginning is known; one with a gap is not known until the next snapshot."""
        covered = self.covered
        if entry.kind == dump.SECTION_ENDS:
            self.open_sections -= 1
            self.covered = max(covered or 0, entry.offset)
            return
        if entry.kind == dump.GAP:
            missing = self.open_sections == 1
        else:
            missing = self.open_sections == 0 and covered is not None and entry.offset > covered
        if missing:
            self.gaps += self.shard.is_first
            self.partitions.clear()
            self.known = False
        if entry.kind == dump.SNAPSHOT:
            self.known = True
            self.covered = max(covered or 0, entry.offset)
        elif entry.kind == dump.SECTION_BEGINS:
            self.known = self.known or (covered is None and entry.offset == 0)
            self.open_sections += 1

    # Records.

    def _take_topic(self, entry: LogEntry) -> None:
        first = self.shard.is_first
        topic = entry.data.get("topicId")
        if not isinstance(topic, str):
            self._malformed(entry, f"a {entry.kind} without topicId", first)
            return
        self.judged += first
        if entry.kind == "TOPIC_RECORD":
            self.names[topic] = str(entry.data.get("name", topic))
        else:
            self.removed.add(topic)
            for key in [key for key in self.partitions if key[0] == topic]:
                del self.partitions[key]

    def _take_partition(self, entry: LogEntry) -> None:
        key: PartitionKey = (entry.data.get("topicId", ""), entry.data.get("partitionId", -1))
        if type(key[0]) is not str or type(key[1]) is not int:
            self._malformed(entry, f"a {entry.kind} without topicId and partitionId", True)
            return
        last, self.last = self.last, entry
        if last is not None and last.position == entry.position and not entry.snapshot:
            self._take_again(entry, key, last)
            return
        old = self.partitions.get(key)
        try:
            if entry.kind == "PARTITION_CHANGE_RECORD":
                if old is None:
                    self._unknown(entry, key)
                    return
                new = apply_change(old, entry.data)
            else:
                new = partition_of_record(entry.data)
        except BadRecord as error:
            self._malformed(entry, f"a {entry.kind}: {error}", True)
            return
        self.judged += 1
        self.seen.add(key)
        self.partitions[key] = new
        for each in self._broken(entry, key, old, new):
            self._find(entry, key, each, old, new)

    def _take_again(self, entry: LogEntry, key: PartitionKey, last: LogEntry) -> None:
        """Another dump may have the same record; a different record with the same offset is from another log."""
        if last.data == entry.data:
            self.repeated += 1
        else:
            self.judged += 1
            message = f"it is not the one in line {last.line} of {self.paths[last.file]}"
            self._find(entry, key, BrokenRule("one_record_has_an_offset", message), None, None)

    def _broken(
        self, entry: LogEntry, key: PartitionKey, old: Registration | None, new: Registration
    ) -> list[BrokenRule]:
        if key[0] in self.removed:
            return [BrokenRule("removed_topics_stay_removed", "the topic was removed before")]
        if entry.snapshot and old is not None:
            if old[:8] == new[:8]:
                return []
            message = f"the log made it {_shown(old)}, the snapshot has {_shown(new)}"
            return [BrokenRule("snapshot_agrees_with_log", message)]
        return broken_rules(old, new, self.strict)

    def _unknown(self, entry: LogEntry, key: PartitionKey) -> None:
        """A change of a partition that does not exist: an error if the log is known from its beginning."""
        if key[0] in self.removed:
            self.judged += 1
            self._find(
                entry, key, BrokenRule("removed_topics_stay_removed", "the topic was removed before"), None, None
            )
        elif self.known:
            self.judged += 1
            self._find(entry, key, BrokenRule("changes_are_of_partitions", "there is no such partition"), None, None)
        else:
            self.unknown += 1

    def _find(
        self, entry: LogEntry, key: PartitionKey, each: BrokenRule, before: Registration | None,
        after: Registration | None,
    ) -> None:
        topic = self.names.get(key[0], key[0])
        place = str(self.paths[entry.file]), entry.line
        self.findings.append(
            RuleViolation(each.rule, each.message, topic, key[1], entry.offset, *place, before, after)
        )

    def _malformed(self, entry: LogEntry, message: str, owned: bool) -> None:
        if owned:
            self.tally.records -= 1
            self.tally.malformed.append(MalformedLine(str(self.paths[entry.file]), entry.line, message))


def _shown(partition: Registration) -> str:
    return (
        f"replicas {list(partition.replicas)}, ISR {list(partition.isr)}, leader {partition.leader} "
        f"in epoch {partition.leader_epoch}, partition epoch {partition.partition_epoch}"
    )
