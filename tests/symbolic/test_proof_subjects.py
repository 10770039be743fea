"""Tests what a proof is about: names that exist and are unambiguous, and never nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.gate.job import ProofJob, is_final
from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import read
from floodmark.checkers.report.verdict_summary import proof_case
from floodmark.checkers.symbolic.methods.lemmas import lemmas_of
from floodmark.checkers.symbolic.prove import prove_listed
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.verdict.gate_outcome import GateOutcome
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError
from tests.support.projects import write

METHODS = ["induction", "bmc", "k-induction", "infer"]
COUNTER = """
from typing import Annotated

from floodmark import Between, Model, action, invariant, reachable, require


class Bare(Model):
    x: Annotated[int, Between(0, 9)] = 0

    @action
    def up(self) -> None:
        require(self.x < 9)
        self.x += 1


class Counter(Bare):
    @invariant
    def small(self) -> bool:
        return self.x < 5

    @reachable
    def ends(self) -> bool:
        return self.x == 9
"""
FLAWED = """
from model.counter import Counter


class Faster(Counter):
    def up(self) -> None:
        self.x += 2
"""
SPEC = 'model = "model.counter:Counter"\n'
LISTED = SPEC + "[[prove]]\nmethod = {!r}\nproperties = [{!r}]\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    flawed = '[[flawed]]\nclass = "flawed:Faster"\nproperty = "small"\n'
    return write(tmp_path, {"model/counter.py": COUNTER, "specs/flawed.py": FLAWED, "specs/counter.toml": SPEC + flawed,
                            "specs/bare.toml": 'model = "model.counter:Bare"\n[[prove]]\nmethod = "induction"\n'})


def prove(*arguments: str, spec: str = "specs/counter.toml") -> tuple[int, str]:
    result = CliRunner().invoke(command, ["prove", spec, *arguments], standalone_mode=False)
    if isinstance(result.exception, SourceError):
        raise result.exception
    assert result.exception is None, result.output
    return result.return_value, result.output


# Names that nothing has.


@pytest.mark.slow
@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("variant", ["Counter", "Faster"])
def test_an_unknown_property_is_an_error(method: str, variant: str) -> None:
    with pytest.raises(SourceError, match=r"there is no property 'smal'; did you mean 'small'\?"):
        prove("--method", method, "--only-variant", variant, "--property", "smal", "--property", "small")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("method", METHODS)
def test_a_reachability_property_is_nothing_to_prove(method: str) -> None:
    with pytest.raises(SourceError, match="ends says that a state can be reached"):
        prove("--method", method, "--property", "ends")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["smal", "ends"])
def test_a_table_of_an_unknown_property_is_an_error_at_its_line(project: Path, method: str, name: str) -> None:
    spec = read(write(project, {"specs/listed.toml": LISTED.format(method, name)}) / "specs" / "listed.toml")
    with pytest.raises(SourceError, match=name) as caught:
        prove_listed(spec, spec.prove[0])
    assert caught.value.line == 2


def test_a_known_bad_design_may_be_asked_about_any_property(project: Path) -> None:
    flawed = '[[flawed]]\nclass = "flawed:Faster"\nproperty = "small"\n'
    write(project, {"model/counter.py": COUNTER + "\n    @invariant\n    def even(self) -> bool:\n"
                                                  "        return self.x != 3\n", "specs/counter.toml": SPEC + flawed})
    code, text = prove("--method", "bmc", "--only-variant", "Faster", "--property", "even", "--depth", "4")
    assert code == 3
    assert "no violation within 4 states" in text


@pytest.mark.usefixtures("project")
def test_an_unknown_variant_is_an_error() -> None:
    with pytest.raises(SourceError, match=r"no spec has a variant 'Fastr'; did you mean 'Faster'\?"):
        prove("--only-variant", "Fastr")


def test_options_that_nothing_answers_to_are_errors(project: Path) -> None:
    write(project, {"other.py": "from floodmark import Model, action, invariant\n\n\nclass Other(Model):\n"
                                "    x: bool = False\n\n    @action\n    def go(self) -> None:\n        self.x = True\n"
                                "\n\n@invariant\ndef fine(model: Other) -> bool:\n    return True\n",
                    "specs/claims/mine.py": CLAIMS})
    with pytest.raises(SourceError, match="no property in this file is about Counter"):
        prove("--invariants", "other.py")
    with pytest.raises(SourceError, match="no spec has a property 'small' to prove"):
        prove("--property", "small", spec="specs/claims/mine.py")


CLAIMS = """
from floodmark.claims import holds


@holds("nowhere")
def numbers_are_themselves(number: int) -> bool:
    return number == number
"""


# Nothing.


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("method", METHODS)
def test_a_proof_of_nothing_holds_nowhere(method: str) -> None:
    code, text = prove("--method", method, spec="specs/bare.toml")
    assert code == ExitCode.NOTHING_CHECKED
    assert "undetermined  bare" in text
    assert "nothing was checked: there is no invariant and no transition property of Bare" in text


@pytest.mark.parametrize("options", [(), ("--method", "bmc")])
def test_the_file_of_a_model_is_asked_as_it_is_checked(project: Path, options: tuple[str, ...]) -> None:
    """A Python file without claims is that of a model, and one without a model is an error."""
    alone = COUNTER.replace("class Bare(Model):", "class Counter(Model):").replace("class Counter(Bare):\n", "")
    write(project, {"alone.py": alone, "nothing.py": "x = 1\n"})
    code, text = prove(*options, spec="alone.py")
    assert code == ExitCode.NOT_AS_EXPECTED
    assert "violated      alone" in text
    with pytest.raises(SourceError, match="has no model with an action"):
        prove(*options, spec="nothing.py")


def test_a_listed_proof_of_nothing_is_no_green_gate(project: Path) -> None:
    spec = read(project / "specs" / "bare.toml")
    proved, _ = ProofJob("bare induction", spec, spec.prove[0]).run()
    assert proved.exit_code == ExitCode.NOTHING_CHECKED
    assert not is_final(proved)
    outcome = GateOutcome([], [proved], [], "quick", 0.0, "", project / "lock")  # type: ignore[list-item]
    assert outcome.exit_code == ExitCode.NOTHING_CHECKED
    assert proof_case(proved).status == "error"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('method = "induction"\nproperties = []', "name the properties to be proved"),
        ('method = "bmc"\ndepth = 0', "at least 1"),
        ('method = "induction"\ndepth = 5', "depth needs"),
        ('method = "infer"\nexpect = "bounded"', 'needs method = "bmc"'),
        ('method = "bmc"\nexpect = "undetermined"', "must be one of holds, bounded"),
    ],
)
def test_a_table_that_could_mean_nothing_is_refused(project: Path, table: str, said: str) -> None:
    path = write(project, {"specs/wrong.toml": f"{SPEC}[[prove]]\n{table}\n"}) / "specs" / "wrong.toml"
    with pytest.raises(SourceError, match=said) as caught:
        read(path)
    assert caught.value.line == 4


# One name, one thing.

LEMMAS = """
from model.counter import Counter
from floodmark import lemma


@lemma
def {}(model: Counter) -> bool:
    return True
"""


@pytest.mark.parametrize(("name", "line", "what"), [("small", 17, "invariant"), ("ends", 21, "reachable"),
                                                    ("up", 10, "action")])
def test_a_lemma_replaces_nothing(project: Path, name: str, line: int, what: str) -> None:
    write(project, {"invariants/counter_lemmas.py": LEMMAS.format(name)})
    with pytest.raises(SourceError, match=rf"a lemma needs a name of its own; '{name}' is already the name of the "
                                          rf"@{what} at .*counter.py:{line}") as caught:
        prove("--method", "induction")
    assert (Path(caught.value.file or "").name, caught.value.line) == ("counter_lemmas.py", 6)


def test_lemmas_have_different_names(project: Path) -> None:
    write(project, {"invariants/counter_lemmas.py": LEMMAS.format("fine"), "more.py": LEMMAS.format("fine")})
    spec = read(project / "specs" / "counter.toml")
    assert [lemma.name for lemma in lemmas_of(spec, spec.model_class())] == ["fine"]
    with pytest.raises(SourceError, match=r"'fine' is already the name of the @lemma at .*counter_lemmas.py:6"):
        lemmas_of(spec, spec.model_class(), (project / "more.py",))


def test_two_things_of_one_name_make_no_system(project: Path) -> None:
    """Whoever puts them together: the second would be proved in the place of the first."""
    spec = read(project / "specs" / "counter.toml")
    cls = spec.model_class()
    small = spec.properties(cls)["small"]
    other = Property("small", "invariant", spec.properties(cls)["ends"].function, "elsewhere.py", 1, "")
    with pytest.raises(SourceError, match="property 'small' is already defined"):
        system_of(cls(), [small, other])
