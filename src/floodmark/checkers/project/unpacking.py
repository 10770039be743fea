"""Folders unpacked from zip files, such as on a cluster's workers, and shared by the processes of a machine."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
import zipfile
from pathlib import Path


def unpack(content: bytes, name: str, below: str = "") -> Path:
    """A folder with the files of a zip file whose names begin with ``below``.

    It is written under another name and then renamed, so that no process reads files that another one is still
    writing. An existing folder is used only if it belongs to this user and holds exactly these files, byte for byte:
    with missing or different files it would be another model.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        wanted = {entry: archive.read(entry) for entry in archive.namelist() if entry.startswith(below)}
    folder = Path(tempfile.gettempdir()).resolve() / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}"
    if _has(folder, wanted):
        return folder
    own = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder.parent))
    for entry, text in wanted.items():
        (own / entry).parent.mkdir(parents=True, exist_ok=True)
        (own / entry).write_bytes(text)
    try:
        own.rename(folder)
    except OSError:  # it exists by now, made by another process or with other files
        if not _has(folder, wanted):
            return own
        shutil.rmtree(own)
    return folder


def _has(folder: Path, wanted: dict[str, bytes]) -> bool:
    if not folder.is_dir() or folder.stat().st_uid != os.getuid():
        return False
    files = [file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    names = {file.relative_to(folder).as_posix() for file in files}
    return names == wanted.keys() and all((folder / name).read_bytes() == text for name, text in wanted.items())
