"""How examples are drawn: a test never fails because the machine is busy. And the one session of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session for all tests of this process: a start takes longer than most of them."""
    from floodmark.checkers.spark.session import session, stop

    yield session("local[2]")
    stop()
