"""How examples are drawn: a test never fails because the machine is busy. A session of Spark that tests share, a heap
in which the collector of garbage looks at nothing old, and the schemas of all JSON that is written."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from floodmark import language
from floodmark.checkers.native.engine import NativeEngine
from floodmark.checkers.report import outputs
from tests.support.huge_pages import HugePages
from tests.support.json_schemas import require_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


language.loaded_at = sys.maxsize  # whoever edits the sources while tests run means no upgrade
_HUGE_PAGES = HugePages()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Looks for no garbage while all is made that stays: a fifth of the time that it takes to collect the tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.fixture(scope="module", autouse=True)
def young_heap() -> None:
    """Leaves what is there before a file's tests out of each collection of garbage: thousands of tests, and all that
    they import. Searches collect often, and a process that is forked copies what the collector touches. A
    process of its own, as each check has, would also import the engine anew if it were not there. Huge pages make the
    fork itself cheap."""
    NativeEngine().load()
    gc.collect()
    gc.freeze()
    _HUGE_PAGES.collapse()


@pytest.fixture(autouse=True)
def _every_json_keeps_to_its_schema(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever JSON a command writes while a test runs in this process is compared with its schema."""
    write = outputs.write_text
    written: list[str] = []

    def kept(path: Path, text: str) -> None:
        written.append(text)
        write(path, text)

    monkeypatch.setattr(outputs, "write_text", kept)
    yield
    for text in written:
        require_schema(text)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session for all tests of this process: a start takes longer than most of them."""
    from floodmark.checkers.spark.session import session, stop

    yield session("local[2]")
    stop()
