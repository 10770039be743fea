"""Tests the command on random inputs: valid ones that are cut, doubled, shuffled and spoilt, and strange options.

Whatever it is given, it ends in time, with a code of its table that is no internal error, and says why.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from floodmark.checkers.verdict.result import MEANINGS, ExitCode
from tests.support.hostile import Run, put, runs
from tests.support.projects import TANK

__all__ = ["runs"]

SPEC = """
model = "model.tank:Tank"
title = "a tank"
invariants = ["below_size"]
symmetry = false
deadlock = true
tier = "quick"
idle = []
vacuous = []
[constants]
size = 2
[expect]
verdict = "holds"
depth = 3
[limits]
states = 100
seconds = 1.5
memory = "2G"
[fairness]
fill = { strong = true, each = [] }
drain = "weak"
[[flawed]]
class = "flawed:Leaks"
property = "gets_full"
constants = { size = 1 }
[[prove]]
method = "induction"
depth = 3
[mutation]
own = true
[[mutation.survivors]]
reason = "why"
changes = ["x"]
"""
PLAN = (
    '{"version":1,"partitions":[{"topic":"foo","partition":0,"replicas":[1,2,3],"log_dirs":["any","any","any"]},'
    '{"topic":"bar","partition":1,"replicas":[2,3],"original_replicas":[1,2]}]}'
)
TRACE = """{"action": "start", "arguments": {}, "state": {"level": 0}}
{"action": "fill", "state": {"level": 1}, "skip": 1}
{"state": {"level": 2}}
"""
RESULTS = '{"results": [{"variant": null, "model": "m", "trace": [{"action": "start", "state": {"level": 0}}]}]}'
LOG = """Starting offset: 0
baseOffset: 0 lastOffset: 1 count: 2
| offset: 0 CreateTime: 1 payload: {"type":"TOPIC_RECORD","version":0,"data":{"name":"foo","topicId":"A"}}
| offset: 1 CreateTime: 1 payload: {"type":"PARTITION_RECORD","version":0,"data":{"partitionId":0,"topicId":"A",\
"replicas":[1,2],"isr":[1,2],"removingReplicas":[],"addingReplicas":[],"leader":1,"leaderEpoch":0,"partitionEpoch":0}}
| offset: 2 CreateTime: 1 payload: {"type":"PARTITION_CHANGE_RECORD","version":0,"data":{"partitionId":0,\
"topicId":"A","isr":[1]}}
"""
LOCK = """version = 1
[specs.tank]
tier = "quick"
verdict = "holds"
distinct = 4
actions = { fill = 3 }
[claims]
a = { answer = "holds" }
[mutants.tank]
sources = { model = "x" }
tried = 3
[mutants.tank.survivors]
"x" = "y"
"""
TOKENS = (
    "-1", "0", "true", "null", "NaN", "nan", "-inf", "1e999", "1" * 30, "1" * 5000, '""', '"\\u0000"', '"\\ud800"',
    "[]", "{}", "[[]]", "[[[", "}", '"', "'", "=", "\\", "\n", "\r", "\0", "\x1b[31m", "\u6c34", "\ufeff", "\U0001f4a7",
    "[flawed]", "[[expect]]", "a.b.c = 1\n", "deadlock", "../..", "/", "1979-05-27", "tank", "Tank", "level", "..",
)  # fmt: skip

PLANNING = ("plan", "p.json", "--current", "c.json", "--design", "kip236")
CHECKING = ("check", "--engine", "reference")
INPUTS: dict[str, tuple[str, str, tuple[tuple[str, ...], ...]]] = {
    "spec": (SPEC, "specs/tank.toml", (("list",), ("show", "tank"), CHECKING)),
    "plan": (PLAN, "p.json", (PLANNING,)),
    "current": (PLAN, "c.json", (PLANNING,)),
    "trace": (TRACE, "t.jsonl", (("conform", "tank", "--trace", "t.jsonl"),)),
    "results": (RESULTS, "r.json", (("conform", "tank", "--trace", "r.json"), ("report", "r.json", "--as", "html"))),
    "log": (LOG, "log", (("conform", "--metadata-log", "log"), ("conform", "--strict", "--metadata-log", "log"))),
    "lock": (LOCK, "specs/floodmark.lock", (("gate",),)),
    "model": (TANK, "model/{}.py", (("show", "tank"), CHECKING)),
}
"""Kinds of inputs: a valid one, where it lies, and the commands that read it."""
ROUNDS = {"lock": 3, "spec": 9, "model": 6}
OPTIONS = (
    "--max-states", "--max-seconds", "--max-memory", "--workers", "--set", "--only-variant", "--invariants", "--tier",
    "--engine", "--spark", "--property", "--json", "--as", "--into", "--hidden", "--depth", "--states",
)  # fmt: skip


def spoilt(text: str, chance: random.Random) -> bytes:
    """A text with a few places cut, repeated, swapped, or replaced by a token."""
    for _ in range(chance.randint(1, 3)):
        start, stop = sorted(chance.randint(0, len(text)) for _ in range(2))
        match chance.randint(0, 6):
            case 0:
                text = text[:start]
            case 1:
                text = text[:start] + text[stop:]
            case 2:
                text = text[:stop] + text[start:]
            case 3:
                lines = text.splitlines(keepends=True)
                chance.shuffle(lines)
                text = "".join(lines)
            case 4:
                text = text[:start] + chance.choice(TOKENS) + text[start:]
            case _:
                words = re.findall(r"\w+|\W", text) or [""]
                words[chance.randrange(len(words))] = chance.choice(TOKENS)
                text = "".join(words)
    content = text.encode("utf-8", "surrogatepass")
    return content if chance.random() < 0.95 else content.replace(b"a", b"\xff", 1)


def sound(code: int, text: str) -> bool:
    """Whether an end is one of the table's, except an internal error, and is told."""
    documented = code in MEANINGS and code != ExitCode.INTERNAL_ERROR
    return documented and "Traceback" not in text and (code == 0 or text != "")


def seeds(few: int, many: int) -> list[object]:
    return [pytest.param(seed, marks=() if seed < few else pytest.mark.slow) for seed in range(many)]


@pytest.mark.parametrize("seed", seeds(1, 12))
@pytest.mark.parametrize("kind", INPUTS)
def test_spoilt_inputs_are_errors_and_never_crashes(run: Run, kind: str, seed: int) -> None:
    text, name, commands = INPUTS[kind]
    chance = random.Random(f"{kind} {seed}")
    for other in ("p.json", "c.json"):
        put(other, PLAN)(Path())
    for number in range(ROUNDS.get(kind, 40)):
        content = spoilt(text, chance)
        command = commands[number % len(commands)]
        if kind == "model":  # one that this process has not loaded
            put("specs/tank.toml", f'model = "model.tank{number}:Tank"\n')(Path())
        code, said = run(*command, lay=put(name.format(f"tank{number}"), content))
        assert sound(code, said), (command, content, code, said)


@pytest.mark.parametrize("seed", seeds(1, 12))
def test_strange_options_are_errors_and_never_crashes(run: Run, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(25):
        values = [*TOKENS[:12], "a" * 300, "size=" + chance.choice(TOKENS), "1.5", "/dev/null", "no/such", "-", "specs"]
        arguments = [chance.choice(("check", "list", "show", "mutate", "export", "prove", "conform", "plan"))]
        for option in chance.sample(OPTIONS, chance.randint(1, 2)):
            arguments += [option, chance.choice(values).replace("\0", "")]
        code, said = run(*arguments, "tank")
        assert sound(code, said), (arguments, code, said)
