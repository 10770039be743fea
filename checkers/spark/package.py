"""This package as a zip file, for workers that do not have it: ``python -m checkers.spark.package FILE.zip``."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from checkers.project import OWN_ROOT

PACKAGES = ("model", "invariants", "checkers")


def package_zip() -> Path | None:
    """A zip file with the packages of this distribution, removed when the process ends.

    None when this process itself runs from such a file, which spark-submit has sent to the workers already.
    """
    if not OWN_ROOT.is_dir():
        return None
    folder = Path(tempfile.mkdtemp(prefix="floodmark-zip-"))
    atexit.register(shutil.rmtree, folder, True)
    return write_zip(folder / f"{folder.name}.zip")


def write_zip(path: Path) -> Path:
    """Writes the packages of this distribution into a zip file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for file in sorted((OWN_ROOT / package).rglob("*.py")):
                archive.write(file, file.relative_to(OWN_ROOT).as_posix())
    return path


if __name__ == "__main__":
    write_zip(Path(sys.argv[1]))
