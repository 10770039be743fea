"""What Kafka's own controller does in the cases that the findings and the models speak of:

    FLOODMARK_KAFKA_LIBS=/opt/kafka/libs python examples/kafka/settled.py [TITLE]

prints for each case whether it was reproduced in each version; with a title (or a part of one), the schedule and the
partition after each step. ``--write`` puts the table into ``docs/kafka.md``, where a version that
is not there keeps its column.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "kafka.md"
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from bridge import Classes  # noqa: E402
from controller import Change, Controller, Registration  # noqa: E402
from follower_cases import FOLLOWER_CASES, Following, can_follow  # noqa: E402
from follower_cases import settled as settled_of_follower  # noqa: E402
from leader_cases import ENDED_IN_LEADER, LEADER_CASES, Leadership  # noqa: E402
from leader_cases import settled as settled_of_leader  # noqa: E402
from libraries import NoKafka, libraries  # noqa: E402
from quorum_cases import QUORUM_CASES, Voters  # noqa: E402
from topic_command import DescribedTopic  # noqa: E402

REPRODUCED, REFUTED, UNDRIVEN, UNRUN, ENDED = "reproduced", "not so", "not reachable", "not run", "ended"
_PLACE = re.compile(r"(?<=<!-- python examples/kafka/settled.py --write -->\n).*?(?=\n<!-- end -->)", re.DOTALL)


@dataclass
class Run:
    """A cluster, and what was done to it. ELR on and min ISR 2, unless a case says otherwise."""

    kafka: Classes
    steps: list[str] = field(default_factory=list)
    controller: Any = None

    def begin(
        self, brokers: int = 4, replicas: tuple[int, ...] = (1, 2), elr: bool = True, min_isr: int = 2,
        unclean: bool = False, partitions: int = 1,
    ) -> Run:
        self.controller = Controller(
            self.kafka, list(range(1, brokers + 1)), replicas, elr=elr, min_isr=min_isr, unclean=unclean,
            partitions=partitions)
        self.steps.append(f"begin(replicas={list(replicas)}, elr={elr}, min_isr={min_isr}, unclean={unclean})")
        self.steps.append(f"    {shown(self.now)}")
        return self

    @property
    def now(self) -> Registration:
        found: Registration = self.controller.partition()
        return found

    def do(self, action: str, *arguments: Any) -> str:
        """A method of Controller, and the error that it answers."""
        before = self.now if self.controller.is_there() else None
        answer: str = getattr(self.controller, action)(*arguments)
        self.steps.append(f"{action}({', '.join(map(repr, arguments))}) -> {answer}")
        if self.controller.is_there() and self.now != before:
            self.steps.append(f"    {shown(self.now)}")
        return answer

    def isr(self, *members: int) -> str:
        """The leader asks for an ISR, and knows the present state."""
        return self.do("leader_alters_isr", list(members))


def shown(partition: Registration) -> str:
    """In one line, without what is empty."""
    parts = {
        "replicas": partition.replicas, "adding": partition.adding, "removing": partition.removing,
        "isr": partition.isr, "elr": partition.elr, "last known": partition.last_known_elr,
    }
    told = [f"{name} {list(value)}" for name, value in parts.items() if value or name == "isr"]
    told.append(f"leader {partition.leader}" + (" RECOVERING" if partition.recovering else ""))
    return ", ".join(told)


Case = Callable[[Run], bool]
CASES: dict[str, Case] = {}
"""By title; those that are a finding's are the finding's title. Each says whether it happens."""


def case(title: str) -> Callable[[Case], Case]:
    def named(function: Case) -> Case:
        CASES[title] = function
        return function

    return named


# Reassignments: the findings.


@case("A second reassignment turns two replicas into four")
def override_grows(run: Run) -> bool:
    """The origin of an override is what the one before it was adding, too; the cancellation goes back to it."""
    run.begin(brokers=6, elr=False, min_isr=1)
    run.do("reassign", [3, 4])
    run.do("reassign", [5, 6])
    run.do("reassign", None)
    return len(run.now.replicas) == 4


@case("A cancellation does not restore the order")
def order_is_lost(run: Run) -> bool:
    """[1,2] becomes [2,1]."""
    run.begin(elr=False, min_isr=1)
    run.do("reassign", [2, 3])
    run.do("reassign", None)
    return run.now.replicas == (2, 1)


@case("A cancellation deletes the last in-sync replica")
def last_in_sync(run: Run) -> bool:
    """A finding about KafkaController: KRaft refuses a cancellation after which nobody would be in the ISR."""
    run.begin(elr=False, min_isr=1)
    run.do("reassign", [3, 4])
    run.isr(1, 3)
    run.do("fence", 1)
    return run.do("reassign", None) == "NONE"


@case("A former replica stays in the ISR")
def former_in_isr(run: Run) -> bool:
    """A finding about KafkaController: KRaft writes replicas and ISR in one record."""
    run.begin(elr=False, min_isr=1)
    run.do("reassign", [3, 4])
    run.isr(1, 2, 3)
    run.do("reassign", None)
    return 3 in run.now.isr


@case("A move that is complete need not be in sync")
def completed_late(run: Run) -> bool:
    """The whole target is in the ISR, and the move is not complete, so that the leader may change the ISR before it is.
    """
    run.begin(elr=False, min_isr=1)
    run.do("reassign", [3, 1])
    run.isr(1, 2, 3)
    return bool(run.now.adding or run.now.removing)


@case("A crash leaves stray replicas")
def strays(run: Run) -> bool:
    """A finding about KafkaController: whoever replays the log of KRaft knows all that its predecessor knew."""
    run.begin(elr=False, min_isr=1)
    run.do("reassign", [3, 4])
    run.isr(1, 2, 3)
    before = run.now
    run.do("fail_over")
    return run.now != before


@case("A safe rollback that blocks producers")
def below_min_isr(run: Run) -> bool:
    """Kafka does not look at min.insync.replicas when it cancels."""
    run.begin(elr=False, min_isr=2)
    run.isr(1)
    run.do("reassign", [3, 4])
    run.isr(1, 3)
    return run.do("reassign", None) == "NONE" and len(run.now.isr) < 2


@case("The skip rule lets a cancellation take a partition offline")
def offline_by_cancelling(run: Run) -> bool:
    """KAFKA-14424 under KRaft: a fenced original replica is not in the ISR, and so cannot be gone back to."""
    run.begin(elr=False, min_isr=1)
    run.do("reassign", [3, 4])
    run.isr(1, 2, 3)
    run.do("fence", 1)
    run.do("fence", 2)
    run.do("reassign", None)
    return run.now.leader is None


# What the models assume of KRaft.


@case("KRaft refuses a target that is fenced")
def refuses_fenced_target(run: Run) -> bool:
    """`only_live_brokers_are_added` (reassignment) is KafkaController's rule: KRaft asks for a registration only."""
    run.begin(elr=False, min_isr=1)
    run.do("fence", 3)
    return run.do("reassign", [3, 2]) != "NONE"


@case("KRaft answers a repeated AlterPartition with the present state (KAFKA-14144)")
def repeats(run: Run) -> bool:
    """KRaft refuses it with INVALID_UPDATE_VERSION, and the leader learns of it from the metadata."""
    run.begin(elr=False, min_isr=1)
    before = run.now
    run.isr(1)
    return run.do("alter_partition", 1, {1: run.controller.epoch(1)}, before.leader_epoch,
                  before.partition_epoch) == "NONE"


@case("A controller that is behind answers NOT_CONTROLLER (KAFKA-14154)")
def behind(run: Run) -> bool:
    """As `ZombieController` (alter_isr) has it."""
    run.begin(elr=False, min_isr=1)
    return run.do("alter_partition", 1, {1: run.controller.epoch(1)}, 0, 1) == "NOT_CONTROLLER"


@case("A broker that registers again leaves the ISR, though it was not fenced (KAFKA-18106)")
def registers_unfenced(run: Run) -> bool:
    """As `failover` (alter_isr) assumes: the registration takes its earlier incarnation out of the ISR."""
    run.begin(elr=False, min_isr=1)
    run.do("register_anew", 2, False)
    return 2 not in run.now.isr


# What Kafka loses.


@case("An accepted reassignment is lost")
def accepted_is_lost(run: Run) -> bool:
    """The second target is accepted, and the partition ends with the first one, or with neither."""
    run.begin(elr=False, min_isr=1)
    run.do("reassign", [3, 2])
    accepted = run.do("reassign", [3, 1, 2]) == "NONE"
    run.isr(1, 2, 3)
    return accepted and not run.now.adding and not run.now.removing and run.now.replicas != (3, 1, 2)


@case("A replica is being added and removed")
def added_and_removed(run: Run) -> bool:
    """The same cause."""
    run.begin(elr=False, min_isr=1)
    run.do("reassign", [3, 4])
    run.do("reassign", [3, 1])
    return bool(set(run.now.adding) & set(run.now.removing))


@case("A reassignment never ends")
def never_ends(run: Run) -> bool:
    """Since KAFKA-19975: it waits for 4, which it adds and removes, though all replicas are in sync."""
    run.begin(elr=False, min_isr=1)
    run.do("reassign", [4])
    run.do("reassign", [2])
    if run.now.adding:
        run.isr(1, 2, 4)
    return bool(run.now.adding)


@case("The ELR has a broker that is no replica")
def stranger_in_elr(run: Run) -> bool:
    """`maybePopulateTargetElr` takes whoever leaves the ISR, the replica that a reassignment removes as well."""
    run.begin()
    run.do("reassign", [1])
    return not set(run.now.elr) <= set(run.now.replicas)


@case("A clean election of an empty log")
def empty_log(run: Run) -> bool:
    """3 has deleted its log when the cancellation made it a stranger; it is in the ELR, and leads once it is back."""
    run.begin()
    run.isr(1)
    run.do("reassign", [3, 4])
    run.isr(1, 3)
    run.do("reassign", None)
    run.do("reassign", [3, 4])
    run.do("fence", 1)
    return run.now.leader == 3 and not run.now.recovering


@case("A reassignment ends with fewer in sync than it began, and than producers need")
def ends_below_min_isr(run: Run) -> bool:
    """KAFKA-19975: it waits for those who are added only. Both copies of an acknowledged record become one.

    `CompletesWithAdding` (reassignment) is this design.
    """
    run.begin(elr=False, min_isr=2)
    run.isr(1)
    run.do("reassign", [2, 3])
    run.isr(1, 3)
    return not run.now.adding and len(run.now.isr) < 2


@case("An unclean cancellation is called clean")
def unclean_cancellation(run: Run) -> bool:
    """With unclean elections, a replica that is not in sync is put into the ISR, and the state stays RECOVERED."""
    run.begin(elr=False, min_isr=1, unclean=True)
    run.isr(1)
    run.do("reassign", [2, 3, 4])
    run.isr(1, 3)
    run.do("fence", 1)
    run.do("reassign", None)
    return run.now.leader == 2 and not run.now.recovering


@case("A new min.insync.replicas leaves nobody eligible")
@case("Setting min.insync.replicas takes a partition offline for good")
def offline_for_good(run: Run) -> bool:
    """The ELR of a partition without a leader is cleared. All replicas come back, and none can be elected."""
    run.begin()
    run.do("fence", 2)
    run.do("fence", 1)
    run.do("set_min_isr", 1)
    run.do("unfence", 1)
    run.do("unfence", 2)
    return run.now.leader is None


@case("A cancellation leaves the ELR with a broker that is no replica")
def cancelled_stranger(run: Run) -> bool:
    run.begin()
    run.isr(1)
    run.do("reassign", [3, 4])
    run.isr(1, 3)
    run.do("reassign", None)
    return 3 in run.now.elr and 3 not in run.now.replicas


@case("The controller counts the replicas of another partition")
def counts_partition_zero(run: Run) -> bool:
    """With one replica left in partition 0, whoever leaves the ISR of partition 1 is not eligible."""
    eligible = []
    for reassigned in (False, True):
        run.begin(partitions=2)
        if reassigned:
            run.do("reassign", [1])
        run.do("fence", 2)
        other = run.controller.partition(1)
        run.steps.append(f"    partition 1 has {shown(other)}")
        eligible.append(other.elr)
    return eligible == [(2,), ()]


@case("The last known leader is nobody")
def nobody(run: Run) -> bool:
    """-1 is taken down for it, where a cancellation raises the leader epoch of a partition without a leader."""
    run.begin(unclean=True)
    run.do("fence", 2)
    run.do("fence", 1)
    run.do("set_min_isr", 1)
    run.do("reassign", [1, 3])
    run.do("reassign", None)
    return -1 in run.now.last_known_elr


@case("An ELR that was switched off elects a replica that lacks what was acknowledged since")
def elr_while_off(run: Run) -> bool:
    """Switching changes no partition, and with the ELR off a new min.insync.replicas does not clear what there is."""
    run.begin()
    run.isr(1)
    run.do("switch_elr")
    run.do("set_min_isr", 1)
    run.do("fence", 1)
    return run.now.leader == 2 and not run.now.recovering


@case("An ELR is what it was when it was switched off, once it is switched on again")
def elr_switched_on(run: Run) -> bool:
    """Of a partition that has not changed in between: replica 2 is eligible, though it was not needed for a while."""
    run.begin()
    run.isr(1)
    run.do("switch_elr")
    run.do("set_min_isr", 1)
    run.do("switch_elr")
    return run.now.elr == (2,)


@case("A last known leader that is nobody bars an unclean election")
def nobody_bars(run: Run) -> bool:
    """Before KAFKA-19522 was mended, it is elected, dead or not; and then nobody leads, though a replica is back."""
    run.begin(unclean=True)
    run.do("unregister", 1)
    run.do("reassign", [4, 3])
    run.do("unregister", 2)
    run.do("reassign", None)
    run.do("set_min_isr", 1)
    run.do("register_anew", 1, False)
    run.do("unfence", 1)
    return run.now.leader is None


@case("The last known leader may be no replica any more")
def former_replica(run: Run) -> bool:
    """3 led uncleanly, and a cancellation has removed it. Whoever empties the ISR makes the controller ask for its
    directory, which fails: here 2 cannot register.
    """
    run.begin(brokers=3, unclean=True)
    run.do("register_anew", 2, False)
    run.do("reassign", [3, 2])
    run.do("register_anew", 1, False)
    run.do("reassign", None)
    run.do("register_anew", 3, False)
    run.do("unfence", 3)
    return run.do("register_anew", 2, False) == "UNKNOWN_SERVER_ERROR"


@case("A broker that is no replica is elected")
def stranger_leads(run: Run) -> bool:
    """Before KAFKA-19522 was mended: the last known leader, which a cancellation has removed, and which is dead."""
    run.begin(unclean=True)
    run.do("unregister", 1)
    run.do("reassign", [4])
    run.do("unregister", 2)
    run.do("shut_down", 4)
    run.do("reassign", None)
    run.do("register_anew", 4, False)
    run.do("register_anew", 1, False)
    return run.now.leader is not None and run.now.leader not in run.now.replicas


@case("A reassignment is answered UNKNOWN_SERVER_ERROR")
def unknown_error(run: Run) -> bool:
    """A member of the ELR that is no replica has no directory: `LeaderAcceptor` throws."""
    run.begin(replicas=(1, 2, 3))
    run.do("reassign", [2])
    run.do("fence", 2)
    return run.do("reassign", [3, 2]) == "UNKNOWN_SERVER_ERROR"


@case("A broker cannot register because of a topic that was deleted")
def cannot_register(run: Run) -> bool:
    """Nobody tells `BrokersToElrs` of a ClearElrRecord; the topic goes, its entry stays, and registering throws.

    Any other exception than an ApiException makes the active controller resign.
    """
    run.begin()
    run.do("fence", 2)
    run.do("set_min_isr", 1)
    run.do("delete_topic")
    return run.do("register_anew", 2, False) == "UNKNOWN_SERVER_ERROR"


# What the topic command says (model/under_replicated/metric.py).


@case("The topic command sends two requests")
def command_asks_twice(run: Run) -> bool:
    """A move ends between the two. Each answer by itself raises no alarm."""
    run.begin(elr=False, min_isr=1)
    run.do("reassign", [3, 1])
    before = run.now
    run.isr(1, 2, 3)
    alarms = {}
    for described in (before, run.now):
        for listed in (before, run.now):
            told = DescribedTopic(run.kafka, described, listed).is_listed_under_replicated()
            alarms[described is before, listed is before] = told
            run.steps += [f"described: {shown(described)}", f"    listed: {shown(listed)}: under-replicated {told}"]
    return alarms == {(True, True): False, (True, False): True, (False, True): False, (False, False): False}


# What the metrics of the controllers count (model/elr/metric.py).


def unclean_elections(run: Run, does: Callable[[], object]) -> int:
    """``TopicDelta`` replays what a step has written."""
    before = len(run.controller.log)
    does()
    unclean, of_elr = run.controller.counted_elections(before)
    run.steps.append(f"counted as unclean: {unclean}, as from the ELR: {of_elr}")
    return unclean


@case("The metrics count an unclean election")
def counts_unclean(run: Run) -> bool:
    run.begin(elr=False, min_isr=1, unclean=True)
    run.isr(1)
    return unclean_elections(run, lambda: run.do("fence", 1)) == 1 and run.now.leader == 2


@case("KAFKA-18940: an election from the ELR is counted as unclean")
def counts_elr_as_unclean(run: Run) -> bool:
    run.begin()
    for broker in (2, 1):
        run.do("fence", broker)
    unclean = unclean_elections(run, lambda: run.do("unfence", 2))
    return run.now.leader == 2 and unclean > 0


@case("KAFKA-19212: a leader that joins the ISR as it is elected is counted as unclean")
def counts_joining_leader(run: Run) -> bool:
    """The record that ends the move has the ISR without the former leader, and the new leader."""
    run.begin(replicas=(1,), elr=False, min_isr=1)
    run.do("reassign", [2])
    unclean = unclean_elections(run, lambda: run.isr(1, 2))
    return run.now.leader == 2 and unclean > 0


@case("KAFKA-16540: a broker may have a min.insync.replicas of its own, with the ELR")
def own_min_isr(run: Run) -> bool:
    """Without the ELR it may."""
    answered = {}
    for elr in (False, True):
        run.begin(elr=elr)
        answered[elr] = run.do("set_min_isr_of_broker", 1, 1)
    return answered == {False: "NONE", True: "NONE"}


# Several partitions in one AlterPartition request (model/alter_isr/batch.py).


@case("Each partition of an AlterPartition request has an error of its own, and the others are changed")
def each_has_its_error(run: Run) -> bool:
    """One request with every error of a partition, between two changes that are accepted."""
    run.begin(replicas=(1, 2, 3), elr=False, min_isr=1, partitions=10)
    now, epoch = run.now, run.controller.epoch
    shrunk = {1: epoch(1), 2: epoch(2)}
    wanted = [
        (Change(0, shrunk, now.leader_epoch, now.partition_epoch), "NONE"),
        (Change(1, shrunk, now.leader_epoch - 1, now.partition_epoch), "FENCED_LEADER_EPOCH"),
        (Change(2, shrunk, now.leader_epoch + 1, now.partition_epoch), "NOT_CONTROLLER"),
        (Change(3, shrunk, now.leader_epoch, now.partition_epoch - 1), "INVALID_UPDATE_VERSION"),
        (Change(4, shrunk, now.leader_epoch, now.partition_epoch + 1), "NOT_CONTROLLER"),
        (Change(5, {**shrunk, 4: epoch(4)}, now.leader_epoch, now.partition_epoch), "INVALID_REQUEST"),
        (Change(6, {2: epoch(2)}, now.leader_epoch, now.partition_epoch), "INVALID_REQUEST"),
        (Change(7, {1: epoch(1), 2: epoch(2) - 1}, now.leader_epoch, now.partition_epoch), "INELIGIBLE_REPLICA"),
        (Change(99, shrunk, now.leader_epoch, now.partition_epoch), "UNKNOWN_TOPIC_OR_PARTITION"),
        (Change(9, shrunk, now.leader_epoch, now.partition_epoch), "NONE"),
    ]
    answered = run.controller.alter_partitions(1, [change for change, _ in wanted])
    run.steps += [f"{change} -> {error}" for (change, _), error in zip(wanted, answered, strict=True)]
    changed = [index for index in range(10) if run.controller.partition(index).isr == (1, 2)]
    return answered == [error for _, error in wanted] and changed == [0, 9]


@case("An AlterPartition request from an earlier life of a broker changes no partition")
def refused_as_a_whole(run: Run) -> bool:
    run.begin(replicas=(1, 2, 3), elr=False, min_isr=1, partitions=2)
    now, members = run.now, {1: run.controller.epoch(1)}
    changes = [Change(index, members, now.leader_epoch, now.partition_epoch) for index in range(2)]
    answered = run.controller.alter_partitions(1, changes, broker_epoch=run.controller.epoch(1) - 1)
    run.steps.append(f"a request of 1 for both partitions, with an earlier broker epoch -> {answered}")
    return answered == ["STALE_BROKER_EPOCH"] and all(run.controller.partition(each) == now for each in range(2))


# Known bugs.


@case("KAFKA-19522: a fenced last known leader is elected")
def fenced_last_known(run: Run) -> bool:
    """Both replicas lose their logs while they are fenced; then 2 comes back, and 1, which is away, is to lead."""
    run.begin()
    run.do("fence", 2)
    run.do("fence", 1)
    run.do("register_anew", 1, False)
    run.do("register_anew", 2, False)
    run.do("unfence", 2)
    return run.now.leader == 1


@case("Pull request 20716: AssignReplicasToDirs clears the ELR")
def directories(run: Run) -> bool:
    """The builder is not told that the ELR is on."""
    run.begin()
    run.do("fence", 2)
    run.do("assign_directory", 1)
    return run.now.elr == ()


def results(kafka: Classes) -> dict[str, str]:
    found = {title: judge(Run(kafka)) for title, judge in CASES.items()}
    found |= {title: settled_of_leader(kafka, judge) for title, judge in LEADER_CASES.items()}
    found |= {title: judge(Voters(kafka)) for title, judge in QUORUM_CASES.items()}
    told = {title: REPRODUCED if happens else REFUTED for title, happens in found.items()}
    for title, of_follower in FOLLOWER_CASES.items():
        told[title] = UNDRIVEN
        if can_follow(kafka):
            told[title] = REPRODUCED if settled_of_follower(Following(kafka), of_follower) else REFUTED
    return told | {title: UNDRIVEN if kafka.has_type(name) else ENDED for title, name in ENDED_IN_LEADER.items()}


def schedules(kafka: Classes, asked: str) -> Iterator[tuple[str, bool, list[str]]]:
    """The cases whose title has a word: whether each happens, and what was done."""
    for title, judge in CASES.items():
        if asked.lower() in title.lower():
            run = Run(kafka)
            yield title, judge(run), run.steps
    for title, of_leader in LEADER_CASES.items():
        if asked.lower() in title.lower():
            led = Leadership(kafka)
            yield title, settled_of_leader(kafka, of_leader, led), led.steps
    for title, of_follower in FOLLOWER_CASES.items():
        if asked.lower() in title.lower() and can_follow(kafka):
            following = Following(kafka)
            yield title, settled_of_follower(following, of_follower), following.steps
    for title, of_quorum in QUORUM_CASES.items():
        if asked.lower() in title.lower():
            voters = Voters(kafka)
            yield title, of_quorum(voters), voters.steps


def written() -> dict[str, dict[str, str]]:
    """What the page says of each version."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    versions = next(row for row in rows if row[0] == "case")[1:]
    rows = [row for row in rows if len(row) == len(versions) + 1 and row[0] != "case"]
    return {version: {row[0]: row[at] for row in rows} for at, version in enumerate(versions, 1)}


def table(found: Mapping[str, Mapping[str, str]]) -> str:
    """Rows are cases, columns the versions."""
    lines = [f"| case | {' | '.join(found)} |", f"|---|{'---|' * len(found)}"]
    settled = [*CASES, *LEADER_CASES, *FOLLOWER_CASES, *QUORUM_CASES, *ENDED_IN_LEADER]
    lines += [f"| {title} | {' | '.join(each.get(title, UNRUN) for each in found.values())} |" for title in settled]
    return "\n".join(lines)


def main() -> None:
    try:
        kafkas = [Classes(each) for each in libraries()]
    except NoKafka as reason:
        raise SystemExit(str(reason)) from None
    asked = [each for each in sys.argv[1:] if each != "--write"]
    if asked:
        for kafka in kafkas:
            for title, happens, steps in schedules(kafka, asked[0]):
                print(f"{kafka}: {title}: {REPRODUCED if happens else REFUTED}", *steps, sep="\n  ")
        return
    found = {kafka.libraries.version: results(kafka) for kafka in kafkas}
    if "--write" in sys.argv:
        made = table(dict(sorted({**written(), **found}.items())))
        PAGE.write_text(_PLACE.sub(lambda _: made, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(table(found))


if __name__ == "__main__":
    main()
