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
from floodmark.checkers.editor.diagnostics import Message, hover_text, messages, specs_about

_SEVERITY = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}


class _Files:
    """The state of the files of a workspace. ``shown`` are the messages that the editor has, by the file that was
    checked; ``described`` the latest description of each file's model."""

    def __init__(self, server: LanguageServer, budget: Budget) -> None:
        self.server = server
        self.budget = budget
        self.shown: dict[Path, list[Message]] = {}
        self.described: dict[Path, dict[str, Any]] = {}
        self.one_at_a_time = asyncio.Lock()

    def _root(self, file: Path) -> Path:
        root = self.server.workspace.root_path
        return file.parent if root is None else Path(root).resolve()

    async def check(self, uri: str) -> None:
        """Runs the checks about a file, and replaces its messages by their findings."""
        path = to_fs_path(uri)
        if path is None or Path(path).suffix not in (".py", ".toml"):
            return
        file = Path(path).resolve()
        root = self._root(file)
        async with self.one_at_a_time:
            found: list[Message] = []
            for spec in await asyncio.to_thread(specs_about, root, file):
                answered = await asyncio.to_thread(answer, root, "check", {"spec": spec}, self.budget)
                found += messages(spec, answered)
                described = await asyncio.to_thread(answer, root, "show", {"spec": spec}, self.budget)
                if "specs" in described:
                    self.described[file] = described
            self._show(root, file, found)

    def _show(self, root: Path, file: Path, found: list[Message]) -> None:
        before = self.shown.get(file, [])
        self.shown[file] = found
        every = dict.fromkeys(it for each in self.shown.values() for it in each)
        for name in dict.fromkeys(it.file for it in (*before, *found)):
            mine = [_diagnostic(it) for it in every if it.file == name]
            uri = from_fs_path(str(root / name))
            assert uri is not None
            self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, mine))

    def hover(self, uri: str, position: types.Position) -> types.Hover | None:
        """The type of the variable under the pointer, and its bits."""
        word = self.server.workspace.get_text_document(uri).word_at_position(position)
        path = to_fs_path(uri)
        described = {} if path is None else self.described.get(Path(path).resolve(), {})
        said = hover_text(word, described)
        return None if said is None else types.Hover(types.MarkupContent(types.MarkupKind.Markdown, said))


def _diagnostic(message: Message) -> types.Diagnostic:
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
