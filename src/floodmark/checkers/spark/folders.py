"""Folders for checkpoints and tables: on any file system that Spark reaches, or in an object store.

A file appears as a whole or not at all: on Spark's file systems it is renamed when it is complete, in object stores it
is one object. A file that only one of several runs may write is created on the condition that there is none.
"""

from __future__ import annotations

import contextlib
import uuid
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from floodmark.language.errors import SourceError

if TYPE_CHECKING:
    from pyspark import SparkContext

OBJECT_STORES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs"}
"""The schemes of object stores, each with the package by which fsspec reaches it. Spark's own file systems know some of
them too, but rename there object by object."""


def is_object_store(url: str) -> bool:
    """Whether a folder is in an object store."""
    scheme, found, _ = url.partition("://")
    return bool(found) and scheme in OBJECT_STORES


def opened(context: SparkContext, url: str) -> Folder:
    return ObjectFolder(url) if is_object_store(url) else SparkFolder(context, url)


class Folder(ABC):
    """A folder of files."""

    url: str

    def at(self, name: str) -> str:
        """The URL of something in the folder."""
        return f"{self.url.rstrip('/')}/{name}"

    @abstractmethod
    def names(self) -> list[str]:
        """The names in the folder; empty when the folder does not exist."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """The content of a file."""

    @abstractmethod
    def write(self, name: str, content: bytes) -> None:
        """Writes a file, of which no reader sees a part. It replaces one of that name."""

    @abstractmethod
    def create(self, name: str, content: bytes) -> bool:
        """Writes a file of whose name there is none; False if there is one. Of several runs, one succeeds."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Removes a file or a folder, if it is there."""


class ObjectFolder(Folder):
    """A folder in an object store, accessed through fsspec.

    A write is one request, so it is atomic. Listings are never taken from fsspec's cache.
    """

    def __init__(self, url: str) -> None:
        scheme = url.partition("://")[0]
        try:
            from fsspec.core import url_to_fs

            self._system, self._path = url_to_fs(url.rstrip("/"))
        except ImportError:
            package = OBJECT_STORES[scheme]
            raise SourceError(f"{scheme}:// needs {package}, here and on the workers: pip install {package}") from None
        self.url = url.rstrip("/")

    def names(self) -> list[str]:
        self._system.invalidate_cache()
        try:
            found = self._system.ls(self._path, detail=False)
        except FileNotFoundError:
            return []
        names = {path.rstrip("/").rpartition("/")[2] for path in found if path.rstrip("/") != self._path.rstrip("/")}
        return sorted(names)

    def read(self, name: str) -> bytes:
        return bytes(self._system.cat_file(self._of(name)))

    def write(self, name: str, content: bytes) -> None:
        self._system.pipe_file(self._of(name), content)

    def create(self, name: str, content: bytes) -> bool:
        """Raises OSError if the store does not refuse a second object of the name: then no run could rely on it."""
        if not self._is_created(name, content) and self._read_anew(name) != content:
            return False  # if it is the same, the first of two requests had succeeded, and its answer was lost
        if self._is_created(name, uuid.uuid4().bytes):
            raise OSError(f"{self.url} has no conditional writes: two objects of one name could be created there")
        return True

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._system.rm(self._of(name), recursive=True)

    def _is_created(self, name: str, content: bytes) -> bool:
        try:
            self._system.pipe_file(self._of(name), content, mode="create")
        except FileExistsError:
            return False
        return True

    def _read_anew(self, name: str) -> bytes:
        self._system.invalidate_cache()
        return self.read(name)

    def _of(self, name: str) -> str:
        return f"{self._path.rstrip('/')}/{name}"


class SparkFolder(Folder):
    """A folder, accessed through the file systems of the Spark driver."""

    def __init__(self, context: SparkContext, url: str) -> None:
        jvm: Any = context._jvm
        self._path: Any = jvm.org.apache.hadoop.fs.Path
        given = self._path(url)
        self._system = given.getFileSystem(context._jsc.hadoopConfiguration())
        self._jvm = jvm
        self.url: str = self._system.makeQualified(given).toString()

    def names(self) -> list[str]:
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
        """Atomic if the file system can rename."""
        draft, final = self._path(self.at(f"_{name}")), self._path(self.at(name))
        stream = self._system.create(draft, True)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()
        self._system.delete(final, False)
        if not self._system.rename(draft, final):
            raise OSError(f"{self.at(name)} cannot be written")

    def create(self, name: str, content: bytes) -> bool:
        path = self._path(self.at(name))
        try:
            stream = self._system.create(path, False)
        except Exception:
            if self._system.exists(path):
                return False
            raise
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()
        return True

    def remove(self, name: str) -> None:
        with contextlib.suppress(Exception):
            self._system.delete(self._path(self.at(name)), True)
