"""Tests docs/findings.md: each entry names things that exist, and each counterexample is the output of a run."""

from __future__ import annotations

import gc
import re
from pathlib import Path

import pytest

from docs.tools.findings import PAGE, ROOT, Finding, Shown, blocks, counterexample, findings, page
from floodmark.checkers.verdict.check import Check
from floodmark.language.errors import SourceError

ENTRIES = findings()
BAD = [reference for entry in ENTRIES for reference in entry.bad]
GOOD = sorted({reference for entry in ENTRIES for reference in entry.good})


def expects_to_fail(check: Check) -> bool:
    return check.wanted_property is not None and check.wanted_depth is not None


def test_the_page_is_made_of_the_entries() -> None:
    """Whatever is not a counterexample is as the entries have it."""
    written = PAGE.read_text(encoding="utf-8")
    assert page(ENTRIES, blocks(written)) == written


def test_no_counterexample_is_shown_twice() -> None:
    assert len(set(BAD)) == len(BAD)


@pytest.mark.parametrize("reference", [each for each in BAD if not Shown.of(each).is_claim])
def test_a_counterexample_has_the_property_and_the_depth_of_its_spec(reference: str) -> None:
    check = Shown.of(reference).check()
    assert expects_to_fail(check)
    name = check.spec.model.rpartition(":")[2] if check.flawed is None else check.flawed.name
    said = blocks(PAGE.read_text(encoding="utf-8"))[reference]
    violated = rf"{name} violates {check.wanted_property} \([\w/.]+:\d+\)"
    at_the_end = re.fullmatch(rf"{violated} after {check.wanted_depth} steps?", said[0])
    for_ever = re.fullmatch(rf"{violated}(?: for [\w=, ]+)?: (.+)", said[0])
    assert at_the_end or for_ever
    if for_ever and len(said) > 2:
        assert f"after step {check.wanted_depth}: {for_ever[1]}" in said


@pytest.mark.parametrize("reference", [each for each in [*BAD, *GOOD] if Shown.of(each).is_claim])
def test_claims_are_expected_to_hold_or_to_fail(reference: str) -> None:
    assert Shown.of(reference).claim().expectation.holds == (reference in GOOD)


@pytest.mark.parametrize("reference", [each for each in GOOD if not Shown.of(each).is_claim])
def test_what_shows_the_repair_holds(reference: str) -> None:
    check = Shown.of(reference).check()
    assert check.flawed is None
    assert check.spec.expect.verdict == "holds"


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.title for entry in ENTRIES])
def test_rules_that_a_repair_names_are_there(entry: Finding) -> None:
    """A repair names rules as ``rule``; they are in the model of a spec that holds, or in a module of its bases."""
    models = [Shown.of(each).check().cls() for each in entry.good if not Shown.of(each).is_claim]
    modules = {base.__module__ for model in models for base in model.__mro__}
    known = {name for model in models for name in dir(model)} | {model.__name__ for model in models}
    for name in re.findall(r"`(\w+)`", entry.repair):
        assert name in known or name == "top", f"{name} is in none of {sorted(modules)}"
    for file in re.findall(r"model/[\w/]+\.py", entry.repair):
        assert (ROOT / file).is_file()


def test_a_run_that_does_not_fail_is_no_counterexample() -> None:
    with pytest.raises(SourceError, match="does not fail as it should"):
        counterexample("specs/examples/two_phase_commit.toml")


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no variant 'Nothing'"):
        Shown.of("specs/alter_isr/core.toml:Nothing").check()
    (tmp_path / "findings.toml").write_text('[[finding]]\ntitle = "t"\n', encoding="utf-8")
    with pytest.raises(SourceError, match="t has no source"):
        findings(tmp_path / "findings.toml")


def run_of(lines: list[str]) -> list[str]:
    """The verdict and the steps, or the case that refutes a claim; not the words around them, nor lines of code."""
    steps = [line for line in lines if re.match(r"\d+  |after step |  smallest case: |  there: ", line)]
    return [re.sub(r"\.py:\d+", "", line) for line in (lines[0], *steps)]


@pytest.mark.slow
@pytest.mark.parametrize("reference", BAD)
def test_a_run_says_what_the_page_shows(reference: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, ``python -m docs.tools.findings`` writes the page anew."""
    monkeypatch.chdir(ROOT)
    shown = run_of(blocks(PAGE.read_text(encoding="utf-8"))[reference])
    said = run_of(counterexample(reference))
    assert shown == (said if len(shown) > 1 else said[:1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("finding = 1\n", r"write each finding in a table of its own: \[\[finding\]\]"),
        ("", "write each finding in a table of its own"),
        ("finding = [" + "[" * 100_000, "nested too deeply"),
        ("\ufeff", "begins with a byte order mark"),
    ],
)
def test_a_file_that_is_no_list_of_findings(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "findings.toml").write_text(text, encoding="utf-8")
    gc.collect()  # else what other tests have left is collected where there is no room for a call
    with pytest.raises(SourceError, match=message):
        findings(tmp_path / "findings.toml")
