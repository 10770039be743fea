"""Tests the pages about clusters, and the files that they name: what can be compared without a cluster."""

from __future__ import annotations

import re
import subprocess
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers.spark import session

ROOT = Path(__file__).resolve().parents[2]
KUBERNETES, YARN = (ROOT / "docs" / "guide" / f"{name}.md" for name in ("kubernetes", "yarn"))
CONTAINER = ROOT / "examples" / "cluster" / "Containerfile"
PODS = ROOT / "examples" / "cluster" / "kubernetes.yaml"


def objects() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    return {f"{each['kind']} {each['metadata']['name']}": each for each in yaml.safe_load_all(PODS.read_text())}


def container(name: str) -> Any:
    (found,) = objects()[name]["spec"]["template"]["spec"]["containers"]
    return found


def test_pods_select_each_other_and_mount_what_the_image_names() -> None:
    every = objects()
    assert set(every) == {"Service master", "Deployment master", "StatefulSet worker", "Job search"}
    for name in ("Deployment master", "StatefulSet worker"):
        labels = every[name]["spec"]["template"]["metadata"]["labels"]
        assert every[name]["spec"]["selector"]["matchLabels"] == labels
    assert every["Service master"]["spec"]["selector"] == {"app": "floodmark-master"}
    (mount,) = container("StatefulSet worker")["volumeMounts"]
    (claim,) = every["StatefulSet worker"]["spec"]["volumeClaimTemplates"]
    assert mount["name"] == claim["metadata"]["name"]
    assert f"FLOODMARK_LOCAL_DIR={mount['mountPath']} SPARK_LOCAL_DIRS={mount['mountPath']}" in CONTAINER.read_text()


def test_master_workers_and_driver_speak_of_one_master() -> None:
    master = container("Deployment master")["command"]
    url = f"spark://{master[master.index('--host') + 1]}:{master[master.index('--port') + 1]}"
    (port,) = objects()["Service master"]["spec"]["ports"]
    assert url == f"spark://master:{port['port']}"
    assert container("StatefulSet worker")["args"][-1] == url
    assert url in CONTAINER.read_text()
    script = container("Job search")["command"][-1]
    assert f"--spark master={url}" in script
    assert not session._is_on_this_machine(url)


def test_a_job_continues_from_its_checkpoints(tmp_path: Path) -> None:
    """Its script runs a program that is called floodmark; a verdict is not an error to continue after."""

    (tmp_path / "floodmark").write_text('#!/bin/sh\necho "$@" >> "$LOG"\nexec sh -c "$ANSWER" sh "$@"\n')
    (tmp_path / "floodmark").chmod(0o755)
    script = container("Job search")["command"]
    resumed = 'case "$6" in checkpoint=*) exit 2;; *) exit 0;; esac'
    for answer, code, runs in (("exit 0", 0, 1), ("exit 1", 1, 1), (resumed, 0, 2), ("exit 2", 2, 2)):
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LOG": str(log), "ANSWER": answer, "KEPT": "k", "SPEC": "s"}
        assert subprocess.run(script, env=environment, check=False).returncode == code, answer
        lines = log.read_text().splitlines()
        assert [line.split()[-1] for line in lines] == ["checkpoint=k", "resume=k"][:runs], answer


def test_the_classes_and_settings_that_the_pages_name_are_sparks() -> None:
    """As text in the classes of Spark's own archives."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        pytest.skip("PySpark is not installed")
    text = "\n".join(path.read_text() for path in (KUBERNETES, YARN, CONTAINER, PODS))
    settings = {name for name in re.findall(r"(?<![\w.])spark\.[a-zA-Z.]+[a-zA-Z]", text) if "executorEnv" not in name}
    classes = set(re.findall(r"\borg\.apache\.spark[\w.]+\b", text))
    assert len(settings) > 5
    assert len(classes) == 2
    jars = Path(found.origin).parent / "jars"
    (core,) = jars.glob("spark-core_*.jar")
    with zipfile.ZipFile(core) as archive:
        names = set(archive.namelist())
        configuration = b"".join(
            archive.read(name) for name in names if name.startswith("org/apache/spark/internal/config/package")
        )
    assert {name for name in classes if f"{name.replace('.', '/')}.class" not in names} == set()
    assert {name for name in settings if name.encode() not in configuration} == set()


def test_yarn_gets_the_settings_of_a_standalone_cluster() -> None:
    """Those that matter where tasks go, and when a run gives up; others make it faster."""
    given = dict(re.findall(r"--conf (\S+?)=(\S+)", YARN.read_text()))
    wanted = {**session._DEFAULTS, **session._CLUSTER}
    assert {name: value for name, value in given.items() if name in wanted} == {
        name: wanted[name]
        for name in (
            "spark.locality.wait", "spark.shuffle.reduceLocality.enabled", "spark.excludeOnFailure.enabled",
            "spark.task.maxFailures", "spark.stage.maxConsecutiveAttempts",
        )
    }  # fmt: skip
