"""The language server: checks files when they are opened or saved, and describes the name under the pointer."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from floodmark.checkers.assistants.budget import Budget, answer
from floodmark.checkers.editor.diagnostics import EditorMessage, hover_text, messages, specs_about
from floodmark.checkers.project import spec_address

_SEVERITY = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}


class _Files:
    """The state of the files of a workspace. ``published`` are the messages that the editor has, each with its file, by
    the spec that was checked; ``described`` the latest description of each file's model; ``names`` what the editor
    calls the files that it opened or saved, which may be links."""

    def __init__(self, server: LanguageServer, budget: Budget) -> None:
        self.server = server
        self.budget = budget
        self.published: dict[Path, list[tuple[Path, EditorMessage]]] = {}
        self.described: dict[Path, dict[str, Any]] = {}
        self.names: dict[Path, str] = {}
        self.one_at_a_time = asyncio.Lock()

    def _root(self, file: Path) -> Path:
        root = self.server.workspace.root_path
        return file.parent if root is None else Path(root).resolve()

    async def check(self, uri: str) -> None:
        """Runs the checks about a file, and replaces the messages of each spec by their findings."""
        path = to_fs_path(uri)
        if path is None or Path(path).suffix not in (".py", ".toml"):
            return
        file = Path(path).resolve()
        root = self._root(file)
        async with self.one_at_a_time:
            self.names[file] = uri
            gone = (spec for spec in self.published if not spec.exists())
            found: dict[Path, list[tuple[Path, EditorMessage]]] = {spec: [] for spec in gone}
            for spec in await asyncio.to_thread(specs_about, root, file):
                answered = await asyncio.to_thread(answer, root, "check", {"spec": spec}, self.budget)
                told = found.setdefault(root / spec_address.split_address(Path(spec))[0], [])
                told += [((root / each.file).resolve(), each) for each in messages(spec, answered)]
                described = await asyncio.to_thread(answer, root, "show", {"spec": spec}, self.budget)
                if "specs" in described:
                    self.described[file] = described
            self._show(found)

    def _show(self, found: dict[Path, list[tuple[Path, EditorMessage]]]) -> None:
        before = [it for spec in found for it in self.published.get(spec, [])]
        self.published |= found
        every = dict.fromkeys(it for each in self.published.values() for it in each)
        for file in dict.fromkeys(file for file, _ in (*before, *(it for each in found.values() for it in each))):
            mine = [_diagnostic(it) for place, it in every if place == file]
            uri = self.names.get(file) or from_fs_path(str(file))
            assert uri is not None
            self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, mine))

    def hover(self, uri: str, position: types.Position) -> types.Hover | None:
        """The type of the variable under the pointer, and its bits."""
        word = self.server.workspace.get_text_document(uri).word_at_position(position)
        path = to_fs_path(uri)
        described = {} if path is None else self.described.get(Path(path).resolve(), {})
        text = hover_text(word, described)
        return None if text is None else types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


def _diagnostic(message: EditorMessage) -> types.Diagnostic:
    start, end = types.Position(message.line - 1, 0), types.Position(message.line, 0)
    where = types.Range(start, end)
    return types.Diagnostic(where, message.text, _SEVERITY[message.severity], message.code, source="floodmark")


def server_with(budget: Budget) -> LanguageServer:
    """The server, without its connection."""
    server = LanguageServer("floodmark", version("floodmark"))
    files = _Files(server, budget)

    async def opened(given: types.DidOpenTextDocumentParams) -> None:
        await files.check(given.text_document.uri)

    async def saved(given: types.DidSaveTextDocumentParams) -> None:
        await files.check(given.text_document.uri)

    def hovered(given: types.HoverParams) -> types.Hover | None:
        return files.hover(given.text_document.uri, given.position)

    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(opened)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(saved)
    server.feature(types.TEXT_DOCUMENT_HOVER)(hovered)
    return server


def serve(budget: Budget) -> None:
    """Answers over standard input and output until the editor ends."""
    server_with(budget).start_io()
