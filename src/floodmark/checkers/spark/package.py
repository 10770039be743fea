"""This package as a zip file, for workers that lack it: ``python -m floodmark.checkers.spark.package FILE.zip``."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from floodmark.checkers.project.loading import PACKAGE, SHIPPED

_PROJECT = ("model", "invariants", "specs")


def package_zip() -> Path | None:
    """A zip file of the package, removed when the process ends.

    None when this process itself runs from such a file, which spark-submit has already sent to the workers.
    """
    if not PACKAGE.is_dir():
        return None
    folder = Path(tempfile.mkdtemp(prefix="floodmark-zip-"))
    atexit.register(shutil.rmtree, folder, True)
    return write_zip(folder / f"{folder.name}.zip")


def write_zip(path: Path) -> Path:
    """Writes the package into a zip file, laid out as an installed one is: the shipped project in ``project/``."""
    folders = {name: PACKAGE / name for name in ("checkers", "compiler", "language")}
    folders |= {f"project/{name}": SHIPPED / name for name in _PROJECT}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for file in sorted(PACKAGE.glob("*.py")):
            archive.write(file, f"floodmark/{file.name}")
        for name, folder in folders.items():
            for file in sorted(folder.resolve().rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    archive.write(file, f"floodmark/{name}/{file.relative_to(folder.resolve()).as_posix()}")
    return path


if __name__ == "__main__":
    write_zip(Path(sys.argv[1]))
