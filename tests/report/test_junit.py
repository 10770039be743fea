"""Tests JUnit XML: every outcome is there, with its meaning for CI servers."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from floodmark.checkers.report.junit import junit
from floodmark.checkers.report.verdict_summary import SummaryLine, cases, proof_case
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import CheckSettings
from floodmark.checkers.verdict.gate_outcome import Drift
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import ExitCode
from tests.support.outcomes import check, inside, tank, tank_cases


def parsed(every: list[SummaryLine]) -> ElementTree.Element:
    return ElementTree.fromstring(junit(every).encode())


COUNTS = {"tests", "failures", "errors"}
ATTRIBUTES = {  # of an element: those that it must have, and those that it may have
    "testsuites": (set(), {"name", "time", *COUNTS}),
    "testsuite": ({"name", *COUNTS}, {
        "group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url",
    }),
    "testcase": ({"name"}, {"time", "classname", "group"}),
    "failure": (set(), {"type", "message"}),
    "error": (set(), {"type", "message"}),
}  # fmt: skip
CHILDREN = {"testsuites": {"testsuite"}, "testsuite": {"testcase"}, "testcase": {"failure", "error"}}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")


def breaches(element: ElementTree.Element) -> list[str]:
    """What the rules of Jenkins's schema for the elements that are written do not allow."""
    needed, allowed = ATTRIBUTES[element.tag]
    found = [f"{element.tag} without {name}" for name in needed - set(element.keys())]
    found += [f"{element.tag} with {name}" for name in sorted(set(element.keys()) - needed - allowed)]
    if element.tag in ("testsuites", "testsuite") and not TIME.fullmatch(element.get("time", "")):
        found.append(f"{element.tag} of {element.get('time')} seconds")
    if element.tag in CHILDREN and (element.text or "").strip():
        found.append(f"{element.tag} with text")
    for child in element:
        inner = child.tag in CHILDREN.get(element.tag, set())
        found += breaches(child) if inner else [f"{child.tag} in {element.tag}"]
        found += [f"text after {child.tag}"] if (child.tail or "").strip() else []
    return found


def test_each_check_is_a_test_case(tmp_path: Path) -> None:
    with inside(tmp_path):
        suites = parsed(tank_cases(tmp_path))
    assert suites.tag == "testsuites"
    assert [(suite.tag, suite.get("name")) for suite in suites] == [("testsuite", "tank")]
    assert [(it.get("classname"), it.get("name")) for it in suites.iter("testcase")] == [
        ("tank", "Tank"),
        ("tank", "StopsHalf"),
        ("tank", "Leaks"),
    ]


def test_a_failure_has_the_counterexample_as_it_is_printed(tmp_path: Path) -> None:
    with inside(tmp_path):
        every = tank_cases(tmp_path)
        failed, *good = parsed(every).iter("testcase")
    failure = failed.find("failure")
    assert failure is not None
    assert failure.get("type") == "never_two"
    assert failure.text == f"invariants/tank.py:8\n{every[0].detail}"
    assert "2  fill()\n     level: 0 -> 1\n" in failure.text
    assert "reproduce: floodmark check specs/tank.toml --only-variant Tank" in failure.text
    assert [list(case) for case in good] == [[], []]


def test_it_is_what_the_schema_of_jenkins_allows(tmp_path: Path) -> None:
    with inside(tmp_path):
        every = tank_cases(tmp_path)
        limited = check(tmp_path / "specs/tank.toml", CheckSettings(workers=1, limits=Limits(states=1)))
        drift = Drift("tank", "distinct", "4", "1", "the state space shrank", "specs/tank.toml", 1)
        code = ExitCode.NOT_AS_EXPECTED
        proved = ProofResult("kip.c", "claim", "violated", code, "false", 12345.5, "specs/kip.py", 7)
        every += cases(limited, [proved], [drift])
    assert {case.status for case in every} == {"passed", "failed", "error"}
    suites = parsed(every)
    assert breaches(suites) == []
    (case,) = ElementTree.fromstring('<testcase name="it" file="specs/tank.toml" line="1" />').iter()
    assert breaches(case) == ["testcase with file", "testcase with line"]
    places = [(failure.text or "").partition("\n")[0] for failure in suites.iter("failure")]
    assert sorted(places) == ["invariants/tank.py:8", "specs/kip.py:7", "specs/tank.toml:1"]


def test_undetermined_is_an_error_and_never_skipped(tmp_path: Path) -> None:
    with inside(tmp_path):
        spec = tank(tmp_path, "") / "specs/tank.toml"
        suites = parsed(cases(check(spec, CheckSettings(workers=1, limits=Limits(states=1)))))
    (case,) = suites.iter("testcase")
    assert [child.tag for child in case] == ["error"]
    assert (suites.get("errors"), suites.get("failures")) == ("1", "0")
    assert {suite.get("skipped") for suite in suites} == {"0"}


def test_the_counts_are_those_of_the_cases(tmp_path: Path) -> None:
    with inside(tmp_path):
        spec = tank(tmp_path) / "specs/tank.toml"
        every = [*tank_cases(tmp_path), *cases(check(spec, CheckSettings(workers=1, limits=Limits(states=0))))]
        suites = parsed(every)
    for element in (suites, *suites):
        assert int(element.get("tests", "")) == len(list(element.iter("testcase"))) == len(every)
        assert int(element.get("failures", "")) == len(list(element.iter("failure"))) >= 1
        assert int(element.get("errors", "")) == len(list(element.iter("error"))) >= 1


def test_a_claim_is_a_test_case_too(tmp_path: Path) -> None:
    proved = ProofResult(
        "kip.c", "claim", "violated", ExitCode.NOT_AS_EXPECTED, "false", 0.5, "specs/claims/kip.py", 7,
        lines=["smallest case: x = 1"],
    )
    with inside(tmp_path):
        (case,) = parsed([proof_case(proved)]).iter("testcase")
    assert case.get("name") == "kip.c"
    assert (case[0].text or "").startswith("specs/claims/kip.py:7\n")
    assert "smallest case: x = 1" in (case.findtext("failure") or "")


def test_text_that_xml_cannot_have_does_not_break_the_file(tmp_path: Path) -> None:
    with inside(tmp_path):
        case = replace(tank_cases(tmp_path)[0], detail="a\x1b[1m\x00<b>&]]>", text="\x07")
        failure = next(parsed([case]).iter("failure"))
    assert failure.text == "invariants/tank.py:8\na\N{REPLACEMENT CHARACTER}[1m\N{REPLACEMENT CHARACTER}<b>&]]>"
