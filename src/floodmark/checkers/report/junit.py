"""JUnit XML: a test suite for each spec or file of claims, a test case for each check and claim.

The document conforms to Jenkins's schema ``junit-10.xsd`` (pytest's family ``xunit2``), which every reader of JUnit XML
accepts; strict ones refuse anything else. The schema has no attribute for the file and the line of a test case, so the
text of a failure begins with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree

from floodmark.checkers.report.verdict_summary import SummaryLine

_ELEMENT = {"failed": "failure", "error": "error"}
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(cases: Sequence[SummaryLine]) -> str:
    """The document. An undetermined result is an error, because a skipped test could pass for a successful one."""
    counts = {name: value for name, value in _counts(cases).items() if name != "skipped"}
    suites = ElementTree.Element("testsuites", {"name": "floodmark", **counts})
    for name, group in groupby(sorted(cases, key=lambda case: case.suite), key=lambda case: case.suite):
        suites.append(_suite(name, list(group)))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _suite(name: str, cases: Sequence[SummaryLine]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", {"name": _clean(name), **_counts(cases)})
    suite.extend(_case(case) for case in cases)
    return suite


def _counts(cases: Sequence[SummaryLine]) -> dict[str, str]:
    return {
        "tests": str(len(cases)),
        "failures": str(sum(case.status == "failed" for case in cases)),
        "errors": str(sum(case.status == "error" for case in cases)),
        "skipped": "0",
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }


def _case(case: SummaryLine) -> ElementTree.Element:
    element = ElementTree.Element(
        "testcase",
        {
            "classname": _clean(case.suite.replace("/", ".")),
            "name": _clean(case.name),
            "time": f"{case.seconds:.3f}",
        },
    )
    if case.status != "passed":
        attributes = {"message": _clean(f"{case.word}: {case.text}"), "type": _clean(case.rule)}
        ElementTree.SubElement(element, _ELEMENT[case.status], attributes).text = _clean(f"{case.place}\n{case.detail}")
    return element


def _clean(text: str) -> str:
    """The text without characters that XML does not allow."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
