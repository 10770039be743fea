"""A repository of a team that has its own ``model/``, ``invariants/``, ``checkers/`` and ``specs/`` packages."""

from __future__ import annotations

from pathlib import Path

from tests.support.projects import write

LEASE = '''
from floodmark import Constant, Map, Model, action, initial, invariant, require, rule
from model.clients import Client, Time


class Lease(Model):
    """One lease at a time: the server counts its rest, and every client what it believes is left."""

    clients = Constant(2)
    duration = Constant(2)
    granted: Time = 0
    believed: Map[Client, Time]

    @initial
    def start(self) -> None:
        self.believed = Map({client: 0 for client in Client})

    @rule
    def is_free(self) -> bool:
        return self.granted == 0

    @action
    def server_grants(self, client: Client) -> None:
        require(self.is_free())
        self.granted = self.duration
        self.believed[client] = self.duration

    @action
    def time_passes(self) -> None:
        require(self.granted > 0)
        self.granted -= 1
        self.believed = Map({client: max(0, self.believed[client] - 1) for client in Client})

    @invariant
    def one_holder(self) -> bool:
        return sum(1 for client in Client if self.believed[client] > 0) <= 1
'''
CLIENTS = '''
from typing import Annotated

from floodmark import Between, Identifier

Time = Annotated[int, Between(0, "duration")]


class Client(Identifier, count="clients", prefix="c"):
    """Someone who wants the lease."""
'''
INVARIANTS = '''
from checkers.limits import within
from floodmark import invariant
from model.lease import Lease


@invariant
def beliefs_end_with_the_lease(lease: Lease) -> bool:
    """No client believes longer than the server does."""
    return all(within(left, lease.granted) for left in lease.believed.values())
'''
LIMITS = '''
def within(number: int, limit: int) -> bool:
    return number <= limit
'''
FLAWED = '''
from model.lease import Lease


class GrantsAtOnce(Lease):
    """The server does not wait."""

    def is_free(self) -> bool:
        return True
'''
SPEC = '''
model = "model.lease:Lease"

[expect]
distinct = 5

[[flawed]]
class = "flawed:GrantsAtOnce"
property = "one_holder"

[[prove]]
'''
SHIPPED_MODEL = '''
model = "model.alter_isr.core:AlterIsr"
invariants = ["isr_holds_committed"]
idle = ["controller_fences_last_replica"]

[constants]
max_offset = 1
max_partition_epoch = 1
'''
CLAIM = '''
from floodmark import require
from floodmark.claims import holds


@holds("the lease, section 1")
def time_grows(now: int, later: int) -> bool:
    require(later > 0)
    return now + later > now
'''
SCRIPT = '''
import sys

from checkers.limits import within
from floodmark import Model
from floodmark.checkers.search_result import Options
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import collect
from floodmark.conformance import model_of
from invariants.lease import beliefs_end_with_the_lease
from model.lease import Lease

import invariants.lease

subject = Lease(clients=3)
found = search_states(subject, list(collect(Lease, [invariants.lease]).values()), Options(workers=1))
assert issubclass(Lease, Model) and within(1, 2), sys.path
assert isinstance(model_of("specs/lease.toml"), Lease), "two copies of Lease"
assert isinstance(model_of("specs/lease.toml", "GrantsAtOnce"), Lease), "two copies of Lease"
print(found.distinct, len(found.violations), beliefs_end_with_the_lease.__name__)
'''
TEST = '''
import checkers.limits
from floodmark.conformance import Adapter, model_of, observable, state_machine
from invariants.lease import beliefs_end_with_the_lease
from model.clients import Client
from model.lease import Lease


class Server:
    """Stands for the real one."""

    def __init__(self, duration: int) -> None:
        self.duration, self.rest = duration, 0


class ServerAdapter(Adapter):
    def __init__(self, start: Lease) -> None:
        self.server = Server(start.duration)

    def server_grants(self, client: Client) -> None:
        self.server.rest = self.server.duration

    def time_passes(self) -> None:
        self.server.rest -= 1

    @observable
    def granted(self) -> int:
        return self.server.rest


TestServer = state_machine(model_of("specs/lease.toml"), ServerAdapter).TestCase


def test_one_class() -> None:
    assert type(model_of("specs/lease.toml")) is Lease
    assert isinstance(model_of("specs/lease.toml", "GrantsAtOnce"), Lease)
    assert checkers.limits.within(1, 1)
    assert beliefs_end_with_the_lease.__globals__["Lease"] is Lease
'''


SETTINGS = """
[project]
name = "team"
version = "1"

[tool.mypy]
strict = true
explicit_package_bases = true
files = ["model", "invariants", "checkers", "specs"]

[tool.basedpyright]
typeCheckingMode = "strict"
include = ["model", "invariants", "checkers", "specs"]
"""
PLAN = """
{"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [%s]}]}
"""


def team(root: Path, packages: bool) -> Path:
    """Writes the repository; ``packages`` is whether its folders have an ``__init__.py`` each."""
    files = {
        "pyproject.toml": SETTINGS,
        "plan.json": PLAN % "1, 2, 4",
        "current.json": PLAN % "1, 2, 3",
        "model/lease.py": LEASE,
        "model/clients.py": CLIENTS,
        "invariants/lease.py": INVARIANTS,
        "checkers/limits.py": LIMITS,
        "specs/lease.toml": SPEC,
        "specs/flawed.py": FLAWED,
        "specs/isr.toml": SHIPPED_MODEL,
        "specs/claims/arithmetic.py": CLAIM,
        "tests/test_lease.py": TEST,
        "explore.py": SCRIPT,
        "scripts/explore.py": SCRIPT,
    }
    if packages:
        folders = ("model", "invariants", "checkers", "specs", "tests")
        files |= {f"{folder}/__init__.py": f'"""The {folder} of the team."""\n' for folder in folders}
    return write(root, files)
