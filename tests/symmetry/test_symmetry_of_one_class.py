"""Symmetry for some classes of identifiers: ``symmetry = ["Server"]``, where the model favours those of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark import (
    Constant,
    Identifier,
    Map,
    Model,
    ModelError,
    Set,
    action,
    initial,
    invariant,
    require,
)
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.spec import read
from floodmark.checkers.reference import search
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Options
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.language.errors import SourceError
from tests.support.engines import properties_of
from tests.support.projects import write
from tests.support.symmetric_agreement import look


class Server(Identifier, count="servers", prefix="s"):
    """One of the servers, which are all alike."""


class Client(Identifier, count="clients", prefix="c"):
    """One of the clients, of which the first may do more."""


class Favoured(Model):
    """The first client alone may ask; servers answer whoever is lowest."""

    servers = Constant(3)
    clients = Constant(2)
    asked: Map[Client, Set[Server]]
    served: Map[Server, Client | None]

    @initial
    def start(self) -> None:
        self.asked = Map({client: Set() for client in Client})
        self.served = Map({server: None for server in Server})

    @action
    def asks(self, client: Client, server: Server) -> None:
        require(server not in self.asked[client])
        require(client == Client(1) or server in self.asked[Client(1)])
        self.asked[client].add(server)

    @action
    def answers(self, server: Server) -> None:
        require(self.served[server] is None)
        for client in Client:
            if server in self.asked[client]:
                self.served[server] = client

    @invariant
    def served_who_asked(self) -> bool:
        return all(server in self.asked[client] for server in Server for client in Client
                   if self.served[server] == client)


class FavoursBoth(Favoured):
    """The first server is special as well."""

    @action
    def forgets(self) -> None:
        self.served[Server(1)] = None


class Forgives(Model):
    """An action names a client, and asks servers in an order that nobody sees, which takes z3 to find out."""

    servers = Constant(2)
    clients = Constant(2)
    served: Map[Server, Client | None]

    @initial
    def start(self) -> None:
        self.served = Map({server: None for server in Server})

    @action
    def serves(self, server: Server, client: Client) -> None:
        self.served[server] = client

    @action
    def forgets(self) -> None:
        found = False
        for server in Server:
            found = True if self.served[server] == Client(1) else found
        require(found)
        self.served = Map({server: None for server in Server})


def test_a_proof_for_one_class_is_none_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path))
    search_states(Forgives(), [], Options(workers=1, symmetry=("Server",)))
    assert list((tmp_path / "symmetry").iterdir())
    with pytest.raises(ModelError, match=r"Client\(1\) is named"):
        search_states(Forgives(), [], Options(workers=1, symmetry=True))


def test_a_search_symmetric_in_one_class_counts_its_orbits() -> None:
    properties = properties_of(Favoured)
    assert look(Favoured(servers=2), properties, ("Server",)) == "symmetric: holds"
    assert look(Favoured(), properties, ("Client",)) == look(Favoured(), properties) == "refused"
    found = [engine(Favoured(), properties, Options(workers=1, symmetry=symmetry)).distinct
             for engine in (search.search_states, search_states) for symmetry in (False, ("Server",))]
    assert found[:2] == found[2:]
    assert found[1] < found[0]


def test_the_message_names_the_classes_that_are_alike() -> None:
    with pytest.raises(ModelError, match=r'use symmetry = false, or symmetry = \["Server"\], or replace the name'):
        search_states(Favoured(), properties_of(Favoured), Options(workers=1, symmetry=True))
    with pytest.raises(ModelError, match=r"use symmetry = false, or replace the name"):
        search_states(FavoursBoth(), properties_of(FavoursBoth), Options(workers=1, symmetry=True))


def test_proving_one_class_symmetric_does_not_hide_its_bias() -> None:
    for engine in (search.search_states, search_states):
        with pytest.raises(ModelError, match=r"Server\(1\)|s1 is named"):
            engine(FavoursBoth(), properties_of(FavoursBoth), Options(workers=1, symmetry=("Server",)))


def test_a_spec_names_classes(tmp_path: Path) -> None:
    model = Path(__file__).read_text(encoding="utf-8").partition("def test_")[0]
    foreign = ("from tests", "from floodmark.checkers")
    model = "\n".join(line for line in model.splitlines() if not line.startswith(foreign))
    write(tmp_path, {
        "specs/one.toml": 'model = "model.one:Favoured"\nsymmetry = ["Server"]\n[expect]\ndistinct = 1\n',
        "specs/none.toml": 'model = "model.one:Favoured"\n\nsymmetry = ["Sever"]\n',
        "specs/empty.toml": 'model = "model.one:Favoured"\nsymmetry = []\n',
        "model/one.py": model,
    })
    [check] = checks(read(tmp_path / "specs/one.toml"), CheckSettings(engine="native", workers=1))
    result = run_check(check)
    assert (result.verdict, result.symmetry, result.expected) == ("holds", ("Server",), False)
    [check] = checks(read(tmp_path / "specs/one.toml"), CheckSettings(engine="native", workers=1, symmetry=True))
    assert check.symmetry == ("Server",)
    [check] = checks(read(tmp_path / "specs/none.toml"), CheckSettings())
    with pytest.raises(SourceError, match="holds identifiers of a class 'Sever'; did you mean 'Server'") as caught:
        check.model()
    assert caught.value.line == 3
    with pytest.raises(SourceError, match="symmetry must be true, false or a list of names"):
        read(tmp_path / "specs/empty.toml")
