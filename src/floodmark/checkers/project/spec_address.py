"""Addresses of specs: a file stands for all of its rows, ``lease.toml@small`` for one of them.

The sign is ``@`` because it needs no quotes in a shell, is allowed in file names, URLs and XML, and means nothing else
in the names of specs, classes and pytest's items. An address is a path, so it can be shown, compared and joined like
one; a file that has this very name is taken for itself.
"""

from __future__ import annotations

import os
from pathlib import Path

SIGN = "@"
SUFFIX = ".toml"


def class_name(reference: str) -> str:
    """The class in a model's reference: ``Lease`` of ``model.lease:Lease``."""
    return reference.rpartition(":")[2]


def split_address(address: Path) -> tuple[Path, str | None]:
    """The file that an address means, and the row in it; None for the file as a whole."""
    file, sign, row = address.name.rpartition(SIGN)
    if not sign or not file.endswith(SUFFIX) or os.path.lexists(address):
        return address, None
    return address.with_name(file), row


def join_address(path: Path, row: str | None) -> Path:
    """The address of a row of a file; without a row, of the file."""
    return path if row is None else path.with_name(with_row(path.name, row))


def with_row(name: str, row: str | None) -> str:
    """The name of a spec that is a row, from that of its file: ``lease@small``."""
    return name if row is None else f"{name}{SIGN}{row}"


def of_file(name: str) -> str:
    """The name of the file of a spec, from that of the spec: ``lease`` for ``lease@small``."""
    file, sign, _ = name.rpartition(SIGN)
    return file if sign else name
