"""The one Spark session of a run: embedded ``local[*]``, a cluster named by a master URL, or spark-submit's."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import logging
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from floodmark.checkers.project.loading import PACKAGE
from floodmark.checkers.resources import cores
from floodmark.checkers.spark.java import find_java, java_home
from floodmark.checkers.spark.memory import MemoryShares, share
from floodmark.checkers.spark.package import package_zip
from floodmark.language.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUIET = """status = error
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark: %p %c{1}: %m%n%ex{1}
logger.tasks.name = org.apache.spark
logger.tasks.level = off
"""
"""Spark retries lost tasks and lost executors, which do not affect the verdict, so they are not shown."""

_RETRIES = 8
_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.task.maxFailures": str(_RETRIES),
    "spark.stage.maxConsecutiveAttempts": str(2 * _RETRIES),
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.shuffle.compress": "false",
    "spark.shuffle.checksum.enabled": "false",
    "spark.shuffle.sort.bypassMergeThreshold": "0",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.driver.maxResultSize": "0",
    "spark.locality.wait": "60s",
    "spark.shuffle.reduceLocality.enabled": "false",
}
"""Shuffled data is a few large arrays: with Kryo and no threshold, each is written to disk once instead of twice.
Local sockets cost less than TCP. A task waits for the machine that has its partition, even if most of its data comes
from another: there the partition would have to be recomputed."""
_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.locality.wait": "0s",
}
_CLUSTER = {
    "spark.excludeOnFailure.enabled": "true",
    "spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor": "3",
    "spark.excludeOnFailure.task.maxTaskAttemptsPerNode": str(_RETRIES - 2),
}
"""An executor on which tasks fail again and again, as on one with a broken disk, gets no more of them. A task may be
lost with its Python worker a few times before that counts; a local session has no other executor to go to."""
_SMALL_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Java only schedules and copies here: optimising its code takes longer than it saves."""
_EXECUTOR_JAVA = f"{_SMALL_JAVA} -XX:+IgnoreUnrecognizedVMOptions -XX:+UseTransparentHugePages"
"""An executor keeps in its heap what a task sends. With huge pages, first touches of that memory cost less; only Linux
knows the option."""
MASTER_SECONDS = 60.0
"""Seconds for which a master that does not answer is tried."""
_STARTED: list[SparkSession] = []


def is_local(master: str | None) -> bool:
    """Whether a session would run its workers on this machine."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return False
    return (master or os.environ.get("FLOODMARK_MASTER") or "local").startswith("local")


def available() -> bool:
    """Whether PySpark is installed."""
    return importlib.util.find_spec("pyspark") is not None


def session(master: str | None = None, memory: int | None = None, seconds: float | None = None) -> SparkSession:
    """The session of this process, started on the first call: ``master``, else what spark-submit says, else local[*].

    ``memory`` is the limit for the whole command, in bytes; a session that is started keeps to its share. ``seconds``
    limits the wait for a master. Raises SourceError if PySpark or Java is missing, or the master cannot be reached.
    """
    if not available():
        raise SourceError('the Spark engine needs PySpark; run: pip install "floodmark[spark]"')
    if _STARTED and _STARTED[0].sparkContext._jsc is not None:
        return _STARTED[0]
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None:
        active = _start(master, memory, seconds)
    _STARTED[:] = [active]
    return active


def stop() -> None:
    """Ends the session and Spark's own process, if there is one."""
    if _STARTED:
        with contextlib.suppress(Exception):  # Java may have ended
            _STARTED.pop().stop()
        _end_gateway()


def _end_gateway() -> None:
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    SparkContext._gateway = None
    SparkContext._jvm = None
    with contextlib.suppress(Exception):
        gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()
        with contextlib.suppress(Exception):
            process.wait(10)


def _start(master: str | None, memory: int | None, seconds: float | None = None) -> SparkSession:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    builder = SparkSession.builder.appName("floodmark")
    if not submitted:
        asked = master or os.environ.get("FLOODMARK_MASTER") or "local[*]"
        _prepare_launch(asked)
        _wait_for_master(asked, seconds)
        own = share(memory, _cores(asked))
        url = _retrying(asked, own.workers)
        where = {**_LOCAL, "spark.local.dir": tempfile.gettempdir()} if url.startswith("local") else _CLUSTER
        for name, value in {**_defaults(), **_limited(own), **where, **_user_settings()}.items():
            builder = builder.config(name, value)
        builder = builder.master(url)
    _keep_log_quiet()
    atexit.register(_end_gateway)
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        with _silent_stderr():
            started = builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise SourceError(f"Spark did not start: {str(error).splitlines()[0]}") from None
    except Exception as error:
        reason = str(getattr(error, "java_exception", None) or error).splitlines()[0]
        raise SourceError(f"Spark did not start with the master {master or 'local[*]'}: {reason}") from None
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupted)  # PySpark's handler asks Java first, which may not answer
    started.sparkContext.setLogLevel("OFF")
    _keep_quiet(started)
    if submitted or not str(started.sparkContext.master).startswith("local"):
        archive = package_zip()
        if archive is not None:
            started.sparkContext.addPyFile(str(archive))
    atexit.register(stop)
    return started


def _keep_log_quiet() -> None:
    """Keeps py4j from logging errors that it also raises. Some it logs by the root logger, which then gets a handler
    that would print all others."""
    logging.getLogger().addFilter(lambda record: not record.getMessage().endswith(" while sending command."))
    logging.getLogger("py4j").propagate = False


def _keep_quiet(started: SparkSession) -> None:
    """Keeps PySpark from printing the consequences of the end of its Java process."""
    server = started.sparkContext._accumulatorServer
    if server is not None:
        server.handle_error = lambda *_: None  # type: ignore[method-assign]


_LOCAL_MASTER = re.compile(r"local(?:\[([^,\]]+)\])?")


def _retrying(url: str, workers: int | None) -> str:
    """A local master that retries failed tasks, which it does not do by default, with at most so many workers."""
    match = _LOCAL_MASTER.fullmatch(url)
    if match is None:
        return url
    return f"local[{(match[1] or 1) if workers is None else workers},{_RETRIES}]"


def _cores(url: str) -> int:
    """The number of tasks that a local master runs at once."""
    match = _LOCAL_MASTER.fullmatch(url)
    return int(match[1]) if match is not None and str(match[1]).isdigit() else cores()


def _limited(own: MemoryShares) -> dict[str, str]:
    """The settings of a session with a memory limit."""
    if own.workers is None:
        return {}
    os.environ["MALLOC_ARENA_MAX"] = "2"  # otherwise each of Java's threads keeps its own memory
    return {"spark.driver.memory": f"{own.heap >> 20}m"}


def _defaults() -> dict[str, str]:
    settings = dict(_DEFAULTS)
    log = Path(tempfile.mkdtemp(prefix="floodmark-log-")) / "log4j2.properties"
    log.write_text(_QUIET)
    atexit.register(shutil.rmtree, log.parent, True)
    settings["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile=file:{log} {_SMALL_JAVA}"
    settings["spark.executor.extraJavaOptions"] = _EXECUTOR_JAVA
    return settings


def _user_settings() -> dict[str, str]:
    """The settings of the user, which come last."""
    pairs = (pair.partition("=") for pair in os.environ.get("FLOODMARK_SPARK_CONF", "").split())
    return {name: value for name, equals, value in pairs if equals}


def _is_on_this_machine(url: str) -> bool:
    """Whether all executors reach this process at the loopback address."""
    return re.match(r"local(\W|$)|local-cluster|spark://(127\.|localhost\b|\[::1\])", url) is not None


def _wait_for_master(url: str, seconds: float | None) -> None:
    """Waits until one of the standalone masters in a URL accepts a connection, for a minute, or less if ``seconds`` say
    so. Raises SourceError. Spark itself would take longer and then report only that its context has stopped."""
    places = [place.rpartition(":") for place in url.removeprefix("spark://").split(",")]
    if not url.startswith("spark://") or not all(port.isdigit() and int(port) < 1 << 16 for _, _, port in places):
        return  # Spark knows other URLs, and says what is wrong in them
    most = MASTER_SECONDS if seconds is None else min(seconds, MASTER_SECONDS)
    end = time.monotonic() + most
    while True:
        for host, _, port in places:
            with contextlib.suppress(OSError), socket.create_connection((host.strip("[]"), int(port)), 5):
                return
        if time.monotonic() >= end:
            raise SourceError(
                f"no master has answered at {url} for {most:g} s; start one, or name another with --spark master=URL"
            )
        time.sleep(0.5)


def _prepare_launch(url: str) -> None:
    """The environment of Spark's launcher and of the Python workers."""
    home = java_home(find_java())
    atexit.register(shutil.rmtree, home, True)
    os.environ["JAVA_HOME"] = str(home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if _is_on_this_machine(url):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    paths = [str(_only_this_package()), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, paths)))


def _only_this_package() -> Path:
    """A folder with the package and nothing else: in a checkout, ``model`` and ``tests`` are in the same folder."""
    if not PACKAGE.is_dir():
        return PACKAGE.parent
    folder = Path(tempfile.mkdtemp(prefix="floodmark-path-"))
    atexit.register(shutil.rmtree, folder, True)
    (folder / PACKAGE.name).symlink_to(PACKAGE)
    return folder


@contextlib.contextmanager
def _silent_stderr():  # type: ignore[no-untyped-def]
    """Hides the launcher's output from the terminal while it starts; shows it if the start fails."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as output:
        os.dup2(output.fileno(), 2)
        try:
            yield
        except Exception:
            os.dup2(kept, 2)
            output.seek(0)
            sys.stderr.write(output.read().decode(errors="replace"))
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)
