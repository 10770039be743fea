"""Tests the JSON of a reassignment: the KIP's examples are read and written, everything else is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floodmark.checkers.plan.reassignment_json import PartitionReassignment, TopicPartition, dumps, parse, read
from floodmark.language.errors import SourceError

KIP_236 = """
{"version":1,
 "partitions":[{"topic": "foo1",
                "partition": 0,
                "replicas": [1,2,4],
                "original_replicas": [1,2,3]
               },
               {"topic": "foo2",
                "partition": 1,
                "replicas": [7,9,8],
                "original_replicas": [5,6,8]
               }]
}
"""
ZNODE = (
    '{"version":1,"partitions":[{"topic":"test_topic","partition":25,"replicas":[1,2,4],'
    '"original_replicas":[1,2,3]}]}'
)


def entry(**changes: object) -> str:
    import json

    fields = {"topic": "foo", "partition": 0, "replicas": [1, 2], **changes}
    return json.dumps({"version": 1, "partitions": [{k: v for k, v in fields.items() if v is not ...}]})


def test_the_example_of_the_kip_is_read() -> None:
    first, second = parse(KIP_236).values()
    assert first == PartitionReassignment(TopicPartition("foo1", 0), (1, 2, 4), (1, 2, 3))
    assert second == PartitionReassignment(TopicPartition("foo2", 1), (7, 9, 8), (5, 6, 8))


def test_the_znode_of_the_kip_comes_out_as_it_is() -> None:
    assert dumps(parse(ZNODE).values()) == ZNODE


def test_a_client_need_not_say_the_original_replicas() -> None:
    assert parse(entry())[TopicPartition("foo", 0)].original_replicas is None


def test_log_dirs_are_read_over() -> None:
    assert dumps(parse(entry(log_dirs=["any", "any"])).values()) == entry().replace(" ", "")


_BROKERS = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=6, unique=True).map(tuple)
_PARTITIONS = st.builds(
    TopicPartition, st.from_regex(r"[a-zA-Z0-9_-]{1,20}", fullmatch=True), st.integers(0, 2**31 - 1)
)


@pytest.mark.slow
@given(st.dictionaries(_PARTITIONS, st.tuples(_BROKERS, st.none() | _BROKERS)))
def test_what_is_written_is_read_again(content: dict[TopicPartition, tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    moves = {partition: PartitionReassignment(partition, *rest) for partition, rest in content.items()}
    assert parse(dumps(moves.values())) == moves


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[]", "is a list, but must be an object"),
        ("null", "is null"),
        ('{"partitions":[]}', "has no 'version'"),
        ('{"version":1}', "has no 'partitions'"),
        ('{"version":2,"partitions":[]}', "is of version 2; only version 1 is known"),
        ('{"version":"1","partitions":[]}', 'is of version "1"'),
        ('{"version":true,"partitions":[]}', "is of version true"),
        ('{"version":1,"version":1,"partitions":[]}', "has the key 'version' twice"),
        ('{"version":1,"partitions":{}}', "partitions is an object, but must be a list"),
        ('{"version":1,"partitions":[],"topics":[]}', "has the unknown key 'topics'"),
        ('{"version":1,"partitions":[3]}', "partitions[0]: is a number"),
        ('{"version":1,"partitions":NaN}', "NaN is not a number"),
        (entry(topic=...), "has no 'topic'"),
        (entry(partition=...), "has no 'partition'"),
        (entry(replicas=...), "has no 'replicas'"),
        (entry(topic=1), "topic is a number"),
        (entry(topic=""), "'' is not a topic name"),
        (entry(topic="a b"), "'a b' is not a topic name"),
        (entry(topic="x" * 250), "is not a topic name"),
        (entry(partition=-1), "partition is -1"),
        (entry(partition="0"), 'partition is "0"'),
        (entry(partition=True), "partition is true"),
        (entry(replicas=[]), "foo-0: replicas is empty"),
        (entry(replicas=None), "replicas is null"),
        (entry(replicas=[1, 1]), "foo-0: replicas has broker 1 twice"),
        (entry(replicas=[1, -2]), "replicas has -2, which is not a broker"),
        (entry(replicas=[1, 2.0]), "replicas has 2.0, which is not a broker"),
        (entry(original_replicas=[]), "original_replicas is empty"),
        (entry(original_replicas=None), "original_replicas is null"),
        (entry(log_dirs=["any"]), "log_dirs has 1 entry for 2 replicas"),
        (entry(log_dirs="any"), "log_dirs must be a list"),
        (entry(replica=[1]), "has the unknown key 'replica'"),
        ('{"version":1,"partitions":[' + "[" * 100_000, "is not JSON"),
        ('{"version":' + "1" * 5000 + ',"partitions":[]}', "is not JSON: a number has too many digits"),
    ],
)
def test_a_bad_file_is_one_clear_error(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse(text, "plan.json")
    assert message in str(caught.value)
    assert str(caught.value).startswith("plan.json")
    assert "\n" not in str(caught.value)


def test_an_error_names_the_line_of_its_entry() -> None:
    text = KIP_236.replace("[7,9,8]", "[7,9,7]")
    with pytest.raises(SourceError, match=r"plan\.json:8: partitions\[1\]: foo2-1: replicas has broker 7 twice"):
        parse(text, "plan.json")


def test_a_repeated_partition_is_an_error() -> None:
    text = KIP_236.replace("foo2", "foo1").replace('"partition": 1', '"partition": 0')
    with pytest.raises(SourceError, match=r"partitions\[1\]: foo1-0 is listed twice"):
        parse(text)


def test_a_plan_that_cannot_be_read_is_an_error_that_says_why(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    with pytest.raises(SourceError, match="there is no such file"):
        read(file)
    file.write_bytes(b"\xff\xfa")
    with pytest.raises(SourceError, match="is not UTF-8"):
        read(file)
    with pytest.raises(SourceError, match="cannot be read"):
        read(tmp_path)
    file.write_text(ZNODE)
    assert list(read(file)) == [TopicPartition("test_topic", 25)]
