"""floodmark diff: the edits that people make, and what is said of each."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.command import REPOSITORY, Ended, floodmark
from tests.support.repositories import LEASE, Repository

GUARD = "return self.granted == 0"
BOUNDARY = """    @boundary
    def small(self) -> bool:
        return self.granted < 2


class GrantsEarly"""


@pytest.fixture
def lease(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def diff(lease: Repository, *words: str) -> Ended:
    return floodmark("diff", "main", *words, "--", "specs/lease.toml", at=lease.root)


def model_entry(lease: Repository) -> dict[str, object]:
    found = json.loads(diff(lease, "--json", "-").out)["specs"][0]
    assert isinstance(found["model"], dict)
    return found["model"]


@pytest.mark.parametrize(
    ("old", "new", "said", "code"),
    [
        (GUARD, "return self.granted <= 1", "the edit allows, in 4 steps: server_grants(client=c1)", 1),
        (GUARD, "return self.granted == 1", "the edit forbids, in 2 steps: server_grants(client=c1)", 1),
        ("granted - 1)", "granted - 2)", "the edit allows, in 3 steps: time_passes(): granted: 2 -> 0", 1),
        ("granted: Time = 0", "granted: Time = 1", "the edit allows, in 1 step: beginning with start()", 1),
        ("time_passes", "a_tick", "the same behaviours: no step, guard or initial state differs", 0),
        ("granted: Time", 'granted: Annotated[int, Between(-1, "duration")]', "the same behaviours: ", 0),
        ("granted", "lent", "the same behaviours: both versions took the same steps in all 7 states", 0),
        ("self.granted = self.duration\n", "self.granted = self.duration\n        require(client == Client(1))\n",
         "the edit forbids, in 2 steps: server_grants(client=c2)", 1),
        ("class GrantsEarly", BOUNDARY, "the edit forbids, in 3 steps: time_passes()", 1),
    ],
    ids=["weaker", "flipped", "effect", "initial", "action name", "wider", "variable name", "guard behind", "boundary"],
)
def test_the_edits_that_people_make(lease: Repository, old: str, new: str, said: str, code: int) -> None:
    lease.edit(old, new)
    found = diff(lease)
    assert said in found.out
    assert found.code == code


def test_the_states_of_each_version_are_those_within_its_own_boundary(lease: Repository) -> None:
    lease.edit("class GrantsEarly", BOUNDARY)
    model = model_entry(lease)
    assert (model["added"], model["removed"]) == ("none", "some")
    assert model["states"] == {"common": 4, "old": 7, "new": 1}


def test_a_state_in_which_the_old_version_ends_its_runs_is_not_new(lease: Repository) -> None:
    lease.edit("class GrantsEarly", BOUNDARY)
    lease.commit("second")
    lease.edit(BOUNDARY, "class GrantsEarly")
    found = diff(lease)
    assert "the edit allows, in 3 steps: time_passes()" in found.out
    assert "added: a run of 2 steps" not in found.out
    assert "main ends its runs there: the state is outside of its boundary small" in found.out


def test_a_run_says_where_the_old_version_differs_and_why(lease: Repository) -> None:
    lease.edit(GUARD, "return self.granted <= 1")
    found = diff(lease)
    assert "added: a run of 4 steps leads to a state that main does not reach" in found.out
    assert "4  server_grants(client=c1)  <- main differs here" in found.out
    line = 1 + LEASE[: LEASE.index("require(self.is_free())")].count("\n")
    assert f"main does not take it: it requires self.is_free() (main:specs/lease.py:{line})" in found.out
    assert "false: self.granted == 0, that is 1 == 0" in found.out
    assert "server_grants: weaker: allows more in 3 of 7 common states" in found.out
    assert "it allows nothing new" not in found.out


def test_the_guide_shows_what_the_command_prints(lease: Repository) -> None:
    lease.edit(GUARD, "return self.granted <= 1")
    guide = (REPOSITORY / "docs" / "guide" / "edits.md").read_text()
    shown = re.search(r"<!-- edits -->\n```text\n(.*?)```", guide, re.DOTALL)
    assert shown is not None and shown[1] == diff(lease).out


def test_a_new_variable_is_not_compared_and_cannot_hide_what_it_does(lease: Repository) -> None:
    lease.edit("granted: Time = 0", "granted: Time = 0\n    used: bool = False")
    lease.edit("self.granted = self.duration\n", "self.granted = self.duration\n        self.used = not self.used\n")
    found = diff(lease)
    assert found.code == 0
    assert "not compared, as only one version has it: used (new)" in found.out
    assert "every run of one version is one of the other, in the variables that both have" in found.out
    lease.edit("require(self.is_free())", "require(self.is_free() and not self.used)")
    found = diff(lease)
    assert found.code == 1
    assert "removed: a run of 5 steps takes steps that main takes, too, but never" not in found.out
    assert "takes steps that the working tree takes, too, but never one after the other like this" in found.out


def test_a_helper_that_moved_to_another_file_changes_nothing(lease: Repository) -> None:
    lease.edit(GUARD, "return nothing_left(self.granted)")
    lease.edit("\n\nTime =", "\nfrom times import nothing_left\n\nTime =")
    (lease.specs / "times.py").write_text("def nothing_left(time: int) -> bool:\n    return time == 0\n")
    found = diff(lease)
    assert found.code == 0
    assert "the same behaviours" in found.out


def test_a_comment_changes_nothing(lease: Repository) -> None:
    lease.edit("class Lease(Model):", "# A comment.\nclass Lease(Model):")
    assert diff(lease).out.startswith("lease: nothing that it rests on has changed")


def test_a_version_that_fails_is_never_the_same(lease: Repository) -> None:
    lease.edit("max(0, self.granted - 1)", "self.granted - 1")
    found = diff(lease)
    assert found.code == 3
    assert "undetermined whether it allows more than before: a model error of the new version" in found.out
    assert "the working tree fails after 1 step" in found.out


def test_what_a_limit_ends_is_undetermined(lease: Repository) -> None:
    lease.edit("require(self.is_free())", "require(self.is_free() and self.granted < 2)")
    assert diff(lease).code == 0
    found = diff(lease, "--max-states", "2")
    assert found.code == 3
    assert "undetermined" in found.out and "the same" not in found.out


def test_a_weaker_property_shows_in_the_states_of_a_known_bad_design(lease: Repository) -> None:
    lease.edit("for client in Client if model.believed[client] > 0) <= 1",
               "for client in Client if model.believed[client] > 1) <= 1")
    found = diff(lease)
    assert found.code == 1
    assert "checks less: one_holder is weaker: it allows states or steps that it forbade" in found.out.splitlines()[0]
    assert "allowed now, and not before: what GrantsEarly of the working tree does in 4 steps" in found.out


def test_a_stronger_property_checks_no_less(lease: Repository) -> None:
    lease.edit("model.believed[client] <= model.granted for", "model.believed[client] < 1 + model.granted for")
    assert "property never_longer is written otherwise, and allows the same in" in diff(lease).out
    lease.edit("model.believed[client] < 1 + model.granted for", "model.believed[client] < 2 for")
    found = diff(lease)
    assert "property never_longer is stronger" in found.out and "checks less" not in found.out


def test_a_property_that_allows_and_forbids_more_is_shown_with_both(lease: Repository) -> None:
    """Only the known-bad design has states in which its two versions differ: two clients then believe to hold it."""
    held = "sum(1 for client in Client if model.believed[client] > 0) <= 1"
    lease.edit("all(model.believed[client] <= model.granted for client in Client)",
               f"model.believed[Client(1)] < 2 or {held}")
    lease.commit("second")
    lease.edit("model.believed[Client(1)] < 2", "model.believed[Client(1)] > 1")
    said = diff(lease).out
    assert "checks less: never_longer is weaker: it allows states or steps that it forbade" in said
    assert "property never_longer is neither weaker nor stronger" in said
    assert "allowed now, and not before: what GrantsEarly of the working tree does in 4 steps" in said
    assert "no longer allowed: what GrantsEarly of the working tree does in 4 steps" in said


def test_every_property_that_is_written_otherwise_is_looked_at(lease: Repository) -> None:
    lease.edit("if model.believed[client] > 0) <= 1", "if model.believed[client] > 1) <= 1")
    lease.edit("model.believed[client] <= model.granted for", "model.believed[client] < 2 for")
    said = diff(lease).out
    assert "property one_holder is weaker" in said
    assert "property never_longer is stronger" in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("clients = 3", "clients = 1", "constant clients was 3 and is 1: a smaller bound: fewer states are checked"),
        ("[constants]", 'invariants = ["one_holder"]\n[constants]',
         "property never_longer was invariant and is -: is no longer checked"),
        ('[[flawed]]\nclass = "lease.py:GrantsEarly"\nproperty = "one_holder"\n', "",
         "known-bad design GrantsEarly was breaks one_holder and is -: is no longer checked"),
        ("[constants]", 'idle = ["time_passes"]\n[constants]', "idle was - and is time_passes: time_passes may now"),
        ("[constants]", 'tier = "deep"\n[constants]', "tier was quick and is deep: the model is no longer in the"),
    ],
)
def test_a_spec_that_checks_less_is_told_first(lease: Repository, old: str, new: str, said: str) -> None:
    lease.edit(old, new, lease.spec)
    found = diff(lease)
    assert found.out.startswith(f"lease: checks less: {said}")
    assert found.code == 1


def test_an_action_that_never_fires_any_more_is_told_first(lease: Repository) -> None:
    lease.edit(GUARD, "return self.granted == 1")
    lines = diff(lease).out.splitlines()
    assert "checks less: server_grants fired and never fires now" in lines[0]
    assert "checks less: the model reaches fewer states: 1 instead of 7" in lines[1]


def test_a_file_of_properties_that_is_gone_is_noticed(tmp_path: Path) -> None:
    """Nothing that is left rests on it."""
    lease = Repository(tmp_path / "repository", spec='model = "model.lease:Lease"\n')
    (lease.root / "model").mkdir()
    (lease.root / "invariants").mkdir()
    lease.model.rename(lease.root / "model" / "lease.py")
    more = lease.root / "invariants" / "lease.py"
    more.write_text("from floodmark import invariant\nfrom model.lease import Lease\n\n\n@invariant\n"
                    "def short(model: Lease) -> bool:\n    return model.granted < 9\n")
    lease.commit("second")
    more.unlink()
    assert "checks less: property short was invariant and is -: is no longer checked" in diff(lease).out


def test_a_guard_on_a_container_without_capacity_is_compared_at_its_width(tmp_path: Path) -> None:
    """With room for two elements, both guards would always be true."""
    text = """
from floodmark import Model, Seq, action, require

class Log(Model):
    entries: Seq[bool] = Seq()

    @action
    def append(self) -> None:
        require(len(self.entries) < 5)
        self.entries.append(True)
"""
    lease = Repository(tmp_path / "repository", text, 'model = "lease.py:Log"\n[expect]\ndistinct = 6\n')
    lease.edit("< 5", "< 6")
    found = diff(lease)
    assert "the edit allows, in 7 steps: append()" in found.out
    assert found.code == 1


def test_new_and_removed_specs_are_told(lease: Repository) -> None:
    (lease.specs / "other.toml").write_text('model = "lease.py:Lease"\n')
    found = floodmark("diff", "main", at=lease.root)
    assert "other: a new spec; there is nothing to compare it with" in found.out
    assert "1 spec changed from main to the working tree, 1 spec did not" in found.out
    lease.commit("second")
    (lease.specs / "other.toml").unlink()
    found = floodmark("diff", "main", at=lease.root)
    assert "checks less: the spec is gone" in found.out


def test_a_row_that_one_version_lacks_is_no_error_and_a_file_that_is_wrong_is_one(lease: Repository) -> None:
    file = lease.specs / "rows.toml"
    small, large = (f'[[row]]\nname = "{name}"\n[row.constants]\nclients = {clients}\n' for name, clients in
                    (("small", 1), ("large", 2)))  # fmt: skip
    file.write_text(f'model = "lease.py:Lease"\n{small}')
    lease.commit("second")
    file.write_text(f'model = "lease.py:Lease"\n{small}{large}')
    found = floodmark("diff", "main", "--", "specs/rows.toml@large", at=lease.root)
    assert "rows@large: a new spec" in found.out
    file.write_text('model = "lease.py:Lease"\nrow = []\n')
    for words in ((), ("--", "specs/rows.toml@small"), ("--", "specs/rows.toml")):
        found = floodmark("diff", "main", *words, at=lease.root)
        assert "not compared: specs/rows.toml:2: there is no row: write a table [[row]] for each" in found.out
        assert "gone" not in found.out
        assert found.code == 3


def test_two_commits_and_two_specs_are_compared(lease: Repository) -> None:
    lease.edit(GUARD, "return self.granted <= 1")
    lease.commit("second")
    between = floodmark("diff", "main~1", "main", "--", "specs/lease.toml", at=lease.root)
    assert "main~1 does not take it" in between.out
    (lease.specs / "old.py").write_text(lease.git("show", "main~1:specs/lease.py"))
    (lease.specs / "old.toml").write_text('model = "old.py:Lease"\n[constants]\nclients = 3\n')
    found = floodmark("diff", "specs/old.toml", "specs/lease.toml", at=lease.root)
    assert "the edit allows, in 4 steps: server_grants(client=c1)" in found.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing", "--", "specs/lease.toml"), "git knows no commit nothing here"),
        (("main", "--", "specs/other.toml"), "there is no spec or folder 'specs/other.toml' here"),
        (("a", "b", "c", "--", "specs/lease.toml"), "name two specs, or one or two commits"),
    ],
)
def test_what_cannot_be_compared_is_refused(lease: Repository, words: tuple[str, ...], said: str) -> None:
    found = floodmark("diff", *words, at=lease.root)
    assert said in found.err
    assert found.code == 2


def test_an_old_version_that_cannot_be_read_is_named_by_its_commit(lease: Repository) -> None:
    lease.edit("duration = Constant(2)", "duration = Constant(2)\n    broken: int = 0")
    lease.commit("second")
    lease.edit("\n    broken: int = 0", "")
    found = diff(lease)
    assert found.code == 3
    assert "not compared: main:specs/lease.py:" in found.out


def test_reports_say_the_same(lease: Repository) -> None:
    lease.edit(GUARD, "return self.granted <= 1")
    page = lease.root / "page.html"
    assert diff(lease, "--html", str(page)).code == 1
    assert "The edit allows, in 4 steps: server_grants(client=c1)" in page.read_text()
    model = model_entry(lease)
    assert model["added"] == "some" and model["removed"] == "none"
    assert model["states"] == {"common": 7, "old": 7, "new": 13}


def test_constants_are_set_in_both_versions(lease: Repository) -> None:
    lease.edit(GUARD, "return self.granted <= 1")
    lease.edit("clients = 3", "clients = 2", lease.spec)
    found = diff(lease, "--set", "clients=1")
    assert "checks less" not in found.out


TWO_KINDS = """
from floodmark import Identifier, Model, action

class Broker(Identifier, count=2, prefix="b"):
    pass

class Client(Identifier, count=2, prefix="c"):
    pass

class Pair(Model):
    broker: Broker = Broker(1)
    client: Client = Client(1)

    @action
    def moves(self, to: Broker) -> None:
        self.broker = to
"""


def test_classes_that_changed_places_are_no_new_names(tmp_path: Path) -> None:
    lease = Repository(tmp_path / "repository", TWO_KINDS, 'model = "lease.py:Pair"\n[expect]\ndistinct = 2\n')
    lease.edit("    broker: Broker = Broker(1)\n    client: Client = Client(1)\n",
               "    broker: Client = Client(1)\n    client: Broker = Broker(1)\n")
    lease.edit("to: Broker", "to: Client")
    found = diff(lease)
    assert found.code == 1
    assert "the edit allows, in 1 step: beginning with" in found.out
    assert "taken for a new name" not in found.out


def test_a_class_with_a_new_name_is_told(tmp_path: Path) -> None:
    lease = Repository(tmp_path / "repository", TWO_KINDS, 'model = "lease.py:Pair"\n[expect]\ndistinct = 2\n')
    lease.edit("Broker", "Node")
    found = diff(lease)
    assert found.code == 0
    assert "taken for a new name: Node was called Broker (class)" in found.out


def test_a_file_that_is_imported_by_a_name_put_together_is_not_overlooked(lease: Repository) -> None:
    lease.edit("\n\nTime =", '\nimport importlib\n\nlimits = importlib.import_module("lim" + "its")\n\nTime =')
    lease.edit("return self.granted == 0", "return self.granted <= limits.FREE")
    limits = lease.specs / "limits.py"
    limits.write_text("FREE = 0\n")
    lease.commit("second")
    limits.write_text("FREE = 1\n")
    assert "the edit allows, in 4 steps" in diff(lease).out
