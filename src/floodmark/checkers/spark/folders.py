"""Folders on any file system that Spark can reach: local, HDFS, an object store."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext


class Folder:
    """A folder, accessed through the file systems of the Spark driver."""

    def __init__(self, context: SparkContext, url: str) -> None:
        jvm: Any = context._jvm
        self._path: Any = jvm.org.apache.hadoop.fs.Path
        given = self._path(url)
        self._system = given.getFileSystem(context._jsc.hadoopConfiguration())
        self._jvm = jvm
        self.url: str = self._system.makeQualified(given).toString()

    def at(self, name: str) -> str:
        """The URL of something in the folder."""
        return f"{self.url.rstrip('/')}/{name}"

    def names(self) -> list[str]:
        """The names in the folder; empty when the folder does not exist."""
        path = self._path(self.url)
        if not self._system.exists(path):
            return []
        return sorted(status.getPath().getName() for status in self._system.listStatus(path))

    def read(self, name: str) -> bytes:
        stream = self._system.open(self._path(self.at(name)))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write(self, name: str, content: bytes) -> None:
        """Writes a file atomically, if the file system can rename."""
        draft, final = self._path(self.at(f"_{name}")), self._path(self.at(name))
        stream = self._system.create(draft, True)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()
        self._system.delete(final, False)
        if not self._system.rename(draft, final):
            raise OSError(f"{self.at(name)} cannot be written")

    def remove(self, name: str) -> None:
        with contextlib.suppress(Exception):
            self._system.delete(self._path(self.at(name)), True)
