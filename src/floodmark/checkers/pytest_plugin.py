"""Specs and claims as pytest items: ``pytest specs/`` checks models and known-bad designs, proofs and claims.

A TOML file is a spec when it names a model, as in ``model = "model.alter_isr.core:AlterIsr"``, and is below a folder
``specs`` or named on the command line. Python files with claims are in ``specs/claims``. Nothing else is collected, and
no checker is imported before there is something to collect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from floodmark.checkers.project.claim import Claim
    from floodmark.checkers.project.spec import ListedProof, Spec
    from floodmark.checkers.verdict.check import Check
    from floodmark.checkers.verdict.proof_result import ProofResult
    from floodmark.checkers.verdict.result import CheckResult

_OPTION = "floodmark_tier"
_CLAIMS = re.compile(r"\bfloodmark(\.|\s+import\s.*\b)claims\b")
_MODEL = re.compile(r"""^\s*["']?model["']?\s*=\s*["'][^"'\n]+:\w+["']""", re.MULTILINE)
"""Searched for in the text, so that a spec that is not valid TOML fails instead of being skipped."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(_OPTION, "which specs pytest checks: quick (the default), deep or all", default="quick")
    parser.getgroup("floodmark").addoption(
        "--floodmark-tier", dest=_OPTION, choices=["quick", "deep", "all"], help="Which specs are checked."
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    if file_path.suffix == ".toml" and _is_spec(file_path, parent):
        return SpecFile.from_parent(parent, path=file_path)
    if file_path.suffix == ".py" and file_path.parts[-3:-1] == ("specs", "claims") and _has_claims(file_path):
        return ClaimFile.from_parent(parent, path=file_path)
    return None


def _is_spec(path: Path, parent: pytest.Collector) -> bool:
    root = parent.config.rootpath
    below = path.relative_to(root).parts if path.is_relative_to(root) else path.parts
    if "specs" not in below[:-1] and not parent.session.isinitpath(path):
        return False
    top, *_ = re.split(r"^\s*\[", _text(path), maxsplit=1, flags=re.MULTILINE)
    return _MODEL.search(top) is not None


def _has_claims(path: Path) -> bool:
    return _CLAIMS.search(_text(path)) is not None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


class UnexpectedOutcome(Exception):  # noqa: N818 - it is the report of an item that failed
    """The text that pytest shows for an unexpected outcome."""


class SpecFile(pytest.File):
    """A file of specs: the items of its spec, or its rows."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        from floodmark.checkers.project.spec import read_all
        from floodmark.language.errors import SourceError

        try:
            specs = read_all(self.path)
        except SourceError as error:
            raise self.CollectError(str(error)) from None
        for spec in specs:
            if spec.row is None:
                yield from _items(self, spec)
            else:
                yield SpecRowCollector.from_parent(self, name=spec.row, spec=spec)


class SpecRowCollector(pytest.Collector):
    """A row of a spec, so that ``pytest specs/lease.toml::small`` runs it alone."""

    def __init__(self, *, spec: Spec, **more: Any) -> None:
        super().__init__(**more)
        self.spec = spec

    def collect(self) -> Iterator[pytest.Item]:
        return _items(self, self.spec)


def _items(parent: pytest.Collector, spec: Spec) -> Iterator[pytest.Item]:
    """The items of the tier among a spec's model, its known-bad designs, and its listed proofs."""
    from floodmark.checkers.verdict.check import CheckSettings, checks, variant_name

    tier = parent.config.getoption(_OPTION) or parent.config.getini(_OPTION)
    for check in checks(spec, CheckSettings()):
        if tier in ("all", check.tier):
            yield CheckItem.from_parent(parent, name=variant_name(check), check=check)
    for proving in spec.prove:
        if tier in ("all", proving.tier):
            yield ProofItem.from_parent(parent, name=proving.name, spec=spec, proving=proving)


class _PlainItem(pytest.Item):
    """An item that fails with its own text instead of a traceback."""

    line: int = 0

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        from floodmark.language.errors import SourceError

        if isinstance(excinfo.value, UnexpectedOutcome | SourceError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line, self.name


class CheckItem(_PlainItem):
    """A spec's model, or one of its known-bad designs."""

    def __init__(self, *, check: Check, **more: Any) -> None:
        super().__init__(**more)
        self.check = check
        line = (check.spec.first_line or check.spec.line("model")) if check.flawed is None else check.flawed.line
        self.line = (line or 1) - 1

    def runtest(self) -> None:
        from floodmark.checkers.run.checks import run

        ((_, result),) = run([self.check])
        _expect(result)


class ProofItem(_PlainItem):
    """A proof that a spec lists."""

    def __init__(self, *, spec: Spec, proving: ListedProof, **more: Any) -> None:
        super().__init__(**more)
        self.spec = spec
        self.proving = proving
        self.line = (proving.line or 1) - 1

    def runtest(self) -> None:
        from floodmark.checkers.symbolic.prove import prove_listed

        _expect(prove_listed(self.spec, self.proving))


class ClaimFile(pytest.File):
    """A file of claims."""

    def collect(self) -> Iterator[pytest.Item]:
        from floodmark.checkers.project.claim import read_claims
        from floodmark.language.errors import SourceError

        try:
            claims = read_claims(self.path)
        except SourceError as error:
            raise self.CollectError(str(error)) from None
        for claim in claims:
            yield ClaimItem.from_parent(self, name=claim.name, claim=claim)


class ClaimItem(_PlainItem):
    """A claim, which z3 decides."""

    def __init__(self, *, claim: Claim, **more: Any) -> None:
        super().__init__(**more)
        self.claim = claim
        self.line = claim.line - 1

    def runtest(self) -> None:
        from floodmark.checkers.symbolic.prove import prove_claim

        _expect(prove_claim(self.claim))


def _expect(result: CheckResult | ProofResult) -> None:
    """Fails with the counterexample when an outcome is not the expected one."""
    from floodmark.checkers.report.verdict_summary import check_case, proof_case
    from floodmark.checkers.verdict.result import CheckResult

    case = check_case(result) if isinstance(result, CheckResult) else proof_case(result)
    if case.status != "passed":
        raise UnexpectedOutcome(f"{case.title}: {case.word}: {case.text}\n\n{case.detail}")
