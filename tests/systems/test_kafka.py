"""Kafka's own controller, in step with a model of it, and what it does in the cases that docs/findings.md speaks of.

Its classes come from the folders that FLOODMARK_KAFKA_LIBS names; without them these tests are skipped.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis.stateful import run_state_machine_as_test

from docs.tools.findings import findings
from floodmark import SourceError
from floodmark.conformance import Mismatch, observable, replay, state_machine, tour, walk
from tests.conformance.test_conformance import QUICK

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "kafka"
MODULES = [file.stem for file in EXAMPLE.glob("*.py")]
QUORUMS: dict[str, dict[str, Any]] = {
    "from the start": {}, "one leads": {"led": True}, "two lead": {"rivals": True},
    "five voters": {"led": True, "voters": 5},
}
VOTERS: dict[str, dict[str, Any]] = {
    "three voters": {}, "two voters": {"voters": 2, "observers": 2}, "one voter": {"voters": 1, "observers": 2},
    "new observers": {"voters": 2, "observers": 2, "fresh": True},
}
LEADERS: dict[str, dict[str, Any]] = {"three replicas": {}, "two in sync": {"min_insync_replicas": 2}}
CLUSTERS: dict[str, dict[str, Any]] = {
    "without the ELR": {"elr_enabled": False, "min_insync_replicas": 1},
    "with the ELR": {},
    "with unclean elections": {"unclean_elections": True},
    "three replicas": {"replication_factor": 3, "largest_target": 3},
}


class Example:
    """The example's modules, found by their own names only while this module's tests run."""

    def __init__(self, java: list[ModuleType]) -> None:
        self.java = java
        sys.path.insert(0, str(EXAMPLE))
        self._kafkas: list[Any] | None = None

    def module(self, name: str) -> ModuleType:
        return importlib.import_module(name)

    @property
    def kafkas(self) -> list[Any]:
        """The classes of every version that there is. Skips the test where there is none."""
        if self._kafkas is None:
            missing = self.module("libraries").missing()
            if missing is not None:
                pytest.skip(missing)
            self.java.append(self.module("bridge"))
            self._kafkas = [self.module("bridge").Classes(each) for each in self.module("libraries").libraries()]
        return self._kafkas

    def adapter(self, kafka: Any) -> Any:
        return type("Adapter", (self.module("partition_adapter").PartitionAdapter,), {"kafka": kafka})

    def model(self, kafka: Any, **constants: Any) -> Any:
        of_version = self.module("partition_adapter").of_version(kafka)
        return self.module("observed").ObservedPartition(**{**of_version, **constants})

    def elr_adapter(self, kafka: Any) -> Any:
        return type("Adapter", (self.module("elr_adapter").ElrAdapter,), {"kafka": kafka})

    def quorum_adapter(self, kafka: Any) -> Any:
        return type("Adapter", (self.module("quorum_adapter").QuorumAdapter,), {"kafka": kafka})

    def quorum(self, **constants: Any) -> Any:
        return self.module("quorum").KafkaQuorum(max_epoch=10, max_log=8, max_restarts=20, delays=2, **constants)

    def voters_adapter(self, kafka: Any) -> Any:
        return type("Adapter", (self.module("voters_adapter").VotersAdapter,), {"kafka": kafka})

    def voters(self, **constants: Any) -> Any:
        return self.module("voters").KafkaVoters(**{**self.module("voters").WALKED, **constants})

    def leader_adapter(self, kafka: Any) -> Any:
        return type("Adapter", (self.module("leader_adapter").LeaderAdapter,), {"kafka": kafka})

    def leader(self, **constants: Any) -> Any:
        return self.module("leader").ObservedLeader(**{**self.module("leader").WALKED, **constants})

    def followers(self, brokers: int) -> Any:
        walked = self.module("epochs_adapter").WALKED
        return self.module("followers").RememberedEpochs(**{**walked, "brokers": brokers})

    def followers_adapter(self, kafka: Any) -> Any:
        return type("Adapter", (self.module("epochs_adapter").EpochsAdapter,), {"kafka": kafka})

    @property
    def with_followers(self) -> list[Any]:
        """The versions whose followers can be driven. Skips the test where there is none."""
        found = [each for each in self.kafkas if self.module("follower_cases").can_follow(each)]
        if not found:
            pytest.skip("no version since 4.1: FLOODMARK_KAFKA_LIBS")
        return found

    def beside(self, part: str) -> tuple[Any, Any]:
        """A model, and the adapter of the last version."""
        kafka = self.kafkas[-1]
        if part == "controller":
            return self.model(kafka), self.adapter(kafka)
        if part == "eligible leaders":
            return self.module("elr").OrderedEligibleLeaders(), self.elr_adapter(kafka)
        if part == "quorum":
            return self.quorum(led=True), self.quorum_adapter(kafka)
        if part == "voters":
            return self.voters(voters=2, observers=2, fresh=True), self.voters_adapter(kafka)
        if part == "leader":
            return self.leader(), self.leader_adapter(kafka)
        return self.followers(2), self.followers_adapter(self.with_followers[-1])

    def close(self) -> None:
        sys.path.remove(str(EXAMPLE))
        for name in MODULES:
            sys.modules.pop(name, None)


@pytest.fixture(scope="session")
def java() -> Iterator[list[ModuleType]]:
    """The bridge, if a test has used it, ends Java while the handlers of signals are there."""
    bridges: list[ModuleType] = []
    yield bridges
    for bridge in bridges:
        bridge.end()


@pytest.fixture(scope="module")
def example(java: list[ModuleType]) -> Iterator[Example]:
    found = Example(java)
    try:
        yield found
    finally:
        found.close()


# The jars.


def test_without_a_folder_it_is_said_what_to_set(example: Example) -> None:
    assert "set FLOODMARK_KAFKA_LIBS to the libs folder" in example.module("libraries").missing({})


def test_a_folder_without_jars_of_kafka_is_refused(example: Example, tmp_path: Path) -> None:
    pytest.importorskip("jpype")
    assert "has no kafka-clients-*.jar" in example.module("libraries").missing({"FLOODMARK_KAFKA_LIBS": str(tmp_path)})


def test_the_version_is_that_of_the_jars(example: Example, tmp_path: Path) -> None:
    pytest.importorskip("jpype")
    for name in ("clients", "metadata", "server-common"):
        with zipfile.ZipFile(tmp_path / f"kafka-{name}-9.9.jar", "w") as jar:
            if name == "clients":
                jar.writestr("kafka/kafka-version.properties", "commitId=abc\nversion=4.1.0-SNAPSHOT\n")
    (found,) = example.module("libraries").libraries({"FLOODMARK_KAFKA_LIBS": str(tmp_path)})
    assert (found.version, found.commit, found.number) == ("4.1.0-SNAPSHOT", "abc", (4, 1))


def test_what_a_version_lacks_is_named(example: Example) -> None:
    kafka = example.kafkas[0]
    lacks = example.module("bridge").NotInVersion
    with pytest.raises(lacks, match=rf"{re.escape(str(kafka))} has no class org.apache.kafka.no.Such"):
        kafka.type("no.Such")
    with pytest.raises(lacks, match=r"MetadataVersion has no nothing that takes \(int\)"):
        kafka.call(kafka.type("server.common.MetadataVersion"), "nothing", 1)


# In step.


def test_a_seed_determines_the_run(example: Example) -> None:
    kafka = example.kafkas[0]
    controller = example.module("controller").Controller
    written = []
    for _ in range(2):
        one = controller(kafka, [1, 2, 3], (1, 2), elr=True, min_isr=2, unclean=False)
        one.fence(2)
        one.reassign([3, 1])
        one.fail_over()
        written.append([*one.written, str(one.partition())])
    assert written[0] == written[1]


def test_a_broker_may_shut_down_beside_another_when_the_controller_has_failed_over(example: Example) -> None:
    for kafka in example.kafkas:
        one = example.module("controller").Controller(kafka, [1, 2, 3, 4], (1, 2), elr=True, min_isr=2, unclean=True)
        one.shut_down(3)
        one.reassign([3, 4])
        one.register_anew(2, True)
        one.shut_down(1)
        one.fail_over()
        one.shut_down(4)
        one.shut_down(4)
        assert (one.state(1), one.state(4)) == ("shutting down", "fenced")


def test_a_broker_whose_id_is_alive_is_refused(example: Example) -> None:
    for kafka in example.kafkas:
        one = example.module("controller").Controller(kafka, [1, 2], (1, 2), elr=True, min_isr=2, unclean=False)
        assert one.register(2, clean=False) == "DUPLICATE_BROKER_REGISTRATION"
        assert one.register_anew(2, clean=False) == "NONE"


REMOVED_BY_CANCELLING: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "it is asked for its directory": [
        ("broker_is_unregistered", {"broker": "b2"}), ("operator_reassigns", {"preferred": "b1", "others": ["b3"]}),
        ("operator_sets_min_isr", {"number": 1}), ("broker_is_unregistered", {"broker": "b1"}),
        ("operator_cancels", {}), ("broker_registers", {"broker": "b1", "clean": True}),
    ],
    "it leads": [
        ("broker_is_unregistered", {"broker": "b1"}), ("operator_reassigns", {"preferred": "b4", "others": []}),
        ("broker_is_unregistered", {"broker": "b2"}), ("broker_shuts_down", {"broker": "b4"}), ("operator_cancels", {}),
        ("broker_registers", {"broker": "b4", "clean": False}), ("broker_registers", {"broker": "b1", "clean": False}),
        ("broker_is_unfenced", {"broker": "b4"}), ("operator_reassigns", {"preferred": "b4", "others": ["b1"]}),
    ],
}


@pytest.mark.parametrize("schedule", REMOVED_BY_CANCELLING)
def test_the_model_fails_where_the_last_known_leader_is_no_replica(example: Example, schedule: str) -> None:
    steps = [("start", {}), *REMOVED_BY_CANCELLING[schedule]]
    for kafka in example.kafkas:
        model = example.model(kafka, unclean_elections=True)
        replay(model, example.adapter(kafka), [{"action": name, "arguments": given} for name, given in steps])


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_kafka_does_what_the_model_says(example: Example, cluster: str) -> None:
    for kafka in example.kafkas[-1:]:
        found = walk(example.model(kafka, **CLUSTERS[cluster]), example.adapter(kafka), most=60, seed=3)
        assert found is None, found.mismatch


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["uniform", "guided"])
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_version_does_what_its_model_says(example: Example, cluster: str, choice: Any) -> None:
    for kafka in example.kafkas:
        model = example.model(kafka, **CLUSTERS[cluster])
        found = walk(model, example.adapter(kafka), most=2_000, seed=5, choice=choice)
        assert found is None, f"{kafka}: {found.mismatch}"


PARTS = ["controller", "eligible leaders", "quorum", "voters", "leader", "followers"]


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_hypothesis_finds_no_difference(example: Example, part: str) -> None:
    run_state_machine_as_test(state_machine(*example.beside(part)), settings=QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_a_tour_finds_no_difference(example: Example, part: str) -> None:
    """It takes the runs that cover what walks in the model alone came across."""
    found = tour(*example.beside(part), most=1_000)
    assert found is None, found.mismatch


@pytest.mark.slow
def test_each_mistaken_belief_is_contradicted(example: Example) -> None:
    kafka = example.kafkas[-1]
    of_version = example.module("partition_adapter").of_version(kafka)
    for belief, constants in example.module("mistaken").BELIEFS.items():
        model = belief(**{**of_version, **constants})
        assert walk(model, example.adapter(kafka), most=6_000, seed=1) is not None, belief.__name__


# Eligible leader replicas: the model of KIP-966.


ELIGIBLE: dict[str, dict[str, Any]] = {
    "two of three": {}, "one of three": {"min_insync_replicas": 1},
    "three of four": {"brokers": 4, "min_insync_replicas": 3},
}


@pytest.mark.parametrize("partition", ELIGIBLE)
def test_the_controller_does_what_the_model_of_kip_966_says(example: Example, partition: str) -> None:
    model = example.module("elr").OrderedEligibleLeaders(**ELIGIBLE[partition])
    found = walk(model, example.elr_adapter(example.kafkas[-1]), most=100, seed=3, choice="uniform")
    assert found is None, found.mismatch


def test_each_mistaken_belief_about_eligible_leaders_is_contradicted(example: Example) -> None:
    for belief, constants in example.module("mistaken_elr").BELIEFS.items():
        found = walk(belief(**constants), example.elr_adapter(example.kafkas[-1]), most=200, seed=1, choice="uniform")
        assert found is not None, belief.__name__


# The quorum.


def test_one_seed_is_one_run_of_the_quorum(example: Example) -> None:
    told = []
    for _ in range(2):
        voters = example.module("quorum_cases").Voters(example.kafkas[-1]).begin()
        voters.members[1].write()
        voters.exchange(2, 1)
        voters.restart(1)
        answer = voters.exchange(1, 3)
        told.append([voters.steps, str(answer), [member.log.epochs for member in voters.members.values()]])
    assert told[0] == told[1]


@pytest.mark.parametrize("opening", QUORUMS)
def test_the_quorum_does_what_its_model_says(example: Example, opening: str) -> None:
    for kafka in example.kafkas[-1:]:
        found = walk(
            example.quorum(**QUORUMS[opening]), example.quorum_adapter(kafka), most=40, seed=3, choice="uniform")
        assert found is None, found.mismatch


def test_a_mistaken_belief_about_the_quorum_is_contradicted(example: Example) -> None:
    kafka = example.kafkas[-1]
    model = example.module("mistaken_quorum").ForgetsLeadership(max_epoch=10, max_log=8, max_restarts=20, led=True)
    found = walk(model, example.quorum_adapter(kafka), most=200, seed=1, choice="uniform")
    assert found is not None
    assert "roles: the model has" in str(found.mismatch)


def test_what_is_not_flushed_is_lost_in_a_restart(example: Example) -> None:
    leader = example.module("quorum_cases").Voters(example.kafkas[-1]).begin().members[1]
    leader.log.stops_before_flush = True
    leader.write()
    assert (leader.log.epochs, leader.log.flushed) == ([1, 1], 1)
    leader.restart(1)
    assert leader.log.epochs == [1]
    assert leader.role == "Resigned"


def test_successors_wait_as_the_claim_says(example: Example) -> None:
    delay = importlib.import_module("specs.claims.kip_595").delay
    for successors in (1, 2, 3, 5, 10, 11, 15):
        found = example.module("quorum_cases").waits(
            example.module("quorum_cases").Voters(example.kafkas[-1]), successors)
        assert found == [delay(position, successors) for position in range(successors)]


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["uniform", "guided"])
@pytest.mark.parametrize("opening", QUORUMS)
def test_every_quorum_does_what_its_model_says(example: Example, opening: str, choice: Any) -> None:
    for kafka in example.kafkas:
        found = walk(
            example.quorum(**QUORUMS[opening]), example.quorum_adapter(kafka), most=1_000, seed=5, choice=choice)
        assert found is None, f"{kafka}: {found.mismatch}"


@pytest.mark.slow
def test_each_mistaken_belief_about_the_quorum_is_contradicted(example: Example) -> None:
    kafka = example.kafkas[-1]
    for belief, constants in example.module("mistaken_quorum").BELIEFS.items():
        model = belief(max_epoch=10, max_log=8, max_restarts=20, delays=2, **constants)
        found = walk(model, example.quorum_adapter(kafka), most=10_000, seed=1, choice="uniform")
        assert found is not None, belief.__name__


# Voters that change.


@pytest.mark.parametrize("members", VOTERS)
def test_voters_change_as_their_model_says(example: Example, members: str) -> None:
    found = walk(example.voters(**VOTERS[members]), example.voters_adapter(example.kafkas[-1]), most=150, seed=3,
                 choice="uniform")
    assert found is None, found.mismatch


@observable(of=lambda model: [repr(each) for each in model.stopped])
def no_one(_adapter: object) -> list[str]:
    """The difference that shows who has stopped in the model."""
    return []


def told(calls: list[tuple[str, dict[str, Any]]]) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """The numbers of replicas, and the steps."""
    first = len(calls[0][1]["first"])
    return {"voters": first, "observers": 4 - first}, [{"action": name, "arguments": given} for name, given in calls]


STOPPING = ["IgnoresFormerVoters", "FollowsFromFetch", "AsksForAddress", "TellsAddressAtEnd", "RestartsAsObserver"]


@pytest.mark.parametrize("belief", STOPPING)
def test_a_member_throws_where_its_model_stops(example: Example, belief: str) -> None:
    stops = {each.__name__: stop for each, stop in example.module("voter_tours").STOPS.items()}
    assert list(stops) == STOPPING
    stopped, calls = stops[belief]
    sizes, steps = told(calls)
    for kafka in example.kafkas:
        adapter = example.voters_adapter(kafka)
        with pytest.raises(Mismatch) as found:
            replay(example.voters(**sizes), type("Adapter", (adapter,), {"stopped_members": no_one}), steps)
        assert list(found.value.differences) == [("stopped_members", [stopped], [])]
        assert len(found.value.steps) == len(steps)
        replay(example.voters(**sizes), adapter, steps)


def test_each_belief_about_changing_voters_that_walks_seldom_meet_is_contradicted_on_a_tour(example: Example) -> None:
    for belief, calls in example.module("voter_tours").TOURS.items():
        sizes, steps = told(calls)
        replay(example.voters(**sizes), example.voters_adapter(example.kafkas[-1]), steps)
        model = belief(**{**example.module("voters").WALKED, **sizes})
        with pytest.raises((Mismatch, SourceError)):
            replay(model, example.voters_adapter(example.kafkas[-1]), steps)


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["uniform", "guided"])
@pytest.mark.parametrize("members", VOTERS)
def test_voters_of_every_version_change_as_their_model_says(example: Example, members: str, choice: Any) -> None:
    for kafka in example.kafkas:
        found = walk(
            example.voters(**VOTERS[members]), example.voters_adapter(kafka), most=1_000, seed=5, choice=choice)
        assert found is None, f"{kafka}: {found.mismatch}"


@pytest.mark.slow
def test_each_mistaken_belief_about_changing_voters_is_contradicted(example: Example) -> None:
    for belief, constants in example.module("mistaken_voters").BELIEFS.items():
        model = belief(**{**example.module("voters").WALKED, **constants})
        found = walk(model, example.voters_adapter(example.kafkas[-1]), most=10_000, seed=1, choice="uniform")
        assert found is not None, belief.__name__


# The end of the process.


@pytest.mark.slow
def test_python_ends_well_once_followers_have_run(example: Example) -> None:
    """The faulthandler of pytest leaves no handler of signals, and Java runs code when it ends."""
    assert example.with_followers
    test = f"{__file__}::test_followers_do_what_their_model_says[2]"
    done = subprocess.run([sys.executable, "-m", "pytest", "-n", "0", "-q", test], cwd=ROOT, check=False)
    assert done.returncode == 0


# The leader of a partition.


@pytest.mark.parametrize("partition", LEADERS)
def test_the_leader_does_what_its_model_says(example: Example, partition: str) -> None:
    found = walk(example.leader(**LEADERS[partition]), example.leader_adapter(example.kafkas[-1]), most=100, seed=3,
                 choice="uniform")
    assert found is None, found.mismatch


def test_a_mistaken_belief_about_the_leader_is_contradicted(example: Example) -> None:
    belief = example.module("mistaken_leader").SendsSecondRequest
    model = belief(**example.module("leader").WALKED)
    found = walk(model, example.leader_adapter(example.kafkas[-1]), most=200, seed=1, choice="uniform")
    assert found is not None
    assert "request: the model has" in str(found.mismatch)


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["uniform", "guided"])
@pytest.mark.parametrize("partition", LEADERS)
def test_every_leader_does_what_its_model_says(example: Example, partition: str, choice: Any) -> None:
    for kafka in example.kafkas:
        found = walk(example.leader(**LEADERS[partition]), example.leader_adapter(kafka), most=2_000, seed=5,
                     choice=choice)
        assert found is None, f"{kafka}: {found.mismatch}"


@pytest.mark.slow
def test_each_mistaken_belief_about_the_leader_is_contradicted(example: Example) -> None:
    for belief, constants in example.module("mistaken_leader").BELIEFS.items():
        model = belief(**{**example.module("leader").WALKED, **constants})
        found = walk(model, example.leader_adapter(example.kafkas[-1]), most=10_000, seed=1, choice="uniform")
        assert found is not None, belief.__name__


def test_counterexamples_are_taken_until_kafka_decides_otherwise(example: Example) -> None:
    found = {name: otherwise for name, _, otherwise in example.module("replayed").counterexamples(
        EXAMPLE / "leader.toml", example.kafkas[-1])}
    assert found.pop("KafkaLeader") is None
    assert found
    assert all(otherwise is not None for otherwise in found.values()), found
    assert found["IgnoresPendingExpand"].startswith("step 4, follower_fetches: maximal_isr is ['b1', 'b2']")


TAKEN: dict[str, set[str]] = {
    "specs/epoch_cache/partition.toml": {"LosesEpochsWithDirectory"},
    "examples/kafka/elr.toml": {"CommitsBelowMinIsr", "LetsSuspectsJoin", "LeaderNeedsLess"},
    "examples/kafka/quorum.toml": set(),
    "examples/kafka/voters.toml": {
        "HeedsFormerVoters", "FetchesAsFollowerOnly", "NeedsAddress", "ResignsWithoutAddress", "ReadsOnce",
        "StandsAgain",
    },
}
"""The designs whose counterexamples Kafka takes to the end: seven are its own, of three the mistake is the leader's."""


@pytest.mark.slow
@pytest.mark.parametrize("spec", TAKEN)
def test_kafka_leaves_the_counterexamples_of_designs_that_it_is_not(example: Example, spec: str) -> None:
    found = {name: otherwise for name, _, otherwise in example.module("replayed").counterexamples(
        ROOT / spec, example.with_followers[-1])}
    assert found
    assert {name for name, otherwise in found.items() if otherwise is None} == TAKEN[spec]


# Followers.


@pytest.mark.parametrize("brokers", [2, 3])
def test_followers_do_what_their_model_says(example: Example, brokers: int) -> None:
    model = example.followers(brokers)
    found = walk(
        model, example.followers_adapter(example.with_followers[-1]), most=60, seed=3, choice="uniform")
    assert found is None, found.mismatch


def test_a_failure_of_the_leader_s_stand_in_is_told(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetcher that has no answer would only wait, and seem to append nothing."""
    fetcher = example.module("fetcher")
    replicas = fetcher.Replicas(example.with_followers[-1], [1, 2])

    def answers(*_asked: object) -> None:
        raise ValueError("no answer")

    monkeypatch.setattr(fetcher.Replica, "answer_fetch", answers)
    try:
        with pytest.raises(ValueError, match="no answer"):
            replicas.fetch(2)
    finally:
        replicas.close()


def test_an_epoch_without_a_record_is_forgotten_in_a_restart(example: Example) -> None:
    replicas = example.module("fetcher").Replicas(example.with_followers[-1], [1, 2])
    try:
        replicas.elect(2, stays=True)
        before = replicas.all[1].cached_epochs()
        replicas.restart(1)
        assert (before, replicas.all[1].cached_epochs()) == ({1: 0}, {})
    finally:
        replicas.close()


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["uniform", "guided"])
@pytest.mark.parametrize("brokers", [2, 3])
def test_every_version_s_followers_do_what_their_model_says(example: Example, brokers: int, choice: Any) -> None:
    model = example.followers(brokers)
    for kafka in example.with_followers:
        found = walk(model, example.followers_adapter(kafka), most=1_000, seed=5, choice=choice)
        assert found is None, f"{kafka}: {found.mismatch}"


@pytest.mark.slow
def test_each_mistaken_belief_about_followers_is_contradicted(example: Example) -> None:
    for belief, constants in example.module("mistaken_followers").BELIEFS.items():
        model = belief(**{**example.module("epochs_adapter").WALKED, **constants})
        found = walk(model, example.followers_adapter(example.with_followers[-1]), most=10_000, seed=1,
                     choice="uniform")
        assert found is not None, belief.__name__


# What it does.


def test_the_page_says_what_each_version_does(example: Example) -> None:
    settled = example.module("settled")
    told = settled.written()
    for kafka in example.kafkas:
        for title, result in settled.results(kafka).items():
            assert told.get(kafka.libraries.version, {title: result})[title] == result, title


def test_the_schedules_of_the_page_are_those_of_a_run(example: Example) -> None:
    settled = example.module("settled")
    page = settled.PAGE.read_text(encoding="utf-8")
    shown = re.findall(r'<!-- python \S+ "(.*?)" -->\n```text\n(.*?)```', page, re.DOTALL)
    assert shown
    for title, lines in shown:
        ((_, _, steps),) = settled.schedules(example.kafkas[-1], title)
        assert lines.splitlines() == steps


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["partition.toml", "leader.toml", "elr.toml", "quorum.toml", "voters.toml"])
def test_the_search_finds_each_mistake_and_nothing_once_they_are_repaired(spec: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "floodmark", "check", str(EXAMPLE / spec)], capture_output=True, text=True,
        check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_case_of_a_finding_has_its_title(example: Example) -> None:
    """So that each finding about Kafka, about reassignments under KRaft, and about the quorum is settled."""
    settled = pytest.importorskip("jpype") and example.module("settled")
    judged = {*settled.CASES, *settled.LEADER_CASES, *settled.FOLLOWER_CASES, *settled.QUORUM_CASES}
    for entry in findings():
        about_kafka = entry.verdict in ("reproduced", "candidate")
        if about_kafka or entry.source in ("KIP-455 and Kafka as shipped", "KIP-595"):
            assert entry.title in judged, entry.title
