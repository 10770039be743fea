"""This package as a zip file, for workers that do not have it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zipfile
from pathlib import Path

import model

OWN_ROOT = Path(model.__file__ or ".").resolve().parent.parent
PACKAGES = ("model", "invariants", "checkers")


def package_zip() -> Path:
    """A zip file with the packages of this distribution; it is removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="floodmark-zip-"))
    atexit.register(shutil.rmtree, folder, True)
    path = folder / "floodmark.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for file in sorted((OWN_ROOT / package).rglob("*.py")):
                archive.write(file, file.relative_to(OWN_ROOT).as_posix())
    return path
